"""States of agents: one that is read continues exactly, and what no agent could have saved is refused."""

import json
import math
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sharpe_bandits as sb
import sharpe_bandits.live.agents.index
from sharpe_bandits.live.agents.state import FORMAT
from sharpe_bandits.policies.base import Policy
from tests.damage import with_checksum
from tests.data.agents.make import follow
from tests.live.agents.played import POLICIES, a_state, step


@given(
    policy=st.sampled_from(POLICIES),
    cuts=st.lists(st.integers(0, 79), max_size=4),
    seed=st.integers(0, 2**64 - 1),
)
def test_a_state_continues_exactly(policy, cuts, seed):
    """Through JSON and back at any points: the same questions to the end, and the same recommendation."""
    plain = policy.agent(arms=4, horizon=80, seed=seed)
    moved = policy.agent(arms=4, horizon=80, seed=seed)
    while not plain.done:
        for _ in range(cuts.count(plain.t)):
            text = moved.to_json()
            moved = sb.Agent.from_json(text)
            assert moved.to_json() == text
        assert step(plain) == step(moved)
    assert moved.done
    assert plain.recommend() == moved.recommend()
    assert plain.to_json() == moved.to_json()
    assert sb.Agent.from_json(moved.to_json()).done


@given(
    policy=st.sampled_from([sb.UCBRSSR(L=0.8), sb.SHSR(L=0.5)]),
    rewards=st.lists(st.floats(-1e18, 1e18) | st.integers(-(10**18), 10**18), min_size=1, max_size=30),
)
def test_any_finite_rewards_survive_the_trip(policy, rewards):
    agent = policy.agent(arms=["a", "b"], horizon=40)
    for reward in rewards:
        agent.tell(agent.ask(), reward)
    again = sb.Agent.from_json(agent.to_json())
    assert again.to_json() == agent.to_json()
    assert again.pulls == agent.pulls
    assert json.dumps(again.estimates()) == json.dumps(agent.estimates())


DAMAGES = {
    "not JSON": lambda s: "{" + json.dumps(s),
    "cut short": lambda s: json.dumps(s)[:-20],
    "a list": lambda s: json.dumps([s]),
    "foreign": lambda s: json.dumps({"weights": [1, 2]}),
    "other kind": lambda s: with_checksum({**s, "kind": "someone's agent"}),
    "newer format": lambda s: with_checksum({**s, "format": 99}),
    "unknown parameter": lambda s: with_checksum({**s, "policy": {**s["policy"], "M": 1.0}}),
    "bad parameter": lambda s: with_checksum({**s, "policy": {**s["policy"], "L": -1.0}}),
    "too many arms": lambda s: with_checksum({**s, "arms": 10**12}),
    "no number": lambda s: json.dumps({**s, "record": {**s["record"], "sum1": [math.nan, 0.0, 0.0]}}),
    "a changed number": lambda s: json.dumps({**s, "t": s["t"] + 1}),
}


@pytest.mark.parametrize("policy", [sb.UCBRSSR(L=0.8), sb.SHSR(L=0.5)], ids=lambda policy: policy.name)
@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_and_foreign_states_are_refused(policy, damage):
    state = a_state(policy)
    assert sb.Agent.from_json(json.dumps(state)).t == 9
    with pytest.raises(sb.errors.UnreadableDataError) as caught:
        sb.Agent.from_json(DAMAGES[damage](state))
    assert len(str(caught.value)) > 20
    assert isinstance(caught.value, sb.SharpeBanditsError)


HOSTILE = {
    "deep": "[" * 100_000,
    "deep and closed": "[" * 5000 + "]" * 5000,
    "deep inside": '{"kind": "sharpe-bandits agent", "format": 1, "x": ' + "[" * 900 + "]" * 900 + "}",
    "beyond the largest number": '{"kind": "sharpe-bandits agent", "format": 1, "t": 1e400}',
    "NaN": '{"kind": "sharpe-bandits agent", "format": 1, "t": NaN}',
    "Infinity": '{"kind": "sharpe-bandits agent", "format": 1, "t": -Infinity}',
    "a long whole number": '{"kind": "sharpe-bandits agent", "format": 1, "t": 1' + "0" * 4000 + "}",
    "a longer whole number": '{"kind": "sharpe-bandits agent", "format": 1, "t": 1' + "0" * 9000 + "}",
    "a key twice": '{"kind": "sharpe-bandits agent", "kind": "sharpe-bandits agent", "format": 1}',
    "empty": "",
    "null": "null",
    "bytes that are not text": b"\xff\xfe\x00",
    "no text at all": 7,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_texts_are_refused_quickly(text):
    began = time.perf_counter()
    with pytest.raises(sb.errors.UnreadableDataError) as caught:
        sb.Agent.from_json(text)
    assert time.perf_counter() - began < 2
    assert len(str(caught.value)) < 500


STORED = sorted((Path(__file__).parents[2] / "data" / "agents" / f"format-{FORMAT}").glob("*.json"))


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_states_are_read_and_continue_as_they_did(path):
    """States saved before, with what the agents then asked for."""
    stored = json.loads(path.read_text())
    agent = sb.Agent.from_json(json.dumps(stored["state"]))
    assert json.loads(agent.to_json()) == stored["state"]
    assert follow(path.stem, agent) == stored["then"]


def test_a_state_of_every_policy_is_stored():
    library = {name for name, kind in Policy.kinds.items() if kind.__module__.startswith("sharpe_bandits.")}
    assert {json.loads(path.read_text())["state"]["policy"]["policy"] for path in STORED} == library


def test_an_unknown_policy_in_a_state_is_refused_with_the_nearest():
    state = a_state(sb.UCBRSSR(L=0.8))
    with pytest.raises(sb.errors.UnreadableDataError, match="'UCBRSR': did you mean 'UCBRSSR'"):
        sb.Agent.from_json(with_checksum({**state, "policy": {**state["policy"], "policy": "UCBRSR"}}))


def test_a_state_without_pulls_is_a_state():
    agent = sb.policies.ModifiedMVTS(L=0.8, form="authors").agent(arms=2)  # its largest reward so far is minus infinity
    again = sb.Agent.from_json(agent.to_json())
    assert again.to_json() == agent.to_json()
    assert again.ask() == 0


@pytest.mark.parametrize("column", ["sum1", "anchor", "last"])
def test_a_state_in_which_a_number_was_changed_is_refused(column):
    agent = sb.UCBRSSR(L=1).agent(arms=2)
    for reward in (0.5, 1.25, 0.75, 2.5):
        agent.tell(agent.ask(), reward)
    state = json.loads(agent.to_json())
    asked = agent.ask()
    assert sb.Agent.from_json(json.dumps(state, sort_keys=True)).ask() == asked
    assert sb.Agent.from_json(json.dumps(state).replace(".0,", ",").replace(".0]", "]")).ask() == asked
    state["record"][column][0] += 0.25
    with pytest.raises(sb.errors.UnreadableDataError, match="was changed after it was saved"):
        sb.Agent.from_json(json.dumps(state))
