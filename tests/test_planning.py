"""Planning: the budget that is needed, against closed forms and twins in plain numpy; bad input; files."""

import csv
import html
import json
import math
import re

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_ndtr, ndtr, ndtri
from scipy.stats import chi2_contingency, norm

import sharpe_bandits as sb
from sharpe_bandits.charts import render_matplotlib
from sharpe_bandits.cli import main
from sharpe_bandits.metrics import Estimate
from sharpe_bandits.planning import words
from sharpe_bandits.planning.crossing import fit
from sharpe_bandits.planning.needs import EVERY_ARM, Need, Point
from sharpe_bandits.planning.phases import drawn_directly, recommended
from sharpe_bandits.report import plan as drawn

EASY = sb.BestArmProblem.from_gap(4, 8.0, 6.0)  # needs few rounds


def says(*parts):
    """A pattern that wants all parts, in order."""
    return "(?s)" + ".*".join(re.escape(str(part)) for part in parts)


# --- the problem ------------------------------------------------------------------------------------------------------


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
    assert problem.objective == sb.RSSR(1e-5, signed=True)  # a tenth of the smallest variance


def test_a_gap_is_the_same_for_all_others():
    problem = sb.BestArmProblem.from_gap(3, 1.0, 0.25, periods_per_year=12)
    assert problem.sharpes == pytest.approx([1.0, 0.75, 0.75])
    assert problem.best == (0,)
    assert "annualised Sharpe ratios of 1, 0.75 ×2" in problem.conventions()[0]


def test_an_arm_that_loses_is_never_best():
    assert sb.BestArmProblem.from_sharpes([0.5, -3.0]).best == (0,)


def test_where_rssr_and_sharpe_ratio_part():
    """Signed RSSR over S² is 1/(1 + L/v): 1/1.1 at the smallest variance, 1/1.001 at a hundredfold one."""
    sharpes, volatility = [1.0, 0.97], [0.01, 0.1]
    assert 1.0 / 1.1 < 0.97**2 / 1.001
    regularised = sb.BestArmProblem.from_sharpes(sharpes, volatility=volatility)
    plain = sb.BestArmProblem.from_sharpes(sharpes, volatility=volatility, objective="sharpe")
    assert regularised.best == (1,)
    assert plain.best == (0,)
    assert re.search(says("That is arm 2 (0.97)", "Sharpe ratio is that of arm 1 (1)"), regularised.conventions()[1])
    assert "orders arms as the plain Sharpe ratio does" in plain.conventions()[1]
    others = sb.BestArmProblem.from_sharpes([3.0, *sharpes], volatility=[0.1, *volatility])
    assert "not the same order of all others" in others.conventions()[1]


A, B = [0.01, 0.03, 0.02, 0.06], [-0.01, 0.02, 0.0, 0.01]


def table(**columns):
    return sb.read_returns(columns, kind="returns", periods_per_year=4)


def test_arms_from_a_table():
    returns = table(A=A, B=B)
    normal = sb.BestArmProblem.from_returns(returns, risk_free_per_period=0.01)
    assert normal.names == ("A", "B")
    assert normal.bandit.arms[0].mean == pytest.approx(0.02)
    assert normal.bandit.arms[0].variance == pytest.approx(0.0014 / 3)  # squares 4, 0, 1 and 9 of 0.01, about 0.03
    drawn_again = sb.BestArmProblem.from_returns(returns, bootstrap=True)
    assert drawn_again.bandit.arms[1].values == (-0.01, 0.02, 0.0, 0.01)
    assert drawn_again.sharpes[1] == pytest.approx(math.sqrt(4) * 0.005 / math.sqrt(0.00005 * 2.5))
    assert "tends to be too large" in normal.conventions()[2]


def test_a_problem_from_a_table_shows_itself_in_a_line():
    g = np.random.default_rng(0)
    x = g.normal(0, 0.01, (1000, 50))
    problem = sb.BestArmProblem.from_returns(
        x, names=[f"s{k}" for k in range(50)], kind="returns", periods_per_year=252
    )
    best = f"s{np.argmax(x.mean(axis=0) / x.std(axis=0))}"
    assert repr(problem).startswith(f"<BestArmProblem: 50 arms, the best by RSSR {best} (")
    assert repr(problem).endswith("); 252 periods per year, estimated from 1,000 rows>")


