"""Columns of returns ranked by Sharpe ratio or another criterion, with corrections for selection of the best."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, get_args

import numpy as np

from .._support.validation import (
    check_keywords,
    complement,
    inside,
    one_of,
    positive,
    true_or_false,
    whole,
)
from ..confidence_sequences import confidence_sequence
from ..errors import InvalidInputError
from ..objectives import RSSR, Objective, Sharpe, Statistics, usual_regulariser
from ..results.metrics import normal_half_width, wilson
from . import statistics
from .measures import Measure, measures
from .ranked import Ranked, Ranking
from .resampling import LEAST_FOR_BLOCKS, block_length, check_block, counts_of, resampled_moments, resampled_paths
from .table import ANNUAL, Returns, read_returns, table_of
from .yardstick import Criterion, CriterionName, Yardstick, check_aversion, criterion

#: Blocks of rows for the probability of backtest overfitting.
CSCV_BLOCKS = 16
#: Largest accepted standard deviation of annualised Sharpe ratios.
LARGEST_SHARPE = 1000
#: A resample does not vary if its variance is at most this fraction of the column's.
_FLAT = 1e-12


@check_keywords(read_returns, risk_free=ANNUAL)
def rank(
    source: Any,
    *,
    L: float | None = None,
    annual_risk_free: float = 0.0,
    by: CriterionName | Objective | None = None,
    aversion: float = 1.0,
    trials: int | None = None,
    trials_sd: float | None = None,
    confidence: float = 0.95,
    replications: int = 2000,
    block: float | None = None,
    seed: int = 0,
    full: bool = False,
    **reading: Any,
) -> Ranking:
    """Rank the columns of returns, with intervals and the deflated Sharpe ratio.

    Parameters
    ----------
    source : Any
        returns from :func:`read_returns`; or a file, frame or other table, with options of that function
    L : float | None, optional
        regulariser for "rssr", in the unit of variance per period; by default a tenth of a column's smallest variance
    annual_risk_free : float, optional
        annual rate, 0.02 for 2%
    by : CriterionName | Objective | None, optional
        "sharpe", the default; "rssr"; "sortino"; "omega"; "cvar", the expected shortfall of the worst 5% of periods;
        "log-growth"; "israelsen", a Sharpe ratio that does not reward risk below the hurdle; or "mean-risk", the mean
        minus ``aversion`` times the standard deviation, for columns that all lose, and the only one for costs
        (``direction="min"``). Or any objective, such as ``MeanVariance(rho=2)``, which is applied to returns above the
        hurdle
    aversion : float, optional
        mean that a unit of standard deviation is worth, for "mean-risk"
    trials : int | None, optional
        number of strategies tried, discarded ones included; by default the number of columns, which are then assumed to
        be all of them. The correlation of trials is estimated from the columns (:func:`statistics.selection`)
    trials_sd : float | None, optional
        standard deviation of annualised Sharpe ratios among all trials, if known
    confidence : float, optional
        confidence level of the intervals
    replications, seed : int, optional
        number of resamples of the bootstrap, and its seed
    block : float | None, optional
        mean block length in rows; by default chosen from the data. Intervals for Sharpe ratios of columns with
        autocorrelation do not depend on it: they are as wide as the robust standard error says
    full : bool, optional
        whether to compute intervals of all measures (Sortino, Omega, expected shortfall and others), and show them
    **reading : Any
        options for reading a table, such as ``kind="prices", periods_per_year=252``; see :func:`read_returns`

    Columns with unequal histories are each ranked on their own; a resample has the same rows for all columns.

    Examples
    --------
    >>> import numpy as np
    >>> import sharpe_bandits as sb
    >>> rng = np.random.default_rng(1)
    >>> returns = {"A": rng.normal(0.002, 0.01, 500), "B": rng.normal(-0.002, 0.01, 500)}
    >>> ranking = sb.rank(returns, kind="returns", periods_per_year=252, replications=200)
    >>> ranking.columns[0].name
    'A'
    """
    from scipy.stats import false_discovery_control

    returns = table_of(source, reading)
    costs = returns.costs
    own = by if isinstance(by, Objective) else None
    name = "own" if own else one_of("by", by or ("mean-risk" if costs else "sharpe"), get_args(CriterionName))
    if L is not None and name != "rssr":
        raise InvalidInputError(f"L={L!r} is for by='rssr'; pass that too, or leave it out")
    check_aversion(aversion, name)
    rate = returns.rate(annual_risk_free)
    confidence = inside("confidence", confidence)
    least = math.ceil(round(2 / (1 - confidence), 6))  # one beyond each end
    if whole("replications", replications, 2) < least:
        raise InvalidInputError(
            f"{replications} resamples are too few for the ends of a {confidence:.4g} interval; pass at least {least}"
        )
    whole("seed", seed, 0)
    x, q = returns.excess, returns.periods_per_year
    if trials_sd is not None and positive("trials_sd", trials_sd) > LARGEST_SHARPE:
        raise InvalidInputError(f"trials_sd is usually about 0.5, got {trials_sd!r}; pass at most {LARGEST_SHARPE}")
    trials_variance = None if trials_sd is None else float(trials_sd) ** 2 / q
    selection = statistics.selection(x, trials, trials_variance, rate)

    def each(estimate: Callable[..., Any], *more: Any) -> np.ndarray:
        return statistics.by_column(lambda own: estimate(own, *more), x)

    mean, variance = each(lambda own: own.mean(axis=0)), each(lambda own: own.var(axis=0, ddof=1))
    L = usual_regulariser(variance) if L is None else RSSR(L).L
    measure = Criterion(repr(own), own) if own else criterion(name, L, aversion, q, costs)
    objective = measure.objective
    if costs and objective.rewards_risk_of_losses:
        raise InvalidInputError(
            f"by={by!r} rewards risk where every mean is below 0, as for costs; pass by='mean-risk' or by='cvar'"
        )
    block = block_length(x, rate) if block is None else check_block(block, len(x))
    means, variances, drawn_value = _resamples(returns, block, replications, seed, objective, rate)
    (value,) = _values(objective, np.ones((1, len(x))), x - rate)
    if not np.isfinite(value).all():
        column = returns.names[int((~np.isfinite(value)).argmax())]
        raise InvalidInputError(f"column {column!r} has no loss, so that its {name} is infinite; pass by='sharpe'")
    sharpe, se_iid = each(statistics.sharpe, rate), each(statistics.sharpe_se_iid, rate)
    se = each(statistics.sharpe_se_hac, rate)
    autocorrelation_p = each(statistics.autocorrelation_p)
    autocorrelated = autocorrelation_p <= statistics.TEST_LEVEL
    # blocks are of one length for all columns, too short for some: resamples vary as the robust standard error says
    sharpes = (means - rate) / np.sqrt(variances)
    sharpes = sharpe + (sharpes - sharpe) * np.where(autocorrelated, se / sharpes.std(axis=0), 1.0)
    values = sharpes if name == "sharpe" else np.nan_to_num(drawn_value, nan=0.0, posinf=1e6)
    ends = [(1 - confidence) / 2, (1 + confidence) / 2]
    (sharpe_low, sharpe_high), (low, high) = (np.quantile(drawn, ends, axis=0) for drawn in (sharpes, values))
    error = max(_quantile_error(sharpes, end) for end in ends)
    first = np.bincount(values.argmax(axis=1), minlength=x.shape[1])

    series = [column[~np.isnan(column)] for column in x.T]
    by_lo = [statistics.lo_and_influence(own, q, rate) for own in series]
    lo = np.array([ratio for ratio, _ in by_lo])
    lo_half = normal_half_width(confidence) * np.array([statistics.se_of_mean(parts) for _, parts in by_lo])
    maximum = selection.expected_maximum
    used = np.where(autocorrelated, se, se_iid)  # what the data call for
    psr = {"": used, "_iid": se_iid, "_robust": se}
    numbers = {
        "mean": mean, "volatility": np.sqrt(variance), "annual_mean": mean * q,
        "annual_volatility": np.sqrt(variance * q),
        "drawdown": statistics.by_column(statistics.drawdown, returns.values), "sharpe": sharpe,
        "sharpe_low": sharpe_low, "sharpe_high": sharpe_high, "se": se, "se_iid": se_iid,
        "annual_sharpe_robust": lo, "annual_sharpe_robust_low": lo - lo_half, "annual_sharpe_robust_high": lo + lo_half,
        "autocorrelation": each(statistics.autocorrelation), "autocorrelation_p": autocorrelation_p,
        **{f"psr{kind}": statistics.probabilistic_sharpe(sharpe, error) for kind, error in psr.items()},
        **{f"dsr{kind}": statistics.probabilistic_sharpe(sharpe, error, maximum) for kind, error in psr.items()},
    }  # fmt: skip
    value_ends = measure.factor * low, measure.factor * high  # the factor may be negative
    numbers |= {"value": measure.factor * value, "value_low": np.minimum(*value_ends)}
    numbers["value_high"] = np.maximum(*value_ends)
    numbers["fdr"] = false_discovery_control(np.clip(1 - numbers["psr_robust"], 0, 1))
    for key in ("sharpe", "sharpe_low", "sharpe_high", "se", "se_iid"):
        numbers[f"annual_{key}"] = statistics.annualised(numbers[key], q)
    counts = returns.counts
    shares = [wilson(int(count), replications, confidence) for count in first]
    alpha = complement(confidence)
    anytime = [_anytime_interval(own, rate, alpha, x.shape[1], q) for own in series]
    records = [
        statistics.track_record(ratio, error, rows, confidence) if ratio > 0 else None
        for ratio, error, rows in zip(sharpe, used, counts, strict=True)
    ]
    beside: list[dict[str, Measure]] = [{} for _ in series]
    if true_or_false("full", full):
        rows_of_paths = np.concatenate(list(resampled_paths(len(x), block, replications, seed)))
        counts_of_rows = counts_of(rows_of_paths)
        beside = [
            measures(returns.values[:, k], column - rate, rows_of_paths, counts_of_rows, confidence, q, returns.active)
            for k, column in enumerate(x.T)
        ]
    columns = tuple(
        Ranked(
            name=returns.names[k], rows=int(counts[k]),
            **{key: float(values[k]) for key, values in numbers.items()},
            annual_anytime_low=anytime[k][0], annual_anytime_high=anytime[k][1], heavy_tailed=anytime[k][2],
            autocorrelated=bool(autocorrelated[k]), measures=beside[k],
            track_record=(needed := records[k]),
            more_years=None if needed is None else max(needed - int(counts[k]), 0.0) / q,
            best=shares[k].mean, best_low=shares[k].low, best_high=shares[k].high,
        )
        for k in np.argsort(-value, kind="stable")
    )  # fmt: skip
    rows = int(counts.min())
    few = f"{rows} returns are too few for intervals and confidences: trust them from {LEAST_FOR_BLOCKS} rows on"
    losses = returns.losses(rate) if objective.rewards_risk_of_losses else ()
    common = x[~np.isnan(x).any(axis=1)]
    measurable = x.shape[1] > 1 and len(common) >= 2 * CSCV_BLOCKS
    return Ranking(
        columns, name, objective, L, float(annual_risk_free), rate, float(confidence), replications, block,
        seed, selection, trials_sd, error,
        (*losses, *([few] if rows < LEAST_FOR_BLOCKS else []), *returns.remarks),
        statistics.backtest_overfitting(common, Yardstick(rate).value, CSCV_BLOCKS) if measurable else None,
        full, returns, float(aversion), "Sharpe ratio" if name == "sharpe" else measure.name,
    )  # fmt: skip


def _anytime_interval(
    x: np.ndarray, rate: float, alpha: float, columns: int, q: float
) -> tuple[float | None, float | None, bool]:
    """Ends of the time-uniform interval of the annualised Sharpe ratio, and whether tails are heavy."""
    objective = Sharpe(L=0.0, risk_free=rate)
    sequence = confidence_sequence(x, objective, alpha=alpha, arms=columns, autocorrelated=True)
    low, high = (float(statistics.annualised(end[-1], q)) for end in (sequence.low, sequence.high))
    begun = math.isfinite(high)
    return low if begun else None, high if begun else None, bool(sequence.heavy_tailed[-1])


def _quantile_error(values: np.ndarray, end: float) -> float:
    """Largest standard error over columns of a quantile of resamples (rows), from the quantiles next to it."""
    step = math.sqrt(end * (1 - end) / len(values))
    below, above = np.quantile(values, np.clip([end - step, end + step], 0, 1), axis=0)
    return float((above - below).max()) / 2


def _values(objective: Objective, counts: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Values of every column in resamples (rows), in which each row of ``x`` occurs so often."""
    there = ~np.isnan(x)
    return np.array([
        objective.value_of_resamples(counts[:, own], column[own]) for column, own in zip(x.T, there.T, strict=True)
    ]).T  # fmt: skip


def _resamples(
    returns: Returns, block: float, replications: int, seed: int, objective: Objective, rate: float
) -> list[np.ndarray]:
    """Means, variances and values of every column in resamples (rows)."""
    x, batches = returns.excess, []
    for paths in resampled_paths(len(x), block, replications, seed):  # in batches, to limit memory
        counts = counts_of(paths)
        means, variances = resampled_moments(x, counts)
        flat = (variances <= _FLAT * np.nanvar(x, axis=0)).any(axis=0)
        if flat.any():
            raise InvalidInputError(
                f"column {returns.names[int(flat.argmax())]!r} varies so rarely that a resample of it does not vary; "
                "leave it out with columns=, or give more rows"
            )
        if objective.has_feature:
            values = _values(objective, counts, x - rate)
        else:
            values = objective.value(Statistics(mean=means - rate, variance=variances))
        batches.append((means, variances, values))
    return [np.concatenate(parts) for parts in zip(*batches, strict=True)]
