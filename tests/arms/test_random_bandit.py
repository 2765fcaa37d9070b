"""Arms drawn anew in every run: by seed and run alone, within their declared bound."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits.arms import random_bandit


def uniform_pair(generator):
    return sb.arms.UniformArms(generator.uniform(0, 1, size=2), generator.uniform(1, 3, size=2))


def listed_pair(generator):
    drawn = uniform_pair(generator)
    return [sb.Uniform(low, high) for low, high in zip(drawn.low, drawn.high, strict=True)]


def fresh(seed, run):
    return np.random.Generator(np.random.Philox(key=np.array([seed, run], np.uint64)))


@pytest.mark.parametrize("draw", [uniform_pair, listed_pair])
@pytest.mark.parametrize("seed", [0, 7, 2**64 - 1])
def test_random_arms_are_a_function_of_seed_and_run_alone(draw, seed):
    """Whatever the order and the threads that draw them."""
    bandit = sb.RandomBandit(2, draw)
    expected = [uniform_pair(fresh(seed, run)) for run in range(100)]
    with ThreadPoolExecutor(4) as pool:
        tables = list(pool.map(lambda first: bandit.table(seed, range(first, first + 37)), range(60, -1, -3)))
    for first, table in zip(range(60, -1, -3), tables, strict=True):
        np.testing.assert_array_equal(table.loc, [pair.low for pair in expected[first : first + 37]])
        np.testing.assert_allclose(table.loc + table.scale, [pair.high for pair in expected[first : first + 37]])
    means = [(pair.low + pair.high) / 2 for pair in expected]
    np.testing.assert_allclose(bandit.truth(seed, 100)[0], means, rtol=1e-15)


def test_a_draw_that_fails_does_not_change_other_runs():
    def draw(generator):
        pair = uniform_pair(generator)
        if fails and pair.low[0] == uniform_pair(fresh(3, 20)).low[0]:
            raise ZeroDivisionError
        return pair

    fails, bandit = True, sb.RandomBandit(2, draw)
    with pytest.raises(ZeroDivisionError):
        bandit.table(3, range(40))
    fails = False
    np.testing.assert_array_equal(bandit.truth(3, 40), sb.RandomBandit(2, uniform_pair).truth(3, 40))


def test_arms_that_are_forgotten_are_drawn_again(monkeypatch):
    expected = sb.RandomBandit(2, uniform_pair).truth(3, 500)
    monkeypatch.setattr(random_bandit, "_REMEMBERED", 600)
    bandit = sb.RandomBandit(2, uniform_pair)
    for _ in range(2):
        np.testing.assert_array_equal(bandit.truth(3, 500), expected)


def test_arrays_in_some_runs_and_lists_in_others():
    def either(generator):
        pair = uniform_pair(generator)
        return pair if generator.random() < 0.5 else list(pair)

    table, expected = (sb.RandomBandit(2, draw).table(1, range(50)) for draw in (either, uniform_pair))
    for ours, theirs in zip(table, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_random_arms_as_arrays_or_as_a_list_are_the_same_bandit():
    fast, slow = sb.RandomBandit(2, uniform_pair), sb.RandomBandit(2, listed_pair)
    for run in range(5):
        a = sb.trace(sb.policies.UCB1(), fast, horizon=50, seed=1, run=run)
        b = sb.trace(sb.policies.UCB1(), slow, horizon=50, seed=1, run=run)
        np.testing.assert_array_equal(a.rewards, b.rewards)
    np.testing.assert_allclose(fast.truth(1, 5), slow.truth(1, 5), rtol=1e-15)


def test_rewards_of_random_arms_lie_in_that_runs_arms():
    bandit = sb.RandomBandit(2, uniform_pair)
    for run in range(20):
        arms = bandit.arms_of(1, run)
        trace = sb.trace(sb.policies.RoundRobin(), bandit, horizon=200, seed=1, run=run)
        for arm in range(2):
            paid = trace.rewards[trace.choices == arm]
            width = arms.high[arm] - arms.low[arm]
            assert arms.low[arm] <= paid.min() < arms.low[arm] + 0.2 * width
            assert arms.high[arm] - 0.2 * width < paid.max() <= arms.high[arm]


def test_a_wrong_number_of_random_arms_is_refused():
    bandit = sb.RandomBandit(3, uniform_pair)
    with pytest.raises(sb.errors.InvalidInputError, match="gave 2 arms in run 0, not 3"):
        sb.trace(sb.policies.UCB1(), bandit, horizon=50)


def test_a_random_bandit_pickles_whatever_draws_its_arms():
    """Functions without a name, and what they close over, included."""
    top = 2.0
    bandit = sb.RandomBandit(2, lambda rng: [sb.Uniform(0, 1), sb.Uniform(0, rng.uniform(1, top))])
    before = bandit.truth(seed=3, runs=4)
    for again in (pickle.loads(pickle.dumps(bandit)), copy.deepcopy(bandit)):
        np.testing.assert_array_equal(again.truth(seed=3, runs=4), before)
        assert again.to_dict() == bandit.to_dict()
