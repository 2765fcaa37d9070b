"""The gate: every route and method, without a token, with one for reading, from elsewhere; limits; tokens in files."""

import json
import socket
import time
from pathlib import Path

import pytest
from starlette.routing import Mount

import sharpe_bandits as sb
from sharpe_bandits.service import security
from sharpe_bandits.service.app import create_app
from sharpe_bandits.service.security import HEALTH, OPEN, READ, WRITE, Guard, Token, read_tokens

from .conftest import READER, WRITER, bearer

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND")


def routes(router):
    """All routes of a router and of those in it; a kind of route that is not known here is an error."""
    for route in router.routes:
        if hasattr(route, "original_router"):
            yield from routes(route.original_router)
        else:
            yield route


def paths(app):
    """A path of every route, mounts included."""
    found = []
    for route in routes(app.app):
        path = route.path + ("/anything" if isinstance(route, Mount) else "")
        found.append(path.replace("{name}", "desks").replace("{number}", "1"))
    return sorted({*found, "/", "/nothing/here", "/api", "/api/campaigns/desks/nothing", "//", "/sign-in/", "/static"})


def is_open(method, path):
    return ("GET" if method == "HEAD" else method, path) in OPEN or (
        path.startswith("/static/") and method in ("GET", "HEAD")
    )


def test_every_route_needs_a_token(app, http):
    """Deny by default: whatever is added to the application is behind the gate."""
    del http.headers["Authorization"]
    every = paths(app)
    assert len(every) > 25
    assert "/api/campaigns/desks/rewards" in every
    app.app.state.guard._strangers._burst = 1e6
    for path in every:
        for method in METHODS:
            answer = http.request(method, path, json={})
            by_gate = answer.headers.get("www-authenticate") == "Bearer"
            assert by_gate != is_open(method, path), (method, path)
            assert answer.status_code == 401 or is_open(method, path), (method, path)
            wrong = http.request(method, path, headers=bearer("x" * 40)).status_code
            assert is_open(method, path) or wrong == 401


def test_a_token_for_reading_cannot_change_anything(app, http, store):
    before = store.campaigns()
    for path in paths(app):
        for method in METHODS:
            if method not in ("GET", "HEAD") and not is_open(method, path) and not path.endswith("/numbers"):
                answer = http.request(method, path, json={}, headers=bearer(READER))
                assert answer.status_code == 403, (method, path)
                assert answer.json()["type"].endswith(":scope")
    assert store.campaigns() == before
    assert http.get("/api/campaigns", headers=bearer(READER)).status_code == 200


def test_what_is_open_is_what_signing_in_needs():
    assert {path for _, path in OPEN} == {"/sign-in", "/sign-out", "/static/", *HEALTH}


FOREIGN = (
    "evil.example", "127.0.0.1.evil.example", "", "127.0.0.1@evil.example", "evil.example:8000", "127.0.0.1/x", "[::1",
    "127.0.0.1:8000:80",
)  # fmt: skip


@pytest.mark.parametrize(
    ("host", "status"),
    [
        *((host, 421) for host in FOREIGN),
        *((host, 200) for host in ("127.0.0.1", "localhost:9", "LOCALHOST", "[::1]:8000")),
    ],
)
def test_foreign_hosts_are_refused_and_own_ones_are_not(http, host, status):
    assert http.get("/api/campaigns", headers={"Host": host}).status_code == status


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:8000", "http://127.0.0.1:8001"])
def test_pages_from_elsewhere_are_refused(http, origin):
    for method, path in (("POST", "/api/campaigns"), ("GET", "/api/campaigns"), ("POST", "/sign-in")):
        answer = http.request(method, path, json={}, headers={"Origin": origin})
        assert answer.status_code == 403
    assert http.get("/api/campaigns", headers={"Origin": "http://127.0.0.1:8000"}).status_code == 200


def sign_in(http, token):
    http.headers.pop("Authorization", None)
    return http.post("/sign-in", data={"token": token, "next": "/campaign/desks"}, follow_redirects=False)


@pytest.mark.parametrize("name", ["Host", "Origin", "Authorization", "Cookie"])
def test_a_header_that_decides_about_access_is_sent_once(served, name):
    with socket.create_connection(("127.0.0.1", int(served.url.rpartition(":")[2]))) as connection:
        lines = ["GET /api/campaigns HTTP/1.1", f"Authorization: Bearer {WRITER}", f"Host: {served.url[7:]}"]
        lines += [f"{name}: a", f"{name}: b", "Connection: close", "", ""]
        connection.sendall("\r\n".join(lines).encode())
        assert connection.makefile("rb").readline().split()[1] == b"400"


