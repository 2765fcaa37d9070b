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
    """One curve, or one set of points."""

    name: str
    colour: str  # as "#rrggbb"
    at: Values  # positions of the values: times, dates, or numbers of places
    mean: Values
    low: Values = ()  # ends of the intervals, if there are some
    high: Values = ()
    kind: Literal["measured", "bound"] = "measured"  # bounds come last in the legend
    dash: Dash = "-"  # of the line through the values; no line if empty
    width: float = 1.6
    marker: Marker = ""  # no markers if empty
    size: float = 4.5
    filled: bool = True
    bars: bool = False  # whether intervals are bars instead of a band
    legend: bool = True  # whether it has its own entry
    tip: str = ""  # text that a page shows under the mouse; by default the name and the last value


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
    """One axis."""

    label: str = ""
    scale: Scale = "linear"  # "places" are named ones, numbered from 0; vertical axes run downwards
    limits: tuple[float | None, float | None] = (None, None)  # None if the data determine it
    places: Sequence[str] = ()  # names, lines separated by line breaks
    beside: Sequence[str] = ()  # a remark on each place, on the other side of the chart
    plain: bool = False  # whether logarithmic axes have plain numbers rather than powers of ten
    second: tuple[str, float] | None = None  # label of a secondary axis, and primary units per secondary unit


@dataclass(frozen=True, kw_only=True)
class Chart:
    """Series between two axes."""

    series: Sequence[Series]
    x: Axis
    y: Axis
    rules: Sequence[Rule] = ()
    title: str = ""  # what distinguishes it from the chart next to it
    across: bool = False  # whether values run along the horizontal axis and places down the vertical one


@dataclass(frozen=True, kw_only=True)
class Figure:
    """Charts in rows and columns, with one title, one caption and one legend."""

    title: str
    charts: Sequence[Sequence[Chart]]  # rows of charts
    size: tuple[float, float]  # in inches, without title, caption and legend
    caption: str = ""
    shared: Literal["x", "y", ""] = ""  # axes that are the same for the charts of a column ("x") or of a row ("y")
    labelled: bool = False  # whether curves have their names at their ends instead of a legend, where there is room

    @property
    def legend(self) -> list[str]:
        """Names in the legend: measured series first, then bounds."""
        series = [s for row in self.charts for chart in row for s in chart.series if s.legend]
        return list(dict.fromkeys(s.name for s in sorted(series, key=lambda s: s.kind == "bound")))


def colour_and_marker(number: int) -> tuple[str, Marker]:
    """Colour and marker of a policy, by its number."""
    return PALETTE[number % len(PALETTE)], MARKERS[number % len(MARKERS)]
