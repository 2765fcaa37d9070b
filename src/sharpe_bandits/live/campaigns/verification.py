"""Check that a campaign agrees with its log: the log is replayed from the beginning."""

from __future__ import annotations

from array import array

from ...errors import SharpeBanditsError, UnreadableDataError
from ...policies.base import Policy
from .records import DecisionState, Event, EventKind, Verification
from .settings import Settings
from .state import State
from .storage import Records, Storage

#: States of decisions by number, for one byte each.
_STATES = tuple(DecisionState)
_RESULT = {
    EventKind.REWARDED: DecisionState.REWARDED,
    EventKind.REWARDED_LATE: DecisionState.REWARDED,
    EventKind.EXPIRED: DecisionState.EXPIRED,
    EventKind.CANCELLED: DecisionState.CANCELLED,
    EventKind.CANCELLED_LATE: DecisionState.CANCELLED,
}
_NAN = float("nan")


def verify(storage: Storage, campaign: int, settings: Settings, policy: Policy, choices: bool) -> Verification:
    """Replay the log, and compare it with snapshot, counts and decisions; with ``choices``, also with the policy's."""
    result = Verification()
    if damage := storage.check():
        result.add(f"the file is damaged: {damage}; restore it from a copy")
        return result

    def work(records: Records) -> None:
        result.events, result.decisions, result.problems = 0, 0, []
        logged = _replay(records, State.initial(settings, policy), settings.explore if choices else None, result)
        if logged is not None:
            _compare(records, logged, result)

    try:
        storage.read(campaign, work)
    except UnreadableDataError as error:
        result.add(str(error))
    return result


class _LoggedDecisions:
    """Decisions as the log has them, by number."""

    def __init__(self) -> None:
        self.arm, self.state, self.reward, self.asked = array("i"), array("b"), array("d"), array("d")

    def apply(self, event: Event) -> None:
        """Apply an event; raises if it contradicts earlier ones."""
        if event.kind == EventKind.ASKED:
            if event.number != len(self.arm) + 1:
                raise ValueError(f"decision {event.number} comes after decision {len(self.arm)}")
            self.arm.append(event.arm or 0)
            self.state.append(_STATES.index(DecisionState.PENDING))
            self.reward.append(_NAN)
            self.asked.append(event.at)
        elif event.kind in _RESULT:
            place = (event.number or 0) - 1
            late = event.kind in (EventKind.REWARDED_LATE, EventKind.CANCELLED_LATE)
            before = DecisionState.EXPIRED if late else DecisionState.PENDING
            if place < 0 or _STATES[self.state[place]] != before or self.arm[place] != event.arm:
                raise ValueError(f"decision {event.number} was not {before}")
            self.state[place] = _STATES.index(_RESULT[EventKind(event.kind)])
            self.reward[place] = _NAN if event.reward is None else event.reward


def _replay(records: Records, state: State, explore: float | None, result: Verification) -> _LoggedDecisions | None:
    """Apply all events; None if the log itself is broken. With ``explore``, check all choices."""
    logged, head, (snapshot_seq, snapshot) = _LoggedDecisions(), records.head(), records.snapshot()
    clock = head.created
    if snapshot_seq == 0 and not state.agrees_with(snapshot):
        result.add("the snapshot is not the state before the first event")
    for event in records.events(0, head.events):
        try:
            kind = EventKind(event.kind)
            if explore is not None and kind == EventKind.ASKED and (arm := state.draw(explore)[0]) != event.arm:
                result.add(f"event {event.seq}: arm {event.arm} was handed out, but the policy now chooses {arm}")
            state.apply(event)
            logged.apply(event)
        except (SharpeBanditsError, IndexError, TypeError, ValueError) as error:
            result.add(f"event {event.seq}: {error}")
            return None
        if event.at < clock and kind != EventKind.CLOCK_ACCEPTED:
            result.add(f"event {event.seq} is earlier than the previous one")
        clock = event.at
        result.events += 1
        if state.seq == snapshot_seq and not state.agrees_with(snapshot):
            result.add(f"the snapshot is not the state after event {snapshot_seq}")
    if state.seq != head.events:
        result.add(f"the log has {state.seq} events, but the campaign has {head.events}")
    return logged


def _compare(records: Records, logged: _LoggedDecisions, result: Verification) -> None:
    """Compare the table of decisions with the log."""
    total = len(logged.arm)
    for place, row in enumerate(records.history(1, total)):
        if row.number != place + 1:
            result.add(f"decision {place + 1} is missing")
            return
        result.decisions += 1
        reward = logged.reward[place]
        same = row.reward == reward if reward == reward else row.reward is None
        expected = logged.arm[place], _STATES[logged.state[place]], logged.asked[place]
        if not same or (row.arm, row.state, row.asked) != expected:
            result.add(
                f"decision {row.number} does not agree with the log: {row.state}, arm {row.arm}, reward {row.reward}"
            )
    if result.decisions != total:
        result.add(f"there are {result.decisions} decisions, but the log has {total}")
