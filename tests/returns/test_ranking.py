"""Rankings: point estimates by hand, intervals that cover, and what is refused."""

import math
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from arch import bootstrap

import sharpe_bandits as sb
from sharpe_bandits._support import console
from sharpe_bandits.returns import ranking as module
from sharpe_bandits.returns import statistics
from sharpe_bandits.returns.ranking import rank
from sharpe_bandits.returns.table import read_returns
from tests.returns.ranked import table, three_strategies


@pytest.fixture(scope="module")
def daily():
    return three_strategies()


@pytest.fixture(scope="module")
def ranked(daily):
    return rank(daily, replications=1000, seed=3)


def test_point_estimates_by_hand(daily, ranked):
    assert [c.name for c in ranked.columns] == ["good", "fair", "bad"]
    x = daily.values[:, 0]
    good = ranked["good"]
    smallest = min(np.var(daily.values[:, k], ddof=1) for k in range(3))
    assert pytest.approx(smallest / 10) == ranked.L
    assert good.mean == pytest.approx(x.mean())
    assert good.volatility == pytest.approx(x.std(ddof=1))
    assert good.annual_mean == pytest.approx(252 * x.mean())
    assert good.annual_volatility == pytest.approx(math.sqrt(252) * x.std(ddof=1))
    assert good.sharpe == pytest.approx(x.mean() / x.std(ddof=1))
    assert good.annual_sharpe == pytest.approx(math.sqrt(252) * good.sharpe)
    assert good.annual_sharpe_low == pytest.approx(math.sqrt(252) * good.sharpe_low)
    assert good.annual_se == pytest.approx(math.sqrt(252) * good.se)
    assert good.psr == pytest.approx(scipy.stats.norm.cdf(good.sharpe / good.se_iid))


def test_the_best_is_deflated(ranked):
    """Against the largest of three normals with the variance of the Sharpe ratios, as the formula has it.

    These columns differ by more than chance, so that their own variance counts.
    """
    ratios = [c.sharpe for c in ranked.columns]
    assert np.var(ratios, ddof=1) > 1 / 249
    quantile = scipy.stats.norm.ppf
    g = 0.5772156649015329
    expected = np.std(ratios, ddof=1) * ((1 - g) * quantile(2 / 3) + g * quantile(1 - 1 / (3 * math.e)))
    assert ranked.selection.expected_maximum == pytest.approx(expected)
    assert ranked.annual_expected_maximum == pytest.approx(expected * math.sqrt(252))
    good = ranked["good"]
    assert good.dsr == pytest.approx(scipy.stats.norm.cdf((good.sharpe - expected) / good.se_iid))
    assert good.dsr < good.psr


def test_more_trials_deflate_more(daily, ranked):
    assert rank(daily, trials=100, replications=50)["good"].dsr < ranked["good"].dsr


def test_one_column_is_not_deflated(daily, tmp_path):
    alone = rank(table(daily.values[:, :1], ["good"]), replications=200)
    assert alone.trials == 1
    assert alone["good"].dsr == alone["good"].psr
    assert alone["good"].best == 1.0
    assert "The confidence that its true Sharpe ratio is above 0 is" in alone.conclusion
    assert "without skill" not in alone.conclusion
    alone.report(tmp_path)
    assert "without skill" not in (tmp_path / "ranking.svg").read_text()


def test_shares_of_being_first(ranked):
    assert sum(c.best for c in ranked.columns) == pytest.approx(1)
    assert ranked["good"].best > 0.9
    even = rank(table(np.random.default_rng(0).normal(0, 0.01, (400, 2)), ["A", "B"]), replications=200)
    count = round(200 * even["A"].best)
    wilson = scipy.stats.binomtest(count, 200).proportion_ci(method="wilson")
    assert 0 < count < 200
    assert (even["A"].best_low, even["A"].best_high) == pytest.approx(tuple(wilson))


def test_the_share_knows_that_columns_move_together():
    """A column and the same plus a steady 0.01%: it is first in every resample, however wide the intervals are."""
    x = np.random.default_rng(8).normal(0, 0.01, 300)
    found = rank(table(np.column_stack([x, x + 0.0001]), ["same", "better"]), replications=300)
    assert found.columns[0].name == "better"
    assert found["better"].best == 1.0
    assert found["better"].sharpe_low < found["same"].sharpe_high


