"""What is known of every arm, and how a reward changes it: the only place where sums change one reward at a time.

In every formula an arm's weight stands for its pulls. A policy with a window of w rounds forgets older rewards; one
with a discount weights a reward by the discount to the power of its age in rounds; in every other policy the weight is
the number of rewards. The total weight stands for the number of rounds: see Garivier & Moulines, "On upper-confidence
bound policies for switching bandit problems", 2011.
"""

from typing import NamedTuple

import numpy as np

from .formulas import update_statistics
from .memory import called, zeros

#: A mean is far from its anchor if the square of their distance exceeds FAR_OFF variances. With a discount this is
#: checked every RECENTRE rounds.
FAR_OFF, RECENTRE = 1e4, 64

#: If an arm's first reward is an integer up to this size, its rewards are summed as they are (integers exactly, so that
#: equal records tie); otherwise as differences from the first reward, which keeps the variance accurate when the mean
#: is much larger.
_EXACT = 1024.0
#: Rows of ``ArmState.rows[row, arm]``: those of :class:`Sums`, then pending pulls, the round of the last change, and
#: score and index at the latest choice.
PULLS, SUM1, SUM2, SUM3, SUM4, ANCHOR, PENDING, LAST, SCORE, INDEX, ROWS = range(11)
#: The number of columns is a multiple of this, that of the widest vectors, so that no arms are left to evaluate alone.
PADDED = 8


class Sums(NamedTuple):
    """Sums over the rewards of all arms, as arrays by arm: weight, sums of powers of (x - anchor), and anchors."""

    pulls: np.ndarray
    sum1: np.ndarray
    sum2: np.ndarray
    sum3: np.ndarray
    sum4: np.ndarray
    anchor: np.ndarray


class ArmState(NamedTuple):
    """What is known of all arms, as arrays by arm."""

    sums: Sums  # over the rewards that are remembered
    pending: np.ndarray  # number of pulls whose rewards are not known yet
    last: np.ndarray  # rounds played when its statistics last changed
    seen: np.ndarray  # number of rewards, including forgotten ones
    active: np.ndarray  # whether the arm may be played
    kept: np.ndarray  # numbers kept by statistics, ``kept[arm, cell, 0]``
    window: np.ndarray  # ``window[round % length, arm]``: rewards minus the anchor, NaN where none was seen
    rows: np.ndarray  # the memory of the first three: one array passes to a formula faster than ten

    @property
    def memory(self):
        """The arrays that all others are views of: what compiled code takes from Python ten times faster than this."""
        return self[3:]


class Rule(NamedTuple):
    """How a policy plays, besides its formulas."""

    window: int  # rounds that it remembers; 0: all
    discount: float  # factor by which each round discounts a reward's weight; 1: none
    least: int  # weight below which an arm is played again
    cells: int  # numbers that statistics keep of each arm
    forgets_cells: bool  # whether it forgets these, too


def sums_of(rows, arms):
    """The rows of a state that are sums."""
    return Sums(
        rows[PULLS, :arms], rows[SUM1, :arms], rows[SUM2, :arms], rows[SUM3, :arms], rows[SUM4, :arms],
        rows[ANCHOR, :arms],
    )  # fmt: skip


def state_of(seen, active, kept, window, rows):
    """The state with this memory."""
    arms = seen.size
    return ArmState(sums_of(rows, arms), rows[PENDING, :arms], rows[LAST, :arms], seen, active, kept, window, rows)


