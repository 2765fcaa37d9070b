"""``sharpe-bandits compare``: test whether one column is better than another."""

from __future__ import annotations

import argparse
from pathlib import Path

from ...returns.comparison import compare
from ..parser import add_options, arguments
from . import options as data

_QUESTION = {
    "--against COLUMN": "compare all others with this one (all pairs, or with the best if there are many)",
    "--by": "what to compare (sharpe; mean-risk for costs)",
    "--aversion A": "mean that a unit of standard deviation is worth, for mean-risk",
}


def add(parser: argparse.ArgumentParser) -> None:
    """Add what to compare with, and how to read the table."""
    add_options(parser, compare, _QUESTION)
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="write comparison.html, .csv, .json, .svg and .png")
    data.add(parser)
    data.add_bootstrap(parser, compare)
    parser.set_defaults(do=_compare)


def _compare(options: argparse.Namespace) -> None:
    data.present(compare(data.read(options), **arguments(compare, options)), options, options.out)
