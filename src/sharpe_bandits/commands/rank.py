"""``sharpe-bandits rank``: which column has the largest Sharpe ratio, and how far to believe it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from .. import console
from . import options as data


def add(commands: Any) -> None:
    """The command's parser."""
    rank = commands.add_parser("rank", help="rank strategies, funds or assets by their recorded returns")
    data.add(rank)
    rank.add_argument("--by", choices=("sharpe", "rssr"), default="sharpe", help="what decides (sharpe)")
    rank.add_argument("--L", type=float, help="regulariser of RSSR, in the unit of variance per period (a tenth of the "
                      "smallest variance of a column)")  # fmt: skip
    data.add_risk_free(rank)
    rank.add_argument("--trials", type=int, help="how many were tried, those thrown away included (the columns)")
    rank.add_argument("--trials-sd", type=float, metavar="SD", help="standard deviation of annualised Sharpe ratios "
                      "among all of them (at least what chance alone makes it)")  # fmt: skip
    rank.add_argument("--confidence", type=float, default=0.95, help="of the intervals (0.95)")
    rank.add_argument("--replications", type=int, default=2000, help="of the bootstrap (2000)")
    rank.add_argument("--block", type=float, help="mean block length in rows (chosen from the data)")
    rank.add_argument("--seed", type=int, default=0)
    rank.add_argument("--out", type=Path, help="folder for ranking.csv, .json, .svg, .png and .html")
    rank.set_defaults(do=_rank)


def _rank(options: argparse.Namespace) -> int:
    from ..returns.ranking import rank

    returns = data.read(options)
    ranking = rank(
        returns,
        L=options.L,
        **data.risk_free(options),
        by=options.by,
        trials=options.trials,
        trials_sd=options.trials_sd,
        confidence=options.confidence,
        replications=options.replications,
        block=options.block,
        seed=options.seed,
    )
    console.show(ranking)
    if options.out is not None:
        ranking.save(options.out)
        print(f"saved: {options.out / 'ranking.html'}")
    return 0
