"""Distributions of scipy as arms: moments that are infinite, and distributions that scipy cannot compute."""

import math

import pytest
import scipy.stats

import sharpe_bandits as sb
from tests.messages import says


def test_an_infinite_fourth_moment_is_said_to_be_infinite():
    """Student's t with 4 degrees of freedom has variance 2 and no fourth moment."""
    arm = sb.arms.Scipy(scipy.stats.t(4))
    assert arm.variance == 2.0
    assert arm.moments().fourth == math.inf


@pytest.mark.parametrize(
    ("law", "mean", "variance"),
    [
        (scipy.stats.gamma(1e17), 1e17, 1e17),
        (scipy.stats.gamma(0.4), 0.4, 0.4),
        (scipy.stats.beta(0.5, 0.5), 0.5, 0.125),
    ],
)
def test_a_density_too_rough_or_singular_for_quadrature(law, mean, variance):
    """What scipy knows of its moments is right where its density is not."""
    arm = sb.arms.Scipy(law)
    assert (arm.mean, arm.variance) == pytest.approx((mean, variance), rel=1e-12)


@pytest.mark.parametrize(
    ("frozen", "message"),
    [
        (scipy.stats.norm([0, 1], 1), "scipy cannot compute norm.*TypeError"),
        (scipy.stats.norm(0, math.nan), "variance nan"),
        (scipy.stats.lognorm(30), "variance inf"),
    ],
)
def test_distributions_that_scipy_cannot_compute(frozen, message):
    with pytest.raises(sb.errors.InvalidInputError, match=message):
        sb.arms.Scipy(frozen)


def test_discrete_distributions_off_the_whole_numbers_are_refused():
    """Its values 0.5 and 1.7 are not one apart; to draw as if they were would be silently wrong."""
    odd = scipy.stats.rv_discrete(values=([0.5, 1.7], [0.5, 0.5]))()
    with pytest.raises(
        sb.errors.InvalidInputError, match=says("values other than 0.5, 1.5", "have only 0.5", "Empirical")
    ):
        sb.trace(sb.policies.UCB1(), [odd, sb.Uniform(0, 1)], horizon=10)
