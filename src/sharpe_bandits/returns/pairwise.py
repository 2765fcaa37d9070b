"""Tests of differences by the studentised block bootstrap of Ledoit and Wolf, as :mod:`.comparison` describes.

The statistic of two columns with values a and b is d = |a − b| / s with a standard error s that allows for their
correlation and for autocorrelation. Rows are resampled in circular blocks, the same for all columns. A resample has the
statistic |(a* − b*) − (a − b)| / s*, where s* comes from the sums of influence functions over its blocks. The p-value
is the share of resamples whose statistic is at least d. Holm's correction is used where pairs have different rows,
which cannot be resampled jointly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from . import statistics
from .yardstick import Yardstick

#: Two columns are compared row by row only if they share this many rows, or this share of the shorter column's rows.
LEAST_SHARED, LEAST_SHARE = 20, 0.1


@dataclass(frozen=True)
class Difference:
    """The value of one column minus that of another: annualised Sharpe ratios; or mean less risk per period, and for
    costs mean cost plus risk in basis points. Tests have numbers per period, and numbers of columns.

    If ``paired``, both are compared over the rows that both have, otherwise each over its own, as independent samples.
    ``p``, ``low`` and ``high`` come from the studentised bootstrap, ``p_asymptotic`` from the normal distribution;
    ``p_corrected`` holds for all comparisons jointly. ``p_mean`` is robust to autocorrelation (Welch's if unpaired);
    ``lo_difference`` is that of Lo's Sharpe ratios, None for mean less risk.
    """

    first: Any
    second: Any
    rows: int
    paired: bool
    difference: float
    se: float
    low: float
    high: float
    p: float
    p_asymptotic: float
    p_corrected: float
    mean_difference: float
    p_mean: float
    lo_difference: float | None
    lo_se: float | None

    @property
    def statistic(self) -> float:
        """The studentised difference; 0 for two columns that do not differ at all."""
        return abs(self.difference) / self.se if self.se > 0 else (math.inf if self.difference else 0.0)

    def scaled(self, factor: float, mean_factor: float, names: Sequence[str]) -> Difference:
        """With names of columns, and values and means multiplied by these factors."""
        difference, half = factor * self.difference, abs(factor) * (self.high - self.low) / 2
        return replace(
            self, first=names[self.first], second=names[self.second], difference=difference, se=abs(factor) * self.se,
            low=difference - half, high=difference + half, mean_difference=mean_factor * self.mean_difference,
        )  # fmt: skip


def resamples(
    x: np.ndarray, yardstick: Yardstick, block: int, replications: int, seed: int | Sequence[int]
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Values of the columns in each resample, and the covariance matrix of these estimates.

    A resample consists of as many blocks as fit into the rows; blocks wrap around at the end.
    """
    rows, block = len(x), min(block, len(x))
    centre = x.mean(axis=0)
    z = x - centre
    wrapped = np.concatenate([z, z[: block - 1]])
    so_far = (np.pad(np.cumsum(part, axis=0), ((1, 0), (0, 0))) for part in (wrapped, wrapped**2))
    sums, squares = (part[block:] - part[:-block] for part in so_far)  # of a block, by its start
    generator, blocks = np.random.default_rng(seed), rows // block
    n = blocks * block
    for _ in range(replications):
        starts = generator.integers(rows, size=blocks)
        first, second = sums[starts], squares[starts]
        mean = first.sum(axis=0) / n
        variance = np.maximum(second.sum(axis=0) / n - mean**2, 1e-300)
        value = yardstick.value(mean + centre, variance * n / (n - 1))
        by_mean, by_variance = yardstick.gradient(mean + centre, variance, value)
        deviations = second - 2 * mean * first + block * mean**2
        influence = by_mean * (first - block * mean) + by_variance * (deviations - block * variance)
        yield value, influence.T @ influence / n / max(n - 4, 1)  # four moments are estimated


def pairwise_tests(
    x: np.ndarray,
    pairs: Sequence[tuple[int, int]],
    yardstick: Yardstick,
    block: int,
    replications: int,
    seed: int,
    confidence: float,
    all_pairs: bool,
    lags: int | None = None,
) -> list[Difference]:
    """Tests of the differences of these pairs of columns.

    With ``all_pairs``, p-values are corrected for all pairs of columns instead of the given ones, because these were
    chosen after looking at the data. ``lags`` are the autocovariances in standard errors, by default chosen from the
    data.
    """
    alone = [_asymptotic(x, i, j, yardstick, lags) for i, j in pairs]
    first, second = np.array(pairs).T
    observed = np.array([test.statistic for test in alone])
    draws, largest = np.empty((replications, len(pairs))), np.empty(replications)
    together = not np.isnan(x).any()
    if together:
        values = yardstick.of_columns(x)
        for row, (value, covariance) in enumerate(resamples(x, yardstick, block, replications, seed)):
            away, variance = value - values, np.diag(covariance)
            if all_pairs:
                least = x.shape[0] * np.spacing(1.0) * variance.max()
                every = _statistics(away[:, None] - away, variance[:, None] + variance - 2 * covariance, least)
                draws[row], largest[row] = every[first, second], every.max()
            else:
                draws[row] = _statistics(
                    away[first] - away[second], variance[first] + variance[second] - 2 * covariance[first, second]
                )
    else:
        draws = np.array([_separately(x, test, yardstick, block, replications, seed) for test in alone]).T
    p = (1 + (draws >= observed).sum(axis=0)) / (1 + replications)
    halves = np.quantile(draws, confidence, axis=0) * [test.se for test in alone]
    if not together:
        blocks = np.array([max(test.rows // block, 2) for test in alone])
        corrected = _holm(p, observed, blocks, replications, math.comb(x.shape[1], 2) if all_pairs else len(pairs))
    elif all_pairs:
        corrected = (1 + (largest[:, None] >= observed).sum(axis=0)) / (1 + replications)
    else:
        corrected = _stepwise(draws, observed)
    return [
        replace(
            test, p=own, p_corrected=max(float(joint), own), low=test.difference - half, high=test.difference + half
        )
        for test, own, joint, half in zip(alone, p.tolist(), corrected, halves, strict=True)
    ]


def _statistics(difference: np.ndarray, variance: np.ndarray, least: float = 0.0) -> np.ndarray:
    """Studentised differences; 0 for columns that are the same."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(variance > least * 1e-3, np.abs(difference) / np.sqrt(variance), 0.0)


def _asymptotic(x: np.ndarray, i: int, j: int, yardstick: Yardstick, lags: int | None) -> Difference:
    """Differences and their standard errors, with p-values by the normal and by Student's distribution."""
    from scipy.special import ndtr, stdtr

    there = ~np.isnan(x[:, [i, j]])
    shared = there.all(axis=1)
    rows, shortest = int(shared.sum()), int(there.sum(axis=0).min())
    paired = rows >= max(LEAST_SHARED, LEAST_SHARE * shortest) or 2 * rows >= shortest
    a, b = (x[shared if paired else own, k] for k, own in zip((i, j), there.T, strict=True))
    fewer = None if lags is None else min(lags, len(a) - 1, len(b) - 1)

    def error(one: np.ndarray, other: np.ndarray, lags: int | None = None) -> float:
        if paired:
            return statistics.se_of_mean(one - other, lags)
        return math.hypot(statistics.se_of_mean(one, lags), statistics.se_of_mean(other, lags))

    difference = float(yardstick.of_columns(a) - yardstick.of_columns(b))
    se, mean_se = error(yardstick.influence(a), yardstick.influence(b), fewer), error(a, b)
    if paired:
        se *= math.sqrt((rows - 1) / max(rows - 4, 1))  # four moments are estimated
        freedom = float(rows - 1)
    else:
        rows = shortest
        squares = np.array([statistics.se_of_mean(a), statistics.se_of_mean(b)]) ** 2
        freedom = float(squares.sum() ** 2 / (squares**2 / [len(a) - 1, len(b) - 1]).sum())  # Welch's
    mean = float(a.mean() - b.mean())
    p = 2 * float(ndtr(-abs(difference) / se)) if se > 0 else float(difference == 0)
    p_mean = 2 * float(stdtr(freedom, -abs(mean) / mean_se)) if mean_se > 0 else float(mean == 0)
    lo: tuple[float | None, float | None] = None, None
    if yardstick.aversion is None:
        q, rate = yardstick.periods_per_year, yardstick.rate
        (first, one), (second, other) = (statistics.lo_and_influence(own, q, rate) for own in (a, b))
        lo = first - second, error(one, other)
    return Difference(i, j, rows, paired, difference, se, difference, difference, p, p, p, mean, p_mean, *lo)


def _separately(
    x: np.ndarray, test: Difference, yardstick: Yardstick, block: int, replications: int, seed: int
) -> np.ndarray:
    """Statistics of one pair in every resample: over the rows that both have or, unpaired, each over its own."""
    pair, own = [test.first, test.second], (seed, test.first, test.second)
    there = ~np.isnan(x[:, pair])
    if test.paired:
        both = x[there.all(axis=1)][:, pair]
        values = yardstick.of_columns(both)
        return np.array([
            float(_statistics(np.subtract(*(value - values)), c[0, 0] + c[1, 1] - 2 * c[0, 1]))
            for value, c in resamples(both, yardstick, block, replications, own)
        ])  # fmt: skip
    samples = [x[there[:, k], pair[k]] for k in range(2)]
    draws = (resamples(y[:, None], yardstick, block, replications, (*own, k)) for k, y in enumerate(samples))
    difference = float(np.subtract(*map(yardstick.of_columns, samples)))
    return np.array(
        [float(_statistics((p - q)[0] - difference, (v + w)[0, 0])) for (p, v), (q, w) in zip(*draws, strict=True)]
    )


def _stepwise(draws: np.ndarray, observed: np.ndarray) -> np.ndarray:
    """p-values by the largest statistic among the pairs that have not been rejected yet (Romano and Wolf)."""
    order = np.argsort(-observed, kind="stable")
    largest = np.maximum.accumulate(draws[:, order[::-1]], axis=1)[:, ::-1]
    p = (1 + (largest >= observed[order]).sum(axis=0)) / (1 + len(draws))
    corrected = np.empty(len(order))
    corrected[order] = np.maximum.accumulate(p)
    return corrected


def _holm(p: np.ndarray, observed: np.ndarray, blocks: np.ndarray, replications: int, family: int) -> np.ndarray:
    """Holm's correction for this many tests.

    A p-value below what the resamples resolve is replaced by that of Student's distribution, with as many degrees of
    freedom as there are blocks, less one.
    """
    from scipy.special import stdtr

    tail = 2 * stdtr(blocks - 1, -observed)
    fine = np.where(p < 10 / (1 + replications), np.minimum(p, tail), p)
    order = np.argsort(fine, kind="stable")
    corrected = np.empty(len(order))
    corrected[order] = np.maximum.accumulate(fine[order] * (family - np.arange(len(order))))
    return np.minimum(corrected, 1.0)
