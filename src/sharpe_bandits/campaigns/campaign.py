"""A campaign: ask which arm to play, tell the reward later, from any number of processes."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import sqlalchemy as sa

from ..agents import Agent
from ..errors import (
    CampaignOverError,
    ConflictError,
    InvalidInputError,
    RewardWarning,
    SharpeBanditsError,
    StoreError,
    UnknownNameError,
    WaitForRewardsError,
    shown,
)
from ..kernels.streams import fold, stream_key, uniform
from ..names import check_name
from ..policies.base import ENOUGH, Policy, check_policy
from ..validation import whole
from . import ledger as log
from .activity import Activity, activity
from .answers import LogEntry
from .database import Database, Prepared
from .decisions import AUTOMATIC, CANCELLED, EXPIRED, PENDING, REWARDED, Decision, from_row, moment
from .interface import MAX_BATCH, CampaignInterface, number_of
from .ledger import Event, Ledger, Settings
from .log_pages import log_page
from .schema import campaigns, decisions, events, snapshots
from .status import Status, status_of
from .verification import verify
from .verified import Verification

if TYPE_CHECKING:
    import pyarrow as pa

    from .answers import Evaluation

T = TypeVar("T")

#: The state is written each time the log has grown by so many events, or by one event per so many of its bytes if that
#: is more: that costs little per event, and whoever opens the campaign has few events to apply.
_SNAPSHOT_EVENTS, _SNAPSHOT_BYTES = 64, 200
#: No log has events after this one.
_NEVER = 2**62
#: Seconds that a clock may go back: time stands still meanwhile.
CLOCK_TOLERANCE = 60.0
#: Stream of random numbers that says when to explore, and which arm.
_EXPLORE = np.uint64(3)


class Campaign(CampaignInterface):
    """A durable campaign; made or opened by :meth:`Store.campaign`.

    Threads and processes may share one: each call is a transaction, and what it gives is committed.
    """

    _AUTOMATIC = AUTOMATIC

    def __init__(self, database: Database, number: int, name: str, settings: Settings, policy: Policy) -> None:
        self._database = database
        self._id = number
        self.name = name
        self.policy = policy
        self._settings = settings
        self._lock = threading.RLock()
        #: What operations of :meth:`together` add, while they run.
        self._open: _Change | None = None
        self._ledger: Ledger | None = None
        self._snapshot_size = 0
        self._warned, self._look_at = False, 0
        self._process = os.getpid()
        self._do = _Statements(database)

    def __repr__(self) -> str:
        return f"<campaign {self.name!r} of {self.policy.name} in {self._database.name}>"

    # What users call.

    @property
    def arms(self) -> list[Any]:
        return list(self._current().agent.arms)

    @property
    def settings(self) -> dict[str, Any]:
        return self._settings._asdict()

    def _asked(self, keys: list[str], worker: str) -> list[Decision]:
        ahead = (self._do.by_key, keys[0]) if len(keys) == 1 else None
        return self._write(lambda change: self._ask(change, keys, worker), ahead)

    def _told(
        self, rewards: list[tuple[int, float] | SharpeBanditsError], strict: bool
    ) -> list[SharpeBanditsError | None]:
        ahead = (self._do.by_number, rewards[0][0]) if len(rewards) == 1 and isinstance(rewards[0], tuple) else None
        found = self._write(lambda change: self._tell(change, rewards, strict), ahead)
        self._warn()
        return found

    def _warn(self) -> None:
        """Warn once of rewards that the policy cannot handle."""
        with self._lock:
            agent = self._ledger.agent if self._ledger is not None else None
            if self._warned or agent is None or agent.t < self._look_at:
                return
            self._look_at = agent.t + ENOUGH * len(agent.arms)
            warning = agent.reward_warning()
            self._warned = warning is not None
        if warning is not None:
            warnings.warn(f"campaign {self.name!r}: {warning}", RewardWarning, stacklevel=3)

    def together(self, operations: Sequence[Callable[[], Any]]) -> list[Any]:
        """Many operations in one commit, each as if it were alone: what each gives, or the error of this library that
        it raises.

        An operation is a call without arguments that uses this campaign, such as ``lambda: campaign.ask(key="a")``. It
        may be called again if a connection is lost. An operation that fails leaves nothing behind, and does not touch
        the others.
        """

        def attempt(operation: Callable[[], Any]) -> Any:
            try:
                return operation()
            except StoreError:
                raise  # of the transaction as a whole
            except SharpeBanditsError as error:
                return error

        def work(change: _Change) -> list[Any]:
            self._open = change
            try:
                return [attempt(operation) for operation in operations]
            finally:
                self._open = None

        return self._write(work)

    def cancel(self, decision: Decision | int) -> None:
        number = number_of(decision)

        def work(change: _Change) -> None:
            row = change.rows([number]).get(number)
            if row is None:
                raise self._unknown(number)
            if row.state == REWARDED or row.reward is not None:
                raise ConflictError(f"decision {number} has the reward {row.reward!r}; nothing was changed")
            if row.state != CANCELLED:
                kind = log.CANCELLED if row.state == PENDING else log.CANCELLED_LATE
                change.add(kind, number=number, arm=row.arm)
                change.settle(number, CANCELLED, None)

        self._write(work)

    def add_arm(self, arm: str) -> None:
        check_name("the name of an arm", arm)

        def work(change: _Change) -> None:
            agent = change.ledger.agent
            if arm in agent.arms:
                if arm in agent.retired:
                    raise ConflictError(f"arm {arm!r} was retired; give the new one another name; nothing was changed")
                return
            change.add(log.ADDED, name=arm)

        self._write(work)

    def retire_arm(self, arm: Any) -> None:

        def work(change: _Change) -> None:
            agent = change.ledger.agent
            number = agent.number_of(arm)
            if arm not in agent.retired:
                change.add(log.RETIRED, arm=number)

        self._write(work)

    def accept_clock(self) -> None:
        """Go on by the database's clock as it is now, though it says a time before the last event."""
        self._write(lambda change: change.add(log.CLOCK), accept_clock=True)

    def decision(self, number: int) -> Decision:
        chosen = sa.select(decisions).where(decisions.c.campaign == self._id, decisions.c.number == number)
        row = self._database.read(lambda connection: connection.execute(chosen).one_or_none())
        if row is None:
            raise self._unknown(number)
        return from_row(row, self._current().agent.arms)

    def pending(self, count: int = 100) -> list[Decision]:
        table = decisions.c
        chosen = (
            sa.select(decisions)
            .where(table.campaign == self._id, table.state == PENDING)
            .order_by(table.expires, table.number)
            .limit(whole("count", count, 1, MAX_BATCH))
        )
        rows, arms = self._database.read(_all_rows(chosen)), self._current().agent.arms
        return [from_row(row, arms) for row in rows]

    def status(self) -> Status:

        def work(connection: sa.Connection) -> tuple[Ledger, float, int, float | None]:
            row = self._exists(self._do.read(connection, {"of": self._id, **self._database.moment()}))
            now = max(row.now, row.clock)
            late = sa.select(sa.func.count()).where(
                decisions.c.campaign == self._id, decisions.c.state == PENDING, decisions.c.expires <= now
            )
            overdue = connection.scalar(late) if row.next_expiry is not None and row.next_expiry <= now else 0
            ledger = self._caught_up(connection, row.events)
            began = sa.select(events.c.at).where(events.c.campaign == self._id, events.c.seq == ledger.lead_began)
            return ledger, now, int(overdue or 0), connection.scalar(began) if ledger.lead_began else None

        with self._lock:
            ledger, now, overdue, began = self._database.read(work)
            since = None if began is None else moment(began)
            return status_of(self.name, self._settings, ledger, moment(now), overdue, since)

    def recommend(self) -> Any:
        return self._current().agent.recommend()

    def agent(self) -> Agent:
        return Agent.from_json(self._current().agent.to_json())

    def history(self, last: int | None = None, *, first: int | None = None, count: int | None = None) -> pa.Table:
        from .history import history

        if last is not None and first is not None:
            raise InvalidInputError("give last= or first=, not both")
        ledger = self._current()
        begin = 1 if first is None else whole("first", first, 1)
        if last is not None:
            begin = max(1, ledger.decisions + 1 - whole("last", last, 1))
        end = None if count is None else begin + whole("count", count, 1) - 1
        return history(self._database, self._id, ledger.agent.arms, begin, end)

    def log(self, *, before: int | None = None, count: int = 100, search: str = "") -> list[LogEntry]:
        if not isinstance(search, str):
            raise InvalidInputError(f"search must be text, got {shown(search)}")
        whole("count", count, 1, MAX_BATCH)
        until = None if before is None else whole("before", before, 1)
        return log_page(self._database, self._id, self._current().agent.arms, until, count, search)

    def activity(self, known: Activity | None = None) -> Activity:
        """Counts of events and sums of rewards in at most 240 intervals; ``known``, what an earlier call gave, is
        brought up to date for the price of what came since.
        """
        agent = self._current().agent
        told = [(n, mean) for n, mean, *_ in agent.moments().values() if n > 0]
        centre = sum(n * mean for n, mean in told) / sum(n for n, _ in told) if told else 0.0
        return activity(self._database, self._id, len(agent.arms), centre, known)

    def numbers_of(self, keys: Iterable[str]) -> dict[str, int]:
        """Numbers of the decisions that were asked for with these keys; a key that was never used is left out."""
        wanted, found = list(keys), {}
        for begin in range(0, len(wanted), MAX_BATCH):
            chosen = sa.select(decisions.c.key, decisions.c.number).where(
                decisions.c.campaign == self._id, decisions.c.key.in_(wanted[begin : begin + MAX_BATCH])
            )
            found.update({row.key: row.number for row in self._database.read(_all_rows(chosen))})
        return found

    def verify(self, *, choices: bool = False) -> Verification:
        return verify(
            self._database,
            self._id,
            self._settings,
            self.policy,
            (lambda ledger: self._draw(ledger)[0]) if choices else None,
        )

    def evaluate(self, policy: Policy) -> Evaluation:
        from .evaluation import evaluate

        return evaluate(self._database, self._id, self._settings, check_policy(policy))

    # How it is done.

    def _unknown(self, number: int) -> UnknownNameError:
        return UnknownNameError(f"there is no decision {number} in the campaign {self.name!r}; nothing was recorded")

    def _draw(self, ledger: Ledger) -> tuple[int, int]:
        """The arm that the next decision gets, and the one that the policy chose: another, where it explores."""
        agent, explore = ledger.agent, self._settings.explore
        chosen = agent.next_arm()
        if explore:
            with np.errstate(over="ignore"):  # the streams count modulo 2^64
                key = fold(stream_key(np.uint64(agent.seed), _EXPLORE, np.uint64(0)), ledger.decisions)
                if uniform(key, 0) < explore:
                    active = agent.active
                    return active[min(int(uniform(key, 1) * len(active)), len(active) - 1)], chosen
        return chosen, chosen

    def _ask(self, change: _Change, keys: list[str], worker: str) -> list[Decision]:
        arms = change.ledger.agent.arms
        used = {row.key: row for row in change.rows_by_key(keys)}
        if any(key not in used for key in keys):
            change.expire()
        found: list[Decision] = []
        for key in keys:
            if key not in used:
                try:
                    used[key] = self._decide(change, key, worker)
                except (WaitForRewardsError, CampaignOverError):
                    if found:
                        break
                    raise
            found.append(from_row(used[key], arms))
        return found

    def _decide(self, change: _Change, key: str, worker: str) -> Any:
        ledger = change.ledger
        arm, chosen = self._draw(ledger)
        lease, explore = self._settings.lease, self._settings.explore
        share = float(ledger.agent.shares(chosen)[arm])
        number = ledger.decisions + 1
        row = {
            "campaign": self._id,
            "number": number,
            "arm": arm,
            "key": key,
            "worker": worker,
            "asked": change.now,
            "expires": None if lease is None else change.now + lease,
            "probability": (1.0 - explore) * share + explore / len(ledger.agent.active) if explore else share,
            "state": PENDING,
        }
        change.add(log.ASKED, number=number, arm=arm)
        return change.decide(row)

    def _tell(
        self, change: _Change, rewards: list[tuple[int, float] | SharpeBanditsError], strict: bool
    ) -> list[SharpeBanditsError | None]:
        rows = change.rows([pair[0] for pair in rewards if isinstance(pair, tuple)])
        found: list[SharpeBanditsError | None] = []
        for pair in rewards:
            wrong: SharpeBanditsError | None = None
            if isinstance(pair, tuple):
                try:
                    self._tell_one(change, rows, *pair)
                except (ConflictError, UnknownNameError, InvalidInputError) as error:
                    wrong = error
            else:
                wrong = pair
            if wrong is not None and strict:
                raise wrong
            found.append(wrong)
        return found

    def _tell_one(self, change: _Change, rows: dict[int, Any], number: int, reward: float) -> None:
        row = rows.get(number)
        if row is None:
            raise self._unknown(number)
        state, before = change.settled.get(number, (row.state, row.reward))
        if before is not None:
            if before == reward:
                return
            by_default = " by default, since its lease ran out" if state == EXPIRED else ""
            raise ConflictError(
                f"decision {number} has the reward {before!r}{by_default}, and was now told {reward!r}; nothing was "
                "changed"
            )
        if state == CANCELLED:
            raise ConflictError(f"decision {number} was cancelled, and has no reward; nothing was changed")
        kind = log.REWARDED if state == PENDING else log.REWARDED_LATE
        change.add(kind, number=number, arm=row.arm, reward=reward)
        change.settle(number, REWARDED, reward)

    def _current(self) -> Ledger:
        """The state after the last event. The caller must not change it."""

        def work(connection: sa.Connection) -> Ledger:
            row = self._exists(self._do.read(connection, {"of": self._id, **self._database.moment()}))
            return self._caught_up(connection, row.events)

        with self._lock:
            return self._database.read(work)

    def _exists(self, rows: list[Any]) -> Any:
        if not rows:
            raise StoreError(f"the campaign {self.name!r} is no longer in {self._database.name}")
        return rows[0]

    def _caught_up(self, connection: sa.Connection, seq: int, added: list[Any] | None = None) -> Ledger:
        """The state after event number ``seq``, or a later one: from memory and the log, or from the snapshot.

        ``added``: what the log has after what is in memory, if it was asked already.
        """
        ledger = self._ledger if self._process == os.getpid() else None
        if ledger is None or ledger.seq > seq or seq - ledger.seq > _SNAPSHOT_EVENTS:
            (row,) = self._do.kept(connection, {"of": self._id})
            added = None  # there is more, or something else
            if ledger is None or ledger.seq > seq or row.seq > ledger.seq:
                ledger = Ledger.from_json(row.state)
            self._snapshot_size = len(row.state)
        if ledger.seq < seq:
            try:
                if added is None:
                    added = self._do.since(connection, {"of": self._id, "after": ledger.seq, "upto": seq})
                for event in added:
                    ledger.apply(Event(*event))
            except BaseException:
                self._ledger = None
                raise
        self._ledger, self._process = ledger, os.getpid()
        return ledger

    def _write(
        self, work: Callable[[_Change], T], ahead: tuple[Prepared, Any] | None = None, accept_clock: bool = False
    ) -> T:
        """Do ``work`` on the state after the last event, alone, and commit what it adds.

        ``ahead``: the statement that finds the decision that it will ask for, and which one.
        """

        committed: list[Ledger] = []

        def transaction(connection: sa.Connection) -> T:
            locked = self._do.lock.send(connection, {"of": self._id, **self._database.moment()})
            # Sent together with it, and answered when the lock is held: what others have added meanwhile.
            known = self._ledger.seq if self._ledger is not None and self._process == os.getpid() else _NEVER
            added = self._do.since.send(connection, {"of": self._id, "after": known, "upto": known + _SNAPSHOT_EVENTS})
            wanted = None if ahead is None else ahead[0].send(connection, {"of": self._id, "which": ahead[1]})
            row = self._exists(self._do.lock.rows(locked))
            ledger = self._caught_up(connection, row.events, self._do.since.rows(added))
            change = _Change(self, connection, row, ledger, accept_clock)
            change.ahead = None if ahead is None else ahead[0].rows(wanted)
            self._ledger = None  # until what is added to it is committed
            try:
                found = work(change)
                change.write()
            except SharpeBanditsError:
                if not change.touched:
                    self._ledger = ledger
                raise
            committed.append(change.ledger)
            return found

        with self._lock:
            if self._open is not None:
                return self._open.part(work)
            found = self._database.write(transaction, together=True)
            self._ledger = committed[-1]
            return found


