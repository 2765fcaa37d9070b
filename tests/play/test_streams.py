"""Counter-based random numbers against published values, numpy, scipy, and tests of fit with fixed seeds."""

import itertools
import math

import numpy as np
import pytest
import scipy.special
import scipy.stats

from sharpe_bandits.play import streams
from sharpe_bandits.simulation.compiler import specialise

#: A fixed seed either passes for ever or fails for ever; below this a sample is no sample of its distribution.
LEAST_P = 1e-4


@pytest.fixture(autouse=True)
def _modulo():
    """Run as plain Python, the streams count modulo 2**64 in numpy numbers, which warn of it."""
    with np.errstate(over="ignore"):
        yield


def test_log1p_is_that_of_numpy():
    x = np.concatenate([[0.0, 1e300], np.exp(np.random.default_rng(3).uniform(-700.0, 690.0, 20_000))])
    np.testing.assert_allclose([streams.log1p(v) for v in x], np.log1p(x), rtol=1e-15)


def test_mix64_is_splitmix64():
    """First five outputs for the seed 1234567, as listed by Rosetta Code, "Pseudo-random numbers/Splitmix64"."""
    states = np.uint64(1234567) + np.arange(1, 6, dtype=np.uint64) * streams.GOLDEN
    assert streams.mix64(states).tolist() == [
        6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821,
    ]  # fmt: skip


