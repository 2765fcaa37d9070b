"""Stores that earlier releases wrote: they open, say the same, are upgraded, and go on with the same choices.

``data/first_release.db`` has every kind of event of its time, ``second_release.db`` costs, Thompson sampling and Sortino,
and ``third_release.db`` the events of handing over and choices of an earlier revision; the JSON beside each is what that release said of it, at 1760097000 seconds since 1970.
"""

import json
import shutil
from pathlib import Path

import pytest

import sharpe_bandits as sb
from sharpe_bandits.live.campaigns import EventKind
from sharpe_bandits.live.campaigns import database as databases

DATA = Path(__file__).parent / "data"
EXPECTED = {
    (file, name): campaign
    for file in ("first_release", "second_release", "third_release")
    for name, campaign in json.loads((DATA / f"{file}.json").read_text()).items()
}


@pytest.fixture
def opened(tmp_path, monkeypatch):
    """Opens a copy of the store of a release."""
    monkeypatch.setattr(databases.time, "time", lambda: 1_760_097_000.0)
    stores = []

    def open_store(file):
        shutil.copy(DATA / f"{file}.db", tmp_path)
        stores.append(sb.Store(tmp_path / f"{file}.db"))
        return stores[-1]

    yield open_store
    for store in stores:
        store.close()


def as_json(row):
    return {key: value.isoformat() if hasattr(value, "isoformat") else value for key, value in row.items()}


def known(rows, names):
    """The columns that a release knew."""
    return [{name: row[name] for name in names} for row in rows]


@pytest.mark.parametrize(("file", "name"), EXPECTED)
def test_a_campaign_of_an_earlier_release_goes_on(file, name, opened):
    store = opened(file)
    campaign, expected = store.campaign(name), EXPECTED[file, name]
    chained = file == "third_release"
    for upgraded in (False, True):
        if upgraded and chained:
            assert store.upgrade() == ("0002", "0002")
        elif upgraded:
            with pytest.raises(sb.errors.StoreError, match="campaign upgrade"):
                campaign.ask()
            assert store.upgrade() == ("0001", "0002")
        check(campaign, expected)
    assert [decision.arm for decision in campaign.ask(count=3)] == expected["next"]
    verification = campaign.verify(choices=True)
    assert verification.ok, verification
    assert ("before the hash chain" in str(verification)) is not chained
    if not chained:
        assert f"events 1 to {expected['events']} were logged before the hash chain" in str(verification)
    if name == "revised":
        assert "9 choices of decisions 1 to 9 were made by another revision of SF-TS" in str(verification)
    campaign.set(mode="paused", why="upgraded")
    campaign.resume()
    assert campaign.verify(choices=True).ok


def check(campaign, expected):
    status, settings = campaign.status(), expected["settings"]
    assert {name: campaign.settings[name] for name in settings} == settings
    for name in campaign.settings.keys() - settings.keys():  # later settings have their defaults
        assert campaign.settings[name] in ("max", "live", "none", 1.0, None, {}, [])
    assert status.events == expected["events"]
    counts = (status.decisions, status.rewards, status.pending, status.expired, status.cancelled, status.unused)
    assert list(counts) == expected["counts"]
    assert {str(arm): pulls for arm, pulls in campaign.agent().pulls.items()} == expected["pulls"]
    assert status.best == expected["best"]
    history = [as_json(row) for row in campaign.history().to_pylist()]
    assert known(history, expected["history"][0]) == expected["history"]
    assert known([entry.to_dict() for entry in campaign.log(count=1000)], expected["log"][0]) == expected["log"]
    assert campaign.log(search="asked", count=1)[0].kind == "asked"
    assert campaign.verify(choices=True).ok


def test_the_fixture_has_every_kind_of_event_of_its_time():
    kinds = {entry["kind"] for campaign in EXPECTED.values() for entry in campaign["log"]}
    assert kinds == {kind.label for kind in EventKind}
