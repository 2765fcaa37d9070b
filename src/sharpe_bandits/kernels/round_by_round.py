"""The kernel of policies that forget, and of games in which the rewards of all arms are seen: one round after another.

What is remembered of an arm is a weight and weighted sums. A policy with a window of w rounds forgets what is older;
one with a discount weighs a reward by the discount to the power of its age in rounds. The weight takes the place of
pulls in every formula, and what is remembered of all arms together that of rounds: see Garivier & Moulines, "On
upper-confidence bound policies for switching bandit problems", 2011.
"""

import math

import numpy as np

from .formulas import by_round
from .index_play import NOT_A_NUMBER, decide
from .rewards import fill, recorded
from .statistics import FIRSTS, anchor_of, best_estimate, summary
from .streams import REWARDS, fold, stream_key

#: Rows of ``memory[row, arm]``: the weight of what is remembered, and weighted sums of powers of (x - anchor).
WEIGHT, SUM1, SUM2, SUM3, SUM4, ROWS = range(6)
#: A mean is far off its anchor if the square of their distance is so many variances. With a discount that is looked at
#: every so many rounds.
FAR_OFF, REBASE = 1e4, 64


def rebase(memory, anchor, i):
    """Move an arm's anchor to the mean if that is far off, as it may be where arms drift; gives by how much."""
    weight = memory[WEIGHT, i]
    if not weight > 1.0:
        return 0.0
    a, b, c, d = (
        memory[SUM1, i] / weight,
        memory[SUM2, i] / weight,
        memory[SUM3, i] / weight,
        memory[SUM4, i] / weight,
    )
    if a * a <= FAR_OFF * (b - a * a):
        return 0.0
    memory[SUM1, i] = 0.0
    memory[SUM2, i] = weight * max(0.0, b - a * a)
    memory[SUM3, i] = weight * (c - a * (3.0 * b - 2.0 * a * a))
    memory[SUM4, i] = weight * max(0.0, d - a * (4.0 * c - a * (6.0 * b - 3.0 * a * a)))
    anchor[i] += a
    return a


def forget(memory, ring, anchor, t, window, discount):
    """Forget what round ``t`` (counted from 0), about to be taken in, pushes out; ``window`` 0: no window."""
    if discount < 1.0:
        for row in range(ROWS):
            for i in range(memory.shape[1]):
                memory[row, i] *= discount
        if t % REBASE == 0:
            for i in range(memory.shape[1]):
                rebase(memory, anchor, i)
    if window > 0 and t >= window:
        slot = t % window
        for i in range(memory.shape[1]):
            d = ring[slot, i]
            if d == d:
                ring[slot, i] = np.nan
                add(memory, i, d, -1.0)
        if slot == 0:  # once per window the sums are made anew, so that rounding cannot pile up
            for i in range(memory.shape[1]):
                shift = rebase(memory, anchor, i)
                memory[:, i] = 0.0
                for s in range(window):
                    if ring[s, i] == ring[s, i]:
                        ring[s, i] -= shift
                        add(memory, i, ring[s, i], 1.0)


def add(memory, i, d, weight):
    """Add a reward of arm ``i``, less its anchor, to what is remembered."""
    memory[WEIGHT, i] += weight
    memory[SUM1, i] += weight * d
    memory[SUM2, i] += weight * d * d
    memory[SUM3, i] += weight * d * d * d
    memory[SUM4, i] += weight * d * d * d * d


def remembered_rounds(memory, t, window, discount):
    """What stands for the number of rounds in a policy's formula."""
    if window > 0:
        return min(np.float64(t), np.float64(window))
    if discount < 1.0:
        return memory[WEIGHT].sum()
    return np.float64(t)


