"""Tables as text, as HTML for a notebook, and as frames of other libraries."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from ..errors import require
from .names import csv_cell

#: Maximum number of rows of a table shown as text.
_LONGEST = 20


@dataclass(repr=False)
class Table:
    """Columns and rows of text, numbers, verdicts or None."""

    columns: list[str]
    rows: list[list[Any]]
    title: str = ""

    def __repr__(self) -> str:
        listed = self.rows
        if cut := len(listed) > _LONGEST:
            half = _LONGEST // 2
            listed = [*listed[:half], ["…"] * len(self.columns), *listed[-half:]]
        lines = [self.title, _as_text(self.columns, listed)]
        lines += [f"{len(self.rows):,} rows, {len(self.columns)} columns"] if cut else []
        return "\n".join(line for line in lines if line)

    def _repr_html_(self) -> str:
        return html_table(self.columns, self.rows, self.title)

    def __len__(self) -> int:
        return len(self.rows)

    @classmethod
    def of(cls, records: Sequence[Mapping[str, Any]], title: str = "") -> Table:
        """The table of dictionaries that have the same keys."""
        return cls(list(records[0]), [list(record.values()) for record in records], title)

    @property
    def numeric(self) -> set[int]:
        """Indices of the columns that hold numbers."""
        return {k for k in range(len(self.columns)) if any(_is_number(row[k]) for row in self.rows)}

    def records(self) -> list[dict[str, Any]]:
        """A dictionary per row."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def to_arrow(self) -> Any:
        """The table as a :class:`pyarrow.Table`."""
        import pyarrow as pa

        return pa.table({name: pa.array([row[k] for row in self.rows]) for k, name in enumerate(self.columns)})

    def to_pandas(self) -> Any:
        """The table as a :class:`pandas.DataFrame`; needs pandas."""
        require("pandas", "this")
        import pandas as pd

        return pd.DataFrame(self.records(), columns=self.columns)

    def to_polars(self) -> Any:
        """The table as a :class:`polars.DataFrame`; needs polars."""
        require("polars", "this")
        import polars as pl

        return pl.from_arrow(self.to_arrow())

    def to_csv(self) -> bytes:
        """The table as CSV, numbers at full precision; text that a spreadsheet would read as a formula is escaped."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerows(map(csv_cell, row) for row in [self.columns, *self.rows])
        return text.getvalue().encode()

    def to_parquet(self) -> bytes:
        """The table as Parquet."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        sink = pa.BufferOutputStream()
        pq.write_table(self.to_arrow(), sink, compression="zstd")
        return bytes(sink.getvalue())


def _cell(value: Any) -> str:
    """A cell as text: numbers with four digits, empty for None."""
    if value is None:
        return ""
    if isinstance(value, (float, np.floating)):
        return f"{value:.4g}"
    return str(value)


def in_words(data: Mapping[str, Any], named: bool = True) -> str:
    """Plain data as text: ``ScaleFreeUCB(L = 0.1, c = 0.5)``; the first entry is the kind."""
    kind, *values = (item for item in data.items() if item[0] != "name" and item[1] is not None)
    words = (f"{key} = {_briefly(value)}" if named else _briefly(value) for key, value in values)
    return f"{kind[1]}({', '.join(words)})"


def _briefly(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, dict):
        return in_words(value)
    return f"{len(value)} values" if isinstance(value, (list, tuple)) and len(value) > 8 else str(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


def _as_text(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table as text; columns of numbers are right-aligned."""
    right = [
        bool(rows) and all(row[k] in (None, "…") or _is_number(row[k]) for row in rows) for k in range(len(columns))
    ]
    cells = [list(columns), *([_cell(value) for value in row] for row in rows)]
    widths = [max(len(row[k]) for row in cells) for k in range(len(columns))]
    lines = (
        "  ".join(text.rjust(w) if r else text.ljust(w) for text, w, r in zip(row, widths, right, strict=True))
        for row in cells
    )
    return "\n".join(line.rstrip() for line in lines)


def html_table(columns: Sequence[str], rows: Iterable[Sequence[Any]], caption: str = "") -> str:
    """A table as HTML, escaped."""
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "".join(
        "<tr>"
        + "".join(f"<td{' style=text-align:right' if _is_number(v) else ''}>{escape(_cell(v))}</td>" for v in row)
        + "</tr>"
        for row in rows
    )
    above = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{above}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
