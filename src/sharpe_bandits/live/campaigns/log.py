"""The log and the decisions of a campaign, as records, Arrow tables and CSV."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from ..._support.names import csv_cell
from .records import (
    PAIRS,
    Decision,
    EventKind,
    LogEntry,
    details_text,
    history_schema,
    plain_details,
    user_key,
    utc_time,
)
from .storage import Records, Search

if TYPE_CHECKING:
    import pyarrow as pa

#: Decisions in a batch of an Arrow table.
_ROWS = 50_000


def log_page(records: Records, arms: list[Any], before: int | None, count: int, search: str) -> list[LogEntry]:
    """At most ``count`` entries before number ``before`` that match ``search``: the number of a decision, or part of a
    kind, of the name of an arm, of a key, of a worker, or of the details.
    """
    text = search.strip().lower()
    wanted = None
    if text:
        number = int(text) if text.isascii() and text.isdigit() and len(text) < 16 else None
        kinds = [kind.value for kind in EventKind if text in kind.label]
        wanted = Search(number, text, kinds, [i for i, arm in enumerate(arms) if text in str(arm).lower()])
    return [
        LogEntry(
            event.seq,
            EventKind(event.kind).label,
            utc_time(event.at),
            event.number,
            event.name if event.arm is None else arms[event.arm],
            event.reward,
            user_key(key),
            worker,
            plain_details(event.details),
        )
        for event, key, worker in records.log(before, count, wanted)
    ]


def history(records: Records, arms: list[Any], first: int, last: int | None) -> pa.Table:
    """The decisions from number ``first`` to ``last``, in order, with names of arms and times in UTC."""
    import pyarrow as pa

    schema = history_schema(isinstance(arms[0], str))
    rows, batches = iter(records.history(first, last)), []
    while page := [history_row(Decision.from_row(row, arms)) for row in islice(rows, _ROWS)]:
        batches.append(pa.RecordBatch.from_pylist(page, schema))
    return pa.Table.from_batches(batches, schema)


def history_row(decision: Decision) -> dict[str, Any]:
    """A row of a history: tags and metrics are JSON."""
    return vars(decision) | {name: details_text(getattr(decision, name)) for name in PAIRS}


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
