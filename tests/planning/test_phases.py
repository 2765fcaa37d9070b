"""The error at a budget, against closed forms and twins in plain numpy."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from scipy.stats import chi2_contingency

import sharpe_bandits as sb
from sharpe_bandits.planning.needs import EVERY_ARM
from sharpe_bandits.planning.phases import is_drawn_directly, recommended
from tests.planning.problems import EASY, exact


def test_two_arms_against_the_closed_form():
    """e_n = Phi(-gap / s.e.): a Sharpe ratio S estimated from m normal rewards has variance (1 + S²/2)/m."""
    a, b = 0.25, 0.15
    problem = sb.BestArmProblem.from_sharpes([a, b], periods_per_year=1, objective="sharpe")
    plan = sb.plan(problem, budget=[600, 1200], runs=20_000, seed=3)
    for point in plan.asked:
        if point.policy == "Uniform sampling":
            se = math.sqrt((2 + (a * a + b * b) / 2) / (point.budget / 2))
            assert point.error.mean == pytest.approx(ndtr(-(a - b) / se), abs=4 * point.error.se)
        if point.policy == EVERY_ARM:
            se = math.sqrt((2 + (a * a + b * b) / 2) / point.budget)
            assert point.error.mean == pytest.approx(ndtr(-(a - b) / se), abs=4 * point.error.se)
    assert [point.budget for point in plan.asked if point.policy == EVERY_ARM] == [600, 1200]


def test_uniform_sampling_against_plain_numpy():
    """Means are normal and sample variances chi-square, so that a twin need not draw the rewards."""
    sharpes, volatility, n, L = np.array([0.5, 0.3, -0.4]), np.array([1.0, 2.0, 1.5]), 150, 0.05
    problem = sb.BestArmProblem.from_sharpes(
        sharpes, volatility=list(volatility), periods_per_year=1, L=L, objective="rssr"
    )
    m, rng = n // 3, np.random.default_rng(2)
    mean = volatility * (sharpes + rng.normal(size=(200_000, 3)) / math.sqrt(m))
    variance = volatility**2 * rng.chisquare(m - 1, (200_000, 3)) / (m - 1)
    expected = np.mean((mean * np.abs(mean) / (L + variance)).argmax(axis=1) != problem.best[0])
    found = sb.plan(problem, budget=n, runs=20_000, seed=4).asked[2]
    assert found.policy == "Uniform sampling"
    assert found.error.mean == pytest.approx(expected, abs=4 * found.error.se)


UNEVEN = sb.BestArmProblem.from_sharpes(
    [0.5, 0.3, -0.4, 0.2, 0.35], volatility=[1, 2, 1.5, 0.5, 1], periods_per_year=1, objective="rssr"
)


@pytest.mark.parametrize(
    "policy",
    [
        *UNEVEN.policies(),
        sb.SHSR(UNEVEN.objective.L, signed=True, keep_samples=True, name="keeps"),
        sb.policies.SequentialHalving(sb.Sharpe(1e-9), spend_all=True),
        sb.policies.SuccessiveAcceptsRejects(UNEVEN.objective),
    ],
    ids=lambda policy: policy.name,
)
@pytest.mark.parametrize("budget", [60, 400])
def test_phases_drawn_directly_recommend_as_the_engine_does(policy, budget):
    """Rewards drawn one by one by the engine, and means and variances of phases: the same frequencies of every arm."""
    runs = 20_000
    assert is_drawn_directly(policy, UNEVEN)
    study = sb.simulate(policy, UNEVEN.bandit, horizon=budget, runs=runs, seed=5)[policy.name]
    one_by_one = np.bincount(study.recommended[:, 0], minlength=UNEVEN.K)
    arms = recommended(policy, UNEVEN, budget, runs, np.random.default_rng(6))
    directly = np.bincount(arms, minlength=UNEVEN.K)
    often = one_by_one + directly > 20
    table = np.array([one_by_one[often], directly[often]])
    assert chi2_contingency(table).pvalue > 1e-4


def test_rewards_that_are_not_normal_or_shared_out_by_influence_variance_are_drawn_one_by_one():
    assert not is_drawn_directly(sb.policies.VarianceAwareHalving(UNEVEN.objective), UNEVEN)
    arms = sb.Bandit([*UNEVEN.bandit.arms, sb.arms.AR1(0.0, 1.0, 0.5)])
    assert not is_drawn_directly(UNEVEN.policies()[0], replace(UNEVEN, bandit=arms))


def test_every_arm_seen_is_uniform_sampling_with_a_pull_of_each():
    at_once = sb.plan(EASY, budget=100, runs=3000, seed=1).asked[3]
    other = sb.plan(EASY, budget=400, runs=3000, seed=2).asked[2]
    assert (at_once.policy, other.policy) == (EVERY_ARM, "Uniform sampling")
    assert at_once.error.mean == pytest.approx(other.error.mean, abs=4 * math.hypot(at_once.error.se, other.error.se))


def years_needed(a, b, rho, target=0.05, q=252):
    """By the delta method: the variance of the difference of two Sharpe ratios of correlated normal returns."""
    a, b = a / math.sqrt(q), b / math.sqrt(q)
    variance = 2 * (1 - rho) + (a * a + b * b - 2 * a * b * rho * rho) / 2
    return variance * (ndtri(target) / (a - b)) ** 2 / q


def test_what_columns_share_cancels_where_all_are_seen():
    """Sharpe ratios of 0.6 and 0.5 with a correlation of 0.89: 60 years, where independent columns take 541."""
    assert (years_needed(0.6, 0.5, 0.89), years_needed(0.6, 0.5, 0)) == (pytest.approx(59.6, abs=0.1),
                                                                         pytest.approx(541.4, abs=0.1))  # fmt: skip
    errors = []
    for rho in (0.89, 0.0):
        problem = sb.BestArmProblem.from_returns(exact([0.6, 0.5], rho), objective="sharpe", block=1)
        periods = round(252 * years_needed(0.6, 0.5, 0.89))
        wrong = (problem.leaders(periods, 2000, np.random.default_rng(1)) != problem.best[0]).sum()
        expected = ndtr(ndtri(0.05) * math.sqrt(years_needed(0.6, 0.5, 0.89) / years_needed(0.6, 0.5, rho)))
        assert wrong / 2000 == pytest.approx(expected, abs=4 * math.sqrt(expected * (1 - expected) / 2000))
        errors.append(wrong / 2000)
    assert errors[0] < 0.08 < 0.25 < errors[1]


def test_blocks_keep_autocorrelation():
    """Returns that follow a trend are harder to judge: an autocorrelation of 0.4 makes errors 1.5 times as large."""
    returns = exact([2.0, 0.0], 0.0, phi=0.4)
    scatter = {}
    for block in (1, 30):
        problem = sb.BestArmProblem.from_returns(returns, objective="sharpe", block=block)
        scatter[block] = problem.estimates(252, 1500, np.random.default_rng(2)).std(axis=0)
    ratio = scatter[30] / scatter[1]
    assert ratio == pytest.approx(math.sqrt((1 + 0.4) / (1 - 0.4)), rel=0.1)