def choose(t, memory, least, window, discount, firsts, anchor, last, maximum, seed, run, arguments, out):
    """The arm to play; below 0: see :func:`~sharpe_bandits.kernels.index_play.leader`.

    An arm of which less than ``least`` is remembered is played first, the one of which least is.
    """
    a = int(memory[WEIGHT].argmin())
    if memory[WEIGHT, a] < least - 1e-9:
        return a
    rounds = remembered_rounds(memory, t, window, discount)
    return decide(
        t, rounds, memory[WEIGHT], memory[SUM1], memory[SUM2], memory[SUM3], memory[SUM4], firsts, anchor, last,
        maximum, seed, run, arguments, out,
    )  # fmt: skip


def round_by_round(
    first, runs, horizon, pilot, least, window, discount, full, arms, row_step, source, seed, arguments, goal,
    checkpoints, batch, batch_pulls, final, recommended, reward_mean, reward_variance, choices, rewards, status,
):  # fmt: skip
    """Play runs ``first`` to ``first + runs - 1``; ``full``: the rewards of all arms are seen in every round."""
    count_arms = final.shape[1]
    memory = np.zeros((ROWS, count_arms))
    ring = np.zeros((max(window, 1), count_arms))
    firsts = np.zeros((count_arms, FIRSTS))
    anchor, last, maximum, out = np.zeros(count_arms), np.zeros(count_arms), np.zeros(count_arms), np.zeros(count_arms)
    mean, variance = np.zeros(count_arms), np.zeros(count_arms)
    seen = np.zeros(count_arms, np.int64)  # rewards of an arm so far
    drawn = np.zeros(1)
    record = choices.shape[0] > 0
    first_batch = first // batch
    end_of_pilot = pilot if full else pilot * count_arms
    for r in range(runs):
        run = first + r
        row = r * row_step
        cell = run // batch - first_batch
        run_key = stream_key(seed, REWARDS, run)
        memory[:, :] = 0.0
        ring[:, :] = np.nan
        seen[:] = 0
        last[:] = end_of_pilot
        maximum[:] = -math.inf
        base, total1, total2 = 0.0, 0.0, 0.0
        check = 0
        for t in range(horizon):
            a = t % count_arms
            if t >= end_of_pilot:
                a = choose(t, memory, least, window, discount, firsts, anchor, last, maximum, seed, run, arguments, out)
                if a < 0:
                    status[0], status[1], status[2], status[3] = NOT_A_NUMBER, run, -1 - a, t
                    status[4] = seen[-1 - a]
                    return
            forget(memory, ring, anchor, t, window, discount)
            for i in range(count_arms):
                if not (full or i == a):
                    continue
                if by_round():
                    x = recorded(arms, row, i, t)
                else:
                    fill(arms, row, i, source, fold(run_key, i), seen[i], drawn)
                    x = drawn[0]
                if seen[i] == 0:
                    anchor[i] = anchor_of(x)
                d = x - anchor[i]
                if seen[i] < FIRSTS:
                    firsts[i, seen[i]] = d
                seen[i] += 1
                add(memory, i, d, 1.0)
                if window > 0:
                    ring[t % window, i] = d
                last[i] = max(t + 1, end_of_pilot)
                maximum[i] = max(maximum[i], x)
                if i == a:
                    if t == 0:
                        base = x
                    total1 += x - base
                    total2 += (x - base) * (x - base)
                    final[r, a] += 1
                    if record:
                        choices[r, t] = a
                        rewards[r, t] = x
            if t + 1 == checkpoints[check]:
                for i in range(count_arms):
                    batch_pulls[cell, check, i] += final[r, i]
                check += 1
        for i in range(count_arms):
            weight = memory[WEIGHT, i]
            less = 1.0 / (weight - 1.0) if weight > 1.0 else 0.0
            mean[i], variance[i], _ = summary(anchor[i], memory[SUM1, i], memory[SUM2, i], 1.0 / weight, less)
        recommended[r] = best_estimate(mean, variance, count_arms, goal)
        reward_mean[r], reward_variance[r], _ = summary(base, total1, total2, 1.0 / horizon, 1.0 / (horizon - 1.0))
