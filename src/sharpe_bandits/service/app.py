"""The application: API and dashboard behind the gate."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from .. import __version__
from ..errors import SharpeBanditsError
from ..live.campaigns import Store
from . import api, dashboard
from .observability import logger
from .problems import problem, problem_of
from .security import COOKIE, Gate, Guard, Token, read_tokens
from .state import ServiceState

#: Seconds between looks at the token file.
REREAD_SECONDS = 2.0
#: Requests per second and token.
RATE = 2000.0
#: Names that only this machine is reached by.
THIS_MACHINE = ("127.0.0.1", "localhost", "::1")


class _Application(FastAPI):
    """Its schema, which takes long, is made on request."""

    def openapi(self) -> dict[str, Any]:
        schema = super().openapi()
        schema["components"]["securitySchemes"] = {
            "token": {"type": "http", "scheme": "bearer"},
            "session": {"type": "apiKey", "in": "cookie", "name": COOKIE},
        }
        schema["security"] = [{"token": []}, {"session": []}]
        return schema


def create_app(
    store: Store,
    tokens: Iterable[Token],
    hosts: Iterable[str] = THIS_MACHINE,
    *,
    rate: float = RATE,
    token_file: Path | None = None,
    target: str | None = None,
    modules: Sequence[str] = (),
    visitor: Token | None = None,
) -> Gate:
    """The service of a store, as an ASGI application.

    It closes the store when it ends. ``rate`` is in requests per second and token. A ``token_file`` is read again when
    it changes. ``target`` is how other processes open the store for work that takes long, and ``modules`` are what they
    import; without it, threads do that work. Browsers may do without signing in what the ``visitor`` may: for
    demonstrations on this machine.
    """
    state = ServiceState(store, target, modules)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        rereading = asyncio.create_task(_reread(token_file, guard)) if token_file else None
        yield
        if rereading is not None:
            rereading.cancel()
        await state.close()

    app = _Application(
        title="sharpe-bandits",
        version=__version__,
        description="Campaigns: ask which arm to play, tell the reward later. Send a token as Authorization: Bearer.",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.service = state
    app.state.guard = guard = Guard(tokens, hosts, rate, visitor)
    # A router inside the router would be searched more slowly.
    app.router.routes.extend([*api.named.routes, *api.router.routes])
    dashboard.add(app)
    for kind in (SharpeBanditsError, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(kind, _problem)
    return Gate(app, guard, state.observer)


async def _reread(path: Path, guard: Guard) -> None:
    """Use the tokens in a file whenever it changes; if it cannot be used, the former ones stay valid."""

    def version() -> tuple[int, int] | None:
        with suppress(OSError):
            return path.stat().st_mtime_ns, path.stat().st_ctime_ns  # the second one: permissions
        return None

    last = version()
    while True:
        await asyncio.sleep(REREAD_SECONDS)
        if (now := version()) == last:
            continue
        last = now
        try:
            guard.replace(tokens := read_tokens(path))
            logger.warning("tokens replaced", extra={"fields": {"tokens": sorted(token.name for token in tokens)}})
        except SharpeBanditsError as error:
            logger.error("token file not used", extra={"fields": {"problem": str(error)}})


async def _problem(request: Request, error: Exception) -> Response:
    if isinstance(error, SharpeBanditsError):
        content = problem_of(error)
    elif isinstance(error, RequestValidationError):
        content = problem(422, "invalid-input", _violations(request, error))
    elif isinstance(error, HTTPException):
        kind, detail = {
            403: ("campaign", error.detail),
            404: ("not-found", "there is nothing at this path; see /docs"),
            405: ("method-not-allowed", "this path does not support this method; see /docs"),
        }.get(error.status_code, ("bad-request", str(error.detail)))
        content = problem(error.status_code, kind, detail)
    else:  # the server logs the error itself
        content = problem(500, "unforeseen", "an error of the service; its log has the details")
    request.scope["problem"] = content["detail"]  # for the log
    return dashboard.problem_answer(request, content, getattr(error, "headers", None))


def _violations(request: Request, error: RequestValidationError) -> str:
    """Where the content of a request violates its schema; values are named by location, not repeated in full."""
    problems = [
        f"position {item['loc'][-1]} of the body: {item['msg']}"
        if item["type"] == "json_invalid"
        else f"{'.'.join(map(str, item['loc']))}: {item['msg']}"
        for item in error.errors()[:5]
    ]
    if request.method == "POST" and "json" not in request.headers.get("content-type", ""):
        problems.append("send the header Content-Type: application/json")
    return "; ".join(problems)[:1000]
