"""Statistics of Sharpe ratios against hand-worked and published values, plain-Python twins and simulation."""

import importlib.util
import itertools
import math
import statistics as plain
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from scipy.signal import lfilter

import sharpe_bandits as sb
from sharpe_bandits.returns import statistics
from sharpe_bandits.returns.yardstick import Yardstick


def deflated(sharpe, se, *, trials, variance):
    return statistics.probabilistic_sharpe(sharpe, se, statistics.expected_maximum(trials, variance))


@pytest.fixture(scope="module")
def skewed():
    """Two columns of skewed, heavy-tailed returns."""
    g = np.random.default_rng(5)
    return np.column_stack([g.gamma(2.0, 0.01, 300) - 0.015, 0.01 * g.standard_t(5, 300)])


def test_sharpe_by_hand():
    """Mean 0.02, squares of deviations 0.0001 + 0 + 0.0001 over 2."""
    assert statistics.sharpe([0.01, 0.02, 0.03]) == pytest.approx(2.0)
    assert statistics.sharpe([0.01, 0.02, 0.03], risk_free_per_period=0.005) == pytest.approx(1.5)


def test_columns_are_treated_alone(skewed):
    for function in (statistics.sharpe, statistics.sharpe_se_iid, statistics.sharpe_se_hac, statistics.drawdown):
        both = function(skewed)
        assert both.shape == (2,)
        for k in range(2):
            alone = function(skewed[:, k])
            assert isinstance(alone, float)
            assert alone == pytest.approx(both[k], rel=1e-12)


def test_standard_error_against_scipys_moments(skewed):
    for x in skewed.T:
        sr = (plain.fmean(x) - 0.001) / plain.stdev(x)
        square = 1 - scipy.stats.skew(x) * sr + (scipy.stats.kurtosis(x, fisher=False) - 1) / 4 * sr**2
        assert statistics.sharpe_se_iid(x, risk_free_per_period=0.001) == pytest.approx(
            math.sqrt(square / (len(x) - 1)), rel=1e-12
        )


@pytest.mark.parametrize(("sharpe", "rows", "se"), [(1.5, 60, 0.188), (0.5, 12, 0.306), (3.0, 12, 0.677)])
def test_standard_errors_of_lo(sharpe, rows, se):
    """Lo (2002), table 1: independent normal returns; it divides by n where the others divide by n - 1."""
    assert statistics.se_from_moments(sharpe, rows + 1) == pytest.approx(se, abs=6e-4)


def test_standard_error_is_the_spread_of_sharpe_ratios():
    """20,000 samples of 200 skewed returns: the standard error is right to a few per cent, the normal one is not."""
    g = np.random.default_rng(1)
    x = 0.5 - g.exponential(1.0, (200, 20_000)) + 1.0
    spread = np.std((x.mean(axis=0)) / x.std(axis=0, ddof=1))
    assert np.mean(statistics.sharpe_se_iid(x)) == pytest.approx(spread, rel=0.05)
    assert abs(statistics.se_from_moments(0.5, 200) / spread - 1) > 0.2


# --- autocorrelation ------------------------------------------------------------------------------------------------


def twin_hac(x, lags=None):
    """The long-run variance of the influence function, in loops: Newey and West's, prewhitened without ``lags``."""
    n = len(x)
    mean, sd = plain.fmean(x), plain.pstdev(x)
    sr = mean / plain.stdev(x)
    z = [(v - mean) / sd for v in x]
    parts = [v - sr * (v * v - 1) / 2 for v in z]
    average = plain.fmean(parts)
    parts = [v - average for v in parts]
    phi = 0.0
    if lags is None:
        phi = sum(parts[t] * parts[t - 1] for t in range(1, n)) / sum(v * v for v in parts)
        parts = [parts[t] - phi * parts[t - 1] for t in range(1, n)]
        average = plain.fmean(parts)
        parts = [v - average for v in parts]
    m = len(parts)
    gamma = [sum(parts[t] * parts[t - j] for t in range(j, m)) / m for j in range(60)]
    if lags is None:
        first = int(4 * (m / 100) ** (2 / 9))
        s0 = gamma[0] + 2 * sum(gamma[1 : first + 1])
        s1 = 2 * sum(j * gamma[j] for j in range(1, first + 1))
        lags = min(int(1.1447 * ((s1 / s0) ** 2) ** (1 / 3) * m ** (1 / 3)), int(12 * (m / 100) ** 0.25))
    total = gamma[0] + 2 * sum((1 - j / (lags + 1)) * gamma[j] for j in range(1, lags + 1))
    return math.sqrt(total / (1 - phi) ** 2 / (n - 1))