def test_what_was_done_to_a_table_is_told():
    columns = {"A": [0.01, 0.03, None, 0.06], "B": [-0.01, 0.02, 0.0, 0.01]}
    returns = sb.read_returns(columns, kind="returns", periods_per_year=4, missing="fill")
    told = sb.BestArmProblem.from_returns(returns).conventions()[-1]
    assert told == "On reading the table: filled 1 missing return with 0."


# --- the line ---------------------------------------------------------------------------------------------------------


def test_a_line_is_found_again():
    budgets = np.array([800, 1000, 1300, 1700])
    runs = np.full(4, 10**9)
    line = fit(budgets, np.rint(runs * ndtr(0.7 - 0.07 * np.sqrt(budgets))), runs)
    assert line.intercept == pytest.approx(0.7, abs=1e-4)
    assert line.slope == pytest.approx(0.07, rel=1e-4)
    assert line.crossing(0.05).mean == pytest.approx(((0.7 + 1.6448536) / 0.07) ** 2, rel=1e-4)
    assert line.error(np.array([1000])).mean[0] == pytest.approx(ndtr(0.7 - 0.07 * math.sqrt(1000)), rel=1e-4)


def test_the_line_is_that_of_largest_likelihood():
    budgets, wrong, runs = np.array([500, 900, 1400, 4000]), np.array([70, 31, 9, 0]), np.array([400, 500, 600, 700])

    def surprise(c):  # half a run more on either side
        score = c[0] - c[1] * np.sqrt(budgets)
        return -((wrong + 0.5) * log_ndtr(score) + (runs - wrong + 0.5) * log_ndtr(-score)).sum()

    best = minimize(surprise, [0.0, 0.03], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-11}).x
    line = fit(budgets, wrong, runs)
    assert [line.intercept, line.slope] == pytest.approx(best, rel=1e-4)


def test_the_standard_error_is_the_scatter_of_crossings():
    rng = np.random.default_rng(5)
    budgets, runs = np.array([700, 1000, 1400]), np.array([1900, 1900, 1900])
    lines = [fit(budgets, rng.binomial(runs, ndtr(0.6 - 0.07 * np.sqrt(budgets))), runs) for _ in range(800)]
    found = np.array([line.crossing(0.05).mean for line in lines])
    # With one degree of freedom the widening is often more than 1, never less.
    bare = [line.crossing(0.05).se for line in lines]
    assert found.mean() == pytest.approx(((0.6 - ndtri(0.05)) / 0.07) ** 2, rel=0.01)
    assert np.quantile(bare, 0.2) == pytest.approx(found.std(), rel=0.1)  # most are not widened


def test_scatter_beyond_chance_widens_the_interval():
    budgets, runs = [700, 1000, 1400], [10_000] * 3
    smooth = fit(budgets, [1100, 600, 230], runs)
    rough = fit(budgets, [900, 900, 200], runs)
    assert rough.crossing(0.05).se > 3 * smooth.crossing(0.05).se


def test_a_budget_at_which_no_wrong_run_is_to_be_expected_says_nothing_of_the_scatter():
    """Pearson's statistic of a count that is 0 where a millionth of a run is expected would be of any size."""
    budgets, runs = [700, 1000, 1400], [40_000] * 3
    line = fit(budgets, [4400, 2400, 920], runs)
    far = fit([*budgets, 20_000], [4400, 2400, 920, 0], [*runs, 40_000])
    assert far.crossing(0.05).se == pytest.approx(line.crossing(0.05).se, rel=0.1)
    assert far.safe(0.05) == pytest.approx(line.safe(0.05), rel=0.02)


def test_no_line_without_a_fall():
    assert fit([100, 200], [10, 20], [100, 100]) is None
    assert fit([100, 100], [20, 10], [100, 100]) is None


# --- the error at a budget --------------------------------------------------------------------------------------------


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
    problem = sb.BestArmProblem.from_sharpes(sharpes, volatility=list(volatility), periods_per_year=1, L=L)
    m, rng = n // 3, np.random.default_rng(2)
    mean = volatility * (sharpes + rng.normal(size=(200_000, 3)) / math.sqrt(m))
    variance = volatility**2 * rng.chisquare(m - 1, (200_000, 3)) / (m - 1)
    expected = np.mean((mean * np.abs(mean) / (L + variance)).argmax(axis=1) != problem.best[0])
    found = sb.plan(problem, budget=n, runs=20_000, seed=4).asked[2]
    assert found.policy == "Uniform sampling"
    assert found.error.mean == pytest.approx(expected, abs=4 * found.error.se)


