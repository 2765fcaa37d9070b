"""Non-parametric Thompson sampling: observed rewards get random weights from the flat Dirichlet distribution."""

from __future__ import annotations

import math
from dataclasses import field
from functools import lru_cache
from typing import Any

from .._support.described import InRewardUnits, Regulariser
from ..errors import InvalidInputError
from ..objectives import RSSR, Objective
from ..objectives.influence import Formula, named
from ..play.statistics import FIRSTS, ArmRecord
from ..play.streams import log, normal, uniform
from .base import IndexPolicy
from .scale_free import AnyObjective, has_zero_variance


@lru_cache
def redrawn_of(value: Formula) -> Formula:
    """The index of rho-NPTS for the objective with this formula."""

    def redrawn(arm: ArmRecord, t: int, objective: tuple[float, ...], anchor: float) -> float:
        # The plain variance of the reweighted rewards: drawn_variance is scaled to be unbiased.
        mean, plain = arm.drawn_mean, arm.drawn_variance * (arm.pulls - 1.0) / (arm.pulls + 1.0)
        if not math.isnan(anchor):  # one more reward, of that value, among those that get weights
            # A weight of the flat Dirichlet distribution on s + 1 points is Beta(1, s), independent of how the others
            # share the rest. Numbers 0 to FIRSTS - 1 of the stream are taken by those.
            weight = 1.0 - math.exp(log(uniform(arm.key, FIRSTS)) / arm.pulls)
            away = anchor - mean
            mean, plain = mean + weight * away, (1.0 - weight) * (plain + weight * away * away)
        return value(mean, plain, *objective)

    return named(redrawn, value)


class ScaleFreeNPTS(IndexPolicy):
    r"""SF-NPTS: non-parametric Thompson sampling on the signed root of RSSR.

    In each round every arm's rewards get weights from the flat Dirichlet distribution, and the arm with the largest
    reweighted ratio is played. This is exact up to 64 pulls of an arm; beyond that, the normal limit of the reweighted
    moments is used. L and risk_free are as for :class:`ScaleFreeUCB`.
    """

    title = "SF-NPTS"
    citation = "Riou & Honda, Bandit Algorithms Based on Thompson Sampling for Bounded Rewards, 2020"
    least_pilot = 8  # reweighted means stay within the observed range, which takes a few rewards to show

    L: Regulariser
    risk_free: InRewardUnits = 0.0

    @property
    def objective(self) -> Objective:
        return RSSR(self.L, self.risk_free, signed=True)

    @staticmethod
    def formula(arm: ArmRecord, t: int, L: float, risk_free: float) -> float:
        if has_zero_variance(arm):  # weights change nothing
            h = (arm.mean - risk_free) / math.sqrt(L + arm.variance)
            return h + normal(arm.key, 0) * math.sqrt(0.5 / arm.pulls)
        return (arm.drawn_mean - risk_free) / math.sqrt(L + arm.drawn_variance)


class NPTS(AnyObjective):
    r"""rho-NPTS: non-parametric Thompson sampling for any objective, without an anchor (2026) or with one (2022).

    Like :class:`ScaleFreeNPTS`, but rewards are reweighted as published, and the pilot is two pulls per arm: an arm
    whose first rewards are all poor may never be played again, with a probability that does not decrease with the
    horizon (measured in docs/evidence/scale-free.md). Parameters are those of :class:`ScaleFreeUCB` except c, and

    Parameters
    ----------
    anchor : float | None, optional
        a reward that every arm counts as its first, without having been played; 1 in the code released with the paper
        of 2022, for rewards in [0, 1] (that code has no pilot). None: the algorithm of 2026
    """

    title = "ρ-NPTS"
    citation = (
        "Chang, Asymptotic Optimality of Thompson Sampling for Risk-Averse Bandits with Sub-Gaussian Rewards, 2026, "
        "arXiv:2606.09191; Chang & Tan, A Unifying Theory of Thompson Sampling for Continuous Risk-Averse Bandits, 2022"
    )
    least_pilot = 2

    anchor: InRewardUnits | None = field(default=None, kw_only=True)

    def check(self) -> None:
        super().check()
        if self.objective.has_feature:
            raise InvalidInputError(
                f"{self.title} reweights mean and variance, and {self.objective!r} needs more; use ScaleFreeTS"
            )

    @property
    def formula(self) -> Formula:
        return redrawn_of(self.objective.formula)

    def argument(self, name: str, horizon: int) -> Any:
        return math.nan if name == "anchor" and self.anchor is None else super().argument(name, horizon)

    @property
    def score(self) -> Formula | None:
        return None
