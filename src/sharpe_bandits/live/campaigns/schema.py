"""The tables of a store: campaigns, their decisions, their event log, and a snapshot of the state of each."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

#: Prefix of all table names, since a PostgreSQL database may hold other tables.
PREFIX = "sharpe_bandits_"
#: Identifies an SQLite file as a store ("sbca").
APPLICATION_ID = 0x73626361
#: Revisions of the tables, with the statements that lead to each from the one before: a new one adds a line here, and
#: its columns below. Numbers 0001 and 0002 were used before the first release.
REVISIONS: dict[str, list[str]] = {"0003": []}
#: The revision that this release writes.
REVISION = list(REVISIONS)[-1]

_metadata = sa.MetaData()
_pending = sa.text("state = 'pending'")
_campaigns = sa.Table(
    f"{PREFIX}campaigns",
    _metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("settings", sa.Text, nullable=False),  # JSON
    sa.Column("created", sa.Float(53), nullable=False),  # times are seconds since 1970, by the database's clock
    sa.Column("events", sa.BigInteger, nullable=False),  # number of the last event
    sa.Column("clock", sa.Float(53), nullable=False),  # time of the last event; time never goes back
    sa.Column("next_expiry", sa.Float(53)),  # no lease runs out before this time
    sa.Column("hash", sa.Text),  # of the last event
)


def _part(name: str, number: str, *columns: sa.Column[Any] | sa.Index) -> sa.Table:
    """A table with rows of campaigns, by number; without a number, one row each."""
    keys = [sa.Column("campaign", sa.Integer, sa.ForeignKey(_campaigns.c.id), primary_key=True)]
    keys += [sa.Column(number, sa.BigInteger, primary_key=True)] if number else []
    return sa.Table(f"{PREFIX}{name}", _metadata, *keys, *columns)


_decisions = _part(
    "decisions",
    "number",
    sa.Column("arm", sa.Integer, nullable=False),
    sa.Column("key", sa.Text),
    sa.Column("worker", sa.Text),
    sa.Column("asked", sa.Float(53), nullable=False),
    sa.Column("expires", sa.Float(53)),
    sa.Column("probability", sa.Float(53)),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("reward", sa.Float(53)),
    sa.Column("told", sa.Float(53)),
    sa.Column("details", sa.Text),  # JSON: what was known when it was made
    sa.Column("measures", sa.Text),  # JSON: what came with its reward
    sa.Index(f"{PREFIX}keys", "campaign", "key", unique=True),
    sa.Index(f"{PREFIX}leases", "campaign", "expires", sqlite_where=_pending, postgresql_where=_pending),
)
_events = _part(
    "events",
    "seq",
    sa.Column("kind", sa.SmallInteger, nullable=False),  # an EventKind
    sa.Column("number", sa.BigInteger),
    sa.Column("arm", sa.Integer),
    sa.Column("reward", sa.Float(53)),
    sa.Column("name", sa.Text),  # of an arm that is added
    sa.Column("at", sa.Float(53), nullable=False),
    sa.Column("details", sa.Text),  # JSON
    sa.Column("hash", sa.Text),  # SHA-256 of the event and of the hash before it
)
_snapshots = _part(
    "snapshots", "", sa.Column("seq", sa.BigInteger, nullable=False), sa.Column("state", sa.Text, nullable=False)
)
#: Names of the tables, and of the one that holds the revision of a database.
TABLES = tuple(table.name for table in (_campaigns, _decisions, _events, _snapshots))
_version = sa.Table(f"{PREFIX}revision", _metadata, sa.Column("version_num", sa.String(32), primary_key=True))
VERSION_TABLE = _version.name


def upgrade(connection: sa.Connection, revision: str | None) -> None:
    """Bring tables of a revision (None: there are none) to the newest, within the caller's transaction."""
    if revision is None:
        _metadata.create_all(connection, checkfirst=False)
        connection.execute(_version.insert().values(version_num=REVISION))
        return
    for name in sorted(name for name in REVISIONS if name > revision):
        for statement in REVISIONS[name]:
            connection.exec_driver_sql(statement)
        connection.execute(_version.update().values(version_num=name))
