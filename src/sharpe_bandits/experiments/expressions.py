"""Arithmetic in descriptions: ``"sqrt(2 * log(x) / x) / 8"``, ``"1 if i == 1 else 0.9"``; nothing else is executed."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from functools import lru_cache, reduce
from itertools import islice
from typing import Any

import numpy as np

from ..errors import InvalidInputError, SharpeBanditsError, shown, unknown

#: Maximum number of characters of an expression.
LONGEST = 1000


def _power(base: Any, exponent: Any) -> Any:
    whole = isinstance(base, int) and isinstance(exponent, int)
    if whole and base.bit_length() * exponent > 4096:  # far too many digits, and too slow
        raise OverflowError("the power is too large")
    try:
        value = operator.pow(base, exponent)
    except OverflowError:
        raise OverflowError("the power is too large") from None
    if isinstance(value, complex):
        raise ValueError("a fractional power of a negative number is not real")
    return value


_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: _power,
}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sqrt": np.sqrt,
    "exp": np.exp,
    "log": np.log,
    "log2": np.log2,
    "floor": math.floor,
    "ceil": math.ceil,
    "abs": abs,
    "min": lambda first, *others: reduce(np.minimum, others, first),
    "max": lambda first, *others: reduce(np.maximum, others, first),
}


def evaluate(expression: Any, names: Mapping[str, Any]) -> Any:
    """The value of an expression; anything but text is returned as it is.

    Parameters
    ----------
    expression : Any
        a number, or text with numbers, names, ``+ - * / // % **``, comparisons, ``a if b else c`` and the functions
        sqrt, exp, log (natural), log2, floor, ceil, abs, min, max
    names : Mapping[str, Any]
        values of the names
    """
    if not isinstance(expression, str):
        return expression
    if len(expression) > LONGEST:
        raise InvalidInputError(
            f"an expression has at most {LONGEST:,} characters, this one has {len(expression):,}: {shown(expression)}; "
            "give its parts names in let"
        )
    tree = _parsed(expression)
    try:
        with np.errstate(divide="raise", over="raise", invalid="raise"):
            value = _value(tree, names, expression)
    except SharpeBanditsError:
        raise
    except (ArithmeticError, TypeError, ValueError, RecursionError) as error:
        raise InvalidInputError(f"{expression!r} cannot be evaluated with {_shown(names)}: {error}") from None
    return value.item() if isinstance(value, np.generic) else value


@lru_cache(maxsize=1024)
def _parsed(expression: str) -> ast.expr:
    try:
        return ast.parse(expression.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InvalidInputError(
            f"{expression!r} is not an expression: use numbers, names, + - * / ** and sqrt, log, …"
        ) from None


def _value(node: ast.expr, names: Mapping[str, Any], whole: str) -> Any:
    match node:
        case ast.Constant(value=int() | float() as number):
            return number
        case ast.Name(id=name):
            if name not in names:
                raise unknown(f"name in {whole!r}", name, names)
            return names[name]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return _BINARY[type(op)](_value(left, names, whole), _value(right, names, whole))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, names, whole)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _value(operand, names, whole)
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARE:
            return _COMPARE[type(op)](_value(left, names, whole), _value(right, names, whole))
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return _value(body if _value(test, names, whole) else orelse, names, whole)
        case ast.Call(func=ast.Name(id=function), args=arguments, keywords=[]):
            if function not in _FUNCTIONS:
                raise unknown(f"function in {whole!r}", function, _FUNCTIONS)
            if len(arguments) != 1 and not (arguments and function in ("min", "max")):
                raise InvalidInputError(f"{whole!r} passes {len(arguments)} numbers to {function}, which takes one")
            return _FUNCTIONS[function](*(_value(a, names, whole) for a in arguments))
    raise InvalidInputError(f"{whole!r} contains something that is not arithmetic: {ast.unparse(node)!r}")


def _shown(names: Mapping[str, Any]) -> str:
    some = [f"{k} = {shown(v)}" for k, v in islice(names.items(), 12) if not isinstance(v, np.ndarray)]
    return ", ".join(some) or "no names"
