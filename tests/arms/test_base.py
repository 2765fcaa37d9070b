"""Arms compare by value, and rewards beyond the supported magnitude are refused."""

import pytest
import scipy.stats

import sharpe_bandits as sb


def test_arms_compare_by_value():
    assert sb.Uniform(0, 1) == sb.Uniform(0, 1)
    assert sb.Uniform(0, 1) != sb.Uniform(0, 2)
    assert sb.arms.Scipy(scipy.stats.norm(1, 2)) == sb.arms.Scipy(scipy.stats.norm(1, 2))
    assert sb.arms.Scipy(scipy.stats.norm(1, 2)) != sb.arms.Scipy(scipy.stats.norm(1, 3))


@pytest.mark.parametrize("arm", [sb.Uniform(-1e308, 1e308), sb.arms.Constant(1e200)], ids=["uniform", "constant"])
def test_rewards_beyond_the_supported_magnitude_are_refused(arm):
    with pytest.raises(sb.errors.InvalidInputError, match=r"rewards beyond 1e\+18.*divide all rewards"):
        sb.Bandit([arm, sb.arms.Constant(0.0)])


@pytest.mark.parametrize(
    "make",
    [
        lambda: sb.Uniform(0, 1e80), lambda: sb.Uniform(-1.7e308, 1.7e308), lambda: sb.Normal(0, variance=1e300),
        lambda: sb.Normal(1e200, variance=1), lambda: sb.arms.Gamma(1e100, 1e100), lambda: sb.Beta(5e-324, 5e-324),
        lambda: sb.arms.GARCH(0, 1e200, 0.1, 0.1), lambda: sb.arms.AR1(0, 1e300, 0.5),
        lambda: sb.arms.TruncatedNormal(0, 5e-324, 1, 2), lambda: sb.arms.Constant(1e300),
    ],
)  # fmt: skip
def test_moments_beyond_the_supported_magnitude(make):
    arm = make()
    for ask in (lambda: arm.checked_moments, lambda: sb.Bandit([arm, sb.arms.Constant(1.0)])):
        with pytest.raises(sb.errors.InvalidInputError, match=r"1e\+18.*divide all rewards"):
            ask()


@pytest.mark.parametrize("make", [lambda x: sb.Empirical([x, -x]), lambda x: sb.Tape([[0.0, x], [1.0, 2.0]])])
def test_recorded_rewards_beyond_the_supported_magnitude(make):
    make(1e18)
    with pytest.raises(sb.errors.InvalidInputError, match=r"at most 1e\+18.*got 2e\+18; divide all rewards"):
        make(2e18)
