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
from ...kernels import delayed, formulas, holdings, lazy, leading, round_by_round, side_by_side, statistics
from ...kernels.game import LANES, LOOKAHEAD, NOT_A_NUMBER, TURNS, Game
from ...kernels.rewards import ArmTable
from ...kernels.statistics import MAX_TABLE, STATISTICS, Keeping, keeping
from ...kernels.streams import gamma, gamma_branch_free, normal, root_growth, root_growth_branch_free, uniform
from ...objectives import Mean
from ...policies.base import EVERYTHING, IndexPolicy, Parts, Policy
from ..compiler import check_formula, specialise
from .base import SOURCES, Family, check_record, outputs_of, rewards_of, source_of

if TYPE_CHECKING:
    from ..spec import Chunk, Spec

#: The first PROBE runs of a chunk show whether a lazy kernel pays. In units of the cost of one arm in the side-by-side
#: kernel: a round costs that kernel ROUND_COST + K; a change of lead costs the lazy kernel TURN_COST + K, the one that
#: follows the lead, which evaluates all arms twice, LEAD_COST + 2 K.
PROBE, ROUND_COST, TURN_COST, LEAD_COST = 8, 3, 90, 60
#: In the same units: a spec with less work than this stays with the lazy kernel even if that does not pay, since
#: compiling another one would take far longer.
SMALL = 2**22
#: A few runs are vectorised over arms instead of runs if rounds times arms is at least this much: it is then worth
#: compiling another kernel.
LONG = 2**20

#: Games of at least this many rounds are played in stretches where that is possible: it takes a kernel of its own.
STRETCHED = 2**16

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
    """The adapter of index policies, including those that forget."""

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
        found = Kernels(lazy=_lazy(policy, spec.horizon, bindings) if is_lazy(spec) else None)
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
            # All kernels make the same choices, so the selection is only a matter of speed.
            if played < runs:
                left = runs - played
                round_cost = ROUND_COST + arms
                turn_cost = TURN_COST + arms if _policy(spec).score is None else LEAD_COST + 2 * arms
                pays = turns * turn_cost < played * spec.horizon * round_cost
                pays = pays or spec.runs * spec.horizon * round_cost < SMALL
                few = spec.horizon * arms >= LONG and 2 * left < LANES  # they would cost as much as LANES runs
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
        by_rounds = is_lazy(spec) and _policy(spec).score is None  # following the lead gains little in short runs
        return 6.0 if by_rounds else 2.0 + 12.0 * spec.environment.K

    def is_random(self, policy: Policy) -> bool:
        assert isinstance(policy, IndexPolicy)
        return any(_RANDOM & mentions(formula) for formula in (policy.formula, policy.score) if formula is not None)


def _policy(spec: Spec) -> IndexPolicy:
    assert isinstance(spec.policy, IndexPolicy)
    return spec.policy


def table_size(horizon: int) -> int:
    """Number of entries that a table by rounds or pulls needs: kernels look some rounds ahead."""
    return horizon + 2 + LOOKAHEAD


def tables_for(horizon: int) -> statistics.Tables:
    """Tables for a game, up to their maximum size."""
    return _tables(min(table_size(horizon), MAX_TABLE))


@lru_cache(maxsize=4)
def _tables(size: int) -> statistics.Tables:
    return statistics.tables(size)


def _play(spec: Spec, chunk: Chunk, table: ArmTable, kernel: Any, begin: int, end: int) -> int:
    """Play some runs of a chunk; returns how often a lazy kernel had to compare arms."""
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
    """When rewards arrive, as input of the kernel."""
    fixed = spec.delay if isinstance(spec.delay, int) else -1
    drawn = Constant(0.0) if isinstance(spec.delay, int) else spec.delay
    counted = 0.0 if spec.family.is_random(spec.policy) else 1.0
    return delayed.Late(fixed, stack([[drawn.draws()]]), spec.batch_rounds, counted)


def index_failed(policy: Policy, error: Exception) -> Exception:
    """The error for a user's index that reads past the end of a table or raises an exception."""
    if isinstance(error, SharpeBanditsError):
        return error
    if isinstance(error, IndexError):
        return InvalidInputError(
            f"the index of {policy.name} reads past the end of a table; give tables an entry for all pulls or rounds "
            "up to the horizon, or limit the place as in table[min(int(arm.pulls), table.size - 1)]"
        )
    return InvalidInputError(
        f"the index of {policy.name} raised {type(error).__name__}: {error}; it must return a number for every record "
        "(infinity is allowed)"
    )


def policy_bindings(policy: IndexPolicy, horizon: int | None) -> dict[Any, Any]:
    """Bindings of a kernel's placeholders for a policy, except the objective; horizon None: without end."""
    return {
        formulas.index: policy.formula,
        formulas.score: policy.score or formulas.no_score,
        formulas.long_game: formulas.answer(horizon is None or table_size(horizon) > MAX_TABLE),
        formulas.keeps_lead: formulas.answer(policy.score is not None),
        formulas.draws_normals: formulas.answer("standard_normal" in mentions(policy.formula)),
        **kept_by(policy).bindings,
    }


