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

#: Version of the layout of chunk results.
FORMAT = 5
#: Standard errors come from at most this many batches of runs (one run each, up to here).
BATCHES = 256
Kernel = Literal["auto", "side by side", "reference"]
Feedback = Literal["bandit", "full"]


@dataclass(frozen=True)
class Spec:
    """A simulation's specification, everything except which runs: the arguments of :func:`sharpe_bandits.simulate`.

    ``horizon`` is the maximum budget of a fixed-confidence policy, which has no checkpoints; the last checkpoint of any
    other policy is its horizon. ``kernel``: "side by side" or "reference" to force one. ``bounds``: (arm, least,
    largest share) of each arm that has bounds.
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
        """The kernels that play this spec."""
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
    """Results of some runs, as plain arrays."""

    numbers: np.ndarray  # (runs,): those of the runs, in ascending order
    batches: np.ndarray  # (batches,): the numbers of the batches that they belong to
    pulls: np.ndarray  # (batches, checkpoints, arms): summed over the runs of a batch
    halfway: np.ndarray  # (runs, arms): pulls after half of the rounds; zeros for a fixed-confidence policy
    final: np.ndarray  # (runs, arms): pulls at the end
    recommended: np.ndarray  # (runs, m): the arms recommended at the end, in order of arm
    stopped: np.ndarray  # (runs,): False if a fixed-confidence policy had not stopped when its budget was spent
    reward_mean: np.ndarray  # (runs,): of the run's sequence of rewards
    reward_variance: np.ndarray
    choices: np.ndarray  # (runs, horizon) if a trace was requested, else (0, 0)
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
