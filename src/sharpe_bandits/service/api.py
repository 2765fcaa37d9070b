"""The HTTP API. Every route is a method of a campaign; authorisation is in the gate (security.py)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import asdict
from typing import Any
from urllib.parse import unquote

from fastapi import APIRouter, FastAPI, Query, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse

from ..campaigns import AddArm, Ask, Cancel, RetireArm, Tell
from ..campaigns.settings import optional_settings
from ..errors import InvalidInputError, SharpeBanditsError, UnreadableDataError
from ..files import from_json
from ..policies.base import Policy, policy_from_dict
from ..policies.by_name import policies_by_name
from . import exports
from .models import ArmBody, AskBody, Decisions, NewCampaign, Problem, TellBody
from .problems import problem_of
from .state import CampaignHandle, ServiceState, finite
from .view import View

#: Seconds after which a stream ends; the browser opens it again, with its cookie.
_STREAM = 600.0
#: Seconds between keep-alive comments in a stream.
_PATIENCE = 15.0

_PROBLEMS: dict[int | str, Any] = {
    status: {"model": Problem, "description": words, "content": {"application/problem+json": {}}}
    for status, words in {
        400: "not a request that can be read",
        401: "no token",
        403: "the token may not do this",
        404: "there is no such campaign, decision or arm",
        408: "the body took too long to arrive",
        409: "conflict: what is recorded says otherwise, or the campaign is over; nothing was changed",
        413: "the body is too large",
        414: "path and query are too long",
        421: "the service is not called by this name",
        422: "a value cannot be used",
        425: "wait for rewards of pending pulls, and ask again",
        429: "too many requests",
        503: "the store cannot be used now, try again",
    }.items()
}


def _of_type(media_type: str) -> type[Response]:
    """A response class that declares a media type other than JSON in the schema."""
    return type("File", (Response,), {"media_type": media_type})


_CSV, _PARQUET, _EVENTS = "text/csv", "application/vnd.apache.parquet", "text/event-stream"

router = APIRouter(prefix="/api", responses=_PROBLEMS)


def state_of(request: Request) -> ServiceState:
    """The state that the routes of an application share."""
    return request.app.state.service


async def campaign_of(request: Request, name: str) -> CampaignHandle:
    """The campaign that a path names."""
    try:
        decoded = unquote(name, errors="strict")
    except UnicodeDecodeError:
        raise InvalidInputError("the name of a campaign in a path must be UTF-8, percent-encoded") from None
    return await state_of(request).open(decoded)


def answer(data: Any, status: int = 200) -> Response:
    """Plain data as JSON."""
    return JSONResponse(finite(data), status)


async def read(call: Callable[[], Any]) -> Any:
    """The result of a call that reads the store, in a thread."""
    return await asyncio.to_thread(call)


# Routes are tried in order: what workers call all the time comes first.


@router.post("/campaigns/{name}/decisions", summary="Ask which arm to play", response_model=Decisions)
async def ask(request: Request, name: str, body: AskBody) -> Response:
    """One decision, or several; a key that was used before returns the same decision."""
    if sum(option is not None for option in (body.key, body.keys, body.count)) > 1:
        raise InvalidInputError("give one of count, key and keys")
    keys = body.keys or [body.key] * (body.count or 1)
    handle = await campaign_of(request, name)
    decisions = await handle.commits.do(Ask(keys, body.worker or request.scope["token"].name))
    return answer({"decisions": [decision.to_dict() for decision in decisions], "next": None})


@router.post("/campaigns/{name}/rewards", summary="Tell rewards")
async def tell(request: Request, name: str, body: TellBody) -> Response:
    """In one commit. Repeating a reward changes nothing; a different one for the same decision is a conflict."""
    handle = await campaign_of(request, name)
    errors = await handle.commits.do(Tell([(one.decision, one.reward) for one in body.rewards], body.strict))
    refused = [
        {"place": place, "decision": body.rewards[place].decision, "problem": problem_of(error)}
        for place, error in enumerate(errors)
        if error is not None
    ]
    return answer({"recorded": len(body.rewards) - len(refused), "refused": refused})


@router.get("/campaigns", summary="All campaigns")
async def list_campaigns(request: Request) -> Response:
    """Names, policies, creation times, and numbers of events."""
    entries = await read(state_of(request).store.campaigns)
    return answer({"campaigns": [{**vars(entry), "created": entry.created.isoformat()} for entry in entries]})


@router.post("/campaigns", summary="Create a campaign, or check that it exists")
async def create(request: Request, body: NewCampaign) -> Response:
    """Repeating the request changes nothing; other settings for an existing name are a conflict."""
    if body.name in (".", ".."):
        raise InvalidInputError(f"a campaign cannot be called {body.name!r} in the service: it would have no URL")
    options = body.model_dump(include={"arms", *optional_settings()})
    store = state_of(request).store

    def make() -> Any:
        made = store.campaign(body.name, policy=_policy(body.policy, body.L, body.risk_free), **options)
        return {"name": made.name, "settings": made.settings, "arms": made.arms}

    return answer(await read(make))


def _policy(given: str | dict[str, Any], L: float | None, risk_free: float) -> Policy:
    if isinstance(given, dict):
        return policy_from_dict(given)
    if L is None and "L=" not in given:
        raise InvalidInputError("give L, in the unit of the variance of a reward: for daily returns of 1%, 1e-5")
    made = policies_by_name([given], L=1.0 if L is None else L, risk_free=risk_free)
    return made[0]


@router.get("/campaigns/{name}", summary="Status of a campaign")
async def status(request: Request, name: str) -> Response:
    """Arms with pulls, pending pulls, estimates and fixed-time 95% intervals; rounds spent; settings. The view of the
    dashboard has time-uniform intervals."""
    handle = await campaign_of(request, name)
    found = await read(handle.reader.status)
    return answer({**found.to_dict(), "settings": handle.reader.settings})


@router.get("/campaigns/{name}/recommendation", summary="The arm that looks best")
async def recommend(request: Request, name: str) -> Response:
    """The arm that the policy recommends, from the rewards so far."""
    handle = await campaign_of(request, name)
    return answer({"recommendation": await read(handle.reader.recommend)})


@router.get("/campaigns/{name}/decisions", summary="History, page by page", response_model=Decisions)
async def history(
    request: Request,
    name: str,
    first: int = Query(1, ge=1, le=2**53, description="number of the first decision"),
    count: int = Query(1000, ge=1, le=10_000, description="maximum number"),
) -> Response:
    """Decisions in order."""
    handle = await campaign_of(request, name)
    rows = (await read(lambda: handle.reader.history(first=first, count=count))).to_pylist()
    for row in rows:
        for time in ("asked", "expires", "told"):
            row[time] = row[time] and row[time].isoformat()
    return answer({"decisions": rows, "next": first + count if len(rows) == count else None})


@router.get("/campaigns/{name}/decisions.csv", summary="History as CSV", response_class=_of_type(_CSV))
async def history_csv(request: Request, name: str) -> Response:
    """All decisions; times in UTC."""
    handle = await campaign_of(request, name)
    return StreamingResponse(exports.csv(handle.reader), media_type=_CSV, headers=_file(name, "csv"))


@router.get("/campaigns/{name}/decisions.parquet", summary="History as Parquet", response_class=_of_type(_PARQUET))
async def history_parquet(request: Request, name: str) -> Response:
    """All decisions; times in UTC."""
    handle = await campaign_of(request, name)
    return StreamingResponse(exports.parquet(handle.reader), media_type=_PARQUET, headers=_file(name, "parquet"))


def _file(name: str, ending: str) -> dict[str, str]:
    """A header that names a file; ``name`` is percent-encoded, as received."""
    return {"Content-Disposition": f"attachment; filename=\"campaign.{ending}\"; filename*=UTF-8''{name}.{ending}"}


@router.get("/campaigns/{name}/decisions/{number}", summary="One decision")
async def decision(request: Request, name: str, number: int) -> Response:
    """The decision in its current state."""
    handle = await campaign_of(request, name)
    return answer((await read(lambda: handle.reader.decision(_small(number)))).to_dict())


@router.post("/campaigns/{name}/decisions/{number}/cancel", summary="Cancel a decision")
async def cancel(request: Request, name: str, number: int) -> Response:
    """Repeating it changes nothing; a decision with a reward is a conflict."""
    await (await campaign_of(request, name)).commits.do(Cancel(_small(number)))
    return answer({"cancelled": number})


def _small(number: int) -> int:
    """A number within the range of the database."""
    if not 1 <= number <= 2**53:
        raise InvalidInputError(f"the number of a decision is a whole number from 1, got {number}")
    return number


@router.get("/campaigns/{name}/pending", summary="Pending decisions", response_model=Decisions)
async def pending(
    request: Request, name: str, count: int = Query(100, ge=1, le=10_000, description="maximum number")
) -> Response:
    """Ordered by the end of their leases."""
    handle = await campaign_of(request, name)
    found = await read(lambda: handle.reader.pending(count))
    return answer({"decisions": [one.to_dict() for one in found], "next": None})


@router.post("/campaigns/{name}/arms", summary="Add an arm")
async def add_arm(request: Request, name: str, body: ArmBody) -> Response:
    """It is played from now on."""
    await (await campaign_of(request, name)).commits.do(AddArm(body.arm))  # type: ignore[arg-type]
    return answer({"added": body.arm})


@router.post("/campaigns/{name}/arms/retire", summary="Retire an arm")
async def retire_arm(request: Request, name: str, body: ArmBody) -> Response:
    """It is no longer played; rewards of its decisions are still accepted."""
    await (await campaign_of(request, name)).commits.do(RetireArm(body.arm))
    return answer({"retired": body.arm})


@router.get("/campaigns/{name}/log", summary="The audit log, newest entry first")
async def log(
    request: Request,
    name: str,
    before: int | None = Query(None, ge=1, le=2**53, description="only entries before this number"),
    count: int = Query(100, ge=1, le=1000, description="maximum number"),
    search: str = Query("", max_length=200, description="decision, or part of a kind, an arm, a key or a worker"),
) -> Response:
    """What happened, event by event."""
    handle = await campaign_of(request, name)
    entries = await read(lambda: handle.reader.log(before=before, count=count, search=search.replace("\0", "")))
    return answer({"entries": [entry.to_dict() for entry in entries]})


@router.get("/campaigns/{name}/verification", summary="Replay the log and compare")
async def verify(
    request: Request,
    name: str,
    choices: bool = Query(False, description="also check that the policy still makes every choice"),
) -> Response:
    """The time is proportional to the length of the log."""
    handle = await campaign_of(request, name)
    async with request.app.state.heavy:
        found = await read(lambda: handle.reader.verify(choices=choices))
    return answer({"ok": found.ok, **vars(found)})


@router.get("/campaigns/{name}/agent", summary="The state as an agent")
async def agent(request: Request, name: str) -> Response:
    """As read by sb.Agent.from_json."""
    handle = await campaign_of(request, name)
    return answer({"agent": (await read(handle.reader.agent)).to_json()})


@router.get("/campaigns/{name}/plan", summary="How long until the error is small, at the current pace")
async def plan(
    request: Request,
    name: str,
    error: float = Query(0.05, ge=0.01, lt=0.5, description="accepted probability of error"),
) -> Response:
    """Simulates arms with the current estimates: rounds until the best one is found with this error."""
    handle = await campaign_of(request, name)
    async with request.app.state.heavy:
        return answer(await read(lambda: view_of(request.app, handle).forecast(error)))


@router.get("/campaigns/{name}/evaluation", summary="What another policy would have earned")
async def evaluation(
    request: Request,
    name: str,
    policy: str = Query(
        min_length=1,
        max_length=4000,
        description="as on the command line, SF-UCB:c=0.5, or as JSON of policy.to_dict()",
    ),
    L: float | None = Query(None, gt=0, description="regulariser of a policy given as text, if the text has none"),
    risk_free: float = Query(0.0, description="per round, of a policy given as text"),
) -> Response:
    """From the log of a campaign created with explore=; the time is proportional to its length. If the log does not
    support an estimate, an error says why."""
    handle = await campaign_of(request, name)
    try:
        given = from_json(policy, "the policy") if policy.startswith("{") else policy
    except UnreadableDataError as error:
        raise InvalidInputError(str(error)) from None
    other = _policy(given, L, risk_free)
    async with request.app.state.heavy:
        found = await read(lambda: handle.reader.evaluate(other))
    return answer({"sentence": f"{found}.", **asdict(found)})


@router.get("/campaigns/{name}/view", summary="Data of the dashboard")
async def view(
    request: Request,
    name: str,
    periods_per_year: float | None = Query(None, gt=0, le=1e6, description="to annualise Sharpe ratios"),
) -> Response:
    """Aggregated on the server: its size does not grow with the campaign."""
    handle = await campaign_of(request, name)
    return answer(await read(lambda: view_of(request.app, handle).to_dict(periods_per_year)))


def view_of(app: FastAPI, handle: CampaignHandle) -> View:
    """The cached view of a campaign."""
    views: dict[str, View] = app.state.views
    return views.setdefault(handle.reader.name, View(handle.reader))


@router.get("/overview", summary="Data of the list of campaigns")
async def overview(request: Request) -> Response:
    """For each campaign: decisions, pending, expired, the best arm and its confidence, decisions over time."""

    def summaries() -> list[dict[str, Any]]:
        found = []
        for entry in state_of(request).store.campaigns():
            try:
                found.append(view_of(request.app, state_of(request).handle(entry.name)).summary())
            except SharpeBanditsError as error:  # an unreadable campaign does not hide the others
                found.append({"name": entry.name, "policy": entry.policy, "problem": str(error)})
        return found

    return answer({"campaigns": await read(summaries)})


@router.get("/stream", summary="Server-sent events: which campaigns changed", response_class=_of_type(_EVENTS))
async def stream(
    request: Request, campaign: str | None = Query(None, max_length=200, description="only this one")
) -> Response:
    """A "changed" event with names and numbers of events, at most once per second."""
    state = state_of(request)
    state.check_room()

    async def changes() -> AsyncIterator[str]:
        seen: dict[str, int] = {}
        end = asyncio.get_running_loop().time() + _STREAM
        with state.watched():
            yield "retry: 2000\n\n"
            while not state.closing.is_set() and asyncio.get_running_loop().time() < end:
                found = await state.watch(seen, _PATIENCE)
                seen |= found
                wanted = {name: count for name, count in found.items() if campaign in (None, name)}
                yield f"event: changed\ndata: {json.dumps(wanted)}\n\n" if wanted else ": alive\n\n"

    return StreamingResponse(changes(), media_type=_EVENTS)
