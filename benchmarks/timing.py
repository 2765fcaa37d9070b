"""Timing that lets the noise of the machine cancel: contenders take turns, and ratios are taken within a round.

Spec of one thread is timed by the processor time it used, which other programs on the machine hardly change; spec of
several threads by the clock on the wall.
"""

from __future__ import annotations

import math
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
    def median(self) -> float:
        """What is printed: disturbances on either side do not move it."""
        return statistics.median(self.nanoseconds)

    def over(self, other: Timing) -> float:
        """How many times slower than another, by the times that are printed."""
        return self.median / other.median

    def interval(self, other: Timing) -> tuple[float, float]:
        """The same with at least 95% confidence: order statistics of the ratios of repetitions that stood side by side.

        With fewer than six repetitions no such interval exists; the smallest and the largest ratio are given.
        """
        ratios = sorted(a / b for a, b in zip(self.nanoseconds, other.nanoseconds, strict=True))
        n, cut = len(ratios), 0
        while 2.0 * sum(math.comb(n, j) for j in range(cut + 1)) / 2.0**n <= 0.05:
            cut += 1
        cut = max(cut - 1, 0)
        return ratios[cut], ratios[n - 1 - cut]


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
