"""Confidence sequences: the formula by hand, coverage at all times at once, agents, when it is too early."""

import math
import statistics

import numpy as np
import pytest
import scipy.integrate
import scipy.optimize
import scipy.special
import scipy.stats

import sharpe_bandits as sb
from sharpe_bandits.confidence_sequences import evidence_above, lateness, leader
from sharpe_bandits.objectives import Statistics

OBJECTIVES = [
    sb.RSSR(L=0.5),
    sb.RSSR(L=0.5, risk_free=0.3, signed=True),
    sb.Sharpe(L=0.5, risk_free=0.3),
    sb.objectives.SharpeLike(L=0.5, risk_free=0.3),
    sb.Variance(),
    sb.MeanVariance(rho=2.0),
    sb.MeanRisk(aversion=0.7),
    sb.objectives.IsraelsenSharpe(L=0.5, risk_free=0.3),
    sb.Mean(),
]


def by_hand(x, alpha, m=300.0):
    """The interval of the plain Sharpe ratio of a list of rewards, in plain Python, from its influence function."""
    n, mean, sd = len(x), statistics.fmean(x), statistics.stdev(x)
    h = mean / sd
    influence = [(v - mean) / sd - h * ((v - mean) ** 2 / sd**2 - 1) / 2 for v in x]
    w = statistics.fmean([v * v for v in influence])
    half = math.sqrt(w * 2 * (n + m) / n**2 * math.log(math.sqrt(1 + n / m) / alpha))
    return h, h - half, h + half


@pytest.mark.parametrize("objective", OBJECTIVES, ids=repr)
@pytest.mark.parametrize(("mean", "variance"), [(1.2, 0.7), (-0.4, 2.0)])
def test_roots_order_arms_as_values_do_and_have_the_gradient_of_differences(objective, mean, variance):
    arguments = objective.arguments()
    root, by_mean, by_variance, scale = objective.root(mean, variance, *arguments)
    assert objective.from_root(root) == pytest.approx(
        float(objective.value(Statistics(mean=mean, variance=variance))), rel=1e-14
    )
    step = 1e-6
    for gradient, of_mean, of_variance in ((by_mean, step, 0.0), (by_variance, 0.0, step)):
        up, down = (objective.root(mean + k * of_mean, variance + k * of_variance, *arguments)[0] for k in (1, -1))
        assert gradient / math.sqrt(scale) == pytest.approx((up - down) / (2 * step), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("objective", OBJECTIVES, ids=repr)
@pytest.mark.parametrize("mean", [2.0, -1.5])
def test_the_influence_variance_is_that_of_estimates(objective, mean):
    """Estimates from 400 gamma rewards each scatter by W / 400: skewed rewards, so that all moments matter."""
    x = np.random.default_rng(3).gamma(4.0, 0.5, (4000, 400)) + (mean - 2.0)
    root, w = objective.estimate(Statistics(mean=mean, variance=1.0, third=1.0, fourth=4.5))
    estimates, _ = objective.estimate(objective.statistics(x.T))
    assert estimates.var() * 400 == pytest.approx(w, rel=0.12)  # 5 standard errors of a variance of 4000
    assert estimates.mean() == pytest.approx(root, abs=6 * math.sqrt(w / 400 / 4000) + 2 * w / 400)


def test_the_interval_by_hand():
    x = np.random.default_rng(0).normal(0.4, 1.3, 200)
    found = sb.confidence_sequence(x, alpha=0.02)
    for n in (40, 77, 200):
        estimate, low, high = by_hand(x[:n].tolist(), 0.02)
        assert found.estimate[n - 1] == pytest.approx(estimate, rel=1e-12)
        # the twin's influence has the unbiased deviation in it, the library's the biased moments
        assert found.low[n - 1] == pytest.approx(low, abs=0.02 * (high - low))
        assert found.high[n - 1] == pytest.approx(high, abs=0.02 * (high - low))
    assert np.isinf(found.high[:31]).all()
    assert np.isfinite(found.high[31:]).any()
    five = sb.confidence_sequence(x, alpha=0.1, arms=5)
    np.testing.assert_array_equal(five.low, found.low)


def test_one_formula_whatever_the_scale():
    x = np.random.default_rng(4).gamma(3.0, 1.0, (300, 2))
    plain = sb.confidence_sequence(x, sb.RSSR(L=0.25, signed=True))
    small = sb.confidence_sequence(x / 1024, sb.RSSR(L=0.25 / 1024**2, signed=True))
    np.testing.assert_allclose(small.high, plain.high, rtol=1e-9)


def test_the_truth_is_never_left_out_but_for_alpha():
    """400 normal paths looked at 3,000 times each; ordinary intervals, looked at as often, leave it out often."""
    rng = np.random.default_rng(5)
    x = rng.normal(0.1, 1.0, (3000, 400))
    found = sb.confidence_sequence(x, alpha=0.05)
    left = ((found.low > 0.1) | (found.high < 0.1)).any(axis=0).mean()
    assert left <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 400)
    n = np.arange(32, 3001)[:, None]
    ordinary = np.abs(found.estimate[31:] - 0.1) > 1.96 / np.sqrt(n)
    assert ordinary.any(axis=0).mean() > 0.25


