"""The lower bound on regret: against brute force, closed forms, limits and symmetries."""

import math
import time
from itertools import pairwise

import numpy as np
import pytest
import scipy.stats as st
from examples.lower_bound import kl_inf, lower_bound
from scipy.optimize import minimize, minimize_scalar

import sharpe_bandits as sb
from sharpe_bandits.arms.base import Arm
from sharpe_bandits.errors import InvalidInputError
from sharpe_bandits.paper.panels import panel

#: Continuous arms of every kind, with their quantile functions.
CONTINUOUS = {
    "uniform": (sb.Uniform(0.5, 2.0), st.uniform(0.5, 1.5).ppf),
    "beta": (sb.Beta(2, 5), st.beta(2, 5).ppf),
    "arcsine": (sb.Beta(0.5, 0.5), st.beta(0.5, 0.5).ppf),
    "beta, density infinite at 1": (sb.Beta(2, 0.4), st.beta(2, 0.4).ppf),
    "truncated normal": (sb.arms.TruncatedNormal(0.2, 1, -1, 3), st.truncnorm(-1.2, 2.8, 0.2).ppf),
    "tail of a normal": (sb.arms.TruncatedNormal(0, 1, 5, 9), st.truncnorm(5, 9).ppf),
    "truncated gamma": (
        sb.arms.TruncatedGamma(2, 2, 1, 10),
        lambda q: st.gamma(2, scale=2).ppf(
            st.gamma(2, scale=2).cdf(1) + q * (st.gamma(2, scale=2).cdf(10) - st.gamma(2, scale=2).cdf(1))
        ),
    ),
    "truncated gamma, shape below 1": (
        sb.arms.TruncatedGamma(0.3, 2, 0, 10),
        lambda q: st.gamma(0.3, scale=2).ppf(q * st.gamma(0.3, scale=2).cdf(10)),
    ),
    "scipy, a kink": (st.triang(0.3), st.triang(0.3).ppf),
    "scipy, jumps": (
        st.rv_histogram((np.array([3, 1, 5, 2]), np.array([0, 0.5, 1, 2, 2.5])), density=False)(),
        st.rv_histogram((np.array([3, 1, 5, 2]), np.array([0, 0.5, 1, 2, 2.5])), density=False).ppf,
    ),
}


def own_value(arm, L, risk_free=0.0, signed=False):
    return float(sb.RSSR(L, risk_free, signed).value(arm))


def as_arm(thing):
    return thing if isinstance(thing, Arm) else sb.arms.Scipy(thing)


def brute(points, f, c, L, low, high, risk_free=0.0, signed=False, starts=15, seed=1):
    """KLinf of a discrete F by minimising over all weights on its points and on one more point, placed freely.

    One more is enough: mass where F has none costs nothing by itself and is there for two moments only.
    """
    rng = np.random.default_rng(seed)
    n = len(points)

    def reached(p):
        z = np.append(points, p[-1]) - risk_free
        mean = p[:-1] @ z
        variance = p[:-1] @ (z - mean) ** 2
        if signed:  # roots of values, which have a derivative at 0
            return mean / math.sqrt(L + variance) - math.copysign(math.sqrt(abs(c)), c)
        return mean * mean / (L + variance) - c

    best = math.inf
    for k in range(starts):
        more = rng.uniform(0, 0.95)
        place = (low, high, rng.uniform(low, high))[k % 3]
        found = minimize(
            lambda p: float(f @ np.log(f / p[:n])),
            [*((1 - more) * f), more, place],
            constraints=[{"type": "eq", "fun": lambda p: p[:-1].sum() - 1}, {"type": "ineq", "fun": reached}],
            bounds=[(1e-9, 1)] * n + [(0, 1), (low, high)],
            method="SLSQP",
            options={"maxiter": 300, "ftol": 1e-14},
        )
        # Any weights that reach it will do, also where the search stopped for want of digits.
        if reached(found.x) > -1e-8 and abs(found.x[:-1].sum() - 1) < 1e-9:
            best = min(best, found.fun)
    return best


