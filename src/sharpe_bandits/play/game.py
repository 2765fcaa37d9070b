"""Inputs and outputs of a kernel, as named tuples so that no call depends on an order."""

from typing import NamedTuple

import numpy as np

#: Runs that a vectorised kernel plays in parallel.
LANES = 16
#: Rewards drawn together, per arm.
AHEAD = 64


class Status(NamedTuple):
    """What a kernel reports: whether an index or reward was NaN; if so, where, and after how many rounds and pulls."""

    failed: int
    run: int
    arm: int
    t: int
    pulls: int


def give_up(status, run, arm, t, pulls):
    """Write a :class:`Status`."""
    status[0], status[1], status[2], status[3], status[4] = 1, run, arm, t, pulls


class Game(NamedTuple):
    """Runs with these ``numbers``, of ``horizon`` rounds, each with a pilot of ``pilot`` pulls per arm."""

    numbers: np.ndarray
    horizon: int
    pilot: int


class Outputs(NamedTuple):
    """Arrays of a chunk that a kernel writes its results to (see :class:`sharpe_bandits.simulation.spec.Chunk`)."""

    checkpoints: np.ndarray
    halfway_check: int  # the position of half of the horizon among the checkpoints
    batch: np.ndarray  # for every run, the row of ``pulls`` that its pulls are added to
    pulls: np.ndarray
    halfway: np.ndarray
    final: np.ndarray
    recommended: np.ndarray
    stopped: np.ndarray
    reward_mean: np.ndarray
    reward_variance: np.ndarray
    choices: np.ndarray
    rewards: np.ndarray
    status: np.ndarray  # the fields of :class:`Status`
    stop: np.ndarray  # a kernel returns soon after another thread has set ``stop[0]``; its outputs are then meaningless


def keep_pulls(counts, pulls, is_halfway, halfway):
    """Add a run's pulls per arm to those of its batch at a checkpoint; at half of the horizon also store them per run.

    Takes rows of :class:`Outputs`, not all of it: passing a tuple of arrays costs as much as playing ten rounds.
    """
    for i in range(counts.size):
        pulls[i] += counts[i]
    if is_halfway:
        for i in range(counts.size):
            halfway[i] = counts[i]


def best_value(values):
    """The arm with the largest value; ties go to the lowest arm."""
    best, top = 0, -np.inf
    for i in range(values.size):
        if values[i] > top:
            best, top = i, values[i]
    return best
