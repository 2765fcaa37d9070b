"""Sums to statistics: accurate when the mean dwarfs the spread, exact for whole rewards, pooled as if computed anew."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sharpe_bandits as sb
from sharpe_bandits.play import state, statistics


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


def test_pooled_statistics_are_those_of_all_rewards_together():
    parts = [np.random.default_rng(k).normal(k, 1 + k, size=10 + 7 * k) for k in range(3)]
    together = np.concatenate(parts)
    pulls = np.array([p.size for p in parts], float)
    mean, variance = statistics.pooled(
        pulls, np.array([p.mean() for p in parts]), np.array([p.var(ddof=1) for p in parts]), 3
    )
    assert mean == pytest.approx(together.mean(), rel=1e-13)
    assert variance == pytest.approx(together.var(ddof=1), rel=1e-13)


@sb.index_policy(name="every statistic")
def everything(arm, t):
    return arm.autocovariance + arm.maximum + arm.drawn_mean + arm.third


def test_statistics_of_an_arm_are_kept_beside_each_other():
    rewards = [2.5, -1.0, 4.0, 0.5, 0.5, 3.25]
    agent = everything().agent(arms=2)
    for x in rewards:
        agent.tell(1, x)
    with np.errstate(over="ignore"):
        arm = agent._arm_record(1, agent._state)
    centred = np.array(rewards) - np.mean(rewards)
    assert arm.autocovariance == pytest.approx((centred[1:] * centred[:-1]).sum() / len(rewards), rel=1e-12)
    assert arm.third == pytest.approx((centred**3).mean(), rel=1e-12)
    assert arm.maximum == 4.0
    assert -1.0 < arm.drawn_mean < 4.0


def test_large_means_do_not_disturb_choices():
    """UCB-VV looks at variances alone: shifting all rewards by a million must change nothing."""
    rewards = np.random.default_rng(2).normal(0, [[1.0], [1.2], [0.8]], size=(3, 500))
    rewards = np.round(rewards * 2**20) / 2**20  # so that the shift itself is exact
    plain = sb.trace(sb.UCBVV(), sb.Tape(rewards), horizon=500)
    shifted = sb.trace(sb.UCBVV(), sb.Tape(rewards + 2.0**20), horizon=500)
    np.testing.assert_array_equal(plain.choices, shifted.choices)
