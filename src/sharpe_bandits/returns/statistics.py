"""The Sharpe ratio of recorded returns: its uncertainty, and corrections for selecting the best of many.

Returns are an array with one series, or with a series per column; estimates are then a number, or one per column.
Sharpe ratios and risk-free rates are per period, and variances are unbiased, unless a name says otherwise.

Works are cited by authors and year; docs/evidence/returns-statistics.md lists them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._support.validation import finite, positive, whole
from ..errors import InvalidInputError

#: Annual risk-free rates above this, or below its negative, are rejected as mistakes.
LARGEST_RATE = 1.0
#: Maximum number of trials: the expected maximum of more cannot be computed to full precision.
MOST_TRIALS = 10**12
#: Largest autoregressive coefficient that a long-run variance is corrected by, in absolute value.
LARGEST_AR = 0.97
#: Variance of a year's return, as a share of that of independent returns, below which flat-top weights are not trusted.
SMALLEST_YEAR = 0.05
#: Largest lag of the test for autocorrelation, and its level.
TESTED_LAGS, TEST_LEVEL = 12, 0.05


def sharpe(x: Any, risk_free_per_period: float = 0.0) -> Any:
    """Mean return above the risk-free rate, in units of the standard deviation."""
    x = np.asarray(x, float)
    return (x.mean(axis=0) - risk_free_per_period) / x.std(axis=0, ddof=1)


def influence(x: Any, risk_free_per_period: float = 0.0) -> np.ndarray:
    """Contribution of each return to the Sharpe ratio, to first order: z − SR (z² − 1)/2 for standardised returns z."""
    x = np.asarray(x, float)
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    return np.asarray(z - sharpe(x, risk_free_per_period) * (z**2 - 1) / 2)


def sharpe_se_iid(x: Any, risk_free_per_period: float = 0.0) -> Any:
    """Standard error of the Sharpe ratio of independent returns of any distribution (Mertens 2002; Opdyke 2007)."""
    x = np.asarray(x, float)
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    return se_from_moments(sharpe(x, risk_free_per_period), len(x), (z**3).mean(axis=0), (z**4).mean(axis=0))


def se_from_moments(sharpe: Any, rows: int, skewness: Any = 0.0, kurtosis: Any = 3.0) -> Any:
    """Standard error of the Sharpe ratio of n independent returns, from their moments (kurtosis 3 is normal).

    The square is (1 − γ₃ SR + (γ₄ − 1)/4 · SR²)/(n − 1), as in the probabilistic Sharpe ratio.
    """
    return np.sqrt((1 - skewness * sharpe + (kurtosis - 1) / 4 * sharpe**2) / (rows - 1))


def sharpe_se_hac(x: Any, risk_free_per_period: float = 0.0, lags: int | None = None) -> Any:
    """Standard error of the Sharpe ratio of serially dependent returns.

    It uses the long-run variance of the influence function: prewhitened by a first-order autoregression (Andrews and
    Monahan 1992), with Bartlett weights and a number of lags that is chosen from the data, column by column (Newey and
    West 1994; Schwert 1989). If ``lags`` is given, there is no prewhitening; with ``lags=0`` it is
    :func:`sharpe_se_iid`.
    """
    return _one_by_one(lambda parts: se_of_mean(parts, lags), influence(x, risk_free_per_period))


def se_of_mean(x: Any, lags: int | None = None) -> float:
    """Standard error of the mean of a serially dependent series, as in :func:`sharpe_se_hac`."""
    # The variance may be slightly negative by rounding if the series hardly varies.
    return math.sqrt(max(_long_run_variance(np.asarray(x, float), lags), 0.0) / (len(x) - 1))


def rolling_sharpe(x: Any, window: int) -> np.ndarray:
    """Sharpe ratio of the last ``window`` rows, from the first row that has this many; NaN where they do not vary."""
    parts = np.lib.stride_tricks.sliding_window_view(np.asarray(x, float), window, axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        deviation = parts.std(axis=-1, ddof=1)
        return np.where(deviation > 1e-14, parts.mean(axis=-1) / deviation, np.nan)


def annualised(sharpe: Any, periods_per_year: float, autocorrelations: Sequence[float] = ()) -> Any:
    """Sharpe ratio of returns summed over a year: that per period times the root of the periods per year.

    Given the autocorrelations of returns at lags 1, 2, ..., the factor is q / sqrt(q + 2 Σ (q − k) ρ_k) for q periods
    per year (Lo 2002).
    """
    q, rho = periods_per_year, np.asarray(autocorrelations, float)
    lags = np.arange(1, len(rho) + 1)
    return sharpe * (q / math.sqrt(q + 2 * float(((q - lags) * rho)[lags < q].sum())))


def lo_and_influence(
    x: np.ndarray, periods_per_year: float, risk_free_per_period: float = 0.0
) -> tuple[float, np.ndarray]:
    """Annualised Sharpe ratio of a series that allows for autocorrelation (Lo 2002), and its influence function.

    The number of autocorrelations follows the rule of Newey and West (1994), but stays below the periods per year: a
    year of daily returns has far more lags than can be estimated. The first half of them have weight 1, from there it
    falls to 0 (a flat-top window, Politis and Romano 1995): weights that fall from the first lag on, as Bartlett's do,
    leave a bias. So does the variance of the factor that annualises, which is corrected to first order.
    """
    q, z, own = periods_per_year, (x - x.mean()) / x.std(), sharpe(x, risk_free_per_period)
    lags = min(max(_lags(x), _first_lags(len(x))), math.ceil(q) - 1)
    rho, lag = np.array(_autocovariances(z, lags)[1:]), np.arange(1, lags + 1)
    bartlett = 1 - lag / (lags + 1)
    weights = np.minimum(2 * bartlett, 1.0)
    if q + 2 * ((q - lag) * weights * rho).sum() < SMALLEST_YEAR * q:  # with Bartlett weights it cannot be below 0
        weights = bartlett
    factor = float(annualised(1.0, q, (weights * rho).tolist()))
    slopes = -(factor**3) / q**2 * (q - lag) * weights
    on_factor = -(slopes @ rho) * z**2
    for k, slope in enumerate(slopes.tolist(), 1):
        on_factor[k:] += slope * z[k:] * z[:-k]
    # the factor is a power -1/2, so that the variance of its logarithm raises its expectation by 3/2 of it
    raised = 1 + 1.5 * se_of_mean(on_factor / factor) ** 2
    return own * factor / raised, factor * influence(x, risk_free_per_period) + own * on_factor


def autocorrelation(x: np.ndarray) -> Any:
    z = x - x.mean(axis=0)
    return (z[1:] * z[:-1]).sum(axis=0) / (z**2).sum(axis=0)


def autocorrelation_p(x: np.ndarray) -> Any:
    """p-value of the hypothesis that returns are not autocorrelated.

    The automatic portmanteau test of Escanciano and Lobato (2009): squared autocorrelations are summed up to a lag that
    the data choose, at most 12. It allows for volatility that changes over time, which Ljung and Box's test does not.
    """
    from scipy.special import chdtrc

    n = len(x)
    z = x - x.mean(axis=0)
    squares = np.array([
        ((z[lag:] * z[:-lag]).sum(axis=0) / (n - lag)) ** 2
        / np.maximum((z[lag:] ** 2 * z[:-lag] ** 2).sum(axis=0) / (n - lag), 1e-300)
        for lag in range(1, max(min(TESTED_LAGS, n // 4), 1) + 1)
    ])  # fmt: skip
    sums = n * np.cumsum(squares, axis=0)
    # a penalty like Schwarz's where no single autocorrelation stands out, otherwise like Akaike's
    strict = np.sqrt(n * squares.max(axis=0)) <= math.sqrt(2.4 * math.log(n))
    lags = np.arange(1, len(squares) + 1).reshape(-1, *[1] * (x.ndim - 1))
    best = np.argmax(sums - lags * np.where(strict, math.log(n), 2.0), axis=0)
    return chdtrc(1, np.take_along_axis(sums, best[None], axis=0)[0])


def correlations(x: np.ndarray) -> np.ndarray:
    """Correlation of every two columns over the rows that both have; NaN if these are fewer than 3."""
    if not np.isnan(x).any():
        return np.corrcoef(x, rowvar=False).reshape(x.shape[1], -1)
    import pandas as pd

    return np.asarray(pd.DataFrame(x).corr(min_periods=3))


def backtest_overfitting(
    x: np.ndarray,
    value: Callable[[Any, Any], Any] = lambda mean, variance: mean / np.sqrt(variance),
    blocks: int = 16,
) -> float:
    """Probability of backtest overfitting (Bailey et al. 2017), by combinatorially symmetric cross-validation (CSCV).

    Over all ways to choose half of the blocks of rows, it is the share in which the column with the largest ``value``
    of mean and variance in that half, the Sharpe ratio by default, is below the median of all columns in the other
    half; at the median it counts half.
    """
    parts = np.array_split(x - x.mean(axis=0), blocks)
    sizes, sums = np.array([len(p) for p in parts]), np.array([p.sum(axis=0) for p in parts])
    squares = np.array([(p**2).sum(axis=0) for p in parts])
    halves = np.array(list(itertools.combinations(range(blocks), blocks // 2)))
    inside = np.zeros((len(halves), blocks))
    np.put_along_axis(inside, halves, 1.0, axis=1)
    below = 0.0
    for begin in range(0, len(inside), 1000):  # in batches, to limit memory
        train = inside[begin : begin + 1000]
        ratios = []
        for which in (train, 1 - train):
            n = (which @ sizes)[:, None]
            mean = which @ sums / n
            variance = np.maximum(which @ squares / n - mean**2, 1e-300) * n / (n - 1)
            ratios.append(value(mean + x.mean(axis=0), variance))
        best = ratios[0].argmax(axis=1)
        own = np.take_along_axis(ratios[1], best[:, None], axis=1)
        lower, equal = (ratios[1] < own).sum(axis=1), (ratios[1] == own).sum(axis=1)
        below += float((1 - np.sign(lower + (equal + 1) / 2 - (x.shape[1] + 1) / 2)).sum() / 2)
    return below / len(halves)


def per_period(rate: float, periods_per_year: float) -> float:
    """Rate per period that compounds to this annual rate."""
    positive("1 + the annual rate", 1 + finite("annual rate", rate))
    return float((1 + rate) ** (1 / positive("periods_per_year", periods_per_year)) - 1)


def risk_free_rate(annual_risk_free: float, periods_per_year: float) -> float:
    """The risk-free rate per period, from the annual one; implausible rates are rejected."""
    if not -LARGEST_RATE < finite("annual_risk_free", annual_risk_free) <= LARGEST_RATE:
        raise InvalidInputError(
            f"annual_risk_free is an annual rate, and {annual_risk_free!r} would be {100 * annual_risk_free:g}% per "
            "year; 0.02 is 2%"
        )
    return per_period(annual_risk_free, periods_per_year)


def wealth(x: Any) -> np.ndarray:
    """Growth of 1 after each row, returns reinvested."""
    return np.cumprod(1 + np.asarray(x, float), axis=0)


def drawdowns(x: Any) -> np.ndarray:
    """Loss after each row from the last peak of compounded wealth, the beginning included."""
    grown = wealth(x)
    return np.asarray(1 - grown / np.maximum.accumulate(np.maximum(grown, 1.0), axis=0))


def drawdown(x: Any) -> Any:
    """Largest loss from a peak of compounded wealth, the beginning included: 0.25 if a quarter was lost."""
    return drawdowns(x).max(axis=0)


def trades(weights: Any, x: Any) -> np.ndarray:
    """Amount of each column bought or sold before each row (rows, columns), as a share of wealth.

    Holdings drift with their returns in between. The initial purchase before the first row is not counted.
    """
    weights, x = np.asarray(weights, float), np.asarray(x, float)
    grown = weights[:-1] * (1 + x[:-1])
    total = grown.sum(axis=1, keepdims=True)
    held = np.divide(grown, total, out=weights[1:].copy(), where=total > 0)  # if all is lost there is nothing to trade
    moved = np.abs(weights[1:] - held)
    moved[moved < 1e-12] = 0.0  # rounding is no trade
    return np.concatenate([np.zeros((1, weights.shape[1])), moved])


def probabilistic_sharpe(sharpe: Any, se: Any, benchmark: float = 0.0) -> Any:
    """Confidence that the true Sharpe ratio exceeds a benchmark, given estimate and s.e. (Bailey and López de Prado
    2012)."""
    from scipy.special import ndtr

    return ndtr((np.asarray(sharpe, float) - benchmark) / se)


def track_record(sharpe: float, se: float, rows: int, confidence: float = 0.95) -> float:
    """Number of returns needed for a Sharpe ratio above 0 with this confidence, from its standard error over ``rows``.

    With the standard error of independent returns it is the minimum track record length (Bailey and López de Prado
    2012); with a robust one it allows for autocorrelation.
    """
    from scipy.special import ndtri

    return float(1 + (rows - 1) * (se * ndtri(confidence) / sharpe) ** 2)


def expected_maximum(trials: int, variance: float) -> float:
    """Expected maximum of Sharpe ratios with this variance, without skill (Bailey and López de Prado 2014)."""
    return math.sqrt(variance) * _maximum(trials) if trials > 1 else 0.0


@dataclass(frozen=True)
class Selection:
    """The trials that the deflated Sharpe ratio allows for; made by :func:`selection`.

    ``effective`` is the equivalent number of independent trials, ``correlation`` the average one of two trials (those
    whose returns are not given are assumed to be independent). ``variance`` of Sharpe ratios is the one used, ``given``
    that of the columns (0 for a single one), ``sampling`` that of such trials if none has skill.
    """

    trials: int
    effective: float
    correlation: float
    variance: float
    given: float
    sampling: float

    @property
    def expected_maximum(self) -> float:
        """Expected maximum of the Sharpe ratios of the trials if none has skill."""
        return expected_maximum(self.trials, self.variance)


def selection(
    x: np.ndarray, trials: int | None = None, variance: float | None = None, risk_free_per_period: float = 0.0
) -> Selection:
    """Estimate how much the Sharpe ratios of trials without skill vary, from the columns that remain of them.

    The Sharpe ratios of trials without skill, whose returns have correlation ρ, differ by sampling error only: their
    variance is (1 − ρ) v/(n − 1), where v is the long-run variance of standardised returns: 1 if they are not
    autocorrelated, (1 + φ)/(1 − φ) for AR(1) returns. It is averaged over columns, and not below 1. The variance among
    the given columns is smaller if they are the best of many, and larger if skill differs; the larger of the two
    variances is used, unless that of all trials (per period) is given. The expected maximum of equicorrelated normal
    variables is √(1 − ρ) times that of independent ones (Owen and Steck 1962). The effective number of trials is the
    number of independent ones with the same expected maximum. The number of trials is that of columns by default.
    """
    x = x.reshape(len(x), -1)
    counts = (~np.isnan(x)).sum(axis=0)
    columns = x.shape[1]
    trials = columns if trials is None else whole("trials", trials, columns, MOST_TRIALS)
    ratios = by_column(lambda own: sharpe(own, risk_free_per_period), x)
    given = float(np.var(ratios, ddof=1)) if columns > 1 else 0.0
    correlation = 0.0
    if columns > 1:
        # columns without common rows are assumed to be independent
        pairs = np.nan_to_num(correlations(x)).sum() - columns
        correlation = float(np.clip(pairs / (trials * (trials - 1)), 0.0, 1.0))
    inflation = by_column(lambda own: _one_by_one(lambda c: _long_run_variance(c) / c.var(), own), x)
    sampling = float((1 - correlation) * max(inflation.mean(), 1.0) * (1 / (counts - 1)).mean())
    largest = max(given, sampling) if variance is None else variance
    return Selection(trials, _effective(trials, correlation), correlation, largest, given, sampling)


def _effective(trials: int, correlation: float) -> float:
    """Number of independent trials with the same expected maximum."""
    from scipy.optimize import brentq

    target = math.sqrt(1 - correlation) * _maximum(trials)
    if target <= 0:
        return 1.0
    return float(brentq(lambda number: _maximum(number) - target, 1 + 1e-12, trials, xtol=1e-9))


def _maximum(trials: float) -> float:
    """Expected maximum of this many standard normal variables, approximately; -inf for one."""
    from scipy.special import ndtri

    gamma = float(np.euler_gamma)
    return float((1 - gamma) * ndtri(1 - 1 / trials) + gamma * ndtri(1 - 1 / (trials * math.e)))


def by_column(estimate: Callable[[np.ndarray], Any], x: np.ndarray) -> np.ndarray:
    """An estimate for every column, over the rows in which it has a value."""
    if not np.isnan(x).any():
        return np.asarray(estimate(x))
    return np.array([estimate(column[~np.isnan(column)]) for column in x.T])


def _one_by_one(estimate: Callable[[np.ndarray], float], x: np.ndarray) -> Any:
    """An estimate of a series, or one for every column."""
    return np.array([estimate(column) for column in x.reshape(len(x), -1).T]).reshape(x.shape[1:])[()]


def _long_run_variance(x: np.ndarray, lags: int | None = None) -> float:
    """Sum of autocovariances with Bartlett weights; prewhitened (as above) if the number of lags is not given.

    Without prewhitening the sum is far too small for short series: two thirds of the true value for 120 rows of an
    AR(1) process with coefficient 0.5.
    """
    if lags is None:
        own, first = _autocovariances(x, 1)
        coefficient = min(max(first / own, -LARGEST_AR), LARGEST_AR) if own > 0 else 0.0
        x = x - x.mean()
        rest = x[1:] - coefficient * x[:-1]
        return _long_run_variance(rest, _lags(rest)) / (1 - coefficient) ** 2 if len(rest) > 1 else own
    own, *others = _autocovariances(x, whole("lags", lags, 0, len(x) - 1))
    return own + 2 * sum((1 - j / (lags + 1)) * c for j, c in enumerate(others, 1))


def _autocovariances(x: np.ndarray, lags: int) -> list[float]:
    n = len(x)
    x = x - x.mean()
    return [float(x[lag:] @ x[: n - lag]) / n for lag in range(lags + 1)]


def _first_lags(n: int) -> int:
    """Number of lags from which the rule of Newey and West (1994) finds its own."""
    return min(int(4 * (n / 100) ** (2 / 9)), n - 1)


def _lags(x: np.ndarray) -> int:
    """Number of lags by the rule of Newey and West (1994)."""
    n = len(x)
    own, *first = _autocovariances(x, _first_lags(n))
    level = own + 2 * sum(first)
    slope = 2 * sum(j * c for j, c in enumerate(first, 1))
    # The rule squares the ratio, so the sign of the level does not matter. Near 0 the number of lags is unbounded;
    # Schwert's rule (1989) limits it.
    ratio = slope / level if level else math.inf
    return min(int(min(1.1447 * (ratio * ratio * n) ** (1 / 3), 12 * (n / 100) ** 0.25)), n - 1)
