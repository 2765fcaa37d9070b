"""Dates of a table: which column holds them, what they say, and in which time zone."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from ..errors import InvalidInputError, shown, unknown
from ..validation import is_number, is_whole
from .sources import MISSING_WORDS, Source, plain_values

_UNIT = "datetime64[us]"
#: Dates that are read: those that a calendar of four digits has.
_FIRST, _LAST = np.datetime64("0001-01-01", "s"), np.datetime64("9999-12-31T23:59:59", "s")
#: Forms of dates that are read only if they are named, since they would have to be guessed.
FORMS = (
    "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y.%m.%d", "%d/%m/%y", "%m/%d/%y",
    "%d.%m.%y", "%d-%b-%Y", "%d-%b-%y", "%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%b %Y", "%b-%y",
)  # fmt: skip
#: Dates as numbers, by the name of their form: what they count from, and in how many to a day.
_EPOCH = np.datetime64("1970-01-01", "us")
NUMBERS = {
    "excel": (np.datetime64("1899-12-30", "us"), 1),
    "s": (_EPOCH, 86_400), "ms": (_EPOCH, 86_400 * 10**3), "us": (_EPOCH, 86_400 * 10**6),
    "ns": (_EPOCH, 86_400 * 10**9),
}  # fmt: skip
#: Dates that are looked at to tell their form and their order, at most.
_LOOKED_AT = 200
#: Text that is read without looking at each date on its own.
_ISO = r"^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}:\d{2}(\.\d{1,6})?)?$"


def column_of(source: Source, date: str | None, form: str | None = None) -> int | None:
    """Which column holds the dates: the one that is named, a frame's index, or a first column of dates.

    If a ``form`` of dates is given, a first column holds them whatever it looks like.
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
    return first if form is not None or _holds_dates(source.columns[first]) else None


def check_form(form: Any) -> str | None:
    """``form``, if it is one of dates: None, that of text (``%d/%m/%Y``), or what numbers count."""
    if form is None or (isinstance(form, str) and (form in NUMBERS or "%" in form)):
        return form
    raise InvalidInputError(
        f"date_format must be a form such as '%d/%m/%Y', or one of {', '.join(map(repr, NUMBERS))} for numbers that "
        f"count days of a spreadsheet or time since 1970, got {shown(form)}"
    )


def some_of(column: Any) -> list[Any]:
    """The things in a column that its dates are told by: all, or many if there are very many; none that is missing."""
    rows = np.unique(np.linspace(0, max(len(column) - 1, 0), min(len(column), _LOOKED_AT)).astype(int))
    things = (plain_values(column[row : row + 1])[0] for row in rows)
    return [thing for thing in things if not absent(thing)]


def forms_of(column: Any) -> list[str]:
    """The forms that suit all dates of a column of text (many of them, if there are very many)."""
    texts = some_of(column)
    return [form for form in FORMS if texts and all(by_form(text, form) is not None for text in texts)]


def by_form(thing: Any, form: str) -> datetime.datetime | None:
    """Text parsed as a date in this format; None if that fails."""
    try:
        return datetime.datetime.strptime(thing.strip(), form)
    except Exception:  # what is not text, or in another form; regular expressions of forms fail in ways of their own
        return None


def remedy(column: Any) -> str | None:
    """Which date_format reads a column of text; None if none of the usual ones does."""
    forms = forms_of(column)
    if not forms:
        return None
    first = next(thing for thing in plain_values(column) if not absent(thing))
    means = [by_form(first, form) for form in forms]
    return ", or ".join(
        f"date_format={form!r} (--date-format {form if ' ' not in form else repr(form)})"
        + (f" if {first!r} is {meant:%Y-%m-%d}" if meant is not None and len(forms) > 1 else "")
        for form, meant in zip(forms, means, strict=True)
    )


