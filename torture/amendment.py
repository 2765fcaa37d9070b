"""How long others wait while an old decision is amended: ``python -m torture.amendment [--events 100000]``.

A service with two campaigns in one store. A client asks the small one every 10 ms, while the first decisions of the
long one are amended.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

import sharpe_bandits as sb

from .postgres import NoPostgresError
from .postgres import Server as Postgres
from .service import TOKEN, Server

ARMS = ["a", "b", "c"]


def measure(name: str, target: str | Path, events: int) -> None:
    """Print the time of amendments, and of asks meanwhile and before."""
    with sb.Store(target) as store:
        for campaign in [store.campaign(each, policy=sb.ScaleFreeUCB(L=0.1), arms=ARMS) for each in ("long", "small")]:
            for _ in range(events // 4000 if campaign.name == "long" else 1):
                campaign.tell_many({one: 0.01 * (one.number % 13) for one in campaign.ask(count=2000)})
    server = Server(target)
    connected = sb.connect(f"http://127.0.0.1:{server.port}", token=TOKEN)
    long, small = connected.campaign("long"), connected.campaign("small")
    asks: list[tuple[float, float]] = []
    end = threading.Event()

    def ask() -> None:
        while not end.wait(0.01):
            began = time.perf_counter()
            small.ask()
            asks.append((began, time.perf_counter()))

    asking = threading.Thread(target=ask)
    asking.start()
    time.sleep(2.0)
    amended = []
    for number in (1, 2, 3):
        began = time.perf_counter()
        long.amend(number, 5.0)
        amended.append((began, time.perf_counter()))
        time.sleep(1.0)
    end.set()
    asking.join()
    before = [1e3 * (to - at) for at, to in asks if to < amended[0][0]]
    slowest = [max(1e3 * (to - at) for at, to in asks if to > began and at < done) for began, done in amended]
    print(
        f"{name}: amending takes {', '.join(f'{done - began:.2f}' for began, done in amended)} s; the slowest ask of "
        f"another campaign meanwhile {', '.join(f'{one:.0f}' for one in slowest)} ms, before that "
        f"{np.median(before):.1f} ms in the median and {max(before):.0f} ms at most; {long.verify()}"
    )
    server.stop()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m torture.amendment", description=__doc__)
    parser.add_argument("--events", type=int, default=100_000, help="in the log of the long campaign")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure("SQLite", Path(folder) / "campaigns.db", options.events)
    try:
        server = Postgres()
    except NoPostgresError as error:
        print(f"no PostgreSQL: {error}")
        return 0
    measure("PostgreSQL", server.url, options.events)
    server.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
