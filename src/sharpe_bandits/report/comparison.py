"""The forest plot of a comparison."""

from __future__ import annotations

from .._support.names import printable, shorten
from ..charts.description import PALETTE, Axis, Chart, Figure, Rule, Series
from ..returns.comparison import Comparison

#: Maximum number of differences drawn.
DRAWN = 30


def figures(comparison: Comparison) -> dict[str, Figure]:
    """A forest plot: differences with their intervals, the clearest on top; significant ones in colour."""
    level = 1 - comparison.confidence
    differences = comparison.differences[:DRAWN]
    series = []
    for clear, colour in ((True, PALETTE[0]), (False, "#8a939c")):
        own = [(k, d) for k, d in enumerate(differences) if (d.p_corrected <= level) == clear]
        if own:
            series.append(Series(
                name="significant" if clear else "not significant", colour=colour, at=[k for k, _ in own], dash="",
                marker="o", size=5.5, width=2.2, bars=True, legend=True, mean=[d.difference for _, d in own],
                low=[d.low for _, d in own], high=[d.high for _, d in own],
                tip="\n".join(f"{d.first} − {d.second}: {d.difference:.3g}" for _, d in own),
            ))  # fmt: skip
    places = [shorten(printable(f"{d.first} − {d.second}"), 40) for d in differences]
    x, y = Axis(label=f"difference of {comparison.yardstick.name}"), Axis(scale="places", places=places)
    chart = Chart(series=series, x=x, y=y, rules=[Rule(axis="x", at=0, width=0.9)], across=True)
    count = sum(d.p_corrected <= level for d in comparison.differences)
    title = f"{count} of {len(comparison.differences):,} differences are significant at {level:.0%}, corrected"
    if comparison.no_verdict:
        title = "No verdict: every mean return is below the hurdle"
    caption = f"{comparison.returns.span}; {comparison.confidence:.0%} intervals, each for itself"
    size = (6.8, 1.2 + 0.27 * len(differences))
    return {"comparison": Figure(title=title, charts=[[chart]], size=size, caption=caption)}
