"""Differences of Sharpe ratios, tests of many columns at once, and what is believed of one, against other means."""

import json

import numpy as np
import pandas as pd
import pytest

import sharpe_bandits as sb
from sharpe_bandits.returns import statistics
from sharpe_bandits.returns.pairwise import pairwise_tests
from sharpe_bandits.returns.yardstick import Yardstick


def table(values, **options):
    names = [f"S{k}" for k in range(values.shape[1])]
    return sb.read_returns(values, names=names, kind="returns", periods_per_year=252, **options)


def ar1(generator, rows, rho, sharpe, columns=1):
    noise = generator.normal(size=(rows + 200, columns))
    x = np.zeros_like(noise)
    for t in range(1, len(x)):
        x[t] = rho * x[t - 1] + np.sqrt(1 - rho**2) * noise[t]
    return 0.01 * (x[200:] + sharpe)


class TestOneColumn:
    """What is to be believed of one column."""

    jsharpe = pytest.importorskip("jsharpe")

    def test_psr_and_minimum_track_record_are_those_of_jsharpe(self):
        x = np.random.default_rng(1).standard_t(5, 500) * 0.01 + 0.001
        column = sb.rank(table(x[:, None]), replications=100, block=1).columns[0]
        z = (x - x.mean()) / x.std()
        moments = {"gamma3": (z**3).mean(), "gamma4": (z**4).mean()}
        # the variance is divided by T there, by n - 1 here
        variance = self.jsharpe.sharpe_ratio_variance(column.sharpe, T=499, **moments)
        assert column.se_iid == pytest.approx(variance**0.5, rel=1e-12)
        # as Bailey and López de Prado have it: with the variance at the estimate, not at the hypothesis
        one = self.jsharpe.sharpe_ratio_variance(column.sharpe, T=1, **moments)
        needed = one * (1.6448536269514722 / column.sharpe) ** 2
        assert column.track_record == pytest.approx(needed + 1, rel=1e-9)
        assert column.more_years == pytest.approx(max(needed + 1 - 500, 0) / 252, rel=1e-9)

    @pytest.mark.parametrize("rho", [-0.3, 0.3])
    def test_robust_errors_agree_with_the_formula_for_ar1_returns(self, rho):
        x = ar1(np.random.default_rng(2), 100_000, rho, 0.1)[:, 0]
        variance = self.jsharpe.sharpe_ratio_variance(0.1, T=len(x), rho=rho)
        assert statistics.sharpe_se_hac(x) == pytest.approx(variance**0.5, rel=0.05)
        assert statistics.sharpe_se_iid(x) != pytest.approx(variance**0.5, rel=0.2)

    def test_psr_and_dsr_allow_for_autocorrelation(self):
        found = sb.rank(table(ar1(np.random.default_rng(3), 1000, 0.4, 0.05, 3)), replications=100)
        for c in found.columns:
            assert c.psr_robust == pytest.approx(statistics.probabilistic_sharpe(c.sharpe, c.se), rel=1e-12)
            assert c.se > 1.2 * c.se_iid
            assert abs(c.psr_robust - 0.5) < abs(c.psr_iid - 0.5)

    def test_lo_annualises_autocorrelated_returns(self):
        x = ar1(np.random.default_rng(4), 120_000, 0.2, 0.05)[:, 0]
        # by hand: the variance of a sum of q AR(1) returns
        q, rho = 12, 0.2
        total = q + 2 * sum((q - k) * rho**k for k in range(1, q))
        annual, _ = statistics.lo_and_influence(x, q)
        assert annual == pytest.approx(statistics.sharpe(x) * q / total**0.5, rel=0.03)
        years = x.reshape(-1, q).sum(axis=1)
        assert annual == pytest.approx(years.mean() / years.std(), rel=0.03)

    def test_a_loser_never_has_enough(self):
        column = sb.rank(table(ar1(np.random.default_rng(5), 300, 0, -0.2)), replications=100).columns[0]
        assert column.track_record is None
        assert column.more_years is None