def test_a_browser_signs_in_with_a_cookie_that_other_sites_cannot_send(http):
    answer = sign_in(http, WRITER)
    assert (answer.status_code, answer.headers["location"]) == (303, "/campaign/desks")
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert WRITER not in cookie
    assert http.get("/api/campaigns").status_code == 200
    body = {"keys": ["a"]}
    assert http.post("/api/campaigns/desks/decisions", json=body).status_code == 403, "no Origin, by cookie"
    own = {"Origin": "http://127.0.0.1:8000"}
    assert http.post("/api/campaigns/desks/decisions", json=body, headers=own).status_code == 200
    http.post("/sign-out", follow_redirects=False)
    assert http.get("/api/campaigns").status_code == 401


def test_a_wrong_token_signs_nobody_in(http):
    answer = sign_in(http, "no")
    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers
    home = http.get("/", headers={"Accept": "text/html"}, follow_redirects=False)
    assert home.headers["location"].startswith("/sign")


@pytest.mark.parametrize("there", ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)"])
def test_signing_in_leads_nowhere_else(http, there):
    answer = http.post("/sign-in", data={"token": WRITER, "next": there}, follow_redirects=False)
    assert answer.headers["location"] == "/"


def test_every_response_has_the_headers(app, http):
    for path in ("/", "/api/campaigns", "/nothing", "/static/dashboard.js", "/sign-in", "/campaign/desks", "/docs"):
        for headers in ({}, {"Authorization": ""}, {"Host": "evil.example"}):
            found = http.get(path, headers={**headers, "Accept": "text/html"}, follow_redirects=False).headers
            policy = found["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert "frame-ancestors 'none'" in policy
            assert found["x-content-type-options"] == "nosniff"
            assert found["x-frame-options"] == "DENY"
            assert not [name for name in found if name.startswith("access-control")]


def test_pages_have_no_inline_script_or_style_and_nothing_from_elsewhere(http):
    for path in ("/", "/campaign/desks", "/new", "/docs", "/sign-in", "/nothing"):
        page = http.get(path, headers={"Accept": "text/html"}).text
        assert "<html" in page
        for word in (" style=", "<style", " onclick", " onload", "javascript:", "//cdn", "https://", "http://"):
            assert word not in page, (path, word)
        assert page.count("<script") == page.count("<script src=")


def test_large_bodies_and_long_paths_are_refused(http):
    large = b"x" * (security.LARGEST_BODY + 1)
    assert http.post("/api/campaigns", content=large).status_code == 413
    parts = (large[i : i + 4096] for i in range(0, len(large), 4096))
    assert http.post("/api/campaigns", content=parts).status_code == 413
    assert http.get("/api/campaigns?x=" + "y" * 9000).status_code == 414


def test_requests_are_limited_per_token(store, monkeypatch):
    from starlette.testclient import TestClient

    now = time.monotonic()
    monkeypatch.setattr(security.time, "monotonic", lambda: now)
    with TestClient(create_app(store, [Token.of("a", READ, "a" * 40), Token.of("b", READ, "b" * 40)], rate=5),
                    base_url="http://localhost") as http:  # fmt: skip
        found = [http.get("/api/campaigns", headers=bearer("a" * 40)) for _ in range(30)]
        statuses = {answer.status_code for answer in found}
        assert statuses == {200, 429}
        assert found[-1].headers["retry-after"] == "1"
        assert http.get("/api/campaigns", headers=bearer("b" * 40)).status_code == 200


def test_sessions_hold_on_every_server_until_they_end(monkeypatch):
    """Another server with the same tokens, or the same one after a restart, knows a session; nobody can make one up."""
    tokens = [Token.of("a desk", WRITE, "a" * 40), Token.of("b", READ, "b" * 40)]
    guard, other = Guard(tokens, [], 10), Guard(tokens, [], 10)
    session = guard.sign_in(guard.token("a" * 40))
    assert other.session(session).name == "a desk"
    end, nonce, signature = session.split(".")
    other_end, other_nonce, other_signature = guard.sign_in(tokens[1]).split(".")
    for forged in (
        f"{int(end) + 1}.{nonce}.{signature}", f"{end}.{nonce}.{other_signature}", f"{end}.{nonce}.",
        f"{other_end}.{other_nonce}.{signature}", f"{end}.{nonce}.é", "", "..", "é.1.2", f"{'9' * 5000}.1.2",
    ):  # fmt: skip
        assert other.session(forged) is None, forged
    elsewhere = f"YSBkZXNr.{end}.{nonce}"  # with the name of its token first, as before the first release
    assert other.session(f"{elsewhere}.{security._signature(tokens[0], elsewhere)}") is None
    guard.sign_out(session)
    assert guard.session(session) is None
    other.replace([Token.of("a desk", WRITE, "c" * 40)])
    assert other.session(session) is None, "its token was replaced"
    third = Guard(tokens, [], 10)
    assert third.session(session) is not None
    now = time.time()
    monkeypatch.setattr(security.time, "time", lambda: now + security.SESSION_LENGTH + 1)
    assert third.session(session) is None


@pytest.mark.parametrize(
    "foreign", ["a=b", "a[b]=c", "a={}", "a@b=1", "é=1", "=", "a", 'x="y;z"', "sharpe_bandits_session_2=x", "a=b,c=d"]
)
def test_cookies_of_others_do_not_break_a_session(http, foreign):
    session = sign_in(http, READER).cookies[security.COOKIE]
    http.cookies.clear()
    for cookie in (f"{foreign}; {security.COOKIE}={session}", f"{security.COOKIE}={session}; {foreign}"):
        assert http.get("/api/campaigns", headers={"Cookie": cookie.encode()}).status_code == 200


def test_scopes_campaigns_and_expiry(store, monkeypatch):
    from starlette.testclient import TestClient

    for name in ("eu-desks", "us-desks"):
        store.campaign(name, policy=sb.policies.UCB1(), arms=2)
    tokens = [
        Token.of("asks", ["ask"], "a" * 40, campaigns=("eu-*",)),
        Token.of("tells", ["tell", "read"], "t" * 40),
        Token.of("creates", ["create", "read"], "c" * 40, campaigns=("eu-*",)),
        Token.of("short", WRITE, "s" * 40, expires=time.time() + 60),
    ]
    with TestClient(create_app(store, tokens), base_url="http://localhost") as http:

        def status(letter, method, path, body=None):
            return http.request(method, path, json=body, headers=bearer(letter * 40)).status_code

        eu, us = "/api/campaigns/eu-desks", "/api/campaigns/us-desks"
        assert status("a", "POST", f"{eu}/decisions", {}) == 200
        assert status("a", "POST", f"{us}/decisions", {}) == 403
        assert status("a", "GET", eu) == 403
        rewards = {"rewards": [{"decision": 1, "reward": 0.5}]}
        assert status("a", "POST", f"{eu}/rewards", rewards) == 403
        assert status("t", "POST", f"{eu}/rewards", rewards) == 200
        assert status("t", "POST", f"{eu}/decisions", {}) == 403
        assert status("t", "POST", f"{eu}/arms", {"arm": "x"}) == 403
        new = {"policy": "SF-UCB", "L": 1e-4, "arms": 2}
        assert status("c", "POST", "/api/campaigns", {"name": "eu-new", **new}) == 200
        assert status("c", "POST", "/api/campaigns", {"name": "us-new", **new}) == 403
        for path in ("/api/campaigns", "/api/overview"):
            seen = http.get(path, headers=bearer("c" * 40)).json()["campaigns"]
            assert [one["name"] for one in seen] == ["eu-desks", "eu-new"]
        assert "us-desks" not in http.get("/", headers={**bearer("c" * 40), "Accept": "text/html"}).text
        unknown = http.post("/api/campaigns/eu-nope/decisions", json={}, headers=bearer("a" * 40))
        assert unknown.status_code == 404
        assert "eu-desks" in unknown.text
        assert "us-desks" not in unknown.text
        metrics = http.get("/metrics", headers=bearer("c" * 40)).text
        assert 'campaign_decisions{campaign="eu-desks"} 1.0' in metrics
        assert "us-desks" not in metrics
        assert 'campaign="us-desks"' in http.get("/metrics", headers=bearer("t" * 40)).text
        assert status("s", "GET", us) == 200
        now = time.time()
        monkeypatch.setattr(security.time, "time", lambda: now + 61)
        assert status("s", "GET", us) == 401


def test_strangers_take_nothing_from_the_authorised_nor_from_probes(app, http, monkeypatch):
    """Behind a load balancer all have its address, and its probes know no host name; guessing is limited, too."""
    now = time.monotonic()
    monkeypatch.setattr(security.time, "monotonic", lambda: now)
    answers = [http.get("/api/campaigns", headers=bearer(f"{k:040}")).status_code for k in range(260)]
    assert (answers[0], answers[-1]) == (401, 429)
    assert http.get("/api/campaigns", headers={"Authorization": ""}).status_code == 429
    assert http.get("/api/campaigns").status_code == 200, "who has a token is not locked out"
    for host in ("10.0.0.7:8000", "", "elb.internal"):
        for path in HEALTH:
            for method in ("GET", "HEAD"):
                assert http.request(method, path, headers={"Host": host, "Authorization": ""}).status_code == 200
    assert http.get("/metrics", headers={"Authorization": ""}).status_code == 429


def test_tokens_come_from_a_file_that_others_cannot_read(tmp_path):
    path = tmp_path / "tokens.toml"
    path.write_text(f'[desk]\ntoken = "{"d" * 40}"\naccess = "write"\n["a b"]\ntoken = "{"e" * 40}"\naccess = "read"\n')
    path.chmod(0o644)
    with pytest.raises(sb.errors.InvalidInputError, match="chmod 600"):
        read_tokens(path)
    path.chmod(0o600)
    assert [(token.name, sorted(token.scopes)) for token in read_tokens(path)] == [
        ("desk", ["admin", "ask", "create", "read", "tell"]), ("a b", ["read"]),
    ]  # fmt: skip
    assert "d" * 40 not in repr(read_tokens(path))
    for content, words in {
        "": "no token",
        (Path(__file__).parents[2] / "deploy" / "tokens.example.toml").read_text(): "at least 32",
        "[desk]\ntoken = 'short'\naccess = 'read'": "at least 32",
        f"[desk]\ntoken = '{'d' * 40}'\naccess = 'all'": "access",
        "x": "TOML",
        "desk = 3": "needs token",
        f"[desk]\ntoken = '{'d' * 40}'\naccess = ['ask', 'all']": "access",
        f"[desk]\ntoken = '{'d' * 40}'\naccess = 'read'\nexpires = 'soon'": "date",
        f"[desk]\ntoken = '{'d' * 40}'\naccess = 'read'\ncampaigns = 'eu'": "list",
        "".join(f"[{name}]\ntoken = '{'d' * 40}'\naccess = '{name}'\n" for name in ("read", "write")): "same token",
    }.items():
        path.write_text(content)
        with pytest.raises(sb.SharpeBanditsError, match=words):
            read_tokens(path)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ("--host 0.0.0.0", "--allowed-hosts"),
        ("--host 0.0.0.0 --allowed-hosts desk.example", "--token-file"),
        ("--trusted-proxies zz", "--trusted-proxies: 'zz'"),
        ("--tls-certificate zz --tls-key zz", "--tls-key cannot be used: [Errno 2] No such file"),
        (f"--tls-certificate {__file__} --tls-key {__file__}", "--tls-key cannot be used: [SSL]"),
    ],
)
def test_options_that_would_open_the_service_to_others_are_refused(tmp_path, capsys, options, told):
    from sharpe_bandits.cli.program import main

    assert main(["serve", str(tmp_path / "a.db"), *options.split()]) == 2
    assert told in capsys.readouterr().err
    assert not (tmp_path / "a.db").exists()


