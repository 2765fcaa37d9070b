"""Expected logarithmic growth of wealth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._support.validation import positive
from .base import Objective

#: Share of wealth that is left after ruin, so that its logarithm is finite.
LEFT = 1e-9


def log_wealth(x: Any, fraction: float) -> Any:
    return np.log(np.maximum(1.0 + fraction * x, LEFT))


def log_growth(mean: Any, growth: Any, fraction: float) -> Any:
    return growth + 0.0


def log_growth_root(mean: Any, growth: Any, fraction: float) -> Any:
    return growth + 0.0, 0.0, 1.0, 1.0


@dataclass(frozen=True, repr=False)
class LogGrowth(Objective):
    r"""Expected growth rate of wealth, :math:`E \ln(1 + fX)`, if a fraction f of it is staked in every round (Kelly,
    1956). Rewards are returns: 0.01 is a gain of 1%.

    A reward of :math:`-1/f` or less is ruin; it counts as if a billionth of wealth were left.

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> round(sb.objectives.LogGrowth().true_value(sb.Empirical([1.0, -0.5])), 12)  # doubled or halved
    0.0
    """

    fraction: float = 1.0

    def __post_init__(self) -> None:
        self._set(fraction=positive("fraction", self.fraction))

    formula = staticmethod(log_growth)
    feature = staticmethod(log_wealth)
    root = staticmethod(log_growth_root)

    @property
    def kinks(self) -> tuple[float, ...]:
        return ((LEFT - 1.0) / self.fraction,)
