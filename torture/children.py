"""Processes that are forked: they begin at once, with everything compiled, and can be killed."""

from __future__ import annotations

import os
import pickle
import select
import signal
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class Child:
    """A process that runs a function and sends its answer; an error is sent as text."""

    def __init__(self, work: Callable[[], Any], say: Callable[[Callable[[Any], None]], Any] | None = None) -> None:
        receive, send = os.pipe()
        self.process = os.fork()
        if self.process == 0:
            os.close(receive)
            status = 1
            try:
                try:
                    answer = work() if say is None else say(lambda thing: _send(send, thing))
                except Exception:
                    answer = traceback.format_exc()
                _send(send, answer)
                status = 0
            finally:
                os._exit(status)
        os.close(send)
        self._receive = os.fdopen(receive, "rb")

    def answers(self) -> Iterator[Any]:
        """What it has sent; a last message that was cut is left out."""
        while True:
            try:
                yield pickle.load(self._receive)
            except (EOFError, pickle.UnpicklingError):
                return

    def wait_for_first(self, seconds: float = 60.0) -> None:
        """Wait until it has sent something."""
        select.select([self._receive], [], [], seconds)

    def answer(self) -> Any:
        """Its answer."""
        (found,) = list(self.answers()) or ["it died"]
        self.wait()
        return found

    def kill(self) -> None:
        """End it at once."""
        os.kill(self.process, signal.SIGKILL)

    def wait(self) -> None:
        """Wait until it has ended."""
        os.waitpid(self.process, 0)
        self._receive.close()


@contextmanager
def children(work: list[Callable[[], Any]]) -> Iterator[list[Child]]:
    """Children that run these functions."""
    yield [Child(one) for one in work]


def _send(pipe: int, thing: Any) -> None:
    content = memoryview(pickle.dumps(thing))
    while content:
        content = content[os.write(pipe, content) :]
