"""Classical baselines: upper confidence bounds on the mean, MV-LCB, epsilon-greedy, round robin."""

from __future__ import annotations

import math
from dataclasses import field
from typing import Any

from .._support.described import Probability
from ..objectives import Mean
from ..objectives.base import ObjectiveParameter
from ..play.formulas import value
from ..play.statistics import ArmRecord
from ..play.streams import uniform
from .base import IndexPolicy, OnMeanVariance

_ZETA = 1.2  # above 1, so that the regret of UCB-V is logarithmic (its theorem 4)
_STEPS = 40  # bisections of the interval [mean, 1] by KL-UCB


class _OnMean(IndexPolicy):
    objective = Mean()


class UCB1(_OnMean):
    """UCB1 on the mean: X̄ + √(2 ln N / s)."""

    citation = "Auer, Cesa-Bianchi & Fischer, Finite-time Analysis of the Multiarmed Bandit Problem, 2002"
    least_pilot = 1

    @staticmethod
    def formula(arm: ArmRecord, t: int) -> float:
        return arm.mean + arm.epsilon


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


class MVLCB(OnMeanVariance):
    r"""MV-LCB on the mean-variance; the index is the negative of the published one, which is minimised.

    .. math:: \rho\bar X - \bar V + (5 + \rho)\sqrt{\frac{\ln(1/\delta)}{2s}}, \qquad \delta = 1/n^2
    """

    title = "MV-LCB"
    citation = "Sani, Lazaric & Munos, Risk-Aversion in Multi-Armed Bandits, 2012"
    needs_horizon = True

    @staticmethod
    def formula(arm: ArmRecord, t: int, rho: float, root_log: float) -> float:
        # ln(1/delta) / (2 s) with delta = 1/n^2 is ln n / s.
        return rho * arm.mean - arm.variance + (5.0 + rho) * root_log / math.sqrt(arm.pulls)

    def argument(self, name: str, horizon: int) -> Any:
        return math.sqrt(math.log(horizon)) if name == "root_log" else super().argument(name, horizon)


class EpsilonGreedy(IndexPolicy):
    """Plays a random arm with probability epsilon, otherwise the arm with the largest estimated objective."""

    title = "epsilon-greedy"
    citation = "Sutton & Barto, Reinforcement Learning, 2018, section 2.2"

    objective: ObjectiveParameter = field(default_factory=Mean)
    epsilon: Probability = 0.1

    @staticmethod
    def formula(arm: ArmRecord, t: int, epsilon: float, objective: tuple[float, ...]) -> float:
        if uniform(arm.round_key, 0) < epsilon:
            return uniform(arm.key, 0)
        return value(arm, *objective)


class RoundRobin(IndexPolicy):
    """Plays every arm in turn; recommends the arm with the largest estimated objective."""

    title = "Round robin"
    citation = "Bubeck, Munos & Stoltz, Pure Exploration in Multi-armed Bandits Problems, 2009"
    ignores_rewards = True

    objective: ObjectiveParameter = field(default_factory=Mean)

    @staticmethod
    def formula(arm: ArmRecord, t: int) -> float:
        return -arm.pulls
