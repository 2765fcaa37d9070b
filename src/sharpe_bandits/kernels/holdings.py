"""The kernel of a policy that holds several arms at once, for a least number of rounds, among arms that come and go.

It plays one run on recorded rewards. With one arm held, no minimum, no cost and all arms there in every round it makes
the choices of :mod:`~sharpe_bandits.kernels.round_by_round`.
"""

from typing import NamedTuple

import numpy as np

from .formulas import kept_cells, take
from .index_play import decide
from .round_by_round import ROWS, SUM1, SUM2, SUM3, SUM4, WEIGHT, add, forget, remembered_rounds
from .statistics import Sums, anchor_of


class Terms(NamedTuple):
    """What a policy is held to.

    ``least``: rounds that an arm is held at least. ``warm``: first rounds, in which all arms are seen and none is held.
    ``full``: the rewards of all arms are seen in every round. ``aware``: indices allow for the costs of a switch.
    """

    least: int
    warm: int
    full: bool
    aware: bool


def hold(values, costs, terms, rule, pilot, seed, run, arguments, held):
    """Play one run on ``values[round, arm]``, not a number where an arm is not there.

    ``costs[arm]``: of a switch into or out of an arm; ``rule``: a :class:`~.round_by_round.Memory`. Fills ``held[round,
    place]`` with the arms held, -1 where there are too few. Gives -1, or the arm whose index is not a number.
    """
    horizon, arms = values.shape
    places = held.shape[1]
    window, discount = rule.window, rule.discount
    memory = np.zeros((ROWS, arms))
    ring = np.full((max(window, 1), arms), np.nan)
    cells = kept_cells()
    kept = np.zeros((arms, cells, 1))
    anchor = np.zeros(arms)
    end_of_pilot = pilot if terms.full else pilot * arms
    last = np.full(arms, np.float64(end_of_pilot))
    seen, plays, since = np.zeros(arms, np.int64), np.zeros(arms, np.int64), np.zeros(arms, np.int64)
    owned, chosen = np.zeros(arms, np.bool_), np.zeros(arms, np.bool_)
    for t in range(horizon):
        if t >= terms.warm:
            chosen[:] = False
            count = 0
            # what may not be sold yet
            for i in range(arms):
                if owned[i] and values[t, i] == values[t, i] and t - since[i] < terms.least and count < places:
                    chosen[i] = True
                    count += 1
            # what has been seen too seldom, the least seen first
            while count < places:
                a = -1
                for i in range(arms):
                    if chosen[i] or values[t, i] != values[t, i]:
                        continue
                    if seen[i] >= pilot and memory[WEIGHT, i] >= rule.least - 1e-9:
                        continue
                    if (
                        a < 0
                        or memory[WEIGHT, i] < memory[WEIGHT, a]
                        or (memory[WEIGHT, i] == memory[WEIGHT, a] and seen[i] < pilot and plays[i] < plays[a])
                    ):
                        a = i
                if a < 0:
                    break
                chosen[a] = True
                count += 1
            if count < places:
                known = np.zeros(arms, np.int64)
                n = 0
                for i in range(arms):
                    there = values[t, i] == values[t, i] and not chosen[i]
                    if there and seen[i] >= pilot and memory[WEIGHT, i] >= rule.least - 1e-9:
                        known[n] = i
                        n += 1
                known = known[:n]
                if n > 0:
                    base = anchor[known]
                    if terms.aware:
                        sold, number = 0.0, 0
                        for i in range(arms):
                            if owned[i]:
                                sold += costs[i]
                                number += 1
                        for k in range(n):
                            if number > 0 and not owned[known[k]]:
                                base[k] -= 0.5 * (costs[known[k]] + sold / number) / terms.least
                    own_kept = np.zeros((n, cells, 1))
                    for k in range(n):
                        for c in range(cells):
                            own_kept[k, c, 0] = kept[known[k], c, 0]
                    sums = Sums(
                        memory[WEIGHT][known],
                        memory[SUM1][known],
                        memory[SUM2][known],
                        memory[SUM3][known],
                        memory[SUM4][known],
                        base,
                    )
                    rounds = remembered_rounds(memory, t, window, discount)
                    out = np.zeros(n)
                    a = decide(t, rounds, sums, last[known], own_kept, seed, run, arguments, out)
                    if a < 0:
                        return known[-1 - a]
                    while count < places:
                        best = -1
                        for k in range(n):
                            if chosen[known[k]]:
                                continue
                            if (
                                best < 0
                                or out[k] > out[best]
                                or (out[k] == out[best] == np.inf and sums.pulls[k] < sums.pulls[best])
                            ):
                                best = k
                        if best < 0:
                            break
                        chosen[known[best]] = True
                        count += 1
            place = 0
            for i in range(arms):
                if chosen[i]:
                    held[t, place] = i
                    place += 1
                    plays[i] += 1
                    if not owned[i]:
                        since[i] = t
                owned[i] = chosen[i]
        forget(memory, ring, anchor, t, window, discount)
        for i in range(arms):
            x = values[t, i]
            if x != x or not (terms.full or t < terms.warm or chosen[i]):
                continue
            if seen[i] == 0:
                anchor[i] = anchor_of(x)
            d = x - anchor[i]
            seen[i] += 1
            take(kept, i, 0, 0, np.float64(seen[i]), x, d)
            add(memory, i, d, 1.0)
            if window > 0:
                ring[t % window, i] = d
            last[i] = max(t + 1, end_of_pilot)
    return -1
