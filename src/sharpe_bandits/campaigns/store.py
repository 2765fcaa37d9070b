"""A store: a database of campaigns."""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import sqlalchemy as sa

from ..agents.base import check_arms
from ..errors import ConflictError, InvalidInputError, UnreadableDataError, shown, unknown
from ..names import check_name
from ..policies.base import Policy, check_policy, policy_from_dict
from ..validation import finite, real, whole
from . import lease as leases
from .answers import Entry
from .campaign import Campaign
from .database import Database, Synchronous
from .decisions import utc_time
from .ledger import Ledger, Settings
from .schema import campaigns, snapshots

#: Default settings of a campaign.
_DEFAULTS: dict[str, Any] = {"horizon": None, "seed": 0, "lease": None, "default_reward": None, "explore": 0.0}


class Store:
    """A database of campaigns: an SQLite file, or PostgreSQL for many machines.

    Any number of threads and processes may use one database at the same time. A store may be shared between threads
    and survives a fork.

    Parameters
    ----------
    target : str | os.PathLike[str]
        path of an SQLite file (created if missing) or a URL ``postgresql://user@host/database``
    timeout : float, optional
        seconds to wait for other writers, or for a server to come back, before :class:`StoreError` is raised
    synchronous : Synchronous, optional
        of SQLite. "FULL": acknowledged transactions survive a power failure. "NORMAL" is many times faster and may lose
        the last transactions in a power failure (but never in a crash of the program)
    create : bool, optional
        whether to create a store if there is none

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
        target: str | os.PathLike[str],
        *,
        timeout: float = 30.0,
        synchronous: Synchronous = "FULL",
        create: bool = True,
    ) -> None:
        self._database = Database(target, timeout, synchronous, create)

    def __repr__(self) -> str:
        return f"<store {self._database.name}>"

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections. A store that is used again opens new ones."""
        self._database.close()

    @property
    def is_file(self) -> bool:
        """Whether this is an SQLite file, which has one writer at a time."""
        return self._database.is_sqlite

    def campaigns(self) -> list[Entry]:
        """All campaigns, by name."""
        rows = self._database.read(lambda connection: connection.execute(sa.select(campaigns)).all())
        entries = [Entry(row.name, _policy_name(row.settings), utc_time(row.created), row.events) for row in rows]
        return sorted(entries, key=lambda entry: entry.name)

    def upgrade(self) -> tuple[str | None, str]:
        """Upgrade a database written by an older release; return the old and the new revision."""
        return self._database.upgrade()

    def campaign(
        self,
        name: str,
        *,
        policy: Policy | None = None,
        arms: int | Iterable[str] | None = None,
        horizon: int | None = None,
        seed: int | None = None,
        lease: str | float | timedelta | None = None,
        default_reward: float | None = None,
        explore: float | None = None,
    ) -> Campaign:
        """Open the campaign with this name, or create it if it does not exist and ``policy`` and ``arms`` are given.

        Given settings must be those that the campaign was created with; otherwise
        :class:`~sharpe_bandits.errors.ConflictError` says where they differ. Omitted settings are not compared. Arms
        may be those that it started with, or all that it has now.

        Parameters
        ----------
        name : str
            of the campaign
        policy : Policy | None, optional
            any policy of the library, or your own (it must be defined, unchanged, whenever the campaign is opened)
        arms : int | Iterable[str] | None, optional
            names of the arms, or their number
        horizon : int | None, optional
            number of rounds, if the policy needs it or the campaign should end
        seed : int | None, optional
            of the policy's own randomness (0)
        lease : str | float | timedelta | None, optional
            how long a decision waits for its reward: "1 day", seconds, a timedelta; without a lease, indefinitely. A
            decision whose lease has run out is no longer pending, but late rewards are accepted
        default_reward : float | None, optional
            the reward assumed for a decision whose lease runs out. Without it, none is assumed
        explore : float | None, optional
            probability with which an arm is drawn uniformly instead of chosen by the policy (0). Other policies
            can then be evaluated from the log: see :meth:`Campaign.evaluate`
        """
        check_name("the name of a campaign", name)
        given: dict[str, Any] = {}
        if policy is not None:
            given["policy"] = check_policy(policy)
        if arms is not None:
            given["arms"] = check_arms(arms)
        if horizon is not None:
            given["horizon"] = whole("horizon", horizon, 2)
        if seed is not None:
            given["seed"] = whole("seed", seed, 0, 2**64 - 1)
        if lease is not None:
            given["lease"] = leases.seconds(lease)
        if default_reward is not None:
            given["default_reward"] = finite("default_reward", default_reward)
        if explore is not None:
            if not 0 <= real(explore) < 1:
                raise InvalidInputError(f"explore is a probability from 0 to below 1, got {shown(explore)}")
            given["explore"] = float(explore)
        row = self._find(name)
        if row is None:
            if "policy" not in given or "arms" not in given:
                known = [entry.name for entry in self.campaigns()]
                raise unknown("campaign", name, known)
            self._make(name, given)
            row = self._find(name)
            assert row is not None
        settings = Settings.from_json(row.settings)
        kept = policy_from_dict(settings.policy)  # raises if a user's own policy has changed, or is not defined
        campaign = Campaign(self._database, row.id, name, settings, given.get("policy", kept))
        _check_same(name, given, settings, campaign)
        return campaign

    def _find(self, name: str) -> sa.Row[Any] | None:
        chosen = sa.select(campaigns).where(campaigns.c.name == name)
        return self._database.read(lambda connection: connection.execute(chosen).one_or_none())

    def _make(self, name: str, given: dict[str, Any]) -> None:
        settings = Settings.of(**{**_DEFAULTS, **given})
        policy = given["policy"]
        if settings.default_reward is not None and settings.lease is None:
            raise InvalidInputError("default_reward is the reward of an expired decision; give a lease, too")
        if settings.explore and not policy.minimises_regret:
            raise InvalidInputError(
                f"{policy.name} decides how often each arm is played, and explore={settings.explore:g} would spend its "
                "budget differently; leave explore out"
            )
        ledger = Ledger.fresh(settings, policy)
        described = settings.to_json()

        def work(connection: sa.Connection) -> None:
            if not self._database.is_sqlite:
                connection.execute(sa.text(f"LOCK TABLE {campaigns.name} IN SHARE ROW EXCLUSIVE MODE"))
            if connection.execute(sa.select(campaigns.c.id).where(campaigns.c.name == name)).first():
                return  # another process was faster
            now = connection.execute(sa.select(self._database.seconds()), self._database.now_argument()).scalar_one()
            row = {"name": name, "settings": described, "created": now, "events": 0, "clock": now}
            number = connection.execute(campaigns.insert().returning(campaigns.c.id), row).scalar_one()
            connection.execute(snapshots.insert(), {"campaign": number, "seq": 0, "state": ledger.to_json()})

        self._database.write(work)


def _check_same(name: str, given: dict[str, Any], settings: Settings, campaign: Campaign) -> None:
    """Raise if a campaign was created with other settings than those given."""
    wanted = settings._replace(**{key: value for key, value in given.items() if key not in ("policy", "arms")})
    if "policy" in given:
        wanted = wanted._replace(policy=Settings.of(given["policy"], 2, **_DEFAULTS).policy)
    if "arms" in given and given["arms"] != settings.arms and given["arms"] != campaign.arms:
        wanted = wanted._replace(arms=given["arms"])
    for key, value in wanted._asdict().items():
        kept = getattr(settings, key)
        if value != kept:
            raise ConflictError(
                f"the campaign {name!r} was created with {key}={shown(kept)}, not {shown(value)}; nothing was changed: "
                f"open it without {key}=, or give a new campaign another name"
            )


def _policy_name(settings: str) -> str:
    """The name of a campaign's policy, or "(damaged)": the other campaigns are still listed."""
    try:
        return str(Settings.from_json(settings).policy.get("name", ""))
    except UnreadableDataError:
        return "(damaged)"
