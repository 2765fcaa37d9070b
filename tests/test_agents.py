"""Live agents: ask and tell, names, the end of a campaign, and a state that continues exactly."""

import copy
import json
import math
import pickle
import sys
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sharpe_bandits as sb
import sharpe_bandits.agents.index
from sharpe_bandits.agents.state import FORMAT
from sharpe_bandits.engine import compiler
from sharpe_bandits.engine.families import FAMILIES
from sharpe_bandits.kernels import statistics
from sharpe_bandits.policies.base import AGENTS, Policy
from tests.catalogue import greedy_sharpe
from tests.damage import with_checksum
from tests.data.agents.make import follow

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
        with pytest.raises(sb.CampaignOverError, match="400 rounds"):
            attempt()


def test_pulls_under_way_are_counted_and_taken_back():
    agent = sb.UCBRSSR(L=0.8).agent(arms=["a", "b"], horizon=5)
    assert [agent.ask() for _ in range(4)] == ["a", "b", "a", "b"]
    assert agent.pending == {"a": 2, "b": 2}
    agent.cancel("b")
    assert agent.ask() == "b"
    agent.tell("a", 1.0)
    assert (agent.t, agent.asked, agent.pending) == (1, 5, {"a": 1, "b": 2})
    agent.tell("a", 1.5)
    agent.tell("a", 2.0)  # a round of one's own choosing
    assert (agent.t, agent.asked, agent.pending) == (3, 6, {"a": 0, "b": 2})
    with pytest.raises(sb.CampaignOverError, match=r"all 5 rounds .* 2 rewards are still to come"):
        agent.ask()
    with pytest.raises(sb.InvalidInputError, match="no pull of arm 'a' is under way"):
        agent.cancel("a")
    again = sb.Agent.from_json(agent.to_json())
    assert again.pending == agent.pending
    assert again.asked == agent.asked


def test_a_policy_in_phases_says_what_it_waits_for():
    agent = sb.SHSR(L=0.5).agent(arms=["a", "b", "c", "d"], horizon=80)
    asked = [agent.ask() for _ in range(40)]
    with pytest.raises(sb.WaitForRewardsError, match=r"phase 1 of 2 and waits for 40 rewards of 'a', 'b'") as caught:
        agent.ask()
    assert caught.value.arms == dict.fromkeys("abcd", 10)
    assert caught.value.count == len(asked) == 40
    for arm in asked[:-1]:
        agent.tell(arm, {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}[arm] + agent.pulls[arm] % 2)
    with pytest.raises(sb.WaitForRewardsError) as caught:
        agent.ask()
    assert caught.value.arms == {"d": 1}
    agent.tell("d", 1.0)
    assert agent.alive == ["a", "b"]
    assert agent.ask() in ("a", "b")


def test_pending_pulls_count_in_s_and_leave_the_moments_as_they_are():
    """By hand: with two arms alike, pulls under way of one make the other's radius the larger."""
    agent = sb.ScaleFreeUCB(L=1.0).agent(arms=2)
    for x in (1.0, 2.0, 1.5, 2.5):
        for arm in range(2):
            agent.tell(arm, x + 0.001 * (arm == 0))
    assert [agent.ask() for _ in range(6)] == [0, 1, 0, 1, 0, 1]
    assert agent.estimates()[1] == (1.75, pytest.approx(np.var([1.0, 2.0, 1.5, 2.5], ddof=1)))


def test_randomised_policies_draw_by_the_number_of_the_decision():
    agent = sb.ThompsonSampling(variance=1.0).agent(arms=2, seed=3)
    for arm in (0, 1):
        agent.tell(arm, 0.5)
    asked = [agent.ask() for _ in range(60)]
    assert 10 < sum(asked) < 50  # equal arms: a fair coin each time
    assert agent.probabilities() == pytest.approx({0: 0.5, 1: 0.5}, abs=5 * 0.5 / 16)