def refuse_digits(name: str, column: Any, place: Callable[[int], str]) -> None:
    """Raise if a column of numbers holds dates in digits, years or row numbers, which would else pass for prices."""
    things = plain_values(column)
    if len(things) < 4 or not all(isinstance(thing, str) or is_whole(thing) for thing in things):
        return
    texts = [shown(thing) if is_whole(thing) else thing for thing in things]
    if not all(text.isdecimal() and len(text) < 20 for text in texts):
        return
    steps = {int(later) - int(earlier) for earlier, later in pairwise(texts)}
    dated = all(len(text) in (6, 8) and as_datetime(text) is not None for text in texts)
    if dated or steps in ({1}, {-1}):
        what = "dates in digits" if dated else "years or row numbers"
        remedy = f"date={shown(name)} (--date) if it dates the rows, or " if dated else ""
        if not dated and 20_000 <= int(texts[0]) <= 80_000:  # 1954 to 2119
            counted = "date_format='excel' (--date-format excel)"
            remedy = f"date={shown(name)} (--date) and {counted} if it counts days as a spreadsheet does, or "
        raise InvalidInputError(
            f"column {shown(name)} seems to hold {what} ({place(0)}: {texts[0]}, {place(1)}: {texts[1]}), not prices "
            f"or returns; pass {remedy}columns= (--columns) with the columns that are meant"
        )


def read(
    name: str, column: Any, place: Callable[[int], str], form: str | None = None
) -> tuple[np.ndarray, list[str | None]]:
    """Dates (not a time where there is none) in UTC where they have a zone, and the zone of each: None without one."""
    import pyarrow as pa

    if form is not None:
        return _read_form(name, column, place, form)
    if isinstance(column, pa.Array) and pa.types.is_temporal(column.type):
        if not (pa.types.is_timestamp(column.type) or pa.types.is_date(column.type)):
            raise InvalidInputError(f"column {shown(name)} holds times of type {column.type}, which are not dates")
        zone = getattr(column.type, "tz", None)
        unit = "ns" if getattr(column.type, "unit", "") == "ns" else "us"
        # seconds first, in which no date of any type is too large to be counted
        seconds = column.cast(pa.timestamp("s", zone), safe=False).to_numpy(zero_copy_only=False)
        outside = (seconds < _FIRST) | (seconds > _LAST)
        if outside.any():
            row = int(outside.argmax())
            raise InvalidInputError(
                f"column {shown(name)}, {place(row)}: a date must lie in the years 1 to 9999; correct it"
            )
        values = column.cast(pa.timestamp(unit, zone), safe=False).to_numpy(zero_copy_only=False)
        return values.astype(f"datetime64[{unit}]"), [zone] * len(values)
    quickly = _of_one_form(column)
    if quickly is not None:
        return quickly, [None] * len(quickly)
    values = np.full(len(column), np.datetime64("NaT"), _UNIT)
    zones: list[str | None] = []
    for row, thing in enumerate(plain_values(column)):
        zone = None
        if not absent(thing):
            found = as_datetime(thing)
            if found is None:
                other = remedy(column)
                raise InvalidInputError(
                    f"column {shown(name)}, {place(row)}: {shown(thing)} is not a date of the years 1 to 9999; dates "
                    "are written as 2020-01-31 or 2020-01-31T16:00:00-05:00 (other forms would have to be guessed"
                    f"{f': pass {other}' if other else ''})"
                )
            values[row], zone = found
        zones.append(zone)
    return values, zones


