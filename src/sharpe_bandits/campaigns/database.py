"""Transactions on SQLite and PostgreSQL: one writer at a time; every error names its remedy.

SQLite runs in WAL mode. Before 3.51.3 it could, very rarely, corrupt a file if one connection wrote while another moved
the WAL into the file (a checkpoint). So automatic checkpoints are off: a second connection runs a checkpoint while the
write lock is held.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections import namedtuple
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from ..errors import InvalidInputError, StoreError, UnreadableDataError, require, shown
from ..validation import one_of, positive
from . import schema

T = TypeVar("T")

#: When SQLite flushes to disk: before a commit is acknowledged, or soon after.
Synchronous = Literal["FULL", "NORMAL"]
#: If the database is locked, retry after a random time in this range, in seconds: SQLite's own wait is unfair.
_RETRY = (0.0005, 0.004)
#: Seconds between attempts to reconnect to a server.
_RECONNECT = 0.05
#: A checkpoint of SQLite's WAL runs each time it has grown by this many bytes.
_CHECKPOINT = 4 * 2**20
#: Primary result codes of SQLite.
_BUSY, _LOCKED, _READONLY, _IOERR, _CORRUPT, _FULL, _CANTOPEN, _NOTADB = 5, 6, 8, 10, 11, 13, 14, 26
#: Network file systems, on which SQLite's WAL mode does not work.
_NETWORK = {
    "nfs", "nfs4", "cifs", "smb2", "smb3", "smbfs", "afs", "ncpfs", "9p", "ceph", "lustre", "beegfs", "gpfs", "ocfs2",
    "gfs2", "fuse.sshfs", "fuse.glusterfs", "fuse.s3fs", "fuse.gcsfuse", "fuse.rclone", "davfs",
}  # fmt: skip
#: Number of the advisory lock under which tables are created in PostgreSQL.
_SETUP_LOCK = 0x73626361


class Prepared:
    """A statement that is compiled once and passed to the driver: SQLAlchemy's overhead per execution is several times
    the cost of SQLite itself.
    """

    def __init__(self, statement: Any, dialect: sa.Dialect, together: str | None = None) -> None:
        #: A variant that takes a list per parameter, if that is faster than executing the statement many times.
        self._together = together
        compiled = statement.compile(dialect=dialect, compile_kwargs={"render_postcompile": True})
        self._text, self._given = str(compiled), compiled.params
        self._order: list[str] | None = getattr(compiled, "positiontup", None)
        columns = getattr(statement, "selected_columns", ())
        self._row: Any = namedtuple("Row", [column.name for column in columns]) if len(columns) else None

    def __call__(self, connection: sa.Connection, *rows: dict[str, Any]) -> list[Any]:
        """Execute it with one set of parameters (by default its own), or many; return the selected rows."""
        order, driver = self._order, driver_of(connection)
        if self._together is not None and len(rows) > 1:
            driver.execute(self._together, {name: [row[name] for row in rows] for name in rows[0]})
            return []
        rows = rows or (self._given,)
        given = [row if order is None else tuple([row[name] for name in order]) for row in rows]
        if len(given) > 1:
            driver.cursor().executemany(self._text, given)
            return []
        return self.rows(driver.execute(self._text, given[0]))

    def send(self, connection: sa.Connection, row: dict[str, Any]) -> Any:
        """Execute it without waiting for the server's answer: :meth:`rows` waits."""
        order = self._order
        return driver_of(connection).execute(self._text, row if order is None else tuple([row[n] for n in order]))

    def rows(self, cursor: Any) -> list[Any]:
        """The rows of a cursor."""
        return [] if self._row is None else list(map(self._row._make, cursor.fetchall()))


def parameters(table: sa.Table, columns: Iterable[str]) -> dict[str, sa.BindParameter[Any]]:
    """A parameter for each of these columns, with its name and type."""
    return {name: sa.bindparam(name, type_=table.c[name].type) for name in columns}


def driver_of(connection: sa.Connection) -> Any:
    """The driver's own connection."""
    return connection.connection.driver_connection


