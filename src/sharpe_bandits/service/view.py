"""Dashboard data of a campaign, aggregated on the server so that its size does not grow with the campaign."""

from __future__ import annotations

import math
import threading
from dataclasses import asdict
from typing import Any

import numpy as np

from ..confidence_sequences import intervals
from ..live.agents import Agent
from ..live.campaigns import Campaign
from ..live.campaigns.activity import ARMS, Activity
from ..live.campaigns.comparison import finite_ends
from ..live.campaigns.status import CONFIDENCE, Status, objective_interval, remembers_everything
from ..objectives import Mean, Objective, Sharpe, Statistics, Variance
from ..results.metrics import Estimate, normal_half_width
from .forecast import duration, gain, per_day, rewards_to_decide, rounded

#: Number of arms drawn over time: those with the most pulls; all others are aggregated.
DRAWN = 8
#: Number of rewards from which an estimate is drawn over time: earlier estimates are erratic.
STEADY = 10
#: What the list of campaigns shows of a view, as it is.
_SUMMARY = (
    "name", "policy", "best", "done", "verdict", "leader_since", "decisions_per_day", "decisions", "rewards", "pending",
    "expired", "arms_count", "events",
)  # fmt: skip
#: Number of pending decisions listed, and of draws for the probability of being best.
_LISTED, _DRAWS = 20, 4000


class View:
    """The view of one campaign; cached until the campaign changes."""

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
            content = self._kept[1]
            assert self._activity is not None
            now = status.time.timestamp()
            paces = {kind: per_day(self._activity, now, kind) for kind in ("asked", "rewarded")}
        return {
            **content,
            "time": status.time.isoformat(),
            "decisions_per_day": paces["asked"] and asdict(paces["asked"]),
            "rewards_per_day": paces["rewarded"] and asdict(paces["rewarded"]),
            "verdict": _verdict(content, paces["rewarded"]),
        }

    def summary(self) -> dict[str, Any]:
        """What the list of campaigns shows."""
        view = self.to_dict()
        series = view["series"]
        return {
            **{key: view[key] for key in _SUMMARY},
            "last": series["last"],
            "spark": [sum(column) for column in zip(*series["asked"], strict=True)],
        }

    def _made(self, status: Status, periods: float | None) -> dict[str, Any]:
        self._activity = activity = self.campaign.activity(self._activity)
        agent = self.campaign.agent()
        goal = agent.objective
        watchable = remembers_everything(agent)
        arms = _arms(status, agent, periods, watchable)
        return {
            **status.to_dict(),
            "rules_in_words": status.rules_in_words(),
            "objective_name": _name(goal),
            "arms": arms,
            # Leaders are compared by the root of RSSR, the only objective that is a square.
            "lead_name": "Sharpe ratio" if goal is None or goal.from_root(2.0) != 2.0 else type(goal).__name__,
            "arms_count": len(arms),
            "confidence": CONFIDENCE,
            "periods_per_year": periods,
            "rewards_to_decide": rewards_to_decide(agent) if watchable and not status.done else None,
            "gain": (earned := gain(agent)) and asdict(earned),
            "can_evaluate": self.campaign.settings["explore"] > 0,
            "missing": _missing(activity, len(arms)),
            "series": _series(activity, status, goal, watchable),
            "waiting": [decision.to_dict() for decision in self.campaign.pending(_LISTED)],
        }


def _name(objective: Objective | None) -> str:
    return "Sharpe ratio" if objective is None else type(objective).__name__


