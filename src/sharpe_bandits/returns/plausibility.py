"""Tables that can be read but are doubtful: impossible ones raise an error, suspicious ones get a remark.

Every refusal and every remark names the place, what it looks like, and what to do about it.
"""

from __future__ import annotations

import math
import re
from itertools import pairwise
from typing import Any

import numpy as np

from ..errors import InvalidInputError
from . import dates as dates_of
from .draft import Draft
from .options import Kind
from .sources import Source

#: Values of ``date_format`` by what numbers count.
_FORMATS = {
    "seconds since 1970": "s", "milliseconds since 1970": "ms", "microseconds since 1970": "us",
    "nanoseconds since 1970": "ns", "dates as a spreadsheet counts them": "excel",
}  # fmt: skip
#: What numbers that rise or fall from row to row are if they all lie in such a range: moments since 1970.
_SINCE_1970 = {
    "seconds since 1970": (1e8, 4.2e9),
    "milliseconds since 1970": (1e11, 4.2e12),
    "microseconds since 1970": (1e14, 4.2e15),
    "nanoseconds since 1970": (1e17, 4.2e18),
}
#: Serial numbers of days in a spreadsheet, 1954 to 2119, and the steps that dates come in.
_SERIALS = (20_000, 80_000)
_STEPS = {*range(1, 11), *range(28, 32), *range(89, 93), *range(181, 185), 365, 366}
#: Years with their fraction; steps of dates of one table are at most so many times the usual one.
_YEARS, _UNEVEN = (1850, 2150), 8
#: Columns that are listed as a value to pass, at most.
_FEW = 10
_VOLUME = re.compile(r"(.*[ _.-])?volume|vol|turnover|(.*[ _.-])?open[ _.-]?interest", re.IGNORECASE)
_BAR = {"open", "high", "low", "close"}
_LOGARITHM = re.compile(r"(^|[^a-z])(log|ln)([ _.-]?r(et(urns?)?|tn)?)?($|[^a-z])", re.IGNORECASE)
#: Numbers that vary like volumes: whole, changes of more than a tenth from row to row, most of them undone by the next.
_LIVELY, _UNDONE = 0.1, -0.2
#: Rows a year may differ from ``periods_per_year`` by such a factor before that is remarked on; within a day, where
#: five-minute bars of one session seem five times as many a year as they are, by another.
_ODD_FREQUENCY, _ODD_INTRADAY = 1.2, 6.0
#: Fewer rows do not show whether weekends are among them; they may differ by a larger factor.
_WEEKS, _ODD_IN_DAYS = 15, 1.8
#: A stretch without rows is remarked on if it is so many times as long as usual.
_HOLE = 15
#: Returns beyond so many standard deviations (by the median of their size) are looked at, and what splits divide by.
_FAR, _SPLITS = 12.0, (2, 3, 4, 5, 6, 7, 8, 10, 15, 20, 25, 30, 50, 100)
#: How near a price must be to that of a split: within some usual moves, or 3%. A jump that is undone at once, and one
#: that is too large in any case.
_MOVES, _NEAR, _SPIKE, _JUMP = 2.5, 0.03, 0.3, math.log(5)
#: Rows without a change at either end, at least, and how unlikely they must be.
_STILL, _UNLIKELY = 10, 1e-6


def refuse(source: Source, table: Draft, kind: Kind, chosen: bool) -> None:
    """Raise if columns are not prices or returns, or if rows run backwards; columns that the user chose are trusted.

    Parameters
    ----------
    source : Source
        the table as it was found
    table : Draft
        the numbers that were read from it
    kind : Kind
        "prices" or "returns"
    chosen : bool
        whether columns were chosen by name
    """
    if not chosen:
        _refuse_times(table)
        if kind == "prices":
            _refuse_volumes(table.names)
    if table.dates is None:
        taken = set(table.names)
        for name, column in zip(source.names, source.columns, strict=True):
            if name not in taken:
                _refuse_backwards(table, name, column)


def _refuse_times(table: Draft) -> None:
    for number, name in enumerate(table.names):
        what = time_of(table.values[:, number])
        if what is not None:
            first, second = table.values[:2, number]
            form = _FORMATS.get(what)
            dated = f"date={name!r} (--date) and date_format={form!r} (--date-format {form})"
            remedy = f"pass {dated} if it dates the rows" if form else "write dates as 2020-01-31"
            raise InvalidInputError(
                f"column {name!r} seems to hold {what} ({table.where(0)}: {first:.10g}, {table.where(1)}: "
                f"{second:.10g}), not prices or returns; {remedy}, or pass columns= (--columns) with the columns that "
                f"are meant{_value([other for other in table.names if other != name])}"
            )


def _value(columns: list[str]) -> str:
    """Columns as the value to pass, if they are few."""
    return f": columns={columns!r}" if 0 < len(columns) <= _FEW else ""


