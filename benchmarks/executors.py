"""What executors cost: ``python -m benchmarks.executors`` (``make bench-executors``) writes EXECUTORS.md.

Threads, processes and a Dask cluster on loopback, two workers each, take turns.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import sharpe_bandits as sb

from . import machine, settings
from .report import table
from .timing import Contender, take_turns

PAGE = Path(__file__).with_name("EXECUTORS.md")
WORKERS = 2
#: Tiny chunks show what a chunk costs beside its work; large ones what is lost of the work.
TINY, LARGE = {"horizon": 100, "runs": 16 * 200, "chunk": 16}, {"horizon": 10_000, "runs": 6400}
REPETITIONS = 5


def _simulate(executor: dict[str, Any], **size: Any) -> None:
    sb.simulate(sb.UCBRSSR(L=settings.L), settings.uniform_arms(10), progress=False, **size, **executor)


@contextmanager
def processes(count: int) -> Iterator[dict[str, Any]]:
    """Fresh processes."""
    with ProcessPoolExecutor(count, get_context("spawn")) as pool:
        yield {"executor": pool}


@contextmanager
def dask(count: int) -> Iterator[dict[str, Any]]:
    """A scheduler and workers on loopback."""
    from distributed import Client, LocalCluster

    local = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0", "silence_logs": 50}
    with LocalCluster(n_workers=count, threads_per_worker=1, **local) as cluster, Client(cluster) as client:
        yield {"executor": client}


def _first(start: Any) -> float:
    """Seconds from nothing to the first chunk."""
    began = time.perf_counter()
    with start(1) as executor:
        _simulate(executor, horizon=100, runs=16, chunk=16)
        return time.perf_counter() - began


def page() -> str:
    """All of it as a page."""
    with processes(WORKERS) as pool, dask(WORKERS) as cluster:
        who = {"threads": {"workers": WORKERS}, "processes": pool, "Dask": cluster}
        chunks = TINY["runs"] // TINY["chunk"]
        tiny = [Contender(name, chunks, lambda how=how: _simulate(how, **TINY), wall=True) for name, how in who.items()]
        cost = take_turns(tiny, REPETITIONS)
        large = [Contender(name, 1, lambda how=how: _simulate(how, **LARGE), wall=True) for name, how in who.items()]
        took = take_turns(large, REPETITIONS)
    warm = {"processes": _first(processes), "Dask": _first(dask)}
    before = os.environ.get("SHARPE_BANDITS_CACHE")
    cold = {}
    for name, start in (("processes", processes), ("Dask", dask)):
        with tempfile.TemporaryDirectory() as folder:
            os.environ["SHARPE_BANDITS_CACHE"] = folder
            cold[name] = _first(start)
    if before is None:
        del os.environ["SHARPE_BANDITS_CACHE"]
    else:
        os.environ["SHARPE_BANDITS_CACHE"] = before
    rows = [
        [
            name,
            f"{statistics.median(cost[name].nanoseconds) / 1e6:.2f}",
            f"{took[name].over(took['threads']):.2f}",
            f"{warm[name]:.1f}" if name in warm else "",
            f"{cold[name]:.1f}" if name in cold else "",
        ]
        for name in who
    ]
    heads = [
        f"{WORKERS} workers", "ms per tiny chunk", "time, large chunks, against threads",
        "first chunk of a fresh worker (s)", "the same, nothing compiled before (s)",
    ]  # fmt: skip
    lines = [
        "# What executors cost",
        "",
        "Made by `make bench-executors`; do not edit.",
        f"UCB-RSSR on ten arms. Tiny chunks: {TINY['chunk']} runs of {TINY['horizon']} rounds, {chunks} of them; wall "
        f"time over chunks, median of {REPETITIONS}. Large: {LARGE['runs']:,} runs of {LARGE['horizon']:,} rounds in "
        "chunks of the default size; median of ratios side by side. A fresh worker: with its start, for Dask that of a "
        "scheduler too.",
        "",
        *(f"- {name}: {text}" for name, text in machine.description().items()),
        f"- load of the machine when it ended: {os.getloadavg()[0]:.1f}",
        "",
        *table(heads, rows),
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
