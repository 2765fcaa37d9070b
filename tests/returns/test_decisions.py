"""Decisions at a frequency of one's own, several columns at once, costs, warm-up, unequal histories, and the log."""

import numpy as np
import pandas as pd
import pytest

import sharpe_bandits as sb
from sharpe_bandits.returns import statistics
from sharpe_bandits.returns.decisions import compounded, drifting, starts
from sharpe_bandits.returns.playing import EQUAL, LEADER, follow_the_leader
from sharpe_bandits.returns.yardstick import Yardstick
from tests.returns.market import DAYS, market, table, with_dates
from tests.returns.replayed import orders


@pytest.fixture(scope="module")
def daily():
    return with_dates()


# --- when -------------------------------------------------------------------------------------------------------------


def test_first_rows_of_decision_periods():
    assert starts(10, 3, 0, None).tolist() == [0, 3, 6, 9]
    assert starts(10, 3, 4, None).tolist() == [1, 4, 7]
    days = DAYS.to_numpy()
    months = starts(300, "month", 0, days)
    assert months.tolist() == np.flatnonzero(~pd.Series(DAYS.to_period("M")).duplicated()).tolist()
    for every, period in (("week", "W-SUN"), ("quarter", "Q"), ("year", "Y")):
        assert len(starts(300, every, 0, days)) == DAYS.to_period(period).nunique()
    assert 30 in starts(300, "month", 30, days)


def test_weights_that_drift_are_no_trades():
    """Not even of rounding errors: rows of the log with a trade are those of decisions."""
    x = market()[:100]
    begins = np.arange(0, 100, 7)
    weights = drifting(np.full((len(begins), x.shape[1]), 1 / x.shape[1]), x, begins)
    assert np.flatnonzero(statistics.trades(weights, x).any(axis=1)).tolist() == begins[1:].tolist()


def test_returns_over_periods_and_weights_within_them():
    x = np.array([[0.1, 0.0], [0.2, np.nan], [0.0, np.nan], [0.5, np.nan], [-0.5, 0.1]])
    np.testing.assert_allclose(compounded(x, np.array([0, 3])), [[0.32, 0.0], [-0.25, np.nan]])
    weights = drifting(np.array([[0.5, 0.5], [1, 0]]), np.nan_to_num(x), np.array([0, 3]))
    np.testing.assert_allclose(weights, [[0.5, 0.5], [1.1 / 2.1, 1 / 2.1], [1.32 / 2.32, 1 / 2.32], [1, 0], [1, 0]])
    np.testing.assert_allclose(
        statistics.trades(weights, np.nan_to_num(x)).sum(axis=1), [0, 0, 0, 2 / 2.32, 0], atol=1e-15
    )


def test_weekly_decisions_on_daily_rows(daily):
    found = sb.replay(daily, ["SF-UCB"], every="week", runs=5, cost=0.01)
    weeks = DAYS.to_period("W-SUN")
    held = found["SF-UCB"].held.columns[:, 0]
    assert all(len(set(held[weeks == week])) == 1 for week in weeks.unique())
    # the same choices as on a table of weekly returns
    frame = pd.DataFrame(daily.values, columns=list("abcd"))
    weekly = frame.groupby(weeks).apply(lambda part: (1 + part).prod() - 1)
    coarse = sb.replay(
        sb.read_returns(weekly.to_numpy(), names=list("abcd"), kind="returns", periods_per_year=52), ["SF-UCB"],
        runs=5, cost=0.01, L=found.L,
    )  # fmt: skip
    assert found["SF-UCB"].total == pytest.approx(coarse["SF-UCB"].total, rel=1e-9)
    assert found[EQUAL].total == pytest.approx(coarse[EQUAL].total, rel=1e-9)
    assert "every week; a round of a policy is one such period" in str(found)
    assert sb.replay(daily, ["SHSR"], every=5, runs=2)["SHSR"].annual_turnover < 252 / 5


def test_what_cannot_be_decided(daily):
    values = table(market())
    for options, words in (
        ({"every": "month"}, "the table has no dates; pass a number of rows"),
        ({"every": "fortnight"}, "one of week, month, quarter, year, got 'fortnight'"),
        ({"every": 200}, "leaves 2 decisions in 300 rows"),
        ({"top": 4}, "top must be a whole number from 1 to 3"),
        ({"cost": -1}, "cost must be from 0 to below 1"),
        ({"policies": ["SHSR"], "top": 2}, "SHSR plays one arm at a time"),
        ({"warm_up": 299}, "warm_up must be a whole number from 0 to 297"),
    ):
        with pytest.raises(sb.errors.InvalidInputError, match=words):
            sb.replay(values, **{"policies": ["SF-UCB"], "runs": 2, **options})
    with pytest.raises(sb.errors.InvalidInputError, match="runs are not played on the recorded rows"):
        sb.replay(daily, ["SF-UCB"], runs=2, every="month", paths="blocks", block=5)
    with pytest.raises(sb.errors.UnknownNameError, match="no column is called 'x'"):
        sb.replay(values, ["SF-UCB"], runs=2, cost={"x": 0.1})


