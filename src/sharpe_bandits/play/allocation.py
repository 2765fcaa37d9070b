"""How decisions are shared out around a policy's choice: bounds on the shares of arms, and a control arm.

Campaigns and simulations use the same functions, so that a share tried in a simulation is the share that is played.
"""

from typing import NamedTuple

import numpy as np

#: Stream of random numbers that decides who decides; a decision's number 2 decides between policy and control, and
#: number 3 draws within bounds (0 and 1 are those of exploration).
ALLOCATION = np.uint64(3)
#: Shares below this are rounding errors.
NOTHING = 1e-12


class Allocation(NamedTuple):
    """Who decides in a simulation."""

    control: int  # the control arm; any number if ``share`` is 1
    share: float  # probability with which the policy decides
    bounded: bool  # whether shares have bounds
    low: np.ndarray  # bounds on the shares of arms in the policy's decisions
    high: np.ndarray
    allowed: np.ndarray  # ``allowed[round % length, arm]``: whether an arm may be played in a round


def pour(rest, wish, high, shares):
    """Add ``rest`` to the shares as ``wish`` divides it, but to no arm beyond ``high``; what is left over."""
    left = 0.0
    for i in range(shares.size):
        more = rest * wish[i]
        taken = min(more, max(high[i] - shares[i], 0.0))
        shares[i] += taken
        left += more - taken
    return left


def start_with(low, allowed, shares):
    """Give every allowed arm its lower bound, all of them in proportion if they exceed 1; what is left to pour."""
    total = 0.0
    for i in range(shares.size):
        shares[i] = low[i] if allowed[i] else 0.0
        total += shares[i]
    if total > 1.0:
        for i in range(shares.size):
            shares[i] /= total
        total = 1.0
    return 1.0 - total


def sample(shares, u):
    """The arm that a uniform number chooses with these probabilities."""
    last, total = -1, 0.0
    for i in range(shares.size):
        if shares[i] > 0.0:
            last = i
            total += shares[i]
            if u < total:
                return i
    return last
