"""Numbers with their uncertainty, against published values and against brute force from traces."""

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

import sharpe_bandits as sb
from sharpe_bandits import metrics

BANDIT = sb.Bandit([sb.Uniform(1.5, 7.5), sb.Uniform(1.6, 7.8), sb.Uniform(0, 6)])
UCB, MVTS = sb.UCBRSSR(L=2.0), sb.MVTS()
HORIZON, RUNS, SEED = 60, 40, 12


@pytest.fixture(scope="module")
def study():
    return sb.simulate([UCB, MVTS, sb.SHSR(L=2.0)], BANDIT, horizon=HORIZON, runs=RUNS, seed=SEED, checkpoints=[7, 30])


@pytest.fixture(scope="module")
def traces():
    """Every run of every policy, round by round."""
    return {
        policy.name: [sb.trace(policy, BANDIT, horizon=HORIZON, seed=SEED, run=run) for run in range(RUNS)]
        for policy in (UCB, MVTS, sb.SHSR(L=2.0))
    }


def rssr(L):
    """True values, by hand: uniform on [a, b] has mean (a + b) / 2 and variance (b - a)^2 / 12."""
    ends = [(1.5, 7.5), (1.6, 7.8), (0, 6)]
    return np.array([((a + b) / 2) ** 2 / (L + (b - a) ** 2 / 12) for a, b in ends])


def naive(values, confidence=0.95):
    """Mean, standard error and Student interval of one number per run."""
    values = np.asarray(values, float)
    se = values.std(ddof=1) / math.sqrt(values.size)
    half = scipy.stats.t.ppf(0.5 + confidence / 2, values.size - 1) * se
    return values.mean(), se, values.mean() - half, values.mean() + half


def assert_estimate(estimate, expected):
    assert (estimate.mean, estimate.se, estimate.low, estimate.high) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("name", ["UCB-RSSR", "MVTS", "SHSR"])
def test_regret_is_the_sum_of_gaps_of_what_was_played(study, traces, name):
    gaps = rssr(2.0).max() - rssr(2.0)
    curve = study[name].regret(sb.RSSR(L=2.0))
    assert curve.t.tolist() == [7, 30, 60]
    assert len(curve) == 3
    for column, t in enumerate(curve.t):
        per_run = [gaps[trace.choices[:t]].sum() for trace in traces[name]]
        expected = naive(per_run)
        seen = curve.mean[column], curve.se[column], curve.low[column], curve.high[column]
        assert seen == pytest.approx(expected, rel=1e-10)
    np.testing.assert_allclose(
        study[name].regret_per_run(sb.RSSR(L=2.0)), [gaps[trace.choices].sum() for trace in traces[name]], rtol=1e-12
    )
    assert_estimate(curve.final, expected)


def test_suboptimal_plays_are_plays_of_other_arms(study, traces):
    best = int(np.argmax(rssr(2.0)))
    curve = study["MVTS"].suboptimal_plays(sb.RSSR(L=2.0))
    for column, t in enumerate(curve.t):
        per_run = [np.sum(trace.choices[:t] != best) for trace in traces["MVTS"]]
        assert (curve.mean[column], curve.se[column]) == pytest.approx(naive(per_run)[:2], rel=1e-10)


def test_the_objective_defaults_to_the_policys_own(study, traces):
    gaps = rssr(2.0).max() - rssr(2.0)
    own = study["UCB-RSSR"].regret()
    assert own.mean[-1] == pytest.approx(np.mean([gaps[t.choices].sum() for t in traces["UCB-RSSR"]]), rel=1e-12)
    # MVTS maximises mu - sigma^2: 4.5 - 3, 4.7 - 6.2^2/12, 3 - 3.
    value = np.array([1.5, 4.7 - 6.2**2 / 12, 0.0])
    own = study["MVTS"].regret()
    expected = np.mean([(value.max() - value)[t.choices].sum() for t in traces["MVTS"]])
    assert own.mean[-1] == pytest.approx(expected, rel=1e-12)


def test_comparison_is_paired(study, traces):
    gaps = rssr(2.0).max() - rssr(2.0)
    curve = study.compare("UCB-RSSR", "MVTS", sb.RSSR(L=2.0))
    for column, t in enumerate(curve.t):
        difference = [
            gaps[a.choices[:t]].sum() - gaps[b.choices[:t]].sum()
            for a, b in zip(traces["UCB-RSSR"], traces["MVTS"], strict=True)
        ]
        seen = curve.mean[column], curve.se[column], curve.low[column], curve.high[column]
        assert seen == pytest.approx(naive(difference), rel=1e-9, abs=1e-12)
    swapped = study.compare("MVTS", "UCB-RSSR", sb.RSSR(L=2.0))
    np.testing.assert_allclose(swapped.mean, -curve.mean, rtol=1e-12)
    itself = study.compare("MVTS", "MVTS", sb.RSSR(L=2.0))
    assert (itself.mean == 0).all()
    assert (itself.low == 0).all()