def random_cases():
    rng = np.random.default_rng(2)
    for case in range(18):
        points = np.unique(np.round(rng.uniform(-1, 2, rng.integers(1, 5)), 2))
        counts = rng.integers(1, 6, len(points))
        room = 40 if case % 6 == 5 else 1  # wide supports have minima of two kinds
        low, high = points[0] - room * rng.uniform(0, 1), points[-1] + room * rng.uniform(0, 1)
        L, risk_free, signed = 10 ** rng.uniform(-1.5, 1), rng.uniform(-0.5, 0.5), case % 2 == 1
        arm = sb.Empirical(np.repeat(points, counts))
        ends = np.array([low, high]) - risk_free
        most = float(ends[1] * abs(ends[1]) if signed else (ends**2).max()) / L
        value = own_value(arm, L, risk_free, signed)
        c = value + (most - value) * rng.uniform(0.05, 0.9) ** (2 if room == 1 else 6)
        yield arm, points, counts / counts.sum(), c, L, low, high, risk_free, signed


@pytest.mark.parametrize("case", range(18))
def test_brute_force(case):
    arm, points, f, c, L, low, high, risk_free, signed = list(random_cases())[case]
    found = kl_inf(arm, c, L, low=low, high=high, risk_free=risk_free, signed=signed)
    assert found > 1e-5
    assert found == pytest.approx(brute(points, f, c, L, low, high, risk_free, signed), rel=1e-6)


@pytest.mark.parametrize("c", [-0.6, -0.2, -0.05, 0.0])
@pytest.mark.parametrize(("low", "high"), [(-2.0, 0.7), (-2.0, 0.05), (-1.1, 2.0)])
def test_brute_force_of_losing_arms(c, low, high):
    # signed values below 0: more variance is better, and the nearest G may have it
    points, f = np.array([-1.0, -0.6, -0.1]), np.array([0.5, 0.3, 0.2])
    arm = sb.Empirical([-1.0] * 5 + [-0.6] * 3 + [-0.1] * 2)
    L = 0.3
    assert own_value(arm, L, signed=True) == pytest.approx(-0.7 * 0.7 / (0.3 + 0.12))
    found = kl_inf(arm, c, L, low=low, high=high, signed=True)
    assert found == pytest.approx(brute(points, f, c, L, low, high, signed=True), rel=1e-6)


def test_losing_arms_that_cannot_lose_less():
    # all rewards at or below -1: a mixture of the ends varies and is better than the constant -1, but still below 0
    arm, L = sb.Empirical([-2.0, -1.5]), 0.2
    shares = np.linspace(0, 1, 100_001)  # of -2
    most = float((-((1 + shares) ** 2) / (L + shares * (1 - shares))).max())
    assert -1 / L < most - 0.1 < most < -1
    assert math.isfinite(kl_inf(arm, most - 1e-3, L, high=-1.0, signed=True))
    assert kl_inf(arm, most + 1e-3, L, high=-1.0, signed=True) == math.inf
    assert kl_inf(arm, 1e-3, L, high=-1.0, signed=True) == math.inf  # nor can a mean above 0 be had


@pytest.mark.parametrize(("p", "L", "c"), [(0.2, 1.0, 0.2), (0.2, 0.05, 3.0), (0.5, 0.3, 1.0), (0.9, 0.01, 40.0)])
def test_bernoulli_by_hand(p, L, c):
    # At t = g, the mean of G, the vertex is g (1 + 1/c) = 1 + L/g > 1, so that the quadratic is least at 1, where F has
    # mass: the nearest G is a Bernoulli too, of the g for which g^2 = c (L + g - g^2).
    g = (c + math.sqrt(c * c + 4 * (1 + c) * c * L)) / (2 * (1 + c))
    assert g * g / (L + g * (1 - g)) == pytest.approx(c)
    by_hand = p * math.log(p / g) + (1 - p) * math.log((1 - p) / (1 - g))
    assert kl_inf(sb.Bernoulli(p), c, L) == pytest.approx(by_hand, rel=1e-9)
    # RSSR without a sign does not know up from down: 1 less the reward, against 1 less the risk-free rate, is the same
    assert kl_inf(sb.Bernoulli(1 - p), c, L, risk_free=1.0) == pytest.approx(by_hand, rel=1e-9)
    # ... and with a sign it does: such an arm can never be above its rate of 1
    assert kl_inf(sb.Bernoulli(1 - p), c, L, risk_free=1.0, signed=True) == math.inf


