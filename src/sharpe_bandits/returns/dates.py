"""Dates of a table: which column holds them, what they say, and in which time zone."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from ..errors import InvalidInput, unknown
from .sources import MISSING_WORDS, Source

_UNIT = "datetime64[us]"


def column_of(source: Source, date: str | None) -> int | None:
    """Which column holds the dates: the one that is named, a frame's index, or a first column of dates."""
    if date is not None:
        if date not in source.names:
            raise unknown("column", date, source.names)
        return source.names.index(date)
    first = 0 if source.index is None else source.index
    return first if source.columns and _holds_dates(source.columns[first]) else None


def refuse_digits(name: str, column: Any, place: Callable[[int], str]) -> None:
    """Raise if a column of numbers holds dates in digits, years or row numbers, which would else pass for prices."""
    import pyarrow as pa

    things = column.to_pylist() if isinstance(column, pa.Array) else list(column)
    if len(things) < 4 or any(absent(thing) for thing in things):
        return
    texts = [str(thing) for thing in things]
    if not all(text.isdigit() for text in texts):
        return
    steps = {int(later) - int(earlier) for earlier, later in pairwise(texts)}
    dated = all(len(text) in (6, 8) and moment(text) is not None for text in texts)
    if dated or steps in ({1}, {-1}):
        what = "dates in digits" if dated else "years or row numbers"
        remedy = f"date={name!r} (--date {name}) if it dates the rows, or " if dated else ""
        raise InvalidInput(
            f"column {name!r} seems to hold {what} ({place(0)}: {texts[0]}, {place(1)}: {texts[1]}), no prices or "
            f"returns; pass {remedy}columns= (--columns) with the columns that are meant"
        )


def read(name: str, column: Any, place: Callable[[int], str]) -> tuple[np.ndarray, list[str | None]]:
    """Dates (not a time where there is none) in UTC where they have a zone, and the zone of each: None without one."""
    import pyarrow as pa

    if isinstance(column, pa.Array) and pa.types.is_temporal(column.type):
        if pa.types.is_time(column.type) or pa.types.is_duration(column.type):
            raise InvalidInput(f"column {name!r} holds times of type {column.type}, which are no dates")
        zone = getattr(column.type, "tz", None)
        unit = "ns" if getattr(column.type, "unit", "") == "ns" else "us"
        values = column.cast(pa.timestamp(unit, zone), safe=False).to_numpy(zero_copy_only=False)
        return values.astype(f"datetime64[{unit}]"), [zone] * len(values)
    values = np.full(len(column), np.datetime64("NaT"), _UNIT)
    zones: list[str | None] = []
    for row, thing in enumerate(column.to_pylist() if isinstance(column, pa.Array) else column):
        zone = None
        if not absent(thing):
            found = moment(thing)
            if found is None:
                raise InvalidInput(
                    f"column {name!r}, {place(row)}: {thing!r} is no date; dates are written as 2020-01-31 or "
                    "2020-01-31T16:00:00-05:00 (other forms would have to be guessed)"
                )
            if found.tzinfo is not None:
                zone = str(found.tzinfo)
                found = found.astimezone(datetime.UTC).replace(tzinfo=None)
            values[row] = np.datetime64(found, "us")
        zones.append(zone)
    return values, zones


def absent(thing: Any) -> bool:
    """Whether a single thing stands for a missing value: None, not a number, not a time, NA."""
    if isinstance(thing, str):
        return thing.strip() in MISSING_WORDS
    try:
        return thing is None or bool(thing != thing)
    except (TypeError, ValueError):  # pandas' NA is neither the same as itself nor another
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
        column = column.drop_null()[:1].to_pylist()
    first = next((thing for thing in column if not absent(thing)), None)
    # Digits alone may be a price as well as 20200131: such a column has to be named.
    if isinstance(first, str) and first.strip().isdigit():
        return False
    return not isinstance(first, (int, float, np.number)) and moment(first) is not None


def moment(thing: Any) -> datetime.datetime | None:
    """One date; None if it is none."""
    if isinstance(thing, np.datetime64):
        thing = thing.astype(_UNIT).item()
    if isinstance(thing, datetime.datetime):
        return thing.to_pydatetime(warn=False) if hasattr(thing, "to_pydatetime") else thing
    if isinstance(thing, datetime.date):
        return datetime.datetime(thing.year, thing.month, thing.day)
    if isinstance(thing, (int, np.integer)) and not isinstance(thing, bool):
        thing = str(thing)
    if not isinstance(thing, str):
        return None
    text = thing.strip()
    if re.fullmatch(r"\d{4}-\d{2}", text):  # a month
        text += "-01"
    elif re.fullmatch(r"\d{6}", text):
        text += "01"
    try:
        return datetime.datetime.fromisoformat(text)
    except ValueError:
        return None
