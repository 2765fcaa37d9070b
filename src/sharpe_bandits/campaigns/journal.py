"""Transactions on one campaign: the state in memory is updated, changed, and committed with its log.

A :class:`Journal` keeps the state; a :class:`Change` holds what a transaction adds to it.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any, TypeVar

import sqlalchemy as sa

from ..agents import Agent
from ..errors import SharpeBanditsError, StoreError
from ..policies.base import Policy
from . import ledger as log
from .database import Database, Prepared
from .decisions import EXPIRED, PENDING, State, utc_time
from .ledger import Event, Ledger
from .schema import decisions
from .settings import Settings
from .statements import ASKED_COLUMNS, statements_of

T = TypeVar("T")

#: A snapshot is written each time the log has grown by this many events, or by one event per this many bytes of the
#: snapshot if that is more: this costs little per event, and opening the campaign has few events to apply.
_SNAPSHOT_EVENTS, _SNAPSHOT_BYTES = 64, 200
#: No log has events after this one.
_NEVER = 2**62
#: Seconds by which a clock may go back: time stands still until it catches up.
CLOCK_TOLERANCE = 60.0


class Journal:
    """The state of a campaign as known to this process, and how to change it."""

    def __init__(self, database: Database, campaign: int, name: str, settings: Settings, policy: Policy) -> None:
        self.database, self.campaign, self.settings = database, campaign, settings
        self.do = statements_of(database)
        self.lock = threading.RLock()
        #: Length of the snapshot.
        self.snapshot_size = 0
        self._name = name
        self._policy, self._prepared = policy, False
        self._ledger: Ledger | None = None
        #: The process that the state belongs to: after a fork it is read again.
        self._process = os.getpid()
        #: The transaction that writes become parts of, if there is one.
        self._open: Change | None = None

    def look(self, work: Callable[[Ledger], T]) -> T:
        """The result of ``work`` on the state after the last event, which it must not change."""
        return self.look_with(lambda ledger, connection, row: work(ledger))

    def look_with(self, work: Callable[[Ledger, sa.Connection, Any], T]) -> T:
        """The same, with a connection and the campaign's row, which includes the time ``now``."""

        def read(connection: sa.Connection) -> T:
            row = self._existing(self.do.read(connection, {"of": self.campaign, **self.database.now_argument()}))
            return work(self.caught_up(connection, row.events), connection, row)

        with self.lock:  # threads share the state
            return self.database.read(read)

    @property
    def agent(self) -> Agent | None:
        """The agent in memory, which may be behind the log, if there is one."""
        return None if self._ledger is None else self._ledger.agent

    def part(self, change: Change, work: Callable[[], T]) -> T:
        """Run ``work``, whose writes become parts of ``change``."""
        self._open = change
        try:
            return work()
        finally:
            self._open = None

    def _existing(self, rows: list[Any]) -> Any:
        if not rows:
            raise StoreError(f"the campaign {self._name!r} is no longer in {self.database.name}")
        return rows[0]

    def caught_up(self, connection: sa.Connection, seq: int, added: list[Any] | None = None) -> Ledger:
        """The state after event number ``seq``, or a later one: from memory and the log, or from the snapshot.

        ``added``: the log entries after the state in memory, if they were fetched already.
        """
        ledger = self._ledger if self._process == os.getpid() else None
        if ledger is None or ledger.seq > seq or seq - ledger.seq > _SNAPSHOT_EVENTS:
            (row,) = self.do.kept(connection, {"of": self.campaign})
            added = None  # they do not apply to the snapshot
            if ledger is None or ledger.seq > seq or row.seq > ledger.seq:
                ledger = Ledger.from_json(row.state, self.settings, self._policy)
            self.snapshot_size = len(row.state)
        if ledger.seq < seq:
            try:
                if added is None:
                    added = self.do.since(connection, {"of": self.campaign, "after": ledger.seq, "upto": seq})
                for event in added:
                    ledger.apply(Event(*event))
            except BaseException:
                self._ledger = None
                raise
        self._ledger, self._process = ledger, os.getpid()
        return ledger

    def write(
        self,
        work: Callable[[Change], T],
        ahead: tuple[Prepared, Any] | None = None,
        accept_clock: bool = False,
        executed: Callable[[], None] | None = None,
    ) -> T:
        """Run ``work`` exclusively on the state after the last event, and commit what it adds.

        ``ahead``: the statement that fetches the decision that it will need, and which one. ``executed`` is called
        when everything except the commit is done.
        """

        committed: list[Ledger] = []

        def transaction(connection: sa.Connection) -> T:
            locked = self.do.lock.send(connection, {"of": self.campaign, **self.database.now_argument()})
            # Sent together with the lock statement, and answered when the lock is held: what others have added
            # meanwhile.
            known = self._ledger.seq if self._ledger is not None and self._process == os.getpid() else _NEVER
            span = {"after": known, "upto": known + _SNAPSHOT_EVENTS}
            added = self.do.since.send(connection, {"of": self.campaign, **span})
            wanted = None if ahead is None else ahead[0].send(connection, {"of": self.campaign, "which": ahead[1]})
            row = self._existing(self.do.lock.rows(locked))
            ledger = self.caught_up(connection, row.events, self.do.since.rows(added))
            change = Change(self, connection, row, ledger, accept_clock)
            if ahead is not None:
                change.found([ahead[1]], ahead[0].rows(wanted))
            self._ledger = None  # until what is added to it is committed
            try:
                found = work(change)
                change.write()
            except SharpeBanditsError:
                if not change.touched:
                    self._ledger = ledger
                raise
            committed.append(change.ledger)
            if executed is not None:
                executed()
            return found

        with self.lock:
            if self._open is not None:
                return self._open.part(work)
            self._prepare()
            found = self.database.write(transaction, together=True)
            self._ledger = committed[-1]
            return found

    def _prepare(self) -> None:
        """Compile the policy before the first transaction: otherwise other writers would wait for the compiler."""
        if not self._prepared:
            Ledger.fresh(self.settings, self._policy).agent.prepare()
            self._prepared = True

    def reread(self, connection: sa.Connection, seq: int) -> Ledger:
        """The state after event number ``seq``, as a copy that only the current transaction uses and may change."""
        self._ledger = None
        ledger = self.caught_up(connection, seq)
        self._ledger = None
        return ledger