def _verdict(view: dict[str, Any], pace: Estimate | None) -> dict[str, str]:
    """One verdict, one number, one next step, and whether one may act on it."""
    leader, best = view["leader"], view["best"]
    if best is None:
        return _said("No arm leads yet", "", "Tell rewards: every arm needs at least two.", "early")
    name = ", ".join(map(str, best)) if isinstance(best, list) else str(best)
    separated = view["intervals"] == "at all times" and leader["probably_best"] and leader["arm"] == best
    ahead, least, number = leader["lead"], leader["low"], ""
    if ahead is not None and least is not None and leader["arm"] == best:
        error = ahead - least
        rest = (
            f"by at least {rounded(least, error)}" if least >= 0 else f"which may be ahead by {rounded(-least, error)}"
        )
        number = f"{view['lead_name']} {rounded(ahead, error)} ahead of {leader['rival']}, {rest} (95%, at all times)"
    else:  # no bound yet: the estimate of the leader itself
        arm = next((one for one in view["arms"] if one["arm"] == best), None)
        if arm is not None and arm["value"] is not None and arm["value_interval"]:
            low, high = arm["value_interval"]
            value, *ends = (rounded(x, (high - low) / 2) for x in (arm["value"], low, high))
            number = f"{view['objective_name']} {value} ({' to '.join(ends)}, 95%)"
    if view["done"]:
        return _said(f"Finished: {name} is recommended", number, f"Play {name}.", "act")
    if separated:
        careful = any(arm["heavy_tailed"] for arm in view["arms"])
        step = "Rewards have heavy tails: wait for more before you act." if careful else f"Play {name} alone."
        return _said(f"{name} is best", number, step, "early" if careful else "act")
    if view["intervals"] != "at all times":
        return _said(f"{name} looks best now", "", "Go on: this policy follows arms that drift.", "early")
    if view["horizon"] is not None:
        left = view["horizon"] - view["spent"]
        step = f"Go on: {left:,} of {view['horizon']:,} rounds are left."
        return _said(f"{name} leads; too early to act", number, step, "early")
    more = view["rewards_to_decide"]
    if more is None:
        return _said(
            f"{name} leads; too early to act",
            number,
            "Go on; no end is in sight if arms are as they look now.",
            "early",
        )
    figure = float(f"{more:.2g}")
    time = f", {duration(figure / pace.mean)} at this pace" if pace is not None else ""
    step = f"Go on: about {figure:,.0f} more rewards decide it{time}, if arms are as they look now."
    return _said(f"{name} leads; too early to act", number, step, "early")


def _said(verdict: str, number: str, step: str, state: str) -> dict[str, str]:
    return {"verdict": verdict, "number": number, "next": step, "state": state}


def _missing(activity: Activity, arms: int) -> list[int | None]:
    """Decisions of each arm whose lease ran out and that have no reward so far; None for arms counted together."""
    missing = (activity.counts["expired"] - activity.counts["late"]).sum(axis=0)
    return [max(int(missing[k]), 0) if k < min(ARMS, len(missing)) else None for k in range(arms)]


def _arms(status: Status, agent: Agent, periods: float | None, watchable: bool) -> list[dict[str, Any]]:
    """Estimates with 95% intervals: simultaneous confidence sequences for all arms, or fixed-time intervals."""
    scale, sharpe = math.sqrt(periods or 1.0), Sharpe(0.0, float(getattr(agent.objective, "risk_free", 0.0)))
    sequence = list(agent.intervals(sharpe, alpha=1 - CONFIDENCE).values()) if watchable else []
    goal, rows, values, errors = agent.policy.objective, [], [], []
    for k, (arm, statistics) in enumerate(zip(status.arms, agent.statistics().values(), strict=True)):
        varies = statistics.pulls > 1 and statistics.variance > 0
        ratio, ends = objective_interval(sharpe, statistics) if varies else (None, None)
        # For the current probability of being best: by the delta method.
        now = ends if goal is None else objective_interval(goal, statistics)[1] if varies else None
        values.append(ratio if goal is None else arm.value)
        errors.append(None if now is None else (now[1] - now[0]) / 2 / normal_half_width(CONFIDENCE))
        if sequence:  # of the ratio itself, of which larger is better also for costs
            finite = finite_ends(sequence[k])
            ends = None if finite is None else agent._interval_as_told(finite)
        # The standard error of a standard deviation, by the delta method.
        error = float(Variance().standard_error(statistics)) / (2 * math.sqrt(statistics.variance)) if varies else None
        own = {
            "sharpe": None if ratio is None else scale * ratio,
            "sharpe_interval": ends and [scale * end for end in ends],
            "heavy_tailed": bool(sequence) and sequence[k].heavy_tailed,
            "standard_deviation_error": error or None,  # few rewards may not show how much their squares vary
            "best_probability": None,
        }
        rows.append({**vars(arm), **own})
    played = [k for k, arm in enumerate(status.arms) if not arm.retired]
    if len(played) <= 1000 and all(errors[k] is not None for k in played):
        chances = _best_probabilities(
            [values[k] for k in played], [errors[k] for k in played], goal is not None and agent.direction == "min"
        )
        for k, chance in zip(played, chances, strict=True):
            rows[k]["best_probability"] = float(chance)
    return rows


