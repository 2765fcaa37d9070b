"""Policies that play the arm with the largest index."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...arms.environment import stack
from ...arms.uniform import Constant
from ...call_tree import mentions, reads_local, spreads_nan, substituted
from ...errors import InvalidInputError, SharpeBanditsError
from ...kernels import delayed, formulas, holdings, lazy, round_by_round, side_by_side, statistics
from ...kernels.game import LANES, LOOKAHEAD, NOT_A_NUMBER, TURNS, Game
from ...kernels.rewards import ArmTable
from ...kernels.statistics import MAX_TABLE, STATISTICS, Keeping, keeping
from ...kernels.streams import gamma, gamma_at_once, normal, root_growth, root_growth_at_once, uniform
from ...objectives import Mean
from ...policies.base import EVERYTHING, IndexPolicy, Parts, Policy
from ..compiler import check_formula, specialise
from .base import SOURCES, Family, check_record, outputs_of, rewards_of, source_of

if TYPE_CHECKING:
    from ..spec import Chunk, Spec

#: The first runs of a chunk show whether being lazy pays. In units of what it costs to look at one arm side by side: a
#: change of lead costs the lazy kernel TURN_COST + K, a round costs the other kernel ROUND_COST + K.
PROBE, TURN_COST, ROUND_COST = 8, 90, 3
#: In the same units: a spec of less work than this stays with the lazy kernel even where that does not pay, since
#: compiling another one would take far longer.
SMALL = 2**22
#: Few runs are played arms abreast, not runs abreast, if they look at so many arms in so many rounds that it is worth
#: compiling a kernel of its own.
LONG = 2**20

#: Fields of an arm's record that the lazy kernel does not keep.
_NOT_LAZY = {
    "key", "round_key", "lead", "standard_normal",
    *(field for statistic in STATISTICS if statistic.cells or statistic.random for field in statistic.fields),
}  # fmt: skip
#: Fields of an arm's record that differ from run to run even if rewards do not.
_RANDOM = {
    "key", "round_key", "standard_normal",
    *(field for statistic in STATISTICS if statistic.random for field in statistic.fields),
}  # fmt: skip


class Kernels(NamedTuple):
    """Compiled kernels (see :func:`sharpe_bandits.engine.compiler.specialise`) that can play a spec."""

    one_by_one: Any = None
    lazy: Any = None
    side_by_side: Any = None


class IndexFamily(Family):
    """The adapter of index policies, those that forget included."""

    def check(self, spec: Spec) -> None:
        super().check(spec)
        if spec.is_late and spec.feedback == "full":
            raise InvalidInputError(
                'delay and batch say when the reward of the arm played is seen; leave them out with feedback="full"'
            )
        check_index(_policy(spec), spec.horizon, spec.environment.lowest)

    def kernels(self, spec: Spec) -> Kernels:
        policy = _policy(spec)
        bindings: dict[Any, Any] = {
            formulas.value: (policy.goal or Mean()).formula,
            formulas.by_round: formulas.answer(spec.environment.clock == "rounds"),
            **policy_bindings(policy, spec.horizon),
            **SOURCES[spec.source],
        }
        if spec.is_late:
            _check_auto(spec)
            return Kernels(one_by_one=specialise(delayed.delayed, bindings))
        found = Kernels(lazy=specialise(lazy.lazy, bindings) if is_lazy(spec) else None)
        bindings |= _kept_parts(policy)
        one_by_one = specialise(round_by_round.round_by_round, {**bindings, **_round_by_round(spec)})
        if policy.memory != EVERYTHING or spec.feedback == "full":
            _check_auto(spec)
            return Kernels(one_by_one)
        return found._replace(one_by_one=one_by_one, side_by_side=specialise(side_by_side.side_by_side, bindings))

    def play(self, spec: Spec, chunk: Chunk) -> None:
        table = rewards_of(spec, chunk.first, chunk.runs)
        kernels: Kernels = spec.kernels
        runs, arms = chunk.runs, spec.environment.K
        if kernels.side_by_side is None or spec.kernel == "one by one":
            _play(spec, chunk, table, kernels.one_by_one, 0, runs)
        else:
            probe = runs if spec.kernel == "lazy" else min(runs, PROBE)
            played, turns = 0, 0
            if kernels.lazy is not None:
                turns = _play(spec, chunk, table, kernels.lazy, 0, probe)
                played = probe
            # All make the same choices, so that which of them plays is a matter of speed alone.
            if played < runs:
                left = runs - played
                round_cost = ROUND_COST + arms
                pays = turns * (TURN_COST + arms) < played * spec.horizon * round_cost
                pays = pays or spec.runs * spec.horizon * round_cost < SMALL
                few = spec.horizon * arms >= LONG and 2 * left < LANES  # runs abreast cost as much as LANES of them
                other = kernels.one_by_one if few and spec.kernel == "auto" else kernels.side_by_side
                _play(spec, chunk, table, kernels.lazy if pays and kernels.lazy is not None else other, played, runs)
        if spec.policy.goal is None:
            chunk.recommended[:, 0] = chunk.final.argmax(axis=1)

    def hold(
        self, policy: Policy, values: np.ndarray, costs: np.ndarray, terms: Any, places: int, seed: int, run: int
    ) -> np.ndarray:
        assert isinstance(policy, IndexPolicy)
        rounds, arms = values.shape
        window, discount = policy.memory
        memory = round_by_round.Memory(min(window, rounds), discount, policy.least_pilot)
        held = np.full((rounds, places), -1, np.int64)
        kernel = specialise(holdings.hold, policy_bindings(policy, rounds))
        try:
            odd = kernel(
                np.ascontiguousarray(values), costs, terms, memory, policy.pilot(rounds, arms), np.uint64(seed), run,
                policy.arguments(rounds), held,
            )  # fmt: skip
        except Exception as error:
            raise index_failed(policy, error) from None
        if odd >= 0:
            raise InvalidInputError(f"the index of {policy.name} is not a number for arm {odd} in run {run}")
        return held

    def cost(self, spec: Spec) -> float:
        return 6.0 if is_lazy(spec) else 2.0 + 12.0 * spec.environment.K

    def is_random(self, policy: Policy) -> bool:
        assert isinstance(policy, IndexPolicy)
        return any(_RANDOM & mentions(formula) for formula in (policy.formula, policy.score) if formula is not None)


def _policy(spec: Spec) -> IndexPolicy:
    assert isinstance(spec.policy, IndexPolicy)
    return spec.policy


def table_size(horizon: int) -> int:
    """Entries that a table by rounds or pulls needs for a game: kernels look some rounds ahead."""
    return horizon + 2 + LOOKAHEAD


def tables_for(horizon: int) -> statistics.Tables:
    """Tables for a game, as far as they go."""
    return _tables(min(table_size(horizon), MAX_TABLE))


@lru_cache(maxsize=4)
def _tables(size: int) -> statistics.Tables:
    return statistics.tables(size)


def _play(spec: Spec, chunk: Chunk, table: ArmTable, kernel: Any, begin: int, end: int) -> int:
    """Play some runs of a chunk; gives how often a lazy kernel had to look at all arms."""
    policy, goal = _policy(spec), spec.policy.goal or Mean()
    game = Game(chunk.first + begin, end - begin, spec.horizon, policy.pilot(spec.horizon, spec.environment.K))
    rewards = source_of(spec, table, begin, end)
    out = outputs_of(spec, chunk, begin, end)
    arguments = (policy.arguments(spec.horizon), goal.arguments(), out)
    try:
        if kernel is spec.kernels.one_by_one:
            window, discount = policy.memory
            memory = round_by_round.Memory(min(window, spec.horizon), discount, policy.least_pilot)
            if spec.is_late:
                kernel(game, memory, _late(spec), rewards, *arguments)
            else:
                kernel(game, memory, rewards, tables_for(spec.horizon), *arguments)
        else:
            kernel(game, rewards, tables_for(spec.horizon), *arguments)
    except Exception as error:
        raise index_failed(policy, error) from None
    if out.status[0] == NOT_A_NUMBER:
        run, arm, t, pulls = (int(v) for v in out.status[1:5])
        check_record(spec, arm, pulls)
        raise InvalidInputError(
            f"the index of {policy.name} is not a number for arm {arm} after {t} rounds of run {run}; "
            "it must be a number for every record (infinity is allowed); if rewards are beyond 1e75, "
            "fourth powers overflow: scale them down"
        )
    return int(out.status[TURNS])


def _check_auto(spec: Spec) -> None:
    if spec.kernel != "auto":
        raise InvalidInputError(
            f"the {spec.kernel} kernel does not play policies that forget, full feedback, or late rewards"
        )


def _late(spec: Spec) -> delayed.Late:
    """When rewards come in, as the kernel takes it."""
    fixed = spec.delay if isinstance(spec.delay, int) else -1
    drawn = Constant(0.0) if isinstance(spec.delay, int) else spec.delay
    counted = 0.0 if spec.family.is_random(spec.policy) else 1.0
    return delayed.Late(fixed, stack([[drawn.draws()]]), spec.batch_rounds, counted)


def index_failed(policy: Policy, error: Exception) -> Exception:
    """The error for a user's index that reads what a table does not have, or raises something."""
    if isinstance(error, SharpeBanditsError):
        return error
    if isinstance(error, IndexError):
        return InvalidInputError(
            f"the index of {policy.name} reads past the end of a table; give tables an entry for all pulls or rounds "
            "up to the horizon, or limit the place as in table[min(int(arm.pulls), table.size - 1)]"
        )
    return InvalidInputError(
        f"the index of {policy.name} raised {type(error).__name__}: {error}; it must give a number for every record "
        "(infinity is allowed)"
    )


