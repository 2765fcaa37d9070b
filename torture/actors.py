"""Whoever acts on a campaign, with a store of its own."""

from __future__ import annotations

import time
from typing import Any

import sharpe_bandits as sb
from sharpe_bandits.live.campaigns import database


class Local:
    """An actor with a store of its own. All actors go by ``clock``, seconds ahead of the machine's."""

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
        database.time = Clock(clock, clock)  # type: ignore[assignment]
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


class Clock:
    """The module ``time``, ahead of the machine's clocks: the one that can be set, and the steady one."""

    def __init__(self, ahead: float, steady: float) -> None:
        self._ahead, self._steady = ahead, steady

    def time(self) -> float:
        return time.time() + self._ahead

    def clock_gettime(self, which: int) -> float:
        return time.clock_gettime(which) + self._steady

    def __getattr__(self, name: str) -> Any:
        return getattr(time, name)
