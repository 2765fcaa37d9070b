"""A comparison as files: data and a page."""

from __future__ import annotations

from pathlib import Path

from .._support.files import to_json, write_all
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


def write(comparison: Comparison, folder: Path) -> Path:
    """Write all files of a comparison; nothing is written if one of them cannot be created."""
    files = {
        "comparison.csv": comparison.table.to_csv(),
        "comparison.json": to_json(comparison.to_dict(), allow_nan=False),
        "comparison.html": page(comparison).encode(),
    }
    write_all(folder, files)
    return folder / "comparison.html"


def page(comparison: Comparison) -> str:
    """The comparison as one small page."""
    count = len(comparison.returns.names)
    return document(
        "comparison.html", title=f"Comparison of {count} columns", comparison=comparison, references=_REFERENCES
    )
