"""The delta method: how uncertain an estimated objective is, to first order.

Every objective is a function of two numbers: the mean of rewards, and their variance or the mean of a feature. It has a
*root* h, an increasing function of its value (the value itself, except for RSSR, where it is the signed root), and the
root's derivatives h_m, h_y. Let y be the feature of a reward x: (x - mean)^2 for objectives of mean and variance. The
influence of a reward on the estimate is

    psi(x) = h_m (x - mean) + h_y (y - mean of y),

and the variance of the estimate after s independent rewards is W / s, where W is the variance of psi.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

#: A plain function that kernels compile.
Formula = Callable[..., Any]
#: Step of a numerical derivative, relative to the scale of its argument.
_STEP = 1e-5


def influence_variance(
    variance: Any, covariance: Any, square: Any, second: Any, by_mean: Any, by_second: Any, scale: Any
) -> Any:
    """W, from the variance of a reward, its covariance with the feature, and the mean square and mean (``second``) of
    the feature; the root's derivatives are given times sqrt(scale).

    For objectives of mean and variance these are the third and fourth central moment, and the variance.
    """
    linear = by_mean * (by_mean * variance + 2.0 * by_second * covariance)
    return (linear + by_second * by_second * (square - second * second)) / scale


def named(function: Any, *parts: Formula) -> Formula:
    """Give a generated function a name of its own: compiled functions are distinguished by name."""
    name = "_".join([function.__name__, *(part.__qualname__ for part in parts)])
    function.__name__ = function.__qualname__ = re.sub(r"\W+", "_", name)
    return function


@lru_cache
def numeric_root(formula: Formula) -> Formula:
    """The root of an objective that is its own root: its value, and derivatives by central differences, but not below
    a variance of 0.
    """

    def root(mean: Any, second: Any, *arguments: float) -> Any:
        scale = np.sqrt(np.abs(second)) + 1e-100
        step, more = _STEP * (np.abs(mean) + scale), _STEP * (np.abs(second) + 1e-100)
        by_mean = (formula(mean + step, second, *arguments) - formula(mean - step, second, *arguments)) / (2.0 * step)
        less = np.minimum(np.abs(second), more)
        rise = formula(mean, second + more, *arguments) - formula(mean, second - less, *arguments)
        return formula(mean, second, *arguments), by_mean, rise / (more + less), 1.0

    return named(root, formula)


def feature_of(arm: Any) -> Any:
    """The second argument of formulas, for objectives with a feature."""
    return arm.feature


def variance_of(arm: Any) -> Any:
    """The second argument of formulas, for objectives of mean and variance."""
    return arm.variance


def feature_mean(mean: Any, feature: Any, *arguments: float) -> Any:
    """The formula of objectives that are the mean of their feature; of Variance, whose feature is (x - mean)^2."""
    return feature + 0.0


def feature_root(mean: Any, feature: Any, *arguments: float) -> Any:
    """The root of objectives that are the mean of their feature."""
    return feature + 0.0, 0.0, 1.0, 1.0


@lru_cache
def value_of_record(formula: Formula, second: Formula) -> Formula:
    """A formula of two numbers as a function of an arm's record, which has the ``second`` one."""

    def of_record(arm: Any, *arguments: float) -> Any:
        return formula(arm.mean, second(arm), *arguments)

    return named(of_record, formula, second)


@lru_cache
def root_of_record(root: Formula, second: Formula) -> Formula:
    """The root as a function of an arm's record."""

    def root_value(arm: Any, *arguments: float) -> Any:
        h, _, _, _ = root(arm.mean, second(arm), *arguments)
        return h

    return named(root_value, root, second)


@lru_cache
def influence_variance_of_record(root: Formula, slope_from_root: Formula, has_feature: bool) -> Formula:
    """W of the value, not of the root, as a function of an arm's record; 0 if its rewards have not varied."""

    def by_feature(arm: Any, biased: Any, by_mean: Any, by_second: Any, scale: Any) -> Any:
        y, square, covariance = arm.feature, arm.feature_square, arm.feature_covariance
        return influence_variance(biased, covariance, square, y, by_mean, by_second, scale)

    def by_moments(arm: Any, biased: Any, by_mean: Any, by_second: Any, scale: Any) -> Any:
        return influence_variance(biased, arm.third, arm.fourth, biased, by_mean, by_second, scale)

    second, variance = (feature_of, by_feature) if has_feature else (variance_of, by_moments)

    def w_of_record(arm: Any, *arguments: float) -> Any:
        h, by_mean, by_second, scale = root(arm.mean, second(arm), *arguments)
        biased = arm.variance * (arm.pulls - 1.0) / arm.pulls  # the other moments are biased, too
        w, slope = variance(arm, biased, by_mean, by_second, scale), slope_from_root(h)
        return slope * slope * max(w, 0.0) if arm.variance > 0.0 else 0.0

    return named(w_of_record, root, slope_from_root, second)


@lru_cache
def spread_if_normal(feature: Formula) -> Formula:
    """Covariance of feature and reward, and variance of the feature, for normal rewards, by Gauss-Hermite quadrature
    with three nodes. (For the feature (x - mean)^2 that is exact.)
    """

    def spread(mean: float, variance: float, *arguments: float) -> tuple[float, float]:
        away = np.sqrt(3.0 * variance)
        low, middle, high = (
            feature(mean - away, *arguments),
            feature(mean, *arguments),
            feature(mean + away, *arguments),
        )
        average = (low + 4.0 * middle + high) / 6.0
        return away * (high - low) / 6.0, (low * low + 4.0 * middle * middle + high * high) / 6.0 - average * average

    return named(spread, feature)
