"""Campaigns in an SQLite file.

SQLite runs in WAL mode. Before 3.51.3 it could, very rarely, corrupt a file if one connection wrote while another moved
the WAL into the file (a checkpoint). So automatic checkpoints are off: a second connection runs a checkpoint while the
write lock is held.
"""

from __future__ import annotations

import json
import os
import random
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from ..._support.validation import one_of
from ...errors import StoreError, UnreadableDataError
from . import schema
from .database import Database
from .storage import Records

T = TypeVar("T")

#: When SQLite flushes to disk: before a commit is acknowledged, or soon after.
Synchronous = Literal["FULL", "NORMAL"]
#: If the file is locked, retry after a random time in this range, in seconds: SQLite's own wait is unfair.
_RETRY = (0.0005, 0.004)
#: A checkpoint of the WAL runs each time it has grown by this many bytes.
_CHECKPOINT = 4 * 2**20
#: Primary result codes of SQLite, and what they mean.
_BUSY, _LOCKED = 5, 6
_MEANINGS: dict[int | None, str] = {
    _BUSY: "locked", _LOCKED: "locked", 8: "read-only", 10: "disk", 11: "damaged", 13: "full", 14: "read-only",
    26: "damaged",
}  # fmt: skip
#: Network file systems, on which SQLite's WAL mode does not work.
_NETWORK = {
    "nfs", "nfs4", "cifs", "smb2", "smb3", "smbfs", "afs", "ncpfs", "9p", "ceph", "lustre", "beegfs", "gpfs", "ocfs2",
    "gfs2", "fuse.sshfs", "fuse.glusterfs", "fuse.s3fs", "fuse.gcsfuse", "fuse.rclone", "davfs",
}  # fmt: skip


class SQLite(Database):
    """Campaigns in a file."""

    single_writer = True
    begin_read, begin_write = "BEGIN", "BEGIN IMMEDIATE"
    clock = "NULL"  # that of the machine
    in_list, for_update = "IN (SELECT value FROM json_each(?))", ""
    serial = "INTEGER"
    error = sqlite3.Error

    def __init__(self, path: str, timeout: float, synchronous: Synchronous, create: bool) -> None:
        one_of("synchronous", synchronous, get_args(Synchronous))
        self._path, self._synchronous = Path(path).absolute(), synchronous
        self._checkpointed = 0  # size of the WAL at the last checkpoint
        self._file: tuple[int, int] | None = None
        _check_file(self._path, create)
        super().__init__(path, timeout, create)
        self._file = _identity(self._path)

    def _open(self) -> sqlite3.Connection:
        driver = sqlite3.connect(self._path, timeout=0, isolation_level=None, check_same_thread=False)
        for pragma in (f"synchronous={self._synchronous}", "wal_autocheckpoint=0", "journal_size_limit=0"):
            driver.execute(f"PRAGMA {pragma}")
        return driver

    def list_argument(self, values: Sequence[Any]) -> str:
        return json.dumps(list(values))

    def insert(self, driver: Any, table: str, fields: Sequence[str], campaign: int, rows: Sequence[Any]) -> None:
        statement = f"INSERT INTO {table} (campaign, {', '.join(fields)}) VALUES (?{', ?' * len(fields)})"
        driver.executemany(statement, [(campaign, *row) for row in rows])

    def update(self, driver: Any, table: str, fields: Sequence[str], campaign: int, rows: Sequence[Any]) -> None:
        number, *others = fields
        changes = ", ".join(f"{field} = ?" for field in others)
        statement = f"UPDATE {table} SET {changes} WHERE campaign = ? AND {number} = ?"
        driver.executemany(statement, [(*row[1:], campaign, row[0]) for row in rows])

    def _roll_back(self, driver: Any) -> None:
        if driver.in_transaction:
            driver.execute("ROLLBACK")

    @contextmanager
    def connection(self) -> Iterator[Any]:
        if self._file not in (None, _identity(self._path)):  # what is written to a deleted file is lost
            raise StoreError(f"{self.name} was deleted or replaced; nothing was recorded: put it back, or begin anew")
        with super().connection() as driver:
            yield driver

    def write(self, campaign: int, work: Callable[[Records], T]) -> T:
        result = super().write(campaign, work)
        self._checkpoint()
        return result

    def _checkpoint(self) -> None:
        """Run a checkpoint of the WAL if it has grown, while nobody writes."""
        try:
            size = os.stat(f"{self._path}-wal").st_size
        except OSError:
            return
        if size < self._checkpointed:
            self._checkpointed = 0
        if size < self._checkpointed + _CHECKPOINT:
            return
        # If somebody writes, a later transaction will do it; what is in the WAL is safe.
        with suppress(sqlite3.Error), self.connection() as locking, self.connection() as other:
            locking.execute("BEGIN IMMEDIATE")
            other.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            self._checkpointed = size
            locking.execute("ROLLBACK")

    def _retry_after(self, cause: Any) -> float | None:
        return random.uniform(*_RETRY) if _code(cause) in (_BUSY, _LOCKED) else None

    def _failure(self, cause: Any) -> str:
        return _MEANINGS.get(_code(cause), "file")

    def _has_tables(self, driver: Any) -> bool:
        tables = {name for (name,) in driver.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        ((application,),) = driver.execute("PRAGMA application_id")
        if tables and (schema.VERSION_TABLE not in tables or application != schema.APPLICATION_ID):
            raise UnreadableDataError(
                f"{self.name} is a database of another application (tables: {', '.join(sorted(tables)[:5])}); choose "
                "another file"
            )
        return bool(tables)

    def _make(self) -> None:
        application = f"PRAGMA application_id={schema.APPLICATION_ID}"
        self._transaction(lambda driver: None, "PRAGMA journal_mode=WAL", application)
        super()._make()

    def check(self) -> str:
        lines = self._select("PRAGMA integrity_check")
        return "" if lines == [("ok",)] else "; ".join(str(line[0]) for line in lines[:5])


def _identity(path: Path) -> tuple[int, int] | None:
    """The device and the number of a file, which stay the same as long as it is the same file."""
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_dev, stat.st_ino


def _code(cause: Any) -> int | None:
    """SQLite's primary result code."""
    code = getattr(cause, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def _check_file(path: Path, create: bool) -> None:
    """Create a file that is missing, if that is wanted; raise on a network file system. Other problems SQLite sees."""
    kind = file_system(path.parent)
    if kind in _NETWORK:
        raise StoreError(f"{path} is on a network file system ({kind}), where SQLite may lose data; use PostgreSQL")
    if not path.exists():
        if not create:
            raise StoreError(f"there is no store {path}; create a campaign first, or check the path")
        with suppress(OSError):  # explained when it is opened
            path.touch(0o600)  # what is decided and earned is nobody else's business


def file_system(folder: Path, mounts: Path = Path("/proc/self/mounts")) -> str:
    """The type of the file system that a folder is on, if the operating system reports it."""
    try:
        lines = mounts.read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return ""
    resolved, longest, kind = folder.resolve(), "", ""
    for line in lines:
        _, point, mounted = [*line.split(" "), "", ""][:3]
        point = point.replace("\\040", " ")
        if point and resolved.is_relative_to(point) and len(point) >= len(longest):
            longest, kind = point, mounted
    return kind
