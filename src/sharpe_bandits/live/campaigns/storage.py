"""What keeps campaigns: the protocol that SQLite and PostgreSQL implement here, and anyone's own database may.

A storage knows nothing of bandits: it keeps a log of events per campaign, the decisions that the log tells of, and a
snapshot, which is text. :class:`sharpe_bandits.testing.StorageContract` tests all that campaigns rely on::

    store = sb.Store(MyStorage(...))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, TypeVar

from .records import DecisionRow, Event

T = TypeVar("T")


class CampaignRow(NamedTuple):
    """A campaign: its number in the storage, name, settings (text), time of creation, and number of events."""

    id: int
    name: str
    settings: str
    created: float
    events: int


class Head(NamedTuple):
    """Where a campaign stands."""

    created: float
    events: int
    clock: float  # time of the last event
    next_expiry: float | None  # no lease runs out before; None: no lease does
    now: float  # by the storage's clock
    hash: str | None = None  # of the last event
    jumped: float = 0.0  # seconds by which the clock has jumped forward since the storage last wrote


class Outcome(NamedTuple):
    """The new state of a decision; ``measures`` as in :class:`DecisionRow`."""

    number: int
    state: str
    reward: float | None
    told: float
    measures: str | None = None


@dataclass
class Batch:
    """What a transaction adds to a campaign; ``snapshot`` is the state after the last event, if it is to be kept."""

    clock: float
    next_expiry: float | None
    events: list[Event] = field(default_factory=list)
    decisions: list[DecisionRow] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    snapshot: str | None = None


class Search(NamedTuple):
    """What entries of the log must match: the number of a decision; or one of these kinds or arms, or text that is part
    of a key, a worker or the name of an arm that was added.
    """

    number: int | None
    text: str
    kinds: list[int]
    arms: list[int]


class Records(Protocol):
    """The records of one campaign, inside a transaction."""

    def head(self) -> Head:
        """Where the campaign stands; StoreError if it is no longer there."""

    def snapshot(self) -> tuple[int, str]:
        """The last snapshot, with the number of the last event that it includes; 0 for the initial one."""

    def events(self, after: int, upto: int) -> Iterable[Event]:
        """Events after number ``after``, up to and including ``upto``, in order."""

    def decisions(self, *, numbers: Sequence[int] = (), keys: Sequence[str] = ()) -> list[DecisionRow]:
        """Decisions with these numbers or keys, in any order; unknown ones are left out."""

    def history(self, first: int, last: int | None) -> Iterable[DecisionRow]:
        """Decisions from number ``first`` to ``last`` (None: all), in order."""

    def pending(self, count: int | None = None, *, until: float | None = None) -> list[DecisionRow]:
        """At most ``count`` pending decisions, by the end of their leases, then by number; only leases that end not
        later than ``until``.
        """

    def log(self, before: int | None, count: int, search: Search | None) -> list[tuple[Event, str | None, str | None]]:
        """At most ``count`` events before number ``before`` that match, newest first, with key and worker of the
        decision of each.
        """

    def append(self, batch: Batch) -> None:
        """Add to the campaign; only inside :meth:`Storage.write`, and at most once."""


class Storage(Protocol):
    """A database of campaigns, which any number of threads and processes use at the same time.

    Attributes
    ----------
    name : shown in messages; without secrets
    single_writer : whether campaigns wait for each other's commits
    """

    name: str
    single_writer: bool

    def campaigns(
        self, name: str | None = None, *, search: str = "", after: str = "", count: int | None = None
    ) -> list[CampaignRow]:
        """Campaigns by name: all, or the one with this name; only those whose names contain ``search``, ignoring case,
        and come after ``after``; at most ``count``.
        """

    def create(self, name: str, settings: str, snapshot: str) -> None:
        """Create a campaign with its initial snapshot; nothing changes if there is one with this name."""

    def read(self, campaign: int, work: Callable[[Records], T]) -> T:
        """The result of ``work``, which sees one state of the campaign, whatever others write meanwhile."""

    def write(self, campaign: int, work: Callable[[Records], T]) -> T:
        """The result of ``work``, once what it appended is durable. Only one transaction writes to a campaign at a
        time; if ``work`` raises, nothing changes. It may be called again if a connection is lost, and must allow that.
        """

    def check(self) -> str:
        """What is wrong with the database itself; empty if nothing is known to be."""

    def close(self) -> None:
        """Close all connections; one that is used again opens new ones."""
