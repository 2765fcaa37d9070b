"""Compiling the kernels of many specs in two processes: this one starts from the first spec, another from the last.

Compiling holds the interpreter lock, so threads of one process cannot compile in parallel. This process finds what the
other has compiled in the cache of kernels. If the other fails, this process compiles everything itself.
"""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from ..subprocesses import argument, is_orphaned, start_process
from .cache import call_at_miss, usable_folder
from .spec import Spec, run_chunk

#: Runs that the other process plays of a spec whose kernels are new to it: as many as a kernel plays in parallel.
_RUNS = 16


@contextmanager
def compiled_ahead(specs: Sequence[Spec], workers: int) -> Iterator[None]:
    """Within the context, the first cache miss starts another process that compiles kernels from the last spec on."""
    process: list[subprocess.Popen[bytes]] = []
    lock = threading.Lock()

    def start() -> None:
        with lock:
            if not process:
                process.append(_started(specs))

    if workers < 2 or len(specs) < 2 or usable_folder() is None:
        yield
        return
    with call_at_miss(start):
        try:
            yield
        finally:
            for one in process:
                one.terminate()
                one.wait()


def _started(specs: Sequence[Spec]) -> subprocess.Popen[bytes]:
    return start_process(main, list(specs))


def main() -> None:
    """Entry point of the other process."""
    played: set[Any] = set()
    for spec in reversed(argument()):
        if is_orphaned():
            return
        with suppress(Exception):  # the parent process will report what is wrong
            if spec.kernels not in played:
                played.add(spec.kernels)
                run_chunk(spec, 0, min(spec.runs, spec.chunk, _RUNS))
