"""Progress of a simulation: a bar on a terminal, elsewhere a line every few seconds."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from .executors import Advance, Backend, Task

#: Seconds between two lines of progress, where there is no terminal.
SILENCE = 15.0


@contextmanager
def show_progress(tasks: list[Task], backend: Backend, stream: TextIO | None) -> Iterator[Advance]:
    """The function to report finished tasks to, while their progress is shown on a stream, if there is one."""
    total, rounds, count = sum(task.rounds for task in tasks), 0, 0
    started = printed = time.monotonic()

    def words() -> str:
        workers, unit = backend.workers, backend.unit
        by = f", {workers} {unit if workers != 1 else unit[:-1]}" if workers else ""
        return f"{count} of {len(tasks)} chunks{by or (', no worker yet' if backend.awaits_workers else '')}"

    def reporting(show: Callable[[], None]) -> Advance:
        def advance(task: Task | None) -> None:
            nonlocal rounds, count
            if task is not None:
                rounds, count = rounds + task.rounds, count + 1
            show()

        return advance

    def print_line() -> None:
        nonlocal printed
        now = time.monotonic()
        if stream and now - printed > SILENCE:
            printed = now
            print(f"simulating: {rounds / total:.0%}, {words()}, {now - started:.0f} s", file=stream, flush=True)

    if stream is None or not stream.isatty():
        yield reporting(print_line)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (
        TextColumn("simulating"), BarColumn(), TextColumn("{task.percentage:3.0f}%"), TimeElapsedColumn(),
        TimeRemainingColumn(), TextColumn("left; {task.fields[chunks]}"),
    )  # fmt: skip
    with Progress(*columns, console=Console(file=stream), transient=True) as bar:
        line = bar.add_task("simulating", total=total, chunks=words())
        yield reporting(lambda: bar.update(line, completed=rounds, chunks=words()))
