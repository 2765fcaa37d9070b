"""Growth of regret: fits of a + b ln t and a + b t, and the linear part of a + b ln t + c t, with standard errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from .._support.validation import inside, positive
from ..errors import InvalidInputError
from ..results.metrics import Estimate, sample_mean, student

#: Possible verdicts on the law of growth.
Law = Literal["logarithmic", "linear", "undecided"]
#: Powers of t that are tried.
_POWERS = np.arange(-40, 61) / 20


@dataclass(frozen=True)
class Fit:
    """A least-squares fit of regret.

    Attributes
    ----------
    intercept, slope : Estimate
        means over batches of runs, each of which is fitted separately
    residual : Estimate
        sum of squared residuals that the mean curve would have without noise
    unexplained : Estimate
        that sum as a fraction of the curve's own variation over the window (1 - R^2)
    """

    intercept: Estimate
    slope: Estimate
    residual: Estimate
    unexplained: Estimate


@dataclass(frozen=True)
class Growth:
    """Which of two laws a regret curve follows.

    Attributes
    ----------
    logarithmic, linear : Fit
        the fits of a + b ln t and of a + b t
    exponent : Estimate
        the p, from -2 to 3, for which a + b t^p fits the mean curve best; 0 stands for ln t
    linear_part : Estimate
        c n / R(n) of the fit a + b ln t + c t: the share of the final regret, at n, that grows in proportion to t
    difference : Estimate
        residual of the linear minus that of the logarithmic fit; above 0, the logarithm fits better
    verdict : Law
        the law of growth, if one is certain
    reason : str
        the reason for the verdict
    start, points : int
        first time of the window, and the number of times in it
    """

    logarithmic: Fit
    linear: Fit
    exponent: Estimate
    linear_part: Estimate
    difference: Estimate
    verdict: Law
    reason: str
    start: int
    points: int


def growth(
    t: Any, regret: Any, *, start: float | None = None, confidence: float = 0.99, tolerance: float = 0.001
) -> Growth:
    """Fit a + b ln t and a + b t to the last part of a regret curve.

    Each batch of runs is fitted separately, from which the slopes have their standard errors. Residuals are those of
    the mean curve, with the noise removed exactly: a residual sum is a quadratic form of the mean curve, and summing
    over pairs of *different* batches estimates it without bias (so a sum may be below 0). Its standard error, and that
    of the difference between the two fits, is a jackknife over batches, in which common errors of the fits cancel.

    The verdict is a law only if three things are certain at the given confidence: its fit is the better one, its slope
    is above 0, and it leaves at most ``tolerance`` of the curve's variation unexplained. Over a decade, 0.001
    distinguishes a logarithm from powers of t above about 0.11, and a line from powers below 0.88. A curve that is
    neither (a square root, a staircase, one that has stopped growing, one still bending from its start) is "undecided",
    and ``reason`` says why; ``exponent`` then describes its growth.

    Parameters
    ----------
    t : Any
        times, increasing; all have equal weight, so logarithmic spacing weights decades equally
    regret : Any
        mean regret per batch, of shape (batches, times), at least 3 batches
    start : float | None, optional
        first time of the fit; by default a tenth of the last time, so that the initial rounds, in which regret is
        linear for any policy, do not count
    confidence : float, optional
        confidence level of all intervals
    tolerance : float, optional
        fraction of the variation that a law may leave unexplained

    Examples
    --------
    >>> import numpy as np
    >>> import sharpe_bandits as sb
    >>> t = np.unique(np.logspace(1, 5, 60).astype(int))
    >>> regret = np.outer(np.linspace(2.9, 3.1, 20), np.log(t))
    >>> sb.theory.growth(t, regret).verdict
    'logarithmic'
    """
    times, curves = np.asarray(t, float), np.asarray(regret, float)
    inside("confidence", confidence)
    inside("tolerance", tolerance)
    if times.ndim != 1 or curves.ndim != 2 or curves.shape[1] != times.size:
        raise InvalidInputError(
            f"regret must have a row per batch and a column per time, got shape {curves.shape} for {times.size} times"
        )
    if len(curves) < 3:
        raise InvalidInputError(f"at least 3 batches of runs are needed to tell noise from growth, got {len(curves)}")
    if not (np.isfinite(curves).all() and np.isfinite(times).all()):
        raise InvalidInputError("times and regret must be finite")
    if times.size == 0 or times[0] <= 0 or (np.diff(times) <= 0).any():
        raise InvalidInputError("times must be above 0 and increasing")
    first = times[-1] / 10 if start is None else positive("start", start)
    window = times >= first
    if window.sum() < 5:
        raise InvalidInputError(
            f"only {int(window.sum())} times are at or after {first:g}; keep at least 5 checkpoints there, or give an "
            "earlier start"
        )
    x, y = times[window], curves[:, window]
    centred = y - y.mean(axis=1, keepdims=True)
    left, intercepts, slopes = [], [], []
    for scale in (np.log(x), x):
        s = scale - scale.mean()
        slope = centred @ s / (s @ s)
        slopes.append(sample_mean(slope, confidence))
        intercepts.append(sample_mean(y.mean(axis=1) - slope * scale.mean(), confidence))
        left.append(centred - slope[:, None] * s)
    variation = _quadratic(centred)
    residual = [_quadratic(r) for r in left]
    difference = _jackknife(residual[1] - residual[0], confidence)
    exponent = _exponent(x, y, confidence)
    if not variation[0] > 0:  # nothing but noise
        variation = np.full(variation.shape, np.nan)
        exponent = _jackknife(variation, confidence)
    fits = [
        Fit(intercepts[k], slopes[k], _jackknife(residual[k], confidence), _share(residual[k], variation, confidence))
        for k in range(2)
    ]
    verdict, reason = _verdict(fits[0], fits[1], difference, tolerance)
    part = _linear_part(x, y, confidence)
    return Growth(fits[0], fits[1], exponent, part, difference, verdict, reason, int(x[0]), int(x.size))


def _quadratic(rows: np.ndarray) -> np.ndarray:
    """The squared length of the true mean of ``rows``, estimated from pairs of different rows: first from all rows,
    then with each row left out in turn."""
    b = len(rows)
    total = rows.sum(axis=0)
    squares = np.einsum("bt,bt->b", rows, rows)
    whole = float(total @ total - squares.sum()) / (b * (b - 1))
    less = total - rows
    without = (np.einsum("bt,bt->b", less, less) - (squares.sum() - squares)) / ((b - 1) * (b - 2))
    return np.concatenate([[whole], without])


def _jackknife(values: np.ndarray, confidence: float) -> Estimate:
    """A jackknife estimate from the value with all batches (first) and the values with each left out (the rest)."""
    whole, without = float(values[0]), values[1:]
    b = len(without)
    se = float(np.sqrt((b - 1) / b * np.sum((without - without.mean()) ** 2)))
    half = student(confidence, b - 1) * se
    return Estimate(whole, se, whole - half, whole + half)


def _share(residual: np.ndarray, variation: np.ndarray, confidence: float) -> Estimate:
    with np.errstate(divide="ignore", invalid="ignore"):  # a constant curve has no variation to explain
        return _jackknife(residual / variation, confidence)


def _linear_part(x: np.ndarray, y: np.ndarray, confidence: float) -> Estimate:
    """The share of the last value that is linear in a + b ln t + c t, with a jackknife over batches."""
    shapes = np.column_stack([np.ones(x.size), np.log(x / x[-1]), x / x[-1]])
    linear = y @ np.linalg.pinv(shapes)[2]
    parts, wholes = (v.sum() - np.concatenate([[0.0], v]) for v in (linear, y[:, -1]))
    with np.errstate(divide="ignore", invalid="ignore"):
        return _jackknife(parts / wholes, confidence)


def _exponent(x: np.ndarray, y: np.ndarray, confidence: float) -> Estimate:
    """The power that fits the mean curve best, with a jackknife over batches."""
    mean = y.mean(axis=0)
    curves = np.vstack([mean, mean + (mean - y) / (len(y) - 1)])
    curves = curves - curves.mean(axis=1, keepdims=True)
    shapes = np.exp(_POWERS[:, None] * np.log(x / x[-1]))
    shapes[_POWERS == 0] = np.log(x)
    shapes -= shapes.mean(axis=1, keepdims=True)
    shapes /= np.linalg.norm(shapes, axis=1, keepdims=True)
    explained = (shapes @ curves.T) ** 2  # the variation of a curve that a shape explains, to be maximised
    top = np.clip(explained.argmax(axis=0), 1, len(_POWERS) - 2)
    at = np.arange(len(curves))
    before, here, after = (explained[top + step, at] for step in (-1, 0, 1))
    bend = before - 2 * here + after
    shift = np.where(bend < 0, (before - after) / np.where(bend < 0, 2 * bend, 1.0), 0.0)
    return _jackknife(_POWERS[top] + np.clip(shift, -1, 1) * (_POWERS[1] - _POWERS[0]), confidence)


def _verdict(logarithmic: Fit, linear: Fit, difference: Estimate, tolerance: float) -> tuple[Law, str]:
    law: Law
    if difference.low > 0:
        law, fit, other = "logarithmic", logarithmic, "linear"
    elif difference.high < 0:
        law, fit, other = "linear", linear, "logarithmic"
    else:
        return "undecided", "neither fit is certainly better than the other"
    if not fit.slope.low > 0:
        return "undecided", f"the {law} fit is the better one, but it is not certain that regret still grows"
    share = fit.unexplained
    if not share.high <= tolerance:
        return "undecided", (
            f"the {law} fit is the better one, but it may leave {share.high:.2%} of the variation unexplained, more "
            f"than {tolerance:.2%}: the curve may be neither"
        )
    return law, f"the {law} fit is certainly better than the {other} and leaves at most {share.high:.2%} unexplained"
