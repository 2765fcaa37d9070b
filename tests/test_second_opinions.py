"""Other people's programs, where they compute the same: choice for choice, or digit for digit."""

import numpy as np
import pytest

import sharpe_bandits as sb


@pytest.mark.parametrize("seed", range(5))
def test_ucb1_chooses_as_mabwiser_does(seed):
    """Both play each arm once, then the largest index, on the same table of rewards."""
    mabwiser = pytest.importorskip("mabwiser.mab")
    rewards = np.random.default_rng(seed).normal([0.2, 0.5, 0.45, 0.1], 0.3, (600, 4))
    agent = sb.policies.UCB1().agent(arms=4)
    for arm in range(4):
        agent.tell(arm, rewards[arm, arm])
    theirs = mabwiser.MAB(list(range(4)), mabwiser.LearningPolicy.UCB1(alpha=1.0))
    theirs.fit(list(range(4)), [rewards[arm, arm] for arm in range(4)])
    for t in range(4, 600):
        arm = agent.ask()
        assert arm == theirs.predict(), t
        agent.tell(arm, rewards[t, arm])
        theirs.partial_fit([arm], [rewards[t, arm]])


def test_thompson_sampling_chooses_as_often_as_mabwiser_does():
    """The same 100 tosses of two coins: mabwiser draws from beta posteriors, which are close to our normal ones here.

    (SMPyBandits does not import with current versions of SciPy, and its Gaussian posterior has a standard deviation of
    1/n where 1/sqrt(n) is meant.)
    """
    mabwiser = pytest.importorskip("mabwiser.mab")
    tosses = np.array([[1.0] * 50 + [0.0] * 50, [1.0] * 56 + [0.0] * 44])
    draws = 600

    def ours(seed):
        agent = sb.policies.ThompsonSampling(variance=0.25).agent(arms=2, seed=seed)
        for arm in range(2):
            for reward in tosses[arm].tolist():
                agent.tell(arm, reward)
        return agent.ask()

    theirs = mabwiser.MAB([0, 1], mabwiser.LearningPolicy.ThompsonSampling(), seed=1)
    theirs.fit(np.repeat([0, 1], 100), tosses.ravel())
    share, other = np.mean([ours(seed) for seed in range(draws)]), np.mean([theirs.predict() for _ in range(draws)])
    assert 0.7 < other < 0.9
    assert share == pytest.approx(other, abs=4 * np.sqrt(2 * other * (1 - other) / draws))


def dependent(seed=3, rows=500):
    x = np.random.default_rng(seed).standard_t(5, rows) + 0.1
    x[1:] += 0.4 * x[:-1]
    return x


def test_standard_errors_of_dependent_series_are_those_of_statsmodels_and_arch():
    models = pytest.importorskip("statsmodels.api")
    kernels = pytest.importorskip("arch.covariance.kernel")
    from sharpe_bandits.returns.statistics import influence, se_of_mean, sharpe_se_hac

    x = dependent()
    n = len(x)
    for series, ours in ((x, se_of_mean(x, lags=6)), (influence(x), sharpe_se_hac(x, lags=6))):
        newey_west = {"maxlags": 6, "use_correction": False}
        fitted = models.OLS(series, np.ones(n)).fit(cov_type="HAC", cov_kwds=newey_west)
        assert ours == pytest.approx(fitted.bse[0] * np.sqrt(n / (n - 1)), rel=1e-10)
        long_run = np.asarray(kernels.Bartlett(series, bandwidth=6, df_adjust=0).cov.long_run).item()
        assert ours == pytest.approx(np.sqrt(long_run / (n - 1)), rel=1e-10)


def test_the_expected_maximum_of_trials_is_that_of_jsharpe():
    jsharpe = pytest.importorskip("jsharpe")
    from sharpe_bandits.returns import statistics

    for trials in (2, 10, 1000):
        theirs = jsharpe.expected_maximum_sharpe_ratio(trials, 0.3)
        assert statistics.expected_maximum(trials, 0.3) == pytest.approx(theirs, rel=1e-9)
    moments = {"skewness": -0.7, "kurtosis": 6.0}
    theirs = jsharpe.minimum_track_record_length(0.3, 0.1, gamma3=-0.7, gamma4=6.0, alpha=0.05)
    # They divide by n and take the variance under the null hypothesis; ours is that of Bailey and Lopez de Prado (2012).
    ours = statistics.track_record(0.3 - 0.1, statistics.se_from_moments(0.3, 2, **moments), 2)
    at_null, at_estimate = (statistics.se_from_moments(s, 2, **moments) ** 2 for s in (0.1, 0.3))
    assert (ours - 1) / theirs == pytest.approx(at_estimate / at_null, rel=1e-9)


@pytest.mark.parametrize("n", [40, 300, 5000])
def test_confidence_sequences_are_the_two_sided_normal_mixture(n):
    """What confseq (which does not build here) calls the two-sided normal mixture: Howard, Ramdas, McAuliffe and Sekhon
    (Annals of Statistics, 2021, proposition 5). The mixture is integrated numerically, and the boundary found by
    bisection, instead of by their closed form."""
    from scipy.integrate import quad
    from scipy.optimize import brentq
    from scipy.stats import norm

    rho, alpha = 300.0, 0.05

    def excess(s):
        """Log of the mixture of exp(lambda s - lambda^2 n / 2) over lambda ~ N(0, 1 / rho), above log(1 / alpha)."""
        peak = s / (n + rho)
        largest = peak * s - peak**2 * n / 2
        density = norm(0, rho**-0.5).pdf
        spread = 12 / np.sqrt(n + rho)
        value, _ = quad(lambda x: np.exp(x * s - x**2 * n / 2 - largest) * density(x), peak - spread, peak + spread)
        return np.log(value) + largest - np.log(1 / alpha)

    boundary = brentq(excess, 1.0, 10 * np.sqrt(n + rho))
    assert boundary == pytest.approx(np.sqrt((n + rho) * np.log((n + rho) / (rho * alpha**2))), rel=1e-8)
    x = np.random.default_rng(1).normal(0.2, 1.0, n)
    ours = sb.confidence_sequence(x, sb.Mean(), alpha=alpha)
    assert ours.high[-1] - ours.low[-1] == pytest.approx(2 * boundary * x.std(ddof=1) / n, rel=1e-8)


def test_autocorrelations_are_those_of_statsmodels():
    tools = pytest.importorskip("statsmodels.tsa.stattools")
    from sharpe_bandits.returns.statistics import autocorrelation

    rng = np.random.default_rng(3)
    x = rng.normal(size=500)
    x[1:] += 0.4 * x[:-1]
    expected = tools.acf(x, nlags=1, fft=False)[1]
    assert np.ravel(autocorrelation(x[:, None]))[0] == pytest.approx(expected, rel=1e-12)
