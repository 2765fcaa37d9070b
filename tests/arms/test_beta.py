"""Beta rewards: shapes that cannot be told from a normal distribution, and quantiles that overflow."""

import pytest
import scipy.special
import scipy.stats

import sharpe_bandits as sb


@pytest.mark.parametrize("shapes", [(1e31, 1e67), (1e67, 1e31), (1e300, 1e300), (1.1e8, 1.1e8)])
def test_a_beta_arm_that_is_as_good_as_normal(shapes):
    with pytest.raises(sb.errors.InvalidInputError, match=r"cannot be distinguished from a normal.*use a Normal"):
        sb.Beta(*shapes)
    sb.Beta(1e8, 1e20).draws()


def test_quantiles_that_overflow():
    with pytest.raises(sb.errors.InvalidInputError, match="not finite inside"):
        sb.Beta(5e-324, 7.0).draws()


@pytest.mark.parametrize("shapes", [(0.5, 2.0), (0.5, 5.0)])
def test_warnings_of_scipy_do_not_reach_the_user(shapes):
    """Here scipy warns of an overflow on its way to quantiles that are right (warnings are errors in these tests)."""
    drawn = sb.trace(sb.policies.RoundRobin(), [sb.Beta(*shapes)] * 2, horizon=4000, seed=1).rewards
    assert scipy.stats.kstest(drawn, lambda x: scipy.special.betainc(*shapes, x)).pvalue > 0.01
