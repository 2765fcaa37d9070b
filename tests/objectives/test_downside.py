"""Omega, CVaR, log growth and Sortino: true values by brute force, estimates by hand, the same choices live and simulated."""

import math

import numpy as np
import pytest
from scipy import stats

import sharpe_bandits as sb
from sharpe_bandits.confidence_sequences import confidence_sequence, intervals
from sharpe_bandits.objectives import CVaR, LogGrowth, Objective, Omega
from sharpe_bandits.objectives.cvar import EXACT
from tests.follow import follow

ARMS = [
    (sb.Uniform(-0.9, 2.0), stats.uniform(-0.9, 2.9), -0.9, 2.0),
    (sb.Normal(0.3, variance=0.04), stats.norm(0.3, 0.2), -1.7, 2.3),
    (sb.arms.AR1(0.3, 0.04, 0.4), stats.norm(0.3, 0.2), -1.7, 2.3),
    (sb.arms.Gamma(2, 0.8), stats.gamma(2, scale=0.8), 0, 40),
    (sb.Beta(2, 3), stats.beta(2, 3), 0, 1),
    (sb.arms.TruncatedNormal(0.5, 1.0, 0.0, 2.0), stats.truncnorm(-0.5, 1.5, 0.5, 1.0), 0, 2),
]
GOALS = [
    Omega(L=0.05, threshold=0.4), LogGrowth(fraction=0.5), CVaR(alpha=0.1), CVaR(alpha=0.6),
    sb.Sortino(L=0.05, target=-0.3), sb.Sortino(L=0.05, target=0.2), sb.Sortino(L=0.05, target=1.4),
]  # fmt: skip
NORMAL = stats.norm.ppf((np.arange(50) + 0.5) / 50)
REWARDS = [1.0, -0.5, 0.25, 0.0, 2.0]


def by_brute_force(objective, x, p):
    """The value of a distribution on a fine grid."""
    mean = (p * x).sum()
    if isinstance(objective, Omega):
        above, below = x - objective.threshold, objective.threshold - x
        gains, losses = ((p * np.maximum(part, 0)).sum() for part in (above, below))
        return 1 + (gains - losses) / (objective.L + losses)
    if isinstance(objective, sb.Sortino):
        shortfall = (p * np.maximum(objective.target - x, 0) ** 2).sum()
        return (mean - objective.target) / np.sqrt(objective.L + shortfall)
    if isinstance(objective, LogGrowth):
        return (p * np.log1p(objective.fraction * x)).sum()
    worst = np.minimum(np.cumsum(p), objective.alpha)
    assert mean == pytest.approx((p * x).sum())
    return (np.diff(worst, prepend=0.0) * x).sum() / objective.alpha


@pytest.mark.parametrize("objective", GOALS, ids=repr)
def test_true_values_are_those_of_the_density(objective):
    for arm, law, low, high in ARMS:
        edges = np.linspace(low, high, 400_001)
        middle, p = (edges[1:] + edges[:-1]) / 2, np.diff(law.cdf(edges))
        assert objective.true_value(arm) == pytest.approx(by_brute_force(objective, middle, p), abs=2e-5), arm
    for arm, values in ((sb.Bernoulli(0.25), [0, 0, 0, 1]), (sb.Empirical(REWARDS), REWARDS)):
        assert objective.true_value(arm) == pytest.approx(float(objective.value_of(values)), abs=1e-7)


@pytest.mark.parametrize(
    ("objective", "value"),
    [
        (Omega(L=0.0), 3.25 / 0.5),
        (Omega(L=0.1, threshold=0.5), 1 + 0.05 / (0.1 + (1.0 + 0.25 + 0.5) / 5)),
        (LogGrowth(), (math.log(2) + math.log(0.5) + math.log(1.25) + math.log(3)) / 5),
        (CVaR(alpha=0.4), -0.25),
        (CVaR(alpha=0.5), (-0.5 + 0.0 + 0.5 * 0.25) / 2.5),
        (CVaR(alpha=0.05), -0.5),
    ],
    ids=repr,
)
def test_by_hand(objective, value):
    assert float(objective.value_of(REWARDS)) == pytest.approx(value, rel=1e-12)
    assert sb.from_dict(objective.to_dict()) == objective
    if getattr(objective, "L", 1) > 0:
        agent = sb.ScaleFreeUCB(objective=objective).agent(arms=2)
        for reward in REWARDS:
            agent.tell(1, reward)
        assert agent.values()[1] == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("objective", [*GOALS[:3], sb.Sortino(L=0.1, target=0.4), sb.Sharpe(L=0.1)], ids=repr)
