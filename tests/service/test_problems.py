"""Problems on their way through HTTP have the library's own words, and say when to come back."""

import pytest

import sharpe_bandits as sb
from tests.service.desks import DESKS, ask

from .conftest import POLICY


def test_problems_have_the_library_s_own_words(http, store):
    ask(http, count=2)

    def tell(decision, reward):
        return http.post(f"{DESKS}/rewards", json={"rewards": [{"decision": decision, "reward": reward}]})

    tell(1, 0.5)
    campaign = store.campaign("desks")
    for answer, call, status in (
        (tell(1, 0.75), lambda: campaign.tell(1, 0.75), 409),
        (tell(99, 0.5), lambda: campaign.tell(99, 0.5), 404),
        (tell(2, 1e300), lambda: campaign.tell(2, 1e300), 422),
        (http.post(f"{DESKS}/arms/retire", json={"arm": "x"}), lambda: campaign.retire_arm("x"), 404),
        (http.post(f"{DESKS}/decisions/1/cancel"), lambda: campaign.cancel(1), 409),
        (http.get("/api/campaigns/desk"), lambda: store.campaign("desk"), 404),
    ):
        with pytest.raises(sb.SharpeBanditsError) as raised:
            call()
        assert answer.headers["content-type"] == "application/problem+json"
        assert (answer.status_code, answer.json()["status"]) == (status, status)
        assert answer.json()["detail"] == str(raised.value)
    mixed = {"rewards": [{"decision": 1, "reward": 0.9}, {"decision": 2, "reward": 0.1}], "strict": False}
    found = http.post(f"{DESKS}/rewards", json=mixed).json()
    assert found["recorded"] == 1
    assert found["refused"][0]["problem"]["status"] == 409
    assert campaign.decision(2).reward == 0.1


def test_waits_say_for_what_and_when_to_come_back(http, store):
    store.campaign("halving", policy=sb.policies.SequentialHalving(sb.RSSR(L=1.0)), arms=4, horizon=64)
    for _ in range(64):
        answer = http.post("/api/campaigns/halving/decisions", json={})
        if answer.status_code != 200:
            break
    assert answer.status_code == 425
    assert answer.headers["retry-after"] == "1"
    assert sum(item["rewards"] for item in answer.json()["arms"]) > 0
    finished = store.campaign("short", policy=POLICY, arms=2, horizon=6)
    finished.tell_many([(decision, 0.1 * decision.number) for decision in finished.ask(count=6)])
    answer = http.post("/api/campaigns/short/decisions", json={})
    assert (answer.status_code, answer.json()["type"][-13:]) == (409, "campaign-over")
