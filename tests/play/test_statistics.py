"""Sums to statistics: accurate when the mean dwarfs the spread, exact for whole rewards, pooled as if computed anew."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sharpe_bandits as sb
from sharpe_bandits.play import formulas, state, statistics


def summarised(rewards):
    """Mean, variance and second moment by way of the library's running sums."""
    anchor = state.anchor_of(rewards[0])
    sum1 = sum2 = 0.0
    for x in rewards:
        d = x - anchor
        sum1 += d
        sum2 += d * d
    n = len(rewards)
    return statistics.summary(anchor, sum1, sum2, 1.0 / n, 1.0 / (n - 1) if n > 1 else 0.0)


@pytest.mark.parametrize("centre", [0.0, 1.0, -3.5, 1e3, 1e6, -1e6, 1e9])
def test_unit_variance_survives_a_large_mean(centre):
    rewards = centre + np.random.default_rng(1).normal(size=5000)
    mean, variance, second = summarised(rewards.tolist())
    assert mean == pytest.approx(rewards.mean(), rel=1e-13, abs=1e-13)
    assert variance == pytest.approx(rewards.var(ddof=1), rel=1e-10)
    assert second == pytest.approx(np.mean(rewards**2), rel=1e-12)


@given(st.lists(st.integers(-1000, 1000), min_size=2, max_size=40), st.randoms())
def test_whole_rewards_have_the_same_statistics_in_any_order(rewards, random):
    """Equal records must tie, whatever order the rewards came in."""
    shuffled = list(rewards)
    random.shuffle(shuffled)
    assert summarised([float(x) for x in rewards]) == summarised([float(x) for x in shuffled])


@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=40))
def test_variance_is_never_negative_and_near_two_pass(rewards):
    mean, variance, second = summarised(rewards)
    centre = math.fsum(rewards) / len(rewards)
    expected = math.fsum((x - centre) ** 2 for x in rewards) / (len(rewards) - 1)
    # Whole first rewards are not subtracted before summing: what is lost then is lost against squares of up to 1e6.
    lost = 1e-12 * max(abs(x - rewards[0]) for x in rewards) ** 2 + 1e-8
    assert variance >= 0
    assert variance == pytest.approx(expected, rel=1e-9, abs=lost)
    assert mean == pytest.approx(centre, rel=1e-12, abs=1e-10)
    assert second == pytest.approx(math.fsum(x * x for x in rewards) / len(rewards), rel=1e-9, abs=1e-9)


def test_a_single_reward_has_no_variance():
    assert summarised([2.5]) == (2.5, 0.0, 6.25)


def test_radius_is_the_papers():
    """sqrt(2 ln N); ln 100 = 4.605170186 (any table of logarithms)."""
    assert statistics.radius(100) == pytest.approx(math.sqrt(2 * 4.605170186), rel=1e-10)
    assert statistics.radius(1) == 0.0


def test_tables_by_pulls_and_rounds():
    radii, inverse, root = statistics.tables(50)
    for s in range(1, 50):
        assert radii[s] == pytest.approx(math.sqrt(2 * math.log(s)), rel=1e-15)
        assert inverse[s] == 1 / s
        assert root[s] == pytest.approx(s**-0.5, rel=1e-15)
    assert radii[0] == inverse[0] == root[0] == 0.0


def test_pooled_statistics_are_those_of_all_rewards_together():
    parts = [np.random.default_rng(k).normal(k, 1 + k, size=10 + 7 * k) for k in range(3)]
    together = np.concatenate(parts)
    pulls = np.array([p.size for p in parts], float)
    mean, variance = statistics.pooled(
        pulls, np.array([p.mean() for p in parts]), np.array([p.var(ddof=1) for p in parts]), 3
    )
    assert mean == pytest.approx(together.mean(), rel=1e-13)
    assert variance == pytest.approx(together.var(ddof=1), rel=1e-13)


LAG_ONE = statistics.Statistic(("autocovariance",), statistics.autocovariance, cells=3, update=statistics.update_pairs)


def kept_after(rewards, read, declared=statistics.STATISTICS):
    """The statistics that kernels would put into a record after these rewards of arm 1 of two, in lane 2 of four."""
    layout = statistics._layout(frozenset(read), declared)
    kept = np.zeros((2, 3 + layout.cells, 4))  # three rows of the kernel's own come first
    anchor = state.anchor_of(rewards[0])
    for j, x in enumerate(rewards):
        layout.bindings[formulas.update_statistics](kept, 1, 3, 2, float(j + 1), x, x - anchor, float("nan"), ())
    mean, variance, _ = summarised(rewards)
    moments = statistics.higher_moments(
        *(sum((x - anchor) ** p for x in rewards) for p in (1, 2, 3, 4)), 1 / len(rewards)
    )
    arguments = (kept, 1, 3, 2, float(len(rewards)), anchor, mean, variance, *moments, np.uint64(7))
    with np.errstate(over="ignore"):
        got = layout.bindings[formulas.statistics_of](*arguments)
    fields = [field for statistic in declared for field in statistic.fields]
    assert np.delete(kept, 2, axis=2).any() == 0
    assert not kept[0].any()
    assert not kept[:, :3].any()
    return layout, dict(zip(fields, got, strict=True))


REWARDS = [2.5, -1.0, 4.0, 0.5, 0.5, 3.25]


def test_a_new_statistic_is_one_declaration():
    """The lag-1 product: what it keeps and what it gives stand above; the rest follows, beside other statistics too."""
    centred = np.array(REWARDS) - np.mean(REWARDS)
    expected = (centred[1:] * centred[:-1]).sum() / len(REWARDS)
    for read in ({"autocovariance"}, {"autocovariance", "maximum", "drawn_mean", "third"}):
        _, values = kept_after(REWARDS, read, (*statistics.STATISTICS, LAG_ONE))
        assert values["autocovariance"] == pytest.approx(expected, rel=1e-12)


def test_large_means_do_not_disturb_choices():
    """UCB-VV looks at variances alone: shifting all rewards by a million must change nothing."""
    rewards = np.random.default_rng(2).normal(0, [[1.0], [1.2], [0.8]], size=(3, 500))
    rewards = np.round(rewards * 2**20) / 2**20  # so that the shift itself is exact
    plain = sb.trace(sb.UCBVV(), sb.Tape(rewards), horizon=500)
    shifted = sb.trace(sb.UCBVV(), sb.Tape(rewards + 2.0**20), horizon=500)
    np.testing.assert_array_equal(plain.choices, shifted.choices)
