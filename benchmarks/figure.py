"""The figure of RESULTS.md: every engine on plain UCB1, and UCB-RSSR against the number of arms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .measure import ALL_CORES, C_LOOP, C_TUNED, OURS
from .report import number

#: Okabe & Ito's colours, told apart by colour-blind readers.
BLUE, ORANGE, GREY, GREEN = "#0072B2", "#D55E00", "#7F7F7F", "#009E73"


def draw(found: dict[str, Any], folder: Path) -> None:
    """Write results.png."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    style = {"font.size": 10, "axes.spines.top": False, "axes.spines.right": False}
    with plt.rc_context(style):
        figure, (bars, lines) = plt.subplots(1, 2, figsize=(11.5, 4.6), width_ratios=(1.25, 1.0), layout="constrained")
        _bars(bars, found["ucb1"])
        _lines(lines, found)
        figure.savefig(folder / "results.png", dpi=160)
        plt.close(figure)


def _bars(axes: Any, work: dict[str, Any]) -> None:
    ran = sorted((row for row in work["rows"] if "ns" in row), key=lambda row: row["ns"])
    colours = [
        BLUE if row["engine"] in (OURS, ALL_CORES) else ORANGE if row["engine"] == C_LOOP else GREY for row in ran
    ]
    places = range(len(ran))
    axes.barh(places, [row["ns"] for row in ran], color=colours, height=0.72)
    names = [row["engine"] + ("" if row["policy"] == "UCB1" else " (Thompson)") for row in ran]
    axes.set_yticks(places, names)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlim(right=max(row["ns"] for row in ran) * 30)
    for place, row in zip(places, ran, strict=True):
        times = "" if row["engine"] in (OURS, ALL_CORES) else f"  ({number(row['ratio'])} times)"
        axes.text(row["ns"] * 1.15, place, f"{number(row['ns'])}{times}", va="center")
    axes.set_xlabel("ns per step (log scale; fewer is better)")
    axes.set_title(f"Plain UCB1, 10 Bernoulli arms, horizon {work['horizon']:,}", loc="left", fontsize=10.5)


def _lines(axes: Any, found: dict[str, Any]) -> None:
    growth = found["growth"]
    rssr = growth["by arms"]["UCB-RSSR"]["ns"]
    thompson = growth["by arms"]["Modified-MVTS"]["ns"]
    axes.plot(growth["arms"], rssr, "o-", color=BLUE, label="UCB-RSSR, sharpe-bandits")
    for engine, marker in ((C_LOOP, "s--"), (C_TUNED, "d:")):
        loop = [
            (work["arms"], next(row["ns"] for row in work["rows"] if row["engine"] == engine))
            for work in found["paths"]
            if work["what"] == f"UCB-RSSR, K = {work['arms']}"
        ]
        axes.plot(*zip(*loop, strict=True), marker, color=ORANGE, label=f"UCB-RSSR, {engine}")
    axes.plot(growth["arms"], thompson, "^-", color=GREEN, label="Modified-MVTS, sharpe-bandits")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    ticks = [k for k in (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024) if k <= 2 * max(growth["arms"])]
    axes.set_xticks(ticks, [str(k) for k in ticks])
    axes.set_xlabel("arms K")
    axes.set_ylabel("ns per step")
    axes.set_title("Cost of a step against the number of arms", loc="left", fontsize=10.5)
    axes.legend(frameon=False, fontsize=9)
    axes.grid(alpha=0.25, which="major")
