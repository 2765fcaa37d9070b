"""Sets of arms: fixed, recorded, and drawn anew in every run."""

import copy
import pickle

import numpy as np
import pytest
import scipy.stats

import sharpe_bandits as sb


def test_a_list_of_arms_will_do_and_scipy_distributions_are_arms():
    bandit = sb.Bandit([sb.Uniform(0, 1), scipy.stats.expon(scale=2.0)], names=["flat", "long"])
    assert bandit.names == ("flat", "long")
    np.testing.assert_allclose(bandit.means, [0.5, 2.0])
    np.testing.assert_allclose(bandit.variances, [1 / 12, 4.0])
    assert bandit.lowest == 0.0
    listed = sb.trace(sb.UCB1(), [sb.Uniform(0, 1), scipy.stats.expon(scale=2.0)], horizon=30, seed=2)
    np.testing.assert_array_equal(listed.choices, sb.trace(sb.UCB1(), bandit, horizon=30, seed=2).choices)


def test_lowest_reward_is_the_least_of_all_supports():
    assert sb.Bandit([sb.Uniform(1, 2), sb.TruncatedNormal(0, 1, -0.5, 3)]).lowest == -0.5
    assert sb.Bandit([sb.Uniform(1, 2), sb.Normal(5, 1)]).lowest == -np.inf
    assert sb.Tape([[1.0, 4.0], [2.0, -3.0]]).lowest == -3.0


def test_a_tape_keeps_its_own_rewards():
    rewards = np.array([[1.0, 2.0, 3.0, 4.0], [2.0, 2.0, 2.0, 2.0]])
    tape = sb.Tape(rewards)
    rewards[:] = 0.0
    assert sb.trace(sb.RoundRobin(), tape, horizon=4).rewards.tolist() == [1.0, 2.0, 2.0, 2.0]


def test_a_tape_pays_the_same_in_every_run():
    tape = sb.Tape(np.random.default_rng(0).normal(size=(3, 40)))
    study = sb.simulate(sb.UCB1(), tape, horizon=40, runs=5, workers=1)
    assert (study["UCB1"].final == study["UCB1"].final[0]).all()


@pytest.mark.parametrize("policy", [sb.UCB1(), sb.UCBVV(), sb.RoundRobin(), sb.MTS(), sb.SHSR(L=1.0)])
def test_a_tape_that_is_too_short_is_an_error(policy):
    tape = sb.Tape(np.linspace(1, 2, 30).reshape(2, 15))
    with pytest.raises(
        sb.InvalidInputError, match=r"pulled arm \d more often than the tape has rewards for it \(15\).*shorten"
    ):
        sb.trace(policy, tape, horizon=200)


def test_a_tape_that_is_just_long_enough_is_none():
    """The kernels draw ahead of need, past the end of a short tape; that must not show."""
    tape = sb.Tape(np.concatenate([np.full((1, 17), 5.0), np.full((1, 17), 1.0)]) + 0.25)
    for kernel in ("lazy", "side by side"):
        trace = sb.trace(sb.MVLCB(rho=1.0), tape, horizon=19, kernel=kernel)
        assert np.isfinite(trace.rewards).all()
    assert sb.trace(sb.RoundRobin(), tape, horizon=34).choices.tolist() == [0, 1] * 17


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
