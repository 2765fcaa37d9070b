"""A replay as files: data, wealth curves, shares of time, and a page."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._support.display import Table
from .._support.names import printable, shorten
from ..charts.description import DASHES, PALETTE, Axis, Chart, Dash, Figure, Series
from ..returns.dates import in_one_form
from ..returns.playing import BEST, EQUAL, LEADER, Player
from ..returns.replay import Replay

#: Maximum number of rows drawn, evenly spaced; the last one is always drawn.
_DRAWN = 1500
#: Maximum number of columns in a timeline.
_IN_TIMELINE = 20
#: Colour and dash of benchmarks; policies have their own colours.
_BENCHMARKS: dict[str, tuple[str, Dash]] = {
    EQUAL: ("#000000", DASHES[1]), BEST: ("#8c8c8c", DASHES[2]), LEADER: ("#5d5d5d", DASHES[3]),
}  # fmt: skip
_COLOURS = PALETTE[:-1]  # the last is black


def figures(replay: Replay) -> dict[str, Figure]:
    """Wealth, losses from its peak, and what was held."""
    falls = {} if replay.yardstick.costs else {"drawdown": drawdown(replay)}
    return {"wealth": wealth(replay), **falls, "timeline": timeline(replay)}


def files(replay: Replay) -> dict[str, bytes]:
    """Holdings and wealth of every row."""
    return {"log.csv": _log(replay).to_csv(), "wealth.csv": _paths(replay).to_csv()}


def _log(replay: Replay) -> Table:
    """Holdings and returns of every player in every row, in its run with the median total return."""
    tables = [(p, replay.log(p.name)) for p in replay.players]
    heads = ["player", "run", *tables[0][1].columns]
    return Table(heads, [[p.name, p.typical, *row] for p, table in tables for row in table.rows])


def _paths(replay: Replay) -> Table:
    """Wealth after every row, a column per player."""
    paths: dict[str, Any] = {"row": range(1, len(replay.players[0].wealth) + 1)}
    if replay.dates is not None:
        paths = {"date": in_one_form(replay.dates)}
    for p in replay.players:
        paths[p.name] = p.wealth.tolist()  # the median of several runs
        if p.runs > 1:
            paths |= {f"{p.name}, 5% of runs": p.wealth_low.tolist(), f"{p.name}, 95% of runs": p.wealth_high.tolist()}
    return Table(list(paths), [list(row) for row in zip(*paths.values(), strict=True)])


def _figure(replay: Replay, title: str, charts: list[list[Chart]], height: float) -> Figure:
    """A figure whose caption has the settings that its numbers depend on."""
    settings = replay.settings()
    named = ("annualised", "seen", "cost", "risk-free rate", "evaluated", "benchmark")
    facts = [settings["data"], settings["scale"], *(f"{key}: {settings[key]}" for key in named if key in settings)]
    caption = "; ".join([*facts, f"L = {replay.L:.4g}"])
    return Figure(title=title, charts=charts, size=(8.4, height), caption=caption)


def _along(replay: Replay) -> tuple[Any, Axis, np.ndarray]:
    """Positions of the drawn rows, their axis, and their indices."""
    length = len(replay.players[0].wealth)
    rows = np.unique(np.linspace(0, length - 1, min(length, _DRAWN)).round().astype(int))
    if replay.dates is None:
        return (rows + 1).tolist(), Axis(label="rows", limits=(1, length)), rows
    return replay.dates[rows], Axis(scale="date"), rows


def _look(player: Player, number: int) -> dict[str, Any]:
    """Colour and dash of a player."""
    own = _COLOURS[number % len(_COLOURS)], DASHES[number // len(_COLOURS) % len(DASHES)]
    return dict(zip(("colour", "dash"), _BENCHMARKS.get(player.name, own), strict=True))


def wealth(replay: Replay) -> Figure:
    """Growth of 1, on a logarithmic scale: equal slopes are equal rates of return; or the costs so far."""
    at, x, rows = _along(replay)
    costs, several = replay.yardstick.costs, any(p.runs > 1 for p in replay.players)
    series = []
    for number, p in enumerate(replay.players):
        name = f"{p.name}, median of {p.runs} runs" if p.runs > 1 else p.name
        if p.name == BEST:
            name = f"{BEST}: {shorten(max(p.shares, key=lambda column: p.shares[column]), 28)}"
        band = {"low": p.wealth_low[rows], "high": p.wealth_high[rows]} if p.runs > 1 else {}
        series.append(Series(name=name, at=at, mean=p.wealth[rows], **band, **_look(p, number), width=1.4))
    y = Axis(label="costs so far (bp)") if costs else Axis(label="growth of 1", scale="log", plain=True)
    title = f"{'Costs so far' if costs else 'Growth of 1'}{'; bands: 5% to 95% of runs' if several else ''}"
    return _figure(replay, title, [[Chart(series=series, x=x, y=y)]], 4.4)


def drawdown(replay: Replay) -> Figure:
    """Loss from the last peak, in the run with the median total return of every player."""
    at, x, rows = _along(replay)
    series = []
    for number, p in enumerate(replay.players):
        series.append(Series(name=p.name, at=at, mean=-p.drawdowns[rows], width=1.2, **_look(p, number)))
    chart = Chart(series=series, x=x, y=Axis(label="loss from the last peak"))
    return _figure(replay, "Drawdown, in the run with the median total return", [[chart]], 3.2)


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
        held = zip(at, player.held.columns[rows], strict=True)
        seen = [(when, place.get(int(k), len(listed))) for when, own in held for k in own if k >= 0]
        series = Series(
            name=player.name, colour=_look(player, number)["colour"], at=[when for when, _ in seen],
            mean=[y for _, y in seen], dash="", marker="s", size=2.2, legend=False,
        )  # fmt: skip
        charts.append([Chart(series=[series], x=x, y=Axis(label=player.name, scale="places", places=names))])
    length = len(replay.players[0].wealth)
    sampled = f" ({_DRAWN:,} of {length:,} rows)" if length > _DRAWN else ""
    title = f"Columns held, in the run with the median total return{sampled}"
    return _figure(replay, title, charts, len(charts) * (0.5 + 0.14 * len(names)))
