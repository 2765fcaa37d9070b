"""Stores: what is no store is refused with the remedy, and many processes may make one at once."""

import multiprocessing
import os
import sqlite3
from contextlib import closing

import pytest

import sharpe_bandits as sb
from sharpe_bandits.live.campaigns import schema
from tests.live.campaigns.desks import POLICY, opened


def foreign(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE orders (x)")


def damaged(path):
    with sb.Store(path) as store:
        store.campaign("c", policy=POLICY, arms=["a", "b"]).ask()
    content = bytearray(path.read_bytes())
    content[4096:] = os.urandom(len(content) - 4096)
    path.write_bytes(content)


def of_another_version(path):
    with sb.Store(path) as store:
        store.campaign("c", policy=POLICY, arms=["a", "b"])
        with store._storage.connection() as driver:
            driver.execute(f"UPDATE {schema.VERSION_TABLE} SET version_num = '0001'")


@pytest.mark.parametrize(
    ("prepare", "said"),
    [
        (lambda path: path.write_text("number,reward\n1,0.5\n" * 100), "not a store"),
        (foreign, "a database of another application .*orders"),
        (damaged, "is damaged"),
        (of_another_version, r"another release \(revision '0001'\)"),
    ],
    ids=["text", "foreign", "damaged", "another version"],
)
def test_what_is_no_store_is_refused_and_left_alone(prepare, said, tmp_path):
    path = tmp_path / "campaigns.db"
    prepare(path)
    before = path.read_bytes()
    with pytest.raises(sb.errors.UnreadableDataError, match=said):
        opened(path).ask()
    assert path.read_bytes() == before


def test_paths_and_urls_that_are_none(tmp_path, monkeypatch):
    for target, said in (
        (":memory:", "a file's path"), (7, "a file's path"), ("mysql://host/x", "PostgreSQL database"),
        ("://", "PostgreSQL database"), ("postgresql://host:port/x", "is not a URL"),
    ):  # fmt: skip
        with pytest.raises(sb.errors.InvalidInputError, match=said):
            sb.Store(target)
    with pytest.raises(sb.errors.StoreError, match=r"cannot be opened .*folder"):
        sb.Store(tmp_path / "no" / "x.db")
    with pytest.raises(sb.errors.StoreError, match="cannot be opened"):
        sb.Store(tmp_path)
    with pytest.raises(sb.errors.StoreError, match=r"there is no store .*create a campaign first"):
        sb.Store(tmp_path / "x.db", create=False)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(sb.errors.StoreError, match=r"failed: .*check the server and the URL"):
        sb.Store(f"postgresql://tester@/x?host={tmp_path}", timeout=0.2)


def first_use(path, gate):
    gate.wait()
    with sb.Store(path) as store:
        return store.campaign("c", policy=POLICY, arms=["a", "b"]).ask().number


def test_many_processes_may_make_one_store_at_once(target):
    context = multiprocessing.get_context("spawn")
    with context.Manager() as manager, context.Pool(2) as pool:
        gate = manager.Barrier(2)
        assert sorted(pool.starmap(first_use, [(target, gate)] * 2)) == [1, 2]


def test_the_library_says_what_it_needs(monkeypatch):
    monkeypatch.setattr("sharpe_bandits.errors.find_spec", lambda name: None)
    with pytest.raises(sb.errors.MissingLibraryError, match=r"pip install 'sharpe-bandits\[live\]'"):
        sb.Store("postgresql://localhost/x")


def test_a_clock_that_jumps_forward_expires_nothing_until_it_is_accepted(file_store, clock):
    campaign = file_store.campaign("a", policy=sb.policies.UCB1(), arms=2, lease="1 hour", default_reward=0.0)
    campaign.ask(count=3)
    clock[0] += 86_400
    with pytest.raises(sb.errors.StoreError, match="jumped forward by 86,400 seconds"):
        campaign.ask()
    assert "jumped forward" in campaign.status().clock_refusal
    clock[0] -= 86_400
    assert campaign.status().clock_refusal is None
    campaign.ask()
    assert campaign.status().pending == 4
    clock[0] += 86_400
    with pytest.raises(sb.errors.StoreError, match="accept_clock"):
        campaign.tell(1, 0.5)
    campaign.accept_clock()
    campaign.ask()
    assert (campaign.status().expired, campaign.status().pending) == (4, 1)
    assert campaign.verify().ok
