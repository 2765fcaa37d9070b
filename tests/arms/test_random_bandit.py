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


def test_random_arms_are_a_function_of_seed_and_run_alone():
    bandit = sb.RandomBandit(2, uniform_pair)
    first, again = bandit.arms_of(3, 8), bandit.arms_of(3, 8)
    np.testing.assert_array_equal(first.low, again.low)
    assert (first.low != bandit.arms_of(3, 9).low).all()
    assert (first.low != bandit.arms_of(4, 8).low).all()


def fresh(seed, run):
    return np.random.Generator(np.random.Philox(key=np.array([seed, run], np.uint64)))


def halves(generator):
    """An odd number of 32-bit numbers: the generator keeps the other half of 64 bits."""
    return generator.integers(0, 1000, size=3, dtype=np.uint32)


DRAWN = {
    "halves": halves,
    "normals": lambda generator: np.abs(generator.normal(size=3)),
    "an odd number of uniforms": lambda generator: [generator.uniform() for _ in range(3)],
    "gamma variates": lambda generator: generator.gamma(0.3, size=3),
    "one number, then halves": lambda generator: [generator.random(), *halves(generator)[:2]],
    "another stream": lambda generator: np.random.Generator(generator.bit_generator.jumped()).random(3),
    "a state of one's own": lambda generator: _moved(generator).random(3),
    "a few of a permutation": lambda generator: generator.permutation(50)[:3],
}


def _moved(generator):
    generator.bit_generator.advance(int(generator.integers(1, 9, dtype=np.uint8)))
    return generator


@pytest.mark.parametrize("drawn", DRAWN.values(), ids=DRAWN)
@pytest.mark.parametrize("seed", [0, 7, 2**64 - 1])
def test_every_run_has_a_generator_that_no_other_run_has_used(drawn, seed):
    runs = 300
    for make in (
        lambda high: sb.arms.UniformArms(np.zeros(3), high),
        lambda high: (sb.Uniform(0, h + 1e-9) for h in high),
    ):
        bandit = sb.RandomBandit(3, lambda generator, make=make: make(drawn(generator)))
        found = bandit.truth(seed, runs)[0] * 2
        expected = np.array([drawn(fresh(seed, run)) for run in range(runs)], float)
        np.testing.assert_allclose(found, expected, rtol=1e-15, atol=1.1e-9)
        if isinstance(bandit.arms_of(seed, 0), sb.arms.UniformArms):
            for run in (299, 3):
                np.testing.assert_array_equal(bandit.arms_of(seed, run).high, expected[run])


def test_arms_do_not_depend_on_the_order_or_the_threads_that_draw_them():
    def draw(generator):
        return sb.arms.UniformArms(np.zeros(3), halves(generator))

    expected = np.array([halves(fresh(3, run)) for run in range(400)], float)
    bandit = sb.RandomBandit(3, draw)
    for first, runs in ((390, 10), (5, 1), (100, 300), (0, 400)):
        np.testing.assert_array_equal(bandit.table(3, range(first, first + runs)).scale, expected[first : first + runs])
    bandit = sb.RandomBandit(3, draw)
    with ThreadPoolExecutor(4) as pool:
        tables = list(pool.map(lambda first: bandit.table(3, range(first, first + 37)), range(0, 360, 3)))
    for first, table in zip(range(0, 360, 3), tables, strict=True):
        np.testing.assert_array_equal(table.scale, expected[first : first + 37])


def test_a_draw_may_draw_other_arms_and_may_fail_halfway():
    inner = sb.RandomBandit(3, lambda generator: sb.arms.UniformArms(np.zeros(3), halves(generator)))
    fails = True

    def draw(generator):
        high = halves(generator)
        of_inner = inner.arms_of(3, 130).high
        later = halves(generator)
        if fails and (high == halves(fresh(3, 20))).all():
            raise ZeroDivisionError
        return sb.arms.UniformArms(np.zeros(3), high + of_inner + later)

    bandit = sb.RandomBandit(3, draw)
    with pytest.raises(ZeroDivisionError):
        bandit.table(3, range(40))
    fails = False
    found = bandit.table(3, range(40)).scale
    for run in range(40):
        generator = fresh(3, run)
        expected = halves(generator).astype(float) + halves(fresh(3, 130)) + halves(generator)
        np.testing.assert_array_equal(found[run], expected)


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
