"""Problems of best-arm identification, by hand; bad input."""

import math
import re

import numpy as np
import pandas as pd
import pytest

import sharpe_bandits as sb
from tests.messages import says
from tests.planning.problems import EASY, A, B, exact, table
from tests.returns.reading import PRICES


def test_moments_per_period():
    """By hand: 16% a year is 1% per period with 256 of them; a Sharpe ratio of 0.8 a year is 0.05 per period."""
    problem = sb.BestArmProblem.from_sharpes([0.8, -0.8], volatility=[0.16, 0.32], periods_per_year=256)
    first, second = problem.bandit.arms
    assert first.mean == pytest.approx(0.05 * 0.01)
    assert first.variance == pytest.approx(1e-4)
    assert second.mean == pytest.approx(-0.05 * 0.02)
    assert second.variance == pytest.approx(4e-4)
    assert problem.sharpes == pytest.approx([0.8, -0.8])
    assert problem.volatilities == pytest.approx([0.16, 0.32])
    assert isinstance(problem.objective, sb.Sharpe)
    rssr = sb.BestArmProblem.from_sharpes([0.8, 0], volatility=0.16, periods_per_year=256, objective="rssr")
    assert rssr.objective == sb.RSSR(1e-5, signed=True)  # a tenth of the smallest variance


def test_the_default_answers_the_question_about_sharpe_ratios():
    """13 monthly arms with volatilities from 2% to 25%: RSSR took twice the years that the Sharpe ratio takes."""
    plain = sb.BestArmProblem.from_sharpes([0.6, 0.5, 0.4], volatility=[0.02, 0.1, 0.25], periods_per_year=12)
    assert plain.objective_name == "Sharpe ratio"
    plan = sb.plan(plain, budget=600, runs=100)
    assert plan.problem.objective_name == "Sharpe ratio"


def test_a_budget_that_is_too_small_for_policies_gets_the_best_possible_answer():
    """5 years of 13 monthly arms: too few to try each twice, one at a time; all seen, there is an answer."""
    problem = sb.BestArmProblem.from_gap(13, 1.0, 0.5, periods_per_year=12)
    plan = sb.plan(problem, budget=60, runs=2000)
    (point,) = plan.asked
    assert point.policy == "every arm seen in every period"
    assert "too small for" in str(plan)
    # the error of the largest of 13 normal estimates
    g = np.random.default_rng(0)
    means = g.normal(np.array([1.0] + [0.5] * 12) / np.sqrt(12), 1 / np.sqrt(60), (20_000, 13))
    sds = np.sqrt(g.chisquare(59, (20_000, 13)) / 59)
    wrong = ((means / sds).argmax(axis=1) != 0).mean()
    assert point.error.mean == pytest.approx(wrong, abs=4 * np.sqrt(0.25 / 2000))
    both = sb.plan(problem, budget=[60, 600], runs=100)
    assert {(p.policy == point.policy, p.budget) for p in both.asked} == {(True, 60), (True, 600), (False, 600)}


class TestTolerance:
    """Any arm that is nearly the best will do."""

    def test_arms_within_it_are_right(self):
        problem = sb.BestArmProblem.from_sharpes([1.0, 0.95, 0.9, 0.5], tolerance=0.1)
        assert problem.best == (0,)
        assert problem.right == (0, 1, 2)
        assert "within 0.1 of the best" in " ".join(problem.conventions())

    def test_errors_and_losses_of_two_groups(self):
        """With two arms, what is lost is the gap in every wrong run, seen together or one at a time."""
        returns = exact([0.6, 0.5], 0.0, rows=500)
        with pytest.raises(sb.errors.InvalidInputError, match=r"all 2 arms are within tolerance=0.2"):
            sb.BestArmProblem.from_returns(returns, tolerance=0.2, block=1)
        strict = sb.plan(sb.BestArmProblem.from_returns(returns, block=1), budget=60, runs=400)
        for point in strict.asked:
            assert point.loss == pytest.approx(0.1 * point.error.mean, rel=0.01)
            assert 0.3 < point.error.mean < 0.6
        assert "expected loss" in str(strict)

    def test_it_takes_fewer_rounds(self):
        arms = [8.0, 7.5, 2.0, 2.0]
        errors = [
            sb.plan(sb.BestArmProblem.from_sharpes(arms, tolerance=tolerance), budget=100, runs=500).asked[0].error.mean
            for tolerance in (0.0, 0.6)
        ]
        assert errors[1] < 0.2 < errors[0]

    def test_bad_ones(self):
        with pytest.raises(sb.errors.InvalidInputError, match="tolerance"):
            sb.BestArmProblem.from_sharpes([1.0, 0.5], tolerance=-0.1)


