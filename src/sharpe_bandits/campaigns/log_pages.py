"""The log of a campaign, page by page, newest entry first, searchable."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from .answers import LogEntry
from .database import Database
from .decisions import given_key, utc_time
from .ledger import KINDS
from .schema import decisions, events


def log_page(
    database: Database, campaign: int, arms: list[Any], before: int | None, count: int, search: str
) -> list[LogEntry]:
    """At most ``count`` entries before number ``before`` that match ``search``: the number of a decision, or part of a
    kind, of the name of an arm, of a key or of a worker.
    """
    chosen = sa.select(events).where(events.c.campaign == campaign).order_by(events.c.seq.desc()).limit(count)
    if before is not None:
        chosen = chosen.where(events.c.seq < before)
    if text := search.strip():
        chosen = chosen.where(_found(campaign, text, arms))
    page = chosen.subquery()  # decisions are joined to the entries of a page, not to all of the log
    whose = sa.and_(decisions.c.campaign == page.c.campaign, decisions.c.number == page.c.number)
    told = sa.select(page, decisions.c.key, decisions.c.worker).select_from(page.outerjoin(decisions, whose))
    rows = database.read(lambda connection: list(connection.execute(told.order_by(page.c.seq.desc()))))
    return [
        LogEntry(
            row.seq,
            KINDS[row.kind],
            utc_time(row.at),
            row.number,
            row.name if row.arm is None else arms[row.arm],
            row.reward,
            given_key(row.key),
            row.worker,
        )
        for row in rows
    ]


def _found(campaign: int, text: str, arms: list[Any]) -> sa.ColumnElement[bool]:
    if text.isascii() and text.isdigit() and len(text) < 16:
        return events.c.number == int(text)
    kinds = [number for number, words in enumerate(KINDS) if text.lower() in words]
    named = [number for number, arm in enumerate(arms) if text.lower() in str(arm).lower()]
    like = [column.icontains(text, autoescape=True) for column in (decisions.c.key, decisions.c.worker)]
    # Decisions are searched once, not once per event.
    told_of = sa.select(decisions.c.number).where(decisions.c.campaign == campaign, sa.or_(*like))
    added = events.c.name.icontains(text, autoescape=True)
    return sa.or_(events.c.kind.in_(kinds), events.c.arm.in_(named[:500]), added, events.c.number.in_(told_of))
