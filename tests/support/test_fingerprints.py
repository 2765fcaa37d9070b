"""What a formula reads is part of what it is: whatever changes, with the same function object, is noticed."""

import copy
import ctypes
import functools
import importlib
import pickle
import sys
import textwrap

import numba
import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits._support.fingerprints import fingerprint
from sharpe_bandits.play import formulas
from sharpe_bandits.simulation.compiler import specialise
from tests import twin


def kernel(x):
    """A kernel small enough to compile in no time; its index is whatever is bound."""
    return index_of(x, 0)


index_of = formulas.index


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of the user's: formulas in one module, what they read in others, one of them nested."""
    name = f"mine_{tmp_path.name.replace('-', '_')}"
    folder = tmp_path / name
    (folder / "inner").mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "inner" / "__init__.py").write_text("")
    (folder / "inner" / "const.py").write_text("C = 2.0\nTABLE = __import__('numpy').array([2.0, 5.0])\n")
    (folder / "helpers.py").write_text("K = 2.0\n\ndef helper(x):\n    return K * x\n")
    (folder / "formulas.py").write_text(
        textwrap.dedent(f"""
            import math
            import numba
            import numpy as np
            import {name}.inner.const
            import {name}.helpers as helpers
            from {name}.helpers import helper

            C = 2.0
            TABLE = np.array([2.0, 5.0])
            TABLES = (np.full(2000, 2.0), np.full(2000, 5.0))
            FLAGS = (True, 2)

            @numba.njit
            def compiled(x):
                return C * x

            def with_default(x, k=2.0):
                return k * x

            PAIR = (compiled, compiled)

            def read_global(x, t):
                return C * x

            def read_array(x, t):
                return TABLE[0] * x

            def read_long_arrays(x, t):
                return TABLES[0][1000] * x

            def read_tuple(x, t):
                return FLAGS[1] * x

            def nested_module(x, t):
                return {name}.inner.const.C * x

            def nested_array(x, t):
                return {name}.inner.const.TABLE[0] * x

            def module_helper(x, t):
                return helpers.helper(x)

            def imported_helper(x, t):
                return helper(x)

            def compiled_helper(x, t):
                return compiled(x)

            def tuple_of_functions(x, t):
                return PAIR[0](x)

            def default_of_helper(x, t):
                return with_default(x)

            def own_default(x, t, k=2.0):
                return k * x

            def signed_zero(x, t):
                return math.copysign(x, C)

            def make(k):
                def closure(x, t):
                    return k * x
                def set(value):
                    nonlocal k
                    k = value
                return closure, set

            closure, set_closure = make(2.0)
        """)
    )
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module(f"{name}.formulas")
    yield module
    for loaded in [other for other in sys.modules if other.partition(".")[0] == name]:
        del sys.modules[loaded]


def sibling(module, name):
    return sys.modules[module.__name__.replace("formulas", name)]


def in_place(array):
    array[:] = 3.0


def reload_with_other_text(module):
    other = sibling(module, "helpers")
    with open(other.__file__, "w") as file:
        file.write("K = 3.0  # longer than before\n\ndef helper(x):\n    return K * x\n")
    importlib.invalidate_caches()
    importlib.reload(other)


CHANGES = {
    "read_global": lambda m: setattr(m, "C", 3.0),
    "read_array": lambda m: in_place(m.TABLE),
    "read_long_arrays": lambda m: in_place(m.TABLES[0]),
    "read_tuple": lambda m: setattr(m, "FLAGS", (True, 3)),
    "nested_module": lambda m: setattr(sibling(m, "inner.const"), "C", 3.0),
    "nested_array": lambda m: in_place(sibling(m, "inner.const").TABLE),
    "module_helper": lambda m: setattr(sibling(m, "helpers"), "K", 3.0),
    "imported_helper": lambda m: setattr(sibling(m, "helpers"), "K", 3.0),
    "compiled_helper": lambda m: setattr(m, "C", 3.0),
    "tuple_of_functions": lambda m: setattr(m, "C", 3.0),
    "default_of_helper": lambda m: setattr(m.with_default, "__defaults__", (3.0,)),
    "own_default": lambda m: setattr(m.own_default, "__defaults__", (3.0,)),
    "closure": lambda m: m.set_closure(3.0),
}


@pytest.mark.filterwarnings("ignore:First-class function type feature is experimental")
@pytest.mark.parametrize("name", CHANGES)
def test_what_a_formula_reads_is_part_of_it(package, name):
    """The same function object, before and after a change of what it reads: plain Python says what is right."""
    formula = getattr(package, name)
    before = fingerprint(formula)
    assert specialise(kernel, {formulas.index: formula})(1.7) == 2.0 * 1.7
    CHANGES[name](package)
    plain = getattr(formula, "py_func", formula)
    if name != "tuple_of_functions" and "compiled" not in name:
        assert plain(1.7, 0) == 3.0 * 1.7  # the change is one in plain Python too; numba's own helpers are stale
    assert fingerprint(formula) != before
    assert specialise(kernel, {formulas.index: formula})(1.7) == 3.0 * 1.7


