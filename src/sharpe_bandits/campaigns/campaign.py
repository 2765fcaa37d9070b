"""A campaign: ask which arm to play, tell the reward later, from any number of processes."""

from __future__ import annotations

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
)
from ..kernels.streams import fold, stream_key, uniform
from ..names import check_name
from ..policies.base import MIN_PULLS_FOR_WARNING, Policy, check_policy
from ..validation import whole
from . import ledger as log
from .activity import Activity, activity
from .answers import LogEntry, Verification
from .database import Database
from .decisions import AUTOMATIC, CANCELLED, EXPIRED, PENDING, REWARDED, Decision, from_row, utc_time
from .interface import MAX_BATCH, CampaignInterface, number_of
from .journal import Change, Journal
from .ledger import Ledger, Settings
from .log_pages import log_page
from .schema import decisions, events
from .status import Status, status_of
from .verification import verify

if TYPE_CHECKING:
    import pyarrow as pa

    from .answers import Evaluation

T = TypeVar("T")

#: Stream of random numbers that decides when to explore, and which arm.
_EXPLORE = np.uint64(3)


class Campaign(CampaignInterface):
    """A durable campaign; created or opened by :meth:`Store.campaign`.

    Threads and processes may share it: each call is a transaction, and what it returns is committed.
    """

    _AUTOMATIC = AUTOMATIC

    def __init__(self, database: Database, number: int, name: str, settings: Settings, policy: Policy) -> None:
        self._database = database
        self._id = number
        self.name = name
        self.policy = policy
        self._settings = settings
        self._journal = Journal(database, number, name, settings, policy)
        self._warned, self._look_at = False, 0

    def __repr__(self) -> str:
        return f"<campaign {self.name!r} of {self.policy.name} in {self._database.name}>"

    # Public methods.

    @property
    def arms(self) -> list[Any]:
        return self._journal.look(lambda ledger: list(ledger.agent.arms))

    @property
    def settings(self) -> dict[str, Any]:
        return self._settings._asdict()

    def _asked(self, keys: list[str], worker: str) -> list[Decision]:
        ahead = (self._journal.do.by_key, keys[0]) if len(keys) == 1 else None
        return self._journal.write(lambda change: self._ask(change, keys, worker), ahead)

    def _told(
        self, rewards: list[tuple[int, float] | SharpeBanditsError], strict: bool
    ) -> list[SharpeBanditsError | None]:
        single = rewards[0] if len(rewards) == 1 else None
        ahead = (self._journal.do.by_number, single[0]) if isinstance(single, tuple) else None
        found = self._journal.write(lambda change: self._tell(change, rewards, strict), ahead)
        self._warn()
        return found

    def _warn(self) -> None:
        """Warn once about rewards that the policy cannot handle."""
        with self._journal.lock:
            agent = self._journal.agent
            if self._warned or agent is None or agent.t < self._look_at:
                return
            self._look_at = agent.t + MIN_PULLS_FOR_WARNING * len(agent.arms)
            warning = agent.reward_warning()
            self._warned = warning is not None
        if warning is not None:
            warnings.warn(f"campaign {self.name!r}: {warning}", RewardWarning, stacklevel=3)

    def together(
        self,
        operations: Sequence[Callable[[], Any]],
        *,
        keys: Iterable[str] = (),
        numbers: Iterable[int] = (),
        executed: Callable[[], None] | None = None,
    ) -> list[Any]:
        """Run many operations in one commit, each as if it were on its own; return the result of each, or the error of
        this library that it raises.

        An operation is a call without arguments that uses this campaign, such as ``lambda: campaign.ask(key="a")``. It
        may be called again if a connection is lost. An operation that fails has no effect, and does not affect the
        others.

        Parameters
        ----------
        operations : Sequence[Callable[[], Any]]
            the operations, in order
        keys : Iterable[str], optional
            keys of decisions that the operations will look up: these are fetched in one statement, others one by one
        numbers : Iterable[int], optional
            the same by number
        executed : Callable[[], None] | None, optional
            called when everything except the commit is done
        """

        def attempt(operation: Callable[[], Any]) -> Any:
            try:
                return operation()
            except StoreError:
                raise  # of the transaction as a whole
            except SharpeBanditsError as error:
                return error

        def work(change: Change) -> list[Any]:
            change.look_up(keys, "key")
            change.look_up(numbers, "number")
            return self._journal.part(change, lambda: [attempt(operation) for operation in operations])

        return self._journal.write(work, executed=executed)

    def cancel(self, decision: Decision | int) -> None:
        number = number_of(decision)

        def work(change: Change) -> None:
            row = change.rows([number]).get(number)
            if row is None:
                raise self._unknown(number)
            if row.state == REWARDED or row.reward is not None:
                raise ConflictError(f"decision {number} has the reward {row.reward!r}; nothing was changed")
            if row.state != CANCELLED:
                kind = log.CANCELLED if row.state == PENDING else log.CANCELLED_LATE
                change.add(kind, number=number, arm=row.arm)
                change.settle(number, CANCELLED, None)

        self._journal.write(work)

    def add_arm(self, arm: str) -> None:
        check_name("the name of an arm", arm)

        def work(change: Change) -> None:
            agent = change.ledger.agent
            if arm in agent.arms:
                if arm in agent.retired:
                    raise ConflictError(f"arm {arm!r} was retired; give the new arm another name; nothing was changed")
                return
            change.add(log.ADDED, name=arm)

        self._journal.write(work)

    def retire_arm(self, arm: Any) -> None:

        def work(change: Change) -> None:
            agent = change.ledger.agent
            number = agent.number_of(arm)
            if arm not in agent.retired:
                change.add(log.RETIRED, arm=number)

        self._journal.write(work)

    def accept_clock(self) -> None:
        """Accept the database's clock as it is now, even though it is before the last event."""
        self._journal.write(lambda change: change.add(log.CLOCK), accept_clock=True)

    def decision(self, number: int) -> Decision:
        chosen = sa.select(decisions).where(decisions.c.campaign == self._id, decisions.c.number == number)
        row = self._database.read(lambda connection: connection.execute(chosen).one_or_none())
        if row is None:
            raise self._unknown(number)
        return from_row(row, self.arms)

    def pending(self, count: int = 100) -> list[Decision]:
        table = decisions.c
        chosen = (
            sa.select(decisions)
            .where(table.campaign == self._id, table.state == PENDING)
            .order_by(table.expires, table.number)
            .limit(whole("count", count, 1, MAX_BATCH))
        )
        rows, arms = self._database.read(_all_rows(chosen)), self.arms
        return [from_row(row, arms) for row in rows]

    def status(self) -> Status:
        def look(ledger: Ledger, connection: sa.Connection, row: Any) -> Status:
            now = max(row.now, row.clock)
            late = sa.select(sa.func.count()).where(
                decisions.c.campaign == self._id, decisions.c.state == PENDING, decisions.c.expires <= now
            )
            overdue = connection.scalar(late) if row.next_expiry is not None and row.next_expiry <= now else 0
            began = sa.select(events.c.at).where(events.c.campaign == self._id, events.c.seq == ledger.lead_began)
            at = connection.scalar(began) if ledger.lead_began else None
            since = None if at is None else utc_time(at)
            return status_of(self.name, ledger, utc_time(now), int(overdue or 0), since)

        return self._journal.look_with(look)

    def recommend(self) -> Any:
        return self._journal.look(lambda ledger: ledger.agent.recommend())

    def agent(self) -> Agent:
        return Agent.from_json(self._journal.look(lambda ledger: ledger.agent.to_json()))

    def activity(self, known: Activity | None = None) -> Activity:
        """Counts of events and sums of rewards in at most 240 intervals; ``known``, the result of an earlier call, is
        updated by reading only new events.
        """
        moments = self._journal.look(lambda ledger: ledger.agent.moments())
        told = [(n, mean) for n, mean, *_ in moments.values() if n > 0]
        centre = sum(n * mean for n, mean in told) / sum(n for n, _ in told) if told else 0.0
        return activity(self._database, self._id, len(moments), centre, known)

    def numbers_of(self, keys: Iterable[str]) -> dict[str, int]:
        """Numbers of the decisions with these keys; unknown keys are left out."""
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

    # Implementation.

    def _decided(self) -> int:
        return self._journal.look(lambda ledger: ledger.decisions)

    def _history(self, first: int, count: int | None) -> pa.Table:
        from .history import history

        return history(self._database, self._id, self.arms, first, None if count is None else first + count - 1)

    def _log(self, before: int | None, count: int, search: str) -> list[LogEntry]:
        return log_page(self._database, self._id, self.arms, before, count, search)

    def _unknown(self, number: int) -> UnknownNameError:
        return UnknownNameError(f"there is no decision {number} in the campaign {self.name!r}; nothing was recorded")

    def _draw(self, ledger: Ledger) -> tuple[int, int]:
        """The arm of the next decision, and the arm that the policy chose, which differs when the campaign explores."""
        agent, explore = ledger.agent, self._settings.explore
        chosen = agent.next_arm()
        if explore:
            with np.errstate(over="ignore"):  # the streams count modulo 2^64
                key = fold(stream_key(np.uint64(agent.seed), _EXPLORE, np.uint64(0)), ledger.decisions)
                if uniform(key, 0) < explore:
                    active = agent.active
                    return active[min(int(uniform(key, 1) * len(active)), len(active) - 1)], chosen
        return chosen, chosen

    def _ask(self, change: Change, keys: list[str], worker: str) -> list[Decision]:
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

    def _decide(self, change: Change, key: str, worker: str) -> Any:
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
        self, change: Change, rewards: list[tuple[int, float] | SharpeBanditsError], strict: bool
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

    def _tell_one(self, change: Change, rows: dict[int, Any], number: int, reward: float) -> None:
        row = rows.get(number)
        if row is None:
            raise self._unknown(number)
        state, before = change.settled.get(number, (row.state, row.reward))
        if before is not None:
            if before == reward:
                return
            by_default = " by default, since its lease ran out" if state == EXPIRED else ""
            raise ConflictError(
                f"decision {number} has the reward {before!r}{by_default}, but the new reward is {reward!r}; nothing "
                "was changed"
            )
        if state == CANCELLED:
            raise ConflictError(f"decision {number} was cancelled and takes no reward; nothing was changed")
        kind = log.REWARDED if state == PENDING else log.REWARDED_LATE
        change.add(kind, number=number, arm=row.arm, reward=reward)
        change.settle(number, REWARDED, reward)


def _all_rows(statement: Any) -> Callable[[sa.Connection], list[Any]]:
    return lambda connection: list(connection.execute(statement))
