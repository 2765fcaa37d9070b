"""A store: a database of campaigns."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any, Unpack

from ..._support.names import check_name
from ..._support.plain_data import from_plain
from ...errors import ConflictError, InvalidInputError, UnreadableDataError, shown, unknown
from ...policies.base import Policy
from .campaign import Campaign
from .postgresql import PostgreSQL
from .records import Entry, Verification, utc_time
from .rules import CHECKS
from .settings import Options, Settings, checked
from .sqlite import SQLite, Synchronous
from .state import State
from .storage import CampaignRow, Storage


class Store:
    """A database of campaigns: an SQLite file, or PostgreSQL for many machines.

    Any number of threads and processes may use one database at the same time. A store may be shared between threads
    and survives a fork.

    Parameters
    ----------
    target
        path of an SQLite file (created if missing), a URL ``postgresql://user@host/database``, or your own
        :class:`~sharpe_bandits.live.campaigns.storage.Storage`
    timeout : seconds to wait for other writers, or for a server to come back, before :class:`StoreError` is raised
    synchronous
        of SQLite. "FULL": acknowledged transactions survive a power failure. "NORMAL" is many times faster and may lose
        the last transactions in a power failure (but never in a crash of the program)
    create : whether to create a store if there is none

    Examples
    --------
    >>> import tempfile, sharpe_bandits as sb
    >>> folder = tempfile.TemporaryDirectory()
    >>> store = sb.Store(f"{folder.name}/campaigns.db")
    >>> campaign = store.campaign("desks", policy=sb.ScaleFreeUCB(L=1e-5), arms=["momentum", "carry"])
    >>> decision = campaign.ask(key="order-4711")
    >>> decision.arm
    'momentum'
    >>> campaign.tell(decision, 0.012)
    >>> store.close(); folder.cleanup()
    """

    def __init__(
        self,
        target: str | os.PathLike[str] | Storage,
        *,
        timeout: float = 30.0,
        synchronous: Synchronous = "FULL",
        create: bool = True,
    ) -> None:
        self._storage = _storage(target, timeout, synchronous, create)

    def __repr__(self) -> str:
        return f"<store {self._storage.name}>"

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections. A store that is used again opens new ones."""
        self._storage.close()

    @property
    def name(self) -> str:
        """The path or URL, without secrets."""
        return self._storage.name

    @property
    def single_writer(self) -> bool:
        """Whether campaigns wait for each other's commits, as in an SQLite file."""
        return self._storage.single_writer

    def campaigns(self, search: str = "", *, after: str = "", count: int | None = None) -> list[Entry]:
        """Campaigns by name.

        Parameters
        ----------
        search : only those whose names contain this, ignoring case
        after : only those that come after this name
        count : at most this many
        """
        rows = self._storage.campaigns(search=search, after=after, count=count)
        return [Entry(row.name, _policy_name(row.settings), utc_time(row.created), row.events) for row in rows]

    def ping(self) -> None:
        """Raise :class:`StoreError` if the database does not answer, or can only be read."""
        getattr(self._storage, "ping", self._storage.campaigns)()

    def copy_to(self, target: Store, names: Iterable[str] = ()) -> dict[str, Verification]:
        """Copy campaigns to another store, such as from SQLite to PostgreSQL, and verify the copies.

        A copy has the settings, decisions, keys, rewards and the whole log with its hash chain, including events that
        were archived; each is taken at one moment. Nothing is copied if a name is in use there. Workers go on with the
        old store until they are told to use the new one: stop them first.

        Parameters
        ----------
        target : where to copy to
        names : the campaigns; all by default
        """
        campaigns = {row.name: row for row in self._storage.campaigns()}
        selection = list(names) or list(campaigns)
        adopt = getattr(target._storage, "adopt", None)
        if adopt is None:
            raise InvalidInputError(f"{target.name} cannot take copies: its storage has no adopt()")
        for name in selection:
            self.campaign(name)  # raises if there is none, or its policy is not defined
            if target._find(name) is not None:
                raise _in_use(name, target)
        results = {}
        for name in selection:
            if not self._storage.read(campaigns[name].id, lambda records, row=campaigns[name]: adopt(row, records)):  # type: ignore[misc]
                raise _in_use(name, target)
            results[name] = target.campaign(name).verify()
        return results

    def campaign(
        self,
        name: str,
        *,
        policy: Policy | None = None,
        arms: int | Iterable[str] | None = None,
        **options: Unpack[Options],
    ) -> Campaign:
        """Open the campaign with this name, or create it if it does not exist and ``policy`` and ``arms`` are given.

        Given settings must be those that the campaign was created with; otherwise
        :class:`~sharpe_bandits.errors.ConflictError` says where they differ. Omitted settings are not compared. Arms
        may be those that it started with, or all that it has now.

        Parameters
        ----------
        name : name of the campaign
        policy
            any policy of the library, or your own (it must be defined, unchanged, whenever the campaign is opened)
        arms : names of the arms, or their number
        **options
            the other settings: ``horizon``, the number of rounds, if the policy needs it or the campaign should end;
            ``seed`` of the policy's own randomness (0); ``lease``, how long a decision waits for its reward ("1 day",
            seconds, or a timedelta), after which it is no longer pending, though late rewards are accepted;
            ``default_reward`` of a decision whose lease runs out (none); ``explore``, the probability of a uniformly
            drawn arm (0), so that :meth:`Campaign.evaluate` can judge other policies; ``direction``, "min" if rewards
            are costs; ``segments``, what decisions with a ``segment=`` are based on: all rewards ("none"), those of the
            segment ("separate"), or those and what other segments tell, as far as they are alike ("pooled"). Rules that
            :meth:`Campaign.set` can change later: ``mode``, "live", "shadow" (others decide, and the policy is logged
            beside them) or "paused"; ``share``, the probability with which the policy decides (1), where the rest goes
            to the arm ``control``; ``fallback``, the arm that asks get while the campaign is paused (none: they are
            refused); ``bounds`` on the shares of arms in the policy's decisions, such as ``{"A": (0.05, 0.5)}``;
            ``guardrails``, a list of :class:`~sharpe_bandits.live.campaigns.Guardrail`; ``webhook``, an address that
            hears of them
        """
        check_name("the name of a campaign", name)
        given = checked(policy, arms, options)
        row = self._find(name)
        if row is None:
            if "policy" not in given or "arms" not in given:
                raise unknown("campaign", name, [entry.name for entry in self.campaigns(count=1000)])
            settings = Settings.create(**given)
            initial = State(settings, given["policy"])
            initial.rules.check(initial.agent, CHECKS)
            self._storage.create(name, settings.to_json(), initial.to_json())
            row = self._find(name)
            assert row is not None
        settings = Settings.from_json(row.settings)
        recorded = from_plain("policy", settings.policy)  # raises if a user's own policy has changed, or is not defined
        campaign = Campaign(self._storage, row, settings, given.get("policy", recorded))
        settings.check_same(name, lambda: campaign.arms, given)
        return campaign

    def _find(self, name: str) -> CampaignRow | None:
        return next(iter(self._storage.campaigns(name)), None)


