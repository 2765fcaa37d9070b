"""Measures beside the Sharpe ratio, against quantstats, scipy and plain loops."""

import math

import numpy as np
import pytest
import scipy.stats

import sharpe_bandits as sb
from sharpe_bandits.returns import measures

SHORTFALL = measures.RESAMPLED["expected_shortfall"]


@pytest.fixture(scope="module")
def x():
    return np.random.default_rng(4).standard_t(4, 400) * 0.01 + 0.0008


def once(measure, x):
    return float(measure(np.ones((1, len(x))), x)[0])


def test_against_plain_formulas(x):
    down = math.sqrt(sum(min(v, 0) ** 2 for v in x) / len(x))
    assert once(measures.RESAMPLED["sortino"], x) == pytest.approx(x.mean() / down)
    assert once(measures.RESAMPLED["omega"], x) == pytest.approx(x[x > 0].sum() / -x[x < 0].sum())
    assert once(SHORTFALL, x) == pytest.approx(-np.sort(x)[:20].mean())  # 5% of 400
    assert once(measures.skewness, x) == pytest.approx(scipy.stats.skew(x))
    assert once(measures.kurtosis, x) == pytest.approx(scipy.stats.kurtosis(x, fisher=False))
    z = x - x.mean()
    assert once(measures.autocorrelation, x) == pytest.approx((z[1:] @ z[:-1]) / (z @ z))


def test_a_row_at_the_limit_of_the_tail_counts_in_part():
    assert once(SHORTFALL, np.arange(1.0, 31)) == pytest.approx(-(1 + 0.5 * 2) / 1.5)


def test_rows_that_count_twice_are_rows_that_stand_there_twice(x):
    rows = np.random.default_rng(5).integers(len(x), size=len(x))
    counts = np.bincount(rows, minlength=len(x)).astype(float)[None]
    for name, measure in measures.RESAMPLED.items():
        if name != "autocorrelation":  # which depends on the order
            assert measure(counts, x)[0] == pytest.approx(once(measure, x[rows]), rel=1e-9), name


def test_against_quantstats(x):
    stats = pytest.importorskip("quantstats.stats")
    import pandas as pd

    series = pd.Series(x, pd.bdate_range("2020-01-01", periods=len(x)))
    full = sb.rank({"A": x}, kind="returns", periods_per_year=252, replications=100, full=True)["A"].measures
    assert full["sortino"].value == pytest.approx(stats.sortino(series, periods=252), rel=1e-9)
    assert full["omega"].value == pytest.approx(stats.omega(series, periods=252), rel=1e-6)
    assert full["drawdown"].value == pytest.approx(-stats.max_drawdown(series), rel=1e-9)


def test_intervals_cover_the_true_values():
    """Normal returns: Sortino, expected shortfall and kurtosis have closed forms; 95% intervals of 250 rows."""
    mean, generator, hits = 0.1, np.random.default_rng(6), np.zeros(3)
    density, below = scipy.stats.norm.pdf(mean), scipy.stats.norm.cdf(-mean)
    down = math.sqrt((1 + mean**2) * below - mean * density)
    shortfall = scipy.stats.norm.pdf(scipy.stats.norm.ppf(0.05)) / 0.05 - mean
    samples = 120
    for sample in range(samples):
        x = mean + generator.normal(size=250)
        column = sb.rank(
            {"A": 0.01 * x}, kind="returns", periods_per_year=1, replications=200, block=1, seed=sample, full=True
        )["A"].measures
        for k, (name, true) in enumerate(
            [("sortino", mean / down), ("expected_shortfall", 0.01 * shortfall), ("skewness", 0.0)]
        ):
            hits[k] += column[name].low < true < column[name].high
    assert (hits / samples > 0.86).all()


def test_a_full_ranking_shows_them_and_saves_them(x, tmp_path):
    table = {"A": x, "B": x[::-1] + 0.001}
    brief = sb.rank(table, kind="returns", periods_per_year=252, replications=100)
    full = sb.rank(table, kind="returns", periods_per_year=252, replications=100, full=True)
    assert len(brief.findings().tables) == 1
    assert len(brief.findings().tables[0][0]) == 6  # the name and five numbers
    for head in ("Sortino", "Omega", "Calmar", "expected shortfall", "skewness", "kurtosis", "autocorrelation"):
        assert head in str(full)
        assert head not in str(brief)
    full.report(tmp_path)
    assert "Sortino" in (tmp_path / "ranking.html").read_text()
    assert "sortino_low" in (tmp_path / "ranking.csv").read_text().splitlines()[0]
    assert full["A"].measures["calmar"].low < full["A"].measures["calmar"].high


