"""The client does what a campaign does: same methods, same signatures, nothing lost or doubled."""

import inspect
import threading
import time

import pytest

import sharpe_bandits as sb
from sharpe_bandits.live.campaigns import Campaign
from sharpe_bandits.service.app import create_app
from sharpe_bandits.service.client import RemoteCampaign, Service
from sharpe_bandits.service.security import Token

from .conftest import ARMS, POLICY, TOKENS, Served


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
            lambda: campaign.numbers_of(["k", "unknown"]),
            lambda: campaign.accept_clock(),
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
    with pytest.raises(sb.errors.ConflictError, match="seed"):
        service.campaign("b/c", **{**options, "seed": 4})
    with pytest.raises(sb.errors.UnknownNameError):
        service.campaign("nothing")
    with sb.connect(served.url, token="r" * 40) as looks, pytest.raises(sb.errors.InvalidInputError, match="may read"):
        looks.campaign("b/c").ask()
    with pytest.raises(sb.errors.StoreError, match="does not answer"):
        sb.connect("http://127.0.0.1:9", token="x", timeout=0.3).campaigns()
    service.close()
    for url in (
        "127.0.0.1:8000",
        "ftp://x",
        "http://x:y",
        "http://x:65536",
        "http://x:%s" % (99 * "9"),
        "http://me:secret@x",
        "http://x?a=b",
        "http://",
        "",
        None,
    ):
        with pytest.raises(sb.errors.InvalidInputError, match="address"):
            sb.connect(url, token="x")


#: What a campaign in a store at hand can do besides: what other processes on the same machine need.
_AT_HAND = {"activity", "commit", "notify", "signed_export"}


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


def test_a_campaign_is_handed_over_through_the_service(served, store):
    """Each step does over HTTP what it does on the store, and the log names the token."""
    options = {"policy": POLICY, "arms": ["a", "b", "c"], "mode": "shadow", "control": "a", "bounds": {"b": (0.1, 0.5)}}
    service = sb.connect(served.url, token="w" * 40)

    def play(campaign):
        results = [campaign.record("b", 0.5, key="theirs", tags={"desk": "NY"}, propensity=0.5).by]
        results.append(campaign.load_history([{"arm": "c", "reward": 0.25}, {"arm": "a", "reward": 0.5}]))
        campaign.set(mode="live", share=0.5, why="half")
        decisions = campaign.ask(distinct=2, segment="large", among=["a", "b", "c"])
        results.append([(one.number, one.arm, one.by, one.probability, one.segment) for one in decisions])
        results.append(campaign.ask(key="k1").number)
        campaign.tell("k1", 0.5, metrics={"error": 0.0}, weight=2.0, seen={})
        campaign.amend(1, 0.75, "typo")
        campaign.suspend("c", "slow")
        campaign.resume("c")
        results.append(campaign.weights(max=0.5))
        campaign.pause("outage", fallback="b")
        results.append((campaign.ask().by, campaign.rules))
        campaign.resume(why="back")
        campaign.set(fallback=None, guardrails=[{"kind": "mean", "limit": -1.0}])
        campaign.pause()
        with pytest.raises(sb.errors.CampaignPausedError):
            campaign.ask()
        results += [campaign.rules, campaign.status().agreement, campaign.decision(1).reward]
        return [*results, [(row["by"], row["choice"], row["metrics"]) for row in campaign.history().to_pylist()]]

    local, remote = store.campaign("local", **options), service.campaign("remote", **options)
    assert play(remote) == play(local)
    assert {entry.details["by"] for entry in remote.log(search="changed")} == {"works"}
    assert remote.verify(choices=True).ok
    service.close()


def test_a_deadline_is_kept_and_the_fallback_is_played_and_told_later(app, store):
    """The service does not answer: asks come back in time with the fallback; their rewards are recorded afterwards."""
    import socket

    served = Served(app)
    service = sb.connect(served.url, token="w" * 40, timeout=0.5, fallback="value")
    campaign = service.campaign("desks")
    first = campaign.ask(key="order-1")
    assert first.number == 1
    served.stop()
    with socket.create_server(("127.0.0.1", int(served.url.rpartition(":")[2]))):  # accepts, and says nothing
        service.close()
        began = time.monotonic()
        second = campaign.ask(key="order-2")
        assert time.monotonic() - began < 1.5
        assert (second.number, second.arm, second.by) == (0, "value", "fallback")
        with pytest.raises(sb.errors.StoreError):
            campaign.tell(second, 0.25)
    service.close()