def test_the_standard_error_is_that_of_many_samples(objective):
    """2,000 samples of 400 skewed rewards; the influence of single rewards says the same."""
    x = np.random.default_rng(3).gamma(4.0, 0.25, (400, 2000)) - 0.4
    statistics = objective.statistics(x)
    error = np.abs(objective.slope_from_root(objective.estimate(statistics)[0]))
    error = error * np.sqrt(Objective.estimate(objective, statistics)[1] / 400)
    assert error.mean() == pytest.approx(objective.value(statistics).std(), rel=0.08)
    influence = objective.influence(x[:, 0])
    assert influence.mean() == pytest.approx(0.0, abs=1e-12)
    assert influence.std() / 20 == pytest.approx(error[0], rel=0.01)
    cautious = objective.standard_error(statistics) / error
    assert (cautious > 1.0).all() if isinstance(objective, CVaR) else cautious == pytest.approx(1.0)


@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_the_tail_beyond_the_rewards_that_are_kept(alpha):
    """Within 0.01 standard deviations of the exact estimate, and exact as long as rewards are kept."""
    objective = CVaR(alpha=alpha)
    for seed, x in enumerate((np.random.default_rng(1).normal(5.0, 2.0, 3000), stats.t(3).rvs(3000, random_state=2))):
        so_far = objective.statistics_so_far(x)
        for n in (1, 7, 100, EXACT):
            assert so_far.feature[n - 1] == pytest.approx(float(objective.value_of(x[:n])), rel=1e-12)
        for n in (EXACT + 1, 1000, 3000):
            exact = objective.statistics(x[:n])
            assert -0.01 * x.std() < so_far.feature[n - 1] - exact.feature < 1e-9, seed
            spread, expected = (float(s.feature_square - s.feature**2) for s in (so_far.at(n - 1), exact))
            assert spread == pytest.approx(expected, rel=0.15)
        for n in (
            20,
            100,
            EXACT,
        ):  # the variance at the upper limit of the quantile, from sorted rewards and from knots
            assert so_far.feature_covariance[n - 1] == pytest.approx(objective.statistics(x[:n]).feature_covariance)
        for n in (1000, 3000):
            cautious = so_far.feature_covariance[n - 1] / objective.statistics(x[:n]).feature_covariance
            assert 0.9 < cautious < 1.4


def test_intervals_of_cvar_wait_for_the_tail_and_allow_for_its_doubt():
    """A gap between ordinary rewards and crashes, which are a little rarer than alpha: where a sample has more of them
    than expected, its own quantile is a crash, and the variance beyond that says nothing of their number.
    """
    objective, random = CVaR(alpha=0.1), np.random.default_rng(5)
    x = np.where(random.random((400, 500)) < 0.09, -2.0, 0.5) + random.normal(0.0, 0.1, (400, 500))
    arm = sb.Empirical(np.concatenate([np.tile(NORMAL * 0.1 + 0.5, 91), np.tile(NORMAL * 0.1 - 2.0, 9)]))
    known, truth = objective.statistics(x), objective.true_value(arm)
    plain = np.sqrt(Objective.estimate(objective, known)[1] / len(x))
    missed = [np.mean(np.abs(known.feature - truth) > 1.96 * e) for e in (plain, objective.standard_error(known))]
    assert missed[0] > 0.1 > 0.05 > missed[1]
    sequence = confidence_sequence(x[:, 0], objective)
    assert np.flatnonzero(np.isfinite(sequence.high))[0] == 159  # after 16 / 0.1 rewards
    half = intervals(known, objective).high - known.feature
    w, n = objective.estimate(known)[1], 400
    assert half == pytest.approx(np.sqrt(2 * w * (n + 300) / n**2 * math.log(math.sqrt(1 + n / 300) / 0.05)))