def test_where_every_sharpe_ratio_is_negative_the_first_line_says_so():
    plan = sb.plan(sb.BestArmProblem.from_sharpes([-1.0, -2.0]), budget=100, runs=50)
    assert "below 0" in str(plan).lstrip().splitlines()[0]


def test_a_gap_is_the_same_for_all_others():
    problem = sb.BestArmProblem.from_gap(3, 1.0, 0.25, periods_per_year=12)
    assert problem.sharpes == pytest.approx([1.0, 0.75, 0.75])
    assert problem.best == (0,)
    assert "annualised Sharpe ratio of 1, 0.75 ×2" in problem.conventions()[0]


def test_an_arm_that_loses_is_never_best():
    assert sb.BestArmProblem.from_sharpes([0.5, -3.0]).best == (0,)


def test_where_rssr_and_sharpe_ratio_part():
    """Signed RSSR over S² is 1/(1 + L/v): 1/1.1 at the smallest variance, 1/1.001 at a hundredfold one."""
    sharpes, volatility = [1.0, 0.97], [0.01, 0.1]
    assert 1.0 / 1.1 < 0.97**2 / 1.001
    regularised = sb.BestArmProblem.from_sharpes(sharpes, volatility=volatility, objective="rssr")
    plain = sb.BestArmProblem.from_sharpes(sharpes, volatility=volatility, objective="sharpe")
    assert regularised.best == (1,)
    assert plain.best == (0,)
    assert re.search(
        says("That is arm 2 (0.97)", "while arm 1 (1) has the largest plain Sharpe ratio"), regularised.conventions()[1]
    )
    assert plain.conventions()[1] == "Best is the arm with the largest annualised Sharpe ratio."
    alike = sb.BestArmProblem.from_sharpes([1.0, 0.5], volatility=0.1, objective="rssr")
    assert "also the arm with the largest plain Sharpe ratio" in alike.conventions()[1]


def test_arms_from_a_table():
    returns = table(A=A, B=B)
    normal = sb.BestArmProblem.from_returns(returns, annual_risk_free=1.01**4 - 1)
    assert normal.names == ("A", "B")
    assert normal.bandit.arms[0].mean == pytest.approx(0.02)
    assert normal.bandit.arms[0].variance == pytest.approx(0.0014 / 3)  # squares 4, 0, 1 and 9 of 0.01, about 0.03
    assert "tends to look better than it is" in normal.conventions()[2]


def test_a_problem_from_a_table_shows_itself_in_a_line():
    g = np.random.default_rng(0)
    x = g.normal(0, 0.01, (1000, 50))
    problem = sb.BestArmProblem.from_returns(
        x, names=[f"s{k}" for k in range(50)], kind="returns", periods_per_year=252
    )
    best = f"s{np.argmax(x.mean(axis=0) / x.std(axis=0))}"
    assert repr(problem).startswith(f"<BestArmProblem: 50 arms, the best by Sharpe ratio {best} (")
    assert repr(problem).endswith("); 252 periods per year, estimated from 1,000 rows>")


def test_what_was_done_to_a_table_is_told():
    columns = {"A": [0.01, 0.03, None, 0.06], "B": [-0.01, 0.02, 0.0, 0.01]}
    returns = sb.read_returns(columns, kind="returns", periods_per_year=4, missing="fill")
    told = sb.BestArmProblem.from_returns(returns).conventions()[-1]
    assert told == "When the table was read: filled 1 missing return with 0."


