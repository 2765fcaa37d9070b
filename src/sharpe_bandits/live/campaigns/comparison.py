"""The policy against control, and against the decisions of others: differences with time-uniform intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...confidence_sequences import difference
from ...objectives import Mean, Objective, Statistics
from .state import State
from .tally import Tally, moments

#: Probability that an interval ever excludes the truth.
ALPHA = 0.05


@dataclass(frozen=True)
class Comparison:
    """Rewards of two groups of decisions.

    Attributes
    ----------
    groups : tuple[str, str]
        what is compared: "policy" and "control", where each decision was left to one of the two at random; or "agreed"
        and "disagreed", decisions of others with which the policy agreed or not (no experiment: others may have had
        reasons)
    rewards : tuple[int, int]
        number of rewards of each
    means : tuple[float, float]
        mean reward, or cost, of each
    mean_difference : float
        of the first minus the second
    mean_interval : tuple[float, float] | None
        its time-uniform 95% interval; None if it is too early
    value_difference, value_interval : float | None and tuple[float, float] | None
        the same of the policy's objective, in which larger is better; of its root if the objective is a square
    weighted_means : tuple[float, float]
        mean reward weighted by the weights told (1 where none was)
    """

    groups: tuple[str, str]
    rewards: tuple[int, int]
    means: tuple[float, float]
    mean_difference: float
    mean_interval: tuple[float, float] | None
    value_difference: float | None
    value_interval: tuple[float, float] | None
    weighted_means: tuple[float, float]

    @classmethod
    def of(cls, state: State, first: str, second: str) -> Comparison | None:
        """Compare two groups; None if one of them has no rewards."""
        one, other = (state.tallies.get(name) for name in (first, second))
        if one is None or other is None:
            return None
        goal, sign = state.agent.policy.goal, state.sign
        mean_difference, mean_interval = _difference(one, other, Mean(), 1.0)
        value, interval = None, None
        if goal is not None and not isinstance(goal, Mean):
            value, interval = _difference(one, other, goal, sign)
        return cls(
            (first, second),
            (int(one[0]), int(other[0])),
            (one[1], other[1]),
            mean_difference if mean_difference is not None else math.nan,
            mean_interval,
            value,
            interval,
            (one[6] / one[5], other[6] / other[5]),
        )

    def __str__(self) -> str:
        first, second = self.groups
        interval = "too early for an interval" if self.mean_interval is None else _words(self.mean_interval)
        value = ""
        if self.value_difference is not None:
            bounds = "" if self.value_interval is None else f" ({_words(self.value_interval)})"
            value = f"; in the objective {self.value_difference:+.4g}{bounds}"
        return f"{first} minus {second}: {self.mean_difference:+.4g} in the mean ({interval}){value}"


def _words(interval: tuple[float, float]) -> str:
    return f"95%, at any time: {interval[0]:.4g} to {interval[1]:.4g}"


def _difference(
    one: Tally, other: Tally, goal: Objective, sign: float
) -> tuple[float | None, tuple[float, float] | None]:
    rows: list[Any] = [np.array(pair, float) for pair in zip(moments(one, sign), moments(other, sign), strict=True)]
    estimate, half = difference(Statistics(*rows), goal, alpha=ALPHA)
    if not math.isfinite(estimate):
        return (one[1] - other[1], None) if isinstance(goal, Mean) else (None, None)
    return estimate, (estimate - half, estimate + half) if math.isfinite(half) else None
