"""Bandits whose arms are random, drawn independently in every run."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from .._support.names import check_name
from .._support.validation import real, whole
from ..errors import InvalidInputError, shown
from ..play.rewards import UNIFORM, ArmTable
from .base import Arm
from .discrete import numbers
from .environment import Environment, as_arm, stack
from .uniform import Uniform

#: Maximum number of arms of a :class:`RandomBandit` that are cached, and number of runs whose arms are kept together.
_REMEMBERED, _BLOCK = 2_000_000, 128


class UniformArms:
    """Many uniform arms as arrays: a fast return type for the function of a :class:`RandomBandit`.

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> bandit = sb.RandomBandit(3, lambda rng: sb.arms.UniformArms(low=[0, 0, 0], high=rng.uniform(0.5, 1.0, 3)))
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


class UniformFormula:
    """A function for a :class:`RandomBandit` by which the arms of many runs are computed at once.

    Parameters
    ----------
    arms : int
        number of arms
    ends : Callable[[numpy.ndarray, numpy.ndarray], tuple[Any, Any]]
        lower and upper ends of uniform arms, element by element, from two arrays of random numbers that are uniform on
        [0, 1]; all four arrays have the same shape, in which the last axis is that of arms
    """

    def __init__(self, arms: int, ends: Callable[[np.ndarray, np.ndarray], tuple[Any, Any]]) -> None:
        self.arms, self.ends = arms, ends

    def __call__(self, generator: np.random.Generator) -> UniformArms:
        return UniformArms(*self.ends(*generator.random((2, self.arms))))

    def of_runs(self, generators: Iterable[np.random.Generator], runs: int) -> np.ndarray:
        """The ends (2, runs, arms) that calls with these generators would give, not yet checked."""
        uniforms = np.empty((runs, 2, self.arms))
        for row, generator in zip(uniforms, generators, strict=True):
            generator.random(out=row)
        return np.array(self.ends(*np.ascontiguousarray(uniforms.swapaxes(0, 1))), float)


class _Block:
    """The arms of consecutive runs that have been drawn so far: uniform ones as rows of arrays, others as lists."""

    def __init__(self, arms: int) -> None:
        self.ends = np.zeros((2, _BLOCK, arms))
        self.listed: dict[int, list[Arm]] = {}
        self.drawn = np.zeros(_BLOCK, np.bool_)


class RandomBandit(Environment):
    """A bandit whose arms are random, drawn independently in every run.

    Parameters
    ----------
    arms : int
        number of arms
    draw : Callable[[numpy.random.Generator], Any]
        called with a :class:`numpy.random.Generator` that depends only on seed and run, and is for this call alone;
        returns the arms, as a list of arms or as :class:`UniformArms`
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
        self._drawn: dict[tuple[int, int], _Block] = {}

    def __repr__(self) -> str:
        return f"RandomBandit({self.K}, {self.name!r})"

    @property
    def sort(self) -> str:
        return "drawn anew per run"

    @property
    def lowest(self) -> float:
        return self._lowest

    def arms_of(self, seed: int, run: int) -> UniformArms | list[Arm]:
        """The arms of one run."""
        ((block, rows),) = self._blocks(seed, run, 1)
        return block.listed.get(rows.start) or UniformArms(*block.ends[:, rows.start])

    def _blocks(self, seed: int, first: int, runs: int) -> list[tuple[_Block, slice]]:
        """The arms of consecutive runs: blocks, and their rows in each.

        They are cached, since all policies and their evaluation use the same ones.
        """
        blocks = []
        for number in range(first // _BLOCK, (first + runs - 1) // _BLOCK + 1):
            begin = number * _BLOCK
            block = self._drawn.get((seed, number))
            if block is None:
                if len(self._drawn) >= _REMEMBERED // (self.K * _BLOCK):
                    self._drawn.clear()
                block = self._drawn.setdefault((seed, number), _Block(self.K))
            rows = slice(max(first - begin, 0), min(first + runs - begin, _BLOCK))
            if not block.drawn[rows].all():
                missing = np.flatnonzero(~block.drawn[rows]) + rows.start
                self._draw(seed, begin, missing, block)
                block.drawn[missing] = True  # another thread may have drawn them, too: they are the same
            blocks.append((block, rows))
        return blocks

    def _draw(self, seed: int, begin: int, rows: np.ndarray, block: _Block) -> None:
        runs = (begin + rows).tolist()
        if isinstance(self.draw, UniformFormula) and self.draw.arms == self.K:
            low, high = self.draw.of_runs(_generators(seed, runs), len(runs))
            if ((self._lowest <= low) & (low <= high)).all() and np.isfinite([low, high]).all():
                block.ends[:, rows] = low, high
                return
        # One by one: an error is then that of the first run that has one.
        for row, run, generator in zip(rows.tolist(), runs, _generators(seed, runs), strict=True):
            sample = self._checked(self.draw(generator), run)
            if isinstance(sample, UniformArms):
                block.ends[:, row] = sample.low, sample.high
            else:
                block.listed[row] = sample

    def _checked(self, drawn: Any, run: int) -> UniformArms | list[Arm]:
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
        blocks = self._blocks(seed, first, runs)
        others = [block.listed[row] for block, rows in blocks for row in _listed_rows(block, rows)]
        if not others:
            low, high = np.concatenate([block.ends[:, rows] for block, rows in blocks], axis=1)
            none = np.zeros(low.shape, np.int64)
            return ArmTable(np.full(low.shape, UNIFORM, np.int64), low, high - low, none, none, np.zeros(1))
        if len(others) < runs:
            raise InvalidInputError(
                "the draw of a RandomBandit must return UniformArms in all runs or a list of arms in all runs"
            )
        return stack([[arm.draws() for arm in arms] for arms in others])

    def truth(self, seed: int, runs: int) -> tuple[np.ndarray, np.ndarray]:
        mean, variance = np.empty((runs, self.K)), np.empty((runs, self.K))
        begin = 0
        for block, rows in self._blocks(seed, 0, runs):
            low, high = block.ends[:, rows]
            here = slice(begin, begin + len(low))
            mean[here], variance[here] = (low + high) / 2, (high - low) ** 2 / 12
            for row in _listed_rows(block, rows):
                arms = block.listed[row]
                mean[begin + row], variance[begin + row] = [a.mean for a in arms], [a.variance for a in arms]
            begin += len(low)
        return mean, variance

    def rows_of_arms(self, seed: int, runs: int) -> list[list[Arm]]:
        rows: list[list[Arm]] = []
        for run in range(runs):
            arms = self.arms_of(seed, run)
            if isinstance(arms, UniformArms):
                arms = [Uniform(low, high) for low, high in zip(arms.low, arms.high, strict=True)]
            rows.append(arms)
        return rows

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


def _listed_rows(block: _Block, rows: slice) -> list[int]:
    """The rows among these whose arms are a list."""
    return [row for row in range(rows.start, rows.stop) if row in block.listed] if block.listed else []


def _generators(seed: int, runs: Iterable[int]) -> Iterator[np.random.Generator]:
    """For each run, a generator in the state in which ``Generator(Philox(key=[seed, run]))`` starts.

    It is the same object, reset for each run: to make a new one takes longer than to draw arms.
    """
    bits = np.random.Philox(key=np.array([seed, 0], np.uint64))
    generator, state = np.random.Generator(bits), bits.state
    for run in runs:
        state["state"]["key"][1] = run
        bits.state = state
        yield generator
