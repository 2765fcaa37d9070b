r"""An asymptotic lower bound on the regret of any uniformly good policy on RSSR: research beside the library.

The model: K arms, each with any distribution on a known interval [l, u]. A policy is uniformly good if on every such
bandit its regret is of smaller order than any power of n. Let v be the value of an arm, :math:`v_*` the largest, and
:math:`\Delta_i = v_* - v_i`. Then (Lai and Robbins 1985; Burnetas and Katehakis 1996)

.. math:: \liminf_n \frac{R(n)}{\ln n} \ge \sum_{i: \Delta_i > 0} \frac{\Delta_i}{\mathrm{KL}_{\inf}(F_i, v_*)}, \qquad
    \mathrm{KL}_{\inf}(F, c) = \inf \{ \mathrm{KL}(F, G) : G \text{ on } [l, u],\ \mathrm{RSSR}(G) \ge c \} .

How it is computed. Let z = x - r be the excess reward, and c > 0. For a G with mean a (of z), RSSR(G) >= c means
:math:`E_G z^2 \le (1 + 1/c)\,a^2 - L`. The right side is convex in a, hence the maximum of its tangents. The tangent at
t turns the condition into one that is linear in G, and RSSR(G) >= c if and only if for some t (with the sign of a;
t = a works)

.. math:: E_G\, q_t(z) \le 0, \qquad q_t(z) = (1 + 1/c)(z - t)^2 - z^2/c + L .

So :math:`\mathrm{KL}_{\inf}` is the minimum over t of a problem with one linear constraint. (With mean and second
moment fixed there would be two multipliers; the tangent needs one.) Its dual is that of Honda and Takemura (2010) for
the mean, with the quadratic :math:`q_t` instead of the reward:

.. math:: \max \{ E_F \ln(1 + \lambda q_t(z)) : \lambda \ge 0,\ 1 + \lambda q_t \ge 0 \text{ on } [l, u] \} .

The minimum of the quadratic is at its vertex or at an end of [l, u], and has the value :math:`-d < 0`; with
:math:`\theta = \lambda d` in [0, 1] the dual is a concave function of one number on the unit interval. The optimal G
has the density :math:`1/(1 + \lambda q_t)` with respect to F and, if the maximum is at :math:`\theta = 1`, the
remaining mass at the minimum of :math:`q_t`, where F need not have any. The derivative of the minimal divergence with
respect to t is :math:`2 \lambda (1 + 1/c)(t - E_G z)`. It may have several zeros (concentrating the rewards and moving
mass far up are two ways to a better ratio). It is therefore evaluated on a grid, linear over the interval and geometric
about the mean of F, and each change of sign is refined; two minima between neighbouring grid points would be found as
one.

Unsigned RSSR can exceed c for t > 0 and for t < 0, with one search each; signed RSSR for t > 0 only. Signed RSSR at
c <= 0 (all arms lose money) requires :math:`E_G z + \kappa \sqrt{L + E_G z^2} \ge 0` with
:math:`\kappa^2 = |c| / (1 + |c|)`: a convex set, the intersection over s of the tangents
:math:`E_G[z + \kappa (L + z^2)/(2s) + \kappa s / 2] \ge 0`. The divergence is its maximum over these tangents, which is
the only local maximum in s.

Expectations are sums for discrete arms and Gauss-Legendre quadrature for others, on panels that are halved until the
density is resolved to 1e-12, and graded geometrically towards the minimum of the quadratic, where the logarithm may be
singular.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import singledispatch
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from sharpe_bandits._support.validation import finite, real
from sharpe_bandits.arms import (
    Bernoulli,
    Beta,
    Constant,
    Empirical,
    Gamma,
    Normal,
    Scipy,
    TruncatedGamma,
    TruncatedNormal,
    Uniform,
)
from sharpe_bandits.arms.bandit import Bandit, as_environment
from sharpe_bandits.arms.base import Arm
from sharpe_bandits.arms.environment import as_arm
from sharpe_bandits.errors import InvalidInputError
from sharpe_bandits.objectives import RSSR, Statistics
from sharpe_bandits.objectives.base import TIE
from sharpe_bandits.theory.bound import independent

Function = Callable[[np.ndarray], np.ndarray]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)
#: Distances to a singularity at which panels are split. A panel from a to 4a integrates ln to a relative 3^-24.
_GRADES = 4.0 ** -np.arange(27)
#: Panels at least this fraction of their length away from a singularity are not affected by it.
_FAR = 1 / 3
#: Probabilities whose quantiles split a density initially.
_TAILS = np.array([1e-30, 1e-20, 1e-12, 1e-8, 1e-5, 1e-3, 0.03, 0.5])
#: Where a panel is split to check whether it resolves a density: unevenly, so that a jump between the last node and the
#: end cannot escape both rules.
_CHECKED = np.array([0.0, 1e-5, 2e-3, 0.04, 0.5, 0.96, 0.998, 0.99999, 1.0])
_MAX_PANELS = 5000
_NONE = np.zeros(0)


class ArmShare(NamedTuple):
    """The contribution of one arm to a :class:`LowerBound`: ``contribution = gap / kl_inf``, 0 for the best arms.

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> bandit = sb.Bandit([sb.Uniform(0, 1), sb.Uniform(0, 0.5)])
    >>> lower_bound(bandit, L=1.0).per_arm[0].name
    '0'
    """

    name: str
    gap: float
    kl_inf: float
    contribution: float


@dataclass(frozen=True)
class LowerBound:
    """An asymptotic lower bound on regret, ``constant * ln n``.

    Attributes
    ----------
    constant : float
        coefficient of ln n
    per_arm : tuple[ArmShare, ...]
        gap, KLinf and contribution of every arm
    low, high : float
        the interval that the rewards of the model lie in

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> bandit = sb.Bandit([sb.Uniform(0, 1), sb.Uniform(0, 0.5)])
    >>> bound = lower_bound(bandit, L=1.0)
    >>> round(bound.constant, 3)
    0.418
    """

    constant: float
    per_arm: tuple[ArmShare, ...]
    low: float
    high: float

    def at(self, horizon: Any) -> Any:
        """The bound after ``horizon`` rounds (a number of at least 1, or an array).

        It is asymptotic: terms of lower order are omitted. At a given horizon a good policy may be below it, and if
        gaps are small it can exceed the horizon times the largest gap, which no policy's regret does.
        """
        rounds = np.asarray(horizon, float)
        if not (rounds >= 1).all():
            raise InvalidInputError(f"horizon must be at least 1, got {horizon!r}")
        return np.where(rounds > 1, self.constant, 0.0) * np.log(rounds)


def lower_bound(
    bandit: Any,
    L: float,
    *,
    low: float | None = None,
    high: float | None = None,
    risk_free: float = 0.0,
    signed: bool = False,
) -> LowerBound:
    r"""The asymptotic lower bound on the regret of any uniformly good policy on RSSR.

    .. math:: \liminf_n \frac{R(n)}{\ln n} \ge \sum_{i: \Delta_i > 0} \frac{\Delta_i}{\mathrm{KL}_{\inf}(F_i, v_*)}

    If the best arm is a constant and no other distribution on [l, u] is as good, then :math:`\mathrm{KL}_{\inf}` is
    infinite, and the other arms contribute nothing: a few rewards distinguish them for certain.

    Parameters
    ----------
    bandit : Any
        a Bandit or a list of arms
    L, risk_free, signed : float and bool
        of the objective, :class:`~sharpe_bandits.RSSR`
    low, high : float | None, optional
        ends of the interval of the model; by default the smallest that contains the supports of all arms. Infinite
        ends, which must be given explicitly, stand for all distributions with finite variance: unlike a mean, an RSSR
        above 0 is not raised by a little mass far away, and the bound is finite (a signed RSSR below 0 is raised, and
        the bound is infinite). A wider interval makes the model and the bound larger.

    References
    ----------
    T. L. Lai and H. Robbins, "Asymptotically efficient adaptive allocation rules", Advances in Applied Mathematics 6,
    1985. A. N. Burnetas and M. N. Katehakis, "Optimal adaptive policies for sequential allocation problems", Advances
    in Applied Mathematics 17, 1996. J. Honda and A. Takemura, "An asymptotically optimal bandit algorithm for bounded
    support models", COLT 2010.

    Examples
    --------
    >>> from sharpe_bandits import Bernoulli
    >>> bound = lower_bound([Bernoulli(0.5), Bernoulli(0.2)], L=1.0)
    >>> round(bound.constant, 4)
    0.8587
    """
    fixed = as_environment(bandit)
    if not isinstance(fixed, Bandit):
        raise InvalidInputError(f"the lower bound needs a Bandit of arms with known distributions, got {bandit!r}")
    independent(fixed.arms)
    objective = RSSR(L, risk_free, signed)
    ends = np.array([arm.support for arm in fixed.arms])
    span = _span(low, high, float(ends[:, 0].min()), float(ends[:, 1].max()), fixed)
    values = objective.value(Statistics(mean=fixed.means, variance=fixed.variances))
    target = float(values.max())
    shares = []
    for name, arm, gap in zip(
        fixed.names,
        fixed.arms,
        objective.gaps(Statistics(mean=fixed.means, variance=fixed.variances)),
        strict=True,
    ):
        divergence = _kl_inf(arm, target, objective, span) if gap > 0 else 0.0
        contribution = 0.0 if gap == 0 else float(gap) / divergence if divergence > 0 else math.inf
        shares.append(ArmShare(name, float(gap), divergence, contribution))
    return LowerBound(sum(share.contribution for share in shares), tuple(shares), *span)


def kl_inf(
    arm: Any,
    c: float,
    L: float,
    *,
    low: float | None = None,
    high: float | None = None,
    risk_free: float = 0.0,
    signed: bool = False,
) -> float:
    r"""The smallest Kullback-Leibler divergence to a distribution with an RSSR of at least c.

    .. math:: \mathrm{KL}_{\inf}(F, c) = \inf \{ \mathrm{KL}(F, G) : G \text{ on } [l, u],\ \mathrm{RSSR}(G) \ge c \}

    It is 0 if the arm itself is that good, and infinite if no distribution on [l, u] is (or only a constant). For c
    slightly above the arm's value v it is :math:`(c - v)^2 / (2W)`, where W is the variance of RSSR's influence
    function :math:`2\mu(x - \mu_x)/D - \mu^2 ((x - \mu_x)^2 - \sigma^2)/D^2`, with :math:`\mu = \mu_x - r` and :math:`D
    = L + \sigma^2`. The module's text describes the method; the relative error is at most 1e-6.

    Parameters
    ----------
    arm : Any
        an arm or a frozen scipy.stats distribution
    c : float
        the required value
    L, risk_free, signed : float and bool
        of the objective, :class:`~sharpe_bandits.RSSR`
    low, high : float | None, optional
        ends of the interval of G, possibly infinite (see :func:`lower_bound`); by default the arm's support

    References
    ----------
    A. N. Burnetas and M. N. Katehakis (1996), and J. Honda and A. Takemura (2010), as in :func:`lower_bound`.

    Examples
    --------
    >>> from sharpe_bandits import Uniform
    >>> round(kl_inf(Uniform(0, 1), 2.0, L=0.1), 6)
    0.054768
    """
    given = as_arm(arm)
    return _kl_inf(given, finite("c", c), RSSR(L, risk_free, signed), _span(low, high, *given.support, given))


def _span(low: Any, high: Any, smallest: float, largest: float, whose: Any) -> tuple[float, float]:
    """The ends of the model's interval, which must contain all rewards."""
    for name, given, end in (("low", low, smallest), ("high", high, largest)):
        if given is None and math.isinf(end):
            raise InvalidInputError(
                f"the rewards of {whose!r} are unbounded ({name} end {end}), and the bound is for distributions on "
                f"[low, high]: truncate the arms, or give {name}={end} for all distributions of finite variance"
            )
        if given is not None and math.isnan(real(given)):
            raise InvalidInputError(f"{name} must be a number, got {given!r}")
    span = (smallest if low is None else float(low), largest if high is None else float(high))
    if span[0] > smallest or span[1] < largest:
        raise InvalidInputError(
            f"[low, high] = [{span[0]!r}, {span[1]!r}] must contain all rewards, which lie in [{smallest!r}, "
            f"{largest!r}]; widen it or truncate the arms"
        )
    return span


