"""Rows resampled in blocks: the stationary bootstrap (Politis and Romano 1994), and the choice of its block length.

Blocks of rows, of random length, are drawn from all columns jointly, which preserves dependence over time and between
columns. Their mean length is optimal for the influence function of the Sharpe ratio (Politis and White 2004; Patton,
Politis and White 2009): the median over columns, since the maximum over many is that of the noisiest. Needs arch (the
extra ``data``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .._support.validation import real
from ..errors import InvalidInputError, require
from . import statistics

#: Minimum number of returns to choose the block length from.
LEAST_FOR_BLOCKS = 20
#: Resamples computed at a time.
_BATCH = 100


def arch_bootstrap() -> Any:
    """The module ``arch.bootstrap``, if arch is installed."""
    require("arch", "ranking", "data")
    from arch import bootstrap

    return bootstrap


def check_block(block: float, rows: int) -> float:
    """``block`` as a float, if it is a valid mean block length for this number of rows."""
    if not 1 <= real(block) <= rows:
        raise InvalidInputError(f"block, the mean block length, must be from 1 to the {rows} rows, got {block!r}")
    return float(block)


def block_length(x: np.ndarray, risk_free_per_period: float = 0.0) -> float:
    """One mean block length for all columns: the median of their optimal lengths."""
    bootstrap = arch_bootstrap()
    shortest = int((~np.isnan(x)).sum(axis=0).min())
    if shortest < LEAST_FOR_BLOCKS:
        raise InvalidInputError(
            f"{shortest} returns are too few to choose the block length from (at least {LEAST_FOR_BLOCKS}); "
            "pass block=, 1 if returns are independent"
        )

    def best(own: np.ndarray) -> Any:
        return bootstrap.optimal_block_length(statistics.influence(own, risk_free_per_period))["stationary"]

    return float(np.clip(np.nanmedian(statistics.by_column(best, x)), 1, len(x)))


def resampled_rows(generator: np.random.Generator, rows: int, length: int, block: float) -> np.ndarray:
    """One resample of the stationary bootstrap: ``length`` of ``rows`` rows, in blocks that wrap around at the end."""
    begins = generator.random(length) < 1 / block
    begins[0] = True
    at = np.flatnonzero(begins)
    starts = generator.integers(rows, size=len(at))
    return np.asarray((np.repeat(starts - at, np.diff(np.append(at, length))) + np.arange(length)) % rows)


def resampled_paths(rows: int, block: float, replications: int, seed: int) -> Iterator[np.ndarray]:
    """Rows of resamples of the stationary bootstrap (resamples, rows), in batches."""
    draws = arch_bootstrap().StationaryBootstrap(block, np.arange(rows), seed=seed).bootstrap(replications)
    for start in range(0, replications, _BATCH):
        yield np.array([next(draws)[0][0] for _ in range(min(_BATCH, replications - start))])


def counts_of(paths: np.ndarray) -> np.ndarray:
    """How often each row occurs in resamples (resamples, rows)."""
    return np.array([np.bincount(path, minlength=len(path)) for path in paths], float)


def resampled_moments(x: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means and unbiased variances of resamples (rows) of every column, over the rows in which it has a value."""
    there = ~np.isnan(x)
    centre = np.nanmean(x, axis=0)
    away = np.where(there, x - centre, 0.0)
    n = counts @ there if not there.all() else float(len(x))
    with np.errstate(divide="ignore", invalid="ignore"):
        means = counts @ away / n
        variances = (counts @ away**2 / n - means**2) * n / (n - 1)
    return centre + means, np.nan_to_num(variances)
