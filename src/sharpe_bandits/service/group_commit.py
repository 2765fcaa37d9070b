"""Group commit: requests that arrive together are committed together, and acknowledged when they are on disk."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import Executor
from typing import Any

from ..errors import SharpeBanditsError, StoreError
from ..live.campaigns import Campaign
from ..live.campaigns.requests import Request
from .observability import Observer

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
