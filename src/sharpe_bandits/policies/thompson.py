"""Thompson sampling with normal and normal-gamma posteriors: MVTS and its relatives, and the paper's Modified-MVTS.

The posterior of an arm after s pulls is Gamma(1/2 + s/2, rate 1/2 + (s-1) V / 2) for the precision tau, to which the
published updates a += 1/2, b += (s/(s+1)) (x - X)^2 / 2 add up, and N(X, 1/s) for the mean.
"""

from __future__ import annotations

import math
from typing import ClassVar, Literal

from .._support.described import Positive, Regulariser
from ..objectives import Mean, MeanVariance, Objective, SharpeLike, Variance
from ..objectives.influence import Formula
from ..play.statistics import ArmRecord
from ..play.streams import BESIDE_GAMMA, gamma, gamma_branch_free, log, normal, uniform
from .base import PAPER, IndexPolicy, OnMeanVariance, OnRSSR

_ZHU_TAN = "Zhu & Tan, Thompson Sampling Algorithms for Mean-Variance Bandits, 2020"


def sampled_variance(arm: ArmRecord) -> float:
    """1/tau, where tau is drawn from the posterior of the precision."""
    shape = 0.5 + 0.5 * arm.pulls
    rate = 0.5 + 0.5 * (arm.pulls - 1.0) * arm.variance
    return rate / gamma(arm.key, shape)


def sampled_mean(arm: ArmRecord) -> float:
    """theta, drawn from N(mean, 1/s)."""
    return arm.mean + normal(arm.key, BESIDE_GAMMA) / math.sqrt(arm.pulls)


def modified_printed(arm: ArmRecord, t: int, L: float) -> float:
    theta = sampled_mean(arm)
    return theta * theta / (L + math.sqrt(sampled_variance(arm)))


def modified_repaired(arm: ArmRecord, t: int, L: float) -> float:
    theta = sampled_mean(arm)
    return theta * theta / (L + sampled_variance(arm))


def modified_authors(arm: ArmRecord, t: int, L: float) -> float:
    """ln u of the sampled upper end u: it increases with u, as (u/2)^2/(L + u^2/12) does, and needs no power."""
    return log(max(0.5, arm.maximum)) - log(uniform(arm.key, 0)) / (0.5 + arm.pulls)


class ThompsonSampling(IndexPolicy):
    """Gaussian Thompson sampling on the mean: θ ~ N(X̄, σ₀²/(s+1)), with known ``variance``."""

    title = "Thompson sampling"
    citation = "Agrawal & Goyal, Further Optimal Regret Bounds for Thompson Sampling, 2013"
    least_pilot = 1
    objective = Mean()

    variance: Positive = 1.0

    @staticmethod
    def formula(arm: ArmRecord, t: int, variance: float) -> float:
        return arm.mean + normal(arm.key, 0) * math.sqrt(variance / (arm.pulls + 1.0))


class MTS(IndexPolicy):
    """MTS: Thompson sampling on the mean alone, θ ~ N(X̄, 1/s)."""

    citation = f"{_ZHU_TAN}, MTS"
    least_pilot = 1
    objective = Mean()

    @staticmethod
    def formula(arm: ArmRecord, t: int) -> float:
        return sampled_mean(arm)


class _DrawsVariance(IndexPolicy):
    branch_free: ClassVar = {gamma: gamma_branch_free}


class VTS(_DrawsVariance):
    """VTS: Thompson sampling for the smallest variance, argmax of -1/τ; with ``largest``, as in "Variance-Optimal Arm
    Selection" (arXiv:2505.11985), for the largest variance, argmax of 1/τ."""

    citation = f"{_ZHU_TAN}, VTS"

    largest: bool = False

    @property
    def objective(self) -> Objective:
        return Variance() if self.largest else MeanVariance(0.0)

    @staticmethod
    def formula(arm: ArmRecord, t: int, largest: float) -> float:
        return sampled_variance(arm) * (2.0 * largest - 1.0)


class MVTS(_DrawsVariance, OnMeanVariance):
    """MVTS on the mean-variance: argmax of ρθ - 1/τ."""

    citation = f"{_ZHU_TAN}; {PAPER}, eq. 4"

    @staticmethod
    def formula(arm: ArmRecord, t: int, rho: float) -> float:
        return rho * sampled_mean(arm) - sampled_variance(arm)


class ModifiedMVTS(_DrawsVariance, OnRSSR):
    r"""Modified-MVTS, the paper's benchmark on RSSR.

    ``form="printed"`` is eq. 5 as printed, :math:`\theta^2 / (L + \sqrt{1/\tau})`, which tends to
    :math:`\mu^2/(L+\sigma)` and may therefore settle on an arm other than RSSR's best. ``form="repaired"`` is
    :math:`\theta^2 / (L + 1/\tau)`. ``form="authors"`` is the released code for uniform arms: a Pareto posterior of the
    upper end, :math:`u \sim \mathrm{Pareto}(1/2 + s, \max(1/2, \max x))`, index :math:`(u/2)^2/(L + u^2/12)`;
    since that increases with u, arms are compared by :math:`\ln u`, whatever L is.
    """

    title = "Modified-MVTS"
    citation = f"{PAPER}, eq. 5"

    form: Literal["printed", "repaired", "authors"] = "printed"

    @property
    def formula(self) -> Formula:
        return {"printed": modified_printed, "repaired": modified_repaired, "authors": modified_authors}[self.form]


class NormalGammaTS(_DrawsVariance, OnRSSR):
    r"""Normal-gamma Thompson sampling on RSSR: θ ~ N(X̄, 1/(sτ)).

    Argmax of :math:`\theta^2/(L+1/\tau)`. The square loses the sign: if means can be below 0, it may lock in to losing
    arms (see docs/evidence/scale-free.md).
    """

    title = "NG-TS"
    citation = "normal-gamma posterior as in Zhu & Tan, 2020, mean drawn given the precision; on RSSR"

    @staticmethod
    def formula(arm: ArmRecord, t: int, L: float) -> float:
        variance = sampled_variance(arm)
        theta = arm.mean + normal(arm.key, BESIDE_GAMMA) * math.sqrt(variance / arm.pulls)
        return theta * theta / (L + variance)


class SRTS(_DrawsVariance):
    r"""SRTS as published: argmax of θ / (L₀ + ρ/τ), sampled as in :class:`MVTS`.

    For normal rewards it tends to :math:`\mu/(L_0 + \rho\sigma^2)`, SR-like with the regulariser :math:`L_0/\rho`. Its
    prior and the unit variance of :math:`\theta` have a scale: on small rewards it explores all arms equally, on large
    ones it locks in.
    """

    citation = (
        "Shah, Khurshid & Ghatak, Order Optimal Regret Bounds for Sharpe Ratio Optimization under Thompson Sampling, "
        "arXiv:2508.13749"
    )

    L: Regulariser
    rho: Positive = 1.0

    @property
    def objective(self) -> Objective:
        return SharpeLike(self.L / self.rho)

    @staticmethod
    def formula(arm: ArmRecord, t: int, L: float, rho: float) -> float:
        return sampled_mean(arm) / (L + rho * sampled_variance(arm))
