"""The tables of a store are those that the code names, and a later revision is reached from an earlier one."""

import pytest

import sharpe_bandits as sb
from sharpe_bandits.live.campaigns import schema
from sharpe_bandits.live.campaigns.records import DecisionRow, Event
from sharpe_bandits.live.campaigns.storage import CampaignRow
from tests.live.campaigns.desks import POLICY


def test_the_tables_are_those_that_the_code_names(target):
    fields = CampaignRow._fields, DecisionRow._fields, Event._fields, ("seq", "state"), ("version_num",)
    with sb.Store(target) as store, store._storage.connection() as driver:
        for table, columns in zip((*schema.TABLES, schema.VERSION_TABLE), fields, strict=True):
            assert set(columns) <= {about[0] for about in driver.execute(f"SELECT * FROM {table}").description}


def test_a_later_revision_upgrades_a_store_that_it_opens(target, monkeypatch):
    """As a release with one more column does; a server of the older one stops writing."""
    with sb.Store(target) as older:
        campaign = older.campaign("c", policy=POLICY, arms=["a", "b"])
        campaign.ask()
        statement = f"ALTER TABLE {schema.TABLES[0]} ADD COLUMN colour TEXT"
        monkeypatch.setitem(schema.REVISIONS, "9999", [statement])
        monkeypatch.setattr(schema, "REVISION", "9999")
        for _ in range(2):
            with sb.Store(target) as newer:
                assert newer._storage._select(f"SELECT colour FROM {schema.TABLES[0]}") == [(None,)]
                assert newer.campaign("c").tell(1, 0.5) is None
        monkeypatch.undo()
        assert campaign.status().rewards == 1
        with pytest.raises(sb.errors.StoreError, match="'9999' by a newer release; nothing was recorded: restart"):
            campaign.ask()


def test_checkpoints_that_amendments_would_make_wrong_go(target):
    with sb.Store(target) as store:
        storage = store._storage
        campaign = store.campaign("c", policy=POLICY, arms=["a", "b"])
        campaign.tell(campaign.ask(), 0.5)
        kept = f"INSERT INTO {schema.TABLES[2]} (campaign, seq, kind, at, number) VALUES (1, ?, -1, 0, 1)"
        for statement, values in (
            (kept, (-1,)),
            (kept, (-3,)),
            (f"UPDATE {schema.VERSION_TABLE} SET version_num = ?", ("0003",)),
        ):
            storage._transaction(
                lambda driver, s=statement, v=values: driver.execute(s, v), storage.begin_write, "COMMIT"
            )
    with sb.Store(target) as store:
        rows = store._storage._select(f"SELECT seq FROM {schema.TABLES[2]} WHERE seq < 1")
        assert [tuple(row) for row in rows] == [(-1,)], "the one that tells where archived events are"
