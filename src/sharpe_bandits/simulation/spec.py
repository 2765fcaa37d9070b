"""A spec (one policy on one environment), split into chunks of runs.

A chunk's result is a pure function of (spec, numbers of its runs). It consists of plain arrays that merge exactly:
results per run by concatenation, pulls at checkpoints (per batch of runs) by integer addition. Chunks can therefore be
computed by any number of workers, resumed from disk, or sent elsewhere. How a chunk is played is up to the policy's
family.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal

import numpy as np

from ..arms.base import Arm
from ..arms.environment import Environment
from ..policies.base import Policy
from .families import family_of
from .families.base import Family, check_stop
from .families.base import rewards_of as rewards_of

#: Version of the layout of chunk results.
FORMAT = 5
#: Standard errors come from at most this many batches of runs (one run each, up to here).
BATCHES = 256
Kernel = Literal["auto", "side by side", "reference"]
Feedback = Literal["bandit", "full"]


@dataclass(frozen=True)
class Spec:
    """A simulation's specification: everything except which runs.

    Attributes
    ----------
    policy, environment : Policy and Environment
        the policy, and the environment it plays on
    horizon : int
        rounds per run; for a fixed-confidence policy the maximum budget
    runs : int
        total number of runs (which determines the size of a batch)
    seed : int
        seed of all rewards and of the policy's own randomness
    checkpoints : tuple[int, ...]
        rounds after which pulls are recorded; the last is the horizon. Empty for a fixed-confidence policy
    kernel : Kernel, optional
        "auto", or "side by side" or "reference" to force one
    feedback : Feedback, optional
        "bandit": the reward of the arm played is seen; "full": the rewards of all arms are
    delay : int | Arm, optional
        delay of a reward in rounds, or the distribution of the delay
    batch_rounds : int, optional
        rounds that are chosen before rewards arrive
    control, share : int | None and float, optional
        the control arm, and the probability with which the policy decides instead
    bounds : tuple[tuple[int, float, float], ...], optional
        arm, least and largest share in the policy's decisions
    among : tuple[tuple[int, ...], ...] | None, optional
        the arms that can be played
    """

    policy: Policy
    environment: Environment
    horizon: int
    runs: int
    seed: int
    checkpoints: tuple[int, ...]
    kernel: Kernel = "auto"
    feedback: Feedback = "bandit"
    delay: int | Arm = 0
    batch_rounds: int = 1
    control: int | None = None
    share: float = 1.0
    bounds: tuple[tuple[int, float, float], ...] = ()
    among: tuple[tuple[int, ...], ...] | None = None

    @property
    def has_rules(self) -> bool:
        """Whether the policy does not decide alone about all arms."""
        return self.share < 1 or bool(self.bounds) or self.among is not None

    @property
    def has_delayed_rewards(self) -> bool:
        """Whether rewards may arrive later than before the next round."""
        return self.delay != 0 or self.batch_rounds != 1

    @property
    def family(self) -> Family:
        """The adapter that plays the policy."""
        return family_of(self.policy)

    @cached_property
    def kernels(self) -> Any:
        """The compiled kernels that play this spec."""
        return self.family.kernels(self)

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def times(self) -> tuple[int, ...]:
        """Checkpoints and half of the horizon, in order: the rounds after which a kernel records pulls."""
        return tuple(sorted({*self.checkpoints, self.horizon // 2} - {0})) if self.checkpoints else ()

    @property
    def batch(self) -> int:
        """Runs per batch; 1 if every run has arms of its own, since pulls cannot then be added across runs."""
        return 1 if self.environment.varies else -(-self.runs // BATCHES)

    @property
    def chunk(self) -> int:
        """Default number of runs per chunk."""
        return self.family.chunk_runs(self)


@dataclass
class Chunk:
    """Results of some runs, as plain arrays.

    Attributes
    ----------
    numbers : numpy.ndarray
        (runs,), the numbers of the runs, in ascending order
    batches : numpy.ndarray
        (batches,), the numbers of the batches that they belong to
    pulls : numpy.ndarray
        (batches, checkpoints, arms), pulls summed over the runs of a batch
    halfway : numpy.ndarray
        (runs, arms), pulls after half of the rounds; zeros for a fixed-confidence policy
    final : numpy.ndarray
        (runs, arms), pulls at the end
    recommended : numpy.ndarray
        (runs, m), the arms recommended at the end, in order of arm
    stopped : numpy.ndarray
        (runs,), whether the run is finished: False if a fixed-confidence policy had not stopped when its budget was
        spent
    reward_mean, reward_variance : numpy.ndarray
        (runs,), mean and variance of the run's sequence of rewards
    choices, rewards : numpy.ndarray
        (runs, horizon) if a trace was requested, else (0, 0)
    """

    numbers: np.ndarray
    batches: np.ndarray
    pulls: np.ndarray
    halfway: np.ndarray
    final: np.ndarray
    recommended: np.ndarray
    stopped: np.ndarray
    reward_mean: np.ndarray
    reward_variance: np.ndarray
    choices: np.ndarray
    rewards: np.ndarray


def prepare(spec: Spec) -> None:
    """Check a spec before the first run, so that errors come early."""
    spec.family.check(spec)


def run_chunk(spec: Spec, runs: Sequence[int] | np.ndarray, trace: bool = False) -> Chunk:
    """Simulate the runs with these numbers, in ascending order."""
    numbers, arms = np.asarray(runs, np.int64), spec.environment.K
    batches = np.unique(numbers // spec.batch)
    shape = (numbers.size, spec.horizon) if trace else (0, 0)
    chunk = Chunk(
        numbers,
        batches,
        pulls=np.zeros((batches.size, len(spec.times), arms), np.int64),
        halfway=np.zeros((numbers.size, arms), np.int32),
        final=np.zeros((numbers.size, arms), np.int32),
        recommended=np.zeros((numbers.size, spec.policy.n_recommended), np.int32),
        stopped=np.ones(numbers.size, np.bool_),
        reward_mean=np.zeros(numbers.size),
        reward_variance=np.zeros(numbers.size),
        choices=np.full(shape, -1, np.int32),
        rewards=np.full(shape, np.nan),
    )
    spec.family.play(spec, chunk)
    check_stop()
    # Remove half of the horizon if it is not a checkpoint; few checkpoints follow it, so little is moved.
    if (half := spec.horizon // 2) in spec.times and half not in spec.checkpoints:
        place = spec.times.index(half)
        chunk.pulls[:, place:-1] = chunk.pulls[:, place + 1 :]
        chunk.pulls = chunk.pulls[:, :-1]
    spec.environment.check_pulls(chunk.final.max(axis=0), spec.policy.name)
    return chunk


def is_random(policy: Policy) -> bool:
    """Whether a policy is randomised: on the same rewards it may choose differently in another run."""
    return family_of(policy).is_random(policy)
