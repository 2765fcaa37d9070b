"""Moments of every arm: against closed forms or independent quadrature, and against large samples from the engine."""

import math
import time

import numpy as np
import pytest
import scipy.special
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

import sharpe_bandits as sb
from sharpe_bandits.arms.base import Arm
from sharpe_bandits.testing import ArmContract, check_arm

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(100)


def quadrature(density, cuts):
    """Mean and central moments of a density by Gauss and Legendre's rule, in one hundred points between cuts."""
    half = np.diff(cuts)[:, None] / 2
    x = (np.asarray(cuts)[:-1, None] + half * (1 + _NODES)).ravel()
    weight = (half * _WEIGHTS).ravel() * density(x)
    weight /= weight.sum()
    mean = weight @ x
    return (mean, *(weight @ (x - mean) ** k for k in (2, 3, 4)))


def central(raw):
    """Central moments from the moments about 0, E[X] to E[X^4]."""
    m, m2, m3, m4 = raw
    return m, m2 - m**2, m3 - 3 * m * m2 + 2 * m**3, m4 - 4 * m * m3 + 6 * m**2 * m2 - 3 * m**4


def truncated_gamma(shape, scale, low, high):
    """E[X^m] = scale^m Gamma(k+m)/Gamma(k) (P(k+m, b) - P(k+m, a)) / (P(k, b) - P(k, a)), P the incomplete gamma."""

    def mass(m):
        return scipy.special.gammainc(shape + m, high / scale) - scipy.special.gammainc(shape + m, low / scale)

    ratios = [math.exp(math.lgamma(shape + m) - math.lgamma(shape)) * mass(m) / mass(0) for m in (1, 2, 3, 4)]
    return central([scale ** (m + 1) * ratio for m, ratio in enumerate(ratios)])


def johnson(x):
    """Johnson's SB density, up to a constant: 1 + 2 ln(x / (1 - x)) is standard normal."""
    return np.exp(-((1 + 2 * np.log(x / (1 - x))) ** 2) / 2) / (x * (1 - x))


def weibull_max(x):
    """Density, up to a constant, of the larger of two Weibull variables of shape 1.5."""
    return (1 - np.exp(-(x**1.5))) * np.exp(-(x**1.5)) * np.sqrt(x)


def scipys(law):
    mean, variance, skew, kurtosis = (float(v) for v in law.stats("mvsk"))
    return mean, variance, skew * variance**1.5, (kurtosis + 3) * variance**2