def test_resamples_against_plain_arithmetic(daily):
    """Means and variances from counts are those of the resampled rows themselves."""
    from arch.bootstrap import StationaryBootstrap

    means, variances, _ = module._resamples(daily, 5.0, 130, 11, sb.Sharpe(L=0.0), 0.0)
    draws = StationaryBootstrap(5.0, daily.values, seed=11).bootstrap(130)
    for number, ((values,), _) in enumerate(draws):
        assert means[number] == pytest.approx(values.mean(axis=0), rel=1e-9)
        assert variances[number] == pytest.approx(values.var(axis=0, ddof=1), rel=1e-9)


def test_intervals_are_about_as_wide_as_theory_says(daily, ranked):
    """Independent returns: 2 × 1.96 standard errors."""
    for c in ranked.columns:
        assert c.sharpe_high - c.sharpe_low == pytest.approx(2 * 1.96 * c.se_iid, rel=0.2)
        assert c.sharpe_low < c.sharpe < c.sharpe_high
        assert c.value_low < c.value < c.value_high


def test_blocks_widen_intervals_under_autocorrelation():
    g = np.random.default_rng(9)
    x = np.zeros(1500)
    for t in range(1, len(x)):
        x[t] = 0.5 * x[t - 1] + g.normal(0, 0.01)
    found = table(x[:, None], ["A"])
    single, blocks = (rank(found, by="rssr", block=length, replications=600)["A"] for length in (1, None))
    wider = (blocks.value_high - blocks.value_low) / (single.value_high - single.value_low)
    assert wider == pytest.approx(math.sqrt(3), rel=0.2)  # the long-run variance is (1 + ρ)/(1 − ρ) times as large
    assert blocks.se / blocks.se_iid == pytest.approx(math.sqrt(3), rel=0.2)


def test_the_same_seed_gives_the_same(daily, ranked):
    assert rank(daily, replications=1000, seed=3) == ranked
    assert rank(daily, replications=1000, seed=4)["good"].sharpe_low != ranked["good"].sharpe_low


def test_a_risk_free_rate(daily):
    annual = 1.001**252 - 1
    found = rank(daily, annual_risk_free=annual, replications=50)
    x = daily.values[:, 0]
    assert found["good"].sharpe == pytest.approx((x.mean() - 0.001) / x.std(ddof=1))
    by_rssr = rank(daily, by="rssr", annual_risk_free=annual, L=1e-4, replications=50)
    assert by_rssr["good"].value == pytest.approx((x.mean() - 0.001) ** 2 / (1e-4 + x.var(ddof=1)))
    assert by_rssr["bad"].value < 0  # signed: a loss is no gain
    assert found.settings()["risk-free rate"] == f"{1.001**252 - 1:.4g} annual, 0.001 per period"


def test_ranked_by_rssr():
    """A steady column has the larger Sharpe ratio; a large L makes RSSR prefer the larger mean."""
    g = np.random.default_rng(2)
    x = np.column_stack([0.0004 + g.normal(0, 0.001, 400), 0.004 + g.normal(0, 0.02, 400)])
    both = table(x, ["steady", "bold"])
    assert rank(both, replications=50).columns[0].name == "steady"
    by = rank(both, by="rssr", L=1e-3, replications=50)
    assert [c.name for c in by.columns] == ["bold", "steady"]
    assert by["bold"].best > 0.5
    assert by.conclusion.startswith("bold has the largest RSSR")


def test_published_data():
    """Fama and French's factors, 1926 to 2018: against pandas' own arithmetic; the market's premium is beyond doubt."""
    from arch.data import frenchdata

    factors = frenchdata.load()[["Mkt-RF", "SMB", "HML"]].reset_index(drop=True)
    found = rank(read_returns(factors, kind="returns", periods_per_year=12, scale=0.01), replications=300)
    wanted = (factors.mean() / factors.std() * math.sqrt(12)).sort_values(ascending=False)
    assert [c.name for c in found.columns] == list(wanted.index)
    for c in found.columns:
        assert c.annual_sharpe == pytest.approx(wanted[c.name])
    wealth = (1 + factors["Mkt-RF"] / 100).cumprod()
    assert found["Mkt-RF"].drawdown == pytest.approx(float((1 - wealth / wealth.cummax()).max()))
    assert found["Mkt-RF"].dsr > 0.99


# --- what is shown and kept ----------------------------------------------------------------------------------------


