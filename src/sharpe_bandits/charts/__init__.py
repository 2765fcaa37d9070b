"""Charts: described as plain data, and drawn by matplotlib for notebooks, print and pages."""

from .description import Axis, Chart, Figure, Rule, Series
from .render_matplotlib import pictures, render_matplotlib

__all__ = ["Axis", "Chart", "Figure", "Rule", "Series", "pictures", "render_matplotlib"]
