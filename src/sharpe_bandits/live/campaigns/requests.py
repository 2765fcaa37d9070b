"""Requests to a campaign as data: a campaign executes any number of them in one commit."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple

from ..._support.names import check_name
from ..._support.validation import finite, probability, whole
from ...errors import InvalidInputError, SharpeBanditsError, UnknownNameError, UnreadableDataError, shown, unknown
from .records import CIRCUMSTANCES, GENERATED_KEY_PREFIX, MEASURES, Circumstances, Decider, Decision, Measures, given
from .rules import arm_of, checked_changes

#: Maximum number of decisions, or rewards, in one request.
MAX_BATCH = 10_000


def this_process() -> str:
    """Who acts, if nobody is named: host and process."""
    return f"{platform.node()}:{os.getpid()}"


def number_of(decision: Decision | int) -> int:
    """The number of a decision, given as a decision or as a number."""
    return decision.number if isinstance(decision, Decision) else whole("the number of a decision", decision, 1)


def unknown_decision(which: int | str, name: str) -> UnknownNameError:
    """The error for a decision that is not in the campaign ``name``."""
    words = f"with the key {which!r}" if isinstance(which, str) else which
    return UnknownNameError(f"there is no decision {words} in the campaign {name!r}; nothing was recorded")


@dataclass
class Ask(Circumstances):
    """Which arms to play: one decision per key.

    Parameters
    ----------
    keys : idempotency keys of up to 200 characters; None for a decision without one
    worker, among, distinct, segment, tags : as in :meth:`Campaign.ask`; ``distinct`` is true or false
    """

    keys: Sequence[str | None] = (None,)
    worker: str | None = None
    among: Sequence[Any] | None = None
    distinct: bool = False
    #: Part of the keys that are generated, so that a transaction with unknown outcome can be retried.
    token: str = field(default_factory=lambda: secrets.token_hex(12), repr=False, compare=False)

    def __post_init__(self) -> None:
        self.keys = list(self.keys)
        whole("the number of keys", len(self.keys), 1, MAX_BATCH)
        for key in self.keys:
            if key is not None:
                check_name("an idempotency key", key)
        self.worker = check_name("the name of a worker", this_process() if self.worker is None else self.worker)
        if self.among is not None:
            if isinstance(self.among, str) or not isinstance(self.among, Iterable) or not list(self.among):
                raise InvalidInputError(f"among is a list of at least one arm, got {shown(self.among)}")
            self.among = list(self.among)
        given(CIRCUMSTANCES, vars(self))

    def all_keys(self, prefix: str = GENERATED_KEY_PREFIX) -> list[str]:
        """The keys, with generated ones, which start with ``prefix``, for decisions without a key."""
        return [f"{prefix}{self.token}-{i}" if key is None else key for i, key in enumerate(self.keys)]


class Reward(NamedTuple):
    """A reward of the decision with a number or a key, what was measured with it, and rewards seen of other arms."""

    decision: int | str
    reward: float
    measures: dict[str, Any]
    seen: tuple[tuple[Any, float], ...] = ()


@dataclass
class Tell:
    """Rewards of decisions: all or none, or each independently if not ``strict``.

    Parameters
    ----------
    rewards
        decision (or its number, or its key) -> reward, as a mapping or as pairs. Instead of a reward, a mapping
        ``{"reward": 3.1, "metrics": {"error": 0}, "weight": 1e6, "covariate": 0.2, "seen": {"TWAP": 2.9}}``
    strict : whether one refused reward refuses all
    by : who tells, logged with rewards of decisions that somebody else asked for
    """

    rewards: Any
    strict: bool = True
    by: str | None = None
    #: The rewards, or why one is refused.
    checked: list[Reward | SharpeBanditsError] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        pairs: Iterable[Any] = self.rewards.items() if isinstance(self.rewards, Mapping) else self.rewards
        self.rewards = list(pairs)
        whole("the number of rewards", len(self.rewards), 0, MAX_BATCH)
        self.checked = []
        for decision, reward in self.rewards:
            try:
                self.checked.append(_reward(decision, reward))
            except InvalidInputError as error:
                if self.strict:
                    raise
                self.checked.append(error)


def _reward(decision: Any, reward: Any) -> Reward:
    if isinstance(decision, str):
        which: int | str = check_name("an idempotency key", decision)
    else:
        which = number_of(decision)
    more = dict(reward) if isinstance(reward, Mapping) else {"reward": reward}
    if unknown_parts := sorted(map(str, more.keys() - {"reward", "seen", *MEASURES})):
        raise InvalidInputError(f"a reward has {', '.join(MEASURES)} and seen, but no {shown(unknown_parts[0])}")
    x = _signless_zero(f"the reward of decision {shown(which)}", more.get("reward"))
    seen = more.get("seen") or {}
    if not isinstance(seen, Mapping) or len(seen) > MAX_BATCH:
        raise InvalidInputError(f"seen are rewards by arm, got {shown(seen)}")
    others = tuple((arm, _signless_zero(f"the reward seen of {shown(arm)}", value)) for arm, value in seen.items())
    return Reward(which, x, given(MEASURES, more), others)


@dataclass
class Record(Measures, Circumstances):
    """A decision that somebody else made, and its reward if it is known.

    Parameters
    ----------
    arm : the arm that was played
    reward : its reward; it may be told later
    key : idempotency key: recording it again changes nothing
    propensity : probability with which the arm was chosen, if it is known
    worker : who decided (host and process)
    by : who decided: somebody else now, or before the campaign
    instead_of : key of a decision that was asked for and never arrived: it is cancelled if it is pending
    metrics, weight, covariate, segment, tags : as in :class:`Ask` and :class:`Tell`
    """

    arm: Any
    reward: float | None = None
    key: str | None = None
    propensity: float | None = None
    worker: str | None = None
    by: Decider = Decider.EXTERNAL
    instead_of: str | None = None
    token: str = field(default_factory=lambda: secrets.token_hex(12), repr=False, compare=False)

    def __post_init__(self) -> None:
        for key in (self.key, self.instead_of):
            if key is not None:
                check_name("an idempotency key", key)
        if self.reward is not None:
            self.reward = _signless_zero("the reward", self.reward)
        if self.propensity is not None:
            if probability("propensity", self.propensity) == 0:
                raise InvalidInputError("propensity is the probability of the arm that was played, and cannot be 0")
            self.propensity = float(self.propensity)
        self.measures = given(MEASURES, vars(self))
        if self.measures and self.reward is None:
            raise InvalidInputError(f"{', '.join(MEASURES)} belong to a reward; give reward=, or tell them later")
        self.worker = check_name("the name of a worker", this_process() if self.worker is None else self.worker)
        given(CIRCUMSTANCES, vars(self))

    def full_key(self, prefix: str = GENERATED_KEY_PREFIX) -> str:
        """The key, or a generated one."""
        return f"{prefix}{self.token}" if self.key is None else self.key


@dataclass
class RecordAll:
    """Decisions that somebody else made: all of them or none."""

    records: Sequence[Record]


@dataclass
class _Act:
    """Something that somebody does, and why. A field is replaced by the result of its check, if it has one."""

    why: str | None = field(default=None, kw_only=True)
    by: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        self.by = check_name("the name of who acts", this_process() if self.by is None else self.by)
        if self.why is not None:
            check_name("why", self.why, longest=2000)
        for one in fields(self):
            if "check" in one.metadata:
                setattr(self, one.name, one.metadata["check"](getattr(self, one.name)))

    @property
    def who(self) -> dict[str, Any]:
        """Who acts, and why, as details of an event."""
        return {"by": self.by} | ({} if self.why is None else {"why": self.why})


@dataclass
class Cancel(_Act):
    """Cancel a decision that will not be played."""

    decision: Decision | int = field(metadata={"check": number_of})


@dataclass
class Amend(_Act):
    """Correct the reward of a decision: the state becomes what it would have been with this reward from the start."""

    decision: Decision | int = field(metadata={"check": number_of})
    reward: float = field(metadata={"check": lambda x: _signless_zero("the corrected reward", x)})
    #: The state with this reward, before the request, if the log was replayed beforehand; for one use.
    replay: Any = field(default=None, repr=False, compare=False)


@dataclass
class AddArm(_Act):
    """Play one more arm."""

    arm: str = field(metadata={"check": lambda arm: check_name("the name of an arm", arm)})


@dataclass
class RetireArm(_Act):
    """Stop playing an arm."""

    arm: Any


@dataclass
class Change(_Act):
    """Change rules of the campaign, such as ``{"mode": "live", "share": 0.1}``; see
    :class:`~sharpe_bandits.live.campaigns.rules.Rules`.
    """

    rules: Mapping[str, Any] = field(metadata={"check": checked_changes})


@dataclass
class Suspend(_Act):
    """Stop playing an arm for the time being."""

    arm: Any


@dataclass
class Resume(_Act):
    """Play a suspended arm again; without an arm, end the pause of the campaign."""

    arm: Any = None


@dataclass
class Notified:
    """A webhook has received the message about an event; ``seq`` is the number of the event."""

    seq: int


@dataclass
class AcceptClock(_Act):
    """Accept the store's clock as it is now, even though it is before the last event."""