UNEVEN = sb.BestArmProblem.from_sharpes([0.5, 0.3, -0.4, 0.2, 0.35], volatility=[1, 2, 1.5, 0.5, 1], periods_per_year=1)


@pytest.mark.parametrize(
    "policy",
    [
        *UNEVEN.policies(),
        sb.SHSR(UNEVEN.objective.L, signed=True, keep_samples=True, name="keeps"),
        sb.SequentialHalving(sb.Sharpe(1e-9), spend_all=True),
        sb.SuccessiveAcceptsRejects(UNEVEN.objective),
    ],
    ids=lambda policy: policy.name,
)
@pytest.mark.parametrize("budget", [60, 400])
def test_phases_drawn_directly_recommend_as_the_engine_does(policy, budget):
    """Rewards drawn one by one by the engine, and means and variances of phases: the same frequencies of every arm."""
    runs = 20_000
    assert drawn_directly([policy], UNEVEN.bandit.arms)
    study = sb.simulate(policy, UNEVEN.bandit, horizon=budget, runs=runs, seed=5)[policy.name]
    one_by_one = np.bincount(study.recommended[:, 0], minlength=UNEVEN.K)
    (mean,), (variance,) = UNEVEN.bandit.truth(0, 1)
    arms = recommended(policy, mean, variance, budget, runs, np.random.default_rng(6))
    directly = np.bincount(arms, minlength=UNEVEN.K)
    often = one_by_one + directly > 20
    table = np.array([one_by_one[often], directly[often]])
    assert chi2_contingency(table).pvalue > 1e-4


def test_rewards_that_are_not_normal_or_shared_out_by_influence_variance_are_drawn_one_by_one():
    arms = UNEVEN.bandit.arms
    assert not drawn_directly([sb.VarianceAwareHalving(UNEVEN.objective)], arms)
    assert not drawn_directly(UNEVEN.policies(), [*arms, sb.AR1(0.0, 1.0, 0.5)])


def test_every_arm_seen_is_uniform_sampling_with_a_pull_of_each():
    at_once = sb.plan(EASY, budget=100, runs=3000, seed=1).asked[3]
    other = sb.plan(EASY, budget=400, runs=3000, seed=2).asked[2]
    assert (at_once.policy, other.policy) == (EVERY_ARM, "Uniform sampling")
    assert at_once.error.mean == pytest.approx(other.error.mean, abs=4 * math.hypot(at_once.error.se, other.error.se))


def exact(sharpes, rho, rows=2520, q=252, phi=0.0):
    """Two columns of 15% volatility whose own annualised Sharpe ratios and correlation are exactly these."""
    noise = np.random.default_rng(0).normal(size=(rows, 2))
    for row in range(1, rows):
        noise[row] += phi * noise[row - 1]
    noise -= noise.mean(axis=0)
    noise = noise @ np.linalg.inv(np.linalg.cholesky(noise.T @ noise / (rows - 1))).T
    x = noise @ np.linalg.cholesky([[1, rho], [rho, 1]]).T
    x = 0.15 / math.sqrt(q) * (x + np.array(sharpes) / math.sqrt(q))
    return sb.read_returns(x, names=["A", "B"], kind="returns", periods_per_year=q)


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
        wrong = problem.wrong(periods, 2000, np.random.default_rng(1))
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
        means, variances = problem.estimates(252, 1500, np.random.default_rng(2))
        scatter[block] = (means / np.sqrt(variances)).std(axis=0)
    ratio = scatter[30] / scatter[1]
    assert ratio == pytest.approx(math.sqrt((1 + 0.4) / (1 - 0.4)), rel=0.1)


