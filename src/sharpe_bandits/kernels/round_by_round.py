"""The kernel of policies that forget, and of games with full feedback: one round after another.

The memory of an arm is a weight and weighted sums. A policy with a window of w rounds forgets older rewards; one with a
discount weights a reward by the discount to the power of its age in rounds. In every formula an arm's weight replaces
its pulls, and the total remembered replaces the number of rounds: see Garivier & Moulines, "On upper-confidence bound
policies for switching bandit problems", 2011.
"""

import math
from typing import NamedTuple

import numpy as np

from .formulas import (
    by_round,
    discounts,
    draws_normals,
    has_window,
    index,
    index_branch_free,
    keeps_lead,
    keeps_parts,
    keeps_powers,
    needs_loop,
    score,
    sees_all,
    stands_still,
    take,
    tries_again,
)
from .game import AHEAD, LANES, NOT_A_NUMBER, keep_pulls
from .index_play import ROUNDING
from .memory import words, zeros
from .rewards import fill, recorded
from .side_by_side import (
    ANCHOR,
    FOURTH,
    KEY,
    LAST,
    MEAN,
    PULLS,
    ROOT,
    SECOND,
    STREAM,
    THIRD,
    VARIANCE,
    all_rows,
    arm_of,
    draw_normals,
    keep_parts,
    parts_of,
)
from .side_by_side import ROWS as ALL_ROWS
from .statistics import (
    anchor_of,
    best_estimate,
    higher_moments,
    inverse_at,
    inverse_root_at,
    pooled,
    radius,
    radius_at,
    summary,
)
from .streams import POLICY, REWARDS, fold, stream_key

#: Rows of ``memory[row, arm]``: the total weight, and weighted sums of powers of (x - anchor).
WEIGHT, SUM1, SUM2, SUM3, SUM4, ROWS = range(6)
#: A mean is far from its anchor if the square of their distance exceeds FAR_OFF variances. With a discount this is
#: checked every REBASE rounds.
FAR_OFF, REBASE = 1e4, 64
#: Pulls of lanes without an arm, which are evaluated but never played: enough for any formula.
SPARE = 64.0
#: The largest finite number.
LARGEST = np.finfo(np.float64).max


class Memory(NamedTuple):
    """How a policy forgets (see :attr:`sharpe_bandits.policies.base.IndexPolicy.memory`). An arm is played again when
    fewer than ``least`` pulls of it are remembered.
    """

    window: int
    discount: float
    least: int


def rebase(memory, anchor, i):
    """Move an arm's anchor to its mean if they are far apart, as they may be if the arm drifts; returns the shift."""
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
    """Forget what leaves the memory before the reward of round ``t`` (counted from 0) enters; ``window`` 0: none."""
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
        if slot == 0:  # recompute the sums once per window, so that rounding errors cannot accumulate
            for i in range(memory.shape[1]):
                shift = rebase(memory, anchor, i)
                memory[:, i] = 0.0
                for s in range(window):
                    if ring[s, i] == ring[s, i]:
                        ring[s, i] -= shift
                        add(memory, i, ring[s, i], 1.0)


def add(memory, i, d, weight):
    """Add ``d``, a reward of arm ``i`` minus its anchor, to the memory."""
    memory[WEIGHT, i] += weight
    memory[SUM1, i] += weight * d
    memory[SUM2, i] += weight * d * d
    memory[SUM3, i] += weight * d * d * d
    memory[SUM4, i] += weight * d * d * d * d


class Records(NamedTuple):
    """The memory of all arms.

    Attributes
    ----------
    memory : np.ndarray
        ``memory[row, arm]``: weight and weighted sums
    ring : np.ndarray
        ``ring[round % window, arm]``: rewards minus the anchor, NaN where none was seen
    anchor : np.ndarray
        per arm, the constant subtracted from its rewards
    seen : np.ndarray
        per arm, rewards seen
    kept : np.ndarray
        cells kept by statistics, ``kept[arm, cell, 0]``
    last : np.ndarray
        per arm, rounds played when its statistics last changed
    """

    memory: np.ndarray
    ring: np.ndarray
    anchor: np.ndarray
    seen: np.ndarray
    kept: np.ndarray
    last: np.ndarray


