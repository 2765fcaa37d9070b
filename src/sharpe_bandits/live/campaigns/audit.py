"""The hash chain of a log: each event carries the SHA-256 of itself and of the hash before it.

The first event builds on the name and the settings of the campaign. The event of a decision also covers its key,
worker, lease and probability. Events that were logged before a store was upgraded have no hash.
"""

from __future__ import annotations

import hashlib
import json

from .records import DecisionRow, Event, Verification

_ENCODER = json.JSONEncoder(separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def first_hash(name: str, settings: str) -> str:
    """What the first event builds on; ``settings`` as the store keeps them."""
    return _sha256([name, settings])


def event_hash(before: str, event: Event, row: DecisionRow | None) -> str:
    """The hash of an event, given the one before; ``row`` is the decision that it makes, if it makes one."""
    origin = None if row is None else [row.key, row.worker, row.expires, row.probability]
    return _sha256([before, *event[:-1], origin])


class Chain:
    """Follows the hashes of a log, event by event; ``first`` is what the first one builds on."""

    def __init__(self, first: str) -> None:
        self._first = self._last = first
        self._events = self._unchained = 0

    def check(self, event: Event, row: DecisionRow | None, result: Verification) -> bool:
        """Whether the next event has the right hash; if not, the result says so."""
        self._events += 1
        if event.hash is None and self._last == self._first:
            self._unchained += 1
        elif event.hash != (last := event_hash(self._last, event, row)):
            result.add(f"event {event.seq}: its hash is not that of the log; the log was changed from here on")
            return False
        else:
            self._last = last
        return True

    def end(self, last_hash: str | None, result: Verification) -> None:
        """Compare the hash that the campaign has; events without one are noted."""
        if self._unchained < self._events and last_hash != self._last:
            result.add("the hash of the last event is not that of the campaign")
        if self._unchained:
            words = "were logged before the hash chain, and are not covered by it"
            result.notes.append(f"events 1 to {self._unchained} {words}")


def _sha256(content: list[object]) -> str:
    return hashlib.sha256(_ENCODER.encode(content).encode()).hexdigest()
