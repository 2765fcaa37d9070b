"""The history of a campaign as a stream of CSV or Parquet, with one page of decisions in memory at a time."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from ..campaigns import Campaign
from ..campaigns.log import to_csv

#: Decisions in one piece.
_PIECE = 20_000


def _pieces(campaign: Campaign) -> Iterator[Any]:
    first = 1
    while True:
        table = campaign.history(first=first, count=_PIECE)
        if table.num_rows or first == 1:
            yield table
        if table.num_rows < _PIECE:
            return
        first += _PIECE


def csv(campaign: Campaign) -> Iterator[bytes]:
    """All decisions as CSV."""
    for number, table in enumerate(_pieces(campaign)):
        yield to_csv(table, header=number == 0)


def parquet(campaign: Campaign) -> Iterator[bytes]:
    """All decisions as Parquet."""
    import pyarrow.parquet as pq

    sink = _Sink()
    writer = None
    for table in _pieces(campaign):
        writer = writer or pq.ParquetWriter(sink, table.schema)
        writer.write_table(table)
        yield sink.taken()
    if writer is not None:
        writer.close()
    yield sink.taken()


class _Sink(io.RawIOBase):
    """A file whose content is read as it is written."""

    def __init__(self) -> None:
        self._content, self._place = bytearray(), 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._place

    def write(self, data: Any) -> int:
        self._content += data
        self._place += len(data)
        return len(data)

    def taken(self) -> bytes:
        """The bytes written since the last call."""
        found = bytes(self._content)
        self._content.clear()
        return found
