"""Transactions on a campaign: catching up, snapshots, several requests in one commit, clocks."""

import json
import math
import random

import pytest

import sharpe_bandits as sb
from sharpe_bandits.live.campaigns import AddArm, Amend, Ask, Cancel, RetireArm, Tell
from tests.live.campaigns.desks import ARMS, POLICY, make, pay


def test_a_clock_that_goes_back_is_refused_with_the_remedy(tmp_path, clock):
    campaign = make(sb.Store(tmp_path / "campaigns.db"))
    clock[0] = 10_000
    first = campaign.ask()
    clock[0] = 9_970  # half a minute: time stands still
    assert campaign.ask().asked == first.asked
    clock[0] = 0
    with pytest.raises(sb.errors.StoreError, match=r"nothing is recorded: correct the clock, or .*accept_clock\("):
        campaign.ask()
    assert campaign.status().decisions == 2
    assert "but the last event was at" in str(campaign.status())
    campaign.accept_clock()
    assert campaign.status().clock_refusal is None
    assert campaign.ask().asked < first.asked
    assert campaign.verify().ok


def test_whoever_is_far_behind_catches_up(store):
    """From the log where it is a little, from the snapshot where it is much, also with snapshots far apart."""
    for name, policy in (("often", POLICY), ("seldom", sb.policies.SlidingWindowUCB(L=1e-4, window=5000))):
        ours, theirs = (store.campaign(name, policy=policy, arms=ARMS) for _ in range(2))
        for count in (1, 5, 40, 3, 300, 700, 2):
            made = theirs.ask(count=count)
            theirs.tell_many({d: pay(d) for d in made})
            decision = ours.ask()
            assert decision.number == made[-1].number + 1
            ours.tell(decision, pay(decision))
        assert ours.agent().to_json() == theirs.agent().to_json()
        assert ours.verify().ok


def test_a_snapshot_of_an_older_format_is_made_anew_from_the_log(file_store):
    """Without what older versions did not keep; a newer one is refused."""
    campaign = make(file_store)
    campaign.tell_many({d: pay(d) for d in campaign.ask(count=100)})
    state = campaign.agent().to_json()

    def rewrite(change):
        with file_store._storage.connection() as driver:
            kept = json.loads(driver.execute("SELECT state FROM sharpe_bandits_snapshots").fetchone()[0])
            driver.execute("UPDATE sharpe_bandits_snapshots SET state = ?", (json.dumps(change(kept)),))

    rewrite(lambda kept: {"seq": kept["seq"], "decisions": 0, "agent": "of another time"})
    campaign = make(file_store)
    assert campaign.verify().ok
    assert campaign.agent().to_json() == state
    campaign.tell_many({d: pay(d) for d in campaign.ask(count=100)})
    assert campaign.verify().ok
    rewrite(lambda kept: {**kept, "format": 99})
    with pytest.raises(sb.errors.UnreadableDataError, match="newer release"):
        make(file_store).ask()
    assert not make(file_store).verify().ok


REQUESTS = [
    lambda: Ask(["a"]),
    lambda: Ask(["a"]),
    lambda: Ask([None] * 3),
    lambda: Tell([(1, 0.5)]),
    lambda: Tell([(1, 0.25)]),
    lambda: Tell([(2, 0.1), (1, 0.75)]),
    lambda: Tell([(2, 0.2), (99, 0.1), (2, math.nan)], strict=False),
    lambda: Cancel(3),
    lambda: Tell({3: 0.3}),
    lambda: Cancel(1),
    lambda: Ask(["a"]),
    lambda: AddArm("quality"),
    lambda: RetireArm("nothing"),
    lambda: Tell([(4, 1e200)]),
    lambda: Ask(["b", "a", "b"]),
]


def test_requests_in_one_commit_are_what_they_are_one_by_one(store, tmp_path):
    """The same requests on a store of their own, each its own transaction."""

    def plain(result):
        if isinstance(result, list):
            return [plain(one) for one in result]
        if isinstance(result, sb.SharpeBanditsError):
            return type(result), str(result)
        return result and (result.number, result.arm, result.key, result.state, result.probability, result.reward)

    together = make(store)
    with sb.Store(tmp_path / "twin.db") as other:
        twin = make(other)
        expected = [plain(twin.commit([request()])[0]) for request in REQUESTS]
        events = twin.status().events
    assert plain(together.commit([request() for request in REQUESTS])) == expected
    assert sum(isinstance(result, tuple) and isinstance(result[0], type) for result in expected) == 6
    assert together.status().events == events
    assert together.verify(choices=True).ok


