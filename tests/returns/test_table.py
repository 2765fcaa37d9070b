"""Reading returns: doubts are errors with place and remedy, rates and benchmarks as series, real prices."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sharpe_bandits as sb
from tests.messages import says
from tests.returns.reading import (
    CSV,
    DATES,
    DAYS,
    FUND_A,
    FUND_B,
    WANTED,
    A,
    csv,
    expected,
    frame,
    prices,
    returns,
    suggested,
    written,
)


def test_returns_are_kept_as_they_are_and_nothing_else_is_touched():
    given = pd.DataFrame(WANTED, columns=["A", "B"], index=pd.DatetimeIndex(DAYS[1:]))
    given.iloc[1, 0] = np.nan
    before = given.copy()
    found = returns(given, missing="fill")
    assert found.values.tolist() == [[0.1, 0.0], [0.0, 0.2], [0.0, -0.5]]
    pd.testing.assert_frame_equal(given, before)
    with pytest.raises(ValueError, match="read-only"):
        found.values[0, 0] = 1.0


BAD_CSV = {
    "text": (CSV.replace("99.0,60.0", "99.0,sixty"), ("column 'B', line 4 (2020-01-06): 'sixty' is text, not a",)),
    "thousands": (CSV.replace("110.0", '"1,100"'), ("column 'A', line 3 (2020-01-03): '1,100' is text",)),
    "underscore": (CSV.replace("110.0", "1_100"), ("column 'A', line 3 (2020-01-03): '1_100' is text",)),
    "after blank lines": (CSV.replace("\n2020-01-06", "\n\n\n2020-01-06").replace("60.0", "x"), ("'B', line 6",)),
    "after a value of two lines": (
        'date,A,B,"C\nD"\n2020-01-02,1,2,3\n2020-01-03,1,y,3\n', ("column 'B', line 4 (2020-01-03): 'y'",)
    ),
    "few values": (CSV + "2020-01-08,7\n", ("line 6", "has 2 values, but the header has 3 names")),
    "infinite": (CSV.replace("110.0", "inf"), ("column 'A', line 3 (2020-01-03): inf is not finite",)),
    "zero": (CSV.replace("110.0", "0"), ("column 'A', line 3 (2020-01-03): a price must be above 0, got 0",)),
    "negative": (CSV.replace("110.0", "-1"), ("got -1", "kind='returns'")),
    "constant": (CSV.replace("99.0", "110.0").replace("100.0", "110.0"), (
        "column 'A' does not vary: its return is 0 from line 3 (2020-01-03) to line 5 (2020-01-07)",
        "constant='drop'")),
    "guessed date": (CSV.replace("2020-01-02", "01/02/2020"), ("line 2: '01/02/2020' is not a number", "2020-01-31")),
    "later date": (CSV.replace("2020-01-06", "6 Jan"), ("column 'date', line 4: '6 Jan' is not a date", "2020-01-31")),
    "one name twice": (CSV.replace("A,B", "A,A"), ("two columns are called 'A'",)),
    "no name": (CSV.replace("A,B", "A,"), ("column 3 has no name", "columns=['A']")),
    "short": ("A\n1\n2\n3\n", ("column 'A' has 2 returns, but at least 3 are needed",)),
    "header only": ("date,A\n", ("has 0 returns, but at least 3 are needed",)),
    "only dates": ("date\n2020-01-02\n", ("no column of numbers; the columns are 'date'",)),
    "empty": ("", ("is empty",)),
    "blank": ("\n\n", ("has no lines",)),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_CSV)
def test_bad_files_are_refused_with_place_and_remedy(tmp_path, case):
    text, parts = BAD_CSV[case]
    path = written(tmp_path, text)
    with pytest.raises(sb.errors.InvalidInputError, match=says(*parts)):
        prices(path)
    assert path.read_text() == text


BAD_TABLES = {
    "truth values": ({"A": [True, False, True]}, {}, ("column 'A', row 1 of 3: True is not a number",)),
    "text": ({"A": [1.0, "two", 3.0]}, {}, ("column 'A', row 2 of 3: 'two' is text, not a number",)),
    "parquet text": (pa.table({"A": ["1.5", "2x"]}), {}, ("column 'A', row 2 of 2: '2x' is text, not a number",)),
    "dates": ({"A": A, "d": [datetime.date(2020, 1, 1)] * 4}, {}, ("column 'd', row 1", "is a date", "date='d'")),
    "lengths": ({"A": [1, 2], "B": [1]}, {}, ("columns must have the same length", "'A' with 2 values and 'B' with 1")),
    "number": ({"A": 7}, {}, ("column 'A' must be a list or a 1-d array", "7")),
    "two axes": ({"A": np.ones((4, 2))}, {}, ("column 'A' must be a list or a 1-d array",)),
    "no rows, two axes": ({"A": np.ones((0, 2))}, {}, ("column 'A' must be a list or a 1-d array",)),
    "no names": (np.ones((3, 2)), {}, ("array with 2 columns needs as many names=, got None",)),
    "one axis": (np.ones(3), {"names": ["A"]}, ("rows and columns, got shape (3,)",)),
    "ragged": ([[1, 2], [3]], {"names": ["A", "B"]}, ("the table cannot be read (ValueError", "inhomogeneous")),
    "names of a table": ({"A": A}, {"names": ["B"]}, ("names= is for arrays",)),
    "nothing": (None, {}, ("a CSV, Parquet or spreadsheet file, a pandas or polars frame", "got None")),
    "no columns": ({}, {}, ("no column of numbers",)),
    "levels": (pd.DataFrame({("A", "x"): A}), {}, ("the columns have two levels", "pass field='A'")),
    "all constant": ({"A": [1, 2, 4, 8]}, {"constant": "drop"}, ("column 'A' does not vary: its return is 1",)),
    "kind": ({"A": A}, {"kind": "price"}, ("kind must be one of 'prices', 'returns', 'log-returns'", "got 'price'")),
    "year": ({"A": A}, {"periods_per_year": 0}, ("periods_per_year", "above 0, got 0", "252 for trading days")),
    "missing": ({"A": A}, {"missing": "skip"}, ("missing must be one of 'error', 'drop', 'fill', 'keep', got 'skip'",)),
    "duplicates": ({"A": A}, {"duplicates": "mean"}, ("duplicates must be one of", "'mean'")),
    "unsorted": ({"A": A}, {"unsorted": True}, ("unsorted must be one of 'error', 'sort', got True",)),
    "timezones": ({"A": A}, {"timezones": "UTC"}, ("timezones must be one of 'error', 'utc', got 'UTC'",)),
    "constant": ({"A": A}, {"constant": None}, ("constant must be one of 'error', 'drop', got None",)),
    "scale of prices": ({"A": A}, {"scale": 0.01}, ("scale=0.01 is for returns",)),
    "scale": ({"A": A}, {"kind": "returns", "scale": 0}, ("scale", "above 0, got 0", "0.01 for per cent")),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_TABLES)
def test_bad_tables_are_refused(case):
    table, options, parts = BAD_TABLES[case]
    with pytest.raises(sb.errors.InvalidInputError, match=says(*parts)):
        prices(table, **options)


def test_in_words():
    found = prices(frame())
    assert found.span == "3 returns, 2020-01-03 to 2020-01-07"
    assert found.convention == "simple returns per period, 0.01 = 1%; 252 periods per year"
    assert repr(found) == f"Returns(A, B: {found.span}; {found.convention})"
    assert len(found) == 3
    assert prices({"A": A}).span == "3 returns"


def test_real_prices(tmp_path):
    """Twenty years of the S&P 500 through three formats, against pandas' own arithmetic."""
    from arch.data import sp500

    table = sp500.load()
    table.to_csv(tmp_path / "sp500.csv")
    table.to_parquet(tmp_path / "sp500.parquet")
    wanted = table["Adj Close"].pct_change().dropna().to_numpy()
    for source in (table, tmp_path / "sp500.csv", tmp_path / "sp500.parquet", pl.from_pandas(table.reset_index())):
        found = prices(source, columns=["Adj Close"])
        assert found.span == "5,030 returns, 1999-01-05 to 2018-12-31"
        assert found.values[:, 0] == pytest.approx(wanted, abs=1e-15)
        assert found.notes == ()


