"""How often `compare` finds a difference between columns that have none: it should in 5% of tables, or fewer.

Normal AR(1) returns, all with the same Sharpe ratio of 0.1 per period and correlations of 0.3; a table counts if any
difference is significant at the 5% level after the correction. Run with: python examples/comparison_sizes.py [tables]
"""

import sys

import numpy as np

from sharpe_bandits.returns import statistics
from sharpe_bandits.returns.comparison import blocks_for_differences, listed_pairs
from sharpe_bandits.returns.pairwise import pairwise_tests
from sharpe_bandits.returns.yardstick import Yardstick

#: Columns, rows, autocorrelation.
CASES = [(2, 40, 0.0), (2, 60, 0.0), (2, 60, 0.4), (2, 120, 0.0), (2, 120, 0.4), (2, 500, 0.4),
         (10, 120, 0.0), (20, 120, 0.0), (20, 120, 0.4), (50, 120, 0.0), (50, 500, 0.0), (500, 120, 0.0)]  # fmt: skip
LEVEL, RESAMPLES = 0.05, 300


def returns(generator: np.random.Generator, columns: int, rows: int, rho: float) -> np.ndarray:
    """Columns with the same Sharpe ratio and pairwise correlations of 0.3."""
    noise = np.sqrt(0.7) * generator.normal(size=(rows + 50, columns))
    noise += np.sqrt(0.3) * generator.normal(size=(rows + 50, 1))
    for t in range(1, len(noise)):
        noise[t] = rho * noise[t - 1] + np.sqrt(1 - rho**2) * noise[t]
    return np.asarray(noise[50:] + 0.1)


def significant(case: tuple[int, int, float], tables: int) -> float:
    """Share of tables with a significant difference."""
    hits = 0
    for number in range(tables):
        x = returns(np.random.default_rng((number, *case[:2], round(100 * case[2]))), *case)
        pairs, chosen_afterwards = listed_pairs(statistics.sharpe(x), None)
        blocks = blocks_for_differences(x, 0.0, None)[1]
        tests = pairwise_tests(x, pairs, Yardstick(), blocks, RESAMPLES, number, 1 - LEVEL, chosen_afterwards)
        hits += min(test.p_corrected for test in tests) <= LEVEL
    return hits / tables


def main(tables: int = 500) -> None:
    print("| columns | rows | autocorrelation | significant at 5% | standard error of 5% |")
    print("|---:|---:|---:|---:|---:|")
    for case in CASES:
        columns, rows, rho = case
        count = tables if columns < 500 else max(tables // 3, 1)  # one takes seconds
        error = np.sqrt(LEVEL * (1 - LEVEL) / count)
        print(f"| {columns} | {rows:,} | {rho:g} | {significant(case, count):.1%} | {error:.1%} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