@pytest.mark.parametrize("c", [2.01, 4.0, 23.0])
def test_constant_by_hand(c):
    # p at m = 1 and 1 - p at 1 + h: (1 + (1-p) h)^2 / (L + p (1-p) h^2) is at most v + (1-p)/p (Cauchy and Schwarz), at
    # h = L/p. So p = 1 / (1 + c - v), and the point is 1 + L (1 + c - v), if it is in [l, u].
    v, L = 2.0, 0.5
    place = 1 + L * (1 + c - v)
    by_hand = math.log(1 + c - v)
    for high in (place + 1e-9, place + 5, math.inf):
        assert kl_inf(sb.arms.Constant(1.0), c, L, high=high) == pytest.approx(by_hand, rel=1e-9)
    short = (place + max(1.0, math.sqrt(c * L))) / 2
    assert kl_inf(sb.arms.Constant(1.0), c, L, high=short) > by_hand * 1.001
    assert kl_inf(sb.arms.Constant(1.0), c, L) == math.inf  # its own support has no other distribution


def test_nothing_to_do_and_nothing_to_be_done():
    arm = sb.Uniform(0, 1)
    value = own_value(arm, 0.1)
    assert kl_inf(arm, value, 0.1) == 0
    assert kl_inf(arm, value / 2, 0.1) == 0
    assert kl_inf(arm, -1.0, 0.1) == 0
    for L in np.linspace(0.1, 1, 50):
        assert kl_inf(arm, 1 / L, L) == math.inf  # the constant 1 alone, whatever the rounding
    assert kl_inf(arm, 10.1, 0.1) == math.inf
    assert 5 < kl_inf(arm, 9.99, 0.1) < math.inf
    assert kl_inf(arm, 10.1, 0.1, low=-2.0) < math.inf  # far below counts as well ...
    assert kl_inf(arm, 10.1, 0.1, low=-2.0, signed=True) == math.inf  # ... without a sign


def test_increasing_in_c_and_decreasing_in_the_interval():
    for arm in (sb.Beta(2, 5), sb.Empirical([0.1, 0.2, 0.9]), sb.arms.TruncatedNormal(0.2, 1, 0, 1)):
        value = own_value(arm, 0.05)
        targets = value + (20 - value) * np.linspace(0.001, 0.99, 12)
        own = np.array([kl_inf(arm, c, 0.05, low=0, high=1) for c in targets])
        wide = np.array([kl_inf(arm, c, 0.05, low=-0.5, high=1.5) for c in targets])
        assert (np.diff(own) > 0).all()
        assert (np.diff(wide) > 0).all()
        assert (wide <= own * (1 + 1e-9)).all()
        assert wide[-1] < 0.9 * own[-1]
    # signed, through 0, without a jump
    arm = sb.Empirical([-1.0, -0.6, 0.1])
    targets = np.concatenate([np.linspace(-0.2, -1e-12, 10), [0.0], np.linspace(1e-12, 0.02, 10)])
    steps = np.diff([kl_inf(arm, c, 0.5, signed=True) for c in targets])
    assert (steps > 0).all()
    assert steps[9:11].max() < 1e-5  # 0 itself: about sqrt(1e-12) on either side


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("k", [1e-3, 1e3])
def test_scale_and_shift(k, signed):
    arm, L, rate = sb.arms.TruncatedNormal(0.3, 1, -1, 2), 0.4, 0.1
    scaled = sb.arms.TruncatedNormal(0.3 * k, k * k, -k, 2 * k)
    shifted = sb.arms.TruncatedNormal(7.3, 1, 6, 9)
    for c in (0.2, 1.5, 6.0):
        plain = kl_inf(arm, c, L, risk_free=rate, signed=signed, low=-4)
        assert plain > 0.01
        same = kl_inf(scaled, c, L * k * k, risk_free=rate * k, signed=signed, low=-4 * k)
        assert same == pytest.approx(plain, rel=1e-8)
        assert kl_inf(shifted, c, L, risk_free=rate + 7, signed=signed, low=3) == pytest.approx(plain, rel=1e-8)
    # losing arms
    losing = kl_inf(arm, -0.01, L, risk_free=0.8, signed=True)
    assert losing > 1e-3
    scaled_losing = kl_inf(scaled, -0.01, L * k * k, risk_free=0.8 * k, signed=True)
    assert scaled_losing == pytest.approx(losing, rel=1e-8)


