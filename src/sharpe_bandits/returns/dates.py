"""Dates of a table: the column that holds them, their formats and their time zones."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .._support.validation import is_number, is_whole
from ..errors import InvalidInputError, shown, unknown
from .sources import MISSING_WORDS, Layout, Source, objects

_UNIT, _DAY = "datetime64[us]", "datetime64[D]"
#: Range of accepted dates: years of at most four digits.
_FIRST, _LAST = np.datetime64("0001-01-01", "s"), np.datetime64("9999-12-31T23:59:59", "s")
#: Lines of dates, or of dates and times, without time zones.
_ISO = re.compile(r"(?:\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d{6})?)?)?(?:\n|$))++", re.ASCII)
#: Date formats that are read only if they are passed as date_format, since guessing could go wrong.
FORMS = (
    "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y.%m.%d", "%d/%m/%y", "%m/%d/%y",
    "%d.%m.%y", "%d-%b-%Y", "%d-%b-%y", "%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%b %Y", "%b-%y",
    "%a %d %b %Y", "%a, %d %b %Y", "%A, %B %d, %Y", "%m/%d/%Y %H:%M", "%d/%m/%Y %H:%M", "%d.%m.%Y %H:%M",
    "%m/%d/%Y %H:%M:%S", "%d/%m/%Y %H:%M:%S", "%d.%m.%Y %H:%M:%S", "%m/%d/%Y %I:%M %p", "%Y",
)  # fmt: skip
#: Formats of numeric dates by name: their origin, and units per day.
_EPOCH = datetime.datetime(1970, 1, 1)
NUMBERS = {
    "excel": (datetime.datetime(1899, 12, 30), 1),
    "s": (_EPOCH, 86_400), "ms": (_EPOCH, 86_400 * 10**3), "us": (_EPOCH, 86_400 * 10**6),
    "ns": (_EPOCH, 86_400 * 10**9),
}  # fmt: skip
#: Values of ``date_format`` by what numeric dates look like.
TIME_FORMATS = {
    "seconds since 1970": "s", "milliseconds since 1970": "ms", "microseconds since 1970": "us",
    "nanoseconds since 1970": "ns", "spreadsheet date serial numbers": "excel",
}  # fmt: skip
#: Seconds since 1970 that numbers which rise or fall from row to row probably are.
_SECONDS = (1e8, 4.2e9)
#: Range of spreadsheet date serial numbers, 1954 to 2119, and the usual steps between dates in days.
_SERIALS = (20_000, 80_000)
_STEPS = {*range(1, 11), *range(28, 32), *range(89, 93), *range(181, 185), 365, 366}
#: Range of decimal years, and the largest plausible ratio of a step to the median step.
YEARS, _UNEVEN = (1850, 2150), 8


def column_of(source: Source, date: str | None, form: str | None = None) -> int | None:
    """Position of the date column: the named one; otherwise the index, or the first column, if it holds dates.

    If a format ``form`` is given, the index or the first column is assumed to hold dates.
    """
    if date is not None:
        if not isinstance(date, str):
            raise InvalidInputError(f"date must be the name of a column, got {shown(date)}")
        if date not in source.names:
            raise unknown("column", date, source.names)
        return source.names.index(date)
    first = 0 if source.index is None else source.index
    if not source.columns:
        return None
    return first if form is not None or holds_dates(source.columns[first]) else None


def joined(source: Source, date: Sequence[str]) -> Source:
    """The table with columns of dates and times of day, or of year, month and day, joined under the first name."""
    for name in date:
        if name not in source.names:
            raise unknown("column", name, source.names)
    parts = [source.columns[source.names.index(name)] for name in date]
    if len(date) in (2, 3) and all(_in_figures(cell) for part in parts for cell in part[:50]):
        cells: list[Any] = ["-".join(_text(number).zfill(2) for number in row) for row in zip(*parts, strict=True)]
    elif len(date) != 2 or len(set(date)) != 2:
        raise InvalidInputError(
            "date must be a column, two columns of dates and times of day, or those of year, month and day, got "
            f"{shown(date)}"
        )
    else:
        cells = [
            None if absent(day) or absent(time) else f"{day if isinstance(day, str) else str(day)[:10]} {time}"
            for day, time in zip(*parts, strict=True)
        ]
    places = [k for k, name in enumerate(source.names) if name not in date[1:]]
    columns = [objects(cells) if source.names[k] == date[0] else source.columns[k] for k in places]
    index = None if source.index is None or source.names[source.index] in date[1:] else places.index(source.index)
    return replace(source, names=[source.names[k] for k in places], columns=columns, index=index)


def check_form(form: Any) -> str | None:
    """``form`` if it is a valid date format: None, a format of text (``%d/%m/%Y``), or a unit of numbers."""
    if form is None or (isinstance(form, str) and (form in NUMBERS or "%" in form)):
        return form
    raise InvalidInputError(
        f"date_format must be a format such as '%d/%m/%Y', or one of {', '.join(map(repr, NUMBERS))} for spreadsheet "
        f"serial numbers or time since 1970, got {shown(form)}"
    )


def _in_figures(cell: Any) -> bool:
    """Whether a value is a whole number, or text that has only digits."""
    return cell.isdecimal() if isinstance(cell, str) else _text(cell).isdecimal()


def _text(cell: Any) -> str:
    """A value as text; a whole number without a decimal point, which the cells of a spreadsheet have."""
    if is_whole(cell) or (issubclass(type(cell), (float, np.floating)) and cell.is_integer()):
        return str(int(cell)) if abs(cell) < 10**20 else ""
    return str(cell)


def some_of(column: np.ndarray) -> list[Any]:
    """The values of a column that are not missing; only those of 200 evenly spaced rows if it is long."""
    rows = np.unique(np.linspace(0, max(len(column) - 1, 0), min(len(column), 200)).astype(int))
    return [cell for cell in column[rows] if not absent(cell)]


def remedy(column: np.ndarray) -> str:
    """The formats that fit most dates of a text column, or of a sample if it is long: all but a total, or a remark."""
    texts = some_of(column)
    fits = {form: sum(as_datetime(text, form) is not None for text in texts) for form in FORMS}
    most = max(fits.values())
    forms = [form for form, number in fits.items() if number == most >= max(0.9 * len(texts), 1)]
    options = [f"date_format={form!r}" for form in forms]
    if len(forms) > 1:
        readings = [(text, [str(as_datetime(text, form))[:10] for form in forms]) for text in texts]
        text, days = max(readings, key=lambda reading: len(set(reading[1])))  # one that tells the formats apart
        options = [f"{own} if {text!r} is {day}" for own, day in zip(options, days, strict=True)]
    return ", or ".join(options)


def read(
    name: str, column: np.ndarray, place: Callable[[int], str], layout: Layout
) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Dates (NaT if missing), in UTC if they have a time zone; as clocks show them there; and a note on that zone.

    Dates without a time of day (midnight in their own zone) remain those calendar dates.
    """
    form = layout.date_format
    if form is None and column.dtype.kind == "M":
        seconds = column.astype("datetime64[s]")  # which does not overflow for any unit
        outside = (seconds < _FIRST) | (seconds > _LAST)
        if outside.any():
            row = int(outside.argmax())
            raise InvalidInputError(f"column {shown(name)}, {place(row)}: a date must lie in the years 1 to 9999")
        dates = column.astype("datetime64[ns]" if column.dtype == "datetime64[ns]" else _UNIT)
        return dates, dates, []
    if form is None and (quick := _all_iso(column)) is not None:
        return quick, quick, []
    days = [None if absent(cell) else as_datetime(cell, form) for cell in column]
    bad = next((row for row, cell in enumerate(column) if days[row] is None and not absent(cell)), None)
    if bad is not None:
        raise InvalidInputError(f"column {shown(name)}, {place(bad)}: {_no_date(column[bad], column, form)}")
    dates, clocks = (np.array([day and which(day) for day in days], _UNIT) for which in (in_utc, _clock))
    zones: dict[str | None, int] = {}  # their first rows
    for row, day in enumerate(days):
        if day is not None:
            zones.setdefault(None if day.tzinfo is None else str(day.tzinfo), row)
    if not zones.keys() - {None} or (None not in zones and (clocks == clocks.astype(_DAY))[~np.isnat(clocks)].all()):
        return clocks, clocks, []
    if [*zones] == ["UTC"]:
        return dates, clocks, []
    words = [zone or "no time zone" for zone in zones]
    if len(zones) > 1 and layout.timezones == "error":
        first, other = map(place, [*zones.values()][:2])
        raise InvalidInputError(
            f"dates of column {shown(name)} are in several time zones: {first} has {words[0]}, {other} has {words[1]}; "
            "pass timezones='utc' to convert all to UTC (those without one are taken as UTC)"
        )
    note = f"converted dates from {', '.join(words)} to UTC"
    return (dates, dates, [note]) if len(zones) > 1 else (dates, clocks, [f"{note}; weeks, months and years are local"])


