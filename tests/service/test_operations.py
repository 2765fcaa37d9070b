"""What operators rely on: probes, metrics, the log, tokens replaced while running, bounds, long work aside."""

import io
import json
import logging
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

import pytest

import sharpe_bandits as sb
from sharpe_bandits.live.campaigns import schema, webhooks
from sharpe_bandits.policies.custom import PolicyFactory
from sharpe_bandits.service import app as apps
from sharpe_bandits.service import state as states
from sharpe_bandits.service.app import create_app
from sharpe_bandits.service.observability import JSONFormatter, logger
from tests.live.campaigns.conftest import clock, postgres  # noqa: F401
from tests.proxies import Proxy
from tests.service.desks import DESKS, ask

from .conftest import ARMS, POLICY, READER, TOKENS, WRITER, Served, bearer


@contextmanager
def log_lines(level="WARNING"):
    """What the service logs meanwhile, parsed."""
    stream, lines = io.StringIO(), []
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JSONFormatter())
    logger.addHandler(handler)
    before = logger.level
    logger.setLevel(level)
    try:
        yield lines
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)
        lines += [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_store_that_is_lost_is_reported_everywhere_in_bounded_time(postgres):  # noqa: F811
    """The network is cut without a reset: 503 with Retry-After, not ready but alive, log lines, and a bounded end."""
    with Proxy(postgres.address) as proxy:
        store = sb.Store(proxy.url(postgres), timeout=1.0)
        name = f"cut {time.monotonic_ns()}"
        store.campaign(name, policy=POLICY, arms=ARMS)
        served = Served(create_app(store, TOKENS))
        path = f"{served.url}/api/campaigns/{name.replace(' ', '%20')}/decisions"

        def call(url, body=None):
            headers = {**bearer(WRITER), "Content-Type": "application/json"}
            began = time.monotonic()
            try:
                with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=20) as answer:
                    return answer.status, dict(answer.headers), time.monotonic() - began
            except urllib.error.HTTPError as error:
                with error:
                    return error.code, dict(error.headers), time.monotonic() - began

        assert call(path, b"{}")[0] == 200
        assert call(f"{served.url}/health/ready")[0] == 200
        proxy.forwards = False
        with log_lines() as lines:
            status, headers, seconds = call(path, b"{}")
            assert (status, headers["retry-after"]) == (503, "1")
            assert seconds < 6
            assert call(f"{served.url}/health/ready")[0] == 503
            assert call(f"{served.url}/health/live")[0] == 200
            status, _, seconds = call(f"{served.url}/metrics")
            assert status == 200, "what the process itself knows"
            assert seconds < 3
        failed = [line for line in lines if line.get("status") == 503]
        assert len(failed) == 2
        assert failed[0]["token"] == "works"
        assert failed[0]["campaign"] == name
        assert "no answer" in failed[0]["problem"]
        began = time.monotonic()
        served.stop()
        assert time.monotonic() - began < 10
        proxy.forwards = True


def test_log_lines_are_json_with_an_id_and_never_a_token(http, store):
    with log_lines("INFO") as lines:
        answer = http.get("/api/campaigns/desks", headers={"X-Request-ID": "my-id.1"})
        http.get("/api/campaigns", headers={"X-Request-ID": "not\tone"})
        http.get("/api/campaigns", headers=bearer("secret" * 8))
    assert answer.headers["x-request-id"] == "my-id.1"
    assert [line["request"] == "my-id.1" for line in lines] == [True, False, False]
    assert lines[0]["status"] == 200
    assert lines[2]["token"] is None
    assert "secret" not in json.dumps(lines)
    assert WRITER not in json.dumps(lines)