def influence_variance(arm, L, risk_free=0.0):
    """Of RSSR: the variance of 2 mu x / D - mu^2 (x^2 - sigma^2) / D^2, x the reward less its mean."""
    mu, d = arm.mean - risk_free, L + arm.variance
    a, b = 2 * mu / d, (mu / d) ** 2
    return a * a * arm.variance - 2 * a * b * arm.third_moment + b * b * (arm.fourth_moment - arm.variance**2)


@pytest.mark.parametrize(("number", "name"), [*enumerate([*CONTINUOUS, "bernoulli", "empirical", "binomial"])])
def test_quadratic_near_the_own_value(number, name):
    L, risk_free, signed = ((0.5, 0.0, False), (2.0, -1.0, True), (0.5, 15.0, True))[number % 3]
    more = {
        "bernoulli": sb.Bernoulli(0.3),
        "empirical": sb.Empirical([0.2, 0.9, 1.0, 4.0]),
        "binomial": st.binom(7, 0.2),
    }
    arm = as_arm(CONTINUOUS[name][0] if name in CONTINUOUS else more[name])
    value, sd = own_value(arm, L, risk_free, signed), math.sqrt(influence_variance(arm, L, risk_free))

    def ratio(step):
        return kl_inf(arm, value + step * sd, L, risk_free=risk_free, signed=signed) / (step**2 / 2)

    # what is left after the quadratic term is of the order of the step: it halves with it, and vanishes
    assert 2 * ratio(0.002) - ratio(0.004) == pytest.approx(1, abs=1e-3)
    assert ratio(1e-5) == pytest.approx(1, abs=1e-3)
    assert ratio(1e-8) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("name", [name for name in CONTINUOUS if name != "tail of a normal"])  # too steep for cells
def test_continuous_arms_are_the_limit_of_their_quantiles(name):
    # An Empirical arm is summed exactly, and the middles of n equal parts of the quantile function are a quadrature of
    # their own, if one that is good to 2e-5 or so.
    arm, quantile = CONTINUOUS[name]
    arm = as_arm(arm)
    n = 10_000
    cells = sb.Empirical(quantile((np.arange(n) + 0.5) / n))
    L = arm.variance / 2
    low, high = arm.support
    for low_end, high_end in ((low, high), (low - 1, high + 2)):
        target = 1.5 * own_value(arm, L)
        fine = kl_inf(arm, target, L, low=low_end, high=high_end)
        assert fine == pytest.approx(kl_inf(cells, target, L, low=low_end, high=high_end), rel=5e-5)


def double_exponential(function, first, last):
    """An integral by the rule of Takahasi and Mori, which does not mind singularities at the ends."""
    t = np.linspace(-3.6, 3.6, 289)
    u = np.exp(-math.pi * np.sinh(np.abs(t)))
    near = (last - first) * u / (1 + u)  # distance to the nearer end
    x = np.where(t < 0, first + near, last - near)
    weights = (t[1] - t[0]) * (last - first) * math.pi * np.cosh(t) * u / (1 + u) ** 2
    inside = (x > first) & (x < last)
    return float(weights[inside] @ function(x[inside]))


