"""Which arm an index policy plays, from sums kept of every arm: one decision at a time, live or in a game."""

import math
from typing import NamedTuple

import numpy as np

from .formulas import draws_normals, index, keeps_lead, score
from .memory import makes_arrays
from .statistics import Sums, radius, record_of
from .streams import POLICY, fold, normal, stream_key

ROUNDING = 1e-9  # weights of rewards may fall short of whole numbers by so much


def leader(indices, pulls):
    """The arm to play: largest index, ties to the lowest; among infinite ones the least played. -1 - i: i is NaN."""
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


class UnderWay(NamedTuple):
    """Pulls that were asked for and not yet told, and what they change.

    Attributes
    ----------
    pulls : np.ndarray
        per arm, pulls under way
    active : np.ndarray
        per arm, whether it may be played
    counted : float
        1 if pulls under way count in an arm's pulls, its moments being those of the rewards told; 0 if not
    number : int
        of the decision, by which randomised policies draw
    """

    pulls: np.ndarray
    active: np.ndarray
    counted: float
    number: int


class Position(NamedTuple):
    """What a decision rests on.

    Attributes
    ----------
    t : int
        rounds played, those under way included
    rounds : float
        what the confidence radius takes for their number: fewer where some are forgotten
    sums : Sums
        of the rewards of every arm
    under_way : UnderWay
        pulls whose rewards are not known yet
    least : int
        rewards of an arm before it has an index
    last : np.ndarray
        per arm, rounds played when its statistics last changed
    kept : np.ndarray
        what statistics keep, ``kept[arm, cell, 0]``
    """

    t: int
    rounds: float
    sums: Sums
    under_way: UnderWay
    least: int
    last: np.ndarray
    kept: np.ndarray


@makes_arrays
def decide(position, seed, run, arguments, out):
    """The active arm with the largest index of those that have one; indices are left in ``out``."""
    t, rounds, sums, under_way, least, last, kept = position
    arms = out.size
    policy_key = stream_key(seed, POLICY, run)
    round_key = fold(policy_key, arms + under_way.number)
    first = -1
    lead = -math.inf
    for scoring in (True, False):
        if scoring and not keeps_lead():
            continue
        for i in range(arms):
            out[i] = -math.inf
            if not under_way.active[i] or sums.pulls[i] < least - ROUNDING:
                continue
            if first < 0:
                first = i
            more = under_way.counted * under_way.pulls[i]
            epsilon = radius(rounds) * (1.0 / math.sqrt(sums.pulls[i] + more))
            arm_key = fold(policy_key, i)
            key = fold(arm_key, under_way.number)
            drawn = normal(arm_key, under_way.number) if draws_normals() else math.nan
            arm = record_of(sums, kept, i, more, epsilon, last[i], key, round_key, lead, drawn)
            if scoring:
                out[i] = score(arm, t, *arguments)
            else:
                out[i] = index(arm, t, *arguments)
        if scoring:
            lead = out.max()
    best = leader(out, sums.pulls + under_way.counted * under_way.pulls)
    return first if best >= 0 and out[best] == -math.inf else best


def choose(position, seed, run, arguments, out):
    """The arm to play: one with fewer than ``least`` pulls, those under way included, the fewest first; otherwise what
    :func:`decide` says. While no arm has ``least`` rewards, arms are played in turn.
    """
    sums, under_way, least = position.sums, position.under_way, position.least
    fewest, served, defined = -1, math.inf, False
    for i in range(out.size):
        if under_way.active[i]:
            s = sums.pulls[i] + under_way.pulls[i]
            if s < served:
                fewest, served = i, s
            defined |= sums.pulls[i] >= least - ROUNDING
    if served < least - ROUNDING or not defined:
        return fewest
    return decide(position, seed, run, arguments, out)


def count_choices(draws, position, seed, arguments, out, counts):
    """Count what :func:`choose` says in so many independent draws of the policy's own randomness."""
    for run in range(1, draws + 1):
        a = choose(position, seed, run, arguments, out)
        if a < 0:
            return a
        counts[a] += 1
    return 0