def policy_bindings(policy: IndexPolicy, horizon: int | None) -> dict[Any, Any]:
    """What a kernel's placeholders stand for when it plays a policy (None: for ever), but for the objective."""
    return {
        formulas.index: policy.formula,
        formulas.score: policy.score or formulas.no_score,
        formulas.long_game: formulas.answer(horizon is None or table_size(horizon) > MAX_TABLE),
        formulas.keeps_lead: formulas.answer(policy.score is not None),
        formulas.draws_normals: formulas.answer("standard_normal" in mentions(policy.formula)),
        **kept_by(policy).bindings,
    }


def _kept_parts(policy: IndexPolicy) -> dict[Any, Any]:
    """What placeholders stand for in kernels that keep parts of an index, if it has any."""
    parts = policy.parts or Parts(formulas.no_parts, {})
    whole = substituted(policy.formula, parts.kept)
    once = at_once(whole)
    return {
        formulas.index_at_once: once,
        formulas.tries_again: formulas.answer(once is not whole),
        formulas.score: substituted(policy.score or formulas.no_score, parts.kept),
        formulas.keeps_parts: formulas.answer(policy.parts is not None),
        formulas.index_parts: parts.formula,
        formulas.stands_still: formulas.answer(_stands_still(policy.formula)),
    }


