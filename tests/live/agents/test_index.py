"""Agents of index policies, those that forget included: what they ask for, and states that do not add up."""

import math
import random
from collections import Counter

import numpy as np
import pytest

import sharpe_bandits as sb
import sharpe_bandits.live.agents.index
from tests.forgetting import CASES, IDS, TURNING
from tests.live.agents.played import REWARDS, step


def test_an_agent_without_a_horizon_never_ends():
    endless, finite = (sb.policies.GRAUCB().agent(arms=2, horizon=n) for n in (None, 2101))
    for t in range(2100):  # its table by pulls grows as needed
        for agent in (endless, finite):
            assert not agent.done
            agent.tell(agent.ask(), 1.0 + 0.5 * math.sin(t))
    assert endless.pulls == finite.pulls


def test_pending_pulls_count_in_s_and_leave_the_moments_as_they_are():
    """By hand: with two arms alike, pulls under way of one make the other's radius the larger."""
    agent = sb.ScaleFreeUCB(L=1.0).agent(arms=2)
    for x in (1.0, 2.0, 1.5, 2.5):
        for arm in range(2):
            agent.tell(arm, x + 0.001 * (arm == 0))
    assert [agent.ask() for _ in range(6)] == [0, 1, 0, 1, 0, 1]
    assert agent.estimates()[1] == (1.75, pytest.approx(np.var([1.0, 2.0, 1.5, 2.5], ddof=1)))


def test_randomised_policies_draw_by_the_number_of_the_decision():
    agent = sb.policies.ThompsonSampling(variance=1.0).agent(arms=2, seed=3)
    for arm in (0, 1):
        agent.tell(arm, 0.5)
    asked = [agent.ask() for _ in range(60)]
    assert 10 < sum(asked) < 50  # equal arms: a fair coin each time
    assert agent.probabilities() == pytest.approx({0: 0.5, 1: 0.5}, abs=5 * 0.5 / 16)


def test_arms_come_and_go():
    agent = sb.policies.SlidingWindowUCB(L=0.5, window=60).agent(arms=["a", "b"], seed=1)
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
    again.retire_arm(best := again.recommend())
    assert again.recommend() not in ("a", best)
    with pytest.raises(sb.errors.InvalidInputError, match="there is an arm 'c' already"):
        agent.add_arm("c")
    agent.retire_arm("b")
    with pytest.raises(sb.errors.InvalidInputError, match="the last one"):
        agent.retire_arm("c")
    with pytest.raises(sb.errors.InvalidInputError, match="among the arms that it starts with"):
        sb.SHSR(L=0.5).agent(arms=["a", "b"], horizon=40).add_arm("c")


def test_an_index_agent_ends_at_its_horizon():
    agent = sb.policies.UCB1().agent(arms=2, horizon=5)
    for _ in range(5):
        agent.tell(agent.ask(), 0.5)
    assert agent.done
    state = agent.to_json()
    with pytest.raises(sb.errors.CampaignOverError, match=r"5 rounds.*recommend"):
        agent.ask()
    with pytest.raises(sb.errors.CampaignOverError, match="nothing was recorded"):
        agent.tell(0, 1.0)
    assert agent.to_json() == state


def test_the_seed_of_an_agent_is_that_of_a_trace():
    bandit = sb.Tape(REWARDS)
    for seed in (0, 1, 2**64 - 1):
        agent = sb.policies.MVTS(rho=1.5).agent(arms=4, horizon=60, seed=seed)
        asked = [step(agent) for _ in range(60)]
        assert asked == sb.trace(sb.policies.MVTS(rho=1.5), bandit, horizon=60, seed=seed).choices.tolist()


def test_a_window_that_would_take_too_much_room_is_refused():
    policy = sb.policies.SlidingWindowUCB(L=1, window=10**6)
    assert policy.agent(arms=50).ask() == 0
    with pytest.raises(sb.errors.InvalidInputError, match="shorten the window or use DiscountedUCB"):
        policy.agent(arms=51)


@pytest.mark.parametrize(("policy", "expected"), CASES, ids=IDS)
def test_an_agent_forgets_alike_and_survives_json(policy, expected):
    agent = policy.agent(arms=["a", "b", "c"])
    for t, arm in enumerate(expected()):
        assert agent.ask() == "abc"[arm]
        agent.tell("abc"[arm], TURNING[t, arm])
        if t in (0, 5, 39, 40, 41, 200):
            agent = sb.Agent.from_json(agent.to_json())
    trace = sb.trace(policy, sb.Tape(TURNING.T, clock="rounds"), horizon=500)
    assert agent.recommend() == "abc"[trace.recommended]


