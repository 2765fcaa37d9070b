"""kill -9 at random moments: what was acknowledged is there, and the same keys give the same decisions."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from typing import Any

import sharpe_bandits as sb
from sharpe_bandits.live.campaigns import Campaign

from .children import Child, Say
from .load import ARMS, HANDED_OVER, new, reward
from .postgres import Server

#: Seconds after which a client is killed, at most.
_LONGEST = 0.4
#: Each decision with a multiple of this number is amended.
AMENDED = 50
#: A new campaign after so many kills: verifying takes longer the longer the log is.
_EACH = 20


def client(target: str, name: str, prefix: str) -> Callable[[Say], None]:
    """A client that does all that a campaign knows until it is killed, and says what was acknowledged."""

    def work(say: Say) -> None:
        campaign = sb.Store(target).campaign(name)
        for i in range(10**6):
            key = f"{prefix}-{i}"
            segment = ("large", "small", None)[i % 3]
            try:
                if i % 11 == 10:
                    decision = campaign.record(ARMS[i % 3], key=key, segment=segment, propensity=1 / 3)
                else:
                    decision = campaign.ask(key=key, segment=segment, tags={"client": prefix})
            except sb.errors.CampaignPausedError:  # a guardrail was broken
                campaign.resume(why="torture")
                continue
            say(("asked", key, decision.number, decision.arm))
            number = decision.number
            seen = {arm: reward(number + 1) for arm in ARMS[3:4] if number % 13 == 0 and arm != decision.arm}
            campaign.tell(decision, reward(number), metrics={"error": float(number % 31 == 0)}, seen=seen, weight=2.0)
            say(("told", key, number, reward(number)))
            if number % AMENDED == 0:
                campaign.amend(decision, reward(number) + 1.0, "torture")
                say(("amended", key, number, reward(number) + 1.0))
            if i % 17 == 16:
                campaign.set(share=(0.5, 0.8, 1.0)[i % 3], why="torture")
                for arm in campaign.rules["suspended"]:
                    campaign.resume(arm)

    return work


def check(campaign: Campaign, said: list[Any], choices: bool = False) -> list[str]:
    """What is missing of what was acknowledged."""
    wrong = [f"a client failed: {line}" for line in said if isinstance(line, str)]
    verification = campaign.verify(choices=choices)
    if not verification.ok:
        wrong.append(str(verification))
    rows = {row["number"]: row for row in campaign.history().to_pylist()}
    for kind, key, number, value in (line for line in said if not isinstance(line, str)):
        row = rows.get(number)
        possible = {value, value + 1.0} if kind == "told" and number % AMENDED == 0 else {value}
        if row is None or row["key"] != key or (row["arm"] if kind == "asked" else row["reward"]) not in possible:
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
    acknowledged, done, kinds = 0, 0, set[str]()
    while done < kills:
        campaign = new(target, **HANDED_OVER)
        said: list[Any] = []
        campaign.ask(key="first")  # whatever is compiled is compiled before the fork
        for _ in range(min(_EACH, kills - done)):
            running = [Child(client(target, campaign.name, f"{done}-{i}")) for i in range(3)]
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
        wrong += check(campaign, said, choices=True)
        acknowledged += len(said)
        kinds |= {entry.kind for entry in campaign.log(count=10_000)}
    print(f"{name}: {done} times three clients killed; {acknowledged:,} acknowledgements, {len(wrong)} of them broken")
    print(f"{name}: {', '.join(sorted(kinds))}")
    return [f"{name}, clients killed: {text}" for text in wrong[:5]]


def kill_server(server: Server, kills: int) -> list[str]:
    """Kill the server while two clients work; they wait for it to come back, and no error reaches them."""
    campaign = new(server.url, **HANDED_OVER)
    campaign.ask(key="first")
    said: list[Any] = []
    wrong: list[str] = []
    for done in range(kills):
        running = [Child(client(server.url, campaign.name, f"s{done}-{i}")) for i in range(2)]
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
