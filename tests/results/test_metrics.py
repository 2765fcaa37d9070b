"""Numbers with their uncertainty, against published values and other libraries."""

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from sharpe_bandits.results import metrics

#: Newcombe, Two-sided confidence intervals for the single proportion, Statistics in Medicine 17 (1998), table I,
#: method 3 (Wilson's score interval), 95%.
NEWCOMBE = [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)]


@pytest.mark.parametrize(("count", "runs", "low", "high"), NEWCOMBE)
def test_wilson_interval_is_the_published_one(count, runs, low, high):
    estimate = metrics.wilson(count, runs, 0.95)
    assert (estimate.low, estimate.high) == pytest.approx((low, high), abs=5.1e-5)
    assert estimate.mean == count / runs


@given(st.integers(1, 500), st.data(), st.floats(0.5, 0.999))
def test_wilson_interval_is_scipys(runs, data, confidence):
    count = data.draw(st.integers(0, runs))
    estimate = metrics.wilson(count, runs, confidence)
    interval = scipy.stats.binomtest(count, runs).proportion_ci(confidence, method="wilson")
    assert (estimate.low, estimate.high) == pytest.approx((interval.low, interval.high), abs=1e-12)


def test_an_error_that_never_occurs_has_an_interval_from_0():
    assert metrics.wilson(0, 50, 0.95).low == 0.0
    assert metrics.wilson(50, 50, 0.95).high == 1.0


@given(
    totals=st.lists(st.floats(-50, 50), min_size=4, max_size=30),
    size=st.integers(1, 5),
    last=st.integers(1, 5),
)
def test_batch_means_are_the_naive_ratio(totals, size, last):
    """Mean over runs, and the standard error of a mean of batches that differ in size (the last may be smaller)."""
    sizes = np.full(len(totals), size)
    sizes[-1] = min(last, size)
    curve = metrics.batch_means(np.array(totals)[:, None], sizes, np.array([1]), 0.95)
    mean = math.fsum(totals) / sizes.sum()
    squares = math.fsum((total - n * mean) ** 2 for total, n in zip(totals, sizes.tolist(), strict=True))
    b = len(totals)
    assert curve.mean[0] == pytest.approx(mean, abs=1e-12)
    assert curve.se[0] == pytest.approx(math.sqrt(b / (b - 1) * squares) / sizes.sum(), abs=1e-9)
    if sizes[-1] == size:  # equal batches: the usual error of a mean of batch means
        batches = np.array(totals) / size
        assert curve.se[0] == pytest.approx(batches.std(ddof=1) / math.sqrt(b), abs=1e-9)


def test_estimates_print_themselves():
    assert f"{metrics.Estimate(1.0, 0.25, 0.5, 1.5):.2f}" == "1.00 ± 0.25 [0.50, 1.50]"


def test_runs_that_are_all_alike_have_no_standard_error():
    totals = np.full((7, 1), 0.1 + 0.2) * np.array([3, 3, 3, 3, 3, 3, 2])[:, None]
    curve = metrics.batch_means(totals, np.array([3, 3, 3, 3, 3, 3, 2]), np.array([10]), 0.95)
    assert curve.se[0] == 0.0
    assert curve.low[0] == curve.high[0] == curve.mean[0]
    assert repr(curve).startswith("<Curve of 1 points from t = 10 to 10, where it is 0.3 ")
