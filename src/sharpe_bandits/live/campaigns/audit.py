"""The hash chain of a log: each event carries the SHA-256 of itself and of the hash before it.

The first event builds on the name and the settings of the campaign. The event of a decision also covers its key,
worker, lease and probability. Events that were logged before a store was upgraded have no hash.
"""

from __future__ import annotations

import hashlib
import json

from .records import DecisionRow, Event

_ENCODER = json.JSONEncoder(separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def first_hash(name: str, settings: str) -> str:
    """What the first event builds on; ``settings`` as the store keeps them."""
    return _sha256([name, settings])


def event_hash(before: str, event: Event, row: DecisionRow | None) -> str:
    """The hash of an event, given the one before; ``row`` is the decision that it makes, if it makes one."""
    made = None if row is None else [row.key, row.worker, row.expires, row.probability]
    return _sha256([before, *event[:-1], made])


def _sha256(content: list[object]) -> str:
    return hashlib.sha256(_ENCODER.encode(content).encode()).hexdigest()