def _kl_inf(arm: Arm, c: float, objective: RSSR, span: tuple[float, float]) -> float:
    if float(objective.value(arm)) >= c - TIE * abs(c):
        return 0.0
    low, high = span[0] - objective.risk_free, span[1] - objective.risk_free
    rewards = _Rewards(arm, objective.risk_free)
    if c <= 0:  # only possible if signed: otherwise no arm is below it
        return _below_zero(rewards, c, objective.L, low, high)
    # No mean closer to 0 reaches c, nor does this one unless the arm is constant.
    least = math.sqrt(c * objective.L) * (1 + TIE)
    branches = [(max(low, least), high)]
    if not objective.signed:
        branches.append((low, min(high, -least)))
    return min((_above_zero(rewards, c, objective.L, low, high, *b) for b in branches if b[0] < b[1]), default=math.inf)


def _above_zero(rewards: _Rewards, c: float, L: float, low: float, high: float, first: float, last: float) -> float:
    """KLinf for c > 0 over G on [low, high] with means from ``first`` to ``last``, all of one sign."""
    mean, d = rewards.mean, L + rewards.variance

    def nearest(t: float) -> tuple[float, float]:
        """The minimal divergence under the tangent at t, and t minus the mean of the minimising G."""
        vertex = t + t / c
        at = min(max(vertex, low), high)
        depth = t * (2 * at - t) / c - L - (at - t) ** 2  # minus the quadratic there, with little cancellation
        slope = 0.0 if at == vertex else 2 * (at - vertex)
        excess = d - mean * mean / c + (1 + 1 / c) * (t - mean) ** 2
        found = rewards.nearest(at, 1.0, slope, depth, excess)
        return found.divergence, t - (at + found.first)

    scale = math.sqrt(d)
    # Infinite means cannot be tried; this far out the limit is reached up to rounding: ln(1 + c), with a mass of
    # c / (1 + c) at infinity.
    grid_first, grid_last = max(first, min(mean, 0.0) - 2.0**40 * scale), min(last, max(mean, 0.0) + 2.0**40 * scale)
    steps = scale * 2.0 ** np.arange(-3, math.log2(2 + (grid_last - grid_first) / scale) + 1)
    grid = np.concatenate([np.linspace(grid_first, grid_last, 24), [mean], mean - steps, mean + steps])
    grid = np.unique(grid[(grid >= grid_first) & (grid <= grid_last)])
    seen = [nearest(float(t)) for t in grid]
    tried = [divergence for divergence, _ in seen]
    for k, ((_, left), (_, right)) in enumerate(pairwise(seen)):
        if left < 0 < right:
            tried.append(nearest(_root(lambda t: nearest(t)[1], grid[k], grid[k + 1], scale))[0])
    return min(tried)


