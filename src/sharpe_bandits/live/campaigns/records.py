"""Records of campaigns: events, decisions, and the results of methods. They need no database."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple, get_type_hints

from ..._support.names import check_name, csv_cell
from ..._support.validation import finite, positive
from ...errors import InvalidInputError, shown
from ...policies.base import Direction
from ...results.metrics import Estimate

if TYPE_CHECKING:
    import pyarrow as pa

#: Prefix of the keys that the library generates for decisions without one; no user's key can start with it.
GENERATED_KEY_PREFIX = "\n"
_ENCODER = json.JSONEncoder(sort_keys=True, ensure_ascii=False, allow_nan=False)
#: The metric that is the reward itself, and the maximum numbers of tags and of metrics.
REWARD, _MAX_PAIRS = "reward", 20
#: Maximum number of problems that a verification lists.
_MAX_PROBLEMS = 20


class EventKind(IntEnum):
    """What happened, by its number in the log; new kinds are added at the end. "Late" is after the lease ran out."""

    ASKED = 0
    REWARDED = 1
    REWARDED_LATE = 2
    EXPIRED = 3
    CANCELLED = 4
    CANCELLED_LATE = 5
    ARM_ADDED = 6
    ARM_RETIRED = 7
    CLOCK_ACCEPTED = 8
    CHANGED = 9
    AMENDED = 10
    GUARDRAIL = 11
    NOTIFIED = 12
    CHOICES_REVISED = 13
    SEEN = 14

    @property
    def label(self) -> str:
        """The kind in words, such as "rewarded late"."""
        return self.name.lower().replace("_", " ")


class DecisionState(StrEnum):
    """What became of a decision."""

    PENDING = "pending"
    REWARDED = "rewarded"
    EXPIRED = "expired"
    CANCELLED = "cancelled"


class Decider(StrEnum):
    """Who made a decision: the policy, the control arm's share, a fallback while the campaign is paused, somebody else,
    or somebody before the campaign.
    """

    POLICY = "policy"
    CONTROL = "control"
    FALLBACK = "fallback"
    EXTERNAL = "external"
    HISTORY = "history"


class Event(NamedTuple):
    """An event of the log: what happened to which decision, or to which arm (its number, or the name of a new one).

    ``details`` is JSON, and ``hash`` the SHA-256 of the event and of the hash before it (see ``verification.py``).
    """

    seq: int
    kind: int
    number: int | None
    arm: int | None
    reward: float | None
    name: str | None
    at: float
    details: str | None = None
    hash: str | None = None


class DecisionRow(NamedTuple):
    """A decision as a store keeps it: arms are numbers, and times are seconds since 1970.

    ``details`` (those of the event that made it) and ``measures`` (metrics, weight and covariate, told with the
    reward) are JSON.
    """

    number: int
    arm: int
    key: str
    worker: str
    asked: float
    expires: float | None
    probability: float | None
    state: str
    reward: float | None
    told: float | None
    details: str | None = None
    measures: str | None = None


def _column(check: Callable[[Any], Any], kind: type, help: str, pairs: bool = False) -> Any:
    """A column of decisions that users give: text or numbers (``kind``), by name if ``pairs``."""
    return field(default=None, metadata={"check": check, "kind": kind, "help": help, "pairs": pairs})


def check_tags(tags: Any) -> dict[str, str]:
    """Tags, if they are names with values."""
    if not isinstance(tags, Mapping) or len(tags) > _MAX_PAIRS:
        raise InvalidInputError(f'tags are like {{"desk": "NY"}}, at most {_MAX_PAIRS}, got {shown(tags)}')
    return {check_name("the name of a tag", name): check_name("a tag", value) for name, value in tags.items()}


def _check_metrics(metrics: Any) -> dict[str, float]:
    if not isinstance(metrics, Mapping) or len(metrics) > _MAX_PAIRS:
        raise InvalidInputError(f"metrics are numbers by name, at most {_MAX_PAIRS}, got {shown(metrics)}")
    if REWARD in metrics:
        raise InvalidInputError("the reward is told as such, not as a metric")
    return {check_name("a metric", name): finite(f"the metric {name}", x) for name, x in metrics.items()}


@dataclass(kw_only=True)
class Circumstances:
    """Columns that are given when a decision is made. A new one is a field here, or in :class:`Measures`, and one of
    :class:`Decision`; requests, tables, the HTTP API and the command line then have it.
    """

    segment: str | None = _column(
        lambda x: check_name("the name of a segment", x), str, "segment, whose records the campaign may keep apart"
    )
    tags: Mapping[str, str] | None = _column(check_tags, str, "anything to find and to group decisions by", True)


@dataclass(kw_only=True)
class Measures:
    """Columns that are told with the reward."""

    metrics: Mapping[str, float] | None = _column(
        _check_metrics, float, "other measurements, which guardrails may watch", True
    )
    weight: float | None = _column(
        lambda x: positive("weight", x), float, "weight, such as a notional, in weighted means"
    )
    covariate: float | None = _column(
        lambda x: finite("covariate", x), float, "what was seen in the round whichever arm was played"
    )


CIRCUMSTANCES, MEASURES = ({one.name: one.metadata for one in fields(kind)} for kind in (Circumstances, Measures))
#: Columns of several values, by name.
PAIRS = [name for name, about in (CIRCUMSTANCES | MEASURES).items() if about["pairs"]]


def given(columns: Mapping[str, Mapping[str, Any]], values: Mapping[str, Any]) -> dict[str, Any]:
    """The columns that have values, checked."""
    checked = {name: column["check"](values[name]) for name, column in columns.items() if values.get(name) is not None}
    return {name: value for name, value in checked.items() if value != {}}


def with_iso_times(values: dict[str, Any]) -> dict[str, Any]:
    """Values with times in ISO 8601."""
    return {name: x.isoformat() if isinstance(x, datetime) else x for name, x in values.items()}


class Plain:
    """A dataclass that can be written as JSON."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data, times in ISO 8601."""
        return with_iso_times(vars(self))


