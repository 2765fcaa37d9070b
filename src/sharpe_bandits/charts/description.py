"""Descriptions of charts as plain data: what is drawn, not how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

#: Numbers or dates.
Values = Sequence[Any] | np.ndarray
Scale = Literal["linear", "log", "date", "places"]
#: A line style or a marker of matplotlib.
Dash = str | tuple[float, tuple[float, ...]]
Marker = str | int

#: Okabe & Ito's palette: colour-blind readers can distinguish these colours, and they differ in greyscale.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES: tuple[Dash, ...] = ("-", (0, (5, 2)), (0, (1.5, 1.5)), (0, (5, 2, 1.5, 2)))
MARKERS: tuple[Marker, ...] = ("o", "s", "^", "D", "v", "P", "X")
CARET_DOWN: Marker = 7
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
    dash, width : Dash and float, optional
        style of the line through the values, width in points; no line if ``dash`` is empty
    marker, size, filled : Marker and float and bool, optional
        style of the markers, size in points; no markers if ``marker`` is empty
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
    dash: Dash = "-"
    width: float = 1.6
    marker: Marker = ""
    size: float = 4.5
    filled: bool = True
    bars: bool = False
    legend: bool = True
    tip: str = ""


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A reference line across the chart, at a value of one axis; a label is shown next to it or in the legend."""

    axis: Literal["x", "y"]
    at: float
    label: str = ""
    colour: str = GREY
    dash: Dash = "-"
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
    def legend(self) -> list[str]:
        """Names in the legend: measured series first, then bounds."""
        series = [s for row in self.charts for chart in row for s in chart.series if s.legend]
        return list(dict.fromkeys(s.name for s in sorted(series, key=lambda s: s.kind == "bound")))


@dataclass(frozen=True, kw_only=True)
class Heatmap:
    """Shares from 0 to 1, in rows and columns."""

    title: str
    columns: Sequence[str]
    rows: Sequence[str]
    values: Sequence[Sequence[float]]
    caption: str = ""


def colour_and_marker(number: int) -> tuple[str, Marker]:
    """Colour and marker of a policy, by its number."""
    return PALETTE[number % len(PALETTE)], MARKERS[number % len(MARKERS)]
