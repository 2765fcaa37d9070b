"""Bandits: sets of arms, fixed, recorded, or drawn anew in every run."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from ..display import html_table
from ..errors import InvalidInputError, shown
from ..kernels.rewards import TAPE, UNIFORM, ArmTable
from ..names import check_name
from ..plain_data import from_plain
from ..validation import one_of, real, whole
from .base import Arm, Draws, arm_from_dict
from .discrete import Empirical, numbers
from .processes import BlockBootstrap
from .scipy_arm import Scipy, is_frozen

#: Arms of a :class:`RandomBandit` that are remembered, at most.
_REMEMBERED = 2_000_000


#: What an arm's rewards are counted by: its own pulls, or the rounds of the game, whoever is played.
Clock = Literal["pulls", "rounds"]
#: Arms that a bandit lists when it shows itself, at most.
_SHOWN = 50


class Environment:
    """What policies play on: K arms whose rewards are a function of (seed, run, arm, pull or round)."""

    #: Every kind of environment by its class name.
    kinds: ClassVar[dict[str, type[Environment]]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not cls.__name__.startswith("_"):
            Environment.kinds[cls.__name__] = cls

    #: Number of arms.
    K: int

    #: Whether each run has arms of its own.
    varies = False
    #: What rewards are counted by, a :data:`Clock`.
    clock = "pulls"
    #: Whether the rewards of a run must be written out before it is played: they depend on those before.
    pregenerated = False
    #: Whether all arms draw the same random numbers.
    jointly = False
    #: Rounds after which the arms change, for good or until the next one.
    switches: tuple[int, ...] = ()

    def table(self, seed: int, first: int, runs: int) -> ArmTable:
        """The arms of these runs as arrays for a kernel: one row for all, or a row per run."""
        raise AssertionError(f"{type(self).__name__} gives no table")

    def pieces(self, seed: int, first: int, runs: int, rounds: int) -> list[tuple[int, int, ArmTable]]:
        """The stretches of a game within which the arms stay the same: first round, end, arms."""
        return [(0, rounds, self.table(seed, first, runs))]

    def truth(self, seed: int, runs: int) -> tuple[np.ndarray, np.ndarray]:
        """True means and variances: a row for all; if arms vary, a row per run; with switches, a row per stretch."""
        raise AssertionError(f"{type(self).__name__} gives no truth")

    @property
    def sort(self) -> str:
        """What its arms are, in a word or two."""
        raise AssertionError(f"{type(self).__name__} does not say what its arms are")

    @property
    def lowest(self) -> float:
        """No reward is below this."""
        return -np.inf

    def check_horizon(self, horizon: int) -> None:
        """Raise if a game of so many rounds cannot be played."""

    def check_pulls(self, max_pulls: np.ndarray, policy: str) -> None:
        """Raise if a record is shorter than the pulls it was asked for (``max_pulls``: per arm, over runs)."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data from which :func:`bandit_from_dict` makes the same environment."""
        raise AssertionError(f"{type(self).__name__} gives no description")

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Environment:
        """The environment described by plain data, its kind already taken off."""
        return cls(**data)

    def _repr_html_(self) -> str:
        return html_table(("bandit", "arms", "kind"), [(repr(self), self.K, self.sort)])


def bandit_from_dict(data: dict[str, Any], *, draw: Callable[[np.random.Generator], Any] | None = None) -> Environment:
    """The bandit described by plain data (see :meth:`Environment.to_dict`).

    Parameters
    ----------
    data : dict[str, Any]
        what ``to_dict`` gave
    draw : Callable[[numpy.random.Generator], Any] | None, optional
        the function by which a :class:`RandomBandit` draws its arms, which is no plain data

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> data = sb.Bandit([sb.Uniform(0, 1), sb.Bernoulli(0.4)]).to_dict()
    >>> sb.bandit_from_dict(data)
    Bandit([Uniform(0, 1), Bernoulli(0.4)])
    """
    return from_plain("bandit", Environment.kinds, data, **({} if draw is None else {"draw": draw}))