Request = (
    Ask | Tell | Record | RecordAll | Cancel | Amend | AddArm | RetireArm | Change | Suspend | Resume | Notified
    | AcceptClock
)  # fmt: skip


def _signless_zero(name: str, reward: Any) -> float:
    """A finite reward; -0.0 is 0.0, since SQLite does not keep the sign, and the hash of an event has it."""
    return finite(name, reward) + 0.0


#: Columns of decisions that were made before a campaign.
_GIVEN = {name: about for name, about in (MEASURES | CIRCUMSTANCES).items() if not about["pairs"]}
_NUMBERS = ("reward", "propensity", *(name for name, about in _GIVEN.items() if about["kind"] is float))
_COLUMNS = ("arm", "key", "reward", "propensity", *_GIVEN)


def past_records(source: Any, arms: list[Any], columns: Mapping[str, str]) -> list[Record]:
    """A request per row. A row without a key gets one from its content and place, so that it is loaded only once.

    ``columns``: those that have another name in the source.
    """
    records = []
    for place, row in enumerate(_rows(source), 1):
        if not isinstance(row, Mapping) or any(row.get(column) is None for column in columns.values()):
            raise InvalidInputError(f"row {place} needs {' and '.join(columns.values())}, got {shown(row)}")
        cells = {name: row.get(columns.get(name, name)) for name in _COLUMNS}
        values = {name: _number(x) if name in _NUMBERS else x for name, x in cells.items() if x is not None}
        if "key" not in values:
            content = json.dumps([place, {name: str(value) for name, value in sorted(values.items())}])
            values["key"] = f"history-{hashlib.sha256(content.encode()).hexdigest()[:24]}"
        try:
            if (arm := arm_of(arms, values["arm"])) not in arms:
                raise unknown("arm", arm, arms)
            records.append(Record(**{**values, "key": str(values["key"])}, worker="history", by=Decider.HISTORY))
        except (InvalidInputError, UnknownNameError) as error:
            raise type(error)(f"row {place}: {error}; nothing was recorded") from None
    return records


def _number(x: Any) -> Any:
    """A number that a file has as text, since another row of its column is no number."""
    try:
        return float(x) if isinstance(x, str) else x
    except ValueError:
        return x


def _rows(source: Any) -> list[Any]:
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    try:
        if isinstance(source, (str, os.PathLike)):
            source = (pa.csv.read_csv if Path(source).suffix == ".csv" else pa.parquet.read_table)(source)
        if hasattr(source, "__arrow_c_stream__"):  # a table, or a frame of any library
            return pa.table(source).to_pylist()
    except (OSError, TypeError, ValueError) as error:
        raise UnreadableDataError(f"{shown(source)} cannot be read: {error}") from None
    if isinstance(source, Iterable) and not isinstance(source, Mapping):
        return list(source)
    raise InvalidInputError(f"a history is a file, a table, or a list of rows, got {shown(source)}")
