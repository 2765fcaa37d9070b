r"""Elimination policies on normal rewards, without drawing the rewards one by one.

The mean of :math:`q` normal rewards and the sum of squares about it are independent, :math:`N(\mu, \sigma^2/q)` and
:math:`\sigma^2\chi^2_{q-1}`. Such a policy uses only these two numbers per arm and phase: drawing them yields its
recommendations exactly in distribution, at a cost that does not grow with the budget.
"""

from __future__ import annotations

import numpy as np

from ..arms.normal import Normal
from ..objectives import Mean, Statistics
from ..play.elimination import accept_or_drop, drop_worst, share_equally
from ..policies.base import EliminationPolicy
from .problem import BestArmProblem


def is_drawn_directly(policy: EliminationPolicy, problem: BestArmProblem) -> bool:
    """Whether means and variances of phases are sufficient, or values of the problem's own objective: rewards are
    normal, and pulls do not depend on them.
    """
    goal = policy.objective
    known = goal is None or not goal.has_feature or (problem.asymptotic is not None and goal == problem.objective)
    return (
        known
        and all(type(arm) is Normal for arm in problem.bandit.arms)
        and policy.share is share_equally
        and policy.decide_on in (drop_worst, accept_or_drop)  # with one recommended arm, both drop the worst
        and policy.n_recommended == 1
    )


def recommended(
    policy: EliminationPolicy, problem: BestArmProblem, budget: int, runs: int, generator: np.random.Generator
) -> np.ndarray:
    """The arm that a policy recommends in each run with this budget; :func:`is_drawn_directly` must hold.

    Estimates are adjusted for a correlation with a benchmark, whose beta counts as known: its error is of second order.
    """
    explained, goal = problem.correlation * problem.correlation, policy.objective
    assert goal is not None  # every elimination policy has one
    (mean,), (variance,) = problem.bandit.truth(0, 1)
    if problem.asymptotic is not None and goal == problem.objective:  # values are drawn as if they were means
        (mean, variance), goal = problem.asymptotic, Mean()
    policy.check_horizon(budget, len(mean))
    alive: np.ndarray = np.tile(np.arange(len(mean)), (runs, 1))
    count, average, squares = 0, np.zeros(alive.shape), np.zeros(alive.shape)
    for pulls, keep in policy.phases(budget, len(mean)):
        if not policy.keeps_samples:
            count, average, squares = 0, np.zeros(alive.shape), np.zeros(alive.shape)
        if pulls:
            own = (1 - explained) * variance[alive]
            away = mean[alive] + np.sqrt(own / pulls) * generator.standard_normal(alive.shape) - average
            if pulls > 1:
                squares += own * generator.chisquare(pulls - 1, alive.shape)
            squares += away**2 * (count * pulls / (count + pulls))
            average += away * (pulls / (count + pulls))
            count += pulls
        value = goal.value(Statistics(mean=average, variance=squares / (count - 1) + explained * variance[alive]))
        # of arms that tie, the lowest counts as the best
        stay = np.sort(np.argsort(-value, axis=1, kind="stable")[:, :keep], axis=1)
        alive, average, squares = (np.take_along_axis(x, stay, axis=1) for x in (alive, average, squares))
    return np.asarray(alive[:, 0])
