"""Stores to test with: a file each, and a PostgreSQL server of our own where one can be had."""

import secrets
import tempfile
import time
from pathlib import Path

import pytest
from torture.postgres import NoPostgresError, Server

import sharpe_bandits as sb
from sharpe_bandits.live.campaigns import database as databases


@pytest.fixture(scope="session")
def postgres():
    """A running server."""
    try:
        server = Server()
    except NoPostgresError as error:
        pytest.skip(f"no PostgreSQL: {error}")
    yield server
    server.stop()


@pytest.fixture
def pgbouncer(postgres, tmp_path):
    """The URL of a PgBouncer in transaction mode, with its default settings otherwise and two connections to the server."""
    import os
    import shutil
    import socket
    import subprocess

    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    folder = tmp_path / "pool"
    folder.mkdir()
    (folder / "users").write_text('"tester" ""\n')
    host = str(postgres.address).rpartition("/")[0]
    (folder / "pool.ini").write_text(
        f"[databases]\npostgres = host={host} port=5432 user=tester dbname=postgres\n[pgbouncer]\nlisten_addr = 127.0.0.1\n"
        f"listen_port = {port}\nunix_socket_dir =\nauth_type = any\npool_mode = transaction\ndefault_pool_size = 2\n"
    )
    root = os.geteuid() == 0
    temporary = Path(tempfile.gettempdir())
    for above in (folder, *folder.parents) if root else ():  # the pooler runs as another user
        if temporary in above.parents:
            above.chmod(0o755)
    command = [shutil.which("pgbouncer"), "-q", str(folder / "pool.ini")]
    process = subprocess.Popen(command, user=postgres.user, cwd="/")
    deadline = time.monotonic() + 10
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            break
        except OSError:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
    yield f"postgresql://tester@127.0.0.1:{port}/postgres"
    process.terminate()
    process.wait(10)


@pytest.fixture(params=["sqlite", "postgres"])
def target(request, tmp_path):
    """What a store is opened with, empty."""
    if request.param == "sqlite":
        yield tmp_path / "campaigns.db"
        return
    import psycopg

    server = request.getfixturevalue("postgres")
    name = f"test_{secrets.token_hex(6)}"
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    yield server.url.replace("/postgres?", f"/{name}?")
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def store(target):
    """An open store."""
    with sb.Store(target) as opened:
        yield opened


@pytest.fixture
def file_store(tmp_path):
    """An open store in a file."""
    with sb.Store(tmp_path / "campaigns.db", synchronous="NORMAL") as opened:
        yield opened


@pytest.fixture
def clock(monkeypatch):
    """A clock that tests set: seconds added to the machine's."""
    ahead = [0.0]
    real = time.time
    monkeypatch.setattr(databases.time, "time", lambda: real() + ahead[0])
    return ahead
