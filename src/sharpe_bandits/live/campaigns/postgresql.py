"""Campaigns in a PostgreSQL database: each transaction locks the row of its campaign."""

from __future__ import annotations

import json
import time
from collections.abc import Generator, Sequence
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from ..._support.validation import positive
from ...errors import InvalidInputError, require, shown
from . import schema
from .database import Database

#: Milliseconds that a transaction may take between two statements: of readers, which hold no lock, and of migrations.
_PATIENCE = 600_000
#: Seconds after the limit of the server until a connection whose server says nothing is given up.
_MARGIN = 1.0
#: Seconds between attempts to reconnect.
_RECONNECT = 0.05
#: What a server says when it refuses a connection for good, so that retrying is pointless.
_REFUSALS = (
    "does not exist", "authentication failed", "no password", "no pg_hba.conf", "resolve", "invalid", "lock timeout"
)  # fmt: skip
#: What a server says, and what it means.
_MEANINGS = {"no space left": "full", "disk full": "full", "lock timeout": "locked", "statement timeout": "slow"}


class PostgreSQL(Database):
    """Campaigns in a database of a server."""

    single_writer = False
    clock = "CAST(extract(epoch FROM clock_timestamp()) AS float8)"
    in_list, for_update = "= ANY(?)", " FOR UPDATE"
    setup_lock = (
        f"SET LOCAL idle_in_transaction_session_timeout = {_PATIENCE}; SELECT pg_advisory_xact_lock(1935827809)"
    )
    by_code_point = ' COLLATE "C"'
    serial = "SERIAL"

    def __init__(self, url: str, timeout: float, create: bool) -> None:
        try:
            parts = urlsplit(url)
            parts.port  # noqa: B018  raises if it is not a number
        except ValueError:
            raise InvalidInputError(f"{shown(url)} is not a URL; write postgresql://user@host/database") from None
        if parts.scheme not in ("postgresql", "postgres", "postgresql+psycopg"):
            raise InvalidInputError(
                f"the URL of a PostgreSQL database begins with postgresql://, not with {shown(parts.scheme)}"
            )
        require("psycopg", "PostgreSQL", "live")
        import psycopg

        self.error = psycopg.Error
        limit = int(1000 * positive("timeout", timeout))
        # For each transaction, since a pooler such as PgBouncer may run the next one on another connection.
        bounds = f"BEGIN {{}}; SET LOCAL statement_timeout = {limit}; SET LOCAL idle_in_transaction_session_timeout = "
        # A process that stops inside a transaction loses it, with its lock, before others give up waiting.
        self.begin_write = bounds.format("") + f"{max(1000, limit // 3)}; SET LOCAL lock_timeout = {limit}"
        self.begin_read = bounds.format("ISOLATION LEVEL REPEATABLE READ READ ONLY") + f"{_PATIENCE}"
        self._url = f"postgresql://{url.partition('://')[2]}"
        user, at, host = parts.netloc.rpartition("@")
        user = f"{user.partition(':')[0]}:***" if ":" in user else user
        super().__init__(f"postgresql://{user}{at}{host}{parts.path}", timeout, create)  # options may be secrets

    def _open(self) -> Any:
        # The operating system notices after about half of the timeout that a network was cut without a reset.
        part = max(1, int(self.timeout / 8))
        options: dict[str, Any] = {
            "application_name": "sharpe-bandits",
            "connect_timeout": max(2, int(self.timeout / 3)),
            "keepalives_idle": part,
            "keepalives_interval": part,
            "keepalives_count": 3,
            "tcp_user_timeout": int(500 * self.timeout),
        }
        driver = _bounded_connections(self.timeout + _MARGIN).connect(self._url, **options, autocommit=True)
        ((server,),) = driver.execute("SELECT pg_backend_pid()").fetchall()
        if server != driver.info.backend_pid:  # a pooler, in which prepared statements of others may be met
            driver.prepare_threshold = None
        return driver

    def list_argument(self, values: Sequence[Any]) -> list[Any]:
        return list(values)

    # An ask or a tell takes two round trips: one locks the campaign and reads, one writes and commits. Statements are
    # sent in one message each, not as a pipeline: the limits above do not hold for a process that stops inside one.

    def send(self, driver: Any, statement: str, arguments: Sequence[Any] = ()) -> list[Any]:
        rows: list[Any] = driver.later(statement, arguments)
        return rows

    def _roll_back(self, driver: Any) -> None:
        driver.waiting.clear()
        driver.execute("ROLLBACK")

    def insert(self, driver: Any, table: str, fields: Sequence[str], campaign: int, rows: Sequence[Any]) -> None:
        names = ", ".join(fields)
        statement = f"INSERT INTO {table} (campaign, {names}) SELECT ?, {names} FROM {_rows_of(table)}"
        driver.later(statement, (campaign, _as_json(fields, rows)))

    def update(self, driver: Any, table: str, fields: Sequence[str], campaign: int, rows: Sequence[Any]) -> None:
        number, *others = fields
        changes = ", ".join(f"{field} = row.{field}" for field in others)
        same = f"old.campaign = ? AND old.{number} = row.{number}"
        statement = f"UPDATE {table} AS old SET {changes} FROM {_rows_of(table)} AS row WHERE {same}"
        driver.later(statement, (_as_json(fields, rows), campaign))

    def _retry_after(self, cause: Any) -> float | None:
        import psycopg

        stopped = psycopg.errors.IdleInTransactionSessionTimeout  # this process was; its transaction was rolled back
        lost = isinstance(cause, psycopg.OperationalError | psycopg.InterfaceError | stopped)
        if not lost or any(words in str(cause) for words in _REFUSALS):
            return None
        self.close()  # idle connections are probably lost, too
        return _RECONNECT

    def _failure(self, cause: Any) -> str:
        reason = str(cause).lower()
        return next((meaning for words, meaning in _MEANINGS.items() if words in reason), "server")

    def _has_tables(self, driver: Any) -> bool:
        # Not to_regclass, which may not see a table that another process created while this one waited for its lock.
        statement = f"SELECT 1 FROM pg_class WHERE relname = '{schema.VERSION_TABLE}' AND pg_table_is_visible(oid)"
        return bool(driver.execute(statement).fetchall())