def _no_date(cell: Any, column: np.ndarray, form: str | None) -> str:
    """Why a cell is not a date, and the remedy."""
    texts = [text for text in column if isinstance(text, str)]
    given = any(isinstance(day, (datetime.date, np.datetime64)) for day in column)
    other, value = remedy(objects(texts) if given else column), shown(cell)
    if given and other:
        return (
            f"{value} is {'text' if isinstance(cell, str) else 'a date'}, and other dates of the column are not; make "
            "all of them text, or all of them dates. Was day taken for month in those that are dates?"
        )
    if form is not None:
        fits = f"pass {other}" if other and repr(form) not in other else "correct it, pass another date_format="
        if given and not isinstance(cell, str):
            fits = "it is a date already: leave out date_format="
        return f"{value} is not a date in the format {form!r}; {fits}, or delete the row if it is no data"
    fits = f"pass {other}" if other else "write dates as 2020-01-31 or 2020-01-31T16:00:00-05:00"
    return f"{value} is not a date in the years 1 to 9999; {fits}, or delete the row if it is no data"


def _all_iso(column: np.ndarray) -> np.ndarray | None:
    """A column of nothing but dates in ISO format without time zones, read at once, which long files need."""
    try:
        days = column.astype(_UNIT) if _ISO.fullmatch("\n".join(column)) else None
    except (TypeError, ValueError):  # other things than text, or no date of the calendar
        return None
    return days if days is not None and (days >= _FIRST).all() else None