def ar1(rho, shape, seed):
    """Normal AR(1) of variance 1 along the first axis."""
    g = np.random.default_rng(seed)
    x = np.empty(shape)
    x[0] = g.normal(size=shape[1:])
    for t in range(1, shape[0]):
        x[t] = rho * x[t - 1] + math.sqrt(1 - rho**2) * g.normal(size=shape[1:])
    return x


@pytest.mark.parametrize("lags", [None, 0, 1, 7])
@pytest.mark.parametrize("rho", [-0.4, 0.0, 0.6])
def test_hac_against_its_twin(rho, lags):
    x = 0.1 + ar1(rho, (250,), 3)
    assert statistics.sharpe_se_hac(x, lags=lags) == pytest.approx(twin_hac(list(x), lags), rel=1e-10)


def test_without_lags_it_is_the_standard_error_of_independent_returns(skewed):
    assert statistics.sharpe_se_hac(skewed, 0.001, lags=0) == pytest.approx(statistics.sharpe_se_iid(skewed, 0.001))


def test_hac_finds_the_error_under_autocorrelation():
    """The long-run variance of an AR(1) is (1 + ρ)/(1 − ρ); for its square, with ρ² (a Gaussian process)."""
    rho, sharpe = 0.3, 0.2
    x = sharpe + ar1(rho, (100_000,), 7)
    true = (1 + rho) / (1 - rho) + sharpe**2 / 2 * (1 + rho**2) / (1 - rho**2)
    assert statistics.sharpe_se_hac(x) == pytest.approx(math.sqrt(true / len(x)), rel=0.04)
    assert statistics.sharpe_se_iid(x) < 0.8 * math.sqrt(true / len(x))


def test_annualised():
    assert statistics.annualised(0.1, 252) == pytest.approx(1.5875, abs=1e-4)
    assert statistics.annualised(np.array([0.1, -0.2]), 4) == pytest.approx([0.2, -0.4])


@pytest.mark.parametrize("rho", [-0.2, 0.2, 0.9])
def test_annualised_under_autocorrelation(rho):
    """Lo (2002), the closed form for an AR(1), from monthly to annual."""
    q = 12
    closed = math.sqrt(q) / math.sqrt(1 + 2 * rho / (1 - rho) * (1 - (1 - rho**q) / (q * (1 - rho))))
    lags = [rho**k for k in range(1, 30)]  # those that reach beyond a year do not count
    assert statistics.annualised(1.0, q, lags) == pytest.approx(closed, rel=1e-12)


def test_annualised_is_the_sharpe_ratio_of_sums():
    """Blocks of 4 of an MA(1) with autocorrelation 0.5 / 1.25: the variance of a sum is 4 + 2 · 3 · 0.4."""
    assert statistics.annualised(0.5, 4, [0.4]) == pytest.approx(4 * 0.5 / math.sqrt(4 + 2.4))


def test_rates():
    assert statistics.per_period(0.21, 2) == pytest.approx(0.1)
    with pytest.raises(sb.errors.InvalidInputError, match="above 0, got -1"):
        statistics.per_period(-2, 12)


# --- drawdown, published ratios -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "loss"),
    [
        ([0.1, 0.1], 0.0),
        ([-0.5, 0.5], 0.5),  # from the beginning
        ([1.0, -0.5, 0.5, -0.5], 0.625),  # 2, 1, 1.5, 0.75
        ([0.1, -1.0, 0.5], 1.0),
    ],
)
def test_drawdown_by_hand(x, loss):
    assert statistics.drawdown(x) == pytest.approx(loss)


