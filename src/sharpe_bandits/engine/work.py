"""One policy on one environment, cut into chunks of runs.

A chunk's result is a pure function of (work, range of runs): plain arrays that merge exactly, by concatenation (what is
kept per run) and by adding whole numbers (pulls at checkpoints, per batch of runs). Chunks can therefore be computed by
any number of workers, resumed from disk, or sent elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..arms.bandit import Environment
from ..call_tree import mentions, spreads_nan, substituted
from ..errors import InvalidInput
from ..kernels import elimination, formulas, index_play, round_by_round, statistics
from ..kernels.rewards import TAPE, ArmTable, write_paths
from ..kernels.streams import PHILOX, SPLITMIX, gamma, gamma_at_once, normal, uniform
from ..objectives import Mean
from ..policies.base import EVERYTHING, EliminationPolicy, IndexPolicy, Policy, StoppingPolicy
from ..policies.custom import CustomPolicy
from .compiler import check_formula, specialise

#: Version of the layout of chunk results.
FORMAT = 3
#: Standard errors come from at most this many batches of runs (one run each, up to here).
BATCHES = 256
#: A chunk aims at this many rounds of an index policy, or pulls of a policy that plays in phases: much more work than
#: it takes to start one, little enough to keep all workers busy to the end.
CHUNK_ROUNDS, CHUNK_PULLS = 4_000_000, 20_000_000
#: The first runs of a chunk show whether being lazy pays. In units of what it costs to look at one arm side by side: a
#: change of lead costs the lazy kernel TURN_COST + K, a round costs the other kernel ROUND_COST + K.
PROBE, TURN_COST, ROUND_COST = 8, 90, 3
#: Rewards written out for a chunk, at most (but for a chunk of one run).
WRITTEN = 2**23
SOURCES = {"splitmix": SPLITMIX, "philox": PHILOX}
FEEDBACK = ("bandit", "full")

_ANSWER = {True: formulas.yes, False: formulas.no}

#: Fields of an arm's record that the lazy kernel does not keep.
_NOT_LAZY = {"maximum", "key", "round_key", "third", "fourth", "lead", "drawn_mean", "drawn_variance"}
#: Fields of an arm's record that differ from run to run even if rewards do not.
_RANDOM = {"key", "round_key", "drawn_mean", "drawn_variance"}


class Kernels(NamedTuple):
    """Compiled kernels (see :func:`sharpe_bandits.engine.compiler.specialise`) that can play a work."""

    phases: Any = None
    rounds: Any = None
    lazy: Any = None
    side_by_side: Any = None


@dataclass(frozen=True)
class Work:
    """What is to be simulated, but for the range of runs.

    Attributes
    ----------
    policy, environment : who plays on what
    horizon : rounds per run
    runs : runs in all (they set the size of a batch)
    seed : of all rewards and of the policy's own randomness
    checkpoints : rounds after which pulls are kept; the last is the horizon
    source : where the bits of rewards come from, "splitmix" or "philox"
    kernel : "auto", or "lazy" or "side by side" to force one
    feedback : "bandit": the reward of the arm played is seen; "full": the rewards of all arms are
    """

    policy: Policy
    environment: Environment
    horizon: int
    runs: int
    seed: int
    checkpoints: tuple[int, ...]
    source: str = "splitmix"
    kernel: str = "auto"
    feedback: str = "bandit"

    @cached_property
    def kernels(self) -> Kernels:
        """What plays this work, compiled."""
        policy = self.policy
        bindings: dict[Any, Any] = {
            formulas.value: (policy.goal or Mean()).formula,
            formulas.by_round: _ANSWER[self.environment.clock == "rounds"],
        }
        if isinstance(policy, EliminationPolicy):
            return Kernels(phases=specialise(elimination.play_phases, bindings))
        assert isinstance(policy, IndexPolicy)
        bindings |= policy_bindings(policy)
        if policy.memory != EVERYTHING or self.feedback == "full":
            if self.kernel != "auto":
                raise InvalidInput(f"the {self.kernel} kernel does not play policies that forget, or full feedback")
            return Kernels(rounds=specialise(round_by_round.round_by_round, bindings))
        lazy = specialise(index_play.lazy, bindings) if is_lazy(self) else None
        bindings[formulas.index_at_once] = at_once(policy.formula)
        return Kernels(lazy=lazy, side_by_side=specialise(index_play.side_by_side, bindings))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "kernels"}

    @property
    def batch(self) -> int:
        """Runs per batch; 1 where every run has arms of its own, since pulls cannot be added across runs then."""
        return 1 if self.environment.varies else -(-self.runs // BATCHES)

    @property
    def chunk(self) -> int:
        """Default number of runs per chunk: a multiple of the lanes of a kernel."""
        lanes = index_play.LANES
        rounds = CHUNK_PULLS if isinstance(self.policy, EliminationPolicy) else CHUNK_ROUNDS
        size = lanes * max(1, min(-(-self.runs // (2 * lanes)), rounds // (self.horizon * lanes)))
        if self.environment.written:
            size = min(size, max(1, WRITTEN // (self.horizon * self.environment.K)))
        return size


@dataclass
class Chunk:
    """Results of a range of runs; plain arrays.

    Attributes
    ----------
    first, runs : the range
    first_batch : number of the batch that ``pulls[0]`` belongs to
    pulls : (batches, checkpoints, arms), pulls added over the runs of a batch
    final : (runs, arms), pulls at the horizon
    recommended : (runs, m), the arms recommended in the end, in order of arm
    reward_mean, reward_variance : (runs,), of the run's sequence of rewards
    choices, rewards : (runs, horizon) where a trace was asked for, else (0, 0)
    """

    first: int
    runs: int
    first_batch: int
    pulls: np.ndarray
    final: np.ndarray
    recommended: np.ndarray
    reward_mean: np.ndarray
    reward_variance: np.ndarray
    choices: np.ndarray
    rewards: np.ndarray


@lru_cache(maxsize=4)
def _tables(size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return specialise(statistics.tables, {})(size)


def prepare(work: Work) -> None:
    """Check what can be checked before the first run, so that nothing is lost later."""
    if isinstance(work.policy, StoppingPolicy):
        raise InvalidInput(
            f"{work.policy.name} stops by itself and is not simulated for a given number of rounds; use "
            "sb.identify(policy, bandit)"
        )
    if work.feedback == "full" and not isinstance(work.policy, IndexPolicy):
        raise InvalidInput(
            f"{work.policy.name} shares out a budget of pulls, which means nothing where the rewards of all arms are "
            'seen in every round; leave it out or use feedback="bandit"'
        )
    work.environment.check_horizon(work.horizon)
    work.policy.check_horizon(work.horizon, work.environment.K)
    if isinstance(work.policy, CustomPolicy):
        check_custom(work.policy, work.horizon, work.environment.lowest)


def run_chunk(work: Work, first: int, runs: int, trace: bool = False) -> Chunk:
    """Simulate runs ``first`` to ``first + runs - 1``."""
    arms = work.environment.K
    table = rewards_of(work, first, runs)
    checkpoints = np.array(work.checkpoints, np.int64)
    first_batch = first // work.batch
    batches = (first + runs - 1) // work.batch - first_batch + 1
    shape = (runs, work.horizon) if trace else (0, 0)
    chunk = Chunk(
        first,
        runs,
        first_batch,
        np.zeros((batches, checkpoints.size, arms), np.int64),
        np.zeros((runs, arms), np.int32),
        np.zeros((runs, work.policy.sought), np.int32),
        np.zeros(runs),
        np.zeros(runs),
        np.full(shape, -1, np.int32),
        np.full(shape, np.nan),
    )
    policy = work.policy
    if alone := work.kernels.phases or work.kernels.rounds:
        _play(work, chunk, table, alone, 0, runs)
    elif isinstance(policy, IndexPolicy):
        lazy, side_by_side = work.kernels.lazy, work.kernels.side_by_side
        probe = runs if work.kernel == "lazy" else min(runs, PROBE)
        played, turns = 0, 0
        if lazy is not None:
            turns = _play(work, chunk, table, lazy, 0, probe)
            played = probe
        # The two make the same choices, so that which of them plays is a matter of speed alone.
        if played < runs:
            pays = lazy is not None and turns * (TURN_COST + arms) < played * work.horizon * (ROUND_COST + arms)
            _play(work, chunk, table, lazy if pays else side_by_side, played, runs)
    else:
        raise AssertionError(f"no kernel plays {type(policy).__name__}")
    if policy.goal is None:
        chunk.recommended[:, 0] = chunk.final.argmax(axis=1)
    work.environment.check_pulls(chunk.final.max(axis=0), policy.name)
    return chunk


def rewards_of(work: Work, first: int, runs: int) -> ArmTable:
    """The arms of some runs as a kernel takes them: a row for all runs, or one per run."""
    environment = work.environment
    if not environment.written:
        return environment.table(work.seed, first, runs)
    pool = np.empty((runs, environment.K, work.horizon))
    write = specialise(write_paths, {})
    for begin, end, table in environment.pieces(work.seed, first, runs, work.horizon):
        bits = (SOURCES[work.source], np.uint64(work.seed), environment.jointly)
        write(first, table, int(len(table.kind) > 1), *bits, begin, pool[:, :, begin:end])
    kind = np.full(pool.shape[:2], TAPE, np.int64)
    start = np.arange(0, pool.size, work.horizon).reshape(kind.shape)
    none = np.zeros(kind.shape)
    return ArmTable(kind, none, none, start, np.full(kind.shape, work.horizon), pool.ravel())


def _play(work: Work, chunk: Chunk, table: ArmTable, kernel: Any, begin: int, end: int) -> int:
    """Play some runs of a chunk; gives how often a lazy kernel had to look at all arms."""
    policy, goal = work.policy, work.policy.goal or Mean()
    first = chunk.first + begin
    row_step = 0
    if work.environment.varies or work.environment.written:
        row_step = 1
        columns = ("kind", "loc", "scale", "start", "size")
        table = table._replace(**{name: getattr(table, name)[begin:end] for name in columns})
    trace = slice(begin, end) if len(chunk.choices) else slice(0)
    rewards: tuple[Any, ...] = (table, row_step, SOURCES[work.source], np.uint64(work.seed))
    recommended = chunk.recommended[begin:end]
    if isinstance(policy, IndexPolicy):
        recommended = recommended[:, 0]
    outputs = (
        np.array(work.checkpoints, np.int64), work.batch, chunk.pulls[first // work.batch - chunk.first_batch :],
        chunk.final[begin:end], recommended, chunk.reward_mean[begin:end], chunk.reward_variance[begin:end],
        chunk.choices[trace], chunk.rewards[trace],
    )  # fmt: skip
    if isinstance(policy, EliminationPolicy):
        phases = policy.phases(work.horizon, work.environment.K)
        quotas = np.array([pulls for pulls, _ in phases], np.int64)
        keep = np.array([stay for _, stay in phases], np.int64)
        rule = (not policy.keeps_samples, policy.accepts, policy.by_spread)
        kernel(first, end - begin, quotas, keep, *rule, *rewards, goal.arguments(), *outputs)
        return 0
    assert isinstance(policy, IndexPolicy)
    status = np.zeros(6, np.int64)
    game: tuple[Any, ...] = (first, end - begin, work.horizon, policy.pilot(work.horizon, work.environment.K))
    if kernel is work.kernels.rounds:
        window, discount = policy.memory
        game += (policy.least_pilot, min(window, work.horizon), discount, work.feedback == "full")
    else:
        rewards += _tables(work.horizon + 2 + index_play.AHEAD)
    try:
        kernel(*game, *rewards, policy.arguments(work.horizon), goal.arguments(), *outputs, status)
    except IndexError:
        raise past_the_end(policy) from None
    if status[0] == index_play.NOT_A_NUMBER:
        raise _not_a_number(work, *(int(v) for v in status[1:5]))
    return int(status[5])


def past_the_end(policy: Policy) -> InvalidInput:
    """The error for a user's index that reads what a table does not have."""
    return InvalidInput(
        f"the index of {policy.name} reads past the end of a table; give tables an entry for all pulls or rounds up to "
        "the horizon, or limit the place as in table[min(int(arm.pulls), table.size - 1)]"
    )


