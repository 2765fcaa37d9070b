"""Results of stores and campaigns: plain records that need no database."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from ..metrics import Estimate

if TYPE_CHECKING:
    import pyarrow as pa

#: Maximum number of problems that a verification lists.
_LISTED = 20


@dataclass(frozen=True)
class Entry:
    """A campaign in the list of a store."""

    name: str
    policy: str
    created: datetime
    events: int


#: Kinds of events, in the order of their numbers in the log; new ones are added at the end. "late": after the lease ran
#: out.
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
        the decision, arm and reward that it refers to, if any
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
        decisions with rewards, which the estimates use
    unrewarded : int
        decisions without one, which are left out
    earned : Estimate
        the mean reward of the campaign
    inverse_propensity, doubly_robust : Estimate
        estimated mean reward of the other policy
    effective_rounds : float
        effective number of rounds of the other policy
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
            f"{self.policy} would have earned {self.doubly_robust} per round (doubly robust; inverse propensity "
            f"{self.inverse_propensity}); the campaign earned {self.earned}; {self.rounds:,} rewards, "
            f"{self.effective_rounds:,.0f} effective rounds of {self.policy}"
        )


@dataclass
class Verification:
    """The result of verifying a campaign.

    Attributes
    ----------
    events, decisions : int, optional
        number checked
    problems : list[str], optional
        descriptions of the discrepancies; empty if there are none
    """

    events: int = 0
    decisions: int = 0
    problems: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether no problem was found."""
        return not self.problems

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        if self.ok:
            return f"verified: {self.events:,} events reproduce the state and {self.decisions:,} decisions"
        count = "1 problem" if len(self.problems) == 1 else f"{len(self.problems)} problems"
        return "\n".join([f"{count} in {self.events:,} events:", *self.problems])

    def add(self, problem: str) -> None:
        """Add a problem, up to a maximum number."""
        if len(self.problems) < _LISTED:
            self.problems.append(problem)


def history_schema(named: bool) -> pa.Schema:
    """The columns of a history; arms are names if ``named``, otherwise numbers."""
    import pyarrow as pa

    text, number, time = pa.string(), pa.float64(), pa.timestamp("us", "UTC")
    return pa.schema({
        "number": pa.int64(), "arm": text if named else pa.int64(), "key": text, "worker": text, "asked": time,
        "expires": time, "probability": number, "state": text, "reward": number, "told": time,
    })  # fmt: skip
