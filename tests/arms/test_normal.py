"""Truncated normal rewards: moments everywhere, far out in the tail too."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sharpe_bandits as sb
from tests.arms.moments import assert_equal, moments, quadrature


@given(mean=st.floats(-10, 10), variance=st.floats(0.05, 20), start=st.floats(-6, 6), width=st.floats(0.05, 20))
def test_truncated_normals_everywhere(mean, variance, start, width):
    sd = math.sqrt(variance)
    low, high = mean + start * sd, mean + (start + width) * sd
    nearest = min(max(mean, low), high)
    cuts = np.linspace(low, min(high, max(mean, low) + 40 * sd), 25)
    expected = quadrature(lambda x: np.exp(((nearest - mean) ** 2 - (x - mean) ** 2) / (2 * variance)), cuts)
    assert_equal(moments(sb.arms.TruncatedNormal(mean, variance, low, high)), expected, 1e-9)


def test_a_truncated_normal_far_out_is_exponential():
    """Beyond a = 1e5 deviations the excess over a is exponential of mean 1/a, up to 1/a^2: 1/a, 1/a^2, 2/a^3, 9/a^4."""
    arm = sb.arms.TruncatedNormal(0, 1, -1e6, -1e5)
    assert arm.mean == pytest.approx(-1e5 - 1e-5, rel=1e-15)
    assert arm.variance == pytest.approx(1e-10, rel=1e-9)
    assert arm.moments().third == pytest.approx(-2e-15, rel=1e-9)
    assert arm.moments().fourth == pytest.approx(9e-20, rel=1e-9)


@pytest.mark.parametrize(
    "make", [lambda: sb.Normal(0, 1), lambda: sb.Normal(0), lambda: sb.Normal(0, variance=4, sd=2)]
)
def test_a_normal_arm_says_which_spread_it_is_given(make):
    """numpy and scipy mean a standard deviation by the second number, the paper a variance."""
    with pytest.raises(sb.errors.InvalidInputError, match=r"either its variance or its standard deviation.*sd=2"):
        make()
    assert sb.Normal(0, sd=2) == sb.Normal(0, variance=4)