def _not_a_number(work: Work, run: int, arm: int, t: int, pulls: int) -> InvalidInput:
    """The error for an index that is not a number: a record that ran out, or a formula that is undefined."""
    most = np.zeros(work.environment.K, np.int64)
    most[arm] = pulls
    work.environment.check_pulls(most, work.policy.name)
    return InvalidInput(
        f"the index of {work.policy.name} is not a number for arm {arm} after {t} rounds of run {run}; "
        "it must be a number for every record (infinity is allowed); if rewards are beyond 1e75, "
        "fourth powers overflow: scale them down"
    )


def policy_bindings(policy: IndexPolicy) -> dict[Any, Any]:
    """What a kernel's placeholders stand for when it plays a policy, but for the objective."""
    score = policy.score or formulas.no_score
    read = mentions(policy.formula) | mentions(score)
    draws = bool({"drawn_mean", "drawn_variance"} & read)
    moments = draws or bool({"third", "fourth"} & read)
    return {
        formulas.index: policy.formula,
        formulas.score: score,
        formulas.keeps_moments: _ANSWER[moments],
        formulas.keeps_lead: _ANSWER[policy.score is not None],
        formulas.keeps_draws: _ANSWER[draws],
    }


@lru_cache(maxsize=64)
def at_once(formula: Callable[..., Any]) -> Callable[..., Any]:
    """A formula with rejection samplers that try but once, where that cannot go unnoticed; else the formula itself."""
    if spreads_nan(formula, (gamma, normal, uniform), statistics.Arm._fields):
        return substituted(formula, {gamma: gamma_at_once})
    return formula


