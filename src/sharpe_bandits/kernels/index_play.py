"""Two kernels that play an index policy and make the same choices, run by run.

:func:`side_by_side` evaluates every index in every round, sixteen runs abreast; it serves any index and is the oracle.
:func:`lazy` serves an index that cannot fall as rounds pass while the arm's own record stands still: it bounds the
rivals by their indices some rounds ahead and plays the leader for as long as its exact index stays above that bound.
"""

import math
from typing import NamedTuple

import numpy as np

from .formulas import (
    by_round,
    extras,
    index,
    index_at_once,
    keeps_lead,
    keeps_powers,
    kept_cells,
    long_game,
    score,
    take,
)
from .game import LANES, keep_pulls
from .rewards import fill, recorded
from .statistics import (
    UNKNOWN,
    anchor_of,
    best_estimate,
    higher_moments,
    inverse_at,
    inverse_root_at,
    pooled,
    radius,
    radius_at,
    record,
    record_of,
    summary,
)
from .streams import POLICY, REWARDS, fold, stream_key, uniform

AHEAD = 16  # rewards drawn ahead of need, per arm
WIDE = 8  # numbers in a vector
SHORT = 4  # pulls of the leader looked at together where leads are short
DRAWN = 64  # rewards drawn together in lazy, per arm
SEEN = 32  # arms looked at one by one in lazy, at most, before their bounds are made anew
ROUNDING = 1e-9  # weights of rewards may fall short of whole numbers by so much
INFLATION = 1e-12  # a bound is raised by this much, relatively, so that rounding cannot matter
NOT_A_NUMBER = 1  # status: an index was not a number; the run, arm, round and the arm's pulls follow
TURNS = 5  # place in status of how often the lazy kernel looked at all arms
BEYOND = 1024  # confidence radii worked out together in lazy, past the end of their table


def plain_arm(pulls, mean, variance, second, epsilon, last):
    """An arm for an index that looks at nothing else: the only kind that is played lazily."""
    nothing = np.uint64(0)
    return record(
        pulls=pulls, mean=mean, variance=variance, second_moment=second, epsilon=epsilon, last=last, key=nothing,
        round_key=nothing, lead=np.nan, statistics=UNKNOWN,
    )  # fmt: skip


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


class UnderWay(NamedTuple):
    """Pulls that were asked for and not yet told, and what they change.

    Attributes
    ----------
    pulls : per arm, pulls under way
    active : per arm, whether it may be played
    counted : 1 if pulls under way count in an arm's pulls, its moments being those of the rewards told; 0 if not
    number : of the decision, by which randomised policies draw
    """

    pulls: np.ndarray
    active: np.ndarray
    counted: float
    number: int


def decide(t, rounds, sums, under_way, least, last, kept, seed, run, arguments, out):
    """The active arm with the largest index of those with ``least`` rewards, after round ``t``, from the
    :class:`~sharpe_bandits.kernels.statistics.Sums` kept and what statistics keep (``kept[arm, cell, 0]``); indices are
    left in ``out``.

    ``rounds`` is what the confidence radius takes for the number of rounds: all of them, unless some are forgotten.
    """
    arms = out.size
    policy_key = stream_key(seed, POLICY, run)
    round_key = fold(policy_key, arms + under_way.number)
    first = -1
    lead = -math.inf
    for scoring in (True, False):
        if scoring and not keeps_lead():
            continue
        for i in range(arms):
            out[i] = -math.inf
            if not under_way.active[i] or sums.pulls[i] < least - ROUNDING:
                continue
            if first < 0:
                first = i
            more = under_way.counted * under_way.pulls[i]
            epsilon = radius(rounds) * (1.0 / math.sqrt(sums.pulls[i] + more))
            key = fold(fold(policy_key, i), under_way.number)
            arm = record_of(sums, kept, i, more, epsilon, last[i], key, round_key, lead)
            if scoring:
                out[i] = score(arm, t, *arguments)
            else:
                out[i] = index(arm, t, *arguments)
        if scoring:
            lead = out.max()
    best = leader(out, sums.pulls + under_way.counted * under_way.pulls)
    return first if best >= 0 and out[best] == -math.inf else best


