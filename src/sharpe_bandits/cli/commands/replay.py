"""``sharpe-bandits replay``: how policies would have performed on recorded returns."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...errors import InvalidInputError
from ...returns.playing import PATHS
from . import options as data


def add(replay: argparse.ArgumentParser) -> None:
    """Add the policies, how they decide and trade, and how to read the table."""
    replay.add_argument("--out", type=Path, metavar="FOLDER", help="folder of the report (out/replay-<file name>)")
    replay.add_argument(
        "--tear-sheet", metavar="POLICY", help="also write the quantstats report on this policy or benchmark"
    )
    players = replay.add_argument_group("policies")
    players.add_argument(
        "--policies",
        nargs="+",
        metavar="POLICY",
        help="kind or name, with parameters as in SlidingWindowUCB:window=250,c=1 (SF-UCB, SW-SF-UCB, SF-TS and "
        "UCB-RSSR)",
    )
    players.add_argument(
        "--L",
        type=float,
        help="their regulariser, in units of variance per round (a tenth of the smallest of a column at first)",
    )
    players.add_argument("--aversion", type=float, default=1.0, metavar="A", help="for costs: mean that a unit of "
                         "standard deviation is worth")  # fmt: skip
    players.add_argument(
        "--full-feedback",
        dest="feedback",
        action="store_const",
        const="full",
        default="bandit",
        help="policies see the returns of all columns",
    )
    players.add_argument(
        "--budget", type=int, metavar="ROUNDS", help="rounds in which fixed-budget policies explore (half)"
    )
    trade = replay.add_argument_group("trading")
    trade.add_argument("--cost", type=float, default=0.0, help="share of wealth that a switch costs: 0.001 is 0.1%%")
    trade.add_argument("--costs", nargs="+", metavar="COLUMN=COST", help="cost per switch of individual columns")
    trade.add_argument("--cost-aware", action="store_true", help="policies allow for the cost when they choose")
    trade.add_argument(
        "--every", default="1", metavar="ROWS", help="rows between decisions, or week, month, quarter or year"
    )
    trade.add_argument("--hold", type=int, default=1, metavar="N", help="minimum holding period, in decisions")
    trade.add_argument("--top", type=int, default=1, metavar="M", help="columns held at a time, in equal parts")
    trade.add_argument("--warm-up", type=int, default=0, metavar="ROWS", help="rows observed before the first decision")
    trade.add_argument("--lag", type=int, default=0, metavar="ROWS", help="rows between a decision and its trade")
    runs = replay.add_argument_group("runs")
    runs.add_argument(
        "--runs", type=int, default=100, metavar="N", help="runs per policy, each with the columns in another order"
    )
    runs.add_argument(
        "--paths",
        choices=PATHS,
        default="recorded",
        help="rows of a run: all as recorded, consecutive ones from a random start, or resampled blocks",
    )
    runs.add_argument("--length", type=int, metavar="ROWS", help="rows of a run from a random start (half)")
    runs.add_argument("--block", type=float, metavar="ROWS", help="mean block length (chosen from the data)")
    runs.add_argument("--seed", type=int, default=0, metavar="N", help="seed of everything random")  # fmt: skip
    data.add(replay)
    replay.set_defaults(do=_replay)


def _replay(options: argparse.Namespace) -> None:
    from ...report.document import check_libraries
    from ...returns.replay import replay

    check_libraries()
    returns = data.read(options)
    names = (
        "feedback", "aversion", "L", "runs", "seed", "cost_aware", "every", "hold", "top", "warm_up", "lag", "budget",
        "paths", "length", "block",
    )  # fmt: skip
    cost = _costs(options, returns.names)
    played = replay(returns, options.policies, cost=cost, **data.given(options, *names))
    out = options.out or Path("out") / f"replay-{options.file.stem}"
    data.present(played, options, out)
    if options.tear_sheet is not None:
        played.tear_sheet(options.tear_sheet, out / "tear_sheet.html")
        print(f"saved: {out / 'tear_sheet.html'}", file=sys.stderr)


def _costs(options: argparse.Namespace, names: Sequence[str]) -> float | dict[str, float]:
    """One cost for all columns, or one each."""
    if not options.costs:
        cost: float = options.cost
        return cost
    costs: dict[str, Any] = dict.fromkeys(names, options.cost)
    for text in options.costs:
        name, _, cost_text = text.rpartition("=")
        try:
            costs[name] = float(cost_text)
        except ValueError:
            raise InvalidInputError(f"--costs takes COLUMN=COST, such as {names[0]}=0.001, got {text!r}") from None
    return costs
