"""Charts: described once, from tidy rows, and drawn by matplotlib for print and by plotly for pages."""

from typing import Any

from .description import Axis, Chart, Figure, Heatmap, Rule, Series
from .render_matplotlib import pictures, render_matplotlib
from .render_plotly import render_plotly, to_plotly
from .tidy_rows import figure_from_rows

__all__ = [
    "Axis",
    "Chart",
    "Figure",
    "Heatmap",
    "Rule",
    "Series",
    "draw",
    "figure_from_rows",
    "pictures",
    "render_matplotlib",
    "render_plotly",
    "to_plotly",
]


def draw(figure: Figure, interactive: bool = False) -> Any:
    """A figure drawn by matplotlib, or, if ``interactive``, by plotly."""
    return render_plotly(figure) if interactive else render_matplotlib(figure)
