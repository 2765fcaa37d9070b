"""The policy against control, and what it would have earned where others decided, with time-uniform intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from ...confidence_sequences import ConfidenceSequence, Interval, difference, intervals
from ...objectives import Mean, Objective, Statistics
from ...play.statistics import FEATURE
from .guardrails import moments
from .state import State

#: Probability that an interval ever excludes the truth.
ALPHA = 0.05


@dataclass(frozen=True)
class Comparison:
    """The policy and control, where each decision was left to one of the two at random.

    Attributes
    ----------
    rewards : number of rewards of policy and control
    means : mean reward, or cost, of each
    mean_difference : of the first minus the second
    mean_interval : its time-uniform 95% interval; None if it is too early
    value_difference, value_interval
        the same of the policy's objective, for costs as a cost; of its root if the objective is a square
    weighted_means : mean reward weighted by the weights told (1 where none was)
    """

    rewards: tuple[int, int]
    means: tuple[float, float]
    mean_difference: float
    mean_interval: tuple[float, float] | None
    value_difference: float | None
    value_interval: tuple[float, float] | None
    weighted_means: tuple[float, float]

    @classmethod
    def of(cls, state: State) -> Comparison | None:
        """Compare the two; None if one of them has no rewards."""
        one, other = (state.tallies.get(name) for name in ("policy", "control"))
        if one is None or other is None:
            return None
        goal, pair = state.agent.objective, [moments(one, state.sign), moments(other, state.sign)]
        mean_difference, mean_interval = _difference([moments(one), moments(other)], Mean())
        value, interval = None, None
        if goal is not None and not isinstance(goal, Mean):
            if goal.has_feature:
                features = [zip(FEATURE, state.features[name].known, strict=True) for name in ("policy", "control")]
                pair = [one._replace(**dict(feature)) for one, feature in zip(pair, features, strict=True)]
            value, interval = _difference(pair, goal)
            if state.sign < 0:
                value = None if value is None else 0.0 - value
                interval = None if interval is None else (-interval[1], -interval[0])
        return cls(
            (int(one[0]), int(other[0])),
            (one[1], other[1]),
            one[1] - other[1] if mean_difference is None else mean_difference,
            mean_interval,
            value,
            interval,
            (one[6] / one[5], other[6] / other[5]),
        )

    def in_words(self, costs: bool, until: datetime | None) -> str:
        """How much better the policy is; ``until``: the last reward of control, if it is no longer played."""
        value = ""
        if self.value_difference is not None:
            value = f"; in the objective {_gap(self.value_difference, self.value_interval, costs)}"
        if not np.allclose(self.weighted_means, self.means, rtol=1e-9):
            value += f"; weighted means {self.weighted_means[0]:.4g} and {self.weighted_means[1]:.4g}"
        when = f", while control was played, until {until:%Y-%m-%d}" if until else ""
        return (
            f"policy against control{when} ({self.rewards[0]:,} and {self.rewards[1]:,} rewards): "
            f"{_gap(self.mean_difference, self.mean_interval, costs)} in the mean{value}"
        )


@dataclass(frozen=True)
class ShadowEstimate:
    """What the policy would have earned where others decided: doubly robust estimates from each reward, with the
    policy's choice at that time.

    They are unbiased if the propensities are right. Where none was recorded, that of an arm is taken to be its share in
    the decisions of others: this is right only if others chose without regard to what the rewards would be.

    Attributes
    ----------
    rewards : number of rewards
    others : mean reward, or cost, of the others' decisions
    policy : estimated mean of the policy's
    interval : time-uniform 95% interval of the difference; None if it is too early
    """

    rewards: int
    others: float
    policy: float
    interval: tuple[float, float] | None

    @classmethod
    def of(cls, state: State) -> ShadowEstimate | None:
        """The estimate; None if there are no rewards of others' decisions."""
        if "difference" not in state.tallies:
            return None
        others, policy, both = (state.tallies[name] for name in ("others", "shadow", "difference"))
        interval = finite_ends(intervals(moments(both), Mean(), alpha=ALPHA)) if both[0] > 1 else None
        return cls(int(others[0]), others[1], policy[1], interval)

    def __str__(self) -> str:
        difference = self.policy - self.others
        return (
            f"it would have had a mean of {self.policy:.4g} instead of {self.others:.4g}: "
            f"{difference:+.4g}{_words(self.interval)}"
        )


def finite_ends(interval: Interval | ConfidenceSequence) -> tuple[float, float] | None:
    """The ends of an interval of a confidence sequence; None if it is too early."""
    ends = float(interval.low), float(interval.high)
    return ends if all(map(math.isfinite, ends)) else None


def _gap(difference: float, interval: tuple[float, float] | None, costs: bool) -> str:
    """A difference with its interval; of costs, how much cheaper the first is."""
    if not costs:
        return f"{difference:+.4g}{_words(interval)}"
    if difference > 0:
        return f"dearer by {difference:.4g}{_words(interval)}"
    return f"cheaper by {-difference:.4g}{_words(interval and (-interval[1], -interval[0]))}"


def _words(interval: tuple[float, float] | None) -> str:
    if interval is None:
        return " (too early for an interval)"
    return f" (95%, at any time: {interval[0]:.4g} to {interval[1]:.4g})"


def _difference(pair: Sequence[Statistics], goal: Objective) -> tuple[float | None, tuple[float, float] | None]:
    columns: list[Any] = [np.array(column, float) for column in zip(*pair, strict=True)]
    estimate, half = difference(Statistics(*columns), goal, alpha=ALPHA)
    if not math.isfinite(estimate):
        return None, None
    return estimate, (estimate - half, estimate + half) if math.isfinite(half) else None
