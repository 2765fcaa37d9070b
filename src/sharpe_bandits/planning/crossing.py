r"""The budget at which a falling probability of error reaches a target, with its uncertainty.

Two arms are confused if the difference of their estimates has the wrong sign: with n rounds, and estimates that are
nearly normal, that has the probability :math:`\Phi(-c\sqrt{n})`. So near the target the error is modelled as
:math:`\Phi(a - b\sqrt{n})`, a straight line in :math:`\sqrt{n}` on the probit scale, fitted by maximum likelihood to
the counts of wrong runs at several budgets; ``a`` allows for more than two arms and for phases.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..results.metrics import Curve, Estimate, normal_half_width

#: Confidence of all intervals of a plan.
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Line:
    """A fitted error whose probit is a - b √n at budget n: intercept a, slope b above 0, and the covariance of both;
    fitted to budgets from ``low`` to ``high``.
    """

    intercept: float
    slope: float
    covariance: np.ndarray
    low: int
    high: int

    def error(self, budgets: np.ndarray) -> Curve:
        """The error at these budgets, with pointwise intervals."""
        from scipy.special import ndtr

        design = _design(budgets)
        score = design @ [self.intercept, self.slope]
        se = np.sqrt(np.einsum("ij,jk,ik->i", design, self.covariance, design))
        half = normal_half_width(CONFIDENCE) * se
        density = np.exp(-(score**2) / 2) / math.sqrt(2 * math.pi)
        return Curve(np.asarray(budgets), ndtr(score), density * se, ndtr(score - half), ndtr(score + half))

    def crossing(self, target: float) -> Estimate:
        """The budget at which the error is ``target``; its standard error by the delta method on the logarithm."""
        from scipy.special import ndtri

        above = self.intercept - float(ndtri(target))
        if above <= 0:  # the error is below the target at every budget of the line
            return Estimate(0.0, 0.0, 0.0, 0.0)
        budget = (above / self.slope) ** 2
        gradient = 2 * np.array([1 / above, -1 / self.slope])
        log_se = math.sqrt(gradient @ self.covariance @ gradient)
        factor = math.exp(normal_half_width(CONFIDENCE) * log_se)
        return Estimate(budget, budget * log_se, budget / factor, budget * factor)

    def safe(self, target: float) -> float:
        """The smallest budget at which the upper limit of the error's interval is ``target``; infinite if none exists.

        There a - b r + z s(r) is the probit of the target, where r is the root of the budget: the larger root of a
        quadratic equation, as in Fieller's interval.
        """
        from scipy.special import ndtri

        square = normal_half_width(CONFIDENCE) ** 2
        above = self.intercept - float(ndtri(target))
        (v, c), (_, w) = self.covariance
        # (b r - above)² = square · (v - 2 c r + w r²)
        two = self.slope**2 - square * w
        one = -self.slope * above + square * c
        none = above**2 - square * v
        if two <= 0:
            return math.inf
        root = (-one + math.sqrt(max(one * one - two * none, 0.0))) / two
        return max(root, 0.0) ** 2


def fit(budgets: Sequence[int], wrong: Sequence[int], runs: Sequence[int]) -> Line | None:
    """The line through counts of wrong runs; None if they do not fall, or if there are too few budgets.

    If the counts are overdispersed about the line, the covariance is widened accordingly.
    """
    from scipy.special import ndtr, ndtri

    if len(set(budgets)) < 2:
        return None
    size = np.asarray(runs, float) + 1
    # Half a run more on either side keeps the estimate finite if no run, or every run, was wrong.
    share = (np.asarray(wrong, float) + 0.5) / size
    design = _design(np.asarray(budgets))
    score, fitted = ndtri(share), np.zeros(2)
    for _ in range(100):
        mean = ndtr(score)
        density = np.exp(-(score**2) / 2) / math.sqrt(2 * math.pi)
        weight = size * density**2 / (mean * (1 - mean))
        information = design.T @ (weight[:, None] * design)
        working = score + (share - mean) / density
        before, fitted = fitted, np.linalg.solve(information, design.T @ (weight * working))
        score = np.clip(design @ fitted, -8, 8)
        if np.abs(fitted - before).max() <= 1e-10 * np.abs(fitted).max():
            break
    if not fitted[1] > 0:
        return None
    mean = ndtr(score)
    # Pearson's statistic is uninformative at a budget where less than one wrong run, or one right run, is expected.
    informative = size * np.minimum(mean, 1 - mean) >= 1
    freedom = int(informative.sum()) - 2
    scatter = float((size * (share - mean) ** 2 / (mean * (1 - mean)))[informative].sum())
    widening = max(1.0, scatter / freedom) if freedom > 0 else 1.0
    low, high = int(min(budgets)), int(max(budgets))
    return Line(float(fitted[0]), float(fitted[1]), widening * np.linalg.inv(information), low, high)


def _design(budgets: np.ndarray) -> np.ndarray:
    root = np.sqrt(np.asarray(budgets, float))
    return np.column_stack([np.ones(len(root)), -root])
