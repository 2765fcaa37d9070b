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
#: The number of the row beside the events of a campaign that tells where old events are.
_ARCHIVE = -1
_REVISION = f"SELECT version_num FROM {schema.VERSION_TABLE}"
_PENDING = f"campaign = ? AND state = '{DecisionState.PENDING}'"  # the condition of an index
#: What is said of a transaction that failed, by what its error means.
_FAILURES = {
    "damaged": "{name} is damaged, or not a store ({reason}); restore it from a copy, or try: sqlite3 FILE .recover",
    "full": "no space is left for {name} ({reason}); nothing was recorded: free some space and try again",
    "locked": "{name} was locked by another process for {timeout:g} seconds; nothing was recorded: find that process",
    "slow": "{name} did not answer within {timeout:g} seconds; nothing was recorded: check the load of the server",
    "read-only": "{name} cannot be opened for writing ({reason}); check that file and folder exist and are writable",
    "disk": "{name} could not be read or written ({reason}); check the disk and try again",
    "file": "the database {name} failed: {reason}; check the file, and try again",
    "server": "the database {name} failed: {reason}; check the server and the URL, and try again",
}


class Database(ABC):
    """A database of campaigns: what :class:`~sharpe_bandits.live.campaigns.storage.Storage` asks for.

    ``name`` is shown in messages; ``timeout`` is how long to wait for a lock, or for a server to come back.
    """

    single_writer: bool
    begin_read: str  # how transactions begin
    begin_write: str
    clock: ClassVar[str]  # in SQL
    in_list: ClassVar[str]  # a condition that a column is in a list; see :meth:`list_argument`
    by_code_point: ClassVar[str] = ""  # compares text by code points
    for_update: ClassVar[str]  # ends a statement that locks the rows it selects
    setup_lock: ClassVar[str] = "SELECT 1"  # lets one process at a time create tables; beginning to write is enough
    serial: ClassVar[str]  # the type of numbers that the database gives to new rows
    error: type[Exception]  # of the driver

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
            words = f"{self.name} was upgraded to {shown(revision)} by a newer release"
            raise StoreError(f"{words}; nothing was recorded: restart this process with that release")

    def close(self) -> None:
        idle, self._idle = self._idle, []
        for driver in idle:
            driver.close()

    def read(self, campaign: int, work: Callable[[Records], T]) -> T:
        return self._transaction(lambda driver: work(_SQLRecords(self, driver, campaign)), self.begin_read)

    def write(self, campaign: int, work: Callable[[Records], T]) -> T:
        return self._transaction(
            lambda driver: work(_SQLRecords(self, driver, campaign, True)), self.begin_write, "COMMIT"
        )

    def _transaction(
        self, work: Callable[[Any], T], begin: str, end: str = "ROLLBACK", timeout: float | None = None
    ) -> T:
        timeout = timeout or self.timeout
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

    def campaigns(
        self, name: str | None = None, *, search: str = "", after: str = "", count: int | None = None
    ) -> list[CampaignRow]:
        where, which = (f"name > ?{self.by_code_point}", after) if name is None else ("name = ?", name)
        statement = (
            f"SELECT {', '.join(CampaignRow._fields)} FROM {_CAMPAIGNS} WHERE {where} AND lower(name) {_LIKE} "
            f"ORDER BY name{self.by_code_point} LIMIT ?"
        )
        rows = self._select(statement, which, _pattern(search), _ALL if count is None else count)
        return list(map(CampaignRow._make, rows))

    def _select(self, text: str, *arguments: Any) -> list[Any]:
        return self._transaction(lambda driver: driver.execute(text, arguments).fetchall(), self.begin_read)

    def create(self, name: str, settings: str, snapshot: str) -> None:
        def work(records: Any) -> None:
            now = records.now()
            if _insert_campaign(records.driver, (name, settings, now, 0, now, None, None)):
                initial = f"INSERT INTO {_SNAPSHOTS} SELECT id, 0, ? FROM {_CAMPAIGNS} WHERE name = ?"
                records.send(initial, snapshot, name)

        self.write(0, work)

    def adopt(self, row: CampaignRow, source: Records) -> bool:
        """Add a campaign of another storage with all of its log, in one transaction; whether its name was free."""
        head, snapshot = source.head(), source.snapshot()
        values = row.name, row.settings, head.created, head.events, head.clock, head.next_expiry, head.hash

        def work(records: Any) -> bool:
            driver = records.driver
            driver.execute(self.setup_lock)
            if not _insert_campaign(driver, values):
                return False
            ((campaign,),) = driver.execute(f"SELECT id FROM {_CAMPAIGNS} WHERE name = ?", (row.name,))
            for table, fields, rows in (
                (_DECISIONS, DecisionRow._fields, source.history(1, None)),
                (_EVENTS, Event._fields, source.events(0, head.events)),
                (_SNAPSHOTS, ("seq", "state"), [snapshot]),
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
            records.send(f"DELETE FROM {_EVENTS} WHERE campaign = ? AND seq <= ?", campaign, archive.events)
            place = f"INSERT INTO {_EVENTS} (campaign, seq, kind, at, details) VALUES (?, {_ARCHIVE}, -1, 0, ?)"
            records.send(place, campaign, json.dumps(archive))

        self.write(campaign, work)

    def _prepare(self, create: bool) -> None:
        """Create the tables if there are none, or upgrade them; refuse foreign or newer databases."""
        revision = self._transaction(self._revision, self.begin_read)
        if revision is None and not create:
            raise StoreError(f"there are no campaigns in {self.name}; create one first")
        if revision not in (None, *schema.REVISIONS):
            raise UnreadableDataError(
                f"{self.name} was written by another release (revision {shown(revision)}); use that"
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


def _insert_campaign(driver: Any, values: Sequence[Any]) -> bool:
    """Add a campaign; whether its name was free."""
    insert = (
        f"INSERT INTO {_CAMPAIGNS} (name, settings, created, events, clock, next_expiry, hash) "
        "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO NOTHING"
    )
    return bool(driver.execute(insert, values).rowcount)


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
        ours, lock = (f", ({_REVISION})", self._database.for_update) if self._for_update else ("", "")
        columns = f"created, events, clock, next_expiry, {self._database.clock}, hash{ours}"
        return f"SELECT {columns} FROM {_CAMPAIGNS} WHERE id = ?{lock}"

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

    def events(self, after: int, upto: int) -> Iterator[Event]:
        for row in self._pages(_EVENT_COLUMNS, _EVENTS, "seq", after + 1, upto):
            event = Event._make(row)
            if event.seq > after + 1 and (old := self.archive()) is not None:
                yield from old.logged(after + 1, event.seq - 1)
            yield event
            after = event.seq
        if after < upto and (old := self.archive()) is not None:
            yield from old.logged(after + 1, upto)

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

    def pending(self, count: int | None = None, *, until: float | None = None) -> list[DecisionRow]:
        bound, ends = ("", []) if until is None else (" AND expires <= ?", [until])
        statement = (
            f"SELECT {_DECISION_COLUMNS} FROM {_DECISIONS} WHERE {_PENDING}{bound} ORDER BY expires, number LIMIT ?"
        )
        return list(map(DecisionRow._make, self._rows(statement, self._campaign, *ends, count or _ALL)))

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
        if batch.snapshot is not None:
            snapshot = f"UPDATE {_SNAPSHOTS} SET seq = ?, state = ? WHERE campaign = ?"
            self.send(snapshot, last.seq, batch.snapshot, campaign)
