"""A ranking as files: data, intervals, growth, drawdown, rolling Sharpe ratio and correlations, and a page."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._support.display import Table
from .._support.names import printable, shorten
from ..charts.description import DASHES, PALETTE, Axis, Chart, Figure, Rule, Series
from ..returns import statistics
from ..returns.ranked import Ranking

#: Maximum number of columns drawn, points of a curve, and minimum number of rows of a rolling Sharpe ratio.
DRAWN, POINTS, LEAST_WINDOW = 30, 300, 20
COLOURS = PALETTE[:-1]


def figures(ranking: Ranking) -> dict[str, Figure]:
    """The intervals, and for returns their growth."""
    return {"ranking": figure(ranking)} | ({} if ranking.returns.direction == "min" else {"curves": curves(ranking)})


def files(ranking: Ranking) -> dict[str, bytes]:
    """The correlations of all columns."""
    names, matrix = correlations(ranking, None)
    table = Table(["column", *names], [[name, *row] for name, row in zip(names, matrix, strict=True)])
    return {"correlations.csv": table.to_csv()}


def content(ranking: Ranking) -> dict[str, Any]:
    """The correlations of the columns that are drawn."""
    return {"correlations": correlations(ranking, DRAWN)}


def figure(ranking: Ranking) -> Figure:
    """The criterion with its intervals, the best on top."""
    what, label, rules = "value", ranking.criterion, []
    if ranking.by_ratio:
        what, label, rules = "annual_sharpe", f"annualised {ranking.ratio_words}", [Rule(axis="x", at=0, width=0.9)]
    if ranking.by_ratio and ranking.trials > 1:
        name = f"expected maximum of {ranking.trials} trials without skill"
        rules.append(Rule(axis="x", at=ranking.annual_expected_maximum, label=name, colour="#4d4d4d", dash=DASHES[1]))
    columns = ranking.columns[:DRAWN]
    mean, low, high = ([getattr(c, f"{what}{end}") for c in columns] for end in ("", "_low", "_high"))
    values = zip(columns, mean, low, high, strict=True)
    series = Series(
        name=label, colour=PALETTE[0], at=range(len(columns)), mean=mean, low=low, high=high, dash="", marker="o",
        size=5.5, width=2.2, bars=True, legend=False,
        tip="\n".join(f"{c.name}: {value:.4g} [{least:.4g}, {most:.4g}]" for c, value, least, most in values),
    )  # fmt: skip
    places = [shorten(printable(c.name), 28) for c in columns]
    y = Axis(scale="places", places=places, beside=[f"first in {c.best:.0%}" for c in columns])
    chart = Chart(series=[series], x=Axis(label=label), y=y, rules=rules, across=True)
    settings, count = ranking.settings(), len(ranking.columns)
    first = "R" if count <= DRAWN else f"First {DRAWN} of {count:,} columns, r"
    title = f"{first}anked by {ranking.criterion}, {100 * ranking.confidence:g}% intervals"
    named = {"annualised": settings["annualised"], **ranking.hurdle_in_words()}
    caption = "; ".join([settings["data"], settings["scale"], *(f"{what}: {words}" for what, words in named.items())])
    size = (8.4, 1.1 + 0.27 * min(count, DRAWN))
    return Figure(title=title, charts=[[chart]], size=size, caption=caption, shared="y")


def curves(ranking: Ranking) -> Figure:
    """Growth of 1, loss from the last peak and rolling Sharpe ratio; the first columns in colour, others in grey."""
    returns, q = ranking.returns, ranking.periods_per_year
    window = int(min(max(round(q), LEAST_WINDOW), max(len(returns) // 3, 3)))
    panels: tuple[list[Series], ...] = ([], [], [])
    columns = ranking.columns[:DRAWN]
    for number in reversed(range(len(columns))):
        place = returns.names.index(columns[number].name)
        x, excess = returns.values[:, place], returns.excess[:, place] - ranking.risk_free_per_period
        own = np.flatnonzero(~np.isnan(x))
        lines = (
            (own, statistics.wealth(x[own])), (own, -statistics.drawdowns(x[own])),
            (own[window - 1 :], statistics.rolling_sharpe(excess[own], window) * math.sqrt(q)),
        )  # fmt: skip
        bold = number < len(COLOURS)
        colour, width = (COLOURS[number], 1.4) if bold else ("#c9cfd6", 0.7)
        name = shorten(printable(columns[number].name), 28)
        for panel, (rows, values) in zip(panels, lines, strict=True):
            places = np.unique(np.linspace(0, len(rows) - 1, min(len(rows), POINTS)).round().astype(int))
            at: Any = rows[places] + 1 if returns.dates is None else returns.dates[rows[places]]
            panel.append(Series(name=name, colour=colour, at=at, mean=values[places], width=width, legend=bold))
    axis = Axis(scale="date") if returns.dates is not None else Axis(label="rows")
    growth, drawdown, rolling = panels
    words = f"{ranking.ratio_words}, {window:,} rows"
    charts = [
        Chart(series=growth, x=axis, y=Axis(label="growth of 1", scale="log", plain=True)),
        Chart(series=drawdown, x=axis, y=Axis(label="loss from the last peak")),
        Chart(series=rolling, x=axis, y=Axis(label=words), rules=[Rule(axis="y", at=0)]),
    ]
    colour = f"; the first {len(COLOURS)} in colour" if len(columns) > len(COLOURS) else ""
    title = f"Growth, drawdown and rolling Sharpe ratio (annualised){colour}"
    caption = f"{ranking.settings()['data']}; {ranking.settings()['scale']}"
    return Figure(title=title, charts=[[c] for c in charts], size=(8.4, 8.2), caption=caption, shared="x")


def correlations(ranking: Ranking, most: int | None) -> tuple[list[str], list[list[float]]]:
    """Names of the first columns and the correlations of their returns, over the rows that both have."""
    places = [ranking.returns.names.index(column.name) for column in ranking.columns[:most]]
    matrix = statistics.correlations(ranking.returns.values[:, places])
    return [ranking.returns.names[k] for k in places], matrix.reshape(len(places), -1).tolist()
