"""Speed: against bare commits of the same store, under load from many processes, and after a million decisions."""

from __future__ import annotations

import os
import secrets
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import sharpe_bandits as sb
from sharpe_bandits.live.campaigns import Campaign

from .children import Child, Say

ARMS = [f"arm {i}" for i in range(10)]
POLICY = sb.ScaleFreeUCB(L=1e-4)
#: How often opening and status are timed.
_LOOKS = 9


def new(target: str, **more: Any) -> Campaign:
    """A new campaign."""
    name = f"torture {secrets.token_hex(6)}"
    return sb.Store(target).campaign(name, policy=POLICY, arms=ARMS, seed=1, **more)


#: A campaign with everything that may happen around a policy.
HANDED_OVER: dict[str, Any] = {
    "segments": "pooled",
    "share": 0.8,
    "control": ARMS[0],
    "bounds": {ARMS[1]: (0.02, 0.5)},
    "guardrails": [
        {"kind": "drawdown", "limit": 0.04, "arm": "*", "action": "suspend"},
        {"kind": "rate", "metric": "error", "limit": 0.02, "action": "pause"},
    ],
}


def reward(number: int) -> float:
    """What a decision pays."""
    return 0.001 * ((number * 7919) % 23 - 11)


def bare(target: str) -> Callable[[], None]:
    """A commit of one row, as durable as a campaign's."""
    if "://" in target:
        import psycopg

        server = psycopg.connect(target, autocommit=True)
        server.execute("CREATE TABLE IF NOT EXISTS bare (x int)")
        return lambda: server.execute("INSERT INTO bare VALUES (1)") and None
    file = sqlite3.connect(f"{target}.bare", isolation_level=None)
    file.execute("PRAGMA journal_mode=WAL")
    file.execute("PRAGMA synchronous=FULL")
    file.execute("CREATE TABLE IF NOT EXISTS bare (x)")
    return lambda: file.execute("INSERT INTO bare VALUES (1)") and None


