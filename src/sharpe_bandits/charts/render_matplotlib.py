"""Figures drawn by matplotlib (the extra ``report``) in one style, with nothing cut off or overlapping."""

from __future__ import annotations

import io
import re
import textwrap
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .._support.names import plain_text, printable, shorten
from ..errors import require
from .description import GREY, Chart, Figure, Rule, Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as DrawnFigure
    from matplotlib.legend import Legend

#: Settings of matplotlib for every figure.
STYLE: dict[Any, Any] = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "svg.hashsalt": "sharpe-bandits",
    "svg.fonttype": "none",
    "figure.dpi": 110,
}
#: Titles, captions and legends use this share of the width.
_ROOM = 0.97
#: Maximum number of characters of a name on an axis; longer ones are truncated.
_ON_AXIS = {"x": 28, "y": 56}
#: Number of decades that a logarithmic axis must span to have ticks only at powers of ten, or at 1, 2 and 5 times each.
_POWERS, _PARTS = 3, 0.8
#: From this number of places on, lines lead from their names to their values.
_MANY_PLACES = 12
#: Most curves of a chart that have names at their ends, and the height of such a name as a share of the chart.
_MOST_LABELS, _LABEL_HEIGHT = 6, 0.075
#: Numbers of columns and font sizes of a legend: the first that fits is used.
_LEGENDS = ((3, 9.0), (2, 9.0), (2, 7.5), (1, 9.0))


def render_matplotlib(figure: Figure) -> DrawnFigure:
    """The drawn figure; pyplot does not manage it, so there is nothing to close."""
    require("matplotlib", "drawing figures", "report")
    with _style():
        return _grid(figure)


def pictures(figure: Figure) -> dict[str, bytes]:
    """The figure as SVG and PNG; the same figure gives the same bytes."""
    mpl_figure = render_matplotlib(figure)
    svg, png = io.BytesIO(), io.BytesIO()
    with _style():
        mpl_figure.get_layout_engine().execute(mpl_figure)  # type: ignore[union-attr]
        mpl_figure.set_layout_engine(None)  # laid out only once
        for ax in mpl_figure.axes:  # the solver's last digits are not always the same
            left, bottom, width, height = (round(value, 6) for value in ax.get_position().bounds)
            ax.set_position((left, bottom, width, height))
        mpl_figure.savefig(svg, format="svg", metadata={"Date": None})
        mpl_figure.savefig(png, format="png", dpi=160, metadata={"Software": None})
    return {"svg": _with_tips(svg.getvalue().decode(), figure).encode(), "png": png.getvalue()}


def _with_tips(svg: str, figure: Figure) -> str:
    """The SVG with a title for every series, which browsers show when the mouse is over it."""

    def titled(group: re.Match[str]) -> str:
        row, column, number = map(int, group.groups())
        series = figure.charts[row][column].series[number]
        tip = "\n".join(map(printable, (series.tip or _tip(series)).split("\n")))
        return f"{group[0]}<title>{escape(tip)}</title>"

    return re.sub(r'<g id="series-(\d+)-(\d+)-(\d+)(?:-band)?">', titled, svg)


def _tip(series: Series) -> str:
    """The name of a series and, if it is a curve, its last value and the interval of it."""
    if not series.dash or not len(series.mean):
        return series.name
    interval = f" [{series.low[-1]:.4g}, {series.high[-1]:.4g}]" if len(series.low) else ""
    return f"{series.name}: {series.mean[-1]:.4g}{interval} at the end"


@contextmanager
def _style() -> Iterator[None]:
    from matplotlib.style import context

    # start from the defaults, whatever other libraries have set: the same data give the same figure
    with context(["default", STYLE]), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from")  # names may be in any script
        yield


def _grid(figure: Figure) -> DrawnFigure:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Drawn

    mpl_figure = Drawn(figsize=figure.size, layout="constrained")
    FigureCanvasAgg(mpl_figure)  # so that text can be measured
    rows, columns = len(figure.charts), len(figure.charts[0])
    across = all(chart.across for row in figure.charts for chart in row)
    axes = mpl_figure.subplots(
        rows, columns, squeeze=False, sharex="col" if figure.shared == "x" else False, sharey=figure.shared == "y",
        height_ratios=[1.5 + len(row[0].y.places) for row in figure.charts] if across else None,
    )  # fmt: skip
    handles: dict[str, Any] = {}
    for r, row in enumerate(figure.charts):
        for c, chart in enumerate(row):
            heading = "" if r and not across else _fitted(mpl_figure, chart.title, 0.8 * _ROOM / columns, fontsize=9)
            entries = _chart(axes[r][c], chart, heading, f"series-{r}-{c}")
            if figure.labelled and _label_ends(axes[r][c], chart):
                entries = {}
            handles = entries | handles
            if c and chart.y.label == row[c - 1].y.label:
                axes[r][c].set_ylabel("")
    order = dict.fromkeys([*figure.legend, *handles])  # rules come last
    legend = _legend(mpl_figure, {name: handles[name] for name in order if name in handles}) if handles else None
    _frame(mpl_figure, figure.title, figure.caption, legend)
    return mpl_figure


