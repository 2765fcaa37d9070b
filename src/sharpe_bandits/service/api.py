"""The HTTP API. Every route is a method of a campaign; authorisation is in the gate (security.py)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import asdict
from itertools import chain, islice
from typing import Annotated, Any
from urllib.parse import unquote

from fastapi import APIRouter, Depends, HTTPException, Query, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse

from .._support.files import from_json
from .._support.plain_data import finite_or_none, from_plain
from ..errors import InvalidInputError, SharpeBanditsError, UnknownNameError, UnreadableDataError, unknown
from ..live.campaigns import Campaign, requests
from ..live.campaigns.records import CIRCUMSTANCES, PAIRS, Decider, Entry, plain_details, to_csv, with_iso_times
from ..live.campaigns.settings import optional_settings, policy_from_text
from ..live.campaigns.webhooks import check_allowed
from ..policies.base import Policy
from . import models
from .problems import MEDIA_TYPE, problem_of
from .state import CampaignHandle, ServiceState

#: Campaigns on a page of the overview, and decisions in memory while they are exported.
PAGE, _PAGE = 25, 20_000

_PROBLEMS: dict[int | str, Any] = {
    status: {"description": words, "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}}
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


class _CSV(Response):
    """A response that the schema calls CSV."""

    media_type = "text/csv"


#: Routes of all campaigns, and of the one that the path names.
router = APIRouter(prefix="/api", responses=_PROBLEMS)
named = APIRouter(prefix="/api/campaigns/{name}", responses=_PROBLEMS)


def state_of(request: Request) -> ServiceState:
    """The state that the routes of an application share."""
    return request.app.state.service


async def campaign_of(request: Request, name: str) -> CampaignHandle:
    """The campaign that a path names."""
    try:
        decoded = unquote(name, errors="strict")
    except UnicodeDecodeError:
        raise InvalidInputError("the name of a campaign in a path must be UTF-8, percent-encoded") from None
    try:
        return await state_of(request).open(decoded)
    except UnknownNameError:
        if decoded in (entry.name for entry in await asyncio.to_thread(state_of(request).store.campaigns, decoded)):
            raise  # of a policy
        entries, _ = await asyncio.to_thread(visible, request, "", "", 1000)
        raise unknown("campaign", decoded, [entry.name for entry in entries]) from None


#: The campaign that a path names, as a parameter of a route.
Handle = Annotated[CampaignHandle, Depends(campaign_of)]


def answer(data: Any) -> Response:
    """Plain data as JSON."""
    return JSONResponse(finite_or_none(data))


# Routes are tried in order: what workers call all the time comes first, and its answers have no infinite numbers.


@named.post("/decisions", summary="Ask which arm to play", response_model=models.Decisions)
async def ask(request: Request, name: str, body: models.AskBody) -> Response:
    """One decision, or several; a key that was used before returns the same decision."""
    if sum(option is not None for option in (body.key, body.keys, body.count)) > 1:
        raise InvalidInputError("give one of count, key and keys")
    keys = body.keys or [body.key] * (body.count or 1)
    handle = await campaign_of(request, name)
    values = {name: getattr(body, name) for name in CIRCUMSTANCES}
    decisions = await handle.commits.do(
        requests.Ask(keys, body.worker or _actor(request), body.among, body.distinct, **values)
    )
    return JSONResponse({"decisions": [decision.to_dict() for decision in decisions], "next": None})


@named.post("/rewards", summary="Tell rewards", response_model=models.Told)
async def tell(request: Request, name: str, body: models.TellBody) -> Response:
    """In one commit. Repeating a reward changes nothing; a different one for the same decision is a conflict."""
    handle = await campaign_of(request, name)
    errors = await handle.commits.do(
        requests.Tell([(one.decision, one.told()) for one in body.rewards], body.strict, _actor(request))
    )
    refused = [
        {"place": place, "decision": body.rewards[place].decision, "problem": problem_of(error)}
        for place, error in enumerate(errors)
        if error is not None
    ]
    return JSONResponse({"recorded": len(body.rewards) - len(refused), "refused": refused})


@named.post("/records", summary="Record decisions of others", response_model=models.Decisions)
async def record(request: Request, handle: Handle, body: models.RecordsBody) -> Response:
    """All of them or none. The policy learns from them, and what it would have chosen is logged beside them."""
    by, actor = Decider.HISTORY if body.history else Decider.EXTERNAL, _actor(request)
    records = [requests.Record(**one.model_dump() | {"worker": one.worker or actor, "by": by}) for one in body.records]
    decisions = await handle.commits.do(requests.RecordAll(records))
    return answer({"decisions": [decision.to_dict() for decision in decisions], "next": None})


def _actor(request: Request) -> str:
    """Who sent a request: the name of the token."""
    return str(request.scope["token"].name)


Search = Annotated[str, Query(max_length=200, description="part of the name")]
Segment = Annotated[str | None, Query(min_length=1, max_length=200, description="in this segment")]
After = Annotated[str, Query(max_length=200, description="only names after this one")]
First = Annotated[int, Query(ge=1, le=2**53, description="number of the first decision")]
Count = Annotated[int, Query(ge=1, le=10_000, description="maximum number")]


@router.get("/campaigns", summary="Campaigns, page by page", response_model=models.Campaigns)
def list_campaigns(request: Request, search: Search = "", after: After = "", count: Count = 1000) -> Response:
    """Names, policies, creation times, and numbers of events, by name; ``next`` is where the next page begins."""
    entries, following = visible(request, search, after, count)
    return answer({"campaigns": [entry.to_dict() for entry in entries], "next": following})


def visible(request: Request, search: str, after: str, count: int) -> tuple[list[Entry], str | None]:
    """Campaigns that the token of a request is for; and after which name the next page begins, if there is one."""
    store, token = state_of(request).store, request.scope["token"]

    def every(after: str) -> Iterator[Entry]:
        while page := store.campaigns(search.replace("\0", ""), after=after, count=count + 1):
            yield from page
            after = page[-1].name

    entries = list(islice((entry for entry in every(after.replace("\0", "")) if token.sees(entry.name)), count + 1))
    return entries[:count], entries[count - 1].name if len(entries) > count else None


@router.post("/campaigns", summary="Create a campaign, or check that it exists", response_model=models.Created)
def create(request: Request, body: models.NewCampaign) -> Response:
    """Repeating the request changes nothing; other settings for an existing name are a conflict."""
    if body.name in (".", ".."):
        raise InvalidInputError(f"a campaign cannot be called {body.name!r} in the service: it would have no URL")
    if not request.scope["token"].sees(body.name):
        raise HTTPException(403, f"the token {request.scope['token'].name!r} is not for a campaign of this name")
    options = body.model_dump(include={"arms", *optional_settings()})
    policy = _policy(body.policy, body.L, body.risk_free)
    if options.get("webhook") is not None:
        check_allowed(options["webhook"])
    campaign = state_of(request).store.campaign(body.name, policy=policy, **options)
    return answer({"name": campaign.name, "settings": campaign.settings, "arms": campaign.arms})


def _policy(given: str | dict[str, Any], L: float | None, risk_free: float) -> Policy:
    return from_plain("policy", given) if isinstance(given, dict) else policy_from_text(given, L, risk_free)


@named.get("", summary="Status of a campaign", response_model=models.StatusModel)
def status(handle: Handle) -> Response:
    """Arms with pulls, pending pulls, estimates and 95% intervals, time-uniform ones unless the policy forgets; rounds
    spent; settings."""
    return answer({**handle.reader.status().to_dict(), "settings": handle.reader.settings})


@named.get("/recommendation", summary="The arm that looks best", response_model=models.Recommendation)
def recommend(handle: Handle, segment: Segment = None) -> Response:
    """The arm that the policy recommends, from the rewards so far."""
    return answer({"recommendation": handle.reader.recommend(segment)})


@named.get("/weights", summary="The policy's choice as weights of a portfolio", response_model=models.Weights)
def weights(
    handle: Handle,
    largest: float = Query(1.0, alias="max", ge=0, le=1, description="largest weight of an arm"),
    least: float = Query(0.0, alias="min", ge=0, le=1, description="least weight of an arm"),
    segment: Segment = None,
) -> Response:
    """What an arm cannot take goes to the policy's next choice."""
    by_arm = handle.reader.weights(max=largest, min=least, segment=segment)
    return answer({"weights": [{"arm": arm, "weight": weight} for arm, weight in by_arm.items()]})


