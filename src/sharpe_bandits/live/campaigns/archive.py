"""Archives: the old part of a campaign's log in Parquet files instead of the database.

A store keeps where they are, and reads them where it needs the whole log: verification, evaluation, exports. Decisions
stay in the database, so that asking and telling with an old key go on as before. The hash chain covers archived events.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import datetime
from itertools import islice, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ...errors import InvalidInputError, StoreError
from .records import Event

if TYPE_CHECKING:
    from .campaign import Campaign

#: Rows in memory at a time.
_ROWS = 50_000
_LOG = "log.parquet"


class Archive(NamedTuple):
    """Where events up to number ``events`` are: folders, in order."""

    events: int
    folders: list[str]

    def logged(self, first: int, last: int) -> Iterator[Event]:
        """Archived events, in order."""
        import pyarrow.parquet as pq

        for folder in self.folders:
            path = Path(folder) / _LOG
            if not path.is_file():
                raise StoreError(f"{path} has archived events of this campaign, and is not there: put it back")
            with pq.ParquetFile(path) as file:
                for batch in file.iter_batches(_ROWS):
                    events = (Event(**row) for row in batch.to_pylist())
                    yield from (event for event in events if first <= event.seq <= last)


def archive(campaign: Campaign, before: datetime, folder: Path) -> int:
    """Move events before a time to a file in a new folder; gives how many that were."""
    storage, number = campaign._storage, campaign._id
    if not hasattr(storage, "archive"):
        raise InvalidInputError(f"{storage.name} cannot archive: its storage has no archive()")
    if folder.exists():
        raise InvalidInputError(f"{folder} exists; choose another folder for the archive")

    def write(records: Any) -> tuple[Archive, Archive]:
        entry = records.archive() or Archive(0, [])
        events = records.events(entry.events, records.snapshot()[0])  # opening a campaign needs those after it
        last = _write(folder, takewhile(lambda event: event.at < before.timestamp(), events)) or entry.events
        return entry, Archive(last, [*entry.folders, str(folder.absolute())])

    entry, archived = storage.read(number, write)
    if archived.events == entry.events:
        raise InvalidInputError(f"nothing that the last snapshot of {campaign.name!r} includes is before {before}")
    storage.archive(number, archived)
    return archived.events - entry.events


def _write(folder: Path, events: Iterator[Event]) -> int:
    """Write events, if there are any, to a file that is on disk when this returns; gives the number of the last."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    whole, number, text = pa.int64(), pa.float64(), pa.string()
    kinds = {"seq": whole, "kind": whole, "number": whole, "arm": whole, "reward": number, "at": number}
    schema = pa.schema([(name, kinds.get(name, text)) for name in Event._fields])
    page = list(islice(events, _ROWS))
    if not page:
        return 0
    folder.mkdir(parents=True, mode=0o700)
    with pq.ParquetWriter(folder / _LOG, schema) as writer:
        while page:
            writer.write_table(pa.Table.from_pylist([event._asdict() for event in page], schema))
            last, page = page[-1].seq, list(islice(events, _ROWS))
    for path in (folder / _LOG, folder):
        opened = os.open(path, os.O_RDONLY)
        os.fsync(opened)
        os.close(opened)
    return last