def test_cvar_live_is_cvar_simulated(tmp_path):
    policy = sb.ScaleFreeUCB(objective=CVaR(alpha=0.2))
    bandit = sb.Bandit([sb.Normal(0.5, variance=1.0), sb.arms.Gamma(2, 0.25)])
    run = sb.trace(policy, bandit, horizon=400, seed=2)
    assert follow(policy, run, 2, seed=2).recommend() == 1


def test_merged_statistics_are_those_of_all_rewards():
    x = np.random.default_rng(6).gamma(2.0, 1.0, (50, 3))
    for objective in (sb.Sortino(L=0.1, target=1.5), LogGrowth()):
        merged = objective.statistics(x[:1]).merge(objective.statistics(x[1:20])).merge(objective.statistics(x[20:]))
        for ours, theirs in zip(merged, objective.statistics(x), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-10)


def loss(x, floor):
    return 1.0 * (x < floor)


def mean_less_risk_of_loss(mean, probability, floor):
    return mean - 2.0 * probability


class LossAverse(sb.objectives.Objective):
    """Mean less twice the probability of a reward below a floor: all that a new objective takes."""

    floor: float = 0.0
    formula = staticmethod(mean_less_risk_of_loss)
    feature = staticmethod(loss)
    kinks = property(lambda self: (self.floor,))


def test_a_new_objective_is_one_class(tmp_path):
    """Known to no kernel and no policy: simulated, identified, live, and in a campaign with its intervals and chart."""
    from sharpe_bandits.service.view import View

    goal, arms = LossAverse(floor=0.25), [sb.Uniform(0, 1.2), sb.Empirical([0.3, 0.5, 0.7])]
    bandit = sb.Bandit(arms)
    assert bandit.true_values(goal, 0, 1)[0] == pytest.approx([0.6 - 2 * 0.25 / 1.2, 0.5])
    policies = [sb.ScaleFreeUCB(objective=goal), sb.policies.SequentialHalving(goal)]
    study = sb.simulate(policies, bandit, horizon=400, runs=20, seed=1, progress=False)
    assert all(result.error().mean == 0 for result in study.values())
    assert sb.identify(sb.TopTwo(objective=goal), bandit, runs=5, seed=1)["TopTwo"].error().mean == 0
    for policy in policies:
        run = sb.trace(policy, bandit, horizon=200, seed=4)
        agent = follow(policy, run, 2, seed=4, horizon=200)
        paid = [run.rewards[run.choices == arm] for arm in (0, 1)]
        expected = [np.mean(x) - 2 * np.mean(x < 0.25) for x in paid]
        assert list(agent.values().values()) == pytest.approx(expected, rel=1e-12)
    campaign = sb.Store(tmp_path / "store.db").campaign("orders", policy=policies[0], arms=["a", "b"])
    view = View(campaign)
    for t, reward in enumerate(np.random.default_rng(4).uniform(0, 1, 200).tolist()):
        campaign.tell(campaign.ask(), reward)
        if t == 100:
            view.to_dict()  # later brought up to date
    page = view.to_dict()
    assert page["series"]["objective"] == "Mean"  # the log has no sums of the objective's feature
    series = [page["series"][f"value{end}"] for end in ("", "_low", "_high")]
    for value, low, high, arm in zip(*series, page["arms"], strict=True):
        assert value[-1] == pytest.approx(arm["mean"], rel=1e-9)
        assert [low[-1], high[-1]] == pytest.approx(arm["mean_interval"], rel=1e-9)
    for arm, status in zip(page["arms"], campaign.status().arms, strict=True):
        assert arm["value"] == status.value
        assert status.value_interval[0] < status.value < status.value_interval[1]
    assert campaign.verify(choices=True)


def test_bad_parameters_are_named():
    for make, said in (
        (lambda: CVaR(alpha=0.0), "alpha"),
        (lambda: CVaR(alpha=1.5), "alpha"),
        (lambda: Omega(L=-1.0), "L must be"),
        (lambda: LogGrowth(fraction=0.0), "fraction"),
        (lambda: sb.ScaleFreeUCB(objective=Omega(L=0.0)), "needs L above 0"),
        (lambda: CVaR().value(sb.Uniform(0, 1)), "true_value"),
    ):
        with pytest.raises(sb.errors.InvalidInputError, match=said):
            make()