class TestUnequalHistories:
    """Columns on their own histories, pairs on their common one."""

    @pytest.fixture
    def values(self):
        x = np.random.default_rng(1).normal(0.0005, 0.01, (600, 4))
        x[:250, 1] = x[400:, 2] = np.nan
        x[100:110, 3] = np.nan
        return x

    def test_every_column_has_the_numbers_it_has_alone(self, values):
        found = sb.rank(table(values, missing="keep"), replications=200, block=2)
        assert {c.name: c.rows for c in found.columns} == {"S0": 600, "S1": 350, "S2": 400, "S3": 590}
        for k in range(4):
            own = values[~np.isnan(values[:, k]), k]
            alone = sb.rank(table(own[:, None]), replications=200, block=2).columns[0]
            here = found[f"S{k}"]
            for key in ("sharpe", "se_iid", "se", "value", "drawdown", "psr", "annual_sharpe_robust"):
                assert getattr(here, key) == pytest.approx(getattr(alone, key), rel=1e-9), key
            width = here.sharpe_high - here.sharpe_low
            assert width == pytest.approx(alone.sharpe_high - alone.sharpe_low, rel=0.25)

    def test_pairs_are_over_common_rows(self, values):
        found = sb.compare(table(values, missing="keep"), block=2, replications=400)
        by_pair = {frozenset((d.first, d.second)): d for d in found.differences}
        d = by_pair[frozenset(("S1", "S2"))]
        sign = 1 if d.first == "S1" else -1
        assert d.rows == 150
        x, y = values[250:400, 1], values[250:400, 2]
        difference, se = Yardstick().difference(x, y, lags=1)
        assert d.difference == pytest.approx(sign * difference * 252**0.5, rel=1e-9)
        # Ledoit and Wolf count the four moments that are estimated
        assert d.se == pytest.approx(se * 252**0.5 * (149 / 146) ** 0.5, rel=1e-9)
        assert found.common == 150


