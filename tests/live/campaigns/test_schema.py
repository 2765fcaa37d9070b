"""The tables of a store are those that the code names, and a later revision is reached from an earlier one."""

import pytest
import sqlalchemy as sa

import sharpe_bandits as sb
from sharpe_bandits.live.campaigns import schema
from tests.live.campaigns.desks import POLICY


def test_the_tables_are_those_that_the_code_names(target):
    with sb.Store(target) as store, store._storage.engine.connect() as connection:
        tables = {name for name in sa.inspect(connection).get_table_names() if name.startswith(schema.PREFIX)}
        assert tables == {*schema.TABLES, schema.VERSION_TABLE}
        keys = sa.inspect(connection).get_indexes(schema.TABLES[1])
        assert ["campaign", "key"] in [index["column_names"] for index in keys if index["unique"]]


def test_a_later_revision_upgrades_a_store_that_it_opens(target, monkeypatch):
    """As a release with one more column does; a server of the older one stops writing."""
    with sb.Store(target) as older:
        campaign = older.campaign("c", policy=POLICY, arms=["a", "b"])
        campaign.ask()
        statement = f"ALTER TABLE {schema.TABLES[0]} ADD COLUMN colour TEXT"
        monkeypatch.setitem(schema.REVISIONS, "0004", [statement])
        monkeypatch.setattr(schema, "REVISION", "0004")
        for _ in range(2):
            with sb.Store(target) as newer:
                columns = sa.inspect(newer._storage.engine).get_columns(schema.TABLES[0])
                assert columns[-1]["name"] == "colour"
                assert newer.campaign("c").tell(1, 0.5) is None
        monkeypatch.undo()
        assert campaign.status().rewards == 1
        with pytest.raises(sb.errors.StoreError, match="'0004' by a newer release; nothing was recorded: restart"):
            campaign.ask()