@pytest.mark.parametrize(
    "policy", [sb.policies.SlidingWindowUCB(L=1, window=200), sb.policies.DiscountedUCB(L=1, discount=0.98)]
)
def test_a_level_that_moves_far_does_not_break_the_moments(policy):
    """Rewards jump by a million after a third of the game; what is remembered later must know its unit variance."""
    rng = np.random.default_rng(1)
    table = rng.normal(0.0, 1.0, (6000, 2))
    table[2000:] += 1e6
    agent = policy.agent(arms=2)
    for t, row in enumerate(table):
        agent.tell(t % 2, row[t % 2])
    for arm in (0, 1):
        mean, variance = agent.estimates()[arm]
        assert mean == pytest.approx(1e6, abs=0.5)
        assert 0.5 < variance < 1.8
        fourth = agent.statistics()[arm].fourth
        assert 1.0 < fourth < 8.0  # 3 for a normal distribution; about an anchor a million away it would be noise
    trace = sb.trace(policy, sb.Tape(table.T, clock="rounds"), horizon=6000)
    live = policy.agent(arms=2)
    for t, arm in enumerate(trace.choices.tolist()):
        assert live.ask() == arm
        live.tell(arm, table[t, arm])


REWARDS_OF = {"A": 0.5, "B": 1.0, "C": 0.2}


@pytest.mark.parametrize("lost", [1, 3, 9])
@pytest.mark.parametrize("policy", [sb.ScaleFreeUCB(L=0.1), sb.ScaleFreeTS(L=0.1), sb.policies.UCB1()])
def test_an_arm_whose_first_rewards_are_lost_is_tried_again(policy, lost):
    """Workers with the best arm died: it must not be left alone for ever, and many who asked at once are one attempt."""
    agent = policy.agent(arms=["A", "B", "C"], seed=1)
    rewards = random.Random(1)
    for arm in [agent.ask() for _ in range(3 * lost)]:
        if arm != "B":
            agent.tell(arm, REWARDS_OF[arm] + rewards.gauss(0, 0.3))
    assert agent.pulls["B"] == 0
    assert agent.pending["B"] == lost
    for t in range(600):
        arm = agent.ask()
        agent.tell(arm, REWARDS_OF[arm] + rewards.gauss(0, 0.3))
        if t == 300:
            agent = sb.Agent.from_json(agent.to_json())
    assert agent.pulls["B"] > 300
    assert agent.pending["B"] == lost


def test_an_arm_that_never_pays_is_tried_ever_more_rarely():
    agent = sb.ScaleFreeUCB(L=0.1).agent(arms=["A", "B", "C"])
    rewards, asked = random.Random(1), []
    for t in range(5_000):
        if (arm := agent.ask()) == "B":
            asked.append(t)
        else:
            agent.tell(arm, REWARDS_OF[arm] + rewards.gauss(0, 0.3))
    gaps = np.diff(asked)[1:]
    assert len(gaps) >= 4
    assert (gaps[1:] > 1.9 * gaps[:-1]).all()


@pytest.mark.parametrize(
    "policy",
    [sb.policies.SlidingWindowUCB(L=0.1, window=60), sb.policies.DiscountedUCB(L=0.1, discount=0.95)],
    ids=lambda policy: policy.name,
)
def test_an_arm_that_was_forgotten_while_asks_were_lost_is_tried_again(policy):
    agent = policy.agent(arms=["A", "B", "C"])
    rewards, told = random.Random(1), Counter()
    for t in range(3_000):
        arm = agent.ask()
        if arm == "B" and 100 <= t < 1000:
            continue  # all workers with it die
        mean = 0.3 if arm == "B" and t < 1000 else REWARDS_OF[arm]
        agent.tell(arm, mean + rewards.gauss(0, 0.3))
        told[arm] += t >= 1000
    assert told["B"] > 1000


@pytest.mark.parametrize(
    "policy",
    [
        sb.policies.SlidingWindowUCB(objective=sb.objectives.Sortino(target=0.0, L=0.1), window=50),
        sb.policies.DiscountedUCB(objective=sb.objectives.Sortino(target=0.0, L=0.1), discount=0.98),
        sb.policies.SlidingWindowUCB(objective=sb.objectives.CVaR(alpha=0.1), window=100),
    ],
    ids=lambda policy: f"{policy.name} {type(policy.objective).__name__}",
)
def test_statements_about_arms_use_all_rewards_whatever_is_forgotten(policy):
    """They are those of an agent that forgets nothing, told the same rewards."""
    agent = policy.agent(arms=["a", "b"], seed=1)
    all_rewards = sb.ScaleFreeUCB(objective=policy.objective).agent(arms=["a", "b"], seed=1)
    generator = np.random.default_rng(1)
    for _ in range(600):
        arm, reward = agent.ask(), generator.normal(0.1)
        agent.tell(arm, reward)
        all_rewards.tell(arm, reward)
    restored = sb.Agent.from_json(agent.to_json())
    assert repr(agent.intervals()) == repr(all_rewards.intervals()) == repr(restored.intervals())
    assert repr(agent.leader()) == repr(all_rewards.leader())
    assert agent.values() != all_rewards.values()  # what it chooses by are remembered rewards
