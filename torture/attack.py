"""Attack a service that runs on this machine, and print what came of it as a table: ``python -m torture.attack``.

The service is started here, as an operator would, and only it is attacked. What must not happen ends the program: a
5xx other than 503, an answer without a token, a name that runs as a script, a secret in the log.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote, urlencode

import sharpe_bandits as sb
from sharpe_bandits.service.app import create_app
from sharpe_bandits.service.security import HEALTH, OPEN

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND")
TOKENS = {name: name[0] * 40 for name in ("writer", "reader", "elsewhere", "old")}
PAYLOADS = [
    "<script>window.hacked=1</script>", "<img src=x onerror=window.hacked=1>", '"><svg onload=window.hacked=1>',
    "'-window.hacked=1-'", "{{7*7}}", "javascript:window.hacked=1", "</title><script>window.hacked=1</script>",
    "<iframe srcdoc='<script>parent.hacked=1</script>'>", "\u202egnp.exe", "a/../../b", "%3Cscript%3E", "x" * 200,
    "=cmd|'/c calc'!A1", "&lt;script&gt;",
]  # fmt: skip


class Target:
    """``sharpe-bandits serve`` in a process, and what was sent to it."""

    def __init__(self, folder: Path) -> None:
        tokens = folder / "tokens.toml"
        tokens.touch(0o600)
        tokens.write_text(
            f"[writer]\ntoken = '{TOKENS['writer']}'\naccess = 'write'\n[reader]\ntoken = '{TOKENS['reader']}'\n"
            f"access = 'read'\n[elsewhere]\ntoken = '{TOKENS['elsewhere']}'\naccess = 'write'\ncampaigns = ['eu-*']\n"
            f"[old]\ntoken = '{TOKENS['old']}'\naccess = 'write'\nexpires = 2020-01-01\n"
        )
        self.store = folder / "campaigns.db"
        self.log = folder / "log"
        with sb.Store(self.store) as store:
            store.campaign("desks", policy=sb.ScaleFreeUCB(L=1e-4), arms=["a", "b"], seed=1)
        command = [sys.executable, "-m", "sharpe_bandits", "serve", str(self.store), "--port", "0"]
        command += ["--token-file", str(tokens), "--log-level", "info", "--rate", "1e6"]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().split()[1]
        self.port = int(self.url.rpartition(":")[2])

    def send(
        self, method: str, path: str, body: bytes | None = None, token: str | None = None, source: int = 1,
        **headers: str,
    ) -> http.client.HTTPResponse:  # fmt: skip
        """One request on a connection of its own, from a loopback address."""
        address = f"127.0.{source // 250}.{source % 250 + 1}"
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60, source_address=(address, 0))
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if token is not None:
            named["Authorization"] = f"Bearer {token}"
        connection.request(method, path, body, {"Content-Type": "application/json", **named})
        response = connection.getresponse()
        response.content = response.read()  # type: ignore[attr-defined]
        connection.close()
        return response

    def raw(self, content: bytes, seconds: float = 5.0) -> bytes:
        """What comes back for these bytes."""
        with socket.create_connection(("127.0.0.1", self.port), seconds) as connection:
            try:
                connection.sendall(content)
                return connection.recv(65536)
            except OSError:
                return b""

    def memory(self) -> float:
        """Resident memory in MiB."""
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20

    def latency(self) -> float:
        """The slowest of ten asks of an authorised client, in milliseconds."""
        slowest = 0.0
        for _ in range(10):
            begin = time.perf_counter()
            assert self.send("POST", "/api/campaigns/desks/decisions", b"{}", TOKENS["writer"]).status == 200
            slowest = max(slowest, time.perf_counter() - begin)
        return 1e3 * slowest


def statuses(found: Counter[int]) -> str:
    """Counts by status."""
    wrong = [status for status in found if status >= 500 and status != 503]
    assert not wrong, found
    return ", ".join(f"{status}: {count}" for status, count in sorted(found.items()))


def every_route(target: Target) -> tuple[int, str]:
    """Each route and method without a token, with a wrong one, an expired one, and one for other campaigns."""
    with tempfile.TemporaryDirectory() as folder, sb.Store(Path(folder) / "x.db") as store:
        listed = create_app(store, []).app.openapi()["paths"]
    routes = [path.replace("{name}", "desks").replace("{number}", "1") for path in listed]
    routes += [
        "/", "/campaign/desks", "/new", "/docs", "/openapi.json", "/metrics", "/static/../tokens.toml", "//", "/.env",
        "/%2e%2e/tokens.toml", "/static/%2e%2e/%2e%2e/security.py", "/api/campaigns/desks%2Frewards", "/sign-in/x",
    ]  # fmt: skip
    found: Counter[int] = Counter()
    for path in routes:
        for method in METHODS:
            for token in (None, "x" * 40, TOKENS["old"], TOKENS["elsewhere"]):
                body = b"{}" if method == "POST" else None
                status = target.send(method, path, body, token, source=sum(found.values()) // 100).status
                found[status] += 1
                own = token == TOKENS["elsewhere"] and "desks" not in path
                is_open = path in HEALTH or (method, path) in OPEN
                assert status >= 400 or is_open or own, (method, path, token, status)
                assert status != 429, "each address is limited; these are many"
    return sum(found.values()), statuses(found)


def reader_writes(target: Target) -> tuple[int, str]:
    """A token for reading, on everything that changes something."""
    before = target.send("GET", "/api/campaigns/desks", token=TOKENS["reader"]).content  # type: ignore[attr-defined]
    found: Counter[int] = Counter()
    for path in ("decisions", "rewards", "records", "rules", "resume", "arms", "arms/retire", "arms/suspend",
                 "arms/resume", "accept-clock", "decisions/1/cancel", "decisions/1/amend"):  # fmt: skip
        for method in METHODS[2:6]:
            sent = target.send(method, f"/api/campaigns/desks/{path}", b"{}", TOKENS["reader"])
            found[sent.status] += 1
    found[target.send("POST", "/api/campaigns", b"{}", TOKENS["reader"]).status] += 1
    after = target.send("GET", "/api/campaigns/desks", token=TOKENS["reader"]).content  # type: ignore[attr-defined]
    assert json.loads(before)["events"] == json.loads(after)["events"]
    return sum(found.values()), statuses(found)


def hosts_and_origins(target: Target) -> tuple[int, str]:
    """Names of other hosts (DNS rebinding), and pages of other sites."""
    found: Counter[int] = Counter()
    for host in ("evil.example", "127.0.0.1.evil.example", "localhost.evil", "127.0.0.1@evil.example", "[::2]", "",
                 "a b", "127.0.0.1/x", "127.0.0.1:x", "LOCALHOST.", "0.0.0.0", "127.1"):  # fmt: skip
        found[target.send("GET", "/api/campaigns", None, TOKENS["writer"], Host=host).status] += 1
    for origin in ("http://evil.example", "null", "https://127.0.0.1", f"http://127.0.0.1:{target.port}.evil.example",
                   "file://", f"http://127.0.0.1:{target.port + 1}", "http://localhost"):  # fmt: skip
        body = json.dumps({"arm": "c"}).encode()
        sent = target.send("POST", "/api/campaigns/desks/arms", body, TOKENS["writer"], Origin=origin)
        found[sent.status] += 1
    assert not [status for status in found if status < 400], found
    return sum(found.values()), statuses(found)


def sessions(target: Target) -> tuple[int, str]:
    """Fixation, forged and altered cookies, another site's form, a session after signing out."""
    origin = f"http://127.0.0.1:{target.port}"
    form = urlencode({"token": TOKENS["writer"], "next": "//evil.example"}).encode()
    headers = {"Content_Type": "application/x-www-form-urlencoded", "Origin": origin}
    fixed = target.send("POST", "/sign-in", form, **headers, Cookie="sharpe_bandits_session=chosen-by-the-attacker")
    cookie = (fixed.getheader("set-cookie") or "").partition(";")[0]
    value = cookie.partition("=")[2]
    attributes = fixed.getheader("set-cookie") or ""
    assert "chosen" not in value
    assert "HttpOnly" in attributes
    assert "SameSite=strict" in attributes
    assert fixed.getheader("location") == "/"
    name, end, nonce, signature = value.split(".")
    forged = ["chosen-by-the-attacker", "", "....", f"{name}.{int(end) + 9}.{nonce}.{signature}",
              f"{name}.{end}.{nonce}.", f"{name}.{end}.{nonce}.{'0' * 64}", f"cmVhZGVy.{end}.{nonce}.{signature}",
              value + "x", "é" * 10,
              value[:-1] + ("0" if value[-1] != "0" else "1")]  # fmt: skip
    found: Counter[int] = Counter()
    for text in forged:
        cookie_text = f"sharpe_bandits_session={quote(text, safe='.')}"
        found[target.send("GET", "/api/campaigns", Cookie=cookie_text).status] += 1
    found[target.send("POST", "/api/campaigns/desks/arms", b'{"arm": "x"}', Cookie=cookie).status] += 1  # no Origin
    assert target.send("GET", "/api/campaigns", Cookie=cookie).status == 200
    target.send("POST", "/sign-out", b"", Cookie=cookie, Origin=origin)
    found[target.send("GET", "/api/campaigns", Cookie=cookie).status] += 1
    assert set(found) <= {401, 403}, found
    return sum(found.values()) + 4, statuses(found)


