"""Moments of an arm from its sums."""

from __future__ import annotations

import math

from ...objectives import Statistics
from ...play.statistics import higher_moments, summary


def mean_and_variance(pulls: float, anchor: float, sum1: float, sum2: float) -> tuple[float, float]:
    """Mean and unbiased variance from sums about an anchor; NaN if there are too few pulls."""
    if pulls == 0:
        return math.nan, math.nan
    less = 1.0 / (pulls - 1.0) if pulls > 1 else math.nan
    mean, variance, _ = summary(anchor, sum1, sum2, 1.0 / pulls, less)
    return float(mean), float(variance) if pulls > 1 else math.nan


def statistics_of(pulls: float, sum1: float, sum2: float, sum3: float, sum4: float, anchor: float) -> Statistics:
    """Moments from sums about an anchor; NaN if there are too few pulls."""
    mean, variance = mean_and_variance(pulls, anchor, sum1, sum2)
    if not pulls > 1:
        return Statistics(pulls, mean, variance)
    third, fourth = higher_moments(sum1, sum2, sum3, sum4, 1.0 / pulls)
    return Statistics(pulls, mean, variance, float(third), float(fourth))