def time_of(values: np.ndarray) -> str | None:
    """Which unit of time numbers count that rise, or fall, from row to row; None if they are not times."""
    for some in (values[:100], values):  # a few tell most columns
        if len(some) < 4 or not np.isfinite(some).all():
            return None
        steps = np.diff(some)
        if not ((steps > 0).all() or (steps < 0).all()):
            return None
    low, high, steps = float(values.min()), float(values.max()), np.abs(steps)
    for what, (least, most) in _SINCE_1970.items():
        if least <= low and high <= most:
            return what
    if _SERIALS[0] <= low and high <= _SERIALS[1] and set(steps.tolist()) <= _STEPS:
        return "dates as a spreadsheet counts them"
    even = steps.max() <= min(1.0 + 1e-9, _UNEVEN * float(np.median(steps)))
    return "years with their fraction" if _YEARS[0] <= low and high <= _YEARS[1] and even else None


def _refuse_volumes(names: list[str]) -> None:
    remedy = "pass columns= (--columns) with the columns of prices"
    volumes = [name for name in names if _VOLUME.fullmatch(name.strip())]
    if volumes:
        others = _value([name for name in names if name not in volumes])
        raise InvalidInputError(f"column {volumes[0]!r} seems to hold volumes, not prices; {remedy}{others}")
    if {name.strip().lower() for name in names} >= _BAR:
        close = next(name for name in names if name.strip().lower() == "close")
        raise InvalidInputError(
            f"the columns {', '.join(map(repr, names))} seem to be those of one asset; {remedy} of several assets "
            f"(of this one, only {close!r} or an adjusted close)"
        )


def _refuse_backwards(table: Draft, name: str, column: Any) -> None:
    """Raise if a column that was not read holds dates which are not in order."""
    order = _order(column)
    if order is None:
        return
    if order <= 0:
        how = "the newest come first" if order < 0 else "they are in no order"
        raise InvalidInputError(
            f"the dates in column {name!r} were not read, and {how}: returns would run backwards; pass date={name!r} "
            f"(--date) with {_named_form(column)} and unsorted='sort' (--unsorted sort)"
        )
    table.notes.append(
        f"dates in column {name!r} were not read; rows are taken to be in order. Pass date={name!r} (--date) with "
        f"{_named_form(column)} to have them checked"
    )


def _named_form(column: Any) -> str:
    """How a column of dates in another form can be read."""
    return dates_of.remedy(column) or "date_format= (--date-format), or write dates as 2020-01-31,"


def _order(column: Any) -> int | None:
    """1 if dates are in order, -1 if they run backwards, 0 if neither; None if these are not dates."""
    things = dates_of.some_of(column)
    if len(things) < 3:
        return None
    found = [order for read in _readings(things) if (order := _direction(read)) is not None]
    return max(found, key=lambda order: (order == 1, order == -1), default=None)


def _readings(things: list[Any]) -> list[list[Any]]:
    """Every way to read all of these values as dates."""
    if all(isinstance(thing, (int, float)) and not isinstance(thing, bool) for thing in things):
        whole = [int(thing) for thing in things if float(thing).is_integer()]
        dates = [_date(number) for number in whole if len(str(number)) in (6, 8)]
        if len(dates) == len(things) and None not in dates:
            return [dates]
        return [things] if time_of(np.array(things, float)) else []
    known = [_date(thing) for thing in things]
    if None not in known:
        return [known]
    return [[dates_of.by_form(thing, form) for thing in things] for form in dates_of.forms_of(things)]


def _date(thing: Any) -> np.datetime64 | None:
    """A date, in UTC where it has a zone."""
    found = dates_of.as_datetime(thing)
    return None if found is None else found[0]


def _direction(read: list[Any]) -> int | None:
    steps = [int(later > earlier) - int(later < earlier) for earlier, later in pairwise(read)]
    if not any(steps):
        return None
    return 1 if min(steps) >= 0 else -1 if max(steps) <= 0 else 0


def remarks(table: Draft, kind: Kind, periods_per_year: float, prices: np.ndarray | None) -> list[str]:
    """What may be a mistake in a table of returns, each with its remedy.

    Parameters
    ----------
    table : Draft
        the returns
    kind : Kind
        what they were made from, "prices" or "returns"
    periods_per_year : float
        as it was given
    prices : numpy.ndarray | None
        that the returns were made from, if they were
    """
    found = _frequency(table, periods_per_year) + _jumps(table) + _still(table)
    if prices is not None:
        found += _like_volumes(table, prices)
    named = [name for name in table.names if kind == "returns" and _LOGARITHM.search(name)]
    if named:
        found.append(
            f"by its name column {named[0]!r} holds logarithmic returns, which are read as simple ones; if it does, "
            "pass kind='log-returns' (--kind log-returns)"
        )
    return found


