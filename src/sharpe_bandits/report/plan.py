"""The figure and the page of a plan: error against budget, what is needed, and what was assumed."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..experiments.store import write_whole
from ..experiments.tidy import as_csv
from ..figures import STYLE, pyplot, render, style
from ..planning.needs import FULL, VERIFY, Plan
from ..planning.words import AT_ONCE, answer, heads, lines, remarks, title
from .document import table
from .page import SYMBOLS, charted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SPAN = 500  # budgets smaller than the largest by more than this are not drawn


def series(plan: Plan) -> list[dict[str, Any]]:
    """What is drawn, per method: simulated points, the fitted line, the budget needed."""
    K = plan.problem.K
    drawn: list[dict[str, Any]] = []
    names: list[tuple[str, bool]] = [(policy, False) for policy in plan.policies]
    names += [(plan.uniform, True)] if plan.seen_at_once and plan.uniform else []
    largest = max(p.budget for p in plan.points if p.stage != FULL)
    for number, (policy, at_once) in enumerate(names):
        own = [p for p in plan.points if p.policy == policy and (p.stage == FULL) == at_once]
        near = sorted((p for p in own if _SPAN * p.budget >= largest), key=lambda p: p.budget)
        shown = [p for p in near if p.wrong]
        per_round = K if at_once else 1
        colour, marker = style(number)
        need = plan[policy] if plan.needs else None
        line = need.line if need else None
        entry: dict[str, Any] = {
            "name": AT_ONCE if at_once else policy, "colour": colour, "marker": marker, "symbol": SYMBOLS[marker],
            "budget": [p.budget // per_round for p in shown],
            "never": [[p.budget // per_round, _short(p.error.high)] for p in near if not p.wrong],
            "fresh": [p.stage == VERIFY for p in shown], "runs": [p.runs for p in shown],
            **{k: [_short(getattr(p.error, k)) for p in shown] for k in ("mean", "low", "high")},
        }  # fmt: skip
        if line is not None:
            curve = line.error(np.geomspace(line.low, line.high, 40))
            entry["line"] = {k: [_short(v) for v in getattr(curve, k)] for k in ("t", "mean", "low", "high")}
        if need is not None and need.rounds is not None:
            entry["need"] = [_short(v) for v in (need.rounds.mean, need.rounds.low, need.rounds.high)]
        drawn.append(entry)
    return drawn


def _short(value: float) -> float:
    return float(f"{value:.6g}")


def figure(plan: Plan) -> Figure:
    """Error against budget, both on logarithmic axes."""
    plt = pyplot()
    with plt.rc_context(STYLE):
        figure, ax = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
        for entry in series(plan):
            colour, line = entry["colour"], entry.get("line")
            budget, mean, low, high = (np.array(entry[k], float) for k in ("budget", "mean", "low", "high"))
            fresh = np.array(entry["fresh"], bool)
            if line is not None:
                ax.plot(line["t"], line["mean"], color=colour)
                ax.fill_between(line["t"], line["low"], line["high"], color=colour, alpha=0.18, linewidth=0)
            else:
                ax.plot(budget, mean, color=colour, linewidth=0.8)
            look = {"color": colour, "marker": entry["marker"], "linestyle": "none", "elinewidth": 0.9}
            for which, extra in ((~fresh, {"markersize": 3.5}), (fresh, {"markersize": 7, "markerfacecolor": "white"})):
                bars = [(mean - low)[which], (high - mean)[which]]
                label = entry["name"] if which is not fresh else None
                ax.errorbar(budget[which], mean[which], bars, label=label, **look, **extra)
            if entry["never"]:  # a logarithmic axis has no 0: the upper end of the interval is shown
                ax.plot(*zip(*entry["never"], strict=True), color=colour, marker=7, linestyle="none", fillstyle="none")
            if "need" in entry and plan.target is not None:
                _, left, right = entry["need"]
                ax.plot([left, right], [plan.target] * 2, color=colour, linewidth=4, solid_capstyle="butt")
        ax.set(xscale="log", yscale="log", xlabel="budget n, rounds", ylabel="probability of error $e_n$")
        ax.set_ylim(_floor(plan), 1.1)
        if plan.target is not None:
            ax.axhline(plan.target, color="#444444", linewidth=1, linestyle=(0, (4, 3)), zorder=1)
            ax.annotate(f"target {plan.target:g}", (0.01, plan.target), xycoords=("axes fraction", "data"),
                        xytext=(0, 3), textcoords="offset points", fontsize=8, color="#444444")  # fmt: skip
        ax.yaxis.set_major_formatter(plt.FuncFormatter(lambda value, _: f"{value:g}"))
        periods = plan.problem.periods_per_year
        above = ax.secondary_xaxis("top", functions=(lambda n: n / periods, lambda years: years * periods))
        above.set_xlabel("years, one round per period")
        for axis in (above.xaxis, ax.xaxis):
            axis.set_minor_formatter(plt.NullFormatter())
            axis.set_major_formatter(plt.FuncFormatter(lambda value, _: f"{value:,.10g}"))
        ax.legend(loc="lower left")
        said = textwrap.fill(" ".join(plan.problem.conventions()[:2]), 115)
        figure.supxlabel(said, x=0.01, ha="left", fontsize=7, color="#444444")
        figure.suptitle(textwrap.fill(title(plan), 70), x=0.01, ha="left", fontsize=10.5, fontweight="bold")
        return figure


def _floor(plan: Plan) -> float:
    """The lowest error drawn: a tenth of the target, or less than all that was seen."""
    if plan.target is not None:
        return plan.target / 10
    seen = [p.error.low if p.wrong else p.error.high for p in plan.points]
    return max(min(seen, default=0.1) / 2, 1e-5)


def page(plan: Plan) -> str:
    """The whole page."""
    chart = {"kind": "budget", "target": plan.target, "floor": _floor(plan), "series": series(plan),
             "periods": plan.problem.periods_per_year}  # fmt: skip
    return charted(title(plan), "\n".join(_body(plan)), {"plan": {"charts": [chart]}})


def _body(plan: Plan) -> Iterable[str]:
    yield "<main><h1>" + escape(title(plan)) + "</h1>"
    yield f'<p class="lead">{escape(answer(plan))}</p>'
    yield table(heads(plan), lines(plan))
    yield '<section id="error"><h2>Error against budget</h2>'
    yield "<p>Points are simulated errors with 95% intervals; an arrow stands at the upper end of the interval where "
    yield "no run was wrong. "
    if plan.needs:
        yield (
            "Large open points are those of the fresh runs; lines with their bands are fitted to the points near the "
            "target. A thick bar on the target is the 95% interval of the rounds needed."
        )
    yield "</p>"
    yield '<div class="charts"><div class="chart" data-panel="plan" data-chart="0"></div></div></section>'
    yield '<section id="assumed"><h2>What was assumed</h2><ul>'
    yield "".join(f"<li>{escape(text)}</li>" for text in remarks(plan)) + "</ul></section>"
    yield '<section id="numbers"><h2>Everything that was simulated</h2>'
    rows = [
        [p.policy, p.stage, f"{p.budget:,}", f"{p.runs:,}", f"{p.wrong:,}", f"{p.error.mean:.4g}",
         f"{p.error.low:.4g} to {p.error.high:.4g}"] for p in plan.points
    ]  # fmt: skip
    yield '<details><summary class="more">All points</summary>'
    yield table(["method", "stage", "rounds", "runs", "wrong", "error", "95% interval"], rows, words=2) + "</details>"
    yield (
        f'<p class="files">Seed {plan.seed}. Figure: <a href="plan.svg">SVG</a>, <a href="plan.png">PNG</a>. '
        'Data: <a href="plan.csv">CSV</a>, <a href="plan.json">JSON</a>.</p></section></main>'
    )


def save(plan: Plan, folder: Path) -> None:
    """Write the plan as table, plain data, figure and page."""
    files = {f"plan.{kind}": picture for kind, picture in render(figure(plan)).items()}
    files["plan.csv"] = as_csv(plan.rows())
    files["plan.json"] = (json.dumps(plan.to_dict(), indent=1, ensure_ascii=False) + "\n").encode()
    files["plan.html"] = page(plan).encode()
    for name, content in files.items():
        write_whole(folder / name, content)
