"""Measures of performance and risk beside the Sharpe ratio, with intervals from resampled rows.

A measure is a function of how often each row counts, (resamples, rows), and of the returns of a column: with every row
counted once it is the estimate, with the rows of a bootstrap resample it is that resample's.

References
----------
.. [1] F. A. Sortino and R. van der Meer (1991). Downside risk. J. Portfolio Management 17(4).
.. [2] C. Keating and W. F. Shadwick (2002). A universal performance measure. J. Performance Measurement 6(3).
.. [3] R. T. Rockafellar and S. Uryasev (2002). Conditional value-at-risk for general loss distributions. J. Banking &
       Finance 26(7).
.. [4] T. W. Young (1991). Calmar ratio: a smoother tool. Futures 20(1).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from . import statistics

#: Share of the worst returns that the expected shortfall averages.
TAIL = 0.05


class Measure(NamedTuple):
    """A measure of a column, and its bootstrap interval; None where resampled rows have no meaning."""

    value: float
    low: float | None = None
    high: float | None = None


def sortino(counts: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Mean excess return over the root mean square of the negative ones [1], per period."""
    rows = counts.sum(axis=1)
    return np.asarray((counts @ x / rows) / np.sqrt(counts @ np.minimum(x, 0.0) ** 2 / rows))


def omega(counts: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Sum of gains over the sum of losses, both relative to the hurdle [2]."""
    return np.asarray(counts @ np.maximum(x, 0.0) / (counts @ np.maximum(-x, 0.0)))


def expected_shortfall(counts: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Average loss in the worst 5% of periods, also called CVaR [3]; a row at the limit counts in part."""
    order = np.argsort(x)
    counts = counts[:, order]
    target = TAIL * counts.sum(axis=1, keepdims=True)
    in_tail = np.clip(target - (np.cumsum(counts, axis=1) - counts), 0.0, counts)
    return np.asarray(-(in_tail @ x[order]) / target[:, 0])


def skewness(counts: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Third standardised moment."""
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


#: Measures of returns above the hurdle, by name; ratios are per period.
RESAMPLED = {
    "sortino": sortino, "omega": omega, "expected_shortfall": expected_shortfall, "skewness": skewness,
    "kurtosis": kurtosis, "autocorrelation": autocorrelation,
}  # fmt: skip


def measures(
    x: np.ndarray, excess: np.ndarray, counts: np.ndarray, confidence: float, periods_per_year: float
) -> dict[str, Measure]:
    """All measures of a column.

    Parameters
    ----------
    x, excess : numpy.ndarray
        its returns, and its returns minus the hurdle
    counts : numpy.ndarray
        (resamples, rows) how often each row occurs in each resample
    confidence : float
        confidence level of the intervals
    periods_per_year : float
        used to annualise the ratios of Sortino and Calmar
    """
    ends = [(1 - confidence) / 2, (1 + confidence) / 2]
    estimates = {}
    with np.errstate(divide="ignore", invalid="ignore"):
        for name, measure in RESAMPLED.items():
            (value,), draws = measure(np.ones((1, len(excess))), excess), measure(counts, excess)
            numbers = np.array([value, *np.nanquantile(draws, ends)])
            if name == "sortino":
                numbers = numbers * periods_per_year**0.5
            estimates[name] = Measure(*map(float, numbers))
    fall = statistics.drawdown(x)
    yearly = float(statistics.wealth(x)[-1]) ** (periods_per_year / len(x)) - 1
    # the rows of a resample are not in their order, on which a drawdown depends
    return {**estimates, "drawdown": Measure(fall), "calmar": Measure(yearly / fall if fall > 0 else float("inf"))}
