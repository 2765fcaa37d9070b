"""``sharpe-bandits replay``: how policies would have fared on recorded returns."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from .. import console
from ..returns.replay import PATHS
from . import options as data


def add(commands: Any) -> None:
    """The command's parser."""
    replay = commands.add_parser("replay", help="play policies through recorded returns, in time order")
    data.add(replay)
    replay.add_argument("--policies", nargs="+", metavar="POLICY", help="kind or name, with parameters as in "
                        "SlidingWindowUCB:window=250,c=1 (SF-UCB, SW-SF-UCB, W-TS and UCB-RSSR)")  # fmt: skip
    replay.add_argument("--L", type=float, help="regulariser of policies, in the unit of variance per period (a tenth "
                        "of the smallest variance of a column in the first rows)")  # fmt: skip
    data.add_risk_free(replay)
    replay.add_argument("--full-feedback", action="store_true", help="policies see the returns of all columns")
    replay.add_argument("--cost", type=float, default=0.0, help="share of wealth lost in a switch: 0.001 is 0.1%% (0)")
    replay.add_argument("--budget", type=int, metavar="ROWS", help="rows in which policies that look for the best "
                        "column explore, before they hold it (half)")  # fmt: skip
    replay.add_argument("--runs", type=int, default=100, help="of every policy, each with the columns in another order "
                        "(100)")  # fmt: skip
    replay.add_argument("--paths", choices=PATHS, default="recorded", help="what runs are played on: the rows as "
                        "recorded, a stretch from a random start, or blocks drawn again (recorded)")  # fmt: skip
    replay.add_argument("--length", type=int, metavar="ROWS", help="of a stretch from a random start (half)")
    replay.add_argument("--block", type=float, help="mean length of blocks in rows (chosen from the data)")
    replay.add_argument("--seed", type=int, default=0)
    replay.add_argument("--out", type=Path, help="folder for page, figures and data (out/replay- and the file's name)")
    replay.set_defaults(do=_replay)


def _replay(options: argparse.Namespace) -> int:
    from ..report.document import check_libraries
    from ..returns.replay import replay

    check_libraries()
    returns = data.read(options)
    played = replay(
        returns,
        options.policies,
        L=options.L,
        **data.risk_free(options),
        feedback="full" if options.full_feedback else "bandit",
        runs=options.runs,
        seed=options.seed,
        cost=options.cost,
        budget=options.budget,
        paths=options.paths,
        length=options.length,
        block=options.block,
    )
    console.show(played)
    out = options.out or Path("out") / f"replay-{options.file.stem}"
    played.save(out)
    print(f"saved: {out / 'replay.html'}")
    return 0
