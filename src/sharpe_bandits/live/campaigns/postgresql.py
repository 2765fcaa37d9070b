"""Campaigns in a PostgreSQL database: each transaction locks the row of its campaign."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

import sqlalchemy as sa

from ...errors import InvalidInputError, StoreError, require, shown
from . import schema
from .database import Database

#: Gives a transaction ten minutes between two statements: for readers, which hold no lock, and for migrations.
_PATIENCE = "SET LOCAL idle_in_transaction_session_timeout = 600000"
#: Seconds between attempts to reconnect.
_RECONNECT = 0.05
#: What a server says when it refuses a connection for good, so that retrying is pointless.
_REFUSALS = ("does not exist", "authentication failed", "no password", "resolve", "invalid")


class PostgreSQL(Database):
    """Campaigns in a database of a server.

    Parameters
    ----------
    url : str
        such as ``postgresql://user@host/database``
    timeout : float
        seconds to wait for a lock, or for the server to come back
    create : bool
        whether to create the tables if there are none
    """

    single_writer = False
    begin_read = f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {_PATIENCE}"
    begin_write = "BEGIN"
    clock = "CAST(extract(epoch FROM clock_timestamp()) AS float8)"
    in_list, for_update = "= ANY(?)", " FOR UPDATE"
    setup_lock = f"{_PATIENCE}; SELECT pg_advisory_xact_lock(1935827809)"
    whole_part = "CAST(floor({}) AS bigint)"

    def __init__(self, url: str, timeout: float, create: bool) -> None:
        try:
            parsed = sa.make_url(url)
        except Exception:  # the parser fails in several ways
            raise InvalidInputError(f"{shown(url)} is not a URL; write postgresql://user@host/database") from None
        if parsed.drivername not in ("postgresql", "postgres", "postgresql+psycopg"):
            raise InvalidInputError(
                f"a store is an SQLite file or a PostgreSQL database; got a URL for {shown(parsed.drivername)}: pass a "
                "path, or postgresql://user@host/database"
            )
        require("psycopg", "PostgreSQL", "live")
        parsed = parsed.set(drivername="postgresql+psycopg")
        super().__init__(parsed, parsed.render_as_string(hide_password=True), timeout, create)

    def _connect_arguments(self) -> dict[str, Any]:
        whole = int(1000 * self.timeout)
        # A peer that stops between two statements of a transaction is ended before others give up.
        server = {
            "application_name": "sharpe-bandits",
            "lock_timeout": whole,
            "statement_timeout": whole,
            "idle_in_transaction_session_timeout": max(1000, whole // 3),
        }
        # A network that is cut without a reset is noticed after about half of the timeout.
        part = max(1, int(self.timeout / 8))
        return {
            "options": " ".join(f"-c {name}={value}" for name, value in server.items()),
            "connect_timeout": max(2, int(self.timeout / 3)),
            "keepalives_idle": part,
            "keepalives_interval": part,
            "keepalives_count": 3,
            "tcp_user_timeout": whole // 2,
        }

    def sql(self, text: str) -> str:
        return text.replace("?", "%s")

    def list_argument(self, values: Sequence[Any]) -> list[Any]:
        return list(values)

    def _pipeline(self, driver: Any) -> AbstractContextManager[Any]:
        return driver.pipeline()

    def _retry_after(self, cause: Any) -> float | None:
        import psycopg

        if isinstance(
            cause,
            psycopg.errors.LockNotAvailable
            | psycopg.errors.InvalidAuthorizationSpecification
            | psycopg.errors.InvalidCatalogName,
        ):
            return None
        stopped = psycopg.errors.IdleInTransactionSessionTimeout  # this process was; its transaction was rolled back
        lost = isinstance(cause, psycopg.OperationalError | psycopg.InterfaceError | stopped)
        return _RECONNECT if lost and not any(words in str(cause) for words in _REFUSALS) else None

    def _explained(self, cause: Any, reason: str) -> Exception:
        if "No space left" in reason or "disk full" in reason.lower():
            return StoreError(
                f"no space is left for {self.name} ({reason}); nothing was recorded: free some space and try again"
            )
        if "lock timeout" in reason:
            return StoreError(
                f"{self.name} was locked by another process for {self.timeout:g} seconds; nothing was recorded: find "
                "the process that holds the lock, or pass a longer timeout="
            )
        if "statement timeout" in reason:
            return StoreError(
                f"{self.name} did not answer within {self.timeout:g} seconds; nothing was recorded: check the load of "
                "the server, or pass a longer timeout="
            )
        return StoreError(f"the database {self.name} failed: {reason}; check the server and the URL, and try again")

    def _has_tables(self, connection: sa.Connection) -> bool:
        return connection.scalar(sa.select(sa.func.to_regclass(schema.VERSION_TABLE))) is not None
