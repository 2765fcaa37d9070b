"""A table while it is read: its columns and dates as numbers. Unreadable values raise errors that name the place."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np

from .._support.names import check_column
from .._support.validation import is_number
from ..errors import InvalidInputError, listed, shown, unknown
from . import dates as dates_of
from . import notation, sources

#: Usual names of the column of numbers in a table with a row per date and asset, the most likely first.
_NUMBERS = ("adj close", "adj_close", "adjusted close", "close", "price", "return", "ret", "value")
#: Maximum number of columns that an error suggests as a value, and maximum length of a name.
_FEW, _LONGEST_NAME = 12, 100
#: Text that looks like a date: 01/02/2020, 2020-1-5, 2-Jan-20, Jan 2, 2020; or like a number: 0,004, 1,234.5, 1.5%.
_LIKE_A_DATE = re.compile(r"\d+[/.-]\d+[/.-]\d+|\d+[ -][A-Za-z]{3}|[A-Za-z]{3,9}\.?[ -]\d")
_TIME_OF_DAY = re.compile(r"\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?( ?[AaPp][Mm])?")
_LIKE_A_NUMBER = re.compile(r"[-+(]?[$€£]?\s?\d[\d,. ]*\s?%?\)?")


@dataclass
class Draft:
    """The table so far; ``rows`` are the remaining rows as numbered in the source, so that errors can name them,
    and ``clocks`` the dates in their own time zones."""

    names: list[str]
    values: np.ndarray
    dates: np.ndarray | None
    clocks: np.ndarray | None
    rows: np.ndarray
    place: Callable[[int], str]
    notes: list[str] = field(default_factory=list)

    def keep(self, which: np.ndarray | slice) -> None:
        self.values, self.rows = self.values[which], self.rows[which]
        if self.dates is not None and self.clocks is not None:
            self.dates, self.clocks = self.dates[which], self.clocks[which]

    def where(self, row: int, column: int | None = None) -> str:
        """``column 'A', line 5 (2020-01-07)``."""
        name = "" if column is None else f"column {shown(self.names[column])}, "
        date = "" if self.dates is None or np.isnat(self.dates[row]) else f" ({dates_of.in_words(self.dates[row])})"
        return f"{name}{self.place(int(self.rows[row]))}{date}"


def counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def drafted(
    source: sources.Source,
    layout: sources.Layout,
    date: str | None = None,
    columns: Sequence[str] | None = None,
    hurdle: str | None = None,
) -> Draft:
    """The dates and the numbers of a table: of these columns, or of all but the one of the ``hurdle``."""
    dated, written = dates_of.column_of(source, date, layout.date_format), layout.written
    notes = []
    if source.index is not None and source.index != dated:
        index = source.names[source.index], source.columns[source.index]
        if columns is None and dated is None and (option := dates_of.option(*index)):
            raise InvalidInputError(f"the index {shown(index[0])} seems to hold dates; pass {option}")
        notes.append(f"left out the index {shown(source.names[source.index])}, which is not the column of dates")
    if columns is None:
        _refuse_data_as_names(source)
    candidates = [p for p, name in enumerate(source.names) if p not in (dated, source.index) and name != hurdle]
    places = candidates if columns is None else _positions(source, columns, candidates)
    if not places:
        raise InvalidInputError(f"there is no column of numbers; the columns are {listed(source.names, '-')}")
    _check_names(source, places, dated, all_of_them=columns is None)
    if columns is None:
        _refuse_long_form(source, dated)
    names = [check_column(source.names[p]) for p in places]
    length = len(source.columns[places[0]])
    moments, clocks = None, None
    if dated is not None:
        moments, clocks, zone = dates_of.read(source.names[dated], source.columns[dated], source.place, layout)
        notes += zone
    _refuse_times_of_day(source, dated, places, moments)
    draft = Draft(names, np.empty((length, 0)), moments, clocks, np.arange(length), source.place, notes)
    read = []
    for number, column in enumerate(source.columns[p] for p in places):
        numbers, bad = _numbers(column, written)
        read.append(numbers)
        if bad is not None:
            why = _why(draft, names[number], column[bad], column, written)
            others = [p for p in places if _numbers(source.columns[p], written)[1] is None]
            select = f"; or select other columns with {_named(source, others)}" if others else ""
            hint = _field_below(source) or _names_further_down(source, 0) or select
            raise InvalidInputError(f"{draft.where(bad, number)}: {shown(column[bad])} {why}{hint}")
    draft.values = np.column_stack(read)
    return draft


def _check_names(source: sources.Source, places: list[int], dated: int | None, all_of_them: bool) -> None:
    """Raise if columns to read have no name, or names are not distinct."""
    plain = {name.strip().lower(): name for name in source.names}
    if dated is None and {"year", "month"} <= plain.keys():
        parts = [plain[part] for part in ("year", "month", "day") if part in plain]
        raise InvalidInputError(f"dates are in the columns {listed(parts)}; pass date={parts!r}")
    unnamed = next((p for p in places if not source.names[p]), None)
    if unnamed == 0 and all(dates_of.as_datetime(cell) for cell in dates_of.some_of(source.columns[0])):
        raise InvalidInputError("column 1 has no name and seems to hold dates; pass date='' to read them")
    if unnamed is not None:
        raise InvalidInputError(
            f"column {unnamed + 1} has no name; name it, or choose others with {_named(source, places)}"
            f"{_field_below(source) or _names_further_down(source, 1)}"
        )
    named = [source.names[p] for p in [*places, *([] if dated is None else [dated])]]
    times = Counter(named if all_of_them else source.names)
    twice = next((name for name in named if times[name] > 1), None)
    if twice is not None:
        hint = _field_below(source)
        if source.skipped and twice in sources.FIELDS:
            hint = f"; if the line above names the assets, pass skip_rows={source.skipped - 1} and field={twice!r}"
        raise InvalidInputError(f"two columns are called {shown(twice)}; give one of them another name{hint}")


def _texts(column: Any) -> list[str]:
    """A sample of a column of text, stripped."""
    return [cell.strip() for cell in dates_of.some_of(column) if isinstance(cell, str)]


def _refuse_times_of_day(source: sources.Source, dated: int | None, read: list[int], dates: np.ndarray | None) -> None:
    """Raise if a column holds times of day, and it would be read as numbers, or dates repeat without it."""
    repeat = dates is not None and bool((np.diff(dates) == np.timedelta64(0)).any())
    for k in range(len(source.columns)) if repeat else read:
        cells = _texts(source.columns[k])
        if cells and all(map(_TIME_OF_DAY.fullmatch, cells)):
            day, time = source.names[dated or 0], source.names[k]
            raise InvalidInputError(f"column {shown(time)} holds times of day; pass date=[{day!r}, {time!r}]")


def _field_below(source: sources.Source) -> str:
    """Suggests ``field=`` if the line below the names names the assets, or the numbers of each."""
    if source.skipped is None or len(source.columns) < 2 or len(source.columns[0]) < 3:
        return ""
    below, data = _cells(source, 0)[1:], _cells(source, 1)[1:]
    names = [*below, *source.names[1:]]
    field = next((usual for usual in sources.FIELDS if usual in names), None)
    if not all(map(_is_name, below)) or any(map(_is_name, data)) or not (field or len(set(below)) < len(below)):
        return ""
    return f"; if the line below names the assets or their numbers, pass field={field or below[0]!r}"


def _refuse_long_form(source: sources.Source, dated: int | None) -> None:
    """Raise if a column of text has a few names that repeat: a row per observation of one of several assets."""
    for k, name in enumerate(source.names):
        cells = _texts(source.columns[k]) if k != dated else []
        if len(cells) <= 8 or 4 * len(set(cells)) > len(cells) or not all(map(_is_name, set(cells))):
            continue
        dates = [] if dated is None else list(map(shown, source.columns[dated]))
        if 2 * len(set(dates)) > len(dates):
            return  # a row per date, beside some text
        begins = [next(iter(dates_of.some_of(column)), None) for column in source.columns]
        numeric = [p for p, cell in enumerate(begins) if p != dated and _number(cell, notation.PLAIN) is not None]
        others = zip(source.names, source.columns, strict=True) if dated is None else ()
        date = next((f" and {option}" for other in others if (option := dates_of.option(*other))), "")
        usual = {word: n for n, word in enumerate(reversed(_NUMBERS), 1)}
        likely = max(numeric, key=lambda p: (usual.get(source.names[p].strip().lower(), 0), p), default=None)
        pivot = "" if likely is None else f"pivot=({name!r}, {source.names[likely]!r})"
        raise InvalidInputError(
            f"column {shown(name)} holds names that repeat ({listed(sorted(set(cells))[:3])}); if a row is an "
            f"observation of one of them, pass {pivot}{date}; if not, choose the columns of numbers with "
            f"{_named(source, numeric)}"
        )


def _positions(source: sources.Source, columns: Sequence[str], candidates: list[int]) -> list[int]:
    """Positions of the columns with these names."""
    at = {source.names[p]: p for p in reversed(range(len(source.names)))}
    allowed = set(candidates)
    for name in columns:
        if not isinstance(name, str) or name not in at:
            raise unknown("column", name, [source.names[p] for p in candidates])
        if at[name] not in allowed:
            raise InvalidInputError(f"column {shown(name)} is used for dates or a benchmark already; leave it out")
    if len(set(columns)) < len(columns):
        raise InvalidInputError(f"columns must be distinct, got {shown(columns)}")
    return [at[name] for name in columns]


def as_option(names: Iterable[str], sign: str = "") -> str:
    """``columns=['A', 'B']``, after a ``sign``, if these columns can be suggested: a few of them, with short names."""
    named = [name for name in names if name]
    brief = 0 < len(named) <= _FEW and max(map(len, named)) <= _LONGEST_NAME
    return f"{sign}columns={named!r}" if brief else ""


def _named(source: sources.Source, chosen: list[int]) -> str:
    return as_option(source.names[p] for p in chosen) or "columns="


def _names_further_down(source: sources.Source, first: int) -> str:
    """The remedy if one of the first 50 rows holds names in all columns from ``first`` on."""
    if source.skipped is None or (first == 0 and len(source.columns) < 2):
        return ""
    rows = range(min(50, len(source.columns[0])))
    row = next((row for row in rows if all(map(_is_name, _cells(source, row)[first:]))), None)
    if row is None:
        return ""
    place = source.place(row)  # empty lines are not rows, but count as skipped lines
    skip = next(int(word) for word in place.split() if word.isdecimal()) - 1
    return f"; or pass skip_rows={skip} if the names are in {place}"


def _cells(source: sources.Source, row: int) -> list[Any]:
    return [column[row] for column in source.columns]


def _is_name(cell: Any) -> bool:
    """Whether a cell holds text that is neither a number nor a date or time in any format."""
    if not isinstance(cell, str) or not cell.strip() or _is_datum(cell) or notation.remedy(cell) is not None:
        return False
    text = cell.strip()
    return not (_LIKE_A_DATE.match(text) or _LIKE_A_NUMBER.fullmatch(text) or _TIME_OF_DAY.fullmatch(text))


def _refuse_data_as_names(source: sources.Source) -> None:
    """Raise if the names are probably data: all of a file are numbers and dates, or most of any table are dates."""
    named = [name for name in source.names if name]
    if source.text and named and all(map(_is_datum, named)):
        remedy = "add a header line with a name per column"
        if source.skipped:
            remedy = f"pass skip_rows={source.skipped - 1} if the names are in the line above"
        raise InvalidInputError(
            f"the first line seems to hold data, not column names: {listed(named[:3])}; {remedy}, or select "
            "columns with columns= if these are names"
        )
    dates = sum(dates_of.as_datetime(name) is not None for name in source.names)
    if dates > max(3, len(source.names) // 2):
        raise InvalidInputError(f"{dates} columns are named by dates, as with a row per asset; transpose it (frame.T)")


def _is_datum(name: str) -> bool:
    number = notation.PLAIN.number(name)
    return dates_of.as_datetime(name) is not None or (number is not None and math.isfinite(number))


def _numbers(column: np.ndarray, written: notation.Notation) -> tuple[np.ndarray, int | None]:
    """A column as floats, NaN where a value is missing, and the first row whose value is not a number."""
    if column.dtype.kind in "iuf":
        return column.astype(float), None
    try:  # all at once, which long files need
        if written.plain and "_" not in "".join(column):
            return column.astype(float), None
    except (TypeError, ValueError):  # other things than text, a missing value, or no number
        pass
    numbers = [np.nan if dates_of.absent(cell) else _number(cell, written) for cell in column]
    bad = next((row for row, value in enumerate(numbers) if value is None), None)
    if bad is None and written.percent:
        signs = {row: "%" in shown(cell) for row, cell in enumerate(column) if not dates_of.absent(cell)}
        bad = next((row for row, sign in signs.items() if sign != next(iter(signs.values()))), None)
    return np.array(numbers, float), bad


def _number(cell: Any, written: notation.Notation) -> float | None:
    if isinstance(cell, str):
        return written.number(cell)
    if is_number(cell) or isinstance(cell, Decimal):
        try:
            return float(cell)
        except Exception:  # third-party number types may raise anything
            return None
    return None


def _why(draft: Draft, name: str, cell: Any, column: np.ndarray, written: notation.Notation) -> str:
    """Why a value of this column is not a number, and the remedy."""
    dated = draft.dates is not None
    if dates_of.as_datetime(cell) is not None and not is_number(cell):
        remedy = "correct it" if dated else f"pass date={shown(name)} if it holds the dates of the rows"
        return f"is a date, not a number; {remedy}"
    if not isinstance(cell, str):
        return "is not a number; correct it"
    if not dated and _LIKE_A_DATE.match(cell.strip()):
        option = dates_of.option(name, column)
        read = f"pass {option}" if option else "write it as 2020-01-31"
        return f"is not a number; if it is a date, {read}: formats are not guessed"
    signs = {"%" in shown(other) for other in column if not dates_of.absent(other)}
    if len(signs) == 2 and _LIKE_A_NUMBER.fullmatch(cell.strip()) and ("%" in cell or written.percent):
        return f"has {'a' if '%' in cell else 'no'} per cent sign, unlike other values of the column; correct it"
    fits = notation.remedy(cell) if len(cell) < 100 else None
    if not written.plain:
        declared = f"decimal={written.decimal!r}, thousands={written.thousands!r}, currency={written.currency!r}"
        return f"is not a number with {declared}; correct it{f', or pass {fits}' if fits else ''}"
    return f"is text, not a number; {f'pass {fits}' if fits else 'correct it'}"