def absent(cell: Any) -> bool:
    """Whether a value is missing: None, NaN, NaT or NA."""
    if isinstance(cell, str):
        return cell.strip() in MISSING_WORDS
    try:
        return cell is None or bool(cell != cell)
    except Exception:  # the truth value of pandas' NA raises; other types may raise anything
        return type(cell).__name__ == "NAType"


def in_words(date: Any) -> str:
    """A date in ISO format, without the time of day if that is midnight."""
    text = str(np.datetime64(date, "s"))
    return text.removesuffix("T00:00:00")


def in_one_form(dates: np.ndarray) -> list[str]:
    """Dates in ISO format, all with the time of day if one of them has one that is not midnight."""
    seconds = dates.astype("datetime64[s]")
    return np.datetime_as_string(seconds, "D" if (seconds == seconds.astype(_DAY)).all() else "s").tolist()


def holds_dates(column: np.ndarray) -> bool:
    """Whether the first value of a column is a date."""
    first = next((cell for cell in column if not absent(cell)), None)
    # Digits alone may be a price, or a date such as 20200131: such a column has to be named.
    if isinstance(first, str) and first.strip().isdigit():
        return False
    return column.dtype.kind == "M" or (not is_number(first) and as_datetime(first) is not None)


def as_datetime(cell: Any, form: str | None = None) -> datetime.datetime | None:
    """A value as a date; None if it is not one, or not in this format."""
    try:
        if form in NUMBERS:
            start, per_day = NUMBERS[form]
            return start + datetime.timedelta(microseconds=round(float(cell) * 86_400 * 10**6 / per_day))
        day = _parsed(cell) if form is None else datetime.datetime.strptime(_text(cell).strip(), form)
        return day if in_utc(day) else None
    except Exception:  # not a date, outside the calendar, or an error of a format or of a third-party time zone
        return None


