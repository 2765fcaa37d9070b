"""Kernels of many specs compiled by two processes: this one from the first spec on, another one from the last.

Compiling holds the interpreter, so that threads of one process do it one after the other. What the other process has
compiled is found in the cache of kernels. It is a help alone: if it fails, this process compiles everything itself.
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

#: Runs that the other process plays of a spec whose kernels are new to it: as many as a kernel plays abreast.
_RUNS = 16


@contextmanager
def compiled_ahead(specs: Sequence[Spec], workers: int) -> Iterator[None]:
    """Within the context, once a kernel is found to be missing, another process compiles those of the last specs."""
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
    """What the other process does."""
    played: set[Any] = set()
    for spec in reversed(argument()):
        if is_orphaned():
            return
        with suppress(Exception):  # the process that asked for it will say what is wrong
            if spec.kernels not in played:
                played.add(spec.kernels)
                run_chunk(spec, 0, min(spec.runs, spec.chunk, _RUNS))
