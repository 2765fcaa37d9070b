"""Faults, simulated with a seed, against the plain model of a campaign: ``python -m torture.faults [--minutes 5]``.

Actors of :mod:`torture.model` go through a bad network to a process that dies. A call may be cut off before its commit
or after it, and its process starts anew; its answer may be lost, and it is sent again with the same key; it may arrive
twice, or once more much later; the clock may be a day ahead or an hour behind, until it is corrected. Whatever happens,
the campaign must be what the model says, and replaying its log must give the same. Seeds that failed are kept in
``torture/failing_seeds.txt``, and the tests play them first.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

import hypothesis

import sharpe_bandits as sb
from sharpe_bandits.live.campaigns import database

from .actors import Clock, Local
from .model import play

KEPT = Path(__file__).with_name("failing_seeds.txt")
#: Methods that change something, and may be sent again.
_WRITES = (
    "ask", "tell_many", "record", "cancel", "amend", "set", "pause", "resume", "suspend", "add_arm", "retire_arm",
)  # fmt: skip
#: Those of them that may come again at any later time without a change.
_AT_ANY_TIME = ("ask", "tell_many", "cancel", "record")
#: What may happen to a call.
FAULTS = (
    "none", "crash before commit", "crash after commit", "answer lost", "late duplicate", "clock ahead", "clock back",
)  # fmt: skip


class _CrashError(BaseException):
    """The process is gone."""


class Faulty(Local):
    """An actor behind a bad network, whose process may die."""

    #: How often each fault happened, in all simulations.
    counts: ClassVar[Counter[str]] = Counter()

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._seed, self._path, self._keys = seed, "", 0
        self._earlier: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []

    def act(self, path: str, clock: float, method: str, *arguments: Any, **options: Any) -> Any:
        """Like :meth:`Local.act`; the caller sees none of the faults."""
        if path != self._path:  # the next sequence
            self._path, self._random, self._earlier = path, random.Random(self._seed), []
        if method not in _WRITES:
            return super().act(path, clock, method, *arguments, **options)
        if method == "ask" and not options.get("key"):
            options = self._with_keys(options)
        fault = self._random.choice(FAULTS)
        self.counts[fault] += 1
        if fault.startswith("clock"):
            self._wrong_clock(path, clock, fault, method, *arguments, **options)
        elif fault.startswith("crash"):
            self._crash(path, clock, fault, method, *arguments, **options)
        result = super().act(path, clock, method, *arguments, **options)
        if fault == "answer lost":
            again = super().act(path, clock, method, *arguments, **options)
            assert _said(again) == _said(result), (method, arguments, options, result, again)
        elif fault == "late duplicate" and self._earlier:
            earlier, its_arguments, its_options = self._random.choice(self._earlier)
            super().act(path, clock, earlier, *its_arguments, **its_options)
            self.asked_late = earlier == "ask"
        if method in _AT_ANY_TIME and not _failed(result):
            self._earlier.append((method, arguments, options))
        return result

    def _with_keys(self, options: dict[str, Any]) -> dict[str, Any]:
        """A client names its requests, so that they can be repeated."""
        count = options.get("count")
        keys = [f"{self._seed}-{self._keys + k}" for k in range(count or 1)]
        self._keys += len(keys)
        rest = {name: value for name, value in options.items() if name != "count"}
        return {**rest, "keys": keys} if count else {**rest, "key": keys[0]}

    def _crash(self, path: str, clock: float, fault: str, method: str, *arguments: Any, **options: Any) -> None:
        super().act(path, clock, "status")  # opens the store
        assert self._opened is not None
        storage = self._opened[1]._storage
        transaction = storage._transaction

        def dies(work: Any, begin: str, end: str = "ROLLBACK", **more: Any) -> Any:
            def cut_off(driver: Any) -> Any:
                work(driver)
                raise _CrashError

            if end != "COMMIT":
                return transaction(work, begin, end, **more)
            transaction(cut_off if fault == "crash before commit" else work, begin, end, **more)
            raise _CrashError

        storage._transaction = dies  # type: ignore[method-assign]
        with suppress(_CrashError):
            super().act(path, clock, method, *arguments, **options)
        self.close()

    def _wrong_clock(self, path: str, clock: float, fault: str, method: str, *arguments: Any, **options: Any) -> None:
        before = super().act(path, clock, "status").events
        assert self._opened is not None
        campaign, steady = self._opened[2], time.clock_gettime(time.CLOCK_BOOTTIME) + clock
        campaign._storage._last_time = (time.time() + clock, steady)
        ahead = clock + 86_400 if fault == "clock ahead" else -3600  # before the campaign began
        database.time = Clock(ahead, clock)  # type: ignore[assignment]
        with suppress(sb.SharpeBanditsError):
            getattr(campaign, method)(*arguments, **options)
        database.time = time  # type: ignore[assignment]
        assert super().act(path, clock, "status").events == before, f"{method} went on with a wrong clock"


def _failed(result: Any) -> bool:
    return isinstance(result, Exception) or (isinstance(result, list) and any(isinstance(x, Exception) for x in result))


def _said(result: Any) -> Any:
    """What a caller learns from a result, to compare two."""
    if isinstance(result, list):
        return [_said(one) for one in result]
    if isinstance(result, Exception):
        return type(result)
    return (result.number, result.arm) if hasattr(result, "number") else result


def simulate(seed: int, sequences: int = 5) -> None:
    """Play some sequences; raises where the campaign is not what the model says."""
    more: dict[str, Any] = {"phases": [hypothesis.Phase.generate], "report_multiple_bugs": False, "database": None}
    play(sequences, [Faulty(seed + k) for k in range(3)], decorate=hypothesis.seed(seed), **more)


def main() -> int:
    """Simulate with one seed after the other until the time is up."""
    parser = argparse.ArgumentParser(prog="python -m torture.faults", description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    options = parser.parse_args()
    began, seed, failed = time.monotonic(), options.first, []
    while time.monotonic() < began + 60 * options.minutes:
        try:
            simulate(seed)
        except Exception as error:
            failed.append(seed)
            with KEPT.open("a") as file:
                file.write(f"{seed}\n")
            print(f"seed {seed}: {error!r}", flush=True)
        seed += 1
    print(f"{seed - options.first} seeds, {len(failed)} failed, {time.monotonic() - began:.0f} s")
    print(", ".join(f"{fault}: {count:,}" for fault, count in sorted(Faulty.counts.items())))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