def test_autocorrelation_is_allowed_for_where_it_is_asked_for():
    noise = np.random.default_rng(6).normal(size=(4000, 100))
    x = np.empty_like(noise)
    x[0] = noise[0]
    for t in range(1, len(x)):
        x[t] = 0.5 * x[t - 1] + math.sqrt(0.75) * noise[t]
    left = {}
    for allowed in (False, True):
        found = sb.confidence_sequence(0.1 + x, autocorrelated=allowed)
        left[allowed] = ((found.low > 0.1) | (found.high < 0.1)).any(axis=0).mean()
    assert left[False] > 0.25
    assert left[True] <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 100)


def test_rare_losses_are_waited_for_and_heavy_tails_marked():
    rng = np.random.default_rng(7)
    bernoulli = sb.confidence_sequence(1.0 * (rng.random((1000, 50)) < 0.95), sb.RSSR(L=0.005))
    assert np.isfinite(bernoulli.high[99]).mean() < 0.5  # it takes 8 times a kurtosis of 18
    assert np.isfinite(bernoulli.high[-1]).all()
    assert sb.confidence_sequence(rng.lognormal(0, 1, (5000, 50))).heavy_tailed[-1].mean() > 0.9
    assert not sb.confidence_sequence(rng.normal(size=(5000, 50))).heavy_tailed.any()
    alike = sb.confidence_sequence(np.full(100, 3.1))
    assert np.isnan(alike.estimate[-1])
    assert (alike.low[-1], alike.high[-1]) == (-math.inf, math.inf)
    squared = sb.confidence_sequence(rng.normal(0.01, 1.0, 100), sb.RSSR(L=0.5))
    assert squared.low[-1] == 0.0


def test_agents_know_the_intervals_of_their_arms_and_the_leader():
    rng = np.random.default_rng(8)
    agent = sb.policies.RoundRobin().agent(arms=["good", "poor", "rare"])
    told = {arm: [] for arm in agent.arms}
    assert all(math.isinf(interval.high) for interval in agent.intervals().values())
    assert not agent.leader().probably_best
    for _ in range(900):
        arm = agent.ask()
        told[arm].append(rng.normal({"good": 1.0, "poor": 0.4, "rare": 0.2}[arm], 1.0))
        agent.tell(arm, told[arm][-1])
    objective = sb.RSSR(L=0.1, signed=True)
    found = agent.intervals(objective, alpha=0.1)
    for arm, rewards in told.items():
        path = sb.confidence_sequence(rewards, objective, alpha=0.1, arms=3)
        assert found[arm].low == pytest.approx(path.low[-1], rel=1e-9)
        assert found[arm].high == pytest.approx(path.high[-1], rel=1e-9)
        assert found[arm].estimate == pytest.approx(path.estimate[-1], rel=1e-9)
    first = agent.leader(objective, alpha=0.1)
    assert (first.arm, first.rival, first.probably_best, first.since) == ("good", "poor", True, None)
    assert 0 < first.low < first.lead
    assert agent.leader(objective, alpha=1e-9).low < first.low
    assert type(agent).from_json(agent.to_json()).leader(objective, alpha=0.1) == first