def take_in(records, i, x, t, window, end_of_pilot):
    """Record a reward of arm ``i`` in round ``t`` (counted from 0)."""
    memory, ring, anchor, seen, kept, last = records
    if seen[i] == 0:
        anchor[i] = anchor_of(x)
    d = x - anchor[i]
    seen[i] += 1
    take(kept, i, 0, 0, np.float64(seen[i]), x, d)
    add(memory, i, d, 1.0)
    if window > 0:
        ring[t % window, i] = d
    last[i] = max(t + 1, end_of_pilot)


def remembered_rounds(memory, t, window, discount):
    """The number of rounds in a policy's formula: those remembered."""
    if window > 0:
        return min(np.float64(t), np.float64(window))
    if discount < 1.0:
        return memory[WEIGHT].sum()
    return np.float64(t)


def rounds_with(t, memory, rule, pending):
    """:func:`remembered_rounds`, including pending ones."""
    rounds = remembered_rounds(memory, t, rule.window, rule.discount) + pending.pulls.sum()
    return min(rounds, np.float64(rule.window)) if rule.window > 0 else rounds


def settle(state, b, k, inverse, less, inverse_root, arguments):
    """Compute the moments of an arm from its sums, and the parts of its index that are kept, given 1/s, 1/(s-1) and
    1/sqrt(s).
    """
    sum1, sum2 = state[b, SUM1, k], state[b, SUM2, k]
    state[b, MEAN, k], state[b, VARIANCE, k], state[b, SECOND, k] = summary(
        state[b, ANCHOR, k], sum1, sum2, inverse, less
    )
    if keeps_powers():
        sum3, sum4 = state[b, SUM3, k], state[b, SUM4, k]
        state[b, THIRD, k], state[b, FOURTH, k] = higher_moments(sum1, sum2, sum3, sum4, inverse)
    state[b, ROOT, k] = inverse_root
    if keeps_parts():
        keep_parts(state, b, k, parts_of(state, b, k, arguments))


def settle_all(state, arguments):
    """:func:`settle` every arm."""
    for b in range(state.shape[0]):
        for k in range(LANES):
            s = state[b, PULLS, k]
            settle(state, b, k, 1.0 / s, 1.0 / (s - 1.0) if s > 1.0 else 0.0, 1.0 / math.sqrt(s), arguments)


