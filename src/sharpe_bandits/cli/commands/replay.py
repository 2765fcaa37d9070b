"""``sharpe-bandits replay``: how policies would have performed on recorded returns."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ...report.document import check_libraries
from ...returns.replay import replay
from ..parser import Pairs, add_options, arguments
from . import returns as data

_POLICIES = {
    "--policies POLICY ...": "kind or name, with parameters as in SlidingWindowUCB:window=250,c=1 (SF-UCB, SW-SF-UCB, "
    "SF-TS and UCB-RSSR)",
    "--L": "their regulariser, in units of variance per round (a tenth of the smallest of a column at first)",
    "--aversion A": "for costs: mean that a unit of standard deviation is worth",
}
_TRADING = {
    "--cost-aware": "policies allow for the cost when they choose",
    "--every ROWS": "rows between decisions, or week, month, quarter or year",
    "--hold N": "minimum holding period, in decisions",
    "--top M": "columns held at a time, in equal parts",
    "--warm-up ROWS": "rows observed before the first decision",
    "--lag ROWS": "rows between a decision and its trade",
}
_RUNS = {
    "--runs N": "runs per policy, each with the columns in another order",
    "--paths": "rows of a run: all as recorded, consecutive ones from a random start, or resampled blocks",
    "--length ROWS": "rows of a run from a random start (half)",
    "--block ROWS": "mean block length (chosen from the data)",
    "--seed N": "seed of everything random",
}


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="folder of the report (out/replay-<file name>)")
    players = parser.add_argument_group("policies")
    add_options(players, replay, _POLICIES)
    full: dict[str, Any] = {"dest": "feedback", "action": "store_const", "const": "full", "default": "bandit"}
    players.add_argument("--full-feedback", **full, help="policies see the returns of all columns")
    add_options(players, replay, {"--budget ROUNDS": "rounds in which fixed-budget policies explore (half)"})
    trade = parser.add_argument_group("trading")
    trade.add_argument("--cost", type=float, default=0.0, help="share of wealth that a switch costs: 0.001 is 0.1%%")
    pairs: dict[str, Any] = {"action": Pairs, "const": float, "nargs": "+", "metavar": "COLUMN=COST"}
    trade.add_argument("--costs", **pairs, help="cost per switch of individual columns")
    add_options(trade, replay, _TRADING)
    add_options(parser.add_argument_group("runs"), replay, _RUNS)
    data.add(parser)
    parser.set_defaults(do=_replay)


def _replay(options: argparse.Namespace) -> None:
    check_libraries()
    returns = data.read(options)
    cost = {**dict.fromkeys(returns.names, options.cost), **options.costs} if options.costs else options.cost
    result = replay(returns, **{**arguments(replay, options), "cost": cost})
    out = options.out or Path("out") / f"replay-{options.file.stem}"
    data.present(result, options, out)
