"""Descriptions of charts as plain data: what is drawn, not how."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

#: Numbers or dates.
Values = Sequence[Any] | np.ndarray
Scale = Literal["linear", "log", "date", "places"]
Dash = Literal["solid", "dash", "dot", "dashdot", "sparse dot"]
Marker = Literal[
    "circle", "square", "triangle", "diamond", "triangle down", "plus", "cross", "tick", "bar", "thin cross",
    "arrow down",
]  # fmt: skip

#: Okabe & Ito's palette: colour-blind readers can distinguish these colours, and they differ in greyscale.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES: tuple[Dash, ...] = ("solid", "dash", "dot", "dashdot")
MARKERS: tuple[Marker, ...] = ("circle", "square", "triangle", "diamond", "triangle down", "plus", "cross")
#: Reference lines.
GREY = "#444444"


@dataclass(frozen=True, kw_only=True)
class Series:
    """One curve, or one set of points.

    Attributes
    ----------
    name : str
        its name in the legend
    colour : str
        as ``#rrggbb``
    at : Values
        positions of the values: times, dates (``datetime64``), or numbers of places
    mean, low, high : Values
        values and the ends of their intervals; without intervals ``low`` and ``high`` are empty
    kind : Literal['measured', 'bound'], optional
        "measured", or "bound", which comes last in the legend
    dash, width : Dash | None and float, optional
        style of the line through the values, width in points; no line if ``dash`` is None
    marker, size, filled : Marker | None and float and bool, optional
        style of the markers, size in points; no markers if ``marker`` is None
    bars : bool, optional
        whether intervals are bars instead of a band
    legend : bool, optional
        whether it has its own entry in the legend
    tip : str, optional
        text that a page shows when the mouse is over it; by default the name and the last value
    """

    name: str
    colour: str
    at: Values
    mean: Values
    low: Values = ()
    high: Values = ()
    kind: Literal["measured", "bound"] = "measured"
    dash: Dash | None = "solid"
    width: float = 1.6
    marker: Marker | None = None
    size: float = 4.5
    filled: bool = True
    bars: bool = False
    legend: bool = True
    tip: str = ""


#: Number of decades that a logarithmic axis must span to have ticks only at powers of ten, or at 1, 2 and 5 times each.
_POWERS, _PARTS = 3, 0.8


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A reference line across the chart, at a value of one axis; a label is shown next to it or in the legend."""

    axis: Literal["x", "y"]
    at: float
    label: str = ""
    colour: str = GREY
    dash: Dash = "solid"
    width: float = 1.1


@dataclass(frozen=True, kw_only=True)
class Axis:
    """One axis.

    Attributes
    ----------
    label : str, optional
        what is measured along it
    scale : Scale, optional
        "linear", "log", "date", or "places" (named ones, numbered from 0; vertical axes run downwards)
    limits : tuple[float | None, float | None], optional
        ends of the axis; None if the data determine them
    places : Sequence[str], optional
        names of places, lines separated by line breaks
    beside : Sequence[str], optional
        a remark on each place, on the other side of the chart
    plain : bool, optional
        whether logarithmic axes have plain numbers rather than powers of ten
    second : tuple[str, float] | None, optional
        label of a secondary axis in another unit, and the number of primary units per secondary unit
    """

    label: str = ""
    scale: Scale = "linear"
    limits: tuple[float | None, float | None] = (None, None)
    places: Sequence[str] = ()
    beside: Sequence[str] = ()
    plain: bool = False
    second: tuple[str, float] | None = None


@dataclass(frozen=True, kw_only=True)
class Chart:
    """Series between two axes.

    Attributes
    ----------
    series, rules : Sequence[Series] and Sequence[Rule]
        what is drawn
    x, y : Axis
        the axes
    title : str, optional
        what distinguishes it from the chart next to it
    across : bool, optional
        whether values run along the horizontal axis and places down the vertical one
    """

    series: Sequence[Series]
    x: Axis
    y: Axis
    rules: Sequence[Rule] = ()
    title: str = ""
    across: bool = False

    @property
    def legend(self) -> list[Series]:
        """Series with an entry in the legend: measured series first, then bounds."""
        return sorted((s for s in self.series if s.legend), key=lambda s: s.kind == "bound")

    def span(self, axis: Literal["x", "y"]) -> tuple[float, float] | None:
        """The range of the positive values along an axis; None if there are none."""
        if (axis == "x") == self.across:
            values = [float(v) for s in self.series for own in (s.mean, s.low, s.high) for v in own if v > 0]
        else:
            values = [float(v) for s in self.series for v in s.at if v > 0]
        low, high = (self.x if axis == "x" else self.y).limits
        if not values and (low is None or high is None):
            return None
        return min(values) if low is None else low, max(values) if high is None else high

    def ticks(self, axis: Literal["x", "y"]) -> Literal["powers", "parts", "even"]:
        """Ticks of a logarithmic axis of plain numbers: at powers of ten, at 1, 2 and 5 times each, or evenly."""
        low, high = self.span(axis) or (1.0, 1.0)
        decades = math.log10(high / low)
        return "powers" if decades > _POWERS else "parts" if decades > _PARTS or decades == 0 else "even"


@dataclass(frozen=True, kw_only=True)
class Figure:
    """Charts in rows and columns, with one title, one caption and one legend.

    Attributes
    ----------
    title, caption : str
        text above and below the charts
    charts : Sequence[Sequence[Chart]]
        rows of charts
    size : tuple[float, float]
        in inches, without title, caption and legend
    shared : Literal['x', 'y', ''], optional
        which axes are the same for the charts of a column ("x") or of a row ("y")
    labelled : bool, optional
        whether curves have their names at their ends instead of a legend, where there is room
    """

    title: str
    charts: Sequence[Sequence[Chart]]
    size: tuple[float, float]
    caption: str = ""
    shared: Literal["x", "y", ""] = ""
    labelled: bool = False

    @property
    def legend(self) -> list[Series]:
        """One series for every name in the legend, of all charts."""
        by_name = {
            s.name: s for row in reversed(self.charts) for chart in reversed(row) for s in reversed(chart.legend)
        }
        order = list(dict.fromkeys(s.name for row in self.charts for chart in row for s in chart.legend))
        return sorted((by_name[name] for name in order), key=lambda s: s.kind == "bound")


@dataclass(frozen=True, kw_only=True)
class Heatmap:
    """Shares from 0 to 1, in rows and columns."""

    title: str
    columns: Sequence[str]
    rows: Sequence[str]
    values: Sequence[Sequence[float]]
    caption: str = ""


def look(number: int) -> tuple[str, Marker]:
    """Colour and marker of a policy, by its number."""
    return PALETTE[number % len(PALETTE)], MARKERS[number % len(MARKERS)]
