"""The state derived from a campaign's log: an agent and a few counts. It changes only by applying events."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from ..._support.files import from_json
from ...errors import SharpeBanditsError, UnreadableDataError, shown
from ...play.streams import fold, stream_key, uniform
from ...policies.base import Policy
from ..agents import Agent
from .records import Event, EventKind
from .settings import Settings
from .storage import Records

#: Format of a snapshot. Increased whenever replaying the same log gives a state with different content.
SNAPSHOT_FORMAT = 2
#: A snapshot is due each time the log has grown by this many events, or by one event per this many bytes of the
#: snapshot if that is more: this costs little per event, and opening the campaign has few events to apply.
_SNAPSHOT_EVENTS, _SNAPSHOT_BYTES = 64, 200
#: Stream of random numbers that decides when to explore, and which arm.
_EXPLORE = np.uint64(3)


class State:
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
        #: Length of the last snapshot.
        self._snapshot_size = 0

    @classmethod
    def initial(cls, settings: Settings, policy: Policy) -> State:
        """The state of a new campaign."""
        return cls(
            policy.agent(settings.arms, horizon=settings.horizon, seed=settings.seed, direction=settings.direction)
        )

    @classmethod
    def load(cls, records: Records, seq: int, settings: Settings, policy: Policy, state: State | None = None) -> State:
        """The state after event number ``seq``: an earlier ``state`` and the log, or the snapshot and the log.

        ``state`` is changed, and must not be used again if this fails.
        """
        if state is None or state.seq > seq or seq - state.seq > _SNAPSHOT_EVENTS:
            snapshot_seq, text = records.snapshot()
            if state is None or state.seq > seq or snapshot_seq > state.seq:
                state = cls.from_json(text, settings, policy)
            state._snapshot_size = len(text)
        if state.seq < seq:
            for event in records.events(state.seq, seq):
                state.apply(event)
        return state

    def apply(self, event: Event) -> None:
        """Apply the next event."""
        if event.seq != self.seq + 1:
            raise UnreadableDataError(f"event {self.seq + 1} is missing from the log; restore the store from a copy")
        kind, agent = event.kind, self.agent
        leading = agent.leading
        if kind == EventKind.ASKED:
            agent.apply_asked(event.arm)
            self.decisions += 1
        elif event.reward is not None and kind in (EventKind.REWARDED, EventKind.REWARDED_LATE, EventKind.EXPIRED):
            used = agent.apply_rewarded(event.arm, event.reward, pending=kind != EventKind.REWARDED_LATE)
            self.unused += not used
        elif kind in (EventKind.EXPIRED, EventKind.CANCELLED):
            agent.apply_withdrawn(event.arm)
        elif kind == EventKind.ARM_ADDED:
            agent.add_arm(str(event.name))
        elif kind == EventKind.ARM_RETIRED:
            agent.retire_arm(agent.arms[event.arm or 0])
        self.expired += (kind == EventKind.EXPIRED) - (kind in (EventKind.REWARDED_LATE, EventKind.CANCELLED_LATE))
        self.cancelled += kind in (EventKind.CANCELLED, EventKind.CANCELLED_LATE)
        self.seq = event.seq
        if agent.leading != leading:
            self.lead_began = 0 if agent.leading is None else event.seq

    def draw(self, explore: float) -> tuple[int, float]:
        """The arm of the next decision, and the probability with which it is chosen."""
        agent = self.agent
        choice = arm = agent.next_arm()
        if not explore:
            return arm, float(agent.shares(choice)[arm])
        active = agent.active
        with np.errstate(over="ignore"):  # the streams count modulo 2^64
            key = fold(stream_key(np.uint64(agent.seed), _EXPLORE, np.uint64(0)), self.decisions)
            if uniform(key, 0) < explore:
                arm = active[min(int(uniform(key, 1) * len(active)), len(active) - 1)]
        return arm, (1.0 - explore) * float(agent.shares(choice)[arm]) + explore / len(active)

    def due_snapshot(self, before: int) -> str | None:
        """The state as JSON, if a snapshot is due after the log has grown from event number ``before``."""
        due = max(_SNAPSHOT_EVENTS, self._snapshot_size // _SNAPSHOT_BYTES)
        if self.seq // due == before // due:
            return None
        text = self.to_json()
        self._snapshot_size = len(text)
        return text

    def to_json(self) -> str:
        """The whole state as JSON."""
        counts = {name: getattr(self, name) for name in self._COUNTS}
        return json.dumps({"format": SNAPSHOT_FORMAT, **counts, "agent": self.agent.to_json()})

    @classmethod
    def from_json(cls, text: str, settings: Settings, policy: Policy) -> State:
        """The state from :meth:`to_json`. For an older format it is the initial state, and the log must be replayed."""
        content = _parsed(text)
        if content["format"] < SNAPSHOT_FORMAT:
            return cls.initial(settings, policy)
        if content["format"] > SNAPSHOT_FORMAT:
            raise UnreadableDataError(
                f"the snapshot of the campaign has format {shown(content['format'])}, this version reads up to "
                f"{SNAPSHOT_FORMAT}: it was written by a newer version of the library; upgrade this one to read it"
            )
        try:
            state = cls(Agent.from_json(content["agent"]))
            for name in cls._COUNTS:
                setattr(state, name, int(content[name]))
        except (KeyError, TypeError, ValueError) as error:
            if isinstance(error, SharpeBanditsError):
                raise
            raise UnreadableDataError(f"the snapshot of the campaign is damaged: {error}") from None
        return state

    def agrees_with(self, text: str) -> bool:
        """Whether a snapshot is this state. One of an older format is ignored: the log is replayed instead."""
        return text == self.to_json() or _parsed(text)["format"] < SNAPSHOT_FORMAT


def _parsed(text: str) -> dict[str, Any]:
    """The content of a snapshot, with its format."""
    content = from_json(text, "the snapshot of the campaign")
    if not isinstance(content, dict) or type(content.setdefault("format", 1)) is not int:
        raise UnreadableDataError("the snapshot of the campaign is damaged: not a snapshot; restore it from a copy")
    return content
