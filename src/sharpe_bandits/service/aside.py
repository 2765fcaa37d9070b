"""Work as long as the log, in a process of its own with low priority: asking and telling go on at their pace."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import threading
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from typing import Any

from ..errors import StoreError
from ..live.campaigns import Store

#: The store of the process, opened when it starts.
_store: Store


class Aside:
    """Calls methods of campaigns one after another, in a process that opens the store by ``target`` and imports the
    ``modules`` that define policies; without a target, in threads.
    """

    def __init__(self, store: Store, target: str | None, modules: Sequence[str]) -> None:
        self._opened, self._target, self._modules = store, target, list(modules)
        self._process: ProcessPoolExecutor | None = None

    async def run(self, name: str, method: str, **options: Any) -> Any:
        """What a method of the campaign with this name returns."""
        if self._target is None:
            return await asyncio.to_thread(_call, self._opened, name, method, options)
        if self._process is None:
            context = multiprocessing.get_context("spawn")
            self._process = ProcessPoolExecutor(1, context, _open, (self._target, self._modules))
        try:
            return await asyncio.wrap_future(self._process.submit(_call, None, name, method, options))
        except BrokenProcessPool:
            self._process = None
            raise StoreError("a process of the service was ended by the operating system; try again") from None

    def close(self) -> None:
        """End the process; what it was doing is lost."""
        if self._process is not None:
            for process in multiprocessing.active_children():
                process.terminate()
            self._process.shutdown(wait=False, cancel_futures=True)
            self._process = None  # which frees its semaphores


def _open(target: str, modules: Sequence[str]) -> None:
    global _store
    from ..cli.commands.campaign import import_modules

    # Ctrl-C goes to all processes of a terminal; the service ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(AttributeError, OSError):
        os.nice(10)
    import_modules(list(modules))
    _store = Store(target, create=False)
    threading.Thread(target=_end_with_the_service, daemon=True).start()


def _end_with_the_service() -> None:
    """A service that is killed cannot end this process, which would wait for work for ever."""
    service = multiprocessing.parent_process()
    assert service is not None
    service.join()
    os._exit(1)


def _call(store: Store | None, name: str, method: str, options: dict[str, Any]) -> Any:
    return getattr((store or _store).campaign(name), method)(**options)
