"""A comparison as files: data, a forest plot and a page."""

from __future__ import annotations

from collections.abc import Mapping

from .._support.names import printable, shorten
from ..charts.description import PALETTE, Axis, Chart, Figure, Rule, Series
from ..returns.comparison import Comparison
from .document import document

_REFERENCES = (
    "O. Ledoit and M. Wolf (2008). Robust performance hypothesis testing with the Sharpe ratio. Journal of Empirical "
    "Finance 15(5).",
    "P. R. Hansen (2005). A test for superior predictive ability. Journal of Business & Economic Statistics 23(4).",
    "P. R. Hansen, A. Lunde and J. M. Nason (2011). The model confidence set. Econometrica 79(2).",
    "J. P. Romano and M. Wolf (2005). Stepwise multiple testing as formalized data snooping. Econometrica 73(4).",
    "D. H. Bailey, J. M. Borwein, M. López de Prado and Q. J. Zhu (2017). The probability of backtest overfitting. "
    "Journal of Computational Finance 20(4).",
)


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
    axis = Axis(label=f"difference of {comparison.yardstick.name}")
    chart = Chart(
        series=series, x=axis, y=Axis(scale="places", places=places), rules=[Rule(axis="x", at=0, width=0.9)],
        across=True,
    )  # fmt: skip
    count = sum(d.p_corrected <= level for d in comparison.differences)
    title = f"{count} of {len(comparison.differences):,} differences are significant at {level:.0%}, corrected"
    forest = Figure(
        title="No verdict: every mean return is below the hurdle" if comparison.no_verdict else title,
        charts=[[chart]],
        size=(6.8, 1.2 + 0.27 * len(differences)),
        caption=f"{comparison.returns.span}; {comparison.confidence:.0%} intervals, each for itself",
    )
    return {"comparison": forest}


def page(comparison: Comparison, drawn: Mapping[str, Mapping[str, bytes]]) -> str:
    """The comparison as one small page, including its figure as SVG."""
    count = len(comparison.returns.names)
    return document(
        "comparison.html", title=f"Comparison of {count} columns", comparison=comparison,
        picture=drawn["comparison"]["svg"],        references=_REFERENCES,
    )  # fmt: skip
