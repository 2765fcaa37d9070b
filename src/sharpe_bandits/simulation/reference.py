"""The game, round by round: choose, draw, wait, observe. Every other kernel makes the same choices, only faster.

The reward of round t (counted from 0) arrives before the choice of round t + 1 plus its delay or, with batches, before
the first batch that starts at or after that round. Rewards that arrive together are recorded in the order of their
rounds. Until then the pull is pending. Forgetting, full feedback and portfolios that are held for some rounds are
arguments of the same loop. A table with one column more than there are arms has the covariate of each round in it,
which arrives with the reward of the round.
"""

import math
from typing import NamedTuple

import numpy as np

from ..play.allocation import ALLOCATION, NOTHING, sample, start_with
from ..play.choose import Decision, Held, decide, hold_best, hold_first, least_served
from ..play.formulas import kept_cells, value
from ..play.game import best_value, give_up, keep_pulls
from ..play.memory import zeros
from ..play.rewards import ArmTable, fill, recorded
from ..play.state import forget, new_state, observe, reset, rounds_remembered
from ..play.statistics import pooled, record_of, summary
from ..play.streams import REWARDS, fold, stream_key, uniform

#: Stream of random delays.
DELAYS = np.uint64(4)
#: Rewards drawn together, per arm.
DRAWN = 16


class Feedback(NamedTuple):
    """Which rewards are seen, and when.

    Attributes
    ----------
    full : bool
        whether the rewards of all arms are seen in every round
    delay : int
        delay in rounds; if negative, delays are drawn from ``delays`` and rounded down to whole rounds of at least 0
    delays : ArmTable
        a table of one arm, whose rewards are the delays
    batch : int
        rounds that are chosen before rewards arrive
    counted : float
        1 if pending pulls count in an arm's pulls, 0 if not
    by_round : bool
        whether rewards are indexed by round, not by an arm's own pulls
    """

    full: bool
    delay: int
    delays: ArmTable
    batch: int
    counted: float
    by_round: bool


def policy_arm(state, rule, pilot, decision, seed, run, arguments, indices):
    """The arm that the policy plays among the active ones; -1 - i if the index of arm i is not a number."""
    a, fewest = np.int64(-1), math.inf
    for i in range(indices.size):
        if state.active[i] and state.seen[i] + state.pending[i] < fewest:
            a, fewest = np.int64(i), state.seen[i] + state.pending[i]
    if fewest >= pilot:
        a = np.int64(least_served(state, rule.least))
    return a if a >= 0 else np.int64(decide(state, decision, seed, run, arguments, indices))


def allocated_arm(allocation, shares, state, rule, pilot, decision, seed, run, arguments, indices):
    """The arm that is played: the policy's, within bounds, or the control arm."""
    key = fold(stream_key(seed, ALLOCATION, run), decision.number)
    allowed = allocation.allowed[decision.number % allocation.allowed.shape[0]]
    if allocation.allowed.shape[0] > 1:
        state.active[:] = allowed
    if not allocation.bounded:
        a = policy_arm(state, rule, pilot, decision, seed, run, arguments, indices)
    else:
        rest = start_with(allocation.low, allowed, shares)
        a, first, count = np.int64(0), np.int64(-1), 0
        for i in range(indices.size):  # np.sum would load all of Numba's array functions
            count += 1 if allowed[i] else 0
        while rest > NOTHING and a >= 0:  # what an arm cannot take goes to the policy's next choice
            if count == 0:
                shares[first] += rest
                break
            a = policy_arm(state, rule, pilot, decision, seed, run, arguments, indices)
            if a >= 0:
                first = a if first < 0 else first
                taken = min(rest, max(allocation.high[a] - shares[a], 0.0))
                shares[a] += taken
                rest -= taken
                state.active[a] = False
                count -= 1
        state.active[:] = allowed
        if a >= 0:
            a = np.int64(sample(shares, uniform(key, 3)))
    if a >= 0 and allocation.share < 1.0 and uniform(key, 2) >= allocation.share:
        a = np.int64(allocation.control)
    return a


