"""What a store and a campaign answer: plain records, for which no database is needed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from ..metrics import Estimate


@dataclass(frozen=True)
class Entry:
    """A campaign in the list of a store."""

    name: str
    policy: str
    created: datetime
    events: int


#: What may happen in a campaign, in the order of the numbers that the log has; new ones come at the end. "late": after
#: the lease ran out.
EventKind = Literal[
    "asked", "rewarded", "rewarded late", "expired", "cancelled", "cancelled late", "arm added", "arm retired",
    "clock accepted",
]  # fmt: skip


@dataclass(frozen=True)
class LogEntry:
    """An event of the log.

    Attributes
    ----------
    seq : int
        its number in the log
    kind : EventKind
        what happened
    time : datetime
        when
    decision, arm, reward : int | None and Any and float | None
        what it is about, where it is about one
    key, worker : str | None
        of the decision
    """

    seq: int
    kind: EventKind
    time: datetime
    decision: int | None
    arm: Any
    reward: float | None
    key: str | None
    worker: str | None

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {**self.__dict__, "time": self.time.isoformat()}


@dataclass(frozen=True)
class Evaluation:
    """What another policy would have earned per round.

    Attributes
    ----------
    policy : str
        its name
    rounds : int
        decisions with rewards, which the estimates rest on
    unrewarded : int
        decisions without one, which are left out
    earned : Estimate
        the mean reward of the campaign
    inverse_propensity, doubly_robust : Estimate
        the mean reward of the other policy, estimated
    effective_rounds : float
        as many rounds of the other policy itself would tell as much
    """

    policy: str
    rounds: int
    unrewarded: int
    earned: Estimate
    inverse_propensity: Estimate
    doubly_robust: Estimate
    effective_rounds: float

    def __str__(self) -> str:
        return (
            f"{self.policy} would have earned {self.doubly_robust} per round (doubly robust; by inverse propensity "
            f"{self.inverse_propensity}), the campaign earned {self.earned}; {self.rounds:,} rewards, worth "
            f"{self.effective_rounds:,.0f} rounds of {self.policy}"
        )
