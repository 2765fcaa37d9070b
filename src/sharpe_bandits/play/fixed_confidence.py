"""The kernel of fixed-confidence best-arm identification: play the best arm and its challenger until it is certain
which is better.

Every arm i has an estimate, the variance W_i of its influence function, and s_i pulls. Let m = PRIOR. If estimates were
means of normal rewards of known variance W_i, then for the error d_i of an arm's estimate

    exp(s_i d_i^2 / (2 W_i (1 + m / s_i))) / sqrt(1 + s_i / m)

would be a martingale in s_i (Robbins, 1970: the mixture of likelihood ratios over d ~ N(0, W_i / m)). So would the
product of those of two arms, in whatever order they are played (Kaufmann & Koolen, 2021, section 3). By Ville's
inequality, with probability 1 - delta, the best arm and each of the other K - 1 satisfy, uniformly in time,

    sum_i s_i d_i^2 / (2 W_i (1 + m / s_i)) <= ln((K - 1) / delta) + sum_i ln(1 + s_i / m) / 2,

where the sums are over the two arms. The error of their estimated difference is then at most :func:`judge`'s width.
"""

import math

import numpy as np

from .formulas import estimate, kept_cells, noise, turns
from .memory import zeros
from .rewards import fill
from .state import new_state, observe, reset
from .statistics import pooled, record_of, summary
from .streams import REWARDS, fold, stream_key

#: m: the mixture bound is tightest near this many pulls, and loses little for long after.
PRIOR = 32.0
AHEAD = 16  # rewards drawn in advance, per arm
RAN_OUT = 1  # status: a record has no more rewards; the run, arm and its pulls follow


def look(sums, kept, i, arguments):
    """The estimate of arm ``i``, its squared error scale and the price of time-uniformity: the arm's terms of the bound
    in the module's docstring.
    """
    nothing = np.uint64(0)
    arm = record_of(
        sums, kept, i, 0.0, epsilon=np.nan, last=np.nan, key=nothing, round_key=nothing, lead=np.nan,
        standard_normal=np.nan,
    )  # fmt: skip
    pulls = sums.pulls[i]
    inverse = 1.0 / pulls
    error = noise(arm, *arguments) * (pulls + PRIOR) * inverse * inverse
    return estimate(arm, *arguments), error, 0.5 * math.log(1.0 + pulls / PRIOR)


def judge(estimates, errors, prices, log_odds, epsilon):
    """The best arm, its challenger, and an upper bound on the challenger's lead beyond ``epsilon``; below 0: no arm can
    be better by more.

    The challenger is the arm with the largest upper bound on its lead over the best. Ties go to the lowest arm.
    """
    best = 0
    for i in range(estimates.size):
        if estimates[i] > estimates[best]:
            best = i
    challenger = -1
    farthest = -math.inf
    for i in range(estimates.size):
        if i != best:
            width = math.sqrt(2.0 * (log_odds + prices[best] + prices[i]) * (errors[best] + errors[i]))
            ahead = estimates[i] - estimates[best] + width - epsilon
            if not ahead <= farthest:  # NaN (rewards that overflow) counts as undecided
                challenger = i
                farthest = ahead if ahead == ahead else math.inf
    return best, challenger, farthest


def in_turn(pulls, estimates, errors, best, challenger, turn):
    """The best arm and its challenger (see :func:`~sharpe_bandits.play.formulas.turns`)."""
    turn[0], turn[1] = best, challenger
    return 2


def top_two(pulls, estimates, errors, best, challenger, turn):
    """One arm: the least played one if it has fewer than sqrt(t) - K/2 pulls; otherwise the best one if it has less
    than its share of pulls, else the rival that is hardest to distinguish from it.

    The hardest rival has the smallest (h_1 - h_i)^2 / (e_1 + e_i), where e is the squared error of an estimate. At the
    optimal allocation, which needs the fewest pulls, these are all equal, and s_1^2 / W_1 is the sum of s_i^2 / W_i
    over the others.
    """
    least, rounds = 0, 0.0
    for i in range(pulls.size):
        rounds += pulls[i]
        least = i if pulls[i] < pulls[least] else least
    if pulls[least] < math.sqrt(rounds) - 0.5 * pulls.size:
        turn[0] = least
        return 1
    hardest, cost, balance = challenger, math.inf, 0.0
    for i in range(pulls.size):
        if i != best:
            apart = estimates[best] - estimates[i]
            needed = apart * apart / (errors[best] + errors[i])
            if needed < cost:
                hardest, cost = i, needed
            balance += pulls[i] / errors[i]
    turn[0] = best if pulls[best] / errors[best] < balance else hardest
    return 1


