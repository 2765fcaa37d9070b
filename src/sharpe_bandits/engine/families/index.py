"""Policies that play the arm with the largest index."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...arms.environment import stack
from ...arms.uniform import Constant
from ...call_tree import mentions, substituted
from ...errors import InvalidInputError
from ...kernels import formulas, lazy, reference, side_by_side, statistics
from ...kernels.choose import Holding
from ...kernels.game import LANES, LOOKAHEAD, N_COMPARISONS, NOT_A_NUMBER, Game
from ...kernels.rewards import TAPE, ArmTable, Rewards
from ...kernels.state import Forgetting
from ...kernels.statistics import MAX_TABLE, STATISTICS, StatisticsLayout, layout_for
from ...objectives import Mean
from ...policies.base import NO_FORGETTING, IndexPolicy, Policy
from ..compiler import check_formula, is_raised_by_formula, specialise
from .base import SOURCES, Family, check_record, one_run_outputs, outputs_of, rewards_of, source_of

if TYPE_CHECKING:
    from ..spec import Chunk, Spec

#: Costs in units of the side-by-side kernel's cost of one arm. The first PROBE runs of a chunk show whether the lazy
#: kernel pays: a round costs the side-by-side kernel ROUND + K, a comparison of arms costs the lazy one COMPARISON + K.
PROBE, ROUND, COMPARISON = 8, 3, 90
#: In the same units: a spec with less work than this stays with the lazy kernel even if that does not pay, since
#: compiling another one would take far longer.
MIN_WORK_TO_COMPILE_ANOTHER = 2**22
#: A few runs are played one after the other instead of side by side if rounds times arms is at least this much.
MIN_ROUNDS_TIMES_ARMS = 2**20

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
#: No constraints on what is held.
_NO_HOLDING = Holding(0, 1, 0, False, np.zeros(0))


class Kernels(NamedTuple):
    """Compiled kernels (see :func:`sharpe_bandits.engine.compiler.specialise`) that can play a spec."""

    reference: Any = None
    lazy: Any = None
    side_by_side: Any = None


class IndexFamily(Family):
    """The adapter of index policies, including those that forget."""

    def check(self, spec: Spec) -> None:
        super().check(spec)
        if spec.has_delayed_rewards and spec.feedback == "full":
            raise InvalidInputError(
                'delay and batch say when the reward of the arm played is seen; leave them out with feedback="full"'
            )
        check_index(_policy(spec), spec.horizon, spec.environment.lowest)

    def kernels(self, spec: Spec) -> Kernels:
        policy = _policy(spec)
        bindings: dict[Any, Any] = {
            formulas.value: (policy.goal or Mean()).formula,
            formulas.by_round: formulas.constant(spec.environment.clock == "rounds"),
            **policy_bindings(policy, spec.horizon),
            **SOURCES[spec.source],
        }
        one_by_one = specialise(reference.reference, bindings)
        if not is_plain(spec):
            if spec.kernel not in ("auto", "reference"):
                raise InvalidInputError(
                    f"the {spec.kernel} kernel does not play policies that forget, full feedback, or late rewards"
                )
            return Kernels(one_by_one)
        return Kernels(
            one_by_one,
            specialise(lazy.lazy, bindings) if is_lazy(spec) else None,
            specialise(side_by_side.side_by_side, {**bindings, **_vectorised(policy)}),
        )

    def play(self, spec: Spec, chunk: Chunk) -> None:
        table = rewards_of(spec, chunk.first, chunk.runs)
        kernels: Kernels = spec.kernels
        runs, arms = chunk.runs, spec.environment.K
        if kernels.side_by_side is None or spec.kernel == "reference":
            _play(spec, chunk, table, kernels.reference, 0, runs)
        else:
            probe = runs if spec.kernel == "lazy" else min(runs, PROBE)
            played, comparisons = 0, 0
            if kernels.lazy is not None:
                comparisons = _play(spec, chunk, table, kernels.lazy, 0, probe)
                played = probe
            # All kernels make the same choices, so the selection is only a matter of speed.
            if played < runs:
                left = runs - played
                pays = comparisons * (COMPARISON + arms) < played * spec.horizon * (ROUND + arms)
                pays = pays or spec.runs * spec.horizon * (ROUND + arms) < MIN_WORK_TO_COMPILE_ANOTHER
                few = spec.horizon * arms >= MIN_ROUNDS_TIMES_ARMS and 2 * left < LANES
                other = kernels.reference if few and spec.kernel == "auto" else kernels.side_by_side
                _play(spec, chunk, table, kernels.lazy if pays and kernels.lazy is not None else other, played, runs)
        if spec.policy.goal is None:
            chunk.recommended[:, 0] = chunk.final.argmax(axis=1)

    def hold(self, policy: Policy, values: np.ndarray, holding: Holding, full: bool, seed: int, run: int) -> np.ndarray:
        assert isinstance(policy, IndexPolicy)
        rounds, arms = values.shape
        bindings = {
            formulas.value: (policy.goal or Mean()).formula,
            formulas.by_round: formulas.always,
            **policy_bindings(policy, rounds),
        }
        portfolio = np.full((rounds, holding.places), -1, np.int64)
        outputs = one_run_outputs(rounds, arms)
        call_kernel(
            policy, specialise(reference.reference, bindings),
            Game(run, 1, rounds, policy.pilot(rounds, arms)), forgetting(policy, rounds),
            reference.Feedback(full, 0, _NO_DELAYS, 1, 0.0), holding,
            Rewards(tape(values), 0, np.uint64(seed)), policy.arguments(rounds), (policy.goal or Mean()).arguments(),
            outputs, portfolio,
        )  # fmt: skip
        if outputs.status[0] == NOT_A_NUMBER:
            raise InvalidInputError(
                f"the index of {policy.name} is not a number for arm {outputs.status[2]} in run {run}"
            )
        return portfolio

    def cost(self, spec: Spec) -> float:
        return 6.0 if is_plain(spec) and is_lazy(spec) else 2.0 + 12.0 * spec.environment.K

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
    """Play some runs of a chunk; returns how often the lazy kernel had to compare arms."""
    policy, goal = _policy(spec), spec.policy.goal or Mean()
    game = Game(chunk.first + begin, end - begin, spec.horizon, policy.pilot(spec.horizon, spec.environment.K))
    rewards = source_of(spec, table, begin, end)
    out = outputs_of(spec, chunk, begin, end)
    arguments = (policy.arguments(spec.horizon), goal.arguments(), out)
    if kernel is spec.kernels.reference:
        rule, no_portfolio = forgetting(policy, spec.horizon), np.zeros((0, 0), np.int64)
        call_kernel(policy, kernel, game, rule, _feedback(spec), _NO_HOLDING, rewards, *arguments, no_portfolio)
    else:
        call_kernel(policy, kernel, game, rewards, tables_for(spec.horizon), *arguments)
    if out.status[0] == NOT_A_NUMBER:
        run, arm, t, pulls = (int(v) for v in out.status[1:5])
        check_record(spec, arm, pulls)
        raise InvalidInputError(
            f"the index of {policy.name} is not a number for arm {arm} after {t} rounds of run {run}; "
            "it must be a number for every record (infinity is allowed); if rewards are beyond 1e75, "
            "fourth powers overflow: scale them down"
        )
    return int(out.status[N_COMPARISONS])


def call_kernel(policy: Policy, kernel: Any, *arguments: Any) -> Any:
    """Call a kernel; what the user's formula raises is reported as the formula's, anything else passes."""
    try:
        return kernel(*arguments)
    except Exception as error:
        if is_raised_by_formula(error):
            raise index_failed(policy, error) from error
        raise


def is_plain(spec: Spec) -> bool:
    """Whether a spec is the plain game that the fast kernels play: nothing is forgotten, and the reward of the arm
    played is seen before the next round.
    """
    return not spec.has_delayed_rewards and spec.feedback == "bandit" and _policy(spec).forgetting == NO_FORGETTING


def forgetting(policy: IndexPolicy, horizon: int) -> Forgetting:
    """How a policy forgets, as input of a kernel."""
    window, discount = policy.forgetting
    return Forgetting(min(window, horizon), discount, policy.least_pilot)


def _feedback(spec: Spec) -> reference.Feedback:
    """Which rewards are seen and when, as input of a kernel."""
    delay, delays = (spec.delay, _NO_DELAYS) if isinstance(spec.delay, int) else (-1, stack([[spec.delay.draws()]]))
    counted = 0.0 if spec.family.is_random(spec.policy) else 1.0
    return reference.Feedback(spec.feedback == "full", delay, delays, spec.batch_rounds, counted)


_NO_DELAYS = stack([[Constant(0.0).draws()]])


def tape(values: np.ndarray) -> ArmTable:
    """Recorded rewards (rounds, arms) as input of a kernel."""
    rounds, arms = values.shape
    kind = np.full((1, arms), TAPE, np.int64)
    none = np.zeros((1, arms))
    start = np.arange(0, rounds * arms, rounds).reshape(1, arms)
    return ArmTable(kind, none, none, start, np.full((1, arms), rounds), values.T.ravel())


def index_failed(policy: Policy, error: Exception) -> Exception:
    """The error for a user's index that reads past the end of a table or raises an exception."""
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
        formulas.long_game: formulas.constant(horizon is None or table_size(horizon) > MAX_TABLE),
        formulas.keeps_lead: formulas.constant(policy.score is not None),
        formulas.draws_normals: formulas.constant("standard_normal" in mentions(policy.formula)),
        **layout_of(policy).bindings,
    }


