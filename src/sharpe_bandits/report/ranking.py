"""A ranking as files: data, an interval plot and a page."""

from __future__ import annotations

import json
from dataclasses import asdict
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..experiments import tidy
from ..experiments.store import write_whole
from ..figures import PALETTE, STYLE, pyplot, render
from ..returns.ranking import Ranked, Ranking
from .document import document, facts, table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_REFERENCES = (
    "A. W. Lo (2002). The statistics of Sharpe ratios. Financial Analysts Journal 58(4).",
    "E. Mertens (2002). Comments on variance of the IID estimator in Lo (2002).",
    "W. K. Newey and K. D. West (1994). Automatic lag selection in covariance matrix estimation. Review of Economic "
    "Studies 61(4).",
    "D. N. Politis and J. P. Romano (1994). The stationary bootstrap. JASA 89(428).",
    "A. Patton, D. N. Politis and H. White (2009). Correction to “Automatic block-length selection for the dependent "
    "bootstrap”. Econometric Reviews 28(4).",
    "D. H. Bailey and M. López de Prado (2012). The Sharpe ratio efficient frontier. Journal of Risk 15(2).",
    "D. H. Bailey and M. López de Prado (2014). The deflated Sharpe ratio. Journal of Portfolio Management 40(5).",
)


def save(ranking: Ranking, folder: Path) -> None:
    """Write all files of a ranking; nothing is written if one of them cannot be made."""
    pictures = render(draw(ranking))
    files = {
        "ranking.csv": tidy.as_csv([asdict(column) for column in ranking.columns]),
        "ranking.json": (json.dumps(ranking.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode(),
        **{f"ranking.{kind}": picture for kind, picture in pictures.items()},
        "ranking.html": page(ranking, pictures["svg"].decode()).encode(),
    }
    for name, content in files.items():
        write_whole(folder / name, content)


def draw(ranking: Ranking) -> Figure:
    """Sharpe ratios and RSSR with their intervals, the best on top."""
    plt = pyplot()
    columns = ranking.columns
    with plt.rc_context(STYLE):
        height = 1.75 + 0.27 * len(columns)
        figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, height), sharey=True, layout="constrained")
        _intervals(left, columns, "annual_sharpe")
        _intervals(right, columns, "rssr")
        if ranking.trials > 1:
            label = f"expected of the best of {ranking.trials} without skill"
            left.axvline(
                ranking.annual_expected_maximum, color="#4d4d4d", linestyle=(0, (5, 2)), linewidth=1.1, label=label
            )
        left.set_yticks(range(len(columns)), [_short(c.name) for c in columns])
        left.set_ylim(len(columns) - 0.4, -0.6)
        left.set_xlabel("Sharpe ratio a year")
        right.set_xlabel("RSSR per period, signed")
        shares = right.twinx()  # in the margin, beside each column
        shares.set_ylim(left.get_ylim())
        shares.set_yticks(range(len(columns)), [f"first in {c.best:.0%}" for c in columns])
        shares.tick_params(length=0, labelcolor="#444444")
        shares.grid(False)
        figure.legend(*left.get_legend_handles_labels(), loc="outside upper right", fontsize=8)
        title = (
            f"Ranked by {'Sharpe ratio' if ranking.by == 'sharpe' else 'RSSR'}, {100 * ranking.confidence:g}% intervals"
        )
        figure.suptitle(title, x=0.01, ha="left", fontsize=10.5, fontweight="bold")
        settings = ranking.settings()
        words = [f"{settings['data']}; {settings['scale']}", f"annualised: {settings['annualised']}",
                 f"risk-free rate {settings['risk-free rate']}; L = {ranking.L:.4g}"]  # fmt: skip
        figure.supxlabel("\n".join(words), x=0.01, ha="left", fontsize=7.5, color="#444444")
        return figure


def _intervals(ax: Any, columns: tuple[Ranked, ...], what: str) -> None:
    middle, low, high = (np.array([getattr(c, what + end) for c in columns]) for end in ("", "_low", "_high"))
    at = np.arange(len(columns))
    ax.axvline(0, color="#444444", linewidth=0.9)
    ax.hlines(at, low, high, color=PALETTE[0], linewidth=2.2)
    ax.plot(middle, at, "o", color=PALETTE[0], markersize=5.5)
    ax.grid(axis="y", visible=False)
    ax.tick_params(axis="y", length=0)
    ax.locator_params(axis="x", nbins=6)


def _short(name: str, most: int = 28) -> str:
    """The name as matplotlib shows it: cut if it is long, and no formula where it has a dollar sign."""
    cut = name if len(name) <= most else f"{name[: most - 1]}…"
    return cut.replace("$", r"\$")


def page(ranking: Ranking, picture: str) -> str:
    """The ranking as one small page."""
    tables = "".join(table(heads, rows) for heads, rows in ranking.tables())
    references = "".join(f"<li>{escape(text)}</li>" for text in _REFERENCES)
    svg = picture[picture.index("<svg") :].replace("<svg ", '<svg role="img" aria-label="Intervals" ', 1)
    title = f"Ranking of {len(ranking.columns)} column{'s' * (len(ranking.columns) > 1)}"
    body = (
        f'<main><h1>{title}</h1><p class="lead">{escape(ranking.summary)}</p>'
        f'<div class="wide">{svg}</div>'
        f"{tables}"
        "<p>Standard errors allow for autocorrelation (s.e.) or take returns to be independent (s.e. iid). PSR, the "
        "probabilistic Sharpe ratio, is the confidence that the Sharpe ratio is above 0; DSR, the deflated one, the "
        "same in spite of so many trials; both take returns to be independent. First in: the share of resamples in "
        f"which the column is first.</p><h2>What the numbers depend on</h2>{facts(ranking.settings())}"
        f'<h2>References</h2><ul class="soft">{references}</ul></main>'
    )
    return document(title, body)
