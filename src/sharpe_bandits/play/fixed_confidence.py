"""The kernel of fixed-confidence best-arm identification: play the best arm and its challenger until it is certain
which is better.

Every arm i has an estimate, the variance W_i of its influence function, and s_i pulls. Let m = PRIOR, and let z be the
error of the estimate, underestimates of a rival and overestimates of the best arm being positive, divided by
sqrt(W_i (1 + m / s_i) / s_i). If estimates were means of normal rewards of known variance W_i, then

    2 (p F(z) + (1 - p) F(-z)) exp(z^2 / 2) / sqrt(1 + s_i / m),

with the normal distribution F, would be a martingale in s_i (Robbins, 1970: the mixture of likelihood ratios over a
normal distribution, a share p of which is on the side that leads to a wrong answer: p = LIKELY_SIDE). So would the
product of those of two arms, in whatever order they are played (Kaufmann & Koolen, 2021, section 3). By Ville's
inequality, with probability 1 - delta, the best arm and each of the other K - 1 satisfy, uniformly in time,

    sum_i z_i^2 / 2 + ln(2 (p F(z_i) + (1 - p) F(-z_i))) <= ln((K - 1) / delta) + sum_i ln(1 + s_i / m) / 2,

where the sums are over the two arms. :func:`judge` stops if no errors within that bound undo the lead.
"""

import math

import numpy as np

from .formulas import estimate, kept_cells, noise, turns
from .game import AHEAD, give_up
from .memory import zeros
from .rewards import fill
from .state import Rule, new_state, observe, reset, update
from .statistics import arm_record, pooled, summary
from .streams import REWARDS, fold, stream_key

#: m: the mixture bound is tightest near this many pulls, and loses little for long after.
PRIOR = 32.0
#: p: with 1/2 a bound is two-sided; with 1 it is one-sided, but fails to narrow where one arm is known far better.
LIKELY_SIDE = 0.9
_SIDES = 2.0 * math.log(2.0 * LIKELY_SIDE)
_ROOT_TWO_PI = math.sqrt(2.0 * math.pi)
#: An arm is not judged before it has this many pulls per unit of its kurtosis: rare rewards would dominate.
PER_KURTOSIS = 12.0


def look(sums, kept, i, arguments):
    """The estimate of arm ``i``, its squared error scale and the price of time-uniformity: the arm's terms of the bound
    in the module's docstring. Also whether the arm has enough pulls to be judged.
    """
    arm, pulls = arm_record(sums, kept, i), sums.pulls[i]
    inverse = 1.0 / pulls
    error = noise(arm, *arguments) * (pulls + PRIOR) * inverse * inverse
    enough = pulls * arm.variance * arm.variance >= PER_KURTOSIS * arm.fourth
    return estimate(arm, *arguments), error, 0.5 * math.log(1.0 + pulls / PRIOR), enough


def excess(z):
    """ln(2 (p F(z) + (1 - p) F(-z))), which z^2 / 2 is raised by, and its first and second derivative."""
    mixed = 1.0 - LIKELY_SIDE + (2.0 * LIKELY_SIDE - 1.0) * 0.5 * math.erfc(-z / math.sqrt(2.0))
    slope = (2.0 * LIKELY_SIDE - 1.0) * math.exp(-0.5 * z * z) / _ROOT_TWO_PI / mixed
    return math.log(2.0 * mixed), slope, -slope * (z + slope)


def least_evidence(lead, first, second):
    """The least sum of both arms' terms (see the module's docstring) over all errors that undo the lead; ``first``,
    ``second``: squared error scales.
    """
    both = first + second
    q, r, rest = lead / math.sqrt(both), math.sqrt(first / both), math.sqrt(second / both)
    t = 0.0  # the errors are z = r q + rest t and rest q - r t; Newton's method, since the sum is convex in t
    for _ in range(6):
        _, slope, bend = excess(r * q + rest * t)
        _, other_slope, other_bend = excess(rest * q - r * t)
        t -= (t + rest * slope - r * other_slope) / (1.0 + rest * rest * bend + r * r * other_bend)
    return 0.5 * (q * q + t * t) + excess(r * q + rest * t)[0] + excess(rest * q - r * t)[0]


