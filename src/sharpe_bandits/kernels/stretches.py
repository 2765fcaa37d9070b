"""Hundreds of pulls of a leader at a time, where it is certain to keep the lead.

Once an arm has been played thousands of times, one more reward hardly moves its index, and evaluating the index after
every pull costs more than drawing the rewards. For an index that is monotone in the moments of an arm
(:attr:`sharpe_bandits.policies.base.IndexPolicy.monotone_in_moments`) it is enough to bound these moments over a
segment of pulls: if the index of the least favourable record within the bounds exceeds those of all other arms, the
leader keeps the lead throughout. Segments are the lanes of vector instructions.

The sums of rewards are those of adding one reward after the other, to the last bit. While a sum S stays between two
powers of two, it is a multiple of a unit u in its last place, and adding d to it adds the multiple of u that is nearest
to d: (S + d) - S for any such S. These multiples can be added in any order without rounding. Only if d lies halfway
between two multiples does the result depend on S; such segments are left to the loop over single pulls.
"""

import math

import numpy as np

from .formulas import index
from .memory import called, number_of, word_of
from .statistics import plain_arm

#: Segments of a stretch, and pulls of a segment.
SEGMENTS, SEGMENT = 16, 32
STRETCH = SEGMENTS * SEGMENT
AT_ONCE = 4  # pulls of a segment between a read and a write of its sums
#: Pulls of an arm before which stretches are not tried: few segments would be certain.
SETTLED = 4096
#: Relative widening of bounds, so that rounding cannot matter.
INFLATION = 1e-12
#: Rows of ``sums[row, segment]``, for d = reward - anchor and its square: what a segment adds to their sums, the
#: largest rounding error of a summand, and the sums before the segment.
ADDED1, ADDED2, ERROR1, ERROR2, BEFORE1, BEFORE2, ROWS = range(7)

_EXPONENT = np.uint64(0x7FF0000000000000)
_HALF_UNIT = 2.0**-53


def power_of_two(number):
    """The largest power of two that does not exceed a positive normal float."""
    return number_of(word_of(number) & _EXPONENT)


@called
def add_segments(rewards, anchor, sum1, sum2, sums):
    """Add up the segments of a stretch; ``rewards[i * SEGMENTS + k]`` is pull ``i`` of segment ``k``."""
    for row in range(ROWS):
        for k in range(sums.shape[1]):
            sums[row, k] = 0.0
    for i in range(0, SEGMENT, AT_ONCE):
        for k in range(sums.shape[1]):  # SEGMENTS: were it a constant, the loop would be unrolled, not vectorised
            added1, added2, error1, error2 = sums[ADDED1, k], sums[ADDED2, k], sums[ERROR1, k], sums[ERROR2, k]
            for j in range(i, i + AT_ONCE):
                d = rewards[j * SEGMENTS + k] - anchor
                square = d * d
                rounded1, rounded2 = (sum1 + d) - sum1, (sum2 + square) - sum2
                added1 += rounded1
                added2 += rounded2
                error1, error2 = max(error1, abs(d - rounded1)), max(error2, abs(square - rounded2))
            sums[ADDED1, k], sums[ADDED2, k], sums[ERROR1, k], sums[ERROR2, k] = added1, added2, error1, error2


def certain_segments(rewards, anchor, sum1, sum2, s, epsilon, t, arguments, rival, sums):
    """How many segments of a stretch are certain to leave the index of the arm played above ``rival``.

    Parameters
    ----------
    rewards : np.ndarray
        the next STRETCH rewards, as for :func:`add_segments`
    anchor, sum1, sum2 : float
        the arm's anchor, and its sums of reward - anchor and of its square
    s, t : int
        pulls of the arm and rounds played
    epsilon : float
        a lower bound of the confidence radius of the next round if the arm had still ``s`` pulls
    arguments : tuple
        parameters of the index
    rival : float
        upper bound of the indices of the other arms
    sums : np.ndarray
        receives the sums; those before segment k + 1 are those before segment k plus what segment k adds
    """
    add_segments(rewards, anchor, sum1, sum2, sums)
    after1, after2 = sum1, sum2
    for k in range(SEGMENTS):
        sums[BEFORE1, k], sums[BEFORE2, k] = after1, after2
        after1 += sums[ADDED1, k]
        after2 += sums[ADDED2, k]
    # Both sums must stay between two powers of two. The second one grows by at most ``grown``, which allows for
    # rounding, and the first one moves by at most ``moved`` (Cauchy & Schwarz).
    size1, power1, power2 = abs(sum1), power_of_two(abs(sum1)), power_of_two(sum2)
    half1, half2 = _HALF_UNIT * power1, _HALF_UNIT * power2
    grown = after2 - sum2 + STRETCH * half2
    moved = 1.001 * math.sqrt(STRETCH * grown) + STRETCH * half1
    if not (power1 + moved < size1 and size1 + moved < 2.0 * power1 and sum2 + 2.0 * grown < 2.0 * power2):
        return 0
    certain = SEGMENTS
    for k in range(sums.shape[1]):
        pulls = np.float64(s + k * SEGMENT)
        inverse_k, less = 1.0 / pulls, 1.0 / (pulls - 1.0)
        before1, before2 = sums[BEFORE1, k], sums[BEFORE2, k]
        here, size = before1 * inverse_k, before2 * inverse_k
        # The deviations of the segment's rewards from the mean before it: their sum, and a bound of that of squares.
        deviation = sums[ADDED1, k] - SEGMENT * here
        squares = sums[ADDED2, k] - here * (2.0 * sums[ADDED1, k] - SEGMENT * here) + 64.0 * INFLATION * size
        squares += SEGMENT * (half2 + 2.0 * abs(here) * half1)  # summands are rounded to units of the sums
        # The root bounds the sum of their absolute values (Cauchy & Schwarz), so this bounds that of the negative ones.
        below = 0.5 * (math.sqrt(SEGMENT * squares) - deviation)
        mean = anchor + here - below * inverse_k - INFLATION * (abs(anchor) + abs(here))
        # Squared deviations add up to no less about that mean than about the current one.
        variance = max(0.0, (before2 - before1 * here + squares) * less + 8.0 * INFLATION * size)
        # Squares of rewards are not negative, and 1 / (1 + x) is at least 1 - x.
        second = (size + anchor * (2.0 * here + anchor)) * (1.0 - SEGMENT * inverse_k)
        second -= 8.0 * INFLATION * (size + anchor * anchor)
        radius = epsilon * (1.0 - INFLATION - 0.5 * SEGMENT * np.float64(k + 1) / s)
        v = index(plain_arm(pulls, mean, variance, second, radius, pulls, np.nan, np.nan), t, *arguments)
        exact = sums[ERROR1, k] < half1 and sums[ERROR2, k] < half2
        certain = min(certain, SEGMENTS if v > rival and mean >= 0.0 and exact else k)
    return certain
