"""The kernel of policies that play in phases and decide on arms in between: sequential halving, successive rejects,
successive accepts and rejects.

A phase has a number of pulls per undecided arm, which a policy may share unequally, and a number of arms that stay
undecided after it. Within a phase the arm with the most remaining pulls is played next, in round robin if all have the
same number.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from .formulas import decide_on, estimate, noise, value
from .game import AHEAD, LANES, give_up, keep_pulls
from .memory import words, zeros
from .rewards import PIECE, UNIFORM, fill, recorded, uniform_reward
from .state import Sums, anchor_of
from .statistics import arm_record, pooled, summary
from .streams import REWARDS, fold, reward_bits, stream_key

ROUNDING = 1e-9  # of shares of pulls
#: Working state of the arms being played, one per lane: rows of an array. It is one array so that the compiler sees
#: that nothing overlaps.
LOC, SCALE, ANCHOR, SUM1, SUM2, STREAM, ROWS = range(7)


class Phases(NamedTuple):
    """What a policy does in each phase."""

    pulls: np.ndarray  # per undecided arm
    keep: np.ndarray  # how many arms stay undecided after it
    fresh: bool  # whether estimates use only the current phase's rewards
    by_round: bool  # whether rewards are indexed by round, not by an arm's own pulls


class PhaseFormulas(NamedTuple):
    """The formulas of a policy and its objective, as input of a kernel that is compiled once for all of them. The last
    three are pointers to the functions of :mod:`sharpe_bandits.simulation.pointers` of these names.
    """

    objective: np.ndarray  # arguments of the objective
    keeps_powers: bool  # whether sums of third and fourth powers are kept
    cells: int  # number of cells per arm that statistics keep
    share: Any
    end_phase: Any
    update_statistics: Any


def share_equally(sums, kept, alive, size, pulls, previous_kept_all, objective, quota):
    """Every arm gets the same number of pulls (see :func:`~sharpe_bandits.play.formulas.share`)."""
    quota[:size] = pulls


def share_by_influence_variance(sums, kept, alive, size, pulls, previous_kept_all, objective, quota):
    """After a phase that kept all arms, share pulls so that :func:`top_up` gives all estimates the same standard error:
    in proportion to their influence variances.
    """
    quota[:size] = pulls
    if not previous_kept_all:
        return
    weights = zeros(size)
    for p in range(size):
        weights[p] = noise(arm_record(sums, kept, alive[p]), *objective)
    top_up(sums.pulls, alive, size, weights, pulls * size, quota)


def share_by_distance(sums, kept, alive, size, pulls, previous_kept_all, objective, quota):
    """Share pulls in proportion to W / d^2; the best arm counts as its closest rival.

    W is the variance of the influence of a reward on the root of the objective, and d the distance to the best root
    less its standard error, but at least half of that. Arms whose rewards have not varied count as noisy as the
    average.
    """
    values, noises, weights = zeros(size), zeros(size), zeros(size)
    best, average = 0, 0.0
    for p in range(size):
        arm = arm_record(sums, kept, alive[p])
        values[p], noises[p] = estimate(arm, *objective), noise(arm, *objective)
        average += noises[p] / size
        best = p if values[p] > values[best] else best
    for p in range(size):
        noises[p] = noises[p] if noises[p] > 0.0 else average
    for p in range(size):
        if p != best and average > 0.0:
            error = math.sqrt(noises[p] / sums.pulls[alive[p]] + noises[best] / sums.pulls[alive[best]])
            distance = max(values[best] - values[p] - error, 0.5 * error)
            weights[p] = noises[p] / (distance * distance)
    weights[best] = weights.max()
    top_up(sums.pulls, alive, size, weights, pulls * size, quota)


def top_up(count, alive, size, weights, total, quota):
    """Divide ``total`` pulls so that the arms' pulls, including the ``count`` played, are as nearly as possible in
    proportion to their weights; arms that already have more than their share get none.
    """
    if not 0.0 < weights.sum() < math.inf:  # they carry no information
        weights[:] = 1.0
    done = zeros(size, np.bool_)  # arms with more than their share
    level, settled = 0.0, False
    while not settled:
        pulls, weight = float(total), 0.0
        for p in range(size):
            if not done[p]:
                pulls += count[alive[p]]
                weight += weights[p]
        level = pulls / weight
        settled = True
        for p in range(size):
            if not done[p] and level * weights[p] < count[alive[p]]:
                done[p] = True
                settled = False
    upto, before = 0.0, 0
    for p in range(size):  # rounding the running total loses nothing
        if not done[p]:
            upto += level * weights[p] - count[alive[p]]
        after = total if p == size - 1 else min(total, int(upto + ROUNDING))  # a whole number may fall just short
        quota[p] = after - before
        before = after


def place(quota, size, p, due):
    """The round of a phase in which the p-th undecided arm is played when it has ``due`` pulls remaining."""
    rounds = 0
    for q in range(size):
        rounds += max(0, quota[q] - due) + (1 if q < p and quota[q] >= due else 0)
    return rounds


def remaining_pulls(quota, size, within, out):
    """Pulls of each undecided arm that remain after the first ``within`` rounds of a phase, which must not be all."""
    low, high = 0, 0
    for p in range(size):
        high = max(high, quota[p])
    while high - low > 1:  # after these rounds the maximum of the remaining pulls is ``high``
        middle = (low + high) // 2
        rounds = 0
        for p in range(size):
            rounds += max(0, quota[p] - middle)
        if rounds <= within:
            high = middle
        else:
            low = middle
    for p in range(size):
        within -= max(0, quota[p] - high)
    for p in range(size):
        out[p] = min(quota[p], high)
        if within > 0 and quota[p] >= high:
            out[p] -= 1
            within -= 1


def drop_worst(values, low, high, wanted):
    """The worst arm is dropped (see :func:`~sharpe_bandits.play.formulas.decide_on`)."""
    return False


def accept_or_drop(values, low, high, wanted):
    """Accept the best arm if it is further than the worst from the boundary between the ``wanted`` arms and the others,
    otherwise drop the worst. A tie accepts the best, unless only one arm is wanted: accepting it would then end the
    decision before the last phase.
    """
    if wanted == 0:
        return False
    lead, lag = values[low] - values[low + wanted], values[low + wanted - 1] - values[high - 1]
    return lead > lag or (lead == lag and wanted > 1)


def end_phase(sums, kept, alive, size, keep, wanted, taken, objective):
    """End a phase: accept or drop arms by their estimates until ``keep`` are undecided. If as many are wanted as
    remain, they are all accepted.

    Accepted arms are marked in ``taken``; the undecided stay in ``alive``, in order of arm. Returns how many are still
    wanted.
    """
    values, order = zeros(size), zeros(size, np.int64)  # the best first; of equal values the first counts as the best
    for p in range(size):
        v = value(arm_record(sums, kept, alive[p]), *objective)
        v = v if v == v else -math.inf
        q = p
        while q > 0 and values[q - 1] < v:
            values[q], order[q] = values[q - 1], order[q - 1]
            q -= 1
        values[q], order[q] = v, alive[p]
    low, high = 0, size  # the undecided among them
    while high - low > keep and wanted < high - low:
        if decide_on(values, low, high, wanted):
            taken[order[low]] = True
            wanted -= 1
            low += 1
        else:
            high -= 1
    if wanted == high - low:
        for p in range(low, high):
            taken[order[p]] = True
        wanted = 0
    stays = zeros(taken.size, np.bool_)
    for p in range(low, high):
        stays[order[p]] = True
    left = 0
    for p in range(size):
        alive[left] = alive[p]
        left += stays[alive[p]]
    return wanted


def share_pulls(formulas, sums, kept, alive, size, pulls, previous_kept_all, quota):
    """The policy's :func:`~sharpe_bandits.play.formulas.share`; returns whether all pulls are shared."""
    formulas.share(sums, kept, alive, size, pulls, previous_kept_all, formulas.objective, quota)
    total, least = 0, 0
    for p in range(size):
        total, least = total + quota[p], min(least, quota[p])
    return total == pulls * size and least == 0