def test_the_best_arm_of_a_table_is_named_and_what_is_assumed_stands_in_the_headline():
    problem = sb.BestArmProblem.from_returns(exact([3.0, 0.5], 0.5), block=4)
    plan = sb.plan(problem, budget=500, runs=200)
    assert plan.asked[0].policy == EVERY_ARM
    text = " ".join(str(plan).split())
    assumed = (
        "Assumed: the table's Sharpe ratios are the true ones; where every arm is seen, the table's 2,520 rows, drawn "
        "again in blocks of 4 on average, which keeps autocorrelation, the same for all arms, so that their "
        "correlation counts; where one is seen at a time, independent normal rewards."
    )
    assert text.startswith(f"Probability of missing the best of 2 arms: A (3). {assumed} method budget")
    page = drawn.page(plan)
    assert f'<p class="lead">{html.escape(assumed)}</p>'.replace("&#x27;", "&#39;") in page
    assert page.index("Assumed:") < page.index("<table")
    one_by_one = sb.BestArmProblem.from_returns(exact([3.0, 0.5], 0.5), block=1, bootstrap=True)
    assert one_by_one.rewards == (
        "the table's 2,520 rows, drawn again one by one, the same for all arms, so that their correlation counts"
    )
    assert words.answer(plan).startswith("If the best arm is A (3)")
    jointly = sb.BestArmProblem.from_returns(exact([3.0, 0.5], 0.5), block=4, bootstrap=True)
    assert jointly.bandit.jointly
    assert {arm.block for arm in jointly.bandit.arms} == {4.0}


def test_a_doubt_about_the_table_stands_in_the_plan():
    returns = exact([3.0, 0.5], 0.5)
    doubted = sb.Returns(returns.names, returns.values, None, 252.0, "returns", (), ("it looks odd",))
    plan = sb.plan(sb.BestArmProblem.from_returns(doubted), budget=100, runs=50)
    assert str(plan).startswith("Check: it looks odd.\n")
    assert drawn.page(plan).index("Check: it looks odd.") < drawn.page(plan).index("Assumed:")


# --- the budget that is needed ----------------------------------------------------------------------------------------


