"""Transactions: locks, full disks, checkpoints and forks; what fails leaves the store as it was."""

import os
import sqlite3
import sys

import pytest

import sharpe_bandits as sb
from sharpe_bandits.live.campaigns import sqlite as files
from tests.live.campaigns.desks import POLICY, opened


def test_network_file_systems_are_refused(tmp_path, monkeypatch):
    mounts = tmp_path / "mounts"
    mounts.write_text(f"/dev/vda / ext4 rw 0 0\nserver:/home {tmp_path} nfs4 rw 0 0\nx {tmp_path}/local tmpfs rw 0 0\n")
    (tmp_path / "local").mkdir()
    assert files.file_system(tmp_path, mounts) == "nfs4"
    assert files.file_system(tmp_path / "local", mounts) == "tmpfs"
    assert files.file_system(tmp_path.parent, mounts) == "ext4"
    monkeypatch.setattr(files, "file_system", lambda folder: "nfs4")
    with pytest.raises(sb.errors.StoreError, match=r"network file system \(nfs4\).* PostgreSQL"):
        sb.Store(tmp_path / "x.db")


def test_a_lock_that_is_held_is_waited_for_and_then_explained(tmp_path):
    path = tmp_path / "campaigns.db"
    campaign = opened(path)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with sb.Store(path, timeout=0.2) as store:
        waiting = store.campaign("c")
        assert waiting.status().decisions == 0  # reading goes on
        for act in (waiting.ask, store.ping):  # and the store is not ready
            with pytest.raises(
                sb.errors.StoreError, match=r"locked by another process for 0.2 sec.*nothing was recorded"
            ):
                act()
        other.execute("ROLLBACK")
        assert waiting.ask().number == 1
        store.ping()
    assert campaign.verify().ok


@pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be deleted")
def test_a_file_that_was_deleted_is_noticed(tmp_path):
    """What is written to a deleted file is lost: nothing is acknowledged until the file is there again."""
    path, away = tmp_path / "campaigns.db", tmp_path / "away"
    with sb.Store(path) as store:
        campaign = store.campaign("c", policy=POLICY, arms=["a", "b"])
        away.mkdir()
        files_of_store = list(tmp_path.glob("campaigns.db*"))
        for file in files_of_store:
            file.rename(away / file.name)
        for call in (campaign.ask, campaign.status, store.ping):
            with pytest.raises(sb.errors.StoreError, match=r"campaigns\.db was deleted or replaced; nothing was rec"):
                call()
        opened(path)
        with pytest.raises(sb.errors.StoreError, match="deleted or replaced"):
            campaign.ask()
        for file in tmp_path.glob("campaigns.db*"):
            file.unlink()
        for file in files_of_store:
            (away / file.name).rename(file)
        assert campaign.ask().number == 1


def test_a_full_disk_leaves_the_store_usable(tmp_path):
    """SQLite's limit of pages stands for the disk: the same error, without a disk to fill."""
    store = sb.Store(tmp_path / "campaigns.db")
    campaign = store.campaign("c", policy=POLICY, arms=["a", "b"])
    campaign.ask(count=10)
    store.close()
    limit = [(tmp_path / "campaigns.db").stat().st_size // 4096 + 2]
    connect = store._storage._open

    def limited():
        driver = connect()
        driver.execute(f"PRAGMA max_page_count={limit[0]}")
        return driver

    store._storage._open = limited
    with pytest.raises(sb.errors.StoreError, match=r"no space is left .* nothing was recorded: free some space"):
        campaign.ask(count=2000)
    assert campaign.status().decisions == 10
    campaign.tell(3, 0.5)  # operations that need no space go on
    limit[0] = 10**6
    store.close()
    assert campaign.ask().number == 11
    assert campaign.verify().ok


def test_a_file_that_may_not_be_written_is_explained(tmp_path):
    if os.geteuid() == 0:
        pytest.skip("root may write everything")
    path = tmp_path / "campaigns.db"
    opened(path)
    path.chmod(0o400)
    with pytest.raises(sb.errors.StoreError, match="cannot be opened for writing"):
        opened(path).ask()


def test_checkpoints_keep_the_log_short(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_CHECKPOINT", 200_000)
    campaign = sb.Store(tmp_path / "campaigns.db", synchronous="NORMAL").campaign("c", policy=POLICY, arms=["a", "b"])
    sizes = []
    for _ in range(60):
        campaign.ask(count=20)
        sizes.append(os.stat(tmp_path / "campaigns.db-wal").st_size)
    assert max(sizes) < 700_000
    assert (tmp_path / "campaigns.db").stat().st_size > 200_000
    assert campaign.verify().ok


def test_durability_is_the_default(tmp_path):
    for synchronous, level in (({}, 2), ({"synchronous": "NORMAL"}, 1)):
        with sb.Store(tmp_path / "campaigns.db", **synchronous) as store, store._storage.connection() as driver:
            for name, value in {"synchronous": level, "journal_mode": "wal", "wal_autocheckpoint": 0}.items():
                assert driver.execute(f"PRAGMA {name}").fetchone() == (value,)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_a_store_survives_a_fork(tmp_path):
    campaign = opened(tmp_path / "campaigns.db")
    campaign.ask()
    child = os.fork()
    if child == 0:
        os._exit(0 if campaign.ask().number == 2 else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert campaign.ask().number == 3
    assert campaign.verify().ok


@pytest.mark.skipif(os.name != "posix", reason="modes of files")
def test_a_new_file_is_readable_by_its_owner_alone(file_store, tmp_path):
    file_store.campaign("a", policy=sb.policies.UCB1(), arms=2).ask()
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}
