"""Backups of a store: copies of all campaigns in a file, taken while the store is in use.

A copy of an SQLite file made by copying files is damaged if somebody writes meanwhile.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from ...errors import InvalidInputError
from .records import Verification
from .store import Store


def back_up(store: Store, out: Path) -> dict[str, Verification]:
    """Copy all campaigns to an SQLite file that does not exist yet, archived events included; the copy's verification.

    Each campaign is copied as it is at one moment.
    """
    if out.exists():
        raise InvalidInputError(f"{out} exists; choose another file, or remove it first")
    part = out.with_name(f"{out.name}.part")
    part.unlink(missing_ok=True)
    try:
        with Store(part) as copy:
            results = store.copy_to(copy)
        with closing(sqlite3.connect(part)) as connection:
            connection.execute("PRAGMA journal_mode=DELETE")  # one file, which can be read from anywhere
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.replace(out)
    finally:
        for end in ("", "-wal", "-shm"):
            Path(f"{part}{end}").unlink(missing_ok=True)
    return results
