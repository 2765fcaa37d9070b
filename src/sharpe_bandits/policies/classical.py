"""Classical baselines: UCB1, MV-LCB, epsilon-greedy, round robin."""

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

from .._support.validation import not_negative, probability
from ..objectives import Mean, MeanVariance, Objective, check_objective
from ..play.formulas import value
from ..play.statistics import ArmRecord
from ..play.streams import uniform
from .base import IndexPolicy


def ucb1(arm: ArmRecord, t: int) -> float:
    return arm.mean + arm.epsilon


def mv_lcb(arm: ArmRecord, t: int, rho: float, root_log: float) -> float:
    # ln(1/delta) / (2 s) with delta = 1/n^2 is ln n / s.
    return rho * arm.mean - arm.variance + (5.0 + rho) * root_log / math.sqrt(arm.pulls)


def greedy(arm: ArmRecord, t: int, epsilon: float, objective: tuple[float, ...]) -> float:
    if uniform(arm.round_key, 0) < epsilon:
        return uniform(arm.key, 0)
    return value(arm, *objective)


def round_robin(arm: ArmRecord, t: int) -> float:
    return -arm.pulls


@dataclass(frozen=True)
class UCB1(IndexPolicy):
    r"""UCB1 on the mean: :math:`\bar X + \sqrt{2 \ln N / s}`."""

    title: ClassVar[str] = "UCB1"
    citation: ClassVar[str] = (
        "Auer, Cesa-Bianchi & Fischer, Finite-time Analysis of the Multiarmed Bandit Problem, 2002"
    )
    least_pilot: ClassVar[int] = 1

    objective = Mean()
    formula = staticmethod(ucb1)

    def nondecreasing(self, lowest: float) -> bool:
        return True


@dataclass(frozen=True)
class MVLCB(IndexPolicy):
    r"""MV-LCB on the mean-variance; the index is the negative of the published one, which is minimised.

    .. math:: \rho\bar X - \bar V + (5 + \rho)\sqrt{\frac{\ln(1/\delta)}{2s}}, \qquad \delta = 1/n^2
    """

    title: ClassVar[str] = "MV-LCB"
    citation: ClassVar[str] = "Sani, Lazaric & Munos, Risk-Aversion in Multi-Armed Bandits, 2012"
    needs_horizon: ClassVar[bool] = True

    rho: float = 1.0

    def check(self) -> None:
        self._set(rho=not_negative("rho", self.rho))

    @property
    def objective(self) -> Objective:
        return MeanVariance(self.rho)

    formula = staticmethod(mv_lcb)

    def argument(self, name: str, horizon: int) -> Any:
        return math.sqrt(math.log(horizon)) if name == "root_log" else super().argument(name, horizon)

    def nondecreasing(self, lowest: float) -> bool:
        return True


@dataclass(frozen=True)
class EpsilonGreedy(IndexPolicy):
    """Plays a random arm with probability epsilon, otherwise the arm with the largest estimated objective."""

    title: ClassVar[str] = "epsilon-greedy"
    citation: ClassVar[str] = "Sutton & Barto, Reinforcement Learning, 2018, section 2.2"

    objective: Objective = field(default_factory=Mean)
    epsilon: float = 0.1

    def check(self) -> None:
        check_objective(self.objective)
        self._set(epsilon=probability("epsilon", self.epsilon))

    formula = staticmethod(greedy)

    def argument(self, name: str, horizon: int) -> Any:
        return self.objective.arguments() if name == "objective" else super().argument(name, horizon)


@dataclass(frozen=True)
class RoundRobin(IndexPolicy):
    """Plays every arm in turn; recommends the arm with the largest estimated objective."""

    title: ClassVar[str] = "Round robin"
    ignores_rewards: ClassVar[bool] = True
    citation: ClassVar[str] = "Bubeck, Munos & Stoltz, Pure Exploration in Multi-armed Bandits Problems, 2009"

    objective: Objective = field(default_factory=Mean)

    def check(self) -> None:
        check_objective(self.objective)

    formula = staticmethod(round_robin)

    def nondecreasing(self, lowest: float) -> bool:
        return True
