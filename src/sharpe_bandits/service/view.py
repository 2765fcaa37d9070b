"""Dashboard data of a campaign, aggregated on the server so that its size does not grow with the campaign."""

from __future__ import annotations

import threading
from dataclasses import asdict
from typing import Any

import numpy as np

from ..confidence_sequences import intervals
from ..live.agents import Agent
from ..live.campaigns import Campaign
from ..live.campaigns.activity import ARMS, Activity
from ..live.campaigns.status import CONFIDENCE, Status, remembers_everything
from ..objectives import Mean, Objective, Sharpe, Statistics
from ..results.metrics import Estimate, in_digits, normal_half_width
from .forecast import duration, gain, per_day, rewards_to_decide, statistics_of

#: Number of arms drawn over time: those with the most pulls; all others are aggregated.
DRAWN = 8
#: Number of rewards from which an estimate is drawn over time: earlier estimates are erratic.
STEADY = 10
#: What the list of campaigns shows of a view, as it is.
_SUMMARY = ("name", "policy", "best", "verdict", "decisions_per_day", "decisions", "pending", "expired")
#: Number of pending decisions listed.
_LISTED = 20


class View:
    """The view of one campaign; cached until the campaign changes."""

    def __init__(self, campaign: Campaign) -> None:
        self.campaign = campaign
        self._lock = threading.Lock()
        self._activity: Activity | None = None
        self._kept: tuple[Any, dict[str, Any]] = (None, {})

    def to_dict(self) -> dict[str, Any]:
        """All of it, as plain data."""
        status = self.campaign.status()
        key = (status.events, status.expired)
        with self._lock:
            if self._kept[0] != key:
                self._kept = key, self._made(status)
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
        spark = [sum(column) for column in zip(*view["series"]["asked"], strict=True)]
        return {**{key: view[key] for key in _SUMMARY}, "spark": spark}

    def _made(self, status: Status) -> dict[str, Any]:
        self._activity = activity = self.campaign.activity(self._activity)
        agent = self.campaign.agent()
        goal = agent.objective
        watchable = remembers_everything(agent)
        # Decisions of each arm whose lease ran out and that have no reward so far; None for arms counted together.
        missing = np.maximum((activity.counts["expired"] - activity.counts["late"]).sum(axis=0), 0)[:ARMS].tolist()
        return {
            **status.to_dict(),
            "rules_in_words": status.rules_in_words(),
            "objective_name": _name(goal),
            "arms": _arms(status, agent, watchable),
            # Leaders are compared by the root of RSSR, the only objective that is a square.
            "lead_name": "Sharpe ratio" if goal is None or goal.from_root(2.0) != 2.0 else type(goal).__name__,
            "rewards_to_decide": rewards_to_decide(agent) if watchable and not status.done else None,
            "gain": (earned := gain(agent)) and asdict(earned),
            "can_evaluate": self.campaign.settings["explore"] > 0,
            "missing": missing + [None] * (len(status.arms) - len(missing)),
            "series": _series(activity, status, goal, watchable),
            "waiting": [decision.to_dict() for decision in self.campaign.pending(_LISTED)],
        }


def _name(objective: Objective | None) -> str:
    return "Sharpe ratio" if objective is None else type(objective).__name__


def _verdict(view: dict[str, Any], pace: Estimate | None) -> dict[str, str]:
    """One verdict, one number, one next step, and whether one may act on it."""
    leader, best, number, act = view["leader"], view["best"], "", False
    name = ", ".join(map(str, best)) if isinstance(best, list) else str(best)
    ahead, least = leader["lead"], leader["low"]
    arm = next((one for one in view["arms"] if one["arm"] == best), None)
    if ahead is not None and least is not None and leader["arm"] == best:
        digits = in_digits(ahead - least)
        rest = f"by at least {least:,{digits}}" if least >= 0 else f"which may be ahead by {-least:,{digits}}"
        number = f"{view['lead_name']} {ahead:,{digits}} ahead of {leader['rival']}, {rest} (95%, at all times)"
    elif arm is not None and arm["value"] is not None and arm["value_interval"]:  # no bound of the lead yet
        low, high = arm["value_interval"]
        digits = in_digits((high - low) / 2)
        number = f"{view['objective_name']} {arm['value']:,{digits}} ({low:,{digits}} to {high:,{digits}}, 95%)"
    verdict, more = f"{name} leads; too early to act", view["rewards_to_decide"]
    if best is None:
        verdict, number, step = "No arm leads yet", "", "Tell rewards: every arm needs at least two."
    elif view["done"]:
        verdict, step, act = f"Finished: {name} is recommended", f"Play {name}.", True
    elif view["intervals"] != "at all times":
        verdict, number, step = f"{name} looks best now", "", "Go on: this policy follows arms that drift."
    elif leader["probably_best"] and leader["arm"] == best:
        act = not any(one["heavy_tailed"] for one in view["arms"])
        verdict = f"{name} is best"
        step = f"Play {name} alone." if act else "Rewards have heavy tails: wait for more before you act."
    elif view["horizon"] is not None:
        step = f"Go on: {view['horizon'] - view['spent']:,} of {view['horizon']:,} rounds are left."
    elif more is None:
        step = "Go on; no end is in sight if arms are as they look now."
    else:
        figure = float(f"{more:.2g}")
        time = "" if pace is None else f", {duration(figure / pace.mean)} at this pace"
        step = f"Go on: about {figure:,.0f} more rewards decide it{time}, if arms are as they look now."
    return {"verdict": verdict, "number": number, "next": step, "state": "act" if act else "early"}


