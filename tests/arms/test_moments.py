"""Moments of every arm: against closed forms or independent quadrature, and against large samples from the engine."""

import math

import numpy as np
import pytest
import scipy.stats

import sharpe_bandits as sb
from sharpe_bandits.arms.base import Arm
from sharpe_bandits.testing import ArmContract
from tests.arms.moments import assert_equal, central, moments, quadrature, truncated_gamma


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
    (sb.arms.Constant(-2.0), (-2.0, 0.0, 0.0, 0.0)),
    (sb.Normal(1.0, variance=4.0), (1.0, 4.0, 0.0, 48.0)),  # 3 sigma^4
    # A coin with p = 1/4: q p = 3/16; third 3/16 (3/4 - 1/4) = 3/32; fourth 3/16 (1 - 9/16) = 21/256.
    (sb.Bernoulli(0.25), (0.25, 3 / 16, 3 / 32, 21 / 256)),
    # 0, 0, 3, 5: mean 2; deviations -2, -2, 1, 3: squares 4 4 1 9, cubes -8 -8 1 27, fourth powers 16 16 1 81.
    (sb.Empirical([0, 0, 3, 5]), (2.0, 18 / 4, 12 / 4, 114 / 4)),
    (sb.arms.Gamma(2.0, 3.0), scipys(scipy.stats.gamma(2.0, scale=3.0))),
    (sb.arms.Gamma(0.4, 2.0), scipys(scipy.stats.gamma(0.4, scale=2.0))),
    (sb.Beta(2.0, 5.0), scipys(scipy.stats.beta(2.0, 5.0))),
    (sb.Beta(2.0, 5.0), quadrature(lambda x: x * (1 - x) ** 4, [0, 0.5, 1])),
    (sb.Beta(0.5, 0.5), (0.5, 1 / 8, 0.0, 3 / 128)),  # the arcsine law
    # The paper's R6 and R7.
    (sb.arms.TruncatedNormal(5, 4, 1, 7), quadrature(lambda x: np.exp(-((x - 5) ** 2) / 8), [1, 3, 5, 7])),
    (sb.arms.TruncatedNormal(5.5, 6.25, 1, 7), quadrature(lambda x: np.exp(-((x - 5.5) ** 2) / 12.5), [1, 3, 5, 7])),
    (sb.arms.TruncatedNormal(10, 12, 1, 20), quadrature(lambda x: np.exp(-((x - 10) ** 2) / 24), [1, 5, 10, 15, 20])),
    (sb.arms.TruncatedNormal(0, 1, 6, 9), quadrature(lambda x: np.exp((36 - x**2) / 2), [6, 7, 8, 9])),
    (sb.arms.TruncatedNormal(2, 1, -50, 80), (2.0, 1.0, 0.0, 3.0)),
    (sb.arms.TruncatedGamma(2, 2, 1, 10), truncated_gamma(2, 2, 1, 10)),
    (sb.arms.TruncatedGamma(2, 3, 1, 10), quadrature(lambda x: x * np.exp(-x / 3), [1, 4, 7, 10])),
    (sb.arms.TruncatedGamma(0.5, 1, 0, 2), truncated_gamma(0.5, 1, 0, 2)),
    # Log-normal: with w = exp(s^2), variance w (w - 1), skewness (w + 2) sqrt(w - 1), kurtosis w^4 + 2 w^3 + 3 w^2.
    (
        sb.arms.Scipy(scipy.stats.lognorm(0.5)),
        (
            lambda w: (
                math.sqrt(w),
                w * (w - 1),
                (w + 2) * math.sqrt(w - 1) * (w * (w - 1)) ** 1.5,
                (w**4 + 2 * w**3 + 3 * w**2 - 3) * (w * (w - 1)) ** 2,
            )
        )(math.exp(0.25)),
    ),
    (sb.arms.Scipy(scipy.stats.expon(scale=2.0)), (2.0, 4.0, 16.0, 144.0)),  # n-th central moment of Exp(1): 1, 2, 9
    (sb.arms.Scipy(scipy.stats.norm(1e6, 1.0)), (1e6, 1.0, 0.0, 3.0)),
    # scipy integrates these itself, to 1e-5 and 1e-8 only; an arm must do better.
    (sb.arms.Scipy(scipy.stats.johnsonsb(1, 2)), quadrature(johnson, np.linspace(1e-9, 1 - 1e-9, 40))),
    (sb.arms.Scipy(scipy.stats.exponweib(2, 1.5)), quadrature(weibull_max, [*np.geomspace(1e-9, 1, 30), *range(2, 14)])),
    # Poisson: third central moment = mean, fourth = mean + 3 mean^2.
    (sb.arms.Scipy(scipy.stats.poisson(3.0)), (3.0, 3.0, 3.0, 30.0)),
    # Geometric on 1, 2, ... with p = 1/2: 2, 2, 6, 38 (sums of k^m / 2^k are 2, 6, 26, 150).
    (sb.arms.Scipy(scipy.stats.geom(0.5)), central([2.0, 6.0, 26.0, 150.0])),
    (sb.arms.Scipy(scipy.stats.binom(4, 0.5, loc=-2)), (0.0, 1.0, 0.0, 2.5)),
    # Arms with a memory, in the long run.
    (sb.arms.AR1(0.5, 2.0, 0.6), (0.5, 2.0, 0.0, 12.0)),
    (sb.arms.AR1(0.5, 2.0, -0.6), (0.5, 2.0, 0.0, 12.0)),
    # Bollerslev (1986): kurtosis 3 (1 - (a + b)^2) / (1 - (a + b)^2 - 2 a^2) = 3 * 0.75 / (0.75 - 0.08) here.
    (sb.arms.GARCH(-0.3, 1.5, 0.2, 0.3), (-0.3, 1.5, 0.0, 3 * 0.75 / 0.67 * 1.5**2)),
    (sb.arms.BlockBootstrap([0, 0, 3, 5], 3), (2.0, 18 / 4, 12 / 4, 114 / 4)),
]  # fmt: skip
IDS = [f"{number}-{arm!r}" for number, (arm, _) in enumerate(CASES)]


def test_every_kind_of_arm_is_here():
    assert {type(arm).__name__ for arm, _ in CASES} == set(Arm.kinds)


@pytest.mark.parametrize(("arm", "expected"), CASES, ids=IDS)
def test_moments_are_right_to_1e_9(arm, expected):
    assert_equal(moments(arm), expected, 1e-9)


@pytest.mark.parametrize("arm", [arm for arm, _ in CASES], ids=IDS)
class TestEveryArm(ArmContract):
    pass
