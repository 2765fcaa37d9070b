"""Interactive charts, drawn by plotly: as plain data for pages, or as a plotly figure (the extra ``report``)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..errors import require
from ..names import plotly_text
from .description import GREY, Axis, Chart, Figure, Rule, Scale, Series, Values

if TYPE_CHECKING:
    from plotly.graph_objects import Figure as PlotlyFigure

_DASHES: dict[str | None, str] = {
    None: "solid", "solid": "solid", "dash": "dash", "dot": "dot", "dashdot": "dashdot", "sparse dot": "2px,8px",
}  # fmt: skip
_SYMBOLS: dict[str | None, str] = {
    None: "circle", "circle": "circle", "square": "square", "triangle": "triangle-up", "diamond": "diamond",
    "triangle down": "triangle-down", "plus": "cross", "cross": "x", "tick": "line-ew-open",
    "thin cross": "x-thin-open", "arrow down": "triangle-down-open",
}  # fmt: skip
#: Pixels per point of line width, and of marker size.
_LINE, _MARKER = 1.25, 1.75
#: Opacity of a band, as the last digits of a colour.
_WASH = "2b"
_GRID = "#e6e9ee"
_FONT = {"family": "system-ui, sans-serif", "size": 13}
#: Space below the charts for each entry of the legend.
_ENTRY = 24


def render_plotly(figure: Figure) -> PlotlyFigure:
    """The figure as a plotly figure, for notebooks."""
    require("plotly", "interactive figures", "report")
    from plotly.graph_objects import Figure as Drawn

    drawn = to_plotly(figure)
    return Drawn({**drawn, "layout": {**drawn["layout"], "template": "none"}})  # white, as on pages


def to_plotly(figure: Figure) -> dict[str, Any]:
    """The figure as plain data that plotly draws: ``data`` and ``layout``."""
    rows, columns = len(figure.charts), len(figure.charts[0])
    heights = [max(chart.height for chart in row) for row in figure.charts]
    data: list[dict[str, Any]] = []
    entries = len(figure.legend)
    layout: dict[str, Any] = {
        "title": {"text": plotly_text(figure.title), "x": 0.01, "font": {"size": 15}},
        "height": sum(heights) + _ENTRY * entries + 60,
        "margin": {"l": 62, "r": 16, "t": 60, "b": 60 + _ENTRY * entries},
        "font": _FONT,
        "hovermode": "x unified" if all(_only_lines(chart) for row in figure.charts for chart in row) else "closest",
        "hoverlabel": {"namelength": -1},
        "legend": {"orientation": "h", "x": 0, "y": -60 / sum(heights), "yanchor": "top"},
        "shapes": [],
        "annotations": [],
    }
    named: set[str] = set()
    for r, row in enumerate(figure.charts):
        for c, chart in enumerate(row):
            number = r * columns + c
            suffix = str(number + 1) if number else ""
            for trace in traces(chart):
                own = trace.get("showlegend", True) and trace["name"] not in named
                named |= {trace["name"]} if own else set()
                data.append({**trace, "showlegend": own, "xaxis": f"x{suffix}", "yaxis": f"y{suffix}"})
            layout[f"xaxis{suffix}"] = {**axis(chart, "x"), **_domain(c, columns, 0.08), "anchor": f"y{suffix}"}
            layout[f"yaxis{suffix}"] = {**axis(chart, "y"), **_domain(rows - 1 - r, rows, 0.1), "anchor": f"x{suffix}"}
            layout["shapes"] += [_shape(rule, suffix) for rule in chart.rules]
            layout["annotations"] += _annotations(chart, suffix)
    return {"data": data, "layout": layout}


def switchable(charts: Sequence[Chart]) -> dict[str, Any]:
    """Charts of one column for a page, which shows one of them at a time and has its own legend.

    Gives ``views`` (data and layout by the name of the chart), and the ``axis`` that can be drawn on several
    ``scales``, with the layout of the axis for each.
    """
    views = {}
    for chart in charts:
        alone = replace(chart, title="", x=charts[-1].x)
        drawn = to_plotly(Figure(title="", charts=[[alone]], size=(0, 0)))
        beside = 90 if chart.y.beside else 16
        drawn["layout"] |= {"showlegend": False, "height": chart.height}
        drawn["layout"]["margin"] |= {"t": 28 if drawn["layout"]["annotations"] else 14, "b": 50, "r": beside}
        del drawn["layout"]["legend"], drawn["layout"]["title"]
        views[chart.name] = drawn
    last = charts[-1]
    which: Literal["x", "y"] = "x" if len(last.x.limits) > 1 else "y"
    described = last.x if which == "x" else last.y
    scales = {scale: axis(last, which, scale) for scale in described.limits} if len(described.limits) > 1 else {}
    return {"views": views, "axis": f"{which}axis", "scales": scales}


def _only_lines(chart: Chart) -> bool:
    return not any(series.marker for series in chart.series)


def traces(chart: Chart) -> list[dict[str, Any]]:
    """The plotly traces of a chart's series; each band comes before its line."""
    return [trace for series in chart.series for trace in _traces(chart, series)]


