"""Environments that policies play on, and arms as arrays for kernels."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Literal

import numpy as np

from .._support.display import html_table
from .._support.plain_data import Kind
from ..errors import InvalidInputError, shown
from ..objectives import Objective, Statistics
from ..play.rewards import ArmTable
from .base import Arm, Draws
from .scipy_arm import Scipy, is_frozen

#: What an arm's rewards are indexed by: its own pulls, or the rounds of the game, whichever arm is played.
Clock = Literal["pulls", "rounds"]


class Environment(Kind):
    """K arms whose rewards are a function of (seed, run, arm, pull or round)."""

    what: ClassVar[str] = "bandit"
    #: Every kind of environment by its class name.
    kinds: ClassVar[dict[str, type[Environment]]]

    #: Number of arms.
    K: int
    #: The kinds of its arms, in a word or two.
    arm_kinds: str

    #: Whether each run has arms of its own.
    varies = False
    #: What rewards are indexed by, a :data:`Clock`.
    clock = "pulls"
    #: Whether the rewards of a run are generated before it is played: they depend on earlier ones or on the round.
    pregenerated = False
    #: Whether all arms use the same random numbers.
    jointly = False
    #: Whether a covariate is seen in every round. It is the last column of the table, after those of the arms.
    has_covariate = False
    #: Rounds after which the arms change.
    switches: tuple[int, ...] = ()

    def table(self, seed: int, runs: Iterable[int]) -> ArmTable:
        """The arms of the runs with these numbers as arrays for a kernel: one row for all, or a row per run."""
        raise AssertionError(f"{type(self).__name__} does not define a table")

    def pieces(self, seed: int, runs: Iterable[int], rounds: int) -> list[tuple[int, int, ArmTable]]:
        """The segments of a game between switches: first round, end, arms."""
        return [(0, rounds, self.table(seed, runs))]

    def combine(self, paths: np.ndarray) -> None:
        """Turn pregenerated rewards (run, column, round) into those of the bandit, in place."""

    def truth(self, seed: int, runs: int) -> tuple[np.ndarray, np.ndarray]:
        """True means and variances: one row for all runs; if arms vary, one per run; with switches, one per segment."""
        rows = self.rows_of_arms(seed, runs)
        mean, variance = (np.array([[getattr(a, what) for a in row] for row in rows]) for what in ("mean", "variance"))
        return mean, variance

    def true_values(self, objective: Objective, seed: int, runs: int) -> np.ndarray:
        """True values of the arms under an objective, in the rows of :meth:`truth`."""
        if not objective.has_feature:
            mean, variance = self.truth(seed, runs)
            return np.asarray(objective.value(Statistics(mean=mean, variance=variance)), float)
        return np.array([[objective.true_value(arm) for arm in row] for row in self.rows_of_arms(seed, runs)])

    def rows_of_arms(self, seed: int, runs: int) -> list[list[Arm]]:
        """The arms themselves, in the rows of :meth:`truth`."""
        raise InvalidInputError(
            f"the arms of {self!r} are known by mean and variance alone; take an objective of these, as in RSSR(L=0.5)"
        )

    def check_horizon(self, horizon: int) -> None:
        """Raise if a game with this horizon cannot be played."""

    def check_pulls(self, max_pulls: np.ndarray, policy: str) -> None:
        """Raise if an arm has fewer recorded rewards than pulls (``max_pulls``: maximum over runs, per arm)."""

    def __eq__(self, other: object) -> bool:
        return self is other or (type(other) is type(self) and self._is_like(other))

    def __hash__(self) -> int:
        return hash((type(self), self.K))

    def _is_like(self, other: Any) -> bool:
        """Whether another environment of this type has the same arms."""
        return bool(self.to_dict() == other.to_dict())

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_table"}  # arrays for kernels

    def _repr_html_(self) -> str:
        return html_table(("bandit", "arms", "kind"), [(repr(self), self.K, self.arm_kinds)])


def as_arm(thing: Any) -> Arm:
    """``thing`` if it is an arm; an arm made from it if it is a frozen scipy.stats distribution."""
    if isinstance(thing, Arm):
        return thing
    if is_frozen(thing):
        return Scipy(thing)
    raise InvalidInputError(
        f"an arm such as Uniform(0, 1) or a frozen scipy.stats distribution is needed, got {shown(thing)}"
    )


def stack(rows: list[list[Draws]]) -> ArmTable:
    """Rows of draws as one :class:`ArmTable`; pools that are the same object are stored once."""
    shape = (len(rows), len(rows[0]))
    kind, start, size = np.zeros(shape, np.int64), np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    loc, scale = np.zeros(shape), np.zeros(shape)
    pools: list[Any] = [np.zeros(1)]
    places: dict[int, int] = {}
    end = 1
    for r, row in enumerate(rows):
        for i, draws in enumerate(row):
            kind[r, i], loc[r, i], scale[r, i], size[r, i] = draws.kind, draws.loc, draws.scale, draws.size
            if len(draws.pool) == 0:
                continue
            if id(draws.pool) not in places:
                places[id(draws.pool)] = end
                pools.append(np.asarray(draws.pool, float))
                if np.isnan(pools[-1]).any():
                    raise InvalidInputError(
                        f"the draws of arm {i} have a pool with NaN, first at position {np.isnan(pools[-1]).argmax()}: "
                        "every number in it must be a reward"
                    )
                end += len(draws.pool)
            start[r, i] = places[id(draws.pool)]
    return ArmTable(kind, loc, scale, start, size, np.concatenate(pools))
