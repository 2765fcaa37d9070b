"""Agents of policies in phases: what is due, what is waited for, what is found, and states that could not have been."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sharpe_bandits as sb
import sharpe_bandits.live.agents.index
from tests.live.agents.played import REWARDS, step
from tests.messages import says
from tests.top_m import FINDERS


def test_an_arm_that_is_not_due_leaves_the_finder_as_it_was():
    """Four arms, n = 16: two pulls each, then the better two go on."""
    finder = sb.SHSR(L=1.0).agent(arms=4, horizon=16)
    finder.tell(0, 1.0)
    finder.tell(0, 1.5)
    before = finder.to_json()
    with pytest.raises(
        sb.errors.InvalidInputError, match=says("arm 0 has all its pulls of this phase", "ask() says 1", "nothing was")
    ):
        finder.tell(0, 1.0)
    assert finder.to_json() == before
    for arm in (1, 1, 2, 2, 3, 3):
        finder.tell(arm, 5.0 + arm)
    before = finder.to_json()
    assert finder.alive == [2, 3]
    with pytest.raises(
        sb.errors.InvalidInputError, match=says("arm 0 was dropped", "ask() says 2", "nothing was recorded")
    ):
        finder.tell(0, 1.0)
    assert finder.to_json() == before


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
        with pytest.raises(sb.errors.CampaignOverError, match="400 rounds"):
            attempt()


def test_a_policy_in_phases_says_what_it_waits_for():
    agent = sb.SHSR(L=0.5).agent(arms=["a", "b", "c", "d"], horizon=80)
    asked = [agent.ask() for _ in range(40)]
    with pytest.raises(
        sb.errors.WaitForRewardsError, match=r"phase 1 of 2 and waits for 40 rewards of 'a', 'b'"
    ) as caught:
        agent.ask()
    assert caught.value.arms == dict.fromkeys("abcd", 10)
    assert caught.value.count == len(asked) == 40
    for arm in asked[:-1]:
        agent.tell(arm, {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}[arm] + agent.pulls[arm] % 2)
    with pytest.raises(sb.errors.WaitForRewardsError) as caught:
        agent.ask()
    assert caught.value.arms == {"d": 1}
    agent.tell("d", 1.0)
    assert agent.alive == ["a", "b"]
    assert agent.ask() in ("a", "b")


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


def drive(policy, tape, budget):
    """Choices and recommendation of a live agent."""
    agent = policy.agent(arms=len(tape), horizon=budget)
    choices = []
    while not agent.done:
        arm = agent.ask()
        agent.tell(arm, tape[arm][agent.pulls[arm]])
        choices.append(arm)
    agent = sb.Agent.from_json(agent.to_json())
    assert agent.done
    with pytest.raises(sb.errors.CampaignOverError):
        agent.ask()
    assert agent.alive == agent.accepted
    return choices, agent.recommend()


@given(st.sampled_from(sorted(FINDERS)), st.integers(2, 9), st.integers(0, 2**32), st.data())
def test_an_agent_does_what_the_engine_does(family, arms, seed, data):
    policy = FINDERS[family](data.draw(st.integers(1, arms - 1)))
    budget = policy.least_budget(arms) + data.draw(st.integers(0, 120))
    kind = data.draw(st.sampled_from(["normal", "whole"]))
    generator = np.random.default_rng(seed)
    tape = generator.normal(generator.normal(size=(arms, 1)), 1, size=(arms, budget))
    tape = np.round(tape) if kind == "whole" else tape
    trace = sb.trace(policy, sb.Tape(tape), horizon=budget)
    assert len(trace) <= budget
    assert (trace.choices >= 0).all()
    assert drive(policy, tape, budget) == (trace.choices.tolist(), trace.recommended)
    arms_found = trace.recommended if policy.m > 1 else [trace.recommended]
    assert len(set(arms_found)) == policy.m
    assert arms_found == sorted(arms_found)
    checkpoints = sorted({1, budget // 3, budget // 2, budget})
    study = sb.simulate(policy, sb.Tape(tape), horizon=budget, runs=2, checkpoints=checkpoints)
    outcome = study[policy.name]
    assert outcome.recommended.tolist() == [arms_found] * 2
    for c, t in enumerate(outcome.checkpoints):
        np.testing.assert_array_equal(outcome.pulls[0, c], np.bincount(trace.choices[:t], minlength=arms))


def test_nothing_is_recommended_from_too_little():
    agent = sb.policies.SuccessiveAcceptsRejects(sb.Mean(), m=2).agent(4, horizon=60)
    for arm in (0, 1, 2, 3, 0):
        agent.tell(arm, 1.0)
    with pytest.raises(sb.errors.InvalidInputError, match="before 2 arms have two rewards"):
        agent.recommend()
    agent.tell(3, 1.0)
    assert agent.recommend() == [0, 3]