def _of_one_form(column: Any) -> np.ndarray | None:
    """Dates of a text column that holds ISO dates throughout, with or without times; None otherwise."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not isinstance(column, pa.Array) or column.type not in (pa.string(), pa.large_string()):
        return None
    if not pc.all(pc.match_substring_regex(column, _ISO), min_count=0).as_py():
        return None
    try:
        values = np.asarray(column.cast(pa.timestamp("us")).to_numpy(zero_copy_only=False)).astype(_UNIT)
    except pa.ArrowInvalid:  # the 30th of February; said below, where it stands
        return None
    return values if not (values < _FIRST).any() else None


def _read_form(name: str, column: Any, place: Callable[[int], str], form: str) -> tuple[np.ndarray, list[str | None]]:
    """Dates written in one form."""
    values = np.full(len(column), np.datetime64("NaT"), _UNIT)
    zones: list[str | None] = [None] * len(values)
    for row, thing in enumerate(plain_values(column)):
        if absent(thing):
            continue
        try:
            if form in NUMBERS:
                start, in_a_day = NUMBERS[form]
                moved = start + np.timedelta64(round(float(thing) * 86_400 * 10**6 / in_a_day), "us")
                values[row] = moved if _FIRST <= moved <= _LAST else None
            else:
                found = datetime.datetime.strptime(thing.strip(), form)
                if found.tzinfo is not None:
                    zones[row] = str(found.tzinfo)
                    found = found.astimezone(datetime.UTC).replace(tzinfo=None)
                values[row] = found
        except Exception:  # as above, and numbers beyond all dates
            values[row] = np.datetime64("NaT")
        if np.isnat(values[row]):
            other = remedy(column)
            raise InvalidInputError(
                f"column {shown(name)}, {place(row)}: {shown(thing)} is not a date of the form {form!r}"
                f"{f'; pass {other}' if other else '; correct it, or pass another date_format= (--date-format)'}"
            )
    return values, zones


def absent(thing: Any) -> bool:
    """Whether a value is missing: None, NaN, NaT or NA."""
    if isinstance(thing, str):
        return thing.strip() in MISSING_WORDS
    try:
        return thing is None or bool(thing != thing)
    except Exception:  # pandas' NA is neither the same as itself nor another; others may fail in any way
        return type(thing).__name__ == "NAType"


def in_words(date: Any) -> str:
    """A date as people write it, without a time of day where that is midnight."""
    text = str(np.datetime64(date, "s"))
    return text.removesuffix("T00:00:00")


def _holds_dates(column: Any) -> bool:
    import pyarrow as pa

    if isinstance(column, pa.Array):
        if pa.types.is_temporal(column.type):
            return True
        if pa.types.is_primitive(column.type) or pa.types.is_null(column.type):  # numbers and truth values
            return False
        column = plain_values(column.drop_null()[:1])
    first = next((thing for thing in column if not absent(thing)), None)
    # Digits alone may be a price as well as 20200131: such a column has to be named.
    if isinstance(first, str) and first.strip().isdigit():
        return False
    return not is_number(first) and as_datetime(first) is not None


def as_datetime(thing: Any) -> tuple[np.datetime64, str | None] | None:
    """One date, in UTC where it has a zone, and that zone; None if it is not a date."""
    try:
        found = _parsed(thing)
        if found is None or found.tzinfo is None:
            return None if found is None else (np.datetime64(found, "us"), None)
        return np.datetime64(found.astimezone(datetime.UTC).replace(tzinfo=None), "us"), str(found.tzinfo)
    except Exception:  # text that is not a date, one beyond the calendar, and whatever zones of another's making do
        return None


def _parsed(thing: Any) -> datetime.datetime | None:
    if isinstance(thing, np.datetime64):
        years = thing.astype("datetime64[Y]").astype(int) + 1970  # a year always fits, its microseconds may not
        thing = thing.astype(_UNIT).item() if 1 <= years <= 9999 else None
    if isinstance(thing, datetime.datetime):
        return thing.to_pydatetime(warn=False) if hasattr(thing, "to_pydatetime") else thing
    if isinstance(thing, datetime.date):
        return datetime.datetime(thing.year, thing.month, thing.day)
    if is_whole(thing):
        thing = str(thing)
    if not isinstance(thing, str):
        return None
    text = thing.strip()
    if re.fullmatch(r"\d{4}-\d{2}", text):  # a month
        text += "-01"
    elif re.fullmatch(r"\d{6}", text):
        text += "01"
    return datetime.datetime.fromisoformat(text)
