"""The server process: listens, reports its address, and shuts down cleanly: accepted requests are finished first."""

from __future__ import annotations

import asyncio
import gc
import os
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType

import uvicorn

from ..errors import InvalidInputError
from .security import Gate
from .state import ServiceState

#: Seconds that requests have to finish at shutdown, and after which the process ends even if the store does not answer:
#: what is not committed by then was not acknowledged.
_GRACE, _LAST = 20, 25.0


def _spare_the_collector() -> None:
    """Exclude loaded objects from garbage collection: scanning a million objects of the compiler would stop the service
    for a tenth of a second each time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 50, 100)


class _Server(uvicorn.Server):
    """Ends the event streams of pages first, which would not end on their own."""

    def __init__(self, config: uvicorn.Config, state: ServiceState, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._state, self._started = state, started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._loop = asyncio.get_running_loop()
        if self.started:
            _spare_the_collector()
            self._started()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._loop.call_soon_threadsafe(self._state.closing.set)
        watchdog = threading.Timer(_LAST, os._exit, (1,))
        watchdog.daemon = True
        watchdog.start()
        super().handle_exit(sig, frame)


def run(
    app: Gate,
    host: str,
    port: int,
    started: Callable[[str], None],
    certificate: Path | None = None,
    key: Path | None = None,
) -> int:
    """Serve until told to stop; ``started`` is called with the address."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        raise InvalidInputError(
            f"cannot listen at {host}, port {port}: {error.strerror}; choose another --host or --port"
        ) from None
    port = listening.getsockname()[1]
    shown = f"[{host}]" if ":" in host else host
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        ws="none",
        lifespan="on",
        proxy_headers=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=_GRACE,
        ssl_certfile=certificate,
        ssl_keyfile=key,
    )
    scheme = "https" if certificate else "http"
    server = _Server(config, app.app.state.service, lambda: started(f"{scheme}://{shown}:{port}"))
    with listening, suppress(KeyboardInterrupt):  # raised again once everything is finished
        server.run([listening])
    return 0 if server.started else 1
