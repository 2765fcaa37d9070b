"""Uniform and constant rewards."""

from __future__ import annotations

import math

from .._support.described import Finite
from .._support.validation import check_interval, finite, not_negative
from ..play.rewards import UNIFORM
from .base import Arm, Draws, Moments


class Uniform(Arm):
    """Uniform distribution on [low, high].

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> arm = sb.Uniform(1.5, 7.5)
    >>> arm.mean, arm.variance
    (4.5, 3.0)
    """

    low: Finite
    high: Finite

    def check(self) -> None:
        check_interval(self.low, self.high)

    @classmethod
    def from_moments(cls, mean: float, variance: float) -> Arm:
        """The uniform arm with this mean and variance (half-width sqrt(3 variance)); constant if the variance is 0."""
        mean = finite("mean", mean)
        half = math.sqrt(3.0 * not_negative("variance", variance))
        return cls(mean - half, mean + half) if half > 0 else Constant(mean)

    def moments(self) -> Moments:
        width = self.high - self.low
        return Moments((self.low + self.high) / 2, width**2 / 12, 0.0, width**4 / 80)

    def draws(self) -> Draws:
        return Draws(UNIFORM, self.low, self.high - self.low)


class Constant(Arm):
    """Always the same reward."""

    value: Finite

    def moments(self) -> Moments:
        return Moments(self.value, 0.0, 0.0, 0.0)

    @property
    def support(self) -> tuple[float, float]:
        return self.value, self.value

    def draws(self) -> Draws:
        return Draws(UNIFORM, self.value, 0.0)
