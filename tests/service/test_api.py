"""The API does what a campaign does, and says what the library says."""

import inspect
import io
import threading
from concurrent.futures import ThreadPoolExecutor

import pyarrow.csv
import pyarrow.parquet
import pytest

import sharpe_bandits as sb
from sharpe_bandits.campaigns import Campaign
from sharpe_bandits.service.client import RemoteCampaign, Service
from tests.hostile import NAMES, REFUSED

from .conftest import ARMS, POLICY, READER, bearer

DESKS = "/api/campaigns/desks"


def ask(http, **body):
    answer = http.post(f"{DESKS}/decisions", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()["decisions"]


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


def test_history_in_pages_csv_and_parquet_is_the_same(http, store):
    ask(http, count=25)
    http.post(f"{DESKS}/rewards", json={"rewards": [{"decision": 3, "reward": 0.5}]})
    rows, first = [], 1
    while first is not None:
        page = http.get(f"{DESKS}/decisions?first={first}&count=10").json()
        rows, first = rows + page["decisions"], page["next"]
    assert [row["number"] for row in rows] == list(range(1, 26))
    expected = store.campaign("desks").history()
    parquet = pyarrow.parquet.read_table(io.BytesIO(http.get(f"{DESKS}/decisions.parquet").content))
    assert parquet.equals(expected)
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
    store.campaign("halving", policy=sb.SequentialHalving(sb.RSSR(L=1.0)), arms=4, horizon=64)
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


def test_requests_that_arrive_together_are_committed_together(store):
    """While one commit waits, all that comes goes into the next: far fewer commits than requests."""
    import asyncio

    from sharpe_bandits.service.desk import Desk

    campaign = store.campaign("desks", policy=POLICY, arms=ARMS)
    desk = Desk(store)

    async def main():
        opened = await desk.open("desks")
        commits, count = opened.commits, 0
        inner = commits.campaign.together

        def counted(operations, **more):
            nonlocal count
            count += 1
            return inner(operations, **more)

        commits.campaign.together = counted
        made = await asyncio.gather(*(commits.do(lambda k=k: commits.campaign.ask(key=f"k{k}")) for k in range(200)))
        with pytest.raises(RuntimeError, match="a bug"):
            await asyncio.gather(commits.do(_bug), commits.do(commits.campaign.ask))
        await desk.close()
        return made, count

    with ThreadPoolExecutor(1) as thread:  # a browser of another test may have left a loop running in this one
        made, count = thread.submit(asyncio.run, main()).result()
    assert sorted(decision.number for decision in made) == list(range(1, 201))
    assert count < 10
    assert campaign.status().decisions == 201, "a bug in one operation does not touch the others"
    assert campaign.verify(choices=True).ok


def _bug():
    raise RuntimeError("a bug")


def test_the_client_has_the_methods_of_a_campaign(served, store):
    """The same calls on a campaign in a file and on one behind HTTP give the same, errors included."""
    service = sb.connect(served.url, token="w" * 40)
    options = {"policy": POLICY, "arms": ARMS, "seed": 3, "lease": "1 hour"}
    local, remote = store.campaign("a", **options), service.campaign("b/c", **options)

    def play(campaign):
        found = [campaign.ask(key="k").arm, campaign.ask(key="k").number, campaign.ask(key="k").state]
        found += [decision.arm for decision in campaign.ask(count=5)]
        for call in (
            lambda: campaign.tell(1, 0.25),
            lambda: campaign.tell(1, 0.5),
            lambda: campaign.tell_many({2: 0.1, 3: 0.2, 4: 0.3}),
            lambda: [type(error) for error in campaign.tell_many([(2, 0.1), (2, 0.2), (77, 0.1)], strict=False)],
            lambda: campaign.cancel(5),
            lambda: campaign.cancel(1),
            lambda: campaign.add_arm("quality"),
            lambda: campaign.retire_arm("nothing"),
            lambda: campaign.retire_arm("carry"),
            lambda: campaign.tell(6, float("nan")),
            lambda: [type(e) for e in campaign.tell_many([(6, float("nan")), (6, 0.5), (6, 0.5)], strict=False)],
            lambda: campaign.tell_many([(0, 0.5)]),
            lambda: campaign.ask(key="line\nbreak"),
            lambda: campaign.ask(count=0),
            lambda: campaign.ask(count=3, key="x"),
            lambda: campaign.arms,
            lambda: campaign.settings,
            lambda: campaign.policy,
            lambda: campaign.recommend(),
            lambda: campaign.decision(2).reward,
            lambda: [decision.number for decision in campaign.pending()],
            lambda: campaign.verify().ok,
            lambda: [(entry.seq, entry.kind, entry.arm, entry.reward) for entry in campaign.log(count=7, before=12)],
            lambda: [entry.decision for entry in campaign.log(search="k")][-1],
            lambda: campaign.evaluate(POLICY),
            lambda: campaign.agent().estimates()["value"],
            lambda: [row["arm"] for row in campaign.history().to_pylist()],
            lambda: campaign.history(last=2).column("number").to_pylist(),
            lambda: campaign.history(first=2, count=3).schema,
            lambda: (campaign.status().arms, campaign.status().rewards, campaign.status().best),
        ):
            try:
                found.append(call())
            except sb.SharpeBanditsError as error:
                found.append(type(error))
        return found

    for mine, theirs in zip(play(local), play(remote), strict=True):
        assert str(mine) == str(theirs)
    assert service.campaign("b/c").name == "b/c"
    with pytest.raises(sb.ConflictError, match="seed"):
        service.campaign("b/c", **{**options, "seed": 4})
    with pytest.raises(sb.UnknownNameError):
        service.campaign("nothing")
    with sb.connect(served.url, token="r" * 40) as looks, pytest.raises(sb.InvalidInputError, match="may read"):
        looks.campaign("b/c").ask()
    with pytest.raises(sb.StoreError, match="does not answer"):
        sb.connect("http://127.0.0.1:9", token="x", timeout=0.3).campaigns()
    service.close()
    for url in ("127.0.0.1:8000", "ftp://x", "http://x:y", "", None):
        with pytest.raises(sb.InvalidInputError, match="address"):
            sb.connect(url, token="x")


#: What a campaign in a store at hand can do besides: what other processes on the same machine need.
_AT_HAND = {"together", "accept_clock", "activity", "numbers_of"}


def test_the_client_has_the_signatures_of_a_campaign():
    """A worker's code does not change when its campaign moves: same methods, same parameters, same defaults."""
    for name in ("campaign", "campaigns", "close"):
        ours, theirs = (inspect.signature(getattr(cls, name)).parameters for cls in (sb.Store, Service))
        assert ours == theirs, name
    public = {name for name in dir(Campaign) if not name.startswith("_")} - _AT_HAND
    assert public == {name for name in dir(RemoteCampaign) if not name.startswith("_") and name != "policy"}
    for name in sorted(public):
        ours, theirs = getattr(Campaign, name), getattr(RemoteCampaign, name)
        assert isinstance(ours, property) == isinstance(theirs, property)
        assert isinstance(ours, property) or inspect.signature(ours) == inspect.signature(theirs), name
        assert inspect.getdoc(ours) == inspect.getdoc(theirs), name


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
        with pytest.raises(sb.InvalidInputError, match="explore=0"):
            service.campaign("desks").evaluate(other)
    path = "/api/campaigns/explores/evaluation"
    found = http.get(path, params={"policy": "SF-UCB:c=0.2", "L": 1e-4}, headers=bearer(READER)).json()
    assert found["doubly_robust"]["mean"] == expected.doubly_robust.mean
    assert found["sentence"] == f"{expected}."
    for wrong in ("{", "{}", "no such policy", '{"policy": "os.system"}', "[" * 3000):
        answer = http.get(path, params={"policy": wrong, "L": 1e-4})
        assert 400 <= answer.status_code < 500, answer.text


def test_threads_of_clients_lose_and_double_nothing(served, store):
    service = sb.connect(served.url, token="w" * 40)

    def work(k):
        campaign = service.campaign("desks")
        for i in range(15):
            decision = campaign.ask(key=f"{k}-{i}")
            campaign.tell(decision, 0.001 * decision.number)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    service.close()
    history = store.campaign("desks").history()
    assert history["number"].to_pylist() == list(range(1, 121))
    assert history["reward"].to_pylist() == pytest.approx([0.001 * n for n in range(1, 121)])
    assert store.campaign("desks").verify(choices=True).ok


def test_streams_say_what_changed_and_end_with_the_service(served, store):
    import http.client

    connection = http.client.HTTPConnection(served.url.removeprefix("http://"), timeout=20)
    connection.connect()
    connection.request("GET", "/api/stream?campaign=desks", headers={"Authorization": f"Bearer {'r' * 40}"})
    response = connection.getresponse()

    def until(words):
        while True:
            line = response.readline().decode()
            assert line, "the stream ended"
            if words in line:
                return line

    assert '"desks": 0' in until("data:")
    store.campaign("desks").ask()
    assert '"desks": 1' in until("data:")
    served.stop()
    while response.readline():
        pass
    connection.close()


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
    view = http.get(f"{DESKS}/view?periods_per_year=252").json()
    status = campaign.status()
    for arm, known in zip(view["arms"], status.arms, strict=True):
        assert arm["sharpe"] == pytest.approx(252**0.5 * known.mean / known.standard_deviation, rel=1e-6)
        rewards = [row["reward"] for row in campaign.history().to_pylist() if row["arm"] == known.arm]
        for name, goal, scale in (("sharpe", None, 252**0.5), ("mean", sb.Mean(), 1.0), ("value", POLICY.goal, 1.0)):
            sequence = sb.confidence_sequence(rewards, goal, arms=len(ARMS))
            ends = scale * sequence.low[-1], scale * sequence.high[-1]
            assert arm[f"{name}_interval"] == (pytest.approx(ends, rel=1e-5) if np.isfinite(ends[0]) else None)
    assert view["intervals"] == "at all times"
    assert any(arm["value_interval"] for arm in view["arms"])
    assert view["leader"]["arm"] == status.best == ARMS[0]
    assert sum(arm["best_probability"] for arm in view["arms"]) == pytest.approx(1)
    assert sum(map(sum, view["series"]["asked"])) == 600
    series = view["series"]
    for k, name in enumerate(series["arms"]):
        (arm,) = (one for one in view["arms"] if one["arm"] == name)
        band = [series[end][k][-1] for end in ("value_low", "value_high")]
        assert band == (pytest.approx(arm["value_interval"]) if arm["value_interval"] else [None, None])
    assert view["rewards_per_day"]["se"] == pytest.approx(view["rewards_per_day"]["mean"] / 600**0.5)
    assert http.get("/api/overview").json()["campaigns"][0]["best"] == status.best


def test_bands_of_policies_that_forget_are_fixed_time(http, store):
    """Of the mean: 1.96 standard errors on either side, of all rewards of the arm."""
    import numpy as np

    campaign = store.campaign("drifts", policy=sb.DiscountedUCB(objective=sb.Mean(), discount=0.99), arms=ARMS)
    generator = np.random.default_rng(1)
    campaign.tell_many({decision: generator.normal() for decision in campaign.ask(count=90)})
    view = http.get("/api/campaigns/drifts/view").json()
    assert view["intervals"] == "fixed-time"
    rewards = [row["reward"] for row in campaign.history().to_pylist() if row["arm"] == view["series"]["arms"][0]]
    half = 1.959964 * np.std(rewards, ddof=1) / len(rewards) ** 0.5
    band = [view["series"][end][0][-1] for end in ("value_low", "value_high")]
    assert band == pytest.approx([np.mean(rewards) - half, np.mean(rewards) + half], rel=1e-5)


def test_one_damaged_campaign_does_not_keep_others_from_being_warmed(app, store):
    from sharpe_bandits.service.dashboard import warm

    for name in ("a", "z"):
        store.campaign(name, policy=POLICY, arms=ARMS).ask()
    with store._database.engine.connect() as connection:
        connection.exec_driver_sql("UPDATE sharpe_bandits_campaigns SET settings = '{' WHERE name = 'desks'")
    warm(app.app)
    assert sorted(app.app.state.views) == ["a", "z"]


def test_a_body_that_is_not_called_json_is_refused_with_the_remedy(http):
    answer = http.post("/api/campaigns", content='{"name": "a", "policy": "SF-UCB", "L": 1, "arms": 2}')
    assert answer.status_code == 422
    assert "send the header Content-Type: application/json" in answer.json()["detail"]
