"""Campaigns: what a user types, what becomes of decisions, and that nothing else changes."""

import itertools
import json
import math
import pickle
import threading
import time
from datetime import timedelta

import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits.campaigns import database as databases
from tests.catalogue import EVERY_POLICY

ARMS = ["momentum", "carry", "value"]
POLICY = sb.ScaleFreeUCB(L=1e-4)
REWARDS = np.random.default_rng(5).normal([0.001, 0.0, -0.001], 0.01, (4000, 3))


def make(store, **more):
    return store.campaign("desks", **{"policy": POLICY, "arms": ARMS, "lease": "1 day", "seed": 1, **more})


def pay(decision):
    return float(REWARDS[decision.number % 4000, ARMS.index(decision.arm)])


@pytest.fixture
def clock(monkeypatch):
    """A clock that tests set: seconds added to the machine's."""
    ahead = [0.0]
    real = time.time
    monkeypatch.setattr(databases.time, "time", lambda: real() + ahead[0])
    return ahead


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
    with pytest.raises(sb.ConflictError, match=r"decision 1 has the reward 0.012, and was now told 0.013"):
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


@pytest.mark.parametrize(
    "policy", [*EVERY_POLICY, sb.LUCB(L=0.1, pilot_pulls=5)], ids=lambda policy: policy.name.replace(" ", "-")
)
def test_every_policy_plays_choice_for_choice_what_its_agent_plays(policy, tmp_path):
    """With pulls under way, through several openings of the store; a campaign's log leads back to its state."""
    horizon = 120
    with sb.Store(tmp_path / "campaigns.db", synchronous="NORMAL") as store:
        agent = policy.agent(arms=ARMS, horizon=horizon, seed=9)
        waiting, turns = [], itertools.count()
        generator = np.random.default_rng(1)
        while not agent.done:
            if next(turns) % 25 == 0:
                campaign = store.campaign("one", policy=policy, arms=ARMS, horizon=horizon, seed=9)
            try:
                decision = campaign.ask()
            except (sb.WaitForRewardsError, sb.CampaignOverError) as error:
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
        with pytest.raises(sb.CampaignOverError, match=r"."):
            campaign.ask()
        assert campaign.verify(choices=True).ok


def test_leases_run_out_and_late_rewards_are_welcome(tmp_path, clock):
    campaign = make(sb.Store(tmp_path / "campaigns.db"))
    first, second, third = campaign.ask(count=3)
    clock[0] = 90_000
    assert (campaign.status().pending, campaign.status().expired) == (0, 3)
    fresh = campaign.ask()
    assert fresh.arm == first.arm  # its pull is owed again
    assert [campaign.decision(n).state for n in (1, 2, 3, 4)] == ["expired", "expired", "expired", "pending"]
    campaign.tell(second, 0.01)
    campaign.tell(second, 0.01)
    campaign.cancel(third)
    with pytest.raises(sb.ConflictError, match="was cancelled"):
        campaign.tell(third, 0.01)
    with pytest.raises(sb.ConflictError, match=r"has the reward 0.01; nothing"):
        campaign.cancel(second)
    status = campaign.status()
    assert (status.rewards, status.pending, status.expired, status.cancelled) == (1, 1, 1, 1)
    assert campaign.agent().pulls["carry"] == 1
    assert campaign.verify(choices=True).ok


def test_a_default_reward_is_used_only_where_it_was_set(tmp_path, clock):
    campaign = make(sb.Store(tmp_path / "campaigns.db"), default_reward=-0.02)
    first = campaign.ask()
    clock[0] = 90_000
    campaign.ask()
    assert campaign.decision(1).reward == -0.02
    assert campaign.agent().pulls["momentum"] == 1
    with pytest.raises(sb.ConflictError, match=r"-0.02 by default, since its lease ran out"):
        campaign.tell(first, 0.01)
    assert campaign.verify().ok
    with pytest.raises(sb.InvalidInputError, match="give a lease, too"):
        sb.Store(tmp_path / "campaigns.db").campaign("x", policy=POLICY, arms=ARMS, default_reward=0.0)


def test_a_late_reward_whose_place_is_taken_is_recorded_and_not_used(tmp_path, clock):
    store = sb.Store(tmp_path / "campaigns.db")
    campaign = store.campaign("p", policy=sb.SHSR(L=0.5), arms=2, horizon=20, lease=60)
    made = campaign.ask(count=100)
    assert len(made) == 20
    with pytest.raises(sb.WaitForRewardsError, match="waits for 20 rewards"):
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


