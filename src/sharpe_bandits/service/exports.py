"""The history of a campaign as a stream of CSV or Parquet, with one page of decisions in memory at a time."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from itertools import chain
from typing import Any

from ..live.campaigns import Campaign
from ..live.campaigns.log import to_csv

#: Decisions in one piece.
_PIECE = 20_000
#: Bytes of a file in one piece.
_BYTES = 2**20


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
    """All decisions as Parquet, which is written to a temporary file first."""
    import pyarrow.parquet as pq

    with tempfile.TemporaryFile() as file:
        pages = _pieces(campaign)
        first = next(pages)
        with pq.ParquetWriter(file, first.schema) as writer:
            for table in chain([first], pages):
                writer.write_table(table)
        file.seek(0)
        while piece := file.read(_BYTES):
            yield piece