class _Change:
    """What a transaction adds to a campaign: events, decisions and what becomes of them."""

    def __init__(
        self, campaign: Campaign, connection: sa.Connection, row: Any, ledger: Ledger, accept_clock: bool
    ) -> None:
        self._campaign, self._connection, self._row, self._do = campaign, connection, row, campaign._do
        self.ledger = ledger
        if row.now < row.clock - CLOCK_TOLERANCE and not accept_clock:
            raise StoreError(
                f"the clock says {moment(row.now):%Y-%m-%d %H:%M:%S} UTC, but the last event was at "
                f"{moment(row.clock):%Y-%m-%d %H:%M:%S} UTC; nothing was recorded: set the clock right, or if it was "
                "wrong before, call campaign.accept_clock()"
            )
        #: Time of this transaction.
        self.now: float = row.now if accept_clock else max(row.now, row.clock)
        self._events: list[dict[str, Any]] = []
        self._decisions: list[dict[str, Any]] = []
        #: Rows of decisions that this transaction makes, by number and by key.
        self._made: dict[Any, Any] = {}
        self._next_expiry: float | None = row.next_expiry
        #: The decision that is asked for, if it was looked up already: a list of none or one.
        self.ahead: list[Any] | None = None
        #: Whether the state may have been changed.
        self.touched = False
        #: Decisions that have come to something: number -> state and reward.
        self.settled: dict[int, tuple[str, float | None]] = {}

    def part(self, work: Callable[[_Change], T]) -> T:
        """Do ``work`` as one of many in this transaction: if it fails, nothing of it is left."""
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
        self.ledger = self._campaign._caught_up(self._connection, self._row.events)
        self._campaign._ledger = None
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
        self._events.append({"campaign": self._campaign._id, "at": self.now, **event._asdict()})

    def decide(self, row: dict[str, Any]) -> Any:
        """Add a decision."""
        if self._next_expiry is None:
            self._next_expiry = row["expires"]
        self._decisions.append(row)
        made = self._made[row["number"]] = self._made[row["key"]] = _Row(**row)
        return made

    def settle(self, number: int, state: str, reward: float | None) -> None:
        """Say what has become of a decision."""
        self.settled[number] = state, reward

    def rows(self, numbers: list[int]) -> dict[int, Any]:
        """Decisions by number."""
        return {row.number: row for row in self._rows(numbers, self._do.by_number, decisions.c.number)}

    def rows_by_key(self, keys: list[str]) -> list[Any]:
        """Decisions by key."""
        return self._rows(keys, self._do.by_key, decisions.c.key)

    def _rows(self, wanted: list[Any], one: Prepared, column: sa.Column[Any]) -> list[Any]:
        """Decisions as they are after what this transaction has done so far."""
        of = self._campaign._id
        found = [self._made[which] for which in wanted if which in self._made]
        if self.ahead is not None:
            found += self.ahead
        elif len(wanted) > 1:
            found += self._select(sa.select(decisions).where(decisions.c.campaign == of, column.in_(wanted)))
        elif not found:
            found += one(self._connection, {"of": of, "which": wanted[0]})
        return [self._settled(row) for row in found] if self.settled else found

    def _settled(self, row: Any) -> Any:
        if row.number not in self.settled:
            return row
        state, reward = self.settled[row.number]
        asked = {name: getattr(row, name) for name in _ASKED_COLUMNS}
        return _Row(**{**asked, "state": state, "reward": reward, "told": self.now})

    def _select(self, statement: Any) -> list[Any]:
        return self._campaign._database.prepared(statement)(self._connection)

    def expire(self) -> None:
        """End leases that have run out."""
        if self._next_expiry is None or self._next_expiry > self.now:
            return
        table = decisions.c
        pending = sa.and_(table.campaign == self._campaign._id, table.state == PENDING)
        chosen = sa.select(table.number, table.arm).where(pending, table.expires <= self.now).order_by(table.number)
        reward = self._campaign._settings.default_reward
        for row in self._select(chosen):
            if row.number in self.settled:  # by an operation before, in this transaction
                continue
            self.add(log.EXPIRED, number=row.number, arm=row.arm, reward=reward)
            self.settle(row.number, EXPIRED, reward)
        later = sa.select(sa.func.min(table.expires).label("first")).where(pending, table.expires > self.now)
        self._next_expiry = self._select(later)[0].first

    def write(self) -> None:
        """Write all of it."""
        if not self._events:
            return
        connection, campaign = self._connection, self._campaign
        if self._decisions:
            self._do.decide(connection, *self._decisions)
        if self.settled:
            what = [
                {"campaign": campaign._id, "number": number, "state": state, "reward": reward, "told": self.now}
                for number, (state, reward) in self.settled.items()
            ]
            self._do.settle(connection, *what)
        self._do.log(connection, *self._events)
        new = {"of": campaign._id, "events": self.ledger.seq, "clock": self.now, "next_expiry": self._next_expiry}
        self._do.advance(connection, new)
        due = max(_SNAPSHOT_EVENTS, campaign._snapshot_size // _SNAPSHOT_BYTES)
        if self.ledger.seq // due != self._row.events // due:
            text = self.ledger.to_json()
            self._do.snapshot(connection, {"of": campaign._id, "seq": self.ledger.seq, "state": text})
            campaign._snapshot_size = len(text)


class _Row:
    """A new row of the table of decisions, as one that is read."""

    reward = told = None

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)


