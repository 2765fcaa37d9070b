"""Runs panels: all chunks of all cases on all cores, with progress, and nothing lost when it is interrupted."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterable
from typing import Any, TextIO

from ..engine.work import Work, is_lazy, prepare
from ..policies.base import EliminationPolicy
from ..results import merge
from ..simulation import Task, compute, run_tasks, tasks_of
from .panel import Finished, Panel
from .store import ChunkStore, digest


def run_panels(
    panels: list[Panel], runs: int, seed: int, workers: int, store: ChunkStore | None, progress: Progress | None = None
) -> list[Finished]:
    """Simulate panels. Works that panels share are simulated once."""
    works: dict[str, Work] = {}
    places: list[list[tuple[int, str]]] = []
    for panel in panels:
        place = []
        for number, work in panel.works(runs, seed):
            name = digest(work)
            works.setdefault(name, work)
            place.append((number, name))
        places.append(place)
    for work in works.values():
        prepare(work)
    tasks = [task for work in works.values() for task in tasks_of(work)]
    seconds: dict[int, float] = {id(work): 0.0 for work in works.values()}
    lock = threading.Lock()
    keep = compute if store is None else store.compute

    def timed(task: Task) -> Any:
        started = time.perf_counter()
        chunk = keep(task)
        with lock:
            seconds[id(task.work)] += time.perf_counter() - started
        return chunk

    if progress is None:
        done = run_tasks(tasks, workers, None, timed)
    else:
        with progress.start(tasks, panels, places, works):
            done = run_tasks(tasks, workers, progress.advance, timed)
    chunks: dict[int, list[Any]] = {}
    for task, chunk in done:
        chunks.setdefault(id(task.work), []).append(chunk)
    merged = {name: merge(work, chunks[id(work)]) for name, work in works.items()}
    finished = []
    for panel, place in zip(panels, places, strict=True):
        outcomes: list[dict[str, Any]] = [{} for _ in panel.cases]
        spent = 0.0
        for number, name in place:
            outcomes[number][merged[name].name] = merged[name]
            spent += seconds[id(works[name])]
        finished.append(Finished(panel, outcomes, spent))
    return finished


def cost(task: Task) -> float:
    """Rough relative cost of a task, for estimates of the time left."""
    work = task.work
    if isinstance(work.policy, EliminationPolicy):
        return task.rounds * 1.0
    return task.rounds * (6.0 if is_lazy(work) else 2.0 + 12.0 * work.environment.K)


class Progress:
    """How far a job is: a bar on a terminal, a line per finished panel elsewhere."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = sys.stderr if stream is None else stream
        self._bar: Any = None

    def start(
        self, tasks: Iterable[Task], panels: list[Panel], places: list[list[tuple[int, str]]], works: dict[str, Work]
    ) -> Progress:
        """Take note of what is to be done; use the result as a context."""
        costs = [(task, cost(task)) for task in tasks]
        self._left: dict[int, int] = {}
        for task, _ in costs:
            self._left[id(task.work)] = self._left.get(id(task.work), 0) + 1
        self._total = sum(c for _, c in costs)
        self._done = 0.0
        self._panels = [
            (panel, {id(works[name]) for _, name in place}) for panel, place in zip(panels, places, strict=True)
        ]
        self._count = len(panels)
        self._started = time.monotonic()
        return self

    def __enter__(self) -> Progress:
        if self.stream.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
            from rich.progress import Progress as Bar

            self._bar = Bar(
                TextColumn("{task.description:<12}"), BarColumn(), TextColumn("{task.percentage:3.0f}%"),
                TimeElapsedColumn(), TextColumn("{task.fields[left]}"), console=Console(file=self.stream),
                transient=True,
            )  # fmt: skip
            self._task = self._bar.add_task("simulating", total=self._total, left="")
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def advance(self, task: Task) -> None:
        """A task is finished."""
        self._done += cost(task)
        self._left[id(task.work)] -= 1
        finished = [p for p, works in self._panels if all(self._left[w] == 0 for w in works)]
        self._panels = [(p, works) for p, works in self._panels if p not in finished]
        elapsed = time.monotonic() - self._started
        share = self._done / self._total
        # At first most of the time goes into compiling, and says nothing about the pace.
        left = f"about {elapsed * (1 / share - 1):.0f} s left" if share > 0.1 else "no estimate yet"
        if self._bar is not None:
            self._bar.update(self._task, completed=self._done, left=left)
            return
        for panel in finished:
            so_far = self._count - len(self._panels)
            print(
                f"{panel.key}: done ({so_far} of {self._count} panels, {elapsed:.0f} s, {left})",
                file=self.stream,
                flush=True,
            )
