"""Simulate policies, let one identify the best arm, or trace one run of one of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from .arms.bandit import Environment, as_environment
from .engine.stopping import CHUNK, Found, Search, run_search
from .engine.work import FEEDBACK, SOURCES, Chunk, Work, prepare, run_chunk
from .errors import InvalidInput
from .identification import Identification
from .policies.base import Policy, StoppingPolicy, check_policy
from .results import Record, merge
from .study import Study
from .validation import one_of, whole

LARGEST_SEED = 2**64 - 1
LARGEST_HORIZON = 10**9
_MEMORY = 4 * 2**30
_T = TypeVar("_T")
_C = TypeVar("_C")


def simulate(
    policies: Policy | Iterable[Policy],
    bandit: Any,
    *,
    horizon: int,
    runs: int = 1000,
    seed: int = 0,
    workers: int | None = None,
    checkpoints: int | Iterable[int] = 100,
    chunk: int | None = None,
    progress: bool | None = None,
    source: str = "splitmix",
    feedback: str = "bandit",
) -> Study:
    """Play policies on a bandit, many times, and keep what is needed to judge them.

    Same seed, same result, bit for bit, whatever the number of workers, the size of chunks, and the other policies.
    The j-th pull of arm i in run r pays the same whatever the policy.

    Parameters
    ----------
    policies : one or several, with different names
    bandit : a Bandit, Tape, RandomBandit or SwitchingBandit, or a list of arms
    horizon : rounds per run (the budget, for best-arm identification)
    runs : independent repetitions
    seed : a whole number from 0
    workers : threads; None for all cores
    checkpoints : rounds at which pulls are kept, or how many of them, spaced logarithmically; the horizon is always one
    chunk : runs per unit of work; None for a good default
    progress : show a progress bar; None for "if standard error is a terminal"
    source : bits of rewards: "splitmix" (fastest) or "philox" (for more than about 10^13 rewards in one study)
    feedback : "bandit": only the reward of the arm played is seen; "full": those of all arms are (index policies only)
    """
    listed = list(policies) if isinstance(policies, Iterable) else [policies]
    if not listed:
        raise InvalidInput("there is no policy to simulate; pass at least one")
    environment = as_environment(bandit)
    horizon = whole("horizon", horizon, 2, LARGEST_HORIZON)
    runs = whole("runs", runs, 1)
    seed = whole("seed", seed, 0, LARGEST_SEED)
    count = cores() if workers is None else whole("workers", workers, 1)
    environment.check_horizon(horizon)
    times = checkpoint_times(checkpoints, horizon, environment.switches)
    one_of("source", source, tuple(SOURCES))
    one_of("feedback", feedback, FEEDBACK)
    names: set[str] = set()
    works = []
    for policy in listed:
        if check_policy(policy).name in names:
            raise InvalidInput(f"two policies are called {policy.name!r}; give one of them another name=")
        names.add(policy.name)
        works.append(Work(policy, environment, horizon, runs, seed, times, source, feedback=feedback))
    _check_memory(works[0])
    for work in works:
        prepare(work)
    tasks = [task for work in works for task in tasks_of(work, chunk)]
    with _bar(progress, sum(task.rounds for task in tasks)) as advance:
        chunks = run_tasks(tasks, count, advance, compute)
    outcomes = {}
    for work in works:
        outcomes[work.policy.name] = merge(work, [c for task, c in chunks if task.work is work])
    mean, variance = environment.truth(seed, runs)
    settings = {
        "bandit": environment.to_dict(),
        "horizon": horizon,
        "runs": runs,
        "seed": seed,
        "source": source,
        "feedback": feedback,
    }
    return Study(Record(outcomes, mean, variance, settings))


@dataclass(frozen=True)
class Task:
    """A chunk to be simulated."""

    work: Work
    first: int
    runs: int

    @property
    def rounds(self) -> int:
        """Rounds to play: what progress is measured in."""
        return self.runs * self.work.horizon


def tasks_of(work: Work, chunk: int | None = None) -> list[Task]:
    """A work cut into chunks."""
    size = work.chunk if chunk is None else whole("chunk", chunk, 1)
    return [Task(work, first, min(size, work.runs - first)) for first in range(0, work.runs, size)]


def compute(task: Task) -> Chunk:
    """The chunk of a task."""
    return run_chunk(task.work, task.first, task.runs)


def run_tasks(
    tasks: list[_T], workers: int, advance: Callable[[_T], None] | None, compute: Callable[[_T], _C]
) -> list[tuple[_T, _C]]:
    """Run tasks on threads (kernels release the interpreter); the first error stops the rest and is raised."""
    done: list[tuple[_T, _C]] = []
    with ThreadPoolExecutor(workers) as pool:
        waiting: dict[Future[_C], _T] = {pool.submit(compute, task): task for task in tasks}
        try:
            for future in as_completed(waiting):
                task = waiting[future]
                done.append((task, future.result()))
                if advance is not None:
                    advance(task)
        except BaseException:
            for future in waiting:
                future.cancel()
            raise
    return done


def identify(
    policy: StoppingPolicy,
    bandit: Any,
    *,
    runs: int = 1000,
    seed: int = 0,
    limit: int = 10**6,
    workers: int | None = None,
    chunk: int | None = None,
) -> Identification:
    """Let a policy that stops by itself, such as LUCB, find the best arm, many times.

    Same seed, same result, bit for bit, whatever the number of workers and the size of chunks. Rewards are those that
    :func:`simulate` would pay: the j-th pull of arm i in run r pays the same whatever the policy.

    Parameters
    ----------
    policy : a policy that stops by itself
    bandit : a Bandit, Tape or RandomBandit, or a list of arms
    runs : independent repetitions
    seed : a whole number from 0
    limit : rounds after which a run is given up
    workers : threads; None for all cores
    chunk : runs per unit of work; None for a good default
    """
    if not isinstance(check_policy(policy), StoppingPolicy):
        raise InvalidInput(
            f"{policy.name} does not stop by itself, as sb.LUCB(L=...) does; it plays a given number of rounds: use "
            "sb.simulate(policy, bandit, horizon=...)"
        )
    environment = as_environment(bandit)
    _check_independent(policy, environment)
    runs = whole("runs", runs, 1)
    seed = whole("seed", seed, 0, LARGEST_SEED)
    limit = whole("limit", limit, 2, LARGEST_HORIZON)
    count = cores() if workers is None else whole("workers", workers, 1)
    size = CHUNK if chunk is None else whole("chunk", chunk, 1)
    policy.check_horizon(limit, environment.K)
    search = Search(policy, environment, limit, seed)

    def play(first: int) -> Found:
        return run_search(search, first, min(size, runs - first))

    played = run_tasks(list(range(0, runs, size)), count, None, play)
    found = [part for _, part in sorted(played, key=lambda item: item[0])]
    settings = {"bandit": environment.to_dict(), "runs": runs, "seed": seed, "limit": limit}
    return Identification(
        policy,
        np.concatenate([part.pulls for part in found]),
        np.concatenate([part.recommended for part in found]),
        np.concatenate([part.stopped for part in found]),
        environment.truth(seed, runs),
        settings,
    )


@dataclass(frozen=True)
class Trace:
    """One run, round by round: the arms chosen and the rewards they paid; and the arm recommended in the end.

    A policy that looks for the m > 1 best arms recommends a list of m arms, in order of arm.
    """

    choices: np.ndarray
    rewards: np.ndarray
    recommended: int | list[int]

    def __len__(self) -> int:
        return len(self.choices)


def trace(
    policy: Policy,
    bandit: Any,
    *,
    horizon: int,
    seed: int = 0,
    run: int = 0,
    source: str = "splitmix",
    kernel: str = "auto",
    feedback: str = "bandit",
) -> Trace:
    """One run of a policy, the same as run ``run`` of :func:`simulate` with that seed, with every choice.

    For a policy that stops by itself: the same as run ``run`` of :func:`identify`, given up after ``horizon`` rounds.

    Parameters
    ----------
    policy, bandit, horizon, seed, source, feedback : as for :func:`simulate`
    run : which run
    kernel : "auto", or "lazy" or "side by side" to force one of the two (they make the same choices)
    """
    check_policy(policy)
    environment = as_environment(bandit)
    horizon = whole("horizon", horizon, 2, LARGEST_HORIZON)
    run = whole("run", run, 0)
    seed = whole("seed", seed, 0, LARGEST_SEED)
    one_of("source", source, tuple(SOURCES))
    one_of("kernel", kernel, ("auto", "lazy", "side by side"))
    one_of("feedback", feedback, FEEDBACK)
    if isinstance(policy, StoppingPolicy):
        _check_independent(policy, environment)
        policy.check_horizon(horizon, environment.K)
        found = run_search(Search(policy, environment, horizon, seed, source), run, 1, trace=True)
        played = int(found.pulls.sum())
        return Trace(found.choices[0, :played], found.rewards[0, :played], int(found.recommended[0]))
    work = Work(policy, environment, horizon, run + 1, seed, (horizon,), source, kernel, feedback)
    _check_memory(work)
    prepare(work)
    chunk = run_chunk(work, run, 1, trace=True)
    played = int(chunk.final.sum())
    arms = chunk.recommended[0].tolist()
    return Trace(chunk.choices[0, :played], chunk.rewards[0, :played], arms if policy.sought > 1 else arms[0])


def checkpoint_times(checkpoints: int | Iterable[int], horizon: int, switches: tuple[int, ...] = ()) -> tuple[int, ...]:
    """Rounds at which pulls are kept: given, or spaced logarithmically from 1; switches and the horizon are always.

    Where arms change, spaced evenly.
    """
    if isinstance(checkpoints, (int, np.integer)):
        space = np.linspace if switches else np.geomspace
        spaced = space(1, horizon, whole("checkpoints", checkpoints, 1))
        return tuple(sorted({*np.rint(spaced).astype(int).tolist(), *switches, horizon}))
    if not isinstance(checkpoints, Iterable):
        raise InvalidInput(f"checkpoints must be a number of them, or a list of rounds, got {checkpoints!r}")
    return tuple(sorted({*(whole("checkpoint", t, 1, horizon) for t in checkpoints), *switches, horizon}))


def _check_independent(policy: StoppingPolicy, environment: Environment) -> None:
    if environment.written or environment.clock != "pulls":
        raise InvalidInput(
            f"{policy.name} can be sure of an arm only where rewards are independent and stay the same, which those of "
            f"{environment!r} do not; simulate a policy with a given horizon instead"
        )


def _check_memory(work: Work) -> None:
    written = 8 * work.horizon * work.environment.K
    if work.environment.written and written > _MEMORY:
        raise InvalidInput(
            f"the rewards of {work.environment!r} are written out before a run is played, and {work.horizon} rounds of "
            f"{work.environment.K} arms would take {written / 2**30:.1f} GiB; shorten the horizon"
        )
    needed = 8 * len(work.checkpoints) * work.environment.K * -(-work.runs // work.batch)
    if needed > _MEMORY:
        raise InvalidInput(
            f"pulls at {len(work.checkpoints)} checkpoints of {work.runs} runs with arms of their own would take "
            f"{needed / 2**30:.1f} GiB; pass fewer checkpoints, as in checkpoints=[{work.horizon}]"
        )


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def _bar(progress: bool | None, total: int) -> Iterator[Callable[[Task], None] | None]:
    if not (sys.stderr.isatty() if progress is None else progress):
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("simulating"), BarColumn(), TextColumn("{task.percentage:3.0f}%"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("simulating", total=total)
        yield lambda finished: bar.advance(task, finished.rounds)
