"""Schema migrations between releases, with Alembic."""

from __future__ import annotations

from pathlib import Path

from alembic.runtime.environment import EnvironmentContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from ..schema import VERSION_TABLE


def upgrade(connection: Connection) -> None:
    """Upgrade the tables of a database, which may be empty, to the newest revision, within the caller's transaction."""
    from alembic.config import Config

    script = scripts()
    with EnvironmentContext(Config(), script, fn=lambda revision, _: script._upgrade_revs("head", revision)) as context:
        context.configure(connection=connection, version_table=VERSION_TABLE, transactional_ddl=False)
        context.run_migrations()


def scripts() -> ScriptDirectory:
    """All revisions."""
    return ScriptDirectory(str(Path(__file__).parent))
