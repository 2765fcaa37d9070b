"""Runs the cases of a target, one after the other, and tells which of them break the promise."""

from __future__ import annotations

import contextlib
import signal
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sharpe_bandits import SharpeBanditsError

#: Seconds of computing that a case may take, and of waiting besides, after which it counts as hung.
COMPUTING, WAITING = 2.0, 120.0


class Hang(BaseException):
    """A case that took too long; no handler of errors is to catch it."""


@dataclass(frozen=True)
class Target:
    """Something to be attacked.

    Attributes
    ----------
    name : of the target
    make : the input of a case, from a generator
    check : gives the input to the library and raises AssertionError where a promise is broken
    seconds : of computing that a case may take
    """

    name: str
    make: Callable[[np.random.Generator], Any]
    check: Callable[[Any], None]
    seconds: float = COMPUTING


@dataclass(frozen=True)
class Crash:
    """A case that broke the promise: its number, its input and what happened."""

    target: str
    seed: int
    case: Any
    trouble: str

    def keep(self, folder: Path) -> Path | None:
        """Write the input to a file of the folder, where it is text or bytes; the tests run what is there."""
        if not isinstance(self.case, (str, bytes)):
            return None
        text = isinstance(self.case, str)
        path = folder / f"{self.target}-{self.seed}{'.txt' if text else '.bin'}"
        path.write_bytes(self.case.encode("utf-8", "surrogatepass") if text else self.case)
        return path

    def __str__(self) -> str:
        try:
            shown = repr(self.case)
        except Exception as error:  # inputs may be hostile to being shown, too
            shown = f"cannot be shown: {error!r}"
        return (
            f"{self.trouble}\ninput: {shown[:2000]}{'…' if len(shown) > 2000 else ''}\n"
            f"repeat it with: python -m fuzz --target {self.target} --seed {self.seed}"
        )


def attack(target: Target, seed: int) -> Crash | None:
    """One case: what was wrong, or None."""
    case: Any = None
    try:
        case = target.make(np.random.default_rng(seed))
        with _limited(target.seconds), warnings.catch_warnings(), contextlib.suppress(SharpeBanditsError):
            warnings.simplefilter("ignore")
            target.check(case)
    except Hang:
        return Crash(target.name, seed, case, f"hung: more than {target.seconds:g} s\n{traceback.format_exc(limit=-6)}")
    except Exception:
        return Crash(target.name, seed, case, traceback.format_exc())
    return None


def campaign(target: Target, first: int, cases: int | None = None, seconds: float | None = None) -> Iterator[Crash]:
    """The crashes among some cases, or among as many as there is time for."""
    started, number = time.monotonic(), 0
    while (cases is None or number < cases) and (seconds is None or time.monotonic() - started < seconds):
        crash = attack(target, first + number)
        number += 1
        if crash is not None:
            yield crash


@contextlib.contextmanager
def brief_errors() -> Iterator[None]:
    """An error says what is wrong, and does not list everything."""
    try:
        yield
    except SharpeBanditsError as error:
        length = len(str(error))
        if not 10 < length < 5000:
            raise AssertionError(f"the message has {length} characters") from error
        raise


@contextlib.contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Raise :class:`Hang` in what computes or waits for too long; by the time of the processor, others may be busy."""

    def hang(number: int, frame: Any) -> None:
        raise Hang

    timers = ((signal.ITIMER_PROF, signal.SIGPROF, seconds), (signal.ITIMER_REAL, signal.SIGALRM, WAITING + seconds))
    before = [signal.signal(number, hang) for _, number, _ in timers]
    try:
        for timer, _, limit in timers:
            signal.setitimer(timer, limit)
        yield
    finally:
        for (timer, number, _), handler in zip(timers, before, strict=True):
            signal.setitimer(timer, 0)
            signal.signal(number, handler)
