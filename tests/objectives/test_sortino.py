"""The Sortino ratio, an objective that needs neither kernel nor policy to know of it."""

import numpy as np
import pytest
from scipy import stats

import sharpe_bandits as sb
from tests.follow import follow

GOAL = sb.Sortino(L=0.01, target=0.2)
BANDIT = sb.Bandit([sb.Normal(0.5, variance=1.0), sb.arms.Gamma(2, 0.25), sb.Uniform(-1, 2)])
POLICIES = [sb.ScaleFreeUCB(objective=GOAL), sb.ScaleFreeIMED(objective=GOAL), sb.ScaleFreeTS(objective=GOAL)]


def test_by_hand():
    """Rewards 1, -1, 0.5, -0.2 about 0: shortfalls 1 and 0.2, squares 1.04 / 4 = 0.26; mean 0.075."""
    agent = sb.ScaleFreeUCB(objective=sb.Sortino(L=0.1)).agent(arms=2)
    for reward in (1.0, -1.0, 0.5, -0.2):
        agent.tell(0, reward)
        agent.tell(1, -1.0)
    assert agent.values()[0] == pytest.approx(0.075 / 0.36**0.5, rel=1e-12)
    assert agent.values()[1] == pytest.approx(-1.0 / 1.1**0.5, rel=1e-12)
    assert agent.recommend() == 0


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
def test_simulation_reference_and_agent_choose_alike(policy):
    fast, slow = (sb.trace(policy, BANDIT, horizon=250, seed=2, kernel=kernel) for kernel in ("auto", "reference"))
    np.testing.assert_array_equal(fast.choices, slow.choices)
    agent = follow(policy, fast, 3, seed=2)
    paid = [fast.rewards[fast.choices == arm] for arm in range(3)]
    assert list(agent.values().values()) == pytest.approx([GOAL.value_of(x) for x in paid], rel=1e-9)


def test_it_is_learnt_and_where_a_policy_for_the_sharpe_ratio_goes_wrong():
    """Rare gains add to the variance, not to the shortfall: the Sharpe ratio prefers the arm that loses often."""
    lottery, steady = sb.Empirical([0.9] * 9 + [5.0]), sb.Empirical([-0.4, 2.4, 0.6, 1.4])
    bandit, goal, sharpe = sb.Bandit([lottery, steady]), sb.Sortino(L=0.1, target=0.8), sb.Sharpe(L=0.1, risk_free=0.8)
    assert np.argmax(bandit.true_values(goal, 0, 1)[0]) == 0
    policies = [sb.ScaleFreeUCB(objective=goal, name="own"), sb.policies.RoundRobin(goal, name="even")]
    study = sb.simulate(policies, bandit, horizon=2000, runs=40, seed=1, progress=False)
    assert study["own"].regret().final.mean < 0.3 * study["even"].regret().final.mean
    assert study["own"].error().mean < 0.1
    assert sharpe.value(lottery) > 0


def test_what_cannot_be_is_said():
    for make in (
        lambda: sb.policies.SlidingWindowUCB(objective=sb.objectives.CVaR(), window=257),
        lambda: sb.policies.DiscountedUCB(objective=sb.objectives.CVaR()),
        lambda: sb.policies.NPTS(objective=GOAL),
        lambda: sb.ScaleFreeUCB(objective=sb.Sortino(L=0.0)),
        lambda: sb.Sortino(L=-1.0),
        lambda: GOAL.value(sb.Uniform(0, 1)),
        lambda: GOAL.value(sb.objectives.Statistics(mean=0.1, variance=0.2)),
        lambda: GOAL.value(0.3),
        lambda: GOAL.true_value(sb.arms.GARCH(0.1, 1.0, 0.1, 0.8)),
    ):
        with pytest.raises(sb.errors.InvalidInputError):
            make()


def test_a_saved_study_has_its_own_objective_and_says_what_it_lacks(tmp_path):
    study = sb.simulate(POLICIES[0], BANDIT, horizon=100, runs=3, progress=False)
    study.save(tmp_path / "study")
    again = sb.load(tmp_path / "study")["SF-UCB"]
    assert again.regret(sb.RSSR(L=0.1)).final.mean == study["SF-UCB"].regret(sb.RSSR(L=0.1)).final.mean
    assert again.regret().final == study["SF-UCB"].regret().final
    with pytest.raises(sb.errors.InvalidInputError, match="simulate again"):
        again.regret(sb.Sortino(L=2.0))


def test_a_plan_for_it_counts_errors_of_its_own_estimates():
    """The share of runs in which the wrong arm looks best, against the delta method with true moments."""
    problem = sb.BestArmProblem.from_sharpes(
        [0.5, 0.375], volatility=[1.0, 0.8], periods_per_year=1.0, objective=GOAL
    )  # means 0.5 and 0.3
    assert problem.best == (0,)
    known = GOAL.statistics(np.random.default_rng(1).normal([0.5, 0.3], [1.0, 0.8], (400_000, 2)))
    value, error = GOAL.value(known), GOAL.standard_error(known._replace(pulls=100.0))
    expected = stats.norm.cdf(-(value[0] - value[1]) / np.hypot(*error))
    wrong = problem.leaders(100, 1500, np.random.default_rng(2)) != 0
    assert wrong.mean() == pytest.approx(expected, abs=0.04)
    halving = sb.policies.SequentialHalving(GOAL)
    plan = sb.plan(problem, error=0.3, policies=halving, runs=200, max_budget=20_000, progress=False)
    assert 20 < plan[halving.name].recommended < 500