def _below_zero(rewards: _Rewards, c: float, L: float, low: float, high: float) -> float:
    """KLinf of signed RSSR for c <= 0 over G on [low, high]."""
    kappa = math.sqrt(-c / (1 - c))
    mean, second = rewards.mean, rewards.variance + rewards.mean**2
    if high == math.inf or (kappa > 0 and low == -math.inf):
        return 0.0  # a little mass far enough away produces any mean or any variance

    def shortfall(z: float, s: float) -> float:
        return -z - kappa * ((L + z * z) / (2 * s) + s / 2)

    def nearest(s: float) -> tuple[float, float]:
        """The divergence under the tangent at s, and the excess of s^2 over L plus the second moment of its G."""
        at = min((end for end in (low, high) if math.isfinite(end)), key=lambda end: shortfall(end, s))
        depth = -shortfall(at, s)
        if not depth > 1e-13 * (s + abs(at)):
            return math.inf, 0.0
        excess = -mean - kappa * ((L + second) / (2 * s) + s / 2)
        found = rewards.nearest(at, -kappa / (2 * s), -1 - kappa * at / s, depth, excess)
        return found.divergence, s * s - L - at * at - 2 * at * found.first - found.second

    if kappa == 0:
        return nearest(1.0)[0]
    closest = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
    ends = math.sqrt(L + closest**2), math.sqrt(L + max(abs(low), abs(high)) ** 2)
    tried = [nearest(s) for s in ends]
    if tried[0][1] < 0 < tried[1][1]:
        tried.append(nearest(_root(lambda s: nearest(s)[1], *ends, ends[0])))
    return max(divergence for divergence, _ in tried)