def judge(pulls, estimates, errors, prices, enough, log_odds, epsilon, turn):
    """The best arm, whether no other arm can be ahead by more than ``epsilon``, and how many arms of ``turn`` to play
    before judging again: those of :func:`~.formulas.turns`, unless all that is missing are pulls of one arm.

    The challenger is the arm with the largest two-sided upper bound on its lead over the best. Ties go to the lowest
    arm.
    """
    best = 0
    for i in range(estimates.size):
        if estimates[i] > estimates[best]:
            best = i
    challenger, farthest, sure, missing = -1, -math.inf, True, -1
    for i in range(estimates.size):
        if i != best:
            beta, both = log_odds + prices[best] + prices[i], errors[best] + errors[i]
            ahead = estimates[i] - estimates[best] + math.sqrt(2.0 * beta * both)
            if not ahead <= farthest:  # NaN (rewards that overflow) counts as undecided
                challenger = i
                farthest = ahead if ahead == ahead else math.inf
            lead = estimates[best] - estimates[i] + epsilon
            sure = sure and lead * lead > 2.0 * (beta - _SIDES) * both  # otherwise the evidence is less than beta
            sure = sure and least_evidence(lead, errors[best], errors[i]) >= beta
    for i in range(estimates.size):
        if sure and not enough[i]:
            sure, missing = False, challenger if i == best else i
    steps = turns(pulls, estimates, errors, best, challenger, turn)
    if missing >= 0:
        turn[0], turn[1], steps = best, missing, 2
    return best, sure, steps


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
    """:func:`judge` for a live agent, from its sums and the cells kept by statistics."""
    arms = sums.pulls.size
    estimates, errors, prices, enough = zeros(arms), zeros(arms), zeros(arms), zeros(arms, np.bool_)
    for i in range(arms):
        estimates[i], errors[i], prices[i], enough[i] = look(sums, kept, i, arguments)
    return judge(sums.pulls, estimates, errors, prices, enough, log_odds, epsilon, turn)


def identify(game, rewards, log_odds, epsilon, arguments, out):
    """Play runs one after the other, each until the best arm is certain or the horizon is reached.

    After a pilot in round robin the arms are judged, and the policy chooses which to play before judging again: the
    best arm and its challenger in turn, or a single arm. Arms are also judged at the horizon.
    """
    numbers, horizon, pilot = game
    arms, row_step, seed = rewards
    objective = arguments[0]
    count = out.final.shape[1]
    rule = Rule(0, 1.0, 0, kept_cells(), False)
    state = new_state(count, rule.cells, 0)
    sums, kept, pulls = state.sums, state.kept, state.sums.pulls
    estimates, errors, prices, enough = zeros(count), zeros(count), zeros(count), zeros(count, np.bool_)
    mean, variance = zeros(count), zeros(count)
    streams = zeros(count, np.uint64)
    buffer = zeros((count, AHEAD))
    turn = zeros(2, np.int64)
    traced = out.choices.shape[0] > 0
    for r in range(numbers.size):
        row, run_key = r * row_step, stream_key(seed, REWARDS, numbers[r])
        for i in range(count):
            streams[i] = fold(run_key, i)
        reset(state)
        t, best, end_of_pilot = 0, 0, pilot * count
        while True:
            if out.stop[0] != 0:
                return
            steps = 1
            if t < end_of_pilot:
                turn[0] = t % count
            else:
                if t == end_of_pilot:
                    for i in range(count):
                        estimates[i], errors[i], prices[i], enough[i] = look(sums, kept, i, arguments)
                best, sure, steps = judge(pulls, estimates, errors, prices, enough, log_odds, epsilon, turn)
                out.stopped[r] = sure
                if sure or t >= horizon:
                    break
            for step in range(min(steps, horizon - t)):
                a = turn[step]
                s = np.int64(pulls[a])
                if s % AHEAD == 0:
                    fill(arms, row, a, streams[a], s, buffer[a])
                x = buffer[a, s % AHEAD]
                if x != x:
                    give_up(out.status, numbers[r], a, t, s + 1)
                    return
                observe(state, a, x, np.nan, t, rule, update, objective)
                if t >= end_of_pilot:
                    estimates[a], errors[a], prices[a], enough[a] = look(sums, kept, a, arguments)
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
