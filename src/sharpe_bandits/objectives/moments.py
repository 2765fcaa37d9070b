"""Mean, variance, and one less a multiple of the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._support.described import NotNegative
from .base import Objective
from .influence import feature_mean, feature_root
from .ratios import SMALLEST


class Variance(Objective):
    """Variance, σ²: the most volatile arm is best (paper, section 3)."""

    formula = staticmethod(feature_mean)
    root = staticmethod(feature_root)


class MeanVariance(Objective):
    """Mean-variance, ρμ - σ², which GRA-UCB and MVTS optimise; ``rho`` is the risk tolerance."""

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
    """Mean, μ, the objective of classical bandits."""

    @staticmethod
    def formula(mean: Any, variance: Any) -> Any:
        return mean + 0.0

    @staticmethod
    def root(mean: Any, variance: Any) -> Any:
        return mean + 0.0, 1.0, 0.0, 1.0
