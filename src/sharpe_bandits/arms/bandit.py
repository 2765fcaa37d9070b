"""Bandits: sets of arms, fixed, recorded, or drawn anew in every run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import InvalidInput
from ..kernels.rewards import TAPE, UNIFORM, ArmTable
from ..validation import whole
from .base import Arm, Draws
from .discrete import numbers
from .scipy_arm import Scipy, is_frozen

#: Arms of a :class:`RandomBandit` that are remembered, at most.
_REMEMBERED = 2_000_000


class Environment:
    """What policies play on: K arms whose rewards are a function of (seed, run, arm, pull)."""

    #: Number of arms.
    K: int

    #: Whether each run has arms of its own.
    varies = False

    def table(self, seed: int, first: int, runs: int) -> ArmTable:
        """The arms of these runs as arrays for a kernel: one row for all, or a row per run."""
        raise AssertionError(f"{type(self).__name__} gives no table")

    def truth(self, seed: int, runs: int) -> tuple[np.ndarray, np.ndarray]:
        """True means and variances, of shape (1, K) or, if arms vary, (runs, K)."""
        raise AssertionError(f"{type(self).__name__} gives no truth")

    @property
    def lowest(self) -> float:
        """No reward is below this."""
        return -np.inf

    def check_pulls(self, most: np.ndarray, policy: str) -> None:
        """Raise if a record is shorter than the pulls it was asked for (``most``: per arm, over runs)."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data that describes the environment."""
        raise AssertionError(f"{type(self).__name__} gives no description")


class Bandit(Environment):
    """A fixed set of arms.

    Parameters
    ----------
    arms : arms of this library or frozen scipy.stats distributions, at least two
    names : optional names, one per arm (default: 0, 1, ...)
    """

    def __init__(self, arms: Iterable[Any], names: Sequence[str] | None = None) -> None:
        try:
            given = list(arms)
        except TypeError:
            raise InvalidInput(f"a bandit needs a list of arms, got {arms!r}") from None
        if len(given) < 2:
            raise InvalidInput(
                f"a bandit needs at least 2 arms, got {len(given)}; there is nothing to choose among fewer"
            )
        self.arms: tuple[Arm, ...] = tuple(as_arm(a) for a in given)
        self.K = len(self.arms)
        self.names = tuple(map(str, range(self.K) if names is None else names))
        if len(self.names) != self.K or len(set(self.names)) != self.K:
            raise InvalidInput(f"names must be {self.K} different names, got {list(self.names)!r}")

    def __repr__(self) -> str:
        return f"Bandit([{', '.join(map(repr, self.arms))}])"

    def __len__(self) -> int:
        return self.K

    def __iter__(self) -> Iterator[Arm]:
        return iter(self.arms)

    @property
    def means(self) -> np.ndarray:
        """True means."""
        return np.array([a.mean for a in self.arms])

    @property
    def variances(self) -> np.ndarray:
        """True variances."""
        return np.array([a.variance for a in self.arms])

    @property
    def lowest(self) -> float:
        return min(a.support[0] for a in self.arms)

    @cached_property
    def _table(self) -> ArmTable:
        return stack([[a.draws() for a in self.arms]])

    def table(self, seed: int, first: int, runs: int) -> ArmTable:
        return self._table

    def truth(self, seed: int, runs: int) -> tuple[np.ndarray, np.ndarray]:
        return self.means[None, :], self.variances[None, :]

    def to_dict(self) -> dict[str, Any]:
        return {"bandit": "Bandit", "names": list(self.names), "arms": [a.to_dict() for a in self.arms]}


class Tape(Environment):
    """Recorded rewards: ``rewards[arm, j]`` is what the j-th pull of ``arm`` pays (j from 0), in every run."""

    def __init__(self, rewards: Any) -> None:
        self.rewards = numbers("rewards", rewards, 2).copy()
        self.K, self.length = self.rewards.shape
        if self.K < 2:
            raise InvalidInput(f"a tape needs at least 2 arms (rows), got {self.K}")

    def __repr__(self) -> str:
        return f"Tape({self.K} arms, {self.length} pulls each)"

    @property
    def lowest(self) -> float:
        return float(self.rewards.min())

    def table(self, seed: int, first: int, runs: int) -> ArmTable:
        return stack([[Draws(TAPE, size=self.length, pool=row) for row in self.rewards]])

    def truth(self, seed: int, runs: int) -> tuple[np.ndarray, np.ndarray]:
        return self.rewards.mean(axis=1)[None, :], self.rewards.var(axis=1)[None, :]

    def check_pulls(self, most: np.ndarray, policy: str) -> None:
        if (most > self.length).any():
            arm = int(np.argmax(most > self.length))
            raise InvalidInput(
                f"{policy} pulled arm {arm} more often than the tape has rewards for it ({self.length}); "
                "shorten the horizon or lengthen the tape"
            )

    def to_dict(self) -> dict[str, Any]:
        return {"bandit": "Tape", "rewards": self.rewards.tolist()}


