"""Figures from tidy rows: curves over time if a metric has several times, one point per case otherwise.

Tidy rows are dictionaries with the columns case, policy, K, L, horizon, t, metric, mean, low and high, among others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ..errors import unknown
from ..names import printable
from .description import DASHES, PALETTE, Axis, Chart, Dash, Figure, Marker, Rule, Scale, Series, look

Rows = list[dict[str, Any]]

#: Metric and policy of rows that hold the asymptotic lower bound, and its name in legends. No uniformly good policy can
#: stay below this slope for ever, but a policy may be below it at a given time.
LOWER_BOUND, ANY_POLICY = "lower bound", "any policy"
LOWER_BOUND_NAME = "asymptotic lower bound"
#: A lower bound that ends above this multiple of the highest curve is hidden: it is not informative after few rounds.
LOWER_BOUND_SHOWN = 2.0
_LOWER_BOUND_DASHES: tuple[Dash, ...] = ("dot", "dashdot", "sparse dot")
#: Forms of an upper bound, each with its shade of grey.
BOUNDS = {"printed": "#8c8c8c", "appendix": "#b5b5b5", "repaired": "#4d4d4d", "proved": "#000000"}
_SWITCH = "#b8bec8"
_LABELS = {"regret": "regret R(t)", "error": "probability of error", "stopping time": "stopping time (rounds)"}


@dataclass(frozen=True)
class Setting:
    """How a figure labels one case.

    Attributes
    ----------
    label : str
        the case's name in the rows
    column : str
        the chart in which it is drawn; cases of one column share axes
    suffix : str
        added to names if several cases share a chart, otherwise to its title, as in ", L = 0.5"
    lines : tuple[str, ...]
        labels below its points
    horizon : int
        its number of rounds
    switches : tuple[int, ...], optional
        rounds in which the arms change
    suffixes : Mapping[str, str], optional
        suffixes of policies that call the regulariser by another name, as in ", ε₀ = 0.5"
    """

    label: str
    column: str
    suffix: str
    lines: tuple[str, ...]
    horizon: int
    switches: tuple[int, ...] = ()
    suffixes: Mapping[str, str] = field(default_factory=dict)


def figure_from_rows(title: str, rows: Rows, metric: str = "regret", axis: Literal["log", "linear"] = "log") -> Figure:
    """The figure of a metric, made from tidy rows alone; ``axis`` is the scale of time."""
    own = [row for row in rows if row["metric"] == metric]
    measured = list(dict.fromkeys(row["metric"] for row in rows))
    if not own:
        raise unknown("metric in these rows", metric, measured)
    settings = []
    for row in {row["case"]: row for row in own}.values():
        lines = (row["case"],) if row["case"] else (f"{row['K']} arms", f"{row['horizon']:,} rounds")
        settings.append(Setting(row["case"], row["case"], "", lines, row["horizon"]))
    if any(row["t"] != row["horizon"] for row in own):
        beside = [m for m in ("sub-optimal plays",) if metric == "regret" and m in measured]
        return curves(title, rows, settings, [metric, *beside], axis)
    return points(title, rows, settings, metric)


def curves(title: str, rows: Rows, settings: Sequence[Setting], metrics: Sequence[str], axis: str) -> Figure:
    """Curves over time: a row of charts per metric, a column per group of cases."""
    found = _by_key(rows)
    columns: dict[str, list[Setting]] = {}
    for setting in settings:
        columns.setdefault(setting.column, []).append(setting)
    several = any(len(cases) > 1 for cases in columns.values())
    policies = _policies(rows, metrics)
    scale: Scale = "log" if axis == "log" else "linear"
    charts = []
    for row, metric in enumerate(metrics):
        line = []
        for column, cases in columns.items():
            series = list(_measured(found, cases, policies, metric, several))
            if row == 0:
                series += _lower_bounds(found, cases, series, several)
            horizon = max(case.horizon for case in cases)
            lowest = 10 if horizon >= 100 else 1
            label = "rounds t" if row == len(metrics) - 1 else ""
            heading = printable(column if several or not column else column + cases[0].suffix)
            line.append(
                Chart(
                    series=series,
                    x=Axis(label=label, scale=scale, limits={"log": (lowest, horizon), "linear": (0, horizon)}),
                    y=_from_zero(_LABELS.get(metric, metric), series),
                    rules=[Rule(axis="x", at=at, colour=_SWITCH, width=0.8) for at in cases[0].switches],
                    name=metric,
                    title=heading,
                )
            )
        charts.append(line)
    size = (max(5.2, 3.9 * len(columns)), 0.4 + 2.4 * len(metrics))
    return Figure(title=title, charts=charts, size=size, shared="x")


def points(title: str, rows: Rows, settings: Sequence[Setting], metric: str) -> Figure:
    """One point per policy and case, with its bounds."""
    place = {setting.label: number for number, setting in enumerate(settings)}
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
                series.append(
                    Series(name=name, colour=colour, at=at, **_numbers(own), bars=True, marker=marker, dash=dash)
                )
    places = ["\n".join(map(printable, setting.lines)) for setting in settings]
    chart = Chart(
        series=[*series, *bounds],
        x=Axis(scale="places", places=places),
        y=_from_zero(_LABELS.get(metric, metric), series),
        name=metric,
    )
    return Figure(title=title, charts=[[chart]], size=(max(5.2, 0.9 * len(places)), 3.3))


def _by_key(rows: Rows) -> dict[tuple[str, str, str], Rows]:
    found = defaultdict(list)
    for row in rows:
        found[row["case"], row["policy"], row["metric"]].append(row)
    return found


def _of(rows: Rows, policy: str, metric: str) -> Rows:
    return [row for row in rows if row["policy"] == policy and row["metric"] == metric]


def _policies(rows: Rows, metrics: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(row["policy"] for row in rows if row["metric"] in metrics))


def _numbers(rows: Rows) -> dict[str, Any]:
    return {key: [row[key] for row in rows] for key in ("mean", "low", "high")}


def _measured(
    found: dict[tuple[str, str, str], Rows], cases: list[Setting], policies: list[str], metric: str, several: bool
) -> Iterable[Series]:
    """The curves of all cases of a chart, each followed by its bounds."""
    for d, case in enumerate(cases):
        for p, policy in enumerate(policies):
            forms = BOUNDS if metric == "regret" else {}
            for form, measure in ("", metric), *((form, f"bound ({form})") for form in forms):
                own = found.get((case.label, policy, measure))
                if not own:
                    continue  # the policy is not in this case, or has no such bound
                name = f"{form} bound, {policy}" if form else policy
                yield Series(
                    name=name + case.suffixes.get(policy, case.suffix) if several else name,
                    colour=BOUNDS[form] if form else look(p)[0],
                    at=[row["t"] for row in own],
                    **_numbers(own),
                    kind="bound" if form else "measured",
                    dash=DASHES[(d if form else d + p // len(PALETTE)) % len(DASHES)],
                )


def _lower_bounds(
    found: dict[tuple[str, str, str], Rows], cases: list[Setting], series: list[Series], several: bool
) -> Iterable[Series]:
    highest = max((max(s.high) for s in series), default=0.0)
    for d, case in enumerate(cases):
        own = found.get((case.label, ANY_POLICY, LOWER_BOUND))
        if own:
            yield Series(
                name=LOWER_BOUND_NAME + case.suffix if several else LOWER_BOUND_NAME,
                colour="#000000",
                at=[row["t"] for row in own],
                **_numbers(own),
                kind="bound",
                dash=_LOWER_BOUND_DASHES[d % len(_LOWER_BOUND_DASHES)],
                hidden=own[-1]["mean"] > LOWER_BOUND_SHOWN * highest,
                scaled=False,
            )


def _from_zero(label: str, series: Sequence[Series]) -> Axis:
    """A linear axis that starts at 0, unless values are below it."""
    negative = any(min([*s.mean, *s.low]) < 0 for s in series)
    return Axis(label=label, limits={"linear": (None if negative else 0, None)})
