"""``sharpe-bandits serve``: campaigns over HTTP, with a dashboard."""

from __future__ import annotations

import argparse
import ipaddress
import os
import secrets
from pathlib import Path
from typing import Any

from ..._support.validation import positive, whole
from ...errors import InvalidInputError, require
from ...live.campaigns import Store
from .campaign import STORE_VARIABLE, import_modules

#: Seconds after which a store that does not answer is reported: less than clients wait.
_STORE_TIMEOUT = 10.0


def add(serve: argparse.ArgumentParser) -> None:
    serve.add_argument("store", nargs="?", help="file, or postgresql://user@host/database; created if missing "
                       f"(${STORE_VARIABLE}, where others on the machine do not see a password)")  # fmt: skip
    serve.add_argument("--host", default="127.0.0.1", help="address to listen on (127.0.0.1: this machine only)")
    serve.add_argument("--port", type=int, default=8000, help="port to listen on (8000)")
    serve.add_argument("--allowed-hosts", nargs="+", metavar="NAME", help="names under which the service may be "
                       "reached; required with another --host")  # fmt: skip
    serve.add_argument("--token-file", type=Path, metavar="FILE", help='TOML with [name], token = "...", access = '
                       '"read" or "write"; read again when it changes; required with another --host')  # fmt: skip
    serve.add_argument("--trusted-proxies", nargs="+", default=[], metavar="ADDRESS", help="addresses or networks of "
                       "proxies whose X-Forwarded-For and X-Forwarded-Proto headers are believed")  # fmt: skip
    serve.add_argument("--log-level", choices=("debug", "info", "warning", "error"), default="warning", help="what is "
                       "logged as JSON to stderr; info: every request (warning)")  # fmt: skip
    serve.add_argument("--rate", type=float, default=2000.0, metavar="N", help="requests per second and token (2000)")
    serve.add_argument(
        "--tls-certificate", type=Path, metavar="FILE", help="certificate (PEM); with --tls-key the service uses HTTPS"
    )
    serve.add_argument("--tls-key", type=Path, metavar="FILE", help="private key (PEM)")
    serve.add_argument("--module", action="append", default=[], metavar="MODULE", help="Python module that defines a "
                       "custom policy, imported first")  # fmt: skip
    serve.set_defaults(do=_serve)


def require_libraries(purpose: str) -> None:
    """Raise if a library that serving takes is not installed."""
    for library in ("fastapi", "uvicorn", "jinja2", "prometheus_client"):
        require(library, purpose, "serve")


def _serve(options: argparse.Namespace) -> int:
    require_libraries("the service")
    from ...service.app import THIS_MACHINE, create_app
    from ...service.observability import configure_log
    from ...service.security import READ, WRITE, Token, read_tokens
    from ...service.server import run

    whole("--port", options.port, 0, 65_535)
    positive("--rate", options.rate)
    if (options.tls_certificate is None) != (options.tls_key is None):
        raise InvalidInputError("give --tls-certificate and --tls-key together, or neither")
    for proxy in options.trusted_proxies:
        try:
            ipaddress.ip_network(proxy)
        except ValueError as error:
            raise InvalidInputError(
                f"--trusted-proxies: {error}; give addresses or networks, as in 10.0.0.0/8"
            ) from None
    import_modules(options.module)
    target = options.store or os.environ.get(STORE_VARIABLE)
    if not target:
        raise InvalidInputError(f"name the store, as in sharpe-bandits serve campaigns.db, or set ${STORE_VARIABLE}")
    if options.host not in THIS_MACHINE and not (options.allowed_hosts and options.token_file):
        raise InvalidInputError(
            f"--host {options.host} can be reached from other machines; give --allowed-hosts, the names under which it "
            "may be reached, and --token-file"
        )
    lines: list[str] = []
    if options.token_file is not None:
        tokens = read_tokens(options.token_file)
    else:
        made = {access: secrets.token_urlsafe(32) for access in (READ, WRITE)}
        tokens = [Token.of(access, access, token) for access, token in made.items()]
        lines = [f"token to read and write: {made[WRITE]}", f"token to read only:      {made[READ]}"]
    configure_log(options.log_level)
    store = Store(target, timeout=_STORE_TIMEOUT)
    settings: Any = {"rate": options.rate, "token_file": options.token_file, "modules": options.module}
    hosts = *THIS_MACHINE, *(options.allowed_hosts or ())
    app = create_app(store, tokens, hosts, target=target, **settings)

    def started(address: str) -> None:
        print("\n".join([f"sharpe-bandits: {address} (Ctrl-C stops it)", *lines]), flush=True)

    tls = {"ssl_certfile": options.tls_certificate, "ssl_keyfile": options.tls_key}
    return run(app, options.host, options.port, started, options.trusted_proxies, **tls)