def back_up(store: Store, out: Path) -> dict[str, Verification]:
    """Copy all campaigns to an SQLite file that does not exist yet, while the store is in use: files that are copied
    meanwhile would be damaged. Archived events are included, and each campaign is as it was at one moment.
    """
    if out.exists():
        raise InvalidInputError(f"{out} exists; choose another file, or remove it first")
    part = out.with_name(f"{out.name}.part")
    part.unlink(missing_ok=True)
    try:
        with Store(part) as copy:
            results = store.copy_to(copy)
        with closing(sqlite3.connect(part)) as connection:
            connection.execute("PRAGMA journal_mode=DELETE")  # one file, which can be read from anywhere
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.replace(out)
    finally:
        for end in ("", "-wal", "-shm"):
            Path(f"{part}{end}").unlink(missing_ok=True)
    return results


def _in_use(name: str, target: Store) -> ConflictError:
    return ConflictError(f"there is a campaign {name!r} in {target.name}, which stays as it is; copy to another store")


def _storage(target: Any, timeout: float, synchronous: Synchronous, create: bool) -> Storage:
    """The storage at a path or URL: the only place that asks which kind it is."""
    if hasattr(target, "single_writer"):
        return target
    text = os.fspath(target) if isinstance(target, (str, os.PathLike)) else target
    if not isinstance(text, str) or not text or "\0" in text or text == ":memory:":
        raise InvalidInputError(
            f"a store is a file's path or a URL like postgresql://user@host/database, got {shown(target)}"
        )
    return PostgreSQL(text, timeout, create) if "://" in text else SQLite(text, timeout, synchronous, create)


def _policy_name(settings: str) -> str:
    """The name of a campaign's policy, or "(damaged)": the other campaigns are still listed."""
    try:
        return str(Settings.from_json(settings).policy.get("name", ""))
    except UnreadableDataError:
        return "(damaged)"