def test_a_clock_that_goes_back_is_refused_with_the_remedy(tmp_path, clock):
    campaign = make(sb.Store(tmp_path / "campaigns.db"))
    clock[0] = 10_000
    first = campaign.ask()
    clock[0] = 9_970  # half a minute: time stands still
    assert campaign.ask().asked == first.asked
    clock[0] = 0
    with pytest.raises(sb.StoreError, match=r"nothing was recorded: set the clock right, or .*accept_clock\("):
        campaign.ask()
    assert campaign.status().decisions == 2
    campaign.accept_clock()
    assert campaign.ask().asked < first.asked
    assert campaign.verify().ok


BAD = [
    (lambda c: c.tell(1, math.nan), sb.InvalidInputError, "nan"),
    (lambda c: c.tell(1, "0.1"), sb.InvalidInputError, "'0.1'"),
    (lambda c: c.tell(99, 0.1), sb.UnknownNameError, "no decision 99"),
    (lambda c: c.tell("one", 0.1), sb.InvalidInputError, "'one'"),
    (lambda c: c.tell(1, 1e200), sb.InvalidInputError, "beyond the largest"),
    (lambda c: c.tell_many({1: 0.1, 99: 0.2}), sb.UnknownNameError, "no decision 99"),
    (lambda c: c.tell_many([(1, 0.1), (1, 0.2)]), sb.ConflictError, "0.2"),
    (lambda c: c.ask(key="x" * 10**6), sb.InvalidInputError, "at most 200 characters"),
    (lambda c: c.ask(key="a\0b"), sb.InvalidInputError, "printable"),
    (lambda c: c.ask(key="\nx"), sb.InvalidInputError, "printable"),
    (lambda c: c.ask(key=7), sb.InvalidInputError, "must be text"),
    (lambda c: c.ask(count=0), sb.InvalidInputError, "count"),
    (lambda c: c.ask(count=3, key="k"), sb.InvalidInputError, "one of"),
    (lambda c: c.retire_arm("carri"), sb.UnknownNameError, "did you mean 'carry'"),
    (lambda c: c.add_arm(""), sb.InvalidInputError, "blank"),
    (lambda c: c.cancel(5), sb.UnknownNameError, "no decision 5"),
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
        {"policy": sb.ScaleFreeUCB(L=2e-4)}, {"policy": sb.UCB1()}, {"arms": ["momentum", "carry"]}, {"seed": 2},
        {"lease": "2 days"}, {"horizon": 50}, {"explore": 0.1},
    ):  # fmt: skip
        with pytest.raises(sb.ConflictError, match=r"was made with .*; nothing was changed"):
            make(store, **other)
    with pytest.raises(sb.UnknownNameError, match="did you mean 'desks'"):
        store.campaign("desk")
    for bad in ({"lease": "soon"}, {"lease": -1}, {"explore": 1.5}, {"horizon": 0}, {"arms": ["a"]}):
        with pytest.raises(sb.InvalidInputError, match=r"."):
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

    with pytest.raises(sb.InvalidInputError, match=r"is not what it was: to go on, restore it"):
        store.campaign("own")
    with pytest.raises(sb.InvalidInputError, match="is not what it was"):
        store.campaign("own", policy=changed(L=1.0))


def test_threads_may_share_a_campaign(store):
    campaign, failures = make(store), []

    def work(number):
        try:
            for i in range(8):
                campaign.tell(campaign.ask(key=f"{number}-{i}"), 0.01 * i)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert campaign.status().rewards == 32
    assert campaign.verify().ok


def test_whoever_is_far_behind_catches_up(store):
    """From the log where it is a little, from the snapshot where it is much, also with snapshots far apart."""
    for name, policy in (("often", POLICY), ("seldom", sb.SlidingWindowUCB(L=1e-4, window=5000))):
        ours, theirs = (store.campaign(name, policy=policy, arms=ARMS) for _ in range(2))
        for count in (1, 5, 40, 3, 300, 700, 2):
            made = theirs.ask(count=count)
            theirs.tell_many({d: pay(d) for d in made})
            decision = ours.ask()
            assert decision.number == made[-1].number + 1
            ours.tell(decision, pay(decision))
        assert ours.agent().to_json() == theirs.agent().to_json()
        assert ours.verify().ok


def test_ten_workers_do_not_all_get_the_same_arm(store):
    campaign = make(store)
    made = campaign.ask(count=12)
    assert sorted(d.arm for d in made) == sorted(ARMS * 4)


