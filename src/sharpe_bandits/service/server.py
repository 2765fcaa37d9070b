"""The server process: listens, reports its address, and shuts down cleanly: accepted requests are finished first."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import FrameType
from typing import Any, ClassVar

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from ..errors import InvalidInputError
from .security import Gate

#: Seconds that requests have to finish at shutdown, and after which the process ends even if the store does not answer:
#: what is not committed by then was not acknowledged.
_GRACE, _LAST = 20, 25.0
#: Bytes of a request line with its headers, and number of headers.
_LARGEST_HEAD, _MOST_HEADERS = 32_768, 100
#: Seconds until all headers of a first request must have arrived, and that a connection may idle after one.
_SLOWEST_HEAD, _IDLE = 10.0, 75


class BoundedProtocol(HttpToolsProtocol):
    """HTTP with limits on what a connection may hold before it has shown a token."""

    #: Maximum number of connections; one more closes the connection that has waited longest without a request.
    most = 1000
    #: Connections without a request, those that have waited longest first.
    waiting: ClassVar[dict[BoundedProtocol, None]] = {}

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._head: int | None = 0  # bytes of headers so far; None while a request is under way
        self._timer = self.loop.call_later(_SLOWEST_HEAD, transport.abort)
        self.waiting[self] = None
        if len(self.connections) > self.most:
            longest = next(iter(self.waiting))
            del self.waiting[longest]
            longest.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.cancel()
        self.waiting.pop(self, None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._head is not None:
            if self._head == 0 and self.cycle is not None:  # another request on the same connection
                self._timer = self.loop.call_later(_SLOWEST_HEAD, self.transport.abort)
            self._head += len(data)
        super().data_received(data)
        if self._head is not None and (self._head > _LARGEST_HEAD or len(self.headers or ()) > _MOST_HEADERS):
            self.transport.abort()

    def on_headers_complete(self) -> None:
        self._timer.cancel()
        self.waiting.pop(self, None)
        self._head = None
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        self._head = 0
        if not self.transport.is_closing():
            self.waiting[self] = None
        super().on_response_complete()


def _connections() -> int:
    """How many connections there may be: descriptors are needed for the store and for files, too."""
    try:
        import resource
    except ImportError:  # Windows
        return BoundedProtocol.most
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(16, min(BoundedProtocol.most, soft // 2))


class _Server(uvicorn.Server):
    """Says when it has started, and ends in bounded time."""

    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            # Scanning a million objects of the compiler would stop the service for a tenth of a second each time.
            gc.collect()
            gc.freeze()
            gc.set_threshold(10_000, 50, 100)
            self._started()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        watchdog = threading.Timer(_LAST, os._exit, (1,))
        watchdog.daemon = True
        watchdog.start()
        super().handle_exit(sig, frame)


def run(
    app: Gate, host: str, port: int, started: Callable[[str], None], trusted_proxies: Sequence[str] = (), **tls: Any
) -> int:
    """Serve until told to stop; ``started`` is called with the address.

    Forwarded headers of ``trusted_proxies`` (addresses or networks) tell scheme and address of the client; ``tls`` are
    ``ssl_certfile`` and ``ssl_keyfile``.
    """
    BoundedProtocol.most = _connections()
    if hasattr(signal, "SIGHUP"):  # the token file is read again by itself
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
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
    address = f"[{host}]" if ":" in host else host
    config = uvicorn.Config(
        app,
        http=BoundedProtocol,
        log_config=None,
        access_log=False,
        server_header=False,
        ws="none",
        lifespan="on",
        proxy_headers=bool(trusted_proxies),
        forwarded_allow_ips=list(trusted_proxies),
        timeout_keep_alive=_IDLE,
        timeout_graceful_shutdown=_GRACE,
        **tls,
    )
    server = _Server(config, lambda: started(f"http{'s' * config.is_ssl}://{address}:{port}"))
    with listening, suppress(KeyboardInterrupt):  # raised again once everything is finished
        server.run([listening])
    return 0 if server.started else 1
