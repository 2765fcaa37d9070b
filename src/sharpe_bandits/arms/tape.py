"""Recorded rewards as a bandit."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, get_args

import numpy as np

from .._support.validation import one_of
from ..errors import InvalidInputError
from ..objectives import Objective
from ..play.rewards import TAPE, ArmTable
from .base import Arm, Draws
from .discrete import Empirical, numbers
from .environment import Clock, Environment, stack


class Tape(Environment):
    """Recorded rewards, the same in every run.

    Parameters
    ----------
    rewards : Any
        one row per arm
    clock : Clock, optional
        "pulls": ``rewards[arm, j]`` is the reward of the j-th pull of ``arm`` (j from 0). "rounds": it is the reward of
        ``arm`` if it is played in round j, as in a table of returns
    covariate : Any, optional
        what is seen in round j whichever arm is played, as the return of the market (``clock="rounds"`` only)

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> tape = sb.Tape([[0.1, 0.2], [0.3, 0.0], [0.2, 0.1]])
    >>> tape
    Tape(3 arms, 2 pulls each)
    """

    arm_kinds = "recorded"

    def __init__(self, rewards: Any, clock: Clock = "pulls", covariate: Any = None) -> None:
        self.rewards = numbers("rewards", rewards, 2).copy()
        self.clock = one_of("clock", clock, get_args(Clock))
        self.K, self.length = self.rewards.shape
        self.covariate = None if covariate is None else numbers("covariate", covariate, 1).copy()
        self.has_covariate = self.covariate is not None
        if self.covariate is not None and (self.clock != "rounds" or len(self.covariate) != self.length):
            raise InvalidInputError(
                f'a covariate needs clock="rounds" and one number for each of the {self.length} rounds, got '
                f"clock={self.clock!r} and {len(self.covariate)} numbers"
            )
        if self.K < 2:
            raise InvalidInputError(f"a tape needs at least 2 arms (rows), got {self.K}")

    def __repr__(self) -> str:
        return f"Tape({self.K} arms, {self.length} pulls each)"

    def table(self, seed: int, runs: Iterable[int]) -> ArmTable:
        more = [] if self.covariate is None else [self.covariate]
        return stack([[Draws(TAPE, size=self.length, pool=row) for row in (*self.rewards, *more)]])

    def truth(self, seed: int, runs: int) -> tuple[np.ndarray, np.ndarray]:
        return self.rewards.mean(axis=1)[None, :], self.rewards.var(axis=1)[None, :]

    def true_values(self, objective: Objective, seed: int, runs: int) -> np.ndarray:
        differences = objective.of_differences
        if differences is None or self.covariate is None:
            return super().true_values(objective.unadjusted, seed, runs)
        return Tape(self.rewards - self.covariate).true_values(differences, seed, runs)

    def rows_of_arms(self, seed: int, runs: int) -> list[list[Arm]]:
        return [[Empirical(row.tolist()) for row in self.rewards]]

    def check_horizon(self, horizon: int) -> None:
        if self.clock == "rounds" and horizon > self.length:
            raise InvalidInputError(
                f"the tape has {self.length} rounds, fewer than the horizon of {horizon}; shorten the horizon"
            )

    def check_pulls(self, max_pulls: np.ndarray, policy: str) -> None:
        if self.clock == "pulls" and (max_pulls > self.length).any():
            arm = int(np.argmax(max_pulls > self.length))
            raise InvalidInputError(
                f"{policy} pulled arm {arm} more often than the tape has rewards for it ({self.length}); "
                "shorten the horizon or lengthen the tape"
            )
