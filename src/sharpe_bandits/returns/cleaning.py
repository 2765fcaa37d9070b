"""Turn a table of numbers into returns: every doubt is an error that names the place and the option to resolve it."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ..errors import InvalidInputError, listed, shown
from .draft import Draft, counted

#: What the numbers of a table are.
Kind = Literal["prices", "returns", "log-returns", "price-relatives", "cumulative-returns", "pnl"]
#: How missing values, rows with the same date, rows out of order and constant columns are handled.
Missing = Literal["error", "drop", "fill", "keep"]
Duplicates = Literal["error", "first", "last"]
Unsorted = Literal["error", "sort"]
Constant = Literal["error", "drop"]
#: Returns that differ by at most this are constant: those of evenly growing prices differ by rounding errors.
CONSTANT = 1e-14
#: Larger returns are rejected.
_LARGEST = 1e9
#: Maximum number of columns named in a note on missing values.
_NAMED = 5
#: Columns are observed one at a time if fewer than this share of rows have values of two or more.
PAIRED = 0.1
#: Minimum number of returns for a meaningful mean and variance.
LEAST_ROWS = 3


def settle_dates(draft: Draft, missing: Missing, unsorted: Unsorted, duplicates: Duplicates) -> None:
    """Ensure that every row has a date of its own, and that dates are in order, if rows have dates."""
    if draft.dates is None:
        return
    undated = np.isnat(draft.dates)
    if undated.any():
        number = counted(int(undated.sum()), "row")
        if missing != "drop":
            raise InvalidInputError(
                f"{draft.where(int(undated.argmax()))} has no date ({number} in all); pass missing='drop'"
            )
        draft.notes.append(f"dropped {number} without a date")
        draft.keep(~undated)
    steps = np.diff(draft.dates).astype(float)
    if (steps < 0).any():
        first = int((steps < 0).argmax()) + 1
        this, before = draft.where(first), draft.where(first - 1)
        if unsorted == "error":
            whole = "; the newest come first" if (steps <= 0).all() else ""
            raise InvalidInputError(f"dates are not in order: {this} comes after {before}{whole}; pass unsorted='sort'")
        draft.notes.append(f"sorted by date ({this} came after {before})")
        draft.keep(np.argsort(draft.dates, kind="stable"))
    same = np.diff(draft.dates).astype(float) == 0
    if same.any():
        first, number = int(same.argmax()), counted(int(same.sum()), "row")
        if duplicates == "error":
            raise InvalidInputError(
                f"{draft.where(first)} and {draft.where(first + 1)} have the same date ({number} too many in all); "
                "pass duplicates='first' or duplicates='last'"
            )
        draft.notes.append(f"kept the {duplicates} row of each date: {number} dropped")
        draft.keep(~(np.append(same, False) if duplicates == "last" else np.insert(same, 0, False)))


def _first(bad: np.ndarray) -> tuple[int, int]:
    row, column = np.unravel_index(int(bad.argmax()), bad.shape)
    return int(row), int(column)


def one_at_a_time(x: np.ndarray) -> bool:
    """Whether hardly any row has values of two or more columns."""
    there = ~np.isnan(x)
    return x.shape[1] > 1 and bool((there.sum(axis=1) > 1).mean() < PAIRED)


def _refuse(draft: Draft, bad: np.ndarray, problem: str) -> None:
    """Raise if a value is bad; the first of them stands for ``{}`` in the problem."""
    if bad.any():
        row, column = _first(bad)
        raise InvalidInputError(f"{draft.where(row, column)}: {problem.format(draft.values[row, column])}")


def close_gaps(draft: Draft, missing: Missing, kind: Kind) -> None:
    _refuse(draft, np.isinf(draft.values), "{} is not finite; correct it")
    gaps = np.isnan(draft.values)
    if not gaps.any():
        return
    if (empty := gaps.all(axis=0)).any():
        name = draft.names[int(empty.argmax())]
        raise InvalidInputError(f"column {shown(name)} has no values; leave it out with columns=")
    row, column = _first(gaps)
    number, lost = counted(int(gaps.sum()), "value"), gaps.any(axis=1)
    alone, prices = one_at_a_time(draft.values), kind == "prices"
    if missing == "error":
        if gaps[0].all() and not gaps[1:].any():
            raise InvalidInputError(f"{draft.where(0)} has no values, as made from prices; pass missing='drop'")
        filled = "the last known price" if prices else "a return of 0"
        others = f", missing='drop' to drop such rows, or missing='fill' to use {filled}"
        raise InvalidInputError(
            f"{draft.where(row, column)} has no value ({number} missing in {counted(int(lost.sum()), 'row')} and "
            f"{counted(int(gaps.any(axis=0).sum()), 'column')}: {_lacking(draft, gaps)}); pass "
            f"missing='keep' to let every column have its own history{'' if alone else others}"
        )
    if missing == "drop":
        draft.notes.append(
            f"dropped {lost.sum():,} of {counted(len(gaps), 'row')}: {number} missing ({_lacking(draft, gaps)})"
        )
        draft.keep(~lost)
    elif missing == "keep":
        draft.notes.append(f"every column has its own history: {number} missing ({_lacking(draft, gaps)})")
        draft.keep(~gaps.all(axis=1))
    elif prices and gaps[0].any():
        place = draft.where(0, int(gaps[0].argmax()))
        raise InvalidInputError(f"{place} has no earlier price to fill it with; pass missing='keep' or 'drop'")
    elif alone and not prices:
        raise InvalidInputError(
            f"columns are observed one at a time: {number} of {gaps.size:,} are missing, and returns of 0 would be "
            f"invented for them; pass missing='keep' to rank or compare the columns"
        )
    else:
        draft.values = _filled(draft.values) if prices else np.where(gaps, 0.0, draft.values)
        what, filled = ("price", "the last known price") if prices else ("return", "0")
        draft.notes.append(f"filled {number.replace('value', f'missing {what}')} with {filled}")


def _filled(values: np.ndarray) -> np.ndarray:
    """Missing values filled with the last known one."""
    last = np.maximum.accumulate(np.where(np.isnan(values), 0, np.arange(len(values))[:, None]), axis=0)
    return np.take_along_axis(values, last, axis=0)


def _lacking(draft: Draft, gaps: np.ndarray) -> str:
    """Columns that lack values: how many, and the number of rows in which each is the only one."""
    lacks, alone = gaps.sum(axis=0), gaps[gaps.sum(axis=1) == 1].sum(axis=0)
    most = [k for k in np.argsort(-lacks, kind="stable") if lacks[k]]
    words = []
    for k in most[:_NAMED]:
        only = f", {alone[k]:,} of them as the only column" if alone[k] else ""
        words.append(f"{shown(draft.names[k])} lacks {lacks[k]:,}{only}")
    return "; ".join(words + [f"and {len(most) - _NAMED} more columns"] * (len(most) > _NAMED))


def convert(draft: Draft, scale: float | None, kind: Kind, capital: float | None, costs: bool) -> None:
    """Turn the numbers of the table into simple returns per period."""
    with np.errstate(over="ignore"):  # checked below
        if kind == "prices":
            _make_returns(draft)
        elif kind == "cumulative-returns":
            draft.values = 1 + draft.values * (scale or 1.0)
            _make_returns(draft)
            draft.notes.append("made returns from cumulative ones, without the first row")
        elif kind == "price-relatives":
            draft.values = draft.values - 1
            draft.notes.append("made returns from price relatives")
        elif kind == "pnl":
            draft.values = draft.values / capital
            draft.notes.append(f"divided profits and losses by a capital of {capital:,.10g}")
        elif scale is not None and scale != 1:
            draft.values = draft.values * scale
            draft.notes.append(f"multiplied returns by {scale:g}")
        if kind == "log-returns":
            draft.values = np.expm1(draft.values)
            draft.notes.append("converted logarithmic returns to simple ones")
    if kind not in ("prices", "cumulative-returns"):
        _refuse_large(draft, scale, kind, costs)
    # powers of larger ones could overflow
    _refuse(
        draft, ~(np.abs(draft.values) <= _LARGEST) & ~np.isnan(draft.values), "a return of {:g} is too large to be "
        "plausible or to compute with; correct it, or choose other columns=",
    )  # fmt: skip


def _make_returns(draft: Draft) -> None:
    _refuse(
        draft, draft.values <= 0, "a price must be above 0, got {:g}; correct it, choose other columns=, or pass "
        "kind='returns' if these are returns",
    )  # fmt: skip
    values = draft.values[1:] / _filled(draft.values)[:-1] - 1  # over the last known price
    spans = int((np.isnan(draft.values[:-1]) & ~np.isnan(values)).sum())
    if spans:
        draft.notes.append(f"{counted(spans, 'return')} {'span' if spans > 1 else 'spans'} a gap in prices")
    draft.keep(slice(1, None))
    draft.values = values
    draft.keep(~np.isnan(values).all(axis=1))


def _refuse_large(draft: Draft, scale: float | None, kind: Kind, costs: bool) -> None:
    """Raise if there are losses of more than all, or large gains of an unknown scale."""
    lost = draft.values < -1
    large = lost if scale is not None or kind == "pnl" else np.abs(draft.values) > 1
    if not large.any():
        return
    row, column = _first(lost if lost.any() else large)
    value = draft.values[row, column]
    noun, given = ("cost", -value) if costs else ("return", value)
    if kind == "pnl":
        remedy = "pass a larger capital="
    elif scale is not None:
        remedy = "pass another scale="
    else:
        others = "" if costs else ", if they are prices, kind='prices', if logarithmic, kind='log-returns'"
        remedy = (
            f"if {noun}s are in per cent, pass scale=0.01, if in basis points, scale=0.0001{others}, if in money, "
            f"kind='pnl' and capital={'' if lost.any() else ', if this is correct, scale=1'}"
        )
    what = f"a {'loss' if value < -1 else 'gain'} of more than 100%"
    raise InvalidInputError(f"{draft.where(row, column)}: a {noun} of {given:g} is {what}; {remedy}")


def check_enough(draft: Draft) -> None:
    counts = (~np.isnan(draft.values)).sum(axis=0)
    short = int(counts.argmin())
    if counts[short] < LEAST_ROWS:
        done = f" (while reading: {'; '.join(draft.notes)})" if draft.notes else ""
        raise InvalidInputError(
            f"column {shown(draft.names[short])} has {counted(int(counts[short]), 'return')}, but at least "
            f"{LEAST_ROWS} are needed{done}; give more rows, or leave it out with columns="
        )


def check_variation(draft: Draft, constant: Constant) -> None:
    still = np.nanmax(draft.values, axis=0) - np.nanmin(draft.values, axis=0) <= CONSTANT
    if not still.any():
        return
    first = int(still.argmax())
    if constant == "error" or still.all():
        remedy = "; pass constant='drop'" if not still.all() else ""
        value = np.nanmin(draft.values[:, first])
        raise InvalidInputError(
            f"column {shown(draft.names[first])} does not vary: its return is {value:g} from {draft.where(0)} to "
            f"{draft.where(len(draft.values) - 1)}, so it has no Sharpe ratio{remedy}"
        )
    dropped = [name for name, flat in zip(draft.names, still, strict=True) if flat]
    draft.notes.append(f"dropped {listed(dropped)}, which do{'es' * (len(dropped) == 1)} not vary")
    draft.names = [name for name, flat in zip(draft.names, still, strict=True) if not flat]
    draft.values = np.ascontiguousarray(draft.values[:, ~still])
