"""The kernel for an index that is nondecreasing in the number of rounds while the arm is not played.

It bounds the other arms by their indices some rounds ahead, and plays the leader for as long as its exact index stays
above that bound. It makes the same choices as :mod:`~sharpe_bandits.simulation.side_by_side`, one run at a time.
"""

import math
from typing import NamedTuple

import numpy as np

from ..play.formulas import index, keeps_powers, long_game, value
from ..play.game import LOOKAHEAD, N_COMPARISONS, best_value, give_up, keep_pulls, pilot_counts
from ..play.memory import scratch, zeros
from ..play.rewards import fill
from ..play.state import anchor_of
from ..play.statistics import higher_moments, inverse_at, inverse_root_at, plain_arm, pooled, radius, radius_at, summary
from ..play.streams import REWARDS, fold, stream_key, uniform

WIDE = 8  # numbers in a vector
#: Pulls of the leader evaluated together: after a short lead, otherwise, and once a lead is long.
SHORT, MEDIUM, LONG = 4, 32, LOOKAHEAD
LASTING = 64  # pulls after which a lead is long
DRAWN = 64  # rewards drawn together, per arm; twice as many for an arm whose lead is long
SEEN = 32  # maximum number of arms evaluated one by one before all bounds are recomputed
INFLATION = 1e-12  # relative increase of a bound, so that rounding cannot matter
BEYOND = 1024  # confidence radii computed together beyond the end of their table
#: State of an arm: rows of ``state[row, arm]``. The last ones are only used if third and fourth moments are kept.
PULLS, MEAN, VARIANCE, SECOND, ROOT, LAST, SUM1, SUM2, ANCHOR, SUM3, SUM4, THIRD, FOURTH, ROWS = range(14)
#: The row of ``ahead[row, pull]`` after those of ``state``.
INDEX = ROWS


class NextPulls(NamedTuple):
    """Inputs of an arm's next pulls: their rewards, and tables from the next round or the arm's next pull on.

    ``less`` is 1/(s-1) where ``inverse`` is 1/s.
    """

    rewards: np.ndarray
    radii: np.ndarray
    inverse: np.ndarray
    less: np.ndarray
    inverse_root: np.ndarray


def record_of_unplayed(state, i, radius_t):
    """The current record of arm ``i`` in a round with confidence radius ``radius_t``."""
    third, fourth = (state[THIRD, i], state[FOURTH, i]) if keeps_powers() else (np.nan, np.nan)
    return plain_arm(
        state[PULLS, i], state[MEAN, i], state[VARIANCE, i], state[SECOND, i], radius_t * state[ROOT, i],
        state[LAST, i], third, fourth,
    )  # fmt: skip


def summarise(state, i, inverse, less):
    """Compute the moments of arm ``i`` from its sums, given 1/s and 1/(s-1)."""
    sum1, sum2 = state[SUM1, i], state[SUM2, i]
    state[MEAN, i], state[VARIANCE, i], state[SECOND, i] = summary(state[ANCHOR, i], sum1, sum2, inverse, less)
    if keeps_powers():
        state[THIRD, i], state[FOURTH, i] = higher_moments(sum1, sum2, state[SUM3, i], state[SUM4, i], inverse)