def test_probabilistic_sharpe_ratio_of_its_authors():
    """Bailey and López de Prado (2012): 24 months, 0.458 a month; 0.982 if normal, 0.913 in truth."""
    normal, real = (statistics.se_from_moments(0.458, 24, *m) for m in ((0, 3), (-2.448, 10.164)))
    assert statistics.probabilistic_sharpe(0.458, normal) == pytest.approx(0.982, abs=5e-4)
    assert statistics.probabilistic_sharpe(0.458, real) == pytest.approx(0.913, abs=5e-4)


@pytest.mark.parametrize(("q", "years"), [(252, 2.73), (52, 2.83), (12, 3.24)])
def test_minimum_track_record_of_its_authors(q, years):
    """Bailey and López de Prado (2012): years for an annual Sharpe ratio of 2 to be above 1 at 95%."""
    se = statistics.se_from_moments(2 / math.sqrt(q), 2)
    found = statistics.track_record(1 / math.sqrt(q), se, rows=2) / q
    assert found == pytest.approx(years, abs=5e-3)


def test_a_record_of_the_minimum_length_just_suffices():
    n = statistics.track_record(0.2, statistics.se_from_moments(0.2, 60, -1.0, 7.0), 60, confidence=0.9)
    se = statistics.se_from_moments(0.2, n, -1.0, 7.0)
    assert statistics.probabilistic_sharpe(0.2, se) == pytest.approx(0.9)


def test_deflated_sharpe_ratio_of_its_authors():
    """Bailey and López de Prado (2014): 1,250 days, 2.5 a year, variance 1/2 among 100 trials (250 days a year)."""
    sharpe, variance = 2.5 / math.sqrt(250), 0.5 / 250
    se = statistics.se_from_moments(sharpe, 1250, -3, 10)
    assert statistics.expected_maximum(100, variance) == pytest.approx(0.1132, abs=5e-5)
    assert deflated(sharpe, se, trials=100, variance=variance) == pytest.approx(0.9004, abs=5e-5)
    assert deflated(sharpe, se, trials=46, variance=variance) == pytest.approx(0.9505, abs=5e-5)
    normal = statistics.se_from_moments(sharpe, 1250)
    assert deflated(sharpe, normal, trials=88, variance=variance) == pytest.approx(0.9505, abs=5e-5)


def test_the_expected_maximum_is_about_that_of_normals():
    draws = np.random.default_rng(2).normal(0, 0.3, (20_000, 50)).max(axis=1)
    error = draws.std() / math.sqrt(len(draws))
    assert statistics.expected_maximum(50, 0.09) == pytest.approx(draws.mean(), abs=4 * error + 0.01 * draws.mean())


def test_one_trial_is_not_deflated():
    one = deflated(0.1, 0.05, trials=1, variance=0.4)
    assert one == statistics.probabilistic_sharpe(0.1, 0.05) == pytest.approx(0.97725, abs=1e-5)


# --- trials -----------------------------------------------------------------------------------------------------------


def equicorrelated(columns, rho, rows=1000, seed=0):
    """Columns without skill, whose own correlation is exactly rho."""
    noise = np.random.default_rng(seed).normal(size=(rows, columns))
    noise -= noise.mean(axis=0)
    noise = noise @ np.linalg.inv(np.linalg.cholesky(noise.T @ noise / (rows - 1))).T
    return noise @ np.linalg.cholesky(np.full((columns, columns), rho) + (1 - rho) * np.eye(columns)).T


