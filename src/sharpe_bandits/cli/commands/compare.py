"""``sharpe-bandits compare``: test whether one column is better than another."""

from __future__ import annotations

import argparse
from pathlib import Path

from . import options as data


def add(compare: argparse.ArgumentParser) -> None:
    """Add the options."""
    data.add(compare)
    compare.add_argument("--against", metavar="COLUMN", help="compare all others with this one (all pairs, or with the "
                         "best if there are many)")  # fmt: skip
    data.add_risk_free(compare)
    data.add_bootstrap(compare, "intervals and the model confidence set", replications=1000)
    compare.add_argument("--out", type=Path, help="folder for comparison.html, .csv and .json")
    compare.set_defaults(do=_compare)


def _compare(options: argparse.Namespace) -> None:
    from ...returns.comparison import compare

    names = ("against", "confidence", "replications", "block", "seed")
    data.present(compare(data.read(options), **data.given(options, *names)), options.out)
