"""The drill: back up a store that is in use, lose it, restore it, verify it, go on."""

import shutil
import threading
from datetime import UTC, datetime, timedelta

import psycopg
import pytest

import sharpe_bandits as sb
from sharpe_bandits.cli.program import main
from sharpe_bandits.live.campaigns.archive import archive
from sharpe_bandits.live.campaigns.database import Database
from tests.live.campaigns.desks import ARMS, POLICY


def test_a_store_in_use_is_backed_up_lost_and_restored(target, tmp_path, capsys):
    stop, store = threading.Event(), sb.Store(target)
    names = ["desks", "venues"]
    campaigns = [store.campaign(name, policy=POLICY, arms=ARMS) for name in names]

    def work(campaign):
        while not stop.is_set():
            campaign.tell_many({decision: 0.01 * (decision.number % 5) for decision in campaign.ask(count=10)})

    threads = [threading.Thread(target=work, args=(campaign,)) for campaign in campaigns]
    for thread in threads:
        thread.start()
    backups = [tmp_path / f"backup-{k}" for k in range(3)]
    try:
        least = campaigns[0].status().rewards
        for backup in backups:
            assert main(["campaign", "backup", "--store", str(target), "--out", str(backup)]) == 0
            assert oct(backup.stat().st_mode)[-3:] == "600"
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    store.close()
    assert main(["campaign", "backup", "--store", str(target), "--out", str(backups[0])]) == 2
    assert "exists" in capsys.readouterr().err
    assert main(["campaign", "restore", str(backups[2]), "--store", str(target)]) == 2, "there is a store"
    capsys.readouterr()
    if "://" in str(target):
        with psycopg.connect(str(target), autocommit=True) as connection:
            connection.execute("DROP SCHEMA public CASCADE")
            connection.execute("CREATE SCHEMA public")
    else:
        for file in tmp_path.glob("campaigns.db*"):
            file.unlink()
    assert main(["campaign", "restore", str(backups[2]), "--store", str(target)]) == 0
    assert "2 campaigns" in capsys.readouterr().out
    with sb.Store(target) as restored:
        campaign = restored.campaign("desks")
        before = campaign.status().decisions
        assert campaign.status().rewards >= least
        assert campaign.ask().number == before + 1
        assert campaign.verify(choices=True).ok


def test_what_is_refused_creates_no_store(tmp_path, capsys):
    assert main(["campaign", "restore", str(tmp_path / "none"), "--store", str(tmp_path / "a.db")]) == 2
    (tmp_path / "text").write_text("text")
    assert main(["campaign", "restore", str(tmp_path / "text"), "--store", str(tmp_path / "a.db")]) == 2
    assert "not a store" in capsys.readouterr().err
    assert main(["campaign", "backup", "--store", str(tmp_path / "none.db"), "--out", str(tmp_path / "b")]) == 2
    with sb.Store(tmp_path / "b.db") as store:
        store.campaign("desks", policy=POLICY, arms=ARMS)
    assert main(["campaign", "copy", "other", "--store", str(tmp_path / "b.db"), "--to", str(tmp_path / "a.db")]) == 2
    assert not (tmp_path / "b").exists()
    assert not (tmp_path / "a.db").exists()


def played(store, name, **more):
    """A campaign with all that a copy must have: keys, tags, metrics, expired, cancelled and pending decisions."""
    campaign = store.campaign(name, policy=POLICY, arms=ARMS, lease="1 day", explore=0.1, control="carry", **more)
    campaign.set(share=0.5, why="the pilot is over")
    for day in range(20):
        decisions = campaign.ask(keys=[f"{day}-{k}" for k in range(20)], tags={"desk": "NY"}, segment="EU")
        campaign.tell_many({one: {"reward": 0.01 * (one.number % 5), "weight": 2.0} for one in decisions[2:]})
        campaign.cancel(decisions[0])
    campaign.amend(7, 0.5, why="wrong fill")
    campaign.add_arm("quality")
    return campaign


def everything(campaign):
    return campaign.history(), campaign.log(count=10_000), campaign.settings, campaign.rules, campaign.agent().to_json()


@pytest.mark.parametrize("archived", [False, True])
def test_campaigns_move_between_stores(target, tmp_path, capsys, archived):
    """From a file to a file or PostgreSQL, and back to a file, with every record."""
    files = tmp_path / "source.db", tmp_path / "back.db"
    with sb.Store(files[0]) as store:
        campaign = played(store, "desks")
        played(store, "venues")
        before = everything(campaign)
        if archived:
            archive(campaign, datetime.now(UTC) + timedelta(hours=1), tmp_path / "old")
    backup = tmp_path / "backup"
    assert main(["campaign", "backup", "--store", str(files[0]), "--out", str(backup)]) == 0
    assert main(["campaign", "copy", "--store", str(backup if archived else files[0]), "--to", str(target)]) == 0
    assert "2 campaigns with" in capsys.readouterr().out
    shutil.rmtree(tmp_path / "old", ignore_errors=True)  # the copy has the events
    assert main(["campaign", "copy", "desks", "--store", str(target), "--to", str(files[1])]) == 0
    for place in (target, files[1]):
        with sb.Store(place) as store:
            copy = store.campaign("desks")
            assert everything(copy)[0].equals(before[0])
            assert everything(copy)[1:] == before[1:]
            assert copy.verify(choices=True).ok
            assert copy.ask(key="3-4").number == 65
            copy.tell(copy.ask(), 0.02)
            assert copy.verify(choices=True).ok
    assert [one.name for one in sb.Store(files[1]).campaigns()] == ["desks"]


def test_a_copy_overwrites_nothing(target, tmp_path):
    with sb.Store(tmp_path / "source.db") as store, sb.Store(target) as other:
        for name in ("a", "desks"):
            played(store, name)
        mine = other.campaign("desks", policy=POLICY, arms=["x", "y"])
        with pytest.raises(sb.errors.ConflictError, match="'desks'"):
            store.copy_to(other)
        with pytest.raises(sb.errors.UnknownNameError):
            store.copy_to(other, ["nobody"])
        assert [one.name for one in other.campaigns()] == ["desks"]
        assert mine.arms == ["x", "y"]


def test_a_copy_is_of_one_moment_and_says_what_came_later(target, tmp_path, monkeypatch, capsys):
    with sb.Store(tmp_path / "source.db") as store:
        campaign = played(store, "desks")
        adopt = Database.adopt

        def while_workers_ask(self, row, source):
            source.head()
            campaign.ask(count=3)
            return adopt(self, row, source)

        monkeypatch.setattr(Database, "adopt", while_workers_ask)
        assert main(["campaign", "copy", "--store", str(tmp_path / "source.db"), "--to", str(target)]) == 1
    assert "3 events were recorded" in capsys.readouterr().out
    with sb.Store(target) as other:
        assert other.campaign("desks").verify(choices=True).ok