@pytest.mark.parametrize(("columns", "rho"), [(20, 0.0), (20, 0.5), (100, 0.9), (2, 0.3)])
def test_effective_trials_have_the_same_largest_sharpe_ratio(columns, rho):
    """As many independent normal numbers have the expected maximum of the correlated ones, by simulation."""
    chosen = statistics.selection(equicorrelated(columns, rho))
    assert chosen.correlation == pytest.approx(rho, abs=1e-9)
    g = np.random.default_rng(1)
    shared, own = g.normal(size=(40_000, 1)), g.normal(size=(40_000, columns))
    largest = (math.sqrt(rho) * shared + math.sqrt(1 - rho) * own).max(axis=1)
    se = largest.std() / 200
    n, gamma, quantile = chosen.effective, np.euler_gamma, scipy.stats.norm.ppf
    formula = (1 - gamma) * quantile(1 - 1 / n) + gamma * quantile(1 - 1 / (n * math.e))
    assert formula == pytest.approx(largest.mean(), abs=4 * se + 0.05)  # the formula is off by 0.05 for two
    assert 1 <= chosen.effective <= columns + 1e-9


def test_the_spread_of_trials():
    """At least what chance makes of it, (1 - rho)/(n - 1); what columns show beyond that; or what is known."""
    alike = statistics.selection(equicorrelated(10, 0.6))
    assert alike.given == pytest.approx(0, abs=1e-20)  # all their means are 0
    # independent rows, as far as their autocorrelation can be estimated
    assert alike.variance == alike.sampling == pytest.approx(0.4 / 999, rel=0.15)
    assert alike.sampling >= 0.4 / 999 * (1 - 1e-9)
    skill = statistics.selection(equicorrelated(10, 0.6) + np.linspace(0, 0.5, 10))
    assert skill.variance == skill.given == pytest.approx(np.var(np.linspace(0, 0.5, 10), ddof=1), rel=1e-6)
    known = statistics.selection(equicorrelated(10, 0.6), 50, variance=0.03)
    assert known.variance == 0.03
    assert known.expected_maximum == statistics.expected_maximum(50, 0.03)
    # Of 50 trials 10 are known to be alike: 90 of 2,450 pairs have a correlation, the others are taken to have none.
    assert known.correlation == pytest.approx(0.6 * 90 / 2450)
    alone = statistics.selection(np.random.default_rng(0).normal(size=100), 30)
    assert (alone.correlation, alone.effective) == (0, pytest.approx(30))
    assert 1 / 99 <= alone.variance < 1.3 / 99
    with pytest.raises(
        sb.errors.InvalidInputError, match="trials must be a whole number from 10 to 1000000000000, got 9"
    ):
        statistics.selection(equicorrelated(10, 0.6), 9)


def test_survivors_of_many_trials_do_not_pass_for_skill():
    """The best 5 of 100 without skill: in half of the samples by the spread of those given, in none by that of all."""
    spec = importlib.util.spec_from_file_location("deflated", Path(__file__).parents[2] / "examples/deflated_sharpe.py")
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    plain, of_given, here, effective = example.passed((100, 5, 0.0, 500), 150)
    assert plain > 0.9
    assert 0.3 < of_given < 0.7
    assert here <= 0.05
    assert effective == pytest.approx(100, abs=1)
    assert example.passed((2, 2, 0.8, 200), 400)[2] <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 400)


# --- lags -------------------------------------------------------------------------------------------------------------


def test_a_negative_pilot_sum_does_not_mean_no_lags():
    """Returns that undo the ones before: Newey and West's rule squares the ratio, so that its sign does not matter.

    Their mean is known better than that of independent ones: without lags the error would be several times as large.
    """
    g = np.random.default_rng(0)
    found, negative = [], 0
    for _ in range(60):
        noise = g.normal(size=1001)
        x = noise[1:] - 0.8 * noise[:-1]
        away = statistics.influence(x) - statistics.influence(x).mean()
        pilot = [away[j:] @ away[: len(away) - j] / 1000 for j in range(int(4 * 10 ** (2 / 9)) + 1)]
        if pilot[0] + 2 * sum(pilot[1:]) <= 0:
            negative += 1
            found.append(statistics.sharpe_se_hac(x) / statistics.sharpe_se_iid(x))
    assert negative >= 5
    assert max(found) < 0.6
    assert min(found) > 0.1  # (1 - 0.8)/sqrt(1 + 0.8²) is 0.16


