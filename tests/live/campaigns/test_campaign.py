"""Campaigns: what a user types, what becomes of decisions, and that nothing else changes."""

import itertools
import math
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import numpy as np
import pytest

import sharpe_bandits as sb
from tests.live.agents.played import POLICIES
from tests.live.campaigns.desks import ARMS, POLICY, make, pay


def test_what_a_user_types(store, target):
    campaign = make(store)
    decision = campaign.ask(key="order-4711")
    assert (decision.number, decision.arm, decision.probability, decision.state) == (1, "momentum", 1.0, "pending")
    assert decision.expires - decision.asked == timedelta(days=1)
    assert campaign.ask(key="order-4711") == decision
    campaign.tell(decision, 0.012)
    campaign.tell(1, 0.012)
    assert campaign.ask(key="order-4711").reward == 0.012
    before = campaign.agent().to_json()
    with pytest.raises(sb.errors.ConflictError, match=r"decision 1 has the reward 0.012, but the new reward is 0.013"):
        campaign.tell(decision, 0.013)
    assert campaign.agent().to_json() == before
    made = campaign.ask(count=50)
    assert [d.number for d in made] == list(range(2, 52))
    campaign.tell_many({d: pay(d) for d in made})
    campaign.add_arm("trend")
    campaign.retire_arm("carry")
    extra = campaign.ask()
    assert extra.arm == "trend"
    campaign.cancel(extra)
    campaign.cancel(extra)
    status = campaign.status()
    assert (status.decisions, status.rewards, status.pending, status.cancelled) == (52, 51, 0, 1)
    assert [(arm.arm, arm.retired) for arm in status.arms][1:] == [("carry", True), ("value", False), ("trend", False)]
    assert sum(arm.pulls for arm in status.arms) == 51
    assert status.best == campaign.recommend()
    table = campaign.history()
    assert table.num_rows == 52
    assert table["state"].to_pylist().count("rewarded") == 51
    assert table["key"].to_pylist()[:2] == ["order-4711", None]
    found = campaign.verify(choices=True)
    assert found.ok, str(found)
    assert (found.events, found.decisions) == (106, 52)
    with sb.Store(target) as again:
        assert again.campaign("desks").agent().to_json() == campaign.agent().to_json()


#: Of every flavour that agents have.
FLAVOURS = [
    *POLICIES,
    sb.policies.SlidingWindowUCB(L=0.8, window=60),
    sb.policies.DiscountedUCB(L=0.8, discount=0.98),
    sb.policies.SuccessiveAcceptsRejects(sb.RSSR(L=0.5)),
    sb.policies.LUCB(L=0.1, pilot_pulls=5),
]


@pytest.mark.parametrize("policy", FLAVOURS, ids=lambda policy: policy.name.replace(" ", "-"))
def test_every_policy_plays_choice_for_choice_what_its_agent_plays(policy, file_store):
    """With pulls under way, through several openings of the store; a campaign's log leads back to its state."""
    horizon = 120
    agent = policy.agent(arms=ARMS, horizon=horizon, seed=9)
    waiting, turns = [], itertools.count()
    generator = np.random.default_rng(1)
    while not agent.done:
        if next(turns) % 25 == 0:
            campaign = file_store.campaign("one", policy=policy, arms=ARMS, horizon=horizon, seed=9)
        try:
            decision = campaign.ask()
        except (sb.errors.WaitForRewardsError, sb.errors.CampaignOverError) as error:
            with pytest.raises(type(error), match=r"."):
                agent.ask()
        else:
            assert decision.arm == agent.ask()
            waiting.append(decision)
            if len(waiting) < 4:
                continue
        told = waiting.pop(int(generator.integers(len(waiting))))
        reward = float(generator.gamma(2.0, 0.5))
        campaign.tell(told, reward)
        agent.tell(told.arm, reward)
    assert campaign.agent().to_json() == agent.to_json()
    assert campaign.recommend() == agent.recommend()
    with pytest.raises(sb.errors.CampaignOverError, match=r"."):
        campaign.ask()
    assert campaign.verify(choices=True).ok


def test_leases_run_out_and_late_rewards_are_welcome(tmp_path, clock):
    campaign = make(sb.Store(tmp_path / "campaigns.db"))
    first, second, third = campaign.ask(count=3)
    clock[0] = 90_000
    campaign.accept_clock()  # a day has really passed
    assert (campaign.status().pending, campaign.status().expired) == (0, 3)
    fresh = campaign.ask()
    assert fresh.arm == first.arm  # its pull is owed again
    assert [campaign.decision(n).state for n in (1, 2, 3, 4)] == ["expired", "expired", "expired", "pending"]
    campaign.tell(second, 0.01)
    campaign.tell(second, 0.01)
    campaign.cancel(third)
    with pytest.raises(sb.errors.ConflictError, match="was cancelled"):
        campaign.tell(third, 0.01)
    with pytest.raises(sb.errors.ConflictError, match=r"has the reward 0.01; nothing"):
        campaign.cancel(second)
    status = campaign.status()
    assert (status.rewards, status.pending, status.expired, status.cancelled) == (1, 1, 1, 1)
    assert campaign.agent().pulls["carry"] == 1
    assert campaign.verify(choices=True).ok


