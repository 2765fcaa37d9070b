"""Transactions on a campaign: catching up, snapshots, several operations in one commit, clocks."""

import json
import math

import pytest

import sharpe_bandits as sb
from tests.campaigns.desks import ARMS, POLICY, make, pay


def test_a_clock_that_goes_back_is_refused_with_the_remedy(tmp_path, clock):
    campaign = make(sb.Store(tmp_path / "campaigns.db"))
    clock[0] = 10_000
    first = campaign.ask()
    clock[0] = 9_970  # half a minute: time stands still
    assert campaign.ask().asked == first.asked
    clock[0] = 0
    with pytest.raises(sb.StoreError, match=r"nothing was recorded: correct the clock, or .*accept_clock\("):
        campaign.ask()
    assert campaign.status().decisions == 2
    campaign.accept_clock()
    assert campaign.ask().asked < first.asked
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
