"""Group commit: operations that arrive together are committed together, and acknowledged when they are on disk."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any, NamedTuple

from ..campaigns import Campaign
from ..errors import SharpeBanditsError, StoreError

#: Maximum number of operations waiting for one campaign.
LONGEST_QUEUE = 10_000


class _Waiting(NamedTuple):
    operation: Callable[[], Any]
    key: str | None
    number: int | None
    done: asyncio.Future[Any]


class GroupCommit:
    """Operations on one campaign. Those that arrive during a commit go into the next one: no operation waits for others
    to join it, and the busier the service, the larger the groups.

    Parameters
    ----------
    campaign : Campaign
        the campaign; operations use it and no other
    threads : Executor
        where commits run
    turn : asyncio.Lock
        held during a commit; campaigns of one SQLite file share it, since only one of them can write
    largest : int
        maximum number of operations in one commit
    aside : float
        maximum number of seconds per operation for which the event loop blocks while the statements of a commit run.
        Two threads that exchange the GIL at every statement take half as much time again
    """

    def __init__(
        self, campaign: Campaign, threads: Executor, turn: asyncio.Lock, largest: int, aside: float = 0.0
    ) -> None:
        self.campaign = campaign
        self._threads, self._turn, self._largest, self._aside = threads, turn, largest, aside
        self._waiting: list[_Waiting] = []
        self._task: asyncio.Task[None] | None = None

    async def do(self, operation: Callable[[], Any], *, key: str | None = None, number: int | None = None) -> Any:
        """The result of an operation, once it is committed; raises what the operation raises.

        ``key`` or ``number``: of the decision that it looks up, if it is a single one.
        """
        if len(self._waiting) >= LONGEST_QUEUE:
            raise StoreError(f"{LONGEST_QUEUE:,} operations are waiting; nothing was recorded: try again later")
        done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(operation, key, number, done))
        if self._task is None:
            self._task = asyncio.create_task(self._commit_all())
        found = await done
        if isinstance(found, Exception):
            raise found
        return found

    async def finish(self) -> None:
        """Wait for all accepted operations."""
        if self._task is not None:
            await self._task

    async def _commit_all(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while self._waiting:
                async with self._turn:
                    group = self._waiting[: self._largest]
                    del self._waiting[: self._largest]
                    executed = threading.Event()
                    running = loop.run_in_executor(self._threads, self._commit, group, executed)
                    executed.wait(self._aside * len(group))
                    found = await running
                for one, value in zip(group, found, strict=True):
                    if not one.done.done():  # else its client has gone
                        one.done.set_result(value)
        finally:
            self._task = None

    def _commit(self, group: list[_Waiting], executed: threading.Event) -> list[Any]:
        keys = [one.key for one in group if one.key is not None]
        numbers = [one.number for one in group if one.number is not None]
        try:
            operations = [one.operation for one in group]
            return self.campaign.together(operations, keys=keys, numbers=numbers, executed=executed.set)
        except SharpeBanditsError as error:
            return [error] * len(group)
        except Exception as error:
            if len(group) == 1:
                return [error]
            return [self._commit([one], executed)[0] for one in group]  # only one of them caused the error
        finally:
            executed.set()
