"""Live agents: ask and tell, names, the end of a campaign, pulls under way, threads."""

import copy
import math
import pickle
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits.live.agents import AGENTS
from sharpe_bandits.live.agents import state as states
from sharpe_bandits.simulation import compiler
from sharpe_bandits.simulation.families import FAMILIES
from tests.messages import says


@contextmanager
def at_once(work, numbers):
    """Call ``work`` with each number in a thread of its own, and switch between them as often as can be."""
    switch = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(len(numbers)) as pool:
            futures = [pool.submit(work, number) for number in numbers]
            yield
            for future in futures:
                future.result()
    finally:
        sys.setswitchinterval(switch)


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
    with pytest.raises(sb.errors.CampaignOverError, match=r"all 5 rounds .* 2 rewards are still to come"):
        agent.ask()
    with pytest.raises(sb.errors.InvalidInputError, match="no pull of arm 'a' is pending"):
        agent.cancel("a")
    again = sb.Agent.from_json(agent.to_json())
    assert again.pending == agent.pending
    assert again.asked == agent.asked


def test_a_policy_warns_once_of_rewards_that_it_cannot_handle():
    """The README's example of old: RSSR squares the mean; and on daily returns the width is never defined."""
    generator = np.random.default_rng(2)

    def play(agent, means, deviation):
        for _ in range(300):
            arm = agent.ask()
            agent.tell(arm, generator.normal(means[arm], deviation))

    agent = sb.UCBRSSR(L=1.0).agent(arms=["good", "bad"])
    with pytest.warns(
        sb.errors.RewardWarning, match=r"'bad' has a mean of -.*the more it loses, the better.*ScaleFree"
    ) as seen:
        play(agent, {"good": 1.5, "bad": -3.0}, 3.0)
    assert len(seen) == 1
    assert agent.pulls["bad"] > agent.pulls["good"]
    daily = sb.UCBRSSR(L=1e-5).agent(arms=["a", "b"])
    with pytest.warns(
        sb.errors.RewardWarning, match=r"needs at least .e\+\d\d pulls of every arm .* in rotation.*any scale"
    ) as seen:
        play(daily, {"a": 0.001, "b": 0.001}, 0.01)
    assert len(seen) == 1
    assert set(daily.pulls.values()) == {150}
    for fine in (sb.ScaleFreeUCB(L=0.1), sb.policies.UCB1()):
        agent = fine.agent(arms=["good", "bad"])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            play(agent, {"good": 0.5, "bad": -1.0}, 1.0)
        assert agent.pulls["good"] > agent.pulls["bad"]


def test_recommendations_before_the_end():
    agent = sb.SHSR(L=1.0).agent(arms=2, horizon=20)
    with pytest.raises(sb.errors.InvalidInputError, match="before an arm has two rewards; ask and tell first"):
        agent.recommend()
    for reward in (1.0, 5.0, 1.5, 5.5):
        agent.tell(agent.ask(), reward)
    assert agent.recommend() == 1
    index = sb.UCBRSSR(L=1.0).agent(arms=["x", "y"])
    with pytest.raises(sb.errors.InvalidInputError, match="before an arm has two rewards"):
        index.recommend()
    for reward in (3.0, 1.0, 3.1, 1.1):
        index.tell(index.ask(), reward)
    assert index.recommend() == "x"


