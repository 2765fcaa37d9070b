"""Campaigns in an SQL database: the statements, and transactions that are retried, or fail with the remedy.

Statements go to the driver as they are, with question marks for parameters. What differs between databases is in the
subclasses.
"""

from __future__ import annotations

import json
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, ClassVar, TypeVar

from ..._support.validation import positive
from ...errors import StoreError, UnreadableDataError, shown
from . import schema
from .archive import Archive
from .records import DecisionRow, DecisionState, Event
from .storage import Batch, CampaignRow, Head, Outcome, Records, Search

T = TypeVar("T")
#: Rows fetched at a time from long tables, and connections that are kept for later.
_PAGE, _MAX_IDLE = 5000, 5
#: Seconds by which the clock may run ahead of a steady one from one write of a process to the next.
CLOCK_STEP = 300.0
#: Seconds within which a transaction must be able to begin to write, for the database to be called ready.
PING = 2.0
#: More rows than any table has. A limit keeps SQLite from flattening a subquery.
_ALL = 2**62
_CAMPAIGNS, _DECISIONS, _EVENTS, _SNAPSHOTS = schema.TABLES
_DECISION_COLUMNS, _EVENT_COLUMNS = ", ".join(DecisionRow._fields), ", ".join(Event._fields)
#: A condition that lower-case text contains another: see :func:`_pattern`.
_LIKE = "LIKE ? ESCAPE '!'"
#: Texts that are kept beside the events of a campaign, under numbers before theirs: where old events are, and from
#: _CHECKPOINT downwards earlier states. The column ``number`` tells how many events, or decisions, they include.
_ARCHIVE, _CHECKPOINT = -1, -2
_REVISION = f"SELECT version_num FROM {schema.VERSION_TABLE}"
_PENDING = f"campaign = ? AND state = '{DecisionState.PENDING}'"  # the condition of an index
_KEEP_TEXT = (
    f"INSERT INTO {_EVENTS} (campaign, seq, kind, at, number, details) VALUES (?, ?, -1, 0, ?, ?) "
    "ON CONFLICT (campaign, seq) DO UPDATE SET number = excluded.number, details = excluded.details"
)
#: What is said of a transaction that failed, by what its error means.
_FAILURES = {
    "damaged": "{name} is damaged, or not a store ({reason}); restore it from a copy, or recover what is readable "
    "with: sqlite3 FILE .recover",
    "full": "no space is left for {name} ({reason}); nothing was recorded: free some space and try again",
    "locked": "{name} was locked by another process for {timeout:g} seconds; nothing was recorded: find the process "
    "that holds the lock, or pass a longer timeout=",
    "slow": "{name} did not answer within {timeout:g} seconds; nothing was recorded: check the load of the server, or "
    "pass a longer timeout=",
    "read-only": "{name} cannot be opened for writing ({reason}); check that file and folder exist and are writable",
    "disk": "{name} could not be read or written ({reason}); check the disk and try again",
    "file": "the database {name} failed: {reason}; check the file, and try again",
    "server": "the database {name} failed: {reason}; check the server and the URL, and try again",
}


