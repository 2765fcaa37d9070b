"""Bandits whose arms are random, drawn independently in every run."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from .._support.names import check_name
from .._support.validation import list_of, whole
from ..errors import InvalidInputError, shown
from ..play.rewards import UNIFORM, ArmTable
from .base import Arm
from .discrete import numbers
from .environment import Environment, as_arm, stack
from .uniform import Uniform

#: Maximum number of arms that a :class:`RandomBandit` caches.
_REMEMBERED = 2_000_000


class UniformArms:
    """Many uniform arms as arrays: a fast return type for the function of a :class:`RandomBandit`."""

    def __init__(self, low: Any, high: Any) -> None:
        self.low, self.high = numbers("low", low, 1), numbers("high", high, 1)
        if self.low.shape != self.high.shape:
            raise InvalidInputError(f"low and high must have the same length, got {self.low.size} and {self.high.size}")
        if (self.low > self.high).any():
            arm = int(np.argmax(self.low > self.high))
            raise InvalidInputError(
                f"low must not exceed high, got low={self.low[arm]} and high={self.high[arm]} for arm {arm}; swap them"
            )

    @property
    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Means and variances."""
        return (self.low + self.high) / 2, (self.high - self.low) ** 2 / 12

    def __iter__(self) -> Iterator[Arm]:
        return map(Uniform, self.low, self.high)


class RandomBandit(Environment):
    """A bandit whose arms are random, drawn independently in every run.

    Parameters
    ----------
    arms : int
        number of arms
    draw : Callable[[numpy.random.Generator], Any]
        called with a :class:`numpy.random.Generator` that depends only on seed and run; returns the arms, as a list of
        arms or as :class:`UniformArms`
    name : str, optional
        its name in saved results

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> bandit = sb.RandomBandit(3, lambda rng: [sb.Uniform(0, high) for high in rng.uniform(0.5, 1.0, 3)])
    >>> bandit.truth(seed=1, runs=2)[0].shape
    (2, 3)
    """

    varies = True
    arm_kinds = "drawn anew per run"

    def __init__(self, arms: int, draw: Callable[[np.random.Generator], Any], name: str = "random") -> None:
        self.K = whole("arms", arms, 2)
        if not callable(draw):
            raise InvalidInputError(f"a random bandit needs a function that draws arms, got {shown(draw)}")
        self.draw = draw
        self.name = check_name("the name of a bandit", name, longest=None)  # often the formula of its arms
        self._drawn: dict[tuple[int, int], UniformArms | list[Arm]] = {}

    def __repr__(self) -> str:
        return f"RandomBandit({self.K}, {self.name!r})"

    def arms_of(self, seed: int, run: int) -> UniformArms | list[Arm]:
        """The arms of one run; they are cached, since all policies and their evaluation use the same ones."""
        drawn = self._drawn  # another thread may draw them, too: they are the same
        if (seed, run) not in drawn:
            if len(drawn) * self.K > _REMEMBERED:
                drawn = self._drawn = {}
            generator = np.random.Generator(np.random.Philox(key=np.array([seed, run], np.uint64)))
            drawn[seed, run] = self._checked(self.draw(generator), run)
        return drawn[seed, run]

    def _checked(self, drawn: Any, run: int) -> UniformArms | list[Arm]:
        if isinstance(drawn, UniformArms):
            count = drawn.low.size
        else:
            drawn = [as_arm(a) for a in list_of(f"what the draw of {self!r} returns", drawn)]
            if with_memory := [a for a in drawn if a.serially_dependent]:
                raise InvalidInputError(
                    f"the draw of {self!r} gave {with_memory[0]!r}, whose rewards depend on those before: only a "
                    "Bandit or a SwitchingBandit can hold such arms"
                )
            count = len(drawn)
        if count != self.K:
            raise InvalidInputError(f"the draw of {self!r} gave {count} arms in run {run}, not {self.K}")
        return drawn

    def table(self, seed: int, runs: Iterable[int]) -> ArmTable:
        rows = [self.arms_of(seed, int(run)) for run in runs]
        if not all(isinstance(row, UniformArms) for row in rows):
            return stack([[arm.draws() for arm in row] for row in rows])
        low, high = (np.array([getattr(row, end) for row in rows]) for end in ("low", "high"))
        none = np.zeros(low.shape, np.int64)
        return ArmTable(np.full(low.shape, UNIFORM, np.int64), low, high - low, none, none, np.zeros(1))

    def truth(self, seed: int, runs: int) -> tuple[np.ndarray, np.ndarray]:
        moments = [
            row.moments if isinstance(row, UniformArms) else ([a.mean for a in row], [a.variance for a in row])
            for row in (self.arms_of(seed, run) for run in range(runs))
        ]
        mean, variance = np.array(moments).swapaxes(0, 1)
        return mean, variance

    def rows_of_arms(self, seed: int, runs: int) -> list[list[Arm]]:
        return [list(self.arms_of(seed, run)) for run in range(runs)]

    def to_dict(self) -> dict[str, Any]:
        return {"bandit": "RandomBandit", "arms": self.K, "name": self.name}

    def _is_like(self, other: Any) -> bool:
        return super()._is_like(other) and bool(self.draw == other.draw)

    @classmethod
    def from_parameters(cls, data: dict[str, Any]) -> RandomBandit:
        if "draw" not in data:
            raise InvalidInputError(
                f"{data.get('name')!r} is a RandomBandit, whose arms are drawn by a function: add it, as in "
                'from_dict({**data, "draw": function})'
            )
        return cls(**data)

    def __getstate__(self) -> dict[str, Any]:
        import cloudpickle  # functions of scripts and notebooks, and those without a name

        return {**self.__dict__, "_drawn": {}, "draw": cloudpickle.dumps(self.draw)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, draw=pickle.loads(state["draw"]))
