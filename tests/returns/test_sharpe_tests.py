"""Power and false discovery rates of a test of a Sharpe ratio: the example of the paper, and jsharpe."""

import math

import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits.returns import statistics
from sharpe_bandits.returns.sharpe_tests import SharpeTest

SHARPE, MOMENTS = 0.036 / 0.079, {"skewness": -2.448, "kurtosis": 10.164}


@pytest.mark.parametrize(("rho", "needed"), [(0.0, 13.03), (0.2, 19.54)])
def test_the_example_of_the_paper(rho, needed):
    """Without skill the variance is (1 + ρ)/(1 − ρ)/T, by hand: (1.645/0.4557)² is 13.03, and 1.5 times that."""
    test = SharpeTest(24, autocorrelation=rho, **MOMENTS)
    assert test.minimum_track_record(SHARPE) == pytest.approx(needed, abs=0.01)
    assert test.variance(0.0) == pytest.approx((1 + rho) / (1 - rho) / 24)


@pytest.mark.parametrize("rho", [0.0, 0.2])
@pytest.mark.parametrize("null", [0.0, 0.1])
def test_against_jsharpe(rho, null):
    jsharpe = pytest.importorskip("jsharpe")
    test = SharpeTest(24, null=null, autocorrelation=rho, **MOMENTS)
    same = {"gamma3": MOMENTS["skewness"], "gamma4": MOMENTS["kurtosis"], "rho": rho}
    assert test.variance(SHARPE) == pytest.approx(jsharpe.sharpe_ratio_variance(SHARPE, 24, **same))
    assert test.probabilistic_sharpe(SHARPE) == pytest.approx(
        jsharpe.probabilistic_sharpe_ratio(SHARPE, null, T=24, **same)
    )
    assert test.minimum_track_record(SHARPE) == pytest.approx(jsharpe.minimum_track_record_length(SHARPE, null, **same))
    assert test.critical_sharpe == pytest.approx(jsharpe.critical_sharpe_ratio(null, 24, **same))
    assert test.power == pytest.approx(jsharpe.sharpe_ratio_power(null, 0.5, 24, **same))
    assert test.planned_fdr(0.1) == pytest.approx(jsharpe.pFDR(0.1, 0.05, 1 - test.power))
    assert test.observed_fdr(SHARPE, 0.1) == pytest.approx(jsharpe.oFDR(SHARPE, null, 0.5, 24, 0.1, **same))


def test_where_the_two_conventions_differ():
    """Bailey and López de Prado evaluate the variance at the estimate: a longer record, unless skewness is positive."""
    older = statistics.minimum_track_record(SHARPE, 0.0, *MOMENTS.values())
    newer = SharpeTest(24, **MOMENTS).minimum_track_record(SHARPE)
    assert newer / older - 1 == pytest.approx(-0.65, abs=0.05)


def test_power_and_false_discoveries_by_simulation():
    """Normal returns, one strategy in five with a Sharpe ratio of 0.3 per period, 60 rows."""
    g, test, strategies = np.random.default_rng(1), SharpeTest(60, alternative=0.3), 40_000
    skilled = g.random(strategies) < 0.2
    x = g.normal(np.where(skilled, 0.3, 0.0), 1.0, (60, strategies))
    ratios = statistics.sharpe(x)
    rejected = ratios > test.critical_sharpe
    assert rejected[skilled].mean() == pytest.approx(test.power, abs=0.03)
    assert (~skilled)[rejected].mean() == pytest.approx(test.planned_fdr(0.2), abs=0.03)
    above = ratios > 0.35
    assert (~skilled)[above].mean() == pytest.approx(test.observed_fdr(0.35, 0.2), abs=0.03)


def test_bad_input():
    for options in ({"rows": 1}, {"autocorrelation": 1.0}, {"alternative": -0.1}, {"level": 0.0}):
        with pytest.raises(sb.errors.InvalidInputError):
            SharpeTest(**{"rows": 24, **options})
    with pytest.raises(sb.errors.InvalidInputError, match="sharpe - null"):
        SharpeTest(24).minimum_track_record(-0.1)
    assert math.isfinite(SharpeTest(24).power)
