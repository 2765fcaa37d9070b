"""Rewards of an arm, a few pulls at a time, computed in the same order of operations for every caller."""

import math
from typing import NamedTuple

import numpy as np

from .memory import called, word_of, zeros
from .streams import FAR, GOLDEN, REWARDS, fold, mix64, near_quantile, normal_quantile, stream_key, unit

#: Kinds of arm a kernel can draw from; the parameters of each are columns of :class:`ArmTable`.
UNIFORM = 0  # loc + scale * u
BERNOULLI = 1  # 1 if u < loc else 0
NORMAL = 2  # loc + scale * the standard normal quantile of u
QUANTILE = 3  # loc + scale * Q(u), Q a piecewise cubic table in the pool
EMPIRICAL = 4  # one of ``size`` equally likely values in the pool
DISCRETE = 5  # one of ``size`` values in the pool, followed there by their cumulative probabilities
TAPE = 6  # the pull-th of ``size`` values in the pool; NaN past the end
# Serially dependent kinds: their rewards are pregenerated on a tape (see :func:`write_paths`).
AUTOREGRESSIVE = 7  # AR(1), normal with mean loc and standard deviation scale; the pool has the autocorrelation
CLUSTERED = 8  # GARCH(1, 1), long-run standard deviation scale; the pool has the weights of shock and variance
BLOCKS = 9  # blocks of the ``size`` values in the pool; a new one begins with probability scale
PIECE = 65536  # rewards drawn between checks of whether to stop
BURN_IN = 500  # discarded rewards before the first, so that volatility starts from its stationary distribution

#: A quantile table has two sides of 1/2, octaves of the distance to 0 or 1, cells within an octave, and four cubic
#: coefficients per cell.
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


class Rewards(NamedTuple):
    """The source of a kernel's rewards: run r uses row ``r * row_step`` of a table, with random bits from a seed."""

    arms: ArmTable
    row_step: int
    seed: np.uint64


def uniform_reward(loc, scale, bits):
    """The reward of a UNIFORM arm from 64 random bits."""
    return loc + scale * unit(bits)


def fill_units(key, first, out):
    """Write numbers ``first``, ``first + 1``, ... of a stream, uniform on (0, 1), to ``out``."""
    word = key + np.uint64(first) * GOLDEN
    for j in range(out.size):
        out[j] = unit(mix64(word))
        word += GOLDEN


def normal_quantiles(out):
    """Replace uniform numbers by the corresponding normal quantiles."""
    far = False
    for j in range(out.size):
        far |= min(out[j], 1.0 - out[j]) <= FAR
    if far:
        for j in range(out.size):
            out[j] = normal_quantile(out[j])
    else:
        for j in range(out.size):
            out[j] = near_quantile(out[j])


def quantiles(pool, start, loc, scale, out):
    """Replace uniform numbers by the corresponding rewards of a QUANTILE arm."""
    for j in range(out.size):
        u = out[j]
        bits = word_of(min(u, 1.0 - u))
        octave = 1021 - np.int64(bits >> _EXPONENT)
        cell = np.int64((bits >> _CELL) & _CELL_MASK)
        place = (start + SIDE if u >= 0.5 else start) + (octave * CELLS + cell) * 4
        f = np.float64(np.int64(bits & _FRACTION_MASK)) * 1.4210854715202004e-14
        out[j] = loc + scale * (((pool[place + 3] * f + pool[place + 2]) * f + pool[place + 1]) * f + pool[place])


class Source(NamedTuple):
    """One arm of an :class:`ArmTable`, without the pool. To pass a table takes as long as drawing tens of rewards."""

    kind: int
    loc: float
    scale: float
    start: int
    size: int


def source_of(arms, row, arm):
    return Source(
        arms.kind[row, arm], arms.loc[row, arm], arms.scale[row, arm], arms.start[row, arm], arms.size[row, arm]
    )  # fmt: skip


def fill(arms, row, arm, key, first, out):
    """Write the rewards of pulls ``first``, ``first + 1``, ... of one arm to ``out``."""
    draw(arms.pool, source_of(arms, row, arm), key, first, out)


