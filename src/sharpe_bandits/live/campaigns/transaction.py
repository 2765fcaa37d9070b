"""A transaction on a campaign: requests are executed on its state, each as if it were on its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ...errors import (
    CampaignOverError,
    ConflictError,
    InvalidInputError,
    SharpeBanditsError,
    StoreError,
    UnknownNameError,
    WaitForRewardsError,
)
from ...policies.base import Policy
from .records import GENERATED_KEY_PREFIX, Decision, DecisionRow, DecisionState, Event, EventKind, utc_time
from .requests import AcceptClock, AddArm, Ask, Cancel, Request, RetireArm, Tell
from .settings import Settings
from .state import State
from .storage import Batch, Head, Outcome, Records

#: Seconds by which a clock may go back: time stands still until it catches up.
CLOCK_TOLERANCE = 60.0


class Transaction:
    """What requests add to a campaign: events, decisions and outcomes of decisions.

    Parameters
    ----------
    name : str
        name of the campaign
    settings : Settings
        its settings
    policy : Policy
        its policy
    records : Records
        its records, for writing
    head : Head
        where it stands
    state : State
        its state there, which the requests change
    requests : Sequence[Request]
        the requests that will be executed
    """

    def __init__(
        self,
        name: str,
        settings: Settings,
        policy: Policy,
        records: Records,
        head: Head,
        state: State,
        requests: Sequence[Request],
    ) -> None:
        self._name, self._settings, self._policy, self._records, self._head = name, settings, policy, records, head
        self.state = state
        clock_accepted = any(isinstance(request, AcceptClock) for request in requests)
        if head.now < head.clock - CLOCK_TOLERANCE and not clock_accepted:
            raise StoreError(
                f"the clock says {utc_time(head.now):%Y-%m-%d %H:%M:%S} UTC, but the last event was at "
                f"{utc_time(head.clock):%Y-%m-%d %H:%M:%S} UTC; nothing was recorded: correct the clock, or if it was "
                "wrong before, call campaign.accept_clock()"
            )
        #: Time of this transaction.
        self._now = head.now if clock_accepted else max(head.now, head.clock)
        self._next_expiry = head.next_expiry
        self._events: list[Event] = []
        #: New decisions, and outcomes of decisions, by number.
        self._new: dict[int, DecisionRow] = {}
        self._outcomes: dict[int, Outcome] = {}
        #: Decisions in the storage, and new ones, by number and by key; None if there is none.
        self._known: dict[int | str, DecisionRow | None] = {}
        self._fetch(
            [number for request in requests if isinstance(request, Tell) for number in request.numbers]
            + [int(request.decision) for request in requests if isinstance(request, Cancel)],  # type: ignore[arg-type]
            [key for request in requests if isinstance(request, Ask) for key in request.all_keys(GENERATED_KEY_PREFIX)],
        )

    def execute(self, request: Request) -> Any:
        """The result of a request, or the error of this library that it raises; it then has no effect."""
        events, new = len(self._events), len(self._new)
        next_expiry, outcomes = self._next_expiry, dict(self._outcomes)
        try:
            return self._dispatch(request)
        except StoreError:
            raise  # of the transaction as a whole
        except SharpeBanditsError as error:
            if len(self._events) > events:
                for row in list(self._new.values())[new:]:
                    self._known[row.number] = self._known[row.key] = None
                    del self._new[row.number]
                del self._events[events:]
                self._next_expiry, self._outcomes = next_expiry, outcomes
                self.state = State.load(self._records, self._head.events, self._settings, self._policy)
                for event in self._events:
                    self.state.apply(event)
            return error

    def append(self) -> None:
        """Write everything to the storage."""
        if self._events:
            snapshot = self.state.due_snapshot(self._head.events)
            decisions, outcomes = list(self._new.values()), list(self._outcomes.values())
            self._records.append(Batch(self._now, self._next_expiry, self._events, decisions, outcomes, snapshot))

    def _dispatch(self, request: Request) -> Any:
        match request:
            case Ask():
                return self._ask(request.all_keys(GENERATED_KEY_PREFIX), str(request.worker))
            case Tell():
                return self._tell(request)
            case Cancel():
                self._cancel(int(request.decision))  # type: ignore[arg-type]
            case AddArm():
                agent = self.state.agent
                if request.arm in agent.retired:
                    raise ConflictError(
                        f"arm {request.arm!r} was retired; give the new arm another name; nothing was changed"
                    )
                if request.arm not in agent.arms:
                    self._add(EventKind.ARM_ADDED, name=request.arm)
            case RetireArm():
                arm = self.state.agent.number_of(request.arm)
                if request.arm not in self.state.agent.retired:
                    self._add(EventKind.ARM_RETIRED, arm=arm)
            case AcceptClock():
                self._add(EventKind.CLOCK_ACCEPTED)
            case _:
                raise TypeError(f"{request!r} is not a request to a campaign")
        return None

    def _ask(self, keys: list[str], worker: str) -> list[Decision]:
        if any(self._known[key] is None for key in keys):
            self._expire()
        decisions: list[Decision] = []
        for key in keys:
            row = self._known[key]
            if row is None:
                try:
                    row = self._decide(key, worker)
                except (WaitForRewardsError, CampaignOverError):
                    if decisions:
                        break
                    raise
            decisions.append(Decision.from_row(self._current(row), self.state.agent.arms))
        return decisions

    def _decide(self, key: str, worker: str) -> DecisionRow:
        arm, probability = self.state.draw(self._settings.explore)
        number, lease = self.state.decisions + 1, self._settings.lease
        expires = None if lease is None else self._now + lease
        row = DecisionRow(
            number, arm, key, worker, self._now, expires, probability, DecisionState.PENDING.value, None, None
        )
        self._add(EventKind.ASKED, number, arm)
        if self._next_expiry is None:
            self._next_expiry = expires
        self._new[number] = self._known[number] = self._known[key] = row
        return row

    def _tell(self, request: Tell) -> list[SharpeBanditsError | None]:
        refusals: list[SharpeBanditsError | None] = []
        for item in request.checked:
            refusal: SharpeBanditsError | None = None
            if isinstance(item, tuple):
                try:
                    self._tell_one(*item)
                except (ConflictError, UnknownNameError, InvalidInputError) as error:
                    refusal = error
            else:
                refusal = item
            if refusal is not None and request.strict:
                raise refusal
            refusals.append(refusal)
        return refusals

    def _tell_one(self, number: int, reward: float) -> None:
        row = self._decision(number)
        if row.reward is not None:
            if row.reward == reward:
                return
            by_default = " by default, since its lease ran out" if row.state == DecisionState.EXPIRED else ""
            raise ConflictError(
                f"decision {number} has the reward {row.reward!r}{by_default}, but the new reward is {reward!r}; "
                "nothing was changed"
            )
        if row.state == DecisionState.CANCELLED:
            raise ConflictError(f"decision {number} was cancelled and takes no reward; nothing was changed")
        kind = EventKind.REWARDED if row.state == DecisionState.PENDING else EventKind.REWARDED_LATE
        self._add(kind, number, row.arm, reward)
        self._settle(number, DecisionState.REWARDED, reward)

    def _cancel(self, number: int) -> None:
        row = self._decision(number)
        if row.reward is not None:
            raise ConflictError(f"decision {number} has the reward {row.reward!r}; nothing was changed")
        if row.state != DecisionState.CANCELLED:
            kind = EventKind.CANCELLED if row.state == DecisionState.PENDING else EventKind.CANCELLED_LATE
            self._add(kind, number, row.arm)
            self._settle(number, DecisionState.CANCELLED, None)

    def _expire(self) -> None:
        """Expire decisions whose lease has run out."""
        if self._next_expiry is None or self._next_expiry > self._now:
            return
        reward = self._settings.default_reward
        for row in sorted(self._records.pending(until=self._now)):
            if row.number not in self._outcomes:  # else an earlier request in this transaction settled it
                self._add(EventKind.EXPIRED, row.number, row.arm, reward)
                self._settle(row.number, DecisionState.EXPIRED, reward)
        later = self._records.pending(1, after=self._now)
        self._next_expiry = later[0].expires if later else None

    def _add(
        self,
        kind: EventKind,
        number: int | None = None,
        arm: int | None = None,
        reward: float | None = None,
        name: str | None = None,
    ) -> None:
        """Add an event, and apply it."""
        event = Event(self.state.seq + 1, kind.value, number, arm, reward, name, self._now)
        self.state.apply(event)
        self._events.append(event)

    def _settle(self, number: int, state: DecisionState, reward: float | None) -> None:
        self._outcomes[number] = Outcome(number, state.value, reward, self._now)

    def _decision(self, number: int) -> DecisionRow:
        """A decision as it is now."""
        row = self._known[number]
        if row is None:
            raise unknown_decision(number, self._name)
        return self._current(row)

    def _current(self, row: DecisionRow) -> DecisionRow:
        """A decision after what this transaction has done so far."""
        outcome = self._outcomes.get(row.number)
        return row if outcome is None else row._replace(state=outcome.state, reward=outcome.reward, told=outcome.told)

    def _fetch(self, numbers: Iterable[int], keys: Iterable[str]) -> None:
        """Look up all decisions that the requests are about, in one statement for numbers and one for keys."""
        numbers, keys = list(dict.fromkeys(numbers)), list(dict.fromkeys(keys))
        self._known.update(dict.fromkeys([*numbers, *keys]))
        if numbers or keys:
            for row in self._records.decisions(numbers=numbers, keys=keys):
                self._known[row.number] = self._known[row.key] = row


def unknown_decision(number: int, name: str) -> UnknownNameError:
    """The error for a decision that is not in the campaign ``name``."""
    return UnknownNameError(f"there is no decision {number} in the campaign {name!r}; nothing was recorded")
