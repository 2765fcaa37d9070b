"""Growth of regret: the power of t that fits a curve best, and the linear part of a + b ln t + c t."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._support.validation import inside, positive
from ..errors import InvalidInputError
from ..results.metrics import Estimate, student

#: Powers of t that are tried.
_POWERS = np.arange(-40, 61) / 20


class Growth(NamedTuple):
    """How a regret curve grows: the p, from -2 to 3, for which a + b t^p fits the mean curve best (0 stands for ln t),
    and c n / R(n) of the fit a + b ln t + c t, the share of the final regret, at n, that grows in proportion to t.
    """

    exponent: Estimate
    linear_part: Estimate


def growth(t: Any, regret: Any, *, start: float | None = None, confidence: float = 0.99) -> Growth:
    """Fit a + b t^p and a + b ln t + c t to the last part of a regret curve; standard errors are a jackknife over
    batches of runs.

    ``regret`` is the mean per batch at the times ``t``, of shape (batches, times), at least 3 batches. All times have
    equal weight, so logarithmic spacing weights decades equally. The fit begins at ``start``, by default a tenth of the
    last time: in the initial rounds regret is linear for any policy.

    Examples
    --------
    >>> import numpy as np
    >>> import sharpe_bandits as sb
    >>> t = np.unique(np.logspace(1, 5, 60).astype(int))
    >>> regret = np.outer(np.linspace(2.9, 3.1, 20), np.sqrt(t))
    >>> round(sb.theory.growth(t, regret).exponent.mean, 3)
    0.5
    """
    times, curves = np.asarray(t, float), np.asarray(regret, float)
    inside("confidence", confidence)
    if times.ndim != 1 or curves.ndim != 2 or curves.shape[1] != times.size:
        raise InvalidInputError(
            f"regret must have a row per batch and a column per time, got shape {curves.shape} for {times.size} times"
        )
    if len(curves) < 3:
        raise InvalidInputError(f"at least 3 batches of runs are needed to tell noise from growth, got {len(curves)}")
    finite = np.isfinite(curves).all() and np.isfinite(times).all()
    if not finite or times.size == 0 or times[0] <= 0 or (np.diff(times) <= 0).any():
        raise InvalidInputError("times must be above 0 and increasing, and they and the regret finite")
    first = times[-1] / 10 if start is None else positive("start", start)
    window = times >= first
    if window.sum() < 5:
        raise InvalidInputError(
            f"only {int(window.sum())} times are at or after {first:g}; keep at least 5 checkpoints there, or give an "
            "earlier start"
        )
    x, y = times[window], curves[:, window]
    return Growth(_exponent(x, y, confidence), _linear_part(x, y, confidence))


def _jackknife(values: np.ndarray, confidence: float) -> Estimate:
    """A jackknife estimate from the value with all batches (first) and the values with each left out (the rest)."""
    whole, without = float(values[0]), values[1:]
    b = len(without)
    se = float(np.sqrt((b - 1) / b * np.sum((without - without.mean()) ** 2)))
    half = student(confidence, b - 1) * se
    return Estimate(whole, se, whole - half, whole + half)


def _linear_part(x: np.ndarray, y: np.ndarray, confidence: float) -> Estimate:
    shapes = np.column_stack([np.ones(x.size), np.log(x / x[-1]), x / x[-1]])
    linear = y @ np.linalg.pinv(shapes)[2]
    parts, wholes = (v.sum() - np.concatenate([[0.0], v]) for v in (linear, y[:, -1]))
    with np.errstate(divide="ignore", invalid="ignore"):
        return _jackknife(parts / wholes, confidence)


def _exponent(x: np.ndarray, y: np.ndarray, confidence: float) -> Estimate:
    """The best power; not a number if the mean curve varies no more than noise does."""
    centred = y - y.mean(axis=1, keepdims=True)
    total = centred.sum(axis=0)
    if not total @ total - np.einsum("bt,bt->b", centred, centred).sum() > 0:  # products of different batches
        return _jackknife(np.full(len(y) + 1, np.nan), confidence)
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