def forwarded(target: Target) -> tuple[int, str]:
    """Headers that only a trusted proxy may set: they change neither the limit of strangers nor the host or method."""
    found: Counter[int] = Counter()
    for k in range(600):
        sent = target.send(
            "GET", "/api/campaigns", X_Forwarded_For=f"10.0.{k // 250}.{k % 250}", X_Real_IP=f"10.1.1.{k % 250}"
        )
        found[sent.status] += 1
    assert found[429] > 100, found
    for headers in ({"X_Forwarded_Host": "evil.example"}, {"X_Original_URL": "/health"}, {"X_Rewrite_URL": "/health"},
                    {"X_HTTP_Method_Override": "GET"}, {"Forwarded": "for=127.0.0.1;host=evil"}):  # fmt: skip
        status = target.send("POST", "/api/campaigns/desks/arms", b'{"arm": "x"}', **headers).status
        found[status] += 1
        assert status >= 400
    return sum(found.values()), statuses(found)


def bombs(target: Target) -> tuple[int, str]:
    """Large, deep, endless and twisted bodies, with a token."""
    before, found = target.memory(), Counter[int]()
    deep = b"[" * 100_000 + b"]" * 100_000
    bodies = [
        b"x" * (2**20 + 1), deep, b'{"a":' * 50_000 + b"1" + b"}" * 50_000, b'{"rewards": ' + deep + b"}",
        b'{"count": 1' + b"0" * 900_000 + b"}", b'{"count": 1e999}', b'{"count": NaN}', b"\xff\xfe", b"", b"null",
        b'{"key": "' + b"k" * 1_000_000 + b'"}', b'{"keys": [' + b"null," * 200_000 + b"null]}",
        b'{"key": "\\ud800"}',
        b'{"key": "a", "key": "b", "key": 5}',
        b'{"tags": {' + b",".join(b'"%d": "x"' % k for k in range(60_000)) + b"}}",
        b'{"rewards": [' + b",".join(b'{"decision":1,"reward":1e308}' for _ in range(30_000)) + b"]}",
    ]  # fmt: skip
    slowest = 0.0
    for body in bodies:
        for path in ("decisions", "rewards", "records", "rules", "numbers"):
            begin = time.perf_counter()
            try:
                status = target.send("POST", f"/api/campaigns/desks/{path}", body, TOKENS["writer"]).status
            except (BrokenPipeError, ConnectionResetError):
                status = 413  # refused while it was being sent
            found[status] += 1
            slowest = max(slowest, time.perf_counter() - begin)
    import gzip

    packed = gzip.compress(b" " * 50_000_000)
    found[
        target.send("POST", "/api/campaigns/desks/decisions", packed, TOKENS["writer"], Content_Encoding="gzip").status
    ] += 1
    grown = target.memory() - before
    assert grown < 200, grown
    return sum(found.values()), f"{statuses(found)}; slowest {slowest:.1f} s; memory +{grown:.0f} MiB"


