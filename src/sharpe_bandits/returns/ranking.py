"""Columns of returns ranked by Sharpe ratio or RSSR, with corrections for selection of the best.

Intervals come from the stationary bootstrap of all columns jointly (:mod:`.resampling`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from .. import console
from ..confidence_sequences import Leader, confidence_sequence, leader_of_columns
from ..display import Findings, Shown, Table
from ..errors import InvalidInputError, unknown
from ..metrics import wilson
from ..objectives import RSSR, usual_regulariser
from ..validation import check_keywords, complement, inside, one_of, positive, whole
from . import dates as dates_of
from . import statistics
from .options import Kind
from .resampling import block_length, check_block, resampled_counts, resampled_moments
from .table import Returns, read_returns, table_of

#: Criteria of a ranking.
RankedBy = Literal["sharpe", "rssr"]
#: Maximum number of columns printed, and blocks of rows for the probability of backtest overfitting.
SHOWN, CSCV_BLOCKS = 30, 16
#: Largest accepted standard deviation of annualised Sharpe ratios.
LARGEST_SHARPE = 1000
#: A resample does not vary if its variance is at most this fraction of the column's.
_FLAT = 1e-12


@dataclass(frozen=True)
class Ranked:
    """One column of a ranking. Mean, volatility, Sharpe ratio and RSSR are per period unless named annual.

    Attributes
    ----------
    name, rows : str and int
        name of the column, and number of its returns
    mean, volatility : float
        of returns; ``annual_mean``, ``annual_volatility``: times the periods per year, and times their root
    drawdown : float
        largest loss from a peak of compounded wealth
    sharpe, sharpe_low, sharpe_high : float
        Sharpe ratio and its bootstrap interval; ``annual_...``: times the root of the periods per year
    annual_watched_low, annual_watched_high : float | None
        interval for the annualised Sharpe ratio that holds jointly for all columns and at all times, so that a growing
        table may be evaluated repeatedly (:mod:`sharpe_bandits.confidence_sequences`, allowing for autocorrelation);
        None if it is too early
    heavy_tailed : bool
        whether the kurtosis is so large that the nominal coverage of that interval is not reached
    annual_sharpe_lo : float
        annualised Sharpe ratio that allows for autocorrelation (Lo's)
    se, se_hac : float
        standard errors of the Sharpe ratio: for independent returns, and robust to autocorrelation (HAC)
    rssr, rssr_low, rssr_high : float
        signed RSSR and its bootstrap interval
    psr : float
        probabilistic Sharpe ratio, the confidence that the Sharpe ratio is above 0
    dsr : float
        deflated Sharpe ratio: the PSR corrected for the number of trials
    psr_hac, dsr_hac : float
        the same, robust to autocorrelation: with ``se_hac`` instead of ``se``
    fdr : float
        smallest false discovery rate at which the column counts among those with a Sharpe ratio above 0 (Benjamini and
        Hochberg's adjusted p-value of 1 - psr_hac)
    track_record, more_years : float | None
        number of returns needed for a PSR of ``confidence`` if the Sharpe ratio stays the same, and number of years
        still missing; None if the Sharpe ratio is not above 0
    best, best_low, best_high : float
        share of resamples in which the column ranks first, and its Wilson interval
    """

    name: str
    rows: int
    mean: float
    volatility: float
    annual_mean: float
    annual_volatility: float
    drawdown: float
    sharpe: float
    sharpe_low: float
    sharpe_high: float
    se: float
    se_hac: float
    annual_sharpe: float
    annual_sharpe_low: float
    annual_sharpe_high: float
    annual_watched_low: float | None
    annual_watched_high: float | None
    heavy_tailed: bool
    annual_sharpe_lo: float
    annual_se: float
    annual_se_hac: float
    rssr: float
    rssr_low: float
    rssr_high: float
    psr: float
    dsr: float
    psr_hac: float
    dsr_hac: float
    fdr: float
    track_record: float | None
    more_years: float | None
    best: float
    best_low: float
    best_high: float


@dataclass(frozen=True, repr=False)
class Ranking(Shown):
    """Columns, best first, and the settings that all numbers depend on.

    Attributes
    ----------
    columns : tuple[Ranked, ...]
        the best first
    by : RankedBy
        criterion, "sharpe" or "rssr"
    L : float
        regulariser of RSSR, in the unit of variance per period
    risk_free, risk_free_per_period : float
        annual rate, and the rate per period that compounds to it
    confidence : float
        confidence level of the intervals
    replications, block, seed : int and float
        number of resamples, their mean block length in rows, and their seed
    selection : statistics.Selection
        the trials that the deflated Sharpe ratio allows for
    given_sd : float | None
        standard deviation of annualised Sharpe ratios among trials, if given
    pbo : float | None
        probability of backtest overfitting; None for a single column, or with fewer than 32 rows common to all columns
    leader : Leader | None
        the column that leads over the rows that all columns have, whether it is probably best by a time-uniform test
        (so that a growing table may be evaluated repeatedly), and since which date or row; None for a single column
    returns : Returns, optional
        what was ranked
    sharpe_error, rssr_error : float
        largest Monte Carlo standard errors of the ends of the intervals
    periods_per_year, kind, span, convention, notes, remarks : float and Kind and str and tuple[str, ...]
        of the returns, see :class:`Returns`

    Examples
    --------
    >>> import numpy as np
    >>> import sharpe_bandits as sb
    >>> rng = np.random.default_rng(1)
    >>> returns = {"A": rng.normal(0.001, 0.01, 500), "B": rng.normal(0, 0.01, 500)}
    >>> ranking = sb.rank(returns, kind="returns", periods_per_year=252, replications=200)
    >>> [column.name for column in ranking.columns]
    ['A', 'B']
    """

    columns: tuple[Ranked, ...]
    by: RankedBy
    L: float
    risk_free: float
    risk_free_per_period: float
    confidence: float
    replications: int
    block: float
    seed: int
    selection: statistics.Selection
    given_sd: float | None
    sharpe_error: float
    rssr_error: float
    periods_per_year: float
    kind: Kind
    span: str
    convention: str
    notes: tuple[str, ...]
    remarks: tuple[str, ...]
    pbo: float | None
    leader: Leader | None
    returns: Returns = field(repr=False)

    def __getitem__(self, name: str) -> Ranked:
        """The column of this name."""
        for column in self.columns:
            if column.name == name:
                return column
        raise unknown("column", name, [column.name for column in self.columns])

    @property
    def trials(self) -> int:
        """Number of trials."""
        return self.selection.trials

    @property
    def annual_expected_maximum(self) -> float:
        """Expected maximum of the annualised Sharpe ratios of the trials if none has skill."""
        return float(statistics.annualised(self.selection.expected_maximum, self.periods_per_year))

    @property
    def conclusion(self) -> str:
        """Interpretation of the results in a few sentences."""
        first = self.columns[0]
        what = "Sharpe ratio" if self.by == "sharpe" else "RSSR"
        text = f"{first.name} has the largest {what}, and ranks first in {first.best:.0%} of the resamples."
        if self.trials > 1:
            text += (
                f" Its annualised Sharpe ratio is {first.annual_sharpe:z.2f}; the expected maximum of {self.trials} "
                f"trials without skill is {self.annual_expected_maximum:.2f}. The confidence that its true Sharpe "
                f"ratio is above 0 is {_confidence(first.dsr)} after correcting for {self.trials} trials (deflated "
                f"Sharpe ratio), and {_confidence(first.psr)} without the correction (probabilistic Sharpe ratio)."
            )
        else:
            text += f" The confidence that its true Sharpe ratio is above 0 is {_confidence(first.psr)}."
        if self.pbo is not None:
            text += (
                f" The probability of backtest overfitting is {self.pbo:.0%}: the share of splits of the rows into two "
                "halves in which the best column of one half is below the median in the other."
            )
        return text

    def settings(self) -> dict[str, str]:
        """The settings that all numbers depend on, in words."""
        q = self.periods_per_year
        return {
            "data": self.span + (", made from prices" if self.kind == "prices" else ""),
            "scale": self.convention,
            "annualised": f"mean × {q:g}, volatility and Sharpe ratio × √{q:g}; RSSR is per period",
            **self.judged(),
            "RSSR": f"signed, L = {self.L:.4g} (variance per period)",
            "intervals": f"{100 * self.confidence:g}%, stationary bootstrap: {self.replications:,} resamples, blocks "
            f"of {self.block:.3g} rows on average, seed {self.seed}",
            "trials": self._trials(),
            **({"data preparation": "; ".join(self.notes)} if self.notes else {}),
        }

    def judged(self) -> dict[str, str]:
        """What is subtracted from returns, in words."""
        if self.returns.hurdle is not None:
            return {"evaluated": self.returns.hurdle.words}
        return {"risk-free rate": f"{self.risk_free:.4g} annual, {self.risk_free_per_period:.4g} per period"}

    def _trials(self) -> str:
        """The trials that the deflated Sharpe ratio corrects for, in words."""
        chosen, given = self.selection, len(self.columns)
        if chosen.trials == 1:
            return "1"
        annual = {
            key: float(statistics.annualised(math.sqrt(getattr(chosen, key)), self.periods_per_year))
            for key in ("variance", "given", "sampling")
        }
        rest = chosen.trials - given
        aside = f" ({rest:,} not given, assumed to be independent)" if rest else ""
        if self.given_sd is not None:
            source = "as given"
        elif chosen.given > chosen.sampling:
            source = f"observed among the columns; chance alone gives {annual['sampling']:.2f}"
        else:
            source = f"from chance alone; {annual['given']:.2f} observed among the columns"
        return (
            f"{chosen.trials:,}{aside}, equivalent to {chosen.effective:.3g} independent ones (average correlation "
            f"{chosen.correlation:.2f}); standard deviation of their annualised Sharpe ratios {annual['variance']:.2f} "
            f"({source})"
        )

    def tables(self, max_rows: int | None = None) -> list[console.Cells]:
        """Tables of ratios, their significance, and everything else, as text; at most ``max_rows`` rows each."""
        interval = f"{100 * self.confidence:g}% interval"
        hurdle = self.returns.hurdle
        what = "" if hurdle is None else "active " if hurdle.kind == "benchmark" else "excess "
        shown = self.columns[:max_rows]
        d = console.decimals(float(statistics.annualised(self.sharpe_error, self.periods_per_year)), least=1)
        n = self.replications
        chance = max(math.sqrt(c.best * (1 - c.best) / n) for c in self.columns)
        first = console.decimals(100 * max(chance, 1 / n), most=1)  # at least that of one resample, even if all agree
        ratios = [
            [
                c.name, f"{c.annual_sharpe:z.2f}", f"[{c.annual_sharpe_low:z.{d}f}, {c.annual_sharpe_high:z.{d}f}]",
                f"{c.annual_se_hac:.2f}", f"{c.annual_se:.2f}", f"{c.annual_sharpe_lo:z.2f}",
                f"{c.best:.{first}%}",
            ]
            for c in shown
        ]  # fmt: skip
        believed = [
            [
                c.name, f"{c.psr:.3f}", f"{c.psr_hac:.3f}", f"{c.dsr:.3f}", f"{c.dsr_hac:.3f}", f"{c.fdr:.3f}",
                f"{c.rows:,}", _needed(c, self.periods_per_year), _more(c),
            ]
            for c in shown
        ]  # fmt: skip
        e = console.decimals(self.rssr_error, most=12)
        others = [
            [
                c.name, f"{c.annual_mean:z.2%}", f"{c.annual_volatility:.2%}", f"{c.drawdown:.1%}", f"{c.sharpe:z.4f}",
                f"{c.rssr:.3g}", f"[{c.rssr_low:z.{e}f}, {c.rssr_high:z.{e}f}]",
            ]
            for c in shown
        ]  # fmt: skip
        return [
            (["", "annualised Sharpe", interval, "s.e.", "s.e. iid", "Lo's", "ranked first"], ratios),
            (["", "PSR", "PSR robust", "DSR", "DSR robust", "FDR", "returns", f"needed for {self.confidence:.0%}",
              "more"], believed),
            (
                ["", f"annualised {what}mean", f"annualised {what}volatility", "max drawdown", "Sharpe per period",
                 "RSSR", interval],
                others,
            ),
        ]  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Plain data, without the returns."""
        expected = {"expected_maximum": self.selection.expected_maximum}
        words = {key: getattr(self, key) for key in self.__dataclass_fields__ if key != "returns"}
        words |= {"columns": [asdict(c) for c in self.columns], "selection": asdict(self.selection)}
        words["leader"] = None if self.leader is None else asdict(self.leader)
        return {**words, **expected, "annual_expected_maximum": self.annual_expected_maximum}

    @property
    def table(self) -> Table:
        """Every number, a row per column; displayed in a notebook, and converted to a frame by ``to_pandas()``."""
        return Table.of([asdict(column) for column in self.columns])

    def plot(self) -> Any:
        """Ratios with their intervals, drawn by matplotlib (the extra ``report``)."""
        from ..charts import render_matplotlib
        from ..report.ranking import figure

        return render_matplotlib(figure(self))

    def report(self, folder: str | Path) -> Path:
        """Write ``ranking.html``, ``.csv``, ``.json``, ``.svg`` and ``.png``; needs the extra ``report``.

        Returns the path of the page.
        """
        from ..report.ranking import write

        return write(self, Path(folder))

    def findings(self) -> Findings:
        summary = self.conclusion
        if len(self.columns) > SHOWN:
            summary = f"The first {SHOWN} of {len(self.columns):,} columns are shown. {summary}"
        return Findings(self.remarks, self.tables(SHOWN), summary, self.settings())


def _needed(column: Ranked, periods_per_year: float) -> str:
    return "never" if column.track_record is None else f"{column.track_record / periods_per_year:.1f} years"


def _more(column: Ranked) -> str:
    if column.more_years is None:
        return "never"
    return f"{column.more_years:.1f} more years" if column.more_years else "enough"


@check_keywords(read_returns)
def rank(
    source: Any,
    *,
    L: float | None = None,
    risk_free: float = 0.0,
    risk_free_per_period: float | None = None,
    by: RankedBy = "sharpe",
    trials: int | None = None,
    trials_sd: float | None = None,
    confidence: float = 0.95,
    replications: int = 2000,
    block: float | None = None,
    seed: int = 0,
    **reading: Any,
) -> Ranking:
    """Rank the columns of returns, with intervals and the deflated Sharpe ratio.

    Parameters
    ----------
    source : Any
        returns from :func:`read_returns`; or a file, frame or other table, with options of that function
    L : float | None, optional
        regulariser of RSSR, in the unit of variance per period; by default a tenth of the smallest variance of a column
    risk_free : float, optional
        annual rate, 0.02 for 2%
    risk_free_per_period : float | None, optional
        the rate per period, instead of the annual one
    by : RankedBy, optional
        "sharpe" or "rssr"
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
        mean block length in rows; by default chosen from the data
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
    returns = table_of(source, reading)
    one_of("by", by, get_args(RankedBy))
    rate = returns.rate(risk_free, risk_free_per_period)
    confidence = inside("confidence", confidence)
    least = math.ceil(round(2 / (1 - confidence), 6))  # one beyond each end
    if whole("replications", replications, 2) < least:
        raise InvalidInputError(
            f"{replications} resamples are too few for the ends of a {confidence:.4g} interval; pass at least {least}"
        )
    whole("seed", seed, 0)
    x, q = returns.excess, returns.periods_per_year
    if trials_sd is not None and positive("trials_sd", trials_sd) > LARGEST_SHARPE:
        raise InvalidInputError(
            f"trials_sd={trials_sd!r} is too large for a standard deviation of annualised Sharpe ratios, which is "
            f"usually about 0.5; pass at most {LARGEST_SHARPE}"
        )
    known = None if trials_sd is None else float(trials_sd) ** 2 / q
    selection = statistics.selection(x, trials, known, rate)

    def each(estimate: Callable[..., Any], *more: Any) -> np.ndarray:
        return statistics.by_column(lambda own: estimate(own, *more), x)

    mean, variance = each(lambda own: own.mean(axis=0)), each(lambda own: own.var(axis=0, ddof=1))
    objective = RSSR(usual_regulariser(variance) if L is None else L, rate, signed=True)
    block = block_length(x, rate) if block is None else check_block(block, len(x))
    resampled = list(_resamples(returns, block, replications, seed))
    means, variances = (np.concatenate(parts) for parts in zip(*resampled, strict=True))
    drawn = {"sharpe": (means - rate) / np.sqrt(variances), "rssr": objective.value(means, variances)}
    ends = [(1 - confidence) / 2, (1 + confidence) / 2]
    low, high = ({key: np.quantile(values, end, axis=0) for key, values in drawn.items()} for end in ends)
    errors = {key: max(_quantile_error(values, end) for end in ends) for key, values in drawn.items()}
    first = np.bincount(drawn[by].argmax(axis=1), minlength=x.shape[1])

    sharpe, se, se_hac = (
        each(f, rate) for f in (statistics.sharpe, statistics.sharpe_se, statistics.sharpe_se_hac)
    )  # fmt: skip
    deflation: dict[str, Any] = {"trials": selection.trials, "variance": selection.variance}
    psr_hac = statistics.probabilistic_sharpe(sharpe, se_hac)
    numbers = {
        "mean": mean, "volatility": np.sqrt(variance), "annual_mean": mean * q,
        "annual_volatility": np.sqrt(variance * q),
        "drawdown": statistics.by_column(statistics.drawdown, returns.values), "sharpe": sharpe,
        "sharpe_low": low["sharpe"], "sharpe_high": high["sharpe"], "se": se, "se_hac": se_hac,
        "annual_sharpe_lo": each(statistics.annualised_by_lo, q, rate),
        "rssr": objective.value(mean, variance), "rssr_low": low["rssr"], "rssr_high": high["rssr"],
        "psr": statistics.probabilistic_sharpe(sharpe, se),
        "dsr": statistics.deflated_sharpe(sharpe, se, **deflation),
        "psr_hac": psr_hac, "dsr_hac": statistics.deflated_sharpe(sharpe, se_hac, **deflation),
        "fdr": false_discovery_rates(1 - psr_hac, "bh"),
    }  # fmt: skip
    for key in ("sharpe", "sharpe_low", "sharpe_high", "se", "se_hac"):
        numbers[f"annual_{key}"] = statistics.annualised(numbers[key], q)
    shares = [wilson(int(count), replications, confidence) for count in first]
    alpha = complement(confidence)
    watched = [_watch(column[~np.isnan(column)], rate, alpha, x.shape[1], q) for column in x.T]
    records = [_track_record(column[~np.isnan(column)], rate, confidence) for column in x.T]
    order = np.argsort(-np.asarray(numbers[by]), kind="stable")
    counts = returns.counts
    columns = tuple(
        Ranked(
            name=returns.names[k], rows=int(counts[k]),
            **{key: float(values[k]) for key, values in numbers.items()},
            annual_watched_low=watched[k][0], annual_watched_high=watched[k][1], heavy_tailed=watched[k][2],
            track_record=(needed := records[k]),
            more_years=None if needed is None else max(needed - int(counts[k]), 0.0) / q,
            best=shares[k].mean, best_low=shares[k].low, best_high=shares[k].high,
        )
        for k in order
    )  # fmt: skip
    common = x[~np.isnan(x).any(axis=1)]
    measurable = x.shape[1] > 1 and len(common) >= 2 * CSCV_BLOCKS
    return Ranking(
        columns, by, objective.L, statistics.per_year(rate, q), rate, float(confidence), replications, block, seed,
        selection, trials_sd, errors["sharpe"], errors["rssr"], q, returns.kind, returns.span, returns.convention,
        returns.notes, returns.remarks,
        statistics.backtest_overfitting(common, rate, CSCV_BLOCKS) if measurable else None,
        _leader(returns, None if by == "sharpe" else objective, alpha, rate), returns,
    )  # fmt: skip


def _leader(returns: Returns, objective: RSSR | None, alpha: float, rate: float) -> Leader | None:
    """The column that leads over the rows that all columns have: its name, and the date or row since which."""
    rows = np.flatnonzero(~np.isnan(returns.excess).any(axis=1))
    if returns.excess.shape[1] < 2 or not len(rows):
        return None
    found = leader_of_columns(returns.excess[rows], objective, alpha=alpha, risk_free=rate)
    since = None
    if found.since is not None:
        row = int(rows[found.since])
        since = f"row {row + 1}" if returns.dates is None else dates_of.in_words(returns.dates[row])
    return replace(found, arm=returns.names[found.arm], rival=returns.names[found.rival], since=since)


def false_discovery_rates(p: Any, method: Literal["bh", "by"]) -> np.ndarray:
    """p-values adjusted for the false discovery rate: "bh" of Benjamini and Hochberg, "by" for any dependence."""
    from scipy.stats import false_discovery_control

    return np.asarray(false_discovery_control(np.clip(p, 0, 1), method=method))


def _watch(x: np.ndarray, rate: float, alpha: float, columns: int, q: float) -> tuple[float | None, float | None, bool]:
    """Ends of the time-uniform interval of the annualised Sharpe ratio, and whether tails are heavy."""
    found = confidence_sequence(x, alpha=alpha, risk_free=rate, arms=columns, autocorrelated=True)
    low, high = (float(statistics.annualised(end[-1], q)) for end in (found.low, found.high))
    begun = math.isfinite(high)
    return low if begun else None, high if begun else None, bool(found.heavy_tailed[-1])


def _track_record(x: np.ndarray, rate: float, confidence: float) -> float | None:
    """Returns needed for the Sharpe ratio of a column to be above 0 with this confidence; None if it is not above 0."""
    ratio = statistics.sharpe(x, rate)
    z = (x - x.mean()) / x.std()
    if not ratio > 0:
        return None
    return statistics.minimum_track_record(ratio, 0.0, (z**3).mean(), (z**4).mean(), confidence)


def _quantile_error(values: np.ndarray, end: float) -> float:
    """Largest standard error over columns of a quantile of resamples (rows), from the quantiles next to it."""
    step = math.sqrt(end * (1 - end) / len(values))
    below, above = np.quantile(values, np.clip([end - step, end + step], 0, 1), axis=0)
    return float((above - below).max()) / 2


def _confidence(p: float) -> str:
    return "over 99.9%" if p > 0.999 else f"{p:.1%}"


def _resamples(returns: Returns, block: float, replications: int, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Means and variances of resamples (rows) of every column, in batches of resamples."""
    x = returns.excess
    for counts in resampled_counts(len(x), block, replications, seed):
        means, variances = resampled_moments(x, counts)
        flat = variances <= _FLAT * np.nanvar(x, axis=0)
        if flat.any():
            column = int(flat.any(axis=0).argmax())
            raise InvalidInputError(
                f"column {returns.names[column]!r} varies so rarely that a resample of it does not vary at all, or has "
                "too few rows; leave it out with columns= (--columns), or give more rows"
            )
        yield means, variances
