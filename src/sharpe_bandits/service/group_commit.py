"""Group commit: operations that arrive together are committed together, and acknowledged when they are on disk."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any

from ..campaigns import Campaign
from ..errors import SharpeBanditsError, StoreError

#: Operations that wait for one campaign, at most.
LONGEST_QUEUE = 10_000


class GroupCommit:
    """Operations on one campaign. What arrives while a commit is under way goes into the next one: nobody waits for
    company, and the busier the service, the larger the groups.

    Parameters
    ----------
    campaign : Campaign
        the campaign; operations use it and no other
    threads : Executor
        where commits run
    turn : asyncio.Lock
        held during a commit; campaigns of one SQLite file share it, since only one of them can write
    largest : int
        operations in one commit, at most
    """

    def __init__(self, campaign: Campaign, threads: Executor, turn: asyncio.Lock, largest: int) -> None:
        self.campaign = campaign
        self._threads, self._turn, self._largest = threads, turn, largest
        self._waiting: list[tuple[Callable[[], Any], asyncio.Future[Any]]] = []
        self._task: asyncio.Task[None] | None = None

    async def do(self, operation: Callable[[], Any]) -> Any:
        """What an operation gives, once it is committed; raises what it raises."""
        if len(self._waiting) >= LONGEST_QUEUE:
            raise StoreError(f"{LONGEST_QUEUE:,} operations are waiting; nothing was recorded: try again later")
        done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append((operation, done))
        if self._task is None:
            self._task = asyncio.create_task(self._commit_all())
        found = await done
        if isinstance(found, Exception):
            raise found
        return found

    async def finish(self) -> None:
        """Wait for all that was accepted."""
        if self._task is not None:
            await self._task

    async def _commit_all(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while self._waiting:
                async with self._turn:
                    group = self._waiting[: self._largest]
                    del self._waiting[: self._largest]
                    found = await loop.run_in_executor(self._threads, self._commit, [one for one, _ in group])
                for (_, done), value in zip(group, found, strict=True):
                    if not done.done():  # else its client has gone
                        done.set_result(value)
        finally:
            self._task = None

    def _commit(self, operations: list[Callable[[], Any]]) -> list[Any]:
        try:
            return self.campaign.together(operations)
        except SharpeBanditsError as error:
            return [error] * len(operations)
        except Exception as error:
            if len(operations) == 1:
                return [error]
            return [self._commit([one])[0] for one in operations]  # one of them is at fault, the others are not
