"""What is read from a campaign at length: pages of its history, files, verification and evaluation.

Functions of a campaign that run aside; their arguments and results go from process to process.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any

from ..live.campaigns import Campaign
from ..live.campaigns.log import to_csv
from ..live.campaigns.records import PAIRS, plain_details
from ..policies.base import Policy

#: Decisions in memory at a time.
_PAGE = 20_000


def page(campaign: Campaign, first: int, count: int) -> bytes:
    """Decisions as JSON."""
    rows = campaign.history(first=first, count=count).to_pylist()
    for row in rows:
        for moment in ("asked", "expires", "told"):
            row[moment] = row[moment] and row[moment].isoformat()
        for name in PAIRS:
            row[name] = plain_details(row[name])
    return json.dumps({"decisions": rows, "next": first + count if len(rows) == count else None}).encode()


def verify(campaign: Campaign, choices: bool) -> dict[str, Any]:
    """The result of a verification."""
    verification = campaign.verify(choices=choices)
    return {"ok": verification.ok, **vars(verification)}


def evaluate(campaign: Campaign, policy: Policy) -> dict[str, Any]:
    """What another policy would have earned."""
    estimates = campaign.evaluate(policy)
    return {"sentence": f"{estimates}.", **asdict(estimates)}


def _tables(campaign: Campaign) -> Iterator[Any]:
    first = 1
    while True:
        table = campaign.history(first=first, count=_PAGE)
        if table.num_rows or first == 1:
            yield table
        if table.num_rows < _PAGE:
            return
        first += _PAGE


def csv(campaign: Campaign, path: str) -> None:
    """All decisions to a CSV file."""
    with Path(path).open("wb") as file:
        for number, table in enumerate(_tables(campaign)):
            file.write(to_csv(table, header=number == 0))


def parquet(campaign: Campaign, path: str) -> None:
    """All decisions to a Parquet file."""
    import pyarrow.parquet as pq

    tables = _tables(campaign)
    first = next(tables)
    with pq.ParquetWriter(path, first.schema) as writer:
        for table in chain([first], tables):
            writer.write_table(table)
