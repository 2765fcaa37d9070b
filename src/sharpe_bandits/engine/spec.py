"""A spec (one policy on one environment), cut into chunks of runs.

A chunk's result is a pure function of (spec, range of runs): plain arrays that merge exactly, by concatenation (what is
kept per run) and by adding whole numbers (pulls at checkpoints, per batch of runs). Chunks can therefore be computed by
any number of workers, resumed from disk, or sent elsewhere. How a chunk is played is up to the policy's family.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal

import numpy as np

from ..arms.base import Arm
from ..arms.environment import Environment
from ..policies.base import Policy
from .families import family_of
from .families.base import Family
from .families.base import Source as Source
from .families.base import rewards_of as rewards_of
from .families.index import is_lazy as is_lazy
from .interruption import check_stop

#: Version of the layout of chunk results.
FORMAT = 4
#: Standard errors come from at most this many batches of runs (one run each, up to here).
BATCHES = 256
Kernel = Literal["auto", "lazy", "side by side", "one by one"]
Feedback = Literal["bandit", "full"]


@dataclass(frozen=True)
class Spec:
    """A simulation's specification: what is to be simulated, but for the range of runs.

    Attributes
    ----------
    policy, environment : Policy and Environment
        who plays on what
    horizon : int
        rounds per run; for a policy that stops by itself the largest budget
    runs : int
        runs in all (they set the size of a batch)
    seed : int
        of all rewards and of the policy's own randomness
    checkpoints : tuple[int, ...]
        rounds after which pulls are kept; the last is the horizon. Empty for a policy that stops by itself
    source : Source, optional
        where the bits of rewards come from, "splitmix" or "philox"
    kernel : Kernel, optional
        "auto", or "lazy", "side by side" or "one by one" to force one
    feedback : Feedback, optional
        "bandit": the reward of the arm played is seen; "full": the rewards of all arms are
    delay : int | Arm, optional
        rounds after which a reward comes in, or the distribution of that number
    batch_rounds : int, optional
        rounds that are chosen before rewards come in
    """

    policy: Policy
    environment: Environment
    horizon: int
    runs: int
    seed: int
    checkpoints: tuple[int, ...]
    source: Source = "splitmix"
    kernel: Kernel = "auto"
    feedback: Feedback = "bandit"
    delay: int | Arm = 0
    batch_rounds: int = 1

    @property
    def is_late(self) -> bool:
        """Whether rewards come in later than the next round."""
        return self.delay != 0 or self.batch_rounds != 1

    @property
    def family(self) -> Family:
        """What knows how the policy is played."""
        return family_of(self.policy)

    @cached_property
    def kernels(self) -> Any:
        """What plays this spec, compiled."""
        return self.family.kernels(self)

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def times(self) -> tuple[int, ...]:
        """Checkpoints and half of the horizon, in order: the rounds after which a kernel keeps pulls."""
        return tuple(sorted({*self.checkpoints, self.horizon // 2} - {0})) if self.checkpoints else ()

    @property
    def batch(self) -> int:
        """Runs per batch; 1 where every run has arms of its own, since pulls cannot be added across runs then."""
        return 1 if self.environment.varies else -(-self.runs // BATCHES)

    @property
    def chunk(self) -> int:
        """Default number of runs per chunk."""
        return self.family.chunk_runs(self)


@dataclass
class Chunk:
    """Results of a range of runs; plain arrays.

    Attributes
    ----------
    first, runs : int
        the range
    first_batch : int
        number of the batch that ``pulls[0]`` belongs to
    pulls : numpy.ndarray
        (batches, checkpoints, arms), pulls added over the runs of a batch
    halfway : numpy.ndarray
        (runs, arms), pulls after half of the rounds; nothing for a policy that stops by itself
    final : numpy.ndarray
        (runs, arms), pulls in the end
    recommended : numpy.ndarray
        (runs, m), the arms recommended in the end, in order of arm
    stopped : numpy.ndarray
        (runs,), whether the run came to its own end: False where a policy that stops by itself was not sure yet when
        its budget was spent
    reward_mean, reward_variance : numpy.ndarray
        (runs,), of the run's sequence of rewards
    choices, rewards : numpy.ndarray
        (runs, horizon) where a trace was asked for, else (0, 0)
    """

    first: int
    runs: int
    first_batch: int
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
    """Check what can be checked before the first run, so that nothing is lost later."""
    spec.family.check(spec)


def run_chunk(spec: Spec, first: int, runs: int, trace: bool = False) -> Chunk:
    """Simulate runs ``first`` to ``first + runs - 1``."""
    arms = spec.environment.K
    first_batch = first // spec.batch
    batches = (first + runs - 1) // spec.batch - first_batch + 1
    shape = (runs, spec.horizon) if trace else (0, 0)
    chunk = Chunk(
        first,
        runs,
        first_batch,
        pulls=np.zeros((batches, len(spec.times), arms), np.int64),
        halfway=np.zeros((runs, arms), np.int32),
        final=np.zeros((runs, arms), np.int32),
        recommended=np.zeros((runs, spec.policy.n_recommended), np.int32),
        stopped=np.ones(runs, np.bool_),
        reward_mean=np.zeros(runs),
        reward_variance=np.zeros(runs),
        choices=np.full(shape, -1, np.int32),
        rewards=np.full(shape, np.nan),
    )
    spec.family.play(spec, chunk)
    check_stop()
    # Half of the horizon, where it is no checkpoint; few come after it.
    if (half := spec.horizon // 2) in spec.times and half not in spec.checkpoints:
        place = spec.times.index(half)
        chunk.pulls[:, place:-1] = chunk.pulls[:, place + 1 :]
        chunk.pulls = chunk.pulls[:, :-1]
    spec.environment.check_pulls(chunk.final.max(axis=0), spec.policy.name)
    return chunk


def is_random(policy: Policy) -> bool:
    """Whether a policy draws random numbers: on the same rewards it may then choose otherwise in another run."""
    return family_of(policy).is_random(policy)