def _arms(status: Status, agent: Agent, watchable: bool) -> list[dict[str, Any]]:
    """Estimates with 95% intervals: simultaneous confidence sequences for all arms, or fixed-time intervals."""
    statistics, sharpe = statistics_of(agent), Sharpe(0.0, float(getattr(agent.objective, "risk_free", 0.0)))
    with np.errstate(all="ignore"):
        ratio = np.where(statistics.variance > 0, sharpe.value(statistics), np.nan)
    low, high, heavy = _ends(statistics, sharpe, len(status.arms) if watchable else None)
    ends = [pair if np.isfinite(pair).all() else None for pair in np.array([low, high]).T.tolist()]
    return [
        {**vars(arm), "sharpe": value, "sharpe_interval": pair, "heavy_tailed": tails}
        for arm, value, pair, tails in zip(status.arms, ratio.tolist(), ends, heavy.tolist(), strict=True)
    ]


def _series(activity: Activity, status: Status, goal: Objective | None, watchable: bool) -> dict[str, Any]:
    n_asked = activity.counts["asked"]
    n_arms = min(len(status.arms), ARMS)
    places = sorted(np.argsort(-n_asked.sum(axis=0)[:n_arms], kind="stable")[:DRAWN].tolist())
    statistics = activity.statistics(status.direction).at((slice(None), slice(n_arms)))
    # The log has no sums of the features of rewards, which some objectives need.
    objective = Sharpe(0.0) if goal is None else Mean() if goal.has_feature else goal
    with np.errstate(all="ignore"):
        steady = (statistics.pulls >= STEADY) & (statistics.variance > 0)
        value = np.where(steady, objective.value(statistics), np.nan)
    # As in the table of arms: of the confidence sequence for all arms of the campaign together, or fixed-time.
    low, high, _ = _ends(statistics.at((slice(None), places)), objective, len(status.arms) if watchable else None)
    low, high = np.where(np.isfinite(low) & np.isfinite(high), (low, high), np.nan)  # a square is never below 0
    # Share of an interval's decisions that went to other arms than the one that led when it began.
    led = np.nan_to_num(value[:-1], nan=-np.inf).argmax(axis=1)
    with np.errstate(all="ignore"):
        share = 1 - n_asked[np.arange(1, len(n_asked)), led] / n_asked[1:, :n_arms].sum(axis=1)
    exploration = np.append(np.nan, np.where(np.isnan(value[:-1]).all(axis=1), np.nan, share))
    if goal is not None and status.direction == "min":
        value, low, high = -value, -high, -low
    asked, names = n_asked[:, places].T, [str(status.arms[k].arm) for k in places]
    total = {name: values.sum(axis=1) for name, values in activity.counts.items()}
    if len(status.arms) > len(places):
        asked = np.vstack([asked, total["asked"] - asked.sum(axis=0)])
        names.append(f"{len(status.arms) - len(places)} other arms")
    # A decision with a late reward, or a cancelled one, may have expired before: it was then no longer pending.
    ended = total["rewarded"] - total["late"] + total["cancelled"] + total["expired"]
    paid, sum1, sum2 = total["paid"], total["sum1"], total["sum2"]
    with np.errstate(all="ignore"):
        average = activity.centre + sum1 / paid
        error = np.sqrt(np.maximum(sum2 - sum1 * sum1 / paid, 0.0) / (paid - 1) / paid)
    columns = {
        "asked": asked,
        "value": value[:, places].T,
        "value_low": low.T,
        "value_high": high.T,
        "reward": average,
        "reward_error": error,
        "pending": np.maximum(np.cumsum(total["asked"] - ended), 0.0),
        **{name: total[name] for name in ("late", "expired", "cancelled")},
        "exploration": exploration,
    }
    return {
        "start": activity.start,
        "width": activity.width,
        "arms": names,
        "objective": _name(None if goal is None else objective),
        **{name: column.tolist() for name, column in columns.items()},
    }


def _ends(statistics: Statistics, objective: Objective, arms: int | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Lower and upper ends of intervals, and whether rewards have heavy tails: of the confidence sequences for so many
    ``arms`` together, or fixed-time."""
    if arms is not None:
        sequence = intervals(statistics, objective, alpha=1 - CONFIDENCE, arms=arms)
        return sequence.low, sequence.high, sequence.heavy_tailed
    with np.errstate(all="ignore"):
        value, half = objective.value(statistics), normal_half_width(CONFIDENCE) * objective.standard_error(statistics)
        value = np.where(statistics.variance > 0, value, np.nan)
    return value - half, value + half, np.zeros(value.shape, bool)