def test_errors_and_simple_regret_are_of_the_recommended_arm(study, traces):
    values = rssr(2.0)
    wrong = np.array([t.recommended != np.argmax(values) for t in traces["SHSR"]])
    assert 0 < wrong.sum() < RUNS
    error = study["SHSR"].error()
    interval = scipy.stats.binomtest(int(wrong.sum()), RUNS).proportion_ci(0.95, method="wilson")
    assert (error.mean, error.low, error.high) == pytest.approx((wrong.mean(), interval.low, interval.high), rel=1e-10)
    assert error.se == pytest.approx(math.sqrt(wrong.mean() * (1 - wrong.mean()) / RUNS), rel=1e-12)
    lost = [values.max() - values[t.recommended] for t in traces["SHSR"]]
    assert_estimate(study["SHSR"].simple_regret(), naive(lost))
    other = np.array([t.recommended != np.argmax(values) for t in traces["MVTS"]])
    paired = study.compare_errors("SHSR", "MVTS", sb.RSSR(L=2.0))
    assert_estimate(paired, naive(wrong.astype(float) - other))


@pytest.mark.parametrize(
    ("objective", "value"),
    [
        (sb.Sharpe(L=0.5), lambda x: x.mean() / (0.5 + x.std(ddof=1))),
        (sb.RSSR(L=0.5), lambda x: x.mean() ** 2 / (0.5 + x.var(ddof=1))),
    ],
)
def test_achieved_ratio_is_that_of_the_rewards(study, traces, objective, value):
    for name in ("UCB-RSSR", "SHSR"):
        expected = naive([value(trace.rewards) for trace in traces[name]], 0.9)
        assert_estimate(study[name].achieved(objective, confidence=0.9), expected)


def test_achieved_ratio_with_a_mean_that_dwarfs_the_variance():
    """Rewards near 10^6 with unit variance."""
    bandit = sb.Bandit([sb.Normal(1e6, 1.0), sb.Normal(1e6 + 0.5, 1.0)])
    for policy in (sb.UCBRSSR(L=2.0), sb.SHSR(L=2.0), sb.MVTS()):
        outcome = sb.simulate(policy, bandit, horizon=400, runs=3, seed=5)[policy.name]
        for run in range(3):
            rewards = sb.trace(policy, bandit, horizon=400, seed=5, run=run).rewards
            assert outcome.reward_variance[run] == pytest.approx(rewards.var(ddof=1), rel=1e-8)


def test_large_means_do_not_disturb_choices():
    """UCB-VV looks at variances alone: shifting all rewards by a million must change nothing."""
    rewards = np.random.default_rng(2).normal(0, [[1.0], [1.2], [0.8]], size=(3, 500))
    rewards = np.round(rewards * 2**20) / 2**20  # so that the shift itself is exact
    plain = sb.trace(sb.UCBVV(), sb.Tape(rewards), horizon=500)
    shifted = sb.trace(sb.UCBVV(), sb.Tape(rewards + 2.0**20), horizon=500)
    np.testing.assert_array_equal(plain.choices, shifted.choices)


#: Newcombe, Two-sided confidence intervals for the single proportion, Statistics in Medicine 17 (1998), table I,
#: method 3 (Wilson's score interval), 95%.
NEWCOMBE = [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)]


@pytest.mark.parametrize(("count", "runs", "low", "high"), NEWCOMBE)
def test_wilson_interval_is_the_published_one(count, runs, low, high):
    estimate = metrics.wilson(count, runs, 0.95)
    assert (estimate.low, estimate.high) == pytest.approx((low, high), abs=5.1e-5)
    assert estimate.mean == count / runs


@given(st.integers(1, 500), st.data(), st.floats(0.5, 0.999))
def test_wilson_interval_is_scipys(runs, data, confidence):
    count = data.draw(st.integers(0, runs))
    estimate = metrics.wilson(count, runs, confidence)
    interval = scipy.stats.binomtest(count, runs).proportion_ci(confidence, method="wilson")
    assert (estimate.low, estimate.high) == pytest.approx((interval.low, interval.high), abs=1e-12)


def test_an_error_that_never_occurs_has_an_interval_from_0():
    assert metrics.wilson(0, 50, 0.95).low == 0.0
    assert metrics.wilson(50, 50, 0.95).high == 1.0


