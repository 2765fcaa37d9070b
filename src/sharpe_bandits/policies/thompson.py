"""Thompson sampling with normal and normal-gamma posteriors: MVTS and its relatives, and the paper's Modified-MVTS.

The posterior of an arm after s pulls is Gamma(1/2 + s/2, rate 1/2 + (s-1) V / 2) for the precision tau, to which the
published updates a += 1/2, b += (s/(s+1)) (x - X)^2 / 2 add up, and N(X, 1/s) for the mean.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from .._support.validation import not_negative, one_of, positive, regulariser, true_or_false
from ..objectives import RSSR, Mean, MeanVariance, Objective, SharpeLike, Variance
from ..play.statistics import ArmRecord
from ..play.streams import BESIDE_GAMMA, gamma, gamma_branch_free, log, normal, uniform
from .base import PAPER, IndexPolicy

#: Forms of Modified-MVTS.
ModifiedForm = Literal["printed", "repaired", "authors"]


def sampled_variance(arm: ArmRecord) -> float:
    """1/tau, where tau is drawn from the posterior of the precision."""
    shape = 0.5 + 0.5 * arm.pulls
    rate = 0.5 + 0.5 * (arm.pulls - 1.0) * arm.variance
    return rate / gamma(arm.key, shape)


def sampled_mean(arm: ArmRecord) -> float:
    """theta, drawn from N(mean, 1/s)."""
    return arm.mean + normal(arm.key, BESIDE_GAMMA) / math.sqrt(arm.pulls)


def gaussian(arm: ArmRecord, t: int, variance: float) -> float:
    return arm.mean + normal(arm.key, 0) * math.sqrt(variance / (arm.pulls + 1.0))


def mts(arm: ArmRecord, t: int) -> float:
    return sampled_mean(arm)


def vts(arm: ArmRecord, t: int) -> float:
    return -sampled_variance(arm)


def vts_largest(arm: ArmRecord, t: int) -> float:
    return sampled_variance(arm)


def mvts(arm: ArmRecord, t: int, rho: float) -> float:
    return rho * sampled_mean(arm) - sampled_variance(arm)


def modified_printed(arm: ArmRecord, t: int, L: float) -> float:
    theta = sampled_mean(arm)
    return theta * theta / (L + math.sqrt(sampled_variance(arm)))


def modified_repaired(arm: ArmRecord, t: int, L: float) -> float:
    theta = sampled_mean(arm)
    return theta * theta / (L + sampled_variance(arm))


def modified_authors(arm: ArmRecord, t: int, L: float) -> float:
    """ln u of the sampled upper end u: it increases with u, as (u/2)^2/(L + u^2/12) does, and needs no power."""
    return log(max(0.5, arm.maximum)) - log(uniform(arm.key, 0)) / (0.5 + arm.pulls)


def srts(arm: ArmRecord, t: int, L: float, rho: float) -> float:
    return sampled_mean(arm) / (L + rho * sampled_variance(arm))


def normal_gamma(arm: ArmRecord, t: int, L: float) -> float:
    variance = sampled_variance(arm)
    theta = arm.mean + normal(arm.key, BESIDE_GAMMA) * math.sqrt(variance / arm.pulls)
    return theta * theta / (L + variance)


@dataclass(frozen=True)
class ThompsonSampling(IndexPolicy):
    r"""Gaussian Thompson sampling on the mean: :math:`\theta \sim N(\bar X, \sigma_0^2/(s+1))`, with known
    ``variance``.
    """

    title: ClassVar[str] = "Thompson sampling"
    citation: ClassVar[str] = "Agrawal & Goyal, Further Optimal Regret Bounds for Thompson Sampling, 2013"
    least_pilot: ClassVar[int] = 1

    variance: float = 1.0

    def check(self) -> None:
        self._set(variance=positive("variance", self.variance))

    objective = Mean()
    formula = staticmethod(gaussian)


@dataclass(frozen=True)
class MTS(IndexPolicy):
    r"""MTS: Thompson sampling on the mean alone, :math:`\theta \sim N(\bar X, 1/s)`."""

    title: ClassVar[str] = "MTS"
    citation: ClassVar[str] = "Zhu & Tan, Thompson Sampling Algorithms for Mean-Variance Bandits, 2020, MTS"
    least_pilot: ClassVar[int] = 1

    objective = Mean()
    formula = staticmethod(mts)


@dataclass(frozen=True)
class VTS(IndexPolicy):
    r"""VTS: Thompson sampling for the smallest variance, argmax of :math:`-1/\tau`; with ``largest``, as in
    "Variance-Optimal Arm Selection" (arXiv:2505.11985), for the largest variance, argmax of :math:`1/\tau`.
    """

    title: ClassVar[str] = "VTS"
    citation: ClassVar[str] = "Zhu & Tan, Thompson Sampling Algorithms for Mean-Variance Bandits, 2020, VTS"
    branch_free: ClassVar[dict[Callable[..., Any], Callable[..., Any]]] = {gamma: gamma_branch_free}

    largest: bool = False

    def check(self) -> None:
        true_or_false("largest", self.largest)

    @property
    def objective(self) -> Objective:
        return Variance() if self.largest else MeanVariance(0.0)

    @property
    def formula(self) -> Callable[..., Any]:
        return vts_largest if self.largest else vts


@dataclass(frozen=True)
class MVTS(IndexPolicy):
    r"""MVTS on the mean-variance: argmax of :math:`\rho\theta - 1/\tau`."""

    title: ClassVar[str] = "MVTS"
    citation: ClassVar[str] = f"Zhu & Tan, Thompson Sampling Algorithms for Mean-Variance Bandits, 2020; {PAPER}, eq. 4"
    branch_free: ClassVar[dict[Callable[..., Any], Callable[..., Any]]] = {gamma: gamma_branch_free}

    rho: float = 1.0

    def check(self) -> None:
        self._set(rho=not_negative("rho", self.rho))

    @property
    def objective(self) -> Objective:
        return MeanVariance(self.rho)

    formula = staticmethod(mvts)


@dataclass(frozen=True)
class ModifiedMVTS(IndexPolicy):
    r"""Modified-MVTS, the paper's benchmark on RSSR.

    ``form="printed"`` is eq. 5 as printed, :math:`\theta^2 / (L + \sqrt{1/\tau})`, which tends to
    :math:`\mu^2/(L+\sigma)` and may therefore settle on an arm other than RSSR's best. ``form="repaired"`` is
    :math:`\theta^2 / (L + 1/\tau)`. ``form="authors"`` is the released code for uniform arms: a Pareto posterior of the
    upper end, :math:`u \sim \mathrm{Pareto}(1/2 + s, \max(1/2, \max x))`, index :math:`(u/2)^2/(L + u^2/12)`;
    since that increases with u, arms are compared by :math:`\ln u`, whatever L is.
    """

    title: ClassVar[str] = "Modified-MVTS"
    citation: ClassVar[str] = f"{PAPER}, eq. 5"
    branch_free: ClassVar[dict[Callable[..., Any], Callable[..., Any]]] = {gamma: gamma_branch_free}

    L: float
    form: ModifiedForm = "printed"

    def check(self) -> None:
        self._set(L=regulariser("L", self.L))
        one_of("form", self.form, get_args(ModifiedForm))

    @property
    def objective(self) -> Objective:
        return RSSR(self.L)

    @property
    def formula(self) -> Callable[..., Any]:
        return {"printed": modified_printed, "repaired": modified_repaired, "authors": modified_authors}[self.form]


@dataclass(frozen=True)
class NormalGammaTS(IndexPolicy):
    r"""Normal-gamma Thompson sampling on RSSR: :math:`\theta \sim N(\bar X, 1/(s\tau))`.

    Argmax of :math:`\theta^2/(L+1/\tau)`. The square loses the sign: if means can be below 0, it may lock in to losing
    arms (see docs/evidence/scale-free.md).
    """

    title: ClassVar[str] = "NG-TS"
    citation: ClassVar[str] = "normal-gamma posterior as in Zhu & Tan, 2020, mean drawn given the precision; on RSSR"
    branch_free: ClassVar[dict[Callable[..., Any], Callable[..., Any]]] = {gamma: gamma_branch_free}

    L: float

    def check(self) -> None:
        self._set(L=regulariser("L", self.L))

    @property
    def objective(self) -> Objective:
        return RSSR(self.L)

    formula = staticmethod(normal_gamma)


@dataclass(frozen=True)
class SRTS(IndexPolicy):
    r"""SRTS as published: argmax of :math:`\theta / (L_0 + \rho/\tau)`, sampled as in :class:`MVTS`.

    For normal rewards it tends to :math:`\mu/(L_0 + \rho\sigma^2)`, SR-like with the regulariser :math:`L_0/\rho`. Its
    prior and the unit variance of :math:`\theta` have a scale: on small rewards it explores all arms equally, on large
    ones it locks in.
    """

    title: ClassVar[str] = "SRTS"
    citation: ClassVar[str] = (
        "Shah, Khurshid & Ghatak, Order Optimal Regret Bounds for Sharpe Ratio Optimization under Thompson Sampling, "
        "arXiv:2508.13749"
    )
    branch_free: ClassVar[dict[Callable[..., Any], Callable[..., Any]]] = {gamma: gamma_branch_free}

    L: float
    rho: float = 1.0

    def check(self) -> None:
        self._set(L=regulariser("L", self.L), rho=positive("rho", self.rho))

    @property
    def objective(self) -> Objective:
        return SharpeLike(self.L / self.rho)

    formula = staticmethod(srts)
