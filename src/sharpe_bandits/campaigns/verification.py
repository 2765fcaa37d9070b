"""Check that a campaign agrees with its log: the log is replayed from the beginning."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any

import sqlalchemy as sa

from ..errors import SharpeBanditsError, UnreadableDataError
from ..policies.base import Policy
from . import ledger as log
from .answers import Verification
from .database import Database
from .decisions import CANCELLED, EXPIRED, PENDING, REWARDED
from .ledger import KINDS, Event, Ledger
from .schema import campaigns, decisions, events, snapshots
from .settings import Settings

#: States of decisions by number, for one byte each.
_STATES = (PENDING, REWARDED, EXPIRED, CANCELLED)
_RESULT = {
    log.REWARDED: REWARDED,
    log.REWARDED_LATE: REWARDED,
    log.EXPIRED: EXPIRED,
    log.CANCELLED: CANCELLED,
    log.CANCELLED_LATE: CANCELLED,
}
_NAN = float("nan")


def verify(
    database: Database,
    campaign: int,
    settings: Settings,
    policy: Policy,
    propose: Callable[[Ledger], int] | None,
) -> Verification:
    """Replay the log, and compare it with snapshot, counts and decisions; with ``propose``, also with the choices."""
    found = Verification()
    if damage := database.integrity():
        found.add(f"the file is damaged: {damage}; restore it from a copy")
        return found

    def work(connection: sa.Connection) -> None:
        found.events, found.decisions, found.problems = 0, 0, []
        row = connection.execute(sa.select(campaigns).where(campaigns.c.id == campaign)).one()
        snapshot = connection.execute(sa.select(snapshots).where(snapshots.c.campaign == campaign)).one()
        made = _fold(connection, campaign, Ledger.fresh(settings, policy), row, snapshot, propose, found)
        if made is not None:
            _compare(connection, campaign, made, found)

    try:
        database.read(work)
    except UnreadableDataError as error:
        found.add(str(error))
    return found


class _Made:
    """Decisions as the log has them, by number."""

    def __init__(self) -> None:
        self.arm, self.state, self.reward, self.asked = array("i"), array("b"), array("d"), array("d")


def _fold(
    connection: sa.Connection,
    campaign: int,
    ledger: Ledger,
    row: Any,
    snapshot: Any,
    propose: Callable[[Ledger], int] | None,
    found: Verification,
) -> _Made | None:
    """Apply all events; None if the log itself is broken."""
    made = _Made()
    # On a server, statements see different states: events added since the first statement are left out.
    chosen = sa.select(events).where(events.c.campaign == campaign, events.c.seq <= row.events).order_by(events.c.seq)
    clock = row.created
    if snapshot.seq == 0 and not ledger.agrees_with(snapshot.state):
        found.add("the snapshot is not the state before the first event")
    for event in connection.execution_options(yield_per=5000).execute(chosen):
        try:
            if propose is not None and event.kind == log.ASKED and (arm := propose(ledger)) != event.arm:
                found.add(f"event {event.seq}: arm {event.arm} was handed out, but the policy now chooses {arm}")
            ledger.apply(Event(event.seq, event.kind, event.number, event.arm, event.reward, event.name))
            _note(made, event)
        except (SharpeBanditsError, IndexError, TypeError, ValueError) as error:
            found.add(
                f"event {event.seq} ({KINDS[event.kind] if 0 <= event.kind < len(KINDS) else event.kind}): {error}"
            )
            return None
        if event.at < clock and event.kind != log.CLOCK:
            found.add(f"event {event.seq} is earlier than the previous one")
        clock = event.at
        found.events += 1
        if ledger.seq == snapshot.seq and not ledger.agrees_with(snapshot.state):
            found.add(f"the snapshot is not the state after event {snapshot.seq}")
    if ledger.seq != row.events:
        found.add(f"the log has {ledger.seq} events, but the campaign has {row.events}")
    return made


def _note(made: _Made, event: Any) -> None:
    if event.kind == log.ASKED:
        if event.number != len(made.arm) + 1:
            raise ValueError(f"decision {event.number} comes after decision {len(made.arm)}")
        made.arm.append(event.arm)
        made.state.append(_STATES.index(PENDING))
        made.reward.append(_NAN)
        made.asked.append(event.at)
    elif event.kind in _RESULT:
        place = event.number - 1
        allowed = (EXPIRED,) if event.kind in (log.REWARDED_LATE, log.CANCELLED_LATE) else (PENDING,)
        if place < 0 or _STATES[made.state[place]] not in allowed or made.arm[place] != event.arm:
            raise ValueError(f"decision {event.number} was not {' or '.join(allowed)}")
        made.state[place] = _STATES.index(_RESULT[event.kind])
        made.reward[place] = _NAN if event.reward is None else event.reward


def _compare(connection: sa.Connection, campaign: int, made: _Made, found: Verification) -> None:
    """Compare the table of decisions with the log."""
    total = len(made.arm)
    chosen = (
        sa.select(decisions)
        .where(decisions.c.campaign == campaign, decisions.c.number <= total)
        .order_by(decisions.c.number)
    )
    for place, row in enumerate(connection.execution_options(yield_per=5000).execute(chosen)):
        if row.number != place + 1:
            found.add(f"decision {place + 1} is missing")
            return
        found.decisions += 1
        reward = made.reward[place]
        same = row.reward == reward if reward == reward else row.reward is None
        if not same or (row.arm, row.state, row.asked) != (
            made.arm[place],
            _STATES[made.state[place]],
            made.asked[place],
        ):
            found.add(
                f"decision {row.number} does not agree with the log: {row.state}, arm {row.arm}, reward {row.reward}"
            )
    if found.decisions != total:
        found.add(f"there are {found.decisions} decisions, but the log has {total}")
