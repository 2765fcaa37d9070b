"""What the dashboard draws of a campaign: added up on the server, so that a million decisions are no more to send."""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np

from ..agents import Agent
from ..campaigns import Campaign
from ..campaigns.activity import ARMS, Activity
from ..campaigns.status import CONFIDENCE, Status, objective_interval
from ..objectives import Objective, Sharpe
from ..validation import is_number
from .outlook import rewards_per_day

#: Arms that are drawn over time: those with the most pulls; all others are added up.
DRAWN = 8
#: Rewards from which on an estimate is drawn over time: the first ones are wild.
STEADY = 10
#: Pending decisions that are listed, and draws for the probability of being best.
_LISTED, _DRAWS = 50, 4000
#: The regulariser of the Sharpe ratio, as a part of the standard deviation: so small that it changes no figure shown.
_PART = 1e-12
#: Half the width of a normal interval, in standard errors.
_HALF = 1.959963984540054


class View:
    """What is drawn of one campaign; kept until the campaign changes."""

    def __init__(self, campaign: Campaign) -> None:
        self.campaign = campaign
        self._lock = threading.Lock()
        self._activity: Activity | None = None
        self._kept: tuple[Any, dict[str, Any]] = (None, {})

    def to_dict(self, periods_per_year: float | None = None) -> dict[str, Any]:
        """All of it, as plain data."""
        status = self.campaign.status()
        key = (status.events, status.expired, periods_per_year)
        with self._lock:
            if self._kept[0] != key:
                self._kept = key, self._made(status, periods_per_year)
            return {**self._kept[1], "time": status.time.isoformat()}

    def summary(self) -> dict[str, Any]:
        """What the list of campaigns shows."""
        found = self.to_dict()
        best = next((arm for arm in found["arms"] if arm["arm"] == found["best"]), None)
        series = found["series"]
        return {
            **{key: found[key] for key in ("name", "policy", "best", "done", "rewards_per_day")},
            **{key: found[key] for key in ("decisions", "rewards", "pending", "expired", "arms_count", "events")},
            "best_probability": best and best["best_probability"],
            "last": series["last"],
            "spark": [sum(column) for column in zip(*series["asked"], strict=True)],
        }

    def _made(self, status: Status, periods: float | None) -> dict[str, Any]:
        self._activity = activity = self.campaign.activity(self._activity)
        agent = self.campaign.agent()
        goal = agent.policy.goal
        arms = _arms(status, agent, periods)
        return {
            **status.to_dict(),
            "objective_name": "Sharpe ratio" if goal is None else type(goal).__name__,
            "arms": arms,
            "arms_count": len(arms),
            "confidence": CONFIDENCE,
            "periods_per_year": periods,
            "rewards_per_day": rewards_per_day(activity, status.time.timestamp()),
            "series": _series(activity, status, goal),
            "waiting": [decision.to_dict() for decision in self.campaign.pending(_LISTED)],
        }


def _arms(status: Status, agent: Agent, periods: float | None) -> list[dict[str, Any]]:
    found = []
    scale = math.sqrt(periods) if periods else 1.0
    rate = float(getattr(agent.policy.goal, "risk_free", 0.0))
    for arm, moments in zip(status.arms, agent.moments().values(), strict=True):
        weight, _, variance, _, _ = moments
        ratio, interval = None, None
        if weight > 1 and variance > 0:
            ratio, interval = objective_interval(Sharpe(_PART * math.sqrt(variance), rate), *moments)
        found.append(
            {
                **vars(arm),
                "sharpe": None if ratio is None else scale * ratio,
                "sharpe_interval": interval and [scale * end for end in interval],
            }
        )
    by_value = agent.policy.goal is not None
    chances = _best_probabilities(found, "value" if by_value else "sharpe")
    return [{**row, "best_probability": chance} for row, chance in zip(found, chances, strict=True)]


def _best_probabilities(arms: list[dict[str, Any]], of: str) -> list[float | None]:
    """How often each arm has the largest value, each drawn from the normal distribution of its estimate.

    None for arms that are retired or have no interval, and for all if an arm that is played has none.
    """
    played = [k for k, arm in enumerate(arms) if not arm["retired"]]
    chances: list[float | None] = [None] * len(arms)
    if any(arms[k][f"{of}_interval"] is None for k in played) or len(played) > 1000:
        return chances
    centre = np.array([arms[k][of] for k in played])
    error = np.array([(arms[k][f"{of}_interval"][1] - arms[k][f"{of}_interval"][0]) / (2 * _HALF) for k in played])
    drawn = np.random.default_rng(0).normal(centre, error, (_DRAWS, len(played)))
    counts = np.bincount(drawn.argmax(axis=1), minlength=len(played)) / _DRAWS
    for k, chance in zip(played, counts, strict=True):
        chances[k] = float(chance)
    return chances


def _series(activity: Activity, status: Status, goal: Objective | None) -> dict[str, Any]:
    asked = activity.counts["asked"]
    pulls = asked.sum(axis=0)
    known = min(len(status.arms), ARMS)
    drawn = sorted(np.argsort(-pulls[:known], kind="stable")[:DRAWN].tolist())
    n, mean, variance = (values[:, :known] for values in activity.estimates())
    with np.errstate(all="ignore"):
        objective = goal or Sharpe(_PART)
        value = np.where((n >= STEADY) & (variance > 0), objective.value(mean, variance), np.nan)
    rest = asked.sum(axis=1) - asked[:, drawn].sum(axis=1)
    per_arm = [asked[:, k].tolist() for k in drawn]
    names = [str(status.arms[k].arm) for k in drawn]
    if len(status.arms) > len(drawn):
        per_arm.append(rest.tolist())
        names.append(f"{len(status.arms) - len(drawn)} other arms")
    rewarded, total = activity.counts["rewarded"].sum(axis=1), activity.counts["sum1"].sum(axis=1)
    with np.errstate(all="ignore"):
        average = np.where(rewarded > 0, activity.centre + total / rewarded, np.nan)
    active = np.flatnonzero(asked.sum(axis=1))
    return {
        "start": activity.start,
        "width": activity.width,
        "arms": names,
        "asked": per_arm,
        "value": [_numbers(value[:, k]) for k in drawn],
        "reward": _numbers(average),
        "rewarded": rewarded.tolist(),
        "pending": _under_way(activity).tolist(),
        "late": activity.counts["late"].sum(axis=1).tolist(),
        "expired": activity.counts["expired"].sum(axis=1).tolist(),
        "cancelled": activity.counts["cancelled"].sum(axis=1).tolist(),
        "exploration": _numbers(_exploration(asked[:, :known], value)),
        "last": float(activity.start + activity.width * (active[-1] + 1)) if len(active) else None,
    }


def _under_way(activity: Activity) -> np.ndarray:
    """Decisions under way at the end of each interval."""
    total = {name: np.cumsum(values.sum(axis=1)) for name, values in activity.counts.items()}
    # A late reward, or a cancelled decision, may have expired before: it was then no longer under way.
    return np.maximum(total["asked"] - (total["rewarded"] - total["late"]) - total["cancelled"] - total["expired"], 0.0)


def _exploration(asked: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Share of an interval's decisions that went to other arms than the one that led when it began."""
    share = np.full(len(asked), np.nan)
    for t in range(1, len(asked)):
        if asked[t].sum() and not np.isnan(value[t - 1]).all():
            share[t] = 1 - asked[t, int(np.nanargmax(value[t - 1]))] / asked[t].sum()
    return share


def _numbers(values: np.ndarray) -> list[float | None]:
    return [float(x) if is_number(float(x)) and math.isfinite(x) else None for x in values]
