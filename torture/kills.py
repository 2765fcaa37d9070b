"""kill -9 at random moments: what was acknowledged is there, and the same keys give the same decisions."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from typing import Any

import sharpe_bandits as sb

from .children import Child
from .load import new, reward
from .postgres import Server

#: Seconds after which a client is killed, at most.
_LONGEST = 0.4
#: A new campaign after so many kills: verifying takes longer the longer the log is.
_EACH = 20


def client(target: str, name: str, prefix: str) -> Callable[[Callable[[Any], None]], Any]:
    """A client that asks and tells until it is killed, and says what was acknowledged."""

    def work(say: Callable[[Any], None]) -> None:
        campaign = sb.Store(target).campaign(name)
        for i in range(10**6):
            key = f"{prefix}-{i}"
            decision = campaign.ask(key=key)
            say(("asked", key, decision.number, decision.arm))
            campaign.tell(decision, reward(decision.number))
            say(("told", key, decision.number, reward(decision.number)))

    return work


def check(campaign: sb.Campaign, said: list[Any]) -> list[str]:
    """What is missing of what was acknowledged."""
    wrong = [f"a client failed: {line}" for line in said if isinstance(line, str)]
    found = campaign.verify()
    if not found.ok:
        wrong.append(str(found))
    rows = {row["number"]: row for row in campaign.history().to_pylist()}
    for kind, key, number, value in (line for line in said if not isinstance(line, str)):
        row = rows.get(number)
        if row is None or row["key"] != key or (row["arm"] if kind == "asked" else row["reward"]) != value:
            wrong.append(f"{kind} {key}: {row}")
    asked = [line for line in said if line[0] == "asked"]
    for _, key, number, arm in random.sample(asked, min(3, len(asked))):
        again = campaign.ask(key=key)
        if (again.number, again.arm) != (number, arm):
            wrong.append(f"the key {key} gave decision {again.number} instead of {number}")
    return wrong


def kill_clients(name: str, target: str, kills: int) -> list[str]:
    """Kill one of three clients at a time, at random moments."""
    wrong: list[str] = []
    acknowledged = done = 0
    while done < kills:
        campaign = new(target)
        said: list[Any] = []
        campaign.ask(key="first")  # whatever is compiled is compiled before the fork
        for _ in range(min(_EACH, kills - done)):
            running = [Child(lambda: None, client(target, campaign.name, f"{done}-{i}")) for i in range(3)]
            for child in running:
                if random.random() < 0.75:  # else it may be killed while it begins
                    child.wait_for_first()
                time.sleep(random.uniform(0.0, _LONGEST))
                child.kill()
            for child in running:
                lines = list(child.answers())
                child.wait()
                said += lines
            done += 1
            wrong += check(campaign, said)
        acknowledged += len(said)
    print(f"{name}: {done} times three clients killed; {acknowledged:,} acknowledgements, {len(wrong)} of them broken")
    return [f"{name}, clients killed: {text}" for text in wrong[:5]]


def kill_server(server: Server, kills: int) -> list[str]:
    """Kill the server while two clients work; they wait for it to come back, and no error reaches them."""
    campaign = new(server.url)
    campaign.ask(key="first")
    said: list[Any] = []
    wrong: list[str] = []
    for done in range(kills):
        running = [Child(lambda: None, client(server.url, campaign.name, f"s{done}-{i}")) for i in range(2)]
        heard: list[list[Any]] = [[], []]
        listeners = [
            threading.Thread(target=lambda child=child, into=into: into.extend(child.answers()))  # type: ignore[misc]
            for child, into in zip(running, heard, strict=True)
        ]
        for listener in listeners:
            listener.start()
        for child in running:
            child.wait_for_first()
        time.sleep(random.uniform(0.0, 0.6))
        server.kill()
        before = len(said) + sum(map(len, heard))
        server.start()
        deadline = time.monotonic() + 60
        while len(said) + sum(map(len, heard)) < before + 4 and time.monotonic() < deadline:
            time.sleep(0.01)  # the clients go on
        for child in running:
            child.kill()
        for child, listener in zip(running, listeners, strict=True):
            listener.join()
            child.wait()
        said += [line for lines in heard for line in lines]
        wrong += check(campaign, said)
    print(f"PostgreSQL: server killed {kills} times; {len(said):,} acknowledgements, {len(wrong)} of them broken")
    return [f"server killed: {text}" for text in wrong[:5]]