def test_a_policy_warns_once_of_rewards_that_it_cannot_handle():
    """The README's example of old: RSSR squares the mean; and on daily returns the width is never defined."""
    generator = np.random.default_rng(2)

    def play(agent, means, deviation):
        for _ in range(300):
            arm = agent.ask()
            agent.tell(arm, generator.normal(means[arm], deviation))

    agent = sb.UCBRSSR(L=1.0).agent(arms=["good", "bad"])
    with pytest.warns(
        sb.RewardWarning, match=r"'bad' has the mean -.*the more it loses, the better.*ScaleFree"
    ) as seen:
        play(agent, {"good": 1.5, "bad": -3.0}, 3.0)
    assert len(seen) == 1
    assert agent.pulls["bad"] > agent.pulls["good"]
    daily = sb.UCBRSSR(L=1e-5).agent(arms=["a", "b"])
    with pytest.warns(
        sb.RewardWarning, match=r"needs about .e\+\d\d pulls of every arm .* in rotation.*any scale"
    ) as seen:
        play(daily, {"a": 0.001, "b": 0.001}, 0.01)
    assert len(seen) == 1
    assert set(daily.pulls.values()) == {150}
    for fine in (sb.ScaleFreeUCB(L=0.1), sb.UCB1()):
        agent = fine.agent(arms=["good", "bad"])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            play(agent, {"good": 0.5, "bad": -1.0}, 1.0)
        assert agent.pulls["good"] > agent.pulls["bad"]


def test_arms_come_and_go():
    agent = sb.SlidingWindowUCB(L=0.5, window=60).agent(arms=["a", "b"], seed=1)
    for t in range(80):
        agent.tell(agent.ask(), math.sin(t))
    agent.add_arm("c")
    assert [agent.ask() for _ in range(3)] == ["c"] * 3  # its pilot
    for _ in range(3):
        agent.tell("c", 9.0)
    agent.retire_arm("a")
    again = sb.Agent.from_json(agent.to_json())
    assert again.retired == ["a"]
    for t in range(90):
        arm = again.ask()
        assert arm != "a"
        again.tell(arm, math.sin(t))
    with pytest.raises(sb.InvalidInputError, match="there is an arm 'c' already"):
        agent.add_arm("c")
    agent.retire_arm("b")
    with pytest.raises(sb.InvalidInputError, match="the last one"):
        agent.retire_arm("c")
    for fixed in (sb.SHSR(L=0.5).agent(arms=["a", "b"], horizon=40), sb.LUCB(L=0.5).agent(arms=["a", "b"])):
        with pytest.raises(sb.InvalidInputError, match="among the arms that it begins with"):
            fixed.add_arm("c")