@named.get("/decisions", summary="History, page by page", response_model=models.Decisions)
def history(handle: Handle, first: First = 1, count: Count = 1000) -> Response:
    """Decisions in order."""
    table = handle.reader.history(first=first, count=count)
    rows = [with_iso_times(row) | {name: plain_details(row[name]) for name in PAIRS} for row in table.to_pylist()]
    return JSONResponse({"decisions": rows, "next": first + count if len(rows) == count else None})


@named.get("/decisions.csv", summary="History as CSV", response_class=_CSV)
async def history_csv(handle: Handle, name: str) -> Response:
    """All decisions; times in UTC."""
    pages = _csv_pages(handle.reader)
    first = await asyncio.to_thread(next, pages)  # raises before an answer begins
    # ``name`` is percent-encoded, as received
    headers = {"Content-Disposition": f"attachment; filename=\"campaign.csv\"; filename*=UTF-8''{name}.csv"}
    return StreamingResponse(chain([first], pages), media_type=_CSV.media_type, headers=headers)


def _csv_pages(campaign: Campaign) -> Iterator[bytes]:
    first, rows = 1, _PAGE
    while rows == _PAGE:
        table = campaign.history(first=first, count=_PAGE)
        yield to_csv(table, header=first == 1)
        first, rows = first + _PAGE, table.num_rows


