"""When a policy decides, what it holds between two decisions, and what its trades cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._support.validation import real, whole
from ..errors import InvalidInputError, shown, unknown
from . import statistics

#: Calendar periods of decisions, which fall on the first row of each.
CALENDAR = {"week": "datetime64[W]", "month": "datetime64[M]", "quarter": "datetime64[M]", "year": "datetime64[Y]"}


def check_every(every: Any, dates: np.ndarray | None, as_recorded: bool) -> int | str:
    """``every``, checked: a number of rows, or a calendar unit, which needs dates."""
    if not isinstance(every, str):
        return whole("every", every, 1)
    if every.isdecimal() and int(every):
        return int(every)
    if every not in CALENDAR:
        raise InvalidInputError(f"every must be a number of rows or one of {', '.join(CALENDAR)}, got {shown(every)}")
    if dates is None or not as_recorded:
        why = "the table has no dates" if dates is None else "runs are not played on the recorded rows"
        raise InvalidInputError(f"every={every!r} needs dates, but {why}; pass a number of rows, such as 21")
    return every


def starts(rows: int, every: int | str, warm: int, dates: np.ndarray | None) -> np.ndarray:
    """First row of each decision period; row ``warm`` starts one, and those before it belong to the warm-up."""
    if isinstance(every, int):
        return np.arange(warm % every, rows, every)
    assert dates is not None
    days = dates.astype("datetime64[D]")
    if every == "week":  # from Monday; 1970 began on a Thursday
        keys = (days.astype(np.int64) + 3) // 7
    else:
        keys = days.astype(CALENDAR[every]).astype(np.int64) // (3 if every == "quarter" else 1)
    begins = np.concatenate([[True], keys[1:] != keys[:-1]])
    begins[warm] = True
    return np.flatnonzero(begins)


def compounded(x: np.ndarray, begins: np.ndarray) -> np.ndarray:
    """Returns over decision periods; NaN if a column has no return when the period begins.

    A column that ends within a period is held as cash until the end of the period.
    """
    if len(begins) == len(x):
        return x
    grown = np.multiply.reduceat(1 + np.nan_to_num(x), begins, axis=0) - 1
    return np.where(np.isnan(x[begins]), np.nan, grown)


def costs_of(cost: Any, names: Sequence[str]) -> np.ndarray:
    """Cost of a switch for each column, from one number for all or a mapping by name."""
    if isinstance(cost, Mapping):
        extra = next((name for name in cost if name not in names), None)
        if extra is not None:
            raise unknown("column", extra, names)
        values = [cost.get(name, 0.0) for name in names]
    else:
        values = [cost] * len(names)
    for value in values:
        if not 0 <= real(value) < 1:
            raise InvalidInputError(f"cost must be from 0 to below 1, got {value!r}; 0.001 is 0.1% per switch")
    return np.array(values, float)


@dataclass(frozen=True)
class Held:
    """Holdings and trades of a player in one run.

    By row: ``gross``, returns before costs; ``traded``, the share of wealth traded before it; ``cost``, that of these
    trades as a share of wealth; ``columns`` (rows, places), those held, -1 for none, no places if all are held;
    ``weights`` (rows, columns), shares of wealth at its beginning, None if one column is held. ``shares`` of time in
    each column.
    """

    gross: np.ndarray
    traded: np.ndarray
    cost: np.ndarray
    shares: np.ndarray
    columns: np.ndarray
    weights: np.ndarray | None = None

    @property
    def net(self) -> np.ndarray:
        return np.asarray(self.gross - self.cost * (1 + self.gross))


def one_at_a_time(x: np.ndarray, held: np.ndarray, costs: np.ndarray) -> Held:
    """Holdings of a player that holds the one column ``held`` of each row."""
    gross = x[np.arange(len(x)), held]
    # after a total loss there is nothing to trade
    traded = np.concatenate([[0.0], (held[1:] != held[:-1]) & (gross[:-1] > -1)])
    each = costs[held]
    cost = np.concatenate([[0.0], (each[1:] + each[:-1]) / 2 * traded[1:]])
    return Held(gross, traded, cost, np.bincount(held, minlength=x.shape[1]) / len(x), held[:, None])


def weighted(x: np.ndarray, weights: np.ndarray, costs: np.ndarray, columns: np.ndarray | None = None) -> Held:
    """Holdings of a player with these ``weights`` (rows, columns)."""
    moved = statistics.trades(weights, x)
    traded = moved.sum(axis=1) / 2
    cost = costs[0] * traded if (costs == costs[0]).all() else moved @ costs / 2
    if columns is None:
        columns = np.empty((len(x), 0), int)
    gross, shares = (weights * x).sum(axis=1), weights.mean(axis=0)
    return Held(gross, traded, cost, shares, columns, weights.astype(np.float32))  # many runs are kept


def drifting(targets: np.ndarray, x: np.ndarray, begins: np.ndarray) -> np.ndarray:
    """Weights (rows, columns) of a player that rebalances to ``targets`` only at decisions."""
    if len(begins) == len(x):
        return targets
    weights = np.empty_like(x)
    for target, first, end in zip(targets, begins, [*begins[1:], len(x)], strict=True):
        grown = target * np.concatenate([np.ones((1, x.shape[1])), np.cumprod(1 + x[first : end - 1], axis=0)])
        total = grown.sum(axis=1, keepdims=True)
        weights[first:end] = np.divide(grown, total, out=np.tile(target, (end - first, 1)), where=total > 0)
    return weights
