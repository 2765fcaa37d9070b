"""The text of a plan: the same on the screen, in the page and in ``str(plan)``."""

from __future__ import annotations

import math

from ..results.metrics import Estimate
from .needs import EVERY_ARM, Need, Plan, Point


def title(plan: Plan) -> str:
    problem = plan.problem
    what = "How often is the best of" if plan.target is None else "How long does it take to find the best of"
    near = f", or one within {problem.tolerance:g} of it" if problem.tolerance else ""
    return f"{what} {problem.K} arms by {problem.objective_name}{near}{' missed' if plan.target is None else ''}?"


def assumed(plan: Plan) -> str:
    """The assumptions about rewards, in a sentence that is shown above all numbers."""
    problem = plan.problem
    quantities = "means and variances" if problem.asymptotic is None else "values"
    estimates = f"the table's {quantities} are the true ones; " if problem.table is not None else ""
    return f"Assumed: {estimates}{problem.rewards}."


def answer(plan: Plan) -> str:
    """The plan in a sentence or two."""
    condition = f"if {plan.problem.best_in_words} is the best arm and the others are as assumed"
    if plan.target is None:
        last = [p for p in plan.asked if p.budget == plan.asked[-1].budget]
        errors = ", ".join(f"{p.policy} {p.error.mean:.2g}" for p in last)
        years = _years(plan.years(last[0].budget))
        return f"Error probability after {last[0].budget:,} rounds ({years} years): {errors}; {condition}."
    alone = [need for need in plan.needs if need.rounds is not None and need.policy != EVERY_ARM]
    sentences = []
    if alone:
        least = min(alone, key=lambda need: need.check.budget)
        years = _years(plan.years(least.check.budget))
        sentences.append(f"with one arm seen per period, {least.policy} needs {_budget(least)} rounds ({years} years)")
    if plan.periods_at_once is not None:
        together = plan[EVERY_ARM]
        years = _years(plan.years(together.check.budget))
        sentences.append(f"with every arm seen in every period, it takes {_budget(together)} ({years} years)")
    if not sentences:
        return f"No method is certain to reach error {plan.target:g} within {plan.max_budget:,} rounds, {condition}."
    if plan.problem.table is not None:
        sentences.reverse()
    text = "; ".join(sentences)
    return f"{text[0].upper()}{text[1:]}: for an error probability of {plan.target:g}, {condition}."


def heads(plan: Plan) -> list[str]:
    """Column heads of :func:`lines`."""
    if plan.target is None:
        return ["method", "budget", "years", "error", "95% interval", "expected loss", "runs"]
    at = f"error is {plan.target:g} at"
    fresh = ["error with fresh runs", "95% interval", "expected loss"]
    return ["method", "budget needed", "years", *fresh, at, "95% interval", "runs"]


def lines(plan: Plan) -> list[list[str]]:
    """The answer, a line per method, for the screen and the page."""
    if plan.target is None:
        return [_line(plan, p, f"{p.budget:,}") for p in plan.asked]
    table = []
    for need in plan.needs:
        if need.rounds is None:
            line = _line(plan, need.check, f"more than {need.check.budget:,}", "", "")
            line[2] = f"more than {line[2]}"
        else:
            line = _line(plan, need.check, _budget(need), *_rounds(need.rounds))
        table.append(line)
    return table


def _line(plan: Plan, point: Point, budget: str, *rounds: str) -> list[str]:
    error, years = point.error, _years(plan.years(point.budget))
    interval = f"{error.low:.2g} to {error.high:.2g}"
    return [point.policy, budget, years, f"{error.mean:.2g}", interval, f"{point.loss:.2g}", *rounds, f"{point.runs:,}"]


def _budget(need: Need) -> str:
    """The recommended budget, rounded up at the first digit that another seed would change."""
    assert need.rounds is not None
    unit = _unit(need.rounds.se)
    return f"{math.ceil(need.check.budget / unit) * unit:,}"


def _rounds(rounds: Estimate) -> list[str]:
    unit = _unit(rounds.se)
    mean, low, high = (f"{round(value / unit) * unit:,}" for value in (rounds.mean, rounds.low, rounds.high))
    return [mean, f"{low} to {high}"]


def _unit(se: float) -> int:
    """The unit of the last digit shown: at most the standard error."""
    return int(10 ** max(math.floor(math.log10(se)), 0)) if se > 0 else 1


def _years(years: float) -> str:
    return f"{years:,.0f}" if years >= 100 else f"{years:.2g}"


def remarks(plan: Plan) -> list[str]:
    """The assumptions, and the meaning of the numbers."""
    problem, left = plan.problem, 1 - plan.problem.correlation**2
    independent = " Arms are simulated as independent; seen together, positively correlated ones are separated sooner."
    sentences = {
        f"The benchmark is seen in every period, and policies adjust their estimates for it, as in "
        f"SuccessiveRejects(Adjusted(...)): {left:.0%} of the variance is left. Without it, policies that see one "
        f"arm per period need about {1 / left:.2g} times as many rounds.": problem.correlation,
        f"Years are rounds divided by {problem.periods_per_year:g}. If the rewards of all {problem.K} arms are seen in "
        f"every period, as with recorded prices, no bandit is needed: that is “{EVERY_ARM}”, where a round is a period."
        f"{independent * (problem.table is None and not problem.correlation)}": True,
        f"Expected loss: how much worse than the best arm the chosen one is, in {problem.shown.name}, on average over "
        "runs.": True,
        f"The budget is too small for {', '.join(plan.too_small)}, which try every arm at least twice: give a "
        "larger one, or see every arm in every period.": plan.too_small,
        "Budget needed: where the upper 95% limit of a probit line through simulated errors reaches the target; "
        "the line itself crosses the target earlier, in the interval shown. The error at the budget needed is then "
        "measured with fresh runs.": plan.target is not None,
    }
    said = [*problem.conventions(), *(sentence for sentence, holds in sentences.items() if holds)]
    missed = [(need.policy, need.check.error) for need in plan.needs if need.rounds is None]
    if missed:
        errors = ", ".join(f"{policy} {e.mean:.2g} [{e.low:.2g}, {e.high:.2g}]" for policy, e in missed)
        said.append(
            f"Within {plan.max_budget:,} rounds the error does not fall to {plan.target:g}; at that budget it is "
            f"{errors}. Allow more rounds with max_budget=, or accept a larger error."
        )
    enough = [need for need in plan.needs if need.rounds is not None and need.line is None]
    said += [
        f"{need.policy} needs no more than {need.check.budget} rounds, the smallest budget tried." for need in enough
    ]
    return said
