"""``--workers`` and ``--dask``: options of every command that simulates, which select where it computes."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from ..._support.validation import whole
from ...errors import ExecutorError, require

#: Seconds to wait for a scheduler to answer, and for connections to it to close.
_CONNECT, _LEAVE = 10, 2


def add(parser: argparse._ActionsContainer) -> None:
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--workers", type=int, metavar="N", help="number of threads (all cores)")
    where.add_argument("--dask", metavar="ADDRESS", help="compute on a Dask cluster, such as tcp://scheduler:8786")


@contextmanager
def workers(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Keyword arguments that select the workers: a number of threads, or a Dask client, closed at the end."""
    address = options.dask
    if address is None:
        yield {"workers": None if options.workers is None else whole("--workers", options.workers, 1)}
        return
    require("distributed", "--dask", "dask")
    from distributed import Client

    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # errors are reported in messages of this package
    try:
        client = Client(address, timeout=_CONNECT, set_as_default=False)
    except Exception as error:  # of any kind: wrong addresses fail assertions of distributed
        raise ExecutorError(
            f"no Dask scheduler answers at {address} ({str(error) or type(error).__name__}); start one with: dask "
            "scheduler"
        ) from None
    try:
        yield {"executor": client}
    finally:
        with suppress(Exception):  # the scheduler may be gone
            client.close(_LEAVE)