@pytest.mark.parametrize(
    ("make", "parts"),
    [
        (lambda: sb.BestArmProblem.from_gap(1, 1.0, 0.3), ("arms must be a whole number from 2 to 100000, got 1",)),
        (
            lambda: sb.BestArmProblem.from_gap(4, 1.0, 0.0),
            ("gap must be", "above 0, got 0.0", "difference in annualised Sharpe ratio"),
        ),
        (lambda: sb.BestArmProblem.from_gap(4, 1.0, -0.3), ("gap must be", "got -0.3")),
        (lambda: sb.BestArmProblem.from_gap(4, math.nan, 0.3), ("best_sharpe must be a finite number, got nan",)),
        (lambda: sb.BestArmProblem.from_sharpes([1.0]), ("at least 2 arms, got 1",)),
        (lambda: sb.BestArmProblem.from_sharpes([1.0, math.inf]), ("sharpes must be finite", "position 1")),
        (lambda: sb.BestArmProblem.from_sharpes([1.0, 1.0]), ("all 2 arms have the same Sharpe ratio",)),
        (lambda: sb.BestArmProblem.from_sharpes([1, 0], volatility=0), ("volatility of arm 1", "above 0, got 0")),
        (lambda: sb.BestArmProblem.from_sharpes([1, 0], volatility=[0.1, -1]), ("volatility of arm 2", "got -1")),
        (lambda: sb.BestArmProblem.from_sharpes([1, 0], volatility=[1, 1, 1]), ("2 arms and 3 volatilities",)),
        (lambda: sb.BestArmProblem.from_sharpes([1, 0], periods_per_year=0), ("periods_per_year", "252 for daily")),
        (
            lambda: sb.BestArmProblem.from_sharpes([1, 0], objective="mean"),
            ("one of 'sharpe', 'rssr', 'mean-risk'", "got 'mean'"),
        ),
        (lambda: sb.BestArmProblem.from_sharpes([1, 0], L=-1.0), ("L must be", "got -1.0")),
        (lambda: sb.BestArmProblem.from_returns(table(A=[0.1, 0.2, 0.3])), ("at least 2 arms, got 1",)),
        (lambda: sb.plan(EASY, error=0.5), ("to below 0.5, got 0.5",)),
        (lambda: sb.plan(EASY, error=1e-300), ("from 0.0001", "to below 0.5, got 1e-300")),
        (lambda: sb.plan(EASY, error=0.001, runs=300), ("300 runs cannot show", "pass runs=4000")),
        (lambda: sb.plan(EASY, error="0.1"), ("to below 0.5, got '0.1'",)),
        (lambda: sb.plan(EASY, error=0.1, budget=100), ("a target error (0.1) or a budget (100), not both",)),
        (lambda: sb.plan(EASY, budget=3), ("budget must be a whole number from 4", "got 3")),
        (lambda: sb.plan(EASY, budget=[]), ("no budget",)),
        (lambda: sb.plan(EASY, budget=100.5), ("budget must be a whole number", "100.5")),
        (lambda: sb.plan(EASY, max_budget=10), ("max_budget is 10", "at least 16 rounds for 4 arms")),
        (lambda: sb.plan(EASY, runs=10), ("runs must be a whole number at least 100, got 10",)),
        (lambda: sb.plan(EASY, seed=-1), ("seed must be", "got -1")),
        (lambda: sb.plan(EASY, policies=3), ("a policy such as UCBRSSR(L=0.5) is needed, got 3",)),
        (lambda: sb.BestArmProblem.from_gap(10**30, 1.0, 0.3), ("arms must be a whole number from 2 to 100000",)),
        (lambda: sb.plan(EASY, policies=[]), ("there is no policy; pass at least one",)),
        (lambda: sb.plan(EASY, policies=[sb.policies.UCB1()]), ("UCB1 is not a fixed-budget policy for one best arm",)),
        (lambda: sb.plan([1.0, 0.7]), ("BestArmProblem.from_gap", "[1.0, 0.7]")),
    ],
    ids=lambda value: "" if callable(value) else value[0][:30],
)
def test_bad_input(make, parts):
    with pytest.raises(sb.errors.InvalidInputError, match=says(*parts)):
        make()


def test_a_column_that_does_not_vary_is_named():
    flat = sb.Returns(("A", "B"), np.column_stack([[0.1, 0.2, 0.3], [0.1, 0.1, 0.1]]), None, 252.0, "returns")
    with pytest.raises(
        sb.errors.InvalidInputError, match=says("column 'B' does not vary in its 3 rows", "leave it out")
    ):
        sb.BestArmProblem.from_returns(flat)


def test_a_problem_needs_returns():
    with pytest.raises(sb.errors.InvalidInputError, match="read_returns needs kind and periods_per_year"):
        sb.BestArmProblem.from_returns(pd.DataFrame(PRICES))


def test_a_benchmark_saves_what_it_explains():
    """With a correlation of 0.8 a plan needs about 0.36 of the rounds; the error it states is that of the policy that
    adjusts its estimates, simulated round by round.
    """
    rho, terms = 0.8, {"volatility": 0.2, "periods_per_year": 252}
    alone, seen = (sb.BestArmProblem.from_gap(3, 6.0, 4.0, correlation=c, **terms) for c in (0.0, rho))
    rejects = sb.policies.SuccessiveRejects(sb.Sharpe(0.0))
    needs = [sb.plan(problem, error=0.05, policies=rejects, runs=2_000).needs[0].rounds for problem in (alone, seen)]
    assert needs[1].mean / needs[0].mean == pytest.approx(1 - rho**2, rel=0.15)
    stated = next(p for p in sb.plan(seen, budget=120, policies=rejects, runs=4_000).points if p.budget == 120)
    arms = [sb.Normal(arm.mean, variance=(1 - rho**2) * arm.variance) for arm in seen.bandit.arms]
    bandit = sb.FactorBandit(arms, factor=sb.Normal(0.0, variance=rho**2 * seen.bandit.arms[0].variance))
    adjusted = sb.policies.SuccessiveRejects(sb.objectives.Adjusted(sb.Sharpe(0.0)))
    error = sb.simulate(adjusted, bandit, horizon=120, runs=2_000, seed=3)[adjusted.name].error()
    assert error.mean == pytest.approx(stated.error.mean, abs=0.04)
    assert seen.to_dict()["correlation"] == rho


