"""Live agents: ask and tell, names, the end of a campaign, and a state that continues exactly."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sharpe_bandits as sb
from sharpe_bandits.agents import FORMAT
from tests.catalogue import greedy_sharpe
from tests.damage import resealed

REWARDS = np.random.default_rng(30).gamma([[2.0], [3.0], [2.5], [2.2]], 0.6, size=(4, 200))

#: Policies of every flavour, deterministic and randomised, with phases and without.
POLICIES = [
    sb.UCBRSSR(L=0.8),
    sb.MVTS(rho=1.5),
    sb.EpsilonGreedy(sb.RSSR(L=0.8), epsilon=0.3),
    sb.ModifiedGRAUCB(L=0.8, form="authors"),
    sb.ModifiedMVTS(L=0.8, form="authors"),
    sb.ScaleFreeDirichlet(L=0.8),
    sb.ScaleFreeIMED(L=0.8),
    sb.SHSR(L=0.5),
    sb.SHSR(L=0.5, keep_samples=True),
    sb.SuRSR(L=0.5),
    sb.UniformSampling(sb.RSSR(L=0.5)),
    greedy_sharpe(L=1.0),
]


def step(agent):
    arm = agent.ask()
    agent.tell(arm, REWARDS[arm, agent.pulls[arm]])
    return arm


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
    rewards=st.lists(st.floats(-1e75, 1e75) | st.integers(-(2**70), 2**70), min_size=1, max_size=30),
)
def test_any_finite_rewards_survive_the_trip(policy, rewards):
    agent = policy.agent(arms=["a", "b"], horizon=40)
    for reward in rewards:
        agent.tell(agent.ask(), reward)
    again = sb.Agent.from_json(agent.to_json())
    assert again.to_json() == agent.to_json()
    assert again.pulls == agent.pulls
    assert json.dumps(again.estimates()) == json.dumps(agent.estimates())


def test_estimates_are_mean_and_unbiased_variance():
    agent = sb.UCBRSSR(L=1.0).agent(arms=2)
    for x in (1.0, 2.0, 6.0):
        agent.tell(0, x)
    agent.tell(1, 5.5)
    assert agent.estimates()[0] == pytest.approx((3.0, 7.0))
    mean, variance = agent.estimates()[1]
    assert mean == 5.5
    assert math.isnan(variance)


def test_estimates_near_a_million():
    rewards = 1e6 + np.random.default_rng(0).normal(size=500)
    agent = sb.UCBRSSR(L=1.0).agent(arms=2)
    for x in rewards:
        agent.tell(1, x)
    assert agent.estimates()[1] == pytest.approx((rewards.mean(), rewards.var(ddof=1)), rel=1e-10)


def test_names_are_asked_for_and_told():
    agent = sb.UCBRSSR(L=1.0).agent(arms=["momentum", "carry"])
    asked = [agent.ask()]
    agent.tell(asked[0], 0.7)
    asked.append(agent.ask())
    assert asked == ["momentum", "carry"]
    assert agent.pulls == {"momentum": 1, "carry": 0}
    assert "2 arms, 1 rounds" in repr(agent)


def test_an_agent_without_a_horizon_never_ends():
    agent = sb.GRAUCB().agent(arms=2)  # its table by pulls grows as needed
    for t in range(2100):
        assert not agent.done
        agent.tell(agent.ask(), 1.0 + 0.5 * math.sin(t))
    expected = sb.GRAUCB().agent(arms=2, horizon=2101)
    for t in range(2100):
        expected.tell(expected.ask(), 1.0 + 0.5 * math.sin(t))
    assert agent.pulls == expected.pulls


def test_a_finder_ends_with_its_budget_and_recommends():
    finder = sb.SHSR(L=0.02).agent(arms=16, horizon=400)
    generator = np.random.default_rng(1)
    alive = []
    while not finder.done:
        alive.append(len(finder.alive))
        arm = finder.ask()
        finder.tell(arm, generator.normal(2.0 if arm == 11 else 1.0, 0.3))
    assert finder.t <= 400
    assert sorted(set(alive), reverse=True) == [16, 8, 4, 2]
    assert finder.alive == [11]
    assert finder.recommend() == 11
    for attempt in (finder.ask, lambda: finder.tell(11, 1.0)):
        with pytest.raises(sb.CampaignOver, match="400 rounds"):
            attempt()


def test_an_index_agent_ends_at_its_horizon():
    agent = sb.UCB1().agent(arms=2, horizon=5)
    for _ in range(5):
        agent.tell(agent.ask(), 0.5)
    assert agent.done
    state = agent.to_json()
    with pytest.raises(sb.CampaignOver, match=r"5 rounds.*recommend"):
        agent.ask()
    with pytest.raises(sb.CampaignOver, match="nothing was recorded"):
        agent.tell(0, 1.0)
    assert agent.to_json() == state


def test_arms_may_be_told_in_any_order_within_a_phase():
    """Two arms asked for in turn may report in any order: the sums, and so the verdicts, are the same."""
    orderly, hasty = (sb.SHSR(L=0.5).agent(arms=2, horizon=12) for _ in range(2))
    while not orderly.done:
        step(orderly)
    for arm in (1, 0):
        for pull in range(6):
            hasty.tell(arm, REWARDS[arm, pull])
    assert hasty.done
    assert hasty.recommend() == orderly.recommend()


def test_recommendations_before_the_end():
    agent = sb.SHSR(L=1.0).agent(arms=2, horizon=20)
    with pytest.raises(sb.InvalidInput, match="before an arm has two rewards; ask and tell first"):
        agent.recommend()
    for reward in (1.0, 5.0, 1.5, 5.5):
        agent.tell(agent.ask(), reward)
    assert agent.recommend() == 1
    index = sb.UCBRSSR(L=1.0).agent(arms=["x", "y"])
    with pytest.raises(sb.InvalidInput, match="before an arm has two rewards"):
        index.recommend()
    for reward in (3.0, 1.0, 3.1, 1.1):
        index.tell(index.ask(), reward)
    assert index.recommend() == "x"


def test_the_seed_of_an_agent_is_that_of_a_trace():
    bandit = sb.Tape(REWARDS)
    for seed in (0, 1, 2**64 - 1):
        agent = sb.MVTS(rho=1.5).agent(arms=4, horizon=60, seed=seed)
        asked = [step(agent) for _ in range(60)]
        assert asked == sb.trace(sb.MVTS(rho=1.5), bandit, horizon=60, seed=seed).choices.tolist()


DAMAGES = {
    "not JSON": lambda s: "{" + json.dumps(s),
    "cut short": lambda s: json.dumps(s)[:-20],
    "a list": lambda s: json.dumps([s]),
    "foreign": lambda s: json.dumps({"weights": [1, 2]}),
    "other kind": lambda s: resealed({**s, "kind": "someone's agent"}),
    "newer format": lambda s: resealed({**s, "format": 99}),
    "no policy": lambda s: resealed({k: v for k, v in s.items() if k != "policy"}),
    "unknown policy": lambda s: resealed({**s, "policy": {**s["policy"], "policy": "UCBRSR"}}),
    "unknown parameter": lambda s: resealed({**s, "policy": {**s["policy"], "M": 1.0}}),
    "bad parameter": lambda s: resealed({**s, "policy": {**s["policy"], "L": -1.0}}),
    "one arm": lambda s: resealed({**s, "arms": 1}),
    "more arms": lambda s: resealed({**s, "arms": 5}),
    "negative rounds": lambda s: resealed({**s, "t": -1}),
    "other rounds": lambda s: resealed({**s, "t": s["t"] + 1}),
    "half a pull": lambda s: resealed({**s, "record": {**s["record"], "pulls": [2.5, 3.5, 3.0]}}),
    "negative pulls": lambda s: resealed({**s, "record": {**s["record"], "pulls": [-1.0, 5.0, 5.0]}}),
    "NaN": lambda s: resealed({**s, "record": {**s["record"], "sum1": [math.nan, 0.0, 0.0]}}),
    "text": lambda s: resealed({**s, "record": {**s["record"], "sum1": ["x", 0.0, 0.0]}}),
    "missing column": lambda s: resealed({**s, "record": {k: v for k, v in s["record"].items() if k != "sum2"}}),
    "short column": lambda s: resealed({**s, "record": {**s["record"], "sum2": [0.0]}}),
    "negative squares": lambda s: resealed({**s, "record": {**s["record"], "sum2": [-1.0, 0.0, 0.0]}}),
    "record of nothing": lambda s: resealed({**s, "record": None}),
    "past the horizon": lambda s: resealed({**s, "horizon": 6}),
}


def a_state(policy):
    agent = policy.agent(arms=3, horizon=30)
    for _ in range(9):
        step(agent)
    return json.loads(agent.to_json())


@pytest.mark.parametrize("policy", [sb.UCBRSSR(L=0.8), sb.SHSR(L=0.5)], ids=lambda policy: policy.name)
@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_and_foreign_states_are_refused(policy, damage):
    state = a_state(policy)
    assert sb.Agent.from_json(json.dumps(state)).t == 9
    with pytest.raises(sb.UnreadableData) as caught:
        sb.Agent.from_json(DAMAGES[damage](state))
    assert len(str(caught.value)) > 20
    assert isinstance(caught.value, sb.SharpeBanditsError)


PHASE_DAMAGES = {
    "phase beyond the last": {"phase": 9},
    "other phase": {"phase": 1},
    "nobody alive": {"alive": []},
    "unknown arm alive": {"alive": [0, 1, 7]},
    "an arm twice": {"alive": [0, 0, 1]},
    "nothing due": {"due": [0, 0, 0]},
    "too much due": {"due": [9, 9, 9]},
    "negative due": {"due": [-1, 2, 2]},
    "due to too few": {"due": [2, 2]},
    "no sums": {"current": {}},
    "sums of nothing": {"current": {"count": [1, 1, 1], "sum1": [0, 0, None], "sum2": [0, 0, 0]}},
}


@pytest.mark.parametrize("damage", PHASE_DAMAGES)
def test_damaged_phases_are_refused(damage):
    state = a_state(sb.SHSR(L=0.5))
    with pytest.raises(sb.UnreadableData):
        sb.Agent.from_json(resealed({**state, **PHASE_DAMAGES[damage]}))


@pytest.mark.parametrize("firsts", [[], [[1.0]] * 3, [[1.0] * 9] * 2, [[None] * 3] * 3, None])
def test_damaged_first_rewards_are_refused(firsts):
    state = a_state(sb.ScaleFreeDirichlet(L=0.8))
    assert [len(row) for row in state["firsts"]] == [3, 3, 3]
    with pytest.raises(sb.UnreadableData):
        sb.Agent.from_json(resealed({**state, "firsts": firsts}))


def test_messages_about_states_say_what_is_wrong():
    state = a_state(sb.UCBRSSR(L=0.8))
    with pytest.raises(sb.UnreadableData, match=f"format 99, this version reads {FORMAT}"):
        sb.Agent.from_json(json.dumps({**state, "format": 99}))
    with pytest.raises(sb.UnreadableData, match="'UCBRSR': did you mean 'UCBRSSR'"):
        sb.Agent.from_json(json.dumps({**state, "policy": {**state["policy"], "policy": "UCBRSR"}}))
    with pytest.raises(sb.UnreadableData, match="9 pulls in 10 rounds"):
        sb.Agent.from_json(json.dumps({**state, "t": 10}))


def test_a_state_without_pulls_is_a_state():
    agent = sb.ModifiedMVTS(L=0.8, form="authors").agent(arms=2)  # its largest reward so far is minus infinity
    again = sb.Agent.from_json(agent.to_json())
    assert again.ask() == 0
    assert again.to_json() == agent.to_json()


@pytest.mark.parametrize("column", ["sum1", "anchor", "last", "maximum"])
def test_a_state_in_which_a_number_was_changed_is_refused(column):
    agent = sb.UCBRSSR(L=1).agent(arms=2)
    for reward in (0.5, 1.25, 0.75, 2.5):
        agent.tell(agent.ask(), reward)
    state = json.loads(agent.to_json())
    assert sb.Agent.from_json(json.dumps(state, sort_keys=True)).ask() == agent.ask()
    assert sb.Agent.from_json(json.dumps(state).replace(".0,", ",").replace(".0]", "]")).ask() == agent.ask()
    state["record"][column][0] += 0.25
    with pytest.raises(sb.UnreadableData, match="was changed after it was saved"):
        sb.Agent.from_json(json.dumps(state))
