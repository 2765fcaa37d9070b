"""Moments of distributions by closed forms and by quadrature, and how those of an arm are compared with them."""

import math

import numpy as np
import pytest
import scipy.special

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


def moments(arm):
    return (arm.mean, arm.variance, *arm.moments()[2:])


def assert_equal(actual, expected, tolerance):
    """The k-th central moment to a tolerance relative to it, or to the k-th power of the spread where it vanishes."""
    spread = math.sqrt(expected[1])
    for k, (a, e) in enumerate(zip(actual, expected, strict=True), start=1):
        assert a == pytest.approx(e, rel=tolerance, abs=tolerance * spread**k)
