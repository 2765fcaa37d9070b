"""``sharpe-bandits compare``: is one column better than another."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from .. import console
from . import options as data


def add(commands: Any) -> None:
    """The command's parser."""
    compare = commands.add_parser("compare", help="tell whether one column's Sharpe ratio is larger than another's")
    data.add(compare)
    compare.add_argument("--against", metavar="COLUMN", help="compare all others with this one (all pairs, or with the "
                         "best if there are many)")  # fmt: skip
    data.add_risk_free(compare)
    compare.add_argument("--confidence", type=float, default=0.95, help="of the model confidence set (0.95)")
    compare.add_argument("--replications", type=int, default=1000, help="of the bootstrap (1000)")
    compare.add_argument("--block", type=float, help="mean block length in rows (chosen from the data)")
    compare.add_argument("--seed", type=int, default=0)
    compare.add_argument("--out", type=Path, help="folder for comparison.html, .csv and .json")
    compare.set_defaults(do=_compare)


def _compare(options: argparse.Namespace) -> int:
    from ..returns.comparison import compare

    names = ("against", "confidence", "replications", "block", "seed")
    comparison = compare(
        data.read(options), **data.risk_free(options), **{name: getattr(options, name) for name in names}
    )
    console.show(comparison)
    if options.out is not None:
        comparison.save(options.out)
        print(f"saved: {options.out / 'comparison.html'}")
    return 0
