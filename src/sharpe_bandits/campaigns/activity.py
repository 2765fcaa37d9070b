"""Activity of a campaign over time, in at most 240 intervals of equal length, for plots of campaigns of any size.

The database aggregates the log incrementally: only new events are read, and intervals are merged in pairs as the
campaign grows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sqlalchemy as sa

from ..confidence_sequences import Moments, about_the_mean
from . import ledger as log
from .database import Database
from .schema import campaigns, events

#: Maximum number of intervals, and of arms with their own column: all others share one column.
INTERVALS, ARMS = 240, 100
#: Kinds of events that are counted, by the name of their array.
_KINDS = {
    "asked": (log.ASKED,),
    "rewarded": (log.REWARDED, log.REWARDED_LATE),
    "late": (log.REWARDED_LATE,),
    "expired": (log.EXPIRED,),
    "cancelled": (log.CANCELLED, log.CANCELLED_LATE),
}
#: Rewards, including default rewards: their number, and sums of their powers.
_SUMS = ("paid", "sum1", "sum2", "sum3", "sum4")


@dataclass
class Activity:
    """Counts and sums per interval and arm; arrays of shape (intervals, arms).

    Attributes
    ----------
    start, width : float
        start of the first interval (seconds since 1970), and length of each
    centre : float, optional
        subtracted from rewards before they are summed, so that squares lose no digits
    seq : int, optional
        number of the last event counted
    counts : dict[str, np.ndarray], optional
        "asked", "rewarded" (including late ones), "late", "expired", "cancelled"; "paid", all rewards including default
        rewards; "sum1" to "sum4": sums of powers of these minus ``centre``
    """

    start: float
    width: float = 1.0
    centre: float = 0.0
    seq: int = 0
    counts: dict[str, np.ndarray] = field(default_factory=lambda: {n: np.zeros((1, 0)) for n in (*_KINDS, *_SUMS)})

    @property
    def times(self) -> np.ndarray:
        """Ends of the intervals, in seconds since 1970."""
        return self.start + self.width * np.arange(1, len(self.counts["asked"]) + 1)

    def moments(self) -> Moments:
        """Moments of all rewards up to the end of each interval, per arm."""
        n, s1, s2, s3, s4 = (np.cumsum(self.counts[name], axis=0) for name in _SUMS)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = s1 / n
            variance = np.where(n > 1, np.maximum(s2 - n * mean * mean, 0.0) / (n - 1), np.nan)
            return Moments(n, self.centre + mean, variance, *about_the_mean(mean, s2 / n, s3 / n, s4 / n))

    def _fit(self, until: float, arms: int) -> None:
        """Make room for a time and for arms."""
        while (until - self.start) / self.width >= INTERVALS:
            self.width *= 2
            for name, values in self.counts.items():
                even = np.concatenate([values, np.zeros((len(values) % 2, values.shape[1]))])
                self.counts[name] = even[::2] + even[1::2]
        rows = int((until - self.start) / self.width) + 1
        for name, values in self.counts.items():
            grow = (max(rows - len(values), 0), max(min(arms, ARMS + 1) - values.shape[1], 0))
            self.counts[name] = np.pad(values, ((0, grow[0]), (0, grow[1])))

    def _take(self, rows: list[Any]) -> None:
        for key, count, *paid in rows:
            cell, kind = divmod(int(key), len(log.KINDS))
            place = divmod(cell, ARMS + 1)
            for name, kinds in _KINDS.items():
                if kind in kinds:
                    self.counts[name][place] += count
            for name, value in zip(_SUMS, paid, strict=True):
                self.counts[name][place] += value or 0.0


def activity(database: Database, campaign: int, arms: int, centre: float, known: Activity | None) -> Activity:
    """The activity up to now; ``known``, the result of an earlier call, is updated."""

    def work(connection: sa.Connection) -> tuple[Any, list[Any], Activity]:
        row = connection.execute(sa.select(campaigns).where(campaigns.c.id == campaign)).one()
        made = known if known is not None and known.seq <= row.events else Activity(row.created, centre=centre)
        made._fit(max(row.clock, row.created), arms)
        place = (events.c.at - made.start) / made.width
        interval = sa.cast(place if database.is_sqlite else sa.func.floor(place), sa.BigInteger)
        arm = sa.case((events.c.arm < ARMS, events.c.arm), else_=ARMS)
        d = events.c.reward - made.centre
        # One sort key, and each power computed once: SQLite is much faster this way. A limit keeps it from flattening
        # the subquery.
        rows = (
            sa.select(
                ((interval * (ARMS + 1) + arm) * len(log.KINDS) + events.c.kind).label("place"),
                d.label("d"),
                (d * d).label("square"),
            )
            .where(events.c.campaign == campaign, events.c.seq > made.seq, events.c.seq <= row.events)
            .where(events.c.arm.is_not(None), events.c.at >= made.start)
            .limit(-1 if database.is_sqlite else None)
            .subquery()
        )
        powers = rows.c.d, rows.c.square, rows.c.d * rows.c.square, rows.c.square * rows.c.square
        chosen = sa.select(rows.c.place, sa.func.count(), sa.func.count(rows.c.d), *map(sa.func.sum, powers)).group_by(
            rows.c.place
        )
        return row, list(connection.execute(chosen)), made

    row, rows, made = database.read(work)
    made._take(rows)
    made.seq = row.events
    return made
