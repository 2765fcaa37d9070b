"""Stores: what is no store is refused with the remedy, and what fails leaves the store as it was."""

import multiprocessing
import os
import sqlite3
import sys

import pytest
import sqlalchemy as sa

import sharpe_bandits as sb
from sharpe_bandits.campaigns import database as databases
from sharpe_bandits.campaigns import schema
from sharpe_bandits.campaigns.migrations import scripts

POLICY = sb.ScaleFreeUCB(L=1e-4)


def opened(path):
    return sb.Store(path).campaign("c", policy=POLICY, arms=["a", "b"])


def foreign(path):
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE orders (x)")
    connection.commit()
    connection.close()


def damaged(path):
    with sb.Store(path) as store:
        store.campaign("c", policy=POLICY, arms=["a", "b"]).ask()
    content = bytearray(path.read_bytes())
    content[4096:] = os.urandom(len(content) - 4096)
    path.write_bytes(content)


def newer(path):
    with sb.Store(path) as store:
        store.campaign("c", policy=POLICY, arms=["a", "b"])
    connection = sqlite3.connect(path)
    connection.execute(f"UPDATE {schema.VERSION_TABLE} SET version_num = '9999'")
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    ("prepare", "said"),
    [
        (lambda path: path.write_text("number,reward\n1,0.5\n" * 100), "not an SQLite file"),
        (foreign, "a database of something else .*orders"),
        (damaged, "is damaged"),
        (newer, "'9999'.* newer one; upgrade sharpe-bandits"),
    ],
    ids=["text", "foreign", "damaged", "newer"],
)
def test_what_is_no_store_is_refused_and_left_alone(prepare, said, tmp_path):
    path = tmp_path / "campaigns.db"
    prepare(path)
    before = path.read_bytes()
    with pytest.raises(sb.UnreadableDataError, match=said):
        opened(path).ask()
    assert path.read_bytes() == before


def test_paths_and_urls_that_are_none(tmp_path, monkeypatch):
    for target, said in (
        (":memory:", "path of a file"), (7, "path of a file"), ("mysql://host/x", "PostgreSQL database"),
        ("://", "is not a URL"),
    ):  # fmt: skip
        with pytest.raises(sb.InvalidInputError, match=said):
            sb.Store(target)
    with pytest.raises(sb.StoreError, match="there is no folder"):
        sb.Store(tmp_path / "no" / "x.db")
    with pytest.raises(sb.StoreError, match="is not a file"):
        sb.Store(tmp_path)
    with pytest.raises(sb.StoreError, match=r"there is no store .*create a campaign first"):
        sb.Store(tmp_path / "x.db", create=False)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(sb.StoreError, match=r"failed: .*check the server and the URL"):
        sb.Store(f"postgresql://tester@/x?host={tmp_path}", timeout=0.2)


def test_network_file_systems_are_refused(tmp_path, monkeypatch):
    mounts = tmp_path / "mounts"
    mounts.write_text(f"/dev/vda / ext4 rw 0 0\nserver:/home {tmp_path} nfs4 rw 0 0\nx {tmp_path}/local tmpfs rw 0 0\n")
    (tmp_path / "local").mkdir()
    assert databases.file_system(tmp_path, mounts) == "nfs4"
    assert databases.file_system(tmp_path / "local", mounts) == "tmpfs"
    assert databases.file_system(tmp_path.parent, mounts) == "ext4"
    monkeypatch.setattr(databases, "file_system", lambda folder: "nfs4")
    with pytest.raises(sb.StoreError, match=r"network file system \(nfs4\).* PostgreSQL"):
        sb.Store(tmp_path / "x.db")


def test_a_lock_that_is_held_is_waited_for_and_then_explained(tmp_path):
    path = tmp_path / "campaigns.db"
    campaign = opened(path)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with sb.Store(path, timeout=0.2) as store:
        waiting = store.campaign("c")
        assert waiting.status().decisions == 0  # reading goes on
        with pytest.raises(sb.StoreError, match=r"locked by another process for 0.2 seconds; nothing was recorded"):
            waiting.ask()
        other.execute("ROLLBACK")
        assert waiting.ask().number == 1
    assert campaign.verify().ok


def test_a_full_disk_leaves_the_store_usable(tmp_path):
    """SQLite's limit of pages stands for the disk: the same error, without a disk to fill."""
    store = sb.Store(tmp_path / "campaigns.db")
    campaign = store.campaign("c", policy=POLICY, arms=["a", "b"])
    campaign.ask(count=10)
    store.close()
    limit = [(tmp_path / "campaigns.db").stat().st_size // 4096 + 2]
    sa.event.listen(store._database.engine, "connect", lambda c, _: c.execute(f"PRAGMA max_page_count={limit[0]}"))
    with pytest.raises(sb.StoreError, match=r"no room is left .* nothing was recorded: make room"):
        campaign.ask(count=2000)
    assert campaign.status().decisions == 10
    campaign.tell(3, 0.5)  # what needs no room goes on
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
    with pytest.raises(sb.StoreError, match="cannot be opened for writing"):
        opened(path).ask()


def test_checkpoints_keep_the_log_short(tmp_path, monkeypatch):
    monkeypatch.setattr(databases, "_CHECKPOINT", 200_000)
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
        with (
            sb.Store(tmp_path / "campaigns.db", **synchronous) as store,
            store._database.engine.connect() as connection,
        ):
            assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == level
            assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
            assert connection.exec_driver_sql("PRAGMA wal_autocheckpoint").scalar() == 0


def test_the_schema_is_what_the_migrations_make(target):
    """The tables in the code, and those that migrations lead to, are the same; so is the newest revision."""
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    assert scripts().get_current_head() == schema.REVISION
    with sb.Store(target) as store, store._database.engine.connect() as connection:
        ours = {"include_name": lambda name, kind, _: kind != "table" or name != schema.VERSION_TABLE}
        context = MigrationContext.configure(connection, opts={"compare_type": True, **ours})
        assert compare_metadata(context, schema.metadata) == []
    with sb.Store(target) as store:
        assert store.upgrade() == (schema.REVISION, schema.REVISION)


def test_an_older_store_is_read_before_it_is_upgraded(tmp_path, monkeypatch):
    path = tmp_path / "campaigns.db"
    opened(path).ask()
    monkeypatch.setattr(schema, "REVISION", "0002")
    with sb.Store(path) as store:
        campaign = store.campaign("c")
        assert campaign.status().decisions == 1
        with pytest.raises(sb.StoreError, match="upgrade it: sharpe-bandits campaign upgrade"):
            campaign.ask()


def first_use(path, gate):
    gate.wait()
    with sb.Store(path) as store:
        return store.campaign("c", policy=POLICY, arms=["a", "b"]).ask().number


def test_many_processes_may_make_one_store_at_once(target):
    context = multiprocessing.get_context("spawn")
    with context.Manager() as manager, context.Pool(2) as pool:
        gate = manager.Barrier(2)
        assert sorted(pool.starmap(first_use, [(target, gate)] * 2)) == [1, 2]


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


def test_the_library_says_what_it_needs(monkeypatch):
    monkeypatch.delitem(vars(sb), "Store", raising=False)  # as if it was never asked for
    monkeypatch.setattr("sharpe_bandits.errors.find_spec", lambda name: None)
    with pytest.raises(sb.MissingLibraryError, match=r"pip install 'sharpe-bandits\[live\]'"):
        _ = sb.Store
