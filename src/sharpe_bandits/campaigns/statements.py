"""The statements that every operation of a campaign executes, compiled once for a kind of database."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from .database import Database, Prepared, parameters
from .ledger import Event
from .schema import campaigns, decisions, events, snapshots

#: Columns of a new decision.
ASKED_COLUMNS = ("number", "arm", "key", "worker", "asked", "expires", "probability", "state")


#: Statements by whether the database is a file.
_made: dict[bool, Statements] = {}


def statements_of(database: Database) -> Statements:
    """The statements for a database; compiling them takes longer than opening a campaign."""
    kind = database.is_sqlite
    if kind not in _made:
        _made[kind] = Statements(database)
    return _made[kind]


class Statements:
    """Prepared statements, named by what they do."""

    def __init__(self, database: Database) -> None:
        of: Any = sa.bindparam("of", type_=sa.Integer)
        which: Any = sa.bindparam("which")
        row = sa.select(campaigns, database.seconds().label("now")).where(campaigns.c.id == of)
        one = decisions.c.campaign == of
        compiled = database.prepared
        self.read = compiled(row)
        self.lock = self.read if database.is_sqlite else compiled(row.with_for_update(of=campaigns))
        self.by_number = compiled(sa.select(decisions).where(one, decisions.c.number == which))
        self.by_key = compiled(sa.select(decisions).where(one, decisions.c.key == which))
        #: The same for many, by column and by how many.
        self._by_many: dict[tuple[str, int], Prepared] = {}
        self._compiled, self._one = compiled, one
        self.kept = compiled(sa.select(snapshots).where(snapshots.c.campaign == of))
        self.since = compiled(
            sa.select(*(events.c[name] for name in Event._fields))
            .where(events.c.campaign == of, events.c.seq > sa.bindparam("after"), events.c.seq <= sa.bindparam("upto"))
            .order_by(events.c.seq)
        )
        self.decide = database.insertion(decisions, ["campaign", *ASKED_COLUMNS])
        self.log = database.insertion(events, events.c.keys())
        self.settle = database.changes(decisions, ["campaign", "number"], ["state", "reward", "told"])
        new = parameters(campaigns, ("events", "clock", "next_expiry"))
        self.advance = compiled(campaigns.update().where(campaigns.c.id == of).values(new))
        folded = parameters(snapshots, ("seq", "state"))
        self.snapshot = compiled(snapshots.update().where(snapshots.c.campaign == of).values(folded))

    def decisions(self, connection: sa.Connection, campaign: int, column: str, wanted: list[Any]) -> list[Any]:
        """Decisions of a campaign by number or by key."""
        if len(wanted) == 1:
            single = self.by_key if column == "key" else self.by_number
            return single(connection, {"of": campaign, "which": wanted[0]})
        size = 1 << (len(wanted) - 1).bit_length()  # few sizes, so that statements are compiled once
        names = [f"which{i}" for i in range(size)]
        if (column, size) not in self._by_many:
            listed = decisions.c[column].in_([sa.bindparam(name) for name in names])
            self._by_many[column, size] = self._compiled(sa.select(decisions).where(self._one, listed))
        filled = [*wanted, *[wanted[-1]] * (size - len(wanted))]
        return self._by_many[column, size](connection, {"of": campaign, **dict(zip(names, filled, strict=True))})
