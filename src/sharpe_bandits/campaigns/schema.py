"""The tables of a store: campaigns, their decisions, their event log, and a snapshot of the state."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Float, ForeignKey, Index, Integer, MetaData, SmallInteger, Table, Text

#: The newest revision in ``migrations/versions``: what this release writes.
REVISION = "0001"
#: Prefix of all table names, since a PostgreSQL database may hold other tables.
PREFIX = "sharpe_bandits_"
#: Table that holds the revision of a database.
VERSION_TABLE = f"{PREFIX}revision"
#: Identifies an SQLite file as a store ("sbca").
APPLICATION_ID = 0x73626361

metadata = MetaData()

campaigns = Table(
    f"{PREFIX}campaigns",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("settings", Text, nullable=False),  # JSON
    Column("created", Float(53), nullable=False),  # times are seconds since 1970, by the database's clock
    Column("events", BigInteger, nullable=False),  # number of the last event
    Column("clock", Float(53), nullable=False),  # time of the last event; time never goes back
    Column("next_expiry", Float(53)),  # no lease runs out before this time
)

decisions = Table(
    f"{PREFIX}decisions",
    metadata,
    Column("campaign", Integer, ForeignKey(campaigns.c.id), primary_key=True),
    Column("number", BigInteger, primary_key=True),
    Column("arm", Integer, nullable=False),
    Column("key", Text),
    Column("worker", Text),
    Column("asked", Float(53), nullable=False),
    Column("expires", Float(53)),
    Column("probability", Float(53)),
    Column("state", Text, nullable=False),
    Column("reward", Float(53)),
    Column("told", Float(53)),
    Index(f"{PREFIX}keys", "campaign", "key", unique=True),
)
Index(
    f"{PREFIX}leases",
    decisions.c.campaign,
    decisions.c.expires,
    sqlite_where=decisions.c.state == "pending",
    postgresql_where=decisions.c.state == "pending",
)

events = Table(
    f"{PREFIX}events",
    metadata,
    Column("campaign", Integer, ForeignKey(campaigns.c.id), primary_key=True),
    Column("seq", BigInteger, primary_key=True),
    Column("kind", SmallInteger, nullable=False),  # index into ledger.KINDS
    Column("number", BigInteger),  # of the decision
    Column("arm", Integer),
    Column("reward", Float(53)),
    Column("name", Text),  # of an arm that is added
    Column("at", Float(53), nullable=False),
)

snapshots = Table(
    f"{PREFIX}snapshots",
    metadata,
    Column("campaign", Integer, ForeignKey(campaigns.c.id), primary_key=True),
    Column("seq", BigInteger, nullable=False),  # of the last event included
    Column("state", Text, nullable=False),
)
