"""Results of a ranking: the numbers of each column, and how they are shown."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields
from functools import partial
from typing import Any, ClassVar

from .._support import console
from .._support.console import Findings
from .._support.display import Table
from ..errors import unknown
from ..objectives import Objective
from ..report.reported import Reported
from . import statistics
from .draft import counted
from .measures import Measure
from .table import Returns
from .yardstick import BASIS_POINTS

#: Maximum number of columns printed.
SHOWN = 30
#: Measures of a full table: their names and formats.
_MEASURES = {
    "Sharpe, total returns": ("total_sharpe", "z.2f"), "Sortino": ("sortino", "z.2f"), "Omega": ("omega", ".2f"),
    "Calmar": ("calmar", "z.2f"), "expected shortfall 5%": ("expected_shortfall", ".2%"),
    "skewness": ("skewness", "z.2f"), "kurtosis": ("kurtosis", ".1f"),
    "autocorrelation": ("autocorrelation", "+z.2f"), "max drawdown": ("drawdown", ".1%"),
}  # fmt: skip


@dataclass(frozen=True)
class Ranked:
    """One column of a ranking. Mean, volatility, Sharpe ratio and RSSR are per period unless named annual.

    Intervals end in ``_low`` and ``_high``; those of ``sharpe`` are as wide as the robust standard error says if
    autocorrelation was found. ``annual_anytime_...`` holds jointly for all columns and at all times, so that a growing
    table may be evaluated repeatedly (None if it is too early), unless tails are ``heavy_tailed``.
    ``annual_sharpe_robust`` is Lo's ratio, which allows for autocorrelation; ``autocorrelation_p`` the p-value of
    Escanciano and Lobato's test. ``se`` is robust to autocorrelation (HAC), ``se_iid`` for independent returns; ``psr``
    and ``dsr`` use the one that the test calls for. ``value`` is what the ranking goes by, annualised for ratios and
    for growth, and for costs mean cost plus risk in basis points. ``fdr`` is Benjamini and Hochberg's adjusted 1 -
    psr_robust. ``track_record`` returns would bring ``psr`` to the confidence level, for which ``more_years`` are
    missing; None for a Sharpe ratio not above 0. ``best`` is the share of resamples in which the column ranks first.
    ``measures`` are empty unless the ranking is ``full``.
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
    annual_sharpe_robust_low: float
    annual_sharpe_robust_high: float
    annual_se: float
    annual_se_iid: float
    autocorrelation: float
    autocorrelation_p: float
    autocorrelated: bool
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

    @property
    def adjusted_sharpe(self) -> float:
        """Annualised Sharpe ratio: Lo's if autocorrelation was found, otherwise the usual one."""
        return self.annual_sharpe_robust if self.autocorrelated else self.annual_sharpe

    def to_dict(self) -> dict[str, Any]:
        numbers = asdict(self)
        for name, (value, low, high) in numbers.pop("measures").items():
            numbers |= {name: value, f"{name}_low": low, f"{name}_high": high}
        return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in numbers.items()}

    def costs(self) -> dict[str, Any]:
        """The numbers of a column of costs by name, in basis points."""
        names = ("value", "value_low", "value_high", "best", "best_low", "best_high")
        scaled = {"mean_cost": -BASIS_POINTS * self.mean, "sd": BASIS_POINTS * self.volatility}
        return {"name": self.name, "rows": self.rows, **scaled, **{name: getattr(self, name) for name in names}}


#: What a column of a table shows of a ranked column, by its head.
_Columns = dict[str, Callable[[Ranked], str]]


