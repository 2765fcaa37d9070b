"""UCB-RSSR and UCB-SR-like: choices and indices worked out by hand."""

import pytest

import sharpe_bandits as sb


def test_an_index_that_may_fall_really_falls():
    """The reason for the fallback, by hand: SR-like with L = 1, s = 100, X = -10, V = 0, so D = 1.

    X/D + (D + X + 2 eps) eps / (D (D - 3 eps)): at N = 100 eps = 0.3035 and 1 - 3 eps = 0.0896, so the index is
    -10 + (-9 + 0.607) 0.3035 / 0.0896 = -38.4; at N = 110 eps = 0.3066 and 1 - 3 eps = 0.0802, so it is
    -10 - 8.387 x 0.3066 / 0.0802 = -42.1: less, though the record stands still.
    """
    from sharpe_bandits.kernels.statistics import ArmRecord, radius

    policy = sb.UCBSRLike(L=1.0)
    still = ArmRecord(pulls=100, mean=-10, variance=0, second_moment=100, epsilon=0, last=0, key=0, round_key=0)
    values = [policy.formula(still._replace(epsilon=radius(t) / 10.0), t, 1.0, 0.0) for t in (100, 110)]
    assert values == pytest.approx([-38.4, -42.1], abs=0.1)
