"""Runs panels: all chunks of all cases on all cores, with progress; finished chunks survive an interruption."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TextIO, cast

from ..results.policy_result import Metric, PolicyResult
from ..results.study import Study
from ..simulation.api import ChunkCount, Watch, run_specs, settings_of
from ..simulation.executors import Advance, Backend, Task
from ..simulation.spec import Spec, prepare
from .panel import PanelResult, PanelSpec
from .store import ChunkStore, digest

#: Seconds between two lines of progress, where there is no terminal.
SILENCE = 15.0


def run_panels(
    panels: Sequence[PanelSpec], backend: Backend, store: ChunkStore | None, progress: Progress | None = None
) -> list[PanelResult]:
    """Simulate panels. Equivalent specs are simulated once."""
    specs: dict[str, Spec] = {}
    names = {id(spec): digest(spec) for panel in panels for of_case in panel.specs for spec in of_case}
    for panel in panels:
        for spec in (spec for of_case in panel.specs for spec in of_case):
            specs.setdefault(names[id(spec)], spec)
    for spec in specs.values():
        prepare(spec)
    seconds: dict[int, float] = {id(spec): 0.0 for spec in specs.values()}
    played = {
        panel.panel.key: [id(specs[names[id(spec)]]) for of_case in panel.specs for spec in of_case] for panel in panels
    }
    watched = (progress or Progress()).watch()

    @contextmanager
    def timed(tasks: list[Task], backend: Backend) -> Iterator[Advance]:
        with watched(tasks, backend) as show:

            def advance(task: Task | None, spent: float) -> None:
                if task is not None:
                    seconds[id(task.spec)] += spent
                if show is not None:
                    show(task, spent)

            yield advance

    results = dict(zip(specs, run_specs(list(specs.values()), backend, None, store, timed), strict=True))
    finished = []
    for panel in panels:
        all_cases = (*panel.panel.cases, *panel.panel.long_cases)
        studies = [
            Study(
                {spec.policy.name: _named(results[names[id(spec)]], spec) for spec in of_case},
                settings_of(case.environment, case.horizon, of_case[0].runs if of_case else panel.runs, panel.seed),
                cast(Metric, panel.panel.metric),  # "coverage" is for panels without policies
                case.objective,
                case.variables,
                case.label,
                case.L,
            )
            for case, of_case in zip(all_cases, panel.specs, strict=True)
        ]
        took = sum(seconds[spec] for spec in played[panel.panel.key])
        count = len(panel.panel.cases)
        finished.append(PanelResult(panel.panel, studies[:count], took, studies[count:]))
    return finished


def _named(result: PolicyResult, spec: Spec) -> PolicyResult:
    """The result under the name that its policy has in this panel."""
    return replace(result, name=spec.policy.name, policy=spec.policy.to_dict())


def cost(task: Task) -> float:
    """Rough relative cost of a task, for estimates of the time left."""
    return task.rounds * task.spec.family.cost(task.spec)


class Progress:
    """Progress of a job: a bar on a terminal, otherwise a line every few seconds; nothing without a stream."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = stream

    def watch(self) -> Watch:
        """A context that shows the progress of tasks."""

        @contextmanager
        def watched(tasks: list[Task], backend: Backend) -> Iterator[Advance | None]:
            if self.stream is None:
                yield None
                return
            show = self._bar if self.stream.isatty() else self._lines
            with show(_Pace(tasks, backend)) as advance:
                yield advance

        return watched

    @contextmanager
    def _bar(self, pace: _Pace) -> Iterator[Advance]:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        columns = (
            TextColumn("{task.description:<12}"), BarColumn(), TextColumn("{task.percentage:3.0f}%"),
            TimeElapsedColumn(), TextColumn("{task.fields[left]}"),
        )  # fmt: skip
        with Bar(*columns, console=Console(file=self.stream), transient=True) as bar:
            shown = bar.add_task("simulating", total=pace.total, left=f"{pace.count}")

            def advance(task: Task | None, seconds: float) -> None:
                pace.advance(task)
                bar.update(shown, completed=pace.done, left=f"{pace.left}; {pace.count}")

            yield advance

    @contextmanager
    def _lines(self, pace: _Pace) -> Iterator[Advance]:
        said = time.monotonic()

        def advance(task: Task | None, seconds: float) -> None:
            nonlocal said
            pace.advance(task)
            if time.monotonic() - said > SILENCE:
                said = time.monotonic()
                words = f"{pace.done / pace.total:.0%}, {pace.count}, {pace.elapsed:.0f} s, {pace.left}"
                print(f"simulating: {words}", file=self.stream, flush=True)

        yield advance


class _Pace:
    """How much is done, by cost, and an estimate of the time left."""

    def __init__(self, tasks: list[Task], backend: Backend) -> None:
        self.total, self.done = sum(map(cost, tasks)), 0.0
        self.count = ChunkCount(backend, len(tasks))
        self._started = time.monotonic()

    def advance(self, task: Task | None) -> None:
        if task is not None:
            self.done += cost(task)
            self.count.done += 1

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self._started

    @property
    def left(self) -> str:
        share = self.done / self.total
        # At first most of the time goes into compiling, which says nothing about the pace.
        return f"about {self.elapsed * (1 / share - 1):.0f} s left" if share > 0.1 else "no estimate yet"