def timed(work: Callable[[], Any]) -> float:
    """Seconds."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def side_by_side(name: str, target: str, rounds: int) -> list[str]:
    """An ask, a tell and a bare commit in turn, in one process; then batches of 64."""
    campaign, commit = new(target, lease="1 day"), bare(target)
    for _ in range(35):
        campaign.tell(decision := campaign.ask(), reward(decision.number))
        commit()
    asks, tells, commits = [], [], []
    for _ in range(rounds):
        made: list[Any] = []
        asks.append(timed(lambda made=made: made.append(campaign.ask())))  # type: ignore[misc]
        commits.append(timed(commit))
        tells.append(timed(lambda made=made: campaign.tell(made[0], reward(made[0].number))))  # type: ignore[misc]
        commits.append(timed(commit))
    batches = []
    for _ in range(max(3, rounds // 20)):
        begin = time.perf_counter()
        campaign.tell_many({d: reward(d.number) for d in campaign.ask(count=64)})
        batches.append((time.perf_counter() - begin) / 128)
    operation, single = float(np.median([*asks, *tells])), float(np.median(commits))
    batched = float(np.median(batches))
    quiet = np.quantile([*asks, *tells], 0.1) / np.quantile(commits, 0.1)
    print(
        f"{name}: ask {1e3 * np.median(asks):.2f} ms, tell {1e3 * np.median(tells):.2f} ms, a bare commit "
        f"{1e3 * single:.2f} ms (medians of {rounds}): an operation costs {operation / single:.2f} commits, "
        f"{quiet:.2f} at the 10% quantiles, which other processes disturb less; "
        f"in batches of 64, {operation / batched:.0f} times the throughput"
    )
    return [] if campaign.verify().ok else [f"{name}: the log does not lead to the state"]


def _work(target: str, name: str, number: int, each: int) -> Callable[[Say], None]:
    def work(say: Say) -> None:
        campaign = sb.Store(target).campaign(name)
        taken = []
        for i in range(each):
            begin = time.perf_counter()
            decision = campaign.ask(key=f"{number}-{i}")
            middle = time.perf_counter()
            campaign.tell(decision, reward(decision.number))
            taken += [middle - begin, time.perf_counter() - middle]
        say(taken)

    return work


def under_load(name: str, target: str, processes: int, each: int) -> list[str]:
    """Many processes ask and tell at once: nothing is lost or doubled, nobody waits long, no error reaches a caller."""
    campaign = new(target, lease="1 day")
    begin = time.perf_counter()
    running = [Child(_work(target, campaign.name, number, each)) for number in range(processes)]
    answers = [next(child.answers(), "it died") for child in running]
    seconds = time.perf_counter() - begin
    failures = [f"{name} under load: {answer}" for answer in answers if isinstance(answer, str)]
    taken = np.concatenate([answer for answer in answers if not isinstance(answer, str)] or [np.zeros(1)])
    slow = float(np.quantile(taken, 0.99))
    print(
        f"{name}: {processes} processes x {each} ask+tell: {processes * each / seconds:.0f} per second, median "
        f"{1e3 * np.median(taken):.1f} ms, slowest 1% from {1e3 * slow:.0f} ms, slowest {1e3 * taken.max():.0f} ms"
    )
    rows = campaign.history().to_pylist()
    total = processes * each
    keys = {row["key"] for row in rows}
    if len(rows) != total or len(keys) != total or any(row["reward"] != reward(row["number"]) for row in rows):
        failures.append(f"{name} under load: {len(rows)} decisions with {len(keys)} keys of {total}")
    found = campaign.verify(choices=True)
    return failures if found.ok else [*failures, f"{name} under load: {found}"]


def million(target: str, decisions: int) -> list[str]:
    """Very many decisions: asking costs what it did, opening and status stay quick."""
    campaign = new(target, lease="1 day")

    def cost() -> float:
        taken = []
        for _ in range(200):
            begin = time.perf_counter()
            decision = campaign.ask()
            taken.append(time.perf_counter() - begin)
            campaign.tell(decision, reward(decision.number))
        return float(np.median(taken))

    first = cost()
    made = 200
    while made < decisions:
        batch = campaign.ask(count=min(5000, decisions - made))
        campaign.tell_many({d: reward(d.number) for d in batch})
        made += len(batch)
    last = cost()
    opening, status = _looks(target, campaign.name)
    fresh = [sys.executable, "-m", "torture.load", target, campaign.name]
    first_opening, first_status = map(float, subprocess.run(fresh, capture_output=True, check=True).stdout.split())
    size = Path(target).stat().st_size / 2**20
    begin = time.process_time()
    campaign.amend(1, 0.5)
    print(f"amending one of {made:,}: {time.process_time() - begin:.2f} s of CPU")
    begin = time.perf_counter()
    found = campaign.verify()
    print(
        f"SQLite, {made:,} decisions ({size:.0f} MiB): ask {1e3 * first:.2f} ms at the start, {1e3 * last:.2f} ms at "
        f"the end ({last / first:.2f} times); opening {1e3 * opening:.1f} ms, status {1e3 * status:.1f} ms (medians of "
        f"{_LOOKS}); the first time in an interpreter, which imports libraries, {1e3 * first_opening:.0f} and "
        f"{1e3 * first_status:.0f} ms; verify {time.perf_counter() - begin:.0f} s; load {os.getloadavg()[0]:.1f}"
    )
    return [] if found.ok else [f"a million decisions: {found}"]


def _look(target: str, name: str) -> tuple[float, float]:
    """Seconds that opening a campaign takes, and its first status."""
    opened: list[Campaign] = []
    opening = timed(lambda: opened.append(sb.Store(target).campaign(name)))
    return opening, timed(opened[0].status)


def _looks(target: str, name: str) -> list[float]:
    """Medians of that, each time with a store of its own."""
    return [float(np.median(taken)) for taken in zip(*(_look(target, name) for _ in range(_LOOKS)), strict=True)]


if __name__ == "__main__":
    print(*_look(*sys.argv[1:]))