def test_an_index_agent_ends_at_its_horizon():
    agent = sb.UCB1().agent(arms=2, horizon=5)
    for _ in range(5):
        agent.tell(agent.ask(), 0.5)
    assert agent.done
    state = agent.to_json()
    with pytest.raises(sb.CampaignOverError, match=r"5 rounds.*recommend"):
        agent.ask()
    with pytest.raises(sb.CampaignOverError, match="nothing was recorded"):
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
    with pytest.raises(sb.InvalidInputError, match="before an arm has two rewards; ask and tell first"):
        agent.recommend()
    for reward in (1.0, 5.0, 1.5, 5.5):
        agent.tell(agent.ask(), reward)
    assert agent.recommend() == 1
    index = sb.UCBRSSR(L=1.0).agent(arms=["x", "y"])
    with pytest.raises(sb.InvalidInputError, match="before an arm has two rewards"):
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
    "other kind": lambda s: with_checksum({**s, "kind": "someone's agent"}),
    "newer format": lambda s: with_checksum({**s, "format": 99}),
    "no policy": lambda s: with_checksum({k: v for k, v in s.items() if k != "policy"}),
    "unknown policy": lambda s: with_checksum({**s, "policy": {**s["policy"], "policy": "UCBRSR"}}),
    "unknown parameter": lambda s: with_checksum({**s, "policy": {**s["policy"], "M": 1.0}}),
    "bad parameter": lambda s: with_checksum({**s, "policy": {**s["policy"], "L": -1.0}}),
    "one arm": lambda s: with_checksum({**s, "arms": 1}),
    "more arms": lambda s: with_checksum({**s, "arms": 5}),
    "negative rounds": lambda s: with_checksum({**s, "t": -1}),
    "other rounds": lambda s: with_checksum({**s, "t": s["t"] + 1}),
    "half a pull": lambda s: with_checksum({**s, "record": {**s["record"], "pulls": [2.5, 3.5, 3.0]}}),
    "negative pulls": lambda s: with_checksum({**s, "record": {**s["record"], "pulls": [-1.0, 5.0, 5.0]}}),
    "NaN": lambda s: with_checksum({**s, "record": {**s["record"], "sum1": [math.nan, 0.0, 0.0]}}),
    "text": lambda s: with_checksum({**s, "record": {**s["record"], "sum1": ["x", 0.0, 0.0]}}),
    "missing column": lambda s: with_checksum({**s, "record": {k: v for k, v in s["record"].items() if k != "sum2"}}),
    "short column": lambda s: with_checksum({**s, "record": {**s["record"], "sum2": [0.0]}}),
    "negative squares": lambda s: with_checksum({**s, "record": {**s["record"], "sum2": [-1.0, 0.0, 0.0]}}),
    "record of nothing": lambda s: with_checksum({**s, "record": None}),
    "past the horizon": lambda s: with_checksum({**s, "horizon": 6}),
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
    with pytest.raises(sb.UnreadableDataError) as caught:
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
    with pytest.raises(sb.UnreadableDataError):
        sb.Agent.from_json(with_checksum({**state, **PHASE_DAMAGES[damage]}))


#: What rewards cannot lead to, in the state of three arms with three pulls each: column, arm and number.
IMPOSSIBLE_NUMBERS = {
    "a variance below 0": ("sum2", 0, lambda v, r: r["sum1"][0] ** 2 / 3 * 0.999),
    "a fourth power below the square": ("sum4", 1, lambda v, r: 0.3 * r["sum2"][1] ** 2),
    "a fourth power below 0": ("sum4", 1, lambda v, r: -1.0),
    "a third power beyond the others": ("sum3", 2, lambda v, r: 2 * math.sqrt(r["sum2"][2] * r["sum4"][2])),
    "a maximum below the mean": ("maximum", 0, lambda v, r: r["anchor"][0] + r["sum1"][0] / 3 - 0.01),
    "a maximum beyond the squares": ("maximum", 0, lambda v, r: r["anchor"][0] + 1.1 * math.sqrt(r["sum2"][0])),
    "no maximum": ("maximum", 0, lambda v, r: None),
    "a last round to come": ("last", 2, lambda v, r: 10.0),
    "a last round shared": ("last", 2, lambda v, r: r["last"][1]),
    "a last round too early for its pulls": ("last", 1, lambda v, r: 2.0),
    "half a round": ("last", 1, lambda v, r: 7.5),
    "an anchor that no first reward has": ("anchor", 1, lambda v, r: 3.0),
    "truth for a number": ("sum1", 1, lambda v, r: True),
    "text for a number": ("sum1", 1, lambda v, r: str(v)),
    "a number in a list": ("sum1", 1, lambda v, r: [v]),
}


@pytest.mark.parametrize("case", IMPOSSIBLE_NUMBERS)
def test_states_that_no_rewards_lead_to_are_refused(case):
    column, arm, number = IMPOSSIBLE_NUMBERS[case]
    state = a_state(sb.UCBRSSR(L=0.8))
    record = state["record"]
    assert sb.Agent.from_json(with_checksum(state)).t == 9
    record[column][arm] = number(record[column][arm], record)
    with pytest.raises(sb.UnreadableDataError):
        sb.Agent.from_json(with_checksum(state))


