"""A campaign: ask which arm to play, tell the reward later, from any number of processes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ..._support.validation import probability, whole
from ...errors import InvalidInputError, SharpeBanditsError
from ...policies.base import Policy, check_policy
from ..agents import Agent
from .activity import Activity
from .interface import CampaignInterface
from .records import (
    Decision,
    Evaluation,
    Event,
    EventKind,
    LogEntry,
    Verification,
    history_row,
    history_schema,
    plain_details,
    utc_time,
)
from .requests import MAX_BATCH, AcceptClock, Amend, Notified, Request, number_of, unknown_decision
from .segments import check_free_choice
from .settings import Settings
from .state import State, bounded_shares
from .status import LAST, LEAST, Status, remarks_on, status_of
from .storage import CampaignRow, Head, Records, Search, Storage
from .transaction import Transaction
from .verification import first_hash, verify
from .webhooks import logger, send

if TYPE_CHECKING:
    import pyarrow as pa

T = TypeVar("T")
#: Decisions in a batch of an Arrow table.
_PAGE = 50_000


class Campaign(CampaignInterface):
    """A durable campaign; created or opened by :meth:`Store.campaign`.

    Threads and processes may share it: each call is a transaction, and what it returns is committed.
    """

    def __init__(self, storage: Storage, row: CampaignRow, settings: Settings, policy: Policy) -> None:
        self._storage, self._id, self.name, self._settings, self.policy = storage, row.id, row.name, settings, policy
        self._first_hash = first_hash(row.name, row.settings)
        #: Threads share the state, which may be behind the log.
        self._lock = threading.Lock()
        self._state: State | None = None
        self._compiled, self._news = False, False
        #: After how many events, and what was remarked then.
        self._remarks: tuple[int, list[str]] = (0, [])
        #: One thread at a time delivers messages.
        self._notifying = threading.Lock()

    def __repr__(self) -> str:
        return f"<campaign {self.name!r} of {self.policy.name} in {self._storage.name}>"

    @property
    def arms(self) -> list[Any]:
        return self._look(lambda state: list(state.agent.arms))

    @property
    def settings(self) -> dict[str, Any]:
        return asdict(self._settings)

    @property
    def rules(self) -> dict[str, Any]:
        return self._look(lambda state: asdict(state.rules))

    def commit(self, requests: Sequence[Request]) -> list[Any]:
        """Execute requests in one commit, each as if it were on its own; return the result of each, or its error.

        A request that fails has no effect, and does not affect the others.

        Parameters
        ----------
        requests
            the requests, in order: ``Ask``, ``Tell``, ``Record``, ``Cancel``, ``Amend``, ``AddArm``, ``RetireArm``,
            ``Change``, ``Suspend``, ``Resume`` or ``AcceptClock`` of :mod:`sharpe_bandits.live.campaigns`
        """
        requests = [self._replayed(one) if isinstance(one, Amend) else one for one in requests]
        with self._lock:
            if not self._compiled:  # before the first transaction: otherwise other writers would wait for the compiler
                State(self._settings, self.policy).agent._prepare()
                self._compiled = True
            results, self._state = self._storage.write(self._id, lambda records: self._execute(records, requests))
            notifies = self._news and self._state is not None and self._state.rules.webhook is not None
        if notifies:
            threading.Thread(target=self._notify_or_warn, name="sharpe-bandits webhook", daemon=True).start()
        return results

    def _replayed(self, amend: Amend) -> Amend:
        """An amendment with the log replayed: in the transaction, all other writers would wait for that."""

        def work(records: Records) -> State | None:
            head, number = records.head(), number_of(amend.decision)
            if any(row.reward in (None, amend.reward) for row in records.decisions(numbers=[number])):
                return None  # nothing is to be amended
            events = partial(records.events, 0, head.events)
            return State.replayed(events, self._settings, self.policy, {number: amend.reward})

        return amend if amend.replay is not None else replace(amend, replay=self._storage.read(self._id, work))

    def _execute(self, records: Records, requests: Sequence[Request]) -> tuple[list[Any], State]:
        transaction = Transaction(self.name, self._first_hash, records, requests, partial(self._current, records))
        self._state = None  # until what is added to it is committed
        results = transaction.execute()
        self._news = any(map(_is_news, transaction.events))
        return results, transaction.state

    def _do(self, request: Request) -> Any:
        (result,) = self.commit([request])
        if isinstance(result, SharpeBanditsError):
            raise result
        return result

    def weights(self, *, max: float = 1.0, min: float = 0.0, segment: str | None = None) -> dict[Any, float]:
        low, high = probability("min", min), probability("max", max)

        def work(state: State) -> dict[Any, float]:
            available, arms = state.available(), state.agent.arms
            if high < 1:
                check_free_choice(self.policy, "choose another arm for what one cannot take; leave max= out")
            if low > high or low * len(available) > 1 + 1e-9 or high * len(available) < 1 - 1e-9:
                words = f"{len(available)} arms cannot have weights between {low:g} and {high:g}"
                raise InvalidInputError(f"{words} that add up to 1")
            bounds = np.full(len(arms), low), np.full(len(arms), high)
            shares = bounded_shares(state.chooser(segment), 0.0, available, *bounds)
            return {arms[i]: float(shares[i]) for i in available}

        return self._look(work)

    def signed_export(self, private_key: bytes) -> bytes:
        """The whole log as JSON, with its hash chain, signed: a third party can check it without the store, by
        :func:`sharpe_bandits.live.campaigns.signed.check_export`.

        Parameters
        ----------
        private_key : an Ed25519 private key, as PEM without a password (``openssl genpkey -algorithm ed25519``)
        """
        from .signed import export

        (row,) = self._storage.campaigns(self.name)
        return self._storage.read(self._id, lambda records: export(row, records, private_key))

    def notify(self) -> int:
        """Deliver messages that the webhook has not received yet, in order; returns how many.

        A campaign does this by itself, in the background, after a guardrail was broken or the mode was changed.
        """
        with self._notifying:
            for event in (events := self._undelivered()):
                details = plain_details(event.details)
                message = {
                    "campaign": self.name,
                    "event": event.seq,
                    "kind": EventKind(event.kind).label,
                    "time": utc_time(event.at).isoformat(),
                    "arm": None if event.arm is None else self.arms[event.arm],
                    "details": {name: details[name] for name in ("by", "why", "set") if name in details},
                }
                send(str(self.rules["webhook"]), f"{self.name}-{event.seq}-{event.hash}"[-200:], message)
                self._do(Notified(event.seq))
        return len(events)

    def _undelivered(self) -> list[Event]:
        """Events that a webhook should hear of and has not."""

        def work(records: Records) -> list[Event]:
            head = records.head()
            state = self._current(records, head)
            events = records.events(state.notified, head.events) if state.rules.webhook else ()
            return [event for event in events if _is_news(event)]

        return self._read(work)

    def _notify_or_warn(self) -> None:
        try:
            self.notify()
        except SharpeBanditsError as error:  # the next message, or notify(), tries again
            logger.warning("campaign %r: %s", self.name, error)

    def _current(self, records: Records, head: Head) -> State:
        """The state after the last event."""
        state, self._state = self._state, None  # until it is up to date
        self._state = State.load(records, head.events, self._settings, self.policy, state)
        return self._state

    def _look(self, work: Callable[[State], T]) -> T:
        """The result of ``work`` on the state after the last event, which it must not change."""
        return self._read(lambda records: work(self._current(records, records.head())))

    def _read(self, work: Callable[[Records], T]) -> T:
        with self._lock:
            return self._storage.read(self._id, work)

    def accept_clock(self, *, by: str | None = None) -> None:
        getattr(self._storage, "accept_clock", lambda: None)()
        self._do(AcceptClock(by=by))

    def decision(self, number: int | str) -> Decision:
        number = number_of(self._number(number))
        rows = self._storage.read(self._id, lambda records: records.decisions(numbers=[number]))
        if not rows:
            raise unknown_decision(number, self.name)
        return Decision.from_row(rows[0], self.arms)

    def pending(self, count: int = 100) -> list[Decision]:
        most = whole("count", count, 1, MAX_BATCH)
        rows, arms = self._storage.read(self._id, lambda records: records.pending(most)), self.arms
        return [Decision.from_row(row, arms) for row in rows]

    def status(self) -> Status:
        def work(records: Records) -> Status:
            head = records.head()
            state = self._current(records, head)
            if self._remarks[0] != state.seq // LEAST:  # not at every event: this reads many decisions
                last = records.history(max(state.decisions - LAST, 0) + 1, None)
                self._remarks = state.seq // LEAST, remarks_on(last, state.agent.arms)
            return status_of(self.name, state, head, records, self._remarks[1])

        return self._read(work)

    def recommend(self, segment: str | None = None) -> Any:
        return self._look(lambda state: state.chooser(segment).recommend())

    def agent(self) -> Agent:
        return Agent.from_json(self._look(lambda state: state.agent.to_json()))

    def activity(self, known: Activity | None = None) -> Activity:
        """Counts of events and sums of rewards in at most 240 intervals; ``known``, the result of an earlier call, is
        updated by reading only new events.
        """
        arms = len(self.arms)
        return self._storage.read(self._id, lambda records: Activity.upto_now(records, arms, known))

    def numbers_of(self, keys: Iterable[str]) -> dict[str, int]:
        rows = self._storage.read(self._id, lambda records: records.decisions(keys=list(keys)))
        return {row.key: row.number for row in rows}

    def verify(self, *, choices: bool = False) -> Verification:
        return verify(self._storage, self._id, self._first_hash, self._settings, self.policy, choices)

    def evaluate(self, policy: Policy) -> Evaluation:
        from .evaluation import evaluate

        return evaluate(self._storage, self._id, self._settings, check_policy(policy))

    def _history(self, first: int, count: int | None) -> pa.Table:
        import pyarrow as pa

        last, arms = None if count is None else first + count - 1, self.arms
        schema = history_schema(isinstance(arms[0], str))

        def work(records: Records) -> pa.Table:
            rows, batches = iter(records.history(first, last)), []
            while page := [history_row(Decision.from_row(row, arms)) for row in islice(rows, _PAGE)]:
                batches.append(pa.RecordBatch.from_pylist(page, schema))
            return pa.Table.from_batches(batches, schema)

        return self._storage.read(self._id, work)

    def _log(self, before: int | None, count: int, search: str) -> list[LogEntry]:
        arms, text, wanted = self.arms, search.strip().lower(), None
        if text:
            number = int(text) if text.isascii() and text.isdigit() and len(text) < 16 else None
            kinds = [kind.value for kind in EventKind if text in kind.label]
            wanted = Search(number, text, kinds, [i for i, arm in enumerate(arms) if text in str(arm).lower()])
        rows = self._storage.read(self._id, lambda records: records.log(before, count, wanted))
        return [LogEntry.from_row(*row, arms) for row in rows]


def _is_news(event: Event) -> bool:
    """Whether a webhook hears of an event: a broken guardrail, or a change of the mode."""
    changed = event.kind == EventKind.CHANGED and "mode" in plain_details(event.details)["set"]
    return changed or event.kind == EventKind.GUARDRAIL
