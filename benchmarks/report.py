"""RESULTS.md: tables of what was measured, and what it says about the goals."""

from __future__ import annotations

import statistics
from typing import Any

from .goals import Goal, goals_of
from .measure import DRAWS, OURS

COMMAND = "python -m benchmarks"


def number(value: float) -> str:
    """Three figures, thousands separated."""
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def table(header: list[str], rows: list[list[str]]) -> list[str]:
    """A Markdown table; all columns but the first are numbers."""
    lines = ["| " + " | ".join(header) + " |", "|" + "|".join(["---"] + ["---:"] * (len(header) - 1)) + "|"]
    return [*lines, *("| " + " | ".join(row) + " |" for row in rows), ""]


def goal_lines(goals: list[Goal]) -> list[str]:
    """The goals as a table, then what limits those that are missed."""
    rows = []
    for goal in goals:
        sign = "at least" if goal.least else "at most"
        rows.append(
            [
                goal.what,
                f"{sign} {number(goal.target)} {goal.unit}",
                f"{number(goal.measured)} {goal.unit}"
                + (f" [{number(goal.interval[0])}, {number(goal.interval[1])}]" if goal.interval else ""),
                goal.verdict,
            ]
        )
    limits: dict[str, list[str]] = {}
    for goal in goals:
        if goal.limit and not goal.met:
            limits.setdefault(goal.limit, []).append(goal.what)
    missed = [f"- {'; '.join(what)}: {limit}." for limit, what in limits.items()]
    return [
        *table(["goal", "target", "measured", ""], rows),
        *(["What limits the goals missed:", "", *missed, ""] if missed else []),
    ]


def interval(sample: dict[str, float]) -> str:
    """A mean with its 95% interval."""
    return f"{sample['mean']:.4g} [{sample['low']:.4g}, {sample['high']:.4g}]"


def _ucb1(work: dict[str, Any]) -> list[str]:
    rows = []
    for row in work["rows"]:
        name = row["engine"] + (f" {row['version']}" if "version" in row else "")
        if "failed" in row:
            rows.append([name, row["failed"], "", "", "", "", ""])
            continue
        name += "" if row["policy"] == "UCB1" else f", {row['policy']}"
        apart = "" if row["distance"] is None else f"{row['distance']:+.1f}"
        peak = f"{row['peak']:.0f}" if row.get("peak") else ""
        rows.append(
            [
                name,
                number(row["ns"]),
                number(row["ratio"]),
                f"{row['regret']['runs']:,}",
                interval(row["regret"]),
                apart,
                peak,
            ]
        )
    same = "the same pulls" if work["same pulls as C"] else "NOT the same pulls"
    header = ["engine", "ns per step", "times ours", "runs", "regret at the horizon", "apart (s.e.)", "peak MiB"]
    return [
        f"## (a) Plain UCB1, ten Bernoulli arms, horizon {work['horizon']:,}",
        "",
        *table(header, rows),
        "One thread each, but for the row that says otherwise. *Apart* is the distance of an engine's mean regret from",
        "ours in standard errors of the difference: within about 3, both compute the same thing. The C loop draws the",
        f"same rewards as the library and made {same} in all {work['runs compared']:,} runs that were compared.",
        "",
    ]


def _engines(work: dict[str, Any], reference: str) -> list[str]:
    rows = [[row["engine"], number(row["ns"]), number(row["ratio"])] for row in work["rows"]]
    return table(["engine", "ns per step", f"times {reference}"], rows)


def _paths(works: list[dict[str, Any]]) -> list[str]:
    lines, unlike = [], []
    for work in works:
        cells = [work["what"], number(work["rows"][0]["ns"])]
        for row in work["rows"][1:]:
            low, high = row["interval"]
            cells += [number(row["ns"]), f"{number(row['ratio'])} [{number(low)}, {number(high)}]"]
        lines.append(cells + [""] * (6 - len(cells)))
        unlike += [f"- {work['what']}, {form}: {n} of {work['runs']} runs" for form, n in work["same"].items()
                   if n < work["runs"]]  # fmt: skip
    header = ["path", "ours, ns", "C literal, ns", "times ours", "C tuned, ns", "times ours"]
    agreed = ["In all runs that were compared, both C loops made the same pulls as the library."]
    return [
        "## (b) Every path that exists in C at the same formula",
        "",
        "Nanoseconds per round (medians), one thread. *Literal*: the formula as it is printed. *Tuned*: tables of",
        "logarithms and inverses, one division per index, and what depends on an arm's rewards alone worked out when",
        "one comes in. Both are in `loop.c`, compiled with `gcc -O3 -march=native`. In brackets: 95% intervals.",
        "The ten arms are the paper's (setting R3); more are drawn from their ranges, or are copies of the ten.",
        "",
        *table(header, lines),
        *(["Runs with the same pulls, where not all of them:", "", *unlike] if unlike else agreed),
        "",
    ]