def _root(function: Callable[[float], float], first: float, last: float, scale: float) -> float:
    from scipy.optimize import brentq

    return float(brentq(function, first, last, xtol=1e-11 * scale, rtol=1e-14))


class _Nearest(NamedTuple):
    """The nearest G: its divergence from F, and its first and second moment about the minimum of the quadratic."""

    divergence: float
    first: float
    second: float


class _Rewards:
    """The distribution of an arm's excess rewards, for integration."""

    def __init__(self, arm: Arm, risk_free: float) -> None:
        self.mean, self.variance, self.risk_free = arm.mean - risk_free, arm.variance, risk_free
        self.law = _law(arm)
        if not self.law.cuts.size:
            return
        x, weights = self.law.about(arm.mean)
        mean, second = float(x @ weights), float(x * x @ weights)
        # The moments of arms are exact to 1e-9; if the quadrature differs, the density was not resolved.
        if abs(mean) > 1e-7 * math.sqrt(arm.variance) or abs(second - arm.variance) > 1e-6 * arm.variance:
            raise InvalidInputError(
                f"the density of {arm!r} cannot be integrated to 1e-6: its mean and variance come out as "
                f"{arm.mean + mean!r} and {second!r}, not {arm.mean!r} and {arm.variance!r}; "
                "use an Empirical arm of its draws"
            )

    def nearest(self, at: float, lead: float, slope: float, depth: float, excess: float) -> _Nearest:
        r"""The G nearest to F with :math:`E_G\, p(z) \le 0`, where p is a quadratic with minimum ``-depth``.

        Maximises :math:`E_F \ln(1 + \theta (\rho - 1))` over theta in [0, 1], where
        :math:`\rho = (p + depth) / depth = y (lead\, y + slope) / depth` and y = z - at.

        Parameters
        ----------
        at : float
            the point of [l, u] at which p is smallest
        lead, slope : float
            p at ``at + y`` is ``lead y^2 + slope y - depth``
        excess : float
            the exact :math:`E_F\, p`; if it is nearly 0, and the divergence with it, the error of quadrature would
            matter
        """
        y, weights = self.law.about(at + self.risk_free)
        if excess <= 0:
            return _Nearest(0.0, float(weights @ y), float(weights @ (y * y)))
        rho = np.maximum(y * (lead * y + slope) / depth, 0.0)
        move = rho - 1
        pull = excess / depth
        near = pull < 0.01 * float(weights @ np.abs(move))
        correction = pull - float(weights @ move) if near else 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            theta = _dual(rho, move, weights, correction)
            ratio = (1 - theta) + theta * rho  # density of F divided by that of G
            small = theta * move
            logs = np.where(small > -0.5, np.log1p(np.maximum(small, -0.5)), np.log(ratio))
            share = weights / ratio
            divergence = max(0.0, float(weights @ logs) + theta * correction)
            return _Nearest(divergence, float(share @ y), float(share @ (y * y)))


