"""Normal and truncated normal rewards."""

from __future__ import annotations

import math
from dataclasses import field
from typing import Any

import numpy as np

from .._support.described import Finite
from .._support.validation import check_interval, finite, positive
from ..errors import InvalidInputError, shown
from ..play.rewards import NORMAL, QUANTILE
from .base import Arm, Draws, Moments, integrated_moments, quantile_table


class Normal(Arm):
    """Normal distribution with a mean and either a variance or a standard deviation, by keyword.

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> sb.Normal(0.1, sd=2.0)
    Normal(0.1, variance=4)
    >>> sb.Normal(0.1, variance=4.0) == sb.Normal(0.1, sd=2.0)
    True
    """

    mean: float = field()
    variance: float = field()

    def __init__(self, mean: float, *second: float, variance: float | None = None, sd: float | None = None) -> None:
        if second or (variance is None) == (sd is None):
            args = ", ".join(map(shown, (mean, *second)))
            raise InvalidInputError(
                "a normal arm needs either its variance or its standard deviation, by name: Normal(0.1, variance=4) or "
                f"Normal(0.1, sd=2); got {f'Normal({args})' if second else 'both' if sd is not None else 'neither'}"
            )
        if variance is None:
            variance = positive("sd", sd, "use Constant for a reward without any") ** 2
        variance = positive("variance", variance, "use Constant for a reward without any")
        self._set(mean=finite("mean", mean), variance=variance)

    def __repr__(self) -> str:
        return f"Normal({self.mean:.12g}, variance={self.variance:.12g})"

    def moments(self) -> Moments:
        return Moments(self.mean, self.variance, 0.0, 3 * self.variance**2)

    def draws(self) -> Draws:
        return Draws(NORMAL, self.mean, math.sqrt(self.variance))


class TruncatedNormal(Arm):
    """Normal distribution with ``mean`` and ``variance`` (before truncation), truncated to [low, high]."""

    mean_: float
    variance_: float
    low: Finite
    high: Finite

    def __init__(self, mean: float, variance: float, low: float, high: float) -> None:
        self._set(mean_=finite("mean", mean), variance_=positive("variance", variance), low=low, high=high)
        self.__post_init__()

    def check(self) -> None:
        check_interval(self.low, self.high)

    def to_dict(self) -> dict[str, Any]:
        return {key.rstrip("_"): value for key, value in super().to_dict().items()}

    @property
    def _ends(self) -> tuple[float, float]:
        sd = math.sqrt(self.variance_)
        return (self.low - self.mean_) / sd, (self.high - self.mean_) / sd

    def moments(self) -> Moments:
        sd = math.sqrt(self.variance_)
        a, b = self._ends
        nearest = min(max(0.0, a), b)  # the exponent is relative to the mode, which avoids underflow far out
        # Nodes are placed about the mode, in units of the scale on which the density decays there.
        inner = np.concatenate([np.arange(-8.0, 9.0), [16.0, 32.0, -16.0, -32.0]]) / max(1.0, abs(nearest) / 8)
        low, high = a - nearest, b - nearest
        points = np.unique(np.concatenate([[low, high], inner[(inner > low) & (inner < high)]]))
        z = integrated_moments(lambda y: math.exp(-y * (nearest + y / 2)), points)
        return Moments(self.mean_ + sd * (nearest + z.mean), sd**2 * z.variance, sd**3 * z.third, sd**4 * z.fourth)

    def draws(self) -> Draws:
        pool = quantile_table("truncnorm", self._ends)
        return Draws(QUANTILE, self.mean_, math.sqrt(self.variance_), pool.size, pool)
