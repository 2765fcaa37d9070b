"""Bandits whose arms share a factor that is seen in every round."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .._support.validation import finite, is_number, list_of
from ..errors import InvalidInputError, shown
from ..objectives import Objective
from ..play.rewards import ArmTable
from .bandit import Bandit
from .base import Arm
from .environment import Environment, as_arm
from .normal import Normal


class FactorBandit(Environment):
    """Arms that share a factor: in every round an arm pays its own reward plus its beta times the factor.

    The factor, such as the return of the market, is the covariate of the round: it is seen whichever arm is played.

    Parameters
    ----------
    arms : Iterable[Any]
        what each arm pays besides the factor, at least two
    factor : Any
        the distribution of the factor, an arm
    betas : float | Iterable[float], optional
        one per arm, or the same for all
    names : Sequence[str] | None, optional
        names of the arms (default: 0, 1, ...)

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> arms = [sb.Normal(0.0004, sd=0.01), sb.Normal(0.0, sd=0.01)]
    >>> bandit = sb.FactorBandit(arms, factor=sb.Normal(0.0003, sd=0.01), betas=[1.0, 0.5])
    >>> bandit.truth(0, 1)[0].round(6)
    array([[0.0007 , 0.00015]])
    """

    clock = "rounds"
    pregenerated = True
    has_covariate = True

    def __init__(
        self, arms: Iterable[Any], factor: Any, betas: float | Iterable[float] = 1.0, names: Sequence[str] | None = None
    ) -> None:
        rest = Bandit(arms, names)
        self.arms, self.K, self.names = rest.arms, rest.K, rest.names
        self.arm_kinds = f"{rest.arm_kinds} and a factor"
        self.factor = as_arm(factor)
        self._columns = Bandit((*self.arms, self.factor))
        values = [betas] * self.K if is_number(betas) else list_of("betas", betas)
        if len(values) != self.K:
            raise InvalidInputError(f"betas must be a number, or one per arm ({self.K}), got {shown(betas)}")
        self.betas = tuple(finite("beta", beta) for beta in values)

    def __repr__(self) -> str:
        return f"FactorBandit({self.K} arms, factor={self.factor!r}, betas={list(self.betas)})"

    def table(self, seed: int, runs: Iterable[int]) -> ArmTable:
        return self._columns.table(seed, runs)

    def combine(self, paths: np.ndarray) -> None:
        for i, beta in enumerate(self.betas):
            paths[:, i] += beta * paths[:, self.K]

    def truth(self, seed: int, runs: int) -> tuple[np.ndarray, np.ndarray]:
        betas = np.array(self.betas)
        mean = np.array([arm.mean for arm in self.arms]) + betas * self.factor.mean
        variance = np.array([arm.variance for arm in self.arms]) + betas**2 * self.factor.variance
        return mean[None, :], variance[None, :]

    def true_values(self, objective: Objective, seed: int, runs: int) -> np.ndarray:
        differences = objective.of_differences
        if differences is None:
            return super().true_values(objective.unadjusted, seed, runs)
        relative = FactorBandit(self.arms, self.factor, [beta - 1.0 for beta in self.betas])
        return relative.true_values(differences, seed, runs)

    def rows_of_arms(self, seed: int, runs: int) -> list[list[Arm]]:
        if not all(type(arm) is Normal for arm in (*self.arms, self.factor)):
            return super().rows_of_arms(seed, runs)
        return [[Normal(mean, variance=v) for mean, v in zip(*(row[0] for row in self.truth(0, 1)), strict=True)]]
