"""The plain game, sixteen runs in parallel: every index is evaluated in every round, by vector instructions."""

import math

import numpy as np

from ..play.formulas import (
    by_round,
    draws_normals,
    has_exact_fallback,
    index,
    index_branch_free,
    keeps_lead,
    keeps_powers,
    kept_cells,
    score,
    statistics_of,
    update_statistics,
    value,
)
from ..play.game import AHEAD, LANES, best_value, give_up, keep_pulls
from ..play.memory import words, zeros
from ..play.rewards import fill, recorded
from ..play.state import anchor_of
from ..play.statistics import ArmRecord, higher_moments, pooled, radius, summary
from ..play.streams import POLICY, REWARDS, fold, normal_pair, stream_key

#: State of an arm, for all lanes: rows of ``state[arm, row, lane]``. It is one array so that the compiler sees that
#: nothing overlaps, and one address serves all rows. The cells of statistics follow.
(
    PULLS, SUM1, SUM2, SUM3, SUM4, ANCHOR, MEAN, VARIANCE, SECOND, THIRD, FOURTH, INVERSE, ROOT, LAST, KEY, STREAM,
    ROWS,
) = range(17)  # fmt: skip
#: Rows of ``best[row, lane]``.
ROUND_KEY, POLICY_KEY, LEAD, BEST_ROWS = range(4)
#: Rows of ``running[i + 1, row, lane]``: the index of arm i and, among the arms up to it, the largest index, the fewest
#: pulls of an arm with infinite index, and the arm chosen. Every arm has rows of its own, since reading a value just
#: after a conditional write is slow.
INDEX, TOP, FEWEST, CHOICE, RUNNING_ROWS = range(5)


def arm_of(state, keys, i, k, t, radius_t, round_key, lead):
    """The record of arm ``i`` in lane ``k`` after ``t`` rounds; ``round_key`` and ``lead`` are those of its run."""
    third, fourth = (state[i, THIRD, k], state[i, FOURTH, k]) if keeps_powers() else (np.nan, np.nan)
    pulls, mean, variance = state[i, PULLS, k], state[i, MEAN, k], state[i, VARIANCE, k]
    key = fold(keys[i, KEY, k], t)
    drawn = state[i, ROWS + kept_cells() + (t & 1), k] if draws_normals() else np.nan
    inputs = state, i, ROWS, k, pulls, state[i, ANCHOR, k], mean, variance, third, fourth, key
    second, epsilon, last = state[i, SECOND, k], radius_t * state[i, ROOT, k], state[i, LAST, k]
    known = pulls, mean, variance, second, epsilon, last, key, round_key, lead, drawn
    return ArmRecord(*known, *statistics_of(*inputs))


def compare(running, i, k, v, pulls):
    """Compare the index ``v`` of arm ``i`` with those of the arms before it. The largest is chosen; ties go to the
    lowest arm, among infinite indices to the least played arm. If ``v`` is NaN, the choice does not change.
    """
    top, fewest, choice = running[i, TOP, k], running[i, FEWEST, k], running[i, CHOICE, k]
    infinite = pulls if v == math.inf else math.inf
    better = v > top or infinite < fewest
    running[i + 1, INDEX, k] = v
    running[i + 1, TOP, k] = v if v > top else top
    running[i + 1, FEWEST, k] = infinite if infinite < fewest else fewest
    running[i + 1, CHOICE, k] = np.float64(i) if better else choice


def all_rows():
    """Number of rows of ``state``: the fixed ones, then the cells of statistics, then two of normal draws."""
    return ROWS + kept_cells() + (2 if draws_normals() else 0)


def draw_normals(state, keys, t, begin):
    """Draw the normal numbers of round ``t`` and, if ``t`` is even, those of the next one; ``begin``: the first round
    that needs any.
    """
    if t & 1 and t > begin:
        return
    at = ROWS + kept_cells()
    for i in range(state.shape[0]):
        for k in range(state.shape[2]):  # LANES: were it a constant, the loop would be unrolled, not vectorised
            state[i, at, k], state[i, at + 1, k] = normal_pair(keys[i, KEY, k], t)


def record(state, i, k, x, t, objective):
    """Record the reward ``x`` that arm ``i`` paid in lane ``k`` in round ``t`` (counted from 0)."""
    anchor, pulls = state[i, ANCHOR, k], state[i, PULLS, k] + 1.0
    d = x - anchor
    sum1, sum2 = state[i, SUM1, k] + d, state[i, SUM2, k] + d * d
    inverse, inverse_less = 1.0 / pulls, state[i, INVERSE, k]
    state[i, PULLS, k], state[i, SUM1, k], state[i, SUM2, k], state[i, LAST, k] = pulls, sum1, sum2, t + 1
    state[i, ROOT, k], state[i, INVERSE, k] = 1.0 / math.sqrt(pulls), inverse
    state[i, MEAN, k], state[i, VARIANCE, k], state[i, SECOND, k] = summary(anchor, sum1, sum2, inverse, inverse_less)
    update_statistics(state, i, ROWS, k, pulls, x, d, np.nan, objective)
    if keeps_powers():
        sum3, sum4 = state[i, SUM3, k] + d * d * d, state[i, SUM4, k] + d * d * d * d
        state[i, SUM3, k], state[i, SUM4, k] = sum3, sum4
        state[i, THIRD, k], state[i, FOURTH, k] = higher_moments(sum1, sum2, sum3, sum4, inverse)


