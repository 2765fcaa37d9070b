"""Beta rewards."""

from __future__ import annotations

from .._support.described import Positive
from ..errors import InvalidInputError
from ..play.rewards import QUANTILE
from .base import Arm, Draws, Moments, quantile_table

#: Upper limit of the smaller shape: beyond it the distribution is practically normal, and its quantiles take minutes.
LARGEST_SHAPE = 1e8


class Beta(Arm):
    """Beta distribution on [0, 1] with shapes a and b."""

    a: Positive
    b: Positive
    low, high = 0.0, 1.0

    def check(self) -> None:
        if min(self.a, self.b) > LARGEST_SHAPE:
            raise InvalidInputError(
                f"{self!r} cannot be distinguished from a normal distribution, its shapes being above "
                f"{LARGEST_SHAPE:g}; use a Normal with its mean and variance"
            )

    def moments(self) -> Moments:
        a, b, n = self.a, self.b, self.a + self.b
        variance = a * b / (n**2 * (n + 1))
        third = 2 * a * b * (b - a) / (n**3 * (n + 1) * (n + 2))
        fourth = variance**2 * (3 + 6 * ((a - b) ** 2 * (n + 1) - a * b * (n + 2)) / (a * b * (n + 2) * (n + 3)))
        return Moments(a / n, variance, third, fourth)

    def draws(self) -> Draws:
        pool = quantile_table("beta", (self.a, self.b))
        return Draws(QUANTILE, 0.0, 1.0, pool.size, pool)
