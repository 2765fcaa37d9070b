"""Upper confidence bounds on the mean of rewards between 0 and 1, as baselines: UCB-V, UCB-Tuned, KL-UCB."""

import math

from ..objectives import Mean
from ..play.statistics import ArmRecord
from .base import IndexPolicy

_ZETA = 1.2  # above 1, so that the regret of UCB-V is logarithmic (its theorem 4)
_STEPS = 40  # bisections of the interval [mean, 1]


class _OnMean(IndexPolicy):
    objective = Mean()


class UCBV(_OnMean):
    r"""UCB-V on the mean of rewards between 0 and 1.

    The index is :math:`\bar X + \sqrt{2\zeta V \ln N/s} + 3\zeta\ln N/s` with :math:`\zeta = 1.2`.
    """

    title = "UCB-V"
    citation = (
        "Audibert, Munos & Szepesvári, Exploration-exploitation tradeoff using variance estimates in multi-armed "
        "bandits, 2009"
    )

    @staticmethod
    def formula(arm: ArmRecord, t: int) -> float:
        level = 0.5 * arm.epsilon * arm.epsilon  # ln N / s
        biased = arm.variance * (arm.pulls - 1.0) / arm.pulls
        return arm.mean + math.sqrt(2.0 * _ZETA * level * biased) + 3.0 * _ZETA * level


class UCBTuned(_OnMean):
    r"""UCB-Tuned on the mean of rewards between 0 and 1.

    The index is :math:`\bar X + \sqrt{\ln N/s\ \min(1/4,\ V + \sqrt{2\ln N/s})}`.
    """

    title = "UCB-Tuned"
    citation = "Auer, Cesa-Bianchi & Fischer, Finite-time Analysis of the Multiarmed Bandit Problem, 2002, section 4"

    @staticmethod
    def formula(arm: ArmRecord, t: int) -> float:
        level = 0.5 * arm.epsilon * arm.epsilon
        biased = arm.variance * (arm.pulls - 1.0) / arm.pulls
        return arm.mean + math.sqrt(level * min(0.25, biased + math.sqrt(2.0 * level)))


class KLUCB(_OnMean):
    r"""KL-UCB on the mean of rewards between 0 and 1.

    The index is the largest q with :math:`s\,\mathrm{kl}(\bar X, q) \le \ln N`, where kl is the divergence between
    Bernoulli distributions.
    """

    title = "KL-UCB"
    citation = "Garivier & Cappé, The KL-UCB Algorithm for Bounded Stochastic Bandits and Beyond, 2011, with c = 0"

    @staticmethod
    def formula(arm: ArmRecord, t: int) -> float:
        level = 0.5 * arm.epsilon * arm.epsilon
        p = min(max(arm.mean, 0.0), 1.0)
        low, high = p, 1.0
        for _ in range(_STEPS):
            q = 0.5 * (low + high)
            divergence = p * math.log(p / q) if p > 0.0 else 0.0
            if p < 1.0:
                divergence += (1.0 - p) * math.log((1.0 - p) / (1.0 - q)) if q < 1.0 else math.inf
            if divergence <= level:
                low = q
            else:
                high = q
        return low
