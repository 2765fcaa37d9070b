"""What a status says against its own statements: late rewards that differ, arms that changed; and any arm at all."""

import random

import pytest

import sharpe_bandits as sb
from sharpe_bandits.live.campaigns.records import DecisionRow
from sharpe_bandits.live.campaigns.status import remarks_on
from sharpe_bandits.live.change import ChangeDetector


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
