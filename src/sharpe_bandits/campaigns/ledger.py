"""The state derived from a campaign's log: an agent and a few counts. It changes only by applying events."""

from __future__ import annotations

import json
from typing import Any, NamedTuple, get_args

from ..agents import Agent
from ..errors import SharpeBanditsError, UnreadableDataError, shown
from ..files import from_json
from ..policies.base import Policy
from .answers import EventKind
from .settings import Settings

#: Kinds of events by their number in the log.
KINDS: tuple[EventKind, ...] = get_args(EventKind)
ASKED, REWARDED, REWARDED_LATE, EXPIRED, CANCELLED, CANCELLED_LATE, ADDED, RETIRED, CLOCK = range(len(KINDS))


class Event(NamedTuple):
    """An entry of the log."""

    seq: int
    kind: int
    number: int | None = None
    arm: int | None = None
    reward: float | None = None
    name: str | None = None


#: Format of a snapshot. Increased whenever replaying the same log gives a state with different content.
SNAPSHOT_FORMAT = 2


class Ledger:
    """The agent of a campaign and some counts, after a number of events of the log."""

    _COUNTS = ("seq", "decisions", "expired", "cancelled", "unused", "lead_began")

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        #: Number of the last event.
        self.seq = 0
        #: Decisions made; those whose lease ran out and that have no reward so far; cancelled; rewards that the policy
        #: did not use, because another pull had replaced theirs.
        self.decisions, self.expired, self.cancelled, self.unused = 0, 0, 0, 0
        #: Number of the event since which the agent has found the leading arm probably best; 0 if it has not.
        self.lead_began = 0

    @classmethod
    def fresh(cls, settings: Settings, policy: Policy) -> Ledger:
        """The ledger of a new campaign."""
        return cls(policy.agent(settings.arms, horizon=settings.horizon, seed=settings.seed))

    def apply(self, event: Event) -> None:
        """Apply the next event."""
        if event.seq != self.seq + 1:
            raise UnreadableDataError(f"event {self.seq + 1} is missing from the log; restore the store from a copy")
        kind, agent = event.kind, self.agent
        leading = agent.leading
        if kind == ASKED:
            agent.apply_asked(event.arm)
            self.decisions += 1
        elif kind in (REWARDED, REWARDED_LATE, EXPIRED) and event.reward is not None:
            used = agent.apply_rewarded(event.arm, event.reward, pending=kind != REWARDED_LATE)
            self.unused += not used
        elif kind in (EXPIRED, CANCELLED):
            agent.apply_withdrawn(event.arm)
        elif kind == ADDED:
            agent.add_arm(str(event.name))
        elif kind == RETIRED:
            agent.retire_arm(agent.arms[event.arm or 0])
        self.expired += (kind == EXPIRED) - (kind in (REWARDED_LATE, CANCELLED_LATE))
        self.cancelled += kind in (CANCELLED, CANCELLED_LATE)
        self.seq = event.seq
        if agent.leading != leading:
            self.lead_began = 0 if agent.leading is None else event.seq

    def to_json(self) -> str:
        """The whole state as JSON."""
        counts = {name: getattr(self, name) for name in self._COUNTS}
        return json.dumps({"format": SNAPSHOT_FORMAT, **counts, "agent": self.agent.to_json()})

    @classmethod
    def from_json(cls, text: str, settings: Settings, policy: Policy) -> Ledger:
        """The state from :meth:`to_json`. For an older format it is the initial state, and the log must be replayed."""
        state = _parsed(text)
        if state["format"] < SNAPSHOT_FORMAT:
            return cls.fresh(settings, policy)
        if state["format"] > SNAPSHOT_FORMAT:
            raise UnreadableDataError(
                f"the snapshot of the campaign has format {shown(state['format'])}, this version reads up to "
                f"{SNAPSHOT_FORMAT}: it was written by a newer version of the library; upgrade this one to read it"
            )
        try:
            ledger = cls(Agent.from_json(state["agent"]))
            for name in cls._COUNTS:
                setattr(ledger, name, int(state[name]))
        except (KeyError, TypeError, ValueError) as error:
            if isinstance(error, SharpeBanditsError):
                raise
            raise UnreadableDataError(f"the snapshot of the campaign is damaged: {error}") from None
        return ledger

    def agrees_with(self, text: str) -> bool:
        """Whether a snapshot is this state. One of an older format is ignored: the log is replayed instead."""
        return text == self.to_json() or _parsed(text)["format"] < SNAPSHOT_FORMAT


def _parsed(text: str) -> dict[str, Any]:
    """The content of a snapshot, with its format."""
    state = from_json(text, "the snapshot of the campaign")
    if not isinstance(state, dict) or type(state.setdefault("format", 1)) is not int:
        raise UnreadableDataError("the snapshot of the campaign is damaged: not a snapshot; restore it from a copy")
    return state
