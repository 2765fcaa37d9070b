"""A store that the first release wrote: it opens, says the same, and goes on with the same choices.

``data/first_release.db`` has every kind of event; ``first_release.json`` is what that release said of it, at 1760097000
seconds since 1970.
"""

import json
import shutil
from pathlib import Path

import pytest

import sharpe_bandits as sb
from sharpe_bandits.live.campaigns import database as databases

DATA = Path(__file__).parent / "data"
EXPECTED = json.loads((DATA / "first_release.json").read_text())


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setattr(databases.time, "time", lambda: 1_760_097_000.0)
    shutil.copy(DATA / "first_release.db", tmp_path)
    with sb.Store(tmp_path / "first_release.db") as opened:
        yield opened


def as_json(row):
    return {key: value.isoformat() if hasattr(value, "isoformat") else value for key, value in row.items()}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_campaign_of_the_first_release_goes_on(name, store):
    campaign, expected = store.campaign(name), EXPECTED[name]
    status = campaign.status()
    assert campaign.settings == {**expected["settings"], "direction": "max"}  # a later setting, with its default
    assert status.events == expected["events"]
    counts = (status.decisions, status.rewards, status.pending, status.expired, status.cancelled, status.unused)
    assert list(counts) == expected["counts"]
    assert {str(arm): pulls for arm, pulls in campaign.agent().pulls.items()} == expected["pulls"]
    assert status.best == expected["best"]
    assert [as_json(row) for row in campaign.history().to_pylist()] == expected["history"]
    assert [entry.to_dict() for entry in campaign.log(count=1000)] == expected["log"]
    assert campaign.verify(choices=True).ok
    assert [decision.arm for decision in campaign.ask(count=3)] == expected["next"]
    assert campaign.verify(choices=True).ok


def test_the_fixture_has_every_kind_of_event(store):
    kinds = {entry["kind"] for campaign in EXPECTED.values() for entry in campaign["log"]}
    assert len(kinds) == 9
