"""Details of events and decisions, and the hash chain of the log."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    for table, columns in {
        "campaigns": ["hash"],  # of the last event
        "events": ["details", "hash"],  # JSON; SHA-256 of the event and of the hash before it
        "decisions": ["details", "measures"],  # JSON: what was known when it was made, and what came with its reward
    }.items():
        for column in columns:
            op.add_column(f"sharpe_bandits_{table}", sa.Column(column, sa.Text))