class Database:
    """A database and how to read and write it.

    Parameters
    ----------
    target : str | os.PathLike[str]
        path of an SQLite file, or a URL ``postgresql://...``
    timeout : float
        seconds to wait for a lock, or for a server to come back
    synchronous : Synchronous
        of SQLite; "FULL": acknowledged transactions survive a power failure; "NORMAL": the last ones may not
    create : bool
        whether to create a store if there is none
    """

    def __init__(self, target: str | os.PathLike[str], timeout: float, synchronous: Synchronous, create: bool) -> None:
        self.timeout = positive("timeout", timeout)
        one_of("synchronous", synchronous, get_args(Synchronous))
        self.synchronous = synchronous
        text = os.fspath(target) if isinstance(target, (str, os.PathLike)) else target
        if not isinstance(text, str) or not text or "\0" in text or text == ":memory:":
            raise InvalidInputError(
                f"a store is the path of a file or a URL such as postgresql://user@host/database, got {shown(target)}"
            )
        self.path: Path | None = None
        self.name = text
        if "://" in text:
            self._url = _server(text)
            self.name = self._url.render_as_string(hide_password=True)
        else:
            self.path = Path(text).absolute()
            _check_file(self.path, create)
            self._url = sa.URL.create("sqlite", database=str(self.path))
        self._lock = threading.Lock()
        self._connect()
        self._grown = 0  # size of SQLite's WAL at the last checkpoint
        self.outdated = False
        self._prepare(create)

    def _connect(self) -> None:
        self._process = os.getpid()
        options: dict[str, Any] = {"isolation_level": "AUTOCOMMIT", "pool_reset_on_return": None, "max_overflow": -1}
        if self.path is not None:
            options["connect_args"] = {"timeout": 0, "check_same_thread": False}
        else:
            wait = f"-c lock_timeout={int(1000 * self.timeout)} -c application_name=sharpe-bandits"
            options["connect_args"] = {"options": wait, "connect_timeout": max(2, int(self.timeout))}
        self.engine = sa.create_engine(self._url, **options)
        #: Errors that the driver raises.
        self._errors: tuple[type[Exception], ...] = (DBAPIError, self.engine.dialect.loaded_dbapi.Error)
        if self.path is not None:
            sa.event.listen(self.engine, "connect", self._configure)

    def _configure(self, connection: Any, _: Any) -> None:
        """Settings that each connection to SQLite needs."""
        for pragma in (f"synchronous={self.synchronous}", "wal_autocheckpoint=0", "journal_size_limit=0"):
            connection.execute(f"PRAGMA {pragma}")

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    @property
    def is_sqlite(self) -> bool:
        """Whether this is a file."""
        return self.path is not None

    def read(self, work: Callable[[sa.Connection], T]) -> T:
        """The result of ``work``, in a transaction that sees one state of a file, or one per statement on a server."""
        return self._attempt(work, "BEGIN", "ROLLBACK")

    def write(self, work: Callable[[sa.Connection], T], together: bool = False) -> T:
        """The result of ``work``, committed; ``work`` may be called again if a connection is lost, and must allow that.

        ``together``: send statements to a server without waiting for each answer. All must be prepared.
        """
        if self.outdated:
            raise StoreError(
                f"{self.name} was written by an older release and is read-only; to write, upgrade it: sharpe-bandits "
                "campaign upgrade"
            )
        return self._attempt(work, "BEGIN IMMEDIATE" if self.is_sqlite else "BEGIN", "COMMIT", together)

    def _attempt(self, work: Callable[[sa.Connection], T], begin: str, end: str, together: bool = False) -> T:
        if self._process != os.getpid():  # forked: connections must not be shared with the parent
            with self._lock:
                if self._process != os.getpid():
                    self.engine.dispose(close=False)
                    self._connect()
        deadline = time.monotonic() + self.timeout
        while True:
            try:
                with self.engine.connect() as connection:
                    found = self._in_transaction(connection, work, begin, end, deadline, together)
                    if end == "COMMIT" and self.is_sqlite:
                        self._checkpoint(connection)
                    return found
            except self._errors as error:
                cause = getattr(error, "orig", error)
                again = self._again(cause)
                if again is None or time.monotonic() > deadline:
                    raise self._explained(cause) from error
                time.sleep(again)

    def _in_transaction(
        self,
        connection: sa.Connection,
        work: Callable[[sa.Connection], T],
        begin: str,
        end: str,
        deadline: float,
        together: bool,
    ) -> T:
        driver = driver_of(connection)
        try:
            with driver.pipeline() if together and not self.is_sqlite else nullcontext():
                self._begin(driver, begin, deadline)
                found = work(connection)
                driver.execute(end)
            return found
        except BaseException:
            try:
                if not self.is_sqlite or driver.in_transaction:
                    driver.execute("ROLLBACK")
            except self._errors:  # the connection is lost
                connection.invalidate()
            raise

    def _begin(self, driver: Any, begin: str, deadline: float) -> None:
        while True:
            try:
                driver.execute(begin)
                return
            except self._errors as error:
                if _code(error) != _BUSY or time.monotonic() > deadline:
                    raise
                time.sleep(random.uniform(*_RETRY))

    def _again(self, cause: Any) -> float | None:
        """Seconds after which a failed transaction may be retried; None if it may not."""
        if self.is_sqlite:
            return random.uniform(*_RETRY) if _code(cause) in (_BUSY, _LOCKED) else None
        import psycopg

        if isinstance(cause, psycopg.errors.LockNotAvailable):
            return None
        if isinstance(cause, (psycopg.errors.InvalidAuthorizationSpecification, psycopg.errors.InvalidCatalogName)):
            return None
        lost = isinstance(cause, (psycopg.OperationalError, psycopg.InterfaceError)) and not _refused(str(cause))
        return _RECONNECT if lost else None

    def _explained(self, cause: Any) -> Exception:
        """The error of this library for an error of the database."""
        code, said = _code(cause), next(iter(str(cause).strip().splitlines()), type(cause).__name__)
        if code in (_NOTADB, _CORRUPT):
            return UnreadableDataError(
                f"{self.name} is damaged, or not a store ({said}); restore it from a copy, or recover what is readable "
                "with: sqlite3 FILE .recover"
            )
        if code == _FULL or "No space left" in said or "disk full" in said.lower():
            return StoreError(
                f"no space is left for {self.name} ({said}); nothing was recorded: free some space and try again"
            )
        if code in (_BUSY, _LOCKED) or "lock timeout" in said:
            return StoreError(
                f"{self.name} was locked by another process for {self.timeout:g} seconds; nothing was recorded: find "
                "the process that holds the lock, or pass a longer timeout="
            )
        if code in (_READONLY, _CANTOPEN):
            return StoreError(
                f"{self.name} cannot be opened for writing ({said}); check that file and folder exist and are writable"
            )
        if code == _IOERR:
            return StoreError(f"{self.name} could not be read or written ({said}); check the disk and try again")
        return StoreError(f"the database {self.name} failed: {said}; check the server and the URL, and try again")

    def _checkpoint(self, connection: sa.Connection) -> None:
        """Run a checkpoint of SQLite's WAL if it has grown, while nobody writes."""
        try:
            size = os.stat(f"{self.path}-wal").st_size
        except OSError:
            return
        if size < self._grown:
            self._grown = 0
        if size < self._grown + _CHECKPOINT:
            return
        driver = driver_of(connection)
        try:
            driver.execute("BEGIN IMMEDIATE")
        except self._errors:  # somebody writes; a later transaction will do it
            return
        try:
            with self.engine.connect() as other:
                driver_of(other).execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            self._grown = size
        except self._errors:  # the previous transaction is safe in the WAL anyway
            pass
        finally:
            driver.execute("ROLLBACK")

    def prepared(self, statement: sa.ClauseElement) -> Prepared:
        """A compiled statement for this database."""
        return Prepared(statement, self.engine.dialect)

    def insertion(self, table: sa.Table, columns: list[str]) -> Prepared:
        """A statement that inserts one row or many."""
        together = f"INSERT INTO {table.name} ({', '.join(columns)}) SELECT * FROM {self._lists(table, columns)}"
        statement = table.insert().values(parameters(table, columns))
        return Prepared(statement, self.engine.dialect, None if self.is_sqlite else together)

    def changes(self, table: sa.Table, keys: list[str], columns: list[str]) -> Prepared:
        """A statement that updates ``columns`` in the row with these ``keys``, or in many rows."""
        new = ", ".join(f"{name} = new.{name}" for name in columns)
        where = " AND ".join(f"{table.name}.{name} = new.{name}" for name in keys)
        names = [*keys, *columns]
        lists = f"{self._lists(table, names)} AS new({', '.join(names)})"
        wanted = (table.c[name] == parameter for name, parameter in parameters(table, keys).items())
        statement = table.update().where(*wanted).values(parameters(table, columns))
        together = f"UPDATE {table.name} SET {new} FROM {lists} WHERE {where}"
        return Prepared(statement, self.engine.dialect, None if self.is_sqlite else together)

    def _lists(self, table: sa.Table, columns: list[str]) -> str:
        """List parameters as rows."""
        kinds = {name: table.c[name].type.compile(self.engine.dialect) for name in columns}
        return f"unnest({', '.join(f'%({name})s::{kind}[]' for name, kind in kinds.items())})"

    def seconds(self) -> sa.ColumnElement[float]:
        """The database's clock, in seconds since 1970; for a file, that of the process: see :meth:`now_argument`."""
        if self.is_sqlite:
            return sa.bindparam("now", type_=sa.Float)
        return sa.cast(sa.extract("epoch", sa.func.clock_timestamp()), sa.Float(53))

    def now_argument(self) -> dict[str, float]:
        """Arguments for a statement that uses :meth:`seconds`."""
        return {"now": time.time()} if self.is_sqlite else {}

    def _prepare(self, create: bool) -> None:
        """Create the tables if there are none; refuse foreign or newer databases."""
        revision = self.read(self._revision)
        if revision is None:
            if not create:
                raise StoreError(f"there are no campaigns in {self.name}; create one first")
            if self.is_sqlite:
                self._attempt(lambda connection: None, "PRAGMA journal_mode=WAL", "PRAGMA query_only")
            self.write(self._make)
            revision = self.read(self._revision)
        if revision != schema.REVISION:
            from .migrations import scripts

            if revision not in {script.revision for script in scripts().walk_revisions()}:
                raise UnreadableDataError(
                    f"{self.name} has revision {shown(revision)}, which this release does not know: it was written by "
                    "a newer release; upgrade sharpe-bandits"
                )
            self.outdated = True

    def _make(self, connection: sa.Connection) -> None:
        if not self.is_sqlite:
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_SETUP_LOCK})")
        if self._revision(connection) is None:  # else another process was faster
            from .migrations import upgrade

            upgrade(connection)
            if self.is_sqlite:
                connection.exec_driver_sql(f"PRAGMA application_id={schema.APPLICATION_ID}")

    def upgrade(self) -> tuple[str | None, str]:
        """Upgrade the tables to this release's revision; return the old and the new revision."""
        from .migrations import upgrade

        before = self.read(self._revision)
        self.outdated = False
        self.write(upgrade)
        return before, schema.REVISION

    def _revision(self, connection: sa.Connection) -> str | None:
        """The revision of the tables; None if there are none. Raises if the file belongs to another application."""
        if self.is_sqlite:
            tables = set(connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'table'").scalars())
            if not tables:
                return None
            mark = connection.exec_driver_sql("PRAGMA application_id").scalar()
            if schema.VERSION_TABLE not in tables or mark != schema.APPLICATION_ID:
                raise UnreadableDataError(
                    f"{self.name} is a database of another application (tables: {', '.join(sorted(tables)[:5])}); "
                    "choose another file"
                )
        elif connection.scalar(sa.select(sa.func.to_regclass(schema.VERSION_TABLE))) is None:
            return None
        found = connection.exec_driver_sql(f"SELECT version_num FROM {schema.VERSION_TABLE}").scalars().all()
        return str(found[0]) if len(found) == 1 else ""

    def integrity(self) -> str:
        """What SQLite finds wrong with its file; empty if nothing."""
        if not self.is_sqlite:
            return ""
        found = self.read(lambda connection: connection.exec_driver_sql("PRAGMA integrity_check").scalars().all())
        return "" if found == ["ok"] else "; ".join(map(str, found[:5]))


def _code(cause: Any) -> int | None:
    """SQLite's primary result code."""
    code = getattr(cause, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def _refused(said: str) -> bool:
    """Whether the server refused the connection for good, so that retrying is pointless."""
    return any(
        words in said for words in ("does not exist", "authentication failed", "no password", "resolve", "invalid")
    )


def _server(text: str) -> sa.URL:
    try:
        url = sa.make_url(text)
    except Exception:  # the parser fails in several ways
        raise InvalidInputError(f"{shown(text)} is not a URL; write postgresql://user@host/database") from None
    if url.drivername not in ("postgresql", "postgres", "postgresql+psycopg"):
        raise InvalidInputError(
            f"a store is an SQLite file or a PostgreSQL database; got a URL for {shown(url.drivername)}: pass a path, "
            "or postgresql://user@host/database"
        )
    require("psycopg", "PostgreSQL", "live")
    return url.set(drivername="postgresql+psycopg")


def _check_file(path: Path, create: bool) -> None:
    """Raise if a file cannot be a store: foreign, missing, or on a network file system."""
    if not path.parent.is_dir():
        raise StoreError(f"there is no folder {path.parent}; create it, or choose another file")
    kind = file_system(path.parent)
    if kind in _NETWORK:
        raise StoreError(
            f"{path} is on a network file system ({kind}), on which SQLite may lose data; put it on a local disk, or "
            "use PostgreSQL: Store('postgresql://...')"
        )
    if path.is_dir() or (path.exists() and not path.is_file()):
        raise StoreError(f"{path} is not a file; choose another path")
    if not path.exists():
        if not create:
            raise StoreError(f"there is no store {path}; create a campaign first, or check the path")
        return
    try:
        with path.open("rb") as file:
            head = file.read(16)
    except OSError as error:
        raise StoreError(f"{path} cannot be read ({error.strerror}); check its permissions") from None
    if head and head != b"SQLite format 3\0":
        raise UnreadableDataError(f"{path} is not an SQLite file; choose another file, or restore it from a copy")


def file_system(folder: Path, mounts: Path = Path("/proc/self/mounts")) -> str:
    """The type of the file system that a folder is on, if the operating system reports it."""
    try:
        lines = mounts.read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return ""
    resolved, found = folder.resolve(), (-1, "")
    for line in lines:
        fields = line.split(" ")
        if len(fields) > 2:
            point = fields[1].replace("\\040", " ")
            if resolved.is_relative_to(point) and len(point) >= found[0]:
                found = len(point), fields[2]
    return found[1]
