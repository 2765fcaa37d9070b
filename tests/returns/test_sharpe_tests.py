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


@pytest.mark.parametrize("rho", [0.0, 0.2])
@pytest.mark.parametrize("fdr", [0.05, 0.25])
def test_a_critical_value_for_a_false_discovery_rate_against_jsharpe(rho, fdr):
    jsharpe = pytest.importorskip("jsharpe")
    test = SharpeTest(24, autocorrelation=rho, **MOMENTS)
    same = {"gamma3": MOMENTS["skewness"], "gamma4": MOMENTS["kurtosis"], "rho": rho}
    _, _, critical, _ = jsharpe.control_for_FDR(fdr, SR0=0.0, SR1=0.5, p_H1=0.1, T=24, **same)
    found = test.critical_sharpe_for_fdr(fdr, 0.1)
    assert found == pytest.approx(critical, abs=1e-9)
    assert test.observed_fdr(found, 0.1) == pytest.approx(fdr)


def test_clustered_trials():
    """Twelve variants of four ideas are four trials; jsharpe finds the same clusters."""
    g = np.random.default_rng(2)
    ideas = g.normal(0, 0.01, (600, 4))
    x = np.repeat(ideas, 3, axis=1) + g.normal(0, 0.004, (600, 12))
    labels = statistics.clusters(x)
    assert [sorted(np.flatnonzero(labels == labels[k]).tolist()) for k in (0, 3, 6, 9)] == [
        [0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11],
    ]  # fmt: skip
    table = {f"v{k}": x[:, k] for k in range(12)}
    options = {"kind": "returns", "periods_per_year": 252, "replications": 100}
    ranking = sb.rank(table, trials="clusters", **options)
    assert ranking.trials == 4
    assert "4 clusters of 12 columns" in ranking.settings()["trials"]
    assert ranking.annual_expected_maximum < sb.rank(table, trials=48, **options).annual_expected_maximum
    with pytest.raises(sb.errors.InvalidInputError, match="three columns or more"):
        sb.rank({"A": x[:, 0], "B": x[:, 3]}, trials="clusters", **options)


def test_clusters_against_jsharpe():
    jsharpe = pytest.importorskip("jsharpe")
    np.random.seed(1)  # noqa: NPY002  (jsharpe has no other seed)
    g = np.random.default_rng(2)
    x = np.repeat(g.normal(size=(600, 4)), 3, axis=1) + 0.4 * g.normal(size=(600, 12))
    matrix = np.corrcoef(x, rowvar=False)
    np.fill_diagonal(matrix, 1.0)
    assert jsharpe.number_of_clusters(matrix, retries=5, max_clusters=8)[0] == statistics.clusters(x).max() + 1


def test_where_the_two_conventions_differ():
    """Bailey and López de Prado evaluate the variance at the estimate: a longer record, unless skewness is positive."""
    se = statistics.se_from_moments(SHARPE, 24, *MOMENTS.values())
    older = statistics.track_record(SHARPE, se, 24)
    newer = SharpeTest(24, **MOMENTS).minimum_track_record(SHARPE)
    assert older == pytest.approx(34.76, abs=0.01)
    assert newer / older - 1 == pytest.approx(-0.625, abs=0.001)


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