class Database(ABC):
    """A database of campaigns: what :class:`~sharpe_bandits.live.campaigns.storage.Storage` asks for.

    ``name`` is shown in messages; ``timeout`` is how long to wait for a lock, or for a server to come back.
    """

    #: Whether campaigns wait for each other's commits.
    single_writer: bool
    #: How transactions begin.
    begin_read: str
    begin_write: str
    #: The clock in SQL, and a condition that a column is in a list (see :meth:`list_argument`).
    clock: ClassVar[str]
    in_list: ClassVar[str]
    #: Compares text by code points.
    by_code_point: ClassVar[str] = ""
    #: Ends a statement that locks the rows it selects.
    for_update: ClassVar[str]
    #: Lets one process at a time create tables.
    setup_lock: ClassVar[str] = "SELECT 1"  # beginning to write is enough
    #: The type of numbers that the database gives to new rows.
    serial: ClassVar[str]
    #: The class of errors that the driver raises.
    error: type[Exception]

    def __init__(self, name: str, timeout: float, create: bool) -> None:
        self.timeout, self.name = positive("timeout", timeout), name
        self._idle: list[Any] = []
        self._process = os.getpid()
        #: Time of the database, and of a clock that nobody sets, at the last write.
        self._last_time: tuple[float, float] | None = None
        try:
            self._prepare(create)
        except BaseException:
            self.close()
            raise

    @contextmanager
    def connection(self) -> Iterator[Any]:
        """A connection of the driver; what is not committed is rolled back if an error is raised."""
        if self._process != os.getpid():  # forked: the parent's connections must be neither used nor closed here
            self._parents, self._idle, self._process = self._idle, [], os.getpid()
        try:
            driver = self._idle.pop()
        except IndexError:
            driver = self._open()
        is_lost = False
        try:
            yield driver
        except BaseException:
            try:
                self._roll_back(driver)
            except self.error:
                is_lost = True
            raise
        finally:
            if is_lost or len(self._idle) >= _MAX_IDLE:
                driver.close()
            else:
                self._idle.append(driver)

    @abstractmethod
    def _open(self) -> Any:
        """A new connection of the driver, which commits each statement outside of transactions."""

    @abstractmethod
    def list_argument(self, values: Sequence[Any]) -> Any:
        """The argument of :attr:`in_list`."""

    def send(self, driver: Any, statement: str, arguments: Sequence[Any] = ()) -> list[Any]:
        """Execute a statement, whose parameters are question marks, now or together with the next one; its rows are in
        the list from then on.
        """
        rows: list[Any] = driver.execute(statement, arguments).fetchall()
        return rows

    @abstractmethod
    def insert(self, driver: Any, table: str, fields: Sequence[str], campaign: int, rows: Sequence[Any]) -> None:
        """Add rows of a campaign."""

    @abstractmethod
    def update(self, driver: Any, table: str, fields: Sequence[str], campaign: int, rows: Sequence[Any]) -> None:
        """Change rows of a campaign; the first field is their number."""

    @abstractmethod
    def _retry_after(self, cause: Any) -> float | None:
        """Seconds after which a failed transaction may be retried; None if it may not."""

    @abstractmethod
    def _failure(self, cause: Any) -> str:
        """What an error of the driver means: a name in :data:`_FAILURES`, or "damaged"."""

    @abstractmethod
    def _has_tables(self, driver: Any) -> bool:
        """Whether there are tables of campaigns; raises if the database belongs to another application."""

    def check(self) -> str:
        return ""

    def ping(self) -> None:
        """Raise if the database does not answer soon, or this release cannot write to it now."""
        self.check_revision(self._transaction(self._revision, self.begin_write, timeout=min(self.timeout, PING)))

    def check_revision(self, revision: str | None) -> None:
        """Raise unless the tables are those of this release: another one may upgrade them at any time."""
        if revision != schema.REVISION:
            raise StoreError(
                f"{self.name} was upgraded to revision {shown(revision)} by a newer release; nothing was recorded: "
                "restart this process with that release"
            )

    def close(self) -> None:
        idle, self._idle = self._idle, []
        for driver in idle:
            driver.close()

    # Transactions.

    def read(self, campaign: int, work: Callable[[Records], T]) -> T:
        return self._transaction(lambda driver: work(_SQLRecords(self, driver, campaign)), self.begin_read)

    def write(self, campaign: int, work: Callable[[Records], T]) -> T:
        return self._transaction(
            lambda driver: work(_SQLRecords(self, driver, campaign, True)), self.begin_write, "COMMIT"
        )

    def _transaction(
        self, work: Callable[[Any], T], begin: str, end: str = "ROLLBACK", *, timeout: float | None = None
    ) -> T:
        timeout = self.timeout if timeout is None else timeout
        deadline = time.monotonic() + timeout
        while True:
            try:
                with self.connection() as driver:
                    self.send(driver, begin)
                    result = work(driver)
                    driver.execute(end)
                    return result
            except self.error as error:
                pause = self._retry_after(error)
                if pause is None or time.monotonic() + pause > deadline:
                    reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
                    failure = self._failure(error)
                    words = _FAILURES[failure].format(name=self.name, reason=reason, timeout=timeout)
                    raise (UnreadableDataError if failure == "damaged" else StoreError)(words) from error
                time.sleep(pause)

    def _roll_back(self, driver: Any) -> None:
        driver.execute("ROLLBACK")

    def clock_step(self, now: float, writes: bool) -> float:
        """Seconds by which the clock has jumped forward since the last write of this process, if they are many: leases
        would seem to have run out. Time that the machine was suspended counts.
        """
        elapsed = time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()
        last = self._last_time
        step = 0.0 if last is None else now - last[0] - (elapsed - last[1])
        if writes and abs(step) <= CLOCK_STEP:  # if it went back, it has not jumped forward once it is corrected
            self._last_time = now, elapsed
        return step if step > CLOCK_STEP else 0.0

    def accept_clock(self) -> None:
        """Accept the clock as it is now, though it has jumped forward."""
        self._last_time = None

    # Campaigns.

    def campaigns(
        self, name: str | None = None, *, search: str = "", after: str = "", count: int | None = None
    ) -> list[CampaignRow]:
        where, arguments = ["name > ?" + self.by_code_point], [after]
        if name is not None:
            where, arguments = ["name = ?"], [name]
        if search:
            where, arguments = [*where, f"lower(name) {_LIKE}"], [*arguments, _pattern(search)]
        statement = (
            f"SELECT {', '.join(CampaignRow._fields)} FROM {_CAMPAIGNS} WHERE {' AND '.join(where)} ORDER BY name"
        )
        rows = self._select(f"{statement}{self.by_code_point} LIMIT ?", *arguments, _ALL if count is None else count)
        return list(map(CampaignRow._make, rows))

    def _select(self, text: str, *arguments: Any) -> list[Any]:
        return self._transaction(lambda driver: driver.execute(text, arguments).fetchall(), self.begin_read)

    def create(self, name: str, settings: str, snapshot: str) -> None:
        campaign = (
            f"INSERT INTO {_CAMPAIGNS} (name, settings, created, events, clock) VALUES (?, ?, ?, 0, ?) "
            "ON CONFLICT (name) DO NOTHING"
        )
        initial = (
            f"INSERT INTO {_SNAPSHOTS} (campaign, seq, state) SELECT id, 0, ? FROM {_CAMPAIGNS} WHERE name = ? "
            "ON CONFLICT (campaign) DO NOTHING"
        )

        def work(records: Any) -> None:
            now = records.now()
            records.send(campaign, name, settings, now, now)
            records.send(initial, snapshot, name)

        self.write(0, work)

    def adopt(self, row: CampaignRow, source: Records) -> bool:
        """Add a campaign of another storage with all of its log, in one transaction; whether its name was free."""
        head, (seq, state) = source.head(), source.snapshot()
        insert = (
            f"INSERT INTO {_CAMPAIGNS} (name, settings, created, events, clock, next_expiry, hash) "
            "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO NOTHING"
        )
        values = row.name, row.settings, head.created, head.events, head.clock, head.next_expiry, head.hash

        def work(records: Any) -> bool:
            driver = records.driver
            driver.execute(self.setup_lock)
            if driver.execute(insert, values).rowcount == 0:
                return False
            ((campaign,),) = driver.execute(f"SELECT id FROM {_CAMPAIGNS} WHERE name = ?", (row.name,))
            for table, fields, rows in (
                (_DECISIONS, DecisionRow._fields, source.history(1, None)),
                (_EVENTS, Event._fields, source.events(0, head.events)),
                (_SNAPSHOTS, ("seq", "state"), [(seq, state)]),
            ):
                remaining = iter(rows)
                while page := list(islice(remaining, _PAGE)):
                    self.insert(driver, table, fields, campaign, page)
                    driver.execute("SELECT 1").fetchall()  # now, not all pages in one message
            return True

        return self.write(0, work)

    def archive(self, campaign: int, archive: Archive) -> None:
        """Forget old events of a campaign, which are in files, and keep where they are."""

        def work(records: Any) -> None:
            old = f"DELETE FROM {_EVENTS} WHERE campaign = ? AND seq > {_ARCHIVE} AND seq <= ?"
            records.send(old, campaign, archive.events)
            records.send(_KEEP_TEXT, campaign, _ARCHIVE, archive.events, json.dumps(archive))

        self.write(campaign, work)

    # Tables.

    def _prepare(self, create: bool) -> None:
        """Create the tables if there are none, or upgrade them; refuse foreign or newer databases."""
        revision = self._transaction(self._revision, self.begin_read)
        if revision is None and not create:
            raise StoreError(f"there are no campaigns in {self.name}; create one first")
        if revision not in (None, *schema.REVISIONS):
            raise UnreadableDataError(
                f"{self.name} was written by another version of sharpe-bandits (revision {shown(revision)}), which "
                "this release does not read; use that version, or another store"
            )
        if revision != schema.REVISION:
            self._make()

    def _make(self) -> None:
        def work(driver: Any) -> None:
            driver.execute(self.setup_lock)
            schema.upgrade(driver, self._revision(driver), self.serial)  # unless another process was faster

        self._transaction(work, self.begin_write, "COMMIT")

    def _revision(self, driver: Any) -> str | None:
        """The revision of the tables; None if there are none."""
        if not self._has_tables(driver):
            return None
        revisions = driver.execute(_REVISION).fetchall()
        return str(revisions[0][0]) if len(revisions) == 1 else ""