def test_no_problem_shows_a_token(http):
    answer = http.get("/api/campaigns/x", headers=bearer("secret-" * 6))
    assert "secret" not in answer.text
    assert "secret" not in json.dumps(dict(answer.headers))


def test_a_body_that_is_slow_or_breaks_off_is_not_used(served, store, monkeypatch):
    """What has arrived of it is an ask by itself: nothing may come of that."""
    monkeypatch.setattr(security, "SLOWEST_BODY", 0.2)
    head = f"POST /api/campaigns/desks/decisions HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {WRITER}\r\n"
    head += "Content-Type: application/json\r\n"
    address = ("127.0.0.1", int(served.url.rpartition(":")[2]))
    for framing in ("Content-Length: 9\r\n\r\n{}", "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n"):
        with socket.create_connection(address, 10) as connection:
            connection.sendall((head + framing).encode())
            assert connection.recv(4096).startswith(b"HTTP/1.1 408")
        with socket.create_connection(address, 10) as connection:
            connection.sendall((head + framing).encode())
    with socket.create_connection(address, 10) as connection:
        connection.sendall(f"{head}Content-Length: 2\r\n\r\n{{}}".encode())
        assert connection.recv(4096).startswith(b"HTTP/1.1 200")
    assert store.campaign("desks").status().decisions == 1