def test_a_worker_starts_without_the_service_and_keeps_its_fallback(app, tmp_path):
    import asyncio
    from concurrent.futures import ThreadPoolExecutor as Threads

    served = Served(app)
    served.stop()
    service = sb.connect(served.url, token="w" * 40, timeout=0.1, fallback="value")
    campaign = service.campaign("desks")
    made = campaign.ask(key="order-1", among=["carry", "value"])
    assert (made.number, made.arm) == (0, "value")
    with pytest.raises(sb.errors.StoreError, match="value"):
        campaign.ask(among=["carry", "momentum"])
    with pytest.raises(sb.errors.StoreError, match="value"):
        campaign.ask(distinct=2)
    new = service.campaign("new", policy=sb.policies.UCB1(), arms=["value", "other"])
    wrong = sb.connect(served.url, token="w" * 40, timeout=0.1, fallback="vlaue").campaign("desks")

    async def of_asyncio():
        async with sb.connect_async(served.url, token="w" * 40, timeout=0.1, fallback="value") as remote:
            return await (await remote.campaign("desks")).ask()

    with Threads(1) as thread:
        assert thread.submit(asyncio.run, of_asyncio()).result().arm == "value"

    with sb.Store(tmp_path / "campaigns.db") as again:
        served = Served(create_app(again, TOKENS))
        for client in (service, wrong._service):
            client._host, client._timeout = served.url.removeprefix("http://"), 10.0  # it is back
        assert campaign.ask(key="order-1") is made
        assert [one.number for one in campaign.ask(keys=["order-2", "order-1"])] == [1, 0]
        with pytest.raises(sb.errors.ConflictError, match="order-1"):
            campaign.ask(key="order-1", among=["carry"])
        campaign.tell(made, 0.5)
        assert store_keys(again) == ["order-2", "fallback-order-1"]
        assert new.ask().number == 1
        for call in (wrong.ask, lambda: wrong._service.campaign("desks")):
            with pytest.raises(sb.errors.UnknownNameError, match="did you mean 'value'"):
                call()
        service.close()
        wrong._service.close()
        served.stop()


def store_keys(store):
    return store.campaign("desks").history()["key"].to_pylist()


def test_who_acts_is_the_token_and_nobody_else(served):
    with sb.connect(served.url, token="w" * 40) as service:
        campaign = service.campaign("desks")
        with pytest.raises(sb.errors.InvalidInputError, match=r"'Ann'.*why="):
            campaign.set(share=0.5, control="value", by="Ann")
        assert campaign.rules["control"] is None
        campaign.pause("outage, says Ann")
        assert campaign.log(count=1)[0].details == {"by": "works", "why": "outage, says Ann", "set": {"mode": "paused"}}


def test_a_worker_that_may_only_ask_and_tell(store):
    store.campaign("desks", policy=sb.policies.UCB1(), arms=ARMS)
    served = Served(create_app(store, [Token.of("workers", ["ask", "tell"], "a" * 40)]))
    with sb.connect(served.url, token="a" * 40) as service:
        campaign = service.campaign("desks")
        campaign.tell(campaign.ask(), 0.5)
        assert store_keys(store) != []
        for refused in (campaign.status, lambda: campaign.settings):
            with pytest.raises(sb.errors.InvalidInputError, match="'read'"):
                refused()
        with pytest.raises(sb.errors.InvalidInputError, match="'create'"):
            service.campaign("new", policy=sb.policies.UCB1(), arms=2)
    served.stop()


def test_rewards_of_fallbacks_are_recorded_once(served, store):
    import dataclasses

    from sharpe_bandits.live.campaigns.records import Decider

    service = sb.connect(served.url, token="w" * 40, fallback="value")
    campaign = service.campaign("desks")
    known = campaign.ask()
    made_here = campaign._without_service("order-2", "worker 7")
    for _ in range(2):
        assert campaign.tell_many([(made_here, 0.25), (known, 0.5)]) == [None, None]
    campaign.tell(dataclasses.replace(made_here, key="another"), 0.125)
    history = store.campaign("desks").history().to_pylist()
    assert [(row["arm"], row["reward"], row["key"]) for row in history[1:]] == [
        ("value", 0.25, "fallback-order-2"), ("value", 0.125, "another"),
    ]  # fmt: skip
    assert history[1]["by"] == Decider.EXTERNAL
    assert history[0]["reward"] == 0.5
    service.close()


