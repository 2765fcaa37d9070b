"""Checks of single values, shared by arms, objectives, policies and the engine."""

from __future__ import annotations

import functools
import inspect
import math
import numbers
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, ParamSpec, TypeVar

import numpy as np

from ..errors import InvalidInputError, meant, shown, unknown

#: Supported magnitude of rewards, and of numbers that may be squared rewards, such as variances and regularisers. Far
#: beyond it, powers of rewards lose accuracy or overflow, and equivalent formulas choose differently.
LARGEST_REWARD, LARGEST_SQUARE = 1e18, 1e36
P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S", bound=str)


def is_number(value: Any) -> bool:
    """Whether ``value`` is a real number; booleans and time spans, which Python and NumPy count as such, are not."""
    kind = type(value)  # not isinstance, which the value itself can influence
    return issubclass(kind, numbers.Real) and not issubclass(kind, (bool, np.timedelta64))


def is_whole(value: Any) -> bool:
    """Whether ``value`` is a whole number by its type."""
    return is_number(value) and issubclass(type(value), numbers.Integral)


def real(value: Any) -> float:
    """``value`` as a float; NaN if it is not a real number, or an integer too large for a float."""
    if type(value) is float:
        return value
    try:
        return float(value) if is_number(value) else math.nan
    except Exception:  # third-party number types may fail in any way
        return math.nan


def _number(name: str, value: Any, holds: Callable[[float], bool], requirement: str, remedy: str = "") -> float:
    number = real(value)
    if not holds(number):
        remedy = f"; {remedy}" if remedy else ""
        raise InvalidInputError(f"{name} must {requirement}, got {shown(value)}{remedy}")
    return number


def finite(name: str, value: Any) -> float:
    """``value`` as a float, if it is a finite real number."""
    return _number(name, value, math.isfinite, "be a finite number")


def is_supported_reward(value: float) -> bool:
    """Whether a reward is finite and of supported magnitude."""
    return abs(value) <= LARGEST_REWARD


def unsupported_reward(value: Any, what: str) -> str:
    """What is wrong with a reward that is not finite or beyond the supported magnitude."""
    remedy = "; divide all rewards by a power of ten, and L by its square" if math.isfinite(real(value)) else ""
    return f"{what} must be a finite number of at most {LARGEST_REWARD:g} in absolute value, got {shown(value)}{remedy}"


def positive(name: str, value: Any, remedy: str = "") -> float:
    """``value`` as a float, if it is finite and above 0."""
    return _number(name, value, lambda x: 0 < x < math.inf, "be a finite number above 0", remedy)


def in_reward_units(name: str, value: Any) -> float:
    """``value`` as a float, if it is finite and of the magnitude of supported rewards."""
    number = finite(name, value)
    if not is_supported_reward(number):
        raise InvalidInputError(unsupported_reward(value, name))
    return number


def regulariser(name: str, value: Any, remedy: str = "", *, zero: bool = False) -> float:
    """``value`` as a float, if it is above 0 (with ``zero``: or 0) and at most the square of the largest reward."""
    number = not_negative(name, value) if zero else positive(name, value, remedy)
    rescale = "divide all rewards by a power of ten, and L by its square"
    return _number(name, number, lambda x: x <= LARGEST_SQUARE, f"be at most {LARGEST_SQUARE:g}", rescale)


def not_negative(name: str, value: Any) -> float:
    """``value`` as a float, if it is finite and at least 0."""
    return _number(name, value, lambda x: 0 <= x < math.inf, "be a finite number of at least 0")


def probability(name: str, value: Any) -> float:
    """``value`` as a float, if it lies in [0, 1]."""
    return _number(name, value, lambda x: 0 <= x <= 1, "lie between 0 and 1")


def inside(name: str, value: Any) -> float:
    """``value`` as a float, if it lies strictly between 0 and 1."""
    return _number(name, value, lambda x: 0 < x < 1, "lie strictly between 0 and 1")


def true_or_false(name: str, value: Any) -> bool:
    """``value``, if it is a bool."""
    if not isinstance(value, bool):
        raise InvalidInputError(f"{name} must be True or False, got {shown(value)}")
    return value


def complement(probability: float) -> float:
    """1 minus a probability, in its decimal notation: 0.05 for 0.95, not 0.050000000000000044."""
    return float(1 - Decimal(repr(float(probability))))


def whole(name: str, value: Any, minimum: int | None, maximum: int | None = None) -> int:
    """``value`` as an int, if it is a whole number from ``minimum`` to ``maximum``."""
    number = int(value) if is_whole(value) else None
    if number is None or (minimum is not None and number < minimum) or (maximum is not None and number > maximum):
        bound = f" from {minimum} to {maximum}" if maximum is not None else f" at least {minimum}"
        raise InvalidInputError(
            f"{name} must be a whole number{bound if minimum is not None else ''}, got {shown(value)}"
        )
    return number


def list_of(name: str, values: Any, what: str = "a list") -> list[Any]:
    """``values`` as a list, if they are several, and no text."""
    try:
        if not isinstance(values, (str, bytes)):
            return list(values)
    except Exception:  # iteration may fail in any way
        pass
    raise InvalidInputError(f"{name} must be {what}, got {shown(values)}")


def one_of(name: str, value: S, choices: tuple[S, ...]) -> S:
    """``value``, if it is one of ``choices``."""
    if not isinstance(value, str) or value not in choices:
        hint = meant(value, choices)
        raise InvalidInputError(f"{name} must be one of {', '.join(map(repr, choices))}, got {shown(value)}{hint}")
    return value


def check_interval(low: float, high: float) -> None:
    """Raise unless ``low < high``."""
    if low >= high:
        raise InvalidInputError(
            f"low must be less than high, got low={low!r} and high={high!r}; swap them or widen the range"
        )


#: Values of arguments that have no default, shown when they are missing.
_SAMPLES = {
    "L": "0.1", "kind": "'prices'", "periods_per_year": "252", "horizon": "10_000", "epsilon0": "0.5", "window": "250",
    "objective": "sb.Mean()", "error": "0.05", "aversion": "1.0", "risk_free": "0.0",
}  # fmt: skip


def needs(what: str, missing: Sequence[str]) -> InvalidInputError:
    """The error of missing arguments: names them, with values."""
    sample = ", ".join(f"{name}={_SAMPLES.get(name, '...')}" for name in missing)
    return InvalidInputError(f"{what} needs {' and '.join(missing)}, as in {what}({sample})")


def check_keywords(
    also: Callable[..., Any] | None = None, **elsewhere: str
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A decorator that rejects unknown keyword arguments with a remedy, where Python would raise a bare TypeError.

    Others are passed on to ``also``; ``elsewhere`` says of arguments that users may expect here where they belong.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        own = inspect.signature(function).parameters
        rest = [name for name, p in own.items() if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        every = dict.fromkeys((*own, *(inspect.signature(also).parameters if also else ())))
        known = [name for name in every if name not in ("self", *rest)]
        needed = [name for name, p in own.items() if p.default is p.empty and name not in rest]

        @functools.wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            for name in kwargs.keys() - known:
                if name in elsewhere:
                    raise InvalidInputError(f"{function.__name__} takes no {name}=: {elsewhere[name]}")
                raise unknown(f"argument of {function.__name__}", name, known)
            by_place = [name for name in list(own)[: len(args)] if own[name].kind is not inspect.Parameter.KEYWORD_ONLY]
            if missing := [name for name in needed if name not in (*kwargs, *by_place)]:
                raise needs(function.__name__, missing)
            return function(*args, **kwargs)

        return checked

    return decorate
