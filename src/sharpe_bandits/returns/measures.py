"""Measures of performance and risk beside the Sharpe ratio, with intervals from resampled rows.

A measure is a function of how often each row counts, (resamples, rows), and of the returns of a column: with every row
counted once it is the estimate, with the rows of a bootstrap resample it is that resample's. Drawdowns depend on the
order of rows, which resampled blocks keep only within blocks: their intervals are those of other orders of the blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..objectives import CVaR, Omega, Sharpe, Sortino
from . import statistics
from .yardstick import TAIL


class Measure(NamedTuple):
    """A measure of a column, and its bootstrap interval."""

    value: float
    low: float
    high: float


def skewness(counts: np.ndarray, x: np.ndarray) -> np.ndarray:
    _, second, third, _ = _central_moments(counts, x)
    return np.asarray(third / second**1.5)


def kurtosis(counts: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Fourth standardised moment, 3 for normal returns."""
    _, second, _, fourth = _central_moments(counts, x)
    return np.asarray(fourth / second**2)


def autocorrelation(counts: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Autocorrelation from one row to the next; a resampled row brings its own predecessor."""
    z = x - x.mean()
    return np.asarray(counts[:, 1:] @ (z[1:] * z[:-1]) / (counts @ z**2))


def _central_moments(counts: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, ...]:
    rows = counts.sum(axis=1)
    z = x - x.mean()  # keeps powers accurate
    m1, m2, m3, m4 = (counts @ z**k / rows for k in range(1, 5))
    return m1, m2 - m1**2, m3 - 3 * m1 * m2 + 2 * m1**3, m4 - 4 * m1 * m3 + 6 * m1**2 * m2 - 3 * m1**4


#: Measures of returns above the hurdle, by name; ratios are per period, the expected shortfall is a loss.
RESAMPLED: dict[str, Callable[[np.ndarray, np.ndarray], Any]] = {
    "sortino": Sortino(L=0.0).value_of_resamples, "omega": Omega(L=0.0).value_of_resamples,
    "expected_shortfall": lambda counts, x: -CVaR(TAIL).value_of_resamples(counts, x), "skewness": skewness,
    "kurtosis": kurtosis, "autocorrelation": autocorrelation,
}  # fmt: skip


def drawdown_and_calmar(paths: np.ndarray, x: np.ndarray, periods_per_year: float) -> tuple[np.ndarray, np.ndarray]:
    """Largest loss from a peak of compounded wealth, and Calmar ratio (Young 1991), for rows in each order.

    Rows without a return (NaN) leave wealth as it is.
    """
    own = np.nan_to_num(x)[paths].T
    fall, wealth = statistics.drawdown(own), statistics.wealth(own)[-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        yearly = np.maximum(wealth, 0.0) ** (periods_per_year / np.maximum((~np.isnan(x))[paths].sum(axis=1), 1)) - 1
        return fall, np.where(fall > 0, yearly / fall, np.inf)


def measures(
    x: np.ndarray,
    excess: np.ndarray,
    paths: np.ndarray,
    counts: np.ndarray,
    confidence: float,
    q: float,
    benchmark: bool = False,
) -> dict[str, Measure]:
    """All measures of a column.

    ``x`` and ``excess`` are its returns, and its returns minus the hurdle, NaN where it has none; ``paths`` and
    ``counts`` (resamples, rows) the rows of each resample, and how often each row occurs in it; ``q`` the periods per
    year. With a ``benchmark`` as the hurdle there is also the Sharpe ratio of returns that it was not subtracted from.
    """
    own = ~np.isnan(excess)
    ends = [(1 - confidence) / 2, (1 + confidence) / 2]
    once, rows = np.ones((1, int(own.sum()))), np.arange(len(x))[None]
    draws: dict[str, tuple[Any, Any]] = {}
    with np.errstate(divide="ignore", invalid="ignore"):
        for name, measure in RESAMPLED.items():
            draws[name] = measure(once, excess[own]), measure(counts[:, own], excess[own])
    draws["drawdown"], draws["calmar"] = zip(
        drawdown_and_calmar(rows, x, q), drawdown_and_calmar(paths, x, q), strict=True
    )
    if benchmark:
        total = Sharpe(L=0.0).value_of_resamples
        draws["total_sharpe"] = total(once, x[own]), total(counts[:, own], x[own])
    measured = {}
    for name, (value, resampled) in draws.items():
        scale = q**0.5 if name in ("sortino", "total_sharpe") else 1.0
        finite = resampled[np.isfinite(resampled)]
        low, high = np.quantile(finite, ends) if len(finite) else (np.nan, np.nan)
        measured[name] = Measure(*(float(scale * number) for number in (value[0], low, high)))
    return measured
