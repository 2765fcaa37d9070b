"""Progress of a simulation: a bar on a terminal, elsewhere a line every few seconds."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from .executors import Advance, Backend, Task

#: Seconds between two lines of progress, where there is no terminal.
SILENCE = 15.0


@contextmanager
def show_progress(tasks: list[Task], backend: Backend, stream: TextIO | None) -> Iterator[Advance | None]:
    """The function to report finished tasks to, while their progress is shown on a stream; None without a stream."""
    if stream is None:
        yield None
        return
    show = _bar if stream.isatty() else _lines
    with show(tasks, backend, stream) as advance:
        yield advance


@contextmanager
def _bar(tasks: list[Task], backend: Backend, stream: TextIO) -> Iterator[Advance]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (
        TextColumn("simulating"), BarColumn(), TextColumn("{task.percentage:3.0f}%"), TimeElapsedColumn(),
        TimeRemainingColumn(), TextColumn("left; {task.fields[chunks]}"),
    )  # fmt: skip
    with Progress(*columns, console=Console(file=stream), transient=True) as bar:
        count = 0
        line = bar.add_task("simulating", total=sum(t.rounds for t in tasks), chunks=_chunks(0, tasks, backend))

        def advance(task: Task | None) -> None:
            nonlocal count
            count += task is not None
            bar.update(line, advance=task.rounds if task else 0, chunks=_chunks(count, tasks, backend))

        yield advance


@contextmanager
def _lines(tasks: list[Task], backend: Backend, stream: TextIO) -> Iterator[Advance]:
    started = printed = time.monotonic()
    total, rounds, count = sum(task.rounds for task in tasks), 0, 0

    def advance(task: Task | None) -> None:
        nonlocal printed, rounds, count
        if task is not None:
            rounds, count = rounds + task.rounds, count + 1
        now = time.monotonic()
        if now - printed > SILENCE:
            printed = now
            words = f"{rounds / total:.0%}, {_chunks(count, tasks, backend)}, {now - started:.0f} s"
            print(f"simulating: {words}", file=stream, flush=True)

    yield advance


def _chunks(count: int, tasks: list[Task], backend: Backend) -> str:
    """The number of finished chunks and the number of workers, as text."""
    workers, unit = backend.workers, backend.unit
    by = f", {workers} {unit if workers != 1 else unit[:-1]}" if workers else ""
    return f"{count} of {len(tasks)} chunks{by or (', no worker yet' if backend.awaits_workers else '')}"