def crossing_of_two_arms(a, b, target, draws=400_000):
    """Rounds of uniform sampling at which two Sharpe ratios are confused that often: plain numpy, and a fine grid."""
    rng = np.random.default_rng(0)
    rounds = np.arange(240, 360, 20)

    def ratio(sharpe, m):
        return (sharpe + rng.normal(size=draws) / math.sqrt(m)) / np.sqrt(rng.chisquare(m - 1, draws) / (m - 1))

    errors = [np.mean(ratio(b, n // 2) >= ratio(a, n // 2)) for n in rounds]
    return np.interp(-target, -np.array(errors), rounds)


def test_intervals_cover_the_true_budget():
    problem = sb.BestArmProblem.from_sharpes([0.5, 0.3], periods_per_year=1, objective="sharpe")
    truth = crossing_of_two_arms(0.5, 0.3, 0.05)
    closed = 2 * (2 + (0.5**2 + 0.3**2) / 2) * (ndtri(0.05) / 0.2) ** 2
    assert truth == pytest.approx(closed, rel=0.03)
    uniform = [sb.UniformSampling(problem.objective)]
    needs = [sb.plan(problem, error=0.05, policies=uniform, seed=seed).needs[0] for seed in range(20)]
    found = np.array([need.rounds.mean for need in needs])
    assert sum(need.rounds.low <= truth <= need.rounds.high for need in needs) >= 16
    assert found.mean() == pytest.approx(truth, rel=0.025)
    assert all(need.agrees for need in needs)
    # The recommended budget is on the safe side of the truth, and fresh runs show an error below the target.
    budgets = [need.recommended for need in needs]
    assert sum(budget >= truth for budget in budgets) >= 18  # 97.5% of them
    assert np.mean(budgets) == pytest.approx(truth * 1.025, rel=0.02)
    assert np.mean([need.check.error.mean for need in needs]) < 0.047


@pytest.fixture(scope="module")
def plan():
    return sb.plan(EASY, error=0.05, seed=7)


def test_a_plan(plan):
    assert [need.policy for need in plan.needs] == ["SHSR", "SuRSR", "Uniform sampling", EVERY_ARM]
    for need in plan.needs:
        assert need.rounds.low < need.rounds.mean < need.rounds.high < 1.3 * need.rounds.low
        assert need.rounds.mean < need.recommended < 1.05 * need.rounds.high
        limit = need.line.error(np.array([need.recommended - 1, need.recommended])).high
        assert limit[0] > 0.05 >= limit[1]
        # the error Φ(-c√n) falls by φ(z) |z|/2 for a change of the logarithm of n by 1; 2% of n are wanted
        assert need.check.runs == math.ceil(0.05 * 0.95 / (0.02 * norm.pdf(ndtri(0.05)) * -ndtri(0.05) / 2) ** 2)
        assert abs(need.check.error.mean - 0.045) < 0.02
    uniform = plan["Uniform sampling"].rounds
    assert plan.periods_at_once.mean == pytest.approx(uniform.mean / 4, rel=0.12)
    assert plan["SuRSR"].rounds.high < uniform.low
    with pytest.raises(sb.UnknownNameError, match="SuRSR"):
        plan["SuSR"]


def wrong_one_by_one(need, problem, runs, seed):
    """Wrong runs with the recommended budget, rewards drawn one by one: by the engine, or by numpy if all are seen."""
    if need.policy != EVERY_ARM:
        (policy,) = (policy for policy in problem.policies() if policy.name == need.policy)
        study = sb.simulate(policy, problem.bandit, horizon=need.recommended, runs=runs, seed=seed)
        return int((study[policy.name].recommended[:, 0] != 0).sum())
    g, wrong = np.random.default_rng(seed), 0
    means = [arm.mean for arm in problem.bandit.arms]
    sds = [math.sqrt(arm.variance) for arm in problem.bandit.arms]
    for _ in range(runs // 1000):
        x = g.normal(means, sds, (1000, need.recommended, problem.K))
        m, v = x.mean(axis=1), x.var(axis=1, ddof=1)
        wrong += int(((m * np.abs(m) / (problem.objective.L + v)).argmax(axis=1) != 0).sum())
    return wrong


def test_the_recommended_budget_is_at_or_below_the_target(plan):
    """Rewards drawn one by one with another seed, many times more runs: even the upper 95% limit is below 0.05."""
    for need in plan.needs:
        runs = 60_000 if need.policy == EVERY_ARM else 150_000
        error = wrong_one_by_one(need, EASY, runs, seed=100) / runs
        assert error + 1.96 * math.sqrt(error * (1 - error) / runs) <= 0.05
        assert error > 0.04  # and not by far
    shown = [int(line[1].replace(",", "")) for line in words.lines(plan)]
    assert all(budget >= need.recommended for budget, need in zip(shown, plan.needs, strict=True))


def test_a_small_error_against_the_closed_form():
    """Two arms, 0.001: where no run of the first, rough budgets is wrong, the line must not go astray."""
    a, b = 0.5, 0.3
    problem = sb.BestArmProblem.from_sharpes([a, b], periods_per_year=1, objective="sharpe")
    plan = sb.plan(problem, error=0.001, policies=[sb.UniformSampling(problem.objective)])
    variance = (2 + (a**2 + b**2) / 2) * (ndtri(0.001) / (a - b)) ** 2
    assert plan["Uniform sampling"].rounds.mean == pytest.approx(2 * variance, rel=0.06)
    assert plan[EVERY_ARM].rounds.mean == pytest.approx(variance, rel=0.06)
    assert all(need.recommended < 1.1 * need.rounds.mean for need in plan.needs)


def test_no_runs_serve_twice(plan):
    """The check is not made with the runs that the line was fitted to."""
    again = sb.plan(EASY, budget=plan["SHSR"].check.budget, runs=1900, seed=7)
    assert again.asked[0].wrong != plan["SHSR"].check.wrong
    places = [(p.policy, p.stage, p.budget) for p in plan.points]
    assert len(places) == len(set(places))


def test_the_same_whatever_the_workers_and_the_others(plan):
    alone = sb.plan(EASY, error=0.05, seed=7, workers=1, policies=[EASY.policies()[0]])
    assert alone.needs[0].rounds == plan["SHSR"].rounds
    assert alone.needs[0].check == plan["SHSR"].check
    assert sb.plan(EASY, error=0.05, seed=7, workers=2).to_dict() == plan.to_dict()
    assert sb.plan(EASY, error=0.05, seed=8)["SHSR"].rounds != plan["SHSR"].rounds


def test_a_stricter_target_takes_more_rounds(plan):
    strict = sb.plan(EASY, error=0.02, seed=7, runs=1500)
    for need in strict.needs:
        assert need.rounds.low > plan[need.policy].rounds.high


def test_a_target_out_of_reach():
    plan = sb.plan(sb.BestArmProblem.from_gap(3, 1.0, 0.5), error=0.05, max_budget=500, runs=400)
    for need in plan.needs:
        assert need.rounds is None
        assert need.check.budget == 500
        assert need.check.error.low > 0.05
    assert plan.periods_at_once is None
    assert any("Within 500 rounds the error does not come down to 0.05" in text for text in words.remarks(plan))
    assert words.lines(plan)[0][1] == "more than 500"
    assert "no method is sure to err less than 0.05 within 500 rounds" in words.answer(plan)


def test_a_target_in_reach_of_every_budget():
    plan = sb.plan(sb.BestArmProblem.from_gap(2, 400.0, 400.0), error=0.1)
    least = max(policy.least_budget(2) for policy in plan.problem.policies())
    assert [(need.rounds.mean, need.rounds.se) for need in plan.needs] == [(least, 0)] * 3 + [(4, 0)]
    assert any(f"no more than {least} rounds" in text for text in words.remarks(plan))


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "parts"),
    [
        (lambda: sb.BestArmProblem.from_gap(1, 1.0, 0.3), ("arms must be a whole number from 2 to 100000, got 1",)),
        (lambda: sb.BestArmProblem.from_gap(4, 1.0, 0.0), ("gap must be", "above 0, got 0.0", "fall short")),
        (lambda: sb.BestArmProblem.from_gap(4, 1.0, -0.3), ("gap must be", "got -0.3")),
        (lambda: sb.BestArmProblem.from_gap(4, math.nan, 0.3), ("best_sharpe must be a finite number, got nan",)),
        (lambda: sb.BestArmProblem.from_sharpes([1.0]), ("at least 2 arms, got 1 sharpes",)),
        (lambda: sb.BestArmProblem.from_sharpes([1.0, math.inf]), ("sharpes must be finite", "position 1")),
        (lambda: sb.BestArmProblem.from_sharpes([1.0, 1.0]), ("all 2 arms have the same RSSR",)),
        (lambda: sb.BestArmProblem.from_sharpes([1, 0], volatility=0), ("volatility of arm 1", "above 0, got 0")),
        (lambda: sb.BestArmProblem.from_sharpes([1, 0], volatility=[0.1, -1]), ("volatility of arm 2", "got -1")),
        (lambda: sb.BestArmProblem.from_sharpes([1, 0], volatility=[1, 1, 1]), ("2 arms and 3 volatilities",)),
        (lambda: sb.BestArmProblem.from_sharpes([1, 0], periods_per_year=0), ("periods_per_year", "252 for daily")),
        (lambda: sb.BestArmProblem.from_sharpes([1, 0], objective="mean"), ("one of 'rssr', 'sharpe', got 'mean'",)),
        (lambda: sb.BestArmProblem.from_sharpes([1, 0], L=-1.0), ("L must be", "got -1.0")),
        (lambda: sb.BestArmProblem.from_returns(table(A=[0.1, 0.2, 0.3])), ("at least 2 arms, got 1 columns",)),
        (lambda: sb.plan(EASY, error=0.5), ("between 0 and 0.5, got 0.5",)),
        (lambda: sb.plan(EASY, error=0), ("between 0 and 0.5, got 0",)),
        (
            lambda: sb.plan(EASY, error=1e-300),
            ("an error of 1e-300 is too small", "pass error=0.0001 (--error 0.0001)"),
        ),
        (lambda: sb.plan(EASY, error=0.001, runs=300), ("300 runs cannot show", "pass runs=4000 (--runs 4000)")),
        (lambda: sb.plan(EASY, error="0.1"), ("between 0 and 0.5, got '0.1'",)),
        (lambda: sb.plan(EASY, error=0.1, budget=100), ("a target error (0.1) or a budget (100), not both",)),
        (lambda: sb.plan(EASY, budget=3), ("budget must be a whole number from 16", "got 3")),
        (lambda: sb.plan(EASY, budget=[]), ("no budget",)),
        (lambda: sb.plan(EASY, budget=100.5), ("budget must be a whole number", "100.5")),
        (lambda: sb.plan(EASY, max_budget=10), ("max_budget is 10", "at least 16 rounds for 4 arms")),
        (lambda: sb.plan(EASY, runs=10), ("runs must be a whole number at least 100, got 10",)),
        (lambda: sb.plan(EASY, seed=-1), ("seed must be", "got -1")),
        (lambda: sb.plan(EASY, policies=3), ("a policy such as UCBRSSR(L=0.5) is needed, got 3",)),
        (lambda: sb.BestArmProblem.from_gap(10**30, 1.0, 0.3), ("arms must be a whole number from 2 to 100000",)),
        (lambda: sb.BestArmProblem.from_returns(table(A=A, B=B), bootstrap=1), ("bootstrap must be True or False",)),
        (lambda: sb.plan(EASY, policies=[]), ("no policy to plan for",)),
        (lambda: sb.plan(EASY, policies=[sb.UCB1()]), ("UCB1 does not look for one best arm",)),
        (lambda: sb.plan([1.0, 0.7]), ("BestArmProblem.from_gap", "[1.0, 0.7]")),
    ],
    ids=lambda value: "" if callable(value) else value[0][:30],
)
def test_bad_input(make, parts):
    with pytest.raises(sb.InvalidInputError, match=says(*parts)):
        make()


def test_a_column_that_does_not_vary_is_named():
    flat = sb.Returns(("A", "B"), np.column_stack([[0.1, 0.2, 0.3], [0.1, 0.1, 0.1]]), None, 252.0, "returns")
    with pytest.raises(sb.InvalidInputError, match=says("column 'B' does not vary in its 3 rows", "leave it out")):
        sb.BestArmProblem.from_returns(flat)


# --- the command ------------------------------------------------------------------------------------------------------

GIVEN = ["plan", "--arms", "4", "--best-sharpe", "8", "--gap", "6"]


def test_the_command(tmp_path, capsys, plan):
    assert main([*GIVEN, "--error", "0.05", "--seed", "7", "--out", str(tmp_path / "out")]) == 0
    out = capsys.readouterr().out
    assert f" {plan['SHSR'].recommended} " in out  # to a round, since the standard error is below 10
    assert f" {round(plan['SHSR'].rounds.mean)} " in out
    assert "every arm seen in every period" in out
    assert "m·|m| / (L + v)" in out
    folder = tmp_path / "out"
    assert {path.name for path in folder.iterdir()} == {
        f"plan.{kind}" for kind in ("csv", "json", "html", "svg", "png")
    }
    kept = json.loads((folder / "plan.json").read_text("utf-8"))
    assert kept == json.loads(json.dumps(plan.to_dict()))
    with (folder / "plan.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(r["policy"], int(r["budget"]), int(r["wrong"])) for r in rows] == [
        (p.policy, p.budget, p.wrong) for p in plan.points
    ]
    assert float(rows[0]["error"]) == pytest.approx(int(rows[0]["wrong"]) / int(rows[0]["runs"]))


def test_the_command_the_other_way_round(tmp_path, capsys):
    out = ["--out", str(tmp_path), "--runs", "300"]
    assert main([*GIVEN, "--years", "0.5", "1", *out]) == 0
    by_years = capsys.readouterr().out
    assert main([*GIVEN, "--budget", "126", "252", *out]) == 0
    assert capsys.readouterr().out == by_years
    assert re.search(r"SuRSR +252 +1 ", by_years)


def test_the_command_says_how_far_the_error_came(tmp_path, capsys):
    assert main(["plan", "--sharpes", "1", "0.5", "--max-budget", "300", "--runs", "200", "--out", str(tmp_path)]) == 1
    out, err = capsys.readouterr()
    assert "more than 300" in out
    assert "no method comes down to an error of 0.05 within 300 rounds; raise --max-budget or --error" in err
    assert (tmp_path / "plan.html").exists()


def test_the_command_with_a_table(tmp_path, capsys):
    rng = np.random.default_rng(1)
    values = rng.normal([0.02, 0.0], 0.05, (60, 2))
    path = tmp_path / "returns.csv"
    path.write_text("A,B\n" + "\n".join(f"{a},{b}" for a, b in values) + "\n")
    given = ["plan", "--table", str(path), "--kind", "returns", "--periods-per-year", "12", "--budget", "40"]
    assert main([*given, "--bootstrap", "--runs", "200", "--out", str(tmp_path / "out")]) == 0
    kept = json.loads((tmp_path / "out" / "plan.json").read_text("utf-8"))
    sharpe = math.sqrt(12) * values[:, 0].mean() / values[:, 0].std()
    assert kept["problem"]["names"] == ["A", "B"]
    assert kept["problem"]["sharpes"][0] == pytest.approx(sharpe)
    assert "the table's 60 rows, drawn again" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["plan"], ("given by one of", "none of them")),
        ([*GIVEN, "--sharpes", "1", "2"], ("--gap together with --sharpes",)),
        (["plan", "--arms", "4"], ("also need --best-sharpe and --gap",)),
        (["plan", "--table", "x.csv"], ("a table needs --kind and --periods-per-year",)),
        (["plan", "--table", "x.csv", "--volatility", "1"], ("--volatility is used only without --table",)),
        ([*GIVEN, "--bootstrap"], ("--bootstrap is used only with --table",)),
        ([*GIVEN, "--block", "5"], ("--block is used only with --table",)),
        ([*GIVEN, "--columns", "A"], ("--columns is used only with --table",)),
        ([*GIVEN, "--risk-free", "0.02"], ("--risk-free is used only with --table",)),
        ([*GIVEN, "--years", "0"], ("--years must be", "got 0")),
        ([*GIVEN, "--error", "0.7"], ("between 0 and 0.5, got 0.7",)),
    ],
    ids=lambda value: " ".join(value)[:40],
)
def test_mistakes_in_the_command(arguments, parts, tmp_path, capsys):
    assert main([*arguments, "--out", str(tmp_path / "out")]) == 2
    assert re.search(says(*parts), capsys.readouterr().err)
    assert not (tmp_path / "out").exists()


