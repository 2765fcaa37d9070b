"""Arithmetic in descriptions: against Python's own for what both have, refused for all else."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharpe_bandits.errors import InvalidInputError, UnknownNameError
from sharpe_bandits.experiments.expressions import evaluate

NAMES = {"L": 2, "K": 16, "i": 3, "x": 0.25}


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1 + 2 * 3", 7), ("(1 + 2) * 3", 9), ("-2 ** 2", -4), ("2 ** -1", 0.5), ("2 ** 3 ** 2", 512),
        ("10 - 4 - 3", 3), ("7 // 2", 3), ("-7 // 2", -4), ("-7 % 3", 2), ("+L", 2), ("K / L", 8.0),
        ("  L * x\n", 0.5), ("1 if i == 1 else 0.9", 0.9), ("1 if i == 3 else 0.9", 1),
        ("1 if i != 3 else 2 if L < 2 else 3", 3), ("1 if i <= K / 2 - 5 else 0", 1), ("1 if i >= 4 else 0", 0),
        ("1 if L > 2 else 1 / 0.5", 2.0), ("sqrt(2) ** 2", 2.0000000000000004), ("log(exp(1.5))", 1.5),
        ("log2(K)", 4.0), ("floor(2.7)", 2), ("floor(-2.1)", -3), ("ceil(2.1)", 3), ("abs(-L)", 2),
        ("min(3, 1, L)", 1), ("max(3, 1, K, L)", 16), ("min(L)", 2), ("max(0, 1/13 - 0.0021 * (39 - 2))", 0.0),
        ("1_000", 1000),
    ],
)  # fmt: skip
def test_values(expression, value):
    found = evaluate(expression, NAMES)
    assert found == value
    assert type(found) is type(value)


def test_the_pilot_of_the_released_code():
    # 8 ln(10^4) = 73.6827...: 74 pulls at L = 1, 295 at L = 0.5, 1 (so 2) at L = 15
    pilot = "max(2, ceil(8 * log(n) / L**2))"
    assert [evaluate(pilot, {"n": 10_000, "L": L}) for L in (1, 0.5, 15)] == [74, 295, 2]


def test_what_is_not_text_is_its_own_value():
    assert evaluate(3, {}) == 3
    assert evaluate([1, 2], {}) == [1, 2]
    assert evaluate(True, {}) is True


def test_arrays_are_worked_on_element_by_element():
    u1, u2 = np.array([0.2, 0.9]), np.array([0.5, 0.3])
    names = {"u1": u1, "u2": u2}
    assert evaluate("min(u1, u2)", names).tolist() == [0.2, 0.3]
    assert evaluate("max(u1, u2, 0.6)", names).tolist() == [0.6, 0.9]
    assert evaluate("u1 * u2 / 2", names).tolist() == [0.05, 0.135]
    assert evaluate("floor(4 * u1) + ceil(u2)", names).tolist() == [1, 4]


@pytest.mark.parametrize(
    "expression",
    [
        "L.real", "().__class__", "K[0]", "[1, 2]", "(1, 2)", "{1: 2}", "lambda: 1", "(y := 3)", "[z for z in K]",
        "'text'", "f'{L}'", "1j", "None", "L and K", "not L", "L is K", "L in K", "~1", "1 << 3", "1 @ 2", "max(*K)",
        "max(a=1)", "sqrt(2).real", "sqrt.real(2)", "await L",
    ],
)  # fmt: skip
def test_nothing_but_arithmetic(expression):
    with pytest.raises(InvalidInputError, match=r"not arithmetic|is not an expression") as caught:
        evaluate(expression, NAMES)
    assert repr(expression) in str(caught.value)
    assert str(caught.value).count("cannot be evaluated") == 0


@pytest.mark.parametrize("expression", ["__import__(1)", "eval(1)", "open(1)", "K()", "print(1)"])
def test_other_functions_are_unknown(expression):
    with pytest.raises(UnknownNameError, match="no function in"):
        evaluate(expression, NAMES)


@pytest.mark.parametrize("expression", ["", "1 +", "*L", "1; 2", "L = 3", "import os", "\x00", "(" * 300, "2 2"])
def test_what_is_no_expression_at_all(expression):
    with pytest.raises(InvalidInputError, match="is not an expression"):
        evaluate(expression, NAMES)


def test_deep_nesting_is_refused():
    with pytest.raises(InvalidInputError, match=r"is not an expression|recursion depth"):
        evaluate("(" * 499 + "1" + ")" * 499, {})


@pytest.mark.parametrize(
    ("expression", "nearest"),
    [
        ("epsilon + 1", "epsilon0"), ("Epsilon0", "epsilon0"), ("sqroot(2)", "sqrt"), ("LOG(2)", "log"),
        ("flor(2)", "floor"),
    ],
)  # fmt: skip
def test_unknown_names_suggest_the_nearest(expression, nearest):
    with pytest.raises(UnknownNameError, match=f"did you mean '{nearest}'"):
        evaluate(expression, {"epsilon0": 1, "K": 3})


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("1 / (L - 2)", "division by zero"), ("1 // 0", "by zero"), ("5 % 0", "by zero"),
        ("0 ** -1", "negative power"), ("log(0)", "divide by zero"), ("log(-1)", "invalid value"),
        ("sqrt(-1)", "invalid value"), ("exp(1000)", "overflow"), ("(-8) ** (1 / 3)", "not real"),
        ("9 ** 9 ** 9 ** 9", "too large"), ("10.0 ** 400", "too large|out of range"),
    ],
)  # fmt: skip
def test_what_cannot_be_computed_says_why_and_with_what(expression, reason):
    with pytest.raises(InvalidInputError, match=reason) as caught:
        evaluate(expression, {"L": 2})
    assert expression in str(caught.value)
    assert "L = 2" in str(caught.value)


@pytest.mark.parametrize("expression", ["sqrt(1, 2)", "sqrt()", "min()", "max()", "log(8, 2)"])
def test_functions_are_given_as_many_numbers_as_they_take(expression):
    with pytest.raises(InvalidInputError, match="argument"):
        evaluate(expression, {})


def test_arrays_divided_by_zero_are_no_silent_infinity():
    with pytest.raises(InvalidInputError, match="divide by zero"):
        evaluate("1 / u1", {"u1": np.array([0.5, 0.0])})


numbers = st.one_of(st.integers(0, 99).map(str), st.floats(0, 99, allow_subnormal=False).map(repr))


def _combine(parts):
    binary = st.tuples(parts, st.sampled_from(["+", "-", "*", "/", "//", "%"]), parts).map(" ".join)
    power = st.tuples(parts, st.integers(-3, 3)).map(lambda p: f"({p[0]}) ** {p[1]}")
    compared = st.tuples(parts, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), parts)
    chosen = st.tuples(parts, compared, parts).map(
        lambda p: f"({p[0]} if ({p[1][0]}) {p[1][1]} ({p[1][2]}) else {p[2]})"
    )
    return st.one_of(binary, power, chosen, parts.map("({})".format), parts.map("-{}".format))


@given(st.recursive(numbers, _combine, max_leaves=8))
def test_agrees_with_python(expression):
    try:
        expected = eval(expression, {"__builtins__": {}})
    except ArithmeticError:
        expected = None
    if expected is None or isinstance(expected, complex):
        with pytest.raises(InvalidInputError):
            evaluate(expression, {})
        return
    found = evaluate(expression, {})
    assert found == expected or (math.isnan(found) and math.isnan(expected))
    assert type(found) is type(expected)
