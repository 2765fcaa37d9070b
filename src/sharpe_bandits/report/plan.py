"""The figure and the page of a plan: error against budget, the budget needed, and the assumptions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..charts.description import CARET_DOWN, DASHES, Axis, Chart, Figure, Rule, Series, colour_and_marker
from ..planning.needs import VERIFY, Plan, Point
from ..planning.words import answer, assumed, heads, lines, remarks, title

_SPAN = 500  # budgets smaller than the largest by more than this factor are not drawn


def figures(plan: Plan) -> dict[str, Figure]:
    """Error against budget, both on logarithmic axes."""
    periods = plan.problem.periods_per_year
    x = Axis(label="budget n, rounds", scale="log", plain=True, second=("years, one round per period", periods))
    y = Axis(label="probability of error", scale="log", plain=True, limits=(_lowest(plan), 1.1))
    target = plan.target
    rules = [] if target is None else [Rule(axis="y", at=target, label=f"target {target:g}", dash=DASHES[1])]
    chart = Chart(series=list(_series(plan)), x=x, y=y, rules=rules)
    caption = " ".join([assumed(plan), *plan.problem.conventions()[:2]])
    return {"plan": Figure(title=title(plan), charts=[[chart]], size=(6.4, 4.2), caption=caption)}


def _series(plan: Plan) -> Iterator[Series]:
    """Per method: the fitted line, the budget needed, simulated points, and budgets at which no run was wrong."""
    largest = max(p.budget for p in plan.points)
    for number, name in enumerate(plan.policies):
        colour, marker = colour_and_marker(number)
        look: dict[str, Any] = {"name": name, "colour": colour}
        near = [p for p in plan.points if p.policy == name and _SPAN * p.budget >= largest]
        near.sort(key=lambda p: p.budget)
        need = plan[name] if plan.needs else None
        if need is not None and need.line is not None:
            curve = need.line.error(np.geomspace(need.line.low, need.line.high, 40))
            yield Series(at=curve.t, mean=curve.mean, low=curve.low, high=curve.high, legend=False, **look)
        if need is not None and need.rounds is not None and plan.target is not None:
            rounds = [need.rounds.mean, need.rounds.low, need.rounds.high]
            tip = "{}: needs {:,} rounds [{:,}, {:,}]".format(name, *map(math.ceil, rounds))
            yield Series(at=rounds[1:], mean=[plan.target] * 2, width=4, legend=False, tip=tip, **look)
        line = "" if need is not None and need.line is not None else "-"
        wrong = [p for p in near if p.wrong and p.stage != VERIFY]
        fresh = [p for p in near if p.wrong and p.stage == VERIFY]
        of_fresh: dict[str, Any] = {"size": 7.0, "dash": "", "filled": False, "legend": not wrong}
        for points, style in ((wrong, {"size": 3.5, "dash": line}), (fresh, of_fresh)):
            if points:
                tip = "\n".join([name, *(_in_words(plan, p) for p in points)])
                yield Series(**_errors(points), bars=True, marker=marker, width=0.9, tip=tip, **look, **style)
        never = [p for p in near if not p.wrong]
        if never:  # a logarithmic axis has no 0: the upper end of the interval is shown
            at, ends = [p.budget for p in never], [p.error.high for p in never]
            words = (f"{p.budget:,} rounds: no run was wrong, error below {p.error.high:.3g}" for p in never)
            look |= {"marker": CARET_DOWN, "dash": "", "size": 4.5, "filled": False, "legend": not (wrong or fresh)}
            yield Series(at=at, mean=ends, tip="\n".join([name, *words]), **look)


def _errors(points: list[Point]) -> dict[str, Any]:
    ends = {key: [getattr(p.error, key) for p in points] for key in ("mean", "low", "high")}
    return {"at": [p.budget for p in points], **ends}


def _in_words(plan: Plan, point: Point) -> str:
    rounds, error = point.budget, point.error
    interval = f"{error.mean:.3g} [{error.low:.3g}, {error.high:.3g}]"
    return f"{rounds:,} rounds ({plan.years(rounds):,.3g} years): {interval}, {point.runs:,} runs"


def _lowest(plan: Plan) -> float:
    """The lowest error drawn: a tenth of the target, or less than all simulated errors."""
    if plan.target is not None:
        return plan.target / 10
    seen = [p.error.low if p.wrong else p.error.high for p in plan.points]
    return max(min(seen, default=0.1) / 2, 1e-5)


def content(plan: Plan) -> dict[str, Any]:
    """The words and numbers of the page."""
    return {
        "title": title(plan), "assumed": assumed(plan), "answer": answer(plan), "heads": heads(plan),
        "lines": lines(plan), "remarks": remarks(plan),
    }  # fmt: skip