def _traces(chart: Chart, series: Series) -> list[dict[str, Any]]:
    at, mean, low, high = _at(series.at), *(_short(v) for v in (series.mean, series.low, series.high))
    name = plotly_text(series.name)
    visible = "legendonly" if series.hidden else True
    common = {"type": "scatter", "name": name, "legendgroup": series.group or series.name, "visible": visible}
    found = []
    if low and not series.bars:
        found.append({
            **common, "x": at + at[::-1], "y": high + low[::-1], "mode": "lines", "fill": "toself",
            "fillcolor": series.colour + _WASH, "line": {"width": 0}, "hoverinfo": "skip", "showlegend": False,
        })  # fmt: skip
    x, y = (mean, at) if chart.across else (at, mean)
    value = "x" if chart.across else "y"
    trace: dict[str, Any] = {
        **common, "x": x, "y": y,
        "mode": "+".join(what for what, there in (("lines", series.dash), ("markers", series.marker)) if there),
        "line": {"color": series.colour, "dash": _DASHES[series.dash], "width": _LINE * series.width},
        "showlegend": series.legend,
    }  # fmt: skip
    if series.marker:
        edge = {"color": series.colour, "width": 0 if series.filled else 2}
        trace["marker"] = {
            "symbol": _SYMBOLS[series.marker], "size": _MARKER * series.size, "opacity": 1, "line": edge,
            "color": series.colour if series.filled else "#ffffff",
        }  # fmt: skip
        if _SYMBOLS[series.marker].endswith("-open"):
            trace["marker"] |= {"color": series.colour, "line": {"width": 1.6}}
    if low and series.bars:
        trace[f"error_{value}"] = {
            "type": "data", "symmetric": False, "array": _short(np.subtract(series.high, series.mean)),
            "arrayminus": _short(np.subtract(series.mean, series.low)), "color": series.colour, "thickness": 1.4,
            "width": 4,
        }  # fmt: skip
    if series.notes:
        trace |= {"customdata": list(map(plotly_text, series.notes)), "hovertemplate": "%{customdata}"}
    elif low:
        ends = [list(pair) for pair in zip(low, high, strict=True)]
        shown = f"%{{{value}:.4g}} [%{{customdata[0]:.4g}}, %{{customdata[1]:.4g}}]"
        trace |= {"customdata": ends, "hovertemplate": shown}
    else:
        trace["hovertemplate"] = f"%{{{value}:.4g}}"
    return [*found, trace]


def axis(chart: Chart, which: Literal["x", "y"], scale: Scale | None = None) -> dict[str, Any]:
    """The layout of an axis, on its own or another scale."""
    described = chart.x if which == "x" else chart.y
    if scale is not None:
        described = replace(described, scale=scale)
    low, high = described.ends
    found: dict[str, Any] = {
        "title": {"text": plotly_text(described.label), "standoff": 6}, "gridcolor": _GRID, "automargin": True,
        "type": "linear" if described.scale == "places" else described.scale, "dtick": None, "range": None,
        "rangemode": "tozero" if low == 0 else "normal", "tickformat": "",
    }  # fmt: skip
    if described.scale == "log":
        found |= _plain_ticks(chart, which) if described.plain else {"dtick": 1}
        low, high = (None if end is None else float(np.log10(end)) for end in (low, high))
    if low is not None and high is not None:
        found["range"] = [low, high]
    if described.scale == "places":
        found |= _places(described, which)
    return found


