"""Which arm an index policy plays next, given what is known of every arm: live or in a simulation."""

import math
from typing import NamedTuple

import numpy as np

from .formulas import draws_normals, has_exact_fallback, index, index_branch_free, keeps_lead, score, value
from .state import INDEX, LAST, PENDING, PULLS, SCORE, rounds_remembered, state_of, sums_of
from .statistics import arm_record, radius, record_of
from .streams import POLICY, fold, normal, stream_key

ROUNDING = 1e-9  # tolerance: weights of rewards may fall short of whole numbers by this much


class Decision(NamedTuple):
    """What a choice depends on besides the arms."""

    t: int  # rounds played, including pending ones
    rounds: float  # those that the confidence radius uses: fewer than ``t`` where some are forgotten
    least: int  # rewards that an arm needs before it has an index
    end_of_pilot: int  # rounds of the pilot
    counted: float  # whether pending pulls count in an arm's pulls (1 or 0); its moments are those of the rewards told
    number: int  # number of the decision, from which randomised policies draw


def arm_at(sums, rows, kept, i, decision, radius_t, policy_key, round_key, lead):
    """The record of arm ``i`` for a decision."""
    more = decision.counted * rows[PENDING, i]
    epsilon = radius_t * (1.0 / math.sqrt(rows[PULLS, i] + more))
    last = max(rows[LAST, i], np.float64(decision.end_of_pilot))
    last = np.float64(decision.t) if rows[PENDING, i] > 0.0 else last
    key = fold(policy_key, i)
    drawn = normal(key, decision.number) if draws_normals() else math.nan
    return record_of(sums, kept, i, more, epsilon, last, fold(key, decision.number), round_key, lead, drawn)


def evaluate(rows, kept, decision, policy_key, arguments):
    """Write the index of every arm to ``rows[INDEX]``, except of those that have -inf there. All arms at once: the
    compiler can vectorise over them, and a pointer to this function is followed once.
    """
    t, sums = decision.t, sums_of(rows, rows.shape[1])
    radius_t, round_key, lead = radius(decision.rounds), fold(policy_key, kept.shape[0] + decision.number), -math.inf
    if keeps_lead():
        for i in range(rows.shape[1]):
            v = -math.inf
            if rows[INDEX, i] > -math.inf:
                arm = arm_at(sums, rows, kept, i, decision, radius_t, policy_key, round_key, math.nan)
                v = score(arm, t, *arguments)
            rows[SCORE, i] = v
        for i in range(rows.shape[1]):
            lead = rows[SCORE, i] if rows[SCORE, i] > lead else lead
    for i in range(rows.shape[1]):
        if rows[INDEX, i] > -math.inf:
            arm = arm_at(sums, rows, kept, i, decision, radius_t, policy_key, round_key, lead)
            rows[INDEX, i] = index_branch_free(arm, t, *arguments)
    if has_exact_fallback():
        for i in range(rows.shape[1]):
            if rows[INDEX, i] != rows[INDEX, i]:
                arm = arm_at(sums, rows, kept, i, decision, radius_t, policy_key, round_key, lead)
                rows[INDEX, i] = index(arm, t, *arguments)


def evaluate_objective(rows, kept, objective):
    """Write the value of every arm to ``rows[INDEX]``; -inf for those that were never played."""
    sums = sums_of(rows, rows.shape[1])
    for i in range(rows.shape[1]):
        rows[INDEX, i] = -math.inf
        if rows[LAST, i] > 0.0:
            rows[INDEX, i] = value(arm_record(sums, kept, i), *objective)


def largest_index(state, least, counted):
    """The arm with the largest index; ties go to the lowest arm, among infinite indices to the least played arm, and
    to the first eligible one if all are -inf. Returns -1 - i if the index of arm i is NaN.
    """
    pulls, pending, indices = state.sums.pulls, state.pending, state.rows[INDEX]
    best, top = 0, indices[0]
    for i in range(pulls.size):
        v = indices[i]
        if v != v:
            return -1 - i
        fewer = pulls[i] + counted * pending[i] < pulls[best] + counted * pending[best]
        if v > top or (v == top and v == math.inf and fewer):
            best, top = i, v
    while top == -math.inf and best < pulls.size - 1 and not (state.active[best] and pulls[best] >= least - ROUNDING):
        best += 1
    return best


def mark_eligible(state, least):
    """Write 0 to ``rows[INDEX]`` of active arms with at least ``least`` rewards, -inf to that of the others."""
    for i in range(state.seen.size):
        eligible = state.active[i] and state.sums.pulls[i] >= least - ROUNDING
        state.rows[INDEX, i] = 0.0 if eligible else -math.inf


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


def choose(state, decision, seed, run, arguments):
    """The arm to play: that of :func:`least_served`, or else the active arm with the largest index among those that
    have one; -1 - i if the index of arm i is NaN.
    """
    a = least_served(state, decision.least)
    if a >= 0:
        return a
    mark_eligible(state, decision.least)
    evaluate(state.rows, state.kept, decision, stream_key(seed, POLICY, run), arguments)
    return largest_index(state, decision.least, decision.counted)


def ask(memory, rule, t, pending, number, seed, run, arguments):
    """:func:`choose`, for an agent after ``t`` rewards with ``pending`` pulls without one; ``rule``: window, discount,
    and what a :class:`Decision` has from ``least`` to ``counted``.
    """
    window, discount, least, end_of_pilot, counted = rule
    state = state_of(*memory)
    rounds = rounds_remembered(state.sums, pending, t, window, discount)
    decision = Decision(t + pending, rounds, least, end_of_pilot, counted, number)
    return choose(state, decision, seed, run, arguments)


def count_choices(memory, rule, t, pending, number, seed, draws, arguments, counts):
    """Count the choices of :func:`ask` over ``draws`` independent draws of the policy's own randomness."""
    for run in range(1, draws + 1):
        a = ask(memory, rule, t, pending, number, seed, run, arguments)
        if a < 0:
            return a
        counts[a] += 1
    return 0


class Holding(NamedTuple):
    """Constraints on a policy that holds several arms at a time."""

    places: int  # number of arms held; 0: no constraints, one arm is played in every round
    least: int  # minimum number of rounds that an arm is held
    warm: int  # number of initial rounds in which all arms are seen and none is held
    aware: bool  # whether indices allow for the costs of a switch
    costs: np.ndarray  # per arm, cost of a switch into or out of it


class Held(NamedTuple):
    """What is held, as arrays by arm."""

    owned: np.ndarray  # whether an arm is held now
    since: np.ndarray  # since which round
    plays: np.ndarray  # in how many rounds it was held
    chosen: np.ndarray  # whether it is chosen for the next round


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


def hold_best(state, held, count, places, least):
    """Fill the places left with the active arms of the largest indices, in the order of :func:`largest_index`."""
    while count < places:
        a = largest_index(state, least, 0.0)
        if not state.active[a]:
            break
        held.chosen[a], state.active[a], state.rows[INDEX, a] = True, False, -math.inf
        count += 1