def side_by_side(game, rewards, arguments, objective, out):
    """Play runs, LANES in parallel, evaluating every index in every round."""
    numbers, horizon, pilot = game
    arms, row_step, seed = rewards
    runs, checkpoints = numbers.size, out.checkpoints
    count_arms = out.final.shape[1]
    state = zeros((count_arms, all_rows(), LANES))
    keys = words(state)  # the same memory
    best = zeros((BEST_ROWS, LANES))
    round_keys = words(best)
    count = zeros((count_arms, LANES), np.uint32)
    running, chosen = zeros((count_arms + 1, RUNNING_ROWS, LANES)), zeros(LANES, np.uint32)
    running[0, TOP], running[0, FEWEST] = -math.inf, math.inf
    buffer = zeros((count_arms, LANES, AHEAD))
    values = zeros(count_arms)
    traced = out.choices.shape[0] > 0
    end_of_pilot = pilot * count_arms
    for block in range(0, runs, LANES):
        lanes = min(LANES, runs - block)
        for k in range(LANES):
            run = numbers[block + min(k, lanes - 1)]  # lanes past the last run repeat it; their results are not kept
            row = (block + min(k, lanes - 1)) * row_step
            run_key = stream_key(seed, REWARDS, run)
            policy_key = stream_key(seed, POLICY, run)
            round_keys[POLICY_KEY, k] = policy_key
            for i in range(count_arms):
                stream = fold(run_key, i)
                state[i, :, k] = 0.0
                keys[i, STREAM, k] = stream
                keys[i, KEY, k] = fold(policy_key, i)
                for j in range(pilot):
                    if j % AHEAD == 0:
                        if out.stop[0] != 0:
                            return
                        fill(arms, row, i, stream, j, buffer[i, k])
                    x = buffer[i, k, j % AHEAD]
                    if by_round():
                        x = recorded(arms, row, i, j * count_arms + i)
                    if j == 0:
                        state[i, ANCHOR, k] = anchor_of(x)
                    record(state, i, k, x, end_of_pilot - 1, objective)
                    if traced and k < lanes:
                        out.choices[block + k, j * count_arms + i] = i
                        out.rewards[block + k, j * count_arms + i] = x
                if pilot % AHEAD == 0:
                    fill(arms, row, i, stream, pilot, buffer[i, k])
        check = 0
        while check < checkpoints.size and checkpoints[check] <= end_of_pilot:
            for k in range(lanes):
                cell = out.batch[block + k]
                for i in range(count_arms):
                    count[i, k] = (checkpoints[check] + count_arms - 1 - i) // count_arms  # round robin
                keep_pulls(count[:, k], out.pulls[cell, check], check == out.halfway_check, out.halfway[block + k])
            check += 1
        count[:] = pilot
        for t in range(end_of_pilot, horizon):
            if out.stop[0] != 0:
                return
            radius_t = radius(t)
            if draws_normals():
                draw_normals(state, keys, t, end_of_pilot)
            for k in range(LANES):
                round_keys[ROUND_KEY, k] = fold(round_keys[POLICY_KEY, k], count_arms + t)
            if keeps_lead():
                for k in range(LANES):
                    best[LEAD, k] = -math.inf
                for i in range(count_arms):
                    for k in range(LANES):
                        arm = arm_of(state, keys, i, k, t, radius_t, round_keys[ROUND_KEY, k], best[LEAD, k])
                        v = score(arm, t, *arguments)
                        best[LEAD, k] = v if v > best[LEAD, k] else best[LEAD, k]
            for i in range(count_arms):
                unsettled = False
                for k in range(LANES):
                    arm = arm_of(state, keys, i, k, t, radius_t, round_keys[ROUND_KEY, k], best[LEAD, k])
                    v = index_branch_free(arm, t, *arguments)
                    unsettled |= v != v
                    compare(running, i, k, v, arm.pulls)
                if unsettled:
                    for k in range(LANES):
                        v = running[i + 1, INDEX, k]
                        if v != v:
                            if has_exact_fallback():
                                round_key, lead = round_keys[ROUND_KEY, k], best[LEAD, k]
                                arm = arm_of(state, keys, i, k, t, radius_t, round_key, lead)
                                v = index(arm, t, *arguments)
                            if v != v:
                                run = numbers[block + min(k, lanes - 1)]
                                give_up(out.status, run, i, t, count[i, k])
                                return
                            compare(running, i, k, v, state[i, PULLS, k])
            for k in range(LANES):
                chosen[k] = np.uint32(running[count_arms, CHOICE, k])
            for k in range(LANES):
                a = np.int64(chosen[k])  # the type used for arms elsewhere: callees are compiled once
                s = count[a, k]
                x = buffer[a, k, s & (AHEAD - 1)]
                if by_round():
                    x = recorded(arms, (block + min(k, lanes - 1)) * row_step, a, t)
                s = s + 1
                count[a, k] = s
                record(state, a, k, x, t, objective)
                if traced and k < lanes:
                    out.choices[block + k, t] = a
                    out.rewards[block + k, t] = x
                if s & (AHEAD - 1) == 0 and not by_round():
                    row = (block + min(k, lanes - 1)) * row_step
                    fill(arms, row, a, keys[a, STREAM, k], s, buffer[a, k])
            if t + 1 == checkpoints[check]:
                for k in range(lanes):
                    cell = out.batch[block + k]
                    keep_pulls(count[:, k], out.pulls[cell, check], check == out.halfway_check, out.halfway[block + k])
                check += 1
        for k in range(lanes):
            for i in range(count_arms):
                out.final[block + k, i] = count[i, k]
            mean, variance = state[:, MEAN, k], state[:, VARIANCE, k]
            for i in range(count_arms):
                arm = arm_of(state, keys, i, k, horizon, np.nan, round_keys[ROUND_KEY, k], np.nan)
                values[i] = value(arm, *objective)
            out.recommended[block + k, 0] = best_value(values)
            out.reward_mean[block + k], out.reward_variance[block + k] = pooled(
                state[:, PULLS, k], mean, variance, count_arms
            )
