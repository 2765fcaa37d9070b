"""Columns of returns ranked by Sharpe ratio or another criterion, with corrections for selection of the best.

Intervals come from the stationary bootstrap of all columns jointly (:mod:`.resampling`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from .._support import console
from .._support.display import Findings, Shown, Table
from .._support.validation import (
    check_keywords,
    complement,
    inside,
    not_negative,
    one_of,
    positive,
    true_or_false,
    whole,
)
from ..confidence_sequences import Leader, confidence_sequence, leader_of_columns
from ..errors import InvalidInputError, unknown
from ..objectives import RSSR, MeanRisk, Objective, Statistics, usual_regulariser
from ..results.metrics import wilson
from . import dates as dates_of
from . import statistics
from .draft import counted
from .measures import Measure, expected_shortfall, log_growth, measures, omega, sortino
from .options import ANNUAL_OR_PER_PERIOD, Kind
from .resampling import block_length, check_block, counts_of, resampled_moments, resampled_paths
from .table import Returns, read_returns, table_of
from .yardstick import BASIS_POINTS, Yardstick

#: Criteria of a ranking.
RankedBy = Literal["sharpe", "rssr", "mean-risk", "sortino", "omega", "cvar", "log-growth"]
#: Criteria that are measures of resampled rows: the measure, and its sign if less is better.
_BY_MEASURE = {
    "sortino": (sortino, 1),
    "omega": (omega, 1),
    "cvar": (expected_shortfall, -1),
    "log-growth": (log_growth, 1),
}
#: Maximum number of columns printed, and blocks of rows for the probability of backtest overfitting.
SHOWN, CSCV_BLOCKS = 30, 16
#: Largest accepted standard deviation of annualised Sharpe ratios.
LARGEST_SHARPE = 1000
#: Heads of measures in a full table, with their names and formats.
MEASURES = {
    "Sortino": ("sortino", "z.2f"), "Omega": ("omega", ".2f"), "Calmar": ("calmar", "z.2f"),
    "expected shortfall 5%": ("expected_shortfall", ".2%"), "skewness": ("skewness", "z.2f"),
    "kurtosis": ("kurtosis", ".1f"), "autocorrelation": ("autocorrelation", "+z.2f"),
    "max drawdown": ("drawdown", ".1%"),
}  # fmt: skip
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
    annual_anytime_low, annual_anytime_high : float | None
        interval for the annualised Sharpe ratio that holds jointly for all columns and at all times, so that a growing
        table may be evaluated repeatedly (:mod:`sharpe_bandits.confidence_sequences`, allowing for autocorrelation);
        None if it is too early
    heavy_tailed : bool
        whether the kurtosis is so large that the nominal coverage of that interval is not reached
    annual_sharpe_robust : float
        annualised Sharpe ratio that allows for autocorrelation (Lo's)
    autocorrelation, autocorrelation_p, autocorrelated : float and bool
        autocorrelation from one row to the next, p-value of the hypothesis that there is none at any lag (Escanciano
        and Lobato's test), and whether that is rejected at the 5% level
    headline_sharpe, headline_low, headline_high : float
        annualised Sharpe ratio and its interval: allowing for autocorrelation if it was found, otherwise the usual one
    se, se_iid : float
        standard errors of the Sharpe ratio: robust to autocorrelation (HAC), and for independent returns
    rssr, rssr_low, rssr_high : float
        signed RSSR and its bootstrap interval
    value, value_low, value_high : float
        what the ranking goes by, and its bootstrap interval: annualised for the ratios of Sharpe and Sortino and for
        logarithmic growth, otherwise per period; for costs, mean cost plus risk in basis points
    psr, dsr : float
        probabilistic Sharpe ratio, the confidence that the Sharpe ratio is above 0, and deflated Sharpe ratio, the same
        corrected for the number of trials: robust to autocorrelation if it was found, otherwise as published
    psr_iid, dsr_iid, psr_robust, dsr_robust : float
        both as published, by ``se_iid``; and robust to autocorrelation, by ``se``
    fdr : float
        smallest false discovery rate at which the column counts among those with a Sharpe ratio above 0 (Benjamini and
        Hochberg's adjusted p-value of 1 - psr_robust)
    track_record, more_years : float | None
        number of returns needed for ``psr`` to reach ``confidence`` if the Sharpe ratio stays the same, and number of
        years still missing; None if the Sharpe ratio is not above 0
    best, best_low, best_high : float
        share of resamples in which the column ranks first, and its Wilson interval
    measures : dict[str, Measure]
        Sortino ratio, Omega, expected shortfall and others, with their intervals, by name; empty unless ``full``
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
    se_iid: float
    annual_sharpe: float
    annual_sharpe_low: float
    annual_sharpe_high: float
    annual_anytime_low: float | None
    annual_anytime_high: float | None
    heavy_tailed: bool
    annual_sharpe_robust: float
    annual_se: float
    annual_se_iid: float
    autocorrelation: float
    autocorrelation_p: float
    autocorrelated: bool
    headline_sharpe: float
    headline_low: float
    headline_high: float
    rssr: float
    rssr_low: float
    rssr_high: float
    value: float
    value_low: float
    value_high: float
    psr: float
    dsr: float
    psr_iid: float
    dsr_iid: float
    psr_robust: float
    dsr_robust: float
    fdr: float
    track_record: float | None
    more_years: float | None
    best: float
    best_low: float
    best_high: float
    measures: dict[str, Measure]

    def to_dict(self) -> dict[str, Any]:
        """Every number by name; the ends of intervals of measures as ``sortino_low``, ``sortino_high``."""
        numbers = asdict(self)
        for name, (value, low, high) in numbers.pop("measures").items():
            numbers |= {name: value, f"{name}_low": low, f"{name}_high": high}
        return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in numbers.items()}

    def costs(self) -> dict[str, Any]:
        """The numbers of a column of costs by name, in basis points."""
        names = ("value", "value_low", "value_high", "best", "best_low", "best_high")
        mean, sd = -BASIS_POINTS * self.mean, BASIS_POINTS * self.volatility
        return {
            "name": self.name,
            "rows": self.rows,
            "mean_cost": mean,
            "sd": sd,
            **{k: getattr(self, k) for k in names},
        }


@dataclass(frozen=True, repr=False)
class Ranking(Shown):
    """Columns, best first, and the settings that all numbers depend on.

    Attributes
    ----------
    columns : tuple[Ranked, ...]
        the best first
    by : RankedBy
        criterion
    L : float
        regulariser of RSSR, in the unit of variance per period
    annual_risk_free, risk_free_per_period : float
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
    full : bool
        whether all measures are shown and have intervals
    returns : Returns
        what was ranked; all numbers are those of returns, minus the costs if its direction is "min"
    aversion : float
        mean that a unit of standard deviation is worth, for "mean-risk"
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
    annual_risk_free: float
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
    full: bool
    returns: Returns = field(repr=False)
    aversion: float = 1.0

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
    def headline_expected_maximum(self) -> float:
        """The same, annualised as the Sharpe ratio of the first column is."""
        first = self.columns[0]
        scale = first.headline_sharpe / first.annual_sharpe if first.annual_sharpe else 1.0
        return scale * self.annual_expected_maximum

    @property
    def conclusion(self) -> str:
        """Interpretation of the results in a few sentences."""
        first = self.columns[0]
        if not self.by_ratio:
            least = self.returns.direction == "min" or self.by == "cvar"
            lead = f"{first.name} has the {'smallest' if least else 'largest'} {self.criterion}"
            ends = (
                f"{first.value:z.3g}, {self.confidence:.0%} interval {first.value_low:z.3g} to {first.value_high:z.3g}"
            )
            rest = f", and ranks first in {first.best:.0%} of the resamples" if len(self.columns) > 1 else ""
            return f"{lead} ({ends}){rest}."
        what = "Sharpe ratio" if self.by == "sharpe" else "RSSR"
        text = ""
        if len(self.columns) > 1:
            text = f"{first.name} has the largest {what}, and ranks first in {first.best:.0%} of the resamples. "
        text += f"The annualised Sharpe ratio of {first.name} is {first.headline_sharpe:z.2f}"
        if first.autocorrelated:
            text += (
                f", allowing for autocorrelation, which was found ({_p_value(first.autocorrelation_p)}; "
                f"{first.annual_sharpe:z.2f} without)"
            )
        if self.trials > 1:
            text += (
                f"; the expected maximum of {self.trials} trials without skill is "
                f"{self.headline_expected_maximum:.2f}. The confidence that its true Sharpe ratio is above 0 is "
                f"{_confidence(first.dsr)} after correcting for {self.trials} trials (deflated Sharpe ratio), and "
                f"{_confidence(first.psr)} without the correction (probabilistic Sharpe ratio)"
            )
        else:
            text += f". The confidence that its true Sharpe ratio is above 0 is {_confidence(first.psr)}"
        text += "; both allow for autocorrelation." if first.autocorrelated and self.trials > 1 else "."
        robust = max(self.columns, key=lambda column: column.headline_sharpe)
        if self.by == "sharpe" and robust.headline_sharpe > first.headline_sharpe:
            text += f" Allowing for autocorrelation, {robust.name} has a larger one: {robust.headline_sharpe:z.2f}."
        if self.pbo is not None:
            text += (
                f" The probability of backtest overfitting is {self.pbo:.0%}: the share of splits of the rows into two "
                "halves in which the best column of one half is below the median in the other."
            )
        found = sum(column.autocorrelated for column in self.columns)
        if found:
            text += (
                f" * marks the {counted(found, 'column')} whose returns are autocorrelated: Sharpe ratio (Lo's), "
                f"{'DSR' if self.trials > 1 else 'PSR'} and the record needed allow for it."
            )
        return text

    def settings(self) -> dict[str, str]:
        """The settings that all numbers depend on, in words."""
        q = self.periods_per_year
        lo = " (Lo's for autocorrelated columns)" if any(c.autocorrelated for c in self.columns) else ""
        return {
            "data": self.span + (", made from prices" if self.kind == "prices" else ""),
            "scale": self.convention,
            "annualised": "nothing: costs are per period, in basis points"
            if self.returns.direction == "min"
            else f"mean × {q:g}, volatility and Sharpe ratio × √{q:g}{lo}; RSSR is per period",
            **self.hurdle_in_words(),
            **({} if self.returns.direction == "min" else {"RSSR": f"signed, L = {self.L:.4g} (variance per period)"}),
            "intervals": f"{100 * self.confidence:g}%, stationary bootstrap: {self.replications:,} resamples, blocks "
            f"of {self.block:.3g} rows on average, seed {self.seed}",
            **({"trials": self._trials()} if self.by_ratio else {}),
            **({"data preparation": "; ".join(self.notes)} if self.notes else {}),
        }

    def hurdle_in_words(self) -> dict[str, str]:
        """What is subtracted from returns, in words."""
        if self.returns.hurdle is not None:
            return {"evaluated": self.returns.hurdle.words}
        return {"risk-free rate": f"{self.annual_risk_free:.4g} annual, {self.risk_free_per_period:.4g} per period"}

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
        aside = f" ({rest:,} not given, assumed to be independent)" if rest > 0 else ""
        aside = f" clusters of {given:,} columns" if rest < 0 else aside
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

    def tables(self, max_rows: int | None = None, full: bool = True) -> list[console.Cells]:
        """Tables as text, at most ``max_rows`` rows each: the numbers that decide, and with ``full`` all others."""
        shown = self.columns[:max_rows]
        decisive = self._decisive(shown) if self.by_ratio else self._by_value(shown)
        full = full and self.returns.direction == "max"  # the others are about Sharpe ratios
        return [decisive, *self._others(shown)] if full else [decisive]

    @property
    def ratio_name(self) -> str:
        """The Sharpe ratio of active returns is called information ratio."""
        hurdle = self.returns.hurdle
        return "information ratio" if hurdle is not None and hurdle.kind == "benchmark" else "Sharpe"

    @property
    def by_ratio(self) -> bool:
        """Whether the criterion is the Sharpe ratio or RSSR, to which confidence and trials belong."""
        return self.by in ("sharpe", "rssr")

    @property
    def criterion(self) -> str:
        """What the ranking goes by, in words."""
        words = {
            "sharpe": "Sharpe ratio", "rssr": "RSSR", "sortino": "annualised Sortino ratio", "omega": "Omega",
            "cvar": "expected shortfall of the worst 5%", "log-growth": "annualised logarithmic growth",
        }  # fmt: skip
        return words.get(self.by) or self._yardstick.name

    @property
    def _yardstick(self) -> Yardstick:
        costs = self.returns.direction == "min"
        return Yardstick(self.risk_free_per_period, self.aversion, self.periods_per_year, costs)

    def _by_value(self, shown: Sequence[Ranked]) -> console.Cells:
        costs = self.returns.direction == "min"
        scale = BASIS_POINTS if costs else 1.0
        rows = [
            [
                c.name, f"{(-scale if costs else scale) * c.mean:z.4g}", f"{scale * c.volatility:.4g}",
                f"{c.value:z.4g}", f"[{c.value_low:z.4g}, {c.value_high:z.4g}]", f"{c.best:.0%}",
            ]
            for c in shown
        ]  # fmt: skip
        heads = ["mean cost (bp)" if costs else "mean", "s.d. (bp)" if costs else "s.d.", self.criterion]
        return ["", *heads, f"{100 * self.confidence:g}% interval", "ranked first"], rows

    def _decisive(self, shown: Sequence[Ranked]) -> console.Cells:
        d = console.decimals(float(statistics.annualised(self.sharpe_error, self.periods_per_year)), least=1)
        n = self.replications
        chance = max(math.sqrt(c.best * (1 - c.best) / n) for c in self.columns)
        first = console.decimals(100 * max(chance, 1 / n), most=1)  # at least that of one resample, even if all agree
        several = len(self.columns) > 1
        rows = [
            [
                c.name, f"{c.headline_sharpe:z.2f}{'*' * c.autocorrelated}",
                f"[{c.headline_low:z.{d}f}, {c.headline_high:z.{d}f}]",
                f"{c.dsr if self.trials > 1 else c.psr:.3f}", _needed(c, self.periods_per_year),
                *([f"{c.best:.{first}%}"] if several else []),
            ]
            for c in shown
        ]  # fmt: skip
        heads = [
            "", f"annualised {self.ratio_name}", f"{100 * self.confidence:g}% interval",
            "DSR" if self.trials > 1 else "PSR", f"record needed for {self.confidence:.0%}",
            *(["ranked first"] if several else []),
        ]  # fmt: skip
        return heads, rows

    def _others(self, shown: Sequence[Ranked]) -> list[console.Cells]:
        interval = f"{100 * self.confidence:g}% interval"
        hurdle = self.returns.hurdle
        what = "" if hurdle is None else "active " if hurdle.kind == "benchmark" else "excess "
        errors = [
            [
                c.name, f"{c.annual_sharpe:z.2f}", f"{c.annual_se:.2f}", f"{c.annual_se_iid:.2f}",
                f"{c.annual_sharpe_robust:z.2f}", f"{c.autocorrelation:+z.2f}",
                "<0.001" if c.autocorrelation_p < 0.001 else f"{c.autocorrelation_p:.3f}", f"{c.rows:,}",
            ]
            for c in shown
        ]  # fmt: skip
        confidences = [
            [
                c.name, f"{c.psr_iid:.3f}", f"{c.psr_robust:.3f}", f"{c.dsr_iid:.3f}", f"{c.dsr_robust:.3f}",
                f"{c.fdr:.3f}",
            ]
            for c in shown
        ]  # fmt: skip
        e = console.decimals(self.rssr_error, most=12)
        moments = [
            [
                c.name, f"{c.annual_mean:z.2%}", f"{c.annual_volatility:.2%}", f"{c.drawdown:.1%}", f"{c.sharpe:z.4f}",
                f"{c.rssr:.3g}", f"[{c.rssr_low:z.{e}f}, {c.rssr_high:z.{e}f}]",
            ]
            for c in shown
        ]  # fmt: skip
        tables: list[console.Cells] = [
            (["", f"annualised {self.ratio_name}, × √{self.periods_per_year:g}", "s.e.", "s.e. iid", "Lo's",
              "autocorrelation", "p", "returns"], errors),
            (["", "PSR iid", "PSR robust", "DSR iid", "DSR robust", "FDR"], confidences),
            (["", f"annualised {what}mean", f"annualised {what}volatility", "max drawdown",
              f"{self.ratio_name} per period", "RSSR", interval], moments),
        ]  # fmt: skip
        if self.full:
            rows = [[c.name, *(_measure(c.measures[name], form) for name, form in MEASURES.values())] for c in shown]
            half = 1 + len(MEASURES) // 2
            heads = ["", *MEASURES]
            tables += [
                (heads[:half], [row[:half] for row in rows]),
                (["", *heads[half:]], [[row[0], *row[half:]] for row in rows]),
            ]
        return tables

    def to_dict(self) -> dict[str, Any]:
        """Plain data, without the returns."""
        expected = {"expected_maximum": self.selection.expected_maximum}
        words = {key: getattr(self, key) for key in self.__dataclass_fields__ if key != "returns"}
        words |= {"columns": self.table.records(), "selection": asdict(self.selection), "summary": self.conclusion}
        words["leader"] = None if self.leader is None else asdict(self.leader)
        return {**words, **expected, "annual_expected_maximum": self.annual_expected_maximum}

    @property
    def table(self) -> Table:
        """Every number, a row per column; displayed in a notebook, and converted to a frame by ``to_pandas()``."""
        costs = self.returns.direction == "min"
        return Table.of([column.costs() if costs else column.to_dict() for column in self.columns])

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
        return Findings(self.remarks, self.tables(SHOWN, self.full), summary, self.settings())


