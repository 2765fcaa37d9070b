"""The kernel of a policy that holds several arms at a time, for a minimum number of rounds, while arms come and go.

It plays one run on recorded rewards. With one arm held, no minimum, no cost and all arms available in every round it
makes the choices of :mod:`~sharpe_bandits.kernels.round_by_round`.
"""

from typing import NamedTuple

import numpy as np

from .formulas import kept_cells
from .index_play import ROUNDING, Pending, Position, decide
from .memory import zeros
from .round_by_round import ROWS, SUM1, SUM2, SUM3, SUM4, WEIGHT, Records, forget, rounds_with, take_in
from .statistics import Sums


class Terms(NamedTuple):
    """Constraints on holdings.

    ``least``: minimum number of rounds that an arm is held. ``warm``: number of initial rounds in which all arms are
    seen and none is held. ``full``: whether the rewards of all arms are seen in every round. ``aware``: whether indices
    allow for the costs of a switch.
    """

    least: int
    warm: int
    full: bool
    aware: bool


def hold(values, costs, terms, rule, pilot, seed, run, arguments, held):
    """Play one run on ``values[round, arm]``, NaN where an arm is not available.

    ``costs[arm]``: cost of a switch into or out of an arm; ``rule``: a :class:`~.round_by_round.Memory`. Writes the
    arms held to ``held[round, place]``; places that cannot be filled keep their value. Returns -1, or the arm whose
    index is NaN.
    """
    horizon, arms = values.shape
    places = held.shape[1]
    window, discount = rule.window, rule.discount
    memory = zeros((ROWS, arms))
    ring = zeros((max(window, 1), arms))
    kept = zeros((arms, kept_cells(), 1))
    anchor, base, nothing, out = zeros(arms), zeros(arms), zeros(arms), zeros(arms)
    sums = Sums(memory[WEIGHT], memory[SUM1], memory[SUM2], memory[SUM3], memory[SUM4], base)
    end_of_pilot = pilot if terms.full else pilot * arms
    last = zeros(arms)
    ring[:], last[:] = np.nan, end_of_pilot
    seen, plays, since = zeros(arms, np.int64), zeros(arms, np.int64), zeros(arms, np.int64)
    records = Records(memory, ring, anchor, seen, kept, last)
    owned, chosen, known = zeros(arms, np.bool_), zeros(arms, np.bool_), zeros(arms, np.bool_)
    for t in range(horizon):
        if t >= terms.warm:
            chosen[:] = False
            count = 0
            # arms that may not be sold yet
            for i in range(arms):
                if owned[i] and values[t, i] == values[t, i] and t - since[i] < terms.least and count < places:
                    chosen[i] = True
                    count += 1
            # arms with too few observations, the fewest first
            while count < places:
                a = -1
                for i in range(arms):
                    if chosen[i] or values[t, i] != values[t, i]:
                        continue
                    if seen[i] >= pilot and memory[WEIGHT, i] >= rule.least - ROUNDING:
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
                for i in range(arms):
                    there = values[t, i] == values[t, i] and not chosen[i]
                    known[i] = there and seen[i] >= pilot and memory[WEIGHT, i] >= rule.least - ROUNDING
                    base[i] = anchor[i]
                if terms.aware:
                    sold, number = 0.0, 0
                    for i in range(arms):
                        if owned[i]:
                            sold += costs[i]
                            number += 1
                    for i in range(arms):
                        if number > 0 and not owned[i]:
                            base[i] -= 0.5 * (costs[i] + sold / number) / terms.least
                if known.any():
                    pending = Pending(nothing, known, 0.0, t)
                    rounds = rounds_with(t, memory, rule, pending)
                    position = Position(t, rounds, sums, pending, rule.least, last, kept)
                    a = decide(position, seed, run, arguments, out)
                    if a < 0:
                        return -1 - a
                while count < places:
                    best = -1
                    for i in range(arms):
                        if not known[i] or chosen[i]:
                            continue
                        if (
                            best < 0
                            or out[i] > out[best]
                            or (out[i] == out[best] == np.inf and memory[WEIGHT, i] < memory[WEIGHT, best])
                        ):
                            best = i
                    if best < 0:
                        break
                    chosen[best] = True
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
            take_in(records, i, x, t, window, end_of_pilot)
    return -1