def _rows_of(table: str) -> str:
    return f"json_populate_recordset(CAST(NULL AS {table}), ?)"


def _as_json(fields: Sequence[str], rows: Sequence[Any]) -> str:
    return json.dumps([dict(zip(fields, row, strict=True)) for row in rows])


@cache
def _bounded_connections(limit: float) -> Any:
    """The class of psycopg's connections, with a limit in seconds to each wait for the server, with statements that are
    sent together with the next one, and with question marks for parameters.

    A server behind a proxy that has lost it does not answer, and the operating system cannot know.
    """
    import psycopg

    class Bounded(psycopg.Connection[Any]):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            #: Statements that are still to be sent: text, arguments, and the list for their rows.
            self.waiting: list[tuple[str, Sequence[Any], list[Any]]] = []

        def later(self, statement: str, arguments: Sequence[Any] = ()) -> list[Any]:
            self.waiting.append((statement.replace("?", "%s"), arguments, []))
            return self.waiting[-1][2]

        def execute(self, query: Any, params: Any = None, **options: Any) -> Any:
            query = query.replace("?", "%s")
            if not self.waiting:
                return super().execute(query, params, **options)
            waiting, self.waiting = self.waiting, []
            cursor = psycopg.ClientCursor(self)  # binds arguments itself: a message of several statements has none
            texts = [*(text for text, _, _ in waiting), query]
            cursor.execute("; ".join(texts), [x for _, arguments, _ in waiting for x in arguments] + list(params or ()))
            tables = []
            while True:
                tables += [cursor.fetchall()] if cursor.description else []
                if not cursor.nextset():
                    break
            asked = [rows for text, _, rows in waiting if text.startswith("SELECT")]
            for rows, table in zip(asked, tables, strict=False):
                rows.extend(table)
            if cursor.description and cursor.rowcount:
                cursor.scroll(0, "absolute")
            return cursor

        def wait(self, gen: Any, *arguments: Any, **options: Any) -> Any:
            return super().wait(self._until(gen, time.monotonic() + limit), *arguments, **options)

        def _until(self, gen: Any, deadline: float) -> Generator[Any, Any, Any]:
            try:
                state = next(gen)
                while True:
                    ready = yield state
                    if not ready and time.monotonic() > deadline:
                        self.close()
                        raise psycopg.OperationalError(f"no answer for {limit:g} seconds")
                    state = gen.send(ready)
            except StopIteration as end:
                return end.value

    return Bounded