def _dual(rho: np.ndarray, move: np.ndarray, weights: np.ndarray, correction: float) -> float:
    """The theta in [0, 1] at which the derivative of the dual, which decreases from a positive value, is 0; 1 if it
    stays positive.

    Newton's method inside a bracket. If a step leaves the bracket, 1 - theta is reduced geometrically: the root can be
    very close to 1.
    """
    if float(weights @ (move / rho)) + correction >= 0:
        return 1.0
    low, high, theta = 0.0, 1.0, 0.0
    for _ in range(200):
        part = move / ((1 - theta) + theta * rho)
        slope, bend = float(weights @ part) + correction, float(weights @ (part * part))
        if slope > 0:
            low = theta
        else:
            high = theta
        step = slope / bend
        new = theta + step
        if not low < new < high:
            new = 1 - (math.sqrt((1 - low) * (1 - high)) if high < 1 else (1 - low) / 16)
            if not low < new < high:
                return low
        elif abs(step) <= 1e-11 * min(new, 1 - new):
            return new
        theta = new
    return theta


class _Law:
    """A distribution as atoms and a density (up to a factor if there are no atoms) on panels that resolve it."""

    def __init__(
        self, points: np.ndarray, masses: np.ndarray, cuts: np.ndarray = _NONE, density: Function = np.ones_like
    ) -> None:
        self.points, self.masses, self.cuts, self.density = points, masses, cuts, density
        self._x, weights = _rule(cuts[:-1], cuts[1:])
        self._weights = weights * density(self._x)

    def about(self, centre: float) -> tuple[np.ndarray, np.ndarray]:
        """Nodes, relative to ``centre``, and weights of a quadrature that is also accurate for singularities there."""
        nodes, weights = [self.points - centre], [self.masses]
        if self.cuts.size:
            first, last = self.cuts[:-1] - centre, self.cuts[1:] - centre
            far = np.maximum(first, -last) >= _FAR * (last - first)
            nodes.append((self._x[far] - centre).ravel())
            weights.append(self._weights[far].ravel())
            for k in np.flatnonzero(~far):
                steps = max(-first[k], last[k]) * _GRADES
                inner = np.concatenate([-steps, [0.0], steps[::-1]])
                inner = inner[(inner > first[k]) & (inner < last[k])]
                edges = np.concatenate([[first[k]], inner, [last[k]]])
                y, weight = _rule(edges[:-1], edges[1:])
                nodes.append(y.ravel())
                weights.append((weight * self.density(np.clip(centre + y, self.cuts[k], self.cuts[k + 1]))).ravel())
        weight = np.concatenate(weights)
        return np.concatenate(nodes), weight / weight.sum()


