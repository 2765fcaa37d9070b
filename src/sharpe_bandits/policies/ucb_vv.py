"""UCB-VV: play the arm with the largest upper confidence bound on its variance."""

from ..objectives import Variance
from ..play.statistics import ArmRecord
from .base import PAPER, IndexPolicy


class UCBVV(IndexPolicy):
    """UCB-VV: V̄_i + ε_i, ε_i = √(2 ln N / s_i), on the variance."""

    title = "UCB-VV"
    citation = f"{PAPER}, appendix A, Algorithm UCB-VV"
    objective = Variance()

    @staticmethod
    def formula(arm: ArmRecord, t: int) -> float:
        return arm.variance + arm.epsilon
