"""``sharpe-bandits serve``: campaigns over HTTP, with a dashboard."""

from __future__ import annotations

import argparse
import ipaddress
from pathlib import Path

from ..errors import InvalidInputError, require
from ..validation import positive, whole
from .campaign import import_modules


def add(serve: argparse.ArgumentParser) -> None:
    """Add the options."""
    serve.add_argument("store", help="file, or postgresql://user@host/database; made if it is not there")
    serve.add_argument("--host", default="127.0.0.1", help="address to listen at (127.0.0.1: this machine alone)")
    serve.add_argument("--port", type=int, default=8000, help="(8000)")
    serve.add_argument("--allowed-hosts", nargs="+", metavar="NAME", help="names under which the service may be "
                       "called; needed with another --host")  # fmt: skip
    serve.add_argument("--token-file", type=Path, metavar="FILE", help='TOML with [name], token = "...", access = '
                       '"read" or "write"; needed with another --host')  # fmt: skip
    serve.add_argument("--rate", type=float, default=2000.0, metavar="N", help="requests a second per token (2000)")
    serve.add_argument(
        "--tls-certificate", type=Path, metavar="FILE", help="PEM; with --tls-key the service speaks https"
    )
    serve.add_argument("--tls-key", type=Path, metavar="FILE", help="PEM")
    serve.add_argument("--module", action="append", default=[], metavar="MODULE", help="Python module that defines a "
                       "policy of your own, imported first")  # fmt: skip
    serve.set_defaults(do=_serve)


def _serve(options: argparse.Namespace) -> int:
    from ..campaigns import Store

    for library in ("fastapi", "uvicorn", "jinja2"):
        require(library, "the service", "serve")
    from ..service.app import create_app
    from ..service.security import READ, WRITE, Token, fresh_token, read_tokens
    from ..service.server import run

    whole("--port", options.port, 0, 65_535)
    positive("--rate", options.rate)
    if (options.tls_certificate is None) != (options.tls_key is None):
        raise InvalidInputError("give --tls-certificate and --tls-key together, or neither")
    import_modules(options.module)
    hosts = ["127.0.0.1", "localhost", "::1", *(options.allowed_hosts or ())]
    if not _loopback(options.host) and not (options.allowed_hosts and options.token_file):
        raise InvalidInputError(
            f"--host {options.host} can be reached from other machines; give --allowed-hosts, the names under which it "
            "may be called, and --token-file"
        )
    said = []
    if options.token_file is not None:
        tokens = read_tokens(options.token_file)
    else:
        made = {READ: fresh_token(), WRITE: fresh_token()}
        tokens = [Token.of(access, access, token) for access, token in made.items()]
        said = [f"token to read and write: {made[WRITE]}", f"token to read only:      {made[READ]}"]
    app = create_app(Store(options.store), tokens, hosts, rate=options.rate)

    def started(address: str) -> None:
        print("\n".join([f"sharpe-bandits: {address} (Ctrl-C ends it)", *said]), flush=True)

    return run(app, options.host, options.port, started, options.tls_certificate, options.tls_key)


def _loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
