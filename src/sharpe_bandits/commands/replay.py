"""``sharpe-bandits replay``: how policies would have fared on recorded returns."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from .. import console
from . import options as data


def add(commands: Any) -> None:
    """The command's parser."""
    replay = commands.add_parser("replay", help="play policies through recorded returns, in time order")
    data.add(replay)
    replay.add_argument("--policies", nargs="+", metavar="POLICY", help="kind or name, with parameters as in "
                        "SlidingWindowUCB:window=250,c=1 (SF-UCB, SW-SF-UCB, SF-TS and UCB-RSSR)")  # fmt: skip
    replay.add_argument("--L", type=float, help="regulariser of policies, in the unit of variance per period (a tenth "
                        "of the smallest variance of a column)")  # fmt: skip
    replay.add_argument("--risk-free", type=float, default=0.0, metavar="RATE", help="a year: 0.02 is 2%% (0)")
    replay.add_argument("--full-feedback", action="store_true", help="policies see the returns of all columns")
    replay.add_argument("--cost", type=float, default=0.0, help="share of wealth lost in a switch: 0.001 is 0.1%% (0)")
    replay.add_argument("--budget", type=int, metavar="ROWS", help="rows in which policies that look for the best "
                        "column explore, before they hold it (half)")  # fmt: skip
    replay.add_argument("--runs", type=int, default=100, help="of randomised policies; others are played once (100)")
    replay.add_argument("--seed", type=int, default=0)
    replay.add_argument("--out", type=Path, help="folder for page, figures and data (out/replay- and the file's name)")
    replay.set_defaults(do=_replay)


def _replay(options: argparse.Namespace) -> int:
    from ..figures import pyplot
    from ..report.page import check_plotly
    from ..returns.replay import replay
    from ..returns.statistics import per_period

    pyplot()  # a missing library is reported before the work, not after it
    check_plotly()
    returns = data.read(options)
    played = replay(
        returns,
        options.policies,
        L=options.L,
        risk_free=per_period(options.risk_free, returns.periods_per_year),
        feedback="full" if options.full_feedback else "bandit",
        runs=options.runs,
        seed=options.seed,
        cost=options.cost,
        budget=options.budget,
    )
    console.show(played)
    out = options.out or Path("out") / f"replay-{options.file.stem}"
    played.save(out)
    print(f"saved: {out / 'replay.html'}")
    return 0