def test_a_module_that_was_reloaded_is_followed(package):
    before = fingerprint(package.module_helper)
    assert specialise(kernel, {formulas.index: package.module_helper})(1.5) == 3.0
    reload_with_other_text(package)
    assert fingerprint(package.module_helper) != before
    assert specialise(kernel, {formulas.index: package.module_helper})(1.5) == 4.5


@pytest.mark.parametrize(("old", "new"), [(0.0, -0.0), (1, 1.0), (True, 1), (1.0, np.float32(1.0))])
def test_values_that_are_equal_but_not_the_same_are_told_apart(package, old, new):
    package.C = old
    before = fingerprint(package.signed_zero)
    first = specialise(kernel, {formulas.index: package.signed_zero})(1.5)
    package.C = new
    assert fingerprint(package.signed_zero) != before
    assert specialise(kernel, {formulas.index: package.signed_zero})(1.5) == package.signed_zero(1.5, 0)
    assert first == 1.5


def test_a_value_that_comes_back_finds_its_code(package):
    codes = []
    for value in (2.0, 3.0, 2.0):
        package.C = value
        codes.append(specialise(kernel, {formulas.index: package.read_global}))
    assert codes[0] is codes[2]
    assert codes[0] is not codes[1]


def test_code_is_made_of_the_values_of_its_moment(package):
    """Machine code is made when a kernel is first called: an array that changed in between must not get into it."""
    compiled = specialise(kernel, {formulas.index: package.read_array})
    in_place(package.TABLE)
    assert compiled(1.0) == 2.0
    assert specialise(kernel, {formulas.index: package.read_array})(1.0) == 3.0


C = 1.0
TAPE = np.random.default_rng(1).uniform([[0.0], [1.0], [0.4]], [[3.0], [2.0], [2.9]], (3, 300))


@sb.index_policy
def weighted(arm, t):
    return arm.mean + C * arm.variance


def choices(policy):
    return sb.trace(policy, sb.Tape(TAPE), horizon=300).choices


def test_a_constant_that_changes_changes_the_simulation_and_the_state(monkeypatch):
    policy = weighted(pilot_pulls=20)
    assert policy.name == "weighted"
    first = choices(policy)
    agent = policy.agent(arms=3)
    state = agent.to_json()
    monkeypatch.setitem(globals(), "C", -1.0)
    second = choices(policy)
    for c, found in ((1.0, first), (-1.0, second)):
        assert found.tolist() == twin.play(lambda r, n, draws, c=c: r.mean + c * r.variance, TAPE, 300, 20)[0]
    assert (first != second).any()
    with pytest.raises(sb.errors.UnreadableDataError, match="or a value that it reads, is not what it was"):
        sb.Agent.from_json(state)
    monkeypatch.setitem(globals(), "C", 1.0)
    np.testing.assert_array_equal(choices(policy), first)
    assert sb.Agent.from_json(state).ask() == agent.ask()


def test_what_a_helper_reads_decides_how_a_policy_is_played(monkeypatch):
    """Whether the variance may be read decides how many pulls the pilot has."""

    def still(arm, t):
        return arm.mean

    def moving(arm, t):
        return arm.mean + arm.epsilon * arm.variance

    monkeypatch.setitem(globals(), "bonus", still)

    @sb.index_policy(name="test: replaced helper")
    def policy(arm, t):
        return bonus(arm, 1)  # noqa: F821

    assert policy().least_pilot == 2  # the record is handed on

    @sb.index_policy(name="test: replaced helper of numbers")
    def numbers(arm, t):
        return scale(arm.mean)  # noqa: F821

    monkeypatch.setitem(globals(), "scale", lambda x: 2.0 * x)
    assert numbers().least_pilot == 1


def test_layout_and_comments_do_not_count_but_words_do():
    def first(arm, t):
        return arm.mean  # a remark

    one = fingerprint(first)

    def first(arm, t):
        # Said otherwise, and the same.
        return arm.mean

    assert fingerprint(first) == one

    def first(arm, t):
        return -arm.mean

    assert fingerprint(first) != one


def test_which_argument_is_which_counts():
    def less(x, y, /):
        return x - y

    one = fingerprint(less)

    def less(y, x, /):
        return x - y

    assert fingerprint(less) != one


class Opaque:
    value = 3.0


opaque = Opaque()