def decide(sums, kept, arguments, log_odds, epsilon, turn):
    """:func:`judge` for a live agent, from its sums and the cells kept by statistics (``kept[arm, cell, 0]``).

    Returns the best arm, an upper bound on another arm's lead, and how many arms of ``turn`` to play before judging
    again.
    """
    arms = sums.pulls.size
    estimates, errors, prices = zeros(arms), zeros(arms), zeros(arms)
    for i in range(arms):
        estimates[i], errors[i], prices[i] = look(sums, kept, i, arguments)
    best, challenger, ahead = judge(estimates, errors, prices, log_odds, epsilon)
    return best, ahead, turns(sums.pulls, estimates, errors, best, challenger, turn)


def identify(game, rewards, log_odds, epsilon, arguments, out):
    """Play runs one after the other, each until the best arm is certain or the horizon is reached.

    After a pilot in round robin the arms are judged, and the policy chooses which to play before judging again: the
    best arm and its challenger in turn, or a single arm. Arms are also judged at the horizon.
    """
    first, runs, horizon, pilot = game
    arms, row_step, seed = rewards
    objective = arguments[0]
    count = out.final.shape[1]
    state = new_state(count, kept_cells(), 0)
    sums, kept = state.sums, state.kept
    pulls = sums.pulls
    estimates, errors, prices = zeros(count), zeros(count), zeros(count)
    mean, variance = zeros(count), zeros(count)
    streams = zeros(count, np.uint64)
    buffer = zeros((count, AHEAD))
    turn = zeros(2, np.int64)
    traced = out.choices.shape[0] > 0
    for r in range(runs):
        row = r * row_step
        run_key = stream_key(seed, REWARDS, first + r)
        for i in range(count):
            streams[i] = fold(run_key, i)
        reset(state)
        t = 0
        end_of_pilot = pilot * count
        best = 0
        while True:
            if out.stop[0] != 0:
                return
            steps = 1
            if t < end_of_pilot:
                turn[0] = t % count
            else:
                if t == end_of_pilot:
                    for i in range(count):
                        estimates[i], errors[i], prices[i] = look(sums, kept, i, arguments)
                best, challenger, ahead = judge(estimates, errors, prices, log_odds, epsilon)
                steps = turns(pulls, estimates, errors, best, challenger, turn)
                out.stopped[r] = ahead < 0.0
                if ahead < 0.0 or t >= horizon:
                    break
            for step in range(min(steps, horizon - t)):
                a = turn[step]
                s = np.int64(pulls[a])
                if s % AHEAD == 0:
                    fill(arms, row, a, streams[a], s, buffer[a])
                x = buffer[a, s % AHEAD]
                if x != x:
                    out.status[0], out.status[1], out.status[2], out.status[3] = RAN_OUT, first + r, a, s + 1
                    return
                observe(state, a, x, np.nan, t, 0, objective)
                if t >= end_of_pilot:
                    estimates[a], errors[a], prices[a] = look(sums, kept, a, arguments)
                if traced:
                    out.choices[r, t] = a
                    out.rewards[r, t] = x
                t += 1
        out.recommended[r, 0] = best
        for i in range(count):
            out.final[r, i] = np.int64(pulls[i])
            inverses = 1.0 / pulls[i], 1.0 / (pulls[i] - 1.0)
            mean[i], variance[i], _ = summary(sums.anchor[i], sums.sum1[i], sums.sum2[i], *inverses)
        out.reward_mean[r], out.reward_variance[r] = pooled(pulls, mean, variance, count)
