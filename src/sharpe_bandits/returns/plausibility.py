"""Plausibility checks of tables that can be read: impossible ones raise an error, suspicious ones get a remark.

Every error and every remark names the place, what it looks like, and the remedy.
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from .._support.validation import is_number
from ..errors import InvalidInputError
from . import dates as dates_of
from .cleaning import Kind
from .dates import TIME_FORMATS, YEARS, time_of
from .draft import Draft, as_option
from .sources import Source
from .statistics import autocorrelation, by_column

_VOLUME = re.compile(r"(.*[ _.-])?volume|vol|turnover|(.*[ _.-])?open[ _.-]?interest", re.IGNORECASE)
_ADJUSTED = re.compile(r"^(.*?)adj(?:usted|\.)?[ _.-]*(close.*)$", re.IGNORECASE)
_BAR = {"open", "high", "low", "close"}
_LOGARITHM = re.compile(r"(^|[^a-z])(log|ln)([ _.-]?r(et(urns?)?|tn)?)?($|[^a-z])", re.IGNORECASE)
#: Factor by which rows per year may differ from ``periods_per_year`` without a remark: in general; intraday, since
#: bars of a single session suggest too many rows per year; and in fewer rows than show whether weekends are included.
_ODD_FREQUENCY, _ODD_INTRADAY, _ODD_IN_DAYS, _WEEKS = 1.2, 6.0, 1.8, 15
#: A gap between dates gets a remark if it is longer than this many usual steps.
_HOLE = 15
#: Returns beyond this many robust standard deviations are examined, and beyond this many get a remark in any case.
_FAR, _OUTLIER = 12.0, 40.0
#: Usual ratios of splits. A return looks like one if its logarithm is within this many robust standard deviations, and
#: within this distance (in monthly prices), of that of the ratio.
_SPLITS, _MOVES, _NEAR, _NEAR_MONTHLY = (2, 3, 4, 5, 6, 7, 8, 10, 15, 20, 25, 30, 50, 100), 2.5, 0.03, 0.15
#: Smallest logarithm of a move that may be a reversed error, and of one that is always suspicious.
_SPIKE, _JUMP = 0.3, math.log(5)
#: Ratios of splits that monthly or rarer rows hide among other moves, robust standard deviations from which a fall is
#: examined, and largest size of any other move relative to it.
_SMALL_SPLITS, _EXAMINED, _OTHERS = (1.5, 2, 3, 4, 5, 10), 5.5, 0.6
#: Minimum number of unchanged rows, and the probability below which they get a remark.
_STILL, _UNLIKELY = 10, 1e-6
#: Minimum autocorrelation of numbers that look like levels, not changes, and minimum number of rows to tell.
_LEVELS, _LEAST_LEVELS = 0.9, 20
#: Largest median change relative to the median of positive numbers that look like prices, and minimum number of rows.
_STEADY, _LEAST_STEADY = 0.1, 8
#: Rows that suffice to tell levels from changes, and for the usual size of returns.
_EXAMINED_ROWS = 10_000


def refuse(source: Source, table: Draft, kind: Kind, chosen: bool) -> None:
    """Raise if columns are not prices or returns, or if rows run backwards; columns that the user chose are trusted."""
    if not chosen:
        for number, name in enumerate(table.names):
            _refuse_time(table, number, name)
        if kind == "prices":
            _refuse_several_of_one_asset(table.names)
    if table.dates is None:
        taken = set(table.names)
        for name, column in zip(source.names, source.columns, strict=True):
            if name not in taken:
                _refuse_backwards(name, column)


def _refuse_time(table: Draft, number: int, name: str) -> None:
    what = time_of(table.values[:, number], may_count=table.dates is None and number == 0)
    if what is None:
        return
    first, second = table.values[:2, number]
    forms = {**TIME_FORMATS, "years or row numbers": "%Y"}
    form = f" and date_format={forms[what]!r}" if what in forms else ""
    dated = f"pass date={name!r}{form} if it holds the dates of the rows, or "
    if what == "decimal years":
        dated = "write dates as 2020-01-31, or "
    elif what == "years or row numbers" and not YEARS[0] <= first <= YEARS[1]:
        dated = ""
    raise InvalidInputError(
        f"column {name!r} seems to hold {what} ({table.where(0)}: {first:.10g}, {table.where(1)}: {second:.10g}), "
        f"not prices or returns; {dated}pass columns= with the intended columns"
        f"{as_option((other for other in table.names if other != name), ': ')}"
    )


def _refuse_several_of_one_asset(names: list[str]) -> None:
    """Raise if columns are volumes, the bars of one asset, or a close beside the adjusted close."""
    remedy, plain = "pass columns= with the columns of prices", {name.strip().lower(): name for name in names}
    if plain.keys() >= _BAR:
        close = plain.get("adj close") or plain.get("adj_close") or plain["close"]
        raise InvalidInputError(
            f"the columns {', '.join(map(repr, names))} seem to belong to one asset; {remedy} of several assets, or "
            f"pass columns={[close]!r} for this one"
        )
    volumes = [name for name in names if _VOLUME.fullmatch(name.strip())]
    if volumes:
        others = as_option((name for name in names if name not in volumes), ": ")
        raise InvalidInputError(f"column {volumes[0]!r} seems to hold volumes, not prices; {remedy}{others}")
    adjusted = {name: _ADJUSTED.sub(r"\1\2", name.strip()).lower() for name in names}
    twins = {plain[close]: name for name, close in adjusted.items() if plain.get(close, name) != name}
    for twin, name in twins.items():
        raise InvalidInputError(
            f"columns {twin!r} and {name!r} seem to be of one asset, without and with dividends and splits; pass "
            f"columns= without one of them{as_option((other for other in names if other not in twins), ': ')}"
        )


def refuse_levels(table: Draft, kind: Kind, costs: bool) -> None:
    """Raise if prices or price relatives are read as returns, in whatever scale."""
    if kind not in ("returns", "log-returns"):
        return
    for number in np.flatnonzero(np.nanmin(table.values, axis=0, initial=np.inf) > 0).tolist():
        name, own = table.names[number], table.values[~np.isnan(table.values[:, number]), number]
        if len(own) < 4 or np.median(own) <= 0.8:
            continue
        near_1 = own.min() >= 0.2 and np.median(own) < 1.25
        # all positive, and hardly different from row to row
        steady = not costs and len(own) >= _LEAST_STEADY and np.median(np.abs(np.diff(own))) < _STEADY * np.median(own)
        if not (near_1 or steady):
            continue
        what, read = ("prices, or the value of an investment of 1" if near_1 else "prices"), "prices"
        if near_1 and (len(own) < _LEAST_LEVELS or np.ptp(own) == 0 or autocorrelation(own) <= _LEVELS):
            what, read = "price relatives", "price-relatives"
        raise InvalidInputError(
            f"column {name!r} seems to hold {what}: all values are positive, {np.median(own):.4g} in the middle; pass "
            f"kind={read!r}"
        )


def _refuse_backwards(name: str, column: Any) -> None:
    """Raise if a column that was not read holds dates that are not in order."""
    cells = dates_of.some_of(column)
    if all(map(is_number, cells)):
        readings: list[list[Any]] = [cells] if time_of(np.array(cells, float)) else []
    else:  # in any format that fits all of them
        by_form = ([dates_of.as_datetime(cell, form) for cell in cells] for form in (None, *dates_of.FORMS))
        readings = [[dates_of.in_utc(day) for day in read if day] for read in by_form if None not in read]
    if readings and all(read != sorted(read) for read in readings):
        option = dates_of.option(name, column) or f"date={name!r} with dates written as 2020-01-31"
        raise InvalidInputError(
            f"the dates in column {name!r} were not read, and they are not in order: returns would run backwards; pass "
            f"{option} and unsorted='sort'"
        )


def remarks(table: Draft, kind: Kind, periods_per_year: float, scale: float | None, costs: bool) -> list[str]:
    """Remarks on possible mistakes in a table of returns, each with its remedy; costs are not annualised."""
    remarks = [] if costs else _frequency(table, periods_per_year)
    remarks += _jumps(table, kind, periods_per_year) + _still(table)
    if kind in ("returns", "log-returns"):
        remarks += _like_levels(table) or (_like_percent(table, periods_per_year) if scale is None else [])
    named = [name for name in table.names if kind == "returns" and _LOGARITHM.search(name)]
    if named:
        remarks.append(
            f"the name of column {named[0]!r} suggests logarithmic returns; if they are, pass kind='log-returns'"
        )
    return remarks


def rows_per_year(dates: np.ndarray) -> float:
    """Rows per year, long gaps excluded."""
    days = np.diff(dates) / np.timedelta64(1, "D")
    within = days[days <= _HOLE * max(float(np.median(days)), 1.0)]
    return 365.25 * len(within) / float(within.sum()) if within.sum() > 0 else math.inf


def _frequency(table: Draft, periods_per_year: float) -> list[str]:
    """Remarks on dates whose frequency differs from periods_per_year, and on gaps between them."""
    if table.dates is None:
        return []
    days = np.diff(table.dates) / np.timedelta64(1, "D")
    usual, seen, remarks = float(np.median(days)), rows_per_year(table.dates), []
    odd = _ODD_INTRADAY if usual < 1 else _ODD_IN_DAYS if len(days) < _WEEKS else _ODD_FREQUENCY
    if not 1 / odd < seen / periods_per_year < odd:
        daily = ", or leave out non-trading days" * (seen > periods_per_year and usual == 1)
        remarks.append(
            f"periods_per_year={periods_per_year:g}, but according to its dates the table has {seen:.3g} rows per "
            f"year; pass periods_per_year={seen:.0f}{daily}"
        )
    longest = int(days.argmax())
    if days[longest] > _HOLE * max(usual, 1.0):
        remarks.append(
            f"there are {days[longest]:,.0f} days between {table.where(longest)} and {table.where(longest + 1)}, and "
            "the return over them counts as one period; add the missing rows, or start after the gap"
        )
    return remarks


def _like_levels(table: Draft) -> list[str]:
    """Remarks on columns whose values hardly differ from those before."""
    if len(table.values) < _LEAST_LEVELS:
        return []
    with np.errstate(invalid="ignore"):
        similar = by_column(autocorrelation, table.values[:_EXAMINED_ROWS])
    return [
        f"values of column {table.names[number]!r} hardly differ from those before (autocorrelation "
        f"{similar[number]:.2f}), as in {what}; if they are, pass kind='{what.replace(' ', '-')}'"
        for number in np.flatnonzero(similar > _LEVELS)[:3].tolist()
        for what in ["prices" if np.nanmin(table.values[:, number]) > 0 else "cumulative returns"]
    ]


def _like_percent(table: Draft, periods_per_year: float) -> list[str]:
    """A remark on returns that would be enormous, unless they are in per cent."""
    mean = np.nanmean(table.values, axis=0) * periods_per_year
    volatility = np.nanstd(table.values, axis=0) * math.sqrt(periods_per_year)
    large = (np.abs(mean) > 2) | (volatility > 2)
    if not large.any():
        return []
    first = int(large.argmax())
    return [
        f"returns of column {table.names[first]!r} would have an annualised mean of {mean[first]:,.0%} and a "
        f"volatility of {volatility[first]:,.0%}; if they are in per cent, pass scale=0.01, if not, pass scale=1"
    ]


def _jumps(table: Draft, kind: Kind, periods_per_year: float) -> list[str]:
    """Remarks on wrong prices, unadjusted splits and other implausible returns; the first of each kind."""
    rare = periods_per_year <= 12 and kind == "prices"
    near = _NEAR_MONTHLY if rare else _NEAR
    reversed_ = "a move that the next row reverses; correct the price if it is wrong"
    split = "what a split looks like in unadjusted prices; use adjusted prices"
    other = "hardly plausible; correct it if it is wrong"
    places: dict[str, list[tuple[int, int]]] = {reversed_: [], split: [], other: []}  # (row, column)
    for column, x in enumerate(table.values.T):
        size = np.abs(x)
        moved = size[:: -(-len(size) // _EXAMINED_ROWS)]  # evenly spaced rows of a long table
        moved = moved[moved > 0]
        robust_sd = 1.4826 * math.log1p(np.median(moved)) if len(moved) else math.inf
        # the logarithm of a gain is smaller than the gain, that of a loss larger
        large = size > -math.expm1(-_FAR * robust_sd)
        if not (rare or large.any()):
            continue
        with np.errstate(divide="ignore"):
            logs = np.pad(np.log1p(x), 1)
        if rare and (row := _hidden_split(logs[1:-1], robust_sd)) is not None:
            places[split].append((row, column))
            continue
        for row in np.flatnonzero(large).tolist():
            before, log, after = logs[row : row + 3].tolist()
            if abs(log) <= _FAR * robust_sd:
                continue
            if _reversed(before, log) or _reversed(log, after):
                places[reversed_].append((row, column))
            elif min(abs(abs(log) - math.log(k)) for k in _SPLITS) < min(_MOVES * robust_sd, near):
                places[split].append((row, column))
            elif abs(log) > min(_JUMP, _OUTLIER * robust_sd):
                places[other].append((row, column))
    remarks = []
    for words, cells in places.items():
        if cells:
            row, column = min(cells)
            more = f" (the first of {len(cells)} such returns)" if len(cells) > 1 else ""
            size = f"{table.values[row, column]:+,.1%}"
            remarks.append(f"{table.where(row, column)}: a return of {size} is {words}{more}")
    return remarks


def _hidden_split(logs: np.ndarray, robust_sd: float) -> int | None:
    """The row of the only large fall, if it is near that of a split; monthly prices move too much for an exact one."""
    size = np.abs(logs)
    row = int(np.nanargmax(size))
    others = np.delete(size, row)
    if logs[row] >= 0 or not size[row] > _EXAMINED * robust_sd or np.nanmax(others) > _OTHERS * size[row]:
        return None
    near = min(abs(size[row] - math.log(ratio)) for ratio in _SMALL_SPLITS)
    return row if near < 3 * robust_sd else None


def _reversed(move: float, after: float) -> bool:
    """Whether a move is large, and the one after it reverses it."""
    return bool(abs(move) > _SPIKE and abs(move + after) < abs(move) / 5)


def _still(table: Draft) -> list[str]:
    """Remarks on columns that do not change for more rows in a row than their other rows make likely."""
    remarks = []
    for name, column in zip(table.names, table.values.T, strict=True):
        own = np.flatnonzero(~np.isnan(column))
        zero = np.abs(column[own]) < 1e-14
        rows, zeros = len(own), int(zero.sum())
        if zeros < _STILL or rows < 2 * _STILL:
            continue
        edges = np.flatnonzero(np.diff(zero, prepend=False, append=False)).reshape(-1, 2)
        begin, end = edges[np.diff(edges)[:, 0].argmax()].tolist()
        length = end - begin
        if length < _STILL or rows * ((zeros - length) / max(rows - length, 1)) ** length > _UNLIKELY:
            continue
        first, last = table.where(int(own[begin])), table.where(int(own[end - 1]))
        remarks.append(
            f"column {name!r} does not change in {length:,} rows, {first} to {last}: was it traded then? Shorten the "
            "table, or leave the column out with columns="
        )
    return remarks[:3] + ([f"{len(remarks) - 3} more columns do not change for many rows"] if len(remarks) > 3 else [])


def like_relatives(table: Draft) -> list[str]:
    """A remark on prices near 1 that do not depend on those before."""
    for name, column in zip(table.names, table.values.T, strict=True):
        own = column[~np.isnan(column)]
        if len(own) >= _LEAST_LEVELS and 0.8 < np.median(own) < 1.25 and autocorrelation(own) < 0.5:
            return [
                f"column {name!r} seems to hold price relatives, not prices: values are near {np.median(own):.4g}, and "
                "hardly depend on those before; if they are, pass kind='price-relatives'"
            ]
    return []
