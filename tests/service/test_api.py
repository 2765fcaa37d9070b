"""The API does what a campaign does, and says what the library says."""

import io

import pyarrow.csv
import pytest

import sharpe_bandits as sb
from sharpe_bandits.service import api
from tests.hostile import NAMES, REFUSED
from tests.service.desks import DESKS, ask

from .conftest import ARMS, POLICY, READER, bearer


def test_a_campaign_from_beginning_to_end(http):
    made = http.post("/api/campaigns", json={"name": "new", "policy": "SF-UCB:c=1", "L": 1e-4, "arms": ARMS})
    assert made.json()["settings"]["policy"]["c"] == 1
    assert [c["name"] for c in http.get("/api/campaigns").json()["campaigns"]] == ["desks", "new"]
    first, again = ask(http, key="order-1"), ask(http, key="order-1")
    assert first == again
    assert len(ask(http, count=4)) == 4
    rewards = [{"decision": n, "reward": 0.01 * n} for n in range(1, 5)]
    assert http.post(f"{DESKS}/rewards", json={"rewards": rewards}).json() == {"recorded": 4, "refused": []}
    assert http.post(f"{DESKS}/rewards", json={"rewards": rewards}).json()["recorded"] == 4, "again: nothing changes"
    assert http.post(f"{DESKS}/decisions/5/cancel").json() == {"cancelled": 5}
    assert http.post(f"{DESKS}/arms", json={"arm": "quality"}).json() == {"added": "quality"}
    assert http.post(f"{DESKS}/arms/retire", json={"arm": "carry"}).json() == {"retired": "carry"}
    status = http.get(DESKS).json()
    assert (status["decisions"], status["rewards"], status["cancelled"]) == (5, 4, 1)
    assert [arm["arm"] for arm in status["arms"] if arm["retired"]] == ["carry"]
    assert http.get(f"{DESKS}/decisions/2").json()["reward"] == 0.02
    assert http.get(f"{DESKS}/verification?choices=true").json()["ok"] is True
    assert http.get(f"{DESKS}/recommendation").json()["recommendation"] in ARMS
    assert http.get(f"{DESKS}/log?search=quality").json()["entries"][0]["kind"] == "arm added"


@pytest.mark.parametrize("name", NAMES)
def test_any_name_that_is_allowed_goes_through(http, name):
    from urllib.parse import quote

    body = {"name": name, "policy": "SF-UCB", "L": 1e-4, "arms": [name, "other"]}
    answer = http.post("/api/campaigns", json=body)
    if len(name) > 200:
        assert answer.status_code == 422
        return
    assert answer.json()["name"] == name
    path = f"/api/campaigns/{quote(name, safe='')}"
    assert http.post(f"{path}/decisions", json={"key": name}).json()["decisions"][0]["arm"] == name
    assert http.get(path).json()["arms"][0]["arm"] == name
    assert http.get(f"{path}/decisions.csv").status_code == 200
    page = http.get(f"/campaign/{quote(name, safe='')}", headers={"Accept": "text/html"}).text
    assert "<script>window" not in page
    assert "<img" not in page


@pytest.mark.parametrize("name", [*(name for name in REFUSED if name != "\ud800"), "x" * 10_000, "..", ""])
def test_other_names_are_refused(http, name, store):
    body = {"name": name, "policy": "SF-UCB", "L": 1e-4, "arms": ["a", "b"]}
    assert http.post("/api/campaigns", json=body).status_code == 422
    assert (
        http.post("/api/campaigns", json={**body, "name": "new", "arms": [name or "a", "a"]}).status_code == 422
        or name == ".."
    )
    assert http.post(f"{DESKS}/decisions", json={"key": name}).status_code == 422 or name == ".."
    assert "desks" in [entry.name for entry in store.campaigns()]


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"[]", b"null", b'{"count": 0}', b'{"count": 1e9}', b'{"count": "3"}', b'{"count": true}',
        b'{"key": 3}', b'{"nothing": 1}', b"\xff", b'{"key": "\\ud800"}', b'{"keys": []}', b'{"count": 1, "key": "a"}',
        b'{"count": 10001}', b"[" * 100_000,
    ],
)  # fmt: skip
def test_bad_bodies_change_nothing(http, store, body):
    answer = http.post(f"{DESKS}/decisions", content=body, headers={"Content-Type": "application/json"})
    assert 400 <= answer.status_code < 500
    assert answer.headers["content-type"] == "application/problem+json"
    assert store.campaign("desks").status().events == 0