def test_a_correlation_is_of_returns():
    for wrong in (1.0, -0.1, "high"):
        with pytest.raises(sb.errors.InvalidInputError, match="correlation"):
            sb.BestArmProblem.from_gap(3, 1.0, 0.5, correlation=wrong)
    problem = sb.BestArmProblem.from_gap(3, 1.0, 0.5, correlation=0.5)
    with pytest.raises(sb.errors.InvalidInputError, match="FactorBandit"):
        sb.plan(problem, budget=500, policies=sb.policies.VarianceAwareHalving(sb.Sharpe(0.1)), runs=10)


def test_arms_that_are_observed_one_at_a_time_have_moments_of_their_own():
    orders = {
        "algo": ["A", "B"] * 50,
        "cap": ["large", "small"] * 50,
        "cost": np.random.default_rng(1).normal(8, 5, 100),
    }
    how = {"kind": "returns", "scale": 1e-4, "direction": "min", "periods_per_year": 252}
    with pytest.raises(sb.errors.InvalidInputError, match=r"pivot=\('algo', 'cost'\)"):
        sb.BestArmProblem.from_returns(orders, **how)
    problem = sb.BestArmProblem.from_returns(orders, pivot=("algo", "cost"), **how)
    assert problem.table is None
    means = [-1e-4 * orders["cost"][k::2].mean() for k in (0, 1)]
    assert [arm.mean for arm in problem.bandit.arms] == pytest.approx(means)


@pytest.mark.parametrize(
    "objective",
    [sb.Sortino(L=0.0), sb.objectives.Omega(L=0.0), sb.objectives.CVaR(0.2), sb.objectives.LogGrowth()],
    ids=repr,
)
def test_objectives_that_need_more_than_two_moments(objective):
    """Drawn as normal with the influence variance; against rewards drawn one by one, seen together or one at a time."""
    problem = sb.BestArmProblem.from_sharpes([5.0, 3.0], volatility=[0.15, 0.16], objective=objective)
    assert problem.values == pytest.approx([objective.true_value(arm) for arm in problem.bandit.arms])
    uniform = sb.policies.UniformSampling(objective)
    plan = sb.plan(problem, budget=600, policies=uniform, runs=4_000)
    stated = {point.policy: point.error.mean for point in plan.asked}
    g, (a, b) = np.random.default_rng(4), problem.bandit.arms
    x = g.normal([a.mean, b.mean], [math.sqrt(a.variance), math.sqrt(b.variance)], (2_000, 600, 2))
    one_by_one, together = (
        np.mean([np.argmax(objective.value_of(rewards)) != problem.best[0] for rewards in x[:, :periods]])
        for periods in (300, 600)
    )
    assert stated[uniform.name] == pytest.approx(one_by_one, abs=0.035)
    assert stated["every arm seen in every period"] == pytest.approx(together, abs=0.025)


def test_other_objectives_of_a_table():
    """A column's own value counts, not that of normal rewards with its moments: the second has the worse tail."""
    g = np.random.default_rng(5)
    x = np.column_stack([g.normal(0, 0.01, 2000), 0.01 * g.standard_t(4, 2000) / math.sqrt(2)])
    table = sb.read_returns(x, names=["normal", "heavy"], kind="returns", periods_per_year=252)
    problem = sb.BestArmProblem.from_returns(table, objective="cvar")
    shortfall = [-np.sort(column)[:100].mean() for column in x.T]
    assert problem.values == pytest.approx(shortfall)
    assert problem.names[problem.best[0]] == "normal"
    assert "smallest expected shortfall of the worst 5%" in problem.conventions()[1]
    early, late = (sb.plan(problem, budget=n, runs=400).asked[0].error.mean for n in (250, 4_000))
    assert late < early
    with pytest.raises(sb.errors.InvalidInputError, match="objectives of mean and variance"):
        sb.BestArmProblem.from_gap(3, 1.0, 0.5, correlation=0.5, objective=sb.Sortino(L=0.0))


def test_estimates_show_the_digits_that_their_errors_leave():
    problem = sb.BestArmProblem.from_returns(exact([1.0, 0.5], 0.0, rows=2520))
    error = math.sqrt(1 / 10)  # ten years
    assert problem.errors == pytest.approx([error, error], rel=0.15)
    assert re.search(r"A \(Sharpe ratio 1\.00 ± 0\.3\d\)", repr(problem))
    assert "arm 1 (Sharpe ratio 1)" in repr(sb.BestArmProblem.from_gap(2, 1.0, 0.5))
