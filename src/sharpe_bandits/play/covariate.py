r"""Estimates with a covariate: a number that is seen in every round whichever arm is played, as the market's return.

Suppose an arm pays :math:`x = \alpha + \beta z + \varepsilon`, where z is the covariate. In the arm's own rounds z may
have been lucky or unlucky, and the rounds of all arms together tell which. With the regression of x on z over the
arm's s rounds, and mean :math:`\bar z_{all}` and variance :math:`V` of z over all N rounds of all arms,

.. math:: \hat\mu = \bar x + \hat\beta(\bar z_{all} - \bar z), \qquad \hat v = \hat r + \hat\beta^2 V,

where :math:`\hat r` is the residual variance. Their errors are those of the residuals alone, apart from that of
:math:`\bar z_{all}`, which is the same for all arms with the same beta: only the difference between an arm's beta and
that of all rounds counts. To first order, s times the variances of these estimates are

.. math::
    \hat r\Bigl(1 + \frac{(\bar z_{all} - \bar z)^2}{S_z}\Bigr) + (\hat\beta - \hat\beta_{all})^2 V \frac sN, \qquad
    E\varepsilon^4 - \hat r^2 + 4\hat\beta^2 V\hat r,

and their covariance is :math:`E\varepsilon^3`. Where the first of these is not below the variance of rewards, the
adjustment would cost more than it explains, and the arm's plain estimates are used: so it is if the covariate has
nothing to do with rewards, or trends.
"""

import math
from functools import lru_cache

from .statistics import FEATURE, Statistic, higher_moments, named

#: Cells of an arm: sums of d^a z^b with a + b up to 4, d and z less their first values. Cell 0 has (a, b) = (0, 0), 1
#: to 4 (0, b), 5 to 8 (1, b - 5), 9 to 11 (2, b - 9), 12 and 13 (3, b - 12), 14 (4, 0).
SUMS = 15
#: Cells of all rounds, in the row of the first arm: number of rounds, first covariate, first reward, and sums of z,
#: z^2, x and x z, both less their first values; then the parameters of the objective.
COUNT, Z0, X0, Z, ZZ, X, XZ, GOAL = range(SUMS, SUMS + 8)
#: Cells of the statistic; the objective may have four parameters.
CELLS = GOAL + 4
#: An arm's beta is estimated from this many rewards on.
FROM = 5
#: As in :mod:`sharpe_bandits.policies.scale_free`: weight, in pulls, of a normal distribution's moments, and the least
#: W relative to that of one.
PRIOR, FLOOR = 10.0, 0.25


def update_sums(kept, i, at, k, pulls, x, d, z, objective):
    """Add a reward x = anchor + d and the covariate z of its round to the sums of its arm and of all rounds."""
    if kept[0, at + COUNT, k] == 0.0:
        kept[0, at + Z0, k], kept[0, at + X0, k] = z, x
        parameters = (*objective, 0.0)  # Numba cannot loop over an empty tuple
        for j in range(len(parameters)):
            kept[0, at + GOAL + j, k] = parameters[j]
    dz, dx = z - kept[0, at + Z0, k], x - kept[0, at + X0, k]
    kept[0, at + COUNT, k] += 1.0
    kept[0, at + Z, k] += dz
    kept[0, at + ZZ, k] += dz * dz
    kept[0, at + X, k] += dx
    kept[0, at + XZ, k] += dx * dz
    place, power = at, 1.0
    for a in range(5):
        product = power
        for _ in range(5 - a):
            kept[i, place, k] += product
            product *= dz
            place += 1
        power *= d


def moments_of_rest(kept, i, at, k, beta):
    """Mean, biased variance, third and fourth central moment of d - beta z over the rounds of arm i."""
    s = kept[i, at, k]
    m = beta * beta
    one = kept[i, at + 5, k] - beta * kept[i, at + 1, k]
    two = kept[i, at + 9, k] - 2.0 * beta * kept[i, at + 6, k] + m * kept[i, at + 2, k]
    three = (
        kept[i, at + 12, k] - 3.0 * beta * kept[i, at + 10, k] + 3.0 * m * kept[i, at + 7, k]
        - m * beta * kept[i, at + 3, k]
    )  # fmt: skip
    four = (
        kept[i, at + 14, k] - 4.0 * beta * kept[i, at + 13, k] + 6.0 * m * kept[i, at + 11, k]
        - 4.0 * m * beta * kept[i, at + 8, k] + m * m * kept[i, at + 4, k]
    )  # fmt: skip
    mean = one / s
    third, fourth = higher_moments(one, two, three, four, 1.0 / s)
    return mean, max(two / s - mean * mean, 0.0), third, fourth


