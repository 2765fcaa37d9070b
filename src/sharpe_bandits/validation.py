"""Checks of single values, shared by arms, objectives, policies and the engine."""

from __future__ import annotations

import math
import numbers
from typing import Any

from .errors import InvalidInput


def is_number(value: Any) -> bool:
    """Whether ``value`` is a real number (and no truth value)."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def real(value: Any) -> float:
    """``value`` as a float; not a number (nan) if it is no real number, or a whole one too large for a float."""
    try:
        return float(value) if is_number(value) else math.nan
    except OverflowError:
        return math.nan


def finite(name: str, value: Any) -> float:
    """``value`` as a float, if it is a finite real number."""
    if not math.isfinite(real(value)):
        raise InvalidInput(f"{name} must be a finite number, got {value!r}")
    return float(value)


def positive(name: str, value: Any, remedy: str = "") -> float:
    """``value`` as a float, if it is finite and above 0."""
    if not 0 < real(value) < math.inf:
        raise InvalidInput(f"{name} must be a finite number above 0, got {value!r}{'; ' + remedy if remedy else ''}")
    return float(value)


def not_negative(name: str, value: Any) -> float:
    """``value`` as a float, if it is finite and at least 0."""
    if not 0 <= real(value) < math.inf:
        raise InvalidInput(f"{name} must be a finite number of at least 0, got {value!r}")
    return float(value)


def probability(name: str, value: Any) -> float:
    """``value`` as a float, if it lies in [0, 1]."""
    if not 0 <= real(value) <= 1:
        raise InvalidInput(f"{name} must lie between 0 and 1, got {value!r}")
    return float(value)


def inside(name: str, value: Any) -> float:
    """``value`` as a float, if it lies strictly between 0 and 1."""
    if not 0 < real(value) < 1:
        raise InvalidInput(f"{name} must lie strictly between 0 and 1, got {value!r}")
    return float(value)


def whole(name: str, value: Any, least: int, most: int | None = None) -> int:
    """``value`` as an int, if it is a whole number of at least ``least``."""
    fits = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not fits or value < least or (most is not None and value > most):
        bound = f"at least {least}" if most is None else f"from {least} to {most}"
        raise InvalidInput(f"{name} must be a whole number {bound}, got {value!r}")
    return int(value)


def one_of(name: str, value: Any, choices: tuple[str, ...]) -> str:
    """``value``, if it is one of ``choices``."""
    if value not in choices:
        raise InvalidInput(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}")
    return str(value)


def interval(low: Any, high: Any) -> tuple[float, float]:
    """The two ends as floats, if ``low < high``."""
    low, high = finite("low", low), finite("high", high)
    if low >= high:
        raise InvalidInput(
            f"low must be less than high, got low={low!r} and high={high!r}; swap them or widen the range"
        )
    return low, high