@pytest.mark.parametrize("column", ["sum1", "sum2", "sum3", "sum4", "anchor", "last", "maximum"])
def test_an_arm_that_was_never_played_has_no_record(column):
    agent = sb.UCB1().agent(arms=3)
    agent.tell(0, 0.5)
    state = json.loads(agent.to_json())
    state["record"][column][2] = 0.25
    with pytest.raises(sb.UnreadableDataError, match="never played"):
        sb.Agent.from_json(with_checksum(state))


@pytest.mark.parametrize("column", ["sum1", "sum2", "sum3", "sum4", "maximum"])
def test_the_record_of_a_single_reward_is_known(column):
    agent = sb.UCB1().agent(arms=2)
    agent.tell(0, 3.0)  # anchor 0: the sums are 3, 9, 27, 81
    state = json.loads(agent.to_json())
    assert [state["record"][f"sum{k}"][0] for k in (1, 2, 3, 4)] == [3, 9, 27, 81]
    state["record"][column][0] *= 1 + 1e-9
    with pytest.raises(sb.UnreadableDataError):
        sb.Agent.from_json(with_checksum(state))


@given(
    rewards=st.lists(
        st.floats(-1e75, 1e75) | st.floats(-1e-60, 1e-60) | st.integers(-5, 5) | st.floats(1e6, 1e6 + 1e-3),
        min_size=1,
        max_size=40,
    ),
    policy=st.sampled_from([*POLICIES, sb.SlidingWindowUCB(L=0.8, window=12), sb.DiscountedUCB(L=0.8, discount=0.93)]),
)
def test_whatever_rewards_were_told_the_state_is_accepted(rewards, policy):
    """The checks of a state allow for all that rounding does, tiny and huge numbers included."""
    agent = policy.agent(arms=2, horizon=40)
    for j, reward in enumerate(rewards):
        arm = (
            min(agent.pulls, key=agent.pulls.get) if j % 3 else agent.arms[0]
        )  # no ask: NaN indices do not matter here
        try:
            agent.tell(arm, reward)
        except sb.SharpeBanditsError:
            continue
        assert sb.Agent.from_json(agent.to_json()).to_json() == agent.to_json()


WINDOW_DAMAGES = {
    "another reward in the window": lambda s: s["ring"][3].__setitem__(2, s["ring"][3][2] + 0.5),
    "another arm in the window": lambda s: s["ring"][3].__setitem__(1, (s["ring"][3][1] + 1) % 3),
    "another slot": lambda s: s["ring"][3].__setitem__(0, s["ring"][4][0]),
    "another weight": lambda s: s["memory"][0].__setitem__(0, s["memory"][0][0] + 1),
    "other squares": lambda s: s["memory"][2].__setitem__(1, 1.01 * s["memory"][2][1]),
    "a NaN in the window": lambda s: s["ring"][3].__setitem__(2, None),
    "a reward beyond all": lambda s: s["ring"][3].__setitem__(2, 1e300),
    "one fewer": lambda s: s["ring"].pop(),
}


@pytest.mark.parametrize("damage", WINDOW_DAMAGES)
def test_windows_that_do_not_add_up_are_refused(damage):
    agent = sb.SlidingWindowUCB(L=0.8, window=20).agent(arms=3)
    for _ in range(50):
        step(agent)
    state = json.loads(agent.to_json())
    assert len(sb.Agent.from_json(with_checksum(state)).pulls) == 3
    WINDOW_DAMAGES[damage](state)
    with pytest.raises(sb.UnreadableDataError):
        sb.Agent.from_json(with_checksum(state))


@pytest.mark.parametrize(("row", "factor"), [(0, 1.01), (0, 0.98), (2, 0.5), (4, 0.0), (1, 50.0)])
def test_discounted_sums_that_cannot_be_are_refused(row, factor):
    agent = sb.DiscountedUCB(L=0.8, discount=0.95).agent(arms=3)
    for _ in range(50):
        step(agent)
    state = json.loads(agent.to_json())
    state["memory"][row][1] *= factor
    with pytest.raises(sb.UnreadableDataError):
        sb.Agent.from_json(with_checksum(state))


