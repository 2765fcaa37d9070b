"""Tables that can be read but cannot be meant, or may be mistaken: refused or remarked on, and nothing else is."""

import datetime

import numpy as np
import pandas as pd
import pytest

import sharpe_bandits as sb
from sharpe_bandits.cli.program import main
from sharpe_bandits.returns.dates import time_of
from sharpe_bandits.returns.plausibility import rows_per_year

ROWS = 400
DAYS = pd.bdate_range("2018-01-01", periods=ROWS)


def prices(columns=3, rows=ROWS, seed=0):
    g = np.random.default_rng(seed)
    x = 100 * np.cumprod(1 + g.normal(0.0004, 0.01, (rows, columns)), axis=0)
    return pd.DataFrame(x, columns=[chr(ord("A") + k) for k in range(columns)])


def read(frame, **options):
    return sb.read_returns(frame, **{"kind": "prices", "periods_per_year": 252, **options})


@pytest.mark.parametrize("scale", [None, 1, 0.01, 0.0001])
@pytest.mark.parametrize("rows", [10, ROWS])
def test_prices_are_not_returns_in_any_scale(scale, rows):
    with pytest.raises(sb.errors.InvalidInputError, match="pass kind='prices'"):
        read(prices(rows=rows), kind="returns", scale=scale)


# --- time that is not a date ------------------------------------------------------------------------------------------


def of_days(days):
    """The days in forms that are no dates."""
    seconds = (days - pd.Timestamp("1970-01-01")) // pd.Timedelta("1s")
    return {
        "seconds since 1970": seconds,
        "milliseconds since 1970": seconds * 1000,
        "nanoseconds since 1970": seconds * 10**9,
        "spreadsheet date serial numbers": (days - pd.Timestamp("1899-12-30")).days,
        "decimal years": days.year + (days.day_of_year - 1) / 365.25,
    }


TIMES = of_days(DAYS)


@pytest.mark.parametrize("what", TIMES)
@pytest.mark.parametrize("backwards", [False, True])
def test_time_that_is_no_date_is_no_strategy(what, backwards, tmp_path):
    frame = prices()
    times = np.asarray(TIMES[what])
    frame.insert(0, "when", times[::-1] if backwards else times)
    path = tmp_path / "prices.csv"
    frame.to_csv(path, index=False)
    for source in (frame, path):
        with pytest.raises(
            sb.errors.InvalidInputError, match=rf"column 'when' seems to hold {what} .*columns=.*: columns=\['A', 'B'"
        ):
            read(source)
    if not backwards:
        assert read(path, columns=["A", "B"]).names == ("A", "B")


@pytest.mark.parametrize("step", ["W", "MS", "QS", "YS"])
def test_spreadsheet_dates_at_other_frequencies(step):
    days = pd.date_range("2000-01-01", periods=20, freq=step)
    assert time_of(np.asarray((days - pd.Timestamp("1899-12-30")).days, float)) is not None


def test_years_can_be_read_as_such():
    frame = prices().iloc[:30].assign(year=range(1990, 2020))[["year", "A", "B"]]
    with pytest.raises(
        sb.errors.InvalidInputError, match="pass date='year' and date_format='%Y' if it holds the dates"
    ):
        read(frame)
    found = read(frame, date="year", date_format="%Y", periods_per_year=1)
    assert (found.names, str(found.dates[-1])[:10]) == (("A", "B"), "2019-01-01")


def test_prices_are_no_time():
    assert time_of(np.array([34000.0, 34250.0, 34600.0, 35100.0])) is None  # an index that rises
    assert time_of(np.linspace(100, 130, 50)) is None
    assert time_of(np.array([2000.0, 2013.0, 2020.0, 2044.0])) is None
    assert time_of(np.array([1.5e9, 1.6e9, 1.55e9, 1.7e9])) is None


# --- rows that run backwards ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["%d/%m/%Y", "%m/%d/%Y", "%d-%b-%Y", "%b %d, %Y", "%Y%m%d"])
def test_newest_first_in_a_form_that_is_not_read(form, tmp_path, capsys):
    frame = prices()
    frame.insert(0, "Date", [day.strftime(form) for day in DAYS])
    path, turned = tmp_path / "prices.csv", tmp_path / "turned.csv"
    frame.to_csv(path, index=False)
    frame[::-1].to_csv(turned, index=False)
    options = ["--kind", "prices", "--periods-per-year", "252", "--columns", "A", "B"]
    assert main(["rank", str(turned), *options]) == 2
    said = capsys.readouterr().err
    assert "the dates in column 'Date' were not read, and they are not in order: returns would run backwards" in said
    forward = read(path, columns=["A", "B"])
    assert forward.remarks == ()
    with pytest.raises(sb.errors.InvalidInputError, match="they are not in order"):
        read(frame[::-1].set_index("Date"), columns=["A"])


