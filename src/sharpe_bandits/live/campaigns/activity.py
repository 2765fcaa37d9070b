"""Activity of a campaign over time, in at most 240 intervals of equal length, for plots of campaigns of any size.

The database aggregates the log incrementally: only new events are read, and intervals are merged in pairs as the
campaign grows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from ...objectives import Objective
from ...objectives.accumulator import FeatureAccumulator
from ...objectives.statistics import Statistics, about_the_mean
from ...play.statistics import FEATURE
from ...policies.base import Direction
from ..agents import Agent
from .records import Event, EventKind, plain_details
from .state import with_amendments
from .storage import Records

#: Maximum number of intervals, and of arms with their own column: all others share one column.
INTERVALS, ARMS = 240, 100
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
    centre : subtracted from rewards before they are summed, so that squares lose no digits
    seq : number of the last event counted
    counts
        "asked", "rewarded" (including late ones), "late", "expired", "cancelled"; "paid", all rewards including default
        rewards; "sum1" to "sum4": sums of powers of these minus ``centre``
    features
        statistics of the objective's feature, if it has one, after the last reward in each interval; NaN without one
    """

    start: float
    width: float = 1.0
    centre: float = 0.0
    seq: int = 0
    counts: dict[str, np.ndarray] = field(default_factory=lambda: {n: np.zeros((1, 0)) for n in (*_KINDS, *_SUMS)})
    features: dict[str, np.ndarray] = field(default_factory=lambda: {n: np.zeros((1, 0)) for n in FEATURE})
    _accumulators: dict[int, FeatureAccumulator] = field(default_factory=dict)

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
        if not self._accumulators:
            return statistics
        seen = np.where(np.isnan(self.features["feature"]), 0, np.arange(len(n))[:, None])
        latest = np.maximum.accumulate(seen, axis=0)
        return statistics._replace(
            **{k: np.take_along_axis(values, latest, axis=0) for k, values in self.features.items()}
        )

    def _fit(self, until: float, arms: int) -> None:
        while (until - self.start) / self.width >= INTERVALS:
            self.width *= 2
            for columns, nothing in self._columns():
                for name, values in columns.items():
                    even = np.pad(values, ((0, len(values) % 2), (0, 0)), constant_values=nothing)
                    first, second = even[::2], even[1::2]
                    columns[name] = first + second if nothing == 0 else np.where(np.isnan(second), first, second)
        rows = int((until - self.start) / self.width) + 1
        for columns, nothing in self._columns():
            for name, values in columns.items():
                grow = (max(rows - len(values), 0), max(min(arms, ARMS + 1) - values.shape[1], 0))
                columns[name] = np.pad(values, ((0, grow[0]), (0, grow[1])), constant_values=nothing)

    def _columns(self) -> list[tuple[dict[str, np.ndarray], float]]:
        return [(self.counts, 0.0), (self.features, math.nan)]

    def _add(self, event: Event, objective: Objective, direction: Direction) -> None:
        """Add a reward to the statistics of the objective's feature."""
        if event.reward is None or event.arm is None or event.arm >= ARMS or event.at < self.start:
            return
        if event.arm not in self._accumulators:
            self._accumulators[event.arm] = FeatureAccumulator(objective)
        sign, z = 1.0 if direction == "max" else -1.0, plain_details(event.details).get("covariate", math.nan)
        statistics = self._accumulators[event.arm].add(sign * event.reward, sign * z)
        place = int((event.at - self.start) / self.width), event.arm
        for name, value in zip(FEATURE, statistics, strict=True):
            self.features[name][place] = value

    def _correct(self, records: Records, upto: int) -> None:
        """Replace rewards that were amended since the last call."""
        events = [event for event in records.events(self.seq, upto) if event.kind == EventKind.AMENDED]
        times = {row.number: row.told for row in records.decisions(numbers=[event.number or 0 for event in events])}
        for event in events:
            details, at = plain_details(event.details), times[event.number or 0] or self.start
            place = max(int((at - self.start) / self.width), 0), min(event.arm or 0, ARMS)
            for power, name in enumerate(_SUMS[1:], 1):
                old, new = details["old"] - self.centre, details["new"] - self.centre
                self.counts[name][place] += new**power - old**power

    @classmethod
    def upto_now(cls, records: Records, agent: Agent, centre: float, known: Activity | None) -> Activity:
        """The activity of a campaign with this agent up to now; ``known``, the result of an earlier call, is updated.

        If the agent's objective has a feature, all new events are read; otherwise the database aggregates them.
        """
        head = records.head()
        fits = known is not None and known.seq <= head.events
        activity = known if known is not None and fits else cls(head.created, centre=centre)
        activity._fit(max(head.clock, head.created), len(agent.arms))
        since = activity.seq, head.events, activity.start, activity.width, activity.centre
        amended = False
        for cell in records.activity(*since, ARMS):
            amended |= cell.kind == EventKind.AMENDED
            place = cell.interval, cell.arm
            for name, kinds in _KINDS.items():
                if cell.kind in kinds:
                    activity.counts[name][place] += cell.events
            sums = cell.rewards, cell.sum1, cell.sum2, cell.sum3, cell.sum4
            for name, value in zip(_SUMS, sums, strict=True):
                activity.counts[name][place] += value or 0.0
        if amended:
            activity._correct(records, head.events)
        objective = agent.objective
        if objective is not None and objective.has_feature:
            if amended:  # a feature has no way back: it is learnt again
                activity._accumulators = {}
            for event in with_amendments(lambda: records.events(0 if amended else activity.seq, head.events)):
                activity._add(event, objective, agent.direction)
        activity.seq = head.events
        return activity
