"""A decision: an arm that was handed out, and its state."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, get_args

#: States of a decision.
State = Literal["pending", "rewarded", "expired", "cancelled"]
PENDING, REWARDED, EXPIRED, CANCELLED = get_args(State)
#: Prefix of the keys that the library generates for decisions without one; no user's key can start with it.
AUTOMATIC = "\n"


@dataclass(frozen=True)
class Decision:
    """An arm that was handed out.

    Attributes
    ----------
    number : int
        of the decision in its campaign, from 1
    arm : Any
        the arm to play
    asked, expires : datetime and datetime | None
        when it was made, and when its lease runs out (None: never); UTC
    probability : float
        with which the arm was chosen
    key : str | None
        idempotency key, if it was asked for with one
    worker : str | None
        who asked
    state : State
        "pending", "rewarded", "expired" or "cancelled"
    reward : float | None
        the reward, if it was told
    told : datetime | None
        when
    """

    number: int
    arm: Any
    asked: datetime
    expires: datetime | None
    probability: float
    key: str | None
    worker: str | None
    state: State
    reward: float | None
    told: datetime | None

    def to_dict(self) -> dict[str, Any]:
        """Plain data, times in ISO 8601."""
        times = {name: getattr(self, name) for name in ("asked", "expires", "told")}
        return {**self.__dict__, **{name: time and time.isoformat() for name, time in times.items()}}


def from_row(row: Any, arms: list[Any]) -> Decision:
    """The decision in a row of the table."""
    return Decision(
        row.number,
        arms[row.arm],
        utc_time(row.asked),
        None if row.expires is None else utc_time(row.expires),
        row.probability,
        given_key(row.key),
        row.worker,
        row.state,
        row.reward,
        None if row.told is None else utc_time(row.told),
    )


def given_key(key: str | None) -> str | None:
    """The key that a user gave, if any."""
    return None if key is None or key.startswith(AUTOMATIC) else key


def utc_time(seconds: float) -> datetime:
    """A time of the database."""
    return datetime.fromtimestamp(seconds, UTC)