@dataclass(frozen=True, repr=False)
class Ranking(Reported):
    """Columns, best first, and the settings that all numbers depend on.

    ``by`` names the ``criterion``, "own" if an ``objective`` was given; ``L`` is the regulariser of RSSR. ``selection``
    describes the trials that deflated Sharpe ratios allow for, and ``given_sd`` the standard deviation of their Sharpe
    ratios if it was given. ``pbo`` is the probability of backtest overfitting; None for a single column, or with fewer
    than 32 rows common to all columns. ``sharpe_error`` is the largest Monte Carlo standard error of the intervals'
    ends.
    """

    page_name: ClassVar = "ranking"
    columns: tuple[Ranked, ...]
    by: str
    objective: Objective
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
    remarks: tuple[str, ...]
    pbo: float | None
    full: bool
    returns: Returns = field(repr=False)
    aversion: float
    criterion: str = field(repr=False)

    def __getitem__(self, name: str) -> Ranked:
        for column in self.columns:
            if column.name == name:
                return column
        raise unknown("column", name, [column.name for column in self.columns])

    @property
    def periods_per_year(self) -> float:
        return self.returns.periods_per_year

    @property
    def trials(self) -> int:
        return self.selection.trials

    @property
    def annual_expected_maximum(self) -> float:
        """Expected maximum of the annualised Sharpe ratios of the trials if none has skill."""
        return float(statistics.annualised(self.selection.expected_maximum, self.periods_per_year))

    @property
    def conclusion(self) -> str:
        first, words, several = self.columns[0], self.ratio_words, len(self.columns) > 1
        often = f", and ranks first in {first.best:.0%} of the resamples" * several
        if not self.by_ratio:
            least = self.by == "cvar" or (self.by == "mean-risk" and self.returns.costs)
            return (
                f"{first.name} has the {'smallest' if least else 'largest'} {self.criterion} ({first.value:z.3g}, "
                f"{self.confidence:.0%} interval {first.value_low:z.3g} to {first.value_high:z.3g}){often}."
            )
        text = f"{first.name} has the largest {words}{often}. " * several
        text += f"The annualised {words} of {first.name} is {first.annual_sharpe:z.2f}"
        if first.autocorrelated:
            p = "p < 0.001" if first.autocorrelation_p < 0.001 else f"p = {first.autocorrelation_p:.3f}"
            text += f" (Lo's, which allows for the autocorrelation found, {p}: {first.adjusted_sharpe:z.2f})"
        above = f"The confidence that its true {words} is above 0 is"
        if self.trials > 1:
            text += (
                f"; the expected maximum of {self.trials} trials without skill is {self.annual_expected_maximum:.2f}. "
                f"{above} {_confidence(first.dsr)} after correcting for {self.trials} trials (deflated Sharpe ratio), "
                f"and {_confidence(first.psr)} without the correction (probabilistic Sharpe ratio)"
            )
        else:
            text += f". {above} {_confidence(first.psr)}"
        text += "; both allow for autocorrelation." if first.autocorrelated and self.trials > 1 else "."
        robust = max(self.columns, key=lambda column: column.adjusted_sharpe)
        if robust is not first and robust.adjusted_sharpe > first.adjusted_sharpe:
            text += f" Allowing for autocorrelation, {robust.name} has a larger one: {robust.adjusted_sharpe:z.2f}."
        if self.pbo is not None:
            text += (
                f" The probability of backtest overfitting is {self.pbo:.0%}: the share of splits of the rows into two "
                "halves in which the best column of one half is below the median in the other."
            )
        n_autocorrelated = sum(column.autocorrelated for column in self.columns)
        if n_autocorrelated:
            text += (
                f" * marks the {counted(n_autocorrelated, 'column')} whose returns are autocorrelated: interval, "
                f"{'DSR' if self.trials > 1 else 'PSR'} and the record needed allow for it, and so does Lo's {words}, "
                "which does not change the order."
            )
        return text

    def settings(self) -> dict[str, str]:
        marked = self.by_ratio and any(c.autocorrelated for c in self.columns)
        facts = {
            "annualised": self._annualised(),
            **self.hurdle_in_words(),
            "RSSR": f"signed, per period, L = {self.L:.4g} (variance per period)" if self.by == "rssr" else "",
            "intervals": f"{100 * self.confidence:g}%, stationary bootstrap: {self.replications:,} resamples, blocks "
            f"of {self.block:.3g} row{'s' * (self.block != 1)} on average, seed {self.seed}"
            f"{'; by the robust standard error if marked *' * marked}",
            "trials": self._trials() if self.by_ratio else "",
        }
        return self.returns.facts(facts)

    def _annualised(self) -> str:
        q = self.periods_per_year
        if self.by_ratio:
            return f"mean × {q:g}, volatility and {self.ratio_words} × √{q:g}"
        what = {"sortino": f"the Sortino ratio, × √{q:g}", "log-growth": f"logarithmic growth, × {q:g}"}.get(self.by)
        rest = "costs are per period, in basis points" if self.returns.costs else "mean and s.d. are per period"
        return f"{what or 'nothing'}; {rest}"

    def hurdle_in_words(self) -> dict[str, str]:
        return self.returns.hurdle_in_words(self.annual_risk_free, self.risk_free_per_period)

    def _trials(self) -> str:
        """The trials that the deflated Sharpe ratio corrects for, in words."""
        chosen, given = self.selection, len(self.columns)
        if chosen.trials == 1:
            return "1"
        variance, given_variance, sampling = (
            statistics.annualised(math.sqrt(own), self.periods_per_year)
            for own in (chosen.variance, chosen.given, chosen.sampling)
        )
        rest = chosen.trials - given
        aside = f" ({rest:,} not given, assumed to be independent)" if rest > 0 else ""
        by_chance = self.given_sd is None and chosen.given <= chosen.sampling
        source = f"observed among the columns; chance alone gives {sampling:.2f}"
        if by_chance:
            source = f"from chance alone; {given_variance:.2f} observed among the columns"
        return (
            f"{chosen.trials:,}{aside}; standard deviation of their annualised Sharpe ratios {variance:.2f} "
            f"({source if self.given_sd is None else 'as given'}). Their average correlation is "
            f"{chosen.correlation:.2f}: as many as {chosen.effective:.3g} independent ones"
            f"{'' if by_chance else ', a number that was not used'}"
        )

    def tables(self, max_rows: int | None = None, full: bool = True) -> list[console.Cells]:
        """Tables as text, at most ``max_rows`` rows each: the numbers that decide, and with ``full`` all others."""
        tables = [self._decisive() if self.by_ratio else self._by_value()]
        if full and not self.returns.costs:  # the others are about Sharpe ratios
            tables += self._others()
        return [console.cells({"": lambda c: c.name, **columns}, self.columns[:max_rows]) for columns in tables]

    @property
    def ratio_name(self) -> str:
        """The Sharpe ratio of active returns is called information ratio."""
        return "information ratio" if self.returns.active else "Sharpe"

    @property
    def ratio_words(self) -> str:
        return self.ratio_name.replace("Sharpe", "Sharpe ratio")

    @property
    def by_ratio(self) -> bool:
        """Whether the criterion is the Sharpe ratio, to which confidence and trials belong."""
        return self.by == "sharpe"

    @property
    def _interval(self) -> str:
        return f"{100 * self.confidence:g}% interval"

    def _by_value(self) -> _Columns:
        costs = self.returns.costs
        scale, sign, unit = (BASIS_POINTS, -1, " (bp)") if costs else (1.0, 1, "")
        return {
            f"mean{' cost' * costs}{unit}": lambda c: f"{sign * scale * c.mean:z.3g}",
            f"s.d.{unit}": lambda c: f"{scale * c.volatility:.3g}",
            self.criterion: lambda c: f"{c.value:z.3g}",
            self._interval: lambda c: f"[{c.value_low:z.3g}, {c.value_high:z.3g}]",
            "ranked first": lambda c: f"{c.best:.0%}",
        }

    def _decisive(self) -> _Columns:
        d = console.decimals(float(statistics.annualised(self.sharpe_error, self.periods_per_year)), least=1)
        n = self.replications
        chance = max(math.sqrt(c.best * (1 - c.best) / n) for c in self.columns)
        first = console.decimals(100 * max(chance, 1 / n), most=1)  # at least that of one resample, even if all agree
        columns: _Columns = {
            f"annualised {self.ratio_name}": lambda c: f"{c.annual_sharpe:z.2f}{'*' * c.autocorrelated}",
            self._interval: lambda c: f"[{c.annual_sharpe_low:z.{d}f}, {c.annual_sharpe_high:z.{d}f}]",
        }
        if any(c.autocorrelated for c in self.columns):
            columns["Lo's"] = lambda c: _lo(c) if c.autocorrelated else ""
        columns["DSR" if self.trials > 1 else "PSR"] = lambda c: _probability(c.dsr if self.trials > 1 else c.psr)
        columns[f"years needed for PSR {self.confidence:.0%} (more)"] = lambda c: _needed(c, self.periods_per_year)
        return columns | ({"ranked first": lambda c: f"{c.best:.{first}%}"} if len(self.columns) > 1 else {})

    def _others(self) -> list[_Columns]:
        what = "active " if self.returns.active else "" if self.returns.hurdle is None else "excess "
        confidences = ("PSR iid", "PSR robust", "DSR iid", "DSR robust", "FDR")
        tables: list[_Columns] = [
            {
                f"annualised {self.ratio_name}, × √{self.periods_per_year:g}": lambda c: f"{c.annual_sharpe:z.2f}",
                "s.e.": lambda c: f"{c.annual_se:.2f}",
                "s.e. iid": lambda c: f"{c.annual_se_iid:.2f}",
                "Lo's": _lo,
                "autocorrelation": lambda c: f"{c.autocorrelation:+z.2f}",
                "p": lambda c: _probability(c.autocorrelation_p),
                "returns": lambda c: f"{c.rows:,}",
            },
            {head: partial(_confidence_in, head.lower().replace(" ", "_")) for head in confidences},
            {
                f"annualised {what}mean": lambda c: f"{c.annual_mean:z.2%}",
                f"annualised {what}volatility": lambda c: f"{c.annual_volatility:.2%}",
                "max drawdown": lambda c: f"{c.drawdown:.1%}",
                f"{self.ratio_name} per period": lambda c: f"{c.sharpe:z.4f}",
            },
        ]
        if self.full:
            known = [head for head, (name, _) in _MEASURES.items() if name in self.columns[0].measures]
            half = len(known) // 2
            tables += [
                {head: partial(_measured, *_MEASURES[head]) for head in part} for part in (known[:half], known[half:])
            ]
        return tables

    def to_dict(self) -> dict[str, Any]:
        of_table = ("periods_per_year", "kind", "span", "convention", "notes")
        return {
            **{own.name: getattr(self, own.name) for own in fields(self) if own.repr},
            **{key: getattr(self.returns, key) for key in of_table},
            "columns": self.table.records(),
            "selection": asdict(self.selection),
            "summary": self.conclusion,
            "objective": self.objective.to_dict(),
            "expected_maximum": self.selection.expected_maximum,
            "annual_expected_maximum": self.annual_expected_maximum,
        }

    @property
    def table(self) -> Table:
        return Table.of([column.costs() if self.returns.costs else column.to_dict() for column in self.columns])

    def findings(self) -> Findings:
        summary = self.conclusion
        if len(self.columns) > SHOWN:
            summary = f"The first {SHOWN} of {len(self.columns):,} columns are shown. {summary}"
        return Findings(self.remarks, self.tables(SHOWN, self.full), summary, self.settings())


def _needed(column: Ranked, periods_per_year: float) -> str:
    """The record needed for the confidence asked for, in years, and how much of it is missing."""
    if column.track_record is None or column.more_years is None:
        return "never"
    more = f"+{_years(column.more_years)}" if column.more_years else "enough"
    return f"{_years(column.track_record / periods_per_year)} ({more})"


def _years(years: float) -> str:
    return f"{years:,.0f}" if years >= 100 else f"{years:.1f}"


def _measured(name: str, form: str, c: Ranked) -> str:
    return "{0:{form}} [{1:{form}}, {2:{form}}]".format(*c.measures[name], form=form)


def _confidence_in(name: str, c: Ranked) -> str:
    return _probability(getattr(c, name))


def _lo(c: Ranked) -> str:
    return f"{c.annual_sharpe_robust:z.2f} [{c.annual_sharpe_robust_low:z.2f}, {c.annual_sharpe_robust_high:z.2f}]"


def _probability(p: float) -> str:
    """Three digits; neither 0 nor 1."""
    return "<0.001" if p < 0.001 else ">0.999" if p > 0.999 else f"{p:.3f}"


def _confidence(p: float) -> str:
    return "over 99.9%" if p > 0.999 else f"{p:.1%}"