def test_metrics_are_those_that_dashboards_and_alerts_use(http, store):
    ask(http, count=5)
    http.post(f"{DESKS}/rewards", json={"rewards": [{"decision": 1, "reward": 0.5}]})
    http.get("/api/campaigns", headers={"Authorization": "Bearer x"})
    text = http.get("/metrics", headers=bearer(READER)).text
    values = {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in text.splitlines() if line[0] != "#"}
    assert values['sharpe_bandits_campaign_decisions{campaign="desks"}'] == 5
    assert values['sharpe_bandits_campaign_pending{campaign="desks"}'] == 4
    assert values['sharpe_bandits_refused_total{reason="no-token"}'] == 1
    route = 'method="POST",route="/api/campaigns/{name}/decisions",status="200"'
    assert values[f"sharpe_bandits_requests_total{{{route}}}"] == 1
    assert values['sharpe_bandits_campaign_policy_share{campaign="desks"}'] == 1
    rail = {"kind": "drawdown", "limit": 3}
    assert http.post(f"{DESKS}/rules", json={"guardrails": [rail]}).status_code == 200
    told = [{"decision": one["number"], "reward": -1.0 - 0.01 * (one["number"] % 7)} for one in ask(http, count=90)]
    http.post(f"{DESKS}/rewards", json={"rewards": told, "strict": False})
    text = http.get("/metrics", headers=bearer(READER)).text
    assert float(re.search(r'broken_guardrails{campaign="desks"} (\S+)', text).group(1)) >= 1
    assert values["sharpe_bandits_commit_seconds_count"] == values["sharpe_bandits_group_size_count"] == 2


def test_a_policy_that_this_server_did_not_import_hides_no_metrics_of_others(http, store, monkeypatch):
    @sb.index_policy(name="of another process")
    def formula(arm, t):
        return arm.mean

    store.campaign("a", policy=formula(), arms=ARMS)
    monkeypatch.delitem(PolicyFactory.known, "of another process")
    text = http.get("/metrics", headers=bearer(READER)).text
    assert re.findall(r'campaign_decisions{campaign="(\w+)"}', text) == ["desks"]


def test_a_refused_clock_is_seen_and_takes_no_server_out_of_rotation(http, store, clock):  # noqa: F811
    """Another campaign goes on, so that the server stays ready; metrics, the probe and the page say what is refused."""

    def refused():
        text = http.get("/metrics", headers=bearer(READER)).text
        return dict(re.findall(r'campaign_clock_refused{campaign="(\w+)"} (\S+)', text))

    clock[0] = 7200
    ask(http)
    clock[0] = 0  # it was wrong before
    store.campaign("later", policy=POLICY, arms=ARMS)
    assert http.post(f"{DESKS}/decisions", json={}).status_code == 503
    assert http.post("/api/campaigns/later/decisions", json={}).status_code == 200
    ready = http.get("/health/ready")
    assert (ready.status_code, ready.json()) == (200, {"ok": True, "campaigns_refused": 1})
    assert refused() == {"desks": "1.0", "later": "0.0"}
    assert "but the last event was at" in http.get("/campaign/desks", headers={"Accept": "text/html"}).text
    assert http.post(f"{DESKS}/accept-clock").status_code == 200
    assert refused() == {"desks": "0.0", "later": "0.0"}
    ask(http)
    assert http.get("/health/ready").json() == {"ok": True, "campaigns_refused": 0}


def test_prometheus_scrapes_a_server_by_its_address(http):
    elsewhere = {"Host": "10.1.2.3:8000"}
    assert http.get("/metrics", headers=elsewhere).status_code == 200
    assert http.get("/metrics", headers={**elsewhere, "Origin": "http://10.1.2.3:8000"}).status_code == 421
    assert http.get("/metrics", headers={**elsewhere, **bearer("x" * 40)}).status_code == 401
    del http.headers["Authorization"]
    assert http.get("/metrics", headers=elsewhere).status_code == 421


def test_messages_to_webhooks_are_counted(http, monkeypatch):
    def counts():
        return dict(re.findall(r'sharpe_bandits_webhooks_total{result="(\w+)"} (\S+)', http.get("/metrics").text))

    before = counts()
    answers = [204, 500, 500]
    monkeypatch.setattr(webhooks, "_post", lambda *_: answers.pop(0))
    webhooks.send("https://alerts.example/", "1", {})
    with pytest.raises(sb.errors.StoreError):
        webhooks.send("https://alerts.example/", "2", {}, attempts=2, pause=0.0)
    assert {result: float(count) - float(before[result]) for result, count in counts().items()} == {
        "delivered": 1, "failed": 1,
    }  # fmt: skip