class Bandit(Environment):
    """A fixed set of arms.

    Parameters
    ----------
    arms : Iterable[Any]
        arms of this library or frozen scipy.stats distributions, at least two
    names : Sequence[str] | None, optional
        optional names, one per arm (default: 0, 1, ...)
    clock : Clock | None, optional
        whether a serially dependent arm advances only when it is played ("pulls") or in every round, as prices do
        ("rounds"); the default is "rounds" if any arm has one
    jointly : bool, optional
        let all arms draw the same blocks, so that rows of a table stay together (BlockBootstrap arms only)

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> bandit = sb.Bandit([sb.Uniform(0, 1), sb.Bernoulli(0.4)], names=["A", "B"])
    >>> bandit.names
    ('A', 'B')
    >>> sb.RSSR(L=0.1).gaps(*bandit.truth(0, 1)).round(3)
    array([[0.   , 0.893]])
    """

    def __init__(
        self,
        arms: Iterable[Any],
        names: Sequence[str] | None = None,
        clock: Clock | None = None,
        jointly: bool = False,
    ) -> None:
        try:
            given = list(arms)
        except Exception:  # what is given may fail in any way
            raise InvalidInputError(f"a bandit needs a list of arms, got {shown(arms)}") from None
        if len(given) < 2:
            raise InvalidInputError(
                f"a bandit needs at least 2 arms, got {len(given)}; there is nothing to choose among fewer"
            )
        self.arms: tuple[Arm, ...] = tuple(as_arm(a) for a in given)
        self.K = len(self.arms)
        self.names = tuple(
            check_name("the name of an arm", name) for name in _names(range(self.K) if names is None else names)
        )
        if len(self.names) != self.K or len(set(self.names)) != self.K:
            raise InvalidInputError(f"names must be {self.K} different names, got {shown(list(self.names))}")
        assert np.isfinite(self.means).all()  # an arm that is asked for its moments raises where they overflow
        dependent = any(arm.serially_dependent for arm in self.arms)
        self.clock = (
            one_of("clock", clock, get_args(Clock)) if clock is not None else "rounds" if dependent else "pulls"
        )
        self.pregenerated = dependent or self.clock == "rounds"
        if not isinstance(jointly, bool):
            raise InvalidInputError(f"jointly must be True or False, got {shown(jointly)}")
        self.jointly = jointly
        blocks = {(len(arm.values), arm.block) for arm in self.arms if isinstance(arm, BlockBootstrap)}
        if jointly and not (all(isinstance(a, BlockBootstrap) for a in self.arms) and len(blocks) == 1):
            raise InvalidInputError(
                "jointly=True needs BlockBootstrap arms, all with records of one length and the same block, got "
                f"{self!r}; sb.bootstrap(table, block=..., jointly=True) makes them"
            )
        if jointly and self.clock != "rounds":
            raise InvalidInputError(
                'jointly=True needs clock="rounds": arms that wait for their pulls do not move together'
            )

    def __repr__(self) -> str:
        listed = [repr(arm) for arm in self.arms[:_SHOWN]]
        more = [f"and {self.K - _SHOWN:,} more"] if self.K > _SHOWN else []
        return f"Bandit([{', '.join([*listed, *more])}])"

    def _repr_html_(self) -> str:
        listed = list(zip(self.names, self.arms, strict=True))[:_SHOWN]
        rows: list[tuple[Any, ...]] = [(name, repr(arm), arm.mean, arm.variance) for name, arm in listed]
        rows += [(f"and {self.K - _SHOWN:,} more",)] if self.K > _SHOWN else []
        return html_table(("arm", "rewards", "mean", "variance"), rows)

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
    def sort(self) -> str:
        return ", ".join(dict.fromkeys(type(arm).__name__ for arm in self.arms))

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
        return {
            "bandit": "Bandit",
            "names": list(self.names),
            "arms": [a.to_dict() for a in self.arms],
            "clock": self.clock,
            "jointly": self.jointly,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Bandit:
        return cls([arm_from_dict(arm) for arm in data.pop("arms", ())], **data)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_table"}


class SwitchingBandit(Environment):
    """A bandit whose arms change: it plays as one bandit, and from some round on as another.

    Regret is measured against the arm that is best at the time; the arm recommended in the end is judged by the last
    stretch.

    Parameters
    ----------
    bandits : Sequence[Any]
        what it plays as, one after the other; at least two, with the same number of arms
    after : Sequence[int]
        the rounds after which it changes, rising, one fewer than bandits

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> before, after = [sb.Uniform(0, 1), sb.Uniform(0, 2)], [sb.Uniform(0, 2), sb.Uniform(0, 1)]
    >>> bandit = sb.SwitchingBandit([before, after], after=[500])
    >>> bandit.switches
    (500,)
    """

    clock = "rounds"
    pregenerated = True

    def __init__(self, bandits: Sequence[Any], after: Sequence[int]) -> None:
        for name, listed in (("bandits", bandits), ("after", after)):
            if not isinstance(listed, (Sequence, np.ndarray)) or isinstance(listed, str):
                raise InvalidInputError(f"{name} must be a list, got {shown(listed)}")
        self.bandits = tuple(b if isinstance(b, Bandit) else Bandit(b) for b in bandits)
        self.switches = tuple(whole("after", t, 1) for t in after)
        if len(self.bandits) < 2 or len(self.switches) != len(self.bandits) - 1:
            raise InvalidInputError(
                f"a bandit that switches needs at least two bandits and one round fewer to switch after, got "
                f"{len(self.bandits)} bandits and after={shown(list(after))}"
            )
        if sorted(set(self.switches)) != list(self.switches):
            raise InvalidInputError(f"after must rise from switch to switch, got {shown(list(after))}; sort it")
        counts = [b.K for b in self.bandits]
        if len(set(counts)) > 1:
            raise InvalidInputError(f"all bandits must have the same number of arms, got {shown(counts)}")
        if any(b.jointly for b in self.bandits):
            raise InvalidInputError("bandits with jointly=True cannot be switched between; leave it out")
        self.K = counts[0]
        self.names = self.bandits[0].names

    def __repr__(self) -> str:
        return f"SwitchingBandit({len(self.bandits)} bandits of {self.K} arms, after={list(self.switches)})"

    @property
    def sort(self) -> str:
        return f"{self.bandits[0].sort}, switching"

    @property
    def lowest(self) -> float:
        return min(b.lowest for b in self.bandits)

    def pieces(self, seed: int, first: int, runs: int, rounds: int) -> list[tuple[int, int, ArmTable]]:
        starts, ends = (0, *self.switches), (*self.switches, rounds)
        return [(a, z, b.table(seed, first, runs)) for a, z, b in zip(starts, ends, self.bandits, strict=True)]

    def truth(self, seed: int, runs: int) -> tuple[np.ndarray, np.ndarray]:
        return np.array([b.means for b in self.bandits]), np.array([b.variances for b in self.bandits])

    def check_horizon(self, horizon: int) -> None:
        if horizon <= self.switches[-1]:
            raise InvalidInputError(
                f"the arms change after round {self.switches[-1]}, but the horizon is {horizon}; lengthen it or leave "
                "that switch out"
            )

    def to_dict(self) -> dict[str, Any]:
        parts = [b.to_dict() for b in self.bandits]
        return {"bandit": "SwitchingBandit", "bandits": parts, "after": list(self.switches)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> SwitchingBandit:
        return cls([bandit_from_dict(part) for part in data.pop("bandits", ())], **data)


class Tape(Environment):
    """Recorded rewards, the same in every run.

    Parameters
    ----------
    rewards : Any
        one row per arm
    clock : Clock, optional
        "pulls": ``rewards[arm, j]`` is what the j-th pull of ``arm`` pays (j from 0). "rounds": it is what ``arm`` pays
        if it is played in round j, as in a table of returns

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> tape = sb.Tape([[0.1, 0.2], [0.3, 0.0], [0.2, 0.1]])
    >>> tape
    Tape(3 arms, 2 pulls each)
    """

    def __init__(self, rewards: Any, clock: Clock = "pulls") -> None:
        self.rewards = numbers("rewards", rewards, 2).copy()
        self.clock = one_of("clock", clock, get_args(Clock))
        self.K, self.length = self.rewards.shape
        if self.K < 2:
            raise InvalidInputError(f"a tape needs at least 2 arms (rows), got {self.K}")

    def __repr__(self) -> str:
        return f"Tape({self.K} arms, {self.length} pulls each)"

    @property
    def sort(self) -> str:
        return "recorded"

    @property
    def lowest(self) -> float:
        return float(self.rewards.min())

    def table(self, seed: int, first: int, runs: int) -> ArmTable:
        return stack([[Draws(TAPE, size=self.length, pool=row) for row in self.rewards]])

    def truth(self, seed: int, runs: int) -> tuple[np.ndarray, np.ndarray]:
        return self.rewards.mean(axis=1)[None, :], self.rewards.var(axis=1)[None, :]

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

    def to_dict(self) -> dict[str, Any]:
        return {"bandit": "Tape", "rewards": self.rewards.tolist(), "clock": self.clock}


class UniformArms:
    """Many uniform arms as arrays: what a :class:`RandomBandit`'s function returns when speed matters.

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
    """A bandit whose arms are drawn anew in every run.

    Parameters
    ----------
    arms : int
        number of arms
    draw : Callable[[numpy.random.Generator], Any]
        called with a :class:`numpy.random.Generator` that is a function of seed and run alone; returns the arms, as a
        list of arms or as :class:`UniformArms`
    name : str, optional
        what to call it in saved results
    lowest : float, optional
        a bound that no reward of any run lies below, if there is one (lets some policies be played faster)

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

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> RandomBandit:
        if "draw" not in data:
            raise InvalidInputError(
                f"{data.get('name')!r} is a RandomBandit, whose arms are drawn by a function, which is no plain data: "
                "pass it, as in bandit_from_dict(data, draw=...)"
            )
        if data.get("lowest") is None:
            data["lowest"] = -np.inf
        return cls(**data)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_drawn": {}}


def bootstrap(
    table: Any, *, block: float | None = None, jointly: bool = False, names: Sequence[str] | None = None
) -> Bandit:
    """A bandit whose arms are the columns of a table, resampled.

    Parameters
    ----------
    table : Any
        returns read by :func:`~sharpe_bandits.read_returns`, a frame, or an array with a column per arm
    block : float | None, optional
        None to draw every reward by itself; else the mean length of the blocks that are drawn, which keeps what rewards
        owe to those before them (see :class:`BlockBootstrap`)
    jointly : bool, optional
        draw the same rows for all arms, which keeps what columns owe to each other
    names : Sequence[str] | None, optional
        of the arms; default those of the columns

    Examples
    --------
    >>> import numpy as np
    >>> import sharpe_bandits as sb
    >>> table = np.array([[0.01, 0.0], [-0.02, 0.01], [0.03, 0.02], [0.0, -0.01]])
    >>> bandit = sb.bootstrap(table, block=2, names=["A", "B"])
    >>> bandit.names
    ('A', 'B')
    """
    if names is None:
        # an Arrow table's "columns" are its data
        known = (getattr(table, what, None) for what in ("names", "column_names", "columns"))
        named = next((found for found in known if found is not None), None)
        names = None if named is None else [str(name) for name in named]
    if isinstance(table, (str, os.PathLike)):
        raise InvalidInputError(f"read {table!r} first: sb.bootstrap(sb.read_returns({table!r}, kind=..., ...))")
    try:
        values = np.asarray(table.values if hasattr(table, "values") else table, float)
    except Exception as error:  # a table may fail in any way
        raise InvalidInputError(
            f"a table must hold numbers alone ({error}); sb.read_returns reads tables with dates, gaps and text"
        ) from None
    if values.ndim == 2 and not np.isfinite(values).all():
        row, column = (int(k) for k in np.argwhere(~np.isfinite(values))[0])
        name = repr(names[column]) if names is not None else column
        raise InvalidInputError(
            f"column {name}, row {row + 1} is {values[row, column]}; drop or fill it, or let sb.read_returns do so"
        )
    columns = numbers("table", values, 2).T
    if block is None and not jointly:
        return Bandit([Empirical(column) for column in columns], names)
    return Bandit([BlockBootstrap(column, 1 if block is None else block) for column in columns], names, jointly=jointly)


def _names(given: Any) -> tuple[str, ...]:
    try:
        return tuple(map(str, given))
    except Exception:
        raise InvalidInputError(f"names must be a list of names, got {shown(given)}") from None


def as_arm(thing: Any) -> Arm:
    """``thing`` if it is an arm, or the arm of a frozen scipy.stats distribution."""
    if isinstance(thing, Arm):
        return thing
    if is_frozen(thing):
        return Scipy(thing)
    raise InvalidInputError(
        f"an arm such as Uniform(0, 1) or a frozen scipy.stats distribution is needed, got {shown(thing)}"
    )


def as_environment(thing: Any) -> Environment:
    """``thing`` if it can be played on; a list of arms becomes a :class:`Bandit`."""
    if isinstance(thing, Environment):
        return thing
    if isinstance(thing, (list, tuple)):
        return Bandit(thing)
    raise InvalidInputError(f"a Bandit, Tape, RandomBandit or SwitchingBandit is needed, got {shown(thing)}")


def _listed(arms: UniformArms | list[Arm]) -> list[Arm]:
    if isinstance(arms, list):
        return arms
    raise InvalidInputError(
        "the draw of a RandomBandit must return UniformArms in all runs or a list of arms in all runs"
    )


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
