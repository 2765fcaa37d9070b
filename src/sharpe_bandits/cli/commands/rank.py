"""``sharpe-bandits rank``: which column is best, and how reliable that is."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import get_args

from ...returns.yardstick import CriterionName
from . import options as data


def add(rank: argparse.ArgumentParser) -> None:
    """Add what to rank by, the number of trials, and how to read the table."""
    rank.add_argument("--full", action="store_true", help="show all numbers: other measures with intervals, standard "
                      "errors, false discovery rates")  # fmt: skip
    rank.add_argument("--out", type=Path, metavar="FOLDER", help="write ranking.html, .csv, .json, .svg and .png")
    group = rank.add_argument_group("question")
    group.add_argument("--by", choices=get_args(CriterionName), help="criterion (sharpe; mean-risk for costs)")
    group.add_argument("--aversion", type=float, default=1.0, metavar="A", help="mean that a unit of standard "
                    "deviation is worth, for mean-risk")  # fmt: skip
    group.add_argument("--L", type=float, help="regulariser of RSSR, in units of variance per period (a tenth of the "
                    "smallest variance of a column)")  # fmt: skip
    group.add_argument("--trials", type=_trials, metavar="N", help="number of strategies tried, discarded ones "
                    "included; or clusters, if columns are variants (number of columns)")  # fmt: skip
    group.add_argument("--trials-sd", type=float, metavar="SD", help="standard deviation of annualised Sharpe ratios "
                    "among all trials (the larger of observed and chance)")  # fmt: skip
    data.add(rank)
    data.add_bootstrap(rank, replications=2000)
    rank.set_defaults(do=_rank)


def _trials(text: str) -> int | str:
    return text if text == "clusters" else int(text)


_trials.__name__ = "int"  # in messages


def _rank(options: argparse.Namespace) -> None:
    from ...returns.ranking import rank

    names = ("L", "by", "aversion", "trials", "trials_sd", "confidence", "replications", "block", "seed", "full")
    data.present(rank(data.read(options), **data.given(options, *names)), options, options.out)