@called
def draw(pool, source, key, first, out):
    """:func:`fill` for one arm."""
    if source.kind == TAPE:
        for j in range(out.size):
            out[j] = on_tape(pool, source, first + j)
    else:
        fill_units(key, first, out)
        as_rewards(pool, source, out)


def as_rewards(pool, source, out):
    """Replace uniform numbers by the corresponding rewards of one arm."""
    kind, loc, scale, start, size = source
    if kind == UNIFORM:
        for j in range(out.size):
            out[j] = loc + scale * out[j]
    elif kind == BERNOULLI:
        for j in range(out.size):
            out[j] = 1.0 if out[j] < loc else 0.0
    elif kind == NORMAL:
        normal_quantiles(out)
        for j in range(out.size):
            out[j] = loc + scale * out[j]
    elif kind == QUANTILE:
        quantiles(pool, start, loc, scale, out)
    elif kind == EMPIRICAL:
        for j in range(out.size):
            out[j] = pool[start + np.int64(out[j] * size)]
    elif kind == DISCRETE:
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
    else:  # a serially dependent arm, whose rewards should have been pregenerated
        out[:] = np.nan


def on_tape(pool, source, number):
    """A reward of a TAPE arm; NaN past the end."""
    return pool[source.start + number] if number < source.size else np.nan


def recorded(arms, row, arm, number):
    """A reward of a TAPE arm of a table; NaN past the end."""
    return on_tape(arms.pool, source_of(arms, row, arm), number)


def write_path(arms, row, arm, key, first, out, stop):
    """Write the rewards of one arm of any kind, from round ``first`` on, to ``out``; returns early if told to stop."""
    kind, loc, scale, start, size = source_of(arms, row, arm)
    pool = arms.pool
    d, variance, place = 0.0, scale * scale, np.int64(0)  # state carried from one reward to the next
    phi, noise, alpha, beta, constant = 0.0, 0.0, 0.0, 0.0, 0.0
    if kind == AUTOREGRESSIVE:
        phi = pool[start]
        noise = scale * math.sqrt(1.0 - phi * phi)
    elif kind == CLUSTERED:
        alpha, beta = pool[start], pool[start + 1]
        constant = (1.0 - alpha - beta) * scale * scale
        before = zeros(BURN_IN)
        fill_units(fold(key, first), 0, before)
        normal_quantiles(before)
        for j in range(BURN_IN):
            variance = constant + (alpha * before[j] * before[j] + beta) * variance
    for begin in range(0, out.size, PIECE):
        if stop[0] != 0:
            return
        part = out[begin : begin + PIECE]
        if kind < AUTOREGRESSIVE:
            fill(arms, row, arm, key, first + begin, part)
            continue
        fill_units(key, first + begin, part)
        if kind != BLOCKS:
            normal_quantiles(part)
        for j in range(part.size):
            u = part[j]
            if kind == AUTOREGRESSIVE:
                d = phi * d + noise * u if begin + j > 0 else scale * u
                part[j] = loc + d
            elif kind == CLUSTERED:
                d = math.sqrt(variance) * u
                variance = constant + alpha * d * d + beta * variance
                part[j] = loc + d
            else:
                if begin + j == 0:
                    place = np.int64(u * size)
                elif u < scale:  # a new block begins, and u / scale is uniform again
                    place = min(np.int64(u / scale * size), size - 1)
                else:
                    place = place + 1 if place + 1 < size else 0
                part[j] = pool[start + place]


def write_paths(numbers, rewards, jointly, begin, end, out, stop):
    """Write the rewards of rounds ``begin`` to ``end - 1`` of all arms of the runs with these ``numbers`` to ``out``
    (run, arm, round); ``jointly``: with the same random numbers for all arms, which keeps the rows of a table together.
    """
    arms, row_step, seed = rewards
    for r in range(numbers.size):
        run_key = stream_key(seed, REWARDS, numbers[r])
        for i in range(out.shape[1]):
            key = fold(run_key, 0 if jointly else i)
            write_path(arms, r * row_step, i, key, begin, out[r, i, begin:end], stop)