def _pattern(text: str) -> str:
    """What :data:`_LIKE` takes to find a text anywhere."""
    return f"%{text.lower().replace('!', '!!').replace('%', '!%').replace('_', '!_')}%"


class _SQLRecords:
    """The records of one campaign: what :class:`~sharpe_bandits.live.campaigns.storage.Records` asks for."""

    def __init__(self, database: Database, driver: Any, campaign: int, for_update: bool = False) -> None:
        self._database, self.driver, self._campaign, self._for_update = database, driver, campaign, for_update
        #: The row of the campaign, where it is locked and read together with the first statement that follows.
        self._head: list[Any] | None = None

    def _rows(self, text: str, *parameters: Any) -> list[Any]:
        rows: list[Any] = self.driver.execute(text, parameters).fetchall()
        return rows

    def send(self, text: str, *parameters: Any) -> list[Any]:
        return self._database.send(self.driver, text, parameters)

    def _pages(self, columns: str, table: str, by: str, first: int, last: int) -> Iterator[Any]:
        """Rows from number ``first`` to ``last`` in the first column, which is ``by``."""
        statement = (
            f"SELECT {columns} FROM {table} WHERE campaign = ? AND {by} >= ? AND {by} <= ? ORDER BY {by} LIMIT ?"
        )
        while True:
            rows = self._rows(statement, self._campaign, first, last, _PAGE)
            yield from rows
            if len(rows) < _PAGE:
                return
            first = rows[-1][0] + 1

    def now(self) -> float:
        return self._rows(f"SELECT {self._database.clock}")[0][0] or time.time()

    def _select_head(self) -> str:
        ours, lock = ("", "") if not self._for_update else (f", ({_REVISION})", self._database.for_update)
        return (
            f"SELECT created, events, clock, next_expiry, {self._database.clock}, hash{ours} FROM {_CAMPAIGNS} "
            f"WHERE id = ?{lock}"
        )

    def head(self) -> Head:
        rows = self._rows(self._select_head(), self._campaign) if self._head is None else self._head
        if not rows:
            raise StoreError(f"the campaign is no longer in {self._database.name}")
        created, events, clock, next_expiry, now, last, *revision = rows[0]
        if revision:
            self._database.check_revision(revision[0])
        now = now or time.time()
        return Head(created, events, clock, next_expiry, now, last, self._database.clock_step(now, self._for_update))

    def snapshot(self) -> tuple[int, str]:
        (row,) = self._rows(f"SELECT seq, state FROM {_SNAPSHOTS} WHERE campaign = ?", self._campaign)
        return row[0], row[1]

    def checkpoint(self, decision: int) -> str | None:
        rows = self._rows(
            f"SELECT details FROM {_EVENTS} WHERE campaign = ? AND seq <= {_CHECKPOINT} AND number < ? "
            "ORDER BY number DESC LIMIT 1",
            self._campaign,
            decision,
        )
        return rows[0][0] if rows else None

    def events(self, after: int, upto: int) -> Iterator[Event]:
        def stored(first: int) -> Iterator[Event]:
            return map(Event._make, self._pages(_EVENT_COLUMNS, _EVENTS, "seq", first, upto))

        rows = stored(after + 1)
        event = next(rows, None)
        if max(after, 0) < upto and (event is None or event.seq > after + 1) and (old := self.archive()) is not None:
            yield from old.logged(after + 1, upto)
            yield from stored(max(after, old.events) + 1)
        elif event is not None:
            yield event
            yield from rows

    def archive(self) -> Archive | None:
        """Where the old events of the campaign are, if they have been archived."""
        rows = self._rows(f"SELECT details FROM {_EVENTS} WHERE campaign = ? AND seq = {_ARCHIVE}", self._campaign)
        return Archive(*json.loads(rows[0][0])) if rows else None

    def decisions(self, *, numbers: Sequence[int] = (), keys: Sequence[str] = ()) -> list[DecisionRow]:
        rows: list[Any] = []
        if self._for_update and self._head is None and (numbers or keys):  # first the lock, then decisions
            self._head = self.send(self._select_head(), self._campaign)
        for column, values in (("number", numbers), ("key", keys)):
            if values:
                condition, argument = self._database.in_list, self._database.list_argument(values)
                statement = f"SELECT {_DECISION_COLUMNS} FROM {_DECISIONS} WHERE campaign = ? AND {column} {condition}"
                rows += self._rows(statement, self._campaign, argument)
        return list(map(DecisionRow._make, rows))

    def history(self, first: int, last: int | None) -> Iterator[DecisionRow]:
        rows = self._pages(_DECISION_COLUMNS, _DECISIONS, "number", first, _ALL if last is None else last)
        return map(DecisionRow._make, rows)

    def pending(
        self, count: int | None = None, *, after: float | None = None, until: float | None = None
    ) -> list[DecisionRow]:
        statement = f"SELECT {_DECISION_COLUMNS} FROM {_DECISIONS} WHERE {_PENDING}"
        parameters: list[Any] = [self._campaign]
        for condition, end in ((" AND expires > ?", after), (" AND expires <= ?", until)):
            if end is not None:
                statement, parameters = statement + condition, [*parameters, end]
        rows = self._rows(f"{statement} ORDER BY expires, number LIMIT ?", *parameters, count or _ALL)
        return list(map(DecisionRow._make, rows))

    def log(self, before: int | None, count: int, search: Search | None) -> list[tuple[Event, str | None, str | None]]:
        page = f"SELECT campaign, {_EVENT_COLUMNS} FROM {_EVENTS} WHERE campaign = ? AND seq > {_ARCHIVE} AND seq < ?"
        parameters: list[Any] = [self._campaign, before or _ALL]
        if search is not None and search.number is not None:
            page, parameters = f"{page} AND number = ?", [*parameters, search.number]
        elif search is not None:
            # Decisions are searched once, not once per event.
            in_list, like = self._database.in_list, _LIKE
            page = (
                f"{page} AND (kind {in_list} OR arm {in_list} OR lower(name) {like} OR lower(details) {like} OR number "
                f"IN (SELECT number FROM {_DECISIONS} WHERE campaign = ? AND (lower(key) {like} OR "
                f"lower(worker) {like})))"
            )
            text = _pattern(search.text)
            kinds, arms = map(self._database.list_argument, (search.kinds, search.arms))
            parameters = [*parameters, kinds, arms, text, text, self._campaign, text, text]
        columns = ", ".join(f"page.{name}" for name in Event._fields)
        # Decisions are joined to the entries of a page, not to all of the log.
        rows = self._rows(
            f"SELECT {columns}, d.key, d.worker FROM ({page} ORDER BY seq DESC LIMIT ?) AS page LEFT JOIN {_DECISIONS} "
            "AS d ON d.campaign = page.campaign AND d.number = page.number ORDER BY page.seq DESC",
            *parameters,
            count,
        )
        return [(Event(*event), key, worker) for *event, key, worker in rows]

    def append(self, batch: Batch) -> None:
        campaign, database, driver = self._campaign, self._database, self.driver
        last = batch.events[-1]
        if batch.decisions:
            database.insert(driver, _DECISIONS, DecisionRow._fields, campaign, batch.decisions)
        database.insert(driver, _EVENTS, Event._fields, campaign, batch.events)
        head = f"UPDATE {_CAMPAIGNS} SET events = ?, clock = ?, next_expiry = ?, hash = ? WHERE id = ?"
        self.send(head, last.seq, batch.clock, batch.next_expiry, last.hash, campaign)
        if batch.outcomes:
            database.update(driver, _DECISIONS, Outcome._fields, campaign, batch.outcomes)
        if batch.amended is not None:
            stale = f"DELETE FROM {_EVENTS} WHERE campaign = ? AND seq <= {_CHECKPOINT} AND number >= ?"
            self.send(stale, campaign, batch.amended)
        for place, decisions, text in batch.checkpoints:
            self.send(_KEEP_TEXT, campaign, _CHECKPOINT - place, decisions, text)
        if batch.snapshot is not None:
            snapshot = f"UPDATE {_SNAPSHOTS} SET seq = ?, state = ? WHERE campaign = ?"
            self.send(snapshot, last.seq, batch.snapshot, campaign)