@given(
    totals=st.lists(st.floats(-50, 50), min_size=4, max_size=30),
    size=st.integers(1, 5),
    last=st.integers(1, 5),
)
def test_batch_means_are_the_naive_ratio(totals, size, last):
    """Mean over runs, and the standard error of a mean of batches that differ in size (the last may be smaller)."""
    sizes = np.full(len(totals), size)
    sizes[-1] = min(last, size)
    curve = metrics.batch_means(np.array(totals)[:, None], sizes, np.array([1]), 0.95)
    mean = math.fsum(totals) / sizes.sum()
    squares = math.fsum((total - n * mean) ** 2 for total, n in zip(totals, sizes.tolist(), strict=True))
    b = len(totals)
    assert curve.mean[0] == pytest.approx(mean, abs=1e-12)
    assert curve.se[0] == pytest.approx(math.sqrt(b / (b - 1) * squares) / sizes.sum(), abs=1e-9)
    if sizes[-1] == size:  # equal batches: the usual error of a mean of batch means
        batches = np.array(totals) / size
        assert curve.se[0] == pytest.approx(batches.std(ddof=1) / math.sqrt(b), abs=1e-9)


def test_batches_of_runs_estimate_the_same_error_as_runs():
    """1000 runs in batches of 4 against the naive error from all single runs: equal but for the noise of an error."""
    runs = 1000
    study = sb.simulate(UCB, BANDIT, horizon=HORIZON, runs=runs, seed=3)
    result = study["UCB-RSSR"]
    assert result.batch == 4
    mean, se, _, _ = naive(result.regret_per_run())
    assert result.regret().mean[-1] == pytest.approx(mean, rel=1e-12)
    assert result.regret().se[-1] == pytest.approx(se, rel=4 / math.sqrt(2 * 250))  # four errors of an error


def test_a_single_run_has_no_error_to_show():
    curve = sb.simulate(UCB, BANDIT, horizon=HORIZON, runs=1)["UCB-RSSR"].regret()
    assert np.isnan(curve.se).all()
    assert np.isfinite(curve.mean).all()


def test_ties_for_best_are_not_errors():
    """Arms 0 and 2 have the same RSSR: playing or recommending either is no error."""
    bandit = sb.Bandit([sb.Uniform(1, 3), sb.Uniform(0, 1), sb.Uniform(1, 3)])
    study = sb.simulate(sb.UniformSampling(sb.RSSR(L=0.5)), bandit, horizon=90, runs=60, seed=1)
    result = study["Uniform sampling"]
    assert np.unique(result.recommended).tolist() == [0, 2]
    assert result.error().mean == 0.0
    assert result.simple_regret().mean == 0.0
    assert result.suboptimal_plays().mean[-1] == 30.0


def test_random_bandits_are_judged_by_the_arms_of_each_run():
    def draw(generator):
        return sb.UniformArms(np.zeros(3), generator.uniform(0.5, 3, size=3))

    bandit = sb.RandomBandit(3, draw, lowest=0.0)
    runs = 300  # more than there are batches of runs with the same arms
    study = sb.simulate([UCB, sb.SHSR(L=2.0)], bandit, horizon=HORIZON, runs=runs, seed=6)
    best = []
    for policy in (UCB, sb.SHSR(L=2.0)):
        regrets, wrong = [], []
        for run in range(runs):
            high = bandit.arms_of(6, run).high
            values = (high / 2) ** 2 / (2.0 + high**2 / 12)
            trace = sb.trace(policy, bandit, horizon=HORIZON, seed=6, run=run)
            regrets.append((values.max() - values)[trace.choices].sum())
            wrong.append(trace.recommended != np.argmax(values))
            best.append(int(np.argmax(values)))
        curve = study[policy.name].regret()
        assert (curve.mean[-1], curve.se[-1]) == pytest.approx(naive(regrets)[:2], rel=1e-10)
        assert study[policy.name].error().mean == pytest.approx(np.mean(wrong))
    assert len(set(best)) == 3  # so that a common truth would have been noticed


def test_confidence_must_be_a_probability(study):
    with pytest.raises(sb.InvalidInputError, match=r"confidence must lie strictly between 0 and 1, got 95"):
        study["UCB-RSSR"].regret(confidence=95)
    with pytest.raises(sb.InvalidInputError, match="got 1"):
        study["SHSR"].error(confidence=1)


def test_estimates_print_themselves():
    assert f"{metrics.Estimate(1.0, 0.25, 0.5, 1.5):.2f}" == "1.00 ± 0.25 [0.50, 1.50]"


def test_runs_that_are_all_alike_have_no_standard_error():
    totals = np.full((7, 1), 0.1 + 0.2) * np.array([3, 3, 3, 3, 3, 3, 2])[:, None]
    curve = metrics.batch_means(totals, np.array([3, 3, 3, 3, 3, 3, 2]), np.array([10]), 0.95)
    assert curve.se[0] == 0.0
    assert curve.low[0] == curve.high[0] == curve.mean[0]
    assert repr(curve).startswith("<Curve of 1 points from t = 10 to 10, where it is 0.3 ")
