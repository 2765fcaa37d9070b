"""All decisions of a campaign as an Arrow table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from ..names import csv_cell
from .answers import history_schema
from .database import Database
from .decisions import given_key
from .schema import decisions

if TYPE_CHECKING:
    import pyarrow as pa

_TIMES = ("asked", "expires", "told")
_ROWS = 50_000


def history(database: Database, campaign: int, arms: list[Any], first: int, last: int | None) -> pa.Table:
    """The decisions from number ``first`` to ``last``, in order, with names of arms and times in UTC."""
    import pyarrow as pa

    form = history_schema(isinstance(arms[0], str))
    chosen = (
        sa.select(*(decisions.c[name] for name in form.names))
        .where(decisions.c.campaign == campaign, decisions.c.number >= first)
        .order_by(decisions.c.number)
    )
    if last is not None:
        chosen = chosen.where(decisions.c.number <= last)

    def work(connection: sa.Connection) -> list[Any]:
        batches = []
        for rows in connection.execution_options(yield_per=_ROWS).execute(chosen).partitions():
            columns = dict(zip(form.names, map(list, zip(*rows, strict=True)), strict=True))
            columns["arm"] = [arms[i] for i in columns["arm"]]
            columns["key"] = [given_key(key) for key in columns["key"]]
            for name in _TIMES:
                columns[name] = [None if t is None else round(t * 1e6) for t in columns[name]]
            batches.append(pa.record_batch([pa.array(columns[field.name], field.type) for field in form], schema=form))
        return batches

    return pa.Table.from_batches(database.read(work), schema=form)


def to_csv(table: pa.Table, header: bool = True) -> bytes:
    """A table as CSV; text that a spreadsheet would read as a formula gets a leading apostrophe."""
    import pyarrow as pa
    import pyarrow.csv

    for place, name in enumerate(table.column_names):
        if pa.types.is_string(table.schema.field(name).type):
            safe = pa.array([csv_cell(value) for value in table[name].to_pylist()], pa.string())
            table = table.set_column(place, name, safe)
    sink = pa.BufferOutputStream()
    pyarrow.csv.write_csv(table, sink, pyarrow.csv.WriteOptions(include_header=header))
    return bytes(sink.getvalue())
