"""A replay as files: data, wealth curves, shares of time, and a page."""

from __future__ import annotations

import contextlib
import logging
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .._support.display import Table
from .._support.names import printable, shorten
from ..charts.description import DASHES, PALETTE, Axis, Chart, Dash, Figure, Heatmap, Series
from ..errors import InvalidInputError, require
from ..returns.dates import in_words
from ..returns.playing import BEST, EQUAL, LEADER, Player
from ..returns.replay import Replay
from .document import document

#: Maximum number of rows drawn, evenly spaced; the last one is always drawn.
_DRAWN = 1500
#: Maximum number of columns in a timeline.
_IN_TIMELINE = 20
#: Colour and dash of benchmarks; policies have their own colours.
_BENCHMARKS: dict[str, tuple[str, Dash]] = {
    EQUAL: ("#000000", DASHES[1]), BEST: ("#8c8c8c", DASHES[2]), LEADER: ("#5d5d5d", DASHES[3]),
}  # fmt: skip
_COLOURS = PALETTE[:-1]  # the last is black
_REFERENCES = (
    "O. Ledoit and M. Wolf (2008). Robust performance hypothesis testing with the Sharpe ratio. Journal of Empirical "
    "Finance 15(5).",
    "E. Mertens (2002). Comments on variance of the IID estimator in Lo (2002).",
    "W. K. Newey and K. D. West (1994). Automatic lag selection in covariance matrix estimation. Review of Economic "
    "Studies 61(4).",
)


def figures(replay: Replay) -> dict[str, Figure | Heatmap]:
    """Wealth, losses from its peak, and what was held."""
    falls = {} if replay.yardstick.costs else {"drawdown": drawdown(replay)}
    return {"wealth": wealth(replay), **falls, "timeline": timeline(replay), "shares": shares(replay)}


def files(replay: Replay) -> dict[str, bytes]:
    """Holdings and wealth of every row."""
    return {"log.csv": _log(replay).to_csv(), "wealth.csv": Table.of(_paths(replay)).to_csv()}


def _log(replay: Replay) -> Table:
    """Holdings and returns of every player in every row, in its run with the median total return."""
    tables = [(p, replay.log(p.name)) for p in replay.players]
    heads = ["player", "run", *tables[0][1].columns]
    return Table(heads, [[p.name, p.typical, *row] for p, table in tables for row in table.rows])


def _paths(replay: Replay) -> list[dict[str, Any]]:
    """Wealth after every row, a column per player."""
    if replay.dates is None:
        paths: dict[str, Any] = {"row": range(1, len(replay.players[0].wealth) + 1)}
    else:
        paths = {"date": [in_words(date) for date in replay.dates]}
    for p in replay.players:
        paths[p.name] = p.wealth.tolist()  # the median of several runs
        if p.runs > 1:
            paths |= {f"{p.name}, 5% of runs": p.wealth_low.tolist(), f"{p.name}, 95% of runs": p.wealth_high.tolist()}
    return [dict(zip(paths, row, strict=True)) for row in zip(*paths.values(), strict=True)]


def _caption(replay: Replay) -> str:
    """The settings that the numbers of a figure depend on; shown with each figure."""
    settings = replay.settings()
    hurdles = [key for key in ("risk-free rate", "evaluated", "benchmark") if key in settings]
    return (
        f"{settings['data']}; {settings['scale']}; annualised: {settings['annualised']}; seen: {settings['seen']}; "
        f"cost: {settings['cost']}; {'; '.join(f'{key}: {settings[key]}' for key in hurdles)}; L = {replay.L:.4g}"
    )


def wealth(replay: Replay) -> Figure:
    """Growth of 1, on a logarithmic scale: equal slopes are equal rates of return; or the costs so far."""
    at, x, rows = _along(replay)
    costs = replay.yardstick.costs
    chart = Chart(
        series=[_curve(replay, number, at, rows) for number in range(len(replay.players))],
        x=x,
        y=Axis(label="costs so far (bp)") if costs else Axis(label="growth of 1", scale="log", plain=True),
    )
    band = "; bands: 5% to 95% of runs" if _bands(replay) else ""
    return Figure(
        title=f"{'Costs so far' if costs else 'Growth of 1'}{band}",
        charts=[[chart]],
        size=(8.4, 4.4),
        caption=_caption(replay),
    )


def _along(replay: Replay) -> tuple[Any, Axis, np.ndarray]:
    """Positions of the drawn rows, their axis, and their indices."""
    length = len(replay.players[0].wealth)
    rows = np.unique(np.linspace(0, length - 1, min(length, _DRAWN)).round().astype(int))
    if replay.dates is None:
        return (rows + 1).tolist(), Axis(label="rows", limits=(1, length)), rows
    return replay.dates[rows], Axis(scale="date"), rows


def drawdown(replay: Replay) -> Figure:
    """Loss from the last peak, in the run with the median total return of every player."""
    at, x, rows = _along(replay)
    series = []
    for number, player in enumerate(replay.players):
        colour, dash = _look(player, number)
        series.append(
            Series(name=player.name, colour=colour, at=at, mean=-player.drawdowns[rows], dash=dash, width=1.2)
        )
    chart = Chart(series=series, x=x, y=Axis(label="loss from the last peak"))
    return Figure(
        title="Drawdown, in the run with the median total return",
        charts=[[chart]],
        size=(8.4, 3.2),
        caption=_caption(replay),
    )