@pytest.mark.parametrize(
    "source", ["opaque.value * arm.mean", "foreign(arm.mean)", "callback(arm.mean)", "ufunc(arm.mean)"]
)
def test_what_cannot_be_followed_is_refused(source):
    """Code inside objects of ctypes and of the compiler, and objects of the user."""
    scope = {
        "opaque": opaque,
        "foreign": ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(lambda x: x),
        "callback": numba.cfunc("float64(float64)")(lambda x: x),
        "ufunc": numba.vectorize(lambda x: x),
    }
    exec(f"def index(arm, t):\n    return {source}", scope)
    with pytest.raises(sb.errors.CompilationError, match=r"whose content cannot be followed: .*pass it as a parameter"):
        sb.index_policy(name="test: refused")(scope["index"])


def test_a_module_of_the_user_under_another_name_is_refused(package):
    scope = {"helpers": sibling(package, "helpers")}
    exec("def index(arm, t):\n    other = helpers\n    return other.K + arm.mean", scope)
    with pytest.raises(sb.errors.CompilationError, match=r"uses the module .*helpers other than as helpers\.name"):
        sb.index_policy(name="test: alias")(scope["index"])
    exec("def index(arm, t):\n    return helpers.K + arm.mean", scope)
    sb.index_policy(name="test: no alias")(scope["index"])


SHORT = np.array([1.0, 2.0, 3.0])
PAIR = (SHORT, SHORT)


def past_the_end(place):
    return SHORT[place]


def reads_global_array(x, t):
    return SHORT[t]


def reads_in_helper(x, t):
    return x + past_the_end(t)


def reads_table_in_helper(x, t):
    return x + entry(PAIR[0], t)


def entry(table, place):
    return table[place]


def reads_local_array(x, t):
    local = np.zeros(3)
    return x + local[t]


def at(x, t):
    """A kernel whose index looks at the place ``t``."""
    return index_of(x, t)


@pytest.mark.parametrize("formula", [reads_global_array, reads_in_helper, reads_table_in_helper, reads_local_array])
def test_a_place_past_the_end_of_any_array_is_an_error(formula):
    """In the code of users; what simulations and agents make of the error is tested with them."""
    compiled = specialise(at, {formulas.index: formula})
    assert compiled(1.0, 2) == formula(1.0, 2)
    for place in (3, 10**9, -4):
        with pytest.raises(IndexError):
            compiled(1.0, place)


def test_a_table_is_copied_and_cannot_be_written():
    table = np.linspace(0.0, 1.0, 400)

    @sb.index_policy(name="test: tables")
    def with_table(arm, t, table):
        return arm.mean + table[int(arm.pulls)]

    policy = with_table(table=table)
    before = choices(policy)
    table[:] = np.random.default_rng(1).normal(size=400) * 10
    np.testing.assert_array_equal(choices(policy), before)
    np.testing.assert_array_equal(choices(pickle.loads(pickle.dumps(policy))), before)

    @sb.index_policy(name="test: writes")
    def writes(arm, t, table):
        table[0] = arm.mean
        return table[0]

    with pytest.raises(sb.errors.CompilationError, match=r"table\[0\] = arm\.mean"):
        choices(writes(table=table))


def _factorial(n):
    return 1.0 if n <= 1.0 else n * _factorial(n - 1.0)


def _recursive(arm, t):
    return _factorial(arm.pulls)


def _keyword_only(x, *, by=2.0):
    return x * by


def _calls_keyword_only(arm, t):
    return _keyword_only(arm.mean)


@pytest.mark.parametrize("function", [_recursive, _calls_keyword_only])
def test_what_the_compiler_cannot_take_is_refused(function):
    with pytest.raises(sb.errors.CompilationError):
        sb.index_policy(function)().agent(arms=2).ask()


def test_a_wrapped_function_is_not_taken_for_one_of_the_package():
    factor = np.array([1.0])

    @functools.wraps(sb.simulate)
    def helper(x):
        return x * factor[0]

    def index(arm, t):
        return helper(arm.mean)

    before = fingerprint(index)
    factor[0] = -1.0
    assert fingerprint(index) != before


def test_an_agent_keeps_the_formula_it_was_made_with_and_its_state_says_so():
    factor = np.array([1.0])

    def index(arm, t):
        return arm.mean * factor[0]

    agent = sb.index_policy(name="with a factor")(index)().agent(arms=["x", "y"])
    for arm, reward in (("x", 0.0), ("y", 1.0)):
        agent.ask()
        agent.tell(arm, reward)
    asked = agent.ask()
    factor[0] = -1.0
    state = agent.to_json()
    with pytest.raises(sb.errors.UnreadableDataError, match="is not what it was"):
        sb.Agent.from_json(state)
    for copied in (copy.deepcopy, lambda a: pickle.loads(pickle.dumps(a))):
        with pytest.raises(
            (sb.errors.UnreadableDataError, sb.errors.InvalidInputError), match=r"has changed|is not what it was"
        ):
            copied(agent)
    factor[0] = 1.0
    assert asked == "y"
    assert sb.Agent.from_json(state).ask() == "y"
