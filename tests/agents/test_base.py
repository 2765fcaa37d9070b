"""Live agents: ask and tell, names, the end of a campaign, pulls under way, threads."""

import copy
import math
import pickle
import sys
import threading
import time
import warnings

import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits.agents import AGENTS
from sharpe_bandits.agents import state as states
from sharpe_bandits.engine import compiler
from sharpe_bandits.engine.families import FAMILIES
from tests.agents.played import REWARDS, step


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
    with pytest.raises(sb.InvalidInputError, match="no pull of arm 'a' is pending"):
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
        sb.RewardWarning, match=r"'bad' has a mean of -.*the more it loses, the better.*ScaleFree"
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
        with pytest.raises(sb.InvalidInputError, match="among the arms that it starts with"):
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
    with pytest.raises(sb.InvalidInputError, match="shorten the window or use DiscountedUCB"):
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


@pytest.mark.parametrize(
    "policy", [sb.SuRSR(L=0.5), sb.LUCB(L=0.5), sb.ScaleFreeUCB(L=0.5)], ids=lambda policy: policy.name
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
    agent, failures, added = sb.ScaleFreeUCB(L=0.5).agent(arms=["a", "b"], seed=1), [], threading.Event()
    for reward in (1.0, 2.0, 4.0, 2.0, 1.0, 3.0):
        agent.tell(agent.ask(), reward)
    switch = sys.getswitchinterval()

    def look():
        try:
            while not added.is_set():
                assert set(agent.pulls) >= {"a", "b"}
                assert len(agent.pending) >= 2
                assert sum(agent.probabilities().values()) == 1.0
                agent.intervals()
                agent._repr_html_()
                sb.Agent.from_json(agent.to_json())
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=look) for _ in range(4)]
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for number in range(60):
            agent.add_arm(f"arm {number}")
        added.set()
        for thread in threads:
            thread.join()
    finally:
        added.set()
        sys.setswitchinterval(switch)
    assert not failures


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