def test_the_number_of_time_series_is_bounded(http, store, monkeypatch):
    monkeypatch.setattr(states, "METRICS_CAMPAIGNS", 3)
    for k in range(6):
        store.campaign(f"c{k}", policy=POLICY, arms=2)
        http.get(f"/api/campaigns/c{k}")
        http.get(f"/nothing/{k}")
    text = http.get("/metrics").text
    assert len(re.findall("sharpe_bandits_campaign_pending{", text)) == 3
    assert "/nothing" not in text


def test_tokens_are_replaced_while_the_service_runs(store, tmp_path, monkeypatch):
    from starlette.testclient import TestClient

    from sharpe_bandits.service.security import read_tokens

    monkeypatch.setattr(apps, "REREAD_SECONDS", 0.02)
    path = tmp_path / "tokens.toml"

    def write(text):
        new = tmp_path / "new.toml"
        new.touch(0o600)
        new.write_text(text)
        new.replace(path)

    def write_token(token):
        write(f"[desk]\ntoken = '{token}'\naccess = 'write'\n")

    write_token("a" * 40)
    with TestClient(create_app(store, read_tokens(path), token_file=path), base_url="http://localhost") as http:

        def status(letter):
            return http.get("/api/campaigns", headers=bearer(letter * 40)).status_code

        assert (status("a"), status("b")) == (200, 401)
        write_token("b" * 40)
        deadline = time.monotonic() + 10
        while status("b") != 200:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        assert status("a") == 401
        with log_lines() as lines:
            write("not TOML")
            time.sleep(0.2)
        assert status("b") == 200, "a file that cannot be used changes nothing"
        assert len(lines) == 1, "and is logged once"


@contextmanager
def serving(tmp_path, *options, descriptors=None):
    """``sharpe-bandits serve`` in a process; its address, a token to write, and the process."""
    command = [sys.executable, "-m", "sharpe_bandits", "serve", str(tmp_path / "campaigns.db"), "--port", "0", *options]

    def limit():
        if descriptors:
            resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))

    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, preexec_fn=limit, **pipes) as process:
        try:
            url = process.stdout.readline().split()[1]
            token = process.stdout.readline().split()[-1]
            yield url, token, process
        finally:
            process.kill()


def get(url, token, **headers):
    with urllib.request.urlopen(
        urllib.request.Request(url, headers={**bearer(token), **headers}), timeout=30
    ) as answer:
        return answer.read()


def test_strangers_cannot_hold_connections_or_memory_and_sighup_ends_nothing(tmp_path, store):
    store.campaign("desks", policy=POLICY, arms=ARMS)
    with serving(tmp_path, descriptors=256) as (url, token, process):
        address = ("127.0.0.1", int(url.rpartition(":")[2]))
        process.send_signal(signal.SIGHUP)
        idle = [socket.create_connection(address, 10) for _ in range(300)]
        assert b"desks" in get(f"{url}/api/campaigns", token), "those that have waited longest make room"
        for connection in idle:
            connection.close()

        def memory():
            text = Path(f"/proc/{process.pid}/status").read_text()
            return int(re.search(r"VmRSS:\s+(\d+)", text).group(1))

        before = memory()
        for head in (b"GET / HTTP/1.1\r\nX: ", b"GET /"):
            with socket.create_connection(address, 10) as endless:
                endless.sendall(head)
                with pytest.raises(ConnectionError):
                    _send_for_ever(endless)
        assert memory() - before < 8192, "kB"
        assert process.poll() is None
        process.terminate()
        assert process.wait(30) == -signal.SIGTERM, "cleanly, and then by the signal"
        assert "Traceback" not in process.stderr.read()


@pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be deleted")
def test_a_deleted_store_is_not_acknowledged(http, tmp_path):
    ask(http)
    for file in tmp_path.glob("campaigns.db*"):
        file.unlink()
    answer = http.post(f"{DESKS}/decisions", json={})
    assert (answer.status_code, "was deleted or replaced" in answer.json()["detail"]) == (503, True)
    assert http.get("/health/ready").status_code == 503


def test_behind_a_proxy_with_tls_a_browser_signs_in(tmp_path, store):
    """The proxy's headers are believed if it is trusted, and of nobody else."""
    store.campaign("desks", policy=POLICY, arms=ARMS)
    for trusted, expected in ((("--trusted-proxies", "127.0.0.0/8"), 303), ((), 403)):
        with serving(tmp_path, "--allowed-hosts", "desk.example", *trusted) as (url, token, _):
            host, port = url.removeprefix("http://").split(":")
            import http.client

            connection = http.client.HTTPConnection(host, int(port), timeout=10)
            headers = {"Host": "desk.example", "Origin": "https://desk.example", "X-Forwarded-Proto": "https"}
            connection.request("POST", "/sign-in", f"token={token}&next=/", headers)
            answer = connection.getresponse()
            assert answer.status == expected
            assert ("Secure" in (answer.getheader("set-cookie") or "")) == (expected == 303)
            connection.close()


def test_long_work_runs_aside_and_gives_the_same(tmp_path, store):
    """Verification and evaluation in another process, of low priority, while asks are answered."""
    campaign = store.campaign("desks", policy=POLICY, arms=ARMS, explore=0.2)
    for _ in range(4):
        campaign.tell_many({decision: 0.01 * (decision.number % 7) for decision in campaign.ask(count=1000)})
    with serving(tmp_path) as (url, token, process), sb.connect(url, token=token) as service:
        remote = service.campaign("desks")
        results = []
        work = threading.Thread(target=lambda: results.append(remote.verify(choices=True)))
        work.start()
        asked = 0
        while work.is_alive():
            remote.ask()
            asked += 1
        work.join()
        assert results[0].ok
        assert results[0].decisions >= 4_000
        assert asked > 10
        other = sb.ScaleFreeUCB(L=1e-4, c=0.2)
        assert remote.evaluate(other) == campaign.evaluate(other)
        assert remote.history(first=1, count=50).equals(campaign.history(first=1, count=50))
        assert get(f"{url}{DESKS}/decisions.csv", token).count(b"\n") == 4_001 + asked
        children = [int(pid) for pid in os.listdir("/proc") if pid.isdigit() and _parent(pid) == process.pid]
        assert any(
            os.getpriority(os.PRIO_PROCESS, child) > os.getpriority(os.PRIO_PROCESS, process.pid) for child in children
        )
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == -signal.SIGTERM, "cleanly, and then by the signal"


def test_the_process_aside_ends_with_a_service_that_is_killed(tmp_path, store):
    store.campaign("desks", policy=POLICY, arms=ARMS).ask()
    with serving(tmp_path) as (url, token, process):
        with sb.connect(url, token=token) as service:
            assert service.campaign("desks").verify().ok
        children = [pid for pid in os.listdir("/proc") if pid.isdigit() and _parent(pid) == process.pid]
        assert children
        process.kill()
        process.wait()
    until = time.monotonic() + 20
    while any(map(_runs, children)):
        assert time.monotonic() < until, "it waits for work for ever"
        time.sleep(0.05)


def _send_for_ever(connection):
    for _ in range(400):
        connection.sendall(b"x" * 65536)
        time.sleep(0.001)


