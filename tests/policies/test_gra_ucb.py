"""GRA-UCB: chi-square quantiles past the end of their table."""

from statistics import NormalDist

import numpy as np
import pytest
from scipy.special import chdtri

from sharpe_bandits.policies import gra_ucb
from sharpe_bandits.policies.gra_ucb import MAX_TABLE


@pytest.mark.parametrize("alpha", [1e-6, 0.05, 0.5, 0.99])
def test_chi_square_quantiles_past_the_end_of_their_table(alpha):
    z = -NormalDist().inv_cdf(alpha)
    for free in (MAX_TABLE, 2**24, 10**9):
        assert gra_ucb.quantile(float(free), np.ones(2), z) == pytest.approx(float(chdtri(free, alpha)), rel=1e-11)
    table = np.arange(10.0)
    assert [gra_ucb.quantile(s, table, z) for s in (3.0, 9.0)] == [3.0, 9.0]
    assert gra_ucb.quantile(10.0, table, z) == pytest.approx(float(chdtri(10, alpha)), rel=0.05)