def test_lags_are_limited():
    """Where the pilot sum is next to nothing the rule asks for more lags than there are rows; Schwert's limits them."""
    x = np.tile([1.0, -1.0, 0.5, -0.5], 30) + np.random.default_rng(0).normal(0, 0.01, 120)
    assert statistics.sharpe_se_hac(x) == pytest.approx(twin_hac(list(x)), rel=1e-8)


class TestAutocorrelation:
    """Is there any, and what it does to the figures that a selection is corrected by."""

    def test_without_any_it_is_found_at_the_nominal_rate(self):
        generator = np.random.default_rng(1)
        assert np.mean(statistics.autocorrelation_p(generator.normal(size=(500, 2000))) < 0.05) < 0.08
        # volatility that comes in clusters is not autocorrelation of returns, though Ljung and Box's test takes it so
        variance, rows = np.ones(1000), []
        for _ in range(600):
            rows.append(generator.normal(size=1000) * np.sqrt(variance))
            variance = 0.05 + 0.25 * rows[-1] ** 2 + 0.7 * variance
        assert np.mean(statistics.autocorrelation_p(np.array(rows[100:])) < 0.05) < 0.08

    @pytest.mark.parametrize("rho", [-0.3, 0.3])
    def test_it_is_found_where_it_is(self, rho):
        x = ar1(rho, (240, 500), 2)
        assert np.mean(statistics.autocorrelation_p(x) < 0.05) > 0.95
        assert np.mean(statistics.autocorrelation(x)) == pytest.approx(rho, abs=0.02)

    def test_a_seasonal_one_is_found_too(self):
        noise = np.random.default_rng(3).normal(size=(252, 300))
        assert np.mean(statistics.autocorrelation_p(noise[12:] + 0.6 * noise[:-12]) < 0.05) > 0.8

    def test_the_best_of_many_does_not_pass_for_skill_if_returns_are_autocorrelated(self):
        """AR 0.5, 120 rows, the best 5 of 100 without skill: 5% is promised, and 58.8% passed once."""
        passed, samples = np.zeros(2), 150
        for sample in range(samples):
            x = ar1(0.5, (120, 100), sample)
            x = x[:, np.argsort(-statistics.sharpe(x))[:5]]
            variance = statistics.selection(x, 100).variance
            for k, error in enumerate((statistics.sharpe_se_iid, statistics.sharpe_se_hac)):
                levels = deflated(statistics.sharpe(x), error(x), trials=100, variance=variance)
                passed[k] += levels.max() > 0.95
        assert passed[1] / samples <= 0.05
        assert passed[0] / samples <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / samples)

    def test_the_variance_of_trials_is_that_of_an_autoregression(self):
        x = ar1(0.5, (2000, 40), 5)
        assert statistics.selection(x).sampling == pytest.approx(3 / 1999, rel=0.1)
        assert np.var(statistics.sharpe(ar1(0.5, (500, 2000), 6))) == pytest.approx(3 / 499, rel=0.1)


# --- risk-free rates --------------------------------------------------------------------------------------------------


def test_a_rate_is_annual():
    assert statistics.risk_free_rate(0.02, 12) == pytest.approx(1.02 ** (1 / 12) - 1)
    assert statistics.risk_free_rate(0.0, 252) == 0
    assert statistics.risk_free_rate(-0.005, 1) == pytest.approx(-0.005)


@pytest.mark.parametrize(
    ("rate", "words"),
    [
        (2.0, "annual_risk_free is an annual rate, and 2.0 would be 200% per year; 0.02 is 2%"),
        (-1.0, "would be -100% per year"),
        (math.inf, "annual_risk_free must be a finite number, got inf"),
    ],
)
def test_rates_that_cannot_be(rate, words):
    with pytest.raises(sb.errors.InvalidInputError, match=words):
        statistics.risk_free_rate(rate, 252)


