"""What is known of an arm, and how it follows from the sums that are kept."""

import math
from typing import NamedTuple

import numpy as np

from .formulas import value
from .streams import normal, uniform

#: So many first rewards of an arm are kept for policies that reweigh them.
FIRSTS = 64

#: Whole rewards up to this size are summed as they are (exactly, so that equal records tie); others are summed as
#: differences from the arm's first reward, which keeps the variance accurate when the mean dwarfs it.
_EXACT = 1024.0


class Arm(NamedTuple):
    """What a policy's index may look at.

    Attributes
    ----------
    pulls : how often the arm was played, s
    mean : mean of its rewards
    variance : unbiased sample variance of its rewards (0 for a single pull)
    second_moment : mean of its squared rewards
    epsilon : ``sqrt(2 ln t / s)``, the paper's confidence radius, free of charge
    last : rounds played when the arm's statistics last changed (never before the end of the pilot)
    maximum : its largest reward
    key : random stream of this run, arm and round (see :mod:`sharpe_bandits.kernels.streams`)
    round_key : random stream of this run and round, the same for every arm
    third, fourth : third and fourth central moment of its rewards
    lead : the largest score of any arm, where the policy has a score besides its index
    drawn_mean, drawn_variance : mean and variance of its rewards under random weights (see :func:`reweighted`)
    """

    pulls: float
    mean: float
    variance: float
    second_moment: float
    epsilon: float
    last: float
    maximum: float
    key: int
    round_key: int
    third: float = math.nan
    fourth: float = math.nan
    lead: float = math.nan
    drawn_mean: float = math.nan
    drawn_variance: float = math.nan


def anchor_of(first):
    """The constant that an arm's rewards are shifted by before they are summed, from its first reward."""
    if abs(first) <= _EXACT and first == math.floor(first):
        return 0.0
    return first


def summary(anchor, sum1, sum2, inverse, inverse_less):
    """Mean, unbiased variance and second moment from sums of (x - anchor) and its square; 1/s and 1/(s-1) given."""
    shifted = sum1 * inverse
    variance = max(0.0, (sum2 - sum1 * shifted) * inverse_less)
    second = sum2 * inverse + anchor * (2.0 * shifted + anchor)
    return anchor + shifted, variance, second


def higher_moments(sum1, sum2, sum3, sum4, inverse):
    """Third and fourth central moment from sums of the powers of (x - anchor); 1/s given."""
    a = sum1 * inverse
    b = sum2 * inverse
    c = sum3 * inverse
    d = sum4 * inverse
    third = c - a * (3.0 * b - 2.0 * a * a)
    fourth = d - a * (4.0 * c - a * (6.0 * b - 3.0 * a * a))
    return third, max(0.0, fourth)


def reweighted(firsts, anchor, pulls, mean, variance, third, fourth, key):
    """Mean and variance of an arm's rewards under weights drawn from the flat Dirichlet distribution.

    Exact up to FIRSTS pulls (``firsts``: the rewards less the anchor), in units in which the variance is unbiased; for
    more pulls their normal limit, which takes the moments.
    """
    if pulls <= FIRSTS:
        weight, first, second = 0.0, 0.0, 0.0
        for j in range(int(pulls)):
            w = -math.log(uniform(key, j))
            d = firsts[j]
            weight += w
            first += w * d
            second += w * d * d
        a = first / weight
        spread = max(0.0, second / weight - a * a)
        return anchor + a, spread * (pulls + 1.0) / (pulls - 1.0)
    z = normal(key, 0)
    root = math.sqrt(variance)
    slope = third / root if variance > 0.0 else 0.0
    rest = math.sqrt(max(0.0, fourth - variance * variance - slope * slope))
    share = 1.0 / math.sqrt(pulls)
    drawn = variance + share * (slope * z + rest * normal(key, 1))
    return mean + share * root * z, max(0.0, drawn)


def radius(rounds):
    """``sqrt(2 ln N)``: times 1/sqrt(s) it is the paper's epsilon."""
    return math.sqrt(2.0 * math.log(rounds)) if rounds > 1 else 0.0


def tables(size):
    """Tables by s or N, of ``size`` entries: sqrt(2 ln N), 1/s and 1/sqrt(s) (0 at 0)."""
    radii = np.zeros(size)
    inverse = np.zeros(size)
    root = np.zeros(size)
    for s in range(1, size):
        radii[s] = radius(s)
        inverse[s] = 1.0 / s
        root[s] = 1.0 / math.sqrt(s)
    return radii, inverse, root


def pooled(pulls, mean, variance, arms):
    """Mean and unbiased variance of all rewards of a run together, from each arm's own."""
    n = 0.0
    total = 0.0
    for i in range(arms):
        n += pulls[i]
        total += pulls[i] * mean[i]
    average = total / n
    squares = 0.0
    for i in range(arms):
        squares += (pulls[i] - 1.0) * variance[i] + pulls[i] * (mean[i] - average) * (mean[i] - average)
    return average, squares / (n - 1.0)


def best_estimate(mean, variance, arms, arguments):
    """The arm whose estimated objective is largest; ties go to the lowest."""
    best = 0
    top = -math.inf
    for i in range(arms):
        v = value(mean[i], variance[i], *arguments)
        if v > top:
            top = v
            best = i
    return best