def decide(formulas, sums, kept, alive, size, keep, wanted, taken):
    """:func:`end_phase` by the policy's formulas."""
    return formulas.end_phase(sums, kept, alive, size, keep, wanted, taken, formulas.objective)


def play_phases(game, phases, rewards, formulas, out):
    """Play runs, LANES in parallel."""
    numbers, runs = game.numbers, game.numbers.size
    arms, row_step, seed = rewards
    fresh, by_round, keeps_powers = phases.fresh, phases.by_round, formulas.keeps_powers
    checkpoints = out.checkpoints
    count_arms, n_recommended = out.final.shape[1], out.recommended.shape[1]
    shape = (LANES, count_arms)
    short, so_far = zeros(count_arms, np.int64), zeros(count_arms, np.int64)  # at a checkpoint: pulls due and played
    mean, variance = zeros(count_arms), zeros(count_arms)
    played = zeros((ROWS, LANES))
    keys = words(played)  # the same memory
    buffer, covariates = zeros(AHEAD), zeros(AHEAD)
    covariates[:] = np.nan
    traced, has_covariate = out.choices.shape[0] > 0, arms.kind.shape[1] > count_arms
    for block in range(0, runs, LANES):
        lanes = min(LANES, runs - block)
        alive = zeros(shape, np.int64)
        taken = zeros(shape, np.bool_)
        wanted = zeros(LANES, np.int64)  # arms still to be accepted
        quotas = zeros(shape, np.int64)  # pulls of the p-th undecided arm in a phase
        done = zeros(shape, np.int64)  # pulls of an arm in the whole run
        anchor, all1, all2 = zeros(shape), zeros(shape), zeros(shape)
        # Of the rewards that estimates use:
        pulls, sum1, sum2, sum3, sum4 = zeros(shape), zeros(shape), zeros(shape), zeros(shape), zeros(shape)
        kept = zeros((LANES, count_arms, formulas.cells, 1))
        streams = zeros(shape, np.uint64)
        for k in range(LANES):
            r = block + min(k, lanes - 1)  # lanes past the last run repeat it; their results are not kept
            row, run_key = r * row_step, stream_key(seed, REWARDS, numbers[r])
            for i in range(count_arms):
                streams[k, i] = fold(run_key, i)
                fill(arms, row, i, streams[k, i], i if by_round else 0, buffer[:1])
                anchor[k, i] = anchor_of(buffer[0])
                alive[k, i] = i
            wanted[k] = n_recommended
        size = count_arms
        previous_kept_all = False  # whether the last phase left all arms undecided
        alike = True  # whether all undecided arms have the same pulls
        t, check = 0, 0
        for phase in range(phases.pulls.size):
            quota = phases.pulls[phase]
            for k in range(lanes):
                sums = Sums(pulls[k], sum1[k], sum2[k], sum3[k], sum4[k], anchor[k])
                if phase == 0:
                    quotas[k, :size] = quota
                elif not share_pulls(formulas, sums, kept[k], alive[k], size, quota, previous_kept_all, quotas[k]):
                    give_up(out.status, numbers[block + k], 0, phase, quotas[k, :size].sum())
                    return
                if fresh:
                    pulls[k], sum1[k], sum2[k], sum3[k], sum4[k], kept[k] = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
                for p in range(size):
                    alike &= quotas[k, p] == quota
            for p in range(size):
                simple = alike and not (traced or keeps_powers or formulas.cells > 0)
                for k in range(LANES):
                    a = alive[k, p]
                    row = (block + min(k, lanes - 1)) * row_step
                    simple = simple and arms.kind[row, a] == UNIFORM
                    played[LOC, k], played[SCALE, k] = arms.loc[row, a], arms.scale[row, a]
                    played[ANCHOR, k], played[SUM1, k], played[SUM2, k] = anchor[k, a], sum1[k, a], sum2[k, a]
                    keys[STREAM, k] = streams[k, a]
                if simple:
                    start = done[0, alive[0, p]]
                    for piece in range(start, start + quota, PIECE):
                        if out.stop[0] != 0:
                            return
                        for j in range(piece, min(piece + PIECE, start + quota)):
                            for k in range(LANES):
                                bits = reward_bits(keys[STREAM, k], j)
                                d = uniform_reward(played[LOC, k], played[SCALE, k], bits) - played[ANCHOR, k]
                                played[SUM1, k] += d
                                played[SUM2, k] += d * d
                else:
                    for k in range(lanes):
                        a = alive[k, p]
                        row = (block + k) * row_step
                        total1, total2, base = played[SUM1, k], played[SUM2, k], played[ANCHOR, k]
                        total3, total4 = sum3[k, a], sum4[k, a]
                        before = 0 if fresh else done[k, a]  # rewards that are used already
                        for j in range(0, quotas[k, p], AHEAD):
                            if out.stop[0] != 0:
                                return
                            steps = min(AHEAD, quotas[k, p] - j)
                            drawn = buffer[:steps]
                            fill(arms, row, a, streams[k, a], done[k, a] + j, drawn)
                            for i in range(steps if traced or by_round else 0):
                                now = t + place(quotas[k], size, p, quotas[k, p] - j - i)
                                if by_round:
                                    drawn[i] = recorded(arms, row, a, now)
                                if by_round and has_covariate:
                                    covariates[i] = recorded(arms, row, count_arms, now)
                                if traced:
                                    out.choices[block + k, now] = a
                                    out.rewards[block + k, now] = drawn[i]
                            if formulas.cells > 0:
                                formulas.update_statistics(
                                    kept[k], a, before + j, drawn, base, covariates, formulas.objective
                                )
                            for i in range(steps):
                                d = drawn[i] - base
                                total1 += d
                                total2 += d * d
                                if keeps_powers:
                                    total3 += d * d * d
                                    total4 += d * d * d * d
                        played[SUM1, k], played[SUM2, k] = total1, total2
                        sum3[k, a], sum4[k, a] = total3, total4
                for k in range(lanes):
                    a = alive[k, p]
                    sum1[k, a], sum2[k, a] = played[SUM1, k], played[SUM2, k]
                    pulls[k, a] += quotas[k, p]
                    done[k, a] += quotas[k, p]
                    all1[k, a] = sum1[k, a] + (all1[k, a] if fresh else 0.0)
                    all2[k, a] = sum2[k, a] + (all2[k, a] if fresh else 0.0)
            end = t + quota * size
            while check < checkpoints.size and checkpoints[check] < end:
                for k in range(lanes):
                    if k == 0 or not alike:
                        remaining_pulls(quotas[k], size, checkpoints[check] - t, short)
                    for i in range(count_arms):
                        so_far[i] = done[k, i]
                    for p in range(size):
                        so_far[alive[k, p]] -= short[p]
                    cell = out.batch[block + k]
                    keep_pulls(so_far, out.pulls[cell, check], check == out.halfway_check, out.halfway[block + k])
                check += 1
            t = end
            for k in range(lanes):
                sums = Sums(pulls[k], sum1[k], sum2[k], sum3[k], sum4[k], anchor[k])
                wanted[k] = decide(formulas, sums, kept[k], alive[k], size, phases.keep[phase], wanted[k], taken[k])
            previous_kept_all = phases.keep[phase] == size
            size = phases.keep[phase]
        for k in range(lanes):
            cell = out.batch[block + k]
            for c in range(check, checkpoints.size):  # left-over rounds that do not divide evenly are not played
                keep_pulls(done[k], out.pulls[cell, c], c == out.halfway_check, out.halfway[block + k])
            number = 0
            for i in range(count_arms):
                out.final[block + k, i] = done[k, i]
                less = 1.0 / (done[k, i] - 1.0) if done[k, i] > 1 else 0.0
                mean[i], variance[i], _ = summary(anchor[k, i], all1[k, i], all2[k, i], 1.0 / done[k, i], less)
                if taken[k, i]:
                    out.recommended[block + k, number] = i
                    number += 1
            out.reward_mean[block + k], out.reward_variance[block + k] = pooled(done[k], mean, variance, count_arms)