def smuggling(target: Target) -> tuple[int, str]:
    """Requests whose length can be read in two ways, and broken ones."""
    own = f"Host: 127.0.0.1\r\nAuthorization: Bearer {TOKENS['writer']}\r\n"
    head = f"POST /api/campaigns/desks/decisions HTTP/1.1\r\n{own}"
    hidden = f"GET /metrics HTTP/1.1\r\n{own}\r\n"
    twisted = [
        head + f"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{hidden}",
        head + f"Content-Length: 2\r\nContent-Length: 200\r\n\r\n{{}}{hidden}",
        head + "Transfer-Encoding: xchunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        head + "Content-Length: -1\r\n\r\n", head + "Content-Length: 2e1\r\n\r\n{}",
        head + "Content-Length : 2\r\n\r\n{}",
        head + "X: a\r\n Content-Length: 99\r\n\r\n", "GET http://evil.example/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n", "\x16\x03\x01\x00\xff", "GET /\x00 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "\r\n" * 100,
    ]  # fmt: skip
    found: Counter[int] = Counter()
    for text in twisted:
        answer = target.raw(text.encode("latin-1"))
        codes = re.findall(rb"HTTP/1.1 (\d+)", answer)
        assert len(codes) <= 1, (text, answer)
        assert b"sharpe_bandits_requests" not in answer, text
        found[int(codes[0]) if codes else 0] += 1
    return len(twisted), f"{statuses(found)} (0: closed without an answer); never two answers"


