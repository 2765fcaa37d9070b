"""The kernel for delayed rewards: they arrive after a delay, at the end of a batch, or both.

The reward of round t (counted from 0) arrives before the choice of round t + 1 + its delay or, with batches, before the
first batch that starts at or after that round. Rewards that arrive together are processed in the order of their rounds.
Until then the pull is pending: see :class:`~sharpe_bandits.kernels.index_play.Pending`.
"""

import math
from typing import NamedTuple

import numpy as np

from .formulas import by_round, kept_cells
from .game import NOT_A_NUMBER, keep_pulls
from .index_play import Pending, Position, choose
from .memory import zeros
from .rewards import ArmTable, fill, recorded
from .round_by_round import ROWS, SUM1, SUM2, SUM3, SUM4, WEIGHT, Records, forget, rounds_with, take_in
from .statistics import Sums, best_estimate, summary
from .streams import REWARDS, fold, stream_key

#: Stream of random delays.
DELAYS = np.uint64(4)


class Late(NamedTuple):
    """When rewards arrive.

    Attributes
    ----------
    rounds : int
        delay in rounds; if negative, delays are drawn from ``drawn`` and rounded down to whole rounds of at least 0
    drawn : ArmTable
        a table of one arm, whose rewards are the delays
    batch : int
        rounds that are chosen before rewards arrive
    counted : float
        1 if pending pulls count in an arm's pulls, 0 if not
    """

    rounds: int
    drawn: ArmTable
    batch: int
    counted: float


def delayed(game, rule, late, rewards, arguments, goal, out):
    """Play runs; ``rule``: a :class:`~sharpe_bandits.kernels.round_by_round.Memory`; ``late``: a :class:`Late`."""
    first, runs, horizon, pilot = game
    arms, row_step, seed = rewards
    checkpoints, batch, status = out.checkpoints, out.batch, out.status
    count_arms = out.final.shape[1]
    memory = zeros((ROWS, count_arms))
    ring = zeros((max(rule.window, 1), count_arms))
    kept = zeros((count_arms, kept_cells(), 1))
    anchor, last, lately, indices = (
        zeros(count_arms),
        zeros(count_arms),
        zeros(count_arms),
        zeros(count_arms),
    )
    sums = Sums(memory[WEIGHT], memory[SUM1], memory[SUM2], memory[SUM3], memory[SUM4], anchor)
    mean, variance = zeros(count_arms), zeros(count_arms)
    pending_pulls, active = zeros(count_arms), zeros(count_arms, np.bool_)
    seen, asked = zeros(count_arms, np.int64), zeros(count_arms, np.int64)
    records = Records(memory, ring, anchor, seen, kept, last)
    drawn = zeros(1)
    # Rounds whose rewards arrive together form a linked list: its first and last round, and the successor of each.
    paid, played = zeros(horizon), zeros(horizon, np.int32)
    head, tail, following = zeros(horizon + 1, np.int32), zeros(horizon + 1, np.int32), zeros(horizon, np.int32)
    active[:], head[:], tail[:], following[:] = True, -1, -1, -1
    traced = out.choices.shape[0] > 0
    first_batch = first // batch
    end_of_pilot = pilot * count_arms
    for r in range(runs):
        run = first + r
        row = r * row_step
        cell = run // batch - first_batch
        run_key, delay_key = stream_key(seed, REWARDS, run), stream_key(seed, DELAYS, run)
        memory[:, :] = 0.0
        ring[:, :] = np.nan
        pending_pulls[:], seen[:], asked[:] = 0.0, 0, 0
        last[:] = end_of_pilot
        kept[:] = 0.0
        head[:], following[:] = -1, -1
        base, total1, total2 = 0.0, 0.0, 0.0
        check, told, due = 0, 0, 0
        for t in range(horizon):
            if out.stop[0] != 0:
                return
            if t % late.batch == 0:
                while due <= t:
                    u = head[due]
                    while u >= 0:
                        pending_pulls[played[u]] -= 1.0
                        forget(memory, ring, anchor, told, rule.window, rule.discount)
                        take_in(records, played[u], paid[u], told, rule.window, end_of_pilot)
                        told += 1
                        u = following[u]
                    due += 1
            a, fewest = 0, math.inf
            for i in range(count_arms):
                if seen[i] + pending_pulls[i] < fewest:
                    a, fewest = i, seen[i] + pending_pulls[i]
            if fewest >= pilot:
                for i in range(count_arms):
                    lately[i] = np.float64(t) if pending_pulls[i] > 0.0 else last[i]
                pending = Pending(pending_pulls, active, late.counted, t)
                rounds = rounds_with(told, memory, rule, pending)
                position = Position(t, rounds, sums, pending, rule.least, lately, kept)
                a = choose(position, seed, run, arguments, indices)
                if a < 0:
                    status[0], status[1], status[2], status[3] = NOT_A_NUMBER, run, -1 - a, t
                    status[4] = seen[-1 - a]
                    return
            if by_round():
                x = recorded(arms, row, a, t)
            else:
                fill(arms, row, a, fold(run_key, a), asked[a], drawn)
                x = drawn[0]
            if x != x:  # past the end of a record
                status[0], status[1], status[2], status[3], status[4] = NOT_A_NUMBER, run, a, t, asked[a] + 1
                return
            asked[a] += 1
            pending_pulls[a] += 1.0
            played[t], paid[t] = a, x
            wait = np.float64(late.rounds)
            if late.rounds < 0:
                fill(late.drawn, 0, 0, fold(delay_key, 0), t, drawn)
                wait = max(0.0, math.floor(drawn[0]))
            comes = int(min(np.float64(t + 1) + wait, np.float64(horizon)))
            if head[comes] < 0:
                head[comes] = t
            else:
                following[tail[comes]] = t
            tail[comes] = t
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
        while due <= horizon:  # the recommendation uses all rewards, including those that arrive after the last round
            u = head[due]
            while u >= 0:
                forget(memory, ring, anchor, told, rule.window, rule.discount)
                take_in(records, played[u], paid[u], told, rule.window, end_of_pilot)
                told += 1
                u = following[u]
            due += 1
        for i in range(count_arms):
            weight = memory[WEIGHT, i]
            less = 1.0 / (weight - 1.0) if weight > 1.0 else 0.0
            mean[i], variance[i], _ = summary(anchor[i], memory[SUM1, i], memory[SUM2, i], 1.0 / weight, less)
        out.recommended[r, 0] = best_estimate(mean, variance, count_arms, goal)
        out.reward_mean[r], out.reward_variance[r], _ = summary(
            base, total1, total2, 1.0 / horizon, 1.0 / (horizon - 1.0)
        )