def test_the_best_passes_more_often_the_more_columns_resemble_one_another():
    """The best of 20 without skill, by the published formula: it passes at 95% in 0.06% of cases if they are
    independent, and in 4.9% if their correlation is 0.99, near the 5% of a single one."""
    tried, rows, samples = 20, 1000, 400_000
    gamma = np.euler_gamma
    maximum = (1 - gamma) * scipy.special.ndtri(1 - 1 / tried) + gamma * scipy.special.ndtri(1 - 1 / (tried * math.e))
    g, passed = np.random.default_rng(1), {}
    for correlation in (0.0, 0.99):
        count = 0
        for _ in range(10):
            shared, own = g.standard_normal((samples // 10, 1)), g.standard_normal((samples // 10, tried))
            z = math.sqrt(correlation) * shared + math.sqrt(1 - correlation) * own  # Sharpe ratios times √rows
            passes = z.max(axis=1) - z.std(axis=1, ddof=1) * maximum > scipy.special.ndtri(0.95)
            count += int(passes.sum())
            for case in np.concatenate([np.flatnonzero(passes)[:20], np.flatnonzero(~passes)[:20]]):
                ratios = z[case] / math.sqrt(rows)
                dsr = deflated(ratios.max(), 1 / math.sqrt(rows), trials=tried, variance=ratios.var(ddof=1))
                assert (dsr > 0.95) == passes[case]
        passed[correlation] = count / samples
    assert passed[0.0] == pytest.approx(0.0006, abs=0.00015)
    assert passed[0.99] == pytest.approx(0.0485, abs=0.0015)


@pytest.mark.parametrize(
    ("rows", "q", "phi", "annual"), [(1260, 252, 0.3, 1), (1260, 252, -0.2, 1), (360, 12, 0.3, 1), (1000, 12, 0.3, 3)]
)
def test_intervals_of_lo_hold_the_true_ratio(rows, q, phi, annual):
    """The true ratio from the autocorrelations of an AR(1) process, all of them and without weights."""
    g, lag, per_period = np.random.default_rng(8), np.arange(1, q), annual / math.sqrt(q)
    true = per_period * q / math.sqrt(q + 2 * ((q - lag) * phi**lag).sum())
    hits = 0
    for _ in range(1000):
        noise = g.normal(size=rows + 50) * math.sqrt(1 - phi**2)
        x = per_period + lfilter([1.0], [1.0, -phi], noise)[50:]
        ratio, influence = statistics.lo_and_influence(x, q)
        hits += abs(ratio - true) < 1.96 * statistics.se_of_mean(influence)
    assert 0.915 < hits / 1000 < 0.97  # 93.5 to 95%, and three standard errors


def test_the_influence_on_lo():
    x = np.random.default_rng(9).normal(0.1, 1.0, 300)
    x[1:] += 0.5 * x[:-1]
    _, influence = statistics.lo_and_influence(x, 12)
    assert influence.mean() == pytest.approx(0.0, abs=1e-12)
    # without autocorrelations it is the influence on the Sharpe ratio
    np.testing.assert_allclose(statistics.lo_and_influence(x, 1.0)[1], statistics.influence(x), rtol=1e-12)


def test_what_is_traded_and_its_twin():
    g = np.random.default_rng(5)
    x = g.normal(0, 0.1, (40, 3))
    weights = g.dirichlet([1, 1, 1], 40)
    expected = [0.0]
    for before, now, paid in zip(weights[:-1], weights[1:], x[:-1], strict=True):
        pots = [w * (1 + r) for w, r in zip(before, paid, strict=True)]
        bought = [max(0.0, w - pot / sum(pots)) for w, pot in zip(now, pots, strict=True)]
        expected.append(sum(bought))  # as much is sold
    assert statistics.trades(weights, x).sum(axis=1) / 2 == pytest.approx(expected)


def test_after_a_total_loss_there_is_nothing_to_trade():
    moved = statistics.trades([[1, 0], [0, 1], [1, 0]], [[-1, 0.5], [0, 0], [0, 0]])
    assert moved.sum(axis=1).tolist() == [0, 0, 2]


def test_the_error_of_a_difference_is_ledoit_and_wolfs():
    """Their delta method on the four moments, with the same Bartlett weights, written out."""
    g = np.random.default_rng(7)
    n, lags = 4000, 3
    noise = g.standard_t(6, (n + 1, 2)) @ np.array([[1.0, 0.6], [0.0, 0.8]])
    x, y = (0.1 + noise[1:] + 0.4 * noise[:-1]).T
    moments = np.column_stack([x, y, x**2, y**2])
    m1, m2, g1, g2 = moments.mean(axis=0)
    gradient = np.array(
        [
            g1 / (g1 - m1**2) ** 1.5,
            -g2 / (g2 - m2**2) ** 1.5,
            -m1 / (g1 - m1**2) ** 1.5 / 2,
            m2 / (g2 - m2**2) ** 1.5 / 2,
        ]
    )
    away = moments - moments.mean(axis=0)
    psi = away.T @ away / n
    for j in range(1, lags + 1):
        gamma = away[j:].T @ away[:-j] / n
        psi += (1 - j / (lags + 1)) * (gamma + gamma.T)
    difference, se = Yardstick().difference(x, y, lags=lags)
    assert difference == pytest.approx(statistics.sharpe(x) - statistics.sharpe(y))
    assert se == pytest.approx(math.sqrt(gradient @ psi @ gradient / n), rel=1e-3)
    # The two share most of their noise: the error is far below that of independent ones.
    assert se < 0.8 * math.hypot(statistics.sharpe_se_hac(x, lags=lags), statistics.sharpe_se_hac(y, lags=lags))


def test_the_error_of_a_difference_is_what_differences_scatter_by():
    g = np.random.default_rng(9)
    found = []
    for _ in range(400):
        market = g.normal(0, 1, 600)
        pair = (market + g.normal(0.1, 0.7, 600), market + g.normal(0.05, 0.7, 600))
        found.append(Yardstick().difference(*pair))
    differences, errors = np.array(found).T
    assert differences.std() == pytest.approx(errors.mean(), rel=0.12)  # 3.5 standard errors of a standard deviation


def test_correlations_are_over_common_rows():
    x = np.random.default_rng(1).normal(size=(60, 4)) + np.random.default_rng(2).normal(size=(60, 1))
    x[:20, 1] = x[50:, 2] = x[::7, 3] = np.nan
    np.testing.assert_allclose(statistics.correlations(x), pd.DataFrame(x).corr(), atol=1e-12)
    x[:58, 0] = np.nan
    assert np.isnan(statistics.correlations(x)[0, 2])


class TestOverfitting:
    """The probability of backtest overfitting."""

    def test_against_a_plain_twin(self):
        x = np.random.default_rng(1).normal(0.001, 0.01, (53, 5))
        parts = np.array_split(x, 6)
        below = []
        for chosen in itertools.combinations(range(6), 3):
            train = np.concatenate([parts[b] for b in chosen])
            test = np.concatenate([parts[b] for b in range(6) if b not in chosen])
            first = statistics.sharpe(train).argmax()
            rank = (statistics.sharpe(test) <= statistics.sharpe(test)[first]).sum()
            below.append(0.5 if rank == 3 else rank < 3)  # the third of five is at the median
        assert statistics.backtest_overfitting(x, blocks=6) == np.mean(below)

    @pytest.mark.parametrize("columns", [2, 3])
    def test_without_skill_it_is_one_half_for_few_columns_too(self, columns):
        generator = np.random.default_rng(columns)
        shares = [statistics.backtest_overfitting(generator.normal(size=(64, columns)), blocks=8) for _ in range(200)]
        assert np.mean(shares) == pytest.approx(0.5, abs=4 * np.std(shares) / 200**0.5)

    def test_skill_and_none(self):
        generator = np.random.default_rng(2)
        x = generator.normal(0, 0.01, (1000, 20))
        without = [statistics.backtest_overfitting(generator.normal(0, 0.01, (320, 20))) for _ in range(40)]
        assert np.mean(without) == pytest.approx(0.5, abs=4 * np.std(without) / 40**0.5)
        x[:, 3] += 0.004
        assert statistics.backtest_overfitting(x) < 0.01