def _needed(column: Ranked, periods_per_year: float) -> str:
    """The record needed for the confidence asked for, in years, and how much of it is missing."""
    if column.track_record is None or column.more_years is None:
        return "never"
    more = f"{column.more_years:.1f} more" if column.more_years else "enough"
    return f"{column.track_record / periods_per_year:.1f} years, {more}"


def _measure(measure: Measure, form: str) -> str:
    return f"{measure.value:{form}} [{measure.low:{form}}, {measure.high:{form}}]"


@check_keywords(read_returns, risk_free=ANNUAL_OR_PER_PERIOD)
def rank(
    source: Any,
    *,
    L: float | None = None,
    annual_risk_free: float = 0.0,
    risk_free_per_period: float | None = None,
    by: RankedBy | None = None,
    aversion: float = 1.0,
    trials: int | Literal["clusters"] | None = None,
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
        regulariser of RSSR, in the unit of variance per period; by default a tenth of the smallest variance of a column
    annual_risk_free : float, optional
        annual rate, 0.02 for 2%
    risk_free_per_period : float | None, optional
        the rate per period, instead of the annual one
    by : RankedBy | None, optional
        "sharpe", the default; "rssr"; "sortino"; "omega"; "cvar", the expected shortfall of the worst 5% of periods;
        "log-growth"; or "mean-risk", the mean minus ``aversion`` times the standard deviation, for columns that all
        lose, and the only one for costs (``direction="min"``)
    aversion : float, optional
        mean that a unit of standard deviation is worth, for "mean-risk"
    trials : int | Literal['clusters'] | None, optional
        number of strategies tried, discarded ones included; by default the number of columns, which are then assumed to
        be all of them. The correlation of trials is estimated from the columns (:func:`statistics.selection`).
        "clusters": variants of the same idea count once; columns are clustered by correlation
        (:func:`statistics.clusters`), and each cluster is a trial
    trials_sd : float | None, optional
        standard deviation of annualised Sharpe ratios among all trials, if known
    confidence : float, optional
        confidence level of the intervals
    replications, seed : int, optional
        number of resamples of the bootstrap, and its seed
    block : float | None, optional
        mean block length in rows; by default chosen from the data
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
    returns = table_of(source, reading)
    costs = returns.direction == "min"
    by = one_of("by", ("mean-risk" if costs else "sharpe") if by is None else by, get_args(RankedBy))
    if costs and by != "mean-risk":
        raise InvalidInputError(
            f"by={by!r} rewards risk where every mean is below 0, as for costs; pass by='mean-risk'"
        )
    not_negative("aversion", aversion)
    rate = returns.rate(annual_risk_free, risk_free_per_period)
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
    if trials == "clusters":
        if not returns.complete or x.shape[1] < 3:
            raise InvalidInputError(
                "trials='clusters' needs three columns or more, with the same history; read the table with "
                "missing='drop', or pass the number of trials"
            )
        selection = statistics.selection(statistics.clustered(x), None, known, rate)
    else:
        selection = statistics.selection(x, trials, known, rate)

    def each(estimate: Callable[..., Any], *more: Any) -> np.ndarray:
        return statistics.by_column(lambda own: estimate(own, *more), x)

    mean, variance = each(lambda own: own.mean(axis=0)), each(lambda own: own.var(axis=0, ddof=1))
    objective = RSSR(usual_regulariser(variance) if L is None else L, rate, signed=True)
    block = block_length(x, rate) if block is None else check_block(block, len(x))
    batches = zip(*_resamples(returns, block, replications, seed, by, rate), strict=True)
    means, variances, measured = map(np.concatenate, batches)
    yardstick = Yardstick(rate, float(aversion), q, costs)
    drawn = {
        "sharpe": (means - rate) / np.sqrt(variances),
        "rssr": objective.value(Statistics(mean=means, variance=variances)),
    }
    if by == "mean-risk":
        drawn[by], value = yardstick.value(means, variances), yardstick.value(mean, variance)
    elif by in _BY_MEASURE:
        drawn[by], value = measured, _measured(np.ones((1, len(x))), x, by, rate)[0]
        if not np.isfinite(value).all():
            column = returns.names[int((~np.isfinite(value)).argmax())]
            raise InvalidInputError(f"column {column!r} has no loss, so that its {by} is infinite; pass by='sharpe'")
        drawn[by] = np.where(np.isfinite(measured), measured, np.nan_to_num(measured, nan=0.0, posinf=1e6))
    ends = [(1 - confidence) / 2, (1 + confidence) / 2]
    low, high = ({key: np.quantile(values, end, axis=0) for key, values in drawn.items()} for end in ends)
    errors = {key: max(_quantile_error(values, end) for end in ends) for key, values in drawn.items()}
    first = np.bincount(drawn[by].argmax(axis=1), minlength=x.shape[1])

    sharpe, se_iid, se = (
        each(f, rate) for f in (statistics.sharpe, statistics.sharpe_se_iid, statistics.sharpe_se_hac)
    )  # fmt: skip
    autocorrelation_p = each(statistics.autocorrelation_p)
    autocorrelated = autocorrelation_p <= statistics.TEST_LEVEL
    maximum = selection.expected_maximum
    # the standard errors and the annualisation that the data call for
    used = np.where(autocorrelated, se, se_iid)
    robust = each(statistics.annualised_by_lo, q, rate)
    usual = statistics.annualised(sharpe, q)
    factor = statistics.annualised(1.0, q) * np.where(autocorrelated & (usual != 0), robust / usual, 1.0)
    psr = {"": used, "_iid": se_iid, "_robust": se}
    numbers = {
        "mean": mean, "volatility": np.sqrt(variance), "annual_mean": mean * q,
        "annual_volatility": np.sqrt(variance * q),
        "drawdown": statistics.by_column(statistics.drawdown, returns.values), "sharpe": sharpe,
        "sharpe_low": low["sharpe"], "sharpe_high": high["sharpe"], "se": se, "se_iid": se_iid,
        "annual_sharpe_robust": robust, "autocorrelation": each(statistics.autocorrelation),
        "autocorrelation_p": autocorrelation_p, "headline_sharpe": sharpe * factor,
        "headline_low": low["sharpe"] * factor, "headline_high": high["sharpe"] * factor,
        "rssr": objective.value(Statistics(mean=mean, variance=variance)), "rssr_low": low["rssr"],
        "rssr_high": high["rssr"],
        **{f"psr{kind}": statistics.probabilistic_sharpe(sharpe, error) for kind, error in psr.items()},
        **{f"dsr{kind}": statistics.probabilistic_sharpe(sharpe, error, maximum) for kind, error in psr.items()},
    }  # fmt: skip
    ratio = by in ("sharpe", "rssr")
    shown = {"sharpe": q**0.5, "sortino": q**0.5, "log-growth": q, "cvar": -1.0, "mean-risk": yardstick.factor}.get(
        by, 1.0
    )
    limits = (low[by] * shown, high[by] * shown)
    values = numbers[by] if ratio else value
    numbers |= {"value": values * shown, "value_low": np.minimum(*limits), "value_high": np.maximum(*limits)}
    numbers["fdr"] = false_discovery_rates(1 - numbers["psr_robust"], "bh")
    for key in ("sharpe", "sharpe_low", "sharpe_high", "se", "se_iid"):
        numbers[f"annual_{key}"] = statistics.annualised(numbers[key], q)
    shares = [wilson(int(count), replications, confidence) for count in first]
    alpha = complement(confidence)
    anytime = [_anytime_interval(column[~np.isnan(column)], rate, alpha, x.shape[1], q) for column in x.T]
    records = [
        statistics.track_record(ratio, error, rows, confidence) if ratio > 0 else None
        for ratio, error, rows in zip(sharpe, used, returns.counts, strict=True)
    ]
    beside: list[dict[str, Measure]] = [{} for _ in x.T]
    if true_or_false("full", full):
        rows_of_paths = np.concatenate(list(resampled_paths(len(x), block, replications, seed)))
        counts_of_rows = counts_of(rows_of_paths)
        beside = [
            measures(returns.values[:, k], column - rate, rows_of_paths, counts_of_rows, confidence, q)
            for k, column in enumerate(x.T)
        ]
    order = np.argsort(-np.asarray(values), kind="stable")
    counts = returns.counts
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
        for k in order
    )  # fmt: skip
    common = x[~np.isnan(x).any(axis=1)]
    measurable = x.shape[1] > 1 and len(common) >= 2 * CSCV_BLOCKS
    return Ranking(
        columns, by, objective.L, statistics.per_year(rate, q), rate, float(confidence), replications, block, seed,
        selection, trials_sd, errors["sharpe"], errors["rssr"], q, returns.kind, returns.span, returns.convention,
        returns.notes, (*(returns.losses(rate) if by in ("sharpe", "rssr", "sortino") else ()), *returns.remarks),
        statistics.backtest_overfitting(common, Yardstick(rate).value, CSCV_BLOCKS) if measurable else None,
        _leader(returns, {"rssr": objective, "mean-risk": MeanRisk(aversion)}.get(by), alpha, rate)
        if by not in _BY_MEASURE
        else None,
        full, returns, float(aversion),
    )  # fmt: skip


