"""What the routes work with: campaigns that are open, who commits for them, and who is told that they changed."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, NamedTuple

from ..campaigns import Campaign, Store
from ..errors import StoreError
from .group_commit import GroupCommit

#: Seconds per operation that statements of a file may take while the event loop stands still.
_ASIDE = 0.0002
#: Seconds between looks at the store while somebody watches.
LOOK = 1.0
#: Streams at the same time, at most.
MOST_WATCHERS = 200


class Opened(NamedTuple):
    """A campaign: to write through group commit, and to read without waiting for writers."""

    commits: GroupCommit
    reader: Campaign


class Desk:
    """An open store.

    Parameters
    ----------
    store : Store
        the store
    group : int, optional
        operations in one commit, at most
    """

    def __init__(self, store: Store, group: int = 256) -> None:
        self.store = store
        self.closing = asyncio.Event()
        self._group = group
        self._opened: dict[str, Opened] = {}
        self._opening = threading.Lock()
        self._threads = ThreadPoolExecutor(1 if store.is_file else 8, "commit")
        self._turn = asyncio.Lock()
        #: Events by campaign, as of the last look.
        self.events: dict[str, int] = {}
        self._watchers = 0
        self._looking: asyncio.Task[None] | None = None
        self._changed = asyncio.Condition()

    async def open(self, name: str) -> Opened:
        """The campaign of this name."""
        if name in self._opened:
            return self._opened[name]
        return await asyncio.to_thread(self.opened, name)

    def opened(self, name: str) -> Opened:
        """The same, from a thread."""
        with self._opening:
            if name not in self._opened:
                turn, aside = (self._turn, _ASIDE) if self.store.is_file else (asyncio.Lock(), 0.0)
                commits = GroupCommit(self.store.campaign(name), self._threads, turn, self._group, aside)
                self._opened[name] = Opened(commits, self.store.campaign(name))
            return self._opened[name]

    async def close(self) -> None:
        """Finish what was accepted, and close the store."""
        self.closing.set()
        for opened in list(self._opened.values()):
            await opened.commits.finish()
        if self._looking is not None:
            self._looking.cancel()
        self._threads.shutdown()
        self.store.close()

    async def watch(self, seen: dict[str, int], patience: float) -> dict[str, int]:
        """Campaigns that differ from ``seen``, with their numbers of events; empty after ``patience`` seconds."""
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look())

        def changes() -> dict[str, int]:
            return {name: count for name, count in self.events.items() if seen.get(name) != count}

        try:
            async with asyncio.timeout(patience), self._changed:
                await self._changed.wait_for(lambda: changes() or self.closing.is_set())
        except TimeoutError:
            return {}
        return changes()

    def check_room(self) -> None:
        """Raise if too many watch."""
        if self._watchers >= MOST_WATCHERS:
            raise StoreError(f"{MOST_WATCHERS} pages are watching already; close some, or reload now and then")

    @contextmanager
    def watched(self) -> Iterator[None]:
        """While somebody watches."""
        self._watchers += 1
        try:
            yield
        finally:
            self._watchers -= 1

    async def _look(self) -> None:
        """Look at the store every second, while somebody watches."""
        while self._watchers and not self.closing.is_set():
            try:
                entries = await asyncio.to_thread(self.store.campaigns)
                self.events = {entry.name: entry.events for entry in entries}
            except Exception:  # a store that is damaged or away: pages find out when they read
                self.events = {}
            async with self._changed:
                self._changed.notify_all()
            try:
                await asyncio.wait_for(self.closing.wait(), LOOK)
            except TimeoutError:
                continue
        async with self._changed:
            self._changed.notify_all()


def finite(data: Any) -> Any:
    """The same plain data, with None for numbers that JSON does not have."""
    if isinstance(data, dict):
        return {str(key): finite(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [finite(value) for value in data]
    if isinstance(data, float) and not -1.8e308 < data < 1.8e308:
        return None
    return data