def rows_per_year(dates: np.ndarray) -> float:
    """Rows per year, long gaps excluded."""
    days = np.diff(dates) / np.timedelta64(1, "D")
    usual = float(np.median(days))
    within = days[days <= _HOLE * max(usual, 1.0)]
    return 365.25 * len(within) / float(within.sum()) if within.sum() > 0 else math.inf


def _frequency(table: Draft, periods_per_year: float) -> list[str]:
    """Remarks on dates whose frequency differs from periods_per_year, and on gaps between them."""
    if table.dates is None:
        return []
    days = np.diff(table.dates) / np.timedelta64(1, "D")
    usual = float(np.median(days))
    seen = rows_per_year(table.dates)
    odd = _ODD_INTRADAY if usual < 1 else _ODD_IN_DAYS if len(days) < _WEEKS else _ODD_FREQUENCY
    found = []
    if not 1 / odd < seen / periods_per_year < odd:
        found.append(
            f"periods_per_year={periods_per_year:g}, but by its dates the table has {seen:.3g} rows per year; pass "
            f"periods_per_year={seen:.0f} (--periods-per-year), or leave out days without trading"
        )
    longest = int(days.argmax())
    if days[longest] > _HOLE * max(usual, 1.0):
        found.append(
            f"{days[longest]:,.0f} days lie between {table.where(longest)} and {table.where(longest + 1)}; a return "
            "over them counts as one period: fill in the rows that are missing, or begin after them"
        )
    return found


def _logarithms(values: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.log1p(values)


def _jumps(table: Draft) -> list[str]:
    """Remarks on a price that is wrong by a factor, and on unadjusted splits; the first of each."""
    undone, split, other = [], [], []  # places (row, column)
    for column in range(len(table.names)):
        logs = _logarithms(table.values[:, column])
        size = np.abs(logs)
        moved = size[size > 0]
        robust_sd = 1.4826 * float(np.median(moved)) if len(moved) else math.inf
        for row in np.flatnonzero(size > _FAR * robust_sd).tolist():
            place = (row, column)
            if any(_undone(logs[first : first + 2]) for first in (row - 1, row) if 0 <= first < len(logs) - 1):
                undone.append(place)
            elif min(abs(size[row] - math.log(k)) for k in _SPLITS) < min(_MOVES * robust_sd, _NEAR):
                split.append(place)
            elif size[row] > _JUMP:
                other.append(place)
    found = []
    for places, words in (
        (undone, "a move that the next row undoes; correct the price if it is out"),
        (split, "what a split does to prices that are not adjusted for it; take adjusted prices"),
        (other, "hardly a return; correct it if it is out"),
    ):
        if places:
            row, column = min(places)
            more = f" (the first of {len(places)} such returns)" if len(places) > 1 else ""
            found.append(f"{table.where(row, column)}: a return of {table.values[row, column]:+,.1%} is {words}{more}")
    return found


def _undone(pair: np.ndarray) -> bool:
    """Whether the second of two moves undoes the first, which is large."""
    return bool(abs(pair[0]) > _SPIKE and abs(pair[0] + pair[1]) < abs(pair[0]) / 5)


def _still(table: Draft) -> list[str]:
    """Remarks on columns that do not change for long at the end, or at the beginning, of their own history."""
    found = []
    zeros = ((table.values < 1e-14) & (table.values > -1e-14)).sum(axis=0)
    for number in np.flatnonzero(zeros >= _STILL).tolist():
        own = np.flatnonzero(~np.isnan(table.values[:, number]))
        zero = np.abs(table.values[own, number]) < 1e-14
        rows = len(own)
        for when, way in (("since", zero[::-1]), ("until", zero)):
            if rows < 2 * _STILL or not way[:_STILL].all():
                continue
            length = rows if way.all() else int(np.argmin(way))
            others = int(zero.sum()) - length
            if (others / max(rows - length, 1)) ** length > _UNLIKELY:
                continue
            place = table.where(int(own[rows - length if when == "since" else length - 1]))
            found.append(
                f"column {table.names[number]!r} has not changed {when} {place}, in {length:,} rows: was it traded "
                "then? Shorten the table, or leave the column out with columns= (--columns)"
            )
    return found[:3] + ([f"{len(found) - 3} more columns do not change for long"] if len(found) > 3 else [])


def _like_volumes(table: Draft, prices: np.ndarray) -> list[str]:
    """Remarks on columns of whole numbers that vary as volumes do."""
    found = []
    for number, name in enumerate(table.names):
        own = prices[:, number]
        if len(own) < 21 or (own[:100] % 1 != 0).any() or (own % 1 != 0).any():
            continue
        x = _logarithms(table.values[:, number])
        if np.median(np.abs(x)) < _LIVELY:
            continue
        x = x - x.mean()
        if x[1:] @ x[:-1] < _UNDONE * (x @ x):
            found.append(
                f"column {name!r} varies like volumes, not like prices; choose others with columns= (--columns) if it "
                "is none"
            )
    return found
