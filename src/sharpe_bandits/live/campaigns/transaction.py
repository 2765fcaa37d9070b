"""A transaction on a campaign: requests are executed on its state, each as if it were on its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import chain
from typing import Any

from ...errors import ConflictError, InvalidInputError, SharpeBanditsError, StoreError
from . import requests
from .records import (
    CIRCUMSTANCES,
    Decider,
    Decision,
    DecisionRow,
    DecisionState,
    Event,
    EventKind,
    details_text,
    given,
    plain_details,
    utc_time,
)
from .rules import arm_of
from .segments import check_free_choice
from .state import State
from .storage import Batch, Head, Outcome, Records
from .verification import event_hash

#: Seconds by which a clock may go back: time stands still until it catches up.
CLOCK_TOLERANCE = 60.0


def clock_refusal(head: Head) -> str | None:
    """Why nothing is recorded while the clock of the storage says what it says, and the remedy; None if it is right."""
    remedy = "nothing is recorded: correct the clock, or if it is right now, call campaign.accept_clock()"
    if head.jumped:
        return f"the clock of the store jumped forward by {head.jumped:,.0f} seconds; {remedy}"
    if head.now < head.clock - CLOCK_TOLERANCE:
        now, last = (f"{utc_time(seconds):%Y-%m-%d %H:%M:%S} UTC" for seconds in (head.now, head.clock))
        return f"the clock says {now}, but the last event was at {last}; {remedy}"
    return None


class Transaction:
    """What requests add to a campaign: events, decisions and outcomes of decisions; ``state`` is changed by them."""

    def __init__(
        self,
        name: str,
        first_hash: str,
        records: Records,
        group: Sequence[requests.Request],
        state_at: Callable[[Head], State],
    ) -> None:
        self._name, self._records, self._requests = name, records, group
        #: Decisions in the storage, and new ones, by number and by key; None if there is none. A server is asked for
        #: these and the head at once.
        self._known = known_decisions(records, group)
        self._head = head = records.head()
        self.state = state_at(head)
        self._settings, self._policy = self.state.settings, self.state.policy
        self._hash = head.hash or first_hash
        clock_accepted = any(isinstance(request, requests.AcceptClock) for request in group)
        if (refusal := clock_refusal(head)) is not None and not clock_accepted:
            raise StoreError(refusal)
        #: Time of this transaction.
        self._now = head.now if clock_accepted else max(head.now, head.clock)
        self._next_expiry = head.next_expiry
        #: What it adds: events, new decisions, and outcomes of decisions, by number.
        self.events: list[Event] = []
        self._new: dict[int, DecisionRow] = {}
        self._outcomes: dict[int, Outcome] = {}

    def execute(self) -> list[Any]:
        """Execute all requests and write what they add to the storage; the result of each, or its error."""
        results = [self._execute(request) for request in self._requests]
        if self.events:
            snapshot = self.state.due_snapshot(self._head.events)
            new, outcomes = list(self._new.values()), list(self._outcomes.values())
            self._records.append(Batch(self._now, self._next_expiry, self.events, new, outcomes, snapshot))
        return results

    def _execute(self, request: requests.Request) -> Any:
        """The result of a request, or the error of this library that it raises; it then has no effect.

        Decisions expire before one is made, whether or not it can be made.
        """
        made = isinstance(request, requests.Record | requests.RecordAll)
        if isinstance(request, requests.Ask) or (made and None in map(self._known.get, _decisions_of(request))):
            self._expire()
        events, new, last_hash = len(self.events), len(self._new), self._hash
        next_expiry, outcomes = self._next_expiry, dict(self._outcomes)
        try:
            return self._dispatch(request)
        except StoreError:
            raise  # of the transaction as a whole
        except SharpeBanditsError as error:
            if len(self.events) > events:
                for row in list(self._new.values())[new:]:
                    self._known[row.number] = self._known[row.key] = None
                    del self._new[row.number]
                del self.events[events:]
                self._next_expiry, self._outcomes, self._hash = next_expiry, outcomes, last_hash
                self._set_state(State.load(self._records, self._head.events, self._settings, self._policy))
            return error

    def _set_state(self, earlier: State | None, amendments: int = 0) -> None:
        """Set the state after the events so far: from an ``earlier`` one that knows of this many amendments after it,
        or by replaying the log if there are others.
        """
        if earlier is not None:
            events = [*self._records.events(earlier.seq, self._head.events), *self.events]
            if sum(event.kind == EventKind.AMENDED for event in events) == amendments:
                for event in events:
                    earlier.apply(event)
                self.state = earlier
                return
        self.state = State.replayed(
            lambda: chain(self._records.events(0, self._head.events), self.events), self._settings, self._policy
        )

    def _dispatch(self, request: requests.Request) -> Any:
        match request:
            case requests.Ask():
                return self._ask(request)
            case requests.Tell():
                return self._tell(request)
            case requests.Record():
                return self._record(request)
            case requests.RecordAll():
                return [self._record(one) for one in request.records]
            case requests.Cancel():
                self._cancel(request)
            case requests.Amend():
                self._amend(request)
            case requests.AddArm():
                if request.arm in self.state.agent.arms:
                    self._unretired(request.arm)
                else:
                    self._add(EventKind.ARM_ADDED, name=request.arm, details=request.who)
            case requests.RetireArm():
                self._retire(request)
            case requests.Change():
                self._change(self._with_arms(request.rules), request.who)
            case requests.Suspend():
                self._suspend(self._unretired(request.arm), request.who)
            case requests.Resume():
                self._resume(request)
            case requests.Notified():
                if request.seq > self.state.notified:
                    self._add(EventKind.NOTIFIED, details={"event": request.seq})
            case requests.AcceptClock():
                self._add(EventKind.CLOCK_ACCEPTED, details=request.who)
            case _:
                raise TypeError(f"{request!r} is not a request to a campaign")
        return None

    def _arm(self, arm: Any) -> Any:
        """An arm as the campaign names it; raises if there is none."""
        own = arm_of(self.state.agent.arms, arm)
        self.state.agent._number_of(own)
        return own

    def _unretired(self, arm: Any) -> Any:
        """As :meth:`_arm`; raises if the arm was retired."""
        own = self._arm(arm)
        if own in self.state.agent.retired:
            raise ConflictError(f"arm {own!r} was retired for good; add one with another name; nothing was changed")
        return own

    def _with_arms(self, rules: Mapping[str, Any]) -> dict[str, Any]:
        """Changes of rules, with arms as the campaign names them."""
        changes = dict(rules)
        for name in ("control", "fallback"):
            if changes.get(name) is not None:
                changes[name] = self._arm(changes[name])
        if "suspended" in changes:
            changes["suspended"] = [self._arm(arm) for arm in changes["suspended"]]
        return changes

    def _change(self, changes: dict[str, Any], act: dict[str, Any]) -> None:
        before = self.state.rules
        rules = replace(before, **changes)
        if rules.mode == "paused" and before.mode != "paused":
            rules = replace(rules, resumes=before.mode)
        if difference := {name: rule for name, rule in asdict(rules).items() if rule != getattr(before, name)}:
            rules.check(self.state.agent, difference)
            self._add(EventKind.CHANGED, details={"set": difference, **act})

    def _resume(self, request: requests.Resume) -> None:
        rules = self.state.rules
        if request.arm is not None:
            arm = self._unretired(request.arm)
            self._change({"suspended": [other for other in rules.suspended if other != arm]}, request.who)
        elif rules.mode == "paused":
            self._change({"mode": rules.resumes}, request.who)

    def _suspend(self, arm: Any, act: dict[str, Any]) -> None:
        if arm not in self.state.rules.suspended:
            self._change({"suspended": [*self.state.rules.suspended, arm]}, act)

    def _retire(self, request: requests.RetireArm) -> None:
        agent = self.state.agent
        arm = agent._number_of(request.arm)
        if request.arm in agent.retired:
            return
        for role in ("control", "fallback"):
            if request.arm == getattr(self.state.rules, role):
                raise ConflictError(f"arm {request.arm!r} is the {role} arm; set {role}= to another one first")
        if not set(self.state.available()) - {arm} and len(agent.active) > 1:
            raise ConflictError(f"all arms but {request.arm!r} are suspended; resume one first")
        self._add(EventKind.ARM_RETIRED, arm=arm, details=request.who)

    def _ask(self, request: requests.Ask) -> list[Decision]:
        among = None if request.among is None else [self.state.agent._number_of(arm) for arm in request.among]
        if among is not None or request.distinct:
            check_free_choice(self._policy, "choose among some of them; leave among= and distinct= out")
        decisions: list[Decision] = []
        for key in request.all_keys():
            row = self._known[key]
            if row is None:
                handed_out = [self.state.agent._number_of(one.arm) for one in decisions] if request.distinct else []
                try:
                    row = self._decide(key, request, among, handed_out)
                except SharpeBanditsError:
                    if decisions:
                        break
                    raise
            elif among is not None and row.arm not in among:
                raise ConflictError(f"{self._owner(key, row)}, which is not among these; ask with another key")
            elif self._current(row).state == DecisionState.CANCELLED:
                raise ConflictError(f"decision {row.number}, with the key {key!r}, was cancelled; ask with another key")
            decisions.append(Decision.from_row(self._current(row), self.state.agent.arms))
        return decisions

    def _decide(self, key: str, request: requests.Ask, among: list[int] | None, handed_out: list[int]) -> DecisionRow:
        if self.state.revision != self._policy.choices_revision:
            revision = {"from": self.state.revision, "to": self._policy.choices_revision}
            self._add(EventKind.CHOICES_REVISED, details=revision)
        draw = self.state.draw(request.segment, among, handed_out)
        details, rules = given(CIRCUMSTANCES, vars(request)), self.state.rules
        if among is not None:
            details["among"] = among
        if handed_out:
            details["without"] = handed_out
        if draw.by != Decider.POLICY:
            details |= {"by": str(draw.by), "choice": draw.choice}
        if rules.control is not None and 0 < rules.policy_share < 1:
            details |= {"by": str(draw.by), "share": rules.policy_share}
        return self._new_row(key, str(request.worker), draw.arm, draw.probability, details)

    def _new_row(
        self, key: str, worker: str, arm: int, probability: float | None, details: dict[str, Any]
    ) -> DecisionRow:
        number, lease = self.state.decisions + 1, self._settings.lease
        expires = None if lease is None else self._now + lease
        details = {name: value for name, value in details.items() if value is not None}
        row = DecisionRow(
            number, arm, key, worker, self._now, expires, probability, DecisionState.PENDING.value, None, None,
            details_text(details),
        )  # fmt: skip
        self._add(EventKind.ASKED, number, arm, details=details, row=row)
        if self._next_expiry is None:
            self._next_expiry = expires
        self._new[number] = self._known[number] = self._known[key] = row
        return row

    def _record(self, request: requests.Record) -> Decision:
        check_free_choice(self._policy, "learn from decisions of others")
        arm, key = self.state.agent._number_of(self._arm(request.arm)), request.full_key()
        missed = None if request.instead_of is None else self._known[request.instead_of]
        if missed is not None and self._current(missed).state == DecisionState.PENDING:
            why = f"arm {request.arm!r} was played instead"
            self._cancel(requests.Cancel(missed.number, why=why, by=request.worker))
        row = self._known[key]
        if row is None:
            details = {"by": str(request.by), **given(CIRCUMSTANCES, vars(request))}
            if request.by == Decider.EXTERNAL and arm in self.state.agent.active:
                details["choice"] = self.state.preference(request.segment)
            row = self._new_row(key, str(request.worker), arm, request.propensity, details)
        elif row.arm != arm:
            raise ConflictError(f"{self._owner(key, row)}; nothing was recorded")
        if request.reward is not None:
            self._tell_one(requests.Reward(row.number, request.reward, request.measures))
        return Decision.from_row(self._current(row), self.state.agent.arms)

    def _owner(self, key: str, row: DecisionRow) -> str:
        return f"the key {key!r} belongs to decision {row.number}, of arm {self.state.agent.arms[row.arm]!r}"

    def _tell(self, request: requests.Tell) -> list[SharpeBanditsError | None]:
        refusals: list[SharpeBanditsError | None] = []
        for item in request.checked:
            try:
                if isinstance(item, SharpeBanditsError):
                    raise item
                self._tell_one(item, request.by)
                refusals.append(None)
            except SharpeBanditsError as error:
                if request.strict:
                    raise
                refusals.append(error)
        return refusals

    def _tell_one(self, told: requests.Reward, by: str | None = None) -> None:
        row, reward = self._decision(told.decision), told.reward
        number = row.number
        if row.reward is not None:
            if row.reward == reward and (not told.measures or row.measures == details_text(told.measures)):
                return
            by_default = " by default, since its lease ran out" if row.state == DecisionState.EXPIRED else ""
            more = " with other metrics, another weight or covariate" if row.reward == reward else ""
            raise ConflictError(
                f"decision {number} has the reward {row.reward!r}{by_default}, but the new reward is {reward!r}{more}; "
                "nothing was changed: amend(number, reward) corrects a wrong one"
            )
        if row.state == DecisionState.CANCELLED:
            raise ConflictError(f"decision {number} was cancelled and takes no reward; nothing was changed")
        covariate = told.measures.get("covariate")
        self.state.agent._check_covariate(covariate)
        for watch in self.state.watches:
            x = told.measures.get("metrics", {}).get(watch.guardrail.metric)
            if watch.guardrail.kind == "rate" and x is not None and not 0 <= x <= 1:
                raise InvalidInputError(f"{watch.guardrail.metric}, a rate, must lie between 0 and 1, got {x!r}")
        seen = self._seen_arms(row, told)
        kind = EventKind.REWARDED if row.state == DecisionState.PENDING else EventKind.REWARDED_LATE
        teller = {} if by in (None, row.worker) else {"by": by}
        self._add(kind, number, row.arm, reward, details=told.measures | self._rewarded(row) | teller)
        for arm, x in seen.items():
            details = {"decision": number, **({} if covariate is None else {"covariate": covariate})}
            self._add(EventKind.SEEN, arm=arm, reward=x, details=details | self._segment(row))
        self._settle(number, DecisionState.REWARDED, reward, details_text(told.measures))
        self._watch(row.arm)

    def _seen_arms(self, row: DecisionRow, told: requests.Reward) -> dict[int, float]:
        """Rewards that were seen of arms that were not played, by number."""
        agent = self.state.agent
        seen = {agent._number_of(self._arm(arm)): x for arm, x in told.seen}
        if row.arm in seen:
            raise InvalidInputError(f"arm {agent.arms[row.arm]!r} was played: its reward is told, not seen")
        if seen:
            check_free_choice(self._policy, "use rewards of other arms; leave seen= out")
            if agent.horizon is not None:
                raise InvalidInputError("rewards seen are rounds of no budget; leave seen= out in one with a horizon")
        return seen

    def _watch(self, arm: int) -> None:
        """Act on guardrails that are broken after a reward of an arm."""
        for place, key, seen in self.state.breaches(arm):
            guardrail = self.state.watches[place].guardrail
            act, name = {"by": "guardrail", "why": f"{guardrail}; seen {seen}"}, self.state.agent.arms[arm]
            details = {"guardrail": place, "key": key, "why": act["why"]}
            self._add(EventKind.GUARDRAIL, arm=None if key < 0 else key, details=details)
            others, rules = set(self.state.available()) - {arm}, self.state.rules
            if guardrail.action == "control":
                self._change({"mode": "shadow"} if rules.mode == "live" else {}, act)
            elif guardrail.action == "suspend" and (others or name in rules.suspended):
                self._suspend(name, act)
            else:  # the last arm cannot be suspended
                self._change({"mode": "paused"}, act)

    def _amend(self, request: requests.Amend) -> None:
        row = self._decision(int(request.decision))  # type: ignore[arg-type]
        if row.reward is None:
            raise ConflictError(f"decision {row.number} is {row.state} and has no reward to amend; tell it instead")
        if row.reward != request.reward:
            details = {"old": row.reward, "new": request.reward, **request.who}
            self._add(EventKind.AMENDED, row.number, row.arm, details=details)
            replay, request.replay = request.replay, None
            self._set_state(replay, 1)
            told = row.told or self._now
            self._outcomes[row.number] = Outcome(row.number, row.state, request.reward, told, row.measures)
            self._watch(row.arm)

    def _cancel(self, request: requests.Cancel) -> None:
        row = self._decision(int(request.decision))  # type: ignore[arg-type]
        if row.reward is not None:
            raise ConflictError(f"decision {row.number} has the reward {row.reward!r}; nothing was changed")
        if row.state != DecisionState.CANCELLED:
            kind = EventKind.CANCELLED if row.state == DecisionState.PENDING else EventKind.CANCELLED_LATE
            self._add(kind, row.number, row.arm, details=request.who | self._segment(row))
            self._settle(row.number, DecisionState.CANCELLED)

    def _segment(self, row: DecisionRow) -> dict[str, Any]:
        """The segment of a decision, where segments have records of their own."""
        segment = None if self._settings.segments == "none" else plain_details(row.details).get("segment")
        return {} if segment is None else {"segment": segment}

    def _rewarded(self, row: DecisionRow) -> dict[str, Any]:
        """Where the reward of a decision counts: policy against control, or what the policy would have done."""
        details, counts = plain_details(row.details), self._segment(row)
        if "share" in details:
            counts["tally"] = details["by"]
        elif details.get("by") == Decider.EXTERNAL and details.get("choice") is not None:
            counts["choice"] = details["choice"]
            if row.probability is not None:
                counts["propensity"] = row.probability
        return counts

    def _expire(self) -> None:
        if self._next_expiry is None or self._next_expiry > self._now:
            return
        reward = self._settings.default_reward
        overdue = self._records.pending(until=self._now)
        for row in sorted(overdue):
            if row.number not in self._outcomes:  # else an earlier request in this transaction settled it
                details = self._segment(row) if reward is None else self._rewarded(row)
                self._add(EventKind.EXPIRED, row.number, row.arm, reward, details=details)
                self._settle(row.number, DecisionState.EXPIRED, reward)
                if reward is not None:
                    self._watch(row.arm)
        later = self._records.pending(len(overdue) + 1)[len(overdue) :]
        self._next_expiry = later[0].expires if later else None

    def _add(
        self,
        kind: EventKind,
        number: int | None = None,
        arm: int | None = None,
        reward: float | None = None,
        *,
        details: dict[str, Any],
        name: str | None = None,
        row: DecisionRow | None = None,
    ) -> None:
        """Add an event, and apply it; ``row`` is the decision that it makes, if it makes one."""
        event = Event(self.state.seq + 1, kind.value, number, arm, reward, name, self._now, details_text(details))
        self.state.apply(event)
        self._hash = event_hash(self._hash, event, row)
        self.events.append(event._replace(hash=self._hash))

    def _settle(self, number: int, state: str, reward: float | None = None, measures: str | None = None) -> None:
        self._outcomes[number] = Outcome(number, str(state), reward, self._now, measures)

    def _decision(self, which: int | str) -> DecisionRow:
        """A decision, by number or key, as it is now."""
        row = self._known[which]
        if row is None:
            raise requests.unknown_decision(which, self._name)
        return self._current(row)

    def _current(self, row: DecisionRow) -> DecisionRow:
        """A decision after what this transaction has done so far."""
        outcome = self._outcomes.get(row.number)
        return row if outcome is None else row._replace(**outcome._asdict())


def known_decisions(records: Records, group: Sequence[requests.Request]) -> dict[int | str, DecisionRow | None]:
    """The decisions that the requests are about, by number and by key; None if there is none."""
    known: dict[int | str, DecisionRow | None] = dict.fromkeys(chain(*map(_decisions_of, group)))
    numbers = [one for one in known if isinstance(one, int)]
    keys = [one for one in known if isinstance(one, str)]
    for row in records.decisions(numbers=numbers, keys=keys) if known else ():
        known[row.number] = known[row.key] = row
    return known


def _decisions_of(request: requests.Request) -> list[int | str]:
    """Numbers and keys of the decisions that a request is about."""
    match request:
        case requests.Ask():
            return [*request.all_keys()]
        case requests.Tell():
            return [one.decision for one in request.checked if isinstance(one, requests.Reward)]
        case requests.Record():
            return [request.full_key(), *([] if request.instead_of is None else [request.instead_of])]
        case requests.RecordAll():
            return [key for one in request.records for key in _decisions_of(one)]
        case requests.Cancel() | requests.Amend():
            return [int(request.decision)]  # type: ignore[arg-type]
        case _:
            return []
