"""``sharpe-bandits plan``: how many rounds it takes to find the best arm, or the error probability at a budget."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from inspect import signature
from pathlib import Path
from typing import Any

from ..._support.validation import positive
from ...errors import InvalidInputError
from ...planning import BestArmProblem, plan
from ...report.document import check_libraries
from ...returns.table import read_returns
from ..parser import add_options, arguments
from . import cluster
from . import returns as data

_BY_GAP = {
    "--arms K": "number of arms, with --best-sharpe and --gap",
    "--best-sharpe S": "Sharpe ratio of the best arm",
    "--gap": "gap between the best Sharpe ratio and that of all other arms",
}
_BY_SHARPES = {
    "--sharpes S ...": "instead: Sharpe ratio of each arm",
    "--volatility V ...": "annualised volatility: one, or one per arm (0.15)",
    "--correlation C": "correlation of every arm with a benchmark that is seen in every period",
}
_QUESTION = {
    "--tolerance S": "any arm whose annualised Sharpe ratio is within this of the best one's is a right choice",
    "--objective": "criterion of the best arm (sharpe; mean-risk for costs)",
    "--aversion A": "mean that a unit of standard deviation is worth, for mean-risk",
    "--L": "regulariser (of RSSR: a tenth of the smallest variance per period)",
}
_FROM_TABLE = {
    "--block ROWS": "mean block length (chosen from the data)",
}
_WORK = {
    "--max-budget N": "largest budget to try",
    "--runs N": "runs per budget (enough for a standard error of a tenth of --error)",
    "--seed N": "seed of everything random",
}


def add(parser: argparse.ArgumentParser) -> None:
    files = "folder of plan.html, .csv, .json, .svg and .png"
    parser.add_argument("--out", type=Path, default=Path("out/plan"), metavar="FOLDER", help=files)
    arms = parser.add_argument_group("arms, by their annualised Sharpe ratios or from a table")
    add_options(arms, BestArmProblem.from_gap, _BY_GAP)
    add_options(arms, BestArmProblem.from_sharpes, _BY_SHARPES)
    question = parser.add_argument_group("question")
    what = question.add_mutually_exclusive_group()
    add_options(what, plan, {"--error P": "accepted probability of a wrong choice (0.05)"})
    add_options(what, plan, {"--budget N ...": "instead: report the error at these budgets"})
    what.add_argument("--years", type=float, nargs="+", metavar="Y", help="the same in years, a round per period")
    add_options(question, BestArmProblem.from_returns, _QUESTION)
    work = parser.add_argument_group("simulation")
    add_options(work, BestArmProblem.from_returns, _FROM_TABLE)
    add_options(work, plan, _WORK)
    cluster.add(work)
    data.add(parser, optional=True)
    parser.set_defaults(do=_plan)


def _plan(options: argparse.Namespace) -> int:
    check_libraries()
    problem = _problem(options)
    settings = arguments(plan, options)
    if options.years is not None:
        settings["budget"] = [round(positive("--years", years) * problem.periods_per_year) for years in options.years]
    with cluster.workers(options) as who:
        result = plan(problem, **{**settings, **who})
    data.present(result, options, options.out)
    if result.needs and all(need.rounds is None for need in result.needs):
        print(f"sharpe-bandits: no method reaches an error of {result.target:g} within {result.max_budget:,} "
              "rounds; raise --max-budget or --error", file=sys.stderr)  # fmt: skip
        return 1
    return 0


def _problem(options: argparse.Namespace) -> BestArmProblem:
    by_gap = {"--arms": options.arms, "--best-sharpe": options.best_sharpe, "--gap": options.gap}
    ways = {
        "--arms, --best-sharpe and --gap": any(value is not None for value in by_gap.values()),
        "--sharpes": options.sharpes is not None,
        "a FILE": options.file is not None,
    }
    if sum(ways.values()) != 1:
        given = " together with ".join(way for way, there in ways.items() if there) or "none of them"
        raise InvalidInputError(f"give the arms by one of: {'; '.join(ways)}. Got {given}")
    if ways["a FILE"]:
        _refuse(options, "without a FILE", BestArmProblem.from_sharpes, ("volatility", "correlation"))
        lacking = [f"--{k.replace('_', '-')}" for k in ("kind", "periods_per_year") if getattr(options, k) is None]
        if lacking:
            raise InvalidInputError(f"a table needs {' and '.join(lacking)}, which cannot be guessed")
        return BestArmProblem.from_returns(data.read(options), **arguments(BestArmProblem.from_returns, options))
    _refuse(options, "with a FILE", read_returns, set(signature(read_returns).parameters) - {"periods_per_year"})
    only = ("annual_risk_free", "block", "aversion")
    _refuse(options, "with a FILE", BestArmProblem.from_returns, only)
    settings = {k: v for k, v in arguments(BestArmProblem.from_sharpes, options).items() if v is not None}
    if isinstance(options.volatility, list) and len(options.volatility) == 1:
        settings["volatility"] = options.volatility[0]
    if ways["--sharpes"]:
        return BestArmProblem.from_sharpes(**settings)
    lacking = [name for name, value in by_gap.items() if value is None]
    if lacking:
        raise InvalidInputError(f"the arms also need {' and '.join(lacking)}")
    return BestArmProblem.from_gap(options.arms, options.best_sharpe, options.gap, **settings)


def _refuse(options: argparse.Namespace, where: str, function: Callable[..., Any], names: Iterable[str]) -> None:
    """Raise for the first of these parameters of a function that is not at its default."""
    parameters = signature(function).parameters
    for name in sorted(names, key=list(parameters).index):
        default = parameters[name].default
        if getattr(options, name, default) not in (None, default):
            raise InvalidInputError(f"--{name.replace('_', '-')} is used only {where}; leave it out")
