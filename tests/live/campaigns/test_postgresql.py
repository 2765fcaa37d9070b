"""PostgreSQL: connections with bounds, and readers beside writers."""

import threading
import time

import pytest

import sharpe_bandits as sb


@pytest.fixture
def url(postgres):
    return postgres.url


def test_connections_have_bounds(url):
    """All timeouts are shorter than the one that a caller was promised."""
    with sb.Store(url, timeout=8.0) as store, store._storage.engine.connect() as connection:
        for name, value in (
            ("lock_timeout", "8s"), ("statement_timeout", "8s"), ("idle_in_transaction_session_timeout", "2666ms"),
        ):  # fmt: skip
            assert connection.exec_driver_sql(f"SHOW {name}").scalar() == value
        info = connection.connection.driver_connection.info.get_parameters()
        assert (info["tcp_user_timeout"], info["connect_timeout"]) == ("4000", "2")
        detected = int(info["keepalives_idle"]) + 3 * int(info["keepalives_interval"])
        assert detected <= 4


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