def test_a_decision_that_the_fallback_replaced_does_not_stay_pending(served, store, monkeypatch):
    """The service decided, but its answer was lost: the arm that was played is recorded, the other one cancelled."""
    service = sb.connect(served.url, token="w" * 40, fallback="value")
    campaign = service.campaign("desks")
    send = service._send

    def lose(*request):
        send(20.0, *request[1:])
        raise OSError("the answer was lost")

    monkeypatch.setattr(service, "_timeout", 0.0)
    monkeypatch.setattr(service, "_send", lose)
    played = campaign.ask(key="order-1")
    monkeypatch.undo()
    assert (played.number, store.campaign("desks").decision(1).state) == (0, "pending")
    for _ in range(2):
        campaign.tell(played, 0.25)
    history = store.campaign("desks").history().to_pylist()
    assert [(row["key"], row["arm"], row["state"], row["reward"]) for row in history] == [
        ("order-1", history[0]["arm"], "cancelled", None), ("fallback-order-1", "value", "rewarded", 0.25),
    ]  # fmt: skip
    assert store.campaign("desks").verify(choices=True).ok
    service.close()
    with sb.connect(served.url, token="w" * 40, fallback="value") as restarted:
        campaign = restarted.campaign("desks")
        with pytest.raises(sb.errors.ConflictError, match="cancelled"):
            campaign.ask(key="order-1")
        with pytest.raises(sb.errors.UnknownNameError, match="no decision with the key 'order-3'"):
            campaign.cancel("order-3")


@pytest.mark.parametrize(("path", "content"), [("/prefix/", b"<html>"), ("", b"")])
def test_an_answer_of_something_else_is_no_answer(path, content):
    """A page instead of JSON, as of a proxy or another program; the path of the address is asked for."""
    from http.server import BaseHTTPRequestHandler, HTTPServer

    paths = []

    class Other(BaseHTTPRequestHandler):
        def do_GET(self):
            paths.append(self.path)
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Other) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        service = sb.connect(f"http://127.0.0.1:{server.server_port}{path}", token="x", timeout=5.0)
        with pytest.raises(sb.errors.StoreError, match="status 200 and no explanation; check its address"):
            service.campaigns()
        service.close()
        server.shutdown()
    assert [asked.partition("?")[0] for asked in paths] == [f"{path.rstrip('/')}/api/campaigns"]


def test_a_refused_connection_is_retried_until_the_deadline():
    service, began = sb.connect("http://127.0.0.1:9", token="x", timeout=1.0), time.monotonic()
    with pytest.raises(sb.errors.StoreError, match="refused"):
        service.campaigns()
    assert 1.0 <= time.monotonic() - began < 2.0


def test_the_client_for_asyncio(served, store):
    import asyncio
    from concurrent.futures import ThreadPoolExecutor as Threads

    async def main():
        async with sb.connect_async(served.url, token="w" * 40) as service:
            campaign = await service.campaign("desks")
            decisions = await asyncio.gather(*(campaign.ask(key=f"k{k}") for k in range(40)))
            await asyncio.gather(*(campaign.tell(decision, 0.5) for decision in decisions))
            assert await campaign.arms() == ARMS
            with pytest.raises(sb.errors.ConflictError):
                await campaign.tell(decisions[0], 0.75)
            with pytest.raises(AttributeError, match="no nothing"):
                campaign.nothing  # noqa: B018
            return [decision.number for decision in decisions]

    with Threads(1) as thread:  # a browser of another test may have left a loop running in this one
        numbers = thread.submit(asyncio.run, main()).result()
    assert sorted(numbers) == list(range(1, 41))
    assert store.campaign("desks").status().rewards == 40


def test_a_covariate_is_told_over_http(served):
    policy = sb.ScaleFreeUCB(objective=sb.objectives.Adjusted(sb.RSSR(L=1e-5, signed=True)))
    with sb.connect(served.url, token="w" * 40) as service:
        campaign = service.campaign("market", policy=policy, arms=ARMS)
        decision = campaign.ask()
        with pytest.raises(sb.errors.InvalidInputError, match="covariate"):
            campaign.tell(decision, 0.01)
        campaign.tell(decision, 0.01, covariate=0.02)
        assert campaign.record("carry", 0.01, covariate=0.02).covariate == 0.02
        assert campaign.decision(decision.number).covariate == 0.02
        assert campaign.verify().ok
