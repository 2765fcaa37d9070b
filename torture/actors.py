"""Whoever acts on a campaign: in this process, or in one of its own that takes orders on a pipe."""

from __future__ import annotations

import pickle
import subprocess
import sys
import time
from typing import Any

import sharpe_bandits as sb
from sharpe_bandits.live.campaigns import database

_machine_time = time.time


class Local:
    """An actor in this process, with a store of its own. All actors go by ``clock``, seconds ahead of the machine's."""

    #: Whether an ask came again after the last act: see :mod:`torture.faults`.
    asked_late = False

    def __init__(self) -> None:
        self._opened: tuple[str, sb.Store, Any] | None = None

    def act(self, path: str, clock: float, method: str, *arguments: Any, **options: Any) -> Any:
        """Call a method of the campaign "c"; gives what it gives, or the error that it raises."""
        if self._opened is None or self._opened[0] != path:
            self.close()
            store = sb.Store(path, synchronous="NORMAL")
            self._opened = path, store, store.campaign("c")
        database.time = _Clock(clock)  # type: ignore[assignment]
        try:
            return getattr(self._opened[2], method)(*arguments, **options)
        except sb.SharpeBanditsError as error:
            return error
        finally:
            database.time = time  # type: ignore[assignment]

    def close(self) -> None:
        """Close the store."""
        if self._opened is not None:
            self._opened[1].close()
            self._opened = None


class _Clock:
    """The module ``time``, ahead of the machine's clock."""

    def __init__(self, ahead: float) -> None:
        self._ahead = ahead

    def time(self) -> float:
        return _machine_time() + self._ahead

    def clock_gettime(self, which: int) -> float:
        return time.clock_gettime(which) + self._ahead  # the time has passed: the clock did not jump

    def __getattr__(self, name: str) -> Any:
        return getattr(time, name)


class Remote:
    """An actor in a process of its own."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "torture.actors"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def act(self, *order: Any, **options: Any) -> Any:
        """See :meth:`Local.act`."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        pickle.dump((order, options), self._process.stdin)
        self._process.stdin.flush()
        return pickle.load(self._process.stdout)

    def close(self) -> None:
        """The process keeps its store until it is given another."""

    def end(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def main() -> None:
    """Take orders until there are no more."""
    actor = Local()
    while True:
        try:
            order, options = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        pickle.dump(actor.act(*order, **options), sys.stdout.buffer)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