#: Every kind of arm, and its mean, variance, third and fourth central moment from elsewhere.
CASES = [
    # E[(X-m)^4] of a uniform is width^4 / 80: 6^4 / 80 = 16.2.
    (sb.Uniform(1.5, 7.5), (4.5, 3.0, 0.0, 16.2)),
    (sb.Uniform.from_moments(3.8, 2.7), (3.8, 2.7, 0.0, (2 * math.sqrt(8.1)) ** 4 / 80)),
    (sb.Uniform.from_moments(3.8, 0.0), (3.8, 0.0, 0.0, 0.0)),
    (sb.Constant(-2.0), (-2.0, 0.0, 0.0, 0.0)),
    (sb.Normal(1.0, 4.0), (1.0, 4.0, 0.0, 48.0)),  # 3 sigma^4
    # A coin with p = 1/4: q p = 3/16; third 3/16 (3/4 - 1/4) = 3/32; fourth 3/16 (1 - 9/16) = 21/256.
    (sb.Bernoulli(0.25), (0.25, 3 / 16, 3 / 32, 21 / 256)),
    # 0, 0, 3, 5: mean 2; deviations -2, -2, 1, 3: squares 4 4 1 9, cubes -8 -8 1 27, fourth powers 16 16 1 81.
    (sb.Empirical([0, 0, 3, 5]), (2.0, 18 / 4, 12 / 4, 114 / 4)),
    (sb.Gamma(2.0, 3.0), scipys(scipy.stats.gamma(2.0, scale=3.0))),
    (sb.Gamma(0.4, 2.0), scipys(scipy.stats.gamma(0.4, scale=2.0))),
    (sb.Beta(2.0, 5.0), scipys(scipy.stats.beta(2.0, 5.0))),
    (sb.Beta(2.0, 5.0), quadrature(lambda x: x * (1 - x) ** 4, [0, 0.5, 1])),
    (sb.Beta(0.5, 0.5), (0.5, 1 / 8, 0.0, 3 / 128)),  # the arcsine law
    # The paper's R6 and R7.
    (sb.TruncatedNormal(5, 4, 1, 7), quadrature(lambda x: np.exp(-((x - 5) ** 2) / 8), [1, 3, 5, 7])),
    (sb.TruncatedNormal(5.5, 6.25, 1, 7), quadrature(lambda x: np.exp(-((x - 5.5) ** 2) / 12.5), [1, 3, 5, 7])),
    (sb.TruncatedNormal(10, 12, 1, 20), quadrature(lambda x: np.exp(-((x - 10) ** 2) / 24), [1, 5, 10, 15, 20])),
    (sb.TruncatedNormal(0, 1, 6, 9), quadrature(lambda x: np.exp((36 - x**2) / 2), [6, 7, 8, 9])),
    (sb.TruncatedNormal(2, 1, -50, 80), (2.0, 1.0, 0.0, 3.0)),
    (sb.TruncatedGamma(2, 2, 1, 10), truncated_gamma(2, 2, 1, 10)),
    (sb.TruncatedGamma(2, 3, 1, 10), quadrature(lambda x: x * np.exp(-x / 3), [1, 4, 7, 10])),
    (sb.TruncatedGamma(0.5, 1, 0, 2), truncated_gamma(0.5, 1, 0, 2)),
    # Log-normal: with w = exp(s^2), variance w (w - 1), skewness (w + 2) sqrt(w - 1), kurtosis w^4 + 2 w^3 + 3 w^2.
    (
        sb.Scipy(scipy.stats.lognorm(0.5)),
        (
            lambda w: (
                math.sqrt(w),
                w * (w - 1),
                (w + 2) * math.sqrt(w - 1) * (w * (w - 1)) ** 1.5,
                (w**4 + 2 * w**3 + 3 * w**2 - 3) * (w * (w - 1)) ** 2,
            )
        )(math.exp(0.25)),
    ),
    (sb.Scipy(scipy.stats.expon(scale=2.0)), (2.0, 4.0, 16.0, 144.0)),  # n-th central moment of Exp(1): 1, 2, 9
    (sb.Scipy(scipy.stats.norm(1e6, 1.0)), (1e6, 1.0, 0.0, 3.0)),
    # scipy integrates these itself, to 1e-5 and 1e-8 only; an arm must do better.
    (sb.Scipy(scipy.stats.johnsonsb(1, 2)), quadrature(johnson, np.linspace(1e-9, 1 - 1e-9, 40))),
    (sb.Scipy(scipy.stats.exponweib(2, 1.5)), quadrature(weibull_max, [*np.geomspace(1e-9, 1, 30), *range(2, 14)])),
    # Poisson: third central moment = mean, fourth = mean + 3 mean^2.
    (sb.Scipy(scipy.stats.poisson(3.0)), (3.0, 3.0, 3.0, 30.0)),
    # Geometric on 1, 2, ... with p = 1/2: 2, 2, 6, 38 (sums of k^m / 2^k are 2, 6, 26, 150).
    (sb.Scipy(scipy.stats.geom(0.5)), central([2.0, 6.0, 26.0, 150.0])),
    (sb.Scipy(scipy.stats.binom(4, 0.5, loc=-2)), (0.0, 1.0, 0.0, 2.5)),
    # Arms with a memory, in the long run.
    (sb.AR1(0.5, 2.0, 0.6), (0.5, 2.0, 0.0, 12.0)),
    (sb.AR1(0.5, 2.0, -0.6), (0.5, 2.0, 0.0, 12.0)),
    # Bollerslev (1986): kurtosis 3 (1 - (a + b)^2) / (1 - (a + b)^2 - 2 a^2) = 3 * 0.75 / (0.75 - 0.08) here.
    (sb.GARCH(-0.3, 1.5, 0.2, 0.3), (-0.3, 1.5, 0.0, 3 * 0.75 / 0.67 * 1.5**2)),
    (sb.BlockBootstrap([0, 0, 3, 5], 3), (2.0, 18 / 4, 12 / 4, 114 / 4)),
]  # fmt: skip
IDS = [f"{number}-{arm!r}" for number, (arm, _) in enumerate(CASES)]


def test_every_kind_of_arm_is_here():
    assert {type(arm).__name__ for arm, _ in CASES} == set(Arm.kinds)


def moments(arm):
    return arm.mean, arm.variance, arm.third_moment, arm.fourth_moment


