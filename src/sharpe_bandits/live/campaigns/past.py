"""Decisions that were made before a campaign, from files and tables."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ...errors import InvalidInputError, UnreadableDataError, require, shown
from .records import Decider
from .requests import Record

_COLUMNS = ("arm", "reward", "key", "propensity", "weight", "covariate", "segment")


def past_records(source: Any) -> list[Record]:
    """A request per row. A row without a key gets one from its content and place, so that it is loaded only once."""
    records = []
    for place, row in enumerate(_rows(source), 1):
        if not isinstance(row, Mapping) or row.get("arm") is None or row.get("reward") is None:
            raise InvalidInputError(f"row {place} needs an arm and a reward, got {shown(row)}; nothing was recorded")
        values = {name: row[name] for name in _COLUMNS if row.get(name) is not None}
        if "key" not in values:
            content = json.dumps([place, {name: str(value) for name, value in sorted(values.items())}])
            values["key"] = f"history-{hashlib.sha256(content.encode()).hexdigest()[:24]}"
        try:
            records.append(Record(**{**values, "key": str(values["key"])}, worker="history", by=Decider.HISTORY))
        except InvalidInputError as error:
            raise InvalidInputError(f"row {place}: {error}; nothing was recorded") from None
    return records


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
