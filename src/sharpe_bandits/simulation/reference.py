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
from ..play.choose import Decision, Held, hold_best, hold_first, largest_index, least_served, mark_eligible
from ..play.formulas import forgets, holds, late, shared
from ..play.game import best_value, give_up, keep_pulls
from ..play.memory import zeros
from ..play.rewards import ArmTable, fill, recorded
from ..play.state import INDEX, forget, forget_with_statistics, new_state, record_reward, reset, rounds_remembered
from ..play.statistics import pooled, summary
from ..play.streams import POLICY, REWARDS, fold, stream_key, uniform

#: Stream of random delays.
DELAYS = np.uint64(4)
#: Rewards drawn together, per arm.
DRAWN = 16


class Feedback(NamedTuple):
    """Which rewards are seen, and when."""

    full: bool  # whether the rewards of all arms are seen in every round
    delay: int  # in rounds; if negative, it is drawn from ``delays`` and rounded down to whole rounds of at least 0
    delays: ArmTable  # a table of one arm, whose rewards are the delays
    batch: int  # rounds that are chosen before rewards arrive
    counted: float  # 1 if pending pulls count in an arm's pulls, 0 if not
    by_round: bool  # whether rewards are indexed by round, not by an arm's own pulls


class Waiting(NamedTuple):
    """Rewards that have not arrived, by round: reward and arm. Rounds whose rewards arrive together form a linked list:
    its first and last round, and the successor of each.
    """

    paid: np.ndarray
    played: np.ndarray
    following: np.ndarray
    head: np.ndarray
    tail: np.ndarray


def wait(waiting, t, arm, reward, arrives):
    """Let the reward of round ``t`` arrive in round ``arrives``."""
    waiting.played[t], waiting.paid[t] = arm, reward
    if waiting.head[arrives] < 0:
        waiting.head[arrives] = t
    else:
        waiting.following[waiting.tail[arrives]] = t
    waiting.tail[arrives] = t


def unserved(state, pilot, least):
    """The active arm that is played whatever its index: the least played one in the pilot, later that of
    :func:`~.choose.least_served`; -1: indices decide.
    """
    a, fewest = -1, math.inf
    for i in range(state.seen.size):
        served = state.seen[i] + state.pending[i]
        if state.active[i] and served < fewest:
            a, fewest = i, served
    return a if fewest < pilot else least_served(state, least)


def decide(state, decision, policy_key, evaluate, arguments):
    """The active arm with the largest index among those that have one, as in :func:`~.choose.choose`; ``evaluate``: a
    pointer.
    """
    mark_eligible(state, decision.least)
    evaluate(state.rows, state.kept, decision, policy_key, *arguments)
    return largest_index(state, decision.least, decision.counted)


def policy_arm(state, pilot, decision, policy_key, evaluate, arguments):
    """The arm that the policy plays among the active ones; -1 - i if the index of arm i is not a number."""
    a = unserved(state, pilot, decision.least)
    return a if a >= 0 else decide(state, decision, policy_key, evaluate, arguments)


def allocated_arm(allocation, shares, state, pilot, decision, seed, run, evaluate, arguments):
    """The arm that is played: the policy's, within bounds, or the control arm."""
    key, policy_key = fold(stream_key(seed, ALLOCATION, run), decision.number), stream_key(seed, POLICY, run)
    allowed = allocation.allowed[decision.number % allocation.allowed.shape[0]]
    for i in range(allowed.size):
        state.active[i] = allowed[i]
    if not allocation.bounded:
        a = policy_arm(state, pilot, decision, policy_key, evaluate, arguments)
    else:
        rest = start_with(allocation.low, allowed, shares)
        a, first, count = 0, -1, 0
        for i in range(shares.size):  # np.sum would load all of Numba's array functions
            count += 1 if allowed[i] else 0
        while rest > NOTHING and a >= 0:  # what an arm cannot take goes to the policy's next choice
            if count == 0:
                shares[first] += rest
                break
            a = policy_arm(state, pilot, decision, policy_key, evaluate, arguments)
            if a >= 0:
                first = a if first < 0 else first
                taken = min(rest, max(allocation.high[a] - shares[a], 0.0))
                shares[a] += taken
                rest -= taken
                state.active[a] = False
                count -= 1
        for i in range(allowed.size):
            state.active[i] = allowed[i]
        if a >= 0:
            a = sample(shares, uniform(key, 3))
    if a >= 0 and allocation.share < 1.0 and uniform(key, 2) >= allocation.share:
        a = allocation.control
    return a


