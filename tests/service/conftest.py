"""A service in this process: called directly, or over a socket."""

import asyncio
import socket
import threading
import time

import pytest
import uvicorn
from starlette.testclient import TestClient

import sharpe_bandits as sb
from sharpe_bandits.service.app import create_app
from sharpe_bandits.service.security import READ, WRITE, Token

READER, WRITER = "r" * 40, "w" * 40
TOKENS = [Token.of("looks", READ, READER), Token.of("works", WRITE, WRITER)]
ARMS = ["momentum", "carry", "value"]
POLICY = sb.ScaleFreeUCB(L=1e-4)


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


@pytest.fixture
def store(tmp_path):
    return sb.Store(tmp_path / "campaigns.db", synchronous="NORMAL")


@pytest.fixture
def app(store):
    store.campaign("desks", policy=POLICY, arms=ARMS, lease="1 day", seed=1)
    return create_app(store, TOKENS, rate=1e6)


@pytest.fixture
def http(app):
    """Calls with a token that may write."""
    with TestClient(app, base_url="http://127.0.0.1:8000", raise_server_exceptions=False) as client:
        client.headers.update(bearer(WRITER))
        yield client


class Served:
    """The service over a socket, until stopped."""

    def __init__(self, app):
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="on", ws="none"))
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        while not self._server.started:
            time.sleep(0.01)

    def _run(self):
        with asyncio.Runner(loop_factory=self._server.config.get_loop_factory()) as runner:
            runner.run(self._server.serve([self._socket]))

    def stop(self):
        """End it; again: nothing happens."""
        if not self._thread.is_alive():
            return
        self._server.should_exit = True
        self._thread.join(20)
        assert not self._thread.is_alive()
        self._socket.close()


@pytest.fixture
def served(app):
    running = Served(app)
    yield running
    running.stop()
