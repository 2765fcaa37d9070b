"""What bounds the slower paths: ``python -m benchmarks.floors`` plays them beside an index that is their dearest part.

Ten arms, one thread; medians of nanoseconds per round.
"""

from __future__ import annotations

import sys
from typing import Any

import sharpe_bandits as sb
from sharpe_bandits.play.streams import log1p, root_growth

from .measure import contender
from .settings import FULL, L, Sizes, uniform_arms
from .timing import take_turns


@sb.index_policy(name="the mean alone")
def mean_alone(arm: Any, t: int) -> float:
    return arm.mean


@sb.index_policy(name="a normal draw per arm")
def normal_alone(arm: Any, t: int) -> float:
    return arm.mean + arm.standard_normal


@sb.index_policy(name="a normal draw and its width per arm")
def normal_and_width(arm: Any, t: int) -> float:
    z = arm.standard_normal
    return arm.mean + z * root_growth(min(z * z / (arm.pulls - 2.0), 200.0))


@sb.index_policy(name="a logarithm per arm")
def logarithm_alone(arm: Any, t: int) -> float:
    return arm.mean - log1p(arm.variance)


def floors(sizes: Sizes) -> dict[str, float]:
    """Nanoseconds per round, by name."""
    plain = (mean_alone, normal_alone, normal_and_width, logarithm_alone)
    policies = [sb.ScaleFreeTS(L=L), sb.ScaleFreeIMED(L=L), *(make(pilot_pulls=3) for make in plain)]
    ten, n, runs = uniform_arms(10), sizes.horizon, sizes.runs(sizes.middling)
    timings = take_turns([contender(p, ten, n, runs, p.name) for p in policies], sizes.repetitions)
    return {name: timing.median for name, timing in timings.items()}


if __name__ == "__main__":
    for name, nanoseconds in floors(FULL).items():
        print(f"{name:<40} {nanoseconds:6.1f} ns")
    sys.exit(0)