def test_a_key_that_was_used_returns_no_decision_that_cannot_be_played(tmp_path, clock):
    campaign = make(sb.Store(tmp_path / "campaigns.db"))
    first, second = campaign.ask(keys=["k1", "k2"])
    others = [arm for arm in ARMS if arm != first.arm]
    with pytest.raises(sb.errors.ConflictError, match="k1"):
        campaign.ask(key="k1", among=others)
    assert campaign.ask(key="k1", among=[first.arm]) == first
    campaign.cancel(second)
    with pytest.raises(sb.errors.ConflictError, match=r"k2.*cancelled"):
        campaign.ask(key="k2")
    clock[0] = 90_000
    campaign.accept_clock()
    assert campaign.ask(key="k1").state == "expired"
    assert campaign.status().decisions == 2
    assert campaign.verify(choices=True).ok


def test_a_default_reward_is_used_only_where_it_was_set(tmp_path, clock):
    campaign = make(sb.Store(tmp_path / "campaigns.db"), default_reward=-0.02)
    first = campaign.ask()
    clock[0] = 90_000
    campaign.accept_clock()  # a day has really passed
    campaign.ask()
    assert campaign.decision(1).reward == -0.02
    assert campaign.agent().pulls["momentum"] == 1
    with pytest.raises(sb.errors.ConflictError, match=r"-0.02 by default, since its lease ran out"):
        campaign.tell(first, 0.01)
    assert campaign.verify().ok
    with pytest.raises(sb.errors.InvalidInputError, match="give a lease, too"):
        sb.Store(tmp_path / "campaigns.db").campaign("x", policy=POLICY, arms=ARMS, default_reward=0.0)


def test_a_late_reward_whose_place_is_taken_is_recorded_and_not_used(tmp_path, clock):
    store = sb.Store(tmp_path / "campaigns.db")
    campaign = store.campaign("p", policy=sb.SHSR(L=0.5), arms=2, horizon=20, lease=60)
    made = campaign.ask(count=100)
    assert len(made) == 20
    with pytest.raises(sb.errors.WaitForRewardsError, match="waits for 20 rewards"):
        campaign.ask()
    clock[0] = 100
    again = campaign.ask(count=100)
    assert len(again) == 20
    campaign.tell_many([(d, 1.0 + 0.1 * (d.number % 3)) for d in again])
    assert campaign.status().done
    campaign.tell(made[0], 5.0)
    assert campaign.decision(made[0].number).reward == 5.0
    assert campaign.status().unused == 1
    assert campaign.agent().t == 20
    assert campaign.verify().ok


BAD = [
    (lambda c: c.tell(1, math.nan), sb.errors.InvalidInputError, "nan"),
    (lambda c: c.tell(1, "0.1"), sb.errors.InvalidInputError, "'0.1'"),
    (lambda c: c.tell(99, 0.1), sb.errors.UnknownNameError, "no decision 99"),
    (lambda c: c.tell("one", 0.1), sb.errors.UnknownNameError, "key 'one'"),
    (lambda c: c.tell(1, 1e200), sb.errors.InvalidInputError, "at most"),
    (lambda c: c.tell_many({1: 0.1, 99: 0.2}), sb.errors.UnknownNameError, "no decision 99"),
    (lambda c: c.tell_many([(1, 0.1), (1, 0.2)]), sb.errors.ConflictError, "0.2"),
    (lambda c: c.ask(key="x" * 10**6), sb.errors.InvalidInputError, "at most 200 characters"),
    (lambda c: c.ask(key="a\0b"), sb.errors.InvalidInputError, "printable"),
    (lambda c: c.ask(key="\nx"), sb.errors.InvalidInputError, "printable"),
    (lambda c: c.ask(key=7), sb.errors.InvalidInputError, "must be text"),
    (lambda c: c.ask(count=0), sb.errors.InvalidInputError, "count"),
    (lambda c: c.ask(count=3, key="k"), sb.errors.InvalidInputError, "one of"),
    (lambda c: c.retire_arm("carri"), sb.errors.UnknownNameError, "did you mean 'carry'"),
    (lambda c: c.add_arm(""), sb.errors.InvalidInputError, "blank"),
    (lambda c: c.cancel(5), sb.errors.UnknownNameError, "no decision 5"),
    (lambda c: c.cancel(0), sb.errors.InvalidInputError, "number of a decision"),
    (lambda c: c.ask(worker=""), sb.errors.InvalidInputError, "worker"),
    (lambda c: c.ask(keys=[]), sb.errors.InvalidInputError, "number of keys"),
]


