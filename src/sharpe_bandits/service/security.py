"""The gate in front of all routes: authentication, authorisation and rate limits. It denies by default.

Only the gate decides, for all routes: each needs a token with the scope of :func:`scope_of` for the campaign in its
path, and only the few paths in ``OPEN`` need none. It also checks Host (DNS rebinding) and Origin (forged requests),
limits the size of bodies and the rate of requests, and adds security headers to every response.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import os
import re
import secrets
import stat
import time
import tomllib
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal, get_args
from urllib.parse import quote, unquote

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from .._support.names import check_name
from ..errors import InvalidInputError, UnreadableDataError, shown
from .observability import Observer
from .problems import MEDIA_TYPE, REPEATABLE, problem

#: Probes of load balancers, which know no host name and must not be limited.
HEALTH = ("/health", "/health/live", "/health/ready")
#: Routes that need no token: method and path, or a path prefix that ends in "/".
OPEN = {("GET", "/sign-in"), ("POST", "/sign-in"), ("POST", "/sign-out"), ("GET", "/static/")}
OPEN |= {("GET", path) for path in HEALTH}
#: What a token may do; "write" stands for all of it.
Scope = Literal["read", "ask", "tell", "create", "admin"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
READ, WRITE = "read", "write"
#: Bytes of a body, of a path with its query, and seconds that a body may take to arrive.
LARGEST_BODY, LONGEST_PATH, SLOWEST_BODY = 2**20, 8192, 30.0
#: Requests per second, and burst size, of an address without a token.
STRANGERS, STRANGERS_BURST = 20.0, 200.0
#: Length of a browser session in seconds.
SESSION_LENGTH = 12 * 3600.0
COOKIE = "sharpe_bandits_session"
#: Headers of every response.
_HEADERS = [
    (b"content-security-policy", b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
     b"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]  # fmt: skip
#: Headers that decide about access: a proxy and this service might each read another of two.
_ONCE = {"host", "origin", "authorization", "cookie"}
#: The campaign that a path names.
_CAMPAIGN = re.compile("/(?:api/campaigns|campaign)/([^/]*)")
#: Minimum number of characters of a token.
_SHORTEST = 32


@dataclass(frozen=True)
class Token:
    """A token: its name, what it may do in which campaigns until when, and its digest; the token itself is not kept.

    ``campaigns`` are names, or patterns such as "eu-*"; ``expires`` is in seconds since 1970.
    """

    name: str
    scopes: frozenset[str]
    digest: bytes
    campaigns: tuple[str, ...] = ("*",)
    expires: float = float("inf")

    @classmethod
    def of(cls, name: str, access: str | Iterable[str], token: str, **more: Any) -> Token:
        """A token whose access is "read", "write" (all scopes), or a list of scopes."""
        scopes = {access} if isinstance(access, str) else set(access)
        return cls(name, frozenset(SCOPES if WRITE in scopes else scopes), _digest(token), **more)

    @property
    def valid(self) -> bool:
        """Whether it has not expired."""
        return time.time() < self.expires

    def sees(self, campaign: str) -> bool:
        """Whether it is for this campaign."""
        return any(fnmatchcase(campaign, pattern) for pattern in self.campaigns)


def scope_of(method: str, path: str) -> Scope:
    """The scope that a request needs."""
    if method in ("GET", "HEAD") or path.endswith("/numbers"):
        return "read"
    if path == "/api/campaigns":
        return "create"
    if path.endswith("/decisions"):
        return "ask"
    return "tell" if path.endswith(("/rewards", "/cancel", "/records")) else "admin"


def read_tokens(path: Path) -> list[Token]:
    """The tokens in a TOML file: ``[name]`` with ``token``, ``access``, and perhaps ``campaigns`` and ``expires``."""
    try:
        if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise InvalidInputError(f"{path} can be read by others; restrict it to its owner: chmod 600 {path}")
        content = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise UnreadableDataError(f"{path} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UnreadableDataError(f"{path} is not a TOML file: {error}") from None
    tokens = [_token(path, name, entry) for name, entry in content.items()]
    if not tokens:
        raise InvalidInputError(f'there is no token in {path}; write [desk], token = "..." and access = "write"')
    if len({token.digest for token in tokens}) < len(tokens):
        raise InvalidInputError(f"two names in {path} have the same token; give each its own")
    return tokens


def _token(path: Path, name: str, entry: Any) -> Token:
    check_name("the name of a token", name)
    settings = {"campaigns": ["*"], "expires": date.max, **(entry if isinstance(entry, dict) else {})}
    match settings:
        case {"token": str(token), "access": access, "campaigns": list(patterns), "expires": date() as end, **rest}:
            scopes = set(map(str, access if isinstance(access, list) else [access]))
            valid = scopes and scopes <= {*SCOPES, WRITE} and all(isinstance(x, str) for x in patterns) and not rest
        case _:
            valid = False
    if not valid:
        raise InvalidInputError(
            f'[{name}] in {path} needs token = "..." and access = "read", "write" or a list of {", ".join(SCOPES)}; it '
            'may have a list campaigns = ["eu-*"] and a date expires = 2030-01-31; nothing else'
        )
    if len(token) < _SHORTEST or not token.isascii():
        raise InvalidInputError(
            f"the token [{name}] in {path} must have at least {_SHORTEST} ASCII characters, got {len(token)}; make one "
            'with: python -c "import secrets; print(secrets.token_urlsafe(32))"'
        )
    moment = end if isinstance(end, datetime) else datetime(end.year, end.month, end.day)
    expires = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return Token.of(name, scopes, token, campaigns=tuple(patterns), expires=expires)


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()


class _Buckets:
    """Token buckets by key; the least recently used ones are dropped."""

    def __init__(self, rate: float, burst: float) -> None:
        self._rate, self._burst = rate, burst
        self._kept: OrderedDict[Any, tuple[float, float]] = OrderedDict()

    def take(self, key: Any) -> bool:
        """Whether one more request is within the limit."""
        now = time.monotonic()
        left, then = self._kept.pop(key, (self._burst, now))
        left = min(self._burst, left + (now - then) * self._rate)
        self._kept[key] = (left - 1 if left >= 1 else left, now)
        if len(self._kept) > 10_000:
            self._kept.popitem(last=False)
        return left >= 1


class Guard:
    """Tokens, host names, sessions of browsers, and limits, which are those of one process.

    A token may make ``rate`` requests per second, in bursts of twice as many. Browsers may do without signing in what
    the ``visitor`` may.
    """

    def __init__(
        self, tokens: Iterable[Token], hosts: Iterable[str], rate: float, visitor: Token | None = None
    ) -> None:
        self.replace(tokens)
        self.visitor = visitor
        self.hosts = {host.lower() for host in hosts}
        self._signed_out: OrderedDict[bytes, None] = OrderedDict()
        self._known, self._strangers = _Buckets(rate, 2 * rate), _Buckets(STRANGERS, STRANGERS_BURST)

    def replace(self, tokens: Iterable[Token]) -> None:
        """Use these tokens from now on; sessions of others end."""
        self._tokens = {token.digest: token for token in tokens}

    def token(self, text: str) -> Token | None:
        """The token that matches a text, found by its digest: the time that this takes says nothing about tokens."""
        token = self._tokens.get(_digest(text))
        return token if token is not None and token.valid else None

    def sign_in(self, token: Token) -> str:
        """Start a browser session; return the value of its cookie.

        It is signed with the token's digest: every server with the same tokens accepts it, also after a restart, and
        it ends when the token is replaced.
        """
        content = f"{int(time.time() + SESSION_LENGTH)}.{secrets.token_urlsafe(8)}"
        return f"{content}.{_signature(token, content)}"

    def sign_out(self, session: str) -> None:
        """End a session on this server; the browser forgets it."""
        self._signed_out[_digest(session)] = None
        while len(self._signed_out) > 10_000:
            self._signed_out.popitem(last=False)

    def session(self, text: str) -> Token | None:
        """The token of a session that has not ended."""
        content, _, signature = text.rpartition(".")
        for token in self._tokens.values():
            if hmac.compare_digest(_signature(token, content).encode(), signature.encode()):
                end = content.partition(".")[0]  # another release may have signed something else
                current = end.isdecimal() and time.time() < int(end) and _digest(text) not in self._signed_out
                return token if current and token.valid else None
        return None

    def within_limit(self, token: Token | None, address: str) -> bool:
        """Whether a request is within the rate of its token, or of its address."""
        return self._strangers.take(address) if token is None else self._known.take(token.name)


def _signature(token: Token, content: str) -> str:
    return hmac.new(token.digest, b"session " + content.encode(), hashlib.sha256).hexdigest()


class _DeniedError(Exception):
    def __init__(self, status: int, kind: str, detail: str) -> None:
        self.status, self.kind, self.detail = status, kind, detail


class Gate:
    """The layer in front of the application (ASGI)."""

    def __init__(self, app: Any, guard: Guard, observer: Observer) -> None:
        self.app, self._guard, self._observer = app, guard, observer

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":  # the start and the end of the server; no route takes websockets
            await self.app(scope, receive, send)
            return
        began, status = time.perf_counter(), 500
        scope["request_id"] = request_id = self._observer.request_id(scope["headers"])

        async def guarded(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                identifier = (b"x-request-id", request_id.encode())
                message = {**message, "headers": [*message["headers"], *_HEADERS, identifier]}
            await send(message)

        try:
            scope["token"] = self._admit(scope)
            body = await _body(scope, receive)
            # Names may contain a slash: routes match the raw path, and decode each part.
            scope["path"] = scope["raw_path"].decode("ascii")
            await self.app(scope, body, guarded)
        except _DeniedError as denied:
            await self._refused(scope, denied)(scope, receive, guarded)
        finally:
            self._observer.request(scope, status, time.perf_counter() - began)

    def _admit(self, scope: Any) -> Token | None:
        """The token of a request that may pass; raises if it may not."""
        headers = Headers(scope=scope)
        if twice := {name for name in _ONCE if len(headers.getlist(name)) > 1}:
            raise _DeniedError(400, "bad-request", f"the header {min(twice)} was sent twice; send it once")
        raw = scope.get("raw_path") or scope["path"].encode()
        if len(raw) + len(scope["query_string"]) > LONGEST_PATH or not raw.isascii():
            raise _DeniedError(414, "too-long", f"path and query must have at most {LONGEST_PATH} ASCII characters")
        scope["raw_path"] = raw
        if raw.decode("ascii") in HEALTH and scope["method"] in ("GET", "HEAD"):
            return None
        host, origin = headers.get("host", ""), headers.get("origin", "")
        # Prometheus reaches each server by its address; a browser that is led here by a foreign name has no token.
        scraped = raw == b"/metrics" and "authorization" in headers and not origin
        if not scraped and re.sub(r":\d+$", "", host).strip("[]").lower() not in self._guard.hosts:
            detail = f"this service has no host name {shown(host)}; add it to --allowed-hosts"
            raise _DeniedError(421, "unknown-host", detail)
        if origin and origin.lower() != f"{scope['scheme']}://{host.lower()}":
            raise _DeniedError(403, "foreign-origin", f"requests from pages of {shown(origin)} are refused")
        return self._authorise(scope, headers)

    def _authorise(self, scope: Any, headers: Headers) -> Token | None:
        guard, method, path = self._guard, scope["method"], scope["raw_path"].decode("ascii")
        scheme, _, credentials = headers.get("authorization", "").partition(" ")
        by_cookie = not scheme
        session = Request(scope).cookies.get(COOKIE, "") if by_cookie else ""
        token = guard.session(session) or guard.visitor if by_cookie else None
        if scheme.lower() == "bearer":
            token = guard.token(credentials.strip())
        if not guard.within_limit(token, (scope.get("client") or ("",))[0]):
            raise _DeniedError(429, "too-many-requests", "too many requests; try again in a second, or send batches")
        read = method in ("GET", "HEAD")
        if ("GET" if read else method, path) in OPEN or (path.startswith("/static/") and read):
            return token
        if token is None:
            reason = "a token is required" if by_cookie else "this token is not valid here"
            raise _DeniedError(401, "no-token", f"{reason}: send one as Authorization: Bearer ...")
        match = _CAMPAIGN.match(path)
        scope["campaign"] = campaign = match and unquote(match[1], errors="replace")
        if scope_of(method, path) not in token.scopes:
            detail = f"the token {token.name!r} may {' and '.join(sorted(token.scopes))}; this needs the scope "
            raise _DeniedError(403, "scope", f"{detail}{scope_of(method, path)!r}")
        if campaign is not None and not token.sees(campaign):
            raise _DeniedError(403, "campaign", f"the token {token.name!r} is not for the campaign {shown(campaign)}")
        if not read and by_cookie and not headers.get("origin"):
            raise _DeniedError(403, "no-origin", "with a session cookie, changes need an Origin header")
        return token

    def _refused(self, scope: Any, denied: _DeniedError) -> Response:
        page = scope["method"] == "GET" and "text/html" in Headers(scope=scope).get("accept", "")
        if denied.status == 401 and page:
            return RedirectResponse(f"/sign-in?next={quote(scope['raw_path'].decode('ascii'))}", 303)
        self._observer.refused.labels(denied.kind).inc()
        headers = {401: {"WWW-Authenticate": "Bearer"}, 408: {"Connection": "close"}, 413: {"Connection": "close"}}
        return problem_response(problem(denied.status, denied.kind, denied.detail), headers.get(denied.status))


def problem_response(content: dict[str, Any], headers: Mapping[str, str] | None = None) -> Response:
    """A problem as data for programs, with the seconds after which the request may be repeated."""
    again = {"Retry-After": "1"} if content["status"] in REPEATABLE else {}
    return JSONResponse(content, content["status"], {**(headers or {}), **again}, MEDIA_TYPE)


async def _body(scope: Any, receive: Any) -> Any:
    """Read a body, if it is not too large or too slow; return the function from which an application reads it."""
    body = b""
    try:
        async with asyncio.timeout(SLOWEST_BODY):
            async for part in Request(scope, receive).stream():
                body += part
                if len(body) > LARGEST_BODY:
                    detail = f"a body must have at most {LARGEST_BODY:,} bytes; split the request"
                    raise _DeniedError(413, "too-large", detail)
    except TimeoutError:
        raise _DeniedError(408, "too-slow", f"the body took more than {SLOWEST_BODY:g} seconds to arrive") from None
    except ClientDisconnect:
        detail = "the connection was closed before all of the body arrived"
        raise _DeniedError(400, "bad-request", detail) from None
    messages = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def again() -> Any:
        return next(messages, None) or await receive()

    return again
