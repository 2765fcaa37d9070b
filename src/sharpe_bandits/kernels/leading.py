"""The kernel for an index that depends on other arms only through the lead, the largest score of any arm, and is
nonincreasing in it.

While an arm is played, the records of the others do not change, so its next rewards determine the lead after each of
its next pulls. At the least of these leads the indices of the other arms are largest: the arm is played for as long as
its exact index stays above them. It makes the same choices as :mod:`~sharpe_bandits.kernels.side_by_side`, one run at a
time.
"""

import math

import numpy as np

from .formulas import extras, index, index_parts, keeps_powers, long_game, score
from .game import LOOKAHEAD, NOT_A_NUMBER, TURNS, keep_pulls
from .lazy import (
    ANCHOR,
    DRAWN,
    FOURTH,
    MEAN,
    PULLS,
    SECOND,
    THIRD,
    VARIANCE,
    WIDE,
    add_up,
    comes_before,
    pilot_checkpoints,
    play_pilot,
    summarise,
    upper_bound,
)
from .lazy import ROWS as KEPT_ROWS
from .memory import called, zeros
from .rewards import fill
from .statistics import NOWHERE, best_estimate, pooled, record

#: Pulls of the arm played that are evaluated together, in whole vectors: at first, and from LASTING pulls on.
SHORT, LONG, LASTING = 8, LOOKAHEAD, 32
#: Rows of ``state[row, arm]`` after those of :mod:`~sharpe_bandits.kernels.lazy`: the parts of an index that depend
#: only on the arm's rewards, and its score.
ESTIMATE, WIDTH, OFFSET, SCORE, ROWS = range(KEPT_ROWS, KEPT_ROWS + 5)
#: Rows of ``ahead[row, pull]`` after those of ``state``: the lead after a pull, and the index of the arm played.
LEAD, INDEX, AHEAD_ROWS = range(ROWS, ROWS + 3)
NOTHING = np.uint64(0)
#: No arm. A literal -1 has a type of its own, for which every callee would be compiled again.
NONE = np.int64(-1)


def arm_in(state, i, lead):
    """The record in column ``i`` of ``state``, for a given lead."""
    third, fourth = (state[THIRD, i], state[FOURTH, i]) if keeps_powers() else (np.nan, np.nan)
    pulls, mean, variance = state[PULLS, i], state[MEAN, i], state[VARIANCE, i]
    return record(
        pulls=pulls, mean=mean, variance=variance, second_moment=state[SECOND, i], epsilon=np.nan, last=np.nan,
        key=NOTHING, round_key=NOTHING, lead=lead, standard_normal=np.nan,
        statistics=extras(NOWHERE, 0, 0, 0, pulls, 0.0, mean, variance, third, fourth, NOTHING),
        parts=(state[ESTIMATE, i], state[WIDTH, i], state[OFFSET, i]),
    )  # fmt: skip


def settle(state, i, arguments):
    """Compute the parts of the index in column ``i`` of ``state``, and the score, from pulls and moments."""
    state[ESTIMATE, i], state[WIDTH, i], state[OFFSET, i] = index_parts(arm_in(state, i, np.nan), *arguments)
    state[SCORE, i] = score(arm_in(state, i, np.nan), 0, *arguments)


@called
def evaluate(state, lead, arguments, out):
    """Indices of all arms for a given lead."""
    for i in range(out.size):
        out[i] = index(arm_in(state, i, lead), 0, *arguments)


def largest(scores, arms, but):
    """The largest score of any arm except ``but``; NaN does not count."""
    top = -math.inf
    for i in range(arms):
        v = scores[i]
        top = v if v > top and i != but else top
    return top


def bound(state, indices, arms, but):
    """An upper bound on the indices of all arms except ``but``, for leads from that of ``indices`` on.

    Infinite if some index could be NaN, so that the arms are evaluated after every pull.
    """
    top = -math.inf
    for i in range(arms):
        parts = state[ESTIMATE, i] + state[WIDTH, i] + state[OFFSET, i]
        v = upper_bound(indices[i] + 0.0 * parts)  # NaN if a part is infinite or NaN
        top = v if v > top and i != but else top
    return top


def look_ahead(width, rewards, inverse, less, state, a, s, horizon, rest, arguments, ahead):
    """Write the record of arm ``a``, the lead and its index after each of its next ``width`` pulls to ``ahead``;
    returns the least lead.

    ``s``: its pulls so far; ``rest``: the largest score of the other arms; ``inverse`` and ``less``: 1/s and 1/(s-1)
    from its next pull on. Columns beyond the horizon are meaningless.
    """
    add_up(width, rewards, state, a, ahead)
    base = state[ANCHOR, a]
    for j in range(width):
        ahead[ANCHOR, j] = base
        ahead[PULLS, j] = np.float64(min(s + 1 + j, horizon))
        summarise(ahead, j, inverse[j], less[j])
        settle(ahead, j, arguments)
    for j in range(width):
        own = ahead[SCORE, j]
        lead = own if own > rest else rest
        ahead[LEAD, j] = lead
        ahead[INDEX, j] = index(arm_in(ahead, j, lead), 0, *arguments)
    least = math.inf
    for j in range(width):
        least = min(least, ahead[LEAD, j])
    return least