class TestComparison:
    """Is A better than B."""

    def test_p_values_are_right_without_a_difference(self):
        generator = np.random.default_rng(1)
        p = []
        for _ in range(150):
            x = generator.normal(0.0005, 0.01, (250, 1)) + generator.normal(0, 0.01, (250, 2))
            (test,) = pairwise_tests(x, [(0, 1)], Yardstick(), 1, 200, 0, 0.95, False)
            p.append((test.p_asymptotic, test.p))
        small = (np.array(p) < 0.1).mean(axis=0)
        np.testing.assert_allclose(small, 0.1, atol=4 * (0.09 / 150) ** 0.5)
        assert np.abs(np.diff(p)).mean() < 0.05  # the two agree

    @pytest.mark.parametrize("block", [1, 4])
    def test_resamples_are_those_of_ledoit_and_wolf(self, block):
        """Their program, row by row: gradient of the four moments, and sums over blocks for the standard error."""
        from sharpe_bandits.returns.pairwise import resamples

        x, rate = np.random.default_rng(2).normal(0.01, 0.05, (41, 2)), 0.002
        draws = resamples(x, Yardstick(rate), block, 5, 7)
        generator, blocks = np.random.default_rng(7), 41 // block
        for ratio, covariance in draws:
            starts = generator.integers(41, size=blocks)
            rows = np.array([(start + step) % 41 for start in starts for step in range(block)])
            y = x[rows] - rate
            n = len(y)
            mu, gamma = y.mean(axis=0), (y**2).mean(axis=0)
            np.testing.assert_allclose(ratio, mu / y.std(axis=0, ddof=1), rtol=1e-9)
            sd3 = (gamma - mu**2) ** 1.5
            gradient = np.array([gamma[0] / sd3[0], -gamma[1] / sd3[1], -mu[0] / 2 / sd3[0], mu[1] / 2 / sd3[1]])
            deviations = np.hstack([y - mu, y**2 - gamma])
            psi = np.zeros((4, 4))
            for j in range(blocks):
                zeta = np.sqrt(block) * deviations[j * block : (j + 1) * block].mean(axis=0)
                psi += np.outer(zeta, zeta) / blocks
            se = np.sqrt(gradient @ (n / (n - 4) * psi) @ gradient / n)
            own = np.sqrt(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
            assert own == pytest.approx(se, rel=0.03)  # n - 1 in one variance, n in the other

    def test_with_few_autocorrelated_rows_the_level_is_kept(self):
        """AR 0.4 and 60 rows: p-values below 5% in 12% of tables once."""
        generator, samples = np.random.default_rng(3), 120
        small = 0
        for seed in range(samples):
            noise = generator.normal(size=(110, 2)) @ [[1, 0.5], [0, 0.87]]
            for t in range(1, len(noise)):
                noise[t] += 0.4 * noise[t - 1]
            (test,) = pairwise_tests(noise[50:] + 0.1, [(0, 1)], Yardstick(), 4, 200, seed, 0.95, False)
            small += test.p <= 0.05
        assert small / samples <= 0.05 + 2.5 * (0.05 * 0.95 / samples) ** 0.5

    def test_the_best_of_many_without_a_difference_is_not_significant(self):
        """20 columns without a difference: significant in 9% of tables once, in 49% with 500 columns."""
        generator, tables = np.random.default_rng(4), 60
        hits = sum(
            sb.compare(table(generator.normal(0.0005, 0.01, (120, 20))), block=1, replications=200, seed=seed)
            .differences[0].p_corrected <= 0.05
            for seed in range(tables)
        )  # fmt: skip
        assert hits / tables <= 0.05 + 2.5 * (0.05 * 0.95 / tables) ** 0.5

    def test_many_columns_one_of_which_is_better(self):
        x = np.random.default_rng(5).normal(0, 0.01, (500, 30))
        x[:, 7] += 0.006
        found = sb.compare(table(x), block=1, replications=300)
        assert len(found.differences) == 29
        assert {d.first for d in found.differences} == {"S7"}
        assert all(d.p_corrected <= 0.05 for d in found.differences)
        assert "all 435 pairs" in found.conclusion

    def test_a_difference_has_an_interval_that_covers_it(self):
        generator, samples, hits = np.random.default_rng(6), 120, 0
        for seed in range(samples):
            x = generator.normal([0.3, 0.0], 1.0, (150, 2))
            (test,) = pairwise_tests(x, [(0, 1)], Yardstick(), 1, 200, seed, 0.95, False)
            hits += test.low <= 0.3 <= test.high
        assert hits / samples >= 0.95 - 3 * (0.05 * 0.95 / samples) ** 0.5
        found = sb.compare(table(0.01 * x), replications=200)
        (d,) = found.differences
        assert f"{d.low:.2f} to {d.high:.2f}" in found.conclusion
        assert (d.p <= 0.05) == (not d.low <= 0 <= d.high)

    def test_few_rows_are_said_to_be_too_few(self):
        x = np.random.default_rng(7).normal(0.01, 0.05, (60, 2))
        assert not sb.compare(table(x), replications=100).remarks
        assert any("59 rows" in text for text in sb.compare(table(x[1:]), replications=100).remarks)

    def test_no_resample_as_large_is_not_a_probability_of_0(self):
        x = np.random.default_rng(8).normal([0.01, 0], 0.01, (400, 2))
        found = sb.compare(table(x), block=1, replications=200)
        assert 0 < found.superior["consistent"] <= 1 / 201
        assert "0.000" not in found.conclusion

    def test_all_means_below_the_hurdle(self):
        x = np.random.default_rng(9).normal([-0.002, -0.003], 0.01, (400, 2))
        found = sb.compare(table(x), replications=100)
        assert found.no_verdict
        assert str(found).startswith(f"Check: {found.remarks[0][:40]}")  # the doubt comes first
        judged = sb.compare(table(x), replications=100, by="mean-risk")
        assert (judged.no_verdict, judged.remarks) == (False, ())

    def test_a_clear_winner_is_alone_in_the_set(self):
        x = np.random.default_rng(2).normal(0, 0.01, (1000, 5))
        x[:, 2] += 0.004
        found = sb.compare(table(x), block=1, replications=300)
        assert found.included == ["S2"]
        assert found.superior["consistent"] < 0.01
        assert found.pbo < 0.01
        assert {d.first for d in found.differences[:4]} == {"S2"}
        assert "S2 (model confidence set)" in found.conclusion
        with pytest.raises(sb.errors.UnknownNameError, match="no column is called"):
            sb.compare(table(x), block=1, replications=300, against=np.array([1, 2]))
        against = sb.compare(table(x), block=1, replications=300, against="S2")
        assert len(against.differences) == 4
        assert against.superior["consistent"] > 0.5

    def test_without_skill_all_are_in_the_set(self):
        x = np.random.default_rng(3).normal(0, 0.01, (500, 6))
        found = sb.compare(table(x), block=1, replications=300)
        assert len(found.included) >= 5
        assert found.superior["consistent"] > 0.05

    def test_the_set_is_that_of_arch_on_the_same_losses(self):
        from arch.bootstrap import MCS

        x = np.random.default_rng(4).normal([0.002, 0.001, 0, -0.002], 0.01, (400, 4))
        found = sb.compare(table(x), block=1, replications=200, seed=5)
        losses = -(statistics.sharpe(x) + statistics.influence(x))
        np.testing.assert_allclose(-losses.mean(axis=0), statistics.sharpe(x), rtol=1e-9)
        test = MCS(losses, 0.05, reps=200, block_size=1, method="max", bootstrap="stationary", seed=5)
        test.compute()
        assert {f"S{k}": p for k, p in test.pvalues["Pvalue"].items()} == found.confidence_set

    def test_files_frames_and_errors(self, tmp_path):
        x = np.random.default_rng(5).normal(0, 0.01, (100, 3))
        found = sb.compare(x, names=["A", "<b>", "C"], kind="returns", periods_per_year=252, block=1, replications=100)
        found.report(tmp_path)
        assert len(json.loads((tmp_path / "comparison.json").read_text())["differences"]) == 3
        assert "&lt;b&gt;" in (tmp_path / "comparison.html").read_text()
        assert len(found.table.to_pandas()) == 3
        assert "&lt;b&gt;" in found._repr_html_()
        with pytest.raises(sb.errors.UnknownNameError, match="no column is called 'B'"):
            sb.compare(found.returns, against="B")
        with pytest.raises(sb.errors.InvalidInputError, match="needs at least two columns"):
            sb.compare(table(x[:, :1]))
        with pytest.raises(sb.errors.InvalidInputError, match="have been read already; pass kind to read_returns"):
            sb.compare(found.returns, kind="returns")

    def test_one_call(self):
        frame = pd.DataFrame(np.random.default_rng(6).normal(0, 0.01, (100, 3)), columns=list("ABC"))
        with pytest.raises(sb.errors.InvalidInputError, match="read_returns needs kind and periods_per_year"):
            sb.rank(frame)
        found = sb.rank(frame, kind="returns", periods_per_year=252, replications=100)
        assert list(found.table.to_pandas()["name"]) == [c.name for c in found.columns]
        assert found.table.to_polars().shape[0] == 3
        assert "<table>" in found._repr_html_()
        returns = sb.read_returns(frame, kind="returns", periods_per_year=252)
        assert sb.rank(returns, replications=100).columns == found.columns


def test_a_series_of_rates_is_a_constant_rate_where_it_is_constant():
    x = np.random.default_rng(7).normal(0.0005, 0.01, (300, 2))
    frame = pd.DataFrame(x, columns=["A", "B"]).assign(RF=0.0001)
    series = sb.rank(frame, kind="returns", periods_per_year=252, risk_free_series="RF", block=1, replications=100)
    constant = sb.rank(
        frame[["A", "B"]],
        kind="returns",
        periods_per_year=252,
        annual_risk_free=1.0001**252 - 1,
        block=1,
        replications=100,
    )
    for a, b in zip(series.columns, constant.columns, strict=True):
        for key in ("sharpe", "se", "sharpe_low", "value", "psr", "dsr", "drawdown"):
            assert getattr(a, key) == pytest.approx(getattr(b, key), rel=1e-9), key
    assert "excess returns, minus the rate RF" in str(series)
    active = sb.rank(
        frame, kind="returns", periods_per_year=252, benchmark="B", columns=["A"], block=1, replications=100
    )
    assert active.columns[0].sharpe == pytest.approx(statistics.sharpe(x[:, 0] - x[:, 1]), rel=1e-12)


class TestUnpaired:
    """One venue per trade: no two columns have a row in common."""

    @staticmethod
    def trades(generator, means, sds, rows):
        venue = generator.integers(len(means), size=rows)
        x = np.full((rows, len(means)), np.nan)
        x[np.arange(rows), venue] = generator.normal(np.array(means)[venue], np.array(sds)[venue])
        return dict(zip("abcd", x.T, strict=False))

    def test_each_column_over_its_own_rows(self):
        import scipy.stats

        columns = self.trades(np.random.default_rng(1), [0.003, 0.0], [0.01, 0.02], 800)
        found = sb.compare(columns, kind="returns", periods_per_year=252, missing="keep", replications=300, block=1)
        (d,) = found.differences
        a, b = (x[~np.isnan(x)] for x in columns.values())
        assert not d.paired
        assert d.rows == min(len(a), len(b))
        ratio = statistics.sharpe(a) - statistics.sharpe(b)
        assert d.difference == pytest.approx(ratio * 252**0.5, rel=1e-9)
        assert d.se == pytest.approx(
            252**0.5 * np.hypot(statistics.sharpe_se_iid(a), statistics.sharpe_se_iid(b)), rel=1e-9
        )
        assert d.p < 0.05
        welch = scipy.stats.ttest_ind(a, b, equal_var=False)
        assert d.p_mean == pytest.approx(welch.pvalue, abs=0.02)  # there without autocorrelation
        assert d.mean_difference == pytest.approx(252 * (a.mean() - b.mean()), rel=1e-9)

    def test_p_values_are_right_without_a_difference(self):
        generator, small = np.random.default_rng(2), 0
        for seed in range(80):
            columns = self.trades(generator, [0.001, 0.002], [0.01, 0.02], 200)
            x = np.column_stack(list(columns.values()))
            (test,) = pairwise_tests(x, [(0, 1)], Yardstick(), 1, 200, seed, 0.95, False)
            small += test.p < 0.1
        assert small / 80 == pytest.approx(0.1, abs=4 * (0.09 / 80) ** 0.5)

    def test_columns_that_hardly_meet(self, tmp_path):
        values = np.random.default_rng(1).normal(0.001, 0.01, (400, 3))
        values[:201, 1] = values[199:, 2] = np.nan
        columns = dict(zip("abc", values.T, strict=True))
        found = sb.compare(columns, kind="returns", periods_per_year=252, missing="keep", replications=100)
        paired = {frozenset((d.first, d.second)): d.paired for d in found.differences}
        assert paired == {frozenset("ab"): True, frozenset("ac"): True, frozenset("bc"): False}
        found.report(tmp_path)
        json.loads((tmp_path / "comparison.json").read_text(), parse_constant=pytest.fail)  # NaN is no JSON
        assert all(d.p <= d.p_corrected <= 1 for d in found.differences)

    def test_a_row_per_trade_without_dates(self, tmp_path, capsys):
        """A table `trade,venue,pnl_bp`: the remedies of the messages, followed, give the samples of every venue."""
        from tests.returns.test_files_as_found import follow

        g = np.random.default_rng(5)
        venue, bp = g.choice(["IEX", "NYSE", "ARCA"], 400), g.normal(1, 8, 400)
        path = tmp_path / "trades.csv"
        rows = (f"{k},{v},{b:.6f}" for k, (v, b) in enumerate(zip(venue, bp, strict=True), 1))
        path.write_text("\n".join(["trade,venue,pnl_bp", *rows]))
        returns = follow(path, kind="returns", scale=1e-4)
        for name in returns.names:
            own = returns.values[:, returns.names.index(name)]
            np.testing.assert_allclose(own[~np.isnan(own)], bp[venue == name] / 1e4, atol=1e-9)
        assert sb.rank(returns, replications=100)["IEX"].rows == (venue == "IEX").sum()
        comparison = sb.compare(returns, replications=200)
        assert not any(d.paired for d in comparison.differences)
        # a column of this seed is autocorrelated by chance
        assert comparison.rows_of_block == round(np.median(returns.counts) ** (1 / 3))
        with pytest.raises(sb.errors.InvalidInputError, match="what was not observed cannot be replayed"):
            sb.replay(returns, "RoundRobin", runs=2)

    def test_returns_are_not_invented_for_columns_seen_one_at_a_time(self):
        values = np.full((300, 3), np.nan)
        values[np.arange(300), np.arange(300) % 3] = np.random.default_rng(6).normal(0, 0.01, 300)
        options = {"names": ["A", "B", "C"], "kind": "returns", "periods_per_year": 252}
        with pytest.raises(sb.errors.InvalidInputError, match=r"one at a time.*600 values.*missing='keep'"):
            sb.read_returns(values, missing="fill", **options)
        assert len(sb.compare(values, missing="keep", replications=100, **options).differences) == 3
        values[:100, 1:] = 0.001  # often together: filling is the user's decision
        assert sb.read_returns(values, missing="fill", **options).complete


def test_orders_that_are_observed_one_at_a_time_have_no_blocks():
    """Unpaired samples of independent numbers: the standard error is that of two independent means."""
    generator = np.random.default_rng(5)
    names = generator.permutation(np.repeat(["A", "B"], 200))
    orders = pd.DataFrame({"algo": names, "cost": generator.normal(8, 5, 400)})
    comparison = sb.compare(
        orders, pivot=("algo", "cost"), kind="returns", scale=1e-4, direction="min", aversion=0, periods_per_year=252,
        replications=100,
    )  # fmt: skip
    assert comparison.rows_of_block == 1
    (difference,) = comparison.differences
    expected = np.sqrt(sum(own.var() / 199 for _, own in orders.groupby("algo")["cost"]))
    assert difference.se == pytest.approx(expected, rel=0.02)
