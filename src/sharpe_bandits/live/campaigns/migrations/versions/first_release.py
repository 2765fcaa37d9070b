"""The tables of the first release with campaigns."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "sharpe_bandits_campaigns",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        sa.Column("settings", sa.Text, nullable=False),  # JSON
        sa.Column("created", sa.Float(53), nullable=False),  # times are seconds since 1970, by the database's clock
        sa.Column("events", sa.BigInteger, nullable=False),  # number of the last event
        sa.Column("clock", sa.Float(53), nullable=False),  # time of the last event; time never goes back
        sa.Column("next_expiry", sa.Float(53)),  # no lease runs out before this time
    )
    campaign = "sharpe_bandits_campaigns.id"
    op.create_table(
        "sharpe_bandits_decisions",
        sa.Column("campaign", sa.Integer, sa.ForeignKey(campaign), primary_key=True),
        sa.Column("number", sa.BigInteger, primary_key=True),
        sa.Column("arm", sa.Integer, nullable=False),
        sa.Column("key", sa.Text),
        sa.Column("worker", sa.Text),
        sa.Column("asked", sa.Float(53), nullable=False),
        sa.Column("expires", sa.Float(53)),
        sa.Column("probability", sa.Float(53)),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("reward", sa.Float(53)),
        sa.Column("told", sa.Float(53)),
    )
    op.create_index("sharpe_bandits_keys", "sharpe_bandits_decisions", ["campaign", "key"], unique=True)
    pending = sa.text("state = 'pending'")
    op.create_index(
        "sharpe_bandits_leases",
        "sharpe_bandits_decisions",
        ["campaign", "expires"],
        sqlite_where=pending,
        postgresql_where=pending,
    )
    op.create_table(
        "sharpe_bandits_events",
        sa.Column("campaign", sa.Integer, sa.ForeignKey(campaign), primary_key=True),
        sa.Column("seq", sa.BigInteger, primary_key=True),
        sa.Column("kind", sa.SmallInteger, nullable=False),  # an EventKind
        sa.Column("number", sa.BigInteger),
        sa.Column("arm", sa.Integer),
        sa.Column("reward", sa.Float(53)),
        sa.Column("name", sa.Text),  # of an arm that is added
        sa.Column("at", sa.Float(53), nullable=False),
    )
    op.create_table(
        "sharpe_bandits_snapshots",
        sa.Column("campaign", sa.Integer, sa.ForeignKey(campaign), primary_key=True),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
    )
