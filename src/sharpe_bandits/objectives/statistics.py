"""What is known of an arm's rewards: a named record of statistics, with a merge."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np


class Statistics(NamedTuple):
    """Statistics of an arm's rewards, as numbers or as arrays of one shape; NaN what is not known.

    Attributes
    ----------
    pulls : Any
        number of rewards; infinite if the moments are true ones
    mean, variance : Any
        mean and unbiased variance
    third, fourth : Any
        third and fourth central moment
    feature, feature_square : Any
        mean of the feature (see :class:`.Objective`) and of its square
    feature_covariance : Any
        covariance of the feature and the reward (biased: the mean of products)

    Examples
    --------
    >>> from sharpe_bandits.objectives import Sharpe, Statistics
    >>> float(Sharpe(L=0.0).value(Statistics(mean=0.3, variance=0.25)))
    0.6
    """

    pulls: Any = math.inf
    mean: Any = math.nan
    variance: Any = math.nan
    third: Any = math.nan
    fourth: Any = math.nan
    feature: Any = math.nan
    feature_square: Any = math.nan
    feature_covariance: Any = math.nan

    def at(self, index: Any) -> Statistics:
        """The statistics of some arms: each array at this index."""
        return Statistics(*(values if np.ndim(values) == 0 else np.asarray(values)[index] for values in self))

    def merge(self, other: Statistics) -> Statistics:
        """The statistics of both sets of rewards together (Chan, Golub & LeVeque, 1983; Pébay, 2008).

        Not for CVaR, whose feature depends on the sample.
        """
        (na, a, va, ta, fa, ya, sa, ca), (nb, b, vb, tb, fb, yb, sb, cb) = self, other
        n = na + nb
        p, q, d = na / n, nb / n, b - a
        va, vb = (np.where(count > 1, v * (count - 1) / count, 0.0) for count, v in ((na, va), (nb, vb)))
        variance = p * va + q * vb + p * q * d * d
        third = p * ta + q * tb + 3 * p * q * d * (vb - va) + p * q * (p - q) * d**3
        fourth = (
            p * fa + q * fb + 4 * p * q * d * (tb - ta) + 6 * p * q * d**2 * (q * va + p * vb)
            + p * q * (p * p - p * q + q * q) * d**4
        )  # fmt: skip
        return Statistics(
            n, a + q * d, variance * n / (n - 1), third, fourth, p * ya + q * yb, p * sa + q * sb,
            p * ca + q * cb + p * q * d * (yb - ya),
        )  # fmt: skip


def moments_of(x: np.ndarray) -> Statistics:
    """Moments of rewards along the first axis."""
    n, mean = len(x), x.mean(axis=0)
    squares, third, fourth = (((x - mean) ** k).mean(axis=0) for k in (2, 3, 4))
    variance = squares * n / (n - 1) if n > 1 else np.full_like(mean, math.nan)
    return Statistics(np.full_like(mean, n), mean, variance, third, fourth)


def moments_so_far(x: np.ndarray) -> Statistics:
    """Moments of the rewards up to and including each, along the first axis."""
    n = np.arange(1.0, len(x) + 1).reshape(-1, *[1] * (x.ndim - 1))
    centre = x.mean(axis=0)  # powers about the overall mean lose the least precision
    a, b, c, e = (np.cumsum((x - centre) ** k, axis=0) / n for k in (1, 2, 3, 4))
    constant = np.maximum.accumulate(x, axis=0) == np.minimum.accumulate(x, axis=0)
    biased = np.where(constant, 0.0, np.maximum(b - a * a, 0.0))
    pulls = np.broadcast_to(n, x.shape).astype(np.int64)
    return Statistics(pulls, centre + a, biased * n / np.maximum(n - 1, 1), *about_the_mean(a, b, c, e))


def about_the_mean(a: Any, b: Any, c: Any, d: Any) -> tuple[Any, Any]:
    """Third and fourth central moment from the means of the first four powers of deviations from any point."""
    third, fourth = c - a * (3 * b - 2 * a * a), d - a * (4 * c - a * (6 * b - 3 * a * a))
    return third, np.maximum(fourth, 0.0)
