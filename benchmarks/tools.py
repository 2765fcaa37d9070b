"""(i) What people wait for: ranking and replaying a table of returns, and planning; and how that grows."""

from __future__ import annotations

from typing import Any

import numpy as np

import sharpe_bandits as sb

from .settings import Sizes
from .timing import Contender, take_turns

#: Rows and columns of the table that the others are compared with.
ROWS, COLUMNS = 2_500, 10


def returns(rows: int, columns: int) -> Any:
    """Daily returns of made-up strategies with heavy tails, some better than others."""
    drawn = np.random.default_rng(0).standard_t(5, (rows, columns)) * 0.01
    table = {f"s{i}": drawn[:, i] + 0.001 * i / columns for i in range(columns)}
    return sb.read_returns(table, kind="returns", periods_per_year=252)


def tools(sizes: Sizes) -> dict[str, Any]:
    """Seconds on the wall of ``rank``, ``replay`` and ``plan``, all cores, by the size of what they are given."""
    tables = [(rows, COLUMNS) for rows in sizes.tool_rows] + [(ROWS, columns) for columns in sizes.tool_columns]
    works: dict[str, Any] = {}
    for rows, columns in dict.fromkeys(tables):
        table, size = returns(rows, columns), f"{rows:,} rows, {columns} columns"
        works[f"rank, {size}"] = lambda table=table: sb.rank(table)
        works[f"replay of SF-UCB, 100 runs, {size}"] = lambda table=table: sb.replay(
            table, sb.ScaleFreeUCB(L=1e-5), runs=100
        )
    problem = sb.BestArmProblem.from_gap(8, best_sharpe=1.0, gap=3.0, volatility=0.15, periods_per_year=252)
    for error in sizes.plan_errors:
        works[f"plan, eight arms, error {error:g}"] = lambda error=error: sb.plan(problem, error=error, progress=False)
    timings = take_turns([Contender(name, 1, play, wall=True) for name, play in works.items()], sizes.tool_repetitions)
    return {name: [ns / 1e9 for ns in timing.nanoseconds] for name, timing in timings.items()}
