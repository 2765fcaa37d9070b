"""PostgreSQL: a network that is cut, a peer that stops, a pooler between, and readers beside writers."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import sharpe_bandits as sb
from tests.proxies import Proxy


@pytest.fixture
def url(postgres):
    return postgres.url


def test_a_network_that_is_cut_without_a_reset_is_noticed_in_time(postgres):
    """Connections stay open, and nothing passes: the answer comes within the promised time, and later calls work."""
    with Proxy(postgres.address) as proxy, sb.Store(proxy.url(postgres), timeout=1.5) as store:
        campaign = store.campaign(f"cut {time.monotonic_ns()}", policy=sb.policies.UCB1(), arms=2)
        campaign.ask()
        proxy.forwards = False
        began = time.monotonic()
        with pytest.raises(sb.errors.StoreError, match="no answer"):
            campaign.ask()
        assert 1 < time.monotonic() - began < 5
        proxy.forwards = True
        assert campaign.ask().number >= 2
        assert campaign.verify().ok


def test_an_ask_or_a_tell_takes_two_round_trips(postgres):
    """One that locks and reads, one that writes and commits: over a network, each more would be waited for."""
    with Proxy(postgres.address) as proxy, sb.Store(proxy.url(postgres)) as store:
        campaign = store.campaign(f"trips {time.monotonic_ns()}", policy=sb.policies.UCB1(), arms=2, lease="1 day")
        trips = []
        for _ in range(4):
            decision = campaign.ask()
            before = proxy.turns
            campaign.tell(decision, 0.5)
            told = proxy.turns
            campaign.ask()
            trips.append((told - before, proxy.turns - told))
        assert trips[1:] == [(2, 2)] * 3


_STOPS_INSIDE_A_TRANSACTION = """
import os, signal, sys
import sharpe_bandits as sb
from sharpe_bandits.live.campaigns.records import Event
store = sb.Store(sys.argv[1], timeout=float(sys.argv[3]))
number = store._storage.campaigns(sys.argv[2])[0].id
def stop():
    print("locked", flush=True)
    os.kill(os.getpid(), signal.SIGSTOP)
class Rows(list):
    def __iter__(self):
        yield from super().__iter__()
        stop()
def work(records):
    seq = records.head().events
    rows = Rows(Event(seq + k, 0, None, 0, None, None, 0.0) for k in range(1, 500))
    store._storage.insert(records.driver, "sharpe_bandits_events", Event._fields, number, rows) if sys.argv[4:] else stop()
store._storage.write(number, work)
"""


@pytest.mark.parametrize("where", [[], ["between rows"]], ids=["between statements", "between rows"])
def test_a_process_that_is_stopped_inside_a_transaction_does_not_block_others(url, where):
    name = f"frozen {time.monotonic_ns()}"
    with sb.Store(url, timeout=6.0) as store:
        campaign = store.campaign(name, policy=sb.policies.UCB1(), arms=2)
        campaign.ask()
        command = [sys.executable, "-c", _STOPS_INSIDE_A_TRANSACTION, url, name, "6", *where]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as stopped:
            try:
                assert stopped.stdout.readline() == "locked\n"
                began = time.monotonic()
                assert campaign.ask().number == 2
                assert 1 < time.monotonic() - began < 5
            finally:
                os.kill(stopped.pid, signal.SIGKILL)


@pytest.mark.skipif(shutil.which("pgbouncer") is None, reason="PgBouncer is not installed")
def test_a_pooler_in_transaction_mode(postgres, pgbouncer):
    """Two stores whose statements meet on the same connections of the server."""
    name = f"pooled {time.monotonic_ns()}"
    stores = [sb.Store(pgbouncer) for _ in range(3)]
    campaigns = [store.campaign(f"{name} {k % 2}", policy=sb.policies.UCB1(), arms=3) for k, store in enumerate(stores)]

    def work(campaign):
        for _ in range(25):
            campaign.tell(campaign.ask(), 0.5)

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(work, campaigns))
    assert [campaign.status().rewards for campaign in campaigns] == [50, 25, 50]
    assert all(campaign.verify(choices=True).ok for campaign in campaigns)
    for store in stores:
        store.close()


def test_options_in_a_url_are_not_shown(url):
    with sb.Store(f"{url}&password=secret-123") as store:
        assert "secret-123" not in repr(store)
        with pytest.raises(sb.errors.StoreError) as caught:
            store._storage.read(2**31 - 1, lambda records: records.head())
        assert "secret-123" not in str(caught.value)


def test_a_statement_that_takes_too_long_is_explained(url):
    with sb.Store(url, timeout=0.3) as store:
        sleep = lambda records: records.driver.execute("SELECT pg_sleep(5)").fetchall()  # noqa: E731
        with pytest.raises(sb.errors.StoreError, match=r"did not answer within 0.3 seconds"):
            store._storage.read(1, sleep)


def test_verification_of_a_campaign_in_use_gives_no_false_alarms(url):
    """It reads one state, whatever is written meanwhile."""
    with sb.Store(url) as store, sb.Store(url) as writing:
        name = f"busy {time.monotonic_ns()}"
        busy = writing.campaign(name, policy=sb.policies.UCB1(), arms=3)
        busy.tell_many(dict.fromkeys(busy.ask(count=200), 0.1))
        stop = threading.Event()

        def write():
            while not stop.is_set():
                busy.tell_many(dict.fromkeys(busy.ask(count=20), 0.2))

        thread = threading.Thread(target=write)
        thread.start()
        try:
            verifications = [store.campaign(name).verify() for _ in range(12)]
        finally:
            stop.set()
            thread.join()
        assert [str(one) for one in verifications if not one.ok] == []
        assert verifications[-1].events > verifications[0].events
