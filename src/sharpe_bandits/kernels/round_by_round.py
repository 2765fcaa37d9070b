"""The kernel of policies that forget, and of games in which the rewards of all arms are seen: one round after another.

What is remembered of an arm is a weight and weighted sums. A policy with a window of w rounds forgets what is older;
one with a discount weighs a reward by the discount to the power of its age in rounds. The weight takes the place of
pulls in every formula, and what is remembered of all arms together that of rounds: see Garivier & Moulines, "On
upper-confidence bound policies for switching bandit problems", 2011.
"""

from typing import NamedTuple

import numpy as np

from .formulas import by_round, kept_cells, take
from .game import keep_pulls
from .index_play import NOT_A_NUMBER, UnderWay, choose
from .rewards import fill, recorded
from .statistics import Sums, anchor_of, best_estimate, summary
from .streams import REWARDS, fold, stream_key

#: Rows of ``memory[row, arm]``: the weight of what is remembered, and weighted sums of powers of (x - anchor).
WEIGHT, SUM1, SUM2, SUM3, SUM4, ROWS = range(6)
#: A mean is far off its anchor if the square of their distance is so many variances. With a discount that is looked at
#: every so many rounds.
FAR_OFF, REBASE = 1e4, 64


class Memory(NamedTuple):
    """How a policy forgets (see :attr:`sharpe_bandits.policies.base.IndexPolicy.memory`), and when an arm of which
    less than ``least`` pulls are remembered is played again.
    """

    window: int
    discount: float
    least: int


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


def remembered(t, memory, rule, anchor, under_way):
    """What stands for the number of rounds, those under way included, and the sums of what is remembered."""
    rounds = remembered_rounds(memory, t, rule.window, rule.discount) + under_way.pulls.sum()
    if rule.window > 0:
        rounds = min(rounds, np.float64(rule.window))
    return rounds, Sums(memory[WEIGHT], memory[SUM1], memory[SUM2], memory[SUM3], memory[SUM4], anchor)


def round_by_round(game, rule, full, rewards, arguments, goal, out):
    """Play runs; ``rule``: a :class:`Memory`; ``full``: the rewards of all arms are seen in every round."""
    first, runs, horizon, pilot = game
    arms, row_step, source, seed = rewards
    window, discount = rule.window, rule.discount
    checkpoints, batch, status = out.checkpoints, out.batch, out.status
    count_arms = out.final.shape[1]
    memory = np.zeros((ROWS, count_arms))
    ring = np.zeros((max(window, 1), count_arms))
    kept = np.zeros((count_arms, kept_cells(), 1))
    anchor, last, indices = np.zeros(count_arms), np.zeros(count_arms), np.zeros(count_arms)
    mean, variance = np.zeros(count_arms), np.zeros(count_arms)
    nothing, active = np.zeros(count_arms), np.ones(count_arms, np.bool_)  # no pulls under way; all arms may be played
    seen = np.zeros(count_arms, np.int64)  # rewards of an arm so far
    drawn = np.zeros(1)
    traced = out.choices.shape[0] > 0
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
        kept[:] = 0.0
        base, total1, total2 = 0.0, 0.0, 0.0
        check = 0
        for t in range(horizon):
            a = t % count_arms
            if t >= end_of_pilot:
                if out.stop[0] != 0:
                    return
                under_way = UnderWay(nothing, active, 0.0, t)
                rounds, sums = remembered(t, memory, rule, anchor, under_way)
                a = choose(t, rounds, sums, under_way, rule.least, last, kept, seed, run, arguments, indices)
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
                seen[i] += 1
                take(kept, i, 0, 0, np.float64(seen[i]), x, d)
                add(memory, i, d, 1.0)
                if window > 0:
                    ring[t % window, i] = d
                last[i] = max(t + 1, end_of_pilot)
                if i == a:
                    if t == 0:
                        base = x
                    total1 += x - base
                    total2 += (x - base) * (x - base)
                    out.final[r, a] += 1
                    if traced:
                        out.choices[r, t] = a
                        out.rewards[r, t] = x
            if t + 1 == checkpoints[check]:
                keep_pulls(out.final[r], out.pulls[cell, check], check == out.halfway_check, out.halfway[r])
                check += 1
        for i in range(count_arms):
            weight = memory[WEIGHT, i]
            less = 1.0 / (weight - 1.0) if weight > 1.0 else 0.0
            mean[i], variance[i], _ = summary(anchor[i], memory[SUM1, i], memory[SUM2, i], 1.0 / weight, less)
        out.recommended[r, 0] = best_estimate(mean, variance, count_arms, goal)
        out.reward_mean[r], out.reward_variance[r], _ = summary(
            base, total1, total2, 1.0 / horizon, 1.0 / (horizon - 1.0)
        )
