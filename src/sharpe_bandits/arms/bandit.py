"""Bandits with fixed arms, and bandits whose arms change at given rounds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, get_args

import numpy as np

from .._support.display import html_table
from .._support.names import check_name
from .._support.validation import list_of, one_of, true_or_false, whole
from ..errors import InvalidInputError, shown
from ..play.rewards import ArmTable
from .base import Arm
from .discrete import Empirical, numbers
from .environment import Clock, Environment, as_arm, stack
from .processes import BlockBootstrap

#: Maximum number of arms listed in the ``repr`` of a bandit.
_SHOWN = 50


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
        ("rounds"); the default is "rounds" if any arm is serially dependent
    jointly : bool, optional
        resample the same blocks for all arms, so that rows of a table stay together (BlockBootstrap arms only)

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> bandit = sb.Bandit([sb.Uniform(0, 1), sb.Bernoulli(0.4)], names=["A", "B"])
    >>> bandit.names
    ('A', 'B')
    >>> sb.objectives.gaps_of(bandit.true_values(sb.RSSR(L=0.1), 0, 1)).round(3)
    array([[0.   , 0.893]])
    """

    def __init__(
        self,
        arms: Iterable[Any],
        names: Sequence[str] | None = None,
        clock: Clock | None = None,
        jointly: bool = False,
    ) -> None:
        candidates = list_of("arms", arms)
        if len(candidates) < 2:
            raise InvalidInputError(f"a bandit needs at least 2 arms, got {len(candidates)}: nothing to choose among")
        self.arms: tuple[Arm, ...] = tuple(as_arm(a) for a in candidates)
        self.K = len(self.arms)
        self.arm_kinds = ", ".join(dict.fromkeys(type(arm).__name__ for arm in self.arms))
        given = range(self.K) if names is None else list_of("names", names)
        self.names = tuple(check_name("the name of an arm", str(name)) for name in given)
        if len(self.names) != self.K or len(set(self.names)) != self.K:
            raise InvalidInputError(f"names must be {self.K} different names, got {shown(list(self.names))}")
        _ = [arm.checked_moments for arm in self.arms]
        dependent = any(arm.serially_dependent for arm in self.arms)
        self.clock = (
            one_of("clock", clock, get_args(Clock)) if clock is not None else "rounds" if dependent else "pulls"
        )
        self.pregenerated = dependent or self.clock == "rounds"
        self.jointly = true_or_false("jointly", jointly)
        blocks = {(len(arm.values), arm.block) for arm in self.arms if isinstance(arm, BlockBootstrap)}
        if jointly and not (all(isinstance(a, BlockBootstrap) for a in self.arms) and len(blocks) == 1):
            raise InvalidInputError(
                "jointly=True needs BlockBootstrap arms, all with records of one length and the same block, got "
                f"{self!r}; sb.arms.bootstrap(table, block=..., jointly=True) makes them"
            )
        if jointly and self.clock != "rounds":
            raise InvalidInputError('jointly=True needs clock="rounds": arms that wait do not move together')

    def __repr__(self) -> str:
        more = [f"and {self.K - _SHOWN:,} more"] if self.K > _SHOWN else []
        return f"Bandit([{', '.join([*map(repr, self.arms[:_SHOWN]), *more])}])"

    def _repr_html_(self) -> str:
        rows: list[tuple[Any, ...]] = [
            (name, repr(arm), arm.mean, arm.variance) for name, arm in zip(self.names, self.arms, strict=True)
        ]
        more = [(f"and {self.K - _SHOWN:,} more",)] if self.K > _SHOWN else []
        return html_table(("arm", "rewards", "mean", "variance"), rows[:_SHOWN] + more)

    @property
    def means(self) -> np.ndarray:
        """True means."""
        return np.array([a.mean for a in self.arms])

    @property
    def variances(self) -> np.ndarray:
        """True variances."""
        return np.array([a.variance for a in self.arms])

    @cached_property
    def _table(self) -> ArmTable:
        return stack([[a.draws() for a in self.arms]])

    def table(self, seed: int, runs: Iterable[int]) -> ArmTable:
        return self._table

    def rows_of_arms(self, seed: int, runs: int) -> list[list[Arm]]:
        return [list(self.arms)]


