"""Rewards of an arm, a few pulls at a time, in the same order of operations for every caller."""

from typing import NamedTuple

import numpy as np

from .streams import normal_quantile, reward_bits, unit

#: Kinds of arm a kernel can draw from; the parameters of each are columns of :class:`ArmTable`.
UNIFORM = 0  # loc + scale * u
BERNOULLI = 1  # 1 if u < loc else 0
NORMAL = 2  # loc + scale * the standard normal quantile of u
QUANTILE = 3  # loc + scale * Q(u), Q a piecewise cubic table in the pool
EMPIRICAL = 4  # one of ``size`` equally likely values in the pool
DISCRETE = 5  # one of ``size`` values in the pool, followed there by their cumulative probabilities
TAPE = 6  # the pull-th of ``size`` values in the pool; not a number past the end

#: A quantile table: two sides of 1/2, octaves of the distance to the end, cells within an octave, cubic coefficients.
OCTAVES, CELLS = 52, 64
SIDE = OCTAVES * CELLS * 4

_EXPONENT, _CELL = np.uint64(52), np.uint64(46)
_CELL_MASK, _FRACTION_MASK = np.uint64(CELLS - 1), np.uint64((1 << 46) - 1)


class ArmTable(NamedTuple):
    """Arms as arrays, one row per bandit (one for all runs, or one per run) and one column per arm."""

    kind: np.ndarray
    loc: np.ndarray
    scale: np.ndarray
    start: np.ndarray
    size: np.ndarray
    pool: np.ndarray


def uniform_reward(loc, scale, bits):
    """The reward of a UNIFORM arm from 64 bits."""
    return loc + scale * unit(bits)


def fill(arms, row, arm, source, key, first, out):
    """Write the rewards of pulls ``first``, ``first + 1``, ... of one arm to ``out``."""
    kind = arms.kind[row, arm]
    loc = arms.loc[row, arm]
    scale = arms.scale[row, arm]
    start = arms.start[row, arm]
    size = arms.size[row, arm]
    pool = arms.pool
    if kind == TAPE:
        for j in range(out.size):
            out[j] = pool[start + first + j] if first + j < size else np.nan
        return
    if source == 0:
        for j in range(out.size):
            out[j] = unit(reward_bits(0, key, first + j))
    else:
        for j in range(out.size):
            out[j] = unit(reward_bits(source, key, first + j))
    if kind == UNIFORM:
        for j in range(out.size):
            out[j] = loc + scale * out[j]
    elif kind == BERNOULLI:
        for j in range(out.size):
            out[j] = 1.0 if out[j] < loc else 0.0
    elif kind == NORMAL:
        for j in range(out.size):
            out[j] = loc + scale * normal_quantile(out[j])
    elif kind == QUANTILE:
        for j in range(out.size):
            u = out[j]
            side = 1 if u >= 0.5 else 0
            out[j] = 1.0 - u if u >= 0.5 else u
            bits = out.view(np.uint64)[j]
            octave = 1021 - np.int64(bits >> _EXPONENT)
            cell = np.int64((bits >> _CELL) & _CELL_MASK)
            f = np.float64(bits & _FRACTION_MASK) * 1.4210854715202004e-14
            c = start + side * SIDE + (octave * CELLS + cell) * 4
            out[j] = loc + scale * (((pool[c + 3] * f + pool[c + 2]) * f + pool[c + 1]) * f + pool[c])
    elif kind == EMPIRICAL:
        for j in range(out.size):
            out[j] = pool[start + np.int64(out[j] * size)]
    else:
        for j in range(out.size):
            u = out[j]
            low, high = np.int64(0), size - 1
            while low < high:
                middle = (low + high) // 2
                if u < pool[start + size + middle]:
                    high = middle
                else:
                    low = middle + 1
            out[j] = pool[start + low]
