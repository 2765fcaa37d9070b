"""Posterior draws of the Thompson samplers have the published distributions (fixed seeds, tests of fit)."""

import math

import numpy as np
import pytest
import scipy.stats

from sharpe_bandits.play.statistics import ArmRecord
from sharpe_bandits.play.streams import fold
from sharpe_bandits.policies import thompson

DRAWS = 4000
#: Rewards 1, 2, 4, 5: mean 3, sum of squared deviations 10, unbiased variance 10/3.
PULLS, MEAN, VARIANCE, MAXIMUM = 4.0, 3.0, 10.0 / 3.0, 5.0


def records():
    with np.errstate(over="ignore"):
        for i in range(DRAWS):
            key = fold(np.uint64(77), i)
            yield ArmRecord(
                pulls=PULLS, mean=MEAN, variance=VARIANCE, second_moment=MEAN**2 + 2.5, epsilon=1.0, last=4.0, key=key,
                round_key=key, maximum=MAXIMUM,
            )  # fmt: skip


def sample(index, *parameters):
    with np.errstate(over="ignore"):
        return np.array([float(index(arm, 10, *parameters)) for arm in records()])


def fits(drawn, cdf):
    return scipy.stats.kstest(drawn, cdf).pvalue > 1e-3


def test_mean_is_drawn_from_its_posterior():
    assert fits(sample(thompson.MTS.formula), scipy.stats.norm(3.0, 0.5).cdf)  # N(X, 1/s)


def test_precision_is_drawn_from_its_posterior():
    """a = 1/2 + 4/2, b = 1/2 + 10/2: 1/tau is inverse gamma."""
    assert fits(-sample(thompson.VTS.formula, 0.0), scipy.stats.invgamma(2.5, scale=5.5).cdf)


def test_gaussian_thompson_sampling():
    assert fits(sample(thompson.ThompsonSampling.formula, 2.0), scipy.stats.norm(3.0, math.sqrt(2.0 / 5.0)).cdf)


def test_normal_gamma_mean_is_student():
    """theta given tau is N(X, 1/(s tau)); over tau that is Student's t with 2a degrees, scale sqrt(b / (a s))."""
    L = 1e-12
    # theta^2 / (L + 1/tau) with L -> 0 is theta^2 tau; theta alone follows from the two indices below.
    ratio = sample(thompson.NormalGammaTS.formula, L)
    variance = -sample(thompson.VTS.formula, 0.0)
    theta = np.sqrt(ratio * (L + variance))  # the mean is so far from 0 that signs are not lost
    law = scipy.stats.t(5.0, loc=3.0, scale=math.sqrt(5.5 / (2.5 * 4.0)))
    assert law.cdf(0.0) < 0.01
    inside = theta > 0.5
    truncated = scipy.stats.kstest(theta[inside], lambda x: (law.cdf(x) - law.cdf(0.5)) / law.sf(0.5))
    assert truncated.pvalue > 1e-3


@pytest.mark.parametrize("rho", [0.0, 2.0])
def test_mvts_is_made_of_the_two_draws(rho):
    expected = rho * sample(thompson.MTS.formula) + sample(thompson.VTS.formula, 0.0)
    np.testing.assert_allclose(sample(thompson.MVTS.formula, rho), expected, rtol=1e-12)


def test_authors_draw_is_pareto():
    """u ~ Pareto(1/2 + s, max(1/2, largest reward)); the index is ln u, which orders arms as (u/2)^2 / (L + u^2/12)."""
    u = np.exp(sample(thompson.modified_authors, 0.7))
    order = np.argsort(u)
    assert (np.diff((0.5 * u[order]) ** 2 / (0.7 + u[order] ** 2 / 12.0)) >= 0.0).all()
    assert fits(u, scipy.stats.pareto(4.5, scale=5.0).cdf)
    assert u.min() >= 5.0


def test_mean_and_precision_are_drawn_independently():
    theta, variance = sample(thompson.MTS.formula), -sample(thompson.VTS.formula, 0.0)
    assert scipy.stats.spearmanr(theta, variance).pvalue > 1e-3
    assert scipy.stats.spearmanr(np.abs(theta - MEAN), variance).pvalue > 1e-3
