"""The Sortino ratio."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._support.validation import in_reward_units, regulariser
from .base import Objective


def squared_shortfall(x: Any, L: float, target: float) -> Any:
    return np.maximum(target - x, 0.0) ** 2


def sortino(mean: Any, squares: Any, L: float, target: float) -> Any:
    return (mean - target) / np.sqrt(L + squares)


def sortino_root(mean: Any, squares: Any, L: float, target: float) -> Any:
    excess, d = mean - target, L + squares
    return excess / np.sqrt(d), 1.0, -0.5 * excess / d, d


@dataclass(frozen=True, repr=False)
class Sortino(Objective):
    r"""Sortino ratio with a regulariser, :math:`(\mu - \tau)/\sqrt{L + E[(\tau - X)_+^2]}`: only shortfalls below the
    target :math:`\tau` count as risk.

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> arm = sb.Uniform(-1, 3)  # mean 1; E (0 - X)_+^2 = 1/12
    >>> round(sb.Sortino(L=0.01).true_value(arm), 4)
    3.2733
    """

    L: float
    target: float = 0.0

    def __post_init__(self) -> None:
        self._set(L=regulariser("L", self.L, zero=True), target=in_reward_units("target", self.target))

    formula = staticmethod(sortino)
    feature = staticmethod(squared_shortfall)
    root = staticmethod(sortino_root)
    rewards_risk_of_losses: ClassVar[bool] = True

    @property
    def kinks(self) -> tuple[float, ...]:
        return (self.target,)

    @property
    def hurdle(self) -> float:
        return self.target