def test_drawdowns_of_resampled_rows_against_a_plain_loop(x):
    paths = np.random.default_rng(7).integers(len(x), size=(3, len(x)))
    falls, calmar = measures.drawdown_and_calmar(paths, x, 252)
    for path, fall, ratio in zip(paths, falls, calmar, strict=True):
        wealth = peak = 1.0
        deepest = 0.0
        for row in path:
            wealth *= 1 + x[row]
            peak = max(peak, wealth)
            deepest = max(deepest, 1 - wealth / peak)
        assert fall == pytest.approx(deepest)
        assert ratio == pytest.approx((wealth ** (252 / len(x)) - 1) / deepest)


@pytest.mark.parametrize("by", ["sortino", "omega", "cvar", "log-growth"])
def test_ranked_by_other_measures(by):
    """B has the larger mean and Sharpe ratio; its rare crashes cost it the tail, and C hardly varies."""
    generator = np.random.default_rng(8)
    table = {
        "A": generator.normal(0.0008, 0.01, 1500),
        "B": np.where(generator.random(1500) < 0.01, -0.08, generator.normal(0.0025, 0.009, 1500)),
        "C": generator.normal(0.0001, 0.002, 1500),
    }
    plain = {
        "sortino": lambda v: 252**0.5 * v.mean() / np.sqrt((np.minimum(v, 0) ** 2).mean()),
        "omega": lambda v: np.maximum(v, 0).sum() / np.maximum(-v, 0).sum(),
        "cvar": lambda v: -np.sort(v)[:75].mean(),
        "log-growth": lambda v: 252 * np.log1p(v).mean(),
    }[by]
    ranking = sb.rank(table, by=by, kind="returns", periods_per_year=252, replications=200)
    true = {name: plain(v) for name, v in table.items()}
    assert [c.name for c in ranking.columns] == sorted(true, key=true.get, reverse=by != "cvar")
    for column in ranking.columns:
        assert column.value == pytest.approx(true[column.name])
        assert column.value_low < column.value < column.value_high
    assert ranking.columns[0].best == max(column.best for column in ranking.columns)
    assert ranking.criterion in str(ranking)


def test_a_measure_that_is_infinite_is_refused_with_a_remedy():
    table = {"A": np.linspace(0.001, 0.002, 50), "B": np.linspace(-0.01, 0.02, 50)}
    options = {"kind": "returns", "periods_per_year": 252, "replications": 100, "block": 1}
    with pytest.raises(sb.errors.InvalidInputError, match=r"'A' has no loss.*by='sharpe'"):
        sb.rank(table, by="omega", **options)
    assert sb.rank(table, by="sharpe", **options).columns[0].name == "A"


def test_ranked_by_any_objective():
    generator = np.random.default_rng(9)
    table = {"A": generator.normal(0.001, 0.01, 400), "B": generator.normal(0.0015, 0.03, 400)}
    options = {"kind": "returns", "periods_per_year": 252, "replications": 100}
    ranking = sb.rank(table, by=sb.MeanVariance(rho=0.5), **options)
    assert ranking.by == "own"
    assert ranking.columns[0].value == pytest.approx(max(0.5 * v.mean() - v.var(ddof=1) for v in table.values()))
    assert "MeanVariance(rho=0.5)" in ranking.conclusion
    named, given = (sb.rank(table, by=by, **options) for by in ("sortino", sb.Sortino(L=0.0)))
    assert named["B"].value == pytest.approx(252**0.5 * given["B"].value)
    assert named["B"].best == given["B"].best


def test_israelsens_ratio_does_not_reward_the_risk_of_losses():
    """Two columns with the same loss: the Sharpe ratio puts the riskier first."""
    z = np.random.default_rng(10).normal(size=300)
    z = (z - z.mean()) / z.std(ddof=1)
    table = {"calm": -0.001 + 0.01 * z, "wild": -0.001 + 0.03 * z[::-1]}
    options = {"kind": "returns", "periods_per_year": 252, "replications": 100}
    assert sb.rank(table, **options).columns[0].name == "wild"
    better = sb.rank(table, by="israelsen", **options)
    assert better.columns[0].name == "calm"
    assert better["calm"].value == pytest.approx(-0.001 * 0.01)
    assert not better.remarks


def test_information_ratio_and_sharpe_ratio_beside_it(x):
    benchmark = 0.01 * np.random.default_rng(11).normal(size=len(x))
    table = {"A": x, "index": benchmark}
    full = sb.rank(
        table, benchmark="index", kind="returns", periods_per_year=252, replications=100, full=True
    )  # fmt: skip
    active = x - benchmark
    assert full["A"].annual_sharpe == pytest.approx(252**0.5 * active.mean() / active.std(ddof=1))
    total = full["A"].measures["total_sharpe"]
    assert total.value == pytest.approx(252**0.5 * x.mean() / x.std(ddof=1))
    assert total.low < total.value < total.high
    assert "annualised information ratio" in str(full)
    assert "Sharpe, total returns" in str(full)
