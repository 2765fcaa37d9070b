"""The figure of a panel, the same for print and for the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..charts.description import GREY, Axis, Chart, Figure, Series, look
from ..charts.tidy_rows import Rows, Setting, curves, points
from ..experiments.panel import PanelResult
from ..names import printable
from ..paper.claims import AS_PLOTTED
from ..paper.theory_check import PROMISED
from ..study import Study

#: The panels of the paper's Fig. 4a.
HALVING = ("V1", "V2", "V3", "V4", "V5")


def panel_figure(result: PanelResult, rows: Rows) -> Figure:
    """Curves over time for regret, otherwise the error by case, or violation rates."""
    panel = result.panel
    title = f"{panel.id}, {panel.profile} profile: {panel.title}" if panel.profile else panel.title
    if panel.metric == "coverage":
        return _coverage(title, rows)
    settings = [_setting(study) for study in result.studies]
    if panel.metric in ("error", "stopping time"):
        return points(title, rows, settings, panel.metric)
    metrics = ["regret", "sub-optimal plays"]
    if any(row["metric"] == AS_PLOTTED for row in rows):
        metrics.append(AS_PLOTTED)
    return curves(title, rows, settings, metrics, result.axis)


def halving_figure(results: Sequence[PanelResult], rows: Mapping[str, Rows]) -> Figure | None:
    """The paper's Fig. 4a: the errors of SHVV in its five experiments (V1 to V5), if all were run."""
    own = [result for result in results if result.panel.id in HALVING]
    if len(own) < len(HALVING):
        return None
    series = [
        {**row, "policy": f"{result.panel.id}: {result.panel.title}"}
        for result in own
        for row in rows[result.panel.key]
        if row["metric"] == "error"
    ]
    title = "Error of SHVV, five experiments (the paper's Fig. 4a)"
    return points(title, series, [_setting(study) for study in own[0].studies], "error")


def _setting(case: Study) -> Setting:
    others = [f"{k} = {v}" for k, v in case.variables.items() if k not in ("K", "n")]
    return Setting(
        label=case.label,
        column=", ".join(f"{k} = {v}" for k, v in case.variables.items() if k != "L"),
        suffix=case.with_L(""),
        lines=(*others, f"K = {case.K}", f"n = {case.horizon:,}"),
        horizon=case.horizon,
        switches=case.switches,
        suffixes={
            name: f", ε₀ = {case.L:g}"
            for name, result in case.items()
            if case.L is not None and result.policy.get("epsilon0") == case.L
        },
    )


def _coverage(title: str, rows: Rows) -> Figure:
    """Measured rates of every kind of inequality, and beside each the rate that it promises."""
    places = {case: number for number, case in enumerate(dict.fromkeys(row["case"] for row in rows))}
    series: list[Series] = []
    for number, name in enumerate(dict.fromkeys(row["policy"] for row in rows)):
        colour, marker = look(number)
        for metric in ("violation rate", PROMISED):
            own = [row for row in rows if row["policy"] == name and row["metric"] == metric]
            if not own:
                continue
            promise = metric == PROMISED
            series.append(
                Series(
                    name="promised" if promise else name.replace("_", "-"), colour=GREY if promise else colour,
                    marker="thin cross" if promise else marker, size=6 if promise else 4, dash=None, bars=True,
                    filled=name.endswith("repaired"), kind="bound" if promise else "measured",
                    at=[places[row["case"]] + 0.1 * (number % 6 - 2.5) for row in own],
                    mean=[row["mean"] for row in own], low=[row["low"] for row in own],
                    high=[row["high"] for row in own],
                )
            )  # fmt: skip
    chart = Chart(
        series=series,
        x=Axis(label="share of samples in which the inequality is violated", limits={"linear": (-0.02, None)}),
        y=Axis(scale="places", places=[printable(place) for place in places]),
        across=True,
        height=80 + 28 * len(places),
    )
    return Figure(title=title, charts=[[chart]], size=(7.2, 1.2 + 0.22 * len(places)))