def first_overtaken(indices, width, rival):
    """The first of ``width`` pulls that leaves an index not above ``rival``; ``width`` if none does."""
    first = width
    for j in range(width):
        first = min(first, width if indices[j] > rival else j)
    return first


def leading(game, rewards, tables, arguments, goal, out):
    """Play runs one after the other, with the same results as side by side."""
    first, runs, horizon, pilot = game
    arms, row_step, _ = rewards
    checkpoints, batch, status = out.checkpoints, out.batch, out.status
    # 1/s from ``first_pull`` on: complete, or, if the game is longer than the given table, for the next pulls.
    inverse = tables.inverse
    first_pull = 0
    if long_game():
        inverse = zeros(LONG + 1)
    count_arms = out.final.shape[1]
    padded = -(-count_arms // WIDE) * WIDE  # whole vectors: arms beyond the last are copies of the first
    count = zeros(count_arms, np.int64)
    state, indices, ahead = zeros((ROWS, padded)), zeros(padded), zeros((AHEAD_ROWS, LONG))
    pulls, scores = state[PULLS], state[SCORE]
    streams = zeros(count_arms, np.uint64)
    buffer = zeros((count_arms, 2 * DRAWN))
    drawn, until = zeros(count_arms, np.int64), zeros(count_arms, np.int64)  # range of pulls whose rewards are in it
    traced = out.choices.shape[0] > 0
    first_batch = first // batch
    for r in range(runs):
        run = first + r
        row = r * row_step
        cell = run // batch - first_batch
        if not play_pilot(run, row, pilot, rewards, tables, state, streams, buffer, drawn, until, out, r):
            return
        check = pilot_checkpoints(pilot, count, cell, out, r)
        for i in range(padded):
            settle(state, i, arguments)
        t = pilot * count_arms
        lead = largest(scores, count_arms, NONE)
        while t < horizon:
            status[TURNS] += 1
            evaluate(state, lead, arguments, indices)
            a, top, fewest = NONE, -math.inf, math.inf
            for i in range(count_arms):
                v = indices[i]
                if v != v:
                    status[0], status[1], status[2], status[3], status[4] = NOT_A_NUMBER, run, i, t, count[i]
                    return
                if a < 0 or comes_before(v, pulls[i], i, top, fewest, a):
                    a, top, fewest = i, v, pulls[i]
            rest = largest(scores, count_arms, a)
            s = count[a]
            started, stop = t, checkpoints[check]
            leads = True
            while leads and t < stop:
                if out.stop[0] != 0:
                    return
                width = SHORT if t - started < LASTING else LONG
                if s + width > until[a]:
                    ahead_of_need = 2 * DRAWN if width == LONG else DRAWN
                    fill(arms, row, a, streams[a], s, buffer[a, :ahead_of_need])
                    drawn[a], until[a] = s, s + ahead_of_need
                offset = s - drawn[a]
                if long_game():
                    first_pull = s
                    for j in range(width + 1):
                        inverse[j] = 1.0 / (s + j)
                v = s - first_pull
                least = look_ahead(
                    width, buffer[a, offset:], inverse[v + 1 :], inverse[v:], state, a, s, horizon, rest, arguments,
                    ahead,
                )  # fmt: skip
                if least < lead:
                    lead = least
                    evaluate(state, lead, arguments, indices)
                rival = bound(state, indices, count_arms, a)
                longest = min(width, stop - t)
                played = first_overtaken(ahead[INDEX], width, rival)
                leads = played >= longest
                played = min(played + 1, longest)  # the pull that loses the lead is played, too
                if traced:
                    for j in range(played):
                        out.choices[r, t + j] = a
                        out.rewards[r, t + j] = buffer[a, offset + j]
                for kept in range(ROWS):
                    state[kept, a] = ahead[kept, played - 1]
                s += played
                t += played
            count[a] = s
            lead = ahead[LEAD, played - 1]
            if t == checkpoints[check]:
                keep_pulls(count, out.pulls[cell, check], check == out.halfway_check, out.halfway[r])
                check += 1
        for i in range(count_arms):
            out.final[r, i] = count[i]
        mean, variance = state[MEAN], state[VARIANCE]
        out.recommended[r, 0] = best_estimate(mean, variance, count_arms, goal)
        out.reward_mean[r], out.reward_variance[r] = pooled(pulls, mean, variance, count_arms)