def _round_by_round(spec: Spec) -> dict[Any, Any]:
    """What placeholders stand for in the kernel that plays round by round: what is forgotten, and what is seen."""
    window, discount = _policy(spec).memory
    return {
        formulas.has_window: formulas.answer(window > 0),
        formulas.discounts: formulas.answer(discount < 1.0),
        formulas.sees_all: formulas.answer(spec.feedback == "full"),
    }


def _stands_still(formula: Callable[..., Any]) -> bool:
    """Whether an index changes with the arm's rewards and the confidence radius alone."""
    by_rewards = {"last", *_NOT_LAZY}.isdisjoint(mentions(formula))
    return by_rewards and not reads_local(formula, formula.__code__.co_varnames[1])


def kept_by(policy: IndexPolicy) -> Keeping:
    """What is kept of each arm for a policy, beyond what is kept for all of them."""
    return keeping(mentions(policy.formula) | mentions(policy.score or formulas.no_score))


def at_once(formula: Callable[..., Any]) -> Callable[..., Any]:
    """A formula whose rejection samplers try but once, where that cannot go unnoticed, and W-TS's with the growth of
    little alone.
    """
    if spreads_nan(formula, (gamma, normal, uniform), statistics.ArmRecord._fields):
        return substituted(formula, {gamma: gamma_at_once})
    return substituted(formula, {root_growth: root_growth_at_once})


def is_lazy(spec: Spec) -> bool:
    """Whether the lazy kernel plays this spec."""
    policy = _policy(spec)
    possible = not (_NOT_LAZY & mentions(policy.formula)) and policy.nondecreasing(spec.environment.lowest)
    possible = possible and spec.environment.clock == "pulls" and policy.memory == EVERYTHING
    if spec.kernel == "lazy" and not possible:
        raise InvalidInputError(
            f"{policy.name} cannot be played by the lazy kernel here: its index may fall as rounds pass, or rewards "
            "are counted by rounds"
        )
    return possible and (spec.kernel == "lazy" or (spec.kernel == "auto" and policy.long_leads))


def check_index(policy: IndexPolicy, horizon: int, lowest: float) -> None:
    """Compile a user's index on its own and try its promise never to fall on sample records."""
    if not policy.users_own:
        return
    arguments = policy.arguments(horizon)
    check_formula(policy.formula, arguments, policy.name)
    if not policy.declared_nondecreasing:
        return
    falls = specialise(lazy.first_decrease, policy_bindings(policy, horizon))
    before, after, pulls, mean, variance = falls(arguments, lowest < 0)
    if before > 0:
        raise InvalidInputError(
            f"{policy.name} was declared nondecreasing=True, but its index falls between t = {before} and t = {after} "
            f"for an arm with pulls={pulls:g}, mean={mean:g}, variance={variance:g}; declare nondecreasing=False"
        )
