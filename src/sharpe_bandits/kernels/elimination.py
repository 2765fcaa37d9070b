"""The kernel of policies that play in phases and drop arms between them: halving, rejects, uniform sampling.

A phase is a number of pulls for every arm still alive, in round robin, and how many arms stay after it.
"""

import numpy as np

from .formulas import value
from .rewards import fill
from .statistics import anchor_of, pooled, summary
from .streams import REWARDS, fold, stream_key

ABREAST = 4  # arms summed at a time: enough independent chains to hide the latency of an addition
AHEAD = 64  # rewards drawn at a time, per arm


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
    """Play runs ``first`` to ``first + runs - 1``; ``fresh``: estimates use the current phase's rewards alone."""
    count_arms = final.shape[1]
    alive = np.zeros(count_arms, np.int64)
    done = np.zeros(count_arms, np.int64)  # pulls of an arm in the whole run
    count, sum1, sum2 = np.zeros(count_arms), np.zeros(count_arms), np.zeros(count_arms)
    all1, all2, anchor = np.zeros(count_arms), np.zeros(count_arms), np.zeros(count_arms)
    pulls, mean, variance = np.zeros(count_arms), np.zeros(count_arms), np.zeros(count_arms)
    streams = np.zeros(count_arms, np.uint64)
    buffer = np.zeros((ABREAST, AHEAD))
    record = choices.shape[0] > 0
    first_batch = first // batch
    for r in range(runs):
        run = first + r
        row = r * row_step
        cell = run // batch - first_batch
        run_key = stream_key(seed, REWARDS, run)
        for i in range(count_arms):
            streams[i] = fold(run_key, i)
            fill(arms, row, i, source, streams[i], 0, buffer[0, :1])
            anchor[i] = anchor_of(buffer[0, 0])
            alive[i] = i
            done[i] = 0
            count[i] = 0.0
            sum1[i], sum2[i], all1[i], all2[i] = 0.0, 0.0, 0.0, 0.0
        size = count_arms
        t = 0
        check = 0
        for phase in range(phase_pulls.size):
            quota = phase_pulls[phase]
            for p in range(0, size, ABREAST):
                group = min(ABREAST, size - p)
                a0 = alive[p]
                a1 = alive[p + min(1, group - 1)]
                a2 = alive[p + min(2, group - 1)]
                a3 = alive[p + min(3, group - 1)]
                c0, c1, c2, c3 = anchor[a0], anchor[a1], anchor[a2], anchor[a3]
                if fresh:
                    s0, s1, s2, s3, q0, q1, q2, q3 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
                else:
                    s0, s1, s2, s3 = sum1[a0], sum1[a1], sum1[a2], sum1[a3]
                    q0, q1, q2, q3 = sum2[a0], sum2[a1], sum2[a2], sum2[a3]
                start = done[a0]  # all arms alive have been played equally often
                for j in range(0, quota, AHEAD):
                    steps = min(AHEAD, quota - j)
                    for g in range(group):
                        fill(arms, row, alive[p + g], source, streams[alive[p + g]], start + j, buffer[g, :steps])
                    if record:
                        for g in range(group):
                            for k in range(steps):
                                choices[r, t + (j + k) * size + p + g] = alive[p + g]
                                rewards[r, t + (j + k) * size + p + g] = buffer[g, k]
                    for k in range(steps):
                        d0, d1, d2, d3 = buffer[0, k] - c0, buffer[1, k] - c1, buffer[2, k] - c2, buffer[3, k] - c3
                        s0 += d0
                        s1 += d1
                        s2 += d2
                        s3 += d3
                        q0 += d0 * d0
                        q1 += d1 * d1
                        q2 += d2 * d2
                        q3 += d3 * d3
                for g in range(group):
                    a = alive[p + g]
                    sum1[a] = s0 if g == 0 else s1 if g == 1 else s2 if g == 2 else s3
                    sum2[a] = q0 if g == 0 else q1 if g == 1 else q2 if g == 2 else q3
                    count[a] = quota if fresh else count[a] + quota
                    done[a] += quota
                    if fresh:
                        all1[a] += sum1[a]
                        all2[a] += sum2[a]
            end = t + quota * size
            while check < checkpoints.size and checkpoints[check] < end:
                within = checkpoints[check] - t
                for i in range(count_arms):
                    batch_pulls[cell, check, i] += done[i]
                for p in range(size):
                    batch_pulls[cell, check, alive[p]] += within // size + (1 if p < within % size else 0) - quota
                check += 1
            t = end
            size = eliminate(alive, size, phase_keep[phase], count, sum1, sum2, anchor, goal)
        while check < checkpoints.size:  # the rounds that do not divide evenly are not played
            for i in range(count_arms):
                batch_pulls[cell, check, i] += done[i]
            check += 1
        for i in range(count_arms):
            final[r, i] = done[i]
            pulls[i] = done[i]
            less = 1.0 / (pulls[i] - 1.0) if done[i] > 1 else 0.0
            t1, t2 = (all1[i], all2[i]) if fresh else (sum1[i], sum2[i])
            mean[i], variance[i], _ = summary(anchor[i], t1, t2, 1.0 / pulls[i], less)
        recommended[r] = alive[0]
        reward_mean[r], reward_variance[r] = pooled(pulls, mean, variance, count_arms)