def _vectorised(policy: IndexPolicy) -> dict[Any, Any]:
    """Bindings for the side-by-side kernel: a variant of the index that the compiler can vectorise over runs."""
    variant = substituted(policy.formula, policy.branch_free)
    loops = layout_of(policy).bindings[formulas.needs_loop] is not formulas.no_loop
    return {
        formulas.index_branch_free: variant,
        formulas.has_exact_fallback: formulas.constant(variant is not policy.formula or loops),
    }


def layout_of(policy: IndexPolicy) -> StatisticsLayout:
    """The statistics that are kept of each arm for a policy, beyond those kept for every policy."""
    return layout_for(mentions(policy.formula) | mentions(policy.score or formulas.no_score))


def is_lazy(spec: Spec) -> bool:
    """Whether the lazy kernel plays this spec, which is the plain game."""
    policy = _policy(spec)
    possible = (
        policy.score is None
        and not (_NOT_LAZY & mentions(policy.formula))
        and policy.nondecreasing(spec.environment.lowest)
        and spec.environment.clock == "pulls"
        and is_plain(spec)
    )
    if spec.kernel == "lazy" and not possible:
        raise InvalidInputError(
            f"{policy.name} cannot be played by the lazy kernel here: its index may decrease with t or depends on the "
            "other arms, or rewards are indexed by round"
        )
    return possible and spec.kernel in ("lazy", "auto")


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
