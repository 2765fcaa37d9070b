"""``sharpe-bandits rank``: which column is best, and how reliable that is."""

from __future__ import annotations

import argparse
from pathlib import Path

from ...returns.ranking import rank
from ..parser import add_options, arguments
from . import options as data

_QUESTION = {
    "--by": "criterion (sharpe; mean-risk for costs)",
    "--aversion A": "mean that a unit of standard deviation is worth, for mean-risk",
    "--L": "regulariser of RSSR, in units of variance per period (a tenth of the smallest variance of a column)",
    "--trials N": "number of strategies tried, discarded ones included (number of columns)",
    "--trials-sd SD": "standard deviation of annualised Sharpe ratios among trials (the larger of observed and chance)",
}


def add(parser: argparse.ArgumentParser) -> None:
    """Add what to rank by, the number of trials, and how to read the table."""
    full = "show all numbers: other measures with intervals, standard errors, false discovery rates"
    add_options(parser, rank, {"--full": full})
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="write ranking.html, .csv, .json, .svg and .png")
    group = parser.add_argument_group("question")
    add_options(group, rank, _QUESTION)
    data.add(parser)
    data.add_bootstrap(parser, rank)
    parser.set_defaults(do=_rank)


def _rank(options: argparse.Namespace) -> None:
    data.present(rank(data.read(options), **arguments(rank, options)), options, options.out)
