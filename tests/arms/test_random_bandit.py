"""Arms drawn anew in every run: by seed and run alone, within their declared bound."""

import copy
import pickle

import numpy as np
import pytest

import sharpe_bandits as sb


def uniform_pair(generator):
    return sb.UniformArms(generator.uniform(0, 1, size=2), generator.uniform(1, 3, size=2))


def listed_pair(generator):
    drawn = uniform_pair(generator)
    return [sb.Uniform(low, high) for low, high in zip(drawn.low, drawn.high, strict=True)]


def test_random_arms_are_a_function_of_seed_and_run_alone():
    bandit = sb.RandomBandit(2, uniform_pair, lowest=0.0)
    first, again = bandit.arms_of(3, 8), bandit.arms_of(3, 8)
    np.testing.assert_array_equal(first.low, again.low)
    assert (first.low != bandit.arms_of(3, 9).low).all()
    assert (first.low != bandit.arms_of(4, 8).low).all()


def test_random_arms_as_arrays_or_as_a_list_are_the_same_bandit():
    fast, slow = sb.RandomBandit(2, uniform_pair), sb.RandomBandit(2, listed_pair)
    for run in range(5):
        a = sb.trace(sb.UCB1(), fast, horizon=50, seed=1, run=run)
        b = sb.trace(sb.UCB1(), slow, horizon=50, seed=1, run=run)
        np.testing.assert_array_equal(a.rewards, b.rewards)
    np.testing.assert_allclose(fast.truth(1, 5), slow.truth(1, 5), rtol=1e-15)


def test_rewards_of_random_arms_lie_in_that_runs_arms():
    bandit = sb.RandomBandit(2, uniform_pair)
    for run in range(20):
        arms = bandit.arms_of(1, run)
        trace = sb.trace(sb.RoundRobin(), bandit, horizon=200, seed=1, run=run)
        for arm in range(2):
            paid = trace.rewards[trace.choices == arm]
            width = arms.high[arm] - arms.low[arm]
            assert arms.low[arm] <= paid.min() < arms.low[arm] + 0.2 * width
            assert arms.high[arm] - 0.2 * width < paid.max() <= arms.high[arm]


def test_random_arms_below_their_declared_bound_are_refused():
    """The bound decides which kernel may play: a wrong one would give wrong choices."""
    bandit = sb.RandomBandit(2, lambda generator: sb.UniformArms([-1.0, 0.0], [1.0, 1.0]), lowest=0.0)
    with pytest.raises(sb.InvalidInputError, match=r"-1\.0.*lowest=0\.0"):
        sb.trace(sb.UCBSRLike(L=1.0), bandit, horizon=50)
    bandit = sb.RandomBandit(2, lambda generator: [sb.Normal(5, 1), sb.Uniform(0, 1)], lowest=0.0)
    with pytest.raises(sb.InvalidInputError, match=r"-inf.*lowest=0\.0"):
        sb.trace(sb.UCBSRLike(L=1.0), bandit, horizon=50)


def test_a_wrong_number_of_random_arms_is_refused():
    bandit = sb.RandomBandit(3, uniform_pair)
    with pytest.raises(sb.InvalidInputError, match="gave 2 arms in run 0, not 3"):
        sb.trace(sb.UCB1(), bandit, horizon=50)


def test_a_random_bandit_pickles_whatever_draws_its_arms():
    """Functions without a name, and what they close over, included."""
    top = 2.0
    bandit = sb.RandomBandit(2, lambda rng: [sb.Uniform(0, 1), sb.Uniform(0, rng.uniform(1, top))], lowest=0.0)
    before = bandit.truth(seed=3, runs=4)
    for again in (pickle.loads(pickle.dumps(bandit)), copy.deepcopy(bandit)):
        np.testing.assert_array_equal(again.truth(seed=3, runs=4), before)
        assert again.to_dict() == bandit.to_dict()