def test_dates_in_no_order_and_columns_that_are_no_dates():
    frame = prices()
    frame["Date"] = np.random.default_rng(0).permutation([day.strftime("%d/%m/%Y") for day in DAYS])
    with pytest.raises(sb.errors.InvalidInputError, match="column 'Date' were not read, and they are not in order"):
        read(frame, columns=["A", "B"])
    frame["Date"] = ["x"] * ROWS
    assert read(frame, columns=["A", "B"]).notes == ()
    frame["Date"] = frame["C"][::-1].to_numpy()
    assert read(frame, columns=["A", "B"]).notes == ()
    frame["Date"] = np.inf
    assert read(frame, columns=["A", "B"]).notes == ()


def test_dates_of_python_and_digits_newest_first():
    frame = prices()[["A", "B"]]
    frame["day"] = [datetime.date(2020, 1, 1) - datetime.timedelta(days=k) for k in range(ROWS)]
    with pytest.raises(sb.errors.InvalidInputError, match="they are not in order"):
        read(frame, columns=["A", "B"])


# --- how many rows make a year ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("freq", "per_year", "seen"),
    [("D", 252, "365"), ("D", 260, "365"), ("D", 365, None), ("B", 365, "261"), ("B", 252, None), ("B", 260, None),
     ("W", 52, None), ("W", 12, "52.2"), ("MS", 12, None), ("MS", 4, "12"), ("QS", 4, None)],
)  # fmt: skip
def test_rows_a_year_are_measured(freq, per_year, seen):
    frame = prices().set_index(pd.date_range("2010-01-01", periods=ROWS, freq=freq))
    remarks = read(frame, periods_per_year=per_year).remarks
    if seen is None:
        assert remarks == ()
    else:
        (remark,) = remarks
        assert (
            f"periods_per_year={per_year}, but according to its dates the table has {seen} rows per year; pass"
            in remark
        )


def test_holes_do_not_count_as_a_frequency():
    days = np.array(DAYS, "datetime64[D]")
    days[200:] += np.timedelta64(364, "D")
    assert rows_per_year(days) == pytest.approx(261, abs=2)


# --- prices that are out ----------------------------------------------------------------------------------------------


def test_a_price_that_is_out_by_a_factor():
    """A point that was forgotten: +9,900%, and back."""
    frame = prices().set_index(DAYS)
    frame.iloc[100, 1] *= 100
    (remark,) = read(frame).remarks
    assert remark.startswith("column 'B', row 101 of 400 (2018-05-21): a return of +")
    assert "a move that the next row reverses; correct the price if it is wrong" in remark
    frame = prices().set_index(DAYS)
    frame.iloc[100:, 1] *= 100
    (remark,) = read(frame).remarks
    assert "what a split looks like in unadjusted prices" in remark
    frame.iloc[100:, 1] *= 0.37
    (remark,) = read(frame).remarks
    assert "hardly plausible; correct it if it is wrong" in remark


@pytest.mark.parametrize("factor", [1 / 2, 1 / 3, 1 / 10, 5])
def test_a_split_that_prices_are_not_adjusted_for(factor):
    frame = prices(seed=3)
    frame.iloc[250:, 2] *= factor
    (remark,) = read(frame).remarks
    assert remark.startswith("column 'C', row 251 of 400: a return of")
    assert "use adjusted prices" in remark
    adjusted = frame.pct_change().iloc[1:]
    (remark,) = sb.read_returns(adjusted, kind="returns", periods_per_year=252, scale=1.0).remarks
    assert "use adjusted prices" in remark


@pytest.mark.parametrize(
    ("rows", "when"), [(slice(300, None), "100 rows, row 301"), (slice(None, 60), "59 rows, row 2")]
)
def test_a_column_that_does_not_change_for_long(rows, when):
    frame = prices()
    frame.iloc[rows, 0] = frame.iloc[299 if rows.stop is None else 59, 0]
    (remark,) = read(frame).remarks
    assert remark.startswith(f"column 'A' does not change in {when} of 400 to row ")
    assert read(frame, columns=["B", "C"]).remarks == ()


def test_a_column_that_seldom_changes_is_not_flat():
    g = np.random.default_rng(1)
    x = g.normal(0, 0.01, (ROWS, 2))
    x[g.random(ROWS) < 0.7, 0] = 0
    x[-8:, 0] = 0
    assert sb.read_returns(x, names=["a", "b"], kind="returns", periods_per_year=252).remarks == ()


# --- what is no price -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["Volume", "volume", "SPY Volume", "spy_volume", "Vol", "Open Interest"])
def test_volumes_by_their_name(name):
    frame = prices()
    frame[name] = np.random.default_rng(2).integers(10**6, 10**7, ROWS)
    with pytest.raises(
        sb.errors.InvalidInputError, match=f"column '{name}' seems to hold volumes, not prices; pass columns="
    ):
        read(frame)
    assert read(frame, columns=["A", "B"]).remarks == ()


