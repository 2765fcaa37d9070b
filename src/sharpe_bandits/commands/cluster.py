"""``--workers`` and ``--dask``: who computes, the same for every command that simulates."""

from __future__ import annotations

import argparse
import logging
import re
import signal
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from typing import Any

from ..errors import ExecutorError, InvalidInputError, require, shown
from ..validation import whole

#: Seconds to wait for a scheduler to answer, for connections to it to be closed, and for workers of our own to end.
_CONNECT, _LEAVE, _END = 10, 2, 0.3


def add(parser: argparse.ArgumentParser) -> None:
    """The options."""
    parser.add_argument("--workers", type=int, help="threads, or processes with --dask local; all cores by default")
    parser.add_argument("--dask", metavar="ADDRESS", help="compute on a Dask cluster, such as tcp://scheduler:8786; "
                        "local: on processes of this machine")  # fmt: skip


@contextmanager
def workers(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Who computes, as functions take it: a number of threads, or a Dask client for as long as the command runs."""
    count = None if options.workers is None else whole("--workers", options.workers, 1)
    if options.dask is None:
        yield {"workers": count}
        return
    require("distributed", "--dask", "dask")
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what matters is said in words of our own
    if options.dask == "local":
        from ..executors import cores

        with _local(count or cores()) as client:
            yield {"executor": client}
        return
    if not re.fullmatch(r"(\w+://)?[^\s/]+:\d+", options.dask):
        raise InvalidInputError(
            f"--dask takes local or the address of a scheduler, such as tcp://scheduler:8786, got {shown(options.dask)}"
        )
    if count is not None:
        raise InvalidInputError(
            f"--workers {count} is for threads and --dask local; the cluster at {options.dask} has workers of its own"
        )
    with _connected(options.dask) as client:
        yield {"executor": client}


@contextmanager
def _local(count: int) -> Iterator[Any]:
    """A client of so many processes on this machine, reached over loopback."""
    from distributed import Client, LocalCluster

    with _interrupts_blocked():
        cluster = LocalCluster(
            n_workers=count, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
        )  # fmt: skip
    client = Client(cluster, set_as_default=False)
    try:
        yield client
    finally:
        with suppress(Exception):  # whatever is wrong with workers that are no longer needed
            cluster.sync(_end, cluster.workers.values())
            client.close(_LEAVE)
            cluster.close(_LEAVE)


async def _end(nannies: Iterable[Any]) -> None:
    """End the processes of workers, whatever they are doing: what they compute is not wanted any more."""
    import asyncio

    await asyncio.gather(*(nanny.close(timeout=_END) for nanny in nannies))


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Hold back Ctrl-C here, and for good from threads and processes that are started: a terminal sends it to all
    processes of a command, and only the command itself should answer.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # it would unblock interrupts when it starts
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _connected(address: str) -> Iterator[Any]:
    """A client of a scheduler that runs already."""
    from distributed import Client

    try:
        client = Client(address, timeout=_CONNECT, set_as_default=False)
    except (OSError, ValueError, ImportError) as error:
        raise ExecutorError(
            f"no Dask scheduler answers at {address} ({str(error) or type(error).__name__}); start one with: dask "
            "scheduler; or use --dask local"
        ) from None
    try:
        yield client
    finally:
        with suppress(Exception):  # a scheduler that is gone
            client.close(_LEAVE)
