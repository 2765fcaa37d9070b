"""How long a decision waits for its reward: "1 day", a number of seconds, or a timedelta."""

from __future__ import annotations

import math
import re
from datetime import timedelta
from typing import Any

from ..errors import InvalidInputError, shown
from ..validation import is_number, real

_UNITS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800}
_TEXT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(second|minute|hour|day|week)s?\s*")
#: Longest lease, in seconds.
_LONGEST = 100 * 366 * 86_400


def seconds(lease: Any) -> float:
    """A lease in seconds."""
    length = math.nan
    if isinstance(lease, str) and (found := _TEXT.fullmatch(lease)):
        length = float(found[1]) * _UNITS[found[2]]
    elif isinstance(lease, timedelta):
        length = lease.total_seconds()
    elif is_number(lease):
        length = real(lease)
    if not 0 < length <= _LONGEST:
        raise InvalidInputError(
            f'a lease is a length of time of up to 100 years, such as "1 day", "90 seconds" or a number of seconds, '
            f"got {shown(lease)}; leave it out if decisions never expire"
        )
    return length