def _thompson(work: dict[str, Any]) -> list[str]:
    rows = [
        [row["engine"], number(row["ns"]), number(row["ratio"]), interval(row["regret"]), f"{row['distance']:+.1f}"]
        for row in work["rows"]
    ]
    header = ["engine", "ns per step", "times ours", "regret at the horizon", "apart (s.e.)"]
    return [f"## (c) Modified-MVTS, ten uniform arms, horizon {work['horizon']:,}", "", *table(header, rows)]


def _growth(measured: dict[str, Any]) -> list[str]:
    arms = [
        [name, *(number(v) for v in curve["ns"]), f"{curve['exponent']:.2f}"]
        for name, curve in measured["by arms"].items()
    ]
    workers = ", ".join(f"{w} workers {s:.2f} times one" for w, s in measured["workers"].items() if w != "1")
    thompson = ", ".join(
        f"{w} workers {s:.2f} times one" for w, s in measured["workers, Modified-MVTS"].items() if w != "1"
    )
    return [
        "## (f) Growth",
        "",
        "Nanoseconds per step (per pull for SHSR) against the number of arms, and the fitted exponent:",
        "",
        *table(["K", *(str(k) for k in measured["arms"]), "exponent"], arms),
        f"Workers, UCB-RSSR: {workers}. Modified-MVTS: {thompson}.",
        "",
    ]


def _seconds(seconds: list[float]) -> str:
    """Their median, with the least and the largest."""
    return f"{statistics.median(seconds):.2f} [{min(seconds):.2f}, {max(seconds):.2f}]"


def results(measured: dict[str, Any], command: str = COMMAND) -> str:
    """The whole of RESULTS.md."""
    start = measured["start"]
    own = list(measured["own"]["rows"])
    lines = [
        "# Measured against C loops and other packages",
        "",
        f"Made by `{command}` (`make bench`) in {measured['seconds'] / 60:.0f} minutes; do not edit.",
        "Contenders take turns, so that the noise of the machine hits all alike. Times are medians over repetitions,",
        "ratios their quotients; intervals are of ratios taken side by side. A goal is met if its whole interval is.",
        "",
        *(f"- {name}: {value}" for name, value in measured["machine"].items()),
        "",
        "![Nanoseconds per step of every engine](results.png)",
        "",
        *_ucb1(measured["ucb1"]),
        *_paths(measured["paths"]),
        *_thompson(measured["thompson"]),
        f"## (d) Sequential halving (SHSR), {measured['halving']['arms']} arms, per pull",
        "",
        "The floor: the same rewards drawn and added up by vector instructions, and nothing else.",
        "",
        *(
            line
            for work in measured["halving"]["works"]
            for line in (f"Budget {work['horizon']:,}:", "", *_engines(work, "the bare draws"))
        ),
        "## (e) A user's own policy: UCB-RSSR in seven lines, ten arms",
        "",
        *_engines({"rows": own}, "the built-in one"),
        *_growth(measured["growth"]),
        "## (g) Peak memory of a fresh process, UCB-RSSR, ten arms",
        "",
        *table(
            ["runs", "rounds per run", "MiB"],
            [[f"{row['runs']:,}", f"{row['horizon']:,}", f"{row['MiB']:.0f}"] for row in measured["memory"]],
        ),
        "## (h) Import and first call",
        "",
        *table(
            ["", "seconds"],
            [
                ["import sharpe_bandits", _seconds(start["import"])],
                ["first simulate(), kernels compiled before", _seconds(start["first call"])],
                *(
                    [f"first simulate() ever, a policy played {kind}", _seconds(seconds)]
                    for kind, seconds in start["first call ever"].items()
                ),
            ],
        ),
        "Of processor time: medians; in brackets the least and the largest.",
        "",
        "## (i) Tools",
        "",
        *table(
            ["", "seconds"],
            [[what, _seconds(seconds)] for what, seconds in measured["tools"].items()],
        ),
        "On the wall, all cores; medians, in brackets the least and the largest.",
        "",
        "## Goals",
        "",
        *goal_lines(goals_of(measured)),
    ]  # fmt: skip
    return "\n".join(lines).rstrip() + "\n"


def ratios(measured: dict[str, Any]) -> str:
    """What --quick prints."""
    lines = []
    works = [(work["what"], work, OURS) for work in measured["paths"]]
    works += [(f"SHSR, K = 64, budget {work['horizon']:,}", work, DRAWS) for work in measured["halving"]["works"]]
    for name, work, of in [*works, ("UCB-RSSR, K = 10", measured["own"], OURS)]:
        for row in work["rows"]:
            low, high = row["interval"]
            lines.append(
                f"{name:<42} {row['engine']:<32} {row['ns']:9.2f} ns/step {row['ratio']:8.2f} [{low:.2f}, {high:.2f}] "
                f"times {'ours' if of == OURS else of}"
            )
        if "same" in work:
            same = ", ".join(f"{form} {n} of {work['runs']}" for form, n in work["same"].items())
            lines.append(f"  runs with the same pulls: {same}")
    lines.append("")
    lines += [
        f"{goal.what}: {number(goal.measured)} {goal.unit} "
        f"({'at least' if goal.least else 'at most'} {number(goal.target)}): {goal.verdict}"
        for goal in goals_of(measured)
    ]
    return "\n".join(lines)
