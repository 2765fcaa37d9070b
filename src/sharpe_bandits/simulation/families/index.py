"""Policies that play the arm with the largest index."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, WeakSet

import numpy as np

from ..._support.call_tree import mentions, substituted
from ...arms.environment import stack
from ...arms.uniform import Constant
from ...errors import InvalidInputError
from ...objectives import Mean
from ...play import formulas
from ...play.allocation import Allocation
from ...play.choose import Holding
from ...play.game import LANES, Game, Outputs, Status
from ...play.rewards import Rewards
from ...play.state import Rule
from ...play.statistics import STATISTICS, StatisticsLayout, layout_for
from ...policies.base import NO_FORGETTING, IndexPolicy, Policy
from .. import reference, side_by_side
from ..compiler import check_formula, is_raised_by_formula, is_ready, specialise
from ..pointers import formulas_behind_pointers, index_target
from .base import Family, check_covariate, check_record, one_run_outputs, outputs_of, rewards_of, tapes

if TYPE_CHECKING:
    from ..spec import Chunk, Spec


#: The side-by-side kernel is compiled once a process was asked for this many runs times rounds of a formula. It takes
#: 1.7 s to compile, and saves 40 to 100 ns a round: it pays from 17 to 64 million rounds on, with 2 to 64 arms.
MIN_ROUNDS_TO_COMPILE = 2**25
_requested: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
#: Formulas that have raised exceptions. The faster kernels are not used for them any more: Numba does not free the
#: arrays of a kernel that raises.
_raising: WeakSet[Any] = WeakSet()

#: Fields of an arm's record that differ from run to run even if rewards do not.
_RANDOM = {
    "key", "round_key", "standard_normal",
    *(field for statistic in STATISTICS if statistic.random for field in statistic.fields),
}  # fmt: skip
#: No constraints on what is held.
_NO_HOLDING = Holding(0, 1, 0, False, np.zeros(0))
_NO_PORTFOLIO = np.zeros((0, 0), np.int64)


class Loop:
    """The reference kernel for a policy. It calls formulas by pointers: it is compiled once for all policies.

    ``flags``: the placeholders of the reference kernel that are true, for the kind of game.
    """

    def __init__(self, policy: IndexPolicy, horizon: int, *flags: Any) -> None:
        self.policy = policy
        self.formulas, self._bindings = formulas_behind_pointers(
            _vectorised(policy),
            policy.arguments(horizon),
            (policy.objective or Mean()).arguments(),
            not policy.users_own,
        )
        kinds = (formulas.late, formulas.shared, formulas.holds)
        bindings = {kind: formulas.constant(kind in flags) for kind in kinds}
        bindings[formulas.forgets] = formulas.constant(policy.forgetting != NO_FORGETTING)
        self.kernel = specialise(reference.reference, bindings)

    def play(self, *arguments: Any, out: Outputs, portfolio: np.ndarray = _NO_PORTFOLIO) -> None:
        """Play runs; ``arguments`` are those of :func:`~sharpe_bandits.simulation.reference.reference` before the
        formulas.
        """
        formulas = self.formulas.with_own_arguments()
        call_kernel(self.policy, self.kernel, *arguments, formulas, out, portfolio)
        status = Status(*out.status.tolist())
        if status.failed and formulas.failure:
            index = specialise(index_target, self._bindings)  # without a pointer, so that it raises the exception
            call_kernel(self.policy, index, formulas.failure, status.t, formulas.arguments)


class Kernels:
    """Kernels that can play a spec; each is made when first used (see :mod:`sharpe_bandits.simulation.compiler`)."""

    def __init__(self, spec: Spec) -> None:
        self._policy, self._horizon = _policy(spec), spec.horizon
        self._by_round = formulas.constant(spec.environment.clock == "rounds")
        self._flags = [formulas.late] * spec.has_delayed_rewards + [formulas.shared] * spec.has_rules

    @cached_property
    def reference(self) -> Loop:
        return Loop(self._policy, self._horizon, *self._flags)

    @cached_property
    def side_by_side(self) -> Any:
        bindings = {**_vectorised(self._policy), formulas.by_round: self._by_round}
        return specialise(side_by_side.side_by_side, bindings)


class IndexFamily(Family):
    """The adapter of index policies, including those that forget."""

    def check(self, spec: Spec) -> None:
        super().check(spec)
        if spec.feedback == "full" and (spec.has_delayed_rewards or spec.has_rules):
            raise InvalidInputError(
                'with feedback="full" all rewards are seen in every round, whatever is played; leave delay, batch, '
                "share, bounds and among out"
            )
        check_index(_policy(spec), spec.horizon)
        formula = _policy(spec).formula
        _requested[formula] = _requested.get(formula, 0) + spec.runs * spec.horizon

    def kernels(self, spec: Spec) -> Kernels:
        if not is_plain(spec) and spec.kernel not in ("auto", "reference"):
            raise InvalidInputError(
                f"the {spec.kernel} kernel does not play forgetting, full feedback, late rewards or covariates"
            )
        return Kernels(spec)

    def play(self, spec: Spec, chunk: Chunk) -> None:
        # Both kernels make the same choices, so the selection is only a matter of speed.
        kernels: Kernels = spec.kernels
        if spec.kernel == "auto" and is_plain(spec):
            few = 4 * chunk.numbers.size < LANES  # most lanes would be empty
            fast = not few and _pays_to_compile(spec, kernels.side_by_side)
        else:
            fast = spec.kernel == "side by side"
        _play(spec, chunk, kernels.side_by_side if fast else kernels.reference)
        if spec.policy.objective is None:
            chunk.recommended[:, 0] = chunk.final.argmax(axis=1)


def hold(
    policy: Policy,
    values: np.ndarray,
    holding: Holding,
    full: bool,
    seed: int,
    run: int,
    covariate: np.ndarray | None = None,
) -> np.ndarray:
    """The arms that a policy holds in each round (rounds, places) on recorded rewards; -1 where there is none.

    ``values`` are rewards (rounds, arms), NaN where an arm is not available; ``covariate`` is what is seen in every
    round. ``full``: whether the rewards of all arms are seen in every round. ``seed`` and ``run`` are those of the
    policy's random numbers.
    """
    if not isinstance(policy, IndexPolicy):
        raise InvalidInputError(
            f"{policy.name} plays one arm at a time and needs every arm from the first round; take an index policy "
            "such as SF-UCB for columns of unequal histories, several columns at once, a minimum holding, known costs "
            "or warm-up rows"
        )
    check_covariate(policy, covariate is not None)
    rounds, arms = values.shape
    if covariate is not None:
        values = np.column_stack([values, covariate])
    portfolio = np.full((rounds, holding.places), -1, np.int64)
    outputs = one_run_outputs(rounds, arms)
    Loop(policy, rounds, formulas.holds).play(
        Game(np.array([run]), rounds, policy.pilot(rounds, arms)), rule_of(policy, rounds),
        reference.Feedback(full, 0, _NO_DELAYS, 1, 0.0, True), holding, everyone(arms),
        Rewards(tapes(values.T[np.newaxis]), 0, np.uint64(seed)), out=outputs, portfolio=portfolio,
    )  # fmt: skip
    status = Status(*outputs.status.tolist())
    if status.failed:
        raise index_undefined(policy, f"arm {status.arm} in run {run}")
    return portfolio


def is_random(policy: IndexPolicy) -> bool:
    """Whether a policy is randomised: on the same rewards it may choose differently in another run."""
    return any(_RANDOM & mentions(formula) for formula in (policy.formula, policy.score) if formula is not None)


def _policy(spec: Spec) -> IndexPolicy:
    assert isinstance(spec.policy, IndexPolicy)
    return spec.policy


def _pays_to_compile(spec: Spec, kernel: Any) -> bool:
    """Whether a faster kernel is worth its compilation."""
    if _policy(spec).formula in _raising:
        return False
    requested = max(_requested.get(_policy(spec).formula, 0), spec.runs * spec.horizon)
    return requested >= MIN_ROUNDS_TO_COMPILE or is_ready(kernel)


def _play(spec: Spec, chunk: Chunk, kernel: Any) -> None:
    policy, objective = _policy(spec), spec.policy.objective or Mean()
    game = Game(chunk.numbers, spec.horizon, policy.pilot(spec.horizon, spec.environment.K))
    rewards = rewards_of(spec, chunk.numbers)
    out = outputs_of(spec, chunk)
    if isinstance(kernel, Loop):
        rule, feedback = rule_of(policy, spec.horizon), _feedback(spec)
        kernel.play(game, rule, feedback, _NO_HOLDING, _allocation(spec), rewards, out=out)
    else:
        call_kernel(policy, kernel, game, rewards, policy.arguments(spec.horizon), objective.arguments(), out)
    status = Status(*out.status.tolist())
    if status.failed:
        check_record(spec, status.arm, status.pulls)
        raise index_undefined(policy, f"arm {status.arm} after {status.t} rounds of run {status.run}")


def call_kernel(policy: Policy, kernel: Any, *arguments: Any) -> Any:
    """Call a kernel; what the user's formula raises is reported as the formula's, anything else passes."""
    try:
        return kernel(*arguments)
    except Exception as error:
        if is_raised_by_formula(error):
            if isinstance(policy, IndexPolicy):
                _raising.add(policy.formula)
            raise index_failed(policy, error) from error
        raise


def is_plain(spec: Spec) -> bool:
    """Whether a spec is the plain game that the fast kernels play: the policy decides alone, nothing is forgotten, and
    the reward of the arm played is seen before the next round.
    """
    objective = spec.policy.objective
    changed = spec.has_rules or spec.has_delayed_rewards or (objective is not None and objective.needs_covariate)
    return not changed and spec.feedback == "bandit" and _policy(spec).forgetting == NO_FORGETTING


def rule_of(policy: IndexPolicy, horizon: int) -> Rule:
    """How a policy plays, as input of a kernel."""
    window, discount = policy.forgetting
    layout = layout_of(policy)
    return Rule(min(window, horizon), discount, policy.least_pilot, layout.cells, layout.can_forget(window, discount))


def everyone(arms: int) -> Allocation:
    """The policy decides, about all arms."""
    return Allocation(0, 1.0, False, np.zeros(arms), np.ones(arms), np.ones((1, arms), bool))


def _allocation(spec: Spec) -> Allocation:
    """Who decides, as input of a kernel."""
    plain = everyone(spec.environment.K)
    for arm, low, high in spec.bounds:
        plain.low[arm], plain.high[arm] = low, high
    if spec.among is not None:
        plain = plain._replace(allowed=np.zeros((len(spec.among), spec.environment.K), bool))
        for row, playable in zip(plain.allowed, spec.among, strict=True):
            row[list(playable)] = True
    control = 0 if spec.control is None else spec.control
    return plain._replace(control=control, share=spec.share, bounded=bool(spec.bounds))


def _feedback(spec: Spec) -> reference.Feedback:
    """Which rewards are seen and when, as input of a kernel."""
    delay, delays = (spec.delay, _NO_DELAYS) if isinstance(spec.delay, int) else (-1, stack([[spec.delay.draws()]]))
    counted = 0.0 if is_random(_policy(spec)) else 1.0
    by_round = spec.environment.clock == "rounds"
    return reference.Feedback(spec.feedback == "full", delay, delays, spec.batch_rounds, counted, by_round)


_NO_DELAYS = stack([[Constant(0.0).draws()]])


def index_undefined(policy: Policy, where: str) -> InvalidInputError:
    """The error for an index that is not a number; it may be the objective that is not."""
    remedy, objective = "it must be a number for every record (infinity is allowed)", policy.objective or Mean()
    for reward in (-1.0, 1.0, 0.0):
        with np.errstate(all="ignore"):
            estimate = objective.estimate(objective.statistics([reward, reward]))
        if not np.isfinite(estimate).all():
            remedy = (
                f"its objective {objective!r} has no finite value and slope for rewards that are always {reward:g}; "
                "regularise its formula, as Sharpe divides by L + the standard deviation"
            )
    return InvalidInputError(f"the index of {policy.name} is not a number for {where}; {remedy}")


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


def policy_bindings(policy: IndexPolicy) -> dict[Any, Any]:
    """Bindings of a kernel's placeholders for a policy, except the objective."""
    return {
        formulas.index: policy.formula,
        formulas.score: policy.score or formulas.no_score,
        formulas.keeps_lead: formulas.constant(policy.score is not None),
        formulas.draws_normals: formulas.constant("standard_normal" in mentions(policy.formula)),
        formulas.index_branch_free: policy.formula,
        formulas.has_exact_fallback: formulas.never,
        **layout_of(policy).bindings,
    }


def _vectorised(policy: IndexPolicy) -> dict[Any, Any]:
    """Bindings of a policy and its objective, with a variant of the index that the compiler can vectorise over runs."""
    variant = substituted(policy.formula, policy.branch_free)
    return {
        **policy_bindings(policy),
        formulas.value: (policy.objective or Mean()).record_formula,
        formulas.index_branch_free: variant,
        formulas.has_exact_fallback: formulas.constant(variant is not policy.formula),
    }


def layout_of(policy: IndexPolicy) -> StatisticsLayout:
    """The statistics that are kept of each arm for a policy, beyond those kept for every policy."""
    objective = policy.objective or Mean()
    read = (policy.formula, policy.score or formulas.no_score, objective.record_formula)
    return layout_for(frozenset().union(*map(mentions, read)), objective)


def check_index(policy: IndexPolicy, horizon: int) -> None:
    """Compile a user's index on its own."""
    if policy.users_own:
        check_formula(policy.formula, policy.arguments(horizon), policy.name)
