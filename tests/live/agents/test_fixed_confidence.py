"""Agents that stop by themselves: they ask what the engine chose, continue exactly, and say when they are sure."""

import json

import numpy as np
import pytest

import sharpe_bandits as sb
from tests.fixed_confidence import CASES, identify

NORMAL = np.random.default_rng(5).normal([[1.0], [0.7], [0.5]], 1.0, (3, 400))


@pytest.mark.parametrize(("tape", "policy", "limit"), [*CASES, (NORMAL, sb.TopTwo(L=0.2, pilot_pulls=10), 300)])
def test_a_live_agent_asks_what_the_engine_chose(tape, policy, limit):
    """Through JSON and back, too: in the pilot, between the pulls of a pair and after one."""
    trace = sb.trace(policy, sb.Tape(tape), horizon=limit)
    sure = identify(policy, sb.Tape(tape), runs=1, max_budget=limit).stopped[0]
    agent = policy.agent(arms=len(tape), horizon=limit)
    for arm, reward in zip(trace.choices.tolist(), trace.rewards.tolist(), strict=True):
        assert not agent.done
        assert agent.ask() == arm
        agent.tell(arm, reward)
        if agent.t in (4, 150, 151, 152):
            text = agent.to_json()
            agent = sb.Agent.from_json(text)
            assert agent.to_json() == text
    assert agent.done
    assert agent.sure == sure
    assert agent.recommend() == trace.recommended
    assert sb.Agent.from_json(agent.to_json()).done


def test_a_sure_agent_says_so():
    agent = sb.policies.LUCB(L=0.1).agent(arms=["cash", "fund"])
    with pytest.raises(sb.errors.InvalidInputError, match="before an arm has two rewards"):
        agent.recommend()
    generator = np.random.default_rng(0)
    while not agent.done:
        arm = agent.ask()
        agent.tell(arm, generator.normal(0.0 if arm == "cash" else 1.0, 0.2))
    assert agent.recommend() == "fund"
    before = agent.to_json()
    with pytest.raises(sb.errors.CampaignOverError, match=r"sure of the best arm; see recommend\(\)"):
        agent.ask()
    with pytest.raises(sb.errors.CampaignOverError, match="nothing was recorded"):
        agent.tell("fund", 1.0)
    assert agent.to_json() == before


def test_rewards_of_other_arms_are_welcome():
    """A reward that was not asked for counts; the pair that is due stays due."""
    agent = sb.policies.LUCB(L=1.0, pilot_pulls=2).agent(arms=3)
    for _ in range(2):
        for arm in range(3):
            agent.tell(arm, 0.1 * arm + 0.5 * agent.pulls[arm])
    due = agent.ask()
    agent.cancel(due)
    other = next(arm for arm in range(3) if arm not in json.loads(agent.to_json())["pair"])
    agent.tell(other, 0.2)
    assert agent.ask() == due
    assert agent.pulls[other] == 3


def test_an_arm_may_join_and_is_compared_before_the_agent_is_sure_again():
    rng = np.random.default_rng(8)
    means = {"a": 0.8, "b": 0.0, "late": 2.0}
    agent = sb.policies.LUCB(L=0.1).agent(arms=["a", "b"])

    def play():
        while not agent.done:
            arm = agent.ask()
            agent.tell(arm, rng.normal(means[arm], 1.0))
        return agent.recommend()

    assert play() == "a"
    agent.add_arm("late")
    assert not agent.sure
    assert play() == "late"
    assert agent.sure
    with pytest.raises(sb.errors.InvalidInputError, match="budget"):
        agent.retire_arm("b")
