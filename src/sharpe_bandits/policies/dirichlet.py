"""Non-parametric Thompson sampling: the rewards seen are given random weights, from the flat Dirichlet distribution."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

from ..kernels.statistics import ArmRecord
from ..kernels.streams import normal
from .base import Parts
from .scale_free import AnyObjective, ScaleFree, named, paid_alike


def reweighted(arm: ArmRecord, t: int, L: float, risk_free: float) -> float:
    """The index of SF-NPTS."""
    if paid_alike(arm):  # weights change nothing
        h = (arm.mean - risk_free) / math.sqrt(L + arm.variance)
        return h + normal(arm.key, 0) * math.sqrt(0.5 / arm.pulls)
    return (arm.drawn_mean - risk_free) / math.sqrt(L + arm.drawn_variance)


@lru_cache
def redrawn_of(value: Callable[..., Any]) -> Callable[..., Any]:
    """The index of rho-NPTS for the objective of this formula."""

    def redrawn(arm: ArmRecord, t: int, goal: tuple[float, ...]) -> float:
        # The variance of the reweighted rewards as it is: drawn_variance is made unbiased.
        plain = arm.drawn_variance * (arm.pulls - 1.0) / (arm.pulls + 1.0)
        return value(arm.drawn_mean, plain, *goal)

    return named(redrawn, value)


@dataclass(frozen=True)
class ScaleFreeDirichlet(ScaleFree):
    r"""SF-NPTS: non-parametric Thompson sampling of the signed root of RSSR.

    Each round every arm's rewards are given weights from the flat Dirichlet distribution, and the arm with the largest
    reweighted ratio is played. Exact up to 64 pulls of an arm; beyond, the normal limit of the reweighted moments.
    Parameters are those of :class:`ScaleFreeUCB` but for c.

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> sb.ScaleFreeDirichlet(L=1e-5).agent(arms=["A", "B", "C"]).ask()
    'A'
    """

    title: ClassVar[str] = "SF-NPTS"
    citation: ClassVar[str] = "Riou & Honda, Bandit Algorithms Based on Thompson Sampling for Bounded Rewards, 2020"
    least_pilot: ClassVar[int] = 8  # reweighted means stay within what was seen: a few rewards must show the range

    formula = staticmethod(reweighted)


@dataclass(frozen=True)
class NPTS(AnyObjective):
    r"""rho-NPTS as published: non-parametric Thompson sampling without an anchor, for any objective.

    Each round every arm's rewards are given weights from the flat Dirichlet distribution, and the arm whose reweighted
    rewards have the largest objective is played. Exact up to 64 pulls of an arm; beyond, the normal limit of the
    reweighted moments (docs/scale-free.md measures what that changes). A pilot of two pulls: nothing is added to the
    rewards seen, so that an arm whose first rewards are all poor is never played again, with a probability that does
    not fall with the horizon. :class:`ScaleFreeDirichlet` mends that in part.

    Parameters are those of :class:`ScaleFreeUCB` but for c.

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> sb.NPTS(L=1e-5).agent(arms=["A", "B", "C"]).ask()
    'A'
    """

    title: ClassVar[str] = "ρ-NPTS"
    citation: ClassVar[str] = (
        "Chang, Asymptotic Optimality of Thompson Sampling for Risk-Averse Bandits with Sub-Gaussian Rewards, 2026, "
        "arXiv:2606.09191; Chang & Tan, A Unifying Theory of Thompson Sampling for Continuous Risk-Averse Bandits, 2022"
    )
    least_pilot: ClassVar[int] = 2

    @property
    def formula(self) -> Callable[..., Any]:
        return redrawn_of(self.goal.formula)

    @property
    def score(self) -> Callable[..., Any] | None:
        return None

    @property
    def parts(self) -> Parts | None:
        return None
