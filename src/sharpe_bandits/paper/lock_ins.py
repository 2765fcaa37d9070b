"""Runs that lock in to a wrong arm, however rare they are.

A run that locks in costs a gap in every round, so a few of them in ten thousand decide how regret grows, and a thousand
long games see none. They show early: so many short games are played, and only those whose best arms got less than half
of the pulls in the second half are played to the end. All other runs are represented by the long games. Games are
functions of seed and run, so a short game is the beginning of a long one.
"""

from __future__ import annotations

import numpy as np

from ..experiments.description import Case
from ..play.game import LANES
from ..policies.base import Policy
from ..results.metrics import Estimate, wilson
from ..results.policy_result import PolicyResult
from ..simulation.api import simulate
from ..simulation.executors import cores, on_threads
from ..simulation.spec import Spec, run_chunk

#: Short games per run of the job, and their rounds; the page of a report names both.
GAMES, ROUNDS = 20, 10_000
#: A run is locked in if the best arms got less than this share of the pulls in its second half.
SHARE = 0.1


def screen(
    case: Case, policy: Policy, long: PolicyResult, runs: int, seed: int, confidence: float
) -> tuple[np.ndarray, Estimate]:
    """Mean regret of long games in batches of runs, and how many were locked in at the end: from ``runs`` short games
    and what became of those that looked locked in.
    """
    fixed = policy.with_fixed_pilot(case.horizon, case.environment.K)  # the pilot of the long game
    gaps = long.gaps(case.objective)[0]
    short = simulate(fixed, case.environment, horizon=ROUNDS, runs=runs, seed=seed)[fixed.name]
    assert short.halfway is not None
    suspects = np.flatnonzero(_share_of_best(short.final - short.halfway, gaps) < 0.5)
    spec = Spec(fixed, case.environment, case.horizon, 1, seed, tuple(int(t) for t in long.checkpoints))
    regret, late = np.empty((suspects.size, long.checkpoints.size)), np.empty((suspects.size, gaps.size))

    def play(first: int) -> None:
        together = slice(first, first + LANES)
        chunk = run_chunk(spec, suspects[together])
        regret[together], late[together] = chunk.pulls @ gaps, chunk.final - chunk.halfway

    on_threads(range(0, suspects.size, LANES), cores(), play)
    locked = wilson(int((_share_of_best(late, gaps) < SHARE).sum()), runs, confidence)
    return _combined(long, case, suspects, regret, runs), locked


def _share_of_best(pulls: np.ndarray, gaps: np.ndarray) -> np.ndarray:
    return pulls[:, gaps == 0].sum(axis=1) / pulls.sum(axis=1)


def _combined(long: PolicyResult, case: Case, suspects: np.ndarray, regret: np.ndarray, runs: int) -> np.ndarray:
    """Mean regret in as many batches as the long games have: suspects among as many runs of the other kind as there
    are."""
    totals, sizes = long.regret_per_batch(case.objective).copy(), long.batch_sizes.astype(float)
    batches = len(sizes)
    again = suspects[suspects < long.runs] // long.batch  # they were played as long games, too
    np.subtract.at(totals, again, regret[: len(again)])
    np.subtract.at(sizes, again, 1)
    others = np.where(sizes[:, None] > 0, totals / np.maximum(sizes, 1)[:, None], totals.sum(axis=0) / sizes.sum())
    sums, counts = np.zeros_like(totals), np.zeros(batches)
    np.add.at(sums, suspects * batches // runs, regret)
    np.add.at(counts, suspects * batches // runs, 1)
    share = (counts * batches / runs)[:, None]
    return sums * batches / runs + (1 - share) * others
