"""Work as long as the log, in a process of its own with low priority: asking and telling go on at their pace."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from ..errors import StoreError
from ..live.campaigns import Campaign, Store
from ..policies.base import Policy

#: The store of the process, opened when it starts.
_store: Store


class Aside:
    """Runs functions of campaigns one after another, in a process that opens the store by ``target`` and imports the
    ``modules`` that define policies; without a target, in a thread.
    """

    def __init__(self, store: Store, target: str | None = None, modules: Sequence[str] = ()) -> None:
        self._opened, self._target, self._modules = store, target, list(modules)
        self._executor: Executor | None = None

    async def run(self, work: Callable[..., Any], name: str, *arguments: Any) -> Any:
        """The result of a function, which gets the campaign and the arguments."""
        if self._executor is None:
            self._executor = self._start()
        opened = self._opened if self._target is None else None
        try:
            return await asyncio.wrap_future(self._executor.submit(_work, opened, work, name, arguments))
        except BrokenProcessPool:
            self._executor = None
            raise StoreError("a process of the service was ended by the operating system; try again") from None

    def _start(self) -> Executor:
        if self._target is None:
            return ThreadPoolExecutor(1, "aside")
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(1, context, initializer=_open, initargs=(self._target, self._modules))

    def close(self) -> None:
        """End the process; what it was doing is lost."""
        if self._executor is not None:
            for process in multiprocessing.active_children() if self._target else ():
                process.terminate()
            self._executor.shutdown(wait=self._target is not None, cancel_futures=True)
            self._executor = None  # which frees its semaphores


def _open(target: str, modules: Sequence[str]) -> None:
    global _store
    from ..cli.commands.campaign import import_modules

    # Ctrl-C goes to all processes of a terminal; the service ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(AttributeError, OSError):
        os.nice(10)
    import_modules(list(modules))
    _store = Store(target, create=False)


def _work(store: Store | None, work: Callable[..., Any], name: str, arguments: Sequence[Any]) -> Any:
    return work((store or _store).campaign(name), *arguments)


def verify(campaign: Campaign, choices: bool) -> dict[str, Any]:
    """The result of a verification."""
    verification = campaign.verify(choices=choices)
    return {"ok": verification.ok, **vars(verification)}


def evaluate(campaign: Campaign, policy: Policy) -> dict[str, Any]:
    """What another policy would have earned."""
    estimates = campaign.evaluate(policy)
    return {"sentence": f"{estimates}.", **asdict(estimates)}
