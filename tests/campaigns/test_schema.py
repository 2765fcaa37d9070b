"""The tables of a store are what the migrations make, and older ones are read."""

import pytest

import sharpe_bandits as sb
from sharpe_bandits.campaigns import schema
from sharpe_bandits.campaigns.migrations import scripts
from tests.campaigns.desks import opened


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
