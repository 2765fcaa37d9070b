"""``sharpe-bandits rank``: which column has the largest Sharpe ratio, and how reliable that is."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import get_args

from ...returns.ranking import RankedBy
from . import options as data


def add(rank: argparse.ArgumentParser) -> None:
    """Add the options."""
    data.add(rank)
    rank.add_argument("--by", choices=get_args(RankedBy), help="criterion (sharpe; mean-risk for costs)")
    rank.add_argument("--aversion", type=float, default=1.0, metavar="A", help="mean less A times the standard "
                      "deviation is the criterion mean-risk (1)")  # fmt: skip
    rank.add_argument("--L", type=float, help="regulariser of RSSR, in units of variance per period (a tenth of the "
                      "smallest variance of a column)")  # fmt: skip
    data.add_risk_free(rank)
    rank.add_argument(
        "--trials", type=int, help="number of strategies tried, discarded ones included (number of columns)"
    )
    rank.add_argument("--trials-sd", type=float, metavar="SD", help="standard deviation of annualised Sharpe ratios "
                      "among all trials (the larger of observed and chance)")  # fmt: skip
    data.add_bootstrap(rank, "intervals", replications=2000)
    rank.add_argument("--full", action="store_true", help="show all numbers: Sortino, Omega, expected shortfall and "
                      "others with intervals, standard errors, PSR, RSSR")  # fmt: skip
    rank.add_argument("--out", type=Path, help="folder for ranking.csv, .json, .svg, .png and .html")
    rank.set_defaults(do=_rank)


def _rank(options: argparse.Namespace) -> None:
    from ...returns.ranking import rank

    names = ("L", "by", "aversion", "trials", "trials_sd", "confidence", "replications", "block", "seed", "full")
    data.present(rank(data.read(options), **data.given(options, *names)), options.out)
