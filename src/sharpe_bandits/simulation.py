"""Simulate policies, or trace one run of one of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from .arms.bandit import as_environment
from .engine.work import SOURCES, Chunk, Work, prepare, run_chunk
from .errors import InvalidInput
from .policies.base import Policy, check_policy
from .results import Record, merge
from .study import Study
from .validation import one_of, whole

_LARGEST_SEED = 2**64 - 1
_LARGEST_HORIZON = 10**9
_MEMORY = 4 * 2**30


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
) -> Study:
    """Play policies on a bandit, many times, and keep what is needed to judge them.

    Same seed, same result, bit for bit, whatever the number of workers, the size of chunks, and the other policies.
    The j-th pull of arm i in run r pays the same whatever the policy.

    Parameters
    ----------
    policies : one or several, with different names
    bandit : a Bandit, Tape or RandomBandit, or a list of arms
    horizon : rounds per run (the budget, for best-arm identification)
    runs : independent repetitions
    seed : a whole number from 0
    workers : threads; None for all cores
    checkpoints : rounds at which pulls are kept, or how many of them, spaced logarithmically; the horizon is always one
    chunk : runs per unit of work; None for a good default
    progress : show a progress bar; None for "if standard error is a terminal"
    source : bits of rewards: "splitmix" (fastest) or "philox" (for more than about 10^13 rewards in one study)
    """
    listed = list(policies) if isinstance(policies, Iterable) else [policies]
    if not listed:
        raise InvalidInput("there is no policy to simulate; pass at least one")
    environment = as_environment(bandit)
    horizon = whole("horizon", horizon, 2, _LARGEST_HORIZON)
    runs = whole("runs", runs, 1)
    seed = whole("seed", seed, 0, _LARGEST_SEED)
    count = cores() if workers is None else whole("workers", workers, 1)
    times = checkpoint_times(checkpoints, horizon)
    one_of("source", source, tuple(SOURCES))
    names: set[str] = set()
    works = []
    for policy in listed:
        if check_policy(policy).name in names:
            raise InvalidInput(f"two policies are called {policy.name!r}; give one of them another name=")
        names.add(policy.name)
        works.append(Work(policy, environment, horizon, runs, seed, times, source))
    _check_memory(works[0])
    for work in works:
        prepare(work)
    tasks = [task for work in works for task in tasks_of(work, chunk)]
    with _bar(progress, sum(task.rounds for task in tasks)) as advance:
        chunks = run_tasks(tasks, count, advance)
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
    tasks: list[Task],
    workers: int,
    advance: Callable[[Task], None] | None = None,
    compute: Callable[[Task], Chunk] = compute,
) -> list[tuple[Task, Chunk]]:
    """Run tasks on threads (kernels release the interpreter); the first error stops the rest and is raised."""
    done: list[tuple[Task, Chunk]] = []
    with ThreadPoolExecutor(workers) as pool:
        waiting: dict[Future[Chunk], Task] = {pool.submit(compute, task): task for task in tasks}
        try:
            while waiting:
                finished, _ = wait(waiting, return_when=FIRST_COMPLETED)
                for future in finished:
                    task = waiting.pop(future)
                    done.append((task, future.result()))
                    if advance is not None:
                        advance(task)
        except BaseException:
            for future in waiting:
                future.cancel()
            raise
    return done


@dataclass(frozen=True)
class Trace:
    """One run, round by round: the arms chosen and the rewards they paid; and the arm recommended in the end."""

    choices: np.ndarray
    rewards: np.ndarray
    recommended: int

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
) -> Trace:
    """One run of a policy, the same as run ``run`` of :func:`simulate` with that seed, with every choice.

    Parameters
    ----------
    policy, bandit, horizon, seed, source : as for :func:`simulate`
    run : which run
    kernel : "auto", or "lazy" or "side by side" to force one of the two (they make the same choices)
    """
    check_policy(policy)
    environment = as_environment(bandit)
    horizon = whole("horizon", horizon, 2, _LARGEST_HORIZON)
    run = whole("run", run, 0)
    seed = whole("seed", seed, 0, _LARGEST_SEED)
    one_of("source", source, tuple(SOURCES))
    one_of("kernel", kernel, ("auto", "lazy", "side by side"))
    work = Work(policy, environment, horizon, run + 1, seed, (horizon,), source, kernel)
    prepare(work)
    chunk = run_chunk(work, run, 1, trace=True)
    played = int(chunk.final.sum())
    return Trace(chunk.choices[0, :played], chunk.rewards[0, :played], int(chunk.recommended[0]))


def checkpoint_times(checkpoints: int | Iterable[int], horizon: int) -> tuple[int, ...]:
    """Rounds at which pulls are kept: given, or spaced logarithmically from 1; the horizon is always the last."""
    if isinstance(checkpoints, (int, np.integer)):
        spaced = np.geomspace(1, horizon, whole("checkpoints", checkpoints, 1))
        return tuple(sorted({*np.rint(spaced).astype(int).tolist(), horizon}))
    return tuple(sorted({*(whole("checkpoint", t, 1, horizon) for t in checkpoints), horizon}))


def _check_memory(work: Work) -> None:
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
