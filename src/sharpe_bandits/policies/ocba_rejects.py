"""The best arm with a fixed budget: successive rejects, with pulls where they help to tell arms apart."""

from dataclasses import dataclass
from typing import ClassVar

from ..play.distance_shares import share_by_distance
from .elimination import SuccessiveRejects


@dataclass(frozen=True)
class OCBARejects(SuccessiveRejects):
    r"""Successive rejects that plays arms more often if they are harder to tell from the best one.

    Phases and budget are those of :class:`SuccessiveRejects`. Within a phase after the first, pulls are shared so that
    an arm's total pulls are in proportion to :math:`\hat W_i / d_i^2`, as in the optimal computing budget allocation.
    :math:`\hat W_i` is the variance of the influence of a reward on the estimate :math:`\hat h_i` of the root of the
    objective. The distance is optimistic: :math:`d_i = \max(\hat h_b - \hat h_i - e_i,\ e_i / 2)`, where
    :math:`\hat h_b` is the best estimate and :math:`e_i = \sqrt{\hat W_i/s_i + \hat W_b/s_b}`. The best arm gets as
    much as its closest rival.

    Parameters
    ----------
    objective : Objective
        the objective that is estimated and compared

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> sb.policies.OCBARejects(sb.Sharpe(L=0.01)).phases(budget=400, arms=4)
    [(63, 3), (21, 2), (42, 1)]
    """

    title: ClassVar[str] = "OCBA rejects"
    citation: ClassVar[str] = (
        "Audibert, Bubeck & Munos, Best Arm Identification in Multi-Armed Bandits, 2010, with the allocation of Chen, "
        "Lin, Yücesan & Chick, Simulation Budget Allocation for Further Enhancing the Efficiency of Ordinal "
        "Optimization, 2000; optimistic distances and influence variance: this library"
    )
    share = staticmethod(share_by_distance)
