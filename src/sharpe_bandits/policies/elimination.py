"""Identification of the best arm, or the m best, with a fixed budget, for any objective."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated

import numpy as np

from .._support.described import InRewardUnits, Regulariser, whole
from ..objectives import RSSR, Objective, Variance
from ..objectives.base import ObjectiveParameter
from ..play.elimination import accept_or_drop, share_by_distance, share_by_influence_variance
from .base import PAPER, EliminationPolicy


class _OnObjective(EliminationPolicy):
    objective: ObjectiveParameter


class _OnRSSR(EliminationPolicy):
    L: Regulariser
    risk_free: InRewardUnits = 0.0
    signed: bool = False

    @property
    def objective(self) -> Objective:
        return RSSR(self.L, self.risk_free, self.signed)


class _TopM(EliminationPolicy):
    m: Annotated[int, whole(1)] = field(default=1, kw_only=True)

    @property
    def n_recommended(self) -> int:
        return self.m


class _Halving(_TopM):
    keep_samples: bool = field(default=False, kw_only=True)
    spend_all: bool = field(default=False, kw_only=True)

    @property
    def keeps_samples(self) -> bool:  # type: ignore[override]
        return self.keep_samples

    def phases(self, budget: int, arms: int) -> list[tuple[int, int]]:
        return halving(budget, arms, self.m, self.spend_all)


def halving(budget: int, arms: int, m: int, spend_all: bool = False) -> list[tuple[int, int]]:
    """Phases of sequential halving until ``m`` arms remain."""
    rounds = (-(-arms // m) - 1).bit_length()  # ceil(log2(K / m))
    phases, alive, left = [], arms, budget
    for phase in range(rounds):
        pulls = left // (alive * (rounds - phase)) if spend_all else budget // (alive * rounds)
        left -= pulls * alive
        alive = max(m, (alive + 1) // 2)
        phases.append((pulls, alive))
    return phases


class _Rejects(EliminationPolicy):
    def phases(self, budget: int, arms: int) -> list[tuple[int, int]]:
        # The paper prints log(K) for this constant, which overspends the budget; Audibert et al. have the sum.
        log_bar = 0.5 + np.cumsum(1.0 / np.arange(2, arms + 1))[-1]
        upto = np.ceil(max(budget - arms, 0) / (log_bar * np.arange(arms, 1, -1)))
        return list(zip(np.diff(upto, prepend=0.0).astype(int).tolist(), range(arms - 1, 0, -1), strict=True))


class SequentialHalving(_Halving, _OnObjective):
    """Sequential halving: ⌈log₂(K/m)⌉ phases, each with the same share of the budget, divided equally among the
    remaining arms A; the best max(m, ⌈|A|/2⌉) stay.

    Parameters
    ----------
    objective : Objective
        the objective that is estimated and compared
    m : int, optional
        how many of the best arms to identify
    keep_samples : bool, optional
        also use an arm's rewards of earlier phases (the paper discards them; keeping them reduces the error)
    spend_all : bool, optional
        carry pulls that do not divide evenly over to the following phases, which matters for small budgets (as
        published they are not played)

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> sb.policies.SequentialHalving(sb.Sharpe(L=0.01)).phases(budget=800, arms=4)
    [(100, 2), (200, 1)]
    """

    title = "Sequential halving"
    citation = "Karnin, Koren & Somekh, Almost Optimal Exploration in Multi-Armed Bandits, 2013"


class VarianceAwareHalving(_OnObjective, _TopM):
    r"""Sequential halving that plays arms with less certain estimates more often: half of a phase's pulls are shared
    equally, the other half so that an arm's pulls are in proportion to its influence variance.

    Divided by the pulls that is the variance of the estimate (see :mod:`sharpe_bandits.objectives.influence`), which
    the second half makes as nearly equal as possible. Phases, budget, objective and m are those of
    :class:`SequentialHalving`; rewards of earlier phases are kept.

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> sb.policies.VarianceAwareHalving(sb.RSSR(L=0.1)).phases(budget=800, arms=4)
    [(50, 4), (50, 2), (100, 2), (100, 1)]
    """

    title = "Variance-aware halving"
    citation = (
        "after Lalitha, Kalantari, Ma, Deoras & Kveton, Fixed-Budget Best-Arm Identification with Heterogeneous Reward "
        "Variances, 2023, whose SHAdaVar equalises the errors of estimated means"
    )
    share = staticmethod(share_by_influence_variance)

    def phases(self, budget: int, arms: int) -> list[tuple[int, int]]:
        phases, alive = [], arms
        for pulls, stay in halving(budget, arms, self.m):
            phases += [(pulls // 2, alive), (pulls - pulls // 2, stay)]
            alive = stay
        return phases


class SHVV(_Halving):
    """SHVV: sequential halving for the arm with the largest variance. See :class:`SequentialHalving`."""

    citation = f"{PAPER}, Algorithm SHVV"

    objective = Variance()


class SHSR(_Halving, _OnRSSR):
    """SHSR: sequential halving for the arm with the largest RSSR. See :class:`SequentialHalving` and :class:`RSSR`.

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> sb.SHSR(L=0.02).phases(budget=30_000, arms=16)
    [(468, 8), (937, 4), (1875, 2), (3750, 1)]
    >>> agent = sb.SHSR(L=0.02).agent(arms=16, horizon=30_000)
    >>> agent.ask()
    0
    """

    citation = f"{PAPER}, Algorithm SHSR"


class SuccessiveRejects(_Rejects, _OnObjective):
    """Successive rejects: after phase k every remaining arm has ⌈(n-K) / (c (K+1-k))⌉ pulls, where
    c = 1/2 + Σ_{i=2..K} 1/i; the worst arm is dropped. All samples are kept.

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> sb.policies.SuccessiveRejects(sb.Mean()).phases(budget=400, arms=4)
    [(63, 3), (21, 2), (42, 1)]
    """

    title = "Successive rejects"
    citation = "Audibert, Bubeck & Munos, Best Arm Identification in Multi-Armed Bandits, 2010"


class OCBARejects(SuccessiveRejects):
    r"""Successive rejects that plays arms more often if they are harder to tell from the best one.

    Phases and budget are those of :class:`SuccessiveRejects`. Within a phase after the first, pulls are shared so that
    an arm's total pulls are in proportion to :math:`\hat W_i / d_i^2`, as in the optimal computing budget allocation.
    :math:`\hat W_i` is the variance of the influence of a reward on the estimate :math:`\hat h_i` of the root of the
    objective. The distance is optimistic: :math:`d_i = \max(\hat h_b - \hat h_i - e_i,\ e_i / 2)`, where
    :math:`\hat h_b` is the best estimate and :math:`e_i = \sqrt{\hat W_i/s_i + \hat W_b/s_b}`. The best arm gets as
    much as its closest rival.
    """

    title = "OCBA rejects"
    citation = (
        "Audibert, Bubeck & Munos, Best Arm Identification in Multi-Armed Bandits, 2010, with the allocation of Chen, "
        "Lin, Yücesan & Chick, Simulation Budget Allocation for Further Enhancing the Efficiency of Ordinal "
        "Optimization, 2000; optimistic distances and influence variance: this library"
    )
    share = staticmethod(share_by_distance)


class SuccessiveAcceptsRejects(_Rejects, _OnObjective, _TopM):
    r"""Successive accepts and rejects, for the m best arms: phases as in :class:`SuccessiveRejects`; after each, one
    arm is decided, the best or the worst, whichever is further from the boundary between the m best and the others.

    With m' arms still to be accepted, the best is accepted if its lead over the (m'+1)-th exceeds the distance of the
    worst to the m'-th; otherwise the worst is rejected. With m = 1 this is successive rejects.
    """

    title = "SAR"
    citation = "Bubeck, Wang & Viswanathan, Multiple Identifications in Multi-Armed Bandits, 2013"
    decide_on = staticmethod(accept_or_drop)


class SuRSR(_Rejects, _OnRSSR):
    """SuRSR: successive rejects for the arm with the largest RSSR. See :class:`SuccessiveRejects` and :class:`RSSR`."""

    citation = f"{PAPER}, Algorithm SuRSR"


class UniformSampling(_OnObjective, _TopM):
    """Uniform sampling: ⌊n/K⌋ pulls per arm, then the m best estimates (by default the best)."""

    title = "Uniform sampling"
    citation = f"{PAPER}, section 7"

    def phases(self, budget: int, arms: int) -> list[tuple[int, int]]:
        return [(budget // arms, self.m)]
