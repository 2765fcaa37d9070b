"""When this campaign will be decided, and what it has gained, from its own estimates and pace."""

from __future__ import annotations

import math
from bisect import bisect_left
from typing import Literal

import numpy as np

from ..confidence_sequences import leader
from ..live.agents import Agent
from ..live.campaigns.activity import Activity
from ..objectives import Statistics
from ..results.metrics import Estimate

DAY = 86_400.0
#: The pace is measured over this many past seconds, and not of campaigns younger than the second number.
_RECENT, _SHORTEST = 7 * DAY, 3600.0
#: Rewards beyond which a campaign is not said to be decided ever, and the precision of their number.
_MOST, _STEP = 1e9, 1.01


def per_day(activity: Activity, now: float, kind: Literal["asked", "rewarded"]) -> Estimate | None:
    """Decisions ("asked") or rewards ("rewarded") per day, over the last seven days or the campaign's life if that is
    shorter; None if there were none, or in its first hour. The standard error is that of a Poisson process."""
    begin = max(activity.start, now - _RECENT)
    count = float(activity.counts[kind][activity.times > begin].sum())
    if not count or now - activity.start < _SHORTEST:
        return None
    days = max(now - begin, activity.width) / DAY
    return Estimate.normal(count / days, math.sqrt(count) / days)


def statistics_of(agent: Agent) -> Statistics:
    """The statistics of all arms, as arrays; costs count as negative rewards."""
    return Statistics(*np.array([tuple(statistics) for statistics in agent.statistics().values()], float).T)


def rewards_to_decide(agent: Agent) -> int | None:
    """How many more rewards separate the leader from all others, if arms are as estimated now and are played in the
    same shares; 0 if it is separated; None if it takes too many."""
    goal, statistics = agent.objective, statistics_of(agent)
    active = np.array([arm not in set(agent.retired) for arm in agent.arms])
    pulls = float(statistics.pulls.sum())
    if active.sum() < 2 or not pulls:
        return None

    def decided(step: int) -> bool:
        longer = statistics._replace(pulls=_STEP**step * statistics.pulls)
        return leader(longer, goal, among=active).probably_best

    steps = range(math.ceil(math.log(max(_MOST / pulls, _STEP), _STEP)))
    step = bisect_left(steps, True, key=decided)
    return None if step == len(steps) else math.ceil((_STEP**step - 1.0) * pulls)


def gain(agent: Agent) -> Estimate | None:
    """How much more a reward was on average than under an even split among the arms, positive if that is better; None
    if an arm has fewer than two rewards. The error is that of the arms' means."""
    statistics = statistics_of(agent)
    pulls, mean, variance = statistics.pulls, statistics.mean, statistics.variance
    if (pulls < 2).any():
        return None
    weights = pulls / pulls.sum() - 1 / len(pulls)
    return Estimate.normal(float(weights @ mean), math.sqrt(float(weights**2 @ (variance / pulls))))


def duration(days: float) -> str:
    """A number of days as text."""
    for length, unit in ((365.25, "years"), (30.44, "months"), (1.0, "days"), (1 / 24, "hours"), (1 / 1440, "minutes")):
        if days >= 2 * length:
            return f"{days / length:.2g} {unit}"
    return "less than 2 minutes"
