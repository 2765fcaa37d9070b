"""Serially dependent rewards: autocorrelated, with volatility clustering, or resampled in blocks from observed values.

Their moments are those of the stationary distribution, by which policies are evaluated.
"""

from __future__ import annotations

import math
from dataclasses import field
from functools import partial
from typing import Annotated

from .._support.described import Finite, Positive
from .._support.validation import positive
from ..errors import InvalidInputError, shown
from ..play.rewards import AUTOREGRESSIVE, BLOCKS, CLUSTERED
from .base import Arm, Draws, Moments
from .discrete import Empirical


class AR1(Arm):
    """First-order autoregression with normal noise, started from its stationary distribution.

    Each reward's deviation from the mean is ``phi`` times that of the previous reward, plus normal noise.

    Parameters
    ----------
    mean, variance : float
        of the stationary distribution
    phi : float
        correlation of successive rewards, strictly between -1 and 1
    """

    serially_dependent = True

    mean: Finite = field()
    variance: Annotated[float, partial(positive, remedy="use Constant for a reward without any")] = field()
    phi: float

    def check(self) -> None:
        if not -1 < self.phi < 1:
            raise InvalidInputError(
                f"phi must lie strictly between -1 and 1, got {shown(self.phi)}: at 1 nothing is stationary"
            )

    def moments(self) -> Moments:
        return Moments(self.mean, self.variance, 0.0, 3 * self.variance**2)

    def draws(self) -> Draws:
        return Draws(AUTOREGRESSIVE, self.mean, math.sqrt(self.variance), 1, (self.phi,))


class GARCH(Arm):
    r"""GARCH(1,1): normal rewards whose variance rises after large ones.

    .. math:: \sigma_{t+1}^2 = (1-\alpha-\beta)\,v + \alpha\,(x_t-\mu)^2 + \beta\,\sigma_t^2,

    where v is the long-run variance. Rewards are uncorrelated but not independent, and have fat tails; the fourth
    moment is finite if :math:`(\alpha+\beta)^2 + 2\alpha^2 < 1`.

    Parameters
    ----------
    mean, variance : float
        long-run mean and variance
    alpha : float
        weight of the last squared deviation, above 0
    beta : float
        weight of the last variance, at least 0; alpha + beta must be below 1
    """

    serially_dependent = True

    mean: Finite = field()
    variance: Positive = field()
    alpha: float
    beta: float

    def check(self) -> None:
        if not (self.alpha > 0 and self.beta >= 0 and self.alpha + self.beta < 1):
            raise InvalidInputError(
                "alpha must be above 0, beta at least 0, and alpha + beta below 1, got "
                f"alpha={shown(self.alpha)} and beta={shown(self.beta)}; at 1 there is no long-run variance"
            )

    def moments(self) -> Moments:
        persistence = (self.alpha + self.beta) ** 2
        room = 1 - persistence - 2 * self.alpha**2
        fourth = 3 * self.variance**2 * (1 - persistence) / room if room > 0 else math.inf
        return Moments(self.mean, self.variance, 0.0, fourth)

    def draws(self) -> Draws:
        return Draws(CLUSTERED, self.mean, math.sqrt(self.variance), 2, (self.alpha, self.beta))


class BlockBootstrap(Empirical):
    """The stationary bootstrap (Politis & Romano, 1994): a sequence of blocks of observed values, of random length.

    Blocks start at a uniformly random position and wrap around at the end; their lengths are geometric. Short-range
    dependence, such as autocorrelation and volatility clustering, is preserved.

    Parameters
    ----------
    values : tuple[float, ...]
        the observed values, in order
    block : float
        mean length of a block, at least 1 (1: rewards are drawn independently)
    """

    serially_dependent = True

    block: float

    def check(self) -> None:
        if self.block < 1:
            raise InvalidInputError(f"block, a mean length, must be at least 1, got {shown(self.block)}")
        if self.block > len(self.values):
            raise InvalidInputError(
                f"a block of {self.block:g} is longer than the record of {len(self.values)} values; shorten it"
            )

    def __repr__(self) -> str:
        return f"BlockBootstrap({len(self.values)} values, block={self.block:g})"

    def draws(self) -> Draws:
        return Draws(BLOCKS, 0.0, 1.0 / self.block, len(self.values), self.record)
