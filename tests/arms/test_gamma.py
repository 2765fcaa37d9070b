"""Truncated gamma rewards: moments of all shapes, the gaps of the paper, and an interval with nothing in it."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sharpe_bandits as sb
from tests.arms.moments import assert_equal, moments, truncated_gamma
from tests.messages import says


@given(
    shape=st.floats(0.2, 20.0), scale=st.floats(0.2, 5.0), low=st.floats(0.0, 1.5), width=st.floats(0.2, 4.0)
)  # fmt: skip
def test_truncated_gammas_of_all_shapes(shape, scale, low, width):
    a = low * shape * scale
    b = a + width * shape * scale
    actual, expected = moments(sb.arms.TruncatedGamma(shape, scale, a, b)), truncated_gamma(shape, scale, a, b)
    # Central moments from raw ones lose digits where the interval is narrow and far out.
    lost = (expected[0] / math.sqrt(expected[1])) ** 4
    assert_equal(actual, expected, 1e-9 + 1e-14 * lost)


def test_gaps_of_the_papers_truncated_gammas():
    """Panel R7: the true gaps of RSSR between Gamma(2, 2) and Gamma(2, 3) on [1, 10] are 0.69 and 0.68."""
    bandit = sb.Bandit([sb.arms.TruncatedGamma(2, 2, 1, 10), sb.arms.TruncatedGamma(2, 3, 1, 10)])
    for L, gap in ((0.5, 0.69), (1.0, 0.68)):
        assert sb.RSSR(L=L).gaps(
            sb.objectives.Statistics(mean=bandit.means, variance=bandit.variances)
        ).max() == pytest.approx(gap, abs=0.005)


def test_a_gamma_interval_with_nothing_in_it_is_refused():
    with pytest.raises(sb.errors.InvalidInputError, match="lies too far out"):
        _ = sb.arms.TruncatedGamma(2, 2, 1e5, 1e6).mean


def test_a_truncation_that_leaves_next_to_nothing_is_refused():
    bandit = sb.Bandit([sb.arms.TruncatedGamma(2, 1, 100, 101), sb.Uniform(0, 1)])
    with pytest.raises(sb.errors.InvalidInputError, match=says("[100.0, 101.0] holds only", "widen the interval")):
        sb.trace(sb.policies.UCB1(), bandit, horizon=10)
