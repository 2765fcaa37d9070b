"""Arms compare by value, and rewards beyond the supported magnitude are refused."""

import numpy as np
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
    for ask in (lambda: arm.variance, lambda: sb.Bandit([arm, sb.arms.Constant(1.0)])):
        with pytest.raises(sb.errors.InvalidInputError, match=r"1e\+18.*divide all rewards"):
            ask()


@pytest.mark.parametrize("make", [lambda x: sb.Empirical([x, -x]), lambda x: sb.Tape([[0.0, x], [1.0, 2.0]])])
def test_recorded_rewards_beyond_the_supported_magnitude(make):
    make(1e18)
    with pytest.raises(sb.errors.InvalidInputError, match=r"at most 1e\+18.*got 2e\+18; divide all rewards"):
        make(2e18)


def test_agents_and_regularisers_have_the_same_limits():
    agent = sb.UCBRSSR(L=1e36).agent(arms=2)
    agent.tell(0, -1e18)
    before = agent.to_json()
    with pytest.raises(sb.errors.InvalidInputError, match=r"at most 1e\+18.*divide all rewards.*nothing was recorded"):
        agent.tell(0, 1.1e18)
    assert agent.to_json() == before
    for make in (sb.UCBRSSR, sb.RSSR, sb.SHSR, sb.ScaleFreeUCB):
        with pytest.raises(sb.errors.InvalidInputError, match=r"L must be at most 1e\+36.*divide all rewards"):
            make(L=1e38)


@pytest.mark.parametrize("scale", [1e-12, 1e6, 1e17])
def test_at_the_limits_all_kernels_and_agents_choose_alike(scale):
    """The remedy: rewards divided by a power of ten, and L by its square, are chosen alike."""
    policy = sb.ScaleFreeUCB(L=0.1 * scale**2)
    bandit = sb.Tape(scale * np.random.default_rng(5).normal(0.5, 1.0, (3, 120)))
    kernels = ("lazy", "side by side", "reference")
    runs = [sb.trace(policy, bandit, horizon=100, kernel=kernel) for kernel in kernels]
    agent = policy.agent(arms=3)
    for arm, reward in zip(runs[0].choices.tolist(), runs[0].rewards.tolist(), strict=True):
        assert agent.ask() == arm
        agent.tell(arm, reward)
    for run in runs[1:]:
        assert run.choices.tolist() == runs[0].choices.tolist()
