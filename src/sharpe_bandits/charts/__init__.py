"""Charts: described once, from tidy rows, and drawn by matplotlib for print and by plotly for pages."""

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
    "figure_from_rows",
    "pictures",
    "render_matplotlib",
    "render_plotly",
    "to_plotly",
]
