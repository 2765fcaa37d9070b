"""The drill: back up a store that is in use, lose it, restore it, verify it, go on."""

import os
import shutil
import threading

import pytest

import sharpe_bandits as sb
from sharpe_bandits.cli.program import main
from tests.live.campaigns.desks import ARMS, POLICY


def test_a_store_in_use_is_backed_up_lost_and_restored(target, request, tmp_path, monkeypatch, capsys):
    if "://" in str(target):
        server = request.getfixturevalue("postgres")
        if not server.address.exists() or shutil.which("pg_dump", path=str(server.programs)) is None:
            pytest.skip("pg_dump is not there")
        monkeypatch.setenv("PATH", f"{server.programs}{os.pathsep}{os.environ['PATH']}")
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
        import psycopg

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


def test_what_is_not_a_backup_is_refused(tmp_path, capsys):
    (tmp_path / "text").write_text("PGDMP")
    assert main(["campaign", "restore", str(tmp_path / "none"), "--store", str(tmp_path / "a.db")]) == 2
    assert main(["campaign", "restore", str(tmp_path / "text"), "--store", str(tmp_path / "a.db")]) == 2
    assert "postgresql://" in capsys.readouterr().err
    assert main(["campaign", "backup", "--store", str(tmp_path / "none.db"), "--out", str(tmp_path / "b")]) == 2
    assert not (tmp_path / "b").exists()
    assert not (tmp_path / "a.db").exists()
