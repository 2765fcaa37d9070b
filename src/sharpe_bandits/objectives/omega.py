"""The Omega ratio."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._support.validation import in_reward_units, regulariser
from .base import Objective


def shortfall(x: Any, L: float, threshold: float) -> Any:
    return np.maximum(threshold - x, 0.0)


def omega(mean: Any, losses: Any, L: float, threshold: float) -> Any:
    return 1.0 + (mean - threshold) / (L + losses)


def omega_root(mean: Any, losses: Any, L: float, threshold: float) -> Any:
    excess, d = mean - threshold, L + losses
    return 1.0 + excess / d, 1.0, -excess / d, d * d


@dataclass(frozen=True, repr=False)
class Omega(Objective):
    r"""Omega ratio with a regulariser, :math:`1 + (\mu - \tau)/(L + E[(\tau - X)_+])`; with L = 0 expected gains over
    expected losses, both relative to the threshold :math:`\tau` (Keating & Shadwick, 2002).

    ``L`` has the unit of rewards.

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> sb.objectives.Omega(L=0.0).true_value(sb.Empirical([-1.0, 0.5, 2.0]))  # gains 2.5, losses 1
    2.5
    """

    L: float
    threshold: float = 0.0

    def __post_init__(self) -> None:
        self._set(L=regulariser("L", self.L, zero=True), threshold=in_reward_units("threshold", self.threshold))

    usual_L: ClassVar[str] = "a tenth of the smallest standard deviation"
    formula = staticmethod(omega)
    feature = staticmethod(shortfall)
    root = staticmethod(omega_root)
    rewards_risk_of_losses: ClassVar[bool] = True

    @property
    def kinks(self) -> tuple[float, ...]:
        return (self.threshold,)

    @property
    def hurdle(self) -> float:
        return self.threshold