@dataclass(frozen=True)
class Entry(Plain):
    """A campaign in the list of a store."""

    name: str
    policy: str
    created: datetime
    events: int


@dataclass(frozen=True)
class Decision(Plain):
    """An arm that was handed out.

    Attributes
    ----------
    number : number of the decision in its campaign, from 1
    arm : the arm to play
    asked, expires : when it was made, and when its lease runs out (None: never); UTC
    probability : probability with which the arm was chosen; None if somebody else chose it and did not say
    key : idempotency key, if it was asked for with one
    worker : who asked
    state : "pending", "rewarded", "expired" or "cancelled"
    reward : the reward, if it was told
    told : when it was told
    by : who decided
    choice : what the policy would have chosen, where somebody else decided
    segment, tags : what it was asked for with
    metrics, weight, covariate : what was told with the reward (see :meth:`Campaign.tell`)
    """

    number: int
    arm: Any
    asked: datetime
    expires: datetime | None
    probability: float | None
    key: str | None
    worker: str | None
    state: DecisionState
    reward: float | None
    told: datetime | None
    by: Decider = Decider.POLICY
    choice: Any = None
    segment: str | None = None
    tags: dict[str, str] = field(default_factory=dict)
    metrics: dict[str, float] = field(default_factory=dict)
    weight: float | None = None
    covariate: float | None = None

    def __hash__(self) -> int:
        return hash((self.number, self.arm, self.asked))

    @classmethod
    def from_row(cls, row: DecisionRow, arms: list[Any]) -> Decision:
        """The decision in a row of a store."""
        details = plain_details(row.details)
        choice, columns = details.get("choice"), details | plain_details(row.measures)
        return cls(
            row.number,
            arms[row.arm],
            utc_time(row.asked),
            None if row.expires is None else utc_time(row.expires),
            row.probability,
            user_key(row.key),
            row.worker,
            DecisionState(row.state),
            row.reward,
            None if row.told is None else utc_time(row.told),
            Decider(details.get("by", Decider.POLICY)),
            None if choice is None else arms[choice],
            **{name: columns[name] for name in (*CIRCUMSTANCES, *MEASURES) if name in columns},
        )


def plain_details(text: str | None) -> dict[str, Any]:
    """The details of an event or a decision."""
    return {} if text is None else json.loads(text)


def details_text(details: dict[str, Any]) -> str | None:
    """Details as a store keeps them; None if there are none."""
    return _ENCODER.encode(details) if details else None


def user_key(key: str | None) -> str | None:
    """The key that a user gave, if any."""
    return None if key is None or key.startswith(GENERATED_KEY_PREFIX) else key


def utc_time(seconds: float) -> datetime:
    """The time so many seconds after 1970."""
    return datetime.fromtimestamp(seconds, UTC)