def choose(t, rounds, sums, under_way, least, last, kept, seed, run, arguments, out):
    """The arm to play: one with fewer than ``least`` pulls, those under way included, the fewest first; otherwise what
    :func:`decide` says. While no arm has ``least`` rewards, arms are played in turn.
    """
    fewest, served, defined = -1, math.inf, False
    for i in range(out.size):
        if under_way.active[i]:
            s = sums.pulls[i] + under_way.pulls[i]
            if s < served:
                fewest, served = i, s
            defined |= sums.pulls[i] >= least - ROUNDING
    if served < least - ROUNDING or not defined:
        return fewest
    return decide(t, rounds, sums, under_way, least, last, kept, seed, run, arguments, out)


def count_choices(draws, t, rounds, sums, under_way, least, last, kept, seed, arguments, out, counts):
    """Count what :func:`choose` says in so many independent draws of the policy's own randomness."""
    for run in range(1, draws + 1):
        a = choose(t, rounds, sums, under_way, least, last, kept, seed, run, arguments, out)
        if a < 0:
            return a
        counts[a] += 1
    return 0


def first_decrease(arguments, negative):
    """Search sample records for an index that falls as rounds pass; gives rounds (0: none), pulls, mean, variance.

    ``negative``: whether means below 0 are to be tried too.
    """
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
            arm = plain_arm(np.float64(pulls), mean, variance, second, epsilon, np.float64(before))
            v = index(arm, np.int64(t), *arguments)
            if v < top - INFLATION * abs(top):
                return at, np.int64(t), pulls, mean, variance
            top = v
            at = np.int64(t)
    return np.int64(0), np.int64(0), 0.0, 0.0, 0.0


def pilot_counts(t, arm, arms):
    """Pulls of an arm after ``t`` rounds of round robin."""
    return t // arms + (1 if arm < t % arms else 0)


def upper_bound(v):
    """An index some rounds ahead as a bound until then; whatever comes of an index that is not a number, look at it."""
    return v + INFLATION * abs(v) if v == v else math.inf


def evaluate(t, radius_t, pulls, mean, variance, second, root, last, arguments, out):
    """Indices of all arms of one run after ``t`` rounds, if their records stand still until then."""
    for i in range(out.size):
        arm = plain_arm(pulls[i], mean[i], variance[i], second[i], radius_t * root[i], last[i])
        out[i] = index(arm, t, *arguments)


def comes_before(v, pulls, i, best, best_pulls, a):
    """Whether arm ``i`` is to be played rather than ``a``: larger index, lower arm; among infinite ones fewer pulls."""
    if v != best:
        return v > best
    if v == math.inf and pulls != best_pulls:
        return pulls < best_pulls
    return i < a


def sort_by_bound(order, high, pulls):
    """Sort arms by falling upper bound; infinite ones as they would be played. Quick where little has changed."""
    for p in range(1, order.size):
        i = order[p]
        v, n = high[i], pulls[i]
        q = p
        while q > 0 and comes_before(v, n, i, high[order[q - 1]], pulls[order[q - 1]], order[q - 1]):
            order[q] = order[q - 1]
            q -= 1
        order[q] = i


def lead(width, drawn, base, sum1, sum2, t, s, horizon, radii, inverse, less, inverse_root, arguments, rival, ahead):
    """How many of the next ``width`` pulls of the leader leave its exact index above ``rival``.

    The slices given start at its next pull and the next round. Sums and index after each pull are left in ``ahead``;
    what lies past the horizon means nothing.
    """
    for j in range(width):
        d = drawn[j] - base
        sum1 += d
        sum2 += d * d
        ahead[0, j] = sum1
        ahead[1, j] = sum2
    first = width
    for j in range(width):
        mean, variance, second = summary(base, ahead[0, j], ahead[1, j], inverse[j], less[j])
        played, u = min(s + 1 + j, horizon), min(t + 1 + j, horizon)
        arm = plain_arm(np.float64(played), mean, variance, second, radii[j] * inverse_root[j], np.float64(u))
        v = index(arm, u, *arguments)
        ahead[2, j] = v
        first = min(first, width if v > rival else j)
    return first


