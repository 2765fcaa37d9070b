"""Pivoting of tables with a row per date and asset to a row per date and a column per asset."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import InvalidInputError, unknown
from .cleaning import Duplicates
from .dates import holds_dates, some_of
from .plausibility import FORMATS, time_of
from .sources import Layout, Source, plain_values


def _refuse_unread_dates(source: Source, pivot: Sequence[str]) -> None:
    """Raise if a column holds dates, in digits or as time since 1970 too, that would not be read."""
    for name, column in zip(source.names, source.columns, strict=True):
        cells = some_of(column)
        if name in pivot or not cells:
            continue
        numbers = sorted({float(cell) for cell in cells if str(cell).isdecimal()})
        what = time_of(np.array(numbers))
        if holds_dates(column) or what == "dates in digits" or what in FORMATS:
            form = f" and date_format={FORMATS[what]!r}" if what in FORMATS else ""
            raise InvalidInputError(f"column {name!r} seems to hold dates; pass date={name!r}{form}")


def pivoted(source: Source, layout: Layout, dated: int | None, duplicates: Duplicates) -> Source:
    """The table with a row per date and a column per asset; unchanged if ``layout.pivot`` is None.

    Without dates, rows stay as they are, with a value in one column each.
    """
    import pyarrow as pa

    if layout.pivot is None:
        return source
    for name in layout.pivot:
        if name not in source.names:
            raise unknown("column", name, source.names)
    if dated is None:
        _refuse_unread_dates(source, layout.pivot)
    assets, numbers = (plain_values(source.columns[source.names.index(name)]) for name in layout.pivot)
    dates: Sequence[Any] = range(len(assets)) if dated is None else plain_values(source.columns[dated])
    begins: dict[Any, int] = {}
    for at, date in enumerate(dates):
        begins.setdefault(date, at)
    row_of, origin = {date: row for row, date in enumerate(begins)}, list(begins.values())
    cells: dict[tuple[str, int], int] = {}
    for at, (date, asset) in enumerate(zip(dates, assets, strict=True)):
        if asset is None:
            raise InvalidInputError(f"column {layout.pivot[0]!r}, {source.place(at)} has no asset name; correct it")
        before = cells.setdefault((str(asset), row_of[date]), at)
        if before != at and duplicates == "error":
            raise InvalidInputError(
                f"{source.place(before)} and {source.place(at)} have the same date and {layout.pivot[0]}, "
                f"{str(asset)!r}; pass duplicates='first' or duplicates='last'"
            )
        if duplicates == "last":
            cells[str(asset), row_of[date]] = at
    wide: dict[str, list[Any]] = {str(asset): [None] * len(row_of) for asset in assets}
    for (name, row), at in cells.items():
        wide[name][row] = numbers[at]
    columns = [pa.array(values, pa.large_string()) if source.text else values for values in wide.values()]
    if dated is None:
        return Source(list(wide), columns, source.place, None, source.text)
    label = source.columns[dated]
    moments = label.take(pa.array(origin)) if hasattr(label, "take") else [label[at] for at in origin]
    names = [source.names[dated], *wide]
    return Source(names, [moments, *columns], lambda row: source.place(origin[row]), None, source.text)
