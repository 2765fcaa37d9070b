"""``sharpe-bandits replay``: how policies would have performed on recorded returns."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...errors import InvalidInputError
from ...returns.playing import PATHS
from ...simulation.spec import Feedback
from . import options as data


def add(replay: argparse.ArgumentParser) -> None:
    """Add the options."""
    data.add(replay)
    replay.add_argument("--policies", nargs="+", metavar="POLICY", help="kind or name, with parameters as in "
                        "SlidingWindowUCB:window=250,c=1 (SF-UCB, SW-SF-UCB, SF-TS and UCB-RSSR)")  # fmt: skip
    replay.add_argument("--L", type=float, help="regulariser of policies, in units of variance per round (a tenth "
                        "of the smallest variance of a column in the first rounds)")  # fmt: skip
    data.add_risk_free(replay)
    replay.add_argument("--full-feedback", action="store_true", help="policies see the returns of all columns")
    replay.add_argument(
        "--cost", type=float, default=0.0, help="share of wealth that a switch costs: 0.001 is 0.1%% (0)"
    )
    replay.add_argument("--costs", nargs="+", metavar="COLUMN=COST", help="cost per switch of individual columns")
    replay.add_argument("--cost-aware", action="store_true", help="policies allow for the cost when they choose")
    replay.add_argument("--every", default="1", metavar="ROWS", help="rows between decisions, or week, month, "
                        "quarter or year (1)")  # fmt: skip
    replay.add_argument("--hold", type=int, default=1, metavar="N", help="minimum holding period, in decisions (1)")
    replay.add_argument("--top", type=int, default=1, metavar="M", help="columns held at a time, in equal parts (1)")
    replay.add_argument("--warm-up", type=int, default=0, metavar="ROWS", help="rows that are observed before "
                        "the first decision (0)")  # fmt: skip
    replay.add_argument("--lag", type=int, default=0, metavar="ROWS", help="rows between a decision and its trade (0)")
    replay.add_argument("--budget", type=int, metavar="ROUNDS", help="rounds in which fixed-budget policies "
                        "explore, before they hold a column (half)")  # fmt: skip
    replay.add_argument("--runs", type=int, default=100, help="runs per policy, each with the columns in another "
                        "order (100)")  # fmt: skip
    replay.add_argument("--paths", choices=PATHS, default="recorded", help="rows of a run: all as recorded, "
                        "consecutive ones from a random start, or resampled blocks (recorded)")  # fmt: skip
    replay.add_argument("--length", type=int, metavar="ROWS", help="rows of a run from a random start (half)")
    replay.add_argument("--block", type=float, help="mean block length in rows (chosen from the data)")
    replay.add_argument(
        "--tear-sheet", metavar="POLICY", help="also write the quantstats report on this policy or benchmark"
    )
    replay.add_argument("--seed", type=int, default=0)
    replay.add_argument("--out", type=Path, help="folder for report, figures and data (out/replay-<file name>)")
    replay.set_defaults(do=_replay)


def _replay(options: argparse.Namespace) -> None:
    from ...report.document import check_libraries
    from ...returns.replay import replay

    check_libraries()
    returns = data.read(options)
    names = (
        "L", "runs", "seed", "cost_aware", "every", "hold", "top", "warm_up", "lag", "budget", "paths", "length",
        "block",
    )  # fmt: skip
    feedback: Feedback = "full" if options.full_feedback else "bandit"
    cost = _costs(options, returns.names)
    played = replay(returns, options.policies, feedback=feedback, cost=cost, **data.given(options, *names))
    out = options.out or Path("out") / f"replay-{options.file.stem}"
    data.present(played, out)
    if options.tear_sheet is not None:
        played.tear_sheet(options.tear_sheet, out / "tear_sheet.html")
        print(f"saved: {out / 'tear_sheet.html'}")


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
