"""Mean, variance, and one less a multiple of the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._support.described import NotNegative
from .base import Objective
from .ratios import SMALLEST


class Variance(Objective):
    """Variance, σ²: the most volatile arm is best (paper, section 3).

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> sb.Variance().true_value(sb.Normal(0.5, variance=0.25))
    0.25
    """

    @staticmethod
    def formula(mean: Any, variance: Any) -> Any:
        return variance + 0.0

    @staticmethod
    def root(mean: Any, variance: Any) -> Any:
        return variance + 0.0, 0.0, 1.0, 1.0


class MeanVariance(Objective):
    """Mean-variance, ρμ - σ², which GRA-UCB and MVTS optimise; ``rho`` is the risk tolerance.

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> sb.MeanVariance(rho=2.0).true_value(sb.Normal(0.5, variance=0.25))
    0.75
    """

    rho: NotNegative = 1.0

    @staticmethod
    def formula(mean: Any, variance: Any, rho: float) -> Any:
        return rho * mean - variance

    @staticmethod
    def root(mean: Any, variance: Any, rho: float) -> Any:
        return rho * mean - variance, rho, -1.0, 1.0


class MeanRisk(Objective):
    """Mean less risk, μ - aσ, in the unit of rewards; ``aversion`` is a, the mean that one unit of standard deviation
    is worth.

    Unlike a ratio, it never rewards risk: use it where means may all be negative, as those of costs are.

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> sb.MeanRisk(aversion=0.5).true_value(sb.Normal(-4.0, variance=81.0))
    -8.5
    """

    aversion: NotNegative = 1.0

    @staticmethod
    def formula(mean: Any, variance: Any, aversion: float) -> Any:
        return mean - aversion * np.sqrt(variance)

    @staticmethod
    def root(mean: Any, variance: Any, aversion: float) -> Any:
        sd = np.sqrt(variance)
        return mean - aversion * sd, 1.0, -0.5 * aversion / np.maximum(sd, SMALLEST), 1.0


class Mean(Objective):
    """Mean, μ, the objective of classical bandits.

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> sb.Mean().true_value(sb.Normal(0.5, variance=0.25))
    0.5
    """

    @staticmethod
    def formula(mean: Any, variance: Any) -> Any:
        return mean + 0.0

    @staticmethod
    def root(mean: Any, variance: Any) -> Any:
        return mean + 0.0, 1.0, 0.0, 1.0
