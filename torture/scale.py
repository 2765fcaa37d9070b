"""Two servers on one PostgreSQL: ``python -m torture.scale [--seconds 6] [--repeat 3] [--kills 20] [--share 0.2]``.

64 clients ask and tell in 32 campaigns, through one and two servers in turn. Where servers, database and clients
share two cores, the clients and the database take theirs. So each server is also limited to a share of a core by a
control group (Linux, as root): the others then have cores left, as on machines of their own. Printed for each:
operations a second, processor time per operation of servers, database and clients, and what connections wait for.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import secrets
import signal
import statistics
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import psycopg

import sharpe_bandits as sb

from .postgres import Server as Postgres
from .service import ARMS, Load, Server, drive_all, lost

CAMPAIGNS, CLIENTS = 32, 64
_GROUPS = Path("/sys/fs/cgroup/cpu")
#: Microseconds in which a server uses up its share: short, so that it is slow and not stopped.
_PERIOD = 10_000


class Limited(Server):
    """A server with a share of a core; None for as much as there is."""

    def __init__(self, url: str, share: float | None) -> None:
        super().__init__(url)
        self._group = _GROUPS / f"sharpe-bandits-{self.process.pid}"
        self.share = share

    def limit(self) -> None:
        """From now on, which is after it has started."""
        if self.share is not None:
            self._group.mkdir()
            (self._group / "cpu.cfs_period_us").write_text(str(_PERIOD))
            (self._group / "cpu.cfs_quota_us").write_text(str(int(self.share * _PERIOD)))
            (self._group / "cgroup.procs").write_text(str(self.process.pid))

    def stop(self, how: int = signal.SIGTERM) -> None:
        super().stop(how)
        if self._group.exists():
            self._group.rmdir()


def prepare(url: str) -> list[str]:
    """New campaigns."""
    with sb.Store(url) as store:
        names = [f"scale-{secrets.token_hex(4)}" for _ in range(CAMPAIGNS)]
        for name in names:
            store.campaign(name, policy=sb.ScaleFreeUCB(L=1e-2), arms=ARMS, seed=1)
    return names


def database_time(postgres: Postgres) -> float:
    """Seconds of processor time of all processes of a database server."""
    ticks = 0
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if postgres.process is not None and str(postgres.process.pid) in (entry.parent.name, fields[1]):
            ticks += sum(map(int, fields[11:15]))  # of itself, and of its processes that have ended
    return ticks / os.sysconf("SC_CLK_TCK")


def own_time() -> float:
    """Seconds of processor time of this process."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def waits(url: str, seconds: float) -> Counter[str]:
    """What connections wait for, looked at ten times a second."""
    counts: Counter[str] = Counter()
    statement = (
        "SELECT coalesce(wait_event_type, 'running') FROM pg_stat_activity "
        "WHERE application_name = 'sharpe-bandits' AND state <> 'idle'"
    )
    with psycopg.connect(url, autocommit=True) as connection:
        for _ in range(int(10 * seconds)):
            counts.update(kind for (kind,) in connection.execute(statement))
            time.sleep(0.1)
    return counts


def measure(postgres: Postgres, servers: int, share: float | None, together: bool, seconds: float) -> float:
    """Operations a second of all servers; each campaign is used by one of them, or by all (``together``)."""
    names = prepare(postgres.url)
    running = [Limited(postgres.url, share) for _ in range(servers)]
    ports = [server.port for server in running]
    if together:
        places = [(port, name) for port in ports for name in names]
    else:
        places = [(ports[k % servers], name) for k, name in enumerate(names)]
    each = CLIENTS // len(places)
    drive_all(places, each, 1.0, {name: Load() for name in names}, "warm")
    for server in running:
        server.limit()
    loads = {name: Load() for name in names}
    before = [sum(s.processor_time() for s in running), database_time(postgres), own_time()]
    seen: list[Counter[str]] = []
    looking = threading.Thread(target=lambda: seen.append(waits(postgres.url, seconds)))
    looking.start()
    drive_all(places, each, seconds, loads, "measured")
    looking.join()
    after = [sum(s.processor_time() for s in running), database_time(postgres), own_time()]
    for server in running:
        server.stop()
    wrong = [text for load in loads.values() for text in load.wrong]
    assert not wrong, wrong[0]
    done = sum(len(load.latencies) for load in loads.values())
    latencies = sorted(x for load in loads.values() for x in load.latencies)
    spent = [1e6 * (b - a) / done for a, b in zip(before, after, strict=True)]
    cores = [(b - a) / seconds for a, b in zip(before, after, strict=True)]
    total = sum(seen[0].values())
    kinds = ", ".join(f"{kind} {100 * count / total:.0f}%" for kind, count in seen[0].most_common(4))
    limit = "no limit" if share is None else f"{share:g} of a core each"
    print(
        f"{servers} server{'s' * (servers > 1)}, each campaign on {'all' if together else 'one'}, {limit}: "
        f"{done / seconds:,.0f} operations a second, median {1e3 * latencies[done // 2]:.1f} ms, slowest 1% "
        f"{1e3 * latencies[int(0.99 * done)]:.0f} ms; us per operation (cores): servers "
        f"{spent[0]:.0f} ({cores[0]:.2f}), "
        f"database {spent[1]:.0f} ({cores[1]:.2f}), clients {spent[2]:.0f} ({cores[2]:.2f}); transactions: {kinds}",
        flush=True,
    )
    return done / seconds


def killed(postgres: Postgres, kills: int) -> tuple[int, int]:
    """Kill one of two servers, in turn, that use all campaigns; gives how much was acknowledged, and how much lost."""
    names = prepare(postgres.url)
    loads = {name: Load() for name in names}
    servers = [Server(postgres.url), Server(postgres.url)]
    for turn in range(kills):
        victim = turn % 2
        timer = threading.Timer(random.uniform(0.2, 1.2), servers[victim].stop, (signal.SIGKILL,))
        timer.start()
        places = [(server.port, name) for server in servers for name in names]
        drive_all(places, 4, 1.5, loads, f"turn {turn}")
        timer.join()
        servers[victim] = Server(postgres.url)
    for server in servers:
        server.stop()
    with sb.Store(postgres.url) as store:
        missing = sum(lost(store.campaign(name), load) for name, load in loads.items())
    return sum(len(load.told) + len(load.asked) for load in loads.values()), missing


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m torture.scale", description=__doc__)
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--share", type=float, default=0.2, help="of a core, for each server")
    options = parser.parse_args()
    postgres = Postgres()
    missing = 0
    try:
        print(f"load average before: {os.getloadavg()[0]:.1f}")
        limits = [None, options.share] if os.access(_GROUPS, os.W_OK) else [None]
        for share in limits if options.seconds else []:
            for together in (False, True):
                ratios = []
                for _ in range(options.repeat):
                    one, two = (measure(postgres, servers, share, together, options.seconds) for servers in (1, 2))
                    ratios.append(two / one)
                error = statistics.stdev(ratios) / len(ratios) ** 0.5 if len(ratios) > 1 else float("nan")
                print(f"  two servers: {statistics.mean(ratios):.2f} ± {error:.2f} times one", flush=True)
        if options.kills:
            acknowledged, missing = killed(postgres, options.kills)
            print(f"{options.kills} kills of one of two servers: {acknowledged:,} acknowledged, {missing} lost")
    finally:
        postgres.stop()
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
