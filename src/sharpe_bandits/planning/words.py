"""A plan in words: the same on the screen, in the page and in ``str(plan)``."""

from __future__ import annotations

import math

from ..metrics import Estimate
from .needs import Need, Plan, Point

#: What is said of uniform sampling with K pulls in every period.
AT_ONCE = "every arm seen in every period"


def title(plan: Plan) -> str:
    """What the plan is about."""
    K = plan.problem.K
    if plan.target is None:
        return f"How often the best of {K} arms is missed"
    return f"Rounds needed to find the best of {K} arms, error {plan.target:g}"


def answer(plan: Plan) -> str:
    """The plan in a sentence or two."""
    if plan.target is None:
        last = [p for p in plan.asked if p.budget == plan.asked[-1].budget]
        errors = ", ".join(f"{p.policy} with probability {p.error.mean:.3g}" for p in last)
        return f"With {last[0].budget:,} rounds ({_years(plan.years(last[0].budget))} years) these err: {errors}."
    found = [need for need in plan.needs if need.rounds is not None]
    if not found:
        return f"None of the methods comes down to an error of {plan.target:g} within {plan.most:,} rounds."
    told = ", ".join(f"{n.policy} {n.check.budget:,} ({_years(plan.years(n.check.budget))} years)" for n in found)
    return f"Rounds needed to err with probability {plan.target:g}: {told}."


def heads(plan: Plan) -> list[str]:
    """Columns of :func:`lines`."""
    if plan.target is None:
        return ["method", "rounds", "years", "error", "95% interval", "runs"]
    return ["method", "rounds needed", "95% interval", "years", "error with fresh runs", "95% interval", "runs"]


def lines(plan: Plan) -> list[list[str]]:
    """The answer, a line per method, for the screen and the page."""
    K = plan.problem.K
    if plan.target is None:
        asked = [[p.policy, f"{p.budget:,}", _years(plan.years(p.budget)), *_error(p)] for p in plan.asked]
        seen = [
            [AT_ONCE, f"{p.budget // K:,}", _years(plan.years(p.budget // K)), *_error(p)] for p in plan.seen_at_once
        ]
        return asked + seen
    table = [_need(plan, need) for need in plan.needs]
    periods = plan.periods_at_once
    if periods is not None:
        table.append([AT_ONCE, *_rounds(periods), _years(plan.years(periods.mean)), "", "", ""])
    return table


def _need(plan: Plan, need: Need) -> list[str]:
    if need.rounds is None:
        years = _years(plan.years(need.check.budget))
        return [need.policy, f"more than {need.check.budget:,}", "", f"more than {years}", *_error(need.check)]
    return [need.policy, *_rounds(need.rounds), _years(plan.years(need.rounds.mean)), *_error(need.check)]


def _rounds(rounds: Estimate) -> list[str]:
    return [f"{math.ceil(rounds.mean):,}", f"{math.ceil(rounds.low):,} to {math.ceil(rounds.high):,}"]


def _years(years: float) -> str:
    return f"{years:,.0f}" if years >= 100 else f"{years:.3g}"


def _error(point: Point) -> list[str]:
    error = point.error
    return [f"{error.mean:.3g}", f"{error.low:.3g} to {error.high:.3g}", f"{point.runs:,}"]


def remarks(plan: Plan) -> list[str]:
    """What was assumed, and what the numbers do and do not mean."""
    said = plan.problem.conventions()
    K, periods = plan.problem.K, plan.problem.periods_per_year
    shown = f": that is “{AT_ONCE}”, uniform sampling with {K} pulls per period"
    if not plan.seen_at_once and plan.periods_at_once is None:
        shown = ""  # no line of the table tells of it
    said.append(
        f"Years are rounds divided by {periods:g}. If the rewards of all {K} arms are seen in every period, as with "
        f"recorded prices, no bandit is needed and {K} times fewer years than with uniform sampling do{shown}. Arms "
        "are simulated as independent; seen together, positively correlated ones are told apart sooner."
    )
    if plan.target is not None:
        said.append(
            "Rounds needed: where a probit line through simulated errors crosses the target, with the line's 95% "
            "interval. The error is then measured again at that budget, with fresh runs."
        )
    missed = [n for n in plan.needs if n.rounds is None]
    if missed:
        errors = ", ".join(f"{n.policy} {n.check.error.mean:.3g} {_interval(n.check.error)}" for n in missed)
        said.append(
            f"Within {plan.most:,} rounds the error does not come down to {plan.target:g}; there it is, of {errors}. "
            "Allow more rounds with most= (--most), or accept a larger error."
        )
    for need in plan.needs:
        if need.rounds is not None and need.line is None:
            said.append(
                f"{need.policy} needs no more than {need.check.budget} rounds, the fewest that all methods can be "
                "played with."
            )
        elif need.rounds is not None and not need.agrees:
            said.append(
                f"The fresh runs of {need.policy} disagree with the line by more than three standard errors: trust the "
                "fresh runs, and ask for more runs."
            )
    return said


def _interval(error: Estimate) -> str:
    return f"[{error.low:.3g}, {error.high:.3g}]"
