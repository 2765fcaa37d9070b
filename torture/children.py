"""Processes that are forked: they begin at once, with everything compiled, and can be killed."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from pickle import UnpicklingError
from typing import Any

_FORK = get_context("fork")
Say = Callable[[Any], None]


class Child:
    """A process that runs a function, which may say things on the way; an error is said as text."""

    def __init__(self, work: Callable[[Say], Any]) -> None:
        self._receive, send = _FORK.Pipe(duplex=False)
        self._process = _FORK.Process(target=_run, args=(work, send.send))
        self._process.start()
        send.close()

    def answers(self) -> Iterator[Any]:
        """What it has said; a last message that was cut is left out."""
        while True:
            try:
                yield self._receive.recv()
            except (EOFError, OSError, UnpicklingError):
                return

    def wait_for_first(self, seconds: float = 60.0) -> None:
        """Wait until it has said something."""
        self._receive.poll(seconds)

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()

    def wait(self) -> None:
        """Wait until it has ended."""
        self._process.join()
        self._receive.close()


def _run(work: Callable[[Say], Any], say: Say) -> None:
    try:
        work(say)
    except Exception:
        say(traceback.format_exc())
