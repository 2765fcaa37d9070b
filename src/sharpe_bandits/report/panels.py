"""The figure of a panel, the same for print and for the page."""

from __future__ import annotations

from ..charts.description import Axis, Chart, Figure, Rule, Series, look
from ..charts.tidy_rows import Rows, Setting, curves, points
from ..experiments.panel import PanelResult
from ..names import printable
from ..paper.theory_check import LEVEL
from ..study import Study


def panel_figure(result: PanelResult, rows: Rows) -> Figure:
    """Curves over time for regret, otherwise the error by case, or violation rates."""
    panel = result.panel
    title = f"{panel.id}, {panel.profile} profile: {panel.title}" if panel.profile else panel.title
    if panel.metric == "coverage":
        return _coverage(title, rows)
    settings = [_setting(study) for study in result.studies]
    if panel.metric in ("error", "stopping time"):
        return points(title, rows, settings, panel.metric)
    return curves(title, rows, settings, ("regret", "sub-optimal plays"), result.axis)


def _setting(case: Study) -> Setting:
    others = [f"{k} = {v}" for k, v in case.variables.items() if k not in ("K", "n")]
    return Setting(
        label=case.label,
        column=", ".join(f"{k} = {v}" for k, v in case.variables.items() if k != "L"),
        suffix=case.with_L(""),
        lines=(*others, f"K = {case.K}", f"n = {case.horizon:,}"),
        horizon=case.horizon,
        switches=case.switches,
    )


def _coverage(title: str, rows: Rows) -> Figure:
    places = {case: number for number, case in enumerate(dict.fromkeys(row["case"] for row in rows))}
    series = []
    for number, name in enumerate(dict.fromkeys(row["policy"] for row in rows)):
        own = [row for row in rows if row["policy"] == name]
        colour, marker = look(number)
        series.append(
            Series(
                name=name.replace("_", "-"), colour=colour, marker=marker, size=4, dash=None, bars=True,
                at=[places[row["case"]] + 0.1 * (number - 2.5) for row in own],
                mean=[row["mean"] for row in own], low=[row["low"] for row in own], high=[row["high"] for row in own],
            )
        )  # fmt: skip
    chart = Chart(
        series=series,
        x=Axis(label="share of samples in which the inequality is violated", limits={"linear": (-0.02, None)}),
        y=Axis(scale="places", places=[printable(place) for place in places]),
        rules=[Rule(axis="x", at=LEVEL, label=f"promised: at most {LEVEL:g}")],
        across=True,
        height=80 + 26 * len(places),
    )
    return Figure(title=title, charts=[[chart]], size=(7.2, 1.2 + 0.2 * len(places)))
