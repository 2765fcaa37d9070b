"""What one policy did: merged from chunks in any order, and judged as brute force would judge it."""

import itertools
import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

import sharpe_bandits as sb
from sharpe_bandits.arms.bandit import as_environment
from sharpe_bandits.simulation.spec import BATCHES, Spec, run_chunk
from tests.chunks import BANDIT, HORIZON, POLICIES, assert_same, merge
from tests.conftest import examples
from tests.top_m import FIVE


@given(st.permutations(range(7)), st.sampled_from(POLICIES))
@settings(max_examples=examples(0.4))
def test_chunks_merge_in_any_order(order, policy):
    """Chunks of 3, 1, 5, ... runs that split batches, merged in any order."""
    sizes = [3, 1, 5, 2, 16, 4, 9]
    spec = Spec(policy, as_environment(BANDIT), HORIZON, sum(sizes), 5, (10, HORIZON))
    firsts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).tolist()
    chunks = [run_chunk(spec, range(first, first + size)) for first, size in zip(firsts, sizes, strict=True)]
    assert_same(merge(spec, [chunks[i] for i in order]), merge(spec, [run_chunk(spec, range(sum(sizes)))]))


def test_batches_of_several_runs_split_by_chunks():
    """Above 256 runs a batch holds several; chunks need not respect its bounds."""
    runs = 2 * BATCHES + 38
    spec = Spec(sb.UCBRSSR(L=2.0), as_environment(BANDIT), HORIZON, runs, 3, (6, 20, HORIZON))
    assert spec.batch == 3
    whole = merge(spec, [run_chunk(spec, range(runs))])
    pieces = merge(spec, [run_chunk(spec, range(first, min(first + 50, runs))) for first in range(0, runs, 50)])
    assert_same(whole, pieces)
    assert len(whole.pulls) == -(-runs // 3) == len(whole.batch_sizes)
    assert whole.batch_sizes.sum() == runs
    assert whole.batch_sizes[-1] == runs % 3 == 1


def test_missing_or_doubled_runs_are_refused():
    spec = Spec(sb.policies.UCB1(), as_environment(BANDIT), HORIZON, 6, 3, (HORIZON,))
    parts = [run_chunk(spec, range(2)), run_chunk(spec, range(2, 4)), run_chunk(spec, range(4, 6))]
    assert merge(spec, parts).runs == 6
    for chunks in ([parts[0], parts[2]], [parts[0], parts[0], parts[1]], parts[:2]):
        with pytest.raises(AssertionError, match="do not cover the runs"):
            merge(spec, chunks)


def judged(recommended):
    """A study whose runs recommend these sets."""
    m = len(recommended[0])
    study = sb.simulate(
        sb.policies.UniformSampling(sb.RSSR(L=0.1), m=m), FIVE, horizon=50, runs=len(recommended), checkpoints=[50]
    )
    study["Uniform sampling"].recommended[:] = recommended
    return study["Uniform sampling"]


def test_a_set_is_right_if_it_is_one_of_m_best_arms():
    sets = [list(s) for s in itertools.combinations(range(5), 3)]
    right = [s in ([0, 1, 2], [0, 1, 3]) for s in sets]  # arms 2 and 3 may stand for each other
    assert judged(sets).error().mean == pytest.approx(1 - np.mean(right))
    for s, fine in zip(sets, right, strict=True):
        assert judged([s] * 2).error().mean == (0.0 if fine else 1.0)
    assert judged([[2, 3]]).error().mean == 1.0  # both tie with each other, not with the best
    assert judged([[0, 1], [1, 2]]).error().mean == 0.5


def test_simple_regret_is_what_the_average_falls_short():
    values = np.array(
        [
            sb.RSSR(L=0.1).value(sb.objectives.Statistics(mean=b / 2, variance=b * b / 12))
            for b in (1.0, 0.9, 0.8, 0.8, 0.5)
        ]
    )
    for s in ([0, 1, 3], [0, 2, 3], [2, 3, 4]):
        expected = values[:3].mean() - values[s].mean()
        assert judged([s] * 2).simple_regret().mean == pytest.approx(expected, abs=1e-15)
    assert judged([[0, 1, 3]] * 2).simple_regret().mean == 0.0


UCB, MVTS = sb.UCBRSSR(L=2.0), sb.policies.MVTS()
RUNS, SEED = 40, 12


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
    bandit = sb.Bandit([sb.Normal(1e6, variance=1.0), sb.Normal(1e6 + 0.5, variance=1.0)])
    for policy in (sb.UCBRSSR(L=2.0), sb.SHSR(L=2.0), sb.policies.MVTS()):
        outcome = sb.simulate(policy, bandit, horizon=400, runs=3, seed=5)[policy.name]
        for run in range(3):
            rewards = sb.trace(policy, bandit, horizon=400, seed=5, run=run).rewards
            assert outcome.reward_variance[run] == pytest.approx(rewards.var(ddof=1), rel=1e-8)


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
    study = sb.simulate(sb.policies.UniformSampling(sb.RSSR(L=0.5)), bandit, horizon=90, runs=60, seed=1)
    result = study["Uniform sampling"]
    assert np.unique(result.recommended).tolist() == [0, 2]
    assert result.error().mean == 0.0
    assert result.simple_regret().mean == 0.0
    assert result.suboptimal_plays().mean[-1] == 30.0


def test_random_bandits_are_judged_by_the_arms_of_each_run():
    def draw(generator):
        return sb.arms.UniformArms(np.zeros(3), generator.uniform(0.5, 3, size=3))

    bandit = sb.RandomBandit(3, draw)
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
    with pytest.raises(sb.errors.InvalidInputError, match=r"confidence must lie strictly between 0 and 1, got 95"):
        study["UCB-RSSR"].regret(confidence=95)
    with pytest.raises(sb.errors.InvalidInputError, match="got 1"):
        study["SHSR"].error(confidence=1)


def test_an_arm_within_epsilon_of_the_best_is_no_error():
    """epsilon is in units of the root of RSSR, here of Sharpe ratios of 2, 1.95 and 1; the gaps of RSSR are larger."""
    arms = [sb.Normal(2.0, variance=0.75), sb.Normal(1.95, variance=0.75), sb.Normal(1.0, variance=0.75)]
    policies = [sb.TopTwo(L=0.25, epsilon=0.1), sb.TopTwo(L=0.25, epsilon=0.01, name="strict")]
    study = sb.identify(policies, arms, runs=4, max_budget=200)
    for result in study.values():
        result.recommended[:] = [[0], [1], [2], [1]]
        result.stopped[:] = [True, True, True, False]
    assert study["TopTwo"].wrong().tolist() == [False, False, True, False]
    assert study["strict"].wrong().tolist() == [False, True, True, True]
    assert study["TopTwo"].error().mean == study.error()["TopTwo"].mean == pytest.approx(1 / 3)
    assert study["strict"].error().mean == pytest.approx(2 / 3)
    assert study["TopTwo"].error(sb.Mean()).mean == pytest.approx(2 / 3)  # it was promised for RSSR alone
    assert "epsilon" in study.summary(metric="error").title
    assert "epsilon" not in study.summary().title
