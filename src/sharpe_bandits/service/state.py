"""The state that routes share: open campaigns with their group commits, and what operators see of them."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, NamedTuple

from ..errors import SharpeBanditsError, StoreError
from ..live.campaigns import Campaign, Store
from ..live.campaigns.requests import Request
from ..live.campaigns.status import Status
from .aside import Aside
from .observability import Observer
from .security import Token
from .view import View

#: Seconds in which a store must answer to be called ready.
READY_SECONDS = 2.0
#: Maximum number of campaigns with metrics of their own.
METRICS_CAMPAIGNS = 100
#: Maximum number of requests in one commit, and of those waiting for one campaign.
LARGEST_GROUP, LONGEST_QUEUE = 256, 10_000


class GroupCommit:
    """Requests to one campaign. Those that arrive during a commit go into the next one: no request waits for others to
    join it, and the busier the service, the larger the groups.

    ``turn`` is held during a commit: campaigns of one storage share it if only one of them can write at a time.
    """

    def __init__(self, campaign: Campaign, threads: Executor, turn: asyncio.Lock, observer: Observer) -> None:
        self._campaign, self._threads, self._turn, self._observer = campaign, threads, turn, observer
        #: Whether the storage refused the last commit.
        self.refused = False
        self._waiting: list[tuple[Request, asyncio.Future[Any]]] = []
        self._task: asyncio.Task[None] | None = None

    async def do(self, request: Request) -> Any:
        """The result of a request, once it is committed; raises its error."""
        if len(self._waiting) >= LONGEST_QUEUE:
            raise StoreError(f"{LONGEST_QUEUE:,} requests are waiting; nothing was recorded: try again later")
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append((request, future))
        if self._task is None:
            self._task = asyncio.create_task(self._commit_all())
        result = await future
        if isinstance(result, Exception):
            raise result
        return result

    async def finish(self) -> None:
        """Wait for all accepted requests."""
        if self._task is not None:
            await self._task

    async def _commit_all(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while self._waiting:
                async with self._turn:
                    group, self._waiting = self._waiting[:LARGEST_GROUP], self._waiting[LARGEST_GROUP:]
                    requests, began = [request for request, _ in group], time.perf_counter()
                    results = await loop.run_in_executor(self._threads, self._commit, requests)
                    self._observer.group_size.observe(len(requests))
                    self._observer.commit_seconds.observe(time.perf_counter() - began)
                self.refused = isinstance(results[0], StoreError)
                if self.refused:  # those that came meanwhile have waited as long already
                    group, self._waiting = group + self._waiting, []
                    results = [results[0]] * len(group)
                for (_, future), result in zip(group, results, strict=True):
                    if not future.done():  # else its client has gone
                        future.set_result(result)
        finally:
            self._task = None

    def _commit(self, requests: list[Request]) -> list[Any]:
        try:
            return self._campaign.commit(requests)
        except SharpeBanditsError as error:
            return [error] * len(requests)
        except Exception as error:
            if len(requests) == 1:
                return [error]
            return [self._commit([request])[0] for request in requests]  # only one of them caused the error


class CampaignHandle(NamedTuple):
    """A campaign: one object to write through group commit, one to read without waiting for writers, and its view."""

    commits: GroupCommit
    reader: Campaign
    view: View


class ServiceState:
    """An open store; ``aside`` does its long work."""

    def __init__(self, store: Store, target: str | None = None, modules: Sequence[str] = ()) -> None:
        self.store, self.aside = store, Aside(store, target, modules)
        self._handles: dict[str, CampaignHandle] = {}
        self._opening = threading.Lock()
        self._threads = ThreadPoolExecutor(1 if store.single_writer else 8, "commit")
        self._turn = asyncio.Lock()
        self.observer = Observer()

    async def check_ready(self) -> int:
        """Raise unless the store answers within ``READY_SECONDS`` and this release can write to it.

        Returns the number of campaigns whose last commit was refused nevertheless, because of a clock that went back,
        for example. They do not take the server out of rotation: it serves the others, and accepts the clock.
        """
        try:
            async with asyncio.timeout(READY_SECONDS):
                await asyncio.to_thread(self.store.ping)
        except TimeoutError:
            raise StoreError(f"the store does not answer within {READY_SECONDS:g} seconds") from None
        return sum(handle.commits.refused for handle in list(self._handles.values()))

    async def statuses(self, token: Token) -> list[Status]:
        """Of the campaigns that a token sees, those in use first; none while the store is not ready: metrics of the
        service itself matter most then.
        """
        with suppress(SharpeBanditsError):  # counted as failed requests, and by /health/ready
            await self.check_ready()
            return await asyncio.to_thread(self._statuses, token)
        return []

    def _statuses(self, token: Token) -> list[Status]:
        statuses: list[Status] = []
        names = [*self._handles, *(entry.name for entry in self.store.campaigns(count=METRICS_CAMPAIGNS))]
        for name in [name for name in dict.fromkeys(names) if token.sees(name)][:METRICS_CAMPAIGNS]:
            try:
                statuses.append(self.handle(name).reader.status())
            except StoreError:  # the next one would wait as long
                break
            except SharpeBanditsError:  # of one campaign, such as a policy that this server did not import
                continue
        return statuses

    async def open(self, name: str) -> CampaignHandle:
        """The campaign of this name."""
        if name in self._handles:
            return self._handles[name]
        return await asyncio.to_thread(self.handle, name)

    def handle(self, name: str) -> CampaignHandle:
        """The same, from a thread."""
        with self._opening:
            if name not in self._handles:
                turn = self._turn if self.store.single_writer else asyncio.Lock()
                commits = GroupCommit(self.store.campaign(name), self._threads, turn, self.observer)
                reader = self.store.campaign(name)
                self._handles[name] = CampaignHandle(commits, reader, View(reader))
            return self._handles[name]

    async def close(self) -> None:
        """Finish accepted requests, and close the store."""
        self.aside.close()
        for handle in list(self._handles.values()):
            await handle.commits.finish()
        self._threads.shutdown()
        self.store.close()
