"""Bandits whose arms are random, drawn independently in every run."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import InvalidInputError, shown
from ..kernels.rewards import UNIFORM, ArmTable
from ..names import check_name
from ..validation import real, whole
from .base import Arm
from .discrete import numbers
from .environment import Environment, as_arm, stack

#: Maximum number of arms of a :class:`RandomBandit` that are cached.
_REMEMBERED = 2_000_000


class UniformArms:
    """Many uniform arms as arrays: a fast return type for the function of a :class:`RandomBandit`.

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> bandit = sb.RandomBandit(3, lambda rng: sb.UniformArms(low=[0, 0, 0], high=rng.uniform(0.5, 1.0, 3)))
    >>> bandit.truth(seed=1, runs=2)[0].shape
    (2, 3)
    """

    def __init__(self, low: Any, high: Any) -> None:
        self.low, self.high = numbers("low", low, 1), numbers("high", high, 1)
        if self.low.shape != self.high.shape:
            raise InvalidInputError(f"low and high must have the same length, got {self.low.size} and {self.high.size}")
        if (self.low > self.high).any():
            arm = int(np.argmax(self.low > self.high))
            raise InvalidInputError(
                f"low must not exceed high, got low={self.low[arm]} and high={self.high[arm]} for arm {arm}; swap them"
            )


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
    lowest : float, optional
        a lower bound on the rewards of all runs, if there is one (some policies can then be played faster)

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> bandit = sb.RandomBandit(3, lambda rng: [sb.Uniform(0, high) for high in rng.uniform(0.5, 1.0, 3)])
    >>> bandit.truth(seed=1, runs=2)[0].shape
    (2, 3)
    """

    varies = True

    def __init__(
        self, arms: int, draw: Callable[[np.random.Generator], Any], name: str = "random", lowest: float = -np.inf
    ) -> None:
        self.K = whole("arms", arms, 2)
        if not callable(draw) or math.isnan(real(lowest)):
            raise InvalidInputError(
                "a random bandit needs a function that draws arms, and a number for its lowest reward, got "
                f"{shown(draw)} and {shown(lowest)}"
            )
        self.draw, self._lowest = draw, real(lowest)
        self.name = check_name("the name of a bandit", name, longest=None)  # often the formula of its arms
        self._drawn: dict[tuple[int, int], UniformArms | list[Arm]] = {}

    def __repr__(self) -> str:
        return f"RandomBandit({self.K}, {self.name!r})"

    @property
    def sort(self) -> str:
        return "drawn anew per run"

    @property
    def lowest(self) -> float:
        return self._lowest

    def arms_of(self, seed: int, run: int) -> UniformArms | list[Arm]:
        """The arms of one run. They are cached, since all policies and their evaluation use the same ones."""
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
            if with_memory := [a for a in drawn if a.serially_dependent]:
                raise InvalidInputError(
                    f"the draw of {self!r} gave {with_memory[0]!r}, whose rewards depend on those before: only a "
                    "Bandit or a SwitchingBandit can hold such arms"
                )
            count, lowest = len(drawn), min((a.support[0] for a in drawn), default=np.inf)
        if count != self.K:
            raise InvalidInputError(f"the draw of {self!r} gave {count} arms in run {run}, not {self.K}")
        if not lowest >= self._lowest:
            raise InvalidInputError(
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
        lowest = self._lowest if np.isfinite(self._lowest) else None
        return {"bandit": "RandomBandit", "arms": self.K, "name": self.name, "lowest": lowest}

    def _is_like(self, other: Any) -> bool:
        return super()._is_like(other) and bool(self.draw == other.draw)

    @classmethod
    def from_parameters(cls, data: dict[str, Any]) -> RandomBandit:
        if "draw" not in data:
            raise InvalidInputError(
                f"{data.get('name')!r} is a RandomBandit, whose arms are drawn by a function, which is not plain data: "
                "pass it, as in bandit_from_dict(data, draw=...)"
            )
        if data.get("lowest") is None:
            data["lowest"] = -np.inf
        return cls(**data)

    def __getstate__(self) -> dict[str, Any]:
        import cloudpickle  # functions of scripts and notebooks, and those without a name

        return {**self.__dict__, "_drawn": {}, "draw": cloudpickle.dumps(self.draw)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, draw=pickle.loads(state["draw"]))


def _listed(arms: UniformArms | list[Arm]) -> list[Arm]:
    if isinstance(arms, list):
        return arms
    raise InvalidInputError(
        "the draw of a RandomBandit must return UniformArms in all runs or a list of arms in all runs"
    )
