"""Rewards as functions of a uniform number: every kind of arm, in the tails too, in blocks of any size."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

import sharpe_bandits as sb
from sharpe_bandits._support.call_tree import substituted
from sharpe_bandits.play import rewards, streams
from sharpe_bandits.simulation.compiler import specialise
from tests.play.inversion import key_of

OTHER = sb.Uniform(0, 1)
#: Distances to the ends of (0, 1) over all 52 octaves of a table, in the middle of cells and at their edges.
DISTANCES = np.unique(np.concatenate([2.0 ** -np.linspace(1.001, 51.9, 400), 2.0 ** -np.arange(2.0, 52.0)]))
ENDS = [2.0**-53, 1.5 * 2.0**-53, 2.0**-52]


def fill(bandit, arm, key, first, count):
    out = np.zeros(count)
    specialise(rewards.fill, {})(bandit.table(0, range(1)), 0, arm, np.uint64(key), first, out)
    return out


def drawn(arm, probabilities):
    """Rewards at chosen probabilities, and the probabilities that were really used."""
    bandit = sb.Bandit([arm, OTHER])
    keys, exact = zip(*(key_of(u) for u in probabilities), strict=True)
    return np.array([fill(bandit, 0, key, 0, 1)[0] for key in keys]), np.array(exact)


#: Arm, its law in scipy, tolerance.
CONTINUOUS = [
    (sb.Uniform(1.5, 7.5), scipy.stats.uniform(1.5, 6.0), 1e-15),
    (sb.Normal(1.0, variance=4.0), scipy.stats.norm(1.0, 2.0), 1e-14),
    (sb.arms.TruncatedNormal(5, 4, 1, 7), scipy.stats.truncnorm(-2, 1, 5, 2), 1e-8),
    (sb.arms.TruncatedNormal(10, 12, 1, 20), scipy.stats.truncnorm(-9 / 12**0.5, 10 / 12**0.5, 10, 12**0.5), 1e-8),
    (sb.arms.Gamma(2.0, 3.0), scipy.stats.gamma(2.0, scale=3.0), 1e-8),
    (sb.arms.Gamma(0.5, 1.0), scipy.stats.gamma(0.5), 1e-8),
    (sb.arms.Gamma(40.0, 0.1), scipy.stats.gamma(40.0, scale=0.1), 1e-8),
    (sb.Beta(2.0, 5.0), scipy.stats.beta(2.0, 5.0), 1e-8),
    (sb.Beta(0.5, 0.5), scipy.stats.beta(0.5, 0.5), 1e-8),
    (sb.arms.Scipy(scipy.stats.lognorm(0.5)), scipy.stats.lognorm(0.5), 1e-8),
    (sb.arms.Scipy(scipy.stats.t(5, loc=1.0)), scipy.stats.t(5, loc=1.0), 1e-8),
]


@pytest.mark.parametrize(("arm", "law", "tolerance"), CONTINUOUS, ids=[repr(case[0]) for case in CONTINUOUS])
def test_continuous_rewards_are_quantiles(arm, law, tolerance):
    """As good in the tails as in the middle: errors in units of the spread, or of the reward if that is more."""
    values, exact = drawn(arm, [*ENDS, *DISTANCES])
    np.testing.assert_allclose(values, law.ppf(exact), rtol=tolerance, atol=tolerance * law.std())
    values, exact = drawn(arm, [1 - d for d in (*ENDS[:1], *DISTANCES)])
    np.testing.assert_allclose(values, law.isf(1 - exact), rtol=tolerance, atol=tolerance * law.std())


def test_truncated_gamma_rewards_are_quantiles():
    """The truncated law written out: P(X <= x | 1 <= X <= 10) for the paper's Gamma(2, 3)."""
    full = scipy.stats.gamma(2, scale=3)
    low, high = full.cdf([1, 10])
    values, exact = drawn(sb.arms.TruncatedGamma(2, 3, 1, 10), [*ENDS, *DISTANCES, *(1 - DISTANCES)])
    np.testing.assert_allclose((full.cdf(values) - low) / (high - low), exact, rtol=1e-8, atol=1e-13)
    assert values.min() >= 1
    assert values.max() <= 10


