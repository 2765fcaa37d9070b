"""Returns from a table: every doubt about the data is an error that names its place and the option that settles it."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

import numpy as np

from ..errors import InvalidInputError, listed, shown, unknown
from ..names import check_column
from ..validation import is_number, one_of, positive
from . import dates as dates_of
from . import notation, plausibility, sources
from .statistics import LARGEST_RATE, per_period, risk_free_rate

#: Returns that differ by no more than this do not vary: prices that grow evenly give ones that differ in the last bits.
CONSTANT = 1e-14
#: Text that people write for dates: 01/02/2020, 2020-1-5, 2-Jan-20, Jan 2, 2020; and for numbers: 0,004, 1,234.5, 1.5%.
_LIKE_A_DATE = re.compile(r"\d+[/.-]\d+[/.-]\d+|\d+[ -][A-Za-z]{3}|[A-Za-z]{3,9}\.? \d")
_LIKE_A_NUMBER = re.compile(r"[-+(]?[$€£]?\s?\d[\d,. ]*\s?%?\)?")
#: Larger returns are refused: powers of them are not to exceed the largest number.
_LARGEST = 1e9
#: What the numbers of a table may be, and what becomes of gaps.
KINDS = ("prices", "returns", "log-returns")
MISSING = ("error", "drop", "fill", "keep")
#: How a series of risk-free rates may be quoted.
QUOTES = ("per-period", "annual", "per-period-percent", "annual-percent")
#: Columns that a note on gaps names.
_NAMED = 5
#: Returns needed for a mean and a variance that say anything.
LEAST_ROWS = 3


@dataclass(frozen=True, eq=False)
class Hurdle:
    """What is taken off every return before it is judged: a series of risk-free rates, or a benchmark's returns.

    Attributes
    ----------
    name, kind : str
        and whether it is a "risk-free rate" or a "benchmark"
    values : numpy.ndarray
        per period, one per row
    """

    name: str
    kind: str
    values: np.ndarray

    @property
    def words(self) -> str:
        """What is judged."""
        what = "active returns, less those of" if self.kind == "benchmark" else "excess returns, less the rate"
        return f"{what} {self.name} in the same row ({100 * self.values.mean():.4g}% per period on average)"


@dataclass(frozen=True, eq=False)
class Returns:
    """Simple returns per period, a column per arm.

    Attributes
    ----------
    names : tuple[str, ...]
        one per column
    values : numpy.ndarray
        (rows, columns) simple returns per period: 0.01 is one per cent; not a number where a column has none, if that
        was asked for (``missing="keep"``)
    dates : numpy.ndarray | None
        one per row, in UTC where they had a time zone; None where the table has none
    periods_per_year : float
        by which everything is annualised
    kind : str
        what the source held, "prices", "returns" or "log-returns"
    notes : tuple[str, ...], optional
        what was dropped, filled, sorted on the way in, in words
    remarks : tuple[str, ...], optional
        what may be a mistake in the table, each with its remedy; shown on top of every result
    hurdle : Hurdle | None, optional
        what is taken off every return before it is judged, if it is a series

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> table = {"A": [0.01, -0.02, 0.03], "B": [0.0, 0.01, 0.02]}
    >>> returns = sb.read_returns(table, kind="returns", periods_per_year=12)
    >>> returns.names, returns.values.shape
    (('A', 'B'), (3, 2))
    """

    names: tuple[str, ...]
    values: np.ndarray
    dates: np.ndarray | None
    periods_per_year: float
    kind: str
    notes: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    hurdle: Hurdle | None = None

    @property
    def excess(self) -> np.ndarray:
        """Returns less the hurdle of their row; a single risk-free rate is not taken off here."""
        return self.values if self.hurdle is None else self.values - self.hurdle.values[:, None]

    def rate(self, risk_free: float, risk_free_per_period: float | None) -> float:
        """The risk-free rate per period (see :func:`statistics.risk_free_rate`): 0 where there is a hurdle."""
        if self.hurdle is not None and (risk_free != 0 or risk_free_per_period is not None):
            raise InvalidInputError(
                f"returns are judged against the {self.hurdle.kind} {self.hurdle.name!r} already; leave risk_free= "
                "(--risk-free) out"
            )
        return risk_free_rate(risk_free, risk_free_per_period, self.periods_per_year)

    @property
    def convention(self) -> str:
        """Scale of the returns and how they are annualised, in words; stands beside every figure."""
        return f"simple returns per period, 0.01 = 1%; {self.periods_per_year:g} periods a year"

    @property
    def span(self) -> str:
        """How many rows there are, and from when to when."""
        if self.dates is None:
            return f"{len(self.values):,} returns"
        first, last = dates_of.in_words(self.dates[0]), dates_of.in_words(self.dates[-1])
        return f"{len(self.values):,} returns, {first} to {last}"

    @property
    def counts(self) -> np.ndarray:
        """How many returns each column has."""
        return (~np.isnan(self.values)).sum(axis=0)

    @property
    def complete(self) -> bool:
        """Whether every column has a return in every row."""
        return not np.isnan(self.values).any()

    def own(self, column: int | str) -> np.ndarray:
        """The returns of one column, by number or name, in the rows where it has one."""
        values = self.values[:, self.names.index(column) if isinstance(column, str) else column]
        return np.asarray(values[~np.isnan(values)])

    def common(self) -> Returns:
        """The rows in which every column has a return."""
        whole = ~np.isnan(self.values).any(axis=1)
        dates = None if self.dates is None else self.dates[whole]
        hurdle = self.hurdle and replace(self.hurdle, values=self.hurdle.values[whole])
        return replace(self, values=self.values[whole], dates=dates, hurdle=hurdle)

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return f"Returns({', '.join(self.names)}: {self.span}; {self.convention})"


def read_returns(
    source: Any,
    *,
    kind: str,
    periods_per_year: float,
    date: str | None = None,
    columns: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    scale: float | None = None,
    missing: str = "error",
    duplicates: str = "error",
    unsorted: str = "error",
    timezones: str = "error",
    constant: str = "error",
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
    risk_free_quote: str = "per-period",
    benchmark: Any = None,
) -> Returns:
    """Read returns, or prices and make returns of them. Nothing is guessed, dropped or filled unless asked for.

    Parameters
    ----------
    source : Any
        path of a CSV, Parquet or spreadsheet file, pandas or polars frame, Arrow table, dictionary of columns, 2-d
        array
    kind : str
        what the numbers are, "prices", "returns" (simple ones) or "log-returns"
    periods_per_year : float
        how many rows make a year: 252 for trading days, 12 for months
    date : str | None, optional
        the column of dates; by default a frame's index or a first column that holds dates
    columns : Sequence[str] | None, optional
        only these, in this order
    names : Sequence[str] | None, optional
        of the columns of an array
    scale : float | None, optional
        what returns are multiplied by: 0.01 for per cent, with or without a sign. By default returns above 100% are
        refused, since they may be per cent; ``scale=1`` accepts them
    missing : str, optional
        "error"; "drop" the rows with a gap; "fill" it with the last price before, or a return of 0; "keep" it, so that
        every column has a history of its own (the return after a gap in prices spans it)
    duplicates : str, optional
        rows with the same date: "error", or keep the "first" or the "last"
    unsorted : str, optional
        "error", or "sort" by date
    timezones : str, optional
        dates of several zones, or some with and some without: "error", or all in "utc" (those without one are taken to
        be so already)
    constant : str, optional
        columns that do not vary, and have no Sharpe ratio: "error" or "drop"
    separator, encoding : str, optional
        of the values in a CSV file, and of its text
    skip_rows : int, optional
        lines of a file, or rows of a sheet, before the one with the names of columns
    sheet : str | None, optional
        of a spreadsheet that has several
    field : str | None, optional
        which number of each asset, such as "Close", where columns have two levels or lines of names (yfinance)
    pivot : Sequence[str] | None, optional
        the column of names and the one of numbers, where a table has a row per date and asset
    date_format : str | None, optional
        of dates, such as "%d/%m/%Y"; "excel", "s", "ms", "us" or "ns" for numbers that count days of a spreadsheet, or
        time since 1970
    decimal, thousands, currency : str, optional
        signs in numbers that are text: before decimals, between thousands, of a currency
    risk_free_series : Any, optional
        risk-free rates by row: the name of a column, or another table with a column of dates and one of rates (a file
        of the same type is read with the same options, any other table without them). Returns are judged less the rate
        of their row
    risk_free_quote : str, optional
        what those rates are, "per-period", "annual", or either in per cent: "per-period-percent", "annual-percent"
    benchmark : Any, optional
        instead, a benchmark of the same ``kind``: the name of a column, or another table. Returns are judged less its
        return in their row

    Examples
    --------
    >>> prices = {"A": [100, 102, 101, 103], "B": [50, 50.5, 51.5, 51]}
    >>> read_returns(prices, kind="prices", periods_per_year=252).values[0]
    array([0.02, 0.01])
    """
    one_of("kind", kind, KINDS)
    remedy = "252 for trading days, 52 for weeks, 12 for months"
    periods_per_year = positive("periods_per_year", periods_per_year, remedy)
    one_of("missing", missing, MISSING)
    one_of("duplicates", duplicates, ("error", "first", "last"))
    one_of("unsorted", unsorted, ("error", "sort"))
    one_of("timezones", timezones, ("error", "utc"))
    one_of("constant", constant, ("error", "drop"))
    if scale is not None:
        scale = positive("scale", scale, "0.01 for per cent")
        if kind == "prices" and scale != 1:
            raise InvalidInputError(f"scale={scale!r} is for returns; those made from prices have the right scale")
    if columns is not None and (isinstance(columns, str) or not isinstance(columns, Iterable)):
        raise InvalidInputError(f"columns must be a list of names, got {shown(columns)}; pass [{shown(columns)}]")

    dates_of.check_form(date_format)
    one_of("risk_free_quote", risk_free_quote, QUOTES)
    if risk_free_series is not None and benchmark is not None:
        raise InvalidInputError(
            "give risk_free_series= or benchmark=, not both: returns are judged against one of them"
        )
    written = notation.Notation(decimal, thousands, currency, scale == 0.01)
    layout = sources.Layout(separator, encoding, skip_rows, sheet, field, pivot, written.plain)
    found = sources.find(source, names, layout)
    found = sources.pivoted(found, layout, dates_of.column_of(found, date, date_format), duplicates)
    against = benchmark if risk_free_series is None else risk_free_series
    apart = against if isinstance(against, str) and against in found.names else None
    draft = _draft(found, date, date_format, None if columns is None else list(columns), written, apart)
    plausibility.refuse(found, draft, kind, columns is not None)
    _date_rows(draft, missing, timezones)
    _order_rows(draft, unsorted)
    _single_rows(draft, duplicates)
    _finite(draft)
    _close_gaps(draft, missing, kind)
    prices = draft.values if kind == "prices" else None
    if kind == "prices":
        _make_returns(draft)
    else:
        _rescale(draft, scale, kind)
    _moderate(draft)
    _enough(draft, kind)
    _vary(draft, constant)
    remarks = tuple(plausibility.remarks(draft, kind, periods_per_year, prices))
    hurdle = None
    if against is not None:
        if apart:
            series = _draft(found, date, date_format, [apart], written)
        elif sources.alike(source, against):
            other = sources.find(against, None, replace(layout, pivot=None))
            series = _draft(other, date if date in other.names else None, date_format, None, written)
        else:
            series = _draft(sources.find(against, None, sources.Layout()), None, None, None, notation.Notation())
        _date_rows(series, "drop", timezones)
        _order_rows(series, "sort")
        _single_rows(series, duplicates)
        if len(series.names) != 1:
            raise InvalidInputError(
                f"a benchmark or series of rates must be one column, got {listed(series.names)}; name one of the "
                "table's columns, or give a table of one"
            )
        if risk_free_series is None:
            series.keep(~np.isnan(series.values[:, 0]))
            _make_returns(series) if kind == "prices" else _rescale(series, scale, kind)
        else:
            series.values = _rates(series, risk_free_quote, periods_per_year)
        hurdle = _hurdle(draft, series, risk_free_series is None, bool(apart), missing)
    draft.values.flags.writeable = False
    notes = tuple(draft.notes)
    return Returns(tuple(draft.names), draft.values, draft.dates, float(periods_per_year), kind, notes, remarks, hurdle)


def _rates(series: _Draft, quote: str, periods_per_year: float) -> np.ndarray:
    """Rates per period, from how they are quoted."""
    rates = series.values * (0.01 if quote.endswith("percent") else 1.0)
    if quote.startswith("annual"):
        rates = np.array([[per_period(rate, periods_per_year) if rate == rate else rate] for (rate,) in rates])
    yearly = np.nanmax(np.abs(rates)) * periods_per_year
    if yearly > LARGEST_RATE:
        raise InvalidInputError(
            f"rates of {series.names[0]!r} would be up to {yearly:.0%} a year as {quote!r}; pass risk_free_quote= "
            f"(--risk-free-quote) with another of {', '.join(QUOTES)}"
        )
    return rates


def _hurdle(draft: _Draft, series: _Draft, benchmark: bool, same_table: bool, missing: str) -> Hurdle:
    """The series in the rows of the returns: by date, or by row of the same table."""
    what = "benchmark" if benchmark else "risk-free rate"
    if same_table:
        keys, wanted = series.rows, draft.rows
    elif draft.dates is None or series.dates is None:
        raise InvalidInputError(
            f"a {what} from another table needs dates in both tables, to know which rows belong together"
        )
    else:
        keys, wanted = series.dates.astype("datetime64[us]"), draft.dates.astype("datetime64[us]")
    there = ~np.isnan(series.values[:, 0])
    order = np.argsort(keys[there], kind="stable")
    keys, values = keys[there][order], series.values[there, 0][order]
    at = np.searchsorted(keys, wanted, side="right") - 1
    exact = (at >= 0) & (keys[np.maximum(at, 0)] == wanted) if len(keys) else np.zeros(len(wanted), bool)
    if not exact.all():
        lacking = _count(int((~exact).sum()), "row")
        fill = missing == "fill" and not benchmark and bool((at >= 0).all())
        if not fill:
            first = int(np.argmin(exact))
            remedy = "" if benchmark else f"; pass {_pass('missing', 'fill')} for the last rate before"
            raise InvalidInputError(
                f"the {what} {series.names[0]!r} has no value for {draft.where(first)} ({lacking} without one)"
                f"{remedy}, or shorten the table"
            )
        draft.notes.append(f"{lacking} without a rate of {series.names[0]!r} took the last one before")
    return Hurdle(series.names[0], what, values[at])


@dataclass
class _Draft:
    """The table on its way: ``rows`` are those of the source that are left, so that an error can name them."""

    names: list[str]
    values: np.ndarray
    dates: np.ndarray | None
    zones: list[str | None]
    rows: np.ndarray
    place: Callable[[int], str]
    notes: list[str] = field(default_factory=list)

    def keep(self, which: np.ndarray) -> None:
        self.values, self.rows = self.values[which], self.rows[which]
        self.dates = None if self.dates is None else self.dates[which]

    def where(self, row: int, column: int | None = None) -> str:
        """``column 'A', line 5 (2020-01-07)``."""
        name = "" if column is None else f"column {shown(self.names[column])}, "
        date = "" if self.dates is None or np.isnat(self.dates[row]) else f" ({dates_of.in_words(self.dates[row])})"
        return f"{name}{self.place(int(self.rows[row]))}{date}"


def _pass(option: str, value: str) -> str:
    return f"{option}={value!r} (--{option} {value})"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _draft(
    source: sources.Source,
    date: str | None,
    date_format: str | None,
    columns: Sequence[str] | None,
    written: notation.Notation,
    apart: str | None = None,
) -> _Draft:
    dated = dates_of.column_of(source, date, date_format)
    notes = []
    if source.index is not None and source.index != dated:
        notes.append(f"left out the index {shown(source.names[source.index])}, which is not the column of dates")
    if source.text and columns is None:
        _refuse_data_as_names(source)
    there = [p for p, name in enumerate(source.names) if p not in (dated, source.index) and name != apart]
    chosen = there if columns is None else _positions(source, columns, there)
    if not chosen:
        raise InvalidInputError(f"there is no column of numbers; the columns are {listed(source.names, '-')}")
    unnamed = next((p for p in chosen if not source.names[p]), None)
    if unnamed is not None:
        raise InvalidInputError(
            f"column {unnamed + 1} has no name; name it, choose others with columns= (--columns), or pass skip_rows= "
            "(--skip-rows) if the names stand further down"
        )
    named = [source.names[p] for p in [*chosen, *([] if dated is None else [dated])]]
    times = Counter(named if columns is None else source.names)
    twice = next((name for name in named if times[name] > 1), None)
    if twice is not None:
        raise InvalidInputError(
            f"two columns are called {shown(twice)}; give one of them another name{_two_lines(source, twice)}"
        )
    if dated is None and columns is None:
        dates_of.refuse_digits(source.names[chosen[0]], source.columns[chosen[0]], source.place)
    names = [check_column(source.names[p]) for p in chosen]
    length = len(source.columns[chosen[0]])
    moments: np.ndarray | None = None
    zones: list[str | None] = []
    if dated is not None:
        moments, zones = dates_of.read(source.names[dated], source.columns[dated], source.place, date_format)
    draft = _Draft(names, np.empty((length, len(names))), moments, zones, np.arange(length), source.place, notes)
    for number, position in enumerate(chosen):
        try:
            draft.values[:, number] = _numbers(draft, number, source.columns[position], source.text, written)
        except InvalidInputError as error:
            raise InvalidInputError(f"{error}{_long_form(source, dated, position)}") from None
    return draft


def _two_lines(source: sources.Source, name: str) -> str:
    """A hint at ``field=`` where a file seems to have two lines of names."""
    firsts = [sources.plain_values(column[:1]) for column in source.columns[1:]]
    names = [first[0] for first in firsts if first]
    if source.index is None and names and all(isinstance(n, str) and not _is_datum(n) for n in names):
        return f", or pass field={name!r} (--field {shown(name)}) if the line below names the assets"
    return ""


def _long_form(source: sources.Source, dated: int | None, text: int) -> str:
    """A hint at ``pivot=`` where dates repeat beside a column of text."""
    if dated is None:
        return ""
    dates = sources.plain_values(source.columns[dated])
    if 2 * len(set(map(shown, dates))) > len(dates):
        return ""
    value = next((p for p in range(len(source.names) - 1, -1, -1) if p not in (dated, text)), None)
    if value is None:
        return ""
    name, number = source.names[text], source.names[value]
    return (
        f"; dates repeat: if the table has a row per date and {name!r}, pass pivot=({name!r}, {number!r}) (--pivot "
        f"{shown(name)} {shown(number)})"
    )


def _positions(source: sources.Source, columns: Sequence[str], there: list[int]) -> list[int]:
    """Where the columns of these names stand."""
    at = {name: position for position, name in reversed(list(enumerate(source.names)))}
    allowed, chosen = set(there), []
    for name in columns:
        if not isinstance(name, str) or name not in at:
            raise unknown("column", name, [source.names[p] for p in there])
        if at[name] not in allowed:
            raise InvalidInputError(f"column {shown(name)} is the one of dates, and cannot be one of returns too")
        chosen.append(at[name])
    if len(set(chosen)) < len(chosen):
        raise InvalidInputError(f"columns must be different ones, got {shown(columns)}")
    return chosen


def _refuse_data_as_names(source: sources.Source) -> None:
    """Raise if the first line of a file holds numbers and dates only, so that it seems to be data."""
    named = [name for name in source.names if name]
    if named and all(map(_is_datum, named)):
        raise InvalidInputError(
            f"the first line seems to hold data and not the names of columns: {listed(named[:3])}; write a line with a "
            "name per column above it, or choose with columns= (--columns) if these are names"
        )


def _is_datum(name: str) -> bool:
    number = _number(name, True)
    return dates_of.as_datetime(name) is not None or (number is not None and math.isfinite(number))


def _numbers(draft: _Draft, number: int, column: Any, text: bool, written: notation.Notation) -> np.ndarray:
    """A column as floats, not a number where a value is missing."""
    import pyarrow as pa

    if not written.plain and (text or (isinstance(column, list) or not pa.types.is_primitive(column.type))):
        things = [thing for thing in sources.plain_values(column) if not dates_of.absent(thing)]
        if things and all(isinstance(thing, str) for thing in things):
            things = [None if dates_of.absent(thing) else thing for thing in sources.plain_values(column)]
            values, bad = written.numbers(pa.array(things, pa.large_string()))
            if bad is not None:
                raise InvalidInputError(f"{draft.where(bad, number)}: {_misread(things[bad], written)}")
            return values
    if isinstance(column, pa.Array):
        kind = column.type
        if pa.types.is_null(kind):
            return np.full(len(column), np.nan)
        numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
        if numeric or text:
            try:
                return np.asarray(column.cast(pa.float64(), safe=not numeric).to_numpy(zero_copy_only=False), float)
            except pa.ArrowException:
                pass  # found one by one below
        column = sources.plain_values(column)
    values = np.full(len(column), np.nan)
    for row, thing in enumerate(column):
        if dates_of.absent(thing):
            continue
        value = _number(thing, text)
        if value is None:
            raise InvalidInputError(f"{draft.where(row, number)}: {_no_number(draft.names[number], thing, column)}")
        values[row] = value
    return values


def _number(thing: Any, text: bool) -> float | None:
    # Python alone would read 1_000
    if is_number(thing) or isinstance(thing, Decimal) or (text and isinstance(thing, str) and "_" not in thing):
        try:
            return float(thing)
        except Exception:  # numbers of another's making may fail in any way
            return None
    return None


def _misread(thing: str, written: notation.Notation) -> str:
    """What is wrong with a number that is not written as was said."""
    said = f"decimal={written.decimal!r}, thousands={written.thousands!r}, currency={written.currency!r}"
    if written.percent and "%" not in thing:
        said += ", where other values of the column have a per cent sign"
    fits = notation.remedy(thing)
    return f"{shown(thing)} is no number with {said}; correct it{f', or pass {fits}' if fits else ''}"


def _no_number(name: str, thing: Any, column: Any) -> str:
    other = "columns= (--columns)"
    if is_number(thing):
        return f"{shown(thing)} is a number that cannot be computed with; correct it, or choose with {other}"
    if dates_of.as_datetime(thing) is not None:
        return (
            f"{shown(thing)} is a date, not a number; pass date={shown(name)} (--date) if it dates the rows, or "
            f"choose with {other}"
        )
    if isinstance(thing, str) and _LIKE_A_DATE.match(thing.strip()):
        form = dates_of.remedy(column)
        read = f"pass date={shown(name)} (--date) and {form}" if form else "write it as 2020-01-31"
        return f"{shown(thing)} is not a number; if it is a date {read}, so that it need not be guessed"
    fits = notation.remedy(thing) if isinstance(thing, str) and len(thing) < 100 else None
    if fits is not None:
        return f"{shown(thing)} is text, not a plain number; pass {fits}"
    if isinstance(thing, str) and len(thing) < 100 and _LIKE_A_NUMBER.fullmatch(thing.strip()):
        return (
            f"{shown(thing)} is text, not a number; write it with a point before its decimals and nothing else, as "
            "1234.5"
        )
    text = "text, " if isinstance(thing, str) else ""
    return f"{shown(thing)} is {text}not a number; correct it, or choose with {other}"


def _date_rows(draft: _Draft, missing: str, timezones: str) -> None:
    """Every row has a date, and all dates are of one zone."""
    if draft.dates is None:
        return
    undated = np.isnat(draft.dates)
    zones = itertools.compress(draft.zones, (~undated).tolist()) if undated.any() else draft.zones
    known = list(dict.fromkeys(zones))
    if len(known) > 1:
        _one_zone(draft, known, undated, timezones)
    elif known and known[0] not in (None, "UTC"):
        draft.notes.append(f"dates are in UTC; the table had them in {known[0]}")
    if undated.any():
        if missing != "drop":
            first = int(undated.argmax())
            raise InvalidInputError(
                f"{draft.where(first)} has no date ({_count(int(undated.sum()), 'row')} in all); "
                f"pass {_pass('missing', 'drop')} to leave such rows out"
            )
        draft.notes.append(f"dropped {_count(int(undated.sum()), 'row')} without a date")
        draft.keep(~undated)


def _one_zone(draft: _Draft, known: list[str | None], undated: np.ndarray, timezones: str) -> None:
    words = [zone or "no time zone" for zone in known]
    if timezones == "error":
        odd = next(r for r, zone in enumerate(draft.zones) if zone != known[0] and not undated[r])
        raise InvalidInputError(
            f"dates are of several time zones: {draft.where(odd)} is of {words[1]}, those before of {words[0]}; "
            f"pass {_pass('timezones', 'utc')} to have all in UTC (dates without a zone are taken to be so already)"
        )
    aside = ", those without one taken to be so already" if None in known else ""
    draft.notes.append(f"dates of several time zones ({', '.join(words)}) are in UTC{aside}")


def _order_rows(draft: _Draft, unsorted: str) -> None:
    if draft.dates is None or len(draft.dates) < 2:
        return
    back = np.diff(draft.dates) < np.timedelta64(0)
    if not back.any():
        return
    first = int(back.argmax()) + 1
    if unsorted == "error":
        whole = "; the newest come first" if (np.diff(draft.dates) <= np.timedelta64(0)).all() else ""
        raise InvalidInputError(
            f"dates are not in order: {draft.where(first)} comes after {draft.where(first - 1)}{whole}; "
            f"pass {_pass('unsorted', 'sort')}"
        )
    draft.notes.append(f"sorted by date ({draft.where(first)} came after {draft.where(first - 1)})")
    draft.keep(np.argsort(draft.dates, kind="stable"))


def _single_rows(draft: _Draft, duplicates: str) -> None:
    if draft.dates is None or len(draft.dates) < 2:
        return
    same = np.diff(draft.dates) == np.timedelta64(0)
    if not same.any():
        return
    first = int(same.argmax())
    if duplicates == "error":
        raise InvalidInputError(
            f"{draft.where(first)} and {draft.where(first + 1)} have the same date "
            f"({_count(int(same.sum()), 'row')} too many in all); pass {_pass('duplicates', 'first')} or "
            f"{_pass('duplicates', 'last')}"
        )
    surplus = np.append(same, False) if duplicates == "last" else np.insert(same, 0, False)
    draft.notes.append(f"kept the {duplicates} row of each date: {_count(int(surplus.sum()), 'row')} dropped")
    draft.keep(~surplus)


def _first(bad: np.ndarray) -> tuple[int, int]:
    row, column = np.unravel_index(int(bad.argmax()), bad.shape)
    return int(row), int(column)


def _finite(draft: _Draft) -> None:
    infinite = np.isinf(draft.values)
    if infinite.any():
        row, column = _first(infinite)
        raise InvalidInputError(f"{draft.where(row, column)}: {draft.values[row, column]} is not finite; correct it")


def _close_gaps(draft: _Draft, missing: str, kind: str) -> None:
    gaps = np.isnan(draft.values)
    if not gaps.any():
        return
    row, column = _first(gaps)
    number = _count(int(gaps.sum()), "value")
    lost = gaps.any(axis=1)
    if missing == "error":
        filled = "the last price before" if kind == "prices" else "a return of 0"
        raise InvalidInputError(
            f"{draft.where(row, column)} has no value ({number} missing in {_count(int(lost.sum()), 'row')} and "
            f"{_count(int(gaps.any(axis=0).sum()), 'column')}: {_lacking(draft, gaps)}); pass "
            f"{_pass('missing', 'keep')} to have every column on its own history, {_pass('missing', 'drop')} to leave "
            f"such rows out, or {_pass('missing', 'fill')} for {filled}"
        )
    if missing == "drop":
        draft.notes.append(
            f"dropped {lost.sum():,} of {_count(len(gaps), 'row')}: {number} missing ({_lacking(draft, gaps)})"
        )
        draft.keep(~lost)
        return
    if missing == "keep":
        draft.notes.append(f"every column has a history of its own: {number} missing ({_lacking(draft, gaps)})")
        draft.keep(~gaps.all(axis=1))
        return
    if kind != "prices":
        draft.values[gaps] = 0.0
        draft.notes.append(f"filled {number.replace('value', 'missing return')} with 0")
        return
    if gaps[0].any():
        column = int(gaps[0].argmax())
        raise InvalidInputError(
            f"{draft.where(0, column)} has no price and none before to fill it with; pass {_pass('missing', 'keep')} "
            f"or {_pass('missing', 'drop')}, or choose other columns= (--columns)"
        )
    last = np.maximum.accumulate(np.where(gaps, 0, np.arange(len(gaps))[:, None]), axis=0)
    draft.values = np.take_along_axis(draft.values, last, axis=0)
    draft.notes.append(f"filled {number.replace('value', 'missing price')} with the last price before")


def _lacking(draft: _Draft, gaps: np.ndarray) -> str:
    """Which columns lack values, how many, and how many rows each costs alone."""
    lacks, alone = gaps.sum(axis=0), gaps[gaps.sum(axis=1) == 1].sum(axis=0)
    most = [k for k in np.argsort(-lacks, kind="stable") if lacks[k]]
    words = [
        f"{shown(draft.names[k])} lacks {lacks[k]:,}" + (f", {alone[k]:,} of them alone" if alone[k] else "")
        for k in most[:_NAMED]
    ]
    more = [f"and {len(most) - _NAMED} more columns"] if len(most) > _NAMED else []
    return "; ".join(words + more)


def _make_returns(draft: _Draft) -> None:
    low = draft.values <= 0
    if low.any():
        row, column = _first(low)
        raise InvalidInputError(
            f"{draft.where(row, column)}: a price must be above 0, got {draft.values[row, column]:g}; correct it, "
            "choose other columns= (--columns), or say kind='returns' (--kind returns) if these are returns"
        )
    before = draft.values[:-1]
    gaps = np.isnan(draft.values)
    if gaps.any():  # the last price that there is
        held = np.maximum.accumulate(np.where(gaps, 0, np.arange(len(gaps))[:, None]), axis=0)
        before = np.take_along_axis(draft.values, held, axis=0)[:-1]
    with np.errstate(over="ignore"):  # looked at below
        values = draft.values[1:] / before - 1
    spans = int((gaps[:-1] & ~np.isnan(values)).sum())
    if spans:
        draft.notes.append(f"{_count(spans, 'return')} {'span' if spans > 1 else 'spans'} a gap in prices")
    draft.values, draft.rows = values, draft.rows[1:]
    draft.dates = None if draft.dates is None else draft.dates[1:]
    if gaps.any():
        draft.keep(~np.isnan(values).all(axis=1))


def _rescale(draft: _Draft, scale: float | None, kind: str) -> None:
    if scale is not None and scale != 1:
        with np.errstate(over="ignore"):  # looked at below
            draft.values = draft.values * scale
        draft.notes.append(f"multiplied returns by {scale:g}")
    if kind == "log-returns":
        with np.errstate(over="ignore"):  # looked at below
            draft.values = np.expm1(draft.values)
        draft.notes.append("made simple returns of logarithmic ones")
    lost = draft.values < -1
    large = lost if scale is not None else np.abs(draft.values) > 1
    if not large.any():
        return
    row, column = _first(lost if lost.any() else large)
    value = draft.values[row, column]
    what = "a loss of more than 100%" if value < -1 else "a gain of more than 100%"
    remedy = "if returns are in per cent pass scale=0.01 (--percent)" if scale is None else "choose another scale="
    remedy += ", if they are logarithmic kind='log-returns' (--kind log-returns)" if value < -1 else ""
    accept = "" if lost.any() or scale is not None else "; if it is true pass scale=1 (--scale 1)"
    prices = "; if these are prices say kind='prices' (--kind prices)" if scale is None else ""
    raise InvalidInputError(f"{draft.where(row, column)}: a return of {value:g} is {what}; {remedy}{accept}{prices}")


def _moderate(draft: _Draft) -> None:
    """No return is so large that its square, or the sum of all squares, is beyond the largest number."""
    large = ~(np.abs(draft.values) <= _LARGEST) & ~np.isnan(draft.values)
    if large.any():
        row, column = _first(large)
        raise InvalidInputError(
            f"{draft.where(row, column)}: a return of {draft.values[row, column]:g} is too large to be true or to be "
            "computed with; correct it, or choose other columns= (--columns)"
        )


def _enough(draft: _Draft, kind: str) -> None:
    counts = (~np.isnan(draft.values)).sum(axis=0)
    short = int(counts.argmin())
    number = int(counts[short])
    if number >= LEAST_ROWS:
        return
    if number < len(draft.values):
        raise InvalidInputError(
            f"column {shown(draft.names[short])} has {_count(number, 'return')}, and at least {LEAST_ROWS} are needed; "
            "leave it out with columns= (--columns)"
        )
    needed = f"{LEAST_ROWS + 1} prices" if kind == "prices" else f"{LEAST_ROWS} returns"
    done = f" (on the way: {'; '.join(draft.notes)})" if draft.notes else ""
    raise InvalidInputError(f"at least {needed} are needed, there is enough for {_count(number, 'return')}{done}")


def _vary(draft: _Draft, constant: str) -> None:
    still = np.nanmax(draft.values, axis=0) - np.nanmin(draft.values, axis=0) <= CONSTANT
    if not still.any():
        return
    first = int(still.argmax())
    if constant == "error" or still.all():
        remedy = f"; pass {_pass('constant', 'drop')}" if not still.all() else ""
        value = np.nanmin(draft.values[:, first])
        raise InvalidInputError(
            f"column {shown(draft.names[first])} does not vary: its return is {value:g} from {draft.where(0)} to "
            f"{draft.where(len(draft.values) - 1)}, so it has no Sharpe ratio{remedy}"
        )
    dropped = [name for name, flat in zip(draft.names, still, strict=True) if flat]
    draft.notes.append(f"dropped {listed(dropped)}, which do{'es' * (len(dropped) == 1)} not vary")
    draft.names = [name for name, flat in zip(draft.names, still, strict=True) if not flat]
    draft.values = np.ascontiguousarray(draft.values[:, ~still])
