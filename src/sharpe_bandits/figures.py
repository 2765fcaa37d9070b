"""Figures for print: one per panel, one style for all. Needs matplotlib (the extra ``report``)."""

from __future__ import annotations

import io
import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import SharpeBanditsError
from .experiments.description import Case
from .experiments.panel import Finished, Panel
from .paper.theory_check import LOWER_BOUND

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Rows = list[dict[str, Any]]

#: Okabe & Ito's palette: told apart by colour-blind readers and in grey.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
#: The asymptotic lower bound is a slope that no uniformly good policy stays below for ever; at a given time one may.
FLOOR_NAME = "asymptotic lower bound"
#: One that ends further up than so many times the highest curve is not drawn: few rounds cannot cost that much.
FLOOR_SHOWN = 2.0
FLOOR_DASHES: list[Any] = [(0, (1, 2)), (0, (4, 2, 1, 2)), (0, (1, 5))]
#: Greys for bounds.
BOUNDS = {"printed": "#8c8c8c", "repaired": "#4d4d4d", "proved": "#000000"}
DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1.5, 1.5)), (0, (5, 2, 1.5, 2)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
#: Settings of matplotlib for every figure.
STYLE = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "lines.linewidth": 1.6,
    "legend.frameon": False,
    "svg.hashsalt": "sharpe-bandits",
    "svg.fonttype": "none",
    "figure.dpi": 110,
}
_UNITS = {
    "regret": "regret R(t)",
    "sub-optimal plays": "sub-optimal plays",
    "error": "probability of error $e_n$",
}


def pyplot() -> Any:
    """matplotlib.pyplot without a screen; the error says how to get it."""
    try:
        import matplotlib
    except ImportError:
        raise SharpeBanditsError(
            "figures need matplotlib, which is not installed; install it with: pip install 'sharpe-bandits[report]'"
        ) from None
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    return plt


def draw(finished: Finished, rows: Rows) -> Figure:
    """The figure of one panel: curves over time where regret is measured, error against the case elsewhere."""
    plt = pyplot()
    with plt.rc_context(STYLE):
        kinds = {"regret": _curves, "error": _errors, "coverage": _coverage}
        figure = kinds[finished.panel.metric](plt, finished, rows)
        panel = finished.panel
        profile = f", {panel.profile} profile" if panel.profile else ""
        title = textwrap.fill(f"{panel.id}{profile}: {panel.title}", int(11 * figure.get_figwidth()))
        figure.suptitle(title, x=0.01, ha="left", fontsize=10.5, fontweight="bold")
        return figure


def render(figure: Figure) -> dict[str, bytes]:
    """The figure as SVG and PNG; the same figure gives the same bytes."""
    plt = pyplot()
    files = {}
    with plt.rc_context(STYLE):
        for kind, metadata in (("svg", {"Date": None}), ("png", {"Software": None})):
            memory = io.BytesIO()
            figure.savefig(memory, format=kind, metadata=metadata, dpi=160 if kind == "png" else None)
            files[kind] = memory.getvalue()
            figure.set_layout_engine("none")  # it is laid out once; doing it again would double the time
    plt.close(figure)
    return files


def policies_of(finished: Finished) -> list[str]:
    """Names of all policies of a panel, those of the first case first."""
    return list(dict.fromkeys(name for outcomes in finished.outcomes for name in outcomes))


def style(number: int) -> tuple[str, str]:
    """Colour and marker of a policy, by its number in the panel."""
    return PALETTE[number % len(PALETTE)], MARKERS[number % len(MARKERS)]


def setting(case: Case) -> list[str]:
    """What distinguishes a case, with K and n: ``["K = 16", "n = 5,000"]``."""
    others = [f"{k} = {v}" for k, v in case.variables.items() if k not in ("K", "n")]
    return [*others, f"K = {case.environment.K}", f"n = {case.horizon:,}"]


def columns_of(finished: Finished) -> list[tuple[str, list[int]]]:
    """Cases grouped into the columns of a figure: by K or set, so that different L share axes."""
    groups: dict[str, list[int]] = {}
    for number, case in enumerate(finished.panel.cases):
        label = ", ".join(f"{k} = {v}" for k, v in case.variables.items() if k not in ("L",))
        groups.setdefault(label, []).append(number)
    return list(groups.items())