def _plain_ticks(chart: Chart, which: Literal["x", "y"]) -> dict[str, Any]:
    """Plain numbers along a logarithmic axis."""
    ticks, (low, high) = chart.ticks(which), chart.span(which) or (1.0, 1.0)
    step: str | int = 1 if ticks == "powers" else "D2"
    if ticks == "even":
        least = (high - low) / 6
        power = 10.0 ** math.floor(math.log10(least))
        step = f"L{next(m * power for m in (1, 2, 5, 10) if m * power >= least):.12g}"
    return {"dtick": step, "tickformat": ",.6~r"}


def _places(described: Axis, which: str) -> dict[str, Any]:
    names = ["<br>".join(map(plotly_text, name.split("\n"))) for name in described.places]
    ends = [-0.5, len(names) - 0.5]
    return {
        "tickmode": "array", "tickvals": list(range(len(names))), "ticktext": names, "zeroline": False,
        "range": ends if which == "x" else ends[::-1],
    }  # fmt: skip


def _domain(number: int, count: int, gap: float) -> dict[str, Any]:
    size = (1 - gap * (count - 1)) / count
    start = number * (size + gap)
    return {"domain": [start, min(start + size, 1.0)]}


def _shape(rule: Rule, suffix: str) -> dict[str, Any]:
    across = {"x": "y", "y": "x"}[rule.axis]
    return {
        "type": "line", "layer": "below", f"{rule.axis}ref": f"{rule.axis}{suffix}", f"{rule.axis}0": rule.at,
        f"{rule.axis}1": rule.at, f"{across}ref": f"{across}{suffix} domain", f"{across}0": 0, f"{across}1": 1,
        "line": {"color": rule.colour, "width": _LINE * rule.width, "dash": _DASHES[rule.dash]},
    }  # fmt: skip


def _annotations(chart: Chart, suffix: str) -> list[dict[str, Any]]:
    """Labels of reference lines, remarks next to places, and the title of the chart."""
    plain: dict[str, Any] = {"showarrow": False, "font": {"size": 12, "color": GREY}}
    x, y, inside_x, inside_y = f"x{suffix}", f"y{suffix}", f"x{suffix} domain", f"y{suffix} domain"
    found = []
    for rule in chart.rules:
        if rule.label and rule.axis == "x":
            place = {"xref": x, "x": rule.at, "yref": inside_y, "y": 1, "yanchor": "bottom"}
        elif rule.label:
            at = float(np.log10(rule.at)) if chart.y.scale == "log" else rule.at
            place = {"xref": inside_x, "x": 0, "xanchor": "left", "yref": y, "y": at, "yanchor": "bottom"}
        else:
            continue
        found.append({**plain, **place, "text": plotly_text(rule.label)})
    for number, text in enumerate(chart.y.beside):
        place = {"xref": inside_x, "x": 1, "xanchor": "left", "yref": y, "y": number}
        found.append({**plain, **place, "text": plotly_text(text)})
    if chart.title:
        place = {"xref": inside_x, "x": 0, "xanchor": "left", "yref": inside_y, "y": 1, "yanchor": "bottom"}
        found.append({**plain, **place, "text": plotly_text(chart.title)})
    return found


def _at(values: Values) -> list[Any]:
    found = np.asarray(values)
    if found.dtype.kind == "M":
        return list(map(str, np.datetime_as_string(found, unit="auto")))
    return list(found.tolist())


def _short(values: Any) -> list[float]:
    """Rounded to six digits, which are more than a screen shows."""
    return [float(f"{value:.6g}") for value in values]
