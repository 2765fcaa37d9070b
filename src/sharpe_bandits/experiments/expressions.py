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
from simpleeval import FunctionNotDefined, InvalidExpression, NameNotDefined, SimpleEval

from ..errors import InvalidInputError, shown, unknown


def _power(base: Any, exponent: Any) -> Any:
    if isinstance(base, int) and isinstance(exponent, int) and base.bit_length() * exponent > 4096:
        raise OverflowError("the power is too large")  # Python would compute all its digits
    value = base**exponent
    if isinstance(value, complex):
        raise ValueError("a fractional power of a negative number is not real")
    return value


_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: _power, ast.USub: operator.neg,
    ast.UAdd: operator.pos, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.Eq: operator.eq, ast.NotEq: operator.ne,
}  # fmt: skip
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sqrt": lambda x: np.sqrt(x),
    "exp": lambda x: np.exp(x),
    "log": lambda x: np.log(x),
    "log2": lambda x: np.log2(x),
    "floor": lambda x: np.floor(x) if isinstance(x, np.ndarray) else math.floor(x),
    "ceil": lambda x: np.ceil(x) if isinstance(x, np.ndarray) else math.ceil(x),
    "abs": abs,
    "min": lambda first, *others: reduce(np.minimum, others, first),
    "max": lambda first, *others: reduce(np.maximum, others, first),
}
#: Syntax of arithmetic; simpleeval would evaluate more, methods of arrays that write files included.
_SYNTAX = (
    ast.BinOp, ast.UnaryOp, ast.Compare, ast.IfExp, ast.Call, ast.Name, ast.Constant, ast.expr_context, *_OPERATORS,
)  # fmt: skip


def evaluate(expression: Any, names: Mapping[str, Any]) -> Any:
    """The value of an expression; anything but text is returned as it is.

    It has numbers, names, ``+ - * / // % **``, comparisons, ``a if b else c`` and the functions sqrt, exp, log
    (natural), log2, floor, ceil, abs, min, max.
    """
    if not isinstance(expression, str):
        return expression
    tree = _parsed(expression)
    evaluator = SimpleEval(_OPERATORS, _FUNCTIONS, dict(names))
    try:
        with np.errstate(divide="raise", over="raise", invalid="raise"):
            value = evaluator.eval(expression, previously_parsed=tree)
    except NameNotDefined as error:
        raise unknown(f"name in {expression!r}", error.name, names) from None
    except FunctionNotDefined as error:
        raise unknown(f"function in {expression!r}", error.func_name, _FUNCTIONS) from None
    except (InvalidExpression, ArithmeticError, TypeError, ValueError, RecursionError) as error:
        values = ", ".join(f"{k} = {shown(v)}" for k, v in islice(names.items(), 12) if not isinstance(v, np.ndarray))
        raise InvalidInputError(f"{expression!r} cannot be evaluated with {values or 'no names'}: {error}") from None
    return value.item() if isinstance(value, np.generic) else value


@lru_cache(maxsize=1024)  # random arms evaluate the same expressions in every run
def _parsed(expression: str) -> ast.expr:
    try:
        tree = ast.parse(expression.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InvalidInputError(f"{expression!r} is not an expression, such as 8 * log(n) / L**2") from None
    for node in ast.walk(tree):
        if not isinstance(node, _SYNTAX) or (isinstance(node, ast.Constant) and type(node.value) not in (int, float)):
            raise InvalidInputError(f"{expression!r} contains something that is not arithmetic ({type(node).__name__})")
    return tree
