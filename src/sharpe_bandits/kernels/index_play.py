"""Two kernels that play an index policy and make the same choices, run by run.

:func:`side_by_side` evaluates every index in every round, sixteen runs abreast; it serves any index and is the oracle.
:func:`lazy` serves an index that cannot fall as rounds pass while the arm's own record stands still: it bounds the
rivals by their indices some rounds ahead and plays the leader for as long as its exact index stays above that bound.
"""

import math

import numpy as np

from .formulas import index
from .rewards import fill
from .statistics import Arm, anchor_of, best_estimate, pooled, radius, summary
from .streams import POLICY, REWARDS, fold, stream_key, uniform

LANES = 16  # runs abreast in side_by_side
AHEAD = 16  # rewards drawn ahead of need, per arm
INFLATION = 1e-12  # a bound is raised by this much, relatively, so that rounding cannot matter
NOT_A_NUMBER = 1  # status: an index was not a number; the run, arm, round and the arm's pulls follow


def evaluate(t, radius_t, pulls, mean, variance, second, root, last, maximum, keys, round_key, arguments, out):
    """Indices of all arms of one run after ``t`` rounds."""
    for i in range(out.size):
        key = fold(keys[i], t)
        arm = Arm(pulls[i], mean[i], variance[i], second[i], radius_t * root[i], last[i], maximum[i], key, round_key)
        out[i] = index(arm, t, *arguments)


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


def decide(t, pulls, sum1, sum2, anchor, last, maximum, seed, run, arguments, out):
    """The choice of a live agent from the sums it keeps; its indices are left in ``out``."""
    arms = out.size
    mean, variance, second, root = np.zeros(arms), np.zeros(arms), np.zeros(arms), np.zeros(arms)
    keys = np.zeros(arms, np.uint64)
    policy_key = stream_key(seed, POLICY, run)
    for i in range(arms):
        less = 1.0 / (pulls[i] - 1.0) if pulls[i] > 1 else 0.0
        mean[i], variance[i], second[i] = summary(anchor[i], sum1[i], sum2[i], 1.0 / pulls[i], less)
        root[i] = 1.0 / math.sqrt(pulls[i])
        keys[i] = fold(policy_key, i)
    round_key = fold(policy_key, arms + t)
    evaluate(t, radius(t), pulls, mean, variance, second, root, last, maximum, keys, round_key, arguments, out)
    return leader(out, pulls)


def first_fall(arguments, negative):
    """Search sample records for an index that falls as rounds pass; gives rounds (0: none), pulls, mean, variance.

    ``negative``: whether means below 0 are to be tried too.
    """
    nothing = np.uint64(0)
    key = np.uint64(0x5EED)
    for case in range(2000):
        key = fold(key, case)
        pulls = math.floor(math.exp(1.0 + 6.0 * uniform(key, 0)))
        scale = math.exp(6.0 * uniform(key, 1) - 3.0)
        mean = scale * (4.0 * uniform(key, 2) - (1.0 if negative else 0.0))
        variance = scale * scale * uniform(key, 3)
        second = mean * mean + variance
        before = np.int64(pulls + math.floor(1000.0 * uniform(key, 4)))
        top = -math.inf
        at = before
        for t in (before, before + 1, 2 * before, 10 * before, 1000 * before):
            epsilon = radius(t) / math.sqrt(pulls)
            arm = Arm(pulls, mean, variance, second, epsilon, np.float64(before), np.nan, nothing, nothing)
            v = index(arm, np.int64(t), *arguments)
            if v < top - INFLATION * abs(top):
                return at, np.int64(t), pulls, mean, variance
            top = v
            at = np.int64(t)
    return np.int64(0), np.int64(0), 0.0, 0.0, 0.0


def pilot_counts(t, arm, arms):
    """Pulls of an arm after ``t`` rounds of round robin."""
    return t // arms + (1 if arm < t % arms else 0)


