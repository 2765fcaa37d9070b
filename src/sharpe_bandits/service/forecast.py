"""How long until the best arm is known with a small error, at the current pace and with the current estimates."""

from __future__ import annotations

import math
from typing import Any, Literal

from ..arms.bandit import Bandit
from ..arms.normal import Normal
from ..errors import InvalidInputError
from ..live.campaigns import Campaign
from ..live.campaigns.activity import Activity
from ..objectives import RSSR, usual_regulariser
from ..planning import BestArmProblem, plan
from ..policies.elimination import SequentialHalving
from ..results.metrics import Estimate, normal_half_width

#: Runs per budget, and the largest budget: small enough for an answer within seconds.
_RUNS, _LARGEST = 400, 1_000_000
DAY, YEAR = 86_400.0, 365.25 * 86_400.0
#: The pace is measured over this many past seconds.
_RECENT = 7 * DAY


def per_day(activity: Activity, now: float, kind: Literal["asked", "rewarded"]) -> Estimate | None:
    """Decisions ("asked") or rewards ("rewarded") per day, over the last seven days or the campaign's life if that is
    shorter; None if there were none. The standard error is that of a Poisson process."""
    begin = max(activity.start, now - _RECENT)
    count = float(activity.counts[kind][activity.times > begin].sum())
    if not count:
        return None
    days = max(now - begin, activity.width) / DAY
    pace, error = count / days, math.sqrt(count) / days
    half = normal_half_width(0.95) * error
    return Estimate(pace, error, pace - half, pace + half)


def forecast(campaign: Campaign, recent: Estimate | None, error: float) -> dict[str, Any]:
    """The plan as plain data, with a sentence that summarises it; ``recent``: rewards per day."""
    agent = campaign.agent()
    retired = set(agent.retired)
    active = {arm: known for arm, known in agent.statistics().items() if arm not in retired}
    if any(known.pulls < 2 or not known.variance > 0 for known in active.values()):
        raise InvalidInputError(
            "a plan needs an estimate of every arm: at least two different rewards of each; tell more rewards first"
        )
    if recent is None:
        raise InvalidInputError("a plan needs a pace: no reward was told in the last seven days")
    pace = recent.mean
    smallest = min(known.variance for known in active.values())
    goal = agent.policy.goal or RSSR(usual_regulariser(smallest), signed=True)
    arms = [Normal(float(known.mean), variance=float(known.variance)) for known in active.values()]
    bandit = Bandit(arms, list(map(str, active)))
    words = "normal, independent, with the current estimates treated as true"
    problem = BestArmProblem(bandit, pace * YEAR / DAY, goal, words)
    own = agent.policy.has_fixed_budget and agent.policy.n_recommended == 1
    policy: Any = agent.policy if own else SequentialHalving(goal)
    result = plan(problem, error=error, policies=policy, runs=_RUNS, max_budget=_LARGEST, workers=1, progress=False)
    need = result[policy.name]
    days = None if need.recommended is None else need.recommended / pace
    told = agent.t
    sentence = (
        f"{policy.name} is not certain to reach {error:.0%} error within {_LARGEST:,} rounds, on arms as estimated now."
        if days is None
        else f"At {_with_error(pace, recent.se)} rewards a day, {policy.name} takes {duration(days)} to find "
        f"the best arm with {error:.0%} error, on arms as estimated now: {need.recommended:,} rounds, at which it "
        f"erred in {need.check.error.mean:.1%} ± {need.check.error.se:.1%} of {need.check.runs:,} simulated campaigns. "
        f"{told:,} rewards were told so far."
    )
    return {
        "sentence": sentence,
        "error": error,
        "rewards_per_day": pace,
        "days": days,
        "rounds": need.recommended,
        "rounds_interval": need.rounds and [need.rounds.low, need.rounds.high],
        "check": {"runs": need.check.runs, "error": need.check.error.mean, "se": need.check.error.se},
        "policy": policy.name,
        "own_policy": own,
        "assumes": words,
    }


def _with_error(x: float, error: float) -> str:
    """Rounded to two digits of the standard error."""
    digits = 1 - math.floor(math.log10(error))
    return " ± ".join(f"{round(value, digits):,.{max(digits, 0)}f}" for value in (x, error))


def duration(days: float) -> str:
    """A number of days as text."""
    for length, unit in ((365.25, "years"), (30.44, "months"), (1.0, "days"), (1 / 24, "hours"), (1 / 1440, "minutes")):
        if days >= 2 * length:
            return f"{days / length:.3g} {unit}"
    return "less than 2 minutes"