def test_columns_without_a_cost_are_free(daily):
    assert sb.replay(daily, ["SF-UCB"], runs=2, cost={"b": 0.1}).cost == {"a": 0.0, "b": 0.1, "c": 0.0, "d": 0.0}


# --- what it costs, and the log ---------------------------------------------------------------------------------------


def test_dates_of_a_log_are_in_one_form(daily):
    """With the time of day also at midnight, so that other programs read them."""
    hours = pd.date_range("2024-01-01 23:00", periods=300, freq="h")
    frame = pd.DataFrame(daily.values, index=hours, columns=list("abcd"))
    found = sb.replay(frame, "SF-UCB", kind="returns", periods_per_year=8760, runs=2)
    assert [row["date"] for row in found.log("SF-UCB").records()][:2] == ["2024-01-01T23:00:00", "2024-01-02T00:00:00"]
    assert sb.replay(daily, "SF-UCB", runs=2).log("SF-UCB").records()[0]["date"] == str(DAYS[0].date())


def test_costs_by_column_and_the_log(daily):
    costs = {"a": 0.001, "b": 0.002, "c": 0.003, "d": 0.004}
    found = sb.replay(daily, ["SF-UCB", "ScaleFreeTS"], runs=5, cost=costs)
    log = found.log("SF-UCB").to_pandas()
    values = pd.DataFrame(daily.values, columns=list("abcd"))
    assert log["date"].tolist() == [str(d)[:10] for d in daily.dates]
    gross = [values.loc[row, name] for row, name in enumerate(log["held"])]
    np.testing.assert_allclose(log["gross"], gross, rtol=1e-12)
    each = log["held"].map(costs).to_numpy()
    switched = log["held"][1:].to_numpy() != log["held"][:-1].to_numpy()
    paid = np.concatenate([[0], np.where(switched, (each[1:] + each[:-1]) / 2, 0)])
    np.testing.assert_allclose(log["cost"], paid, atol=1e-15)
    np.testing.assert_allclose(log["net"], log["gross"] - paid * (1 + log["gross"]), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(log["wealth"], np.cumprod(1 + log["net"]), rtol=1e-12)
    assert log["wealth"].iloc[-1] - 1 == pytest.approx(found["SF-UCB"].total, rel=1e-9)  # an odd number of runs
    switches = found.switches("SF-UCB").to_pandas()
    assert len(switches) == switched.sum()
    assert switches["to"][0] == log.set_index("date")["held"][switches["date"][0]]
    assert set(found.log(EQUAL).to_pandas()["held"]) == {"all"}
    assert found.log(LEADER).to_pandas()["held"][0] == "all"
    drawdowns = found["SF-UCB"].drawdowns
    assert drawdowns.max() == pytest.approx(statistics.drawdown(log["net"].to_numpy()), rel=1e-12)


def test_a_portfolio_of_two(daily):
    found = sb.replay(daily, ["SF-UCB"], runs=3, top=2, cost=0.001)
    log = found.log("SF-UCB").to_pandas()
    values = pd.DataFrame(daily.values, columns=list("abcd"))
    gross = [values.loc[row, name.split(" + ")].mean() for row, name in enumerate(log["held"])]
    np.testing.assert_allclose(log["gross"], gross, atol=1e-15)
    assert sum(found["SF-UCB"].shares.values()) == pytest.approx(1)
    # by hand: what is left after drift, and what is bought
    row = int(np.flatnonzero(log["held"][1:].to_numpy() != log["held"][:-1].to_numpy())[0]) + 1
    before, after = log["held"][row - 1].split(" + "), log["held"][row].split(" + ")
    grown = {name: 0.5 * (1 + values.loc[row - 1, name]) for name in before}
    weights = {name: w / sum(grown.values()) for name, w in grown.items()}
    moved = sum(abs((name in after) * 0.5 - weights.get(name, 0)) for name in "abcd") / 2
    assert log["traded"][row] == pytest.approx(moved, rel=1e-12)
    assert log["cost"][row] == pytest.approx(0.001 * moved, rel=1e-12)


def test_the_warm_up_is_seen_and_not_counted(daily):
    found = sb.replay(daily, ["SF-UCB"], runs=3, warm_up=100)
    assert len(found.log("SF-UCB")) == 200
    assert found.dates[0] == daily.dates[100]
    later = table(daily.values[100:])
    assert found[EQUAL].sharpe == pytest.approx(sb.replay(later, ["SF-UCB"], runs=2)[EQUAL].sharpe, rel=1e-9)
    leader = follow_the_leader(daily.values, Yardstick())[100:]
    assert found[LEADER].held.gross.tolist() == (leader * daily.values[100:]).sum(axis=1).tolist()
    held = found["SF-UCB"].held.columns[:, 0]
    assert len(set(held[:4].tolist())) < 4  # all columns are known already: no pilot


def test_unequal_histories(daily):
    x = daily.values.copy()
    x[:100, 1] = x[200:, 2] = np.nan
    frame = pd.DataFrame(x, index=DAYS, columns=list("abcd"))
    found = sb.replay(frame, ["SF-UCB"], kind="returns", periods_per_year=252, missing="keep", runs=3)
    held = found["SF-UCB"].held.columns[:, 0]
    assert 1 not in held[:100]
    assert 2 not in held[200:]
    equal = np.nanmean(x, axis=1)
    np.testing.assert_allclose(found[EQUAL].held.gross, equal, atol=1e-15)
    assert found["best in hindsight"].rule.startswith("d, whose")  # of a and d, which are there throughout
    assert "of the columns with a return in every row" in found["best in hindsight"].rule
    with pytest.raises(sb.errors.InvalidInputError, match="needs columns with the same history"):
        sb.replay(frame, ["SF-UCB"], kind="returns", periods_per_year=252, missing="keep", paths="blocks", runs=2)


def test_a_gap_in_prices_is_spanned_by_the_next_return(daily):
    prices = 100 * np.cumprod(1 + daily.values, axis=0)
    prices[50:53, 0] = np.nan
    frame = pd.DataFrame(prices, index=DAYS, columns=list("abcd"))
    found = sb.replay(frame, ["SF-UCB"], kind="prices", periods_per_year=252, missing="keep", runs=2)
    gross = found[EQUAL].held.gross
    np.testing.assert_allclose(gross[49:52], daily.values[50:53, 1:].sum(axis=1) / 4, atol=1e-12)
    spanned = prices[53, 0] / prices[49, 0] - 1
    assert gross[52] == pytest.approx((spanned + daily.values[53, 1:].sum()) / 4)


def test_what_was_not_observed_is_not_replayed(daily):
    """One venue per trade: three quarters of the table are missing, and were once filled with 0."""
    x = np.full(daily.values.shape, np.nan)
    venue = np.random.default_rng(1).integers(4, size=len(x))
    x[np.arange(len(x)), venue] = daily.values[np.arange(len(x)), venue]
    with pytest.raises(sb.errors.InvalidInputError, match="cannot be replayed") as caught:
        sb.replay(dict(zip("abcd", x.T, strict=True)), kind="returns", periods_per_year=252, missing="keep", runs=2)
    assert "missing=" not in str(caught.value)  # no row is complete, and returns were not 0
    few = daily.values.copy()
    few[50, 0] = np.nan
    for remedy in ("drop", "fill"):
        sb.replay(dict(zip("abcd", few.T, strict=True)), ["SF-UCB"], kind="returns", periods_per_year=252,
                  missing=remedy, runs=2)  # fmt: skip


class TestLag:
    """Decided on one row, traded on a later one."""

    @pytest.mark.parametrize("lag", [1, 3])
    def test_a_policy_learns_of_a_return_so_many_rows_later(self, daily, lag):
        policy = sb.ScaleFreeUCB(L=1e-5)
        found = sb.replay(daily, [policy], lag=lag, runs=2, seed=4)["SF-UCB"]
        order = orders(4, 2, 4)[found.typical]
        tape = sb.Tape(daily.values.T[order], clock="rounds")
        late = sb.trace(policy, tape, horizon=len(daily), seed=4, run=found.typical, delay=lag)
        np.testing.assert_array_equal(found.held.columns[:, 0], order[late.choices])
        now = sb.replay(daily, [policy], runs=2, seed=4)["SF-UCB"]
        assert (now.held.columns != found.held.columns).any()

    @pytest.mark.parametrize("options", [{}, {"top": 2}])
    def test_a_return_changes_no_holding_before_the_lag_is_over(self, daily, options):
        row, lag = 150, 2
        changed = daily.values.copy()
        changed[row] = [0.2, -0.2, 0.2, -0.2]
        for name in ("SF-UCB", LEADER):
            before, after = (
                sb.replay(
                    sb.read_returns(x, names=list("abcd"), kind="returns", periods_per_year=252), ["SF-UCB"], lag=lag,
                    runs=2, L=1e-5, feedback="full", **options,
                ).weights(name)
                for x in (daily.values, changed)
            )  # fmt: skip
            held = [
                [{column: weight for column, weight in list(record.items())[1:] if weight} for record in t.records()]
                for t in (before, after)
            ]
            assert held[0][: row + 1 + lag] == held[1][: row + 1 + lag]
            assert held[0] != held[1]

    def test_what_does_not_go_together(self, daily):
        with pytest.raises(sb.errors.InvalidInputError, match="lag=1 with bandit feedback"):
            sb.replay(daily, ["SF-UCB"], lag=1, top=2, runs=2)
        full = sb.replay(daily, ["SF-UCB"], lag=1, top=2, runs=2, feedback="full")
        at_once = sb.replay(daily, ["SF-UCB"], top=2, runs=2, feedback="full")
        late, early = (found["SF-UCB"].held.columns for found in (full, at_once))
        assert (late[1:] == early[:-1]).all()  # the same decisions, a row later


def test_weights_of_every_row(daily):
    found = sb.replay(daily, ["SF-UCB"], runs=2, every=5, top=2)
    for name in ("SF-UCB", EQUAL, LEADER):
        weights = found.weights(name)
        x = np.array([row[1:] for row in weights.rows])
        np.testing.assert_allclose(x.sum(axis=1), 1, atol=1e-6)
        own = [daily.names.index(column) for column in weights.columns[1:]]
        gross = (x * daily.values[:, own]).sum(axis=1)
        np.testing.assert_allclose(gross, [row["gross"] for row in found.log(name).records()], atol=1e-7)
    one = sb.replay(daily, ["SF-UCB"], runs=2).weights("SF-UCB")
    assert {value for row in one.rows for value in row[1:]} == {0.0, 1.0}


def test_columns_are_quoted_over_the_rows_that_are_played(daily):
    found = sb.replay(daily, ["SF-UCB"], runs=2, warm_up=100)
    expected = statistics.sharpe(daily.values[100:]) * np.sqrt(252)
    np.testing.assert_allclose(found.annual_sharpes, expected)
    paid = sb.replay(daily, ["SF-UCB"], runs=2, warm_up=100, cost=0.5)[EQUAL].held.cost
    assert paid[0] == 0  # the first purchase is free
    assert (paid[1:] > 0).all()


def test_where_every_column_loses_the_first_line_says_so(daily):
    lower = sb.read_returns(daily.values - 0.01, names=list("abcd"), kind="returns", periods_per_year=252)
    found = sb.replay(lower, ["SF-UCB"], runs=2)
    assert str(found).startswith(f"Check: {found.remarks[0][:40]}")
    assert sb.replay(daily, ["SF-UCB"], runs=2).remarks == ()


def test_a_series_of_rates(daily):
    frame = pd.DataFrame(daily.values, index=DAYS, columns=list("abcd"))
    rated = sb.read_returns(frame.assign(RF=1e-4), kind="returns", periods_per_year=252, risk_free_series="RF")
    series = sb.replay(rated, ["SF-UCB"], runs=3, L=1e-5)
    constant = sb.replay(daily, ["SF-UCB"], annual_risk_free=1.0001**252 - 1, runs=3, L=1e-5)
    for name in ("SF-UCB", EQUAL, LEADER):
        for key in ("sharpe", "se", "total", "annual_difference"):
            assert getattr(series[name], key) == pytest.approx(getattr(constant[name], key), rel=1e-6), (name, key)


def test_files_and_page(daily, tmp_path):
    found = sb.replay(daily, ["SF-UCB"], runs=3, every="week", top=2)
    found.report(tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    assert {"log.csv", "timeline.svg", "timeline.png", "drawdown.svg", "replay.html"} <= names
    page = (tmp_path / "replay.html").read_text()
    assert "Holdings over time" in page
    assert "SF-UCB switched" in page
    log = pd.read_csv(tmp_path / "log.csv")
    assert set(log["player"]) == {p.name for p in found.players}
    assert len(log) == 300 * len(found.players)
    assert "<table>" in found._repr_html_()
