"""The status of a campaign says since when its leader has been probably best."""

import numpy as np

import sharpe_bandits as sb


def test_status_says_since_when_the_leader_has_been_probably_best(target):
    """By the time of the event at which an agent that is told the same finds it; a later process says the same."""
    rng = np.random.default_rng(31)
    with sb.Store(target) as store:
        campaign = store.campaign("lead", policy=sb.policies.RoundRobin(), arms=["good", "poor"])
        twin, began = sb.policies.RoundRobin().agent(arms=["good", "poor"]), None
        assert (campaign.status().leader.probably_best, campaign.status().leader_since) == (False, None)
        for _ in range(12):
            asked = campaign.ask(count=32)
            told = {d: float(rng.normal({"good": 1.0, "poor": 0.0}[d.arm], 1.0)) for d in asked}
            campaign.tell_many(told)
            for decision, reward in told.items():
                twin.tell(decision.arm, reward)
            if began is None and twin._leading is not None:
                began = campaign.decision(asked[-1].number).told
        status = campaign.status()
        assert began is not None
        assert (status.leader, status.leader_since) == (twin.leader(), began)
        assert f"good, probably best since {began:%Y-%m-%d %H:%M}" in status._leader_in_words()
        assert campaign.verify().ok
    with sb.Store(target) as store:
        assert store.campaign("lead").status().leader_since == began


def test_the_shadow_estimate_is_said_once_the_policy_agreed_with_others(tmp_path):
    with sb.Store(tmp_path / "campaigns.db") as store:
        campaign = store.campaign("wheel", policy=sb.policies.UCB1(), arms=["A", "B"], mode="shadow")
        first = campaign.record("B", 3.0)
        assert first.choice == "A"
        assert campaign.status().shadow is not None
        assert "instead of" not in str(campaign.status())
        second = campaign.record("A", 1.0)
        assert second.choice == "A"
        assert "instead of" in str(campaign.status())


def test_a_lease_that_ran_out_is_not_pending_in_any_count(tmp_path, clock):
    """Also before the next request marks the decision as expired."""
    with sb.Store(tmp_path / "campaigns.db") as store:
        campaign = store.campaign("c", policy=sb.policies.UCB1(), arms=["A", "B"], lease=60)
        campaign.ask(count=3)
        clock[0] = 61
        before = campaign.status()
        assert (before.pending, before.expired, before.spent, [arm.pending for arm in before.arms]) == (0, 3, 0, [0, 0])
        campaign.add_arm("C")
        after = campaign.status()
        assert (after.pending, after.expired, after.spent) == (0, 3, 0)
