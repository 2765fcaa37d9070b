"""Fixed-confidence policies: they stop on their own once they have identified the best arm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._support.call_tree import mentions
from ...errors import InvalidInputError
from ...play import fixed_confidence, formulas
from ...play.game import Game, Status
from ...play.statistics import layout_for
from ...policies.base import FixedConfidencePolicy
from ..compiler import specialise
from .base import Family, check_own_feedback, check_record, outputs_of, rewards_of

if TYPE_CHECKING:
    from ..spec import Chunk, Spec


class FixedConfidenceFamily(Family):
    """The adapter of fixed-confidence policies. The horizon of a spec is the maximum budget, and there are no
    checkpoints, since runs differ in length.
    """

    def check(self, spec: Spec) -> None:
        policy, environment = spec.policy, spec.environment
        if spec.checkpoints:
            raise InvalidInputError(
                f"{policy.name} stops on its own and is not simulated for a given number of rounds; use "
                "sb.identify(policy, bandit)"
            )
        check_own_feedback(spec)
        if environment.pregenerated or environment.clock != "pulls":
            raise InvalidInputError(
                f"{policy.name} needs independent and identically distributed rewards, which those of {environment!r} "
                "are not; simulate a policy with a given horizon instead"
            )
        policy.check_horizon(spec.horizon, environment.K)

    def kernels(self, spec: Spec) -> Any:
        assert isinstance(spec.policy, FixedConfidencePolicy)
        return specialise(fixed_confidence.identify, fixed_confidence_bindings(spec.policy))

    def play(self, spec: Spec, chunk: Chunk) -> None:
        policy = spec.policy
        assert isinstance(policy, FixedConfidencePolicy)
        out = outputs_of(spec, chunk)
        spec.kernels(
            Game(chunk.numbers, spec.horizon, policy.pilot_pulls),
            rewards_of(spec, chunk.numbers),
            policy.log_odds(spec.environment.K),
            policy.epsilon,
            policy.arguments(),
            out,
        )
        status = Status(*out.status.tolist())
        if status.failed:
            check_record(spec, status.arm, status.pulls)
            raise InvalidInputError(
                f"pull {status.pulls} of arm {status.arm} in run {status.run} paid a reward that is not a number"
            )

    def chunk_runs(self, spec: Spec) -> int:
        # Runs differ in length, and many chunks keep all workers busy to the end; but each has 0.1 ms of overhead.
        return max(16, spec.runs // 64)


def fixed_confidence_bindings(policy: FixedConfidencePolicy) -> dict[Any, Any]:
    """Bindings of a kernel's placeholders for a fixed-confidence policy."""
    read = mentions(policy.estimate) | mentions(policy.noise)
    functions = {formulas.estimate: policy.estimate, formulas.noise: policy.noise, formulas.turns: policy.turns}
    return {**functions, **layout_for(read, policy.objective).bindings}
