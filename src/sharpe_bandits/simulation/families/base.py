"""The interface that a family of policies provides to the engine."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import InvalidInputError
from ...play.game import LANES, Outputs, Status
from ...play.rewards import TAPE, ArmTable, Rewards, write_paths
from ...policies.base import Policy
from ..compiler import specialise

if TYPE_CHECKING:
    from ..spec import Chunk, Spec

#: Target number of rounds of a chunk: enough that the overhead of a chunk is negligible, few enough that all workers
#: stay busy to the end.
CHUNK_ROUNDS = 8_000_000
#: Maximum number of rewards generated before a chunk is played (except for a chunk of one run).
MAX_PREGENERATED = 2**23


class Family(ABC):
    """The adapter of a family of policies in simulations; :data:`sharpe_bandits.live.agents.AGENTS` has its agent."""

    #: Target number of rounds per chunk.
    chunk_rounds = CHUNK_ROUNDS

    def check(self, spec: Spec) -> None:
        """Raise before the first run if a spec cannot be played."""
        if not spec.checkpoints:
            raise InvalidInputError(
                f"{spec.policy.name} does not stop on its own, as sb.TopTwo(L=...) does; it plays a given number of "
                "rounds: use sb.simulate(policy, bandit, horizon=...)"
            )
        check_covariate(spec.policy, spec.environment.has_covariate)
        spec.environment.check_horizon(spec.horizon)
        spec.policy.check_horizon(spec.horizon, spec.environment.K)

    @abstractmethod
    def kernels(self, spec: Spec) -> Any:
        """The compiled kernels that play a spec."""

    @abstractmethod
    def play(self, spec: Spec, chunk: Chunk) -> None:
        """Play the runs of a chunk and fill in its arrays."""

    def chunk_runs(self, spec: Spec) -> int:
        """Default number of runs per chunk: a multiple of the lanes of a kernel."""
        size = LANES * max(1, min(-(-spec.runs // (2 * LANES)), self.chunk_rounds // (spec.horizon * LANES)))
        if spec.environment.pregenerated:
            size = min(size, max(1, MAX_PREGENERATED // (spec.horizon * spec.environment.K)))
        return size


def check_own_feedback(spec: Spec) -> None:
    """Raise if the rewards of all arms are to be seen."""
    if spec.feedback == "full":
        raise InvalidInputError(
            f"{spec.policy.name} divides a budget of pulls, which is meaningless if the rewards of all arms are seen "
            'in every round; use feedback="bandit"'
        )


def check_covariate(policy: Policy, has_covariate: bool) -> None:
    """Raise if a policy needs a covariate where there is none."""
    if policy.objective is not None and policy.objective.needs_covariate and not has_covariate:
        raise InvalidInputError(
            f"{policy.name} maximises {policy.objective!r}, which needs a covariate in every round; simulate it on a "
            'FactorBandit or a Tape(..., clock="rounds", covariate=...), and replay it with a benchmark'
        )


def rewards_of(spec: Spec, numbers: np.ndarray) -> Rewards:
    """The rewards of the runs with these numbers as input of a kernel: one row for all runs, or one per run."""
    environment = spec.environment
    by_run, seed = int(environment.varies or environment.pregenerated), np.uint64(spec.seed)
    if not environment.pregenerated:
        return Rewards(environment.table(spec.seed, numbers), by_run, seed)
    pool = np.empty((numbers.size, environment.K + environment.has_covariate, spec.horizon))
    write = specialise(write_paths, {})
    for begin, end, table in environment.pieces(spec.seed, numbers, spec.horizon):
        rewards = Rewards(table, int(len(table.kind) > 1), seed)
        write(numbers, rewards, environment.jointly, begin, end, pool, stop_cell())
    environment.combine(pool)
    return Rewards(tapes(pool), by_run, seed)


def tapes(recorded: np.ndarray) -> ArmTable:
    """Recorded rewards (runs, arms, rounds) as the table of a kernel."""
    runs, arms, rounds = recorded.shape
    kind = np.full((runs, arms), TAPE, np.int64)
    none = np.zeros(kind.shape)
    start = np.arange(0, recorded.size, rounds).reshape(kind.shape)
    return ArmTable(kind, none, none, start, np.full(kind.shape, rounds), recorded.ravel())


def check_record(spec: Spec, arm: int, pulls: int) -> None:
    """Raise if the recorded rewards are too few for this number of pulls of an arm."""
    needed = np.zeros(spec.environment.K, np.int64)
    needed[arm] = pulls
    spec.environment.check_pulls(needed, spec.policy.name)


def outputs_of(spec: Spec, chunk: Chunk) -> Outputs:
    """The arrays that a kernel writes the results of a chunk to."""
    arrays = {name: array for name, array in vars(chunk).items() if name not in ("numbers", "batches")}
    half = spec.horizon // 2
    return Outputs(
        checkpoints=np.array(spec.times, np.int64),
        halfway_check=spec.times.index(half) if half in spec.times else -1,
        batch=np.searchsorted(chunk.batches, chunk.numbers // spec.batch),
        status=np.zeros(len(Status._fields), np.int64),
        stop=stop_cell(),
        **arrays,
    )


def one_run_outputs(rounds: int, arms: int) -> Outputs:
    """The arrays that a kernel writes the results of a single run to, if only its choices matter."""
    counts = np.zeros((1, arms), np.int32)
    return Outputs(
        checkpoints=np.array([rounds], np.int64), halfway_check=-1, batch=np.zeros(1, np.int64),
        pulls=np.zeros((1, 1, arms), np.int64), halfway=counts.copy(), final=counts,
        recommended=np.zeros((1, 1), np.int32), stopped=np.ones(1, np.bool_),
        reward_mean=np.zeros(1), reward_variance=np.zeros(1), choices=np.zeros((0, 0), np.int32),
        rewards=np.zeros((0, 0)), status=np.zeros(len(Status._fields), np.int64), stop=stop_cell(),
    )  # fmt: skip


class _Thread(threading.local):
    """Of this thread: the flag that its kernels check every few thousand rounds; they return once it is 1."""

    def __init__(self) -> None:
        self.cell = new_cell()


def new_cell() -> np.ndarray:
    """A flag for kernels to check; set it to 1 and they return."""
    return np.zeros(1, np.uint8)


_thread = _Thread()


def obey(cell: np.ndarray) -> None:
    """Make the kernels that this thread runs from now on check the given flag."""
    _thread.cell = cell


def stop_cell() -> np.ndarray:
    """The flag that the kernels of this thread check; one that is never set, if :func:`obey` was not called."""
    check_stop()
    return _thread.cell


def check_stop() -> None:
    """Raise if this thread was told to stop: the outputs of its kernel are then meaningless."""
    if _thread.cell[0]:
        raise CancelledError("told to stop")