@pytest.mark.parametrize(("share", "room"), [(0.02, 0), (0.5, 0), (0.95, 0), (0.999, 0), (0.999, 20)])
@pytest.mark.parametrize(
    ("arm", "density"),
    [
        (sb.Uniform(0.5, 2.0), np.ones_like),
        (sb.arms.TruncatedNormal(0.2, 1, -1, 3), lambda x: np.exp(-((x - 0.2) ** 2) / 2)),
        (sb.arms.TruncatedNormal(0, 1, 5, 9), lambda x: np.exp((25 - x**2) / 2)),
        (sb.arms.TruncatedGamma(2, 2, 1, 10), lambda x: x * np.exp(-x / 2)),
        (sb.arms.TruncatedGamma(0.3, 2, 0, 10), lambda x: x**-0.7 * np.exp(-x / 2)),
        (sb.Beta(0.5, 0.5), lambda x: (x * (1 - x)) ** -0.5),
    ],
    ids=lambda value: repr(value) if isinstance(value, sb.arms.Arm) else "density",
)
def test_continuous_arms_by_another_quadrature(arm, density, share, room):
    # The dual again, written anew, for c up to where the logarithm is all but singular, by two nested searches.
    low, high = arm.support
    L = arm.variance
    value = own_value(arm, L)
    bottom, top = low - room * (high - low), high + room * (high - low)
    c = value + share * (top**2 / L - value)

    def expected(function, cut):
        edges = np.unique([low, high, cut, *(arm.mean + math.sqrt(L) * np.array([-1.0, 0.0, 1.0, 3.0]))])
        edges = edges[(edges >= low) & (edges <= high)]
        return sum(double_exponential(lambda x: function(x) * density(x), a, b) for a, b in pairwise(edges))

    mass = expected(np.ones_like, high)

    def dual(t):
        vertex = t * (1 + 1 / c)
        lowest = min(max(vertex, bottom), top)

        def q(x):
            return x * x - 2 * vertex * x + (1 + 1 / c) * t * t + L

        def negative(log):
            lam = -(1 - math.exp(log)) / q(lowest)
            return -expected(lambda x: np.log1p(lam * q(x)), lowest) / mass

        return -minimize_scalar(negative, bounds=(-20, -1e-9), method="bounded", options={"xatol": 1e-7}).fun

    grid = np.linspace(max(bottom, math.sqrt(c * L)), top, 12)
    best = 1 + int(np.argmin([dual(t) for t in grid[1:-1]]))
    found = minimize_scalar(
        dual, bounds=(grid[best - 1], grid[best + 1]), method="bounded", options={"xatol": 1e-6 * (grid[1] - grid[0])}
    )
    # next to 1 numbers are too sparse for a density that is infinite there: the rule leaves out some 1e-8
    result = kl_inf(arm, c, L, low=bottom, high=top, signed=True)
    assert result == pytest.approx(found.fun, rel=3e-7 if arm == sb.Beta(0.5, 0.5) else 1e-8)


@pytest.mark.parametrize("counts", [(7, 2), (5, 4), (4, 5), (2, 7)])
def test_two_minima(counts):
    # To have a ratio of 21 the rewards must be near 1 or near 1.8: a local minimum each, and F decides which is lower.
    points, f = np.array([1.0, 1.8]), np.array(counts) / 9
    arm = sb.Empirical([1.0] * counts[0] + [1.8] * counts[1])
    found = kl_inf(arm, 21.0, 0.037, high=10.0)
    assert found == pytest.approx(brute(points, f, 21.0, 0.037, 1.0, 10.0), rel=1e-6)


def test_wide_intervals():
    # The interval is 400 times as wide as most of F: a grid over it alone would not see F.
    points, f = np.array([0.9, 1.0, 3.0]), np.array([0.45, 0.45, 0.1])
    arm = sb.Empirical([0.9] * 9 + [1.0] * 9 + [3.0] * 2)
    for c in (4.0, 12.0, 60.0):
        found = kl_inf(arm, c, 0.05, high=40.0)
        assert found == pytest.approx(brute(points, f, c, 0.05, 0.9, 40.0), rel=1e-6)


