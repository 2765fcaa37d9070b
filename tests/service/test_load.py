"""The short form of ``make load``: the service killed under load, and one that ends cleanly."""

import signal

import pytest
from torture.service import Server, drive, fresh, killed

import sharpe_bandits as sb


def test_nothing_acknowledged_is_lost_by_kill_9():
    asked, told, lost = killed(kills=2, clients=8, longest=0.5)
    assert asked >= told > 0
    assert lost == 0


def test_a_clean_end_finishes_what_was_accepted(tmp_path):
    """Clients get an answer or none at all; whoever got one finds it in the store; nothing is left half done."""
    path = fresh(tmp_path, "clean.db")
    server = Server(path)
    load = drive(server.port, 8, 0.5)
    server.stop(signal.SIGTERM)
    assert load.told
    assert load.wrong == []
    with sb.Store(path) as store:
        campaign = store.campaign("load")
        rewards = dict(zip(*campaign.history().select(["number", "reward"]).to_pydict().values(), strict=True))
        assert {number: rewards[number] for number in load.told} == pytest.approx(load.told)
        assert campaign.status().pending <= 8
        assert campaign.verify().ok