def is_lazy(work: Work) -> bool:
    """Whether the lazy kernel plays this work."""
    policy = work.policy
    if not isinstance(policy, IndexPolicy):
        return False
    possible = not (_NOT_LAZY & mentions(policy.formula)) and policy.never_falls(work.environment.lowest)
    possible = possible and work.environment.clock == "pulls"
    if work.kernel == "lazy" and not possible:
        raise InvalidInput(
            f"{policy.name} cannot be played by the lazy kernel here: its index may fall as rounds pass, or rewards "
            "are counted by rounds"
        )
    return possible and work.kernel != "side by side"


def is_random(policy: Policy) -> bool:
    """Whether a policy draws random numbers: on the same rewards it may then choose otherwise in another run."""
    formulas_of = (policy.formula, policy.score) if isinstance(policy, IndexPolicy) else ()
    return any(_RANDOM & mentions(formula) for formula in formulas_of if formula is not None)


def check_custom(policy: CustomPolicy, horizon: int, lowest: float) -> None:
    """Compile a user's index on its own and try its promise never to fall on sample records."""
    arguments = policy.arguments(horizon)
    check_formula(policy.formula, arguments, policy.name)
    if not policy.factory.never_falls:
        return
    falls = specialise(index_play.first_fall, {formulas.index: policy.formula})
    before, after, pulls, mean, variance = falls(arguments, lowest < 0)
    if before > 0:
        raise InvalidInput(
            f"{policy.name} was declared never_falls=True, but its index falls between t = {before} and t = {after} "
            f"for an arm with pulls={pulls:g}, mean={mean:g}, variance={variance:g}; declare never_falls=False"
        )
