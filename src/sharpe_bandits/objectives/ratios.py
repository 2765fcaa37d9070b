"""Ratios of mean to risk: the Sharpe ratio and its relatives."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Annotated, Any

import numpy as np

from .._support.described import InRewardUnits, RegulariserOrZero
from .._support.validation import regulariser
from .base import Objective
from .influence import Formula

#: Standard deviations count as at least this where a gradient divides by them, so that it is finite.
SMALLEST = 1e-100
_REMEDY = f"the regulariser keeps the ratio finite; take {Objective.usual_L} if in doubt"
#: The regulariser of a ratio.
RatioRegulariser = Annotated[float, partial(regulariser, remedy=_REMEDY)]


def _rssr(mean: Any, variance: Any, L: float, risk_free: float) -> Any:
    excess = mean - risk_free
    return excess * excess / (L + variance)


def _signed_rssr(mean: Any, variance: Any, L: float, risk_free: float) -> Any:
    excess = mean - risk_free
    return excess * np.abs(excess) / (L + variance)


def _root_rssr(mean: Any, variance: Any, L: float, risk_free: float) -> Any:
    excess, d = mean - risk_free, L + variance
    return np.abs(excess) / np.sqrt(d), np.sign(excess), -0.5 * np.abs(excess) / d, d


def _root_signed_rssr(mean: Any, variance: Any, L: float, risk_free: float) -> Any:
    excess, d = mean - risk_free, L + variance
    return excess / np.sqrt(d), 1.0, -0.5 * (excess / d), d


class _SharpeFamily(Objective):
    L: RatioRegulariser
    risk_free: InRewardUnits = 0.0


class _WithSharpesL(_SharpeFamily):
    usual_L = "a tenth of the smallest standard deviation"

    L: RegulariserOrZero


def usual_regulariser(variances: Any) -> float:
    """The default L for RSSR: a tenth of the smallest variance."""
    return float(np.min(variances)) / 10


class RSSR(_SharpeFamily):
    r"""Regularised squared Sharpe ratio, γ² = (μ - r)² / (L + σ²); the paper's main objective.

    With ``signed=True`` the square keeps the sign of :math:`\mu - r`, so that a losing arm is not mistaken for a good
    one: use it if means can be below the risk-free rate.

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> objective = sb.RSSR(L=0.5)
    >>> objective.true_value(sb.Normal(-2.0, variance=1.5))
    2.0
    >>> sb.RSSR(L=0.5, signed=True).true_value(sb.Normal(-2.0, variance=1.5))
    -2.0
    """

    signed: bool = False

    def for_means(self, mean: Any) -> Objective:
        losing = not self.signed and bool((np.asarray(mean) < self.risk_free).any())
        return dataclasses.replace(self, signed=True) if losing else self

    @property
    def formula(self) -> Formula:
        return _signed_rssr if self.signed else _rssr

    @property
    def root(self) -> Formula:
        return _root_signed_rssr if self.signed else _root_rssr

    def from_root(self, root: Any) -> Any:
        h = root if self.signed else np.maximum(root, 0.0)  # an unsigned root is never below 0
        return h * np.abs(h)

    @staticmethod
    def slope_from_root(root: Any) -> Any:
        return 2.0 * np.abs(root)

    unseen_influence_variance = 0.5


class Sharpe(_WithSharpesL):
    """Sharpe ratio with a regulariser, γ = (μ - r) / (L + σ) (paper, eq. 1).

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> round(sb.Sharpe(L=0.0001, risk_free=0.02).true_value(sb.Normal(0.08, variance=0.04)), 4)
    0.2999
    """

    @staticmethod
    def formula(mean: Any, variance: Any, L: float, risk_free: float) -> Any:
        return (mean - risk_free) / (L + np.sqrt(variance))

    @staticmethod
    def root(mean: Any, variance: Any, L: float, risk_free: float) -> Any:
        excess, sd = mean - risk_free, np.sqrt(variance)
        d = L + sd
        return excess / d, 1.0, -0.5 * excess / (d * sd), d * d

    unseen_influence_variance = 0.5


class IsraelsenSharpe(_WithSharpesL):
    """Israelsen's modified Sharpe ratio (2005): (μ - r)/(L + σ) for means above the risk-free rate, and (μ - r)(L + σ)
    for means below it, so that risk never raises it.

    It is no default: below the rate it has another unit than above it, so that policies depend on the unit of rewards,
    and a large certain loss can beat a small risky one. :class:`MeanRisk` has neither problem.

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> objective = sb.objectives.IsraelsenSharpe(L=1.0)
    >>> [objective.true_value(sb.Normal(mean, sd=sd)) for mean, sd in ((2.0, 3.0), (-2.0, 3.0), (-2.0, 4.0))]
    [0.5, -8.0, -10.0]
    """

    @staticmethod
    def formula(mean: Any, variance: Any, L: float, risk_free: float) -> Any:
        excess, d = mean - risk_free, L + np.sqrt(variance)
        return excess / d + (excess < 0.0) * (excess * d - excess / d)

    @staticmethod
    def root(mean: Any, variance: Any, L: float, risk_free: float) -> Any:
        excess, sd = mean - risk_free, np.sqrt(variance)
        d, half, below = L + sd, 0.5 * excess / np.maximum(sd, SMALLEST), (excess < 0.0) * 1.0
        by_mean, by_variance = 1.0 / d, -half / (d * d)
        value = excess / d + below * (excess * d - excess / d)
        return value, by_mean + below * (d - by_mean), by_variance + below * (half - by_variance), 1.0


class SharpeLike(_SharpeFamily):
    """The paper's SR-like ratio, β = (μ - r) / (L + σ²) (section 2)."""

    @staticmethod
    def formula(mean: Any, variance: Any, L: float, risk_free: float) -> Any:
        return (mean - risk_free) / (L + variance)

    @staticmethod
    def root(mean: Any, variance: Any, L: float, risk_free: float) -> Any:
        excess, d = mean - risk_free, L + variance
        return excess / d, 1.0, -excess / d, d * d

    @property
    def unseen_influence_variance(self) -> float | None:
        return 0.125 / self.L