def test_rewards_that_are_no_numbers_are_refused(http):
    ask(http, count=1)
    for reward in ("NaN", "Infinity", "1e999", '"1"', "true", "null", "[1]"):
        body = f'{{"rewards": [{{"decision": 1, "reward": {reward}}}]}}'.encode()
        answer = http.post(f"{DESKS}/rewards", content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code == 422, reward
    assert http.get(f"{DESKS}/decisions/1").json()["state"] == "pending"


def test_another_policy_is_evaluated_through_the_service(served, store, http):
    import numpy as np

    campaign = store.campaign("explores", policy=POLICY, arms=ARMS, explore=0.3, seed=2)
    generator = np.random.default_rng(1)
    for _ in range(20):
        campaign.tell_many({decision: generator.normal(decision.arm == "carry") for decision in campaign.ask(count=20)})
    other = sb.ScaleFreeUCB(L=1e-4, c=0.2)
    expected = campaign.evaluate(other)
    with sb.connect(served.url, token="w" * 40) as service:
        assert service.campaign("explores").evaluate(other) == expected
        with pytest.raises(sb.errors.InvalidInputError, match="explore=0"):
            service.campaign("desks").evaluate(other)
    path = "/api/campaigns/explores/evaluation"
    found = http.get(path, params={"policy": "SF-UCB:c=0.2", "L": 1e-4}, headers=bearer(READER)).json()
    assert found["doubly_robust"]["mean"] == expected.doubly_robust.mean
    assert found["sentence"] == f"{expected}."
    for wrong in ("{", "{}", "no such policy", '{"policy": "os.system"}', "[" * 3000):
        answer = http.get(path, params={"policy": wrong, "L": 1e-4})
        assert 400 <= answer.status_code < 500, answer.text


def test_a_body_that_is_not_called_json_is_refused_with_the_remedy(http):
    answer = http.post("/api/campaigns", content='{"name": "a", "policy": "SF-UCB", "L": 1, "arms": 2}')
    assert answer.status_code == 422
    assert "send the header Content-Type: application/json" in answer.json()["detail"]


def test_a_body_that_is_no_json_is_refused_with_the_place(http):
    answer = http.post("/api/campaigns", content='{"name" "a"}', headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["detail"]) == (422, "position 8 of the body: JSON decode error")


@pytest.mark.parametrize("arm", ["0" * 5000, "9" * 5000, "\u00b2"])
def test_digits_that_are_no_number_are_no_arm(http, arm):
    """Found by Schemathesis on the running service: a 500."""
    for path in ("arms/resume", "arms/suspend", "arms/retire"):
        assert http.post(f"{DESKS}/{path}", json={"arm": arm}).status_code in (404, 422)
    assert http.post(f"{DESKS}/records", json={"records": [{"arm": arm}]}).status_code in (404, 422)
    assert http.post(f"{DESKS}/rules", json={"control": arm}).status_code in (404, 422)


def test_a_webhook_that_the_service_may_not_reach_is_refused(http, store):
    url, new = "https://alerts.example.com/x", {"name": "new", "policy": "SF-UCB", "L": 1e-4, "arms": 2}
    for path, body in (("/api/campaigns/desks/rules", {}), ("/api/campaigns", new)):
        refused = http.post(path, json={**body, "webhook": url})
        assert (refused.status_code, "SHARPE_BANDITS_WEBHOOK_HOSTS" in refused.text) == (422, True)
    assert [entry.name for entry in store.campaigns()] == ["desks"]


@pytest.mark.parametrize("segments", ["separate", "pooled"])
def test_segments_through_the_service_are_those_of_the_library(http, tmp_path, segments):
    """The same choices, recommendations and weights as a campaign that is asked directly; unknown segments are new."""
    body = {"name": "orders", "policy": "SF-UCB", "L": 1e-2, "arms": ARMS, "segments": segments, "seed": 3}
    assert http.post("/api/campaigns", json=body).status_code == 200
    orders = "/api/campaigns/orders"
    best = {"large": "momentum", "small": "value"}
    with sb.Store(tmp_path / "directly.db", synchronous="NORMAL") as store:
        campaign = store.campaign("orders", policy=sb.ScaleFreeUCB(L=1e-2), arms=ARMS, segments=segments, seed=3)
        for k in range(60):
            segment = ("large", "small")[k % 2]
            (decision,) = http.post(f"{orders}/decisions", json={"segment": segment}).json()["decisions"]
            expected = campaign.ask(segment=segment)
            assert (decision["arm"], decision["segment"]) == (expected.arm, segment)
            reward = float(expected.arm == best[segment]) + 0.01 * (k % 7)
            told = http.post(f"{orders}/rewards", json={"rewards": [{"decision": k + 1, "reward": reward}]})
            assert told.json()["recorded"] == 1
            campaign.tell(expected, reward)
        for segment, arm in best.items():
            query = {"segment": segment}
            assert http.get(f"{orders}/recommendation", params=query).json()["recommendation"] == arm
            weights = http.get(f"{orders}/weights", params=query).json()["weights"]
            assert {one["arm"]: one["weight"] for one in weights} == campaign.weights(segment=segment)
        found = http.get(orders).json()["segments"]
        assert found == [vars(one) for one in campaign.status().segments]
        assert [(one["segment"], one["best"]) for one in found] == list(best.items())
    assert http.get(f"{orders}/verification?choices=true").json()["ok"] is True
    assert http.post(f"{orders}/decisions", json={"segment": ""}).status_code == 422


def test_the_log_names_whoever_acts(http, store):
    """Rewards, if somebody else asked; and the clock, which an administrator accepts."""
    ask(http, count=1)
    ask(http, count=1, worker="desk 7")
    rewards = [{"decision": n, "reward": 0.01} for n in (1, 2)]
    http.post(f"{DESKS}/rewards", json={"rewards": rewards})
    assert http.post(f"{DESKS}/accept-clock").json() == {"accepted": True}
    entries = http.get(f"{DESKS}/log").json()["entries"]
    logged = [(entry["kind"], entry["worker"], entry["details"].get("by")) for entry in entries]
    assert logged[:3] == [
        ("clock accepted", None, "works"),
        ("rewarded", "desk 7", "works"),
        ("rewarded", "works", None),
    ]
    assert store.campaign("desks").verify(choices=True).ok


def test_history_in_pages_and_csv_is_the_same(http, store, monkeypatch):
    monkeypatch.setattr(api, "_PAGE", 10)
    ask(http, count=25)
    http.post(f"{DESKS}/rewards", json={"rewards": [{"decision": 3, "reward": 0.5}]})
    rows, first = [], 1
    while first is not None:
        page = http.get(f"{DESKS}/decisions?first={first}&count=10").json()
        rows, first = rows + page["decisions"], page["next"]
    assert [row["number"] for row in rows] == list(range(1, 26))
    expected = store.campaign("desks").history()
    csv = pyarrow.csv.read_csv(io.BytesIO(http.get(f"{DESKS}/decisions.csv").content))
    assert csv["arm"].to_pylist() == expected["arm"].to_pylist() == [row["arm"] for row in rows]
    assert csv["reward"].to_pylist() == expected["reward"].to_pylist()


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