def test_unit_stays_inside_and_is_symmetric():
    words = [0, 1, 2**12 - 1, 2**12, 2**63 - 1, 2**63, 2**64 - 2**12, 2**64 - 1]
    for word in words:
        u = float(streams.unit(np.uint64(word)))
        assert 0.0 < u < 1.0
        assert u == (word // 2**12 + 0.5) / 2**52
        assert u + float(streams.unit(np.uint64(2**64 - 1 - word))) == 1.0


def test_keys_of_runs_arms_and_domains_differ():
    things = itertools.product(range(6), (streams.REWARDS, streams.POLICY), range(30), range(30))
    keys = {int(streams.fold(streams.stream_key(np.uint64(s), domain, run), arm)) for s, domain, run, arm in things}
    assert len(keys) == 6 * 2 * 30 * 30


def test_normal_quantile_is_scipys():
    distances = np.concatenate([2.0 ** -np.arange(1, 54), [0.0749, 0.075, 0.0751, 1.4e-11]])
    upper = 1.0 - distances[distances > 2.0**-53]  # what is left after rounding
    for u, expected in ((distances, scipy.special.ndtri(distances)), (upper, -scipy.special.ndtri(1.0 - upper))):
        np.testing.assert_allclose([streams.normal_quantile(v) for v in u], expected, rtol=2e-15, atol=1e-16)


def test_log_is_the_logarithm():
    x = np.concatenate([np.geomspace(1e-300, 1e300, 4001), 1.0 + np.linspace(-0.3, 0.5, 4001), 2.0 ** -np.arange(53.0)])
    ours = np.array([float(streams.log(v)) for v in x])
    np.testing.assert_allclose(ours, np.log(x), rtol=3e-16, atol=1e-300)


def test_root_growth_is_the_root_of_growth():
    x = np.concatenate([[1e-300, 1e-12], np.linspace(1e-3, 2.0, 4001), np.linspace(2.0, 600.0, 4001)])
    with np.errstate(over="ignore"):  # 64-bit words wrap
        ours = np.array([float(streams.root_growth(v)) for v in x])
    np.testing.assert_allclose(ours, np.sqrt(np.expm1(x) / x), rtol=9e-16)
    assert streams.root_growth(0.0) == 1.0


def draw(key, count, shape, uniforms, normals, pairs, gammas):
    """Draws of many streams, one number of each kind per stream (compiled in the test below)."""
    for i in range(count):
        stream = streams_fold(key, i)
        uniforms[i] = streams_uniform(stream, 0)
        normals[i] = streams_normal(stream, 0)
        pairs[i] = streams_normal(stream, BESIDE_GAMMA)
        gammas[i] = streams_gamma(stream, shape)


# The compiler follows plain names.
streams_fold, streams_uniform, streams_normal = streams.fold, streams.uniform, streams.normal
streams_gamma, BESIDE_GAMMA = streams.gamma, streams.BESIDE_GAMMA


def sample(count, shape, seed=1):
    columns = [np.zeros(count) for _ in range(4)]
    specialise(draw, {})(np.uint64(seed), count, shape, *columns)
    return columns


def test_uniform_and_normal_draws_fit():
    uniforms, normals, pairs, _ = sample(400_000, 2.0)
    assert scipy.stats.kstest(uniforms, "uniform").pvalue > LEAST_P
    for drawn in (normals, pairs):
        assert scipy.stats.kstest(drawn, "norm").pvalue > LEAST_P
        # Far tails, which Kolmogorov and Smirnov hardly look at.
        for z in (3.0, 3.5, 4.0):
            for beyond in (np.sum(drawn > z), np.sum(drawn < -z)):
                expected = scipy.stats.norm.sf(z)
                assert scipy.stats.binomtest(int(beyond), drawn.size, expected).pvalue > LEAST_P


@pytest.mark.parametrize("shape", [1.0, 2.0, 300.0])
def test_gamma_draws_fit(shape):
    _, _, beside, gammas = sample(1_500_000, shape, seed=2)  # enough to notice a rejection that errs by a percent
    assert scipy.stats.kstest(gammas, scipy.stats.gamma(shape).cdf).pvalue > LEAST_P
    for tail in (1e-3, 1e-4):
        low, high = scipy.stats.gamma(shape).ppf(tail), scipy.stats.gamma(shape).isf(tail)
        assert scipy.stats.binomtest(int(np.sum(gammas < low)), gammas.size, tail).pvalue > LEAST_P
        assert scipy.stats.binomtest(int(np.sum(gammas > high)), gammas.size, tail).pvalue > LEAST_P
    # The normal number that costs next to nothing beside a gamma must not know of it.
    for seen in (beside, np.abs(beside)):
        assert scipy.stats.spearmanr(seen, gammas).pvalue > LEAST_P


def test_compiled_draws_are_the_plain_ones():
    columns = sample(300, 1.25, seed=3)
    plain = [np.zeros(300) for _ in range(4)]
    draw(np.uint64(3), 300, 1.25, *plain)
    for compiled, ours in zip(columns, plain, strict=True):
        np.testing.assert_array_equal(compiled, ours)


def test_normal_numbers_of_a_stream_are_independent():
    """All pairs among the first few numbers of a stream, the two of a Box-Muller pair included."""
    key = np.uint64(99)
    assert streams.normal_pair(key, 7) == streams.normal_pair(key, 6)
    assert streams.normal_pair(key, 6) == (streams.normal(key, 6), streams.normal(key, 7))
    drawn = np.array([[streams.normal(streams.fold(key, i), which) for which in range(4)] for i in range(5000)])
    for a in range(4):
        for b in range(a):
            assert scipy.stats.spearmanr(drawn[:, a], drawn[:, b]).pvalue > LEAST_P
            assert scipy.stats.spearmanr(drawn[:, a] ** 2, drawn[:, b] ** 2).pvalue > LEAST_P


@pytest.mark.parametrize("neighbour", ["first", "arm", "run", "seed", "domain"])
def test_neighbouring_rewards_are_independent(neighbour):
    """Chi-square of pairs in 64 x 64 cells, for rewards that differ by one in one of the things they are keyed by."""
    pulls = np.arange(250, dtype=np.uint64)

    def rewards(seed, domain, run, arm, first):
        key = streams.fold(streams.stream_key(np.uint64(seed), np.uint64(domain), run), arm)
        bits = streams.mix64(key + (pulls + np.uint64(first)) * streams.GOLDEN)
        assert bits[0] == streams.reward_bits(key, first)
        return (bits >> np.uint64(12)).astype(float) / 2**52

    counts = np.zeros((64, 64))
    for run in range(0, 40, 2):
        for arm in range(0, 40, 2):
            key = {"seed": 1, "domain": int(streams.REWARDS), "run": run, "arm": arm, "first": 0}
            x, y = rewards(**key), rewards(**{**key, neighbour: key[neighbour] + 1})
            counts += np.histogram2d(x, y, bins=64, range=[[0, 1], [0, 1]])[0]
    expected = counts.sum() / counts.size
    assert expected > 20
    statistic = ((counts - expected) ** 2 / expected).sum()
    p = scipy.stats.chi2.sf(statistic, counts.size - 1)
    assert LEAST_P < p < 1 - LEAST_P


def test_log_spaced_bits_have_no_bias():
    """Each of the 64 bits of a reward is 1 half of the time."""
    key = streams.fold(streams.stream_key(np.uint64(7), streams.REWARDS, 3), 2)
    bits = streams.mix64(key + np.arange(100_000, dtype=np.uint64) * streams.GOLDEN)
    ones = np.unpackbits(bits.view(np.uint8).reshape(-1, 8), axis=1).sum(axis=0)
    assert np.abs(ones - 50_000.0).max() < 5 * math.sqrt(25_000)
