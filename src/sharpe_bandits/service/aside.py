"""Work that takes long, in processes of its own with low priority: asking and telling go on at their pace meanwhile."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from typing import Any

from ..errors import StoreError
from ..live.campaigns import Campaign, Store

#: Processes; one of them is left to short work.
_PROCESSES = 2
#: The store of a process, opened when it starts.
_store: Store


class Aside:
    """Runs functions of a campaign: in processes that open the store by ``target`` and import the ``modules`` that
    define policies; without a target, in threads.
    """

    def __init__(self, store: Store, target: str | None = None, modules: Sequence[str] = ()) -> None:
        self._opened, self._target, self._modules = store, target, list(modules)
        self._executor: Executor | None = None
        self._long = asyncio.Semaphore(_PROCESSES - 1)

    async def long(self, work: Callable[..., Any], name: str, *arguments: Any) -> Any:
        """Like :meth:`short`, for work of any length; it waits for other such work."""
        async with self._long:
            return await self.short(work, name, *arguments)

    async def short(self, work: Callable[..., Any], name: str, *arguments: Any) -> Any:
        """The result of a function, which gets the campaign and the arguments."""
        if self._executor is None:
            self._executor = self._start()
        try:
            future = self._executor.submit(_work if self._target else self._work, work, name, arguments)
            return await asyncio.wrap_future(future)
        except BrokenProcessPool:
            self._executor = None
            raise StoreError("a process of the service was ended by the operating system; try again") from None

    def _start(self) -> Executor:
        if self._target is None:
            return ThreadPoolExecutor(_PROCESSES, "aside")
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(_PROCESSES, context, initializer=_open, initargs=(self._target, self._modules))

    def _work(self, work: Callable[..., Any], name: str, arguments: Sequence[Any]) -> Any:
        return work(self._opened.campaign(name), *arguments)

    def close(self) -> None:
        """End all processes; what they were doing is lost."""
        if self._executor is not None:
            for process in multiprocessing.active_children() if self._target else ():
                process.terminate()
            self._executor.shutdown(wait=self._target is not None, cancel_futures=True)
            self._executor = None  # which frees its semaphores


def _open(target: str, modules: Sequence[str]) -> None:
    global _store
    from ..cli.commands.campaign import import_modules

    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # Ctrl-C goes to all processes of a terminal; the service ends this one
    with suppress(AttributeError, OSError):
        os.nice(10)
    import_modules(list(modules))
    _store = Store(target, create=False)


def _work(work: Callable[..., Any], name: str, arguments: Sequence[Any]) -> Any:
    campaign: Campaign = _store.campaign(name)
    return work(campaign, *arguments)
