"""Which arm an index policy plays, given the sums of every arm: one decision at a time, live or in a simulation."""

import math
from typing import NamedTuple

import numpy as np

from .formulas import draws_normals, index, keeps_lead, score
from .memory import makes_arrays
from .statistics import Sums, radius, record_of
from .streams import POLICY, fold, normal, stream_key

ROUNDING = 1e-9  # tolerance: weights of rewards may fall short of whole numbers by this much


def leader(indices, pulls):
    """The arm with the largest index; ties go to the lowest arm, among infinite indices to the least played arm.

    Returns -1 - i if the index of arm i is NaN.
    """
    best = 0
    top = indices[0]
    for i in range(indices.size):
        v = indices[i]
        if v != v:
            return -1 - i
        if v > top or (v == top and v == math.inf and pulls[i] < pulls[best]):
            best = i
            top = v
    return best


class Pending(NamedTuple):
    """Pulls whose rewards are not known yet, and how they count.

    Attributes
    ----------
    pulls : np.ndarray
        per arm, pending pulls
    active : np.ndarray
        per arm, whether it may be played
    counted : float
        1 if pending pulls count in an arm's pulls, while its moments are those of the rewards told; 0 if not
    number : int
        number of the decision, from which randomised policies draw
    """

    pulls: np.ndarray
    active: np.ndarray
    counted: float
    number: int


class Position(NamedTuple):
    """The state that a decision is based on.

    Attributes
    ----------
    t : int
        rounds played, including pending ones
    rounds : float
        the number of rounds that the confidence radius uses: fewer than ``t`` where some are forgotten
    sums : Sums
        sums of the rewards of every arm
    pending : Pending
        pulls whose rewards are not known yet
    least : int
        rewards that an arm needs before it has an index
    last : np.ndarray
        per arm, rounds played when its statistics last changed
    kept : np.ndarray
        cells kept by statistics, ``kept[arm, cell, 0]``
    """

    t: int
    rounds: float
    sums: Sums
    pending: Pending
    least: int
    last: np.ndarray
    kept: np.ndarray


@makes_arrays
def decide(position, seed, run, arguments, out):
    """The active arm with the largest index among those that have one; writes the indices to ``out``."""
    t, rounds, sums, pending, least, last, kept = position
    arms = out.size
    policy_key = stream_key(seed, POLICY, run)
    round_key = fold(policy_key, arms + pending.number)
    first = -1
    lead = -math.inf
    for scoring in (True, False):
        if scoring and not keeps_lead():
            continue
        for i in range(arms):
            out[i] = -math.inf
            if not pending.active[i] or sums.pulls[i] < least - ROUNDING:
                continue
            if first < 0:
                first = i
            more = pending.counted * pending.pulls[i]
            epsilon = radius(rounds) * (1.0 / math.sqrt(sums.pulls[i] + more))
            arm_key = fold(policy_key, i)
            key = fold(arm_key, pending.number)
            drawn = normal(arm_key, pending.number) if draws_normals() else math.nan
            arm = record_of(sums, kept, i, more, epsilon, last[i], key, round_key, lead, drawn)
            if scoring:
                out[i] = score(arm, t, *arguments)
            else:
                out[i] = index(arm, t, *arguments)
        if scoring:
            lead = out.max()
    best = leader(out, sums.pulls + pending.counted * pending.pulls)
    return first if best >= 0 and out[best] == -math.inf else best


def choose(position, seed, run, arguments, out):
    """The arm to play: the least played one while it has fewer than ``least`` pulls, including pending ones; otherwise
    the choice of :func:`decide`. While no arm has ``least`` rewards, arms are played in turn.
    """
    sums, pending, least = position.sums, position.pending, position.least
    fewest, served, defined = -1, math.inf, False
    for i in range(out.size):
        if pending.active[i]:
            s = sums.pulls[i] + pending.pulls[i]
            if s < served:
                fewest, served = i, s
            defined |= sums.pulls[i] >= least - ROUNDING
    if served < least - ROUNDING or not defined:
        return fewest
    return decide(position, seed, run, arguments, out)


def count_choices(draws, position, seed, arguments, out, counts):
    """Count the choices of :func:`choose` over ``draws`` independent draws of the policy's own randomness."""
    for run in range(1, draws + 1):
        a = choose(position, seed, run, arguments, out)
        if a < 0:
            return a
        counts[a] += 1
    return 0
