"""Policies that play in phases and accept or drop arms between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..._support.call_tree import call_tree, mentions
from ...errors import InvalidInputError
from ...objectives import Mean
from ...play import elimination, formulas
from ...play.game import Game, Status
from ...play.statistics import layout_for
from ...policies.base import EliminationPolicy
from ..compiler import specialise
from ..pointers import phases_behind_pointers
from .base import Family, check_own_feedback, outputs_of, rewards_of

if TYPE_CHECKING:
    from ..spec import Chunk, Spec


class PhasesFamily(Family):
    """The adapter of policies that play in phases."""

    chunk_rounds = 20_000_000

    def check(self, spec: Spec) -> None:
        check_own_feedback(spec)
        if spec.has_delayed_rewards and spec.environment.clock == "rounds":
            raise InvalidInputError(
                f"{spec.policy.name} waits for late rewards at the end of a phase, while rewards that are indexed by "
                'round go on; leave it out, or use clock="pulls"'
            )
        super().check(spec)

    def kernels(self, spec: Spec) -> Any:
        return specialise(elimination.play_phases, {}), phase_formulas(_policy(spec))

    def play(self, spec: Spec, chunk: Chunk) -> None:
        policy = _policy(spec)
        phases = policy.schedule(spec.horizon, spec.environment.K)
        quotas, keep = np.array(phases, np.int64).T.copy()
        rewards = rewards_of(spec, chunk.numbers)
        play_phases, formulas = spec.kernels
        out = outputs_of(spec, chunk)
        play_phases(
            Game(chunk.numbers, spec.horizon, 0),
            elimination.Phases(quotas, keep, not policy.keeps_samples, spec.environment.clock == "rounds"),
            rewards,
            formulas,
            out,
        )
        status = Status(*out.status.tolist())
        if status.failed:
            size = keep[status.t - 1] if status.t else spec.environment.K
            raise shared_wrongly(policy, status.t, int(quotas[status.t] * size), status.pulls)


def shared_wrongly(policy: EliminationPolicy, phase: int, due: int, shared: int) -> InvalidInputError:
    """The error of a policy whose ``share`` does not hand out the pulls of a phase."""
    return InvalidInputError(
        f"{policy.name} shares {shared} pulls in phase {phase + 1}, which has {due}: share() must write whole "
        "numbers of at least 0 to quota, which add up to pulls times the number of undecided arms"
    )


def _policy(spec: Spec) -> EliminationPolicy:
    assert isinstance(spec.policy, EliminationPolicy)
    return spec.policy


def phase_formulas(policy: EliminationPolicy) -> elimination.PhaseFormulas:
    """The formulas of a policy that plays in phases, as input of a kernel."""
    objective = policy.objective or Mean()
    functions: dict[Any, Any] = {
        formulas.value: objective.record_formula,
        formulas.share: policy.share,
        formulas.decide_on: policy.decide_on,
    }
    called = call_tree(policy.share)
    if formulas.estimate in called:  # it compares roots
        functions |= {formulas.estimate: objective.record_root, formulas.noise: objective.record_root_noise}
    elif formulas.noise in called:
        functions[formulas.noise] = objective.record_noise
    layout = layout_for(frozenset().union(*map(mentions, functions.values())), objective)
    keeps_powers = layout.bindings[formulas.keeps_powers] is formulas.always
    return phases_behind_pointers({**functions, **layout.bindings}, objective.arguments(), layout.cells, keeps_powers)