def stable_variance(r, third, fourth, mean_noise, more, pulls, by_mean, by_variance, scale):
    """W, from the residual variance r and residual moments, shrunk towards those of a normal distribution.

    ``mean_noise``: the variance of the mean's influence; ``more``: what beta adds to that of the variance.
    """
    share, square = pulls / (pulls + PRIOR), by_variance * by_variance
    fourth = share * fourth + (1.0 - share) * 3.0 * r * r
    w = by_mean * (by_mean * mean_noise + 2.0 * by_variance * share * third) + square * (fourth - r * r + more)
    normal = by_mean * by_mean * mean_noise + square * (2.0 * r * r + more)
    return max(w, FLOOR * normal) / scale


def without_parameters(root, mean, variance, kept, at, k):
    return root(mean, variance)


def with_one(root, mean, variance, kept, at, k):
    return root(mean, variance, kept[0, at + GOAL, k])


def with_two(root, mean, variance, kept, at, k):
    return root(mean, variance, kept[0, at + GOAL, k], kept[0, at + GOAL + 1, k])


#: How the root of an objective is called, by its number of parameters.
CALLS = (without_parameters, with_one, with_two)


@lru_cache
def adjusted_statistic(root, parameters):
    """The statistic of the objective Adjusted for an objective with this root and number of parameters."""
    call = CALLS[parameters]

    def adjusted(kept, i, at, k, pulls, anchor, mean, variance, third, fourth, key):
        n = kept[0, at + COUNT, k]
        z_all = kept[0, at + Z, k] / n
        spread_all = max(kept[0, at + ZZ, k] / n - z_all * z_all, 0.0)
        z = kept[i, at + 1, k] / pulls
        spread = max(kept[i, at + 2, k] / pulls - z * z, 0.0)
        beta, freedom, mean_noise = 0.0, 1.0, variance
        rest, r, e3, e4 = moments_of_rest(kept, i, at, k, 0.0)
        if pulls >= FROM and spread > 1e-12 * spread_all:
            slope = (kept[i, at + 6, k] / pulls - z * kept[i, at + 5, k] / pulls) / spread
            slope_all = (kept[0, at + XZ, k] / n - z_all * kept[0, at + X, k] / n) / spread_all
            away = (z_all - z) * (z_all - z) / spread
            unlike = (slope - slope_all) * (slope - slope_all) * spread_all * pulls / n
            fitted = moments_of_rest(kept, i, at, k, slope)
            noise = fitted[1] * pulls / (pulls - 2.0) * (1.0 + away) + unlike
            if noise * (pulls - 2.0) / (pulls - 3.0) < variance:  # else the adjustment costs more than it explains
                rest, r, e3, e4 = fitted
                beta, freedom, mean_noise = slope, 2.0, noise
        if pulls > freedom:
            r *= pulls / (pulls - freedom)
        explained = beta * beta * spread_all
        h, by_mean, by_variance, scale = call(root, anchor + rest + beta * z_all, r + explained, kept, at, k)
        w = stable_variance(r, e3, e4, mean_noise, 4.0 * explained * r, pulls, by_mean, by_variance, scale)
        if freedom > 1.0:
            w *= (pulls - 2.0) / (pulls - 3.0)  # beta takes a degree of freedom
        return h, h * h + w, 0.0

    return Statistic(
        FEATURE, named(adjusted, f"adjusted_{root.__qualname__.replace('.', '_')}"), cells=CELLS, update=update_sums
    )


def relative(kept, i, at, k, pulls, anchor, mean, variance, third, fourth, key):
    """The estimate of the objective InformationRatio, from the moments of x - z."""
    rest, r, e3, e4 = moments_of_rest(kept, i, at, k, 1.0)
    if pulls > 1.0:
        r *= pulls / (pulls - 1.0)
    L, sd = kept[0, at + GOAL, k], math.sqrt(r)
    excess, d = anchor + rest - kept[0, at + Z0, k], L + sd
    if not sd > 0.0:  # the bound of unseen_influence_variance
        h = excess / d if d > 0.0 else 0.0 if excess == 0.0 else math.copysign(math.inf, excess)
        return h, h * h + 0.5, 0.0
    w = stable_variance(r, e3, e4, r, 0.0, pulls, 1.0, -0.5 * excess / (d * sd), d * d)
    return excess / d, excess / d * (excess / d) + w, 0.0


RELATIVE = Statistic(FEATURE, relative, cells=CELLS, update=update_sums)