def _parent(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return int(file.read().rpartition(")")[2].split()[1])
    except OSError:
        return None


def _runs(pid):
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def test_ten_thousand_campaigns_are_paged_and_searched(http, store):
    """The first page reads one page, and does not open them all."""
    (row,) = store._storage.campaigns("desks")
    snapshot = store._storage.read(row.id, lambda records: records.snapshot())[1]
    with store._storage.connection() as driver:
        rows = [(f"campaign {k:05}", row.settings, row.created, row.created - 1) for k in range(10_000)]
        driver.execute("BEGIN")
        driver.executemany(
            "INSERT INTO sharpe_bandits_campaigns (name, settings, created, events, clock) VALUES (?, ?, ?, 0, ?)", rows
        )
        driver.execute(
            "INSERT INTO sharpe_bandits_snapshots (campaign, seq, state) SELECT id, 0, ? FROM sharpe_bandits_campaigns "
            "WHERE name LIKE 'campaign %'", (snapshot,),
        )  # fmt: skip
        driver.execute("COMMIT")
    began = time.perf_counter()
    first = http.get("/api/overview").json()
    seconds = time.perf_counter() - began
    assert seconds < 3, "a second on a machine of its own"
    assert len(first["campaigns"]) == 25
    assert first["next"] == "campaign 00024"
    second = http.get("/api/overview", params={"after": first["next"]}).json()
    assert second["campaigns"][0]["name"] == "campaign 00025"
    hits = http.get("/api/overview", params={"search": "GN 0007"}).json()["campaigns"]
    assert [one["name"] for one in hits] == [f"campaign {k:05}" for k in range(70, 80)]
    page = http.get("/?search=desk", headers={"Accept": "text/html"}).text
    assert "campaign 0" not in page
    assert len(store.campaigns()) == 10_001


def test_the_demonstration_runs_from_the_command_line_without_tokens(tmp_path):
    command = [sys.executable, "-m", "sharpe_bandits", "demo", "--port", "0", "--store", str(tmp_path / "demo.db")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        try:
            url = process.stdout.readline().split()[1]
            with urllib.request.urlopen(f"{url}/", timeout=20) as page:
                assert "execution venues" in page.read().decode()
            with pytest.raises(urllib.error.HTTPError, match="403"):  # other sites cannot use it
                urllib.request.urlopen(urllib.request.Request(f"{url}/api/campaigns/desks/arms", b"{}"), timeout=20)
            deadline, rewards = time.monotonic() + 300, 0
            while not rewards:
                assert time.monotonic() < deadline
                with urllib.request.urlopen(f"{url}/api/campaigns/desks", timeout=20) as answer:
                    rewards = json.load(answer)["rewards"]
        finally:
            process.send_signal(signal.SIGINT)
            assert process.wait(40) in (0, 130, -signal.SIGINT)


def test_a_rolling_upgrade_of_two_servers(tmp_path):
    """A server whose store is upgraded by a newer release stops writing, is not ready, and still reads."""
    import sqlite3

    path, name = tmp_path / "campaigns.db", "desks"
    servers = [Served(create_app(sb.Store(path), TOKENS)) for _ in range(2)]
    sb.Store(path).campaign(name, policy=POLICY, arms=ARMS)

    def status(url, body=None):
        headers = {**bearer(WRITER), "Content-Type": "application/json"}
        try:
            with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=30) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            with error:
                return error.code

    def seen():
        """Of each server: an ask, readiness, a look."""
        addresses = [f"{served.url}/api/campaigns/{quote(name)}" for served in servers]
        probes = [f"{served.url}/health/ready" for served in servers]
        return [
            (status(f"{address}/decisions", b"{}"), status(probe), status(address))
            for address, probe in zip(addresses, probes, strict=True)
        ]

    assert seen() == 2 * [(200, 200, 200)]
    with sb.Store(path) as store:
        before = store.campaign(name).status().decisions
    with sqlite3.connect(path) as newer:
        newer.execute("UPDATE sharpe_bandits_revision SET version_num = '9999'")
    assert seen() == 2 * [(503, 503, 200)]
    with sqlite3.connect(path) as newer:
        newer.execute(f"UPDATE sharpe_bandits_revision SET version_num = '{schema.REVISION}'")
    newer.close()
    assert seen() == 2 * [(200, 200, 200)]
    with sb.Store(path) as store:
        campaign = store.campaign(name)
        assert campaign.status().decisions == before + 2
        assert campaign.verify().ok
    for served in servers:
        served.stop()