def test_a_mistake_in_the_table_names_its_place(tmp_path, capsys):
    path = tmp_path / "returns.csv"
    path.write_text("A,B\n0.01,0.02\n0.02,oops\n0.03,0.01\n")
    assert main(["plan", "--table", str(path), "--kind", "returns", "--periods-per-year", "12"]) == 2
    assert re.search(says("column 'B'", "line 3", "'oops'"), capsys.readouterr().err)


def test_interrupted_it_does_not_promise_to_go_on(tmp_path, capsys, monkeypatch):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("sharpe_bandits.planning.search.recommended", interrupt)
    assert main([*GIVEN, "--out", str(tmp_path / "out")]) == 130
    assert capsys.readouterr().err == "\nsharpe-bandits: interrupted; nothing was written\n"


# --- what is drawn ----------------------------------------------------------------------------------------------------


def test_the_figure(plan):
    figure = render_matplotlib(drawn.figure(plan))
    (ax,) = figure.axes
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["SHSR", "SuRSR", "Uniform sampling", EVERY_ARM]
    level = [line for line in ax.lines if list(line.get_ydata()) == [0.05, 0.05]]
    ends = sorted(tuple(line.get_xdata()) for line in level)
    needs = sorted((n.rounds.low, n.rounds.high) for n in plan.needs)
    assert ends[0] == (0, 1)  # the target, across the axes
    assert np.ravel(ends[1:]) == pytest.approx(np.ravel(needs), rel=1e-5)


