"""The status of a campaign: since when its leader has been probably best, and what speaks against its statements."""

import random

import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits.live.campaigns.records import DecisionRow
from sharpe_bandits.live.campaigns.status import remarks_on
from sharpe_bandits.live.change import ChangeDetector


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


def test_the_shadow_estimate_is_said_once_the_policy_agreed_with_others(file_store):
    campaign = file_store.campaign("wheel", policy=sb.policies.UCB1(), arms=["A", "B"], mode="shadow")
    first = campaign.record("B", 3.0)
    assert first.choice == "A"
    assert campaign.status().shadow is not None
    assert "instead of" not in str(campaign.status())
    second = campaign.record("A", 1.0)
    assert second.choice == "A"
    assert "instead of" in str(campaign.status())


def test_a_lease_that_ran_out_is_not_pending_in_any_count(file_store, clock):
    """Also before the next request marks the decision as expired."""
    campaign = file_store.campaign("c", policy=sb.policies.UCB1(), arms=["A", "B"], lease=60)
    campaign.ask(count=3)
    clock[0] = 61
    before = campaign.status()
    assert (before.pending, before.expired, before.spent, [arm.pending for arm in before.arms]) == (0, 3, 0, [0, 0])
    campaign.add_arm("C")
    after = campaign.status()
    assert (after.pending, after.expired, after.spent) == (0, 3, 0)


def rows(reward, delay, count=400):
    """Decisions on two arms in turn, whose rewards come after a delay."""
    draw = random.Random(5)
    for number in range(1, count + 1):
        x = reward(number, draw.gauss(0, 1))
        told = 10.0 * number + delay(x, draw.random())
        yield DecisionRow(number, number % 2, f"k{number}", "w", 10.0 * number, None, 1.0, "rewarded", x, told)


@pytest.mark.parametrize(
    ("reward", "delay", "words"),
    [
        (lambda n, z: z, lambda x, u: u, []),
        (lambda n, z: z, lambda x, u: u + 3 * (x < 0), ["late are lower"]),
        (lambda n, z: z, lambda x, u: u + 3 * (x > 0), ["late are higher"]),
        (lambda n, z: z + 2 * (n > 200 and n % 2), lambda x, u: u, ["arm 'B' no longer pays"]),
        (lambda n, z: z * (4 if n > 200 and n % 2 else 1), lambda x, u: u, ["arm 'B' no longer pays"]),
    ],
)
def test_remarks(reward, delay, words):
    remarks = remarks_on(rows(reward, delay), ["A", "B"])
    assert len(remarks) == len(words)
    assert all(word in remark for word, remark in zip(words, remarks, strict=True))


def test_a_status_has_remarks_and_says_whether_any_arm_beats_the_hurdle(tmp_path):
    campaign = sb.Store(tmp_path / "campaigns.db").campaign("desk", policy=sb.ScaleFreeUCB(L=0.1), arms=["A", "B"])
    assert campaign.status().evidence.p_value == 1
    draw = random.Random(1)
    for k in range(4):
        made = campaign.ask(count=100)
        campaign.tell_many({d: draw.gauss(0.3, 0.5) - 2 * (k == 3) for d in made})
    status = campaign.status()
    assert status.evidence == campaign.agent().evidence(sb.Sharpe(L=0))
    assert status.to_dict()["evidence"]["arm"] in ("A", "B")
    assert any("no longer pays" in remark for remark in status.remarks)


def test_an_arm_whose_rewards_do_not_come_is_remarked_upon(tmp_path):
    campaign = sb.Store(tmp_path / "campaigns.db").campaign("desk", policy=sb.ScaleFreeUCB(L=0.1), arms=["A", "B"])
    lost = {d.number for d in campaign.ask(count=12) if d.arm == "B"}
    draw = random.Random(1)
    campaign.tell_many({n: draw.gauss(0, 1) for n in range(1, 13) if n not in lost})
    assert campaign.status().remarks == []  # they may be under way
    for _ in range(40):
        campaign.tell(campaign.ask(), draw.gauss(0, 1))
    (remark,) = campaign.status().remarks
    assert "arm 'B' cannot be judged" in remark
    assert "handed out 6 times" in remark
    for number in lost:
        campaign.cancel(number)
    assert campaign.status().remarks == []


@pytest.mark.parametrize(
    "draw", [lambda r: r.gauss(0, 1), lambda r: r.expovariate(1), lambda r: float(r.random() < 0.97)]
)
def test_alarms_are_rarely_false(draw):
    source, alarms = random.Random(3), 0
    for _ in range(20):
        detector = ChangeDetector()
        alarms += any(detector.add(0, draw(source)) for _ in range(1_000))
    assert alarms <= 2


def test_an_alarm_forgets_everything_and_bad_levels_are_refused():
    detector = ChangeDetector()
    steps = [float(n % 4) for n in range(100)] + [10.0 + n % 4 for n in range(100)]
    alarms = [n for n, x in enumerate(steps) if detector.add("A", x)]
    assert len(alarms) == 1
    assert 100 < alarms[0] < 150
    with pytest.raises(sb.errors.InvalidInputError, match="alpha"):
        ChangeDetector(alpha=2)
