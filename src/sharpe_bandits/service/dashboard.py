"""The dashboard: pages that work offline and read and write through the API."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.staticfiles import StaticFiles

from .. import __version__
from ..errors import SharpeBanditsError
from ..live.campaigns.settings import optional_settings
from .api import PAGE, campaign_of, state_of, visible
from .security import COOKIE, SESSION_LENGTH, Guard, problem_response

_HERE = Path(__file__).parent
_TEMPLATES = Environment(
    loader=FileSystemLoader(_HERE / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_TEMPLATES.filters["segment"] = lambda text: quote(str(text), safe="")


def _page(request: Request, template: str, code: int = 200, **content: Any) -> Response:
    token = request.scope.get("token")
    html = _TEMPLATES.get_template(template).render(
        version=__version__, token=token, may_write=token is not None and "admin" in token.scopes, **content
    )  # fmt: skip
    return HTMLResponse(html, code)


def problem_answer(request: Request, problem: dict[str, Any], headers: Mapping[str, str] | None) -> Response:
    """A problem as a page for people, or as data for programs."""
    if request.scope["path"].startswith("/api/") or "text/html" not in request.headers.get("accept", ""):
        return problem_response(problem, headers)
    return _page(request, "problem.html", problem["status"], problem=problem)


def add(app: FastAPI) -> None:
    """Add the pages to an application."""
    app.mount("/static", StaticFiles(directory=_HERE / "static"), name="static")
    pages: dict[str, Any] = {
        "/": _home, "/campaign/{name}": _campaign, "/new": _new, "/docs": _docs, "/sign-in": _sign_in,
        "/health": _live, "/health/live": _live, "/health/ready": _ready, "/metrics": _metrics,
    }  # fmt: skip
    for path, page in pages.items():
        app.add_api_route(path, page, methods=["GET", "HEAD"], include_in_schema=False)
    for path, action in (("/sign-in", _sign_in), ("/sign-out", _sign_out)):
        app.add_api_route(path, action, methods=["POST"], include_in_schema=False)


async def _home(request: Request) -> Response:
    query = {key: request.query_params.get(key, "")[:200] for key in ("search", "after")}
    entries, following = await asyncio.to_thread(visible, request, **query, count=PAGE)
    store = repr(state_of(request).store).strip("<>")
    return _page(request, "home.html", entries=entries, following=following, store=store, query=query)


async def _campaign(request: Request, name: str) -> Response:
    handle = await campaign_of(request, name)
    status = await asyncio.to_thread(handle.reader.status)
    return _page(request, "campaign.html", status=status, settings=handle.reader.settings)


async def _new(request: Request) -> Response:
    return _page(request, "new.html", settings=optional_settings())


async def _docs(request: Request) -> Response:
    return _page(request, "docs.html", schema=request.app.openapi())


async def _live() -> Response:
    """The process answers."""
    return JSONResponse({"ok": True})


async def _ready(request: Request) -> Response:
    """The store answers, and can be written: 503 otherwise, without details, since anyone may ask."""
    try:
        refused = await state_of(request).check_ready()
    except SharpeBanditsError as error:
        request.scope["problem"] = str(error)
        return JSONResponse({"ok": False}, 503, {"Retry-After": "1"})
    return JSONResponse({"ok": True, "campaigns_refused": refused})


async def _metrics(request: Request) -> Response:
    state = state_of(request)
    content = state.observer.metrics(await state.statuses(request.scope["token"]))
    return Response(content, media_type="text/plain; version=0.0.4; charset=utf-8")


def _next(text: str) -> str:
    """Where to go after signing in: only a path of this service."""
    plain = text.startswith("/") and not text.startswith("//") and "\\" not in text and text.isprintable()
    return text if plain and text.isascii() else "/"


async def _sign_in(request: Request) -> Response:
    if request.method != "POST":
        return _page(request, "sign_in.html", next=_next(request.query_params.get("next", "/")), wrong=False)
    form = parse_qs((await request.body()).decode("utf-8", "replace"), max_num_fields=10)
    there = _next(form.get("next", ["/"])[0])
    guard: Guard = request.app.state.guard
    token = guard.token(form.get("token", [""])[0].strip())
    if token is None:
        return _page(request, "sign_in.html", 401, next=there, wrong=True)
    response = RedirectResponse(there, 303)
    response.set_cookie(
        COOKIE, guard.sign_in(token), max_age=int(SESSION_LENGTH), httponly=True, samesite="strict",
        secure=request.scope["scheme"] == "https",
    )  # fmt: skip
    return response


async def _sign_out(request: Request) -> Response:
    guard: Guard = request.app.state.guard
    guard.sign_out(request.cookies.get(COOKIE, ""))
    response = RedirectResponse("/sign-in", 303)
    response.delete_cookie(COOKIE)
    return response
