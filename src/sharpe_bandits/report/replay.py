"""A replay as files: data, wealth curves, shares of time, and a page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from ..charts.description import DASHES, PALETTE, Axis, Chart, Dash, Figure, Heatmap, Scale, Series
from ..charts.render_matplotlib import pictures
from ..display import Table
from ..files import write_atomically
from ..names import printable, shorten
from ..returns.dates import in_words
from ..returns.replay import BEST, EQUAL, LEADER, Player, Replay
from .document import document

#: Rows that are drawn, at most, evenly spaced; the last one always is.
_DRAWN = 1500
#: Colour and dash of benchmarks; policies have a colour of their own.
_BENCHMARKS: dict[str, tuple[str, Dash]] = {
    EQUAL: ("#000000", "dash"), BEST: ("#8c8c8c", "dot"), LEADER: ("#5d5d5d", "dashdot"),
}  # fmt: skip
_COLOURS = PALETTE[:-1]  # the last is black
_REFERENCES = (
    "O. Ledoit and M. Wolf (2008). Robust performance hypothesis testing with the Sharpe ratio. Journal of Empirical "
    "Finance 15(5).",
    "E. Mertens (2002). Comments on variance of the IID estimator in Lo (2002).",
    "W. K. Newey and K. D. West (1994). Automatic lag selection in covariance matrix estimation. Review of Economic "
    "Studies 61(4).",
)


def save(replay: Replay, folder: Path) -> None:
    """Write all files of a replay; nothing is written if one of them cannot be made."""
    drawn = {"wealth": pictures(wealth(replay)), "shares": pictures(shares(replay))}
    files = {
        "replay.csv": Table.of(replay.rows()).to_csv(),
        "wealth.csv": Table.of(_paths(replay)).to_csv(),
        "replay.json": (json.dumps(replay.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode(),
        **{f"{name}.{kind}": data for name, kinds in drawn.items() for kind, data in kinds.items()},
        "replay.html": page(replay).encode(),
    }
    for name, content in files.items():
        write_atomically(folder / name, content)


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
    """What a number in a figure depends on; stands beside each."""
    settings = replay.settings()
    return (
        f"{settings['data']}; {settings['scale']}; annualised: {settings['annualised']}; seen: {settings['seen']}; "
        f"cost: {settings['cost']}; risk-free rate: {settings['risk-free rate']}; L = {replay.L:.4g}"
    )


def wealth(replay: Replay) -> Figure:
    """Growth of 1, on a logarithmic scale: equal slopes are equal rates of return."""
    length = len(replay.players[0].wealth)
    rows = np.unique(np.linspace(0, length - 1, min(length, _DRAWN)).round().astype(int))
    if replay.dates is None:
        at, x = (rows + 1).tolist(), Axis(label="rows", limits={"linear": (1, length)})
    else:
        at, x = replay.dates[rows], Axis(scale="date")
    scales: tuple[Scale, ...] = ("log", "linear")
    chart = Chart(
        series=[_curve(replay, number, at, rows) for number in range(len(replay.players))],
        x=x,
        y=Axis(label="growth of 1", scale="log", limits=dict.fromkeys(scales, (None, None)), plain=True),
        name="wealth",
        height=400,
    )
    band = "; bands: 5% to 95% of runs" if _bands(replay) else ""
    return Figure(title=f"Growth of 1{band}", charts=[[chart]], size=(8.4, 4.4), caption=_caption(replay))


def _curve(replay: Replay, number: int, at: Any, rows: np.ndarray) -> Series:
    player = replay.players[number]
    own = _COLOURS[number % len(_COLOURS)], DASHES[number // len(_COLOURS) % len(DASHES)]
    colour, dash = _BENCHMARKS.get(player.name, own)
    band = {"low": player.wealth_low[rows], "high": player.wealth_high[rows]} if player.runs > 1 else {}
    return Series(name=_label(player), colour=colour, at=at, mean=player.wealth[rows], **band, dash=dash, width=1.4)


def _label(player: Player) -> str:
    """The name, with the column that was best."""
    if player.name == BEST:
        return f"{BEST}: {shorten(max(player.shares, key=lambda name: player.shares[name]), 28)}"
    return f"{player.name}, median of {player.runs} runs" if player.runs > 1 else player.name


def _bands(replay: Replay) -> bool:
    return any(p.runs > 1 for p in replay.players)


def shares(replay: Replay) -> Heatmap:
    """Share of time in each column, a column of cells per player."""
    heads, rows = replay.shares()
    return Heatmap(
        title="Share of time in each column",
        columns=heads[1:],
        rows=[printable(name) for name, _ in rows],
        values=[values for _, values in rows],
        caption=_caption(replay),
    )


def page(replay: Replay) -> str:
    """The replay as one page."""
    count = len(replay.policies)
    return document(
        "replay.html",
        {"replay": wealth(replay)},
        title=f"Replay of {count} polic{'y' if count == 1 else 'ies'} on {len(replay.names)} columns",
        replay=replay,
        heatmap=shares(replay),
        bands=_bands(replay),
        caption=_caption(replay),
        references=_REFERENCES,
    )