def _leader(returns: Returns, objective: Objective | None, alpha: float, rate: float) -> Leader | None:
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


def _anytime_interval(
    x: np.ndarray, rate: float, alpha: float, columns: int, q: float
) -> tuple[float | None, float | None, bool]:
    """Ends of the time-uniform interval of the annualised Sharpe ratio, and whether tails are heavy."""
    sequence = confidence_sequence(x, alpha=alpha, risk_free=rate, arms=columns, autocorrelated=True)
    low, high = (float(statistics.annualised(end[-1], q)) for end in (sequence.low, sequence.high))
    begun = math.isfinite(high)
    return low if begun else None, high if begun else None, bool(sequence.heavy_tailed[-1])


def _quantile_error(values: np.ndarray, end: float) -> float:
    """Largest standard error over columns of a quantile of resamples (rows), from the quantiles next to it."""
    step = math.sqrt(end * (1 - end) / len(values))
    below, above = np.quantile(values, np.clip([end - step, end + step], 0, 1), axis=0)
    return float((above - below).max()) / 2


def _p_value(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def _confidence(p: float) -> str:
    return "over 99.9%" if p > 0.999 else f"{p:.1%}"


def _measured(counts: np.ndarray, x: np.ndarray, by: str, rate: float) -> np.ndarray:
    """The measure that a ranking goes by, larger is better, for resamples (rows) of every column."""
    measure, sign = _BY_MEASURE[by]
    with np.errstate(divide="ignore", invalid="ignore"):
        own = [measure(counts[:, there], column[there] - rate) for column in x.T for there in [~np.isnan(column)]]
    return sign * np.array(own).T


def _resamples(
    returns: Returns, block: float, replications: int, seed: int, by: str = "sharpe", rate: float = 0.0
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Means and variances of resamples (rows) of every column, and the measure ``by``, in batches of resamples."""
    x = returns.excess
    for paths in resampled_paths(len(x), block, replications, seed):
        counts = counts_of(paths)
        means, variances = resampled_moments(x, counts)
        flat = variances <= _FLAT * np.nanvar(x, axis=0)
        if flat.any():
            column = int(flat.any(axis=0).argmax())
            raise InvalidInputError(
                f"column {returns.names[column]!r} varies so rarely that a resample of it does not vary at all, or has "
                "too few rows; leave it out with columns=, or give more rows"
            )
        yield means, variances, _measured(counts, x, by, rate) if by in _BY_MEASURE else means