def new_state(arms, cells, window):
    """The state before the first round; ``cells``: numbers that statistics keep of each arm."""
    state = state_of(
        zeros(arms, np.int64), zeros(arms, np.bool_), zeros((arms, cells, 1)), zeros((max(window, 1), arms)),
        zeros((ROWS, -(-arms // PADDED) * PADDED)),
    )  # fmt: skip
    state.active[:] = True
    reset(state)
    return state


def reset(state):
    """Return to the state before the first round."""
    state.rows[:] = 0.0
    state.rows[INDEX] = -np.inf  # columns past the last arm keep it
    state.seen[:] = 0
    state.kept[:] = 0.0
    state.window[:] = np.nan


def with_one_more_arm(state):
    """A copy of the state with an arm that was never played."""
    k = state.seen.size
    grown = new_state(k + 1, state.kept.shape[1], len(state.window))
    grown.rows[:, :k], grown.kept[:k], grown.window[:, :k] = state.rows[:, :k], state.kept, state.window
    grown.seen[:k], grown.active[:k] = state.seen, state.active
    return grown


def anchor_of(first):
    """The constant that an arm's rewards are shifted by before they are summed, from its first reward."""
    if abs(first) <= _EXACT and first == np.floor(first):
        return 0.0
    return first


def add(sums, i, d, weight):
    """Add ``d``, a reward of arm ``i`` minus its anchor, to the sums; a negative weight takes it away."""
    sums.pulls[i] += weight
    sums.sum1[i] += weight * d
    sums.sum2[i] += weight * d * d
    sums.sum3[i] += weight * d * d * d
    sums.sum4[i] += weight * d * d * d * d


def record_reward(state, i, x, t, window):
    """Record the reward ``x`` of arm ``i`` in round ``t`` (counted from 0) in its sums; returns it minus the anchor."""
    if state.seen[i] == 0:
        state.sums.anchor[i] = anchor_of(x)
    d = x - state.sums.anchor[i]
    state.seen[i] += 1
    add(state.sums, i, d, 1.0)
    if window > 0:
        state.window[t % window, i] = d
    state.last[i] = t + 1
    return d


def update(kept, i, pulls, x, d, z, objective):
    """:func:`~sharpe_bandits.play.formulas.update_statistics` with the cells of one run."""
    update_statistics(kept, i, 0, 0, pulls, x, d, z, objective)


def observe(state, i, x, z, t, rule, update, objective):
    """:func:`record_reward`, and the statistics that are kept, by :func:`update`; ``z``: the covariate of the round
    (NaN: there is none); ``objective``: parameters of the objective.
    """
    d = record_reward(state, i, x, t, rule.window)
    if rule.cells > 0:
        pulls = state.sums.pulls[i] if rule.forgets_cells else np.float64(state.seen[i])
        update(state.kept, i, pulls, x, d, z, objective)


def recentre(sums, i):
    """Move an arm's anchor to its mean if they are far apart, as they may be if the arm drifts; returns the shift."""
    weight = sums.pulls[i]
    if not weight > 1.0:
        return 0.0
    a, b, c, d = sums.sum1[i] / weight, sums.sum2[i] / weight, sums.sum3[i] / weight, sums.sum4[i] / weight
    if a * a <= FAR_OFF * (b - a * a):
        return 0.0
    sums.sum1[i] = 0.0
    sums.sum2[i] = weight * max(0.0, b - a * a)
    sums.sum3[i] = weight * (c - a * (3.0 * b - 2.0 * a * a))
    sums.sum4[i] = weight * max(0.0, d - a * (4.0 * c - a * (6.0 * b - 3.0 * a * a)))
    sums.anchor[i] += a
    return a


def forget(sums, recent, t, window, discount):
    """Forget what is too old before the rewards of round ``t`` (counted from 0) are recorded; ``recent``: the window of
    the state.
    """
    arms = sums.pulls.size
    if discount < 1.0:
        for total in sums[:ANCHOR]:
            for i in range(arms):
                total[i] *= discount
        if t % RECENTRE == 0:
            for i in range(arms):
                recentre(sums, i)
    if window > 0 and t >= window:
        place = t % window
        for i in range(arms):
            d = recent[place, i]
            if d == d:
                recent[place, i] = np.nan
                add(sums, i, d, -1.0)
        if place == 0:  # recompute the sums once per window, so that rounding errors cannot accumulate
            for i in range(arms):
                shift = recentre(sums, i)
                for total in sums[:ANCHOR]:
                    total[i] = 0.0
                for p in range(window):
                    if recent[p, i] == recent[p, i]:
                        recent[p, i] -= shift
                        add(sums, i, recent[p, i], 1.0)


def tell(memory, i, x, z, t, window, discount, least, cells, forgets_cells, objective):
    """What an agent that forgets does with a reward: :func:`forget`, then :func:`observe`."""
    state, rule = state_of(*memory), Rule(window, discount, least, cells, forgets_cells)
    if forgets_cells:
        forget_with_statistics(state.sums, state.kept, state.window, t, window, discount, update, objective)
    else:
        forget(state.sums, state.window, t, window, discount)
    observe(state, i, x, z, t, rule, update, objective)


@called
def forget_with_statistics(sums, kept, recent, t, window, discount, update, objective):
    """:func:`forget`, and forget the same in the statistics that are kept, which ``update`` changes."""
    for i in range(sums.pulls.size):
        if discount < 1.0:  # sums of a feature, of its square, and of its product with the distance from the anchor
            if t % RECENTRE == 0:
                kept[i, 2, 0] -= recentre(sums, i) * kept[i, 0, 0]
            for c in range(kept.shape[1]):
                kept[i, c, 0] *= discount
        elif t >= window and t % window > 0:
            d = recent[t % window, i]
            if d == d:
                update(kept, i, -sums.pulls[i], sums.anchor[i] + d, d, np.nan, objective)
    forget(sums, recent, t, window, discount)
    if discount == 1.0 and t >= window and t % window == 0:  # sums and anchors were computed anew
        for i in range(sums.pulls.size):
            for c in range(kept.shape[1]):
                kept[i, c, 0] = 0.0
            count = 0.0
            for p in range(window):
                d = recent[p, i]
                if d == d:
                    count += 1.0
                    update(kept, i, count, sums.anchor[i] + d, d, np.nan, objective)


def rounds_remembered(sums, pending, t, window, discount):
    """The number of rounds in a policy's formula after ``t`` rewards: those remembered, and pending ones."""
    rounds = np.float64(t)
    if discount < 1.0:
        rounds = 0.0
        for i in range(sums.pulls.size):
            rounds += sums.pulls[i]
    rounds += pending
    return min(rounds, np.float64(window)) if window > 0 else rounds
