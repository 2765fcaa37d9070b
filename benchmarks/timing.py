"""Timing that lets the noise of the machine cancel: contenders take turns, and ratios are taken within a round.

Spec of one thread is timed by the processor time it used, which other programs on the machine hardly change; spec of
several threads by the clock on the wall.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Timing:
    """Nanoseconds per step of one contender, one number per repetition."""

    name: str
    nanoseconds: tuple[float, ...]

    @property
    def best(self) -> float:
        """The least disturbed repetition."""
        return min(self.nanoseconds)

    def over(self, other: Timing) -> float:
        """How many times slower than another: the median of the ratios of repetitions that stood side by side."""
        return statistics.median(a / b for a, b in zip(self.nanoseconds, other.nanoseconds, strict=True))


@dataclass(frozen=True)
class Contender:
    """Something to time: called without arguments, it plays ``steps`` steps."""

    name: str
    steps: int
    play: Callable[[], object]
    wall: bool = False

    def seconds(self) -> float:
        """Play once and say how long it took."""
        clock = time.perf_counter if self.wall else time.process_time
        began = clock()
        self.play()
        return clock() - began


def take_turns(contenders: list[Contender], repetitions: int) -> dict[str, Timing]:
    """Time contenders A, B, A, B, ..., after a warm-up of each."""
    seen: dict[str, list[float]] = {c.name: [] for c in contenders}
    for c in contenders:
        c.play()
    for _ in range(repetitions):
        for c in contenders:
            seen[c.name].append(c.seconds() / c.steps * 1e9)
    return {name: Timing(name, tuple(values)) for name, values in seen.items()}
