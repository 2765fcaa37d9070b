"""Returns from a table: every doubt about the data is an error that names the place and the option to resolve it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from .._support.validation import check_keywords, list_of, one_of, positive, whole
from ..errors import InvalidInputError, listed, shown, unknown
from ..policies.base import Direction
from . import cleaning, plausibility, sources
from . import dates as dates_of
from .cleaning import Constant, Duplicates, Kind, Missing, Unsorted
from .draft import Draft, counted, drafted
from .notation import Notation
from .sources import Layout, TimeZones
from .statistics import LARGEST_RATE, per_period, risk_free_rate

#: Why functions for returns take no ``risk_free``: policies and objectives have one, per round.
ANNUAL = "pass annual_risk_free=, the annual rate: 0.02 for 2%"
#: How a series of risk-free rates is quoted.
Quote = Literal["per-period", "annual", "per-period-percent", "annual-percent"]


@dataclass(frozen=True, eq=False)
class Hurdle:
    """Series, a value per row, that is subtracted from returns before they are evaluated."""

    name: str
    kind: str  # "risk-free rate" or "benchmark"
    values: np.ndarray

    @property
    def words(self) -> str:
        """The returns that are evaluated, in words."""
        what = "active returns, minus those of" if self.kind == "benchmark" else "excess returns, minus the rate"
        return f"{what} {self.name} in the same row ({100 * self.values.mean():.4g}% per period on average)"


@dataclass(frozen=True, eq=False)
class Returns:
    """Simple returns per period, a column per arm.

    Attributes
    ----------
    names : tuple[str, ...]
        one per column
    values : numpy.ndarray
        (rows, columns) simple returns per period: 0.01 is one per cent; NaN where a column has none
    dates : numpy.ndarray | None
        one per row, in UTC if they had a time zone and a time of day
    periods_per_year, kind, direction : float and Kind and Direction
        as given to :func:`read_returns`; for ``direction="min"`` values are minus the costs
    notes, remarks : tuple[str, ...], optional
        what was dropped, filled or sorted while reading; and possible mistakes in the table, each with its remedy
    hurdle : Hurdle | None, optional
        series that is subtracted from returns before they are evaluated, if any
    days : numpy.ndarray | None, optional
        dates in their own time zone, whose weeks and months count
    """

    names: tuple[str, ...]
    values: np.ndarray
    dates: np.ndarray | None
    periods_per_year: float
    kind: Kind
    notes: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    hurdle: Hurdle | None = None
    direction: Direction = "max"
    days: np.ndarray | None = None

    @property
    def excess(self) -> np.ndarray:
        """Returns minus the hurdle of their row; a constant risk-free rate is not subtracted here."""
        return self.values if self.hurdle is None else self.values - self.hurdle.values[:, None]

    def rate(self, annual_risk_free: float) -> float:
        """The risk-free rate per period (see :func:`statistics.risk_free_rate`): 0 if there is a hurdle."""
        if self.hurdle is not None and annual_risk_free != 0:
            raise InvalidInputError(
                f"returns are evaluated against {self.hurdle.kind} {self.hurdle.name!r}; leave out annual_risk_free="
            )
        return risk_free_rate(annual_risk_free, self.periods_per_year)

    def losses(self, rate: float, remedy: str = "pass by='mean-risk'") -> tuple[str, ...]:
        """A remark if no column has a mean above the hurdle, where a ratio rewards volatility; otherwise nothing."""
        means = np.nanmean(self.excess, axis=0) - rate
        if not (means < 0).all():
            return ()
        best = int(means.argmax())
        hurdle = "0" if self.hurdle is None and rate == 0 else "the hurdle"
        which, order = f"the mean return is below {hurdle}", ""
        if len(means) > 1:
            which = f"every mean return is below {hurdle}, the largest, of {shown(self.names[best])}"
            order = ", so do not choose by it: of two columns with the same loss the riskier one ranks higher"
        return (
            f"{which}, by {-means[best]:.4g} per period. Below it a Sharpe ratio rewards volatility{order}. To judge "
            f"by mean less risk, {remedy}; for costs with a minus sign, leave out the sign and pass direction='min'",
        )

    @property
    def convention(self) -> str:
        """Scale of the returns and how they are annualised, in words; shown with every figure."""
        what = "costs per period, 0.0001 = 1 basis point" if self.costs else "simple returns per period, 0.01 = 1%"
        return f"{what}; {self.periods_per_year:g} periods per year"

    @property
    def span(self) -> str:
        """Number of rows, first and last date."""
        rows = f"{len(self.values):,} {'costs' if self.costs else 'returns'}"
        if self.dates is None:
            return rows
        return f"{rows}, {dates_of.in_words(self.dates[0])} to {dates_of.in_words(self.dates[-1])}"

    @property
    def costs(self) -> bool:
        """Whether the source held costs."""
        return self.direction == "min"

    @property
    def active(self) -> bool:
        """Whether returns above a benchmark are evaluated, whose Sharpe ratio is called information ratio."""
        return self.hurdle is not None and self.hurdle.kind == "benchmark"

    def facts(self, of_result: Mapping[str, str], data: str = "") -> dict[str, str]:
        """Settings of a result in words: the data, what the result adds, and what was done to the data."""
        data = f"{self.span}{', made from prices' * (self.kind == 'prices')}{data}"
        facts = {"data": data, "scale": self.convention, **of_result, "data preparation": "; ".join(self.notes)}
        return {name: words for name, words in facts.items() if words}

    def hurdle_in_words(self, annual: float, per_period: float) -> dict[str, str]:
        """What returns are evaluated against: the hurdle, or a risk-free rate."""
        if self.hurdle is not None:
            return {"evaluated": self.hurdle.words}
        rate = f"{annual:.4g} annual, {per_period:.4g} per period"
        return {} if self.costs and per_period == 0 else {"risk-free rate": rate}

    @property
    def counts(self) -> np.ndarray:
        """Number of returns of each column."""
        return (~np.isnan(self.values)).sum(axis=0)

    @property
    def complete(self) -> bool:
        """Whether every column has a return in every row."""
        return not np.isnan(self.values).any()

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return f"Returns({', '.join(self.names)}: {self.span}; {self.convention})"


@check_keywords()
def read_returns(
    source: Any,
    *,
    kind: Kind,
    periods_per_year: float,
    date: str | Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    scale: float | None = None,
    capital: float | None = None,
    missing: Missing = "error",
    duplicates: Duplicates = "error",
    unsorted: Unsorted = "error",
    timezones: TimeZones = "error",
    constant: Constant = "error",
    separator: str = ",",
    encoding: str = "utf-8",
    skip_rows: int = 0,
    sheet: str | None = None,
    field: str | None = None,
    pivot: Sequence[str] | None = None,
    date_format: str | None = None,
    decimal: str = ".",
    thousands: str = "",
    currency: str = "",
    risk_free_series: Any = None,
    risk_free_quote: Quote = "per-period",
    benchmark: Any = None,
    direction: Direction = "max",
) -> Returns:
    """Read returns, or compute them from prices. Nothing is guessed; values are dropped or filled only on request.

    Parameters
    ----------
    source : Any
        path of a CSV, Parquet or spreadsheet file, pandas or polars frame, Arrow table, dictionary of columns, 2-d
        array
    kind : Kind
        what the numbers are: "prices", "returns" (simple ones), "log-returns", "price-relatives" (1.01 for a gain of
        1%), "cumulative-returns" (since the beginning), or "pnl" (profits and losses in money, with ``capital``)
    periods_per_year : float
        rows per year: 252 for trading days, 12 for months
    date : str | Sequence[str] | None, optional
        the column of dates, or those of dates and times of day, or of year, month and day; by default a frame's index
        or a first column that holds dates
    columns : Sequence[str] | None, optional
        read only these columns, in this order
    names : Sequence[str] | None, optional
        names of the columns of an array
    scale : float | None, optional
        factor that returns are multiplied by: 0.01 for per cent, with or without a per cent sign. By default returns
        above 100% are rejected, since they may be in per cent; ``scale=1`` accepts them
    capital : float | None, optional
        capital that profits and losses are divided by, in the same currency
    missing : Missing, optional
        "error"; "drop" rows with missing values; "fill" them with the last known price, or a return of 0; "keep" them,
        so that every column has its own history (the return after a gap in prices spans the gap)
    duplicates, unsorted : Duplicates and Unsorted
        "error"; or keep the "first" or the "last" of the rows with the same date; or "sort" rows by date
    timezones : TimeZones, optional
        dates in several time zones, or some without one: "error", or convert all to "utc" (those without one are
        assumed to be in UTC already)
    constant : Constant, optional
        columns that do not vary, and have no Sharpe ratio: "error" or "drop"
    separator, encoding, skip_rows, sheet : str and int
        field separator and encoding of a CSV file, lines or rows before the header, and name of the sheet of a
        spreadsheet that has several
    field : str | None, optional
        which number of each asset, such as "Close", if columns have two levels or lines of names (yfinance)
    pivot : Sequence[str] | None, optional
        the columns of asset names and of numbers, if a table has a row per date and asset; without dates, a row per
        observation of one of them, which are compared as unpaired samples
    date_format : str | None, optional
        format of dates, such as "%d/%m/%Y"; "excel", "s", "ms", "us" or "ns" for spreadsheet serial numbers or time
        since 1970
    decimal, thousands, currency : str, optional
        decimal separator, thousands separator and currency symbol of numbers in text
    risk_free_series, risk_free_quote : Any and Quote
        risk-free rates by row, which are subtracted from returns: the name of a column, or another table with a column
        of dates and one of rates (a file of the same type is read with the same options, any other table without
        them); and how they are quoted
    benchmark : Any, optional
        instead, a benchmark of the same ``kind``, whose return is subtracted
    direction : Direction, optional
        "min" if the numbers are costs (``kind="returns"`` or "pnl"): a return is then minus the cost. ``scale=1e-4``
        if they are in basis points

    Examples
    --------
    >>> prices = {"A": [100, 102, 101, 103], "B": [50, 50.5, 51.5, 51]}
    >>> read_returns(prices, kind="prices", periods_per_year=252).values[0]
    array([0.02, 0.01])
    """
    for name, value, choices in (
        ("kind", kind, Kind), ("direction", direction, Direction), ("missing", missing, Missing),
        ("duplicates", duplicates, Duplicates), ("unsorted", unsorted, Unsorted), ("timezones", timezones, TimeZones),
        ("constant", constant, Constant), ("risk_free_quote", risk_free_quote, Quote),
    ):  # fmt: skip
        one_of(name, value, get_args(choices))
    periods_per_year = positive("periods_per_year", periods_per_year, "252 for trading days, 12 for months")
    costs = direction == "min"
    if costs and kind not in ("returns", "pnl"):
        raise InvalidInputError(
            f"direction='min' is for costs, kind='returns' (a share of what is traded) or 'pnl', not {kind!r}"
        )
    if scale is not None:
        scale = positive("scale", scale, "0.01 for per cent")
        if kind in ("prices", "price-relatives", "pnl") and scale != 1:
            raise InvalidInputError(f"scale={scale!r} is for returns; those made from {kind} have the right scale")
    if kind == "pnl":
        capital = positive("capital", capital, "pass capital=, the money that profits and losses were made with")
    elif capital is not None:
        raise InvalidInputError(f"capital={capital!r} is for kind='pnl', profits and losses in money; leave it out")
    chosen = None if columns is None else list_of("columns", columns, "a list of names")
    if risk_free_series is not None and benchmark is not None:
        raise InvalidInputError("give risk_free_series= or benchmark=, not both")
    layout = Layout(
        separator, encoding, whole("skip_rows", skip_rows, 0), sheet, field, dates_of.check_form(date_format),
        timezones, Notation(decimal, thousands, currency, scale == 0.01),
    )  # fmt: skip
    table = sources.find(source, names, layout)
    if isinstance(date, (list, tuple)):
        table = dates_of.joined(table, date) if len(date) != 1 else table
        date = date[0]
    dated: Any = date
    if pivot is not None:
        at = dates_of.column_of(table, dated, date_format)
        table = _pivoted(table, pivot, at, duplicates)
        if at is None and missing == "error":
            missing = "keep"  # every row is an observation of one column
    against = benchmark if risk_free_series is None else risk_free_series
    hurdle_column = against if isinstance(against, str) and against in table.names else None
    if isinstance(against, str) and hurdle_column is None and not Path(against).exists():
        raise unknown("column or file", against, table.names)
    draft = drafted(table, layout, dated, chosen, hurdle_column)
    plausibility.refuse(table, draft, kind, columns is not None)
    cleaning.settle_dates(draft, missing, unsorted, duplicates)
    cleaning.close_gaps(draft, missing, kind)
    doubts = plausibility.like_relatives(draft) if kind == "prices" else []
    plausibility.refuse_levels(draft, kind, costs)
    if costs:
        draft.values = 0.0 - draft.values
        draft.notes.append("took the numbers as costs")
    cleaning.convert(draft, scale, kind, capital, costs)
    cleaning.check_enough(draft)
    cleaning.check_variation(draft, constant)
    remarks = (*plausibility.remarks(draft, kind, periods_per_year, scale, costs), *doubts)
    hurdle = None
    if against is not None:
        if hurdle_column:
            series = drafted(table, layout, dated, [hurdle_column])
        else:
            layout = layout if _of_same_type(source, against) else Layout()
            other = sources.find(against, None, layout)
            series = drafted(other, layout, dated if dated in other.names else None)
        cleaning.settle_dates(series, "drop", "sort", duplicates)
        if len(series.names) != 1:
            raise InvalidInputError(
                f"a benchmark or series of rates must be one column, got {listed(series.names)}; pass one of them"
            )
        if risk_free_series is not None:
            series.values = _rates(series, risk_free_quote, periods_per_year)
        else:
            series.keep(~np.isnan(series.values[:, 0]))
            series.values = 0.0 - series.values if costs else series.values
            cleaning.convert(series, scale, kind, capital, costs)
        hurdle = _hurdle(draft, series, risk_free_series is None, bool(hurdle_column), missing)
    draft.values.flags.writeable = False
    return Returns(
        tuple(draft.names), draft.values, draft.dates, float(periods_per_year), kind, tuple(draft.notes), remarks,
        hurdle, direction, draft.clocks,
    )  # fmt: skip


def _of_same_type(source: Any, other: Any) -> bool:
    """Whether both are files of one type, which are read with the same options."""
    files = [Path(file).suffix.lower() for file in (source, other) if isinstance(file, (str, Path))]
    return len(files) == 2 and files[0] == files[1]


def table_of(source: Any, reading: dict[str, Any]) -> Returns:
    """The given returns, or those that :func:`read_returns` reads from another table with these options."""
    if isinstance(source, Returns):
        if reading:
            raise InvalidInputError(f"these returns have been read already; pass {', '.join(reading)} to read_returns")
        return source
    return read_returns(source, **reading)


def _rates(series: Draft, quote: Quote, periods_per_year: float) -> np.ndarray:
    """Rates per period, converted from how they are quoted."""
    rates = series.values * (0.01 if quote.endswith("percent") else 1.0)
    if quote.startswith("annual"):
        rates = np.array([[per_period(rate, periods_per_year) if rate == rate else rate] for (rate,) in rates])
    yearly = np.nanmax(np.abs(rates)) * periods_per_year
    if yearly > LARGEST_RATE:
        raise InvalidInputError(
            f"rates of {series.names[0]!r} would be up to {yearly:.0%} per year if quoted as {quote!r}; pass "
            f"risk_free_quote= with another of {', '.join(get_args(Quote))}"
        )
    return rates


def _hurdle(draft: Draft, series: Draft, benchmark: bool, same_table: bool, missing: Missing) -> Hurdle:
    """The series matched to the rows of the returns: by date, or by row in the same table."""
    what = "benchmark" if benchmark else "risk-free rate"
    if draft.dates is not None and series.dates is not None:
        keys, rows = series.dates.astype("datetime64[us]"), draft.dates.astype("datetime64[us]")
    elif same_table:
        keys, rows = series.rows, draft.rows
    else:
        raise InvalidInputError(f"a {what} from another table needs dates in both tables, by which rows are matched")
    there = ~np.isnan(series.values[:, 0])
    keys, values = keys[there], series.values[there, 0]
    at = np.searchsorted(keys, rows, side="right") - 1
    exact = (at >= 0) & (keys[np.maximum(at, 0)] == rows) if len(keys) else np.zeros(len(rows), bool)
    if not exact.all():
        lacking = counted(int((~exact).sum()), "row")
        if missing != "fill" or benchmark or (at < 0).any():
            remedy = "" if benchmark else "pass missing='fill' to use the last known rate, or "
            if not exact.any() and len(keys) and not same_table:
                days = " and ".join(dates_of.in_words(dates[0]) for dates in (rows, keys))
                remedy += f"write dates alike (the first are {days}), or "
            raise InvalidInputError(
                f"the {what} {series.names[0]!r} has no value for {draft.where(int(np.argmin(exact)))} ({lacking} "
                f"without one); {remedy}shorten the table"
            )
        draft.notes.append(f"{lacking} without a rate of {series.names[0]!r} use the last known one")
    return Hurdle(series.names[0], what, values[at])


def _pivoted(source: sources.Source, pivot: Any, dated: int | None, duplicates: Duplicates) -> sources.Source:
    """The table with a row per date and a column per asset, from its columns of assets and of numbers.

    Without dates, rows stay as they are, with a value in one column each.
    """
    if not isinstance(pivot, (list, tuple)) or len(pivot) != 2:
        raise InvalidInputError(f"pivot must be two columns, as in ('ticker', 'close'), got {shown(pivot)}")
    for name in pivot:
        if name not in source.names:
            raise unknown("column", name, source.names)
    for name, column in zip(source.names, source.columns, strict=True):
        if dated is None and name not in pivot and (date := dates_of.option(name, column)):
            raise InvalidInputError(f"column {name!r} seems to hold dates; pass {date}")
    assets, numbers = (source.columns[source.names.index(name)] for name in pivot)
    begins: dict[Any, int] = {}  # the first row of each date
    cells: dict[tuple[str, Any], int] = {}
    dates = np.arange(len(assets)) if dated is None else source.columns[dated]
    for at, (date, asset) in enumerate(zip(dates, assets, strict=True)):
        if dates_of.absent(asset):
            raise InvalidInputError(f"column {pivot[0]!r}, {source.place(at)} has no asset name; correct it")
        begins.setdefault(date, at)
        before = cells.setdefault((str(asset), date), at)
        if before != at and duplicates == "error":
            raise InvalidInputError(
                f"{source.place(before)} and {source.place(at)} have the same date and {pivot[0]}, "
                f"{str(asset)!r}; pass duplicates='first' or duplicates='last'"
            )
        if duplicates == "last":
            cells[str(asset), date] = at
    wide = {asset: np.full(len(begins), None, object) for asset, _ in cells}
    row_of, origin = {date: row for row, date in enumerate(begins)}, list(begins.values())
    for (asset, date), at in cells.items():
        wide[asset][row_of[date]] = numbers[at]
    if dated is None:
        return sources.Source(list(wide), list(wide.values()), source.place, None, source.text)
    names, columns = [source.names[dated], *wide], [source.columns[dated][origin], *wide.values()]
    return sources.Source(names, columns, lambda row: source.place(origin[row]), None, source.text)
