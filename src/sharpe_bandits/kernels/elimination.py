"""The kernel of policies that play in phases and drop arms between them: halving, rejects, uniform sampling.

A phase is a number of pulls for every arm still alive, in round robin, and how many arms stay after it.
"""

import numpy as np

from .formulas import value
from .rewards import UNIFORM, fill, uniform_reward
from .statistics import anchor_of, pooled, summary
from .streams import REWARDS, SPLITMIX, fold, reward_bits, stream_key

LANES = 16  # runs abreast
AHEAD = 64  # rewards drawn at a time where they are not drawn abreast
#: What is at hand of the arms being played, one per lane: rows of an array. One array, so that the compiler sees at
#: once that nothing overlaps.
LOC, SCALE, ANCHOR, SUM1, SUM2, STREAM, ROWS = range(7)


def estimate(count, sum1, sum2, anchor, goal):
    """Estimated objective of an arm from its sums."""
    less = 1.0 / (count - 1.0) if count > 1 else 0.0
    mean, variance, _ = summary(anchor, sum1, sum2, 1.0 / count, less)
    return value(mean, variance, *goal)


def survivors(alive, size, keep, values):
    """Drop the worst of the first ``size`` arms in ``alive`` until ``keep`` are left; ties drop the highest arm."""
    while size > keep:
        worst = 0
        for p in range(1, size):
            if values[p] <= values[worst]:
                worst = p
        for p in range(worst, size - 1):
            alive[p] = alive[p + 1]
            values[p] = values[p + 1]
        size -= 1
    return size


def eliminate(alive, size, keep, count, sum1, sum2, anchor, goal):
    """End a phase: rank the arms alive by their estimates and keep the best ``keep``, in order of arm."""
    values = np.empty(size)
    for p in range(size):
        a = alive[p]
        values[p] = estimate(count[a], sum1[a], sum2[a], anchor[a], goal)
    return survivors(alive, size, keep, values)


def play_phases(
    first, runs, phase_pulls, phase_keep, fresh, arms, row_step, source, seed, goal,
    checkpoints, batch, batch_pulls, final, recommended, reward_mean, reward_variance, choices, rewards,
):  # fmt: skip
    """Play runs ``first`` to ``first + runs - 1``, LANES abreast.

    ``fresh``: estimates use the current phase's rewards alone.
    """
    count_arms = final.shape[1]
    shape = (LANES, count_arms)
    alive = np.zeros(shape, np.int64)
    done = np.zeros(shape, np.int64)  # pulls of an arm in the whole run
    sum1, sum2, all1, all2, anchor = np.zeros(shape), np.zeros(shape), np.zeros(shape), np.zeros(shape), np.zeros(shape)
    streams = np.zeros(shape, np.uint64)
    count, pulls, mean, variance = (
        np.zeros(count_arms),
        np.zeros(count_arms),
        np.zeros(count_arms),
        np.zeros(count_arms),
    )
    played = np.zeros((ROWS, LANES))
    keys = played.view(np.uint64)  # the same memory
    buffer = np.zeros(AHEAD)
    record = choices.shape[0] > 0
    first_batch = first // batch
    for block in range(0, runs, LANES):
        lanes = min(LANES, runs - block)
        for k in range(LANES):
            run = first + block + min(k, lanes - 1)  # lanes past the last run repeat it; their results are not kept
            row = (block + min(k, lanes - 1)) * row_step
            run_key = stream_key(seed, REWARDS, run)
            for i in range(count_arms):
                streams[k, i] = fold(run_key, i)
                fill(arms, row, i, source, streams[k, i], 0, buffer[:1])
                anchor[k, i] = anchor_of(buffer[0])
                alive[k, i] = i
                done[k, i] = 0
                sum1[k, i], sum2[k, i], all1[k, i], all2[k, i] = 0.0, 0.0, 0.0, 0.0
        size = count_arms
        start = 0  # pulls, so far, of every arm still alive
        t = 0
        check = 0
        for phase in range(phase_pulls.size):
            quota = phase_pulls[phase]
            for p in range(size):
                simple = source == SPLITMIX and not record
                for k in range(LANES):
                    a = alive[k, p]
                    row = (block + min(k, lanes - 1)) * row_step
                    simple = simple and arms.kind[row, a] == UNIFORM
                    played[LOC, k], played[SCALE, k] = arms.loc[row, a], arms.scale[row, a]
                    played[ANCHOR, k] = anchor[k, a]
                    played[SUM1, k] = 0.0 if fresh else sum1[k, a]
                    played[SUM2, k] = 0.0 if fresh else sum2[k, a]
                    keys[STREAM, k] = streams[k, a]
                if simple:
                    for j in range(start, start + quota):
                        for k in range(LANES):
                            bits = reward_bits(SPLITMIX, keys[STREAM, k], j)
                            d = uniform_reward(played[LOC, k], played[SCALE, k], bits) - played[ANCHOR, k]
                            played[SUM1, k] += d
                            played[SUM2, k] += d * d
                else:
                    for k in range(lanes):
                        a = alive[k, p]
                        row = (block + k) * row_step
                        total1, total2, base = played[SUM1, k], played[SUM2, k], played[ANCHOR, k]
                        for j in range(0, quota, AHEAD):
                            steps = min(AHEAD, quota - j)
                            fill(arms, row, a, source, streams[k, a], start + j, buffer[:steps])
                            for i in range(steps):
                                d = buffer[i] - base
                                total1 += d
                                total2 += d * d
                                if record:
                                    choices[block + k, t + (j + i) * size + p] = a
                                    rewards[block + k, t + (j + i) * size + p] = buffer[i]
                        played[SUM1, k], played[SUM2, k] = total1, total2
                for k in range(lanes):
                    a = alive[k, p]
                    sum1[k, a], sum2[k, a] = played[SUM1, k], played[SUM2, k]
                    done[k, a] += quota
                    if fresh:
                        all1[k, a] += sum1[k, a]
                        all2[k, a] += sum2[k, a]
            start += quota
            end = t + quota * size
            while check < checkpoints.size and checkpoints[check] < end:
                within = checkpoints[check] - t
                for k in range(lanes):
                    cell = (first + block + k) // batch - first_batch
                    for i in range(count_arms):
                        batch_pulls[cell, check, i] += done[k, i]
                    for p in range(size):
                        short = within // size + (1 if p < within % size else 0) - quota
                        batch_pulls[cell, check, alive[k, p]] += short
                check += 1
            t = end
            count[:] = quota if fresh else start
            left = size
            for k in range(lanes):
                left = eliminate(alive[k], size, phase_keep[phase], count, sum1[k], sum2[k], anchor[k], goal)
            size = left
        for k in range(lanes):
            cell = (first + block + k) // batch - first_batch
            for c in range(check, checkpoints.size):  # the rounds that do not divide evenly are not played
                for i in range(count_arms):
                    batch_pulls[cell, c, i] += done[k, i]
            for i in range(count_arms):
                final[block + k, i] = done[k, i]
                pulls[i] = done[k, i]
                less = 1.0 / (pulls[i] - 1.0) if done[k, i] > 1 else 0.0
                t1, t2 = (all1[k, i], all2[k, i]) if fresh else (sum1[k, i], sum2[k, i])
                mean[i], variance[i], _ = summary(anchor[k, i], t1, t2, 1.0 / pulls[i], less)
            recommended[block + k] = alive[k, 0]
            reward_mean[block + k], reward_variance[block + k] = pooled(pulls, mean, variance, count_arms)
