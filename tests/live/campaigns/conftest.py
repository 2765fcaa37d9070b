"""Stores to test with: a file each, and a PostgreSQL server of our own where one can be had."""

import secrets
import time

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
def clock(monkeypatch):
    """A clock that tests set: seconds added to the machine's."""
    ahead = [0.0]
    real = time.time
    monkeypatch.setattr(databases.time, "time", lambda: real() + ahead[0])
    return ahead