def _curves(plt: Any, finished: Finished, rows: Rows) -> Figure:
    panel = finished.panel
    columns = columns_of(finished)
    metrics = ("regret", "sub-optimal plays")
    figure, axes = plt.subplots(
        2, len(columns), figsize=(max(5.2, 3.9 * len(columns)), 5.6), squeeze=False, sharex="col", layout="constrained"
    )
    policies = policies_of(finished)
    several = any(len(numbers) > 1 for _, numbers in columns)
    for c, (label, numbers) in enumerate(columns):
        for r, metric in enumerate(metrics):
            ax: Axes = axes[r][c]
            for d, number in enumerate(numbers):
                case = panel.cases[number]
                for p, policy in enumerate(policies):
                    found = [
                        x for x in rows if x["case"] == case.label and x["policy"] == policy and x["metric"] == metric
                    ]
                    if not found:
                        continue  # a policy of other cases
                    name = case.with_L(policy) if several else policy
                    _line(ax, found, style(p)[0], DASHES[(d + p // len(PALETTE)) % len(DASHES)], name)
                    for form in ("printed", "repaired", "proved") if metric == "regret" else ():
                        key = (case.label, policy, f"bound ({form})")
                        bound = [x for x in rows if (x["case"], x["policy"], x["metric"]) == key]
                        if bound:
                            text = f"{form} bound, {policy}"
                            text = case.with_L(text) if several else text
                            _line(ax, bound, BOUNDS[form], DASHES[d % len(DASHES)], text)
            top = ax.get_ylim()[1]
            for d, number in enumerate(numbers if metric == "regret" else []):
                case = panel.cases[number]
                floor = [x for x in rows if x["case"] == case.label and x["metric"] == LOWER_BOUND]
                if floor and floor[-1]["mean"] < FLOOR_SHOWN * top:
                    text = case.with_L(FLOOR_NAME) if several else FLOOR_NAME
                    _line(ax, floor, "#000000", FLOOR_DASHES[d % len(FLOOR_DASHES)], text)
            ax.set_ylim(top=top)
            ax.set_xscale(panel.axis)
            ax.xaxis.set_minor_locator(plt.NullLocator())
            horizon = max(panel.cases[number].horizon for number in numbers)
            start = 0 if panel.axis == "linear" else 10 if horizon >= 100 else 1
            ax.set_xlim(left=start, right=horizon)
            for switch in panel.cases[numbers[0]].environment.switches:
                ax.axvline(switch, color="#b8bec8", linewidth=0.8, zorder=0)
            ax.set_ylim(bottom=0)
            if c == 0:
                ax.set_ylabel(_UNITS[metric])
            if r == 0 and label:
                ax.set_title(label if several else panel.cases[numbers[0]].with_L(label), fontsize=9, loc="left")
            if r == 1:
                ax.set_xlabel("rounds t")
    entries: dict[str, Any] = {}  # of all columns: a bound, or a policy, may be in one of them only
    for ax in axes[0]:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    names = sorted(entries, key=lambda name: " bound" in name)
    across = 2 if several or len(columns) == 1 else 3
    small = 7.5 if len(columns) == 1 and max(map(len, names)) > 26 else None  # two columns of long names
    figure.legend([entries[name] for name in names], names, loc="outside lower center", ncols=across, fontsize=small)
    figure.set_figheight(5.2 + 0.2 * -(-len(names) // across))
    return figure


def _line(ax: Axes, found: Rows, colour: str, dash: Any, name: str) -> None:
    t, mean, low, high = (np.array([x[k] for x in found]) for k in ("t", "mean", "low", "high"))
    ax.plot(t, mean, color=colour, linestyle=dash, label=name)
    ax.fill_between(t, low, high, color=colour, alpha=0.18, linewidth=0)


def _errors(plt: Any, finished: Finished, rows: Rows) -> Figure:
    panel = finished.panel
    figure, ax = plt.subplots(figsize=(5.2, 3.7), layout="constrained")
    places = np.arange(len(panel.cases))
    policies = policies_of(finished)
    for p, policy in enumerate(policies):
        found = [x for x in rows if x["policy"] == policy and x["metric"] == "error"]
        mean, low, high = (np.array([x[k] for x in found]) for k in ("mean", "low", "high"))
        shift = 0.06 * (p - (len(policies) - 1) / 2)
        colour, marker = style(p)
        at = np.array([panel_case_number(panel, x["case"]) for x in found]) + shift
        ax.errorbar(
            at, mean, [mean - low, high - mean], color=colour, marker=marker, markersize=4.5,
            linestyle=DASHES[p % len(DASHES)], capsize=2.5, label=policy,
        )  # fmt: skip
        for form, sign in (("printed", "_"), ("repaired", "x")):
            bound = [x for x in rows if x["policy"] == policy and x["metric"] == f"bound ({form})"]
            at = np.array([panel_case_number(panel, x["case"]) for x in bound]) + shift
            if bound:
                values = [x["mean"] for x in bound]
                ax.plot(at, values, sign, color=colour, markersize=9, label=f"{form} bound, {policy}")
    ax.set_xticks(places, ["\n".join(setting(case)) for case in panel.cases])
    ax.set_ylim(bottom=0)
    ax.set_ylabel(_UNITS["error"])
    names = ax.get_legend_handles_labels()[1]
    if len(names) > 1:
        figure.legend(loc="outside lower center", ncols=min(2 if len(names) > 3 else 3, len(names)))
    return figure


def _coverage(plt: Any, finished: Finished, rows: Rows) -> Figure:
    figure, ax = plt.subplots(figsize=(7.2, 6.0), layout="constrained")
    places = {case: number for number, case in enumerate(dict.fromkeys(x["case"] for x in rows))}
    for p, name in enumerate(dict.fromkeys(x["policy"] for x in rows)):
        found = [x for x in rows if x["policy"] == name]
        mean, low, high = (np.array([x[k] for x in found]) for k in ("mean", "low", "high"))
        at = np.array([places[x["case"]] for x in found]) + 0.1 * (p - 2.5)
        colour, marker = style(p)
        ax.errorbar(
            mean, at, xerr=[mean - low, high - mean], color=colour, marker=marker, markersize=4,
            linestyle="none", label=name.replace("_", "-"),
        )  # fmt: skip
    ax.axvline(0.1, color="#444444", linewidth=1.2, label="promise: at most 0.1")
    ax.set_yticks(list(places.values()), list(places))
    ax.invert_yaxis()
    ax.set_xlim(left=-0.02)
    ax.set_xlabel("share of samples in which the inequality is violated")
    figure.legend(loc="outside lower center", ncols=3)
    return figure


def panel_case_number(panel: Panel, label: str) -> int:
    """Which case of a panel has this label."""
    return [case.label for case in panel.cases].index(label)
