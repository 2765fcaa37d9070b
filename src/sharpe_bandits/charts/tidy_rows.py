"""Figures from tidy rows: curves over time for regret, one point per case for errors, rates for inequalities.

Tidy rows are dictionaries with the columns case, policy, K, L, horizon, t, metric, mean, se, low and high, among
others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .._support.names import printable
from .description import DASHES, GREY, PALETTE, Axis, Chart, Figure, Rule, Series, colour_and_marker

if TYPE_CHECKING:
    from ..results.policy_result import Metric
    from ..results.study import Study

Rows = list[dict[str, Any]]

#: Forms of an upper bound that are drawn, each with its shade of grey; tables have the others, too.
BOUNDS = {"printed": "#8c8c8c", "repaired": "#4d4d4d", "proved": "#000000"}
#: Where a bound on regret must end to be drawn, in multiples of the highest curve: one above would flatten all curves,
#: one below would lie on the axis.
_BOUND_DRAWN = (0.05, 3.0)
#: The metric that the paper's released code plots as regret: the gap of the first two arms times sub-optimal plays.
AsPlotted = Literal["regret as plotted"]
AS_PLOTTED: AsPlotted = "regret as plotted"
#: The metric of rows with the rate that an inequality promises.
PROMISED = "promised rate"
_LONGEST_TITLE = 100
_SWITCH = "#b8bec8"
_LABELS = {"regret": "regret R(t)", "error": "probability of error", "stopping time": "stopping time (rounds)"}


def curves(rows: Rows, studies: Sequence[Study], caption: str) -> Figure:
    """Regret and sub-optimal plays over time; every case has charts of its own, since regrets at different L are in
    different units. With two arms, sub-optimal plays are regret divided by the gap, and not drawn.
    """
    metrics = ["regret"]
    metrics += ["sub-optimal plays"] if any(study.K > 2 or study.switches for study in studies) else []
    metrics += [AS_PLOTTED] if any(row["metric"] == AS_PLOTTED for row in rows) else []
    policies = _policies(rows, metrics)

    def chart(study: Study, metric: str) -> Chart:
        of_case = [row for row in rows if row["case"] == study.label]
        series = []
        for number, policy in enumerate(policies):
            if curve := _of(of_case, policy, metric):
                of_regulariser = study.L is not None and study[policy].policy.get("epsilon0") == study.L
                name, dash = policy + " (ε₀ = L)" * of_regulariser, DASHES[number // len(PALETTE) % len(DASHES)]
                tip = f"{policy}: {_said(curve[-1], f't = {study.horizon:,}')}"
                look: dict[str, Any] = {"colour": colour_and_marker(number)[0], "dash": dash, "tip": tip}
                series.append(Series(name=name, at=[row["t"] for row in curve], **_numbers(curve), **look))
        if metric == "regret":
            series += _bounds(of_case, policies, max((max(s.high) for s in series), default=0.0))
        x = Axis(label="rounds t" if metric == metrics[-1] else "", limits=(0, study.horizon))
        switches = [Rule(axis="x", at=at, colour=_SWITCH, width=0.8) for at in study.switches]
        y = _from_zero(_LABELS.get(metric, metric), series)
        named = study.L is not None and study.label and "L" not in study.variables
        title = printable(f"{study.label}, L = {study.L:g}" if named else study.label)
        return Chart(series=series, x=x, y=y, rules=switches, title=title)

    charts = [[chart(study, metric) for study in studies] for metric in metrics]
    width = max(6.4, (4.6 if len(studies) == 2 else 3.2) * len(studies))
    size = width, 0.4 + (2.8 if len(metrics) == 1 else 2.3) * len(metrics)
    title = finding(rows, studies, "regret")
    return Figure(title=title, charts=charts, size=size, caption=caption, shared="x", labelled=len(studies) <= 2)


def finding(rows: Rows, studies: Sequence[Study], metric: Metric) -> str:
    """Which policy has the least regret, error or stopping time in which case; none if the interval of a paired
    difference from it includes 0.
    """
    what = f"the least {metric}"
    policies = _policies(rows, [metric])
    leaders: dict[str, list[str]] = {}
    for study in studies:
        if any((row["case"], row["metric"]) == (study.label, metric) for row in rows):
            best, *others = study.summary(metric=metric).records()
            clear = all(row["difference low"] > 0 for row in others)
            leaders.setdefault(best["policy"] if clear else "", []).append(study.label)
    if len(policies) < 2 or not leaders:
        return f"{metric.capitalize()} of {policies[0]}" if policies else metric.capitalize()
    unclear = leaders.pop("", [])
    if not leaders:
        return f"No policy clearly has {what}"
    if len(leaders) == 1 and not unclear:
        return f"{next(iter(leaders))} has {what}"
    parts = [f"{name} at {' and '.join(where)}" for name, where in leaders.items()]
    if len(text := f"{what.capitalize()}: {'; '.join(parts)}") <= _LONGEST_TITLE and len(studies) < 4:
        return f"{text}; unclear at {' and '.join(unclear)}" if unclear else text
    counts = [f"{name} in {len(where)} of {len(studies)} cases" for name, where in leaders.items()]
    return f"{what.capitalize()}: {'; '.join(counts)}"


def points(rows: Rows, studies: Sequence[Study], metric: Metric, caption: str, title: str = "") -> Figure:
    """One point per policy and case, with its bounds; points of one policy are joined if only K or only n changes."""
    joined = len({study.horizon for study in studies}) == 1 or len({row["K"] for row in rows}) == 1
    place = {study.label: number for number, study in enumerate(studies)}
    policies = _policies(rows, [metric])
    series: list[Series] = []
    bounds: list[Series] = []
    for number, policy in enumerate(policies):
        colour, marker = colour_and_marker(number)
        shift = min(0.06, 0.8 / len(policies)) * (number - (len(policies) - 1) / 2)
        own, name = _of(rows, policy, metric), policy
        if metric == "stopping time" and any(row["mean"] > 0 for row in _of(rows, policy, "unfinished runs")):
            name = f"{policy} (unfinished runs: lower bound)"
        tip = "\n".join([name, *(_said(row, f"n = {row['horizon']:,}, {row['case']}") for row in own)])
        look: dict[str, Any] = {"marker": marker, "dash": DASHES[number % len(DASHES)] if joined else "", "tip": tip}
        at = [place[row["case"]] + shift for row in own]
        series.append(Series(name=name, colour=colour, at=at, **_numbers(own), bars=True, **look))
        for form in BOUNDS:
            if own := _of(rows, policy, f"bound ({form})"):
                at, mean = [place[row["case"]] + shift for row in own], [row["mean"] for row in own]
                look = {"marker": "x" if form == "repaired" else "_", "dash": "", "size": 9, "kind": "bound"}
                bounds.append(Series(name=f"{form} bound, {policy}", colour=colour, at=at, mean=mean, **look))
    places = []
    for study in studies:
        others = [f"{name} = {value}" for name, value in study.variables.items() if name not in ("K", "n")]
        places.append("\n".join(map(printable, (*others, f"K = {study.K}", f"n = {study.horizon:,}"))))
    y = _from_zero(_LABELS.get(metric, metric), series)
    chart = Chart(series=[*series, *bounds], x=Axis(scale="places", places=places), y=y)
    size = (max(6.4, 0.9 * len(places)), 3.3)
    return Figure(title=title or finding(rows, studies, metric), charts=[[chart]], size=size, caption=caption)


def rates(rows: Rows, caption: str) -> Figure:
    """Violation rates of inequalities, a chart for each, beside the rates that it promises."""
    by_kind: dict[str, Rows] = {}
    for row in rows:
        by_kind.setdefault(row["policy"].rsplit(", ", 1)[0], []).append(row)
    charts: list[Chart] = []
    for kind, own in by_kind.items():
        cases = {row["case"]: row["case"].split(", n = ") for row in own}  # place and setting
        places, settings = (list(dict.fromkeys(column)) for column in zip(*cases.values(), strict=True))
        steps = np.linspace(-0.15, 0.15, len(settings))
        heights = {case: places.index(place) + steps[settings.index(n)] for case, (place, n) in cases.items()}
        series = []
        for form, colour, marker, shift in (("printed", PALETTE[1], "o", -0.2), ("repaired", PALETTE[0], "s", 0.2)):
            for promise in (True, False):
                of_form = [r for r in own if r["policy"].endswith(form) and (r["metric"] == PROMISED) == promise]
                at = [heights[row["case"]] + shift for row in of_form]
                said = (f"{row['case']}: {row['mean']:.4g} [{row['low']:.4g}, {row['high']:.4g}]" for row in of_form)
                look: dict[str, Any] = (
                    {"name": "promised", "colour": GREY, "marker": "|", "size": 5, "kind": "bound"} if promise
                    else {"name": form, "colour": colour, "marker": marker, "size": 4, "bars": True}
                )  # fmt: skip
                tip = "\n".join([f"{kind}, {form}", *said])
                look |= {"dash": "", "filled": form == "printed", "tip": tip, **_numbers(of_form)}
                series.append(Series(at=at, **look))
        last = len(charts) + 1 == len(by_kind)
        x = Axis(label="share of samples in which the inequality is violated" if last else "", limits=(-0.02, 1.0))
        y = Axis(scale="places", places=[printable(place) for place in places])
        title = kind.replace("_", "-").replace("sr-like", "SR-like").replace("rssr", "RSSR")
        charts.append(Chart(series=series, x=x, y=y, title=title, across=True))
    broken = sorted({c.title for c in charts for s in c.series if s.name == "printed" and max(s.low, default=0) > 0.1})
    title = "Violations of the inequalities"
    if broken:
        title = f"The printed inequalities are violated more often than promised: {', '.join(broken)}"
    size = (7.2, 1.2 + sum(0.3 + 0.2 * len(chart.y.places) for chart in charts))
    return Figure(title=title, charts=[[chart] for chart in charts], size=size, caption=caption, shared="x")


def _of(rows: Rows, policy: str, metric: str) -> Rows:
    return [row for row in rows if row["policy"] == policy and row["metric"] == metric]


def _policies(rows: Rows, metrics: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(row["policy"] for row in rows if row["metric"] in metrics))


def _numbers(rows: Rows) -> dict[str, Any]:
    return {key: [row[key] for row in rows] for key in ("mean", "low", "high")}


def _said(row: dict[str, Any], where: str) -> str:
    return f"{row['mean']:.4g} ± {row['se']:.2g} (s.e.) at {where}"


def _bounds(rows: Rows, policies: list[str], highest: float) -> Iterable[Series]:
    """The bounds of a case that are visible beside its curves."""
    low, high = (share * highest for share in _BOUND_DRAWN)
    of_one = len({row["policy"] for row in rows if row["metric"].startswith("bound (")}) == 1
    for policy in policies:
        for number, (form, colour) in enumerate(BOUNDS.items()):
            curve = _of(rows, policy, f"bound ({form})")
            if curve and low <= curve[-1]["mean"] <= high:
                at, mean = [row["t"] for row in curve], [row["mean"] for row in curve]
                dash = DASHES[(number + 1) % len(DASHES)]
                name = f"{form} bound" if of_one else f"{form} bound, {policy}"
                yield Series(name=name, colour=colour, at=at, mean=mean, kind="bound", dash=dash)


def _from_zero(label: str, series: Sequence[Series]) -> Axis:
    """A linear axis that starts at 0, unless values are below it."""
    negative = any(min([*s.mean, *s.low]) < 0 for s in series)
    return Axis(label=label, limits=(None if negative else 0, None))