def reference(game, rule, feedback, holding, allocation, rewards, arguments, objective, out, portfolio):
    """Play runs one after the other.

    ``rule``: a :class:`~.state.Rule`; ``allocation``: an :class:`~.allocation.Allocation`, which only games without a
    holding use; ``holding``: a :class:`~.choose.Holding`, whose arms are written to
    ``portfolio[round, place]`` in order of arm (places that cannot be filled keep their value). With a holding, rewards
    are indexed by round, and arms without one in a round cannot be held then.
    """
    first, runs, horizon, pilot = game
    arms, row_step, seed = rewards
    checkpoints, batch = out.checkpoints, out.batch
    count_arms = out.final.shape[1]
    window, discount = rule.window, rule.discount
    state = new_state(count_arms, kept_cells(), window)
    sums = state.sums
    held = Held(
        zeros(count_arms, np.bool_), zeros(count_arms, np.int64), zeros(count_arms, np.int64),
        zeros(count_arms, np.bool_),
    )  # fmt: skip
    indices, base, shares = zeros(count_arms), zeros(count_arms), zeros(count_arms)
    mean, variance = zeros(count_arms), zeros(count_arms)
    drawn, seen_now = zeros((count_arms, DRAWN)), zeros(count_arms)
    number = zeros(count_arms, np.int64)  # pulls drawn so far
    wait = zeros(1)
    holds, late = holding.places > 0, feedback.delay != 0 or feedback.batch > 1
    rounds_waiting = horizon if late else 0
    # Rounds whose rewards arrive together form a linked list: its first and last round, and the successor of each.
    paid, played, following = zeros(rounds_waiting), zeros(rounds_waiting, np.int32), zeros(rounds_waiting, np.int32)
    head, tail = zeros(rounds_waiting + 1, np.int32), zeros(rounds_waiting + 1, np.int32)
    traced, has_covariate = out.choices.shape[0] > 0, arms.kind.shape[1] > count_arms
    first_batch = first // batch
    end_of_pilot = pilot if feedback.full else pilot * count_arms
    decides_alone = not allocation.bounded and allocation.share >= 1.0 and allocation.allowed.shape[0] == 1
    for r in range(runs):
        run = first + r
        row = r * row_step
        cell = run // batch - first_batch
        run_key, delay_key = stream_key(seed, REWARDS, run), stream_key(seed, DELAYS, run)
        reset(state)
        state.active[:] = allocation.allowed[0]
        number[:], head[:], following[:] = 0, -1, -1
        first_reward, total1, total2 = 0.0, 0.0, 0.0
        check, told, due = 0, 0, 0
        for t in range(horizon + 1):
            if out.stop[0] != 0:
                return
            # Observe: the rewards that have arrived, in the order of their rounds; after the last round all of them.
            u = -1
            while due <= t and (not late or t % feedback.batch == 0 or t == horizon):
                if late:
                    u = head[due] if u < 0 else following[u]
                if (late and u < 0) or (not late and told == t):
                    due += 1
                    continue
                forget(sums, state.window, told, window, discount)
                for i in range(count_arms):
                    x = seen_now[i]
                    if late:
                        x = paid[u] if i == played[u] else np.nan
                    if x == x:
                        z = recorded(arms, row, count_arms, u if late else told) if has_covariate else np.nan
                        observe(state, i, x, z, told, window, objective)
                if late:
                    state.pending[played[u]] -= 1.0
                told += 1
            if t == horizon:
                break
            # Choose.
            a, count, available, failed = np.int64(-1), 0, False, np.int64(-1)
            rounds = rounds_remembered(sums, state.pending, told, window, discount)
            decision = Decision(
                t, rounds, rule.least, end_of_pilot, feedback.counted, t, rule.scores, rule.draws_normals
            )
            if holds:
                held.chosen[:] = False
                for i in range(count_arms):
                    x = recorded(arms, row, i, t)
                    state.active[i] = x == x
                if t >= holding.warm:
                    count = hold_first(state, held, holding, pilot, decision, base)
                for i in range(count_arms):
                    available |= state.active[i]
            elif feedback.full and t < pilot:
                a = np.int64(t % count_arms)
            elif decides_alone:
                a = policy_arm(state, rule, pilot, decision, seed, run, arguments, indices)
                failed = -1 - a
            else:
                a = allocated_arm(allocation, shares, state, rule, pilot, decision, seed, run, arguments, indices)
                failed = -1 - a
            if holds and t >= holding.warm and count < holding.places and available:
                a = np.int64(decide(state, decision, seed, run, arguments, indices))
                failed = -1 - a
                if a >= 0:
                    hold_best(state, held, count, holding.places, indices)
            if failed >= 0:
                give_up(out.status, run, failed, t, state.seen[failed])
                return
            if holds and t >= holding.warm:
                place = 0
                for i in range(count_arms):
                    sums.anchor[i] = base[i]
                    if held.chosen[i]:
                        portfolio[t, place] = i
                        place += 1
                        held.plays[i] += 1
                        out.final[r, i] += 1
                        if not held.owned[i]:
                            held.since[i] = t
                    held.owned[i] = held.chosen[i]
            # Draw.
            for i in range(count_arms):
                seen_now[i] = np.nan
                if not (i == a or feedback.full or holds):
                    continue
                if feedback.by_round:
                    seen_now[i] = recorded(arms, row, i, t)
                else:
                    if number[i] % DRAWN == 0:
                        fill(arms, row, i, fold(run_key, i), number[i], drawn[i])
                    seen_now[i] = drawn[i, number[i] % DRAWN]
                number[i] += 1
                if holds:
                    if not (feedback.full or t < holding.warm or held.chosen[i]):
                        seen_now[i] = np.nan
                elif seen_now[i] != seen_now[i]:  # past the end of a record
                    give_up(out.status, run, i, t, number[i])
                    return
            if holds:
                continue
            x = seen_now[a]
            # Wait.
            if late:
                state.pending[a] += 1.0
                played[t], paid[t] = a, x
                delay = np.float64(feedback.delay)
                if feedback.delay < 0:
                    fill(feedback.delays, 0, 0, fold(delay_key, 0), t, wait)
                    delay = max(0.0, math.floor(wait[0]))
                comes = int(min(np.float64(t + 1) + delay, np.float64(horizon)))
                if head[comes] < 0:
                    head[comes] = t
                else:
                    following[tail[comes]] = t
                tail[comes] = t
            if t == 0:
                first_reward = x
            total1 += x - first_reward
            total2 += (x - first_reward) * (x - first_reward)
            out.final[r, a] += 1
            if traced:
                out.choices[r, t] = a
                out.rewards[r, t] = x
            if t + 1 == checkpoints[check]:
                keep_pulls(out.final[r], out.pulls[cell, check], check == out.halfway_check, out.halfway[r])
                check += 1
        if holds:
            continue
        for i in range(count_arms):
            weight = sums.pulls[i]
            if state.seen[i] == 0:  # an arm that was never played
                indices[i], mean[i], variance[i] = -math.inf, 0.0, 0.0
                continue
            less = 1.0 / (weight - 1.0) if weight > 1.0 else 0.0
            mean[i], variance[i], _ = summary(sums.anchor[i], sums.sum1[i], sums.sum2[i], 1.0 / weight, less)
            arm = record_of(sums, state.kept, i, 0.0, np.nan, 0.0, run_key, run_key, np.nan, np.nan)
            indices[i] = value(arm, *objective)
        out.recommended[r, 0] = best_value(indices)
        if late or window > 0 or discount < 1.0 or feedback.full:
            out.reward_mean[r], out.reward_variance[r], _ = summary(
                first_reward, total1, total2, 1.0 / horizon, 1.0 / (horizon - 1.0)
            )
        else:
            out.reward_mean[r], out.reward_variance[r] = pooled(sums.pulls, mean, variance, count_arms)
