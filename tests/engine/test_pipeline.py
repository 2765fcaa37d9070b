"""Functions of the package go through steps of their own: what comes out does what Python does."""

import math

import numba
import numpy as np
import pytest
from numba.core.runtime import rtsys
from numba.core.runtime.nrt import _nrt

from sharpe_bandits.engine.compiler import specialise
from sharpe_bandits.kernels import formulas
from tests.engine.made_up import own


def asks():
    """A question of a kernel."""
    raise AssertionError


#: Bodies that ask, in every form in which a kernel does, with something that does not compile behind the answer "no".
ASKING = {
    "a block": "if asks():\n        return x\n    return x['no number']",
    "otherwise": "if not asks():\n        return x['no number']\n    return x",
    "a choice": "y = x if asks() else x['no number']\n    return y",
    "and": "if x > 0.0 and not asks():\n        return x['no number']\n    return x",
    "a loop": "while not asks():\n        x = x['no number']\n    return x",
}


@pytest.mark.parametrize("form", ASKING)
def test_what_an_answer_rules_out_is_not_compiled(form):
    function = own(f"def f(x):\n    {ASKING[form]}", asks=asks)
    assert specialise(function, {asks: formulas.yes})(2.5) == 2.5
    with pytest.raises(numba.core.errors.NumbaError):
        specialise(function, {asks: formulas.no})(2.5)


@pytest.mark.parametrize("index", ["0", "1", "-1", "np.uint64(1)", "np.int32(1)", "np.uint32(1)", "np.int64(-2)"])
@pytest.mark.parametrize("shape", [(3,), (3, 4), (3, 4, 5)])
def test_numbers_of_arrays_are_where_python_finds_them(index, shape):
    places = ", ".join([index] * len(shape))
    function = own(f"def f(array, x):\n    before = array[{places}]\n    array[{places}] = x\n    return before")
    compiled = specialise(function, {})
    whole = np.arange(2.0 * math.prod(shape)).reshape((*shape[:-1], 2 * shape[-1]))
    for kind in (float, np.int64, np.uint32, bool):
        made = (whole % 3).astype(kind)
        for view in (slice(0, shape[-1]), slice(None, None, 2)):  # of contiguous rows, and of every other number
            mine, theirs = made.copy(), made.copy()
            x = kind(1)
            assert compiled(mine[..., view], x) == function(theirs[..., view], x)
            np.testing.assert_array_equal(mine, theirs)
        contiguous = made.copy()
        assert compiled(contiguous, kind(1)) == function(made.copy(), kind(1))


@pytest.mark.parametrize(
    "body",
    [
        "a = zeros(n)\n    b = zeros((n, 2), np.int64)\n    return a.size + b.size",
        "total = 0\n    for i in range(n):\n        total += zeros(i + 1).size\n    return total",
        "if n > 5:\n        a = zeros(n)\n        if n > 50:\n            return a.size\n    return 0",
        "a = zeros(n)\n    b = a\n    c = a[1:]\n    b[0] = 2.0\n    c[0] = 3.0\n    return a[0] + a[1]",
    ],
    ids=["at once", "in a loop", "on one way", "views"],
)
@pytest.mark.parametrize("n", [4, 40, 400])
def test_arrays_are_given_back(body, n):
    function = own(f"def f(n):\n    {body}")
    compiled = specialise(function, {})
    assert compiled(n) == function(n)  # and is compiled
    _nrt.memsys_enable_stats()
    try:
        before = rtsys.get_allocation_stats()
        for _ in range(10):
            compiled(n)
        after = rtsys.get_allocation_stats()
    finally:
        _nrt.memsys_disable_stats()
    made, freed = after.mi_alloc - before.mi_alloc, after.mi_free - before.mi_free
    assert made == freed
    assert made >= 10 or n == 4


def test_a_function_may_not_give_an_array_away():
    inner = own("def f(n):\n    return zeros(n)")
    outer = own("def f(n):\n    return inner(n).size")
    outer.__globals__["inner"] = inner
    with pytest.raises(Exception, match="Only accept returning of array"):
        specialise(outer, {})(3)


def test_an_array_made_otherwise_is_refused():
    """Nobody would give it back."""
    function = own("def f(a):\n    b = a + a\n    return b[0]")
    with pytest.raises(Exception, match="NRT"):
        specialise(function, {})(np.ones(3))


def test_operators_are_told_apart_by_types():
    source = "def f(a, b):\n    return (a + b, a * b, a / b, a // b, a % b, a < b, a == b, -a, a**2)"
    function = own(source)
    compiled = specialise(function, {})
    for a, b in ((7, 2), (7.5, 2), (7, 2.5), (-7, 2), (-7.5, -2.0)):
        expected = function(a, b)
        assert compiled(a, b) == expected
        kinds = [isinstance(x, (bool, np.bool_)) for x in compiled(a, b)]
        assert kinds == [isinstance(x, bool) for x in expected]