def test_long_tables(tmp_path):
    rows = [
        f"{d},{name},{p}" for d, a, b in zip(DATES, FUND_A, FUND_B, strict=True) for name, p in (("A", a), ("B", b))
    ]
    path = csv(tmp_path, ["date,ticker,close", *rows])
    assert "pass pivot=('ticker', 'close')" in suggested(path)
    found = prices(path, pivot=("ticker", "close"))
    assert found.names == ("A", "B")
    np.testing.assert_allclose(found.values, expected(), rtol=1e-12)
    said = suggested(csv(tmp_path, ["date,ticker,close", *rows, rows[0]]), pivot=("ticker", "close"))
    assert "line 2 and line 12 have the same date and ticker, 'A'" in said
    lacking = csv(tmp_path, ["date,ticker,close", *rows[2:]])
    assert prices(lacking, pivot=("ticker", "close")).values.shape == (3, 2)
    frame = pd.DataFrame(
        {
            "date": np.repeat(pd.to_datetime(DATES), 2),
            "ticker": ["A", "B"] * 5,
            "close": np.ravel([FUND_A, FUND_B], "F"),
        }
    )
    np.testing.assert_allclose(prices(frame, pivot=("ticker", "close")).values, expected(), rtol=1e-12)


class TestSeries:
    """Risk-free rates and benchmarks as series."""

    rates = (0.0001, 0.0002, 0.0001, 0.0003, 0.0002)

    def test_a_column_of_rates_is_taken_off_row_by_row(self):
        table = {"date": DATES, "A": FUND_A, "B": FUND_B, "RF": self.rates}
        found = prices(table, risk_free_series="RF")
        assert found.names == ("A", "B")
        np.testing.assert_allclose(found.excess, expected() - np.array(self.rates)[1:, None], rtol=1e-12)
        percent = {**table, "RF": [100 * r for r in self.rates]}
        again = prices(percent, risk_free_series="RF", risk_free_quote="per-period-percent")
        np.testing.assert_allclose(again.excess, found.excess, rtol=1e-12)
        yearly = {**table, "RF": [(1 + r) ** 252 - 1 for r in self.rates]}
        np.testing.assert_allclose(
            prices(yearly, risk_free_series="RF", risk_free_quote="annual").excess, found.excess, rtol=1e-9
        )
        assert "would be up to" in suggested(yearly, risk_free_series="RF", risk_free_quote="per-period")

    def test_a_benchmark_is_a_price_like_the_others(self):
        table = {"date": DATES, "A": FUND_A, "B": FUND_B}
        found = prices({**table, "C": FUND_A}, benchmark="C")
        assert found.names == ("A", "B")
        np.testing.assert_allclose(found.excess[:, 0], 0, atol=1e-15)
        np.testing.assert_allclose(found.excess[:, 1], expected()[:, 1] - expected()[:, 0], rtol=1e-12)
        other = prices(table, benchmark={"day": DATES[::-1], "index": FUND_A[::-1]})
        np.testing.assert_array_equal(other.excess, found.excess)

    def test_another_table_is_joined_by_date(self, tmp_path):
        table = {"date": DATES, "A": FUND_A, "B": FUND_B}
        path = csv(tmp_path, ["date,RF", *(f"{d},{r}" for d, r in zip(DATES, self.rates, strict=True))])
        np.testing.assert_allclose(
            prices(table, risk_free_series=str(path)).excess, expected() - np.array(self.rates)[1:, None], rtol=1e-12
        )
        path = csv(tmp_path, ["date,RF", f"{DATES[0]},0.0001", f"{DATES[3]},0.0002"])
        said = suggested(table, risk_free_series=path)
        assert "has no value for row 2 of 5 (2020-01-03) (3 rows without one); pass missing='fill'" in said
        found = prices(table, risk_free_series=path, missing="fill")
        np.testing.assert_allclose(found.hurdle.values, [0.0001, 0.0001, 0.0002, 0.0002])

    def test_one_hurdle_only(self):
        table = {"date": DATES, "A": FUND_A, "B": FUND_B, "RF": self.rates}
        assert "not both" in suggested(table, risk_free_series="RF", benchmark="A")
        found = prices(table, risk_free_series="RF")
        with pytest.raises(sb.errors.InvalidInputError, match="leave out annual_risk_free="):
            sb.rank(found, annual_risk_free=0.02, block=1)


def test_a_benchmark_that_is_neither_column_nor_file():
    table = {"A": A, "SPY": A[::-1]}
    with pytest.raises(sb.errors.UnknownNameError, match="no column or file is called 'spy': did you mean 'SPY'"):
        prices(table, benchmark="spy")
