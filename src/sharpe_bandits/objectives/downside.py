"""Ratios of mean to downside risk: Sortino, Omega. (CVaR has a file of its own.)"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._support.described import InRewardUnits, RegulariserOrZero
from .base import Objective


class Sortino(Objective):
    """Sortino ratio with a regulariser, (μ - τ)/√(L + E[(τ - X)_+²]): only shortfalls below the target τ count as
    risk.

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> arm = sb.Uniform(-1, 3)  # mean 1; E (0 - X)_+^2 = 1/12
    >>> round(sb.Sortino(L=0.01).true_value(arm), 4)
    3.2733
    """

    L: RegulariserOrZero
    target: InRewardUnits = 0.0

    rewards_risk_of_losses = True

    @staticmethod
    def feature(x: Any, L: float, target: float) -> Any:
        return np.maximum(target - x, 0.0) ** 2

    @staticmethod
    def formula(mean: Any, squares: Any, L: float, target: float) -> Any:
        return (mean - target) / np.sqrt(L + squares)

    @staticmethod
    def root(mean: Any, squares: Any, L: float, target: float) -> Any:
        excess, d = mean - target, L + squares
        return excess / np.sqrt(d), 1.0, -0.5 * excess / d, d

    @property
    def hurdle(self) -> float:
        return self.target


class Omega(Objective):
    """Omega ratio with a regulariser, 1 + (μ - τ)/(L + E[(τ - X)_+]); with L = 0 expected gains over expected losses,
    both relative to the threshold τ (Keating & Shadwick, 2002).

    ``L`` has the unit of rewards.

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> sb.objectives.Omega(L=0.0).true_value(sb.Empirical([-1.0, 0.5, 2.0]))  # gains 2.5, losses 1
    2.5
    """

    L: RegulariserOrZero
    threshold: InRewardUnits = 0.0

    usual_L = "a tenth of the smallest standard deviation"
    rewards_risk_of_losses = True

    @staticmethod
    def feature(x: Any, L: float, threshold: float) -> Any:
        return np.maximum(threshold - x, 0.0)

    @staticmethod
    def formula(mean: Any, losses: Any, L: float, threshold: float) -> Any:
        return 1.0 + (mean - threshold) / (L + losses)

    @staticmethod
    def root(mean: Any, losses: Any, L: float, threshold: float) -> Any:
        excess, d = mean - threshold, L + losses
        return 1.0 + excess / d, 1.0, -excess / d, d * d

    @property
    def hurdle(self) -> float:
        return self.threshold
