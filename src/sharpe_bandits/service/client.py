"""The client of a service: the same methods as a store and a campaign, without extra dependencies."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import random
import re
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import is_dataclass
from datetime import UTC, datetime
from enum import EnumType
from functools import cache
from types import UnionType
from typing import TYPE_CHECKING, Any, TypeVar, Union, Unpack, get_args, get_origin, get_type_hints
from urllib.parse import quote, urlencode

from .._support.plain_data import from_plain, plain
from .._support.validation import positive, whole
from ..errors import ConflictError, InvalidInputError, SharpeBanditsError, StoreError, shown, unknown
from ..live.agents import Agent
from ..live.campaigns import Decider, Decision, DecisionState, Entry, Evaluation, LogEntry, Verification, requests
from ..live.campaigns.interface import CampaignInterface
from ..live.campaigns.records import CIRCUMSTANCES, history_row, history_schema
from ..live.campaigns.requests import MAX_BATCH, number_of, this_process
from ..live.campaigns.settings import Options, checked
from ..live.campaigns.status import Status
from ..policies.base import Policy, check_policy
from .problems import ScopeError, error_of

if TYPE_CHECKING:
    import pyarrow as pa

T = TypeVar("T")

#: Statuses after which a request is retried: too many requests, and an unavailable service or store.
_AGAIN = (429, 502, 503, 504)
#: Seconds between two attempts: initial and maximum.
_PAUSE, _LONGEST_PAUSE = 0.05, 2.0
#: Requests at the same time of a service for asyncio.
_THREADS = 64
#: Decisions in a page of the history, and entries in a page of the log.
_PAGE, _LOG_PAGE = 10_000, 1000
#: Where other requests go, and what is sent of them.
_PATHS: dict[type[requests.Request], str] = {
    requests.AcceptClock: "/accept-clock",
    requests.AddArm: "/arms",
    requests.Amend: "/decisions/{0.decision}/amend",
    requests.Cancel: "/decisions/{0.decision}/cancel",
    requests.Change: "/rules",
    requests.Resume: "/arms/resume",
    requests.RetireArm: "/arms/retire",
    requests.Suspend: "/arms/suspend",
}
_SENT = ("arm", "reward", "why")
#: Scheme, host with its port, and path of a service's address.
_ADDRESS = re.compile(r"(https?)://((?:[^/:@?#\s]+|\[[^]/@?#\s]+\])(?::(?P<port>\d{1,9}))?)(?P<path>/[^?#\s]*)?")
#: Prefix of the keys of decisions made without the service.
_FALLBACK = "fallback-"
#: Parts of a record that are not sent: the service names who acts.
_OWN = ("by", "token", "measures", "key")


def connect(url: str, *, token: str, timeout: float = 30.0, fallback: Any = None) -> Service:
    """The service at an address, as a store of campaigns.

    An unanswered request is retried, with the same idempotency key, for up to ``timeout`` seconds: nothing is
    duplicated. Threads may share the result.

    Parameters
    ----------
    url : str
        such as "http://127.0.0.1:8000"
    token : str
        a token that the service printed, or that is in its token file
    timeout : float, optional
        seconds to wait for an answer, retries included; short if somebody waits for a decision
    fallback : Any, optional
        the arm to play if the service does not answer in time, even before it ever did. Such a decision has number 0;
        when its reward is told, it is recorded as somebody else's decision. Asking this object again with its key
        returns it

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> service = sb.connect("http://127.0.0.1:8000", token="secret")  # nothing is sent yet
    >>> service
    <service http://127.0.0.1:8000>
    """
    return Service(url, token, timeout, fallback)


def connect_async(url: str, *, token: str, timeout: float = 30.0, fallback: Any = None) -> AsyncProxy:
    """Like :func:`connect`, for asyncio: every method and property of the service and of its campaigns is a coroutine
    function, as in ``campaign = await service.campaign("desks"); decision = await campaign.ask()``. Requests run in
    threads.

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> sb.connect_async("http://127.0.0.1:8000", token="secret")  # nothing is sent yet
    <async service http://127.0.0.1:8000>
    """
    return AsyncProxy(connect(url, token=token, timeout=timeout, fallback=fallback), ThreadPoolExecutor(_THREADS))


class AsyncProxy(AbstractAsyncContextManager["AsyncProxy"]):
    """A service or a campaign whose methods and properties are coroutine functions."""

    def __init__(self, target: Any, threads: ThreadPoolExecutor) -> None:
        self._target, self._threads = target, threads

    def __repr__(self) -> str:
        return f"<async {repr(self._target)[1:]}"

    async def __aexit__(self, *_: object) -> None:
        self._target.close()
        self._threads.shutdown(wait=False)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(type(self._target), name):
            raise AttributeError(f"{self!r} has no {name}")

        def work(arguments: Any, options: Any) -> Any:
            value = getattr(self._target, name)
            return value(*arguments, **options) if callable(value) else value

        async def call(*arguments: Any, **options: Any) -> Any:
            result = await asyncio.get_running_loop().run_in_executor(self._threads, work, arguments, options)
            return AsyncProxy(result, self._threads) if isinstance(result, RemoteCampaign) else result

        return call


class Service(AbstractContextManager["Service"]):
    """Campaigns behind HTTP; made by :func:`sharpe_bandits.connect`."""

    def __init__(self, url: str, token: str, timeout: float, fallback: Any = None) -> None:
        address = _ADDRESS.fullmatch(url if isinstance(url, str) else "")
        if address is None or int(address["port"] or 0) > 65_535:  # some systems would take another port
            raise InvalidInputError(f"the address of a service must be like http://127.0.0.1:8000, got {shown(url)}")
        if not isinstance(token, str) or not token or not token.isascii() or not token.isprintable():
            raise InvalidInputError("token must be a token that the service printed, or that is in its token file")
        self.url = url.rstrip("/")
        self._scheme, self._host, self._prefix = address[1], address[2], address["path"] or ""
        self._token, self._timeout, self.fallback = token, positive("timeout", timeout), fallback
        #: The latest decisions made without the service, by campaign and key.
        self.made_here: dict[tuple[str, str], Decision] = {}
        #: Idle connections; those of another process are not used after a fork.
        self._idle: list[http.client.HTTPConnection] = []
        self._process = os.getpid()

    def __repr__(self) -> str:
        return f"<service {self.url}>"

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections. A service that is used again opens new ones."""
        while self._idle:
            self._idle.pop().close()

    def campaigns(self, search: str = "", *, after: str = "", count: int | None = None) -> list[Entry]:
        """Campaigns by name; see :meth:`Store.campaigns`."""

        def page(after: str, size: int) -> tuple[list[Entry], str | None]:
            content = self.request("GET", "/api/campaigns", search=search, after=after, count=size)
            return _from_plain(list[Entry], content["campaigns"]), content["next"]

        return _all_pages(page, after, _PAGE, count)

    def campaign(
        self,
        name: str,
        *,
        policy: Policy | None = None,
        arms: int | Iterable[str] | None = None,
        **options: Unpack[Options],
    ) -> RemoteCampaign:
        """Open the campaign with this name, or create it if it does not exist; see :meth:`Store.campaign`."""
        settings = checked(policy, arms, options)
        if policy is None or arms is None:
            if settings:
                raise InvalidInputError("give policy= and arms= to create a campaign, or only its name to open it")
            return RemoteCampaign(self, name, "GET", _path(name))
        body = {"name": name, **settings, "policy": plain(settings["policy"].to_dict())}
        return RemoteCampaign(self, name, "POST", "/api/campaigns", body)

    def request(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        """The answer of the service as plain data; raises the same errors as the library itself."""
        try:
            content = None if body is None else json.dumps(body, allow_nan=False).encode()
        except (TypeError, ValueError) as error:
            raise InvalidInputError(f"requests can hold only finite numbers and text: {error}") from None
        headers = {"Authorization": f"Bearer {self._token}", "Accept": "application/json"}
        if content is not None:
            headers["Content-Type"] = "application/json"
        parameters = urlencode({name: x for name, x in query.items() if x is not None})
        path = f"{self._prefix.rstrip('/')}{path}?{parameters}".rstrip("?")
        deadline, pause = time.monotonic() + self._timeout, _PAUSE
        while True:
            failed: SharpeBanditsError
            try:
                left = max(deadline - time.monotonic(), 0.01)
                status, answer = self._send(left, method, path, content, headers)
                if status < 300 and answer is not None:
                    return answer
                failed = error_of(answer, status)
                if status not in _AGAIN:
                    raise failed
            except (OSError, http.client.HTTPException) as error:
                failed = StoreError(
                    f"the service at {self.url} does not answer ({error or type(error).__name__}); check that it runs, "
                    "and call again with the same key"
                )
            if (left := deadline - time.monotonic()) <= 0:
                raise failed
            time.sleep(min(random.uniform(0.5, 1.0) * pause, left))  # so that clients do not come back all at once
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _send(self, seconds: float, *request: Any) -> tuple[int, Any]:
        if self._process != os.getpid():
            self._idle, self._process = [], os.getpid()
        try:
            connection = self._idle.pop()
        except IndexError:
            kind = http.client.HTTPSConnection if self._scheme == "https" else http.client.HTTPConnection
            connection = kind(self._host)
        connection.timeout = seconds
        if connection.sock is not None:
            connection.sock.settimeout(seconds)
        try:
            connection.request(*request)
            response = connection.getresponse()
            text = response.read()
        except BaseException:
            connection.close()
            raise
        self._idle.append(connection)
        try:
            return response.status, json.loads(text)
        except ValueError:
            return response.status, None


class RemoteCampaign(CampaignInterface):
    """A campaign behind HTTP: the methods of :class:`~sharpe_bandits.live.campaigns.Campaign`."""

    def __init__(self, service: Service, name: str, *opening: Any) -> None:
        self._service, self.name = service, name
        #: The request that opens the campaign; None once it was answered.
        self._opening: tuple[Any, ...] | None = opening
        self._settings: dict[str, Any] | None = None
        try:
            self._open()
        except StoreError:
            if service.fallback is None:  # otherwise, the first request that is answered opens it
                raise

    def _open(self) -> None:
        """Open or create the campaign, if that is not done."""
        if self._opening is None:
            return
        try:
            content = self._service.request(*self._opening)
        except ScopeError:
            if self._opening[0] != "GET":
                raise
        else:  # otherwise, the token may ask or tell without reading
            arms = [arm["arm"] if isinstance(arm, dict) else arm for arm in content["arms"]]
            if self._service.fallback is not None and self._service.fallback not in arms:
                raise unknown("arm (of fallback=)", self._service.fallback, arms)
            self._settings = content["settings"]
        self._opening = None

    def __repr__(self) -> str:
        return f"<campaign {self.name!r} of {self._service.url}>"

    @property
    def policy(self) -> Policy:
        """The policy; your own policy must be defined here, too."""
        return from_plain("policy", self.settings["policy"])

    @property
    def settings(self) -> dict[str, Any]:
        if self._settings is None:
            self._settings = self._request("GET", "")["settings"]
        return dict(self._settings)

    @property
    def rules(self) -> dict[str, Any]:
        return self.status().rules

    @property
    def arms(self) -> list[Any]:
        return [arm.arm for arm in self.status().arms]

    def _do(self, request: requests.Request) -> Any:
        by = None if isinstance(request, requests.Record) else getattr(request, "by", None)
        if by not in (None, this_process()):
            raise InvalidInputError(f"leave by={by!r} out: a service logs the name of the token; say it in why=")
        match request:
            case requests.Ask():
                return self._ask(request)
            case requests.Record():
                return self._record([request])[0]
            case requests.RecordAll(records):
                for begin in range(0, len(records), MAX_BATCH // 10):
                    self._record(records[begin : begin + MAX_BATCH // 10])
                return None
            case requests.Tell():
                return self._tell(request)
            case requests.Resume(arm=None):
                path = "/resume"
            case _:
                path = _PATHS[type(request)].format(request)
        body = {name: value for name, value in vars(request).items() if name in _SENT and value is not None}
        self._request("POST", path, body | dict(getattr(request, "rules", {})))
        return None

    def _ask(self, request: requests.Ask) -> list[Decision]:
        # Generated keys are sent, so that a request that is repeated makes no second decision.
        keys, among, made = request.all_keys("auto-"), request.among, self._service.made_here
        known = {key: made[self.name, key] for key in keys if (self.name, key) in made}
        if others := [key for key in known if among is not None and known[key].arm not in among]:
            raise ConflictError(f"the key {others[0]!r} belongs to a decision of arm {known[others[0]].arm!r}")
        new = [key for key in keys if key not in known]
        body = {name: getattr(request, name) for name in ("worker", "among", "distinct", *CIRCUMSTANCES)}
        try:
            answers = self._decisions("POST", "/decisions", {"keys": new, **body}) if new else []
        except StoreError as error:
            fallback = self._service.fallback
            if fallback is None:
                raise
            if (among is not None and fallback not in among) or (request.distinct and len(keys) > 1):
                what = "different arms" if among is None else f"arms among {shown(among)}"
                raise StoreError(f"{error}; the fallback {fallback!r} is no choice of {what}") from None
            answers = [self._without_service(key, request.worker) for key in new]
        decisions = known | dict(zip(new, answers, strict=False))
        return [decisions[key] for key in keys if key in decisions]

    def _without_service(self, key: str, worker: str | None) -> Decision:
        """A decision that the service does not know of; it gets another key, since the service may have used this."""
        now, made, new_key = datetime.now(UTC), self._service.made_here, f"{_FALLBACK}{key}"[:200]
        decision = Decision(
            0, self._service.fallback, now, None, 1.0, new_key, worker, DecisionState.PENDING, None, None,
            Decider.FALLBACK,
        )  # fmt: skip
        made[self.name, key] = decision
        if len(made) > MAX_BATCH:
            made.pop(next(iter(made)), None)
        return decision

    def _tell(self, request: requests.Tell) -> list[SharpeBanditsError | None]:
        errors: list[SharpeBanditsError | None] = [None] * len(request.checked)
        places, rewards = [], []
        for place, ((decision, _), item) in enumerate(zip(request.rewards, request.checked, strict=True)):
            if isinstance(item, SharpeBanditsError):
                errors[place] = item
            elif isinstance(decision, Decision) and not decision.number:
                key = str(decision.key)
                missed = key.removeprefix(_FALLBACK) if key.startswith(_FALLBACK) else None  # perhaps decided
                more = {"key": key, "worker": decision.worker, "instead_of": missed}
                self.record(decision.arm, item.reward, **more, **item.measures)
            else:
                places.append(place)
                seen = {str(arm): x for arm, x in item.seen} or None
                rewards.append({"decision": item.decision, "reward": item.reward, **item.measures, "seen": seen})
        if rewards:
            body = {"rewards": rewards, "strict": request.strict}
            for refusal in self._request("POST", "/rewards", body)["refused"]:
                errors[places[refusal["place"]]] = error_of(refusal["problem"], 422)
        return errors

    def _record(self, records: Sequence[requests.Record]) -> list[Decision]:
        items = [
            {name: value for name, value in vars(one).items() if name not in _OWN} | {"key": one.full_key("auto-")}
            for one in records
        ]
        body = {"records": items, "history": records[0].by == Decider.HISTORY}
        return self._decisions("POST", "/records", body)

    def decision(self, number: int | str) -> Decision:
        return _from_plain(Decision, self._request("GET", f"/decisions/{number_of(self._number(number))}"))

    def pending(self, count: int = 100) -> list[Decision]:
        return self._decisions("GET", "/pending", count=whole("count", count, 1, MAX_BATCH))

    def status(self) -> Status:
        return _from_plain(Status, self._request("GET", ""))

    def recommend(self, segment: str | None = None) -> Any:
        return self._request("GET", "/recommendation", segment=segment)["recommendation"]

    def weights(self, *, max: float = 1.0, min: float = 0.0, segment: str | None = None) -> dict[Any, float]:
        pairs = self._request("GET", "/weights", max=max, min=min, segment=segment)["weights"]
        return {pair["arm"]: pair["weight"] for pair in pairs}

    def agent(self) -> Agent:
        return Agent.from_json(self._request("GET", "/agent")["agent"])

    def verify(self, *, choices: bool = False) -> Verification:
        return _from_plain(Verification, self._request("GET", "/verification", choices=choices))

    def _log(self, before: int | None, count: int, search: str) -> list[LogEntry]:
        def page(before: int, size: int) -> tuple[list[LogEntry], int | None]:
            entries = self._request("GET", "/log", count=size, search=search, before=before)["entries"]
            following = entries[-1]["seq"] if len(entries) == size else None
            return _from_plain(list[LogEntry], entries), following

        return _all_pages(page, 2**53 if before is None else before, _LOG_PAGE, count)

    def evaluate(self, policy: Policy) -> Evaluation:
        described = json.dumps(plain(check_policy(policy).to_dict()))
        return _from_plain(Evaluation, self._request("GET", "/evaluation", policy=described))

    def accept_clock(self, *, by: str | None = None) -> None:
        self._do(requests.AcceptClock(by=by))

    def numbers_of(self, keys: Iterable[str]) -> dict[str, int]:
        keys = list(keys)
        numbers: dict[str, int] = {}
        for begin in range(0, len(keys), MAX_BATCH):
            numbers |= self._request("POST", "/numbers", {"keys": keys[begin : begin + MAX_BATCH]})["numbers"]
        return numbers

    def _history(self, first: int, count: int | None) -> pa.Table:
        import pyarrow as pa

        def page(first: int, size: int) -> tuple[list[dict[str, Any]], int | None]:
            content = self._request("GET", "/decisions", first=first, count=size)
            return [history_row(one) for one in _from_plain(list[Decision], content["decisions"])], content["next"]

        schema = history_schema(isinstance(self.settings["arms"], list))
        return pa.Table.from_pylist(_all_pages(page, first, _PAGE, count), schema=schema)

    def _decisions(self, method: str, path: str, body: Any = None, **query: Any) -> list[Decision]:
        return _from_plain(list[Decision], self._request(method, path, body, **query)["decisions"])

    def _request(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        self._open()
        return self._service.request(method, _path(self.name) + path, body, **query)


def _all_pages(page: Callable[[Any, int], tuple[list[T], Any]], start: Any, size: int, count: int | None) -> list[T]:
    """At most ``count`` items; a page has those from ``start`` on, and where the next one starts, if there is one."""
    items: list[T] = []
    while start is not None and (count is None or len(items) < count):
        more, start = page(start, size if count is None else min(size, count - len(items)))
        items += more
    return items


def _path(name: str) -> str:
    if not isinstance(name, str) or not name:
        raise InvalidInputError(f"the name of a campaign must be text, got {shown(name)}")
    return f"/api/campaigns/{quote(name, safe='')}"


def _from_plain(kind: Any, value: Any) -> Any:
    """What plain data say: the fields of a dataclass that are known here, times, enums, lists and tuples."""
    if value is None:
        return None
    if get_origin(kind) in (Union, UnionType):
        kind = next(one for one in get_args(kind) if one is not type(None))
    if isinstance(kind, type) and is_dataclass(kind):
        kinds = _field_types(kind)
        return kind(**{name: _from_plain(kinds[name], one) for name, one in value.items() if name in kinds})
    if get_origin(kind) is list:
        return [_from_plain(get_args(kind)[0], one) for one in value]
    if get_origin(kind) is tuple:
        return tuple(value)
    if kind is datetime:
        return datetime.fromisoformat(value)
    return kind(value) if isinstance(kind, EnumType) else value


_field_types = cache(get_type_hints)