def in_utc(day: datetime.datetime) -> datetime.datetime:
    """A date in UTC, if it has a time zone; without it."""
    return day if day.tzinfo is None else _clock(day.astimezone(datetime.UTC))


def _clock(day: datetime.datetime) -> datetime.datetime:
    return day.replace(tzinfo=None)


def _parsed(cell: Any) -> datetime.datetime:
    if isinstance(cell, np.datetime64):
        years = cell.astype("datetime64[Y]").astype(int) + 1970  # a year never overflows, its microseconds may
        cell = cell.astype(_UNIT).item() if 1 <= years <= 9999 else None
    if isinstance(cell, datetime.datetime):
        return cell.to_pydatetime(warn=False) if hasattr(cell, "to_pydatetime") else cell
    if isinstance(cell, datetime.date):
        return datetime.datetime(cell.year, cell.month, cell.day)
    text = _text(cell).strip() if isinstance(cell, str) or _in_figures(cell) else ""
    if len(text) > 7:
        return datetime.datetime.fromisoformat(text)
    if re.fullmatch(r"\d{4}-\d{2}", text):  # a month
        text += "-01"
    elif re.fullmatch(r"\d{6}", text):
        text += "01"
    elif quarter := re.fullmatch(r"(\d{4})[ -]?Q([1-4])", text):
        text = f"{quarter[1]}-{3 * int(quarter[2]) - 2:02}-01"
    return datetime.datetime.fromisoformat(text)


def time_of(values: np.ndarray, may_count: bool = False) -> str | None:
    """The kind of time that numbers look like; None if they are not times.

    Except for dates in digits, they rise, or fall, from row to row; if they ``may_count``, steps of 1 are row numbers.
    """
    if len(values) < 4 or not np.isfinite(values).all():
        return None
    if all(map(_in_digits, values)):
        return "dates in digits"
    steps = np.diff(values)
    if not ((steps > 0).all() or (steps < 0).all()):
        return None
    low, high, steps = float(values.min()), float(values.max()), np.abs(steps)
    for power, what in zip((0, 3, 6, 9), TIME_FORMATS, strict=False):
        if _SECONDS[0] * 10**power <= low and high <= _SECONDS[1] * 10**power:
            return what
    if _SERIALS[0] <= low and high <= _SERIALS[1] and set(steps.tolist()) <= _STEPS:
        return "spreadsheet date serial numbers"
    if may_count and (steps == 1).all() and (values % 1 == 0).all():
        return "years or row numbers"
    even = steps.max() <= min(1.0 + 1e-9, _UNEVEN * float(np.median(steps)))
    return "decimal years" if YEARS[0] <= low and high <= YEARS[1] and even else None


def _in_digits(number: float) -> bool:
    """Whether a number is a date such as 20200131 or 202001."""
    return len(digits := f"{number:.0f}") in (6, 8) and number % 1 == 0 and as_datetime(digits) is not None


def option(name: str, column: np.ndarray) -> str:
    """``date='Date' and date_format='%d/%m/%Y'``, if that reads a column as dates; nothing if it seems to hold none."""
    cells = some_of(column)
    numbers = sorted({float(cell) for cell in cells if _in_figures(cell)})
    what = time_of(np.array(numbers))
    if cells and (what == "dates in digits" or holds_dates(column)):
        return f"date={name!r}"
    form = f"date_format={TIME_FORMATS[what]!r}" if what in TIME_FORMATS else "" if numbers else remedy(column)
    return f"date={name!r} and {form}" if form else ""
