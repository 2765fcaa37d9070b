"""The service under load, and killed: ``python -m torture.service [--seconds 8] [--clients 64] [--kills 50]``.

Measures on loopback, in one run: what a bare commit costs; operations a second with one commit per request and with
group commit; the slowest 1% at half of that load, each request timed from the moment it was due; requests of 64
decisions or rewards each; and, with ``kill -9`` at random moments, how many acknowledged decisions and rewards are not
in the store afterwards (there must be none). ``--slower 3`` makes every commit, a bare one too, wait for 3 ms more: it
emulates a slower disk.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import uvloop

import sharpe_bandits as sb
from sharpe_bandits.live.campaigns import Campaign

from .load import bare

TOKEN = "t" * 40
ARMS = [f"arm {k}" for k in range(10)]
_NUMBER = re.compile(rb'"number":(\d+)')


def serve(path: str, group: int, slower: float) -> int:
    """Run a service until told to stop, with so many requests in one commit at most, which waits ``slower`` ms."""
    from sharpe_bandits.service import state
    from sharpe_bandits.service.app import create_app
    from sharpe_bandits.service.security import WRITE, Token
    from sharpe_bandits.service.server import run

    if slower:
        commit = Campaign.commit

        def waits(campaign: Campaign, requests: Any) -> Any:
            time.sleep(slower / 1000)
            return commit(campaign, requests)

        Campaign.commit = waits  # type: ignore[method-assign]
    state.LARGEST_GROUP = group
    app = create_app(sb.Store(path), [Token.of("load", WRITE, TOKEN)], rate=1e6, target=path)
    return run(app, "127.0.0.1", 0, lambda address: print(address, flush=True))


class Server:
    """A service in a process of its own."""

    def __init__(self, path: Path | str, group: int = 256, slower: float = 0.0) -> None:
        command = [sys.executable, "-m", "torture.service", "--serve", str(path), "--group", str(group)]
        command += ["--slower", str(slower)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline().rpartition(":")[2])

    def memory(self) -> float:
        """Resident memory in MiB."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20

    def processor_time(self) -> float:
        """Seconds of processor time so far."""
        spent = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        return sum(map(int, spent)) / os.sysconf("SC_CLK_TCK")

    def stop(self, how: int = signal.SIGTERM) -> None:
        """End it, by a signal."""
        self.process.send_signal(how)
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


@dataclass
class Load:
    """What clients did: latencies in seconds of all operations, and all that was acknowledged."""

    latencies: list[float] = field(default_factory=list)
    asked: dict[str, int] = field(default_factory=dict)
    told: dict[int, float] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)


_HEAD = (
    "POST /api/campaigns/{campaign}/{path} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    f"Authorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\nContent-Length: "
)
_LENGTH = re.compile(rb"content-length: (\d+)")


class Client(asyncio.Protocol):
    """Asks and tells in turn, on one connection; as little work as possible, since the service needs the processor.

    With a pause, one pair is due every so many seconds, whether the last was slow or not. With a batch, every request
    is for so many decisions or rewards.
    """

    def __init__(
        self, load: Load, name: str, until: float, pause: float = 0.0, batch: int = 1, campaign: str = "load"
    ) -> None:
        self._heads = {path: _HEAD.format(campaign=campaign, path=path) for path in ("decisions", "rewards")}
        self._load, self._name, self._until, self._pause, self._batch = load, name, until, pause, batch
        self._loop = asyncio.get_running_loop()
        self.done = self._loop.create_future()
        self._due = time.perf_counter() + random.random() * pause
        self._turn, self._received = 0, b""
        self._open: dict[int, float] = {}

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._later()

    def connection_lost(self, _: Exception | None) -> None:  # the end, or the service was killed
        if not self.done.done():
            self.done.set_result(None)

    def data_received(self, data: bytes) -> None:
        self._received += data
        end = self._received.find(b"\r\n\r\n") + 4
        if end < 4 or len(self._received) < end + int(_LENGTH.search(self._received)[1]):  # type: ignore[index]
            return
        received, self._received = self._received, b""
        if not received.startswith(b"HTTP/1.1 200"):
            self._load.wrong.append(received[end:].decode())
            self._transport.close()
            return
        now = time.perf_counter()
        self._load.latencies.append(now - self._begin)
        self._begin = now
        if self._open:
            self._load.told.update(self._open)
            self._open = {}
            self._later()
        else:
            self._open = {int(number): random.random() for number in _NUMBER.findall(received)}
            self._load.asked.update(zip(self._keys, self._open, strict=True))
            told = ",".join(f'{{"decision":{number},"reward":{reward!r}}}' for number, reward in self._open.items())
            self._send("rewards", f'{{"rewards":[{told}]}}')

    def _later(self) -> None:
        """Ask when it is due."""
        now = time.perf_counter()
        if now >= self._until:
            self._transport.close()
        elif self._pause and self._due > now:
            self._loop.call_later(self._due - now, self._ask)
        else:
            self._ask()

    def _ask(self) -> None:
        self._begin = self._due if self._pause else time.perf_counter()
        self._due += self._pause
        self._keys = [f"{self._name}-{self._turn + i}" for i in range(self._batch)]
        self._turn += self._batch
        keys = '","'.join(self._keys)
        self._send("decisions", f'{{"key":"{keys}"}}' if self._batch == 1 else f'{{"keys":["{keys}"]}}')

    def _send(self, path: str, body: str) -> None:
        self._transport.write(f"{self._heads[path]}{len(body)}\r\n\r\n{body}".encode())