def test_unbounded_rewards_must_be_asked_for():
    arm = sb.Normal(1, variance=1)
    with pytest.raises(InvalidInputError, match=r"unbounded.*low=-inf"):
        kl_inf(arm, 1.0, 0.5)
    with pytest.raises(ValueError, match=r"unbounded.*high=inf"):
        lower_bound([sb.arms.Gamma(2, 1), sb.Uniform(0, 1)], 0.5)
    with pytest.raises(ValueError, match=r"must contain all rewards, which lie in \[-inf, inf\]"):
        kl_inf(arm, 1.0, 0.5, low=-5, high=5)
    whole = kl_inf(arm, 1.0, 0.5, low=-math.inf, high=math.inf)
    # what wide intervals converge to, from above
    far = [kl_inf(sb.arms.TruncatedNormal(1, 1, -8, 10), 1.0, 0.5, low=-w, high=w) for w in (10, 100, 1e5)]
    assert far[0] >= far[1] >= far[2] * (1 - 1e-9)
    assert whole == pytest.approx(far[2], rel=1e-6)
    assert whole == pytest.approx(kl_inf(arm, 1.0, 0.5, low=-math.inf, high=math.inf, signed=True))
    # no c is out of reach: a mass of c / (1 + c) far away has it
    losing = kl_inf(sb.Normal(-1, variance=1), 7.0, 0.5, low=-math.inf, high=math.inf, signed=True)
    assert losing == pytest.approx(math.log(8), rel=1e-6)
    assert losing > kl_inf(sb.Normal(-1, variance=1), 7.0, 0.5, low=-math.inf, high=math.inf)
    poisson = kl_inf(st.poisson(3), 5.0, 0.5, high=math.inf)
    cut = np.arange(40)
    cut = st.rv_discrete(values=(cut, st.poisson(3).pmf(cut) / st.poisson(3).cdf(39)))()
    assert poisson == pytest.approx(kl_inf(cut, 5.0, 0.5, high=1e4), rel=1e-6)


def test_lower_bound_is_the_sum_over_arms():
    bandit = sb.Bandit([sb.Bernoulli(0.5), sb.Bernoulli(0.2), sb.Uniform(0, 0.5), sb.Bernoulli(0.5)], list("abcd"))
    bound = lower_bound(bandit, 1.0)
    values = [0.2, 0.04 / 1.16, 0.0625 / (1 + 0.25 / 12), 0.2]
    assert (bound.low, bound.high) == (0.0, 1.0)
    assert [share.name for share in bound.per_arm] == list("abcd")
    assert [share.gap for share in bound.per_arm] == pytest.approx([0.2 - v for v in values])
    assert bound.per_arm[0].kl_inf == bound.per_arm[3].contribution == 0
    # Bernoulli against Bernoulli: 0.2 ln(0.2/0.5) + 0.8 ln(0.8/0.5) = 0.1927448; the gap is 0.1655172
    assert bound.per_arm[1].kl_inf == pytest.approx(0.2 * math.log(0.4) + 0.8 * math.log(1.6))
    assert bound.per_arm[1].contribution == pytest.approx(0.1655172 / 0.1927448, rel=1e-6)
    # the interval is that of all arms, not that of one
    assert bound.per_arm[2].kl_inf == pytest.approx(kl_inf(sb.Uniform(0, 0.5), 0.2, 1.0, low=0, high=1))
    assert bound.per_arm[2].kl_inf < 0.99 * kl_inf(sb.Uniform(0, 0.5), 0.2, 1.0)
    assert bound.constant == pytest.approx(sum(share.contribution for share in bound.per_arm))
    assert bound.at(math.e**3) == pytest.approx(3 * bound.constant)
    assert bound.at([1, math.e]).tolist() == pytest.approx([0, bound.constant])
    assert lower_bound(bandit, 1.0, low=-1, high=3).constant > 1.05 * bound.constant


