"""What the dashboard draws of a campaign: intervals and bands, against those of the library."""

import pytest

import sharpe_bandits as sb
from tests.service.desks import DESKS

from .conftest import ARMS, POLICY


def test_the_view_has_intervals_that_may_be_watched(http, store):
    """They are the confidence sequences of the library, on the campaign's own rewards, for all arms together."""
    import numpy as np

    campaign = store.campaign("desks")
    generator = np.random.default_rng(1)
    means = dict(zip(ARMS, (1.0, 0.0, -1.0), strict=True))
    for _ in range(30):
        campaign.tell_many(
            {decision: generator.normal(means[decision.arm], 1.0) for decision in campaign.ask(count=20)}
        )
    view = http.get(f"{DESKS}/view").json()
    status = campaign.status()
    for arm, known in zip(view["arms"], status.arms, strict=True):
        assert arm["sharpe"] == pytest.approx(known.mean / known.standard_deviation, rel=1e-6)
        rewards = [row["reward"] for row in campaign.history().to_pylist() if row["arm"] == known.arm]
        for name, goal in (("sharpe", None), ("mean", sb.Mean()), ("value", POLICY.objective)):
            sequence = sb.confidence_sequence(rewards, goal, arms=len(ARMS))
            ends = sequence.low[-1], sequence.high[-1]
            assert arm[f"{name}_interval"] == (pytest.approx(ends, rel=1e-5) if np.isfinite(ends[0]) else None)
    assert view["intervals"] == "at all times"
    assert any(arm["value_interval"] for arm in view["arms"])
    assert view["leader"]["arm"] == status.best == ARMS[0]
    assert "Root" not in view["verdict"]["number"]
    assert "-" not in view["verdict"]["number"]
    assert sum(map(sum, view["series"]["asked"])) == 600
    series = view["series"]
    for k, name in enumerate(series["arms"]):
        (arm,) = (one for one in view["arms"] if one["arm"] == name)
        band = [series[end][k][-1] for end in ("value_low", "value_high")]
        assert band == (pytest.approx(arm["value_interval"]) if arm["value_interval"] else [None, None])
    assert http.get("/api/overview").json()["campaigns"][0]["best"] == status.best


def test_a_band_has_both_ends_or_none(http, store):
    """The lower end of a square is 0 as soon as there is any, and the upper one infinite."""
    campaign = store.campaign("squares", policy=sb.SuRSR(L=0.1), arms=ARMS, horizon=90)
    campaign.tell_many({decision: 0.1 * (decision.number % 7) for decision in campaign.ask(count=90)})
    series = http.get("/api/campaigns/squares/view").json()["series"]
    assert any(x is not None for values in series["value"] for x in values)
    for low, high in zip(series["value_low"], series["value_high"], strict=True):
        assert [x is None for x in low] == [x is None for x in high]


def test_the_mean_is_drawn_where_the_objective_needs_more_than_moments(http, store):
    campaign = store.campaign(
        "losses", policy=sb.ScaleFreeUCB(objective=sb.objectives.Sortino(L=1e-4)), arms=ARMS, direction="min"
    )
    campaign.tell_many({decision: 0.1 * (decision.number % 7) for decision in campaign.ask(count=90)})
    view = http.get("/api/campaigns/losses/view").json()
    assert (view["objective_name"], view["series"]["objective"]) == ("Sortino", "Mean")
    means = {arm.arm: arm.mean for arm in campaign.status().arms}
    for name, values in zip(view["series"]["arms"], view["series"]["value"], strict=True):
        assert values[-1] == pytest.approx(means[name])


def test_bands_of_policies_that_forget_are_fixed_time(http, store):
    """Of the mean: 1.96 standard errors on either side, of all rewards of the arm."""
    import numpy as np

    campaign = store.campaign("drifts", policy=sb.policies.DiscountedUCB(objective=sb.Mean(), discount=0.99), arms=ARMS)
    generator = np.random.default_rng(1)
    campaign.tell_many({decision: generator.normal() for decision in campaign.ask(count=90)})
    view = http.get("/api/campaigns/drifts/view").json()
    assert view["intervals"] == "fixed-time"
    rewards = [row["reward"] for row in campaign.history().to_pylist() if row["arm"] == view["series"]["arms"][0]]
    half = 1.959964 * np.std(rewards, ddof=1) / len(rewards) ** 0.5
    band = [view["series"][end][0][-1] for end in ("value_low", "value_high")]
    assert band == pytest.approx([np.mean(rewards) - half, np.mean(rewards) + half], rel=1e-5)
