"""What compiled code has in place of functions of Python and NumPy does what these do."""

import itertools
import math

import numpy as np
import pytest

from sharpe_bandits.engine.compiler import specialise
from sharpe_bandits.kernels import memory, rewards
from sharpe_bandits.kernels.rewards import QUANTILE, SIDE, ArmTable
from tests.engine.made_up import own


@pytest.mark.parametrize("name", ["min", "max"])
def test_the_smaller_and_the_larger_of_two_are_pythons(name):
    function = own(f"def f(a, b):\n    return {name}(a, b)")
    compiled = specialise(function, {})
    for a, b in itertools.product([0.0, -0.0, 1.5, -2.0, math.inf, -math.inf, math.nan], repeat=2):
        assert repr(float(compiled(a, b))) == repr(function(a, b)), (a, b)
    for a, b in itertools.product([-3, 0, 7], [-3, 0, 2.5, 7]):
        assert compiled(a, b) == function(a, b)
        assert compiled(b, a) == function(b, a)


@pytest.mark.parametrize("first", range(0, memory.SCRATCH, memory.FETCHED))
def test_columns_are_fetched_from_where_their_first_row_says(first):
    pool = np.random.default_rng(1).normal(size=300)
    places = np.random.default_rng(2).integers(0, 297, size=memory.SCRATCH)
    given = np.random.default_rng(3).normal(size=(4, memory.SCRATCH))
    given[0] = places.view(float)
    compiled, plain = given.copy(), given.copy()
    own_fetch = own("def f(pool, rows, first):\n    fetch(pool, rows, first)", fetch=memory.fetch)
    specialise(own_fetch, {})(pool, compiled, first)
    memory.fetch(pool, plain, first)
    np.testing.assert_array_equal(compiled, plain)
    for j in range(first, first + memory.FETCHED):
        np.testing.assert_array_equal(compiled[:, j], pool[places[j] : places[j] + 4])
    others = [j for j in range(memory.SCRATCH) if not first <= j < first + memory.FETCHED]
    np.testing.assert_array_equal(compiled[:, others].view(np.int64), given[:, others].view(np.int64))


def test_a_scratch_array_is_of_its_own_in_every_call():
    source = (
        "def f(x):\n    a, b = scratch(), scratch()\n    a[3, 63], b[3, 63] = x, 2.0 * x\n    return a[3, 63] + b.size"
    )
    scratched = specialise(own(source, scratch=memory.scratch), {})
    assert scratched(1.5) == 1.5 + 4 * memory.SCRATCH


@pytest.mark.parametrize("size", [1, 7, 8, 9, 63, 64, 65, 130])
def test_draws_from_a_table_do_not_depend_on_how_many_are_drawn_together(size):
    """Coefficients are fetched eight at a time, at most 64 of them: one draw after the other is the reference."""
    pool = np.random.default_rng(4).normal(size=2 * SIDE + 5)
    columns = [np.array([[value]]) for value in (QUANTILE, 0.5, 2.0, 5, 0)]
    arms = ArmTable(columns[0], *map(np.asarray, columns[1:]), pool)
    fill = specialise(rewards.fill, {})
    together, alone = np.zeros(size), np.zeros(size)
    key = np.uint64(77)
    fill(arms, 0, 0, key, 1000, together)
    for j in range(size):
        fill(arms, 0, 0, key, 1000 + j, alone[j : j + 1])
    np.testing.assert_array_equal(together, alone)
    plain = np.zeros(size)
    with np.errstate(over="ignore"):
        rewards.fill(arms, 0, 0, key, 1000, plain)
    np.testing.assert_array_equal(together, plain)
