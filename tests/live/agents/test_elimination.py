"""Agents of policies in phases: what is due, what is waited for, what is found, and states that could not have been."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sharpe_bandits as sb
import sharpe_bandits.live.agents.index
from sharpe_bandits import theory
from tests.live.agents.played import REWARDS, step
from tests.messages import says
from tests.top_m import FINDERS, TAPE


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


def drive(policy, tape, budget, restart=False):
    """Choices and recommendation of a live agent, kept as JSON between rounds if so wished."""
    agent = policy.agent(arms=len(tape), horizon=budget)
    choices = []
    while not agent.done:
        if restart:
            text = agent.to_json()
            agent = sb.Agent.from_json(text)
            assert agent.to_json() == text
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


@pytest.mark.parametrize("family", FINDERS)
def test_an_agent_continues_exactly_after_every_round(family):
    policy = FINDERS[family](2)
    assert drive(policy, TAPE, 120, restart=True) == drive(policy, TAPE, 120)


def test_nothing_is_recommended_from_too_little():
    agent = sb.policies.SuccessiveAcceptsRejects(sb.Mean(), m=2).agent(4, horizon=60)
    for arm in (0, 1, 2, 3, 0):
        agent.tell(arm, 1.0)
    with pytest.raises(sb.errors.InvalidInputError, match="before 2 arms have two rewards"):
        agent.recommend()
    agent.tell(3, 1.0)
    assert agent.recommend() == [0, 3]


def by_hand(x, chosen, phases, L, gap, keep, factor):
    """The printed bound on the fly of a run, in plain Python: x the rewards and chosen the arms of all rounds."""
    terms, start, alive = [], 0, len(set(chosen))
    for pulls, stay in phases:
        end = start + pulls * alive
        roots = []
        for arm in set(chosen[start:end]):
            first = 0 if keep else start
            seen = [v for v, a in zip(x[first:end], chosen[first:end], strict=True) if a == arm]
            mean = sum(seen) / len(seen)
            d = L + sum((v - mean) ** 2 for v in seen) / (len(seen) - 1)
            a = (1.5 * gap + 1) * d + sum(v * v for v in seen) / len(seen)
            roots.append((-a + math.sqrt(a * a + 4 * gap * d * d)) / 4)
        terms.append(factor * math.exp(-2 * len(seen) * min(roots) ** 2))
        start, alive = end, stay
    return terms


@pytest.mark.parametrize(("policy", "factor"), [(sb.SHSR(L=0.05), 6), (sb.SuRSR(L=0.05), 2)])
def test_the_error_bound_of_an_agent_on_the_fly(policy, factor):
    bandit = sb.Bandit([sb.Uniform(0.2, 1.0)] + [sb.Uniform(0.0, 0.8)] * 3)
    budget, gap = 600, 3.0
    played = sb.trace(policy, bandit, horizon=budget, seed=5)
    agent = policy.agent(arms=4, horizon=budget)
    assert agent.error_bound(gap=gap) == []
    for n, (arm, reward) in enumerate(zip(played.choices.tolist(), played.rewards.tolist(), strict=True)):
        if agent.done:
            break
        agent.tell(arm, reward)
        if n == 400:
            agent = sb.Agent.from_json(agent.to_json())
    phases = policy.phases(budget, 4)
    rounds = sum(p * size for (p, _), size in zip(phases, [4, *(stay for _, stay in phases)], strict=False))
    x, chosen = played.rewards[:rounds].tolist(), played.choices[:rounds].tolist()
    expected = by_hand(x, chosen, phases, 0.05, gap, policy.keeps_samples, factor)
    assert agent.error_bound(gap=gap) == pytest.approx(expected, rel=1e-9)
    along = theory.played_phases(policy, budget, 4, played.choices, played.rewards)
    assert theory.path_error(along, 0.05, gap) == pytest.approx(expected, rel=1e-9)
    assert sum(agent.error_bound(gap=2 * gap)) < sum(expected)
    assert max(agent.error_bound(gap=gap, form="repaired", upper=100.0)) == 1.0  # a wide support says nothing


def test_other_agents_say_why_they_have_no_bound():
    with pytest.raises(sb.errors.InvalidInputError, match="no bound on the fly"):
        sb.SHVV().agent(arms=4, horizon=100).error_bound(gap=0.1)
    with pytest.raises(sb.errors.InvalidInputError, match="gap must be"):
        sb.SHSR(L=1.0).agent(arms=4, horizon=100).error_bound(gap=-0.1)