def test_it_prints_itself_with_scale_and_convention(ranked):
    text = " ".join(str(ranked).split())
    good = ranked["good"]
    # a year of days: the ends of intervals move by 0.06 from seed to seed, so that one decimal is shown
    assert f"[{good.annual_sharpe_low:.1f}, {good.annual_sharpe_high:.1f}]" in text
    assert f"{good.annual_sharpe_low:.2f}" not in text
    for words in (
        "simple returns per period, 0.01 = 1%; 252 periods per year", "mean × 252, volatility and Sharpe ratio × √252",
        "95%, stationary bootstrap: 1,000 resamples", "250 returns",
        "good has the largest Sharpe ratio", "the expected maximum of 3 trials without skill is",
    ):  # fmt: skip
        assert words in text
    assert "RSSR" not in text


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"L": 0, "by": "rssr"}, "L must be a finite number above 0, got 0"),
        ({"annual_risk_free": math.nan}, "annual_risk_free must be a finite number, got nan"),
        (
            {"by": "mean"},
            "by must be one of 'sharpe', 'rssr', 'mean-risk', 'sortino', 'omega', 'cvar', 'log-growth', 'israelsen', got 'mean'",
        ),
        ({"by": "sharp"}, "got 'sharp': did you mean 'sharpe'?"),
        ({"L": 1e-5}, "L=1e-05 is for by='rssr'; pass that too, or leave it out"),
        ({"aversion": 2}, "aversion=2 is for 'mean-risk', by which costs are judged, not for 'sharpe'; leave it out"),
        ({"confidence": 95}, "confidence must lie strictly between 0 and 1, got 95"),
        ({"replications": 1}, "replications must be a whole number at least 2, got 1"),
        ({"block": 0}, "must be from 1 to the 250 rows, got 0"),
        ({"seed": -1}, "seed must be a whole number at least 0, got -1"),
        ({"trials": 2}, "trials must be a whole number from 3 to 1000000000000, got 2"),
        ({"trials": 10**30}, "trials must be a whole number from 3 to 1000000000000, got 1000"),
        ({"trials_sd": 1e300}, r"trials_sd is usually about 0.5, got 1e\+300; pass at most 1000"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_bad_options(daily, options, words):
    with pytest.raises(sb.errors.InvalidInputError, match=words):
        rank(daily, **options)


def test_an_unknown_argument_lists_every_argument_once():
    with pytest.raises(sb.errors.UnknownNameError, match="did you mean 'periods_per_year'") as caught:
        rank({"A": [0.1]}, period_per_year=252)
    assert "'reading'" not in str(caught.value)
    assert str(caught.value).count("'source'") == 1


def test_what_cannot_be_ranked():
    with pytest.raises(sb.errors.InvalidInputError, match="read_returns needs kind and periods_per_year"):
        rank(pd.DataFrame({"A": [1]}))
    few = table([[0.01], [0.02], [-0.01], [0.03]], ["A"])
    with pytest.raises(sb.errors.InvalidInputError, match=r"4 returns are too few .* \(at least 20\); pass block="):
        rank(few)
    rare = np.zeros((40, 1))
    rare[7] = 0.1
    with pytest.raises(
        sb.errors.InvalidInputError, match="column 'A' varies so rarely that a resample of it does not vary"
    ):
        rank(table(rare, ["A"]), block=1)


def test_a_missing_library_is_named(daily, monkeypatch):
    monkeypatch.setitem(sys.modules, "arch", None)
    with pytest.raises(sb.SharpeBanditsError, match=r"you need arch.*pip install 'sharpe-bandits\[data\]'"):
        rank(daily)


def test_an_unknown_column(ranked):
    with pytest.raises(sb.errors.UnknownNameError, match="no column is called 'god': did you mean 'good'"):
        ranked["god"]


# --- trials, blocks, digits -------------------------------------------------------------------------------------------


def test_a_rate_is_annual(daily):
    found = rank(daily, annual_risk_free=0.05, replications=50)
    assert found.annual_risk_free == 0.05
    assert found.risk_free_per_period == pytest.approx(1.05 ** (1 / 252) - 1)


def test_trials_that_were_thrown_away(daily):
    """One column of a hundred tried: chance alone makes their Sharpe ratios scatter by 1/sqrt(n - 1)."""
    alone = rank(table(daily.values[:, :1], ["good"]), trials=100, replications=50)
    gamma, quantile = np.euler_gamma, scipy.stats.norm.ppf
    largest = (1 - gamma) * quantile(0.99) + gamma * quantile(1 - 1 / (100 * math.e))
    expected = largest / math.sqrt(249)
    assert alone.selection.expected_maximum == pytest.approx(expected)
    good = alone["good"]
    assert good.dsr == pytest.approx(scipy.stats.norm.cdf((good.sharpe - expected) / good.se_iid))
    assert "100 (99 not given, assumed to be independent); standard deviation" in alone.settings()["trials"]
    known = rank(daily, trials=100, trials_sd=0.5, replications=50)
    assert known.annual_expected_maximum == pytest.approx(0.5 * largest)
    assert "Sharpe ratios 0.50 (as given)" in known.settings()["trials"]
    with pytest.raises(sb.errors.InvalidInputError, match="trials_sd must be a finite number above 0, got 0"):
        rank(daily, trials_sd=0)


def test_copies_are_one_trial():
    x = np.random.default_rng(5).normal(0.001, 0.01, (500, 1)) + np.random.default_rng(6).normal(0, 1e-6, (500, 20))
    found = rank(table(x, [f"s{k}" for k in range(20)]), replications=50)
    assert found.selection.effective < 1.6
    assert found.columns[0].dsr == pytest.approx(found.columns[0].psr, abs=0.01)


def test_one_noisy_column_does_not_choose_the_blocks_of_all():
    g = np.random.default_rng(7)
    x = g.normal(0, 0.01, (400, 21))
    slow = np.convolve(g.normal(0, 0.01, 439), np.ones(40) / 40, "valid")
    x[:, 0] = slow
    lengths = bootstrap.optimal_block_length(statistics.influence(x))["stationary"].to_numpy()
    assert lengths.max() > 10 * np.median(lengths)
    assert rank(table(x, [f"s{k}" for k in range(21)]), replications=50).block == pytest.approx(
        max(np.median(lengths), 1)
    )


def test_no_digit_is_shown_that_another_seed_changes_much(daily):
    """The error of the ends of intervals, against rankings with other seeds; and the decimals that follow from it."""
    found = [rank(daily, replications=400, seed=seed) for seed in range(12)]
    scatter = np.std([[c.sharpe_low for c in r.columns] + [c.sharpe_high for c in r.columns] for r in found], axis=0)
    assert found[0].sharpe_error == pytest.approx(scatter.max(), rel=0.8)
    assert [console.decimals(error) for error in (0.06, 0.012, 0.0098, 0.004, 0.002, 5.0, 0.0)] == [1, 2, 2, 2, 3, 0, 3]


def test_intervals_for_all_columns_and_times_at_once():
    x = np.random.default_rng(6).normal([0.002, 0.0], 0.01, (400, 2))
    x[:, 1] += 0.4 * np.roll(x[:, 1], 1)
    found = sb.rank(sb.read_returns(x, names=["a", "b"], kind="returns", periods_per_year=252), replications=100)
    for k, name in enumerate(("a", "b")):
        alone = sb.confidence_sequence(x[:, k], alpha=0.05, arms=2, autocorrelated=True)
        assert found[name].annual_anytime_low == pytest.approx(alone.low[-1] * math.sqrt(252), rel=1e-9)
        assert found[name].annual_anytime_high == pytest.approx(alone.high[-1] * math.sqrt(252), rel=1e-9)
        assert found[name].annual_anytime_low < found[name].annual_sharpe_low
    few = sb.rank(sb.read_returns(x[:30], names=["a", "b"], kind="returns", periods_per_year=252), replications=100)
    assert few["a"].annual_anytime_low is None  # too early


# --- the headline ---------------------------------------------------------------------------------------------------


def _autoregressive(rho, rows, columns, seed):
    noise = np.random.default_rng(seed).normal(size=(rows + 50, columns))
    for t in range(1, len(noise)):
        noise[t] += rho * noise[t - 1]
    return 0.01 * noise[50:]


def test_the_headline_allows_for_autocorrelation_where_it_is_found():
    x = np.hstack([_autoregressive(0.6, 480, 1, 1) + 0.004, _autoregressive(0.0, 480, 1, 2) + 0.003])
    ranking = rank(read_returns(x, names=["smooth", "plain"], kind="returns", periods_per_year=12), replications=200)
    smooth, plain = ranking["smooth"], ranking["plain"]
    assert smooth.autocorrelated
    assert not plain.autocorrelated
    assert smooth.adjusted_sharpe == smooth.annual_sharpe_robust < 0.8 * smooth.annual_sharpe
    assert plain.adjusted_sharpe == plain.annual_sharpe
    assert (smooth.psr, smooth.dsr) == (smooth.psr_robust, smooth.dsr_robust)
    assert (plain.psr, plain.dsr) == (plain.psr_iid, plain.dsr_iid)
    # the record needed grows as the square of the standard error
    z = scipy.stats.norm.ppf(0.95)
    assert smooth.track_record == pytest.approx(1 + 479 * (z * smooth.se / smooth.sharpe) ** 2)
    assert smooth.track_record > 1.8 * (1 + 479 * (z * smooth.se_iid / smooth.sharpe) ** 2)
    text = str(ranking)
    assert f"{smooth.annual_sharpe:.2f}*" in text
    assert f" {smooth.annual_sharpe_robust:.2f} " in text
    assert "autocorrelat" in text
    assert "*" not in str(rank(read_returns(x[:, 1:], names=["plain"], kind="returns", periods_per_year=12)))


def test_order_and_interval_belong_to_the_ratio_that_is_shown():
    """Blocks of the median length are too short for the only autocorrelated column."""
    x = np.hstack([_autoregressive(0.6, 240, 1, 1) + 0.006, _autoregressive(0.0, 240, 4, 2) + 0.003])
    ranking = rank(x, names=list("abcde"), kind="returns", periods_per_year=12, replications=500)
    shown = [column.annual_sharpe for column in ranking.columns]
    assert shown == sorted(shown, reverse=True)
    smooth = ranking["a"]
    assert smooth.autocorrelated
    assert smooth.sharpe_high - smooth.sharpe_low == pytest.approx(2 * 1.96 * smooth.se, rel=0.1)
    difference = sb.compare(ranking.returns, replications=100).differences[0]
    implied = ranking[difference.first].annual_sharpe - ranking[difference.second].annual_sharpe
    assert difference.difference == pytest.approx(implied)


@pytest.mark.parametrize("by", ["cvar", "log-growth"])
def test_costs_are_ranked_by_any_criterion_that_does_not_reward_their_risk(by):
    costs = np.random.default_rng(1).normal([5, 6], [1, 4], (100, 2)) / 1e4
    ranking = rank(
        costs, names=["A", "B"], kind="returns", periods_per_year=252, direction="min", by=by, replications=100
    )
    assert ranking.columns[0].name == "A"
    if by == "cvar":
        assert ranking["B"].value == pytest.approx(1e4 * np.sort(costs[:, 1])[-5:].mean())
    with pytest.raises(sb.errors.InvalidInputError, match="rewards risk"):
        rank(costs, names=["A", "B"], kind="returns", periods_per_year=252, direction="min", by="sortino")


def test_where_all_columns_lose_there_is_no_verdict_and_the_remedies_work():
    x = np.random.default_rng(1).normal([-0.004, -0.003], [0.004, 0.02], (200, 2))
    table = read_returns(x, names=["A", "B"], kind="returns", periods_per_year=252)
    assert "significant" not in sb.compare(table, replications=100).conclusion
    assert "ignificant" in sb.compare(table, replications=100, by="mean-risk").conclusion
    played = sb.replay(table, runs=2)
    assert "learly" not in played.conclusion
    (said,) = [remark for remark in played.remarks if "below 0" in remark]
    policy = said.split("policies=['")[1].split("']")[0]
    (cautious,) = sb.replay(table, [policy], runs=2, paths="starts", length=150).policies
    assert cautious.shares["A"] > 0.5  # the riskier column has the larger ratio


def test_one_column_is_not_said_to_rank_first():
    alone = str(rank({"A": _autoregressive(0, 100, 1, 3)[:, 0]}, kind="returns", periods_per_year=12))
    assert "first" not in alone


def test_where_every_mean_is_below_the_hurdle_the_first_line_says_so():
    """Execution costs in bp: the dearest and riskiest has the largest Sharpe ratio."""
    generator = np.random.default_rng(1)
    costs = {"VWAP": (4, 9), "TWAP": (4.6, 8), "IS": (3.6, 14), "POV": (5.5, 25)}
    table = {name: -generator.normal(mean, sd, 4000) / 1e4 for name, (mean, sd) in costs.items()}
    ranking = rank(table, kind="returns", periods_per_year=252, replications=100)
    assert ranking.columns[0].name == "POV"  # what the remark is about
    assert "below 0" in str(ranking).lstrip().splitlines()[0]
    # its remedy shows what to compare
    full = str(rank(table, kind="returns", periods_per_year=252, replications=100, full=True))
    assert "annualised mean" in full
    assert "annualised volatility" in full
    lifted = {name: x + 0.0005 for name, x in table.items()}
    assert "below" not in str(rank(lifted, kind="returns", periods_per_year=252, replications=100)).splitlines()[0]
    hurdle = rank(lifted, kind="returns", periods_per_year=252, replications=100, annual_risk_free=0.5)
    assert "below the hurdle" in str(hurdle).lstrip().splitlines()[0]


def test_the_name_of_a_rate_says_what_it_is():
    """Policies and objectives have a risk_free per round: the same name for an annual rate would be a trap."""
    with pytest.raises(sb.errors.InvalidInputError, match="pass annual_risk_free=, the annual rate"):
        rank({"A": [0.01, 0.02, 0.0] * 20}, kind="returns", periods_per_year=12, risk_free=0.02)
