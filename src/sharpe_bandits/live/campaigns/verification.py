"""Check that a campaign agrees with its log: the log is replayed from the beginning.

The log is a hash chain: each event carries the SHA-256 of itself and of the hash before it. The first event builds on
the name and the settings of the campaign; that of a decision covers its key, worker, lease and probability, too.
"""

from __future__ import annotations

import hashlib
import json
from typing import NamedTuple

from ...errors import SharpeBanditsError, UnreadableDataError
from ...policies.base import Policy
from .records import Decider, DecisionRow, DecisionState, Event, EventKind, Verification, plain_details
from .settings import Settings
from .state import State
from .storage import Records, Storage

#: The state of a decision before an event, and after it.
_STATES: dict[int, tuple[DecisionState, DecisionState]] = {
    EventKind.REWARDED: (DecisionState.PENDING, DecisionState.REWARDED),
    EventKind.REWARDED_LATE: (DecisionState.EXPIRED, DecisionState.REWARDED),
    EventKind.EXPIRED: (DecisionState.PENDING, DecisionState.EXPIRED),
    EventKind.CANCELLED: (DecisionState.PENDING, DecisionState.CANCELLED),
    EventKind.CANCELLED_LATE: (DecisionState.EXPIRED, DecisionState.CANCELLED),
}
_ENCODER = json.JSONEncoder(separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def first_hash(name: str, settings: str) -> str:
    """What the first event builds on; ``settings`` as the store keeps them."""
    return _sha256([name, settings])


def event_hash(before: str, event: Event, row: DecisionRow | None) -> str:
    """The hash of an event, given the one before; ``row`` is the decision that it makes, if it makes one."""
    origin = None if row is None else [row.key, row.worker, row.expires, row.probability]
    return _sha256([before, *event[:-1], origin])


def _sha256(content: list[object]) -> str:
    return hashlib.sha256(_ENCODER.encode(content).encode()).hexdigest()


def next_hash(before: str, event: Event, row: DecisionRow | None, result: Verification) -> str:
    """The hash that the next event of a log should have; if it has another one, the result says so."""
    right = event_hash(before, event, row)
    if event.hash != right:
        result.add(f"event {event.seq}: its hash is not that of the log; the log was changed from here on")
    return right


class _Logged(NamedTuple):
    """A decision as the log has it."""

    arm: int | None
    state: DecisionState
    reward: float | None
    asked: float
    details: str | None


def verify(
    storage: Storage, campaign: int, first_hash: str, settings: Settings, policy: Policy, choices: bool
) -> Verification:
    """Replay the log, and compare it with snapshot, counts and decisions; with ``choices``, also with the policy's."""
    result = Verification()
    if damage := storage.check():
        result.add(f"the file is damaged: {damage}; restore it from a copy")
        return result

    def work(records: Records) -> None:
        result.events, result.decisions, result.problems, result.notes = 0, 0, [], []
        logged = _replay(records, State(settings, policy), first_hash, choices, result)
        if logged is not None:
            _compare(records, logged, result)

    try:
        storage.read(campaign, work)
    except UnreadableDataError as error:
        result.add(str(error))
    return result


def _follow(decisions: list[_Logged], event: Event) -> None:
    """Apply an event to the decisions before it; raises if it contradicts them."""
    place = (event.number or 0) - 1
    if event.kind == EventKind.ASKED:
        decisions.append(_Logged(event.arm, DecisionState.PENDING, None, event.at, event.details))
    elif event.kind in _STATES:
        before, after = _STATES[event.kind]
        if decisions[place][:2] != (event.arm, before):
            raise ValueError(f"decision {event.number} was not {before}")
        decisions[place] = decisions[place]._replace(state=after, reward=event.reward)
    elif event.kind == EventKind.AMENDED:
        details = plain_details(event.details)
        if decisions[place].reward != details["old"]:
            raise ValueError(f"decision {event.number} did not have the reward {details['old']}")
        decisions[place] = decisions[place]._replace(reward=details["new"])


def _replay(
    records: Records, state: State, first_hash: str, choices: bool, result: Verification
) -> list[_Logged] | None:
    """Apply all events; None if the log itself is broken. With ``choices``, compare them with the policy's."""
    logged: list[_Logged] = []
    head, (snapshot_seq, snapshot) = records.head(), records.snapshot()
    policy, clock, last_hash = state.policy, head.created, first_hash
    rows = iter(records.history(1, None))
    uncompared, amended = [], False  # whether a reward was amended since the state was right
    if snapshot_seq == 0 and not state.agrees_with(snapshot):
        result.add("the snapshot is not the state before the first event")
    for event in records.events(0, head.events):
        try:
            kind = EventKind(event.kind)
            if amended and choices and kind == EventKind.ASKED:  # otherwise the state matters only at the end
                state, amended = _amended(records, state), False
            row = next(rows, None) if kind == EventKind.ASKED else None
            if event.seq != state.seq + 1:
                raise ValueError(f"event {state.seq + 1} is missing")
            if kind == EventKind.ASKED and (row is None or row.number != event.number):
                raise ValueError(f"decision {event.number} is missing")
            last_hash = next_hash(last_hash, event, row, result)
            if event.hash != last_hash:
                return None
            if choices and kind == EventKind.ASKED:
                if state.revision == policy.choices_revision:
                    _check_choice(state, event, result)
                else:
                    uncompared.append(event.number)
            if kind == EventKind.AMENDED:
                state.seq, amended = event.seq, True
            else:
                state.apply(event)
            _follow(logged, event)
        except (SharpeBanditsError, IndexError, KeyError, TypeError, ValueError) as error:
            result.add(f"event {event.seq}: {error}")
            return None
        if event.at < clock and kind != EventKind.CLOCK_ACCEPTED:
            result.add(f"event {event.seq} is earlier than the previous one")
        clock = event.at
        result.events += 1
        if amended and event.seq in (snapshot_seq, head.events):
            state, amended = _amended(records, state), False
        if state.seq == snapshot_seq and not state.agrees_with(snapshot):
            result.add(f"the snapshot is not the state after event {snapshot_seq}")
    if state.seq != head.events:
        result.add(f"the log has {state.seq} events, but the campaign has {head.events}")
    if (head.hash or first_hash) != last_hash:
        result.add("the hash of the last event is not that of the campaign")
    if uncompared:
        which = f"{len(uncompared):,} choices of decisions {uncompared[0]} to {uncompared[-1]}"
        result.notes.append(f"{which} were made by another revision of {policy.name}, and are not compared")
    return logged


def _amended(records: Records, state: State) -> State:
    """The state after as many events, with the rewards that were amended until then."""
    return State.replayed(lambda: records.events(0, state.seq), state.settings, state.policy)


def _check_choice(state: State, event: Event, result: Verification) -> None:
    details = plain_details(event.details)
    segment = details.get("segment")
    if details.get("by") in (Decider.EXTERNAL, Decider.HISTORY):
        choice = state.preference(segment) if "choice" in details else None
        agrees, arm = choice == details.get("choice"), choice
    else:
        draw = state.draw(segment, details.get("among"), details.get("without", ()))
        agrees, arm = draw.arm == event.arm and str(draw.by) == details.get("by", Decider.POLICY), draw.arm
    if not agrees:
        result.add(f"event {event.seq}: arm {event.arm} was handed out, but the policy now chooses {arm}")


def _compare(records: Records, logged: list[_Logged], result: Verification) -> None:
    for place, row in enumerate(records.history(1, len(logged))):
        if row.number != place + 1:
            result.add(f"decision {place + 1} is missing")
            return
        result.decisions += 1
        if (row.arm, row.state, row.reward, row.asked, row.details) != logged[place]:
            words = f"decision {row.number} does not agree with the log"
            result.add(f"{words}: {row.state}, arm {row.arm}, reward {row.reward}")
    if result.decisions != len(logged):
        result.add(f"there are {result.decisions} decisions, but the log has {len(logged)}")
