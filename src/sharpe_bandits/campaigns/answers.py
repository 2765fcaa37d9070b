"""What a store and a campaign answer: plain records, for which no database is needed."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from ..metrics import Estimate

if TYPE_CHECKING:
    import pyarrow as pa

#: Problems that a verification lists, at most.
_LISTED = 20


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


@dataclass
class Verification:
    """What verifying a campaign finds.

    Attributes
    ----------
    events, decisions : int, optional
        how many were checked
    problems : list[str], optional
        what does not fit, in words; empty if all is well
    """

    events: int = 0
    decisions: int = 0
    problems: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether all is well."""
        return not self.problems

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        if self.ok:
            return f"all is well: {self.events:,} events lead to the state, and to {self.decisions:,} decisions"
        count = "1 problem" if len(self.problems) == 1 else f"{len(self.problems)} problems"
        return "\n".join([f"{count} in {self.events:,} events:", *self.problems])

    def add(self, problem: str) -> None:
        """Take note of a problem; of very many, the first ones."""
        if len(self.problems) < _LISTED:
            self.problems.append(problem)


def history_schema(named: bool) -> pa.Schema:
    """The columns of a history; arms have names, or numbers."""
    import pyarrow as pa

    text, number, time = pa.string(), pa.float64(), pa.timestamp("us", "UTC")
    return pa.schema({
        "number": pa.int64(), "arm": text if named else pa.int64(), "key": text, "worker": text, "asked": time,
        "expires": time, "probability": number, "state": text, "reward": number, "told": time,
    })  # fmt: skip
