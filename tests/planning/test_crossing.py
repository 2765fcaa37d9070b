"""Where a line of errors crosses the target: twins and scatter."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_ndtr, ndtr, ndtri

from sharpe_bandits.planning.crossing import fit


def test_a_line_is_found_again():
    budgets = np.array([800, 1000, 1300, 1700])
    runs = np.full(4, 10**9)
    line = fit(budgets, np.rint(runs * ndtr(0.7 - 0.07 * np.sqrt(budgets))), runs)
    assert line.intercept == pytest.approx(0.7, abs=1e-4)
    assert line.slope == pytest.approx(0.07, rel=1e-4)
    assert line.crossing(0.05).mean == pytest.approx(((0.7 + 1.6448536) / 0.07) ** 2, rel=1e-4)
    assert line.error(np.array([1000])).mean[0] == pytest.approx(ndtr(0.7 - 0.07 * math.sqrt(1000)), rel=1e-4)


def test_the_line_is_that_of_largest_likelihood():
    budgets, wrong, runs = np.array([500, 900, 1400, 4000]), np.array([70, 31, 9, 0]), np.array([400, 500, 600, 700])

    def surprise(c):  # half a run more on either side
        score = c[0] - c[1] * np.sqrt(budgets)
        return -((wrong + 0.5) * log_ndtr(score) + (runs - wrong + 0.5) * log_ndtr(-score)).sum()

    best = minimize(surprise, [0.0, 0.03], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-11}).x
    line = fit(budgets, wrong, runs)
    assert [line.intercept, line.slope] == pytest.approx(best, rel=1e-4)


def test_the_standard_error_is_the_scatter_of_crossings():
    rng = np.random.default_rng(5)
    budgets, runs = np.array([700, 1000, 1400]), np.array([1900, 1900, 1900])
    lines = [fit(budgets, rng.binomial(runs, ndtr(0.6 - 0.07 * np.sqrt(budgets))), runs) for _ in range(800)]
    found = np.array([line.crossing(0.05).mean for line in lines])
    # With one degree of freedom the widening is often more than 1, never less.
    bare = [line.crossing(0.05).se for line in lines]
    assert found.mean() == pytest.approx(((0.6 - ndtri(0.05)) / 0.07) ** 2, rel=0.01)
    assert np.quantile(bare, 0.2) == pytest.approx(found.std(), rel=0.1)  # most are not widened


def test_scatter_beyond_chance_widens_the_interval():
    budgets, runs = [700, 1000, 1400], [10_000] * 3
    smooth = fit(budgets, [1100, 600, 230], runs)
    rough = fit(budgets, [900, 900, 200], runs)
    assert rough.crossing(0.05).se > 3 * smooth.crossing(0.05).se


def test_a_budget_at_which_no_wrong_run_is_to_be_expected_says_nothing_of_the_scatter():
    """Pearson's statistic of a count that is 0 where a millionth of a run is expected would be of any size."""
    budgets, runs = [700, 1000, 1400], [40_000] * 3
    line = fit(budgets, [4400, 2400, 920], runs)
    far = fit([*budgets, 20_000], [4400, 2400, 920, 0], [*runs, 40_000])
    assert far.crossing(0.05).se == pytest.approx(line.crossing(0.05).se, rel=0.1)
    assert far.safe(0.05) == pytest.approx(line.safe(0.05), rel=0.02)


def test_no_line_without_a_fall():
    assert fit([100, 200], [10, 20], [100, 100]) is None
    assert fit([100, 100], [20, 10], [100, 100]) is None
