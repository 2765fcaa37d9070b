"""A replay as files: data, wealth curves, shares of time, and a page."""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..experiments import tidy
from ..experiments.store import write_whole
from ..figures import DASHES, PALETTE, STYLE, pyplot, render
from ..returns.dates import in_words
from ..returns.replay import BEST, EQUAL, LEADER, Player, Replay
from .document import facts, table
from .page import charted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Rows that are drawn, at most, evenly spaced; the last one always is.
_DRAWN = 1500
#: Colour and number of the dash of benchmarks; policies have a colour of their own.
_BENCHMARKS = {EQUAL: ("#000000", 1), BEST: ("#8c8c8c", 2), LEADER: ("#5d5d5d", 3)}
_COLOURS = PALETTE[:-1]  # the last is black
_DASH_NAMES = ("solid", "dash", "dot", "dashdot")
_REFERENCES = (
    "O. Ledoit and M. Wolf (2008). Robust performance hypothesis testing with the Sharpe ratio. Journal of Empirical "
    "Finance 15(5).",
    "E. Mertens (2002). Comments on variance of the IID estimator in Lo (2002).",
    "W. K. Newey and K. D. West (1994). Automatic lag selection in covariance matrix estimation. Review of Economic "
    "Studies 61(4).",
)


def save(replay: Replay, folder: Path) -> None:
    """Write all files of a replay; nothing is written if one of them cannot be made."""
    figures = {"wealth": draw_wealth(replay), "shares": draw_shares(replay)}
    pictures = {f"{name}.{kind}": data for name, drawn in figures.items() for kind, data in render(drawn).items()}
    files = {
        "replay.csv": tidy.as_csv(replay.rows()),
        "wealth.csv": tidy.as_csv(_paths(replay)),
        "replay.json": (json.dumps(replay.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode(),
        **pictures,
        "replay.html": page(replay).encode(),
    }
    for name, content in files.items():
        write_whole(folder / name, content)


def _paths(replay: Replay) -> list[dict[str, Any]]:
    """Wealth after every row, a column per player."""
    paths: dict[str, Any] = {"row" if replay.dates is None else "date": _when(replay, np.arange(_length(replay)))}
    for p in replay.players:
        paths[p.name] = p.wealth.tolist()  # the median of several runs
        if p.runs > 1:
            paths |= {f"{p.name}, 5% of runs": p.wealth_low.tolist(), f"{p.name}, 95% of runs": p.wealth_high.tolist()}
    return [dict(zip(paths, row, strict=True)) for row in zip(*paths.values(), strict=True)]


def _look(replay: Replay, player: Player) -> tuple[str, int]:
    """Colour and number of the dash."""
    if player.name in _BENCHMARKS:
        return _BENCHMARKS[player.name]
    number = replay.players.index(player)
    return _COLOURS[number % len(_COLOURS)], number // len(_COLOURS) % len(DASHES)


def _label(replay: Replay, player: Player) -> str:
    """The name, with the column that was best."""
    if player.name == BEST:
        return f"{BEST}: {_cut(max(player.shares, key=lambda name: player.shares[name]))}"
    return f"{player.name}, median of {player.runs} runs" if player.runs > 1 else player.name


def _length(replay: Replay) -> int:
    return len(replay.players[0].wealth)


def _when(replay: Replay, rows: np.ndarray) -> list[Any]:
    """Dates of rows as text, or their numbers from 1."""
    return (rows + 1).tolist() if replay.dates is None else [in_words(date) for date in replay.dates[rows]]


def _shown(replay: Replay) -> np.ndarray:
    rows = _length(replay)
    return np.unique(np.linspace(0, rows - 1, min(rows, _DRAWN)).round().astype(int))


def _conventions(replay: Replay) -> str:
    """What a number in a figure depends on; stands beside each."""
    settings = replay.settings()
    return (
        f"{settings['data']}; {settings['scale']}; annualised: {settings['annualised']}; seen: {settings['seen']}; "
        f"cost: {settings['cost']}; risk-free rate: {settings['risk-free rate']}; L = {replay.L:.4g}"
    )


def _finish(figure: Figure, title: str, replay: Replay) -> None:
    wide = int(17 * figure.get_figwidth())
    figure.suptitle(title, x=0.01, ha="left", fontsize=10.5, fontweight="bold")
    words = textwrap.fill(_plain(_conventions(replay)), wide)
    figure.supxlabel(words, x=0.01, ha="left", fontsize=7.5, color="#444444")


def _plain(text: str) -> str:
    """Text as matplotlib shows it: no formula where it has a dollar sign."""
    return text.replace("$", r"\$")


def draw_wealth(replay: Replay) -> Figure:
    """What 1 became, on a logarithmic scale: equal slopes are equal rates of return."""
    plt = pyplot()
    rows = _shown(replay)
    when = rows + 1 if replay.dates is None else replay.dates[rows]
    with plt.rc_context(STYLE):
        figure, ax = plt.subplots(figsize=(8.4, 5.2), layout="constrained")
        for p in replay.players:
            colour, dash = _look(replay, p)
            ax.plot(when, p.wealth[rows], color=colour, linestyle=DASHES[dash], linewidth=1.3,
                    label=_plain(_label(replay, p)))  # fmt: skip
            if p.runs > 1:
                ax.fill_between(when, p.wealth_low[rows], p.wealth_high[rows], color=colour, alpha=0.15, linewidth=0)
        ax.set_yscale("log", nonpositive="mask")
        ax.yaxis.set_major_formatter(plt.FuncFormatter(lambda value, _: f"{value:,.10g}"))
        if _decades(replay) > 1.5:
            ax.yaxis.set_minor_formatter(plt.NullFormatter())
        else:
            ax.yaxis.set_minor_formatter(plt.FuncFormatter(lambda value, _: f"{value:,.10g}"))
        ax.set_ylabel("wealth, 1 at the start")
        if replay.dates is None:
            ax.set_xlabel("rows")
        ax.margins(x=0)
        figure.legend(loc="outside right upper", fontsize=8)
        band = "; bands: 5% to 95% of runs" if any(p.runs > 1 for p in replay.players) else ""
        _finish(figure, f"Compounded wealth{band}", replay)
        return figure


def _decades(replay: Replay) -> float:
    """How many powers of ten wealth spans."""
    paths = np.concatenate([[1.0], *(p.wealth for p in replay.players)])
    return math.log10(paths.max() / paths[paths > 0].min())


def draw_shares(replay: Replay) -> Figure:
    """Share of time in each column, a column of cells per player."""
    plt = pyplot()
    heads, rows = replay.shares()
    values = np.array([shares for _, shares in rows])
    with plt.rc_context({**STYLE, "axes.grid": False}):
        size = (2.2 + 1.0 * (len(heads) - 1), 1.9 + 0.25 * len(rows))
        figure, ax = plt.subplots(figsize=(max(6.4, size[0]), size[1]), layout="constrained")
        ax.imshow(values, cmap="Blues", vmin=0, vmax=1, aspect="auto")
        for r, row in enumerate(values):
            for c, share in enumerate(row):
                colour = "white" if share > 0.55 else "#444444" if share >= 0.0005 else "#bbbbbb"
                ax.text(c, r, f"{share:.1%}", ha="center", va="center", fontsize=8, color=colour)
        ax.set_xticks(range(len(heads) - 1), [_plain(textwrap.fill(name, 13)) for name in heads[1:]])
        ax.set_yticks(range(len(rows)), [_plain(_cut(name)) for name, _ in rows])
        ax.tick_params(length=0, labelsize=8)
        ax.xaxis.tick_top()
        for side in ("left", "bottom"):
            ax.spines[side].set_visible(False)
        _finish(figure, "Share of time in each column", replay)
        return figure


def _cut(name: str, most: int = 28) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"


def page(replay: Replay) -> str:
    """The replay as one page."""
    rows = _shown(replay)
    series = []
    for p in replay.players:
        colour, dash = _look(replay, p)
        entry = {"name": _label(replay, p), "colour": colour, "dash": _DASH_NAMES[dash], "wealth": _six(p.wealth[rows])}
        if p.runs > 1:
            entry |= {"low": _six(p.wealth_low[rows]), "high": _six(p.wealth_high[rows])}
        series.append(entry)
    chart = {
        "kind": "wealth", "t": _when(replay, rows), "decades": _decades(replay), "series": series,
        "unit": "rows" if replay.dates is None else "",
    }  # fmt: skip
    count = len(replay.policies)
    title = f"Replay of {count} polic{'y' if count == 1 else 'ies'} on {len(replay.names)} columns"
    return charted(title, "\n".join(_body(replay, title)), {"replay": {"charts": [chart]}})


def _six(values: np.ndarray) -> list[float]:
    return [float(f"{value:.6g}") for value in values]


def _body(replay: Replay, title: str) -> Iterable[str]:
    ratios, wealth, _ = replay.tables()
    beside = f'<p class="soft">{escape(_conventions(replay))}.</p>'
    band = " Bands are from 5% to 95% of the runs." if any(p.runs > 1 for p in replay.players) else ""
    yield f'<main><h1>{escape(title)}</h1><p class="lead">{escape(replay.summary)}</p>'
    yield f'<p class="note"><b>Is a bandit the right tool?</b> {escape(replay.warning)}</p>'
    yield (
        '<section id="wealth" data-axis="log"><h2>Wealth</h2>'
        f"<p>What 1 became, everything invested again.{band} A click on a name hides or shows its curve.</p>"
        '<div class="controls"><button data-sets="axis" data-value="log" aria-pressed="true">log scale</button>'
        '<button data-sets="axis" data-value="linear" aria-pressed="false">linear scale</button></div>'
        f'<div class="charts"><div class="chart" data-panel="replay" data-chart="0"></div></div>{beside}'
    )
    yield f"{table(*wealth)}"
    yield (
        "<p>Drawdown is the largest loss from a peak. Turnover is the share of wealth that changes hands: 1 for a "
        "switch from one column to another.</p></section>"
    )
    yield f'<section id="sharpe"><h2>Sharpe ratios</h2>{table(*ratios)}'
    yield (
        "<p>Standard errors allow for autocorrelation (s.e.) or take returns to be independent (s.e. iid). That of the "
        "difference from equal weight also allows for both having held the same columns. They are those of one run; "
        f"s.d. over runs is what a policy's own random numbers add.</p>{beside}</section>"
    )
    yield f'<section id="shares"><h2>Share of time in each column</h2>{_heat(replay)}{beside}</section>'
    yield f'<section id="players"><h2>Who played</h2>{facts(replay.rules())}</section>'
    yield f'<section id="settings"><h2>What the numbers depend on</h2>{facts(replay.settings())}'
    links = ", ".join(
        f'<a href="{name}">{name}</a>' for name in ("wealth.svg", "wealth.png", "shares.svg", "shares.png")
    )
    data = ", ".join(f'<a href="{name}">{name}</a>' for name in ("replay.csv", "wealth.csv", "replay.json"))
    yield f'<p class="files">Figures: {links}. Data: {data}.</p></section>'
    references = "".join(f"<li>{escape(text)}</li>" for text in _REFERENCES)
    yield f'<h2>References</h2><ul class="soft">{references}</ul></main>'


def _heat(replay: Replay) -> str:
    heads, rows = replay.shares()
    head = "".join(f"<th{' class=n' if number else ''}>{escape(text)}</th>" for number, text in enumerate(heads))
    body = "".join(f"<tr><th>{escape(name)}</th>{''.join(map(_shade, shares))}</tr>" for name, shares in rows)
    return f'<div class="wide"><table><tr>{head}</tr>{body}</table></div>'


def _shade(share: float) -> str:
    """A cell that is darker the larger the share is; text stays readable on it."""
    return f'<td class="n" style="background:rgba(0,114,178,{0.55 * share:.3f})">{share:.1%}</td>'
