"""Decisions that were made before a campaign, from files and tables."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ...errors import InvalidInputError, UnknownNameError, UnreadableDataError, require, shown, unknown
from .records import CIRCUMSTANCES, MEASURES, Decider
from .requests import Record
from .rules import arm_of

_GIVEN = {name: about for name, about in (MEASURES | CIRCUMSTANCES).items() if not about["pairs"]}
_NUMBERS = ("reward", "propensity", *(name for name, about in _GIVEN.items() if about["kind"] is float))
_COLUMNS = ("arm", "key", "reward", "propensity", *_GIVEN)


def past_records(source: Any, arms: list[Any], columns: Mapping[str, str]) -> list[Record]:
    """A request per row. A row without a key gets one from its content and place, so that it is loaded only once.

    ``columns``: those that have another name in the source.
    """
    records = []
    for place, row in enumerate(_rows(source), 1):
        if not isinstance(row, Mapping) or any(row.get(column) is None for column in columns.values()):
            raise InvalidInputError(
                f"row {place} needs an arm and a reward, in columns {' and '.join(columns.values())}, got "
                f"{shown(row)}; nothing was recorded"
            )
        cells = {name: row.get(columns.get(name, name)) for name in _COLUMNS}
        values = {name: _number(x) if name in _NUMBERS else x for name, x in cells.items() if x is not None}
        if "key" not in values:
            content = json.dumps([place, {name: str(value) for name, value in sorted(values.items())}])
            values["key"] = f"history-{hashlib.sha256(content.encode()).hexdigest()[:24]}"
        try:
            if (arm := arm_of(arms, values["arm"])) not in arms:
                raise unknown("arm", arm, arms)
            records.append(Record(**{**values, "key": str(values["key"])}, worker="history", by=Decider.HISTORY))
        except (InvalidInputError, UnknownNameError) as error:
            raise type(error)(f"row {place}: {error}; nothing was recorded") from None
    return records


def _number(x: Any) -> Any:
    """A number that a file has as text, since another row of its column is no number."""
    try:
        return float(x) if isinstance(x, str) else x
    except ValueError:
        return x


def _rows(source: Any) -> list[Any]:
    if isinstance(source, (str, os.PathLike)):
        require("pyarrow", "a file of decisions", "data")
        import pyarrow.csv
        import pyarrow.parquet

        path = Path(source)
        try:
            table = pyarrow.csv.read_csv(path) if path.suffix == ".csv" else pyarrow.parquet.read_table(path)
        except (OSError, ValueError) as error:
            raise UnreadableDataError(f"{path} cannot be read: {error}") from None
        return table.to_pylist()
    if hasattr(source, "to_pylist"):
        return source.to_pylist()
    if hasattr(source, "to_dict") and hasattr(source, "columns"):  # a frame
        rows: list[Any] = source.to_dict("records")
        return rows
    if isinstance(source, Iterable) and not isinstance(source, Mapping):
        return list(source)
    raise InvalidInputError(f"a history is a file, a table, or a list of rows, got {shown(source)}")