@pytest.mark.parametrize(("act", "kind", "said"), BAD)
def test_bad_input_changes_nothing(act, kind, said, tmp_path):
    campaign = make(sb.Store(tmp_path / "campaigns.db", synchronous="NORMAL"))
    campaign.ask()
    before = campaign.status().events, campaign.agent().to_json()
    with pytest.raises(kind, match=said):
        act(campaign)
    assert (campaign.status().events, campaign.agent().to_json()) == before
    assert campaign.verify().ok


def test_rewards_are_refused_one_by_one_where_that_is_wanted(store):
    campaign = make(store)
    campaign.ask(count=3)
    found = campaign.tell_many([(1, 0.1), (9, 0.1), (2, math.nan), (1, 0.5), (3, 0.3)], strict=False)
    assert [type(error).__name__ for error in found] == [
        "NoneType", "UnknownNameError", "InvalidInputError", "ConflictError", "NoneType",
    ]  # fmt: skip
    assert campaign.history()["reward"].to_pylist() == [0.1, None, 0.3]


def test_another_policy_or_other_arms_are_a_conflict(store):
    campaign = make(store)
    campaign.add_arm("trend")
    make(store)
    make(store, arms=[*ARMS, "trend"])
    for other in (
        {"policy": sb.ScaleFreeUCB(L=2e-4)}, {"policy": sb.policies.UCB1()}, {"arms": ["momentum", "carry"]}, {"seed": 2},
        {"lease": "2 days"}, {"horizon": 50}, {"explore": 0.1},
    ):  # fmt: skip
        with pytest.raises(sb.errors.ConflictError, match=r"was created with .*; open it without"):
            make(store, **other)
    with pytest.raises(sb.errors.UnknownNameError, match="did you mean 'desks'"):
        store.campaign("desk")
    for bad in ({"lease": "soon"}, {"lease": -1}, {"explore": 1.5}, {"horizon": 0}, {"arms": ["a"]}):
        with pytest.raises(sb.errors.InvalidInputError, match=r"."):
            store.campaign("new", **{"policy": POLICY, "arms": ARMS, **bad})
    assert [entry.name for entry in store.campaigns()] == ["desks"]


def test_a_changed_formula_is_refused(tmp_path):
    store = sb.Store(tmp_path / "campaigns.db")

    @sb.index_policy(name="mine, in a campaign")
    def mine(arm, t, L):
        return arm.mean / (L + arm.variance)

    store.campaign("own", policy=mine(L=1.0), arms=ARMS).ask()
    assert store.campaign("own").ask().number == 2

    @sb.index_policy(name="mine, in a campaign")
    def changed(arm, t, L):
        return arm.mean / (L + 2 * arm.variance)

    with pytest.raises(sb.errors.InvalidInputError, match=r"is not what it was: to go on, restore it"):
        store.campaign("own")
    with pytest.raises(sb.errors.InvalidInputError, match="is not what it was"):
        store.campaign("own", policy=changed(L=1.0))


def test_threads_may_share_a_campaign(store):
    campaign = make(store)

    def work(number):
        for i in range(8):
            campaign.tell(campaign.ask(key=f"{number}-{i}"), 0.01 * i)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert campaign.status().rewards == 32
    assert campaign.verify().ok


def test_ten_workers_do_not_all_get_the_same_arm(store):
    campaign = make(store)
    made = campaign.ask(count=12)
    assert sorted(d.arm for d in made) == sorted(ARMS * 4)


def test_the_log_can_be_searched_and_turned_over(store):
    campaign = make(store)
    campaign.ask(keys=["order-1", "100%_sure", "other"], worker="desk 7")
    campaign.tell(2, 0.5)
    campaign.add_arm("quality")
    assert [entry.kind for entry in campaign.log()] == ["arm added", "rewarded", "asked", "asked", "asked"]
    assert [entry.seq for entry in campaign.log(count=2)] == [5, 4]
    assert [entry.seq for entry in campaign.log(count=2, before=4)] == [3, 2]
    assert [entry.seq for entry in campaign.log(search="2")] == [4, 2]
    assert [entry.key for entry in campaign.log(search="%_")] == ["100%_sure", "100%_sure"]
    assert [entry.arm for entry in campaign.log(search="MOMENT")] == ["momentum"]
    assert len(campaign.log(search="desk 7")) == 4
    assert campaign.log(search="' OR 1=1 --") == []
    assert campaign.history(first=2, count=1).column("number").to_pylist() == [2]
