"""Returns from a table: every doubt about the data is an error that names its place and the option that settles it."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np

from ..errors import InvalidInputError, listed, shown, unknown
from ..names import check_column
from ..validation import is_number, one_of, positive
from . import dates as dates_of
from . import plausibility, sources

#: Returns that differ by no more than this do not vary: prices that grow evenly give ones that differ in the last bits.
CONSTANT = 1e-14
#: Text that people write for dates: 01/02/2020, 2020-1-5, 2-Jan-20, Jan 2, 2020; and for numbers: 0,004, 1,234.5, 1.5%.
_LIKE_A_DATE = re.compile(r"\d+[/.-]\d+[/.-]\d+|\d+[ -][A-Za-z]{3}|[A-Za-z]{3,9}\.? \d")
_LIKE_A_NUMBER = re.compile(r"[-+(]?[$€£]?\s?\d[\d,. ]*\s?%?\)?")
#: Larger returns are refused: powers of them are not to exceed the largest number.
_LARGEST = 1e9
#: Returns needed for a mean and a variance that say anything.
LEAST_ROWS = 3


@dataclass(frozen=True, eq=False)
class Returns:
    """Simple returns per period, a column per arm.

    Attributes
    ----------
    names : one per column
    values : (rows, columns) simple returns per period: 0.01 is one per cent
    dates : one per row, in UTC where they had a time zone; None where the table has none
    periods_per_year : by which everything is annualised
    kind : what the source held, "prices" or "returns"
    notes : what was dropped, filled, sorted on the way in, in words
    remarks : what may be a mistake in the table, each with its remedy; shown on top of every result
    """

    names: tuple[str, ...]
    values: np.ndarray
    dates: np.ndarray | None
    periods_per_year: float
    kind: str
    notes: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

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
) -> Returns:
    """Read returns, or prices and make returns of them. Nothing is guessed, dropped or filled unless asked for.

    Parameters
    ----------
    source : path of a CSV or Parquet file, pandas or polars frame, Arrow table, dictionary of columns, 2-d array
    kind : what the numbers are, "prices" or "returns" (simple ones)
    periods_per_year : how many rows make a year: 252 for trading days, 12 for months
    date : the column of dates; by default a frame's index or a first column that holds dates
    columns : only these, in this order
    names : of the columns of an array
    scale : what returns are multiplied by: 0.01 for per cent. By default returns above 100% are refused, since they
        may be per cent; ``scale=1`` accepts them
    missing : "error"; "drop" the rows with a gap; "fill" it with the last price before, or a return of 0
    duplicates : rows with the same date: "error", or keep the "first" or the "last"
    unsorted : "error", or "sort" by date
    timezones : dates of several zones, or some with and some without: "error", or all in "utc" (those without one are
        taken to be so already)
    constant : columns that do not vary, and have no Sharpe ratio: "error" or "drop"
    separator : of the values in a CSV file

    Examples
    --------
    >>> prices = {"A": [100, 102, 101, 103], "B": [50, 50.5, 51.5, 51]}
    >>> read_returns(prices, kind="prices", periods_per_year=252).values[0]
    array([0.02, 0.01])
    """
    one_of("kind", kind, ("prices", "returns"))
    remedy = "252 for trading days, 52 for weeks, 12 for months"
    periods_per_year = positive("periods_per_year", periods_per_year, remedy)
    one_of("missing", missing, ("error", "drop", "fill"))
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

    found = sources.find(source, names, separator)
    draft = _draft(found, date, None if columns is None else list(columns))
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
        _rescale(draft, scale)
    _moderate(draft)
    _enough(draft, kind)
    _vary(draft, constant)
    remarks = tuple(plausibility.remarks(draft, kind, periods_per_year, prices))
    draft.values.flags.writeable = False
    notes = tuple(draft.notes)
    return Returns(tuple(draft.names), draft.values, draft.dates, float(periods_per_year), kind, notes, remarks)


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


def _draft(source: sources.Source, date: str | None, columns: Sequence[str] | None) -> _Draft:
    dated = dates_of.column_of(source, date)
    notes = []
    if source.index is not None and source.index != dated:
        notes.append(f"left out the index {shown(source.names[source.index])}, which is not the column of dates")
    if source.text and columns is None:
        _refuse_data_as_names(source)
    there = [p for p in range(len(source.names)) if p not in (dated, source.index)]
    chosen = there if columns is None else _positions(source, columns, there)
    if not chosen:
        raise InvalidInputError(f"there is no column of numbers; the columns are {listed(source.names, '-')}")
    unnamed = next((p for p in chosen if not source.names[p]), None)
    if unnamed is not None:
        raise InvalidInputError(
            f"column {unnamed + 1} has no name; name it, or choose others with columns= (--columns)"
        )
    named = [source.names[p] for p in [*chosen, *([] if dated is None else [dated])]]
    times = Counter(named if columns is None else source.names)
    twice = next((name for name in named if times[name] > 1), None)
    if twice is not None:
        raise InvalidInputError(f"two columns are called {shown(twice)}; give one of them another name")
    if dated is None and columns is None:
        dates_of.refuse_digits(source.names[chosen[0]], source.columns[chosen[0]], source.place)
    names = [check_column(source.names[p]) for p in chosen]
    length = len(source.columns[chosen[0]])
    moments: np.ndarray | None = None
    zones: list[str | None] = []
    if dated is not None:
        moments, zones = dates_of.read(source.names[dated], source.columns[dated], source.place)
    draft = _Draft(names, np.empty((length, len(names))), moments, zones, np.arange(length), source.place, notes)
    for number, position in enumerate(chosen):
        draft.values[:, number] = _numbers(draft, number, source.columns[position], source.text)
    return draft


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


def _numbers(draft: _Draft, number: int, column: Any, text: bool) -> np.ndarray:
    """A column as floats, not a number where a value is missing."""
    import pyarrow as pa

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
            raise InvalidInputError(f"{draft.where(row, number)}: {_no_number(draft.names[number], thing)}")
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


def _no_number(name: str, thing: Any) -> str:
    other = "columns= (--columns)"
    if is_number(thing):
        return f"{shown(thing)} is a number that cannot be computed with; correct it, or choose with {other}"
    if dates_of.as_datetime(thing) is not None:
        return (
            f"{shown(thing)} is a date, not a number; pass date={shown(name)} (--date) if it dates the rows, or "
            f"choose with {other}"
        )
    if isinstance(thing, str) and _LIKE_A_DATE.match(thing.strip()):
        return f"{shown(thing)} is not a number; if it is a date write it as 2020-01-31, so that it need not be guessed"
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
    known = list(dict.fromkeys(zone for zone, lost in zip(draft.zones, undated, strict=True) if not lost))
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
    if missing == "error":
        filled = "the last price before" if kind == "prices" else "a return of 0"
        raise InvalidInputError(
            f"{draft.where(row, column)} has no value ({number} missing in "
            f"{_count(int(gaps.any(axis=1).sum()), 'row')} and {_count(int(gaps.any(axis=0).sum()), 'column')}); "
            f"pass {_pass('missing', 'drop')} to leave such rows out, or {_pass('missing', 'fill')} for {filled}"
        )
    if missing == "drop":
        draft.notes.append(f"dropped {gaps.any(axis=1).sum():,} of {_count(len(gaps), 'row')}: {number} missing")
        draft.keep(~gaps.any(axis=1))
        return
    if kind == "returns":
        draft.values[gaps] = 0.0
        draft.notes.append(f"filled {number.replace('value', 'missing return')} with 0")
        return
    if gaps[0].any():
        column = int(gaps[0].argmax())
        raise InvalidInputError(
            f"{draft.where(0, column)} has no price and none before to fill it with; pass {_pass('missing', 'drop')}, "
            "or choose other columns= (--columns)"
        )
    last = np.maximum.accumulate(np.where(gaps, 0, np.arange(len(gaps))[:, None]), axis=0)
    draft.values = np.take_along_axis(draft.values, last, axis=0)
    draft.notes.append(f"filled {number.replace('value', 'missing price')} with the last price before")


def _make_returns(draft: _Draft) -> None:
    low = draft.values <= 0
    if low.any():
        row, column = _first(low)
        raise InvalidInputError(
            f"{draft.where(row, column)}: a price must be above 0, got {draft.values[row, column]:g}; correct it, "
            "choose other columns= (--columns), or say kind='returns' (--kind returns) if these are returns"
        )
    with np.errstate(over="ignore"):  # looked at below
        values = draft.values[1:] / draft.values[:-1] - 1
    draft.keep(np.arange(len(draft.values)) > 0)
    draft.values = values


def _rescale(draft: _Draft, scale: float | None) -> None:
    if scale is not None and scale != 1:
        with np.errstate(over="ignore"):  # looked at below
            draft.values = draft.values * scale
        draft.notes.append(f"multiplied returns by {scale:g}")
    lost = draft.values < -1
    large = lost if scale is not None else np.abs(draft.values) > 1
    if not large.any():
        return
    row, column = _first(lost if lost.any() else large)
    value = draft.values[row, column]
    what = "a loss of more than 100%" if value < -1 else "a gain of more than 100%"
    remedy = "if returns are in per cent pass scale=0.01 (--percent)" if scale is None else "choose another scale="
    remedy += ", if they are logarithmic pass numpy.expm1 of them" if value < -1 else ""
    accept = "" if lost.any() or scale is not None else "; if it is true pass scale=1 (--scale 1)"
    prices = "; if these are prices say kind='prices' (--kind prices)" if scale is None else ""
    raise InvalidInputError(f"{draft.where(row, column)}: a return of {value:g} is {what}; {remedy}{accept}{prices}")


def _moderate(draft: _Draft) -> None:
    """No return is so large that its square, or the sum of all squares, is beyond the largest number."""
    large = ~(np.abs(draft.values) <= _LARGEST)
    if large.any():
        row, column = _first(large)
        raise InvalidInputError(
            f"{draft.where(row, column)}: a return of {draft.values[row, column]:g} is too large to be true or to be "
            "computed with; correct it, or choose other columns= (--columns)"
        )


def _enough(draft: _Draft, kind: str) -> None:
    number = len(draft.values)
    if number >= LEAST_ROWS:
        return
    needed = f"{LEAST_ROWS + 1} prices" if kind == "prices" else f"{LEAST_ROWS} returns"
    done = f" (on the way: {'; '.join(draft.notes)})" if draft.notes else ""
    raise InvalidInputError(f"at least {needed} are needed, there is enough for {_count(number, 'return')}{done}")


def _vary(draft: _Draft, constant: str) -> None:
    still = np.ptp(draft.values, axis=0) <= CONSTANT
    if not still.any():
        return
    first = int(still.argmax())
    if constant == "error" or still.all():
        remedy = f"; pass {_pass('constant', 'drop')}" if not still.all() else ""
        raise InvalidInputError(
            f"column {shown(draft.names[first])} does not vary: its return is {draft.values[0, first]:g} from "
            f"{draft.where(0)} to {draft.where(len(draft.values) - 1)}, so it has no Sharpe ratio{remedy}"
        )
    dropped = [name for name, flat in zip(draft.names, still, strict=True) if flat]
    draft.notes.append(f"dropped {listed(dropped)}, which do{'es' * (len(dropped) == 1)} not vary")
    draft.names = [name for name, flat in zip(draft.names, still, strict=True) if not flat]
    draft.values = np.ascontiguousarray(draft.values[:, ~still])