def test_bernoulli_pays_one_below_p():
    edge = 0.3
    values, exact = drawn(sb.Bernoulli(edge), [0.1, 0.2999999, 0.3000001, 0.9])
    assert values.tolist() == [1, 1, 0, 0]
    assert ((exact < edge) == (values == 1)).all()
    assert set(fill(sb.Bandit([sb.Bernoulli(0.0), OTHER]), 0, 5, 0, 1000)) == {0.0}
    assert set(fill(sb.Bandit([sb.Bernoulli(1.0), OTHER]), 0, 5, 0, 1000)) == {1.0}


def test_empirical_pays_its_values_in_equal_parts():
    values, _ = drawn(sb.Empirical([3.0, -1.0, 7.0, 7.5]), [2.0**-53, 0.2499, 0.2501, 0.4999, 0.5001, 0.76, 1 - 2**-53])
    assert values.tolist() == [3, 3, -1, -1, 7, 7.5, 7.5]


def test_discrete_scipy_arms_pay_their_quantiles():
    law = scipy.stats.poisson(3.0)
    values, exact = drawn(sb.arms.Scipy(law), np.linspace(0.001, 0.999, 301))
    assert values.tolist() == law.ppf(exact).tolist()
    shifted = scipy.stats.binom(4, 0.3, loc=-2)
    values, exact = drawn(sb.arms.Scipy(shifted), np.linspace(0.01, 0.99, 101))
    assert values.tolist() == shifted.ppf(exact).tolist()


def test_constants_pay_the_same():
    assert set(fill(sb.Bandit([sb.arms.Constant(-2.5), OTHER]), 0, 9, 0, 100)) == {-2.5}


def test_a_tape_pays_what_is_on_it_and_then_nothing():
    tape = sb.Tape([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    assert fill(tape, 1, 77, 1, 2).tolist() == [5.0, 6.0]
    past = fill(tape, 0, 77, 2, 3)
    assert past[0] == 3.0
    assert np.isnan(past[1:]).all()


MIXED = sb.Bandit(
    [
        sb.Uniform(0, 2),
        sb.Normal(0, variance=1),
        sb.arms.Gamma(2, 1),
        sb.Bernoulli(0.4),
        sb.Empirical([1, 2, 5]),
        sb.arms.Scipy(scipy.stats.poisson(2.0)),
    ]
)


@given(st.integers(0, 5), st.integers(0, 2**64 - 1), st.integers(0, 1000), st.integers(1, 40))
def test_a_reward_does_not_depend_on_the_block_it_is_drawn_in(arm, key, first, count):
    whole = fill(MIXED, arm, key, 0, first + count)
    np.testing.assert_array_equal(fill(MIXED, arm, key, first, count), whole[first:])


@given(st.integers(0, 5), st.integers(0, 2**64 - 1), st.integers(0, 3))
def test_compiled_rewards_are_the_plain_ones(arm, key, first):
    out = np.zeros(5)
    with np.errstate(over="ignore"):
        substituted(rewards.fill, {})(MIXED.table(0, range(1)), 0, arm, np.uint64(key), first, out)
    np.testing.assert_array_equal(fill(MIXED, arm, key, first, 5), out)


def test_the_engine_draws_from_the_documented_stream():
    """Run r, arm i, pull j: the stream of (seed, run, arm) at pull j."""
    bandit = sb.Bandit([sb.Uniform(0, 1), sb.Uniform(2, 3)])
    trace = sb.trace(sb.policies.RoundRobin(), bandit, horizon=10, seed=123, run=7)
    with np.errstate(over="ignore"):
        run_key = streams.stream_key(np.uint64(123), streams.REWARDS, 7)
        for t in range(10):
            arm, pull = t % 2, t // 2
            bits = streams.reward_bits(streams.fold(run_key, arm), pull)
            assert trace.rewards[t] == 2.0 * arm + streams.unit(bits)