def slow_clients(target: Target) -> tuple[int, str]:
    """Three hundred clients that send a byte a second of their headers, and fifty of a body."""
    quiet = target.latency()
    held: list[socket.socket] = []
    for k in range(350):
        connection = socket.create_connection(("127.0.0.1", target.port), 5)
        body = f"Content-Length: 1000\r\nAuthorization: Bearer {TOKENS['writer']}\r\n\r\n" if k >= 300 else "X"
        connection.sendall(f"POST /api/campaigns/desks/decisions HTTP/1.1\r\nHost: 127.0.0.1\r\n{body}".encode())
        held.append(connection)
    worst, closed, began = 0.0, 0, time.monotonic()
    while time.monotonic() < began + 14:
        worst = max(worst, target.latency())
        for connection in held:
            with suppress(OSError):
                connection.sendall(b"x")
        time.sleep(1)
    for connection in held[:300]:
        try:
            connection.settimeout(0.1)
            closed += connection.recv(1) == b""
        except TimeoutError:
            pass
        except OSError:
            closed += 1
    for connection in held:
        connection.close()
    return (
        350,
        f"{closed} of 300 were closed after ten seconds; slowest ask of others {worst:.0f} ms ({quiet:.0f} before)",
    )


def names(target: Target) -> tuple[int, str]:
    """Names of campaigns, arms, keys, workers and reasons that are scripts, in Chromium."""
    accepted: list[str] = []
    refused = 0
    for k, payload in enumerate(PAYLOADS):
        arms = [payload, f"{payload[:190]} {k}"]
        body = {"name": payload, "policy": "SF-UCB", "L": 1e-4, "arms": arms}
        if target.send("POST", "/api/campaigns", json.dumps(body).encode(), TOKENS["writer"]).status != 200:
            refused += 1  # a name that cannot be shown as it is
            continue
        accepted.append(payload)
        where = f"/api/campaigns/{quote(payload, safe='')}"
        ask = {"key": payload, "worker": payload, "segment": payload[:60], "tags": {"t": payload}}
        target.send("POST", f"{where}/decisions", json.dumps(ask).encode(), TOKENS["writer"])
        target.send("POST", f"{where}/rules", json.dumps({"mode": "paused", "why": payload}).encode(), TOKENS["writer"])
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        return 0, "no Chromium here"
    from playwright.sync_api import sync_playwright

    opened = ran = 0
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        dialogs: list[str] = []
        page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
        page.goto(f"{target.url}/sign-in")
        page.fill("#token", TOKENS["writer"])
        page.click("main button[type=submit]")
        for path in ["/", *(f"/campaign/{quote(payload, safe='')}" for payload in accepted)]:
            page.goto(target.url + path)
            page.wait_for_timeout(400)
            ran += page.evaluate("window.hacked !== undefined") or bool(dialogs)
            opened += 1
        browser.close()
    assert ran == 0
    return opened, f"{len(accepted)} names as campaign, arm, key, worker, tag and reason, {refused} refused; {ran} ran"


def secrets_in_logs(target: Target) -> tuple[int, str]:
    """Tokens in all that the service has logged."""
    target.send("GET", f"/api/campaigns?token={TOKENS['writer']}", token=TOKENS["writer"])
    time.sleep(0.5)
    text = target.log.read_text()
    assert "Traceback" not in text, text[text.index("Traceback") :][:2000]
    lines = text.splitlines()
    for line in lines:
        json.loads(line)
    hits = sum(token in line for line in lines for token in TOKENS.values())
    assert hits == 0
    return len(lines), f"{hits} lines with a token; every line is JSON; no traceback"


ATTACKS = (
    every_route, reader_writes, hosts_and_origins, sessions, forwarded, bombs, smuggling, slow_clients, names,
    secrets_in_logs,
)  # fmt: skip


def main() -> int:
    """Attack, and print the table."""
    print("| attack | requests | answers |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        target = Target(Path(folder))
        try:
            for attack in ATTACKS:
                began = time.monotonic()
                count, words = attack(target)
                print(f"| {(attack.__doc__ or '').rstrip('.')} | {count:,} | {words} |", flush=True)
                print(f"{attack.__name__}: {time.monotonic() - began:.0f} s", file=sys.stderr)
                assert target.process.poll() is None, "the service has ended"
            watchdog = threading.Timer(40, target.process.kill)
            watchdog.start()
            target.process.send_signal(signal.SIGTERM)
            target.process.wait()
            watchdog.cancel()
        finally:
            target.process.kill()
    return 0


if __name__ == "__main__":
    sys.exit(main())