class Change:
    """What a transaction adds to a campaign: events, decisions and changes of their states."""

    def __init__(
        self, journal: Journal, connection: sa.Connection, row: Any, ledger: Ledger, accept_clock: bool
    ) -> None:
        self._journal, self._connection, self._row, self._do = journal, connection, row, journal.do
        self.ledger = ledger
        if row.now < row.clock - CLOCK_TOLERANCE and not accept_clock:
            raise StoreError(
                f"the clock says {utc_time(row.now):%Y-%m-%d %H:%M:%S} UTC, but the last event was at "
                f"{utc_time(row.clock):%Y-%m-%d %H:%M:%S} UTC; nothing was recorded: correct the clock, or if it was "
                "wrong before, call campaign.accept_clock()"
            )
        #: Time of this transaction.
        self.now: float = row.now if accept_clock else max(row.now, row.clock)
        self._events: list[dict[str, Any]] = []
        self._decisions: list[dict[str, Any]] = []
        #: Decisions that this transaction makes, in the form of fetched rows, by number and by key.
        self._made: dict[Any, Any] = {}
        self._next_expiry: float | None = row.next_expiry
        #: Rows that were looked up, by number or by key; None if there is none.
        self._known: dict[Any, Any] = {}
        #: Whether the state may have been changed.
        self.touched = False
        #: Decisions whose state changed: number -> state and reward.
        self.settled: dict[int, tuple[State, float | None]] = {}

    def part(self, work: Callable[[Change], T]) -> T:
        """Run ``work`` as one of many operations in this transaction: if it fails, it has no effect."""
        kept = len(self._events), len(self._decisions), self._next_expiry, dict(self.settled)
        try:
            return work(self)
        except SharpeBanditsError:
            if len(self._events) > kept[0]:
                self._take_back(*kept)
            raise

    def _take_back(self, added: int, decided: int, next_expiry: float | None, settled: dict[int, Any]) -> None:
        for row in self._decisions[decided:]:
            del self._made[row["number"]], self._made[row["key"]]
        del self._events[added:], self._decisions[decided:]
        self._next_expiry, self.settled = next_expiry, settled
        self.ledger = self._journal.reread(self._connection, self._row.events)
        for entry in self._events:
            self.ledger.apply(Event(*(entry[name] for name in Event._fields)))

    def add(
        self, kind: int, number: int | None = None, arm: int | None = None, reward: float | None = None,
        name: str | None = None,
    ) -> None:  # fmt: skip
        """Add an event, and apply it."""
        self.touched = True
        event = Event(self.ledger.seq + 1, kind, number, arm, reward, name)
        self.ledger.apply(event)
        self._events.append({"campaign": self._journal.campaign, "at": self.now, **event._asdict()})

    def decide(self, row: dict[str, Any]) -> Any:
        """Add a decision."""
        if self._next_expiry is None:
            self._next_expiry = row["expires"]
        self._decisions.append(row)
        made = self._made[row["number"]] = self._made[row["key"]] = SimpleNamespace(reward=None, told=None, **row)
        return made

    def settle(self, number: int, state: State, reward: float | None) -> None:
        """Set the new state of a decision."""
        self.settled[number] = state, reward

    def rows(self, numbers: list[int]) -> dict[int, Any]:
        """Decisions by number."""
        return {row.number: row for row in self._rows(numbers, "number")}

    def rows_by_key(self, keys: list[str]) -> list[Any]:
        """Decisions by key."""
        return self._rows(keys, "key")

    def look_up(self, wanted: Iterable[Any], column: str) -> None:
        """Fetch decisions by number or key, for later use."""
        missing = [which for which in dict.fromkeys(wanted) if which not in self._made and which not in self._known]
        if missing:
            self.found(missing, self._do.decisions(self._connection, self._journal.campaign, column, missing))

    def found(self, wanted: list[Any], rows: list[Any]) -> None:
        """Remember the rows that were found for ``wanted``, by number or by key."""
        self._known.update(dict.fromkeys(wanted))
        for row in rows:
            self._known[row.number] = self._known[row.key] = row

    def _rows(self, wanted: list[Any], column: str) -> list[Any]:
        """Decisions in their state after what this transaction has done so far."""
        self.look_up(wanted, column)
        found = [self._made.get(which) or self._known.get(which) for which in wanted]
        return [self._settled(row) for row in found if row is not None]

    def _settled(self, row: Any) -> Any:
        if row.number not in self.settled:
            return row
        state, reward = self.settled[row.number]
        asked = {name: getattr(row, name) for name in ASKED_COLUMNS}
        return SimpleNamespace(**{**asked, "state": state, "reward": reward, "told": self.now})

    def _select(self, statement: Any) -> list[Any]:
        return self._journal.database.prepared(statement)(self._connection)

    def expire(self) -> None:
        """Expire decisions whose lease has run out."""
        if self._next_expiry is None or self._next_expiry > self.now:
            return
        table = decisions.c
        pending = sa.and_(table.campaign == self._journal.campaign, table.state == PENDING)
        chosen = sa.select(table.number, table.arm).where(pending, table.expires <= self.now).order_by(table.number)
        reward = self._journal.settings.default_reward
        for row in self._select(chosen):
            if row.number in self.settled:  # by an earlier operation in this transaction
                continue
            self.add(log.EXPIRED, number=row.number, arm=row.arm, reward=reward)
            self.settle(row.number, EXPIRED, reward)
        later = sa.select(sa.func.min(table.expires).label("first")).where(pending, table.expires > self.now)
        self._next_expiry = self._select(later)[0].first

    def write(self) -> None:
        """Write everything to the database."""
        if not self._events:
            return
        connection, campaign = self._connection, self._journal.campaign
        if self._decisions:
            self._do.decide(connection, *self._decisions)
        if self.settled:
            what = [
                {"campaign": campaign, "number": number, "state": state, "reward": reward, "told": self.now}
                for number, (state, reward) in self.settled.items()
            ]
            self._do.settle(connection, *what)
        self._do.log(connection, *self._events)
        new = {"of": campaign, "events": self.ledger.seq, "clock": self.now, "next_expiry": self._next_expiry}
        self._do.advance(connection, new)
        due = max(_SNAPSHOT_EVENTS, self._journal.snapshot_size // _SNAPSHOT_BYTES)
        if self.ledger.seq // due != self._row.events // due:
            text = self.ledger.to_json()
            self._do.snapshot(connection, {"of": campaign, "seq": self.ledger.seq, "state": text})
            self._journal.snapshot_size = len(text)
