"""What a kernel is given to play, and where it leaves the results: named, so that no call depends on an order."""

from typing import NamedTuple

import numpy as np

#: Runs abreast in a kernel that plays several at once.
LANES = 16
#: Rewards drawn ahead of need, per arm.
AHEAD = 16
#: Rounds that a kernel looks ahead, at most: tables by rounds or pulls go so far beyond the horizon.
LOOKAHEAD = 64
#: A status: an index was not a number; the run, arm, round and the arm's pulls follow.
NOT_A_NUMBER = 1
#: Place in a status of how often the lazy kernel looked at all arms.
TURNS = 5


class Game(NamedTuple):
    """Runs ``first`` to ``first + runs - 1``, of ``horizon`` rounds, each arm played ``pilot`` times to begin with."""

    first: int
    runs: int
    horizon: int
    pilot: int


class Outputs(NamedTuple):
    """Where a kernel leaves its results: arrays of a chunk (see :class:`sharpe_bandits.engine.spec.Chunk`).

    ``halfway_check`` is the place among the checkpoints of half of the horizon. ``status`` says why a kernel gave up,
    if it did. A kernel also gives up soon after ``stop[0]`` was set, by another thread; what it has left by then means
    nothing.
    """

    checkpoints: np.ndarray
    halfway_check: int
    batch: int
    pulls: np.ndarray
    halfway: np.ndarray
    final: np.ndarray
    recommended: np.ndarray
    stopped: np.ndarray
    reward_mean: np.ndarray
    reward_variance: np.ndarray
    choices: np.ndarray
    rewards: np.ndarray
    status: np.ndarray
    stop: np.ndarray


def keep_pulls(counts, pulls, is_halfway, halfway):
    """Add the pulls of a run's arms to those of its batch at a checkpoint, and keep them apart halfway.

    Takes rows of :class:`Outputs`, not all of it: handing over a tuple of arrays costs as much as playing ten rounds.
    """
    for i in range(counts.size):
        pulls[i] += counts[i]
    if is_halfway:
        for i in range(counts.size):
            halfway[i] = counts[i]


def pilot_counts(t, arm, arms):
    """Pulls of an arm after ``t`` rounds of round robin."""
    return t // arms + (1 if arm < t % arms else 0)