def first_decrease(arguments, negative):
    """Search sample records for an index that decreases with the number of rounds.

    Returns the rounds before and after the decrease (0 if there is none), pulls, mean and variance. ``negative``:
    whether to try means below 0, too.
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
            third, fourth = scale * scale * scale * (uniform(key, 5) - 0.5), 3.0 * variance * variance
            arm = plain_arm(np.float64(pulls), mean, variance, second, epsilon, np.float64(before), third, fourth)
            v = index(arm, np.int64(t), *arguments)
            if v < top - INFLATION * abs(top):
                return at, np.int64(t), pulls, mean, variance
            top = v
            at = np.int64(t)
    return np.int64(0), np.int64(0), 0.0, 0.0, 0.0


def upper_bound(v):
    """The bound from an index some rounds ahead; infinite if the index is NaN, so that the arm is evaluated."""
    return v + INFLATION * abs(v) if v == v else math.inf


def evaluate(t, radius_t, state, arguments, out):
    """Indices of all arms of one run after ``t`` rounds, if their records do not change until then."""
    for i in range(out.size):
        out[i] = index(record_of_unplayed(state, i, radius_t), t, *arguments)


def comes_before(v, pulls, i, best, best_pulls, a):
    """Whether arm ``i`` is played rather than ``a``: larger index; among infinite ones fewer pulls; then lower arm."""
    if v != best:
        return v > best
    if v == math.inf and pulls != best_pulls:
        return pulls < best_pulls
    return i < a


def sort_by_bound(order, high, pulls):
    """Sort arms by decreasing upper bound; infinite ones as they would be played. Fast if little has changed."""
    for p in range(1, order.size):
        i = np.int64(order[p])
        v, n = high[i], pulls[i]
        q = p
        while q > 0:
            other = np.int64(order[q - 1])
            if not comes_before(v, n, i, high[other], pulls[other], other):
                break
            order[q] = other
            q -= 1
        order[q] = i


def add_up(width, rewards, state, a, ahead):
    """Write the sums of arm ``a`` after each of its next ``width`` pulls to ``ahead``."""
    base, sum1, sum2 = state[ANCHOR, a], state[SUM1, a], state[SUM2, a]
    for j in range(width):
        d = rewards[j] - base
        sum1 += d
        sum2 += d * d
        ahead[SUM1, j] = sum1
        ahead[SUM2, j] = sum2
    if keeps_powers():
        sum3, sum4 = state[SUM3, a], state[SUM4, a]
        for j in range(width):
            d = rewards[j] - base
            sum3 += d * d * d
            sum4 += d * d * d * d
            ahead[SUM3, j] = sum3
            ahead[SUM4, j] = sum4


def pulls_keeping_lead(width, next_pulls, state, a, t, s, horizon, arguments, rival, ahead):
    """How many of the next ``width`` pulls of the leader ``a`` leave its exact index above ``rival``, after ``t``
    rounds and ``s`` pulls of it.

    Writes sums and index after each pull to ``ahead``; entries beyond the horizon are meaningless.
    """
    rewards, radii, inverse, less, inverse_root = next_pulls
    add_up(width, rewards, state, a, ahead)
    base = state[ANCHOR, a]
    first = width
    indices = scratch()[0]  # on the stack: an index that reads a table can be vectorised, since no write can change it
    for j in range(width):
        mean, variance, second = summary(base, ahead[SUM1, j], ahead[SUM2, j], inverse[j], less[j])
        third, fourth = np.nan, np.nan
        if keeps_powers():
            sum3, sum4 = ahead[SUM3, j], ahead[SUM4, j]
            third, fourth = higher_moments(ahead[SUM1, j], ahead[SUM2, j], sum3, sum4, inverse[j])
        played, u = np.float64(min(s + 1 + j, horizon)), min(t + 1 + j, horizon)
        epsilon = radii[j] * inverse_root[j]
        v = index(plain_arm(played, mean, variance, second, epsilon, np.float64(u), third, fourth), u, *arguments)
        indices[j] = v
        first = min(first, width if v > rival else j)
    for j in range(width):
        ahead[INDEX, j] = indices[j]
    return first


def play_pilot(run, row, pilot, rewards, tables, state, streams, buffer, drawn, until, out, r):
    """Play ``pilot`` pulls of every arm of a run, number ``r`` of its chunk, with arms from row ``row``; returns False
    if told to stop.

    Writes the state of all arms and the keys of their rewards. ``buffer`` has the last rewards drawn, of pulls
    ``drawn[i]`` to ``until[i] - 1``. Columns of ``state`` beyond the last arm become copies of the first.
    """
    arms, _, seed = rewards
    count_arms = streams.size
    traced = out.choices.shape[0] > 0
    run_key = stream_key(seed, REWARDS, run)
    inverse, less, root = inverse_at(tables, pilot), inverse_at(tables, pilot - 1), inverse_root_at(tables, pilot)
    for i in range(count_arms):
        streams[i] = fold(run_key, i)
        state[SUM1:, i] = 0.0
        for j in range(pilot):
            if j % DRAWN == 0:
                if out.stop[0] != 0:
                    return False
                fill(arms, row, i, streams[i], j, buffer[i, :DRAWN])
                drawn[i], until[i] = j, j + DRAWN
            x = buffer[i, j % DRAWN]
            if j == 0:
                state[ANCHOR, i] = anchor_of(x)
            d = x - state[ANCHOR, i]
            state[SUM1, i] += d
            state[SUM2, i] += d * d
            if keeps_powers():
                state[SUM3, i] += d * d * d
                state[SUM4, i] += d * d * d * d
            if traced:
                out.choices[r, j * count_arms + i] = i
                out.rewards[r, j * count_arms + i] = x
        summarise(state, i, inverse, less)
    state[PULLS] = pilot
    state[LAST] = pilot * count_arms
    state[ROOT] = root
    for i in range(count_arms, state.shape[1]):
        for kept in range(state.shape[0]):  # assigning a slice would also compile numba's messages about shapes
            state[kept, i] = state[kept, 0]
    return True


def pilot_checkpoints(pilot, count, cell, out, r):
    """Keep the pulls at the checkpoints within the pilot of a run, number ``r`` of its chunk, in batch ``cell``;
    returns the number of these checkpoints. Afterwards ``count`` is ``pilot`` for all arms.
    """
    checkpoints, end_of_pilot = out.checkpoints, pilot * count.size
    check = 0
    while check < checkpoints.size and checkpoints[check] <= end_of_pilot:
        for i in range(count.size):
            count[i] = pilot_counts(checkpoints[check], i, count.size)
        keep_pulls(count, out.pulls[cell, check], check == out.halfway_check, out.halfway[r])
        check += 1
    count[:] = pilot
    return check


def lazy(game, rewards, tables, arguments, objective, out):
    """Play runs one after the other, with the same results as side by side.

    An index lies between its value when last evaluated (``low``) and its value when the bounds expire (``high``). The
    leader is played for as long as its exact index exceeds the upper bounds of all others. Then the arms that can lead
    are evaluated: those evaluated since the bounds were made (``seen``), and then further ones by decreasing upper
    bound until a bound is below the best index so far.
    """
    first, runs, horizon, pilot = game
    arms, row_step, _ = rewards
    checkpoints, batch, status = out.checkpoints, out.batch, out.status
    # Tables by round from ``first_round`` on and by pulls from ``first_pull`` on: complete, or, if the game is longer
    # than the given tables, a moving section just ahead of the current round.
    radii, inverse, inverse_root = tables
    first_round, first_pull = 0, 0
    if long_game():
        radii, inverse, inverse_root = zeros(BEYOND + LONG), zeros(LONG + 1), zeros(LONG + 1)
    count_arms = out.final.shape[1]
    padded = -(-count_arms // WIDE) * WIDE  # whole vectors: arms beyond the last are copies of the first
    count = zeros(count_arms, np.int64)
    state = zeros((ROWS, padded))
    pulls, low, high = state[PULLS], zeros(padded), zeros(padded)
    streams = zeros(count_arms, np.uint64)
    buffer = zeros((count_arms, 2 * DRAWN))
    drawn, until = zeros(count_arms, np.int64), zeros(count_arms, np.int64)  # range of pulls whose rewards are in it
    order, seen = zeros(count_arms, np.uint32), zeros(count_arms, np.uint32)
    ahead = zeros((INDEX + 1, LONG))
    traced = out.choices.shape[0] > 0
    first_batch = first // batch
    end_of_pilot = pilot * count_arms
    for r in range(runs):
        run = first + r
        row = r * row_step
        cell = run // batch - first_batch
        for i in range(count_arms):
            low[i] = -math.inf
            order[i] = i
        if not play_pilot(run, row, pilot, rewards, tables, state, streams, buffer, drawn, until, out, r):
            return
        check = pilot_checkpoints(pilot, count, cell, out, r)
        t = end_of_pilot
        if long_game():
            first_round = -radii.size  # none yet
        stop = t  # where the upper bounds expire
        refresh_after = 4  # rounds from one set of upper bounds to the next
        looks = 0  # evaluations of arms that did not lead
        misled = False  # whether loose bounds have interrupted a lead
        size = 0  # of seen
        latest = -1  # the arm played last, whose lower bound is its index
        short = False  # whether the last lead was short
        while t < horizon:
            if out.stop[0] != 0:
                return
            fresh = t == stop
            in_turn = False
            a = np.int64(-1)  # a literal -1 has a type of its own, for which every callee would be compiled again
            top, fewest = -math.inf, math.inf
            status[N_COMPARISONS] += 1
            if fresh:
                if misled or looks > count_arms // 4 + 4:
                    refresh_after = max(refresh_after // 2, 4)
                else:
                    refresh_after = min(2 * refresh_after, t // 8 + 8)
                stop = min(t + refresh_after, checkpoints[check])
                looks, misled, size = 0, False, 0
                evaluate(stop, radius_at(tables, stop), state, arguments, high)
                infinite = False
                for i in range(count_arms):
                    high[i] = upper_bound(high[i])
                    infinite |= high[i] == math.inf
                if infinite:
                    # Arms with infinite indices are played in turn, the least played first, and stay infinite until
                    # they are played. They need no second look, unless an arm that would precede them may become
                    # infinite, too.
                    evaluate(t, radius_at(tables, t), state, arguments, low)
                    for i in range(count_arms):
                        if low[i] == math.inf and pulls[i] < fewest:
                            a, fewest = i, pulls[i]
                    in_turn = a >= 0
                    for i in range(count_arms):
                        if high[i] == math.inf and low[i] != math.inf and pulls[i] <= fewest:
                            in_turn = False
                if not in_turn:
                    a = np.int64(-1)
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
                        i = np.int64(seen[p])
                        if high[i] < floor:
                            continue
                    else:
                        i = np.int64(order[p])
                        if a >= 0 and not comes_before(high[i], pulls[i], i, top, fewest, a):
                            break
                        seen[p] = i
                        size = p + 1
                    if low[i] < math.inf and i != latest:
                        low[i] = index(record_of_unplayed(state, i, radius_t), t, *arguments)
                        looks += 1
                    if low[i] != low[i]:
                        give_up(status, run, i, t, count[i])
                        return
                    if a < 0 or comes_before(low[i], pulls[i], i, top, fewest, a):
                        a, top, fewest = i, low[i], pulls[i]
                if a == latest and not fresh and stop - t > 4:
                    misled = True
                    stop = t + (stop - t) // 2
                    radius_stop = radius_at(tables, stop)
                    for p in range(size):
                        i = np.int64(seen[p])
                        high[i] = upper_bound(index(record_of_unplayed(state, i, radius_stop), stop, *arguments))
                rival = high[order[size]] if size < count_arms else -math.inf
                for p in range(size):
                    if seen[p] != a:
                        rival = max(rival, high[seen[p]])
            while True:
                s = count[a]
                started = t
                leads = True
                while leads and t < stop:
                    width = MEDIUM if t - started < LASTING else LONG
                    if rival == math.inf:
                        width = 1
                    elif short:
                        width = SHORT
                    if s + width > until[a]:
                        ahead_of_need = 2 * DRAWN if width == LONG else DRAWN
                        fill(arms, row, a, streams[a], s, buffer[a, :ahead_of_need])
                        drawn[a], until[a] = s, s + ahead_of_need
                    offset = s - drawn[a]
                    if long_game():
                        if t + 1 + width > first_round + radii.size:
                            first_round = t + 1
                            for j in range(radii.size):
                                radii[j] = radius_at(tables, first_round + j)
                        first_pull = s
                        for j in range(width + 1):
                            inverse[j] = 1.0 / (s + j)
                            inverse_root[j] = 1.0 / math.sqrt(s + j)
                    u, v = t + 1 - first_round, s - first_pull
                    next_pulls = NextPulls(
                        rewards=buffer[a, offset:],
                        radii=radii[u:],
                        inverse=inverse[v + 1 :],
                        less=inverse[v:],
                        inverse_root=inverse_root[v + 1 :],
                    )
                    longest = min(width, stop - t)
                    # Short widths as constants, so that the compiler unrolls the loops.
                    if width == 1:
                        played = pulls_keeping_lead(1, next_pulls, state, a, t, s, horizon, arguments, rival, ahead)
                    elif width == SHORT:
                        played = pulls_keeping_lead(SHORT, next_pulls, state, a, t, s, horizon, arguments, rival, ahead)
                    else:
                        played = pulls_keeping_lead(width, next_pulls, state, a, t, s, horizon, arguments, rival, ahead)
                    leads = played >= longest
                    played = min(played + 1, longest)  # the pull that loses the lead is played, too
                    if traced:
                        for j in range(played):
                            out.choices[r, t + j] = a
                            out.rewards[r, t + j] = buffer[a, offset + j]
                    state[SUM1, a], state[SUM2, a] = ahead[SUM1, played - 1], ahead[SUM2, played - 1]
                    if keeps_powers():
                        state[SUM3, a], state[SUM4, a] = ahead[SUM3, played - 1], ahead[SUM4, played - 1]
                    low[a] = ahead[INDEX, played - 1]
                    s += played
                    t += played
                count[a] = s
                pulls[a] = s
                state[LAST, a] = t
                state[ROOT, a] = inverse_root_at(tables, s)
                summarise(state, a, inverse_at(tables, s), inverse_at(tables, s - 1))
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
            if in_turn or size > SEEN:  # enough evaluated that it pays to sort again
                stop = t
            elif t < stop:
                arm = record_of_unplayed(state, latest, radius_at(tables, stop))
                high[latest] = upper_bound(index(arm, stop, *arguments))
        for i in range(count_arms):
            out.final[r, i] = count[i]
        mean, variance = state[MEAN], state[VARIANCE]
        for i in range(count_arms):
            low[i] = value(record_of_unplayed(state, i, np.nan), *objective)
        out.recommended[r, 0] = best_value(low[:count_arms])
        out.reward_mean[r], out.reward_variance[r] = pooled(pulls, mean, variance, count_arms)