@named.get("/decisions/{number}", summary="One decision", response_model=models.DecisionModel)
def decision(handle: Handle, number: int) -> Response:
    """The decision in its current state."""
    return answer(handle.reader.decision(number).to_dict())


@named.post("/decisions/{number}/cancel", summary="Cancel a decision", response_model=dict[str, int])
async def cancel(request: Request, handle: Handle, number: int) -> Response:
    """Repeating it changes nothing; a decision with a reward is a conflict."""
    await handle.commits.do(requests.Cancel(number, by=_actor(request)))
    return answer({"cancelled": number})


@named.post("/decisions/{number}/amend", summary="Correct the reward of a decision", response_model=dict[str, int])
async def amend(request: Request, handle: Handle, number: int, body: models.AmendBody) -> Response:
    """Both values stay in the log. The time is proportional to the length of the log."""
    amendment = requests.Amend(number, body.reward, why=body.why, by=_actor(request))
    await handle.commits.do(await asyncio.to_thread(handle.reader._replayed, amendment))
    return answer({"amended": number})


@named.post(
    "/rules", summary="Change mode, share, control arm, bounds or guardrails", response_model=models.RulesAnswer
)
async def change(request: Request, handle: Handle, body: models.RulesBody) -> Response:
    """Logged with the name of the token and the reason."""
    rules = {name: value for name, value in body.model_dump(exclude={"why"}).items() if name in body.model_fields_set}
    if body.webhook is not None:
        check_allowed(body.webhook)
    await handle.commits.do(requests.Change(rules, why=body.why, by=_actor(request)))
    return answer({"rules": handle.reader.rules})


@named.post("/resume", summary="End the pause of a campaign", response_model=models.RulesAnswer)
async def resume(request: Request, handle: Handle, body: models.ReasonBody) -> Response:
    """It returns to the mode before the pause."""
    await handle.commits.do(requests.Resume(why=body.why, by=_actor(request)))
    return answer({"rules": handle.reader.rules})


@named.get("/pending", summary="Pending decisions", response_model=models.Decisions)
def pending(handle: Handle, count: Count = 100) -> Response:
    """Ordered by the end of their leases."""
    return answer({"decisions": [one.to_dict() for one in handle.reader.pending(count)], "next": None})


def _arm_route(path: str, summary: str, words: str, make: Any, done: str) -> None:
    name, model = f"{path.strip('/') or 'add'}_arm", dict[str, models.Arm]

    @named.post(f"/arms{path}", name=name, summary=summary, description=words, response_model=model)
    async def act(request: Request, handle: Handle, body: models.ArmBody) -> Response:
        await handle.commits.do(make(body.arm, why=body.why, by=_actor(request)))
        return answer({done: body.arm})