def test_a_group_ends_leases_once_and_not_those_of_decisions_it_tells(store, clock):
    """An expired decision is told late by the same group; another is told before leases are looked at."""
    campaign = make(store, lease=60.0)
    first, second, _ = campaign.ask(count=3)
    if not store.single_writer:
        pytest.skip("the clock is that of the server")
    clock[0] += 120.0
    campaign.commit([Tell({first: 0.5}), Ask(["a"]), Tell({second: 0.25}), Ask(["b"])])
    kinds = [entry.kind for entry in campaign.log()][::-1][3:]
    assert kinds == ["rewarded", "expired", "expired", "asked", "rewarded late", "asked"]
    states = [campaign.decision(number).state for number in range(1, 6)]
    assert states == ["rewarded", "rewarded", "expired", "pending", "pending"]
    assert campaign.status().expired == 1
    assert campaign.verify(choices=True).ok


def test_an_ask_that_must_wait_does_not_end_leases(tmp_path, clock):
    """Whatever a failed request did is undone, also in the state in memory."""
    campaign = sb.Store(tmp_path / "campaigns.db").campaign("p", policy=sb.SHSR(L=0.5), arms=2, horizon=20, lease=60)
    campaign.ask(count=10)
    clock[0] = 30.0
    campaign.ask(count=10)
    clock[0] = 61.0
    campaign.tell_many([(number, 0.1 * number) for number in range(1, 11)])  # late, though nobody has expired them
    results = campaign.commit([Ask(), Tell({11: 0.5}), Cancel(12), Ask()])
    assert [type(result).__name__ for result in results] == ["WaitForRewardsError", "list", "NoneType", "list"]
    assert [entry.kind for entry in campaign.log(count=3)] == ["asked", "cancelled", "rewarded"]
    assert campaign.verify(choices=True).ok


def test_a_group_that_is_not_committed_leaves_nothing(store):
    campaign = make(store)
    first = campaign.ask()
    with pytest.raises(TypeError, match="not a request"):
        campaign.commit([Tell({first: 0.5}), Ask(), "ask"])
    assert campaign.decision(first.number).state == "pending"
    assert campaign.ask().number == 2
    assert campaign.verify().ok


def test_after_amendments_the_state_is_that_of_the_whole_log(store):
    campaign = make(store, lease=None)
    chance = random.Random(1)
    for round_ in range(32):
        told = {one: pay(one) for one in campaign.ask(count=100)}
        campaign.tell_many(told)
        if round_ % 8 == 7:
            last = campaign.status().decisions
            for number in (last - chance.randrange(100), chance.randrange(1, last)):
                campaign.amend(number, chance.gauss(0, 0.01))
    assert campaign.verify(choices=True).ok
    with sb.Store(store._storage) as again:  # a fresh handle, from the snapshot
        assert again.campaign("desks").agent().to_json() == campaign.agent().to_json()


def test_what_is_written_between_a_replay_and_its_amendment_counts(store):
    """Rewards are added to the replay; another amendment makes it useless, and the log is replayed again."""
    for others in ("rewards", "an amendment"):
        campaign = store.campaign(others, policy=POLICY, arms=ARMS)
        campaign.tell_many({one: pay(one) for one in campaign.ask(count=40)})
        amendment = campaign._replayed(Amend(3, 7.0))
        assert amendment.replay.seq == 80
        if others == "an amendment":
            campaign.amend(5, 9.0)
        else:
            campaign.tell(campaign.ask(), 0.3)
        campaign.commit([amendment])
        assert campaign.decision(3).reward == 7.0
        assert campaign.verify(choices=True).ok
        fresh = sb.Agent.from_json(campaign.agent().to_json())
        rewards = [row["reward"] for row in campaign.history().to_pylist()]
        assert sum(rewards) == pytest.approx(sum(n * fresh.estimates()[arm][0] for arm, n in fresh.pulls.items()))