def lazy(
    first, runs, horizon, pilot, arms, row_step, source, seed, radii, inverse, inverse_root, arguments, goal,
    checkpoints, batch, batch_pulls, final, recommended, reward_mean, reward_variance, choices, rewards, status,
):  # fmt: skip
    """Play runs ``first`` to ``first + runs - 1``, one after the other. Same results as :func:`side_by_side`."""
    count_arms = final.shape[1]
    count = np.zeros(count_arms, np.int64)
    pulls, mean, variance, second = (
        np.zeros(count_arms), np.zeros(count_arms), np.zeros(count_arms), np.zeros(count_arms)
    )  # fmt: skip
    root, sum1, sum2, anchor = (
        np.zeros(count_arms), np.zeros(count_arms), np.zeros(count_arms), np.zeros(count_arms)
    )  # fmt: skip
    last, now, later = np.zeros(count_arms), np.zeros(count_arms), np.zeros(count_arms)
    streams = np.zeros(count_arms, np.uint64)
    no_maximum = np.full(count_arms, np.nan)  # an index that looks at these three is not played lazily
    no_keys = np.zeros(count_arms, np.uint64)
    nothing = np.uint64(0)
    buffer = np.zeros((count_arms, AHEAD))
    run1, run2, ahead = np.zeros(AHEAD), np.zeros(AHEAD), np.zeros(AHEAD)
    record = choices.shape[0] > 0
    first_batch = first // batch
    end_of_pilot = pilot * count_arms
    for r in range(runs):
        run = first + r
        row = r * row_step
        cell = run // batch - first_batch
        run_key = stream_key(seed, REWARDS, run)
        for i in range(count_arms):
            streams[i] = fold(run_key, i)
            sum1[i] = 0.0
            sum2[i] = 0.0
            for j in range(pilot):
                if j % AHEAD == 0:
                    fill(arms, row, i, source, streams[i], j, buffer[i])
                x = buffer[i, j % AHEAD]
                if j == 0:
                    anchor[i] = anchor_of(x)
                d = x - anchor[i]
                sum1[i] += d
                sum2[i] += d * d
                if record:
                    choices[r, j * count_arms + i] = i
                    rewards[r, j * count_arms + i] = x
            if pilot % AHEAD == 0:
                fill(arms, row, i, source, streams[i], pilot, buffer[i])
            count[i] = pilot
            pulls[i] = pilot
            last[i] = end_of_pilot
            root[i] = inverse_root[pilot]
            mean[i], variance[i], second[i] = summary(anchor[i], sum1[i], sum2[i], inverse[pilot], inverse[pilot - 1])
        check = 0
        while check < checkpoints.size and checkpoints[check] <= end_of_pilot:
            for i in range(count_arms):
                batch_pulls[cell, check, i] += pilot_counts(checkpoints[check], i, count_arms)
            check += 1
        t = end_of_pilot
        gap = 8  # rounds that the rivals are bounded ahead
        reach = AHEAD  # pulls of the leader looked at together
        calm = 8  # leads of late have lasted (above 0): only then do bounds pay
        previous = -1
        same = 0
        while t < horizon:
            evaluate(
                t, radii[t], pulls, mean, variance, second, root, last, no_maximum, no_keys, nothing, arguments, now
            )
            a = leader(now, pulls)
            if a < 0:
                status[0], status[1], status[2], status[3], status[4] = NOT_A_NUMBER, run, -1 - a, t, count[-1 - a]
                return
            stop = min(t + (gap if calm > 0 and now[a] < math.inf else 1), checkpoints[check])
            rival = -math.inf
            if stop > t + 1:
                evaluate(
                    stop, radii[stop], pulls, mean, variance, second, root, last, no_maximum, no_keys, nothing,
                    arguments, later,
                )  # fmt: skip
                later[a] = -math.inf
                for i in range(count_arms):
                    rival = max(rival, later[i])
                rival += INFLATION * abs(rival)
            started = t
            s = count[a]
            base = anchor[a]
            total1, total2 = sum1[a], sum2[a]
            ahead_of_rival = True
            while ahead_of_rival and t < stop:
                offset = s % AHEAD
                steps = min(AHEAD - offset, stop - t, reach)
                t1, t2 = total1, total2
                for j in range(steps):
                    d = buffer[a, offset + j] - base
                    t1 += d
                    t2 += d * d
                    run1[j] = t1
                    run2[j] = t2
                played = steps
                if stop > started + 1:
                    for j in range(steps):
                        q = s + j + 1
                        u = t + j + 1
                        m, v, x2 = summary(base, run1[j], run2[j], inverse[q], inverse[q - 1])
                        arm = Arm(
                            np.float64(q), m, v, x2, radii[u] * inverse_root[q], np.float64(u), np.nan, nothing, nothing
                        )
                        ahead[j] = index(arm, u, *arguments)
                    for j in range(steps):
                        if not ahead[j] > rival:
                            played = j + 1
                            ahead_of_rival = False
                            break
                if record:
                    for j in range(played):
                        choices[r, t + j] = a
                        rewards[r, t + j] = buffer[a, offset + j]
                total1, total2 = run1[played - 1], run2[played - 1]
                s += played
                t += played
                if s % AHEAD == 0:
                    fill(arms, row, a, source, streams[a], s, buffer[a])
            count[a] = s
            pulls[a] = s
            sum1[a] = total1
            sum2[a] = total2
            last[a] = t
            root[a] = inverse_root[s]
            mean[a], variance[a], second[a] = summary(base, total1, total2, inverse[s], inverse[s - 1])
            length = t - started
            if calm > 0:
                calm = min(calm + 1, 8) if length >= 4 else calm - 2
                same = 0
                if t == stop:
                    gap = min(2 * gap, t // 8 + 8)
                elif 4 * length < gap:
                    gap = max(8, gap // 2)
                if length >= reach:
                    reach = min(2 * reach, AHEAD)
                elif 2 * length < reach:
                    reach = max(2, reach // 2)
            else:
                same = same + 1 if a == previous else 0
                if same == 3:
                    calm = 4
            previous = a
            if t == checkpoints[check]:
                for i in range(count_arms):
                    batch_pulls[cell, check, i] += count[i]
                check += 1
        for i in range(count_arms):
            final[r, i] = count[i]
        recommended[r] = best_estimate(mean, variance, count_arms, goal)
        reward_mean[r], reward_variance[r] = pooled(pulls, mean, variance, count_arms)


def side_by_side(
    first, runs, horizon, pilot, arms, row_step, source, seed, radii, inverse, inverse_root, arguments, goal,
    checkpoints, batch, batch_pulls, final, recommended, reward_mean, reward_variance, choices, rewards, status,
):  # fmt: skip
    """Play runs ``first`` to ``first + runs - 1``, LANES abreast, evaluating every index in every round."""
    count_arms = final.shape[1]
    shape = (count_arms, LANES)
    count = np.zeros(shape, np.int64)
    pulls, mean, variance, second = np.zeros(shape), np.zeros(shape), np.zeros(shape), np.zeros(shape)
    root, sum1, sum2, anchor = np.zeros(shape), np.zeros(shape), np.zeros(shape), np.zeros(shape)
    last, maximum = np.zeros(shape), np.zeros(shape)
    streams, keys = np.zeros(shape, np.uint64), np.zeros(shape, np.uint64)
    policy_keys, round_keys = np.zeros(LANES, np.uint64), np.zeros(LANES, np.uint64)
    buffer = np.zeros((count_arms, LANES, AHEAD))
    indices, top, fewest = np.zeros(LANES), np.zeros(LANES), np.zeros(LANES)
    choice = np.zeros(LANES, np.int64)
    record = choices.shape[0] > 0
    first_batch = first // batch
    end_of_pilot = pilot * count_arms
    for block in range(0, runs, LANES):
        lanes = min(LANES, runs - block)
        for k in range(LANES):
            run = first + block + min(k, lanes - 1)  # lanes past the last run repeat it; their results are not kept
            row = (block + min(k, lanes - 1)) * row_step
            run_key = stream_key(seed, REWARDS, run)
            policy_keys[k] = stream_key(seed, POLICY, run)
            for i in range(count_arms):
                streams[i, k] = fold(run_key, i)
                keys[i, k] = fold(policy_keys[k], i)
                sum1[i, k] = 0.0
                sum2[i, k] = 0.0
                maximum[i, k] = -math.inf
                for j in range(pilot):
                    if j % AHEAD == 0:
                        fill(arms, row, i, source, streams[i, k], j, buffer[i, k])
                    x = buffer[i, k, j % AHEAD]
                    if j == 0:
                        anchor[i, k] = anchor_of(x)
                    d = x - anchor[i, k]
                    sum1[i, k] += d
                    sum2[i, k] += d * d
                    maximum[i, k] = max(maximum[i, k], x)
                    if record and k < lanes:
                        choices[block + k, j * count_arms + i] = i
                        rewards[block + k, j * count_arms + i] = x
                if pilot % AHEAD == 0:
                    fill(arms, row, i, source, streams[i, k], pilot, buffer[i, k])
                count[i, k] = pilot
                pulls[i, k] = pilot
                last[i, k] = end_of_pilot
                root[i, k] = inverse_root[pilot]
                mean[i, k], variance[i, k], second[i, k] = summary(
                    anchor[i, k], sum1[i, k], sum2[i, k], inverse[pilot], inverse[pilot - 1]
                )
        check = 0
        while check < checkpoints.size and checkpoints[check] <= end_of_pilot:
            for k in range(lanes):
                cell = (first + block + k) // batch - first_batch
                for i in range(count_arms):
                    batch_pulls[cell, check, i] += pilot_counts(checkpoints[check], i, count_arms)
            check += 1
        for t in range(end_of_pilot, horizon):
            radius_t = radii[t]
            for k in range(LANES):
                top[k] = -math.inf
                fewest[k] = math.inf
                choice[k] = -1
                round_keys[k] = fold(policy_keys[k], count_arms + t)
            broken = False
            for i in range(count_arms):
                for k in range(LANES):
                    key = fold(keys[i, k], t)
                    arm = Arm(
                        pulls[i, k], mean[i, k], variance[i, k], second[i, k], radius_t * root[i, k], last[i, k],
                        maximum[i, k], key, round_keys[k],
                    )  # fmt: skip
                    indices[k] = index(arm, t, *arguments)
                for k in range(LANES):
                    v = indices[k]
                    broken |= v != v
                    better = v > top[k] or (v == top[k] and v == math.inf and pulls[i, k] < fewest[k])
                    better = better or choice[k] < 0
                    top[k] = v if better else top[k]
                    fewest[k] = pulls[i, k] if better else fewest[k]
                    choice[k] = i if better else choice[k]
                if broken:
                    for k in range(LANES):
                        if indices[k] != indices[k]:
                            run = first + block + min(k, lanes - 1)
                            status[0], status[1], status[2], status[3], status[4] = NOT_A_NUMBER, run, i, t, count[i, k]
                            return
            for k in range(LANES):
                a = choice[k]
                s = count[a, k]
                x = buffer[a, k, s % AHEAD]
                s += 1
                d = x - anchor[a, k]
                sum1[a, k] += d
                sum2[a, k] += d * d
                count[a, k] = s
                pulls[a, k] = s
                last[a, k] = t + 1
                maximum[a, k] = max(maximum[a, k], x)
                root[a, k] = inverse_root[s]
                mean[a, k], variance[a, k], second[a, k] = summary(
                    anchor[a, k], sum1[a, k], sum2[a, k], inverse[s], inverse[s - 1]
                )
                if record and k < lanes:
                    choices[block + k, t] = a
                    rewards[block + k, t] = x
                if s % AHEAD == 0:
                    row = (block + min(k, lanes - 1)) * row_step
                    fill(arms, row, a, source, streams[a, k], s, buffer[a, k])
            if t + 1 == checkpoints[check]:
                for k in range(lanes):
                    cell = (first + block + k) // batch - first_batch
                    for i in range(count_arms):
                        batch_pulls[cell, check, i] += count[i, k]
                check += 1
        for k in range(lanes):
            for i in range(count_arms):
                final[block + k, i] = count[i, k]
            recommended[block + k] = best_estimate(mean[:, k], variance[:, k], count_arms, goal)
            reward_mean[block + k], reward_variance[block + k] = pooled(
                pulls[:, k], mean[:, k], variance[:, k], count_arms
            )