def _best_probabilities(values: list[Any], errors: list[Any], least: bool) -> np.ndarray:
    """How often each arm has the largest (or the least) value, each drawn from the normal distribution of its
    estimate."""
    centre = np.array(values, float) * (-1 if least else 1)
    draws = np.random.default_rng(0).normal(centre, np.array(errors, float), (_DRAWS, len(values)))
    return np.bincount(draws.argmax(axis=1), minlength=len(values)) / _DRAWS


def _series(activity: Activity, status: Status, goal: Objective | None, watchable: bool) -> dict[str, Any]:
    n_asked = activity.counts["asked"]
    pulls = n_asked.sum(axis=0)
    n_arms = min(len(status.arms), ARMS)
    places = sorted(np.argsort(-pulls[:n_arms], kind="stable")[:DRAWN].tolist())
    statistics = activity.statistics(status.direction).at((slice(None), slice(n_arms)))
    # The log has no sums of the features of rewards, which some objectives need.
    objective = Sharpe(0.0) if goal is None else Mean() if goal.has_feature else goal
    with np.errstate(all="ignore"):
        steady = (statistics.pulls >= STEADY) & (statistics.variance > 0)
        value = np.where(steady, objective.value(statistics), np.nan)
    ends = _bands(statistics.at((slice(None), places)), objective, len(status.arms) if watchable else None)
    exploration = _exploration(n_asked[:, :n_arms], value)
    if goal is not None and status.direction == "min":
        value, ends = -value, (-ends[1], -ends[0])
    rest = n_asked.sum(axis=1) - n_asked[:, places].sum(axis=1)
    per_arm = [n_asked[:, k].tolist() for k in places]
    names = [str(status.arms[k].arm) for k in places]
    if len(status.arms) > len(places):
        per_arm.append(rest.tolist())
        names.append(f"{len(status.arms) - len(places)} other arms")
    paid, sum1, sum2 = (activity.counts[name].sum(axis=1) for name in ("paid", "sum1", "sum2"))
    with np.errstate(all="ignore"):
        average = np.where(paid > 0, activity.centre + sum1 / paid, np.nan)
        error = np.sqrt(np.maximum(sum2 - sum1 * sum1 / paid, 0.0) / (paid - 1) / paid)
    active = np.flatnonzero(n_asked.sum(axis=1))
    return {
        "start": activity.start,
        "width": activity.width,
        "arms": names,
        "objective": _name(None if goal is None else objective),
        "asked": per_arm,
        "value": [_numbers(value[:, k]) for k in places],
        "value_low": [_numbers(low) for low in ends[0]],
        "value_high": [_numbers(high) for high in ends[1]],
        "reward": _numbers(average),
        "reward_error": _numbers(error),
        "pending": _pending(activity).tolist(),
        "late": activity.counts["late"].sum(axis=1).tolist(),
        "expired": activity.counts["expired"].sum(axis=1).tolist(),
        "cancelled": activity.counts["cancelled"].sum(axis=1).tolist(),
        "exploration": _numbers(exploration),
        "last": float(activity.start + activity.width * (active[-1] + 1)) if len(active) else None,
    }


def _bands(statistics: Statistics, objective: Objective, arms: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Ends of the intervals of the arms that are drawn, a row each: of the confidence sequence for all ``arms`` of the
    campaign together, as in the table of arms, or fixed-time."""
    if arms is not None:
        sequence = intervals(statistics, objective, alpha=1 - CONFIDENCE, arms=arms)
        return sequence.low.T, sequence.high.T
    with np.errstate(all="ignore"):
        value, half = objective.value(statistics), normal_half_width(CONFIDENCE) * objective.standard_error(statistics)
        value = np.where(statistics.variance > 0, value, np.nan)
    return (value - half).T, (value + half).T


def _pending(activity: Activity) -> np.ndarray:
    """Pending decisions at the end of each interval."""
    total = {name: np.cumsum(values.sum(axis=1)) for name, values in activity.counts.items()}
    # A decision with a late reward, or a cancelled one, may have expired before: it was then no longer pending.
    return np.maximum(total["asked"] - (total["rewarded"] - total["late"]) - total["cancelled"] - total["expired"], 0.0)


def _exploration(asked: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Share of an interval's decisions that went to other arms than the one that led when it began."""
    share = np.full(len(asked), np.nan)
    for t in range(1, len(asked)):
        if asked[t].sum() and not np.isnan(value[t - 1]).all():
            share[t] = 1 - asked[t, int(np.nanargmax(value[t - 1]))] / asked[t].sum()
    return share


def _numbers(values: np.ndarray) -> list[float | None]:
    return [float(x) if math.isfinite(x) else None for x in values]