def timeline(replay: Replay) -> Figure:
    """Columns held over time by every player, in its run with the median total return; those held most are on top."""
    players = [(number, p) for number, p in enumerate(replay.players) if p.held.columns.shape[1] and p.name != BEST]
    most = sorted(range(len(replay.names)), key=lambda k: -sum(p.shares[replay.names[k]] for _, p in players))
    listed = most[: _IN_TIMELINE - 1] if len(most) > _IN_TIMELINE else most
    place = {k: number for number, k in enumerate(listed)}
    others = len(replay.names) - len(listed)
    names = [shorten(printable(replay.names[k]), 28) for k in listed] + ([f"{others} others"] if others else [])
    at, x, rows = _along(replay)
    charts = []
    for number, player in players:
        held = player.held.columns[rows]
        seen = [
            (when, place.get(int(k), len(listed))) for when, own in zip(at, held, strict=True) for k in own if k >= 0
        ]
        series = Series(
            name=player.name, colour=_look(player, number)[0], at=[when for when, _ in seen],
            mean=[y for _, y in seen], dash="", marker="s", size=2.2, legend=False,
        )  # fmt: skip
        axis = Axis(label=player.name, scale="places", places=names)
        charts.append([Chart(series=[series], x=x, y=axis)])
    return Figure(
        title=f"Columns held, in the run with the median total return{_sampled(replay)}",
        charts=charts,
        size=(8.4, len(charts) * (0.5 + 0.14 * len(names))),
        caption=_caption(replay),
    )


def _sampled(replay: Replay) -> str:
    length = len(replay.players[0].wealth)
    return f" ({_DRAWN:,} of {length:,} rows)" if length > _DRAWN else ""


def tear_sheet(replay: Replay, name: str, path: Path, against: str | None) -> None:
    """Pass a player's net returns to quantstats, which writes its page."""
    require("quantstats", "a tear sheet", "tearsheet")
    if replay.dates is None:
        raise InvalidInputError("a tear sheet needs the dates of rows; give a table with dates, on its recorded rows")
    import pandas as pd
    import quantstats

    def returns(player: Player) -> Any:
        return pd.Series(player.held.net, index=pd.DatetimeIndex(replay.dates), name=player.name)

    path.parent.mkdir(parents=True, exist_ok=True)
    benchmark = None if against is None or against == name else returns(replay[against])
    fonts = logging.getLogger("matplotlib.font_manager")
    level = fonts.level
    with warnings.catch_warnings(), contextlib.ExitStack() as after:
        warnings.simplefilter("ignore")  # deprecations of pandas in that library
        after.callback(fonts.setLevel, level)
        fonts.setLevel(logging.ERROR)  # it requests fonts that few machines have, with a warning for each text
        quantstats.reports.html(
            returns(replay[name]), benchmark=benchmark, rf=replay.annual_risk_free, output=str(path),
            periods_per_year=round(replay.returns.periods_per_year), title=f"{name}, run with the median total return",
        )  # fmt: skip


def _look(player: Player, number: int) -> tuple[str, Dash]:
    own = _COLOURS[number % len(_COLOURS)], DASHES[number // len(_COLOURS) % len(DASHES)]
    return _BENCHMARKS.get(player.name, own)


def _curve(replay: Replay, number: int, at: Any, rows: np.ndarray) -> Series:
    player = replay.players[number]
    colour, dash = _look(player, number)
    band = {"low": player.wealth_low[rows], "high": player.wealth_high[rows]} if player.runs > 1 else {}
    return Series(name=_label(player), colour=colour, at=at, mean=player.wealth[rows], **band, dash=dash, width=1.4)


def _label(player: Player) -> str:
    """The name; for the best column in hindsight, with that column."""
    if player.name == BEST:
        return f"{BEST}: {shorten(max(player.shares, key=lambda name: player.shares[name]), 28)}"
    return f"{player.name}, median of {player.runs} runs" if player.runs > 1 else player.name


def _bands(replay: Replay) -> bool:
    return any(p.runs > 1 for p in replay.players)


def shares(replay: Replay) -> Heatmap:
    """Share of time in each column; one column of cells per player."""
    heads, rows = replay.shares()
    return Heatmap(
        title="Share of time in each column",
        columns=heads[1:],
        rows=[printable(name) for name, _ in rows],
        values=[values for _, values in rows],
        caption=_caption(replay),
    )


def page(replay: Replay, drawn: Mapping[str, Mapping[str, bytes]]) -> str:
    """The replay as one page, including its figures, drawn by name."""
    count = len(replay.policies)
    return document(
        "replay.html",
        title=f"Replay of {count} polic{'y' if count == 1 else 'ies'} on {len(replay.names)} columns",
        replay=replay,
        heatmap=shares(replay),
        pictures=drawn,
        switches=[(p.name, len(replay.switches(p.name))) for p in replay.policies],
        bands=_bands(replay),
        caption=_caption(replay),
        references=_REFERENCES,
    )
