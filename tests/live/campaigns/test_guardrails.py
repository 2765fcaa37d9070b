"""Guardrails: what breaks them, what happens then, and how often they are wrong."""

import math
import time

import numpy as np
import pytest
from scipy import integrate

import sharpe_bandits as sb
from sharpe_bandits.live.campaigns import Guardrail
from sharpe_bandits.live.campaigns import database as databases
from sharpe_bandits.live.campaigns.guardrails import log_evidence

POLICY = sb.ScaleFreeUCB(L=0.1)


@pytest.fixture
def make(file_store):
    return lambda *guardrails, **options: file_store.campaign(
        "c", policy=POLICY, arms=["a", "b"], guardrails=list(guardrails), **options
    )


def tell(campaign, arm, rewards, **more):
    """Rewards of an arm until the rules change; how many."""
    rules = campaign.rules
    for n, x in enumerate(rewards, 1):
        campaign.record(
            arm, float(x), **{name: {key: float(v[n - 1]) for key, v in value.items()} for name, value in more.items()}
        )
        if campaign.rules != rules:
            return n
    return None


def test_an_arm_whose_mean_is_too_low_is_suspended(make):
    campaign = make({"kind": "mean", "limit": -0.5, "arm": "*", "action": "suspend"})
    generator = np.random.default_rng(1)
    rewards = generator.normal(0.0, 1.0, 200)
    assert tell(campaign, "a", rewards) is None
    sequence = sb.confidence_sequence(rewards, sb.Mean(), arms=2)  # "*" is one statement per arm
    low, high = sequence.low[-1], sequence.high[-1]
    (words,) = campaign.status().guardrails
    assert words.endswith(f"closest a: {rewards.mean():.4g} in 200 values, interval {low:.4g} to {high:.4g})")
    after = tell(campaign, "b", generator.normal(-1.5, 1.0, 400))
    assert 32 <= after < 200
    assert campaign.rules["suspended"] == ["b"]
    guardrail, change = campaign.log(search="guardrail")[1], campaign.log(search="guardrail")[0]
    assert (guardrail.kind, guardrail.arm) == ("guardrail", "b")
    assert (change.kind, change.details["by"]) == ("changed", "guardrail")
    assert {campaign.ask().arm for _ in range(5)} == {"a"}
    campaign.resume("b", "mended")  # it is watched anew
    assert tell(campaign, "b", generator.normal(-1.5, 1.0, 31)) is None
    assert campaign.verify(choices=True).ok


def test_an_error_rate_pauses_and_costs_fall_back_to_control(make):
    campaign = make(Guardrail("rate", 0.05, metric="error"), Guardrail("mean", 4.0, arm="b", action="control"),
                    direction="min", control="a", share=0.5)  # fmt: skip
    generator = np.random.default_rng(1)
    assert tell(campaign, "b", generator.normal(6.0, 1.0, 100)) is not None
    assert campaign.rules["mode"] == "shadow"
    assert campaign.ask().arm == "a"
    errors = generator.random(400) < 0.2
    assert tell(campaign, "a", generator.normal(3.0, 1.0, 400), metrics={"error": errors}) < 100
    assert campaign.rules["mode"] == "paused"
    with pytest.raises(sb.errors.InvalidInputError, match="between 0 and 1"):
        campaign.record("a", 1.0, metrics={"error": 2.0})
    assert campaign.verify().ok


def test_realised_losses(make, clock, monkeypatch):
    monkeypatch.setattr(databases, "CLOCK_STEP", math.inf)  # days pass
    campaign = make(Guardrail("daily_loss", 10.0), Guardrail("drawdown", 12.0, action="pause"))
    clock[0] = 86_400 - (time.time() % 86_400)  # midnight
    assert tell(campaign, "a", [-6.0]) is None
    clock[0] += 86_400.0
    assert tell(campaign, "a", [5.0, -4.0, -3.0]) is None  # 2 lost on this day; the peak was 0, now -8
    assert tell(campaign, "a", [-2.0, -2.5]) == 2  # 12.5 below the peak
    assert "drawdown" in campaign.log(search="guardrail")[0].details["why"]
    campaign.resume()
    assert tell(campaign, "b", [-10.5]) == 1
    assert "loss of a day" in campaign.log(search="guardrail")[0].details["why"]


@pytest.mark.parametrize(("n", "k", "limit"), [(50, 5, 0.05), (200, 3, 0.01), (20, 12.5, 0.4), (1000, 20, 0.05)])
def test_the_evidence_is_its_integral(n, k, limit):
    b = max(1.0, 0.5 / limit)

    def integrand(p):
        return math.exp(k * math.log(p / limit) + (n - k + b - 1) * math.log((1 - p) / (1 - limit))) * b / (1 - limit)

    expected = integrate.quad(integrand, limit, 1.0, limit=200, points=[min(0.99, k / n + 0.01)])[0]
    assert log_evidence(n, k, limit) == pytest.approx(math.log(expected), rel=1e-6)


def test_a_rate_at_its_limit_is_rarely_called_broken():
    """Ville: over 2,000 values, at most 5% of sequences with exactly the rate of the limit; and 8% is soon found."""
    generator, false, delays = np.random.default_rng(3), 0, []
    n = np.arange(1, 2001)
    for rate in (0.05, 0.08):
        for _ in range(100):
            sums = np.cumsum(generator.random(2000) < rate)
            looks = range(9, 2000, 10)
            broken = next((n[i] for i in looks if log_evidence(n[i], sums[i], 0.05) >= math.log(20)), None)
            if rate == 0.05:
                false += broken is not None
            elif broken is not None:
                delays.append(broken)
    assert false <= 10  # 5 expected at most
    assert len(delays) > 80
