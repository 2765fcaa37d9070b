"""The tables of a store: campaigns, their decisions, their event log, and a snapshot of the state of each."""

from __future__ import annotations

from typing import Any

#: Prefix of all table names, since a PostgreSQL database may hold other tables.
PREFIX = "sharpe_bandits_"
#: Identifies an SQLite file as a store ("sbca").
APPLICATION_ID = 0x73626361
#: Revisions of the tables, with the statements that lead to each from the one before: a new one adds a line here, and
#: its columns below. Numbers up to 0003 were used before the first release; those of 0003 kept checkpoints of the state
#: beside events, which an amendment by this release would leave as they are.
REVISIONS: dict[str, list[str]] = {"0003": [], "0004": [f"DELETE FROM {PREFIX}events WHERE seq < -1"]}
#: The revision that this release writes.
REVISION = list(REVISIONS)[-1]
#: Names of the tables, and of the one that holds the revision of a database.
TABLES = tuple(f"{PREFIX}{name}" for name in ("campaigns", "decisions", "events", "snapshots"))
VERSION_TABLE = f"{PREFIX}revision"
#: The columns of each table, in types that all databases know. Times are seconds since 1970, by the database's clock.
_COLUMNS = {
    "campaigns": """
        id {serial} PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        settings TEXT NOT NULL,  -- JSON
        created DOUBLE PRECISION NOT NULL,
        events BIGINT NOT NULL,  -- number of the last event
        clock DOUBLE PRECISION NOT NULL,  -- time of the last event, which never goes back
        next_expiry DOUBLE PRECISION,  -- no lease runs out before this time
        hash TEXT  -- of the last event""",
    "decisions": """
        campaign INTEGER NOT NULL REFERENCES sharpe_bandits_campaigns,
        number BIGINT NOT NULL,
        arm INTEGER NOT NULL,
        key TEXT,
        worker TEXT,
        asked DOUBLE PRECISION NOT NULL,
        expires DOUBLE PRECISION,
        probability DOUBLE PRECISION,
        state TEXT NOT NULL,
        reward DOUBLE PRECISION,
        told DOUBLE PRECISION,
        details TEXT,  -- JSON: what was known when it was made
        measures TEXT,  -- JSON: what came with its reward
        PRIMARY KEY (campaign, number)""",
    "events": """
        campaign INTEGER NOT NULL REFERENCES sharpe_bandits_campaigns,
        seq BIGINT NOT NULL,
        kind SMALLINT NOT NULL,  -- an EventKind
        number BIGINT,
        arm INTEGER,
        reward DOUBLE PRECISION,
        name TEXT,  -- of an arm that is added
        at DOUBLE PRECISION NOT NULL,
        details TEXT,  -- JSON
        hash TEXT,  -- SHA-256 of the event and of the hash before it
        PRIMARY KEY (campaign, seq)""",
    "snapshots": """
        campaign INTEGER PRIMARY KEY REFERENCES sharpe_bandits_campaigns,
        seq BIGINT NOT NULL,
        state TEXT NOT NULL""",
    "revision": "version_num VARCHAR(32) PRIMARY KEY",
}
_INDICES = [
    f"CREATE UNIQUE INDEX {PREFIX}keys ON {PREFIX}decisions (campaign, key)",
    f"CREATE INDEX {PREFIX}leases ON {PREFIX}decisions (campaign, expires) WHERE state = 'pending'",
]


def upgrade(driver: Any, revision: str | None, serial: str) -> None:
    """Bring tables of a revision (None: there are none) to the newest, within the caller's transaction; ``serial`` is
    the type of numbers that the database gives.
    """
    if revision is None:
        tables = [f"CREATE TABLE {PREFIX}{name} ({about.format(serial=serial)}\n)" for name, about in _COLUMNS.items()]
        for statement in [*tables, *_INDICES, f"INSERT INTO {VERSION_TABLE} VALUES ('{REVISION}')"]:
            driver.execute(statement)
        return
    for name in sorted(name for name in REVISIONS if name > revision):
        for statement in [*REVISIONS[name], f"UPDATE {VERSION_TABLE} SET version_num = '{name}'"]:
            driver.execute(statement)
