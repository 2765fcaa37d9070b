"""Backups of a store: consistent copies, taken while it is in use, and checked before they are called done.

A copy of an SQLite file made by copying files is damaged if somebody writes meanwhile.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import sqlalchemy as sa

from ...errors import InvalidInputError, StoreError, UnreadableDataError
from .records import Verification
from .schema import PREFIX
from .store import Store

#: How dumps of PostgreSQL begin.
_DUMP = b"PGDMP"


def back_up(target: str, out: Path) -> None:
    """Write a copy of a store to a file that does not exist yet: an SQLite file, or a dump by ``pg_dump``."""
    if out.exists():
        raise InvalidInputError(f"{out} exists; choose another file, or remove it first")
    part = out.with_name(f"{out.name}.part")
    part.unlink(missing_ok=True)
    part.touch(0o600)
    try:
        if "://" in target:
            _run("pg_dump", target, "--format=custom", f"--table={PREFIX}*", f"--file={part}")
        else:
            Store(target, create=False).close()  # raises if it is not a store
            with closing(sqlite3.connect(target)) as source, closing(sqlite3.connect(part)) as copy:
                source.backup(copy)
                copy.execute("PRAGMA journal_mode=DELETE")
            with part.open("rb") as file:
                os.fsync(file.fileno())
        part.replace(out)
    finally:
        part.unlink(missing_ok=True)


def restore(backup: Path, target: str) -> None:
    """Make a store of a backup; there must be none at ``target`` yet."""
    if not backup.is_file():
        raise InvalidInputError(f"there is no file {backup}")
    with backup.open("rb") as file:
        dump = file.read(len(_DUMP)) == _DUMP
    if dump != ("://" in target):
        kind = (
            "a dump of PostgreSQL; restore it to postgresql://..." if dump else "an SQLite file; restore it to a file"
        )
        raise InvalidInputError(f"{backup} is {kind}")
    if dump:
        _refuse_tables(target)
        _run("pg_restore", target, "--no-owner", "--exit-on-error", "--single-transaction", str(backup))
        return
    path = Path(target)
    for existing in (path, Path(f"{path}-wal"), Path(f"{path}-shm")):
        if existing.exists():
            raise InvalidInputError(f"{existing} exists; restore to another file, or move it away first")
    path.touch(0o600)
    shutil.copyfile(backup, path)
    with closing(sqlite3.connect(path)) as copy:
        copy.execute("PRAGMA journal_mode=WAL")


def verified(target: str) -> Iterator[tuple[str, Verification]]:
    """The verification of each campaign of a store, by name."""
    with Store(target, create=False) as store:
        for entry in store.campaigns():
            yield entry.name, store.campaign(entry.name).verify()


def _refuse_tables(target: str) -> None:
    try:
        Store(target, create=False).close()
    except StoreError as error:
        if "no campaigns" in str(error):
            return
        raise
    raise InvalidInputError("there are campaigns in this database; restore to an empty one")


def _run(program: str, target: str, *arguments: str) -> None:
    """Run a program of PostgreSQL; the password is not among its arguments, which others can see."""
    if shutil.which(program) is None:
        raise StoreError(f"{program} is not installed here; it is part of PostgreSQL's client programs")
    url = sa.make_url(target)
    settings = {
        "PGHOST": url.query.get("host", url.host),
        "PGPORT": url.port,
        "PGUSER": url.username,
        "PGPASSWORD": url.password or url.query.get("password"),
        "PGDATABASE": url.database,
    }
    environment = {**os.environ, **{key: str(value) for key, value in settings.items() if value is not None}}
    where = [f"--dbname={url.database}"] if program == "pg_restore" else []
    done = subprocess.run([program, *where, *arguments], env=environment, capture_output=True, text=True)
    if done.returncode:
        raise UnreadableDataError(f"{program} failed: {done.stderr.strip()[-500:]}")