async def _clients(
    places: list[tuple[int, str]], each: int, seconds: float, loads: dict[str, Load], name: str, rate: float, batch: int
) -> None:
    until, loop, clients = time.perf_counter() + seconds, asyncio.get_running_loop(), []
    pause = 2 * each * len(places) / rate if rate else 0.0
    for port, campaign in places:
        for k in range(each):
            client = Client(loads[campaign], f"{name}-{port}-{k}", until, pause, batch, campaign)
            clients.append(client)
            try:
                await loop.create_connection(lambda client=client: client, "127.0.0.1", port)  # type: ignore[misc]
            except OSError:  # the service was killed
                client.connection_lost(None)
    await asyncio.gather(*(client.done for client in clients))


def drive_all(
    places: list[tuple[int, str]], each: int, seconds: float, loads: dict[str, Load], name: str, rate: float = 0.0,
    batch: int = 1,
) -> None:  # fmt: skip
    """``each`` clients for every port and campaign, as fast as they can or at a rate of requests a second."""
    # In a thread of its own: whoever calls may have an event loop running, as tests with a browser do.
    run = threading.Thread(target=uvloop.run, args=(_clients(places, each, seconds, loads, name, rate, batch),))
    run.start()
    run.join()


def drive(
    port: int,
    clients: int,
    seconds: float,
    rate: float = 0.0,
    name: str = "a",
    load: Load | None = None,
    batch: int = 1,
) -> Load:
    """The same for one port and the campaign of :func:`fresh`."""
    load = load or Load()
    drive_all([(port, "load")], clients, seconds, {"load": load}, name, rate, batch)
    return load


def lost(campaign: Campaign, load: Load) -> int:
    """How much of what was acknowledged is not there; the campaign must agree with its log."""
    assert not load.wrong, load.wrong[0]
    verified = campaign.verify()
    assert verified.ok, verified
    rows = {row["number"]: row for row in campaign.history().to_pylist()}
    rewards = sum(rows.get(number, {}).get("reward") != reward for number, reward in load.told.items())
    return rewards + sum(rows.get(number, {}).get("key") != key for key, number in load.asked.items())


def fresh(folder: str, name: str) -> Path:
    """A store with one campaign, of ten arms."""
    path = Path(folder) / name
    with sb.Store(path) as store:
        store.campaign("load", policy=sb.ScaleFreeUCB(L=1e-2), arms=ARMS, seed=1)
    return path


def bare_commit(path: Path, slower: float) -> float:
    """The median cost in milliseconds of a durable commit of one row that nobody else competes for."""
    commit, taken = bare(str(path)), []
    for _ in range(200):
        begin = time.perf_counter()
        commit()
        time.sleep(slower / 1000)
        taken.append(time.perf_counter() - begin)
    return 1000 * statistics.median(taken)


