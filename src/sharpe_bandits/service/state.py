"""The state that routes share: open campaigns, their group commits, and notification of changes."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, NamedTuple

from ..errors import StoreError
from ..live.campaigns import Campaign, Store
from .group_commit import GroupCommit

#: Seconds between polls of the store while there are watchers.
POLL_SECONDS = 1.0
#: Maximum number of concurrent streams.
MAX_WATCHERS = 200


class CampaignHandle(NamedTuple):
    """A campaign: one object to write through group commit, and one to read without waiting for writers."""

    commits: GroupCommit
    reader: Campaign


class ServiceState:
    """An open store.

    Parameters
    ----------
    store : Store
        the store
    group : int, optional
        maximum number of requests in one commit
    """

    def __init__(self, store: Store, group: int = 256) -> None:
        self.store = store
        self.closing = asyncio.Event()
        self._group = group
        self._handles: dict[str, CampaignHandle] = {}
        self._opening = threading.Lock()
        self._threads = ThreadPoolExecutor(1 if store.single_writer else 8, "commit")
        self._turn = asyncio.Lock()
        #: Number of events by campaign, as of the last poll.
        self.events: dict[str, int] = {}
        self._watchers = 0
        self._polling: asyncio.Task[None] | None = None
        self._changed = asyncio.Condition()

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
                commits = GroupCommit(self.store.campaign(name), self._threads, turn, self._group)
                self._handles[name] = CampaignHandle(commits, self.store.campaign(name))
            return self._handles[name]

    async def close(self) -> None:
        """Finish accepted requests, and close the store."""
        self.closing.set()
        for handle in list(self._handles.values()):
            await handle.commits.finish()
        if self._polling is not None:
            self._polling.cancel()
        self._threads.shutdown()
        self.store.close()

    async def watch(self, seen: dict[str, int], patience: float) -> dict[str, int]:
        """Campaigns that differ from ``seen``, with their numbers of events; empty after ``patience`` seconds."""
        if self._polling is None or self._polling.done():
            self._polling = asyncio.create_task(self._poll())

        def changes() -> dict[str, int]:
            return {name: count for name, count in self.events.items() if seen.get(name) != count}

        try:
            async with asyncio.timeout(patience), self._changed:
                await self._changed.wait_for(lambda: changes() or self.closing.is_set())
        except TimeoutError:
            return {}
        return changes()

    def check_room(self) -> None:
        """Raise if there are too many watchers."""
        if self._watchers >= MAX_WATCHERS:
            raise StoreError(f"{MAX_WATCHERS} pages are already open; close some, or reload from time to time")

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Count a watcher for the duration of the context."""
        self._watchers += 1
        try:
            yield
        finally:
            self._watchers -= 1

    async def _poll(self) -> None:
        """Poll the store every second while there are watchers."""
        while self._watchers and not self.closing.is_set():
            try:
                entries = await asyncio.to_thread(self.store.campaigns)
                self.events = {entry.name: entry.events for entry in entries}
            except Exception:  # a damaged or unavailable store: pages find out when they read
                self.events = {}
            async with self._changed:
                self._changed.notify_all()
            try:
                await asyncio.wait_for(self.closing.wait(), POLL_SECONDS)
            except TimeoutError:
                continue
        async with self._changed:
            self._changed.notify_all()


def finite(data: Any) -> Any:
    """The same plain data, with None for numbers that JSON cannot represent."""
    if isinstance(data, dict):
        return {str(key): finite(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [finite(value) for value in data]
    if isinstance(data, float) and not -1.8e308 < data < 1.8e308:
        return None
    return data