def fade(state, count, discount):
    """Discount the memory of all arms by one round; ``count``: number of arms."""
    for b in range(state.shape[0]):
        for row in range(SUM4 + 1):
            for k in range(LANES):
                state[b, row, k] *= discount
    for i in range(count, state.shape[0] * LANES):  # lanes without an arm keep their weight
        state[i // LANES, PULLS, i % LANES] = SPARE


def rebase_all(state, shifts):
    """:func:`rebase` every arm; writes the shifts to ``shifts``."""
    for i in range(shifts.size):
        memory = state[i // LANES]
        shifts[i] = rebase(memory, memory[ANCHOR], i % LANES)


def renew(state, ring, who, shifts):
    """Recompute the sums over the window, except its first round, so that rounding errors cannot accumulate.

    If one reward per round is seen, ``ring`` has one column, and ``who`` has the arms of the window's rounds; otherwise
    ``ring`` has one column per arm.
    """
    rebase_all(state, shifts)
    for i in range(shifts.size):
        for row in range(SUM4 + 1):
            state[i // LANES, row, i % LANES] = 0.0
    for s in range(1, ring.shape[0]):
        for column in range(ring.shape[1]):
            i = column if ring.shape[1] > 1 else who[s]
            ring[s, column] -= shifts[i]
            add(state[i // LANES], i % LANES, ring[s, column], 1.0)


def round_by_round(game, rule, rewards, tables, arguments, goal, out):
    """Play runs one after the other, vectorised over arms; ``rule``: a :class:`Memory`.

    ``state`` is laid out as in :mod:`~sharpe_bandits.kernels.side_by_side`, but lanes are arms instead of runs: arm i
    is in ``state[i // LANES, :, i % LANES]``. Lanes past the last arm are never played.
    """
    first, runs, horizon, pilot = game
    arms, row_step, seed = rewards
    window, discount = rule.window, rule.discount
    checkpoints, batch, status = out.checkpoints, out.batch, out.status
    count_arms = out.final.shape[1]
    blocks = -(-count_arms // LANES)
    state = zeros((blocks, all_rows(), LANES))
    keys = words(state)  # the same memory
    ring, who = zeros((max(window, 1), count_arms if sees_all() else 1)), zeros(max(window, 1), np.int32)
    indices, pulls = zeros(blocks * LANES), zeros(count_arms)
    every, weights = indices[:count_arms], state[:, PULLS]
    mean, variance = zeros(count_arms), zeros(count_arms)
    buffer, paid = zeros((count_arms, AHEAD)), zeros((blocks, LANES))
    seen = zeros(count_arms, np.int64)  # rewards of an arm so far
    shifts = zeros(count_arms)
    traced = out.choices.shape[0] > 0
    first_batch = first // batch
    end_of_pilot = pilot if sees_all() else pilot * count_arms
    for r in range(runs):
        run = first + r
        row = r * row_step
        cell = run // batch - first_batch
        run_key, policy_key = stream_key(seed, REWARDS, run), stream_key(seed, POLICY, run)
        state[:] = 0.0
        state[:, LAST] = end_of_pilot
        for i in range(count_arms, blocks * LANES):
            state[i // LANES, PULLS, i % LANES] = SPARE
        settle_all(state, arguments)
        for i in range(count_arms):
            keys[i // LANES, STREAM, i % LANES] = fold(run_key, i)
            keys[i // LANES, KEY, i % LANES] = fold(policy_key, i)
        seen[:] = 0
        base, total1, total2 = 0.0, 0.0, 0.0
        gone = np.int64(0)  # the arm whose reward has just left the window
        round_key, lead = policy_key, -math.inf
        a = np.int64(0)  # the arm played
        current = False  # whether all indices are up to date for the next round
        check = 0
        for t in range(horizon):
            if t < end_of_pilot:
                a = t % count_arms
            else:
                if out.stop[0] != 0:
                    return
                if draws_normals():
                    draw_normals(state, keys, t, end_of_pilot)
                fewest, rounds = math.inf, 0.0
                # An arm with too little memory comes first. If indices are up to date, only ``gone`` can be one.
                settled = current and weights[gone // LANES, gone % LANES] >= rule.least
                if (has_window() or discounts()) and not settled:
                    for i in range(count_arms):
                        weight = weights[i // LANES, i % LANES]
                        rounds += weight
                        if weight < fewest:
                            a, fewest = i, weight
                radius_t = radius(rounds) if discounts() else radius_at(tables, min(t, window) if has_window() else t)
                if fewest >= rule.least - ROUNDING:
                    if not current:
                        round_key = fold(policy_key, count_arms + t)
                    if keeps_lead():  # over actual arms only, one by one: scores are cheap
                        lead = -math.inf
                        for b in range(blocks):
                            for k in range(min(LANES, count_arms - b * LANES)):
                                arm = arm_of(state, keys, b, k, t, radius_t, round_key, lead, False)
                                v = score(arm, t, *arguments)
                                lead = v if v > lead else lead
                    if not current:
                        current = stands_still() and has_window()
                        for b in range(blocks):
                            for k in range(LANES):
                                arm = arm_of(state, keys, b, k, t, radius_t, round_key, lead, True)
                                v = index_branch_free(arm, t, *arguments)
                                indices[b * LANES + k] = math.nan if needs_loop(arm.pulls) else v
                    a, top, bar = 0, -math.inf, -math.inf  # a finite index up to the bar changes nothing
                    for i in range(count_arms):
                        v = every[i]
                        if v <= bar:
                            continue
                        if v != v:
                            if tries_again():
                                arm = arm_of(state, keys, i // LANES, i % LANES, t, radius_t, round_key, lead, False)
                                v = index(arm, t, *arguments)
                            if v != v:
                                status[0], status[1], status[2], status[3], status[4] = NOT_A_NUMBER, run, i, t, seen[i]
                                return
                        fewer = weights[i // LANES, i % LANES] < weights[a // LANES, a % LANES]
                        if v > top or (v == math.inf and fewer):
                            a, top, bar = i, v, min(v, LARGEST)
            if discounts():
                fade(state, count_arms, discount)
                if t % REBASE == 0:
                    rebase_all(state, shifts)
            slot = 0
            if has_window():
                slot = t % window
                gone = np.int64(who[slot])
                if window <= t:
                    for column in range(count_arms if sees_all() else 1):
                        i = column if sees_all() else gone
                        add(state[i // LANES], i % LANES, ring[slot, column], -1.0)
                    if slot == 0:
                        renew(state, ring, who, shifts)
            for i in range(0 if sees_all() else a, count_arms if sees_all() else a + 1):
                b, k = i // LANES, i % LANES
                if by_round():
                    x = recorded(arms, row, i, t)
                else:
                    if seen[i] % AHEAD == 0:
                        fill(arms, row, i, keys[b, STREAM, k], seen[i], buffer[i])
                    x = buffer[i, seen[i] % AHEAD]
                if seen[i] == 0:
                    state[b, ANCHOR, k] = anchor_of(x)
                seen[i] += 1
                paid[b, k] = x
                d = x - state[b, ANCHOR, k]
                take(state, b, ALL_ROWS, k, np.float64(seen[i]), x, d)
                add(state[b], k, d, 1.0)
                state[b, LAST, k] = max(t + 1, end_of_pilot)
                if has_window():
                    ring[slot, i if sees_all() else 0] = d
            two = False  # whether two arms have changed: the one played and the one whose reward has left the window
            every_arm = sees_all() or discounts()  # whether all arms have changed
            if has_window():
                # Once the window is full, the confidence radius is constant, and so are the indices of all arms but
                # two.
                current = current and slot > 0 and window < t and not sees_all()
                two = window <= t and gone != a
                every_arm = every_arm or (slot == 0 and window <= t)
            if every_arm:
                settle_all(state, arguments)
            else:
                for j in range(2 if two else 1):
                    i = gone if j else a
                    b, k = i // LANES, i % LANES
                    n = np.int64(state[b, PULLS, k])  # rewards have equal weights: an integer
                    inverse, less = inverse_at(tables, n), inverse_at(tables, n - 1)
                    settle(state, b, k, inverse, less, inverse_root_at(tables, n), arguments)
                    if current:  # no statistic of such an index takes a loop
                        arm = arm_of(state, keys, b, k, t, radius_at(tables, window), round_key, lead, True)
                        indices[b * LANES + k] = index_branch_free(arm, t, *arguments)
            if has_window():
                who[slot] = a
            out.final[r, a] += 1
            if has_window() or discounts() or sees_all() or traced:
                x = paid[a // LANES, a % LANES]
                if t == 0:
                    base = x
                total1 += x - base
                total2 += (x - base) * (x - base)
                if traced:
                    out.choices[r, t] = a
                    out.rewards[r, t] = x
            if t + 1 == checkpoints[check]:
                keep_pulls(out.final[r], out.pulls[cell, check], check == out.halfway_check, out.halfway[r])
                check += 1
        for i in range(count_arms):
            b, k = i // LANES, i % LANES
            pulls[i], mean[i], variance[i] = state[b, PULLS, k], state[b, MEAN, k], state[b, VARIANCE, k]
        out.recommended[r, 0] = best_estimate(mean, variance, count_arms, goal)
        if has_window() or discounts() or sees_all():
            out.reward_mean[r], out.reward_variance[r], _ = summary(
                base, total1, total2, 1.0 / horizon, 1.0 / (horizon - 1.0)
            )
        else:
            out.reward_mean[r], out.reward_variance[r] = pooled(pulls, mean, variance, count_arms)
