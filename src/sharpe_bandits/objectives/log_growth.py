"""Expected logarithmic growth of wealth."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._support.described import Positive
from .base import Objective
from .influence import feature_mean, feature_root

#: Share of wealth that is left after ruin, so that its logarithm is finite.
LEFT = 1e-9


class LogGrowth(Objective):
    """Expected growth rate of wealth, E ln(1 + fX), if a fraction f of it is staked in every round (Kelly, 1956).
    Rewards are returns: 0.01 is a gain of 1%.

    A reward of :math:`-1/f` or less is ruin; it counts as if a billionth of wealth were left.

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> round(sb.objectives.LogGrowth().true_value(sb.Empirical([1.0, -0.5])), 12)  # doubled or halved
    0.0
    """

    fraction: Positive = 1.0

    root = staticmethod(feature_root)
    formula = staticmethod(feature_mean)

    @staticmethod
    def feature(x: Any, fraction: float) -> Any:
        return np.log(np.maximum(1.0 + fraction * x, LEFT))

    @property
    def kinks(self) -> tuple[float, ...]:
        return ((LEFT - 1.0) / self.fraction,)
