"""``--workers`` and ``--dask``: options of every command that simulates, which select where it computes."""

from __future__ import annotations

import argparse
import logging
import re
import signal
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from typing import Any

from ..._support.validation import whole
from ...errors import ExecutorError, InvalidInputError, require, shown

#: Seconds to wait for a scheduler to answer, for connections to it to close, and for local workers to end.
_CONNECT, _LEAVE, _END = 10, 2, 0.3


def add(parser: argparse._ActionsContainer) -> None:
    """Add ``--workers`` and ``--dask``."""
    parser.add_argument(
        "--workers", type=int, metavar="N", help="number of threads, or of processes with --dask local (all cores)"
    )
    parser.add_argument("--dask", metavar="ADDRESS", help="compute on a Dask cluster, such as tcp://scheduler:8786; "
                        "local: on processes of this machine")  # fmt: skip


@contextmanager
def workers(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Keyword arguments that select the workers: a number of threads, or a Dask client, closed at the end."""
    count = None if options.workers is None else whole("--workers", options.workers, 1)
    if options.dask is None:
        yield {"workers": count}
        return
    require("distributed", "--dask", "dask")
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # errors are reported in messages of this package
    if options.dask == "local":
        from ...simulation.executors import cores

        with _local(count or cores()) as client:
            yield {"executor": client}
        return
    if not re.fullmatch(r"(\w+://)?[^\s/]+:\d+", options.dask):
        raise InvalidInputError(
            f"--dask takes local or the address of a scheduler, such as tcp://scheduler:8786, got {shown(options.dask)}"
        )
    if count is not None:
        raise InvalidInputError(
            f"--workers {count} is for threads and --dask local; the cluster at {options.dask} has its own workers"
        )
    with _connected(options.dask) as client:
        yield {"executor": client}


@contextmanager
def _local(count: int) -> Iterator[Any]:
    """A client of this many processes on this machine, reached over loopback."""
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
        with suppress(Exception):  # errors of workers that are no longer needed do not matter
            cluster.sync(_end, cluster.workers.values())
            client.close(_LEAVE)
            cluster.close(_LEAVE)


async def _end(nannies: Iterable[Any]) -> None:
    """End the processes of workers, even busy ones: their results are no longer needed."""
    import asyncio

    await asyncio.gather(*(nanny.close(timeout=_END) for nanny in nannies))


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Block Ctrl-C here, and permanently in threads and processes that are started: a terminal sends it to all
    processes of a command, and only the command itself should handle it.
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
    """A client of a running scheduler."""
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
        with suppress(Exception):  # the scheduler may be gone
            client.close(_LEAVE)