def moments_of(rewards):
    """Moments of lists of rewards, in plain Python."""
    rows = []
    for x in rewards:
        mean = statistics.fmean(x)
        central = [statistics.fmean([(v - mean) ** k for v in x]) for k in (3, 4)]
        rows.append((len(x), mean, statistics.variance(x), *central))
    return Statistics(*np.array(rows).T)


def test_agents_know_since_when_the_leader_has_been_probably_best():
    """Against the leader of the moments of all rewards at every round at which agents look."""
    rng = np.random.default_rng(21)
    agent = sb.policies.RoundRobin().agent(arms=["a", "b", "c"])
    told = {arm: [] for arm in agent.arms}
    since, breaks, began = None, 0, None
    for t in range(1, 2001):
        arm = agent.ask()
        # "a" leads at first; later rewards of "b" catch up, so that there is a break and another leader
        mean = {"a": 1.0 if t < 600 else -0.5, "b": 0.3 if t < 600 else 2.5, "c": 0.0}[arm]
        told[arm].append(float(rng.normal(mean, 1.0)))
        agent.tell(arm, told[arm][-1])
        if t % 32 == 0:
            found = leader(moments_of(told.values()), agent.policy.objective)
            now = found.arm if found.probably_best else None
            if now != since:
                breaks, since, began = breaks + 1, now, t
            known = agent.leader()
            assert known.probably_best == found.probably_best
            assert known.since == (None if now is None else began)
            assert known.arm == agent.arms[found.arm]
    assert breaks >= 3
    assert (agent.leader().arm, agent.leader().since) == ("b", began)
    again = type(agent).from_json(agent.to_json())
    assert again.leader() == agent.leader()
    agent.add_arm("d")
    assert agent.leader().since is None
    assert not agent.leader().probably_best
    agent.retire_arm("d")
    assert (agent.leader().arm, agent.leader().since) == ("b", agent.t)
    agent.retire_arm("b")
    assert agent.leader().arm != "b"
    agent.retire_arm("c")
    alone = agent.leader()
    assert (alone.arm, alone.rival, alone.low) == ("a", None, None)


def test_a_leader_that_is_none_is_said_to_be_best_in_few_runs():
    """Two like arms at all times: a leader is called probably best in less than alpha of the runs."""
    wrong = 0
    for seed in range(60):
        rng = np.random.default_rng([22, seed])
        agent = sb.policies.RoundRobin().agent(arms=2)
        ever = False
        for _ in range(1500):
            agent.tell(agent.ask(), rng.normal(0.2, 1.0))
            ever |= agent._leading is not None
        wrong += ever
    assert wrong <= 60 * 0.05 + 3 * math.sqrt(60 * 0.05 * 0.95)


def lead_by_hand(n, k, others, alpha, m=32.0):
    """The largest error of the difference of two means of unit variance that leaves the product of a two-sided and a
    one-sided mixture martingale below (K - 1) / alpha, by brute force over how the error is shared.
    """
    first, second = math.sqrt((1 + m / n) / n), math.sqrt((1 + m / k) / k)
    level = math.log(others / alpha) + 0.5 * (math.log1p(n / m) + math.log1p(k / m))
    z = np.linspace(-12, 12, 200_001)

    def excess(error):
        rival = (error - z * first) / second
        return (0.5 * z * z + 0.5 * rival * rival + math.log(2) + scipy.special.log_ndtr(rival)).min() - level

    return scipy.optimize.brentq(excess, 0.0, 12 * (first + second), xtol=1e-12)


