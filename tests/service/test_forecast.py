"""How long until the best arm is known, in plain words."""

from tests.service.desks import DESKS

from .conftest import ARMS


def test_the_plan_is_in_plain_words(http, store):
    import numpy as np

    campaign = store.campaign("desks")
    generator = np.random.default_rng(1)
    means = dict(zip(ARMS, (0.02, 0.0, -0.02), strict=True))
    for _ in range(10):
        campaign.tell_many(
            {decision: generator.normal(means[decision.arm], 0.02) for decision in campaign.ask(count=12)}
        )
    found = http.get(f"{DESKS}/plan").json()
    assert found["rounds"] > 0
    assert found["check"]["error"] < 0.15
    assert "rewards a day" in found["sentence"]
