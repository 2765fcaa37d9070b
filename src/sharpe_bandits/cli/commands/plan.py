"""``sharpe-bandits plan``: how many rounds it takes to find the best arm, or the error probability at a budget."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from ...errors import InvalidInputError
from ...returns.yardstick import CriterionName
from . import cluster
from . import options as data

if TYPE_CHECKING:
    from ...planning import BestArmProblem


def add(plan: argparse.ArgumentParser) -> None:
    """Add the arms, the question, and how to read a table."""
    plan.add_argument(
        "--out",
        type=Path,
        default=Path("out/plan"),
        metavar="FOLDER",
        help="folder of plan.html, .csv, .json, .svg and .png",
    )
    arms = plan.add_argument_group("arms, by their annualised Sharpe ratios or from a table")
    arms.add_argument("--arms", type=int, metavar="K", help="number of arms, with --best-sharpe and --gap")
    arms.add_argument("--best-sharpe", type=float, metavar="S", help="Sharpe ratio of the best arm")
    arms.add_argument("--gap", type=float, help="gap between the best Sharpe ratio and that of all other arms")
    arms.add_argument("--sharpes", type=float, nargs="+", metavar="S", help="instead: Sharpe ratio of each arm")
    arms.add_argument(
        "--volatility", type=float, nargs="+", metavar="V", help="annualised volatility: one, or one per arm (0.15)"
    )
    arms.add_argument("--correlation", type=float, default=0.0, metavar="C", help="correlation of every arm with a "
                      "benchmark that is seen in every period")  # fmt: skip
    question = plan.add_argument_group("question")
    what = question.add_mutually_exclusive_group()
    what.add_argument("--error", type=float, metavar="P", help="accepted probability of a wrong choice (0.05)")
    what.add_argument("--budget", type=int, nargs="+", metavar="N", help="instead: report the error at these budgets")
    what.add_argument("--years", type=float, nargs="+", metavar="Y", help="the same in years, a round per period")
    question.add_argument(
        "--tolerance",
        type=float,
        default=0.0,
        metavar="S",
        help="any arm whose annualised Sharpe ratio is within this of the best one's is a right choice",
    )
    question.add_argument(
        "--objective", choices=get_args(CriterionName), help="criterion of the best arm (sharpe; mean-risk for costs)"
    )
    question.add_argument(
        "--aversion",
        type=float,
        default=1.0,
        metavar="A",
        help="mean that a unit of standard deviation is worth, for mean-risk",
    )
    question.add_argument("--L", type=float, help="regulariser (of RSSR: a tenth of the smallest variance per period)")
    work = plan.add_argument_group("simulation")
    work.add_argument(
        "--bootstrap",
        action="store_true",
        help="resample the table in blocks for all methods; by default those that see one arm at a time get normal "
        "rewards with the same moments",
    )
    work.add_argument("--block", type=float, metavar="ROWS", help="mean block length (chosen from the data)")
    work.add_argument("--max-budget", type=int, default=10_000_000, metavar="N", help="largest budget to try")
    work.add_argument(
        "--runs", type=int, metavar="N", help="runs per budget (enough for a standard error of a tenth of --error)"
    )
    work.add_argument("--seed", type=int, default=0, metavar="N", help="seed of everything random")
    cluster.add(work)
    data.add(plan, optional=True)
    plan.set_defaults(do=_plan)  # fmt: skip


def _plan(options: argparse.Namespace) -> int:
    from ...planning import plan
    from ...report.document import check_libraries

    check_libraries()
    problem = _problem(options)
    with cluster.workers(options) as who:
        result = plan(
            problem,
            error=options.error,
            budget=_budget(options, problem),
            runs=options.runs,
            max_budget=options.max_budget,
            seed=options.seed,
            say=(lambda text: print(text, file=sys.stderr, flush=True)) if sys.stderr.isatty() else None,
            **who,
        )
    data.present(result, options, options.out)
    if result.needs and all(need.rounds is None for need in result.needs):
        print(f"sharpe-bandits: no method reaches an error of {result.target:g} within {result.max_budget:,} "
              "rounds; raise --max-budget or --error", file=sys.stderr)  # fmt: skip
        return 1
    return 0


def _problem(options: argparse.Namespace) -> BestArmProblem:
    from ...planning import BestArmProblem
    from ...planning.problem import PERIODS, VOLATILITY

    by_gap = {"--arms": options.arms, "--best-sharpe": options.best_sharpe, "--gap": options.gap}
    ways = {
        "--arms, --best-sharpe and --gap": any(value is not None for value in by_gap.values()),
        "--sharpes": options.sharpes is not None,
        "a FILE": options.file is not None,
    }
    if sum(ways.values()) != 1:
        given = " together with ".join(way for way, there in ways.items() if there) or "none of them"
        raise InvalidInputError(f"give the arms by one of: {'; '.join(ways)}. Got {given}")
    goal: dict[str, Any] = {"objective": options.objective, "L": options.L, "tolerance": options.tolerance}
    if ways["a FILE"]:
        _unused(options, "without a FILE", volatility=None, correlation=0.0)
        lacking = [f"--{k.replace('_', '-')}" for k in ("kind", "periods_per_year") if getattr(options, k) is None]
        if lacking:
            raise InvalidInputError(f"a table needs {' and '.join(lacking)}, which cannot be guessed")
        returns = data.read(options)
        return BestArmProblem.from_returns(returns, **data.given(options, "bootstrap", "block", "aversion"), **goal)
    reading = {name: default for name, default in data.READING.items() if name != "periods_per_year"}
    reading |= {
        "kind": None,
        "annual_risk_free": 0.0,
        "risk_free_per_period": None,
        "bootstrap": False,
        "block": None,
        "aversion": 1.0,
    }
    _unused(options, "with a FILE", **reading)
    goal["objective"], goal["correlation"] = options.objective or "sharpe", options.correlation
    volatility = options.volatility or [VOLATILITY]
    goal["volatility"] = volatility[0] if len(volatility) == 1 else volatility
    goal["periods_per_year"] = PERIODS if options.periods_per_year is None else options.periods_per_year
    if ways["--sharpes"]:
        return BestArmProblem.from_sharpes(options.sharpes, **goal)
    lacking = [name for name, value in by_gap.items() if value is None]
    if lacking:
        raise InvalidInputError(f"the arms also need {' and '.join(lacking)}")
    return BestArmProblem.from_gap(options.arms, options.best_sharpe, options.gap, **goal)


def _unused(options: argparse.Namespace, where: str, **defaults: Any) -> None:
    for name, default in defaults.items():
        if getattr(options, name) != default:
            raise InvalidInputError(f"--{name.replace('_', '-')} is used only {where}; leave it out")


def _budget(options: argparse.Namespace, problem: BestArmProblem) -> list[int] | None:
    from ..._support.validation import positive

    if options.years is None:
        budget: list[int] | None = options.budget
        return budget
    return [round(positive("--years", years) * problem.periods_per_year) for years in options.years]
