"""Classical baselines: UCB1, MV-LCB, epsilon-greedy, round robin."""

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


class UCB1(IndexPolicy):
    """UCB1 on the mean: X̄ + √(2 ln N / s)."""

    title = "UCB1"
    citation = "Auer, Cesa-Bianchi & Fischer, Finite-time Analysis of the Multiarmed Bandit Problem, 2002"
    least_pilot = 1
    objective = Mean()

    @staticmethod
    def formula(arm: ArmRecord, t: int) -> float:
        return arm.mean + arm.epsilon


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

    def argument(self, name: str, horizon: int) -> Any:
        return self.objective.arguments() if name == "objective" else super().argument(name, horizon)


class RoundRobin(IndexPolicy):
    """Plays every arm in turn; recommends the arm with the largest estimated objective."""

    title = "Round robin"
    citation = "Bubeck, Munos & Stoltz, Pure Exploration in Multi-armed Bandits Problems, 2009"
    ignores_rewards = True

    objective: ObjectiveParameter = field(default_factory=Mean)

    @staticmethod
    def formula(arm: ArmRecord, t: int) -> float:
        return -arm.pulls