def hold(state, held, holding, pilot, decision, policy_key, evaluate, arguments, base, portfolio, plays):
    """Choose the arms that are held in a round, among those that are active, and write them to ``portfolio``; returns
    -1 - i if the index of arm i is not a number.
    """
    count, available = hold_first(state, held, holding, pilot, decision, base), False
    for i in range(base.size):
        available |= state.active[i]
    if count < holding.places and available:
        a = decide(state, decision, policy_key, evaluate, arguments)
        if a < 0:
            return a
        hold_best(state, held, count, holding.places, decision.least)
    place = 0
    for i in range(base.size):
        state.sums.anchor[i] = base[i]
        if held.chosen[i]:
            portfolio[decision.t, place] = i
            place += 1
            held.plays[i] += 1
            plays[i] += 1
            if not held.owned[i]:
                held.since[i] = decision.t
        held.owned[i] = held.chosen[i]
    return 0


def reference(game, rule, feedback, holding, allocation, rewards, formulas, out, portfolio):
    """Play runs one after the other.

    ``formulas``: :class:`~.pointers.Formulas`, of a policy and its objective;
    ``rule``: a :class:`~.state.Rule`; ``allocation``: an :class:`~.allocation.Allocation`, which only games without a
    holding use; ``holding``: a :class:`~.choose.Holding`, whose arms are written to
    ``portfolio[round, place]`` in order of arm (places that cannot be filled keep their value). With a holding, rewards
    are indexed by round, and arms without one in a round cannot be held then.
    """
    numbers, horizon, pilot = game
    arms, row_step, seed = rewards
    checkpoints = out.checkpoints
    count_arms = out.final.shape[1]
    window, discount = rule.window, rule.discount
    state = new_state(count_arms, rule.cells, window)
    # Variables of their own: counting references to them in every round would take as long as the round.
    sums, rows, kept, recent = state.sums, state.rows, state.kept, state.window
    arguments, objective, evaluate, index, evaluate_objective, update_statistics = formulas
    mean, variance, shares = zeros(count_arms), zeros(count_arms), zeros(count_arms)
    drawn, pays = zeros((count_arms, DRAWN)), zeros(count_arms)
    number = zeros(count_arms, np.int64)  # pulls drawn so far
    if holds():
        held = Held(
            zeros(count_arms, np.bool_), zeros(count_arms, np.int64), zeros(count_arms, np.int64),
            zeros(count_arms, np.bool_),
        )  # fmt: skip
    if late():
        delay_of = zeros(1)
        waiting = Waiting(
            zeros(horizon), zeros(horizon, np.int32), zeros(horizon, np.int32), zeros(horizon + 1, np.int32),
            zeros(horizon + 1, np.int32),
        )  # fmt: skip
    traced, has_covariate = out.choices.shape[0] > 0, arms.kind.shape[1] > count_arms
    end_of_pilot = pilot if feedback.full else pilot * count_arms
    all_seen = feedback.full or holds()
    for r in range(numbers.size):
        run = numbers[r]
        row = r * row_step
        cell = out.batch[r]
        run_key, policy_key = stream_key(seed, REWARDS, run), stream_key(seed, POLICY, run)
        reset(state)
        for i in range(count_arms):  # not by a slice: Numba compiles a lot for the errors that one may raise
            state.active[i] = allocation.allowed[0, i]
            number[i] = 0
        if late():
            waiting.head[:], waiting.following[:] = -1, -1
        first_reward, total1, total2 = 0.0, 0.0, 0.0
        check, told, due = 0, 0, 0
        # Arms whose rewards are seen in a round: from ``low`` to before ``high``.
        low, high, served = 0, count_arms, False
        for t in range(horizon + 1):
            if out.stop[0] != 0:
                return
            # Observe: the rewards that have arrived, in the order of their rounds; after the last round all of them.
            # The lines that forget and record stand here twice: as a function they would take twice as long.
            if late():
                while due <= t and (t % feedback.batch == 0 or t == horizon):
                    u = waiting.head[due]
                    while u >= 0:
                        a, z = np.int64(waiting.played[u]), np.nan
                        if has_covariate:
                            z = recorded(arms, row, count_arms, np.int64(u))
                        if forgets():
                            if rule.forgets_cells:
                                forget_with_statistics(
                                    sums, kept, recent, told, window, discount, update_statistics, objective
                                )
                            else:
                                forget(sums, recent, told, window, discount)
                        x = waiting.paid[u]
                        d = record_reward(state, a, x, told, window)
                        if rule.cells > 0:
                            count = sums.pulls[a] if rule.forgets_cells else np.float64(state.seen[a])
                            update_statistics(kept, a, count, x, d, z, objective)
                        state.pending[a] -= 1.0
                        told += 1
                        u = waiting.following[u]
                    due += 1
            elif t > 0:
                z = recorded(arms, row, count_arms, told) if has_covariate else np.nan
                if forgets():
                    if rule.forgets_cells:
                        forget_with_statistics(sums, kept, recent, told, window, discount, update_statistics, objective)
                    else:
                        forget(sums, recent, told, window, discount)
                for i in range(low, high):
                    x = pays[i]
                    if x == x:
                        d = record_reward(state, i, x, told, window)
                        if rule.cells > 0:
                            count = sums.pulls[i] if rule.forgets_cells else np.float64(state.seen[i])
                            update_statistics(kept, i, count, x, d, z, objective)
                told = t
            if t == horizon:
                break
            # Choose.
            rounds = rounds_remembered(sums, np.float64(t - told), told, window, discount)
            decision = Decision(t, rounds, rule.least, end_of_pilot, feedback.counted, t)
            if holds():
                a = 0
                held.chosen[:] = False
                if t >= holding.warm:
                    for i in range(count_arms):
                        x = recorded(arms, row, i, t)
                        state.active[i] = x == x
                    a = hold(
                        state, held, holding, pilot, decision, policy_key, evaluate, (arguments, index), shares,
                        portfolio, out.final[r],
                    )  # fmt: skip
            elif feedback.full and t < pilot:
                a = t % count_arms
            elif shared():
                a = allocated_arm(allocation, shares, state, pilot, decision, seed, run, evaluate, (arguments, index))
            else:
                a = -1 if served else unserved(state, pilot, rule.least)
                if a < 0:
                    served = not forgets()
                    mark_eligible(state, rule.least)  # these three lines are decide()
                    evaluate(rows, kept, decision, policy_key, arguments, index)
                    a = largest_index(state, rule.least, feedback.counted)
            if a < 0:
                give_up(out.status, run, -1 - a, t, state.seen[-1 - a])
                return
            # Draw.
            if not all_seen:
                low, high = a, a + 1
            for i in range(low, high):
                if feedback.by_round:
                    pays[i] = recorded(arms, row, i, t)
                else:
                    if number[i] % DRAWN == 0:
                        fill(arms, row, i, fold(run_key, i), number[i], drawn[i])
                    pays[i] = drawn[i, number[i] % DRAWN]
                number[i] += 1
                if holds():
                    if not (feedback.full or t < holding.warm or held.chosen[i]):
                        pays[i] = np.nan
                elif pays[i] != pays[i]:  # past the end of a record
                    give_up(out.status, run, i, t, number[i])
                    return
            if holds():
                continue
            x = pays[a]
            # Wait.
            if late():
                state.pending[a] += 1.0
                delay = np.float64(feedback.delay)
                if feedback.delay < 0:
                    fill(feedback.delays, 0, 0, fold(stream_key(seed, DELAYS, run), 0), t, delay_of)
                    delay = max(0.0, math.floor(delay_of[0]))
                wait(waiting, t, a, x, np.int64(min(np.float64(t + 1) + delay, np.float64(horizon))))
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
        if holds():
            continue
        for i in range(count_arms):
            weight = sums.pulls[i]
            mean[i], variance[i] = 0.0, 0.0
            if state.seen[i] > 0:
                less = 1.0 / (weight - 1.0) if weight > 1.0 else 0.0
                mean[i], variance[i], _ = summary(sums.anchor[i], sums.sum1[i], sums.sum2[i], 1.0 / weight, less)
        evaluate_objective(rows, kept, objective)
        out.recommended[r, 0] = best_value(rows[INDEX])
        if late() or forgets() or feedback.full:
            out.reward_mean[r], out.reward_variance[r], _ = summary(
                first_reward, total1, total2, 1.0 / horizon, 1.0 / (horizon - 1.0)
            )
        else:
            out.reward_mean[r], out.reward_variance[r] = pooled(sums.pulls, mean, variance, count_arms)