def _chart(ax: Axes, chart: Chart, heading: str, id: str) -> dict[str, Any]:
    """Draw a chart; return the entries of the legend, by name. In SVG its series have the ids ``{id}-0`` and so on."""
    handles: dict[str, Any] = {}
    for axis, set_scale in ((chart.x, ax.set_xscale), (chart.y, ax.set_yscale)):
        if axis.scale == "log":
            set_scale("log", nonpositive="mask")
    for number, series in enumerate(chart.series):
        handles |= _series(ax, chart, series, f"{id}-{number}")
    for rule in chart.rules:
        handles |= _rule(ax, rule)
    _axis(ax, chart, "x")
    _axis(ax, chart, "y")
    if heading:
        ax.set_title(heading, fontsize=9, loc="left")
    return handles


def _label_ends(ax: Axes, chart: Chart) -> bool:
    """Write the names of curves next to their ends, if they are few; return whether all have one."""
    if not 0 < len(chart.series) <= _MOST_LABELS or len({s.name for s in chart.series}) < len(chart.series):
        return False
    low, high = ax.get_ylim()
    ends = [((float(s.mean[-1]) - low) / (high - low), s) for s in chart.series if len(s.mean)]
    ends.sort(key=lambda end: end[0])  # curves may end at the same value
    steps = _LABEL_HEIGHT * np.arange(len(ends))
    heights = np.maximum.accumulate([end - step for (end, _), step in zip(ends, steps, strict=True)]) + steps
    heights = np.minimum(heights, 1.0 - steps[::-1])  # none above the chart
    for (_, series), height in zip(ends, heights, strict=True):
        ax.annotate(plain_text(series.name), (1.0, height), xycoords="axes fraction", xytext=(4, 0),
                    textcoords="offset points", va="center", fontsize=8, color=series.colour)  # fmt: skip
    return True


def _series(ax: Axes, chart: Chart, series: Series, id: str) -> dict[str, Any]:
    at = np.asarray(series.at)
    mean, low, high = (np.asarray(values, float) for values in (series.mean, series.low, series.high))
    x, y = (mean, at) if chart.across else (at, mean)
    style: dict[str, Any] = {
        "color": series.colour, "linestyle": series.dash, "linewidth": series.width,
        "marker": series.marker, "markersize": series.size, "label": plain_text(series.name),
        **({} if series.filled else {"markerfacecolor": "white"}),
    }  # fmt: skip
    handle: Any
    if series.bars and len(low):
        ends = [np.maximum(mean - low, 0), np.maximum(high - mean, 0)]
        bars = {"xerr": ends} if chart.across else {"yerr": ends, "capsize": 2.5}
        handle = ax.errorbar(x, y, **bars, elinewidth=series.width, **style)
        for artist, own in ((handle.lines[0], id), (handle.lines[2][0], f"{id}-band")):
            artist.set_gid(own)
    else:
        (handle,) = ax.plot(x, y, **style, gid=id)
        if len(low):
            ax.fill_between(at, low, high, color=series.colour, alpha=0.18, linewidth=0, gid=f"{id}-band")
    return {series.name: handle} if series.legend else {}


def _rule(ax: Axes, rule: Rule) -> dict[str, Any]:
    style: dict[str, Any] = {"color": rule.colour, "linewidth": rule.width, "linestyle": rule.dash, "zorder": 1}
    line = (ax.axvline if rule.axis == "x" else ax.axhline)(rule.at, **style)
    if rule.axis == "x":
        return {rule.label: line} if rule.label else {}
    ax.annotate(plain_text(rule.label), (0.01, rule.at), xycoords=("axes fraction", "data"), xytext=(0, 3),
                textcoords="offset points", fontsize=8, color=rule.colour)  # fmt: skip
    return {}