@pytest.mark.parametrize("n", [(100, 400, 50), (5_000, 80, 64), (40, 3_000, 3_000)])
def test_the_lead_by_hand(n):
    mean, alpha = np.array([1.0, 0.9, -0.5]), 0.05
    found = leader(Statistics(np.array(n), mean, np.ones(3), np.zeros(3), np.full(3, 3.0)), sb.Mean(), alpha=alpha)
    bounds = [mean[0] - mean[i] - lead_by_hand(n[0], n[i], 2, alpha) for i in (1, 2)]
    assert (found.arm, found.rival) == (0, 1 + int(np.argmin(bounds)))
    assert min(bounds) - 0.003 < found.low <= min(bounds) + 1e-6  # never above
    assert not found.probably_best


def test_evidence_that_an_arm_beats_the_hurdle_by_quadrature():
    """Each arm's e-value is the likelihood ratio averaged over a half-normal prior of the mean."""
    n, mean, w = np.array([200, 90]), np.array([0.15, -0.1]), np.array([1.0, 2.0])
    fourth = 3 * w * w
    found = evidence_above(Statistics(n, mean, w, np.zeros(2), fourth), sb.Mean())
    ratios = []
    for k, x, v in zip(n, mean, w, strict=True):
        prior = scipy.stats.halfnorm(scale=math.sqrt(v / 32))
        ratio, _ = scipy.integrate.quad(
            lambda d, k=k, x=x, v=v, prior=prior: prior.pdf(d) * math.exp(k * (x * d - 0.5 * d * d) / v), 0, 2
        )
        ratios.append(ratio)
    assert found.e_value == pytest.approx(np.mean(ratios), rel=1e-6)
    assert (found.arm, found.p_value) == (0, pytest.approx(min(1.0, 1 / np.mean(ratios)), rel=1e-6))
    later = evidence_above(Statistics(100 * n, mean, w, np.zeros(2), fourth), sb.Mean())
    assert later.p_value < 1e-6
    assert evidence_above(Statistics(n, mean, w, np.zeros(2), fourth), sb.Mean(), hurdle=0.3).p_value == 1


def test_agents_say_whether_any_arm_beats_the_hurdle():
    rng = np.random.default_rng(5)
    agent = sb.ScaleFreeUCB(L=0.1).agent(arms=["good", "bad"])
    assert agent.evidence().p_value == 1
    for _ in range(800):
        arm = agent.ask()
        agent.tell(arm, rng.normal(0.4 if arm == "good" else -0.2, 1.0))
    assert agent.evidence().arm == "good"
    assert agent.evidence().p_value < 0.01
    assert agent.evidence(hurdle=0.8).p_value > 0.5


def test_rewards_that_are_worse_if_late_are_noticed_and_others_are_not():
    rng = np.random.default_rng(6)
    arms, x = rng.integers(2, size=500), rng.normal(size=500)
    delays = rng.exponential(size=500)
    assert not lateness(arms, x + 3 * arms, delays + 2 * arms).differs  # arms may differ in both
    noticed = lateness(arms, x + 3 * arms, delays + 2.0 * (x < 0))
    assert noticed.differs
    assert noticed.z < 0
    one = lateness(["A"] * 50, x[:50], delays[:50])
    r = scipy.stats.spearmanr(x[:50], delays[:50]).statistic
    assert one.z == pytest.approx(r * math.sqrt(49))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sb.confidence_sequence([]), "shape"),
        (lambda: sb.confidence_sequence([1.0, math.nan]), "finite"),
        (lambda: sb.confidence_sequence([1.0, 2.0], alpha=1.5), "alpha"),
        (lambda: sb.confidence_sequence([1.0, 2.0], "Sharpe"), "objective"),
        (lambda: sb.confidence_sequence([1.0, 2.0], arms=0), "arms"),
        (lambda: leader(Statistics(*np.ones((5, 1)))), "two arms"),
        (lambda: lateness(["A"], [1.0, 2.0], [0.0]), "one entry"),
        (lambda: evidence_above(Statistics(*np.ones((5, 2))), hurdle=math.nan), "hurdle"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(sb.errors.InvalidInputError, match=message):
        call()
