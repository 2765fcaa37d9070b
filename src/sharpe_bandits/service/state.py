"""The state that routes share: open campaigns, their group commits, and notification of changes."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import NamedTuple

from ..errors import StoreError
from ..live.campaigns import Campaign, Store
from .group_commit import GroupCommit
from .observability import Observer

#: Seconds between polls of the store while there are watchers.
POLL_SECONDS = 1.0
#: Seconds by which the clock of a store may differ from that of the service for pages to be updated at once.
CLOCK_DIFFERENCE = 300.0
#: Seconds in which a store must answer to be called ready.
READY_SECONDS = 2.0
#: Maximum number of concurrent streams.
MAX_WATCHERS = 200


class CampaignHandle(NamedTuple):
    """A campaign: one object to write through group commit, and one to read without waiting for writers."""

    commits: GroupCommit
    reader: Campaign


class ServiceState:
    """An open store; ``group`` is the maximum number of requests in one commit."""

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
        self._watchers, self._polled = 0, 0.0
        self._polling: asyncio.Task[None] | None = None
        self._changed = asyncio.Condition()
        self.observer = Observer(lambda: [handle.reader for handle in list(self._handles.values())])

    def _committed(self, size: int, seconds: float) -> None:
        self.observer.group_size.observe(size)
        self.observer.commit_seconds.observe(seconds)

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
        if self.closing.is_set():
            raise StoreError("the service is shutting down")
        return sum(handle.commits.refused for handle in list(self._handles.values()))

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
                commits = GroupCommit(self.store.campaign(name), self._threads, turn, self._group, self._committed)
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
                began = time.time()
                # The store's clock may differ from ours by some seconds.
                self.events |= await asyncio.to_thread(self.store.changes, self._polled - CLOCK_DIFFERENCE)
                self._polled = began
            except Exception:  # a damaged or unavailable store: pages find out when they read
                self._polled = 0.0
            async with self._changed:
                self._changed.notify_all()
            try:
                await asyncio.wait_for(self.closing.wait(), POLL_SECONDS)
            except TimeoutError:
                continue
        async with self._changed:
            self._changed.notify_all()
