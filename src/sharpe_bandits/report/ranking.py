"""A ranking as files: data, an interval plot and a page."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from ..charts.description import PALETTE, Axis, Chart, Figure, Rule, Series
from ..charts.render_matplotlib import pictures
from ..display import Table
from ..files import write_atomically
from ..names import printable, shorten
from ..returns.ranking import Ranking
from .document import document

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
    drawn = pictures(figure(ranking))
    files = {
        "ranking.csv": Table.of([asdict(column) for column in ranking.columns]).to_csv(),
        "ranking.json": (json.dumps(ranking.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode(),
        **{f"ranking.{kind}": picture for kind, picture in drawn.items()},
        "ranking.html": page(ranking, drawn["svg"].decode()).encode(),
    }
    for name, content in files.items():
        write_atomically(folder / name, content)


def figure(ranking: Ranking) -> Figure:
    """Sharpe ratios and RSSR with their intervals, the best on top."""
    sharpe = [Rule(axis="x", at=0, width=0.9)]
    if ranking.trials > 1:
        label = f"expected maximum of {ranking.trials} trials without skill"
        sharpe.append(Rule(axis="x", at=ranking.annual_expected_maximum, label=label, colour="#4d4d4d", dash="dash"))
    charts = [
        _intervals(ranking, "annual_sharpe", "annualised Sharpe ratio", sharpe),
        _intervals(ranking, "rssr", "RSSR per period, signed", sharpe[:1], shares=True),
    ]
    what = "Sharpe ratio" if ranking.by == "sharpe" else "RSSR"
    settings = ranking.settings()
    return Figure(
        title=f"Ranked by {what}, {100 * ranking.confidence:g}% intervals",
        charts=[charts],
        size=(8.4, 1.1 + 0.27 * len(ranking.columns)),
        caption=f"{settings['data']}; {settings['scale']}; annualised: {settings['annualised']}; "
        f"risk-free rate {settings['risk-free rate']}; L = {ranking.L:.4g}",
        shared="y",
    )


def _intervals(ranking: Ranking, what: str, label: str, rules: list[Rule], shares: bool = False) -> Chart:
    columns = ranking.columns
    series = Series(
        name=label, colour=PALETTE[0], at=range(len(columns)), dash=None, marker="circle", size=5.5, width=2.2,
        bars=True, legend=False, mean=[getattr(c, what) for c in columns],
        low=[getattr(c, f"{what}_low") for c in columns], high=[getattr(c, f"{what}_high") for c in columns],
    )  # fmt: skip
    places = Axis(
        scale="places",
        places=[shorten(printable(c.name), 28) for c in columns],
        beside=[f"first in {c.best:.0%}" for c in columns] if shares else (),
    )
    return Chart(series=[series], x=Axis(label=label), y=places, rules=rules, across=True, name=what)


def page(ranking: Ranking, picture: str) -> str:
    """The ranking as one small page, with its figure in it."""
    return document(
        "ranking.html",
        title=f"Ranking of {len(ranking.columns)} column{'s' * (len(ranking.columns) > 1)}",
        ranking=ranking,
        picture=picture[picture.index("<svg") :],
        references=_REFERENCES,
    )
