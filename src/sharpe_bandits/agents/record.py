"""Sums kept per arm: the moments that follow from them, and checks that some rewards have these sums."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..kernels.statistics import Sums, anchor_of, higher_moments, summary
from .state import damaged

#: Powers of small numbers underflow; this bounds the error of their sums.
TINY = 1e-150


def _slack(weight: Any) -> Any:
    """1 plus a bound on the relative rounding error after ``weight`` additions."""
    return 1 + 1e-12 + 1e-15 * weight


def check_sums(weight: Any, sums: Any, what: str, slack: Any = (0.0, 0.0, 0.0, 0.0)) -> None:
    """Raise if no numbers of this total weight have these sums of first to fourth powers (by Cauchy-Schwarz).

    ``slack`` is an additional tolerance for each sum.
    """
    s1, s2, s3, s4 = sums
    d1, d2, d3, d4 = slack
    slack, tiny = _slack(weight), TINY * (1 + np.asarray(weight))
    if (
        not np.isfinite(np.asarray(sums)).all()
        or (s2 < -d2).any()
        or (s4 < -d4).any()
        or (np.abs(s1) - d1 > np.sqrt(weight) * np.sqrt(np.maximum(s2 + d2, 0)) * slack + tiny).any()
        or (s2 - d2 > np.sqrt(weight) * np.sqrt(np.maximum(s4 + d4, 0)) * slack + tiny).any()
        or (np.abs(s3) - d3 > np.sqrt(np.maximum(s2 + d2, 0)) * np.sqrt(np.maximum(s4 + d4, 0)) * slack + tiny).any()
    ):
        raise damaged(f"no {what} have these sums")


def check_record(sums: Sums, last: np.ndarray, maximum: np.ndarray, t: int) -> None:
    """Raise if no t rewards have these sums per arm, rounds in which arms were last played, and largest rewards."""
    played = sums.pulls > 0
    powers = np.array([sums.sum1, sums.sum2, sums.sum3, sums.sum4])
    rests = [*powers, sums.anchor, last, np.where(maximum == -math.inf, 0.0, 1.0)]
    if any((row[~played] != 0).any() for row in rests) or not np.isfinite(maximum[played]).all():
        raise damaged("an arm that was never played has rewards, or one that was has none")
    pulls, anchor, powers = sums.pulls[played], sums.anchor[played], powers[:, played]
    order = np.argsort(last[played])
    rounds = last[played][order]
    whole_and_distinct = (rounds == np.floor(rounds)).all() and (np.diff(rounds) > 0).all()
    # The last pull of an arm comes after all pulls of arms that have not been played since.
    if not whole_and_distinct or (np.cumsum(pulls[order]) > rounds).any() or (t and rounds[-1] != t):
        raise damaged("the rounds in which arms were last played do not fit their pulls")
    check_sums(pulls, powers, "rewards")
    sum1, sum2 = powers[:2]
    top = maximum[played] - anchor
    rounding = (_slack(pulls) - 1) * np.sqrt(pulls * sum2) + TINY * pulls
    once = pulls == 1
    d = sum1[once]
    if (
        any(anchor_of(a) != a for a in anchor.tolist())  # else a first reward would have had another anchor
        or (sum1 > pulls * top + rounding).any()
        or (np.abs(top) > np.sqrt(sum2) * _slack(pulls) + TINY).any()
        or (top[once] != d).any()
        or (powers[1:, once] != [d * d, d * d * d, d * d * d * d]).any()
    ):
        raise damaged("the largest reward of an arm does not fit its sums")


def mean_and_variance(pulls: float, anchor: float, sum1: float, sum2: float) -> tuple[float, float]:
    """Mean and unbiased variance from sums about an anchor; NaN if there are too few pulls."""
    if pulls == 0:
        return math.nan, math.nan
    less = 1.0 / (pulls - 1.0) if pulls > 1 else math.nan
    mean, variance, _ = summary(anchor, sum1, sum2, 1.0 / pulls, less)
    return float(mean), float(variance) if pulls > 1 else math.nan


def moments_of(
    pulls: float, sum1: float, sum2: float, sum3: float, sum4: float, anchor: float
) -> tuple[float, float, float, float, float]:
    mean, variance = mean_and_variance(pulls, anchor, sum1, sum2)
    if not pulls > 1:
        return pulls, mean, variance, math.nan, math.nan
    third, fourth = higher_moments(sum1, sum2, sum3, sum4, 1.0 / pulls)
    return pulls, mean, variance, float(third), float(fourth)
