"""The tables of a store: campaigns, their decisions, their event log, and a snapshot of the state of each.

The files in ``migrations/versions`` define them.
"""

from __future__ import annotations

#: The newest revision in ``migrations/versions``: what this release writes.
REVISION = "0002"
#: Prefix of all table names, since a PostgreSQL database may hold other tables.
PREFIX = "sharpe_bandits_"
#: The tables.
TABLES = tuple(f"{PREFIX}{name}" for name in ("campaigns", "decisions", "events", "snapshots"))
#: Table that holds the revision of a database.
VERSION_TABLE = f"{PREFIX}revision"
#: Identifies an SQLite file as a store ("sbca").
APPLICATION_ID = 0x73626361