def lazy(game, rewards, tables, arguments, goal, out):
    """Play runs one after the other. Same results as :func:`side_by_side`.

    An index lies between what it was when last looked at (``low``) and what it will be when the bounds expire
    (``high``). The leader is played for as long as its exact index exceeds the upper bounds of all others. Then the
    arms that can lead are looked at: those looked at since the bounds were made (``seen``), and as many more, in the
    order of their upper bounds, as reach the best of them.
    """
    first, runs, horizon, pilot = game
    arms, row_step, source, seed = rewards
    checkpoints, batch, status = out.checkpoints, out.batch, out.status
    # Tables by round from ``first_round`` on and by pulls from ``first_pull`` on: of all of them; or, where the game is
    # longer than the tables given, of those just ahead, made anew as it goes on.
    radii, inverse, inverse_root = tables
    first_round, first_pull = 0, 0
    if long_game():
        radii, inverse, inverse_root = np.zeros(BEYOND + AHEAD), np.zeros(AHEAD + 1), np.zeros(AHEAD + 1)
    count_arms = out.final.shape[1]
    padded = -(-count_arms // WIDE) * WIDE  # whole vectors: the arms past the last are copies of the first
    count = np.zeros(count_arms, np.int64)
    pulls, mean, variance, second = np.zeros(padded), np.zeros(padded), np.zeros(padded), np.zeros(padded)
    root, last, low, high = np.zeros(padded), np.zeros(padded), np.zeros(padded), np.zeros(padded)
    sum1, sum2, anchor = np.zeros(count_arms), np.zeros(count_arms), np.zeros(count_arms)
    streams = np.zeros(count_arms, np.uint64)
    buffer, drawn = np.zeros((count_arms, DRAWN)), np.zeros(count_arms, np.int64)
    order, seen = np.zeros(count_arms, np.uint32), np.zeros(count_arms, np.uint32)
    ahead = np.zeros((3, AHEAD))
    traced = out.choices.shape[0] > 0
    first_batch = first // batch
    end_of_pilot = pilot * count_arms
    inverses = inverse_at(tables, pilot), inverse_at(tables, pilot - 1)
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
                if j % DRAWN == 0:
                    if out.stop[0] != 0:
                        return
                    fill(arms, row, i, source, streams[i], j, buffer[i])
                    drawn[i] = j
                x = buffer[i, j % DRAWN]
                if j == 0:
                    anchor[i] = anchor_of(x)
                d = x - anchor[i]
                sum1[i] += d
                sum2[i] += d * d
                if traced:
                    out.choices[r, j * count_arms + i] = i
                    out.rewards[r, j * count_arms + i] = x
            low[i] = -math.inf
            order[i] = i
            mean[i], variance[i], second[i] = summary(anchor[i], sum1[i], sum2[i], *inverses)
        pulls[:] = pilot
        last[:] = end_of_pilot
        root[:] = inverse_root_at(tables, pilot)
        mean[count_arms:], variance[count_arms:], second[count_arms:] = mean[0], variance[0], second[0]
        check = 0
        while check < checkpoints.size and checkpoints[check] <= end_of_pilot:
            for i in range(count_arms):
                count[i] = pilot_counts(checkpoints[check], i, count_arms)
            keep_pulls(count, out.pulls[cell, check], check == out.halfway_check, out.halfway[r])
            check += 1
        count[:] = pilot
        t = end_of_pilot
        if long_game():
            first_round = -radii.size  # none yet
        stop = t  # where the upper bounds expire
        gap = 4  # rounds from one set of upper bounds to the next
        looks = 0  # at arms that did not lead
        misled = False  # whether bounds have ended a lead that went on
        size = 0  # of seen
        latest = -1  # the arm played last, whose lower bound is its index
        short = False  # leads of late
        while t < horizon:
            if out.stop[0] != 0:
                return
            fresh = t == stop
            in_turn = False
            a = -1
            top, fewest = -math.inf, math.inf
            status[TURNS] += 1
            if fresh:
                gap = max(gap // 2, 4) if misled or looks > count_arms // 4 + 4 else min(2 * gap, t // 8 + 8)
                stop = min(t + gap, checkpoints[check])
                looks, misled, size = 0, False, 0
                evaluate(stop, radius_at(tables, stop), pulls, mean, variance, second, root, last, arguments, high)
                infinite = False
                for i in range(count_arms):
                    high[i] = upper_bound(high[i])
                    infinite |= high[i] == math.inf
                if infinite:
                    # Infinite arms are played in turn, the least played first, and they stay infinite until they are:
                    # no need to look again, unless an arm that would come before them may join them.
                    evaluate(t, radius_at(tables, t), pulls, mean, variance, second, root, last, arguments, low)
                    for i in range(count_arms):
                        if low[i] == math.inf and pulls[i] < fewest:
                            a, fewest = i, pulls[i]
                    in_turn = a >= 0
                    for i in range(count_arms):
                        if high[i] == math.inf and low[i] != math.inf and pulls[i] <= fewest:
                            in_turn = False
                if not in_turn:
                    a = -1
                    fewest = math.inf
                    sort_by_bound(order, high, pulls)
            rival = math.inf
            if not in_turn:
                radius_t = radius_at(tables, t)
                floor = -math.inf
                for p in range(size):
                    floor = max(floor, low[seen[p]])
                looks -= 1
                for p in range(count_arms):
                    if p < size:
                        i = seen[p]
                        if high[i] < floor:
                            continue
                    else:
                        i = order[p]
                        if a >= 0 and not comes_before(high[i], pulls[i], i, top, fewest, a):
                            break
                        seen[p] = i
                        size = p + 1
                    if low[i] < math.inf and i != latest:
                        arm = plain_arm(pulls[i], mean[i], variance[i], second[i], radius_t * root[i], last[i])
                        low[i] = index(arm, t, *arguments)
                        looks += 1
                    if low[i] != low[i]:
                        status[0], status[1], status[2], status[3], status[4] = NOT_A_NUMBER, run, i, t, count[i]
                        return
                    if a < 0 or comes_before(low[i], pulls[i], i, top, fewest, a):
                        a, top, fewest = np.int64(i), low[i], pulls[i]
                if a == latest and not fresh and stop - t > 4:
                    misled = True
                    stop = t + (stop - t) // 2
                    radius_stop = radius_at(tables, stop)
                    for p in range(size):
                        i = seen[p]
                        arm = plain_arm(pulls[i], mean[i], variance[i], second[i], radius_stop * root[i], last[i])
                        high[i] = upper_bound(index(arm, stop, *arguments))
                rival = high[order[size]] if size < count_arms else -math.inf
                for p in range(size):
                    if seen[p] != a:
                        rival = max(rival, high[seen[p]])
            while True:
                s = count[a]
                base = anchor[a]
                total1, total2 = sum1[a], sum2[a]
                started = t
                leads = True
                while leads and t < stop:
                    if s + AHEAD > drawn[a] + DRAWN:
                        fill(arms, row, a, source, streams[a], s, buffer[a])
                        drawn[a] = s
                    offset = s - drawn[a]
                    if long_game():
                        if t + 1 + AHEAD > first_round + radii.size:
                            first_round = t + 1
                            for j in range(radii.size):
                                radii[j] = radius_at(tables, first_round + j)
                        first_pull = s
                        for j in range(inverse.size):
                            inverse[j] = 1.0 / (s + j)
                            inverse_root[j] = 1.0 / math.sqrt(s + j)
                    u, v = t + 1 - first_round, s - first_pull
                    x, e, n, w, q = (
                        buffer[a, offset:], radii[u:], inverse[v + 1 :], inverse[v:], inverse_root[v + 1 :]
                    )  # fmt: skip
                    if rival == math.inf:
                        most = 1
                        played = lead(1, x, base, total1, total2, t, s, horizon, e, n, w, q, arguments, rival, ahead)
                    elif short:
                        most = min(SHORT, stop - t)
                        played = lead(
                            SHORT, x, base, total1, total2, t, s, horizon, e, n, w, q, arguments, rival, ahead
                        )
                    else:
                        most = min(AHEAD, stop - t)
                        played = lead(
                            AHEAD, x, base, total1, total2, t, s, horizon, e, n, w, q, arguments, rival, ahead
                        )
                    leads = played >= most
                    played = min(played + 1, most)  # the pull that cost the lead is played, too
                    if traced:
                        for j in range(played):
                            out.choices[r, t + j] = a
                            out.rewards[r, t + j] = buffer[a, offset + j]
                    total1, total2, low[a] = ahead[0, played - 1], ahead[1, played - 1], ahead[2, played - 1]
                    s += played
                    t += played
                count[a] = s
                pulls[a] = s
                sum1[a] = total1
                sum2[a] = total2
                last[a] = t
                root[a] = inverse_root_at(tables, s)
                mean[a], variance[a], second[a] = summary(
                    base, total1, total2, inverse_at(tables, s), inverse_at(tables, s - 1)
                )
                latest = a
                if not in_turn:
                    break
                a += 1
                while a < count_arms and not (low[a] == math.inf and pulls[a] == fewest):
                    a += 1
                if a == count_arms or t == stop:
                    break
            short = t - started <= SHORT
            if t == checkpoints[check]:
                keep_pulls(count, out.pulls[cell, check], check == out.halfway_check, out.halfway[r])
                check += 1
            if in_turn or size > SEEN:  # so many seen that it pays to sort anew
                stop = t
            elif t < stop:
                a = latest
                epsilon = radius_at(tables, stop) * root[a]
                arm = plain_arm(pulls[a], mean[a], variance[a], second[a], epsilon, last[a])
                high[a] = upper_bound(index(arm, stop, *arguments))
        for i in range(count_arms):
            out.final[r, i] = count[i]
        out.recommended[r, 0] = best_estimate(mean, variance, count_arms, goal)
        out.reward_mean[r], out.reward_variance[r] = pooled(pulls, mean, variance, count_arms)


#: What :func:`side_by_side` keeps of an arm, for all lanes: rows of ``state[arm, row, lane]``. One array, so that the
#: compiler sees at once that nothing overlaps, and one address serves all rows.
PULLS, MEAN, VARIANCE, SECOND, ROOT, LAST, SUM1, SUM2, ANCHOR, KEY, STREAM, ROWS = range(12)
#: Further rows, where third and fourth moments are kept. What other statistics keep comes after all these.
SUM3, SUM4, THIRD, FOURTH, ALL_ROWS = range(ROWS, ROWS + 5)
#: Rows of ``best[row, lane]``.
INDEX, TOP, FEWEST, ROUND_KEY, POLICY_KEY, LEAD, BEST_ROWS = range(7)


def arm_of(state, keys, best, round_keys, i, k, t, radius_t):
    """Arm ``i`` of the run in lane ``k`` after ``t`` rounds."""
    third, fourth, rows = np.nan, np.nan, ROWS
    if keeps_powers():
        third, fourth, rows = state[i, THIRD, k], state[i, FOURTH, k], ALL_ROWS
    pulls, mean, variance = state[i, PULLS, k], state[i, MEAN, k], state[i, VARIANCE, k]
    key = fold(keys[i, KEY, k], t)
    return record(
        pulls=pulls, mean=mean, variance=variance, second_moment=state[i, SECOND, k],
        epsilon=radius_t * state[i, ROOT, k], last=state[i, LAST, k], key=key, round_key=round_keys[ROUND_KEY, k],
        lead=best[LEAD, k],
        statistics=extras(state, i, rows, k, pulls, state[i, ANCHOR, k], mean, variance, third, fourth, key),
    )  # fmt: skip


def side_by_side(game, rewards, tables, arguments, goal, out):
    """Play runs, LANES abreast, evaluating every index in every round."""
    first, runs, horizon, pilot = game
    arms, row_step, source, seed = rewards
    checkpoints, batch, status = out.checkpoints, out.batch, out.status
    count_arms = out.final.shape[1]
    rows = ALL_ROWS if keeps_powers() else ROWS
    state = np.zeros((count_arms, rows + kept_cells(), LANES))
    keys = state.view(np.uint64)  # the same memory
    best = np.zeros((BEST_ROWS, LANES))
    round_keys = best.view(np.uint64)
    count = np.zeros((count_arms, LANES), np.uint32)
    buffer = np.zeros((count_arms, LANES, AHEAD))
    choice = np.zeros(LANES, np.uint32)
    traced = out.choices.shape[0] > 0
    first_batch = first // batch
    end_of_pilot = pilot * count_arms
    inverses = inverse_at(tables, pilot), inverse_at(tables, pilot - 1)
    for block in range(0, runs, LANES):
        lanes = min(LANES, runs - block)
        for k in range(LANES):
            run = first + block + min(k, lanes - 1)  # lanes past the last run repeat it; their results are not kept
            row = (block + min(k, lanes - 1)) * row_step
            run_key = stream_key(seed, REWARDS, run)
            policy_key = stream_key(seed, POLICY, run)
            round_keys[POLICY_KEY, k] = policy_key
            for i in range(count_arms):
                stream = fold(run_key, i)
                keys[i, STREAM, k] = stream
                keys[i, KEY, k] = fold(policy_key, i)
                sum1, sum2, sum3, sum4 = 0.0, 0.0, 0.0, 0.0
                anchor = 0.0
                state[i, rows:, k] = 0.0
                for j in range(pilot):
                    if j % AHEAD == 0:
                        if out.stop[0] != 0:
                            return
                        fill(arms, row, i, source, stream, j, buffer[i, k])
                    x = buffer[i, k, j % AHEAD]
                    if by_round():
                        x = recorded(arms, row, i, j * count_arms + i)
                    if j == 0:
                        anchor = anchor_of(x)
                    d = x - anchor
                    sum1 += d
                    sum2 += d * d
                    sum3 += d * d * d
                    sum4 += d * d * d * d
                    take(state, i, rows, k, np.float64(j + 1), x, d)
                    if traced and k < lanes:
                        out.choices[block + k, j * count_arms + i] = i
                        out.rewards[block + k, j * count_arms + i] = x
                if pilot % AHEAD == 0:
                    fill(arms, row, i, source, stream, pilot, buffer[i, k])
                state[i, PULLS, k] = pilot
                state[i, LAST, k] = end_of_pilot
                state[i, ROOT, k] = inverse_root_at(tables, pilot)
                state[i, SUM1, k], state[i, SUM2, k], state[i, ANCHOR, k] = sum1, sum2, anchor
                state[i, MEAN, k], state[i, VARIANCE, k], state[i, SECOND, k] = summary(anchor, sum1, sum2, *inverses)
                if keeps_powers():
                    state[i, SUM3, k], state[i, SUM4, k] = sum3, sum4
                    state[i, THIRD, k], state[i, FOURTH, k] = higher_moments(sum1, sum2, sum3, sum4, inverses[0])
        check = 0
        while check < checkpoints.size and checkpoints[check] <= end_of_pilot:
            for k in range(lanes):
                cell = (first + block + k) // batch - first_batch
                for i in range(count_arms):
                    count[i, k] = pilot_counts(checkpoints[check], i, count_arms)
                keep_pulls(count[:, k], out.pulls[cell, check], check == out.halfway_check, out.halfway[block + k])
            check += 1
        count[:] = pilot
        for t in range(end_of_pilot, horizon):
            if out.stop[0] != 0:
                return
            radius_t = radius_at(tables, t)
            for k in range(LANES):
                best[TOP, k] = -math.inf
                best[FEWEST, k] = math.inf
                choice[k] = 0
                round_keys[ROUND_KEY, k] = fold(round_keys[POLICY_KEY, k], count_arms + t)
            if keeps_lead():
                for k in range(LANES):
                    best[LEAD, k] = -math.inf
                for i in range(count_arms):
                    for k in range(LANES):
                        v = score(arm_of(state, keys, best, round_keys, i, k, t, radius_t), t, *arguments)
                        best[LEAD, k] = v if v > best[LEAD, k] else best[LEAD, k]
            for i in range(count_arms):
                unsettled = False
                for k in range(LANES):
                    arm = arm_of(state, keys, best, round_keys, i, k, t, radius_t)
                    v = index_at_once(arm, t, *arguments)
                    unsettled |= v != v
                    best[INDEX, k] = v
                    top, fewest = best[TOP, k], best[FEWEST, k]
                    better = v > top or (v == top and v == math.inf and arm.pulls < fewest)
                    best[TOP, k] = v if better else top
                    best[FEWEST, k] = arm.pulls if better else fewest
                    choice[k] = i if better else choice[k]
                if unsettled:
                    for k in range(LANES):
                        v = best[INDEX, k]
                        if v != v:
                            arm = arm_of(state, keys, best, round_keys, i, k, t, radius_t)
                            v = index(arm, t, *arguments)
                            if v != v:
                                run = first + block + min(k, lanes - 1)
                                status[0], status[1], status[2], status[3] = NOT_A_NUMBER, run, i, t
                                status[4] = count[i, k]
                                return
                            top, fewest = best[TOP, k], best[FEWEST, k]
                            if v > top or (v == top and v == math.inf and arm.pulls < fewest):
                                best[TOP, k] = v
                                best[FEWEST, k] = arm.pulls
                                choice[k] = i
            for k in range(LANES):
                a = choice[k]
                s = count[a, k]
                x = buffer[a, k, s & (AHEAD - 1)]
                if by_round():
                    x = recorded(arms, (block + min(k, lanes - 1)) * row_step, a, t)
                s = s + 1
                anchor = state[a, ANCHOR, k]
                d = x - anchor
                sum1 = state[a, SUM1, k] + d
                sum2 = state[a, SUM2, k] + d * d
                state[a, SUM1, k] = sum1
                state[a, SUM2, k] = sum2
                count[a, k] = s
                state[a, PULLS, k] = s
                state[a, LAST, k] = t + 1
                inverse = inverse_at(tables, s)
                state[a, ROOT, k] = inverse_root_at(tables, s)
                state[a, MEAN, k], state[a, VARIANCE, k], state[a, SECOND, k] = summary(
                    anchor, sum1, sum2, inverse, inverse_at(tables, s - 1)
                )
                take(state, a, rows, k, np.float64(s), x, d)
                if keeps_powers():
                    sum3 = state[a, SUM3, k] + d * d * d
                    sum4 = state[a, SUM4, k] + d * d * d * d
                    state[a, SUM3, k], state[a, SUM4, k] = sum3, sum4
                    state[a, THIRD, k], state[a, FOURTH, k] = higher_moments(sum1, sum2, sum3, sum4, inverse)
                if traced and k < lanes:
                    out.choices[block + k, t] = a
                    out.rewards[block + k, t] = x
                if s & (AHEAD - 1) == 0 and not by_round():
                    row = (block + min(k, lanes - 1)) * row_step
                    fill(arms, row, a, source, keys[a, STREAM, k], s, buffer[a, k])
            if t + 1 == checkpoints[check]:
                for k in range(lanes):
                    cell = (first + block + k) // batch - first_batch
                    keep_pulls(count[:, k], out.pulls[cell, check], check == out.halfway_check, out.halfway[block + k])
                check += 1
        for k in range(lanes):
            for i in range(count_arms):
                out.final[block + k, i] = count[i, k]
            mean, variance = state[:, MEAN, k], state[:, VARIANCE, k]
            out.recommended[block + k, 0] = best_estimate(mean, variance, count_arms, goal)
            out.reward_mean[block + k], out.reward_variance[block + k] = pooled(
                state[:, PULLS, k], mean, variance, count_arms
            )