class SwitchingBandit(Environment):
    """A piecewise stationary bandit: it switches from one bandit to the next after given rounds.

    Regret is measured against the arm that is best at the time, the recommendation against the last one.

    Parameters
    ----------
    bandits : Sequence[Any]
        the bandits, in order; at least two, with the same number of arms
    after : Sequence[int]
        the rounds after which it switches, increasing; one fewer than bandits

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
        self.bandits = tuple(b if isinstance(b, Bandit) else Bandit(b) for b in list_of("bandits", bandits))
        self.after = self.switches = tuple(whole("after", t, 1) for t in list_of("after", after))
        if not 1 < len(self.bandits) == len(self.after) + 1 or sorted(set(self.after)) != list(self.after):
            raise InvalidInputError(
                "a bandit that switches needs at least two bandits and one round fewer to switch after, in increasing "
                f"order; got {len(self.bandits)} bandits and after={shown(list(self.after))}"
            )
        counts = [b.K for b in self.bandits]
        if len(set(counts)) > 1:
            raise InvalidInputError(f"all bandits must have the same number of arms, got {shown(counts)}")
        if any(b.jointly for b in self.bandits):
            raise InvalidInputError("bandits with jointly=True cannot be switched between; leave it out")
        self.K, self.names = counts[0], self.bandits[0].names
        self.arm_kinds = f"{self.bandits[0].arm_kinds}, switching"

    def __repr__(self) -> str:
        return f"SwitchingBandit({len(self.bandits)} bandits of {self.K} arms, after={list(self.switches)})"

    def pieces(self, seed: int, runs: Iterable[int], rounds: int) -> list[tuple[int, int, ArmTable]]:
        starts, ends = (0, *self.switches), (*self.switches, rounds)
        return [(a, z, b.table(seed, runs)) for a, z, b in zip(starts, ends, self.bandits, strict=True)]

    def rows_of_arms(self, seed: int, runs: int) -> list[list[Arm]]:
        return [list(b.arms) for b in self.bandits]

    def check_horizon(self, horizon: int) -> None:
        if horizon <= self.switches[-1]:
            raise InvalidInputError(
                f"the arms change after round {self.switches[-1]}, but the horizon is {horizon}; lengthen it"
            )


def bootstrap(
    table: Any, *, block: float | None = None, jointly: bool = False, names: Sequence[str] | None = None
) -> Bandit:
    """A bandit whose arms are the columns of a table, resampled.

    Parameters
    ----------
    table : Any
        returns read by :func:`~sharpe_bandits.read_returns`, a frame, or an array with a column per arm
    block : float | None, optional
        None to resample rewards independently; else the mean length of resampled blocks, which preserve serial
        dependence (see :class:`BlockBootstrap`)
    jointly : bool, optional
        resample the same rows for all arms, which preserves the dependence between columns
    names : Sequence[str] | None, optional
        names of the arms; by default those of the columns

    Examples
    --------
    >>> import numpy as np
    >>> import sharpe_bandits as sb
    >>> table = np.array([[0.01, 0.0], [-0.02, 0.01], [0.03, 0.02], [0.0, -0.01]])
    >>> bandit = sb.arms.bootstrap(table, block=2, names=["A", "B"])
    >>> bandit.names
    ('A', 'B')
    """
    try:
        columns = numbers("table", getattr(table, "values", table), 2).T
    except InvalidInputError as error:
        raise InvalidInputError(f"{error}; sb.read_returns reads files, and tables with dates, gaps and text") from None
    if names is None:
        # an Arrow table's "columns" are its data
        attributes = (getattr(table, what, None) for what in ("names", "column_names", "columns"))
        names = next(([str(name) for name in names] for names in attributes if names is not None), None)
    if block is None and not jointly:
        return Bandit([Empirical(column) for column in columns], names)
    return Bandit([BlockBootstrap(column, 1 if block is None else block) for column in columns], names, jointly=jointly)


def as_environment(thing: Any) -> Environment:
    """``thing`` if it is an environment; a list of arms becomes a :class:`Bandit`."""
    if isinstance(thing, Environment):
        return thing
    if isinstance(thing, (list, tuple)):
        return Bandit(thing)
    raise InvalidInputError(
        f"a Bandit, Tape, RandomBandit, SwitchingBandit or FactorBandit is needed, got {shown(thing)}"
    )
