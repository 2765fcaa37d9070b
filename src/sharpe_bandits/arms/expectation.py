"""Expectations of functions of a reward, for objectives that need more than four moments: exact sums or quadrature."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from ..errors import InvalidInputError
from ..play.rewards import AUTOREGRESSIVE, BERNOULLI, BLOCKS, CELLS, DISCRETE, EMPIRICAL, NORMAL, OCTAVES, UNIFORM
from ..play.rewards import QUANTILE as QUANTILE_TABLE
from .base import Arm

#: Normal rewards are integrated this many standard deviations to both sides of their mean.
_WIDE = 14.0


def expected(arm: Arm, function: Callable[[Any], Any], kinks: tuple[float, ...]) -> float:
    """E f(X) for a reward X of an arm, where f takes arrays and is smooth except at ``kinks``."""
    draws = arm.draws()
    pool = np.asarray(draws.pool, float)
    if draws.kind == BERNOULLI:
        return float((1.0 - draws.loc) * function(np.array(0.0)) + draws.loc * function(np.array(1.0)))
    if draws.kind in (EMPIRICAL, BLOCKS):
        return float(np.mean(function(pool)))
    if draws.kind == DISCRETE:
        values, cumulative = pool[: draws.size], pool[draws.size :]
        return float(np.sum(function(values) * np.diff(cumulative, prepend=0.0)))
    if draws.kind == UNIFORM:
        low, high = draws.loc, draws.loc + draws.scale
        return _integral(lambda x: function(x) / (high - low), low, high, kinks) if high > low else float(function(low))
    if draws.kind in (NORMAL, AUTOREGRESSIVE):
        mean, sd = draws.loc, draws.scale

        def weighted(x: Any) -> Any:
            return function(x) * np.exp(-0.5 * ((x - mean) / sd) ** 2) / (sd * np.sqrt(2.0 * np.pi))

        cuts = np.linspace(mean - _WIDE * sd, mean + _WIDE * sd, 15)
        return sum(_integral(weighted, low, high, kinks) for low, high in pairwise(cuts.tolist()))
    if draws.kind == QUANTILE_TABLE:
        return _over_table(lambda q: function(draws.loc + draws.scale * q), pool)
    raise InvalidInputError(
        f"{arm!r} has no known distribution of a single reward, so its true value is unknown; take an objective of "
        "mean and variance, or an Empirical arm of its draws"
    )


@lru_cache
def _nodes(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of Gauss-Legendre quadrature on [0, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return (nodes + 1.0) / 2.0, weights / 2.0


def _integral(function: Callable[[Any], Any], low: float, high: float, kinks: tuple[float, ...]) -> float:
    nodes, weights = _nodes(40)
    cuts = [low, *sorted(kink for kink in kinks if low < kink < high), high]
    return float(sum((b - a) * (weights * function(a + (b - a) * nodes)).sum() for a, b in pairwise(cuts)))


def _over_table(function: Callable[[Any], Any], pool: np.ndarray) -> float:
    """The integral over a quantile table (see :func:`sharpe_bandits.arms.base.tabulate`), cell by cell."""
    nodes, weights = _nodes(16)
    cubic = pool.reshape(2, OCTAVES, CELLS, 4)[..., None]
    quantile = ((cubic[..., 3, :] * nodes + cubic[..., 2, :]) * nodes + cubic[..., 1, :]) * nodes + cubic[..., 0, :]
    width = (2.0 ** (-2.0 - np.arange(OCTAVES)) / CELLS)[None, :, None]
    return float((function(quantile) @ weights * width).sum())