def throughput(clients: int, seconds: float, slower: float = 0.0) -> dict[str, float]:
    """Operations a second alone and together, and the slowest 1% at half of that load, in milliseconds."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        found["bare"] = bare_commit(Path(folder) / "bare.db", slower)
        for name, group in (("alone", 1), ("together", 256)):
            server = Server(fresh(folder, f"{name}.db"), group, slower)
            drive(server.port, clients, 1.0, name="warm")
            before = server.processor_time()
            load = drive(server.port, clients, seconds)
            assert not load.wrong, load.wrong[0]
            found[name] = len(load.latencies) / seconds
            found["processor"] = 1000 * (server.processor_time() - before) / len(load.latencies)
            if group > 1:
                half = drive(server.port, clients, seconds, found[name] / 2, "half")
                latencies = sorted(half.latencies)
                found["half"] = len(latencies) / seconds
                found["median"] = 1000 * latencies[len(latencies) // 2]
                found["slowest 1%"] = 1000 * latencies[int(0.99 * len(latencies))]
                many = drive(server.port, 4, seconds, name="batch", batch=64)
                assert not many.wrong, many.wrong[0]
                found["batch"] = (len(many.asked) + len(many.told)) / seconds
            server.stop()
    return found


def _kill(server: Server, load: Load, before: int, moment: float) -> None:
    """Kill a service so many seconds after it has acknowledged the first reward."""
    while len(load.told) == before:
        time.sleep(0.01)
    time.sleep(moment)
    server.stop(signal.SIGKILL)


def killed(kills: int, clients: int, longest: float = 1.0) -> tuple[int, int, int]:
    """Kill the service at random moments of a load; gives acknowledged decisions, rewards, and how many were lost."""
    load = Load()
    with tempfile.TemporaryDirectory() as folder:
        path = fresh(folder, "killed.db")
        for turn in range(kills):
            server = Server(path)
            killer = threading.Thread(target=_kill, args=(server, load, len(load.told), random.uniform(0.0, longest)))
            killer.start()
            drive(server.port, clients, 60.0, name=f"turn {turn}", load=load)
            killer.join()
        with sb.Store(path) as store:
            return len(load.asked), len(load.told), lost(store.campaign("load"), load)


def beside_verification(clients: int, seconds: float, decisions: int = 30_000) -> dict[str, float]:
    """Median and slowest 1% of asks and tells in milliseconds, at 100 a second, alone and beside verifications."""
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = fresh(folder, "verified.db")
        with sb.Store(path) as store:
            campaign = store.campaign("load")
            for _ in range(decisions // 5000):
                campaign.tell_many({decision: random.random() for decision in campaign.ask(count=5000)})
        server = Server(path)
        remote = sb.connect(f"http://127.0.0.1:{server.port}", token=TOKEN, timeout=300).campaign("load")
        remote.verify()  # starts the process
        drive(server.port, clients, 2.0, 100.0, "warm")
        stop = threading.Event()

        def verify() -> None:
            while not stop.is_set():
                assert remote.verify().ok
                found["verified"] = found.get("verified", 0) + 1

        for name in ("alone", "beside"):
            work = threading.Thread(target=verify)
            if name == "beside":
                work.start()
            latencies = sorted(drive(server.port, clients, seconds, 100.0, name).latencies)
            found[f"{name} median"] = 1000 * latencies[len(latencies) // 2]
            found[f"{name} slowest 1%"] = 1000 * latencies[int(0.99 * len(latencies))]
        stop.set()
        work.join()
        server.stop()
    return found


def memory(requests: int, clients: int) -> list[tuple[int, float]]:
    """Resident memory of the service in MiB after so many requests."""
    found, done = [], 0
    with tempfile.TemporaryDirectory() as folder:
        server = Server(fresh(folder, "memory.db"))
        turn = 0
        while done < requests:
            done += len(drive(server.port, clients, 10.0, name=f"turn {turn}").latencies)
            turn += 1
            found.append((done, server.memory()))
        server.stop()
    return found


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m torture.service", description=__doc__)
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--requests", type=int, default=0, help="also watch memory over so many requests")
    parser.add_argument("--slower", type=float, default=0.0, help="milliseconds that every commit waits: a slower disk")
    parser.add_argument("--verify", action="store_true", help="also ask and tell beside verifications")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    parser.add_argument("--group", type=int, default=256, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        return serve(options.serve, options.group, options.slower)
    if options.seconds and not options.verify:
        found = throughput(options.clients, options.seconds, options.slower)
        emulated = f", of which {options.slower:g} ms are emulated" if options.slower else ""
        print(f"a bare commit: {found['bare']:.2f} ms{emulated}; load average {os.getloadavg()[0]:.1f}")
        print(
            f"{options.clients} clients, operations a second: one commit each {found['alone']:,.0f}, group commit "
            f"{found['together']:,.0f}: {found['together'] / found['alone']:.1f} times as many, "
            f"at {found['processor']:.3f} ms of processor time each"
        )
        print(
            f"at {found['half']:,.0f} operations a second: median {found['median']:.1f} ms, slowest 1% "
            f"{found['slowest 1%']:.1f} ms"
        )
        print(f"4 clients, 64 decisions or rewards in a request: {found['batch']:,.0f} of them a second")
    if options.verify:
        found = beside_verification(8, options.seconds)
        print(", ".join(f"{name} {value:,.1f}" for name, value in found.items()), f"; load {os.getloadavg()[0]:.1f}")
    if options.kills:
        asked, told, missing = killed(options.kills, options.clients)
        print(f"{options.kills} kills: {asked:,} decisions and {told:,} rewards acknowledged, {missing} lost")
        if missing:
            return 1
    for done, size in memory(options.requests, options.clients) if options.requests else []:
        print(f"{done:,} requests: {size:.1f} MiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
