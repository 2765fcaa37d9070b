"""``sharpe-bandits compare``: test whether one column is better than another."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import get_args

from ...returns.yardstick import JudgedBy
from . import options as data


def add(compare: argparse.ArgumentParser) -> None:
    """Add what to compare with, and how to read the table."""
    compare.add_argument("--against", metavar="COLUMN", help="compare all others with this one (all pairs, or with "
                         "the best if there are many)")  # fmt: skip
    compare.add_argument("--by", choices=get_args(JudgedBy), help="what to compare (sharpe; mean-risk for costs)")
    compare.add_argument("--aversion", type=float, default=1.0, metavar="A", help="mean that a unit of standard "
                         "deviation is worth, for mean-risk")  # fmt: skip
    compare.add_argument("--out", type=Path, metavar="FOLDER", help="write comparison.html, .csv, .json, .svg and .png")
    data.add(compare)
    data.add_bootstrap(compare, replications=1000)
    compare.set_defaults(do=_compare)


def _compare(options: argparse.Namespace) -> None:
    from ...returns.comparison import compare

    names = ("against", "by", "aversion", "confidence", "replications", "block", "seed")
    data.present(compare(data.read(options), **data.given(options, *names)), options, options.out)
