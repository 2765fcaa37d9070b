"""Rewards from a finite set: coin tosses and observed values."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Any

import numpy as np

from .._support.described import Probability
from .._support.validation import is_supported_reward, unsupported_reward
from ..errors import InvalidInputError
from ..play.rewards import BERNOULLI, EMPIRICAL
from .base import Arm, Draws, Moments


class Bernoulli(Arm):
    """1 with probability p, else 0."""

    p: Probability

    def moments(self) -> Moments:
        p, q = self.p, 1 - self.p
        return Moments(p, p * q, p * q * (q - p), p * q * (1 - 3 * p * q))

    @property
    def support(self) -> tuple[float, float]:
        return (0.0, 1.0) if 0 < self.p < 1 else (self.p, self.p)

    def draws(self) -> Draws:
        return Draws(BERNOULLI, self.p)


#: Numbers, at least one.
Values = Annotated[tuple[float, ...], lambda name, values: tuple(numbers(name, values, 1).tolist())]


class Empirical(Arm):
    """One of the given values, each equally likely (repeat a value to weight it).

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> arm = sb.Empirical([0.0, 0.0, 1.0, 3.0])
    >>> arm.mean, arm.variance
    (1.0, 1.5)
    """

    values: Values

    @cached_property
    def record(self) -> np.ndarray:
        """The values as an array."""
        return np.asarray(self.values)

    def __repr__(self) -> str:
        if len(self.values) <= 8:
            return f"Empirical({list(self.values)!r})"
        return f"Empirical({len(self.values)} values from {self.support[0]:g} to {self.support[1]:g})"

    def moments(self) -> Moments:
        x = self.record
        mean = float(x.mean())
        return Moments(mean, *(float(np.mean((x - mean) ** k)) for k in (2, 3, 4)))

    @property
    def support(self) -> tuple[float, float]:
        return float(self.record.min()), float(self.record.max())

    def draws(self) -> Draws:
        return Draws(EMPIRICAL, 0.0, 1.0, len(self.values), self.record)


def numbers(name: str, values: Any, dimensions: int) -> np.ndarray:
    """``values`` as a non-empty array of finite numbers; the error names the first that is not finite."""
    try:
        array = np.asarray(values if hasattr(values, "__array__") else list(values), float)
    except Exception as error:  # conversion may fail in any way
        raise InvalidInputError(f"{name} must be numbers: {error}") from None
    if array.ndim != dimensions or array.size == 0:
        raise InvalidInputError(
            f"{name} must be a non-empty array of {dimensions} dimension(s), got shape {array.shape}"
        )
    if not np.isfinite(array).all():
        place = tuple(int(k) for k in np.argwhere(~np.isfinite(array))[0])
        at = place[0] if dimensions == 1 else place
        raise InvalidInputError(f"{name} must be finite, got {array[place]} at position {at}; drop or fill it first")
    largest = float(array.flat[np.argmax(np.abs(array))])
    if not is_supported_reward(largest):
        raise InvalidInputError(unsupported_reward(largest, f"each of {name}"))
    return array