class UniformArms:
    """Many uniform arms as arrays: what a :class:`RandomBandit`'s function returns when speed matters."""

    def __init__(self, low: Any, high: Any) -> None:
        self.low, self.high = numbers("low", low, 1), numbers("high", high, 1)
        if self.low.shape != self.high.shape:
            raise InvalidInput(f"low and high must have the same length, got {self.low.size} and {self.high.size}")
        if (self.low > self.high).any():
            arm = int(np.argmax(self.low > self.high))
            raise InvalidInput(
                f"low must not exceed high, got low={self.low[arm]} and high={self.high[arm]} for arm {arm}; swap them"
            )


class RandomBandit(Environment):
    """A bandit whose arms are drawn anew in every run.

    Parameters
    ----------
    arms : number of arms
    draw : called with a :class:`numpy.random.Generator` that is a function of seed and run alone; returns the arms, as
        a list of arms or as :class:`UniformArms`
    name : what to call it in saved results
    lowest : a bound that no reward of any run lies below, if there is one (lets some policies be played faster)
    """

    varies = True

    def __init__(
        self, arms: int, draw: Callable[[np.random.Generator], Any], name: str = "random", lowest: float = -np.inf
    ) -> None:
        self.K = whole("arms", arms, 2)
        self.draw, self.name, self._lowest = draw, name, float(lowest)
        self._drawn: dict[tuple[int, int], UniformArms | list[Arm]] = {}

    def __repr__(self) -> str:
        return f"RandomBandit({self.K}, {self.name!r})"

    @property
    def lowest(self) -> float:
        return self._lowest

    def arms_of(self, seed: int, run: int) -> UniformArms | list[Arm]:
        """The arms of one run. Many are remembered: all policies, and whoever judges them, ask for the same ones."""
        arms = self._drawn.get((seed, run))
        if arms is None:
            arms = self._draw(seed, run)
            if len(self._drawn) >= _REMEMBERED // self.K:
                self._drawn.clear()
            self._drawn[seed, run] = arms
        return arms

    def _draw(self, seed: int, run: int) -> UniformArms | list[Arm]:
        generator = np.random.Generator(np.random.Philox(key=np.array([seed, run], np.uint64)))
        drawn = self.draw(generator)
        if isinstance(drawn, UniformArms):
            count, lowest = drawn.low.size, float(drawn.low.min())
        else:
            drawn = [as_arm(a) for a in drawn]
            count, lowest = len(drawn), min((a.support[0] for a in drawn), default=np.inf)
        if count != self.K:
            raise InvalidInput(f"the draw of {self!r} gave {count} arms in run {run}, not {self.K}")
        if not lowest >= self._lowest:
            raise InvalidInput(
                f"the draw of {self!r} gave an arm with rewards from {lowest} in run {run}, below its declared "
                f"lowest={self._lowest}; lower or drop that bound"
            )
        return drawn

    def table(self, seed: int, first: int, runs: int) -> ArmTable:
        drawn = [self.arms_of(seed, run) for run in range(first, first + runs)]
        if all(isinstance(arms, UniformArms) for arms in drawn):
            low = np.array([arms.low for arms in drawn])  # type: ignore[union-attr]
            high = np.array([arms.high for arms in drawn])  # type: ignore[union-attr]
            none = np.zeros(low.shape, np.int64)
            return ArmTable(np.full(low.shape, UNIFORM, np.int64), low, high - low, none, none, np.zeros(1))
        return stack([[arm.draws() for arm in _listed(arms)] for arms in drawn])

    def truth(self, seed: int, runs: int) -> tuple[np.ndarray, np.ndarray]:
        mean, variance = np.empty((runs, self.K)), np.empty((runs, self.K))
        for run in range(runs):
            arms = self.arms_of(seed, run)
            if isinstance(arms, UniformArms):
                mean[run], variance[run] = (arms.low + arms.high) / 2, (arms.high - arms.low) ** 2 / 12
            else:
                mean[run], variance[run] = [a.mean for a in arms], [a.variance for a in arms]
        return mean, variance

    def to_dict(self) -> dict[str, Any]:
        return {"bandit": "RandomBandit", "arms": self.K, "name": self.name}


def as_arm(thing: Any) -> Arm:
    """``thing`` if it is an arm, or the arm of a frozen scipy.stats distribution."""
    if isinstance(thing, Arm):
        return thing
    if is_frozen(thing):
        return Scipy(thing)
    raise InvalidInput(f"an arm such as Uniform(0, 1) or a frozen scipy.stats distribution is needed, got {thing!r}")


def as_environment(thing: Any) -> Environment:
    """``thing`` if it can be played on; a list of arms becomes a :class:`Bandit`."""
    if isinstance(thing, Environment):
        return thing
    if isinstance(thing, (list, tuple)):
        return Bandit(thing)
    raise InvalidInput(f"a Bandit, Tape or RandomBandit is needed, got {thing!r}")


def _listed(arms: UniformArms | list[Arm]) -> list[Arm]:
    if isinstance(arms, list):
        return arms
    raise InvalidInput("the draw of a RandomBandit must return UniformArms in all runs or a list of arms in all runs")


def stack(rows: list[list[Draws]]) -> ArmTable:
    """Rows of draws as one :class:`ArmTable`; pools that are the same object are kept once."""
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
                end += len(draws.pool)
            start[r, i] = places[id(draws.pool)]
    return ArmTable(kind, loc, scale, start, size, np.concatenate(pools))
