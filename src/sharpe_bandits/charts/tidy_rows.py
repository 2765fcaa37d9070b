"""Figures from tidy rows: curves over time for regret, one point per case for errors, rates for inequalities.

Tidy rows are dictionaries with the columns case, policy, K, L, horizon, t, metric, mean, se, low and high, among
others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .._support.names import printable
from .description import DASHES, GREY, PALETTE, Axis, Chart, Figure, Marker, Rule, Series, look

Rows = list[dict[str, Any]]

#: Forms of an upper bound, each with its shade of grey.
BOUNDS = {"printed": "#8c8c8c", "appendix": "#b5b5b5", "repaired": "#4d4d4d", "proved": "#000000"}
#: Where a bound on regret must end to be drawn, in multiples of the highest curve: one above would flatten all curves,
#: one below would lie on the axis.
_BOUND_DRAWN = (0.02, 3.0)
#: The metric that the paper's released code plots as regret.
AS_PLOTTED = "regret as plotted"
_SWITCH = "#b8bec8"
_LABELS = {"regret": "regret R(t)", "error": "probability of error", "stopping time": "stopping time (rounds)"}


@dataclass(frozen=True)
class CaseLabel:
    """How a figure labels one case.

    Attributes
    ----------
    case : str
        the case's name in the rows
    title : str
        title of its charts
    lines : tuple[str, ...]
        labels below its points
    horizon : int
        its number of rounds
    switches : tuple[int, ...], optional
        rounds in which the arms change
    names : Mapping[str, str], optional
        names of policies that call the regulariser otherwise, as in "U-UCB, ε₀ = 0.5"
    """

    case: str
    title: str
    lines: tuple[str, ...]
    horizon: int
    switches: tuple[int, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)


def curves(title: str, rows: Rows, cases: Sequence[CaseLabel], logx: bool = False) -> Figure:
    """Regret and sub-optimal plays over time; every case has charts of its own, since regrets at different L are in
    different units.
    """
    metrics = ["regret", "sub-optimal plays"]
    metrics += [metric for metric in (AS_PLOTTED,) if any(row["metric"] == metric for row in rows)]
    by_key = defaultdict(list)
    for row in rows:
        by_key[row["case"], row["policy"], row["metric"]].append(row)
    policies = _policies(rows, metrics)
    charts = []
    for metric in metrics:
        line = []
        for case in cases:
            series = list(_measured(by_key, case, policies, metric))
            if metric == "regret":
                series += _bounds(by_key, case.case, policies, max((max(s.high) for s in series), default=0.0))
            first = (10 if case.horizon >= 100 else 1) if logx else 0
            line.append(
                Chart(
                    series=series,
                    x=Axis(
                        label="rounds t" if metric == metrics[-1] else "",
                        scale="log" if logx else "linear",
                        limits=(first, case.horizon),
                    ),
                    y=_from_zero(_LABELS.get(metric, metric), series),
                    rules=[Rule(axis="x", at=at, colour=_SWITCH, width=0.8) for at in case.switches],
                    title=printable(case.title),
                )
            )
        charts.append(line)
    size = (max(5.2, 3.4 * len(cases)), 0.4 + 2.4 * len(metrics))
    return Figure(title=title, charts=charts, size=size, shared="x")


def points(title: str, rows: Rows, cases: Sequence[CaseLabel], metric: str) -> Figure:
    """One point per policy and case, with its bounds."""
    place = {case.case: number for number, case in enumerate(cases)}
    policies = _policies(rows, [metric])
    series, bounds = [], []
    for number, policy in enumerate(policies):
        colour, marker = look(number)
        shift = min(0.06, 0.8 / len(policies)) * (number - (len(policies) - 1) / 2)
        for form, measure in (("", metric), *((form, f"bound ({form})") for form in BOUNDS)):
            own = [row for row in _of(rows, policy, measure) if row["case"] in place]
            if not own:
                continue
            at = [place[row["case"]] + shift for row in own]
            if form:
                sign: Marker = "thin cross" if form == "repaired" else "tick"
                mean = [row["mean"] for row in own]
                name = f"{form} bound, {policy}"
                bounds.append(
                    Series(name=name, colour=colour, at=at, mean=mean, kind="bound", marker=sign, dash=None, size=9)
                )
            else:
                dash = DASHES[number % len(DASHES)]
                name = policy
                if metric == "stopping time" and any(row["mean"] > 0 for row in _of(rows, policy, "unfinished runs")):
                    name = f"{policy} (unfinished runs: lower bound)"
                tip = "\n".join([name, *(_said(row, f"n = {row['horizon']:,}, {row['case']}") for row in own)])
                series.append(
                    Series(
                        name=name, colour=colour, at=at, **_numbers(own), bars=True, marker=marker, dash=dash, tip=tip
                    )
                )
    places = ["\n".join(map(printable, case.lines)) for case in cases]
    chart = Chart(
        series=[*series, *bounds],
        x=Axis(scale="places", places=places),
        y=_from_zero(_LABELS.get(metric, metric), series),
    )
    return Figure(title=title, charts=[[chart]], size=(max(5.2, 0.9 * len(places)), 3.3))


def rates(title: str, rows: Rows, promised: str) -> Figure:
    """Violation rates of inequalities, each beside the rate that it promises: rows of the metric ``promised``."""
    places = {case: number for number, case in enumerate(dict.fromkeys(row["case"] for row in rows))}
    series = []
    for number, name in enumerate(dict.fromkeys(row["policy"] for row in rows)):
        colour, marker = look(number)
        for promise in (False, True):
            own = [row for row in rows if row["policy"] == name and (row["metric"] == promised) == promise]
            if not own:
                continue
            said = (f"{row['case']}: {row['mean']:.4g} [{row['low']:.4g}, {row['high']:.4g}]" for row in own)
            series.append(
                Series(
                    name="promised" if promise else name.replace("_", "-"), colour=GREY if promise else colour,
                    at=[places[row["case"]] + 0.1 * (number % 6 - 2.5) for row in own], **_numbers(own), bars=True,
                    marker="thin cross" if promise else marker, size=6 if promise else 4, dash=None,
                    filled=name.endswith("repaired"), kind="bound" if promise else "measured",
                    tip="\n".join([name, *said]),
                )
            )  # fmt: skip
    chart = Chart(
        series=series,
        x=Axis(label="share of samples in which the inequality is violated", limits=(-0.02, None)),
        y=Axis(scale="places", places=[printable(place) for place in places]),
        across=True,
    )
    return Figure(title=title, charts=[[chart]], size=(7.2, 1.2 + 0.22 * len(places)))


def _of(rows: Rows, policy: str, metric: str) -> Rows:
    return [row for row in rows if row["policy"] == policy and row["metric"] == metric]


def _policies(rows: Rows, metrics: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(row["policy"] for row in rows if row["metric"] in metrics))


def _numbers(rows: Rows) -> dict[str, Any]:
    return {key: [row[key] for row in rows] for key in ("mean", "low", "high")}


def _said(row: dict[str, Any], where: str) -> str:
    return f"{row['mean']:.4g} ± {row['se']:.2g} (s.e.) at {where}"


def _measured(
    by_key: dict[tuple[str, str, str], Rows], case: CaseLabel, policies: list[str], metric: str
) -> Iterable[Series]:
    for number, policy in enumerate(policies):
        if own := by_key.get((case.case, policy, metric)):
            when = f"t = {own[-1]['t']:,}"
            yield Series(
                name=case.names.get(policy, policy),
                colour=look(number)[0],
                at=[row["t"] for row in own],
                **_numbers(own),
                dash=DASHES[number // len(PALETTE) % len(DASHES)],
                tip=f"{policy}: {_said(own[-1], when)}",
            )


def _bounds(
    by_key: dict[tuple[str, str, str], Rows], case: str, policies: list[str], highest: float
) -> Iterable[Series]:
    """The bounds that are visible beside the curves."""
    low, high = (share * highest for share in _BOUND_DRAWN)
    for policy in policies:
        for number, (form, colour) in enumerate(BOUNDS.items()):
            own = by_key.get((case, policy, f"bound ({form})"))
            if own and low <= own[-1]["mean"] <= high:
                at, mean = [row["t"] for row in own], [row["mean"] for row in own]
                dash = DASHES[(number + 1) % len(DASHES)]
                yield Series(name=f"{form} bound, {policy}", colour=colour, at=at, mean=mean, kind="bound", dash=dash)


def _from_zero(label: str, series: Sequence[Series]) -> Axis:
    """A linear axis that starts at 0, unless values are below it."""
    negative = any(min([*s.mean, *s.low]) < 0 for s in series)
    return Axis(label=label, limits=(None if negative else 0, None))
