"""``sharpe-bandits serve`` and ``demo``: campaigns over HTTP, with a dashboard; and simulated ones on this machine."""

from __future__ import annotations

import argparse
import ipaddress
import os
import random
import secrets
import ssl
import tempfile
import threading
from pathlib import Path
from typing import Any

from ..._support.validation import positive, whole
from ...errors import InvalidInputError, SharpeBanditsError, require
from ...live.campaigns import Campaign, Store
from ...policies import ScaleFreeUCB
from .campaign import STORE_VARIABLE, import_modules

#: Seconds after which a store that does not answer is reported: less than clients wait.
_STORE_TIMEOUT = 10.0
#: Workers per campaign of the demonstration.
WORKERS = 4
#: Seconds between decisions of a worker.
PAUSE = 0.1
#: Campaigns of the demonstration: policy, arms with mean and standard deviation of a reward, other settings.
CAMPAIGNS: dict[str, Any] = {
    "desks": (
        ScaleFreeUCB(L=1e-5),
        {"momentum": (0.004, 0.01), "carry": (0.0006, 0.006), "value": (0.0003, 0.009), "cash": (0.0001, 0.002)},
        {"lease": "20 seconds", "explore": 0.1},
    ),
    "execution venues": (
        ScaleFreeUCB(L=0.02),
        {f"venue {k}": (0.1 + 0.05 * (k % 7), 0.5 + 0.1 * (k % 3)) for k in range(1, 13)},
        {"lease": "1 minute"},
    ),
}


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
    from ...service import app, observability, security, server

    whole("--port", options.port, 0, 65_535)
    positive("--rate", options.rate)
    if (options.tls_certificate is None) != (options.tls_key is None):
        raise InvalidInputError("give --tls-certificate and --tls-key together, or neither")
    if options.tls_certificate is not None:
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(options.tls_certificate, options.tls_key)
        except OSError as error:
            raise InvalidInputError(
                f"--tls-certificate and --tls-key cannot be used: {error}; give PEM files"
            ) from None
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
    if options.host not in app.THIS_MACHINE and not (options.allowed_hosts and options.token_file):
        raise InvalidInputError(
            f"--host {options.host} can be reached from other machines; give --allowed-hosts, the names under which it "
            "may be reached, and --token-file"
        )
    lines: list[str] = []
    if options.token_file is not None:
        tokens = security.read_tokens(options.token_file)
    else:
        write, read = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        tokens = [security.Token.of("write", "write", write), security.Token.of("read", "read", read)]
        lines = [f"token to read and write: {write}", f"token to read only:      {read}"]
    observability.configure_log(options.log_level)
    store = Store(target, timeout=_STORE_TIMEOUT)
    settings: Any = {"rate": options.rate, "token_file": options.token_file, "modules": options.module}
    hosts = *app.THIS_MACHINE, *(options.allowed_hosts or ())
    application = app.create_app(store, tokens, hosts, target=target, **settings)

    def started(address: str) -> None:
        print("\n".join([f"sharpe-bandits: {address} (Ctrl-C stops it)", *lines]), flush=True)

    tls = {"ssl_certfile": options.tls_certificate, "ssl_keyfile": options.tls_key}
    return server.run(application, options.host, options.port, started, options.trusted_proxies, **tls)


def add_demo(demo: argparse.ArgumentParser) -> None:
    demo.add_argument("--store", type=Path, help="file of the store (a temporary one)")
    demo.add_argument("--port", type=int, default=8000, help="port to listen on (8000)")
    demo.set_defaults(do=_demo)


def _work(campaign: Campaign, stop: threading.Event) -> None:
    """Ask and tell until stopped; one decision in fifty is forgotten, and expires."""
    _, arms, _ = CAMPAIGNS[campaign.name]
    chance = random.Random()
    while not stop.wait(chance.expovariate(1 / PAUSE)):
        try:
            decision = campaign.ask(worker=f"{campaign.name} worker")
            stop.wait(chance.expovariate(4.0))
            if chance.random() > 0.02:
                campaign.tell(decision, chance.gauss(*arms.get(decision.arm, (0.0, 0.01))))  # one may be new
        except SharpeBanditsError:  # a busy machine, or a campaign that was paused in the dashboard
            stop.wait(1.0)


def _demo(options: argparse.Namespace) -> int:
    require_libraries("the demonstration")
    from ...service import app, observability, security, server

    observability.configure_log("error")
    stop = threading.Event()
    with tempfile.TemporaryDirectory(prefix="sharpe-bandits-demo-") as folder:
        store = Store(options.store or Path(folder) / "demo.db")
        campaigns = [
            store.campaign(name, policy=policy, arms=list(arms), seed=1, **settings)
            for name, (policy, arms, settings) in CAMPAIGNS.items()
        ]
        visitor = security.Token.of("visitor", "write", secrets.token_urlsafe())
        application = app.create_app(store, [], visitor=visitor)

        def started(url: str) -> None:
            print(f"Open {url} (Ctrl-C ends the demonstration)", flush=True)
            for campaign in campaigns * WORKERS:
                threading.Thread(target=_work, args=(campaign, stop), daemon=True).start()

        try:
            return server.run(application, "127.0.0.1", options.port, started)
        finally:
            stop.set()