_arm_route("", "Add an arm", "It is played from now on.", requests.AddArm, "added")
_arm_route(
    "/retire",
    "Retire an arm",
    "It is never played again (to suspend an arm can be undone); rewards of its decisions are still accepted.",
    requests.RetireArm,
    "retired",
)
_arm_route("/suspend", "Suspend an arm", "It is not played until it is resumed.", requests.Suspend, "suspended")
_arm_route("/resume", "Resume a suspended arm", "It is played again.", requests.Resume, "resumed")


@named.post("/accept-clock", summary="Accept the clock of the store", response_model=dict[str, bool])
def accept_clock(request: Request, handle: Handle) -> Response:
    """After it went back by more than a minute, or jumped forward: until then, nothing is recorded."""
    handle.reader.accept_clock(by=_actor(request))
    return answer({"accepted": True})


@named.post("/numbers", summary="Numbers of the decisions with these keys", response_model=models.Numbers)
def numbers(handle: Handle, body: models.KeysBody) -> Response:
    """Unknown keys are left out."""
    return answer({"numbers": handle.reader.numbers_of(body.keys)})


@named.get("/log", summary="The audit log, newest entry first", response_model=models.Log)
def log(
    handle: Handle,
    before: int | None = Query(None, ge=1, le=2**53, description="only entries before this number"),
    count: int = Query(100, ge=1, le=1000, description="maximum number"),
    search: str = Query("", max_length=200, description="decision, or part of a kind, an arm, a key or a worker"),
) -> Response:
    """What happened, event by event."""
    entries = handle.reader.log(before=before, count=count, search=search.replace("\0", ""))
    return answer({"entries": [entry.to_dict() for entry in entries]})


@named.get("/verification", summary="Replay the log and compare", response_model=models.Verified)
async def verify(
    request: Request,
    handle: Handle,
    choices: bool = Query(False, description="also check that the policy still makes every choice"),
) -> Response:
    """The time is proportional to the length of the log."""
    verification = await state_of(request).aside.run(handle.reader.name, "verify", choices=choices)
    return answer({"ok": verification.ok, **vars(verification)})


@named.get("/agent", summary="The state as an agent", response_model=models.AgentState)
def agent(handle: Handle) -> Response:
    """As read by sb.Agent.from_json."""
    return answer({"agent": handle.reader.agent().to_json()})


@named.get("/verdict", summary="One verdict, one number, one next step", response_model=models.Verdict)
def verdict(handle: Handle) -> Response:
    """Whether an arm is best, by how much, and how many more rewards decide it at the current pace and estimates."""
    return answer(handle.view.to_dict()["verdict"])


@named.get("/evaluation", summary="What another policy would have earned", response_model=models.EvaluationModel)
async def evaluation(
    request: Request,
    handle: Handle,
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
    try:
        description = from_json(policy, "the policy") if policy.startswith("{") else policy
    except UnreadableDataError as error:
        raise InvalidInputError(str(error)) from None
    other = _policy(description, L, risk_free)
    estimates = await state_of(request).aside.run(handle.reader.name, "evaluate", policy=other)
    return answer({"sentence": f"{estimates}.", **asdict(estimates)})


@named.get("/view", include_in_schema=False)
def view(handle: Handle) -> Response:
    """Data of the dashboard, aggregated: its size does not grow with the campaign."""
    return answer(handle.view.to_dict())


@router.get("/overview", include_in_schema=False)
def overview(
    request: Request, search: Search = "", after: After = "", count: int = Query(PAGE, ge=1, le=200)
) -> Response:
    """Data of the list of campaigns: decisions, pending, expired, the best arm, decisions over time."""
    state, summaries = state_of(request), []
    entries, following = visible(request, search, after, count)
    for entry in entries:
        try:
            summaries.append(state.handle(entry.name).view.summary())
        except SharpeBanditsError as error:  # an unreadable campaign does not hide the others
            summaries.append({"name": entry.name, "policy": entry.policy, "problem": str(error)})
    return answer({"campaigns": summaries, "next": following})
