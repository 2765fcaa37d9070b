"""Which arm an index policy plays next, given what is known of every arm: live or in a simulation."""

import math
from typing import NamedTuple

import numpy as np

from .formulas import index, score
from .statistics import radius, record_of
from .streams import POLICY, fold, normal, stream_key

ROUNDING = 1e-9  # tolerance: weights of rewards may fall short of whole numbers by this much


class Decision(NamedTuple):
    """What a choice depends on besides the arms.

    Attributes
    ----------
    t : int
        rounds played, including pending ones
    rounds : float
        the number of rounds that the confidence radius uses: fewer than ``t`` where some are forgotten
    least : int
        rewards that an arm needs before it has an index
    end_of_pilot : int
        rounds of the pilot
    counted : float
        1 if pending pulls count in an arm's pulls, while its moments are those of the rewards told; 0 if not
    number : int
        number of the decision, from which randomised policies draw
    scores, draws_normals : bool
        whether the index reads the largest score of any arm, and a normal draw
    """

    t: int
    rounds: float
    least: int
    end_of_pilot: int
    counted: float
    number: int
    scores: bool
    draws_normals: bool


def best_index(indices, pulls, pending, counted):
    """The arm with the largest index; ties go to the lowest arm, among infinite indices to the least played arm.

    Returns -1 - i if the index of arm i is NaN.
    """
    best = 0
    top = indices[0]
    for i in range(indices.size):
        v = indices[i]
        if v != v:
            return -1 - i
        fewer = pulls[i] + counted * pending[i] < pulls[best] + counted * pending[best]
        if v > top or (v == top and v == math.inf and fewer):
            best = i
            top = v
    return best


def decide(state, decision, seed, run, arguments, out):
    """The active arm with the largest index among those that have one; writes the indices to ``out``."""
    t, rounds, least, end_of_pilot, counted, number, scores, draws_normals = decision
    sums, pending = state.sums, state.pending
    arms = out.size
    policy_key = stream_key(seed, POLICY, run)
    round_key = fold(policy_key, arms + number)
    radius_t = radius(rounds)
    first = -1
    lead = -math.inf
    for scoring in (True, False):
        if scoring and not scores:
            continue
        largest = -math.inf
        for i in range(arms):
            out[i] = -math.inf
            if not state.active[i] or sums.pulls[i] < least - ROUNDING:
                continue
            if first < 0:
                first = i
            more = counted * pending[i]
            epsilon = radius_t * (1.0 / math.sqrt(sums.pulls[i] + more))
            last = max(state.last[i], np.float64(end_of_pilot))
            if pending[i] > 0.0:
                last = np.float64(t)
            arm_key = fold(policy_key, i)
            drawn = normal(arm_key, number) if draws_normals else math.nan
            arm = record_of(sums, state.kept, i, more, epsilon, last, fold(arm_key, number), round_key, lead, drawn)
            if scoring:
                v = score(arm, t, *arguments)
                largest = v if v > largest else largest
            else:
                out[i] = index(arm, t, *arguments)
        if scoring:
            lead = largest
    best = best_index(out, sums.pulls, pending, counted)
    return first if best >= 0 and out[best] == -math.inf else best


def least_served(state, least):
    """The arm that is played next whatever its index: the least played one while it has fewer than ``least`` pulls,
    including pending ones. While no arm has ``least`` rewards, arms are played in turn. -1: indices decide.
    """
    fewest, served, defined = -1, math.inf, False
    for i in range(state.pending.size):
        if state.active[i]:
            s = state.sums.pulls[i] + state.pending[i]
            if s < served:
                fewest, served = i, s
            defined |= state.sums.pulls[i] >= least - ROUNDING
    return fewest if served < least - ROUNDING or not defined else -1


def choose(state, decision, seed, run, arguments, out):
    """The arm to play: the choice of :func:`least_served`, or else that of :func:`decide`."""
    a = least_served(state, decision.least)
    return a if a >= 0 else decide(state, decision, seed, run, arguments, out)


def count_choices(draws, state, decision, seed, arguments, out, counts):
    """Count the choices of :func:`choose` over ``draws`` independent draws of the policy's own randomness."""
    for run in range(1, draws + 1):
        a = choose(state, decision, seed, run, arguments, out)
        if a < 0:
            return a
        counts[a] += 1
    return 0


class Holding(NamedTuple):
    """Constraints on a policy that holds several arms at a time.

    Attributes
    ----------
    places : int
        number of arms held; 0: no constraints, one arm is played in every round
    least : int
        minimum number of rounds that an arm is held
    warm : int
        number of initial rounds in which all arms are seen and none is held
    aware : bool
        whether indices allow for the costs of a switch
    costs : np.ndarray
        per arm, cost of a switch into or out of it
    """

    places: int
    least: int
    warm: int
    aware: bool
    costs: np.ndarray


class Held(NamedTuple):
    """What is held, as arrays by arm: whether an arm is held now, since which round, in how many rounds it was, and
    whether it is chosen for the next round.
    """

    owned: np.ndarray
    since: np.ndarray
    plays: np.ndarray
    chosen: np.ndarray


def hold_first(state, held, holding, pilot, decision, base):
    """Choose arms to hold, as flags in ``held.chosen``, before indices decide: those that may not be sold yet, then
    those with too few rewards, the fewest first. Returns how many.

    Arms that are not active are neither chosen nor kept. Afterwards the active arms are those that indices decide
    about, and their anchors allow for the costs of a switch; ``base`` has the anchors as they were.
    """
    sums, anchor = state.sums, state.sums.anchor
    owned, since, plays, chosen = held
    arms, places, t, least = base.size, holding.places, decision.t, decision.least
    chosen[:] = False
    count = 0
    for i in range(arms):
        if owned[i] and state.active[i] and t - since[i] < holding.least and count < places:
            chosen[i] = True
            count += 1
    while count < places:
        a = -1
        for i in range(arms):
            if chosen[i] or not state.active[i]:
                continue
            if state.seen[i] >= pilot and sums.pulls[i] >= least - ROUNDING:
                continue
            fewer_plays = state.seen[i] < pilot and plays[i] < plays[a]
            if a < 0 or sums.pulls[i] < sums.pulls[a] or (sums.pulls[i] == sums.pulls[a] and fewer_plays):
                a = i
        if a < 0:
            break
        chosen[a] = True
        count += 1
    sold, number = 0.0, 0
    for i in range(arms):
        if owned[i]:
            sold += holding.costs[i]
            number += 1
    for i in range(arms):
        state.active[i] &= not chosen[i] and state.seen[i] >= pilot and sums.pulls[i] >= least - ROUNDING
        base[i] = anchor[i]
        if holding.aware and number > 0 and not owned[i]:
            anchor[i] -= 0.5 * (holding.costs[i] + sold / number) / holding.least
    return count


def hold_best(state, held, count, places, indices):
    """Fill the places left with the active arms of the largest indices; ties go to the lowest arm, among infinite
    indices to the least played arm.
    """
    pulls = state.sums.pulls
    while count < places:
        best = -1
        for i in range(indices.size):
            if not state.active[i] or held.chosen[i]:
                continue
            v = indices[i]
            if best < 0 or v > indices[best] or (v == indices[best] == np.inf and pulls[i] < pulls[best]):
                best = i
        if best < 0:
            break
        held.chosen[best] = True
        count += 1
