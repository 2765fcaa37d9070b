"""The gate in front of all routes: authentication, authorisation and rate limits. It denies by default.

Only the gate decides, for all routes: reading (GET, HEAD) needs a token, every other method needs a token for writing,
and only the few paths in ``OPEN`` need none. It also checks Host (DNS rebinding) and Origin (forged requests), limits
the size of bodies and the rate of requests, and adds security headers to every response.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import os
import secrets
import stat
import time
import tomllib
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import Any, Literal, get_args
from urllib.parse import quote, urlsplit

from .._support.names import check_name
from ..errors import InvalidInputError, UnreadableDataError, shown
from .problems import MEDIA_TYPE, RETRY_AFTER, problem

#: Routes that need no token: method and path, or a path prefix that ends in "/".
OPEN = {("GET", "/sign-in"), ("POST", "/sign-in"), ("POST", "/sign-out"), ("GET", "/health"), ("GET", "/static/")}
#: What a token may do.
Access = Literal["read", "write"]
READ, WRITE = get_args(Access)
#: Bytes of a body, of a path with its query, and seconds that a body may take to arrive.
LARGEST_BODY, LONGEST_PATH, SLOWEST_BODY = 2**20, 8192, 30.0
#: Requests per second, and burst size, of an address without a token.
STRANGERS, STRANGERS_BURST = 20.0, 200.0
#: Browser sessions: length in seconds, and maximum number.
SESSION_LENGTH, MOST_SESSIONS = 12 * 3600.0, 1000
COOKIE = "sharpe_bandits_session"
#: Headers of every response.
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
#: Headers that affect authorisation, and may occur only once.
_ONCE = (b"host", b"origin", b"authorization", b"cookie", b"content-length")
_HEADERS = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
#: Minimum number of characters of a token.
_SHORTEST = 32


@dataclass(frozen=True)
class Token:
    """A token: its name, what it may do, and its digest; the token itself is not kept."""

    name: str
    access: Access
    digest: bytes

    @classmethod
    def of(cls, name: str, access: Access, token: str) -> Token:
        return cls(name, access, _digest(token))


def fresh_token() -> str:
    """A random token."""
    return secrets.token_urlsafe(32)


def read_tokens(path: Path) -> list[Token]:
    """The tokens in a TOML file: ``[name]`` with ``token`` and ``access`` = "read" or "write"."""
    try:
        if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise InvalidInputError(f"{path} can be read by others; restrict it to its owner: chmod 600 {path}")
        content = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise UnreadableDataError(f"{path} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UnreadableDataError(f"{path} is not a TOML file: {error}") from None
    tokens = []
    for name, entry in content.items():
        check_name("the name of a token", name)
        given = entry if isinstance(entry, dict) else {}
        token, access = given.get("token"), given.get("access")
        if set(given) != {"token", "access"} or access not in (READ, WRITE) or not isinstance(token, str):
            raise InvalidInputError(
                f'[{name}] in {path} needs token = "..." and access = "read" or "write", and nothing else'
            )
        if len(token) < _SHORTEST or not token.isascii():
            raise InvalidInputError(
                f"the token [{name}] in {path} must have at least {_SHORTEST} ASCII characters, got {len(token)}; make "
                'one with: python -c "import secrets; print(secrets.token_urlsafe(32))"'
            )
        tokens.append(Token.of(name, access, token))
    if not tokens:
        raise InvalidInputError(f'there is no token in {path}; write [desk], token = "..." and access = "write"')
    return tokens


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
    """Tokens, sessions of browsers, and limits.

    Parameters
    ----------
    tokens : Iterable[Token]
        the valid tokens
    hosts : Iterable[str]
        host names of the service, without ports
    rate : float
        requests per second and token; bursts may be twice as large
    """

    def __init__(self, tokens: Iterable[Token], hosts: Iterable[str], rate: float) -> None:
        self._tokens = list(tokens)
        self.hosts = {host.lower() for host in hosts}
        self._sessions: OrderedDict[bytes, tuple[Token, float]] = OrderedDict()
        self._known, self._strangers = _Buckets(rate, 2 * rate), _Buckets(STRANGERS, STRANGERS_BURST)

    def token(self, text: str) -> Token | None:
        """The token that matches a text; all are compared, each in constant time."""
        digest, found = _digest(text), None
        for token in self._tokens:
            if hmac.compare_digest(token.digest, digest):
                found = token
        return found

    def sign_in(self, token: Token) -> str:
        """Start a browser session; return the value of its cookie."""
        session = secrets.token_urlsafe(32)
        self._sessions[_digest(session)] = token, time.monotonic() + SESSION_LENGTH
        while len(self._sessions) > MOST_SESSIONS:
            self._sessions.popitem(last=False)
        return session

    def sign_out(self, session: str) -> None:
        """End a session."""
        self._sessions.pop(_digest(session), None)

    def session(self, text: str) -> Token | None:
        """The token of a session, if it has not expired. Looked up by digest, so that timing reveals nothing."""
        token, end = self._sessions.get(_digest(text), (None, 0.0))
        return token if time.monotonic() < end else None

    def within_limit(self, token: Token | None, address: str) -> bool:
        """Whether a request is within the rate of its token, or of its address."""
        return self._strangers.take(address) if token is None else self._known.take(token.name)


def cookie_of(headers: dict[bytes, bytes]) -> str:
    """The session in a Cookie header, or an empty string."""
    try:
        found = SimpleCookie(headers.get(b"cookie", b"").decode("latin-1")).get(COOKIE)
    except CookieError:
        return ""
    return found.value if found else ""


class _DeniedError(Exception):
    def __init__(self, status: int, kind: str, detail: str) -> None:
        self.status, self.kind, self.detail = status, kind, detail


class Gate:
    """The layer in front of the application (ASGI)."""

    def __init__(self, app: Any, guard: Guard) -> None:
        self.app, self._guard = app, guard

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # there are no websockets
            await send({"type": "websocket.close", "code": 1008})
            return

        async def guarded(message: Any) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], *_HEADERS]}
            await send(message)

        try:
            scope["token"] = self._admit(scope)
            body = await _body(scope, receive)
        except _DeniedError as denied:
            await self._refuse(scope, guarded, denied)
            return
        # Names may contain a slash: routes match the raw path, and decode each part.
        scope["path"] = scope["raw_path"].decode("ascii")
        await self.app(scope, body, guarded)

    def _admit(self, scope: Any) -> Token | None:
        """The token of a request that may pass; raises if it may not."""
        headers = dict(scope["headers"])
        if len(headers) < len(scope["headers"]):
            names = [name for name, _ in scope["headers"]]
            if any(names.count(name) > 1 for name in _ONCE):
                raise _DeniedError(400, "bad-request", "a header that may occur only once was sent twice")
        raw = scope.get("raw_path") or scope["path"].encode()
        if len(raw) + len(scope["query_string"]) > LONGEST_PATH or not raw.isascii():
            raise _DeniedError(414, "too-long", f"path and query must have at most {LONGEST_PATH} ASCII characters")
        scope["raw_path"] = raw
        host, origin = (headers.get(name, b"").decode("latin-1") for name in (b"host", b"origin"))
        if _host(host) not in self._guard.hosts:
            detail = f"this service has no host name {shown(host)}; add it to --allowed-hosts"
            raise _DeniedError(421, "unknown-host", detail)
        if origin and origin.lower() != f"{scope['scheme']}://{host.lower()}":
            raise _DeniedError(403, "foreign-origin", f"requests from pages of {shown(origin)} are refused")
        return self._authorise(scope, headers, origin)

    def _authorise(self, scope: Any, headers: dict[bytes, bytes], origin: str) -> Token | None:
        guard, method, path = self._guard, scope["method"], scope["raw_path"].decode("ascii")
        scheme, _, given = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
        by_cookie = not scheme
        token = guard.session(cookie_of(headers)) if by_cookie else None
        if scheme.lower() == "bearer":
            token = guard.token(given.strip())
        if not guard.within_limit(token, (scope.get("client") or ("",))[0]):
            raise _DeniedError(429, "too-many-requests", "too many requests; try again in a second, or send batches")
        read = method in ("GET", "HEAD")
        if ("GET" if read else method, path) in OPEN or (path.startswith("/static/") and read):
            return token
        if token is None:
            known = "a token is required" if by_cookie else "this token is not valid here"
            raise _DeniedError(401, "no-token", f"{known}: send one as Authorization: Bearer ...")
        if not read:
            if token.access != WRITE:
                raise _DeniedError(403, "read-only-token", f"the token {token.name!r} may read but not write")
            if by_cookie and not origin:
                raise _DeniedError(403, "no-origin", "with a session cookie, changes need an Origin header")
        return token

    async def _refuse(self, scope: Any, send: Any, denied: _DeniedError) -> None:
        headers = dict(scope["headers"])
        page = scope["method"] == "GET" and b"text/html" in headers.get(b"accept", b"")
        if denied.status == 401 and page:
            there = quote(scope["raw_path"].decode("ascii"), safe="/%")
            start = {"type": "http.response.start", "status": 303}
            where = f"/sign-in?next={quote(there, safe='/')}"
            await send({**start, "headers": [(b"location", where.encode()), (b"content-length", b"0")]})
            await send({"type": "http.response.body", "body": b""})
            return
        content = problem(denied.status, denied.kind, denied.kind.replace("-", " "), denied.detail)
        body = json.dumps(content).encode()
        more = [(b"content-type", MEDIA_TYPE.encode()), (b"content-length", str(len(body)).encode())]
        if denied.status == 401:
            more.append((b"www-authenticate", b"Bearer"))
        if denied.status in RETRY_AFTER:
            more.append((b"retry-after", str(RETRY_AFTER[denied.status]).encode()))
        if denied.status in (408, 413):
            more.append((b"connection", b"close"))
        await send({"type": "http.response.start", "status": denied.status, "headers": more})
        await send({"type": "http.response.body", "body": body})


@lru_cache(1024)
def _host(text: str) -> str | None:
    """The name in a Host header; None if there is none."""
    try:
        parts = urlsplit(f"//{text}")
        parts.port  # noqa: B018  raises if it is not a number
    except ValueError:
        return None
    return None if parts.path or parts.query or parts.fragment or parts.username is not None else parts.hostname


def _too_large() -> _DeniedError:
    return _DeniedError(413, "too-large", f"a body must have at most {LARGEST_BODY:,} bytes; split the request")


async def _body(scope: Any, receive: Any) -> Any:
    """Read a body, if it is not too large or too slow; return the function from which an application reads it."""
    headers = dict(scope["headers"])
    if b"content-length" not in headers and b"transfer-encoding" not in headers:
        return receive
    length = headers.get(b"content-length", b"0")
    if not length.isdigit() or int(length) > LARGEST_BODY:
        raise _too_large()
    body, more = b"", True
    try:
        async with asyncio.timeout(SLOWEST_BODY):
            while more:
                message = await receive()
                if message["type"] != "http.request":
                    raise _DeniedError(400, "bad-request", "the connection was closed before all of the body arrived")
                body += message.get("body", b"")
                more = message.get("more_body", False)
                if len(body) > LARGEST_BODY:
                    raise _too_large()
    except TimeoutError:
        raise _DeniedError(408, "too-slow", f"the body took more than {SLOWEST_BODY:g} seconds to arrive") from None
    given = False

    async def again() -> Any:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