@dataclass(frozen=True)
class LogEntry(Plain):
    """An event of the log.

    Attributes
    ----------
    seq : its number in the log
    kind : what happened, in words: the label of an :class:`EventKind`
    time : when it happened
    decision : number of the decision that it refers to, if any
    arm : the arm that it refers to, if any
    reward : the reward that it refers to, if any
    key, worker : key and worker of the decision
    details : who changed what and why ("by", "set", "why"), and what else is known of the event
    """

    seq: int
    kind: str
    time: datetime
    decision: int | None
    arm: Any
    reward: float | None
    key: str | None
    worker: str | None
    details: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def from_row(cls, event: Event, key: str | None, worker: str | None, arms: list[Any]) -> LogEntry:
        """The entry of an event, with key and worker of its decision."""
        arm = event.name if event.arm is None else arms[event.arm]
        kind, at, details = EventKind(event.kind).label, utc_time(event.at), plain_details(event.details)
        return cls(event.seq, kind, at, event.number, arm, event.reward, user_key(key), worker, details)


@dataclass(frozen=True)
class Evaluation:
    """What another policy would have earned per round.

    Attributes
    ----------
    policy : its name
    rounds, unrewarded : decisions with rewards, which the estimates use, and without
    earned : the mean reward of the campaign
    inverse_propensity, doubly_robust : estimated mean reward of the other policy
    effective_rounds : effective number of rounds of the other policy
    direction : "min" if rewards are costs: all estimates are then those of costs
    objective : the other policy's objective; None if it has none, or one that needs more than mean and variance
    value, self_normalised : its estimated value, doubly robust and by self-normalised weights; larger is better
    value_anytime : time-uniform 95% interval of ``value``
    earned_value : the objective of the campaign's own rewards
    """

    policy: str
    rounds: int
    unrewarded: int
    earned: Estimate
    inverse_propensity: Estimate
    doubly_robust: Estimate
    effective_rounds: float
    direction: Direction = "max"
    objective: str | None = None
    value: Estimate | None = None
    self_normalised: Estimate | None = None
    value_anytime: tuple[float, float] | None = None
    earned_value: Estimate | None = None

    def __str__(self) -> str:
        more = "" if self.value is None else f"; {self.objective} {self.value} (campaign {self.earned_value})"
        verb = "earned" if self.direction == "max" else "cost"
        return (
            f"{self.policy} would have {verb} {self.doubly_robust} per round (doubly robust; inverse propensity "
            f"{self.inverse_propensity}); the campaign {verb} {self.earned}; {self.rounds:,} rewards, "
            f"{self.effective_rounds:,.0f} effective rounds of {self.policy}{more}"
        )


@dataclass
class Verification:
    """The result of verifying a campaign.

    Attributes
    ----------
    events, decisions : number checked
    problems : descriptions of the discrepancies; empty if there are none
    notes : what could not be checked, and why
    """

    events: int = 0
    decisions: int = 0
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether no problem was found."""
        return not self.problems

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        words = f"verified: {self.events:,} events reproduce the state and {self.decisions:,} decisions"
        if n := len(self.problems):
            words = f"{n} problem{'s' if n > 1 else ''} in {self.events:,} events:"
        return "\n".join([words, *self.problems, *self.notes])

    def add(self, problem: str) -> None:
        """Add a problem, up to a maximum number."""
        if len(self.problems) < _MAX_PROBLEMS:
            self.problems.append(problem)


def history_schema(named: bool) -> pa.Schema:
    """The columns of a history: those of a decision, as a store has them in order, then the others.

    Arms are names if ``named``, otherwise numbers; tags and metrics are JSON.
    """
    import pyarrow as pa

    kinds = {
        int: pa.int64(), float: pa.float64(), datetime: pa.timestamp("us", "UTC"),
        Any: pa.string() if named else pa.int64(),
    }  # fmt: skip
    types = {name: getattr(kind, "__args__", [kind])[0] for name, kind in get_type_hints(Decision).items()}
    names = dict.fromkeys([*(name for name in DecisionRow._fields if name in types), *types])
    return pa.schema([(name, kinds.get(types[name], pa.string())) for name in names])


def history_row(decision: Decision) -> dict[str, Any]:
    """A row of a history: tags and metrics are JSON."""
    return vars(decision) | {name: details_text(getattr(decision, name)) for name in PAIRS}


def to_csv(table: pa.Table, header: bool = True) -> bytes:
    """A table as CSV; text that a spreadsheet would read as a formula gets a leading apostrophe."""
    import pyarrow as pa
    import pyarrow.csv

    for place, name in enumerate(table.column_names):
        if pa.types.is_string(table.schema.field(name).type):
            safe = pa.array([csv_cell(value) for value in table[name].to_pylist()], pa.string())
            table = table.set_column(place, name, safe)
    sink = pa.BufferOutputStream()
    pyarrow.csv.write_csv(table, sink, pyarrow.csv.WriteOptions(include_header=header))
    return bytes(sink.getvalue())
