"""The tables of a store are those that the code names, and older ones are read."""

import pytest
import sqlalchemy as sa

import sharpe_bandits as sb
from sharpe_bandits.live.campaigns import schema
from sharpe_bandits.live.campaigns.migrations import scripts
from tests.live.campaigns.desks import opened


def test_the_newest_revision_is_what_migrations_lead_to(target):
    assert scripts().get_current_head() == schema.REVISION
    with sb.Store(target) as store, store._storage.engine.connect() as connection:
        tables = {name for name in sa.inspect(connection).get_table_names() if name.startswith(schema.PREFIX)}
        assert tables == {*schema.TABLES, schema.VERSION_TABLE}
        keys = sa.inspect(connection).get_indexes(schema.TABLES[1])
        assert ["campaign", "key"] in [index["column_names"] for index in keys if index["unique"]]
    with sb.Store(target) as store:
        assert store.upgrade() == (schema.REVISION, schema.REVISION)


def test_an_older_store_is_read_before_it_is_upgraded(tmp_path, monkeypatch):
    path = tmp_path / "campaigns.db"
    opened(path).ask()
    monkeypatch.setattr(schema, "REVISION", "0003")
    with sb.Store(path) as store:
        campaign = store.campaign("c")
        assert campaign.status().decisions == 1
        with pytest.raises(sb.errors.StoreError, match="upgrade it: sharpe-bandits campaign upgrade"):
            campaign.ask()