def _rule(first: np.ndarray, last: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Gauss-Legendre nodes and weights between ``first`` and ``last``, one row for each pair of ends."""
    half = (last - first)[:, None] / 2
    return first[:, None] + half * (1 + _NODES), half * _WEIGHTS


def _dense(density: Function, cuts: np.ndarray, name: str) -> np.ndarray:
    """``cuts`` with as many midpoints added as it takes to integrate a density and its moments."""
    first, last = cuts[:-1], cuts[1:]
    origin, unit = (cuts[0] + cuts[-1]) / 2, (cuts[-1] - cuts[0]) / 2
    total, found = 0.0, [cuts[-1:]]

    def sums(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        x, weight = _rule(a.ravel(), b.ravel())
        mass, place = weight * density(x), (x - origin) / unit
        return np.stack([(mass * place**k).sum(axis=1).reshape(a.shape) for k in range(3)])

    for _ in range(60):
        edges = first[:, None] + (last - first)[:, None] * _CHECKED
        fine = sums(edges[:, :-1], edges[:, 1:]).sum(axis=2)
        total = max(total, float(fine[0].sum()))
        middle = (first + last) / 2
        rough = (np.abs(fine - sums(first, last)) > 1e-12 * total).any(axis=0) & (first < middle) & (middle < last)
        found.append(first[~rough])
        if not rough.any():
            break
        if 2 * rough.sum() > _MAX_PANELS:
            raise InvalidInputError(
                f"the density of {name} is too rough to integrate; use an Empirical arm of its draws"
            )
        first, last = np.concatenate([first[rough], middle[rough]]), np.concatenate([middle[rough], last[rough]])
    else:
        found.append(first)
    return np.sort(np.concatenate(found))


def _continuous(density: Function, cuts: Any, arm: Arm) -> _Law:
    low, high = arm.support
    points = np.unique(np.clip(np.asarray(cuts, float), low, high))
    return _Law(_NONE, _NONE, _dense(density, points, repr(arm)), density)


@singledispatch
def _law(arm: Arm) -> _Law:
    raise InvalidInputError(
        f"the density of {arm!r} is not known here; use a frozen scipy.stats distribution, or an Empirical arm of its "
        "draws"
    )


@_law.register
def _(arm: Constant) -> _Law:
    return _Law(np.array([arm.value]), np.ones(1))


@_law.register
def _(arm: Bernoulli) -> _Law:
    return _Law(np.array([0.0, 1.0]), np.array([1 - arm.p, arm.p]))


@_law.register
def _(arm: Empirical) -> _Law:
    values, counts = np.unique(arm.values, return_counts=True)
    return _Law(values, counts / counts.sum())


@_law.register
def _(arm: Uniform) -> _Law:
    return _continuous(np.ones_like, arm.support, arm)


@_law.register
def _(arm: Normal) -> _Law:
    return _normal(arm, arm.mean_, math.sqrt(arm.variance_))


@_law.register
def _(arm: TruncatedNormal) -> _Law:
    return _normal(arm, arm.mean_, math.sqrt(arm.variance_))


def _normal(arm: Arm, location: float, sd: float) -> _Law:
    low, high = arm.support
    densest = (min(max(location, low), high) - location) / sd
    # Far out in a tail the density decays over sd / densest from its densest end, not over sd.
    reach = sd * np.array([0.0, 0.1, 0.5, 1.0, 2.0, 5.0, 12.0, 40.0]) / max(1.0, abs(densest))
    peak = location + sd * densest
    ends = [end for end in arm.support if math.isfinite(end)]
    cuts = np.concatenate([ends, peak - reach, peak + reach])
    return _continuous(lambda x: np.exp((densest**2 - ((x - location) / sd) ** 2) / 2), cuts, arm)


@_law.register
def _(arm: Gamma) -> _Law:
    return _gamma(arm, arm.shape, arm.scale)


@_law.register
def _(arm: TruncatedGamma) -> _Law:
    return _gamma(arm, arm.shape, arm.scale)


def _gamma(arm: Arm, shape: float, scale: float) -> _Law:
    low, high = arm.support[0] / scale, arm.support[1] / scale
    mode = min(max(shape - 1.0, low), high) or min(1.0, high)
    top = min(high, max(low, shape) + 20 * math.sqrt(shape) + 80)
    # Below shape 1 the density is infinite at 0: the probability of rewards below x is about x^shape.
    tails = top * _TAILS ** (1 / shape) if low == 0 else _NONE
    cuts = scale * np.concatenate([[low, top, mode], tails])

    def density(x: np.ndarray) -> np.ndarray:
        z = np.maximum(x / scale, 5e-324)
        return np.exp((shape - 1) * np.log(z / mode) - (z - mode))

    return _continuous(density, cuts, arm)


@_law.register
def _(arm: Beta) -> _Law:
    import scipy.stats

    return _frozen(scipy.stats.beta(arm.a, arm.b), arm)


@_law.register
def _(arm: Scipy) -> _Law:
    if arm._is_discrete:
        return _Law(*arm._atoms())
    return _frozen(arm.frozen, arm)


def _frozen(frozen: Any, arm: Arm) -> _Law:
    """The law of a continuous scipy distribution."""

    def density(x: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):  # scipy's densities may overflow where they tend to 0
            return np.asarray(frozen.pdf(x), float)

    low, high = arm.support
    with np.errstate(all="ignore"):
        cuts = np.concatenate([frozen.ppf(_TAILS), frozen.isf(_TAILS)])
        # Very close to an end other than 0, rounding spoils a density that is infinite there: the mass close to it is
        # put on one point.
        close = np.minimum(1e-12 * np.abs([low, high]), 1e-6 * (high - low))
        cuts = cuts[np.isfinite(cuts) & ~(cuts - low < close[0]) & ~(high - cuts < close[1])]
    edges = _continuous(density, cuts, arm).cuts
    rest = np.array([float(frozen.cdf(edges[0])), float(frozen.sf(edges[-1]))])
    return _Law(edges[[0, -1]], rest, edges, density)