class _Statements:
    """What every operation does, compiled once for a database."""

    def __init__(self, database: Database) -> None:
        of: Any = sa.bindparam("of", type_=sa.Integer)
        which: Any = sa.bindparam("which")
        row = sa.select(campaigns, database.seconds().label("now")).where(campaigns.c.id == of)
        one = decisions.c.campaign == of
        compiled = database.prepared
        self.read = compiled(row)
        self.lock = self.read if database.is_sqlite else compiled(row.with_for_update(of=campaigns))
        self.by_number = compiled(sa.select(decisions).where(one, decisions.c.number == which))
        self.by_key = compiled(sa.select(decisions).where(one, decisions.c.key == which))
        self.kept = compiled(sa.select(snapshots).where(snapshots.c.campaign == of))
        self.since = compiled(
            sa.select(*(events.c[name] for name in Event._fields))
            .where(events.c.campaign == of, events.c.seq > sa.bindparam("after"), events.c.seq <= sa.bindparam("upto"))
            .order_by(events.c.seq)
        )
        self.decide = database.insertion(decisions, ["campaign", *_ASKED_COLUMNS])
        self.log = database.insertion(events, events.c.keys())
        self.settle = database.changes(decisions, ["campaign", "number"], ["state", "reward", "told"])
        self.advance = compiled(_all(campaigns.update().where(campaigns.c.id == of), "events", "clock", "next_expiry"))
        self.snapshot = compiled(_all(snapshots.update().where(snapshots.c.campaign == of), "seq", "state"))


#: Columns of a new decision.
_ASKED_COLUMNS = ("number", "arm", "key", "worker", "asked", "expires", "probability", "state")


def _all(statement: Any, *columns: str) -> Any:
    """A statement that sets these columns to parameters of their names."""
    table = statement.table
    return statement.values({name: sa.bindparam(f"{name}", type_=table.c[name].type) for name in columns})


def _all_rows(statement: Any) -> Callable[[sa.Connection], list[Any]]:
    return lambda connection: list(connection.execute(statement))
