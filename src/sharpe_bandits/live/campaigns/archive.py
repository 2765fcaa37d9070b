"""Archives: the old part of a campaign's log and of its decisions, in files instead of the database.

A store keeps where they are, and reads them where it needs the whole log: verification, evaluation, exports. Asking,
telling and status go on without them. The hash chain covers archived events as before.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import islice, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ...errors import InvalidInputError, StoreError, require
from .log import history
from .records import DecisionRow, DecisionState, Event, EventKind

if TYPE_CHECKING:
    from .campaign import Campaign

#: Rows in memory at a time.
_ROWS = 50_000
_DECISIONS, _LOG = "decisions.parquet", "log.parquet"


class Archive(NamedTuple):
    """Where events up to number ``events`` and decisions up to number ``decisions`` are: folders, in order."""

    events: int
    decisions: int
    folders: list[str]

    def logged(self, first: int, last: int) -> Iterator[Event]:
        """Archived events, in order."""
        for row in self._rows():
            if first <= row["seq"] <= last:
                yield Event(*(row[name] for name in Event._fields))

    def history(self, first: int, last: int) -> Iterator[DecisionRow]:
        """Archived decisions, in order."""
        for row in self._rows():
            if row["row"] is not None and first <= (made := DecisionRow(*json.loads(row["row"]))).number <= last:
                yield made

    def _rows(self) -> Iterator[dict[str, Any]]:
        import pyarrow.parquet as pq

        for folder in self.folders:
            path = Path(folder) / _LOG
            if not path.is_file():
                raise StoreError(f"events 1 to {self.events:,} are archived in {path}, which is not there: put it back")
            with pq.ParquetFile(path) as file:
                for batch in file.iter_batches(_ROWS):
                    yield from batch.to_pylist()


def archive(campaign: Campaign, before: datetime, folder: Path) -> tuple[int, int]:
    """Move what happened before a time to files in a new folder; gives how many events and decisions that were.

    Decisions are moved up to the first that was pending then. Their keys are no longer known, and late rewards of those
    that had expired are refused.
    """
    require("pyarrow", "an archive", "data")
    storage, number = campaign._storage, campaign._id
    if not hasattr(storage, "archive"):
        raise InvalidInputError(f"{storage.name} cannot archive: its storage has no archive()")
    if folder.exists():
        raise InvalidInputError(f"{folder} exists; choose another folder for the archive")
    moment, arms = before.timestamp(), campaign.arms

    def old_part(records: Any) -> tuple[Archive, int, int]:
        known = records.archive() or Archive(0, 0, [])
        events = records.events(known.events, records.snapshot()[0])  # opening a campaign needs those after it
        last = max((event.seq for event in takewhile(lambda event: event.at < moment, events)), default=known.events)
        # A decision is archived with all of its events: those that ended after the last archived event stay.
        cut = min((event.at for event in records.events(last, last + 1)), default=moment)
        rows = records.history(known.decisions + 1, None)
        made = sum(1 for _ in takewhile(lambda row: _is_old(row, min(moment, cut)), rows))
        return known, last, known.decisions + made

    known, last, decisions = storage.read(number, old_part)
    if last == known.events:
        raise InvalidInputError(
            f"nothing of the campaign {campaign.name!r} that its last snapshot includes is before {before.isoformat()}"
        )

    def write(records: Any) -> None:
        rows = iter(records.history(known.decisions + 1, decisions))
        _write(folder / _LOG, _log_rows(records.events(known.events, last), rows, decisions))
        import pyarrow.parquet as pq

        pq.write_table(history(records, arms, known.decisions + 1, decisions), folder / _DECISIONS)

    folder.mkdir(parents=True, mode=0o700)
    storage.read(number, write)
    for path in (folder / _LOG, folder / _DECISIONS, folder):
        opened = os.open(path, os.O_RDONLY)
        os.fsync(opened)
        os.close(opened)
    storage.archive(number, Archive(last, decisions, [*known.folders, str(folder.absolute())]))
    return last - known.events, decisions - known.decisions


def _is_old(row: DecisionRow, moment: float) -> bool:
    return row.state != DecisionState.PENDING and row.told is not None and row.told < moment


def _log_rows(events: Iterable[Event], rows: Iterator[DecisionRow], decisions: int) -> Iterator[dict[str, Any]]:
    """Events, each with the decision that it made, if that is archived, too."""
    for event in events:
        made = event.kind == EventKind.ASKED and (event.number or 0) <= decisions
        yield {**event._asdict(), "row": json.dumps(list(next(rows))) if made else None}


def _write(path: Path, rows: Iterator[dict[str, Any]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    whole, number, text = pa.int64(), pa.float64(), pa.string()
    kinds = {"seq": whole, "kind": whole, "number": whole, "arm": whole, "reward": number, "at": number}
    schema = pa.schema([(name, kinds.get(name, text)) for name in (*Event._fields, "row")])
    with pq.ParquetWriter(path, schema) as writer:
        while page := list(islice(rows, _ROWS)):
            writer.write_table(pa.Table.from_pylist(page, schema))
