"""The budget that is needed, against closed forms and twins in plain numpy."""

import math

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import norm

import sharpe_bandits as sb
from sharpe_bandits.planning import words
from sharpe_bandits.planning.needs import EVERY_ARM
from tests.planning.problems import EASY, easy_plan


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
    uniform = [sb.policies.UniformSampling(problem.objective)]
    needs = [sb.plan(problem, error=0.05, policies=uniform, seed=seed).needs[0] for seed in range(20)]
    found = np.array([need.rounds.mean for need in needs])
    assert sum(need.rounds.low <= truth <= need.rounds.high for need in needs) >= 16
    assert found.mean() == pytest.approx(truth, rel=0.025)
    # The recommended budget is on the safe side of the truth, and fresh runs show an error below the target.
    budgets = [need.recommended for need in needs]
    assert sum(budget >= truth for budget in budgets) >= 18  # 97.5% of them
    assert np.mean(budgets) == pytest.approx(truth * 1.025, rel=0.02)
    assert np.mean([need.check.error.mean for need in needs]) < 0.047


@pytest.fixture(scope="module")
def plan():
    return easy_plan()


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
    with pytest.raises(sb.errors.UnknownNameError, match="SuRSR"):
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
    plan = sb.plan(problem, error=0.001, policies=[sb.policies.UniformSampling(problem.objective)])
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


def test_a_policy_has_the_same_error_beside_one_whose_rewards_are_drawn_one_by_one():
    uniform, aware = sb.policies.UniformSampling(EASY.objective), sb.policies.VarianceAwareHalving(EASY.objective)
    alone, beside = (sb.plan(EASY, budget=100, runs=200, policies=some) for some in ([uniform], [uniform, aware]))
    assert beside.asked[0] == alone.asked[0]


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
    assert any("Within 500 rounds the error does not fall to 0.05" in text for text in words.remarks(plan))
    assert words.lines(plan)[0][1] == "more than 500"
    assert "No method is certain to reach error 0.05 within 500 rounds" in words.answer(plan)


def test_a_target_in_reach_of_every_budget():
    plan = sb.plan(sb.BestArmProblem.from_gap(2, 400.0, 400.0), error=0.1)
    least = max(policy.least_budget(2) for policy in plan.problem.policies())
    assert [(need.rounds.mean, need.rounds.se) for need in plan.needs] == [(least, 0)] * 3 + [(4, 0)]
    assert any(f"no more than {least} rounds" in text for text in words.remarks(plan))