def test_first_rewards_that_do_not_add_up_are_refused():
    agent = sb.ScaleFreeDirichlet(L=0.8).agent(arms=2)
    for t in range(150):
        agent.tell(t % 2, REWARDS[t % 2, t // 2])
    late = json.loads(agent.to_json())
    assert len(late["firsts"][0]) == 64
    for state, row, place, value in (
        (a_state(sb.ScaleFreeDirichlet(L=0.8)), 0, 1, 0.123),
        (a_state(sb.ScaleFreeDirichlet(L=0.8)), 1, 0, 0.5),  # the first reward is its own anchor
        (late, 0, 5, 100.0),
    ):
        state["firsts"][row][place] = value
        with pytest.raises(sb.UnreadableDataError, match="first rewards do not fit its sums"):
            sb.Agent.from_json(with_checksum(state))


def test_phases_that_could_not_have_been_are_refused():
    """Four arms, two phases of 15 and 30 pulls per arm: in the second phase two arms have 15 pulls, two have more."""
    agent = sb.SHSR(L=0.5).agent(arms=4, horizon=120)
    for _ in range(75):
        step(agent)
    state = json.loads(agent.to_json())
    assert state["phase"] == 1
    alive, gone = state["alive"], [i for i in range(4) if i not in state["alive"]]
    for key, value in (
        ("alive", gone),
        ("phase", 0),
        ("phase", 2),
        ("accepted", [gone[0]]),
        ("current", {**state["current"], "count": [1.0] * 4}),
        ("current", {**state["current"], "sum1": [x + 5 for x in state["current"]["sum1"]]}),
        ("current", {**state["current"], "sum2": [100 * x for x in state["current"]["sum2"]]}),
        ("due", [d + (i == alive[0]) - (i == alive[1]) for i, d in enumerate(state["due"])]),
    ):
        with pytest.raises(sb.UnreadableDataError):
            sb.Agent.from_json(with_checksum({**state, key: value}))


HOSTILE = {
    "deep": "[" * 100_000,
    "deep and closed": "[" * 5000 + "]" * 5000,
    "deep inside": '{"kind": "sharpe-bandits agent", "format": 5, "x": ' + "[" * 900 + "]" * 900 + "}",
    "beyond the largest number": '{"kind": "sharpe-bandits agent", "format": 5, "t": 1e400}',
    "NaN": '{"kind": "sharpe-bandits agent", "format": 5, "t": NaN}',
    "Infinity": '{"kind": "sharpe-bandits agent", "format": 5, "t": -Infinity}',
    "a long whole number": '{"kind": "sharpe-bandits agent", "format": 5, "t": 1' + "0" * 4000 + "}",
    "a longer whole number": '{"kind": "sharpe-bandits agent", "format": 5, "t": 1' + "0" * 9000 + "}",
    "a key twice": '{"kind": "sharpe-bandits agent", "kind": "sharpe-bandits agent", "format": 5}',
    "empty": "",
    "null": "null",
    "bytes that are no text": b"\xff\xfe\x00",
    "no text at all": 7,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_texts_are_refused_quickly(text):
    began = time.perf_counter()
    with pytest.raises(sb.UnreadableDataError) as caught:
        sb.Agent.from_json(text)
    assert time.perf_counter() - began < 2
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("policy", [*POLICIES, sb.VarianceAwareHalving(sb.RSSR(L=0.5)), sb.GRAUCB(), sb.LUCB(L=0.5)])
@pytest.mark.parametrize(
    "change",
    [
        {"arms": 10**6},
        {"arms": 10**12},
        {"horizon": 10**12, "t": 5},
        {"horizon": 10**18},
        {"seed": 2**64},
        {"t": 10**14},
    ],
    ids=str,
)
def test_absurd_sizes_are_refused_quickly(policy, change):
    """No sooner is room made than there are rewards to fill it."""
    state = json.loads(policy.agent(arms=3, horizon=200).to_json())
    began = time.perf_counter()
    with pytest.raises(sb.UnreadableDataError):
        sb.Agent.from_json(with_checksum({**state, **change}))
    assert time.perf_counter() - began < 2


@pytest.mark.parametrize(
    "policy",
    [
        sb.SuRSR(L=0.5), sb.SHSR(L=0.5), sb.SuccessiveAcceptsRejects(sb.Mean(), m=7), sb.GRAUCB(), sb.UCBRSSR(L=1),
        sb.ScaleFreeDirichlet(L=1), sb.MVLCB(), sb.LUCB(L=1), sb.DiscountedUCB(L=1, discount=1 - 1e-7),
    ],
    ids=lambda policy: policy.name,
)  # fmt: skip
def test_the_largest_agents_are_made_quickly(policy):
    """A hundred thousand arms and a horizon of 10^12; the first choice is arm 0, and rounds take no more room."""
    policy.agent(arms=8, horizon=10**12).ask()  # whatever is compiled is compiled now
    began = time.perf_counter()
    agent = policy.agent(arms=10**5, horizon=10**12)
    assert agent.ask() == 0
    assert time.perf_counter() - began < 2
    with pytest.raises(sb.InvalidInputError, match="arms must be a whole number from 2 to 100000, got 100001"):
        policy.agent(arms=100_001, horizon=10**12)
    with pytest.raises(sb.InvalidInputError, match=r"horizon must be a whole number from 2 to 10{15}"):
        policy.agent(arms=8, horizon=10**15 + 1)


def test_a_window_that_would_take_too_much_room_is_refused():
    policy = sb.SlidingWindowUCB(L=1, window=10**6)
    assert policy.agent(arms=50).ask() == 0
    with pytest.raises(sb.InvalidInputError, match="shorten the window or take DiscountedUCB"):
        policy.agent(arms=51)


def test_errors_do_not_list_thousands_of_names():
    names = [f"strategy number {i}" for i in range(10_000)]
    for attempt in (
        lambda: sb.UCB1().agent(arms=[*names, "strategy number 7"]),
        lambda: sb.UCB1().agent(arms=[*names, 7]),
    ):
        with pytest.raises(sb.InvalidInputError) as caught:
            attempt()
        assert len(str(caught.value)) < 1000


STORED = sorted((Path(__file__).parent / "data" / "agents").glob("format-*/*.json"))


@pytest.mark.parametrize("path", STORED, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_states_of_every_format_are_read_and_continue_as_they_did(path):
    """States saved by earlier versions of the library, with what those versions then asked for."""
    stored = json.loads(path.read_text())
    agent = sb.Agent.from_json(json.dumps(stored["state"]))
    assert follow(path.stem, agent) == stored["then"]
    assert json.loads(agent.to_json())["format"] == FORMAT


def test_every_format_and_every_policy_is_stored():
    formats = {int(path.parent.name.removeprefix("format-")) for path in STORED}
    assert formats == set(range(3, FORMAT + 1))
    for version in formats:
        kinds = {
            json.loads(path.read_text())["state"]["policy"]["policy"]
            for path in STORED
            if path.parent.name == f"format-{version}"
        }
        renamed = {"UniformPlay": "RoundRobin"}
        library = {name for name, kind in Policy.kinds.items() if kind.__module__.startswith("sharpe_bandits.")}
        stored = {renamed.get(kind, kind) for kind in kinds}
        assert stored <= library
        assert stored == library or version < FORMAT  # policies that came later have no states of earlier formats


def test_other_formats_are_explained():
    state = a_state(sb.UCBRSSR(L=0.8))
    for version, said in ((99, "saved by a newer version"), (2, "reads 3 to 5"), ("5", "reads 3 to 5"), (None, "None")):
        with pytest.raises(sb.UnreadableDataError, match=said):
            sb.Agent.from_json(with_checksum({**state, "format": version}))


@pytest.mark.parametrize(
    "policy",
    [sb.UCBRSSR(L=0.8), sb.DiscountedUCB(L=0.8), sb.SlidingWindowUCB(L=0.8, window=50), sb.MVTS(), sb.LUCB(L=0.5),
     sb.SuRSR(L=0.5)],
    ids=lambda policy: policy.name,
)  # fmt: skip
def test_threads_may_share_an_agent(policy):
    """Eight threads ask and tell at once: no reward is lost or counted twice, and sums of whole numbers are exact."""
    agent, told, failures = policy.agent(arms=4, horizon=4000), [], []
    switch = sys.getswitchinterval()

    def work(number):
        generator = np.random.default_rng(number)
        try:
            while not agent.done:
                try:
                    arm, reward = agent.ask(), float(generator.integers(0, 7))
                    agent.tell(arm, reward)
                except sb.CampaignOverError:
                    break
                except sb.WaitForRewardsError:  # all that the phase owes is under way in other threads
                    continue
                told.append((arm, reward))
                if len(told) % 50 == 0:
                    pulls, t = agent.pulls, agent.t
                    assert sum(pulls.values()) <= t
                    state = sb.Agent.from_json(agent.to_json())
                    assert sum(state.pulls.values()) == state.t
                    agent.estimates()
                    repr(agent)
                    agent._repr_html_()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(switch)
    assert not failures
    assert agent.done
    assert sum(agent.pulls.values()) == agent.t == len(told)
    if policy.__class__ in (sb.DiscountedUCB, sb.SlidingWindowUCB):
        return  # what they estimate from is not all that was told
    for arm, (mean, variance) in agent.estimates().items():
        rewards = [reward for played, reward in told if played == arm]
        assert agent.pulls[arm] == len(rewards)
        assert mean == sum(rewards) * (1 / len(rewards))
        assert variance == pytest.approx(np.var(rewards, ddof=1), rel=1e-12)


def test_agents_pickle_and_copy_with_their_lock():
    agent = sb.MVTS(rho=1.5).agent(arms=["a", "b"], seed=3)
    for _ in range(10):
        agent.tell(agent.ask(), 1.0 + agent.t % 3)
    for made in (pickle.loads(pickle.dumps(agent)), copy.copy(agent), copy.deepcopy(agent)):
        assert made.to_json() == agent.to_json()
        before = agent.to_json()
        made.tell(made.ask(), 5.0)
        assert agent.to_json() == before


def test_a_notebook_shows_the_arms_escaped():
    agent = sb.UCBRSSR(L=1.0, name="<b>mine</b>").agent(arms=["<script>alert(1)</script>", "b & c"])
    for reward in (1.0, 2.0, 3.0, 2.0):
        agent.tell(agent.ask(), reward)
    page = agent._repr_html_()
    assert "<script>" not in page
    assert "<b>" not in page
    plain = page.replace(" style=text-align:right", "")
    assert "&lt;script&gt;alert(1)&lt;/script&gt;</td><td>2</td><td>2</td><td>1.414</td><td>1.333</td>" in plain
    assert "b &amp; c</td><td>2</td><td>2</td><td>0</td><td>4</td>" in plain
    assert "nan" not in sb.UCB1().agent(arms=2)._repr_html_()
    assert "and 150 more" in sb.UCB1().agent(arms=200)._repr_html_()


def test_every_family_has_its_agents():
    """What the engine can play can be followed live, and the other way round."""
    assert set(AGENTS) == set(FAMILIES)


@pytest.mark.parametrize("firsts", [[], [[1.0]] * 3, [[1.0] * 9] * 2, [[None] * 3] * 3, None])
def test_damaged_first_rewards_are_refused(firsts):
    state = a_state(sb.ScaleFreeDirichlet(L=0.8))
    assert [len(row) for row in state["firsts"]] == [3, 3, 3]
    with pytest.raises(sb.UnreadableDataError):
        sb.Agent.from_json(with_checksum({**state, "firsts": firsts}))


def test_messages_about_states_say_what_is_wrong():
    state = a_state(sb.UCBRSSR(L=0.8))
    with pytest.raises(sb.UnreadableDataError, match=f"format 99, this version reads up to {FORMAT}.*upgrade"):
        sb.Agent.from_json(json.dumps({**state, "format": 99}))
    with pytest.raises(sb.UnreadableDataError, match="'UCBRSR': did you mean 'UCBRSSR'"):
        sb.Agent.from_json(with_checksum({**state, "policy": {**state["policy"], "policy": "UCBRSR"}}))
    with pytest.raises(sb.UnreadableDataError, match="9 pulls in 10 rounds"):
        sb.Agent.from_json(with_checksum({**state, "t": 10, "asked": 10}))


def test_a_state_without_pulls_is_a_state():
    agent = sb.ModifiedMVTS(L=0.8, form="authors").agent(arms=2)  # its largest reward so far is minus infinity
    again = sb.Agent.from_json(agent.to_json())
    assert again.to_json() == agent.to_json()
    assert again.ask() == 0


@pytest.mark.parametrize("column", ["sum1", "anchor", "last", "maximum"])
def test_a_state_in_which_a_number_was_changed_is_refused(column):
    agent = sb.UCBRSSR(L=1).agent(arms=2)
    for reward in (0.5, 1.25, 0.75, 2.5):
        agent.tell(agent.ask(), reward)
    state = json.loads(agent.to_json())
    asked = agent.ask()
    assert sb.Agent.from_json(json.dumps(state, sort_keys=True)).ask() == asked
    assert sb.Agent.from_json(json.dumps(state).replace(".0,", ",").replace(".0]", "]")).ask() == asked
    state["record"][column][0] += 0.25
    with pytest.raises(sb.UnreadableDataError, match="was changed after it was saved"):
        sb.Agent.from_json(json.dumps(state))


def take_total(kept, i, at, k, pulls, x, d):
    kept[i, at, k] += x


def total(kept, i, at, k, pulls, anchor, mean, variance, third, fourth, key):
    return kept[i, at, k], 0.0


@sb.index_policy(name="Least paid")
def least_paid(arm, t):
    return -arm.third


def test_a_new_statistic_is_saved_without_further_ado(monkeypatch):
    """Another statistic takes the place of the third moment: its numbers are in the state, and are restored."""
    new = statistics.Statistic(("third", "fourth"), total, cells=1, take=take_total)
    declared = tuple(new if s.fields == new.fields else s for s in statistics.STATISTICS)
    monkeypatch.setattr(statistics, "STATISTICS", declared)
    monkeypatch.setattr(sharpe_bandits.agents.index, "STATISTICS", declared)
    agent = least_paid().agent(arms=2)
    for reward in (1.0, 2.0, 4.0, 1.0):  # the pilot
        agent.tell(agent.ask(), reward)
    state = json.loads(agent.to_json())
    assert state["third"] == [[5.0], [3.0]]
    again = sb.Agent.from_json(agent.to_json())
    assert again.ask() == agent.ask() == 1
    with pytest.raises(sb.UnreadableDataError, match="its third does not fit its arms"):
        sb.Agent.from_json(with_checksum({**state, "third": [[5.0]]}))


@pytest.mark.parametrize(
    "policy",
    [
        sb.ScaleFreeUCB(L=0.8), sb.MVTS(rho=1.5), sb.SlidingWindowUCB(L=0.8, window=30), sb.SHSR(L=0.5),
        sb.VarianceAwareHalving(sb.RSSR(L=0.5)), sb.SuccessiveAcceptsRejects(sb.RSSR(L=0.5), m=2),
        sb.LUCB(L=0.5, pilot_pulls=3),
    ],
    ids=lambda policy: policy.name,
)  # fmt: skip
def test_after_preparation_nothing_is_compiled(policy):
    def kernels():
        return {key: len(kernel.signatures) for key, kernel in compiler._compiled.items()}

    agent = policy.agent(4, horizon=60, seed=1)
    state = agent.to_json()
    agent.prepare()
    assert agent.to_json() == state
    ready = kernels()
    while not agent.done:
        arm = agent.ask()
        agent.shares(arm)
        agent.tell(arm, 0.1 * (agent.t * 7 % 11) + arm)
    assert agent.t > 8
    assert kernels() == ready