def test_a_budget_without_a_wrong_run_is_drawn_as_a_limit():
    plan = sb.plan(EASY, budget=3000, runs=800, seed=1)
    assert [point.wrong for point in plan.asked] == [0, 0, 0, 0]
    ((chart,),) = drawn.figure(plan).charts
    first = [series for series in chart.series if series.name == plan.policies[0]]
    (never,) = (series for series in first if series.marker == "arrow down")
    assert (never.at[-1], never.mean[-1]) == (3000, plan.asked[0].error.high)
    assert not any(3000 in series.at for series in first if series is not never)


def test_rounds_are_shown_to_the_digits_that_are_known():
    rounds = Estimate(258_098.4, 6_300.0, 245_992.0, 270_799.0)
    need = Need("SHSR", rounds, None, Point("SHSR", 270_001, 1900, 80, "verify"))
    assert words._rounds(rounds) == ["258,000", "246,000 to 271,000"]
    assert words._budget(need) == "271,000"  # rounded up
    assert words._rounds(Estimate(278.4, 6.3, 266.2, 291.1)) == ["278", "266 to 291"]


def test_a_plan_in_words(plan):
    text = str(plan)
    assert text.startswith("Budget needed to find the best of 4 arms with error probability 0.05")
    assert words.answer(plan).startswith(
        "If the best arm is arm 1 (8) and the others are as assumed: budget needed for an error probability below 0.05"
    )
    assert len(words.heads(plan)) == len(words.lines(plan)[0])