def test_a_log_that_was_changed_is_noticed(tmp_path):
    import sqlite3

    path = tmp_path / "campaigns.db"
    with sb.Store(path) as store:
        campaign = make(store)
        campaign.tell_many({d: pay(d) for d in campaign.ask(count=100)})
        campaign.ask(count=100)
    for change, said in (
        ("UPDATE sharpe_bandits_events SET reward = 0.5 WHERE number = 7 AND reward IS NOT NULL", "decision 7"),
        ("UPDATE sharpe_bandits_decisions SET reward = 0.5 WHERE number = 7", "decision 7"),
        ("UPDATE sharpe_bandits_decisions SET arm = 0 WHERE number = 8", "decision 8"),
        ("DELETE FROM sharpe_bandits_events WHERE seq = 50", "event 50 is missing"),
        ("DELETE FROM sharpe_bandits_decisions WHERE number = 9", "decision 9 is missing"),
        ("DELETE FROM sharpe_bandits_events WHERE seq = 300", "the log has 299 events, the campaign 300"),
    ):
        copy = tmp_path / "copy.db"
        copy.write_bytes(path.read_bytes())
        connection = sqlite3.connect(copy)
        connection.execute(change)
        connection.commit()
        connection.close()
        with sb.Store(copy) as store:
            found = store.campaign("desks", policy=None).verify() if "300" not in said else None
            if found is not None:
                assert not found.ok
                assert said in str(found)
    assert json.dumps(campaign.status().to_dict())


def test_a_snapshot_of_an_older_format_is_made_anew_from_the_log(tmp_path):
    """Without what older versions did not keep; a newer one, and one that is no snapshot, are refused."""
    import sqlite3

    path = tmp_path / "campaigns.db"
    with sb.Store(path) as store:
        campaign = make(store)
        campaign.tell_many({d: pay(d) for d in campaign.ask(count=100)})
        state = campaign.agent().to_json()

    def rewrite(change):
        connection = sqlite3.connect(path)
        kept = json.loads(connection.execute("SELECT state FROM sharpe_bandits_snapshots").fetchone()[0])
        connection.execute("UPDATE sharpe_bandits_snapshots SET state = ?", (json.dumps(change(kept)),))
        connection.commit()
        connection.close()

    rewrite(lambda kept: {"seq": kept["seq"], "decisions": 0, "agent": "of another time"})
    with sb.Store(path) as store:
        campaign = make(store)
        assert campaign.verify().ok
        assert campaign.agent().to_json() == state
        campaign.tell_many({d: pay(d) for d in campaign.ask(count=100)})
        assert campaign.verify().ok
    for change, said in ((lambda kept: {**kept, "format": 99}, "newer version"), (lambda kept: [], "damaged")):
        rewrite(change)
        with sb.Store(path) as store, pytest.raises(sb.UnreadableDataError, match=said):
            make(store).ask()
        with sb.Store(path) as store:
            assert not make(store).verify().ok


def test_errors_travel_between_processes():
    error = sb.WaitForRewardsError("wait", {"a": 3})
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.arms, again.count) == ("wait", {"a": 3}, 3)


@pytest.mark.parametrize("ahead", [{}, {"keys": ["a", "b", "unused"], "numbers": [1, 2, 3, 99]}])
def test_operations_in_one_commit_are_what_they_are_one_by_one(store, tmp_path, ahead):
    """The same operations on a store of their own, each its own transaction; whether looked up ahead or not."""

    def operations(campaign):
        return [
            lambda: campaign.ask(key="a"),
            lambda: campaign.ask(key="a"),
            lambda: campaign.ask(count=3),
            lambda: campaign.tell(1, 0.5),
            lambda: campaign.tell(1, 0.25),
            lambda: campaign.tell_many([(2, 0.1), (1, 0.75)]),
            lambda: campaign.tell_many([(2, 0.2), (99, 0.1)], strict=False),
            lambda: campaign.cancel(3),
            lambda: campaign.tell(3, 0.3),
            lambda: campaign.cancel(1),
            lambda: campaign.ask(key="a"),
            lambda: campaign.add_arm("quality"),
            lambda: campaign.retire_arm("nothing"),
            lambda: campaign.tell(4, math.nan),
            lambda: campaign.ask(key="b"),
        ]

    def alone(operation):
        try:
            return operation()
        except sb.SharpeBanditsError as error:
            return error

    def plain(found):
        if isinstance(found, list):
            return [plain(one) for one in found]
        if isinstance(found, sb.SharpeBanditsError):
            return type(found), str(found)
        return found and (found.number, found.arm, found.key, found.state, found.probability)

    together = make(store)
    with sb.Store(tmp_path / "twin.db") as other:
        twin = make(other)
        expected = [plain(alone(operation)) for operation in operations(twin)]
        events = twin.status().events
    executed = []
    found = together.together(operations(together), **ahead, executed=lambda: executed.append(together._journal.agent))
    assert executed == [None], "called once, before the state is that of the store"
    assert plain(found) == expected
    assert sum(isinstance(found, tuple) and isinstance(found[0], type) for found in expected) == 6
    assert together.status().events == events
    assert together.verify(choices=True).ok


