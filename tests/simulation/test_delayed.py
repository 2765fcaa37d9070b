"""Rewards that come late: the engine plays choice for choice what a live agent plays with the same pulls under way."""

import math

import numpy as np
import pytest

import sharpe_bandits as sb

ROUNDS, ARMS = 400, 3
TAPE = sb.Tape(np.random.default_rng(8).gamma([[2.0], [2.4], [2.2]], 0.5, size=(ARMS, ROUNDS)))


@sb.index_policy(name="Rested")
def rested(arm, t, L):
    """No arm rests for more than 40 rounds: the index looks at when an arm was last heard of."""
    return math.inf if t - arm.last > 40.0 else arm.mean / math.sqrt(L + arm.variance)


POLICIES = [
    rested(L=0.5),
    sb.ScaleFreeUCB(L=0.5),
    sb.UCBRSSR(L=0.8),
    sb.ScaleFreeTS(L=0.5),
    sb.ScaleFreeIMED(L=0.5),
    sb.policies.SlidingWindowUCB(L=0.5, window=90),
    sb.policies.DiscountedUCB(L=0.5, discount=0.98),
]


def live(policy, comes, batch):
    """The choices of an agent; ``comes[t]`` is the round before which the reward of round t comes in."""
    agent, choices = policy.agent(arms=ARMS, horizon=ROUNDS, seed=3), []
    drawn, waiting = [0] * ARMS, []
    for t in range(ROUNDS):
        if t % batch == 0:
            for entry in sorted(entry for entry in waiting if entry[0] <= t):
                agent.tell(entry[2], entry[3])
                waiting.remove(entry)
        arm = agent.ask()
        choices.append(arm)
        waiting.append((comes[t], t, arm, TAPE.rewards[arm, drawn[arm]]))
        drawn[arm] += 1
    return choices


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
@pytest.mark.parametrize(("delay", "batch"), [(7, 1), (0, 10), (25, 4)])
def test_the_engine_plays_what_an_agent_plays(policy, delay, batch):
    played = sb.trace(policy, TAPE, horizon=ROUNDS, seed=3, delay=delay, batch=batch)
    assert played.choices.tolist() == live(policy, [t + 1 + delay for t in range(ROUNDS)], batch)


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
def test_without_delay_the_choices_are_what_they_were(policy):
    """The kernel for late rewards, with a delay that is drawn and always 0, against the kernels without."""
    plain = sb.trace(policy, TAPE, horizon=ROUNDS, seed=3)
    late = sb.trace(policy, TAPE, horizon=ROUNDS, seed=3, delay=sb.arms.Constant(0.0))
    assert late.choices.tolist() == plain.choices.tolist()
    assert late.recommended == plain.recommended


def test_a_drawn_delay_is_a_distribution_of_whole_rounds():
    """A delay that is one of 0 and 1 lies between the two; the runs are repeatable, whatever the chunks."""
    bandit = sb.Bandit([sb.Uniform(0, 1), sb.Uniform(0.1, 1.0), sb.Uniform(0.3, 1.2)])
    policy = sb.ScaleFreeUCB(L=0.1)
    kept = [
        sb.simulate(policy, bandit, horizon=600, runs=40, delay=sb.Uniform(0, 60), chunk=chunk)[policy.name].final
        for chunk in (7, 40)
    ]
    assert np.array_equal(*kept)
    fixed = [sb.trace(policy, bandit, horizon=200, delay=d).choices.tolist() for d in (5, sb.arms.Constant(5.9))]
    assert fixed[0] == fixed[1]
    study = sb.simulate(policy, bandit, horizon=600, runs=40, delay=sb.Uniform(0, 60), batch=2)
    assert study.settings["delay"]["arm"] == "Uniform"
    assert study.settings["batch"] == 2


def test_phases_lose_nothing_but_time():
    bandit = sb.Bandit([sb.Uniform(0, 1), sb.Uniform(0.1, 1.0), sb.Uniform(0.3, 1.2)])
    plain, late = (sb.simulate(sb.SHSR(L=0.1), bandit, horizon=600, runs=50, delay=d)["SHSR"] for d in (0, 100))
    assert np.array_equal(plain.recommended, late.recommended)


def test_what_makes_no_sense_is_refused():
    policy = sb.ScaleFreeUCB(L=0.1)
    for options, said in (
        ({"delay": -1}, "delay"),
        ({"delay": "soon"}, "'soon'"),
        ({"delay": 2.5}, "2.5"),
        ({"batch": 0}, "batch"),
        ({"delay": 5, "feedback": "full"}, 'feedback="full"'),
        ({"delay": sb.arms.AR1(5, 1, 0.5)}, "independently"),
        ({"delay": sb.Uniform(-5, -1)}, "at least 0"),
        ({"delay": sb.Normal(20, sd=1.0)}, "at least 0"),
    ):
        with pytest.raises(sb.errors.InvalidInputError, match=said):
            sb.simulate(policy, TAPE, horizon=100, runs=2, **options)
    moving = sb.Bandit([sb.arms.AR1(1, 1, 0.5), sb.arms.AR1(1.1, 1, 0.5)])
    with pytest.raises(sb.errors.InvalidInputError, match="waits for late rewards"):
        sb.simulate(sb.SHSR(L=0.1), moving, horizon=100, runs=2, delay=3)
