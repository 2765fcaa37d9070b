"""States of agents: of every policy, changed somewhere."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator

import numpy as np

import sharpe_bandits as sb
from sharpe_bandits.policies.base import Policy

from .driver import Target
from .things import ODD_NUMBERS, ODD_TEXTS, damaged_bytes, damaged_json, pick

_REWARDS = np.random.default_rng(11).gamma(2.0, 0.5, 400)


@sb.index_policy(name="fuzzed")
def fuzzed(arm, t, L):  # type: ignore[no-untyped-def]
    """A user's own policy."""
    return arm.mean / (L + arm.variance) + 1 / arm.pulls


def policies() -> Iterator[Policy]:
    """An instance of every kind of policy of the library, and a user's own."""
    for kind in Policy.kinds.values():
        if not kind.__module__.startswith("sharpe_bandits."):
            continue
        for arguments in ({}, {"L": 0.8}, {"objective": sb.RSSR(L=0.5)}, {"epsilon0": 5.0}, {"rho": 1.0},
                          {"L": 0.8, "window": 20}, {"L": 0.8, "discount": 0.9}, {"L": 0.8,
                              "delta": 0.05}):  # fmt: skip
            try:
                yield kind(**arguments)
                break
            except (TypeError, sb.SharpeBanditsError):
                continue
    yield fuzzed(L=1.0)


def _states() -> list[str]:
    """States of all of them, some fresh, some in the middle of a game, some at its end."""
    states = []
    for number, policy in enumerate(policies()):
        for rounds in (0, 7 + number, 60, 200):
            agent = policy.agent(arms=["a", "b", "c", "d"] if number % 2 else 3, horizon=200, seed=number)
            for reward in _REWARDS[:rounds]:
                if agent.done:
                    break
                agent.tell(agent.ask(), float(reward))
            states.append(agent.to_json())
    return states


def _make(states: list[str], rng: np.random.Generator) -> str | bytes:
    text = pick(rng, states)
    action = rng.random()
    if action < 0.8:
        return json.dumps(damaged_json(rng, json.loads(text)))
    if action < 0.9:
        return damaged_bytes(rng, text.encode())
    if action < 0.95:  # numbers that JSON has and Python's floats have not, and the other way round
        return text.replace(
            pick(rng, ["0.0", "1.0", "null", "200"]), pick(rng, ["1e400", "NaN", "-Infinity", "1" * 5000])
        )
    return pick(
        rng, [*ODD_TEXTS, "[" * 100_000, '{"a":' * 100_000, "null", "[]", "{}", text * 2, text[:-1], b"\xff\xfe"]
    )


def _check(text: str | bytes) -> None:
    agent = sb.Agent.from_json(text)
    kept = agent.to_json()
    assert sb.Agent.from_json(kept).to_json() == kept, "what was read is written as it is"
    for odd in ODD_NUMBERS[len(text) % 12 :: 12]:  # all of them in turn
        _refuse(agent, agent.arms[0], odd)
    _refuse(agent, "no such arm", 1.0)
    assert agent.to_json() == kept, "an agent that refused a reward is as it was"
    for _ in range(20):
        if agent.done:
            break
        try:
            arm = agent.ask()
        except sb.errors.WaitForRewardsError:
            break
        assert arm in agent.arms
        agent.tell(arm, 0.5)
    agent.recommend()


def _refuse(agent: sb.Agent, arm: object, reward: object) -> None:
    """Tell a reward to a copy that no agent should take; a copy, since some rewards are taken."""
    before = agent.to_json()
    copy = sb.Agent.from_json(before)
    try:
        copy.tell(arm, reward)  # type: ignore[arg-type]
    except sb.SharpeBanditsError:
        assert copy.to_json() == before, "an agent that refused a reward is as it was"
    else:
        value = float(reward)  # type: ignore[arg-type]
        assert math.isfinite(value)


def target() -> Target:
    """The target of this file."""
    states = _states()
    for text in states:
        _check(text)  # compiled, so that no case pays for it
    return Target("agent_states", lambda rng: _make(states, rng), _check)
