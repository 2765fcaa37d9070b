"""Gamma and truncated gamma rewards, by shape and scale."""

from __future__ import annotations

import math

import numpy as np

from .._support.described import Finite, Positive
from .._support.validation import check_interval
from ..errors import InvalidInputError
from ..play.rewards import QUANTILE
from .base import Arm, Draws, Moments, integrated_moments, quantile_table, tabulate


class Gamma(Arm):
    """Gamma distribution with a shape and a scale."""

    shape: Positive
    scale: Positive
    low = 0.0

    def moments(self) -> Moments:
        k, s = self.shape, self.scale
        return Moments(k * s, k * s**2, 2 * k * s**3, 3 * k * (k + 2) * s**4)

    def draws(self) -> Draws:
        pool = quantile_table("gamma", (self.shape,))
        return Draws(QUANTILE, 0.0, self.scale, pool.size, pool)


class TruncatedGamma(Arm):
    """Gamma distribution with a shape and a scale (before truncation), truncated to [low, high]."""

    shape: Positive
    scale: Positive
    low: Finite
    high: Finite

    def check(self) -> None:
        check_interval(self.low, self.high)
        if self.low < 0:
            raise InvalidInputError(f"low must be at least 0 for a gamma arm, got {self.low!r}")

    def moments(self) -> Moments:
        k, s = self.shape, self.scale
        a, b = self.low / s, self.high / s
        mode = min(max(k - 1.0, a), b) or min(1.0, b)
        inner = np.array([2.0**-20, 2.0**-10, 0.1, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0]) * max(k, 1.0)
        points = np.unique(np.concatenate([[a, b], inner[(inner > a) & (inner < b)]]))

        def density(x: float) -> float:
            return math.exp((k - 1.0) * math.log(x / mode) - (x - mode)) if x > 0 else 0.0

        z = integrated_moments(density, points)
        return Moments(s * z.mean, s**2 * z.variance, s**3 * z.third, s**4 * z.fourth)

    def draws(self) -> Draws:
        import scipy.stats

        full = scipy.stats.gamma(self.shape)
        a, b = self.low / self.scale, self.high / self.scale
        below, above = full.cdf(a), full.sf(b)
        inside = 1.0 - below - above
        if inside < 1e-6:
            raise InvalidInputError(
                f"[{self.low!r}, {self.high!r}] holds only {inside:.2g} of this gamma distribution, too little to draw "
                "from accurately; widen the interval"
            )
        pool = tabulate(
            lambda v: np.clip(full.ppf(below + v * inside), a, b), lambda v: np.clip(full.isf(above + v * inside), a, b)
        )
        return Draws(QUANTILE, 0.0, self.scale, pool.size, pool)
