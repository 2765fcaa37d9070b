"""Activity of a campaign over time, in at most 240 intervals of equal length, for plots of campaigns of any size.

Only new events are read, and intervals are merged in pairs as the campaign grows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np

from ...objectives.statistics import Statistics, about_the_mean
from ...policies.base import Direction
from .records import Event, EventKind, plain_details
from .storage import Records

#: Maximum number of intervals, and of arms with their own column: all others share one column.
INTERVALS, ARMS = 240, 100
#: Events in memory at a time.
_PAGE = 20_000
#: Kinds of events that are counted, by the name of their array.
_KINDS = {
    "asked": (EventKind.ASKED,),
    "rewarded": (EventKind.REWARDED, EventKind.REWARDED_LATE),
    "late": (EventKind.REWARDED_LATE,),
    "expired": (EventKind.EXPIRED,),
    "cancelled": (EventKind.CANCELLED, EventKind.CANCELLED_LATE),
}
#: Rewards, including default rewards: their number, and sums of their powers.
_SUMS = ("paid", "sum1", "sum2", "sum3", "sum4")


@dataclass
class Activity:
    """Counts and sums per interval and arm; arrays of shape (intervals, arms).

    Attributes
    ----------
    start, width : start of the first interval (seconds since 1970), and length of each
    centre : mean of the first rewards, subtracted from all before they are summed, so that squares lose no digits
    seq : number of the last event counted
    counts
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

    def statistics(self, direction: Direction = "max") -> Statistics:
        """Statistics of all rewards up to the end of each interval, per arm; of minus the costs, if these are told."""
        n, s1, s2, s3, s4 = (np.cumsum(self.counts[name], axis=0) for name in _SUMS)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = s1 / n
            variance = np.where(n > 1, np.maximum(s2 - n * mean * mean, 0.0) / (n - 1), np.nan)
            statistics = Statistics(n, self.centre + mean, variance, *about_the_mean(mean, s2 / n, s3 / n, s4 / n))
        if direction == "min":
            statistics = statistics._replace(mean=-statistics.mean, third=-statistics.third)
        return statistics

    def _fit(self, until: float, arms: int) -> None:
        while (until - self.start) / self.width >= INTERVALS:
            self.width *= 2
            for name, values in self.counts.items():
                even = np.pad(values, ((0, len(values) % 2), (0, 0)))
                self.counts[name] = even[::2] + even[1::2]
        rows = int((until - self.start) / self.width) + 1
        for name, values in self.counts.items():
            grow = max(rows - len(values), 0), max(min(arms, ARMS + 1) - values.shape[1], 0)
            self.counts[name] = np.pad(values, ((0, grow[0]), (0, grow[1])))

    def _places(self, at: Any, arm: Any) -> tuple[np.ndarray, np.ndarray]:
        """Where events at these times, of these arms, are counted."""
        interval = np.floor((np.asarray(at, float) - self.start) / self.width).astype(int)
        return np.clip(interval, 0, len(self.counts["asked"]) - 1), np.minimum(np.asarray(arm, int), ARMS)

    def _add(self, events: Sequence[Event]) -> None:
        places = self._places([event.at for event in events], [event.arm for event in events])
        kinds = np.array([event.kind for event in events])
        rewards = np.array([event.reward for event in events], float)
        if not self.counts["paid"].any() and not np.isnan(rewards).all():
            self.centre = float(np.nanmean(rewards))
        for name, counted in _KINDS.items():
            np.add.at(self.counts[name], places, np.isin(kinds, counted))
        for power, name in enumerate(_SUMS):
            np.add.at(self.counts[name], places, np.where(np.isnan(rewards), 0.0, (rewards - self.centre) ** power))

    def _correct(self, records: Records, amendments: Sequence[Event]) -> None:
        """Replace rewards that were amended."""
        times = {row.number: row.told for row in records.decisions(numbers=[one.number or 0 for one in amendments])}
        for event in amendments:
            place = self._places(times[event.number or 0] or self.start, event.arm)
            old, new = (plain_details(event.details)[name] - self.centre for name in ("old", "new"))
            for power, name in enumerate(_SUMS):
                self.counts[name][place] += new**power - old**power

    @classmethod
    def upto_now(cls, records: Records, arms: int, known: Activity | None) -> Activity:
        """The activity of a campaign up to now; ``known``, the result of an earlier call, is updated."""
        head = records.head()
        fits = known is not None and known.seq <= head.events
        activity = known if known is not None and fits else cls(head.created)
        activity._fit(max(head.clock, head.created), arms)
        archive = getattr(records, "archive", lambda: None)()  # not read: its files may be elsewhere
        first = max(activity.seq, archive.events if archive else 0)
        events = (event for event in records.events(first, head.events) if event.arm is not None)
        while page := list(islice(events, _PAGE)):
            activity._add(page)
            activity._correct(records, [event for event in page if event.kind == EventKind.AMENDED])
        activity.seq = head.events
        return activity