def assert_equal(actual, expected, tolerance):
    """The k-th central moment to a tolerance relative to it, or to the k-th power of the spread where it vanishes."""
    spread = math.sqrt(expected[1])
    for k, (a, e) in enumerate(zip(actual, expected, strict=True), start=1):
        assert a == pytest.approx(e, rel=tolerance, abs=tolerance * spread**k)


@pytest.mark.parametrize(("arm", "expected"), CASES, ids=IDS)
def test_moments_are_right_to_1e_9(arm, expected):
    assert_equal(moments(arm), expected, 1e-9)


@pytest.mark.parametrize("arm", [arm for arm, _ in CASES], ids=IDS)
class TestEveryArm(ArmContract):
    pass


def test_the_contract_notices():
    """A variance that is 2% off, too narrow a support, moments that nothing has, quantiles that fall."""

    class Wider(sb.Normal):
        """A normal arm that says more than it does."""

        def moments(self):
            return super().moments()._replace(variance=1.02 * self.variance_)

    class Narrower(sb.Uniform):
        """A uniform arm that leaves its support."""

        support = property(lambda self: (self.low, self.low + 0.9 * (self.high - self.low)))

    class Falling(sb.Gamma):
        """A gamma arm drawn by a table that is upside down."""

        def draws(self):
            return super().draws()._replace(scale=-self.scale)

    class Flat(sb.Normal):
        """A normal arm of too small a kurtosis."""

        def moments(self):
            return super().moments()._replace(fourth=0.9 * self.variance_**2)

    contract = ArmContract()
    try:
        for test, arm, said in (
            (contract.test_its_rewards_have_its_moments, Wider(0.0, 1.0), "moment 2 is declared as 1.02"),
            (contract.test_its_rewards_have_its_moments, Narrower(0.0, 1.0), "leave"),
            (contract.test_its_quantiles_rise, Falling(2.0, 1.0), "its quantile function decreases"),
            (contract.test_its_moments_are_those_of_a_distribution, Flat(0.0, 1.0), "no distribution has"),
        ):
            with pytest.raises(AssertionError, match=said):
                test(arm)
        with pytest.raises(AssertionError, match="came back from plain data as"):
            check_arm(Wider(0.0, 1.0))
    finally:
        for name in ("Wider", "Narrower", "Falling", "Flat"):
            del Arm.kinds[name]


@given(
    shape=st.floats(0.2, 20.0), scale=st.floats(0.2, 5.0), low=st.floats(0.0, 1.5), width=st.floats(0.2, 4.0)
)  # fmt: skip
def test_truncated_gammas_of_all_shapes(shape, scale, low, width):
    a = low * shape * scale
    b = a + width * shape * scale
    actual, expected = moments(sb.TruncatedGamma(shape, scale, a, b)), truncated_gamma(shape, scale, a, b)
    # Central moments from raw ones lose digits where the interval is narrow and far out.
    lost = (expected[0] / math.sqrt(expected[1])) ** 4
    assert_equal(actual, expected, 1e-9 + 1e-14 * lost)


@given(mean=st.floats(-10, 10), variance=st.floats(0.05, 20), start=st.floats(-6, 6), width=st.floats(0.05, 20))
def test_truncated_normals_everywhere(mean, variance, start, width):
    sd = math.sqrt(variance)
    low, high = mean + start * sd, mean + (start + width) * sd
    nearest = min(max(mean, low), high)
    cuts = np.linspace(low, min(high, max(mean, low) + 40 * sd), 25)
    expected = quadrature(lambda x: np.exp(((nearest - mean) ** 2 - (x - mean) ** 2) / (2 * variance)), cuts)
    assert_equal(moments(sb.TruncatedNormal(mean, variance, low, high)), expected, 1e-9)


def test_gaps_of_the_papers_truncated_gammas():
    """Panel R7: the true gaps of RSSR between Gamma(2, 2) and Gamma(2, 3) on [1, 10] are 0.69 and 0.68."""
    bandit = sb.Bandit([sb.TruncatedGamma(2, 2, 1, 10), sb.TruncatedGamma(2, 3, 1, 10)])
    for L, gap in ((0.5, 0.69), (1.0, 0.68)):
        assert sb.RSSR(L=L).gaps(bandit.means, bandit.variances).max() == pytest.approx(gap, abs=0.005)


def test_an_infinite_fourth_moment_is_said_to_be_infinite():
    """Student's t with 4 degrees of freedom has variance 2 and no fourth moment."""
    arm = sb.Scipy(scipy.stats.t(4))
    assert arm.variance == 2.0
    assert arm.fourth_moment == math.inf


