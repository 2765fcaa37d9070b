"""The tables of a store are those that the code names, and older ones are read."""

import shutil
from pathlib import Path

import pytest
import sqlalchemy as sa

import sharpe_bandits as sb
from sharpe_bandits.live.campaigns import schema
from tests.live.campaigns.desks import opened


def test_the_tables_are_those_that_the_code_names(target):
    with sb.Store(target) as store, store._storage.engine.connect() as connection:
        tables = {name for name in sa.inspect(connection).get_table_names() if name.startswith(schema.PREFIX)}
        assert tables == {*schema.TABLES, schema.VERSION_TABLE}
        keys = sa.inspect(connection).get_indexes(schema.TABLES[1])
        assert ["campaign", "key"] in [index["column_names"] for index in keys if index["unique"]]
    with sb.Store(target) as store:
        assert store.upgrade() == (schema.REVISION, schema.REVISION)


def test_an_upgraded_store_has_the_tables_of_a_new_one(tmp_path):
    """Column by column and index by index, except that added columns come last."""

    def tables(path):
        with sb.Store(path) as store:
            store.upgrade()
            with store._storage.engine.connect() as connection:
                inspector = sa.inspect(connection)
                return {
                    table: (
                        sorted(
                            (one["name"], str(one["type"]), one["nullable"]) for one in inspector.get_columns(table)
                        ),
                        inspector.get_pk_constraint(table)["constrained_columns"],
                        sorted(
                            (one["name"], one["column_names"], one["unique"]) for one in inspector.get_indexes(table)
                        ),
                        [
                            (one["constrained_columns"], one["referred_table"])
                            for one in inspector.get_foreign_keys(table)
                        ],
                    )
                    for table in inspector.get_table_names()
                }

    shutil.copy(Path(__file__).parent / "data" / "first_release.db", tmp_path / "old.db")
    assert tables(tmp_path / "old.db") == tables(tmp_path / "new.db")


def test_an_older_store_is_read_before_it_is_upgraded(tmp_path, monkeypatch):
    path = tmp_path / "campaigns.db"
    opened(path).ask()
    monkeypatch.setattr(schema, "REVISION", "0003")
    with sb.Store(path) as store:
        campaign = store.campaign("c")
        assert campaign.status().decisions == 1
        with pytest.raises(sb.errors.StoreError, match="upgrade it: sharpe-bandits campaign upgrade"):
            campaign.ask()