def test_a_group_ends_leases_once_and_not_those_of_decisions_it_tells(store, clock):
    """An expired decision is told late by the same group; another is told before leases are looked at."""
    campaign = make(store, lease=60.0)
    first, second, _ = campaign.ask(count=3)
    if not store._database.is_sqlite:
        pytest.skip("the clock is that of the server")
    clock[0] += 120.0
    campaign.together([
        lambda: campaign.tell(first, 0.5),
        lambda: campaign.ask(key="a"),
        lambda: campaign.tell(second, 0.25),
        lambda: campaign.ask(key="b"),
    ])  # fmt: skip
    kinds = [entry.kind for entry in campaign.log()][::-1][3:]
    assert kinds == ["rewarded", "expired", "expired", "asked", "rewarded late", "asked"]
    states = [campaign.decision(number).state for number in range(1, 6)]
    assert states == ["rewarded", "rewarded", "expired", "pending", "pending"]
    assert campaign.status().expired == 1
    assert campaign.verify(choices=True).ok


def test_a_group_that_is_not_committed_leaves_nothing(store):
    campaign = make(store)
    first = campaign.ask()

    def fails():
        raise RuntimeError("the worker died")

    with pytest.raises(RuntimeError):
        campaign.together([lambda: campaign.tell(first, 0.5), campaign.ask, fails])
    assert campaign.decision(first.number).state == "pending"
    assert campaign.ask().number == 2
    assert campaign.verify().ok


def test_activity_counts_what_the_log_has(store, clock):
    """Brought up to date step by step, and made at once, it is what the decisions say, whatever the width."""
    campaign = make(store, lease=None)
    known = None
    for step in range(6):
        for decision in campaign.ask(count=5):
            if decision.number % 4:
                campaign.tell(decision, pay(decision))
        known = campaign.activity(known)
        clock[0] += 50.0 * 3**step if store._database.is_sqlite else 0.0
    campaign.cancel(4)
    known, anew = campaign.activity(known), campaign.activity()
    rows = campaign.history().to_pylist()
    for found in (known, anew):
        n, mean, variance, third, fourth = found.moments()
        for k, arm in enumerate(ARMS):
            rewards = [row["reward"] for row in rows if row["arm"] == arm and row["reward"] is not None]
            assert found.counts["asked"][:, k].sum() == sum(row["arm"] == arm for row in rows)
            assert n[-1, k] == len(rewards)
            assert mean[-1, k] == pytest.approx(np.mean(rewards))
            assert variance[-1, k] == pytest.approx(np.var(rewards, ddof=1))
            deviations = np.array(rewards) - np.mean(rewards)
            assert third[-1, k] == pytest.approx(np.mean(deviations**3), abs=1e-12)
            assert fourth[-1, k] == pytest.approx(np.mean(deviations**4))
        assert found.counts["cancelled"].sum() == 1
        assert len(found.times) <= 240
        first = found.start + found.width
        assert found.counts["asked"][0].sum() == sum(row["asked"].timestamp() < first for row in rows)
    if store._database.is_sqlite:
        assert known.width > 1


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


def test_status_says_since_when_the_leader_has_been_probably_best(target):
    """By the time of the event at which an agent that is told the same finds it; a later process says the same."""
    rng = np.random.default_rng(31)
    with sb.Store(target) as store:
        campaign = store.campaign("lead", policy=sb.RoundRobin(), arms=["good", "poor"])
        twin, began = sb.RoundRobin().agent(arms=["good", "poor"]), None
        assert (campaign.status().leader.probably_best, campaign.status().leader_since) == (False, None)
        for _ in range(12):
            asked = campaign.ask(count=32)
            told = {d: float(rng.normal({"good": 1.0, "poor": 0.0}[d.arm], 1.0)) for d in asked}
            campaign.tell_many(told)
            for decision, reward in told.items():
                twin.tell(decision.arm, reward)
            if began is None and twin.leading is not None:
                began = campaign.decision(asked[-1].number).told
        status = campaign.status()
        assert began is not None
        assert (status.leader, status.leader_since) == (twin.leader(), began)
        assert f"good, probably best since {began:%Y-%m-%d %H:%M}" in status._leader_in_words()
        assert campaign.verify().ok
    with sb.Store(target) as store:
        assert store.campaign("lead").status().leader_since == began
