"""SQLite and PostgreSQL keep the contract of storages."""

import pytest

from sharpe_bandits.live.campaigns.postgresql import PostgreSQL
from sharpe_bandits.live.campaigns.sqlite import SQLite
from sharpe_bandits.testing import StorageContract


class TestOurs(StorageContract):
    @pytest.fixture
    def open_storage(self, target):
        """Opens the database again and again; all of these are closed in the end."""
        opened = []

        def open_storage():
            url = str(target)
            opened.append(PostgreSQL(url, 30.0, True) if "://" in url else SQLite(url, 30.0, "NORMAL", True))
            return opened[-1]

        yield open_storage
        for storage in opened:
            storage.close()