def _kept_parts(policy: IndexPolicy) -> dict[Any, Any]:
    """Bindings for kernels that keep parts of an index, if it has any."""
    parts = policy.parts or Parts(formulas.no_parts, {})
    whole = substituted(policy.formula, parts.kept)
    without_branches = branch_free(whole)
    loops = kept_by(policy).bindings[formulas.needs_loop] is not formulas.no_loop
    return {
        formulas.index: whole,
        formulas.index_branch_free: without_branches,
        formulas.tries_again: formulas.answer(without_branches is not whole or loops),
        formulas.score: substituted(policy.score or formulas.no_score, parts.kept),
        formulas.keeps_parts: formulas.answer(policy.parts is not None),
        formulas.index_parts: parts.formula,
        formulas.stands_still: formulas.answer(_depends_on_rewards(policy.formula, "epsilon")),
    }


def _lazy(policy: IndexPolicy, horizon: int, bindings: dict[Any, Any]) -> Any:
    """The kernel that plays a policy lazily, by bounds some rounds ahead or by bounds for the least lead."""
    if policy.score is None:
        stretches = formulas.answer(policy.monotone_in_moments and horizon >= STRETCHED)
        return specialise(lazy.lazy, {**bindings, formulas.plays_stretches: stretches})
    return specialise(leading.leading, {**bindings, **_kept_parts(policy)})


def _round_by_round(spec: Spec) -> dict[Any, Any]:
    """Bindings for the kernel that plays round by round: what is forgotten, and what is seen."""
    window, discount = _policy(spec).memory
    return {
        formulas.has_window: formulas.answer(window > 0),
        formulas.discounts: formulas.answer(discount < 1.0),
        formulas.sees_all: formulas.answer(spec.feedback == "full"),
    }


def _depends_on_rewards(formula: Callable[..., Any], besides: str) -> bool:
    """Whether a formula depends only on the arm's rewards and one other field of its record."""
    others = {"epsilon", "last", *_NOT_LAZY} - {besides}
    return others.isdisjoint(mentions(formula)) and not reads_local(formula, formula.__code__.co_varnames[1])


def kept_by(policy: IndexPolicy) -> Keeping:
    """The statistics that are kept of each arm for a policy, beyond those kept for every policy."""
    return keeping(mentions(policy.formula) | mentions(policy.score or formulas.no_score))


def branch_free(formula: Callable[..., Any]) -> Callable[..., Any]:
    """A variant of a formula that can be vectorised and is NaN where it would need a branch.

    If every NaN reaches the result, gamma draws make a single rejection-sampling trial, with NaN for a rejection.
    Otherwise :func:`~sharpe_bandits.kernels.streams.root_growth` (used by W-TS) is computed only for small arguments.
    """
    if spreads_nan(formula, (gamma, normal, uniform), statistics.ArmRecord._fields):
        return substituted(formula, {gamma: gamma_branch_free})
    return substituted(formula, {root_growth: root_growth_branch_free})


def is_lazy(spec: Spec) -> bool:
    """Whether the lazy kernel plays this spec."""
    policy = _policy(spec)
    if policy.score is None:
        possible = not (_NOT_LAZY & mentions(policy.formula)) and policy.nondecreasing(spec.environment.lowest)
    else:
        by_lead = all(_depends_on_rewards(formula, "lead") for formula in (policy.formula, policy.score))
        possible = by_lead and policy.nonincreasing_in_lead
    possible = possible and spec.environment.clock == "pulls" and policy.memory == EVERYTHING
    if spec.kernel == "lazy" and not possible:
        raise InvalidInputError(
            f"{policy.name} cannot be played by the lazy kernel here: its index may decrease with t or depends on the "
            "other arms, or rewards are indexed by round"
        )
    return possible and (spec.kernel == "lazy" or (spec.kernel == "auto" and policy.long_leads))


def check_index(policy: IndexPolicy, horizon: int, lowest: float) -> None:
    """Compile a user's index on its own, and test on sample records that it is nondecreasing if declared so."""
    if not policy.users_own:
        return
    arguments = policy.arguments(horizon)
    check_formula(policy.formula, arguments, policy.name)
    if not policy.declared_nondecreasing:
        return
    first_decrease = specialise(lazy.first_decrease, policy_bindings(policy, horizon))
    before, after, pulls, mean, variance = first_decrease(arguments, lowest < 0)
    if before > 0:
        raise InvalidInputError(
            f"{policy.name} was declared nondecreasing=True, but its index decreases between t = {before} and t = "
            f"{after} for an arm with pulls={pulls:g}, mean={mean:g}, variance={variance:g}; declare "
            "nondecreasing=False"
        )
