"""The Sortino ratio."""

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