def _axis(ax: Axes, chart: Chart, which: Literal["x", "y"]) -> None:
    from matplotlib import ticker

    described, axis = (chart.x, ax.xaxis) if which == "x" else (chart.y, ax.yaxis)
    axis.set_label_text(plain_text(described.label))
    if described.scale == "date":
        ax.margins(x=0)
    else:
        (ax.set_xlim if which == "x" else ax.set_ylim)(*described.limits)
    if described.scale == "log":
        axis.set_minor_locator(ticker.NullLocator())
        if described.plain:
            _plain_ticks(axis, axis.get_view_interval())
    elif described.scale == "places":
        lines = ([shorten(line, _ON_AXIS[which]) for line in name.split("\n")] for name in described.places)
        names = ["\n".join(map(plain_text, of_place)) for of_place in lines]
        axis.set_ticks(range(len(names)), names)
        if which == "x":
            ax.set_xlim(-0.5, len(names) - 0.5)
        else:
            ax.set_ylim(len(names) - 0.4, -0.6)
            axis.set_tick_params(length=0)
            ax.grid(axis="y", visible=len(names) > _MANY_PLACES)
    elif described.scale == "linear":
        ax.locator_params(axis=which, nbins=7 if which == "y" else 6 if chart.across else 4, steps=[1, 2, 2.5, 5, 10])
        axis.set_major_formatter(_number)
    if described.second is not None:
        label, factor = described.second
        above = ax.secondary_xaxis("top", functions=(lambda n: np.divide(n, factor), lambda m: np.multiply(m, factor)))
        above.set_xlabel(plain_text(label))
        above.xaxis.set_minor_locator(ticker.NullLocator())
        _plain_ticks(above.xaxis, axis.get_view_interval())
    if described.beside:
        right = ax.twinx()  # in the margin
        right.set_ylim(ax.get_ylim())
        right.set_yticks(range(len(described.beside)), [plain_text(text) for text in described.beside])
        right.tick_params(length=0, labelcolor=GREY)
        right.grid(visible=False)


def _plain_ticks(axis: Any, ends: tuple[float, float]) -> None:
    """Ticks of a logarithmic axis of plain numbers: at powers of ten, at 1, 2 and 5 times each, or evenly."""
    from matplotlib import ticker

    decades = np.log10(ends[1] / ends[0])
    if decades > _PARTS:
        axis.set_major_locator(ticker.LogLocator(subs=(1,) if decades > _POWERS else (1, 2, 5)))
    else:
        axis.set_major_locator(ticker.MaxNLocator(6, steps=[1, 2, 5, 10]))
    axis.set_major_formatter("{x:,.10g}")


def _number(value: float, place: float = 0) -> str:
    """A number on a linear axis: 10,000, 0.05."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.6g}".replace("-", "−")


def _legend(drawn: DrawnFigure, handles: dict[str, Any]) -> Legend:
    """A legend below the charts, in as many columns as fit."""
    for columns, size in _LEGENDS:
        labels = [plain_text(name) for name in handles]
        if columns == 1:
            share = _ROOM - 0.7 / drawn.get_figwidth()  # beside the line or marker
            labels = [_fitted(drawn, name, share, fontsize=size) for name in handles]
        place: dict[str, Any] = {"loc": "lower center", "ncols": min(columns, len(labels)), "fontsize": size}
        legend = drawn.legend(list(handles.values()), labels, **place)
        if columns == 1 or legend.get_window_extent().width <= _ROOM * drawn.bbox.width:
            break
        legend.remove()
    return legend


def _frame(drawn: DrawnFigure, title: str, caption: str, legend: Legend | None = None) -> None:
    """Add title and caption; the figure grows by the height of these and the legend."""
    above = _fitted(drawn, title, _ROOM, fontsize=10.5, fontweight="bold")
    drawn.suptitle(above, x=0.01, ha="left", fontsize=10.5, fontweight="bold")
    below = drawn.text(0.01, 0, _fitted(drawn, caption, _ROOM, fontsize=7.5), va="bottom", fontsize=7.5, color=GREY)
    for_caption = below.get_window_extent().height / drawn.dpi + 0.08 if caption else 0.0
    for_legend = legend.get_window_extent().height / drawn.dpi if legend else 0.0
    height = drawn.get_figheight() + 0.19 * above.count("\n") + for_caption + for_legend
    drawn.set_figheight(height)
    below.set_y(0.04 / height)
    if legend:
        legend.set_bbox_to_anchor((0.5, for_caption / height), drawn.transFigure)
    taken = (for_caption + for_legend) / height  # the rest is for the charts
    drawn.set_layout_engine("constrained", rect=(0, taken, 1, 1 - taken))


def _fitted(drawn: DrawnFigure, text: str, share: float, **font: Any) -> str:
    """Text for matplotlib, in lines no wider than this share of the figure."""
    room = share * float(drawn.bbox.width)
    text, lines, most = printable(text), [printable(text)], len(text)
    probe = drawn.text(0, 0, "", **font)
    while True:
        fitted = "\n".join(map(plain_text, lines))
        probe.set_text(fitted)
        width = probe.get_window_extent().width
        if width <= room or most <= 4:
            probe.remove()
            return fitted
        most = max(4, min(most - 1, int(most * room / width)))
        lines = textwrap.wrap(text, most)