@pytest.mark.parametrize(
    "policy",
    [
        sb.SuRSR(L=0.5), sb.SHSR(L=0.5), sb.policies.SuccessiveAcceptsRejects(sb.Mean(), m=7), sb.policies.GRAUCB(), sb.UCBRSSR(L=1),
        sb.policies.ScaleFreeNPTS(L=1), sb.policies.MVLCB(), sb.policies.LUCB(L=1), sb.policies.DiscountedUCB(L=1, discount=1 - 1e-7),
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
    with pytest.raises(sb.errors.InvalidInputError, match="arms must be a whole number from 2 to 100000, got 100001"):
        policy.agent(arms=100_001, horizon=10**12)
    with pytest.raises(sb.errors.InvalidInputError, match=r"horizon must be a whole number from 2 to 10{15}"):
        policy.agent(arms=8, horizon=10**15 + 1)


def test_errors_do_not_list_thousands_of_names():
    names = [f"strategy number {i}" for i in range(10_000)]
    for attempt in (
        lambda: sb.policies.UCB1().agent(arms=[*names, "strategy number 7"]),
        lambda: sb.policies.UCB1().agent(arms=[*names, 7]),
    ):
        with pytest.raises(sb.errors.InvalidInputError) as caught:
            attempt()
        assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    "policy",
    [sb.UCBRSSR(L=0.8), sb.policies.DiscountedUCB(L=0.8), sb.policies.SlidingWindowUCB(L=0.8, window=50), sb.policies.MVTS(), sb.policies.LUCB(L=0.5),
     sb.SuRSR(L=0.5)],
    ids=lambda policy: policy.name,
)  # fmt: skip
def test_threads_may_share_an_agent(policy):
    """Eight threads ask and tell at once: no reward is lost or counted twice, and sums of whole numbers are exact."""
    agent, told = policy.agent(arms=4, horizon=4000), []

    def work(number):
        generator = np.random.default_rng(number)
        while not agent.done:
            try:
                arm, reward = agent.ask(), float(generator.integers(0, 7))
                agent.tell(arm, reward)
            except sb.errors.CampaignOverError:
                break
            except sb.errors.WaitForRewardsError:  # all that the phase owes is under way in other threads
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

    with at_once(work, range(8)):
        pass
    assert agent.done
    assert sum(agent.pulls.values()) == agent.t == len(told)
    if policy.__class__ in (sb.policies.DiscountedUCB, sb.policies.SlidingWindowUCB):
        return  # what they estimate from is not all that was told
    for arm, (mean, variance) in agent.estimates().items():
        rewards = [reward for played, reward in told if played == arm]
        assert agent.pulls[arm] == len(rewards)
        assert mean == sum(rewards) * (1 / len(rewards))
        assert variance == pytest.approx(np.var(rewards, ddof=1), rel=1e-12)


@pytest.mark.parametrize(
    "policy", [sb.SuRSR(L=0.5), sb.policies.LUCB(L=0.5), sb.ScaleFreeUCB(L=0.5)], ids=lambda policy: policy.name
)
def test_a_state_is_written_with_the_lock_held(policy, monkeypatch):
    """Other threads may tell while a state is being written: what is written must be of one moment."""
    agent = policy.agent(arms=["a", "b", "c", "d"], horizon=200, seed=1)
    write = states.write
    held = []

    def slow(content):
        other = threading.Thread(target=lambda: held.append(not agent._lock.acquire(timeout=0.05)))
        other.start()
        other.join()
        return write(content)

    monkeypatch.setattr(states, "write", slow)
    agent.to_json()
    assert held == [True]


def test_threads_may_look_while_arms_are_added():
    agent, added = sb.ScaleFreeUCB(L=0.5).agent(arms=["a", "b"], seed=1), threading.Event()
    for reward in (1.0, 2.0, 4.0, 2.0, 1.0, 3.0):
        agent.tell(agent.ask(), reward)

    def look(_):
        while not added.is_set():
            assert set(agent.pulls) >= {"a", "b"}
            assert len(agent.pending) >= 2
            assert sum(agent.probabilities().values()) == 1.0
            agent.intervals()
            agent._repr_html_()
            sb.Agent.from_json(agent.to_json())

    with at_once(look, range(4)):
        try:
            for number in range(60):
                agent.add_arm(f"arm {number}")
        finally:
            added.set()


def test_agents_pickle_and_copy_with_their_lock():
    agent = sb.policies.MVTS(rho=1.5).agent(arms=["a", "b"], seed=3)
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
    assert "nan" not in sb.policies.UCB1().agent(arms=2)._repr_html_()
    assert "and 150 more" in sb.policies.UCB1().agent(arms=200)._repr_html_()


def test_every_family_has_its_agents():
    """What the engine can play can be followed live, and the other way round."""
    assert set(AGENTS) == set(FAMILIES)


@pytest.mark.parametrize(
    "policy",
    [
        sb.ScaleFreeUCB(L=0.8), sb.policies.MVTS(rho=1.5), sb.policies.SlidingWindowUCB(L=0.8, window=30), sb.SHSR(L=0.5),
        sb.policies.VarianceAwareHalving(sb.RSSR(L=0.5)), sb.policies.SuccessiveAcceptsRejects(sb.RSSR(L=0.5), m=2),
        sb.policies.LUCB(L=0.5, pilot_pulls=3),
    ],
    ids=lambda policy: policy.name,
)  # fmt: skip
def test_after_preparation_nothing_is_compiled(policy):
    def kernels():
        return {key: len(getattr(kernel, "signatures", "")) for key, kernel in compiler._compiled.items()}

    agent = policy.agent(4, horizon=60, seed=1)
    state = agent.to_json()
    agent._prepare()
    assert agent.to_json() == state
    ready = kernels()
    while not agent.done:
        arm = agent.ask()
        agent._shares(arm)
        agent.tell(arm, 0.1 * (agent.t * 7 % 11) + arm)
    assert agent.t > 8
    assert kernels() == ready


@pytest.mark.parametrize("reward", [math.nan, math.inf, -math.inf, np.nan, "1", None, [1.0], True, 10**400, 1e100])
@pytest.mark.parametrize(
    "policy",
    [sb.UCBRSSR(L=1.0), sb.policies.MVTS(), sb.SHSR(L=1.0), sb.policies.LUCB(L=1.0, pilot_pulls=5)],
    ids=lambda policy: policy.name,
)
def test_a_bad_reward_leaves_the_agent_as_it_was(policy, reward):
    agent = policy.agent(arms=["up", "down"], horizon=40)
    for x in (1.0, 2.0, 1.5, 2.5, 1.2):
        agent.tell(agent.ask(), x)
    for arm in ("up", "down"):
        before = agent.to_json()
        asked = sb.Agent.from_json(before).ask()
        with pytest.raises(sb.errors.InvalidInputError, match=says(repr(reward)[:50])) as caught:
            agent.tell(arm, reward)
        assert repr(arm) in str(caught.value)
        assert "nothing was recorded" in str(caught.value)
        assert agent.to_json() == before
        assert agent.ask() == asked


@pytest.mark.parametrize("arm", ["momentun", "", 0, None, ["momentum"], math.nan])
@pytest.mark.parametrize("policy", [sb.UCBRSSR(L=1.0), sb.SHSR(L=1.0)], ids=lambda policy: policy.name)
def test_an_unknown_arm_leaves_the_agent_as_it_was(policy, arm):
    agent = policy.agent(arms=["momentum", "carry"], horizon=40)
    agent.tell(agent.ask(), 1.0)
    before = agent.to_json()
    with pytest.raises(
        sb.errors.UnknownNameError, match=says("no arm is called", repr(arm), "'momentum', 'carry'")
    ) as caught:
        agent.tell(arm, 1.0)
    assert agent.to_json() == before
    assert ("did you mean 'momentum'?" in str(caught.value)) == (arm == "momentun" or arm == ["momentum"])