def test_arms_compare_by_value():
    assert sb.Uniform(0, 1) == sb.Uniform(0, 1)
    assert sb.Uniform(0, 1) != sb.Uniform(0, 2)
    assert sb.Scipy(scipy.stats.norm(1, 2)) == sb.Scipy(scipy.stats.norm(1, 2))
    assert sb.Scipy(scipy.stats.norm(1, 2)) != sb.Scipy(scipy.stats.norm(1, 3))


def test_a_truncated_normal_far_out_is_exponential():
    """Beyond a = 1e5 deviations the excess over a is exponential of mean 1/a, up to 1/a^2: 1/a, 1/a^2, 2/a^3, 9/a^4."""
    arm = sb.TruncatedNormal(0, 1, -1e6, -1e5)
    assert arm.mean == pytest.approx(-1e5 - 1e-5, rel=1e-15)
    assert arm.variance == pytest.approx(1e-10, rel=1e-9)
    assert arm.third_moment == pytest.approx(-2e-15, rel=1e-9)
    assert arm.fourth_moment == pytest.approx(9e-20, rel=1e-9)


@pytest.mark.parametrize("arm", [sb.Uniform(-1e308, 1e308), sb.Constant(1e200)], ids=["uniform", "constant"])
def test_moments_beyond_the_largest_number_are_refused(arm):
    with pytest.raises(sb.InvalidInputError, match="beyond the largest number; scale rewards down"):
        sb.Bandit([arm, sb.Constant(0.0)])


def test_a_gamma_interval_with_nothing_in_it_is_refused():
    with pytest.raises(sb.InvalidInputError, match="lies too far out"):
        _ = sb.TruncatedGamma(2, 2, 1e5, 1e6).mean


@pytest.mark.parametrize(
    "make",
    [
        lambda: sb.Uniform(0, 1e80), lambda: sb.Uniform(-1.7e308, 1.7e308), lambda: sb.Normal(0, 1e300),
        lambda: sb.Normal(1e200, 1), lambda: sb.Gamma(1e100, 1e100), lambda: sb.Beta(5e-324, 5e-324),
        lambda: sb.GARCH(0, 1e200, 0.1, 0.1), lambda: sb.AR1(0, 1e300, 0.5), lambda: sb.Empirical([1e200, -1e200]),
        lambda: sb.TruncatedNormal(0, 5e-324, 1, 2), lambda: sb.Constant(1e300),
    ],
)  # fmt: skip
def test_moments_beyond_the_largest_number(make):
    arm = make()
    for ask in (lambda: arm.variance, lambda: sb.Bandit([arm, sb.Constant(1.0)])):
        with pytest.raises(sb.InvalidInputError, match="has moments beyond the largest number; scale rewards down"):
            ask()


@pytest.mark.parametrize("shapes", [(1e31, 1e67), (1e67, 1e31), (1e300, 1e300), (1.1e8, 1.1e8)])
def test_a_beta_arm_that_is_as_good_as_normal(shapes):
    with pytest.raises(sb.InvalidInputError, match=r"cannot be distinguished from a normal.*use a Normal"):
        sb.Beta(*shapes)
    sb.Beta(1e8, 1e20).draws()


def test_a_density_that_scipy_computes_too_roughly():
    with pytest.raises(sb.InvalidInputError, match=r"integrates to 2\.\d*e\+09 instead of 1"):
        _ = sb.Scipy(scipy.stats.gamma(1e17)).mean


def test_quantiles_that_overflow():
    with pytest.raises(sb.InvalidInputError, match="not finite inside"):
        sb.Beta(5e-324, 7.0).draws()


@pytest.mark.parametrize(
    ("frozen", "message"),
    [
        (scipy.stats.norm([0, 1], 1), "scipy cannot compute norm.*TypeError"),
        (scipy.stats.norm(0, math.nan), "variance nan"),
        (scipy.stats.lognorm(30), "variance inf"),
    ],
)
def test_distributions_that_scipy_cannot_compute(frozen, message):
    with pytest.raises(sb.InvalidInputError, match=message):
        sb.Scipy(frozen)


def test_ten_million_values():
    values = np.random.default_rng(0).normal(size=10**7)
    started = time.process_time()
    arm = sb.Empirical(values)
    bandit = sb.Bandit([arm, sb.Constant(1.0)])
    assert bandit.table(0, 0, 1).pool.size == 10**7 + 1
    assert arm.to_dict()["values"] == arm.values
    assert (arm.mean, arm.variance) == (values.mean(), np.mean((values - values.mean()) ** 2))
    assert time.process_time() - started < 15