@pytest.mark.parametrize("name", ["log_ret", "logret", "LogReturns", "AAPL_log", "ln_return"])
def test_logarithmic_returns_by_their_name(name):
    x = {name: np.random.default_rng(0).normal(0, 0.01, 100)}
    (remark,) = sb.read_returns(x, kind="returns", periods_per_year=252).remarks
    assert "kind='log-returns'" in remark
    as_said = sb.read_returns(x, kind="log-returns", periods_per_year=252)
    np.testing.assert_allclose(as_said.values[:, 0], np.expm1(x[name]))
    assert as_said.remarks == ()


def test_logarithmic_returns_by_a_loss_of_more_than_all():
    x = {"A": np.log([0.3, 1.1, 0.9, 1.2])}
    with pytest.raises(sb.errors.InvalidInputError, match=r"a loss of more than 100%.*logarithmic, kind='log-returns'"):
        sb.read_returns(x, kind="returns", periods_per_year=252)


# --- nothing is remarked on without reason ----------------------------------------------------------------------------


def garch(g, rows, columns):
    x, variance = np.empty((rows, columns)), np.full(columns, 1e-4)
    for row in range(rows):
        x[row] = np.sqrt(variance) * g.standard_normal(columns)
        variance = 1e-4 * 0.03 + 0.09 * x[row] ** 2 + 0.88 * variance
    return x


@pytest.mark.parametrize(
    ("draw", "per_year", "freq"),
    [
        (lambda g: g.normal(0.0003, 0.01, (2500, 50)), 252, "B"),
        (lambda g: 0.01 * g.standard_t(4, (2500, 50)), 252, "B"),
        (lambda g: garch(g, 2500, 50), 252, "B"),
        (lambda g: 0.04 * g.standard_t(6, (360, 50)), 12, "MS"),
        (lambda g: g.normal(0, 0.02, (500, 50)).round(2), 52, "W"),  # many zeros
        (lambda g: g.normal(0, 0.05, (1000, 20)), 365, "D"),
    ],
    ids=["normal", "t", "garch", "months", "rounded", "crypto"],
)
def test_no_false_remark_on_simulated_returns(draw, per_year, freq):
    for seed in range(3):
        x = draw(np.random.default_rng(seed))
        frame = pd.DataFrame(x, columns=[f"s{k}" for k in range(x.shape[1])])
        frame.index = pd.date_range("1995-01-01", periods=len(x), freq=freq)
        returns = sb.read_returns(frame, kind="returns", periods_per_year=per_year, scale=1.0)
        assert (returns.remarks, returns.notes) == ((), ())


def test_the_stocks_of_the_worked_example():
    """One of them does have a flaw: RRC stands still for its first 68 rows, then falls to a third in one."""
    datasets = pytest.importorskip("skfolio.datasets", reason="the prices are inside skfolio")
    frame = datasets.load_sp500_dataset()
    returns = read(frame)
    assert [remark.split(",")[0].split(" does")[0] for remark in returns.remarks] == ["column 'RRC'"] * 2
    assert "a return of -66.7% is what a split looks like" in returns.remarks[0]
    assert "does not change in 68 rows, row 2 of 8313 (1990-01-03) to row 69 of 8313 (1990-04-09)" in returns.remarks[1]
    assert frame["RRC"].iloc[:69].nunique() == 1
    assert read(frame.drop(columns="RRC")).remarks == ()


def test_remarks_stand_on_top(tmp_path):
    frame = prices().set_index(DAYS)
    frame.iloc[250:, 2] /= 2
    frame.to_csv(tmp_path / "prices.csv", index_label="date")
    returns = read(tmp_path / "prices.csv")
    ranking, played = sb.rank(returns, replications=50), sb.replay(returns, "RoundRobin", runs=2)
    for result, page in ((ranking, "ranking.html"), (played, "replay.html")):
        assert str(result).startswith("Check: column 'C', line 252")
        result.report(tmp_path / "out")
        text = (tmp_path / "out" / page).read_text()
        assert text.index("Check: column") < text.index('class="lead"')


def test_a_hole_in_the_calendar_is_remarked_on():
    start = np.datetime64("2020-01-01")
    dates = [str(start + np.timedelta64(k + 150 * (k > 40), "D")) for k in range(100)]
    table = {"date": dates, "A": np.random.default_rng(0).normal(0, 0.01, 100)}
    (remark,) = sb.read_returns(table, kind="returns", periods_per_year=365).remarks
    assert remark.startswith("there are 151 days between row 41 of 100 (2020-02-10) and row 42 of 100")
    after = {name: column[41:] for name, column in table.items()}
    assert sb.read_returns(after, kind="returns", periods_per_year=365).remarks == ()