def test_limits_of_the_sum():
    twins = lower_bound([sb.Uniform(0, 1), sb.Uniform(0, 1)], 1.0)
    assert twins.constant == 0
    # nothing on [0, 1] is as good as the constant 1, so that a reward below 1 settles it
    settled = lower_bound([sb.arms.Constant(1.0), sb.Uniform(0, 1)], 1.0)
    assert settled.per_arm[1].kl_inf == math.inf
    assert settled.constant == 0
    assert 0 < lower_bound([sb.arms.Constant(1.0), sb.Uniform(0, 1)], 1.0, high=1.1).constant < math.inf
    # all arms lose money: finite on an interval; on all numbers a little mass far away makes any of them the best
    losing = [sb.arms.TruncatedNormal(-0.5, 1, -4, 3), sb.arms.TruncatedNormal(-0.8, 1, -4, 3)]
    bound = lower_bound(losing, 0.5, signed=True)
    target = own_value(losing[0], 0.5, signed=True)
    assert target < 0
    assert bound.per_arm[1].kl_inf == pytest.approx(kl_inf(losing[1], target, 0.5, low=-4, high=3, signed=True))
    assert 0 < bound.constant < math.inf
    boundless = lower_bound(losing, 0.5, signed=True, low=-math.inf, high=math.inf)
    assert boundless.constant == math.inf
    assert boundless.at([1, 10]).tolist() == [0, math.inf]
    # without a sign the second, farther below 0, is the better one
    assert lower_bound(losing, 0.5).per_arm[1].gap == 0


@pytest.mark.parametrize("name", ["R1", "R2", "R3", "R4", "R5", "R6", "R7"])
def test_panels_of_the_paper(name):
    for case in panel(name, "paper").cases:
        bandit, L = case.environment, case.objective.L
        start = time.perf_counter()
        bound = lower_bound(bandit, L)
        assert time.perf_counter() - start < 0.2 * bandit.K
        assert 0 < bound.constant < math.inf
        worse = [(share, arm) for share, arm in zip(bound.per_arm, bandit.arms, strict=True) if share.gap > 0]
        assert len(worse) >= 1
        for share, arm in worse:
            # gaps are small beside the values here, and the quadratic approximation is not far off
            value, w = own_value(arm, L), influence_variance(arm, L)
            assert share.kl_inf == pytest.approx(share.gap**2 / (2 * w), rel=1.2 * share.gap / value)
            assert share.contribution == share.gap / share.kl_inf


class Odd(Arm):
    """An arm that nothing but its moments is known of."""

    def moments(self):
        return sb.Uniform(0, 1).moments()

    @property
    def support(self):
        return 0.0, 1.0


del Arm.kinds["Odd"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: kl_inf(sb.Uniform(0, 1), math.nan, 1.0), "c must be a finite number, got nan"),
        (lambda: kl_inf(sb.Uniform(0, 1), 2.0, 0.0), "L must be a finite number above 0, got 0.0"),
        (lambda: kl_inf(sb.Uniform(0, 1), 2.0, 1.0, low="a"), "low must be a number, got 'a'"),
        (lambda: kl_inf(sb.Uniform(0, 1), 2.0, 1.0, high=math.nan), "high must be a number, got nan"),
        (lambda: kl_inf(sb.Uniform(0, 1), 2.0, 1.0, high=0.5), r"\[0.0, 0.5\] must contain all rewards"),
        (lambda: kl_inf("arm", 2.0, 1.0), "an arm such as .* is needed, got 'arm'"),
        (lambda: kl_inf(Odd(), 0.5, 1.0), "density of Odd.* is not known"),
        (lambda: kl_inf(st.t(2.1), 0.5, 1.0, low=-math.inf, high=math.inf), "cannot be integrated to 1e-6"),
        (lambda: lower_bound(sb.Tape([[1.0, 2.0], [2.0, 2.0]]), 1.0), "needs a Bandit .* got Tape"),
        (lambda: lower_bound([sb.Uniform(0, 1), sb.Uniform(0, 2)], 1.0).at(0.5), "horizon must be at least 1, got 0.5"),
        (
            lambda: lower_bound([sb.Uniform(0, 1), sb.Uniform(0, 2)], 1.0).at([2, math.nan]),
            "horizon must be at least 1",
        ),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
