"""Checksums, by which saved content is known to be what was written."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def checksum(content: dict[str, Any]) -> str:
    """A digest of JSON content, whatever its layout and whether whole numbers are written 6 or 6.0."""
    return hashlib.sha256(json.dumps(_canonical(content), sort_keys=True).encode()).hexdigest()


def _canonical(thing: Any) -> Any:
    if isinstance(thing, dict):
        return {key: _canonical(value) for key, value in thing.items()}
    if isinstance(thing, list):
        return [_canonical(value) for value in thing]
    return int(thing) if isinstance(thing, float) and thing.is_integer() else thing
