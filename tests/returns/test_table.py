"""Reading returns: every source gives the same numbers, and every doubt is an error with its place and its remedy."""

import datetime
import gzip
import re
from decimal import Decimal
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sharpe_bandits as sb
from sharpe_bandits.returns.table import read_returns

DAYS = ["2020-01-02", "2020-01-03", "2020-01-06", "2020-01-07"]
A = [100.0, 110.0, 99.0, 99.0]
B = [50.0, 50.0, 60.0, 30.0]
WANTED = [[0.1, 0.0], [-0.1, 0.2], [0.0, -0.5]]
CSV = "date,A,B\n" + "".join(f"{d},{a},{b}\n" for d, a, b in zip(DAYS, A, B, strict=True))


def says(*parts):
    return "(?s)" + ".*".join(re.escape(str(part)) for part in parts)


def written(folder, text, name="table.csv"):
    path = folder / name
    path.write_text(text)
    return path


def prices(source, **options):
    return read_returns(source, **{"kind": "prices", "periods_per_year": 252, **options})


def returns(source, **options):
    return prices(source, kind="returns", **options)


# --- sources --------------------------------------------------------------------------------------------------------


def frame():
    return pd.DataFrame({"A": A, "B": B}, index=pd.DatetimeIndex(DAYS, name="date"))


def to_parquet(folder, table):
    table.to_parquet(folder / "table.parquet")
    return folder / "table.parquet"


SOURCES = {
    "csv": lambda folder: written(folder, CSV),
    "csv as text path": lambda folder: str(written(folder, CSV)),
    "csv with a mark": lambda folder: written(folder, "\ufeff" + CSV),
    "csv with quotes and blank lines": lambda folder: written(
        folder, CSV.replace("date,A", '"date","A"').replace("50.0", '"50.0"').replace("\n", "\r\n\r\n")
    ),
    "csv, unnamed dates": lambda folder: written(folder, CSV.replace("date", "")),
    "parquet with an index": lambda folder: to_parquet(folder, frame()),
    "parquet with an unnamed index": lambda folder: to_parquet(folder, frame().rename_axis(None)),
    "parquet without an index": lambda folder: to_parquet(folder, frame().reset_index()),
    "pandas": lambda folder: frame(),
    "pandas, a column of dates": lambda folder: frame().reset_index(),
    "pandas, text dates": lambda folder: frame().set_index(pd.Index(DAYS)),
    "pandas, objects": lambda folder: frame().astype(object),
    "pandas, nullable": lambda folder: frame().convert_dtypes(),
    "pandas, arrow": lambda folder: frame().astype("float64[pyarrow]"),
    "polars": lambda folder: pl.from_pandas(frame().reset_index()),
    "polars, dates": lambda folder: pl.from_pandas(frame().reset_index()).with_columns(pl.col("date").cast(pl.Date)),
    "polars, text dates": lambda folder: pl.DataFrame({"date": DAYS, "A": A, "B": B}),
    "arrow": lambda folder: pa.table({"date": pa.array(DAYS).cast(pa.date32()), "A": A, "B": B}),
    "dictionary": lambda folder: {"date": DAYS, "A": A, "B": np.array(B)},
    "dictionary of dates": lambda folder: {"date": [datetime.date.fromisoformat(d) for d in DAYS], "A": A, "B": B},
    "dictionary of decimals": lambda folder: {"date": DAYS, "A": [Decimal(a) for a in A], "B": [int(b) for b in B]},
    "dictionary of datetime64": lambda folder: {"date": np.array(DAYS, "datetime64[D]"), "A": A, "B": B},
}  # fmt: skip


@pytest.mark.parametrize("kind", SOURCES)
def test_every_source_gives_the_same(tmp_path, kind):
    found = prices(SOURCES[kind](tmp_path))
    assert found.names == ("A", "B")
    assert found.values == pytest.approx(np.array(WANTED), abs=1e-15)
    assert [str(d)[:10] for d in found.dates] == DAYS[1:]
    assert (found.periods_per_year, found.kind, found.notes) == (252.0, "prices", ())


def test_a_compressed_file(tmp_path):
    (tmp_path / "table.csv.gz").write_bytes(gzip.compress(CSV.encode()))
    assert prices(tmp_path / "table.csv.gz").values == pytest.approx(np.array(WANTED), abs=1e-15)


def test_other_separators(tmp_path):
    path = written(tmp_path, CSV.replace(",", "\t"), "table.tsv")
    assert prices(path, separator="\t").names == ("A", "B")
    with pytest.raises(
        sb.InvalidInputError, match=says("only column", r"'date\tA\tB'", r"separator='\t' (--separator tab)")
    ):
        prices(path)


def test_arrays_and_series():
    found = returns(WANTED, names=["A", "B"])
    assert found.dates is None
    assert found.values.tolist() == WANTED
    assert returns(np.array(WANTED), names=["A", "B"]).values.tolist() == WANTED
    assert prices(frame()["A"]).values[:, 0] == pytest.approx([0.1, -0.1, 0.0], abs=1e-15)
    assert prices(pl.Series("A", A)).names == ("A",)


def test_returns_are_kept_as_they_are_and_nothing_else_is_touched():
    given = pd.DataFrame(WANTED, columns=["A", "B"], index=pd.DatetimeIndex(DAYS[1:]))
    given.iloc[1, 0] = np.nan
    before = given.copy()
    found = returns(given, missing="fill")
    assert found.values.tolist() == [[0.1, 0.0], [0.0, 0.2], [0.0, -0.5]]
    pd.testing.assert_frame_equal(given, before)
    with pytest.raises(ValueError, match="read-only"):
        found.values[0, 0] = 1.0


def test_columns_are_chosen_in_order():
    assert prices(frame(), columns=["B", "A"]).names == ("B", "A")
    with pytest.raises(sb.UnknownNameError, match=says("no column is called 'b'", "did you mean 'B'?", "'A', 'B'")):
        prices(frame(), columns=["b"])
    with pytest.raises(sb.InvalidInputError, match=says("different ones", "['A', 'A']")):
        prices(frame(), columns=["A", "A"])
    with pytest.raises(sb.InvalidInputError, match=says("list of names, got 'A'; pass ['A']")):
        prices(frame(), columns="A")
    with pytest.raises(sb.InvalidInputError, match=says("column 'date' is the one of dates")):
        prices(frame(), columns=["date", "A"])


# --- dates ----------------------------------------------------------------------------------------------------------


def test_the_column_of_dates_can_be_named(tmp_path):
    table = {"A": A, "when": ["20200102", "20200103", "20200106", "20200107"]}
    found = prices(table, date="when")
    assert found.names == ("A",)
    assert [str(d)[:10] for d in found.dates] == DAYS[1:]
    months = prices({"A": A, "when": [202001, 202002, 202003, 202004]}, date="when", periods_per_year=12)
    assert [str(d)[:10] for d in months.dates] == ["2020-02-01", "2020-03-01", "2020-04-01"]
    with pytest.raises(
        sb.InvalidInputError, match=says("column 'when', row 1 of 4: '2020-01-02' is a date", "date='when'")
    ):
        prices({"A": A, "when": DAYS})
    with pytest.raises(sb.UnknownNameError, match=says("no column is called 'wenn': did you mean 'when'?")):
        prices(table, date="wenn")


def test_months_and_periods():
    assert str(prices({"m": ["2020-01", "2020-02", "2020-03", "2020-04"], "A": A}).dates[0])[:10] == "2020-02-01"
    monthly = pd.DataFrame({"A": A}, index=pd.period_range("2020-01", periods=4, freq="M"))
    assert str(prices(monthly, periods_per_year=12).dates[-1])[:10] == "2020-04-01"


def test_an_index_without_dates_is_left_out():
    found = prices(frame().set_index(pd.Index([7, 8, 9, 12])))
    assert found.dates is None
    assert found.notes == ("left out the index 'index', which is not the column of dates",)


def test_time_zones(tmp_path):
    utc = pd.DatetimeIndex(DAYS, tz="America/New_York")
    found = prices(frame().set_index(utc))
    assert str(found.dates[0])[:16] == "2020-01-03T05:00"
    assert found.notes == ("dates are in UTC; the table had them in America/New_York",)
    mixed = CSV.replace(DAYS[0], f"{DAYS[0]}T16:00-05:00").replace(DAYS[1], f"{DAYS[1]}T16:00-04:00")
    path = written(tmp_path, mixed)
    with pytest.raises(
        sb.InvalidInputError,
        match=says("several time zones: line 3 (2020-01-03T20:00:00) is of UTC-04:00", "UTC-05:00", "timezones='utc'"),
    ):
        prices(path)
    found = prices(path, timezones="utc")
    assert str(found.dates[0])[:16] == "2020-01-03T20:00"
    assert str(found.dates[1])[:16] == "2020-01-06T00:00"
    assert found.notes == (
        "dates of several time zones (UTC-05:00, UTC-04:00, no time zone) are in UTC, those without one taken to be so "
        "already",
    )


def test_time_zones_of_objects():
    zones = [ZoneInfo("Europe/Paris"), ZoneInfo("Asia/Tokyo")] * 2
    index = pd.Index([datetime.datetime(2020, 1, 2 + k, 12, tzinfo=z) for k, z in enumerate(zones)], dtype=object)
    with pytest.raises(sb.InvalidInputError, match=says("row 2 of 4", "is of Asia/Tokyo", "Europe/Paris")):
        prices(frame().set_index(index))
    assert str(prices(frame().set_index(index), timezones="utc").dates[0])[:16] == "2020-01-03T03:00"


def test_order():
    shuffled = frame().iloc[[0, 2, 1, 3]]
    remedy = "pass unsorted='sort' (--unsorted sort)"
    with pytest.raises(
        sb.InvalidInputError, match=says("row 3 of 4 (2020-01-03) comes after row 2 of 4 (2020-01-06)", remedy)
    ):
        prices(shuffled)
    found = prices(shuffled, unsorted="sort")
    assert found.values == pytest.approx(np.array(WANTED), abs=1e-15)
    assert found.notes == ("sorted by date (row 3 of 4 (2020-01-03) came after row 2 of 4 (2020-01-06))",)
    with pytest.raises(sb.InvalidInputError, match=says("the newest come first", remedy)):
        prices(frame().iloc[::-1])


def test_duplicates():
    doubled = pd.concat([frame(), pd.DataFrame({"A": [1.0], "B": [2.0]}, index=[pd.Timestamp(DAYS[-1])])])
    with pytest.raises(
        sb.InvalidInputError,
        match=says("row 4 of 5 (2020-01-07) and row 5 of 5", "1 row too many", "duplicates='first'", "'last'"),
    ):
        prices(doubled)
    first, last = (prices(doubled, duplicates=which) for which in ("first", "last"))
    assert first.values == pytest.approx(np.array(WANTED), abs=1e-15)
    assert last.values[-1] == pytest.approx([1 / 99 - 1, 2 / 60 - 1])
    assert last.notes == ("kept the last row of each date: 1 row dropped",)


def test_rows_without_a_date(tmp_path):
    path = written(tmp_path, CSV.replace(DAYS[1], ""))
    with pytest.raises(sb.InvalidInputError, match=says("line 3 has no date (1 row in all)", "missing='drop'")):
        prices(path, missing="fill")
    with pytest.raises(
        sb.InvalidInputError, match=says("at least 4 prices", "2 returns", "dropped 1 row without a date")
    ):
        prices(path, missing="drop")


def test_dates_at_another_frequency_are_remarked_on():
    monthly = pd.DataFrame({"A": A}, index=pd.date_range("2020-01-01", periods=4, freq="MS"))
    assert prices(monthly, periods_per_year=12).remarks == ()
    (remark,) = prices(monthly).remarks
    assert remark.startswith("periods_per_year=252, but by its dates the table has 12.2 rows per year; pass")


# --- values ---------------------------------------------------------------------------------------------------------


def test_gaps_in_prices():
    given = {"A": [100, 110, None, 99, 99], "B": [50, 55, 50, 60, float("nan")]}
    with pytest.raises(
        sb.InvalidInputError,
        match=says("column 'A', row 3 of 5 has no value (2 values missing in 2 rows and 2 columns: 'A'",
                   "lacks 1, 1 of them alone; 'B'",
                       "missing='keep'", "missing='drop'",
                   "missing='fill' (--missing fill) for the last price before"),
    ):  # fmt: skip
        prices(given)
    filled = prices(given, missing="fill")
    assert filled.values == pytest.approx(np.array([[0.1, 0.1], [0, -1 / 11], [-0.1, 0.2], [0, 0]]))
    assert filled.notes == ("filled 2 missing prices with the last price before",)
    given["A"].append(100)
    given["B"].append(66)
    dropped = prices(given, missing="drop")
    assert dropped.values == pytest.approx(np.array([[0.1, 0.1], [-0.1, 60 / 55 - 1], [100 / 99 - 1, 0.1]]))
    assert dropped.notes == (
        "dropped 2 of 6 rows: 2 values missing ('A' lacks 1, 1 of them alone; 'B' lacks 1, 1 of them alone)",
    )


def test_a_gap_at_the_beginning_cannot_be_filled():
    with pytest.raises(
        sb.InvalidInputError, match=says("column 'B', row 1 of 4 has no price and none before", "'drop'")
    ):
        prices({"A": A, "B": [None, *B[1:]]}, missing="fill")


def test_the_first_row_of_pct_change_is_a_gap():
    changes = frame().pct_change()
    with pytest.raises(sb.InvalidInputError, match=says("column 'A', row 1 of 4 (2020-01-02) has no value")):
        returns(changes)
    assert returns(changes, missing="drop").values == pytest.approx(np.array(WANTED), abs=1e-15)


BAD_CSV = {
    "text": (CSV.replace("99.0,60.0", "99.0,sixty"), ("column 'B', line 4 (2020-01-06): 'sixty' is text, not a",)),
    "thousands": (CSV.replace("110.0", '"1,100"'), ("column 'A', line 3 (2020-01-03): '1,100' is text",)),
    "underscore": (CSV.replace("110.0", "1_100"), ("column 'A', line 3 (2020-01-03): '1_100' is text",)),
    "after blank lines": (CSV.replace("\n2020-01-06", "\n\n\n2020-01-06").replace("60.0", "x"), ("'B', line 6",)),
    "after a value of two lines": (
        'date,A,B,"C\nD"\n2020-01-02,1,2,3\n2020-01-03,1,y,3\n', ("column 'B', line 4 (2020-01-03): 'y'",)
    ),
    "few values": (CSV + "2020-01-08,7\n", ("line 6", "has 2 values, the header has 3 names")),
    "infinite": (CSV.replace("110.0", "inf"), ("column 'A', line 3 (2020-01-03): inf is not finite",)),
    "zero": (CSV.replace("110.0", "0"), ("column 'A', line 3 (2020-01-03): a price must be above 0, got 0",)),
    "negative": (CSV.replace("110.0", "-1"), ("got -1", "kind='returns' (--kind returns)")),
    "constant": (CSV.replace("99.0", "110.0").replace("100.0", "110.0"), (
        "column 'A' does not vary: its return is 0 from line 3 (2020-01-03) to line 5 (2020-01-07)",
        "constant='drop' (--constant drop)")),
    "guessed date": (CSV.replace("2020-01-02", "01/02/2020"), ("line 2: '01/02/2020' is not a number", "2020-01-31")),
    "later date": (CSV.replace("2020-01-06", "6 Jan"), ("column 'date', line 4: '6 Jan' is not a date", "2020-01-31")),
    "one name twice": (CSV.replace("A,B", "A,A"), ("two columns are called 'A'",)),
    "no name": (CSV.replace("A,B", "A,"), ("column 3 has no name", "columns=['A'] (--columns A)")),
    "short": ("A\n1\n2\n3\n", ("at least 4 prices are needed, there is enough for 2 returns",)),
    "header only": ("date,A\n", ("at least 4 prices",)),
    "only dates": ("date\n2020-01-02\n", ("no column of numbers; the columns are 'date'",)),
    "empty": ("", ("is empty",)),
    "blank": ("\n\n", ("has no lines",)),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_CSV)
def test_bad_files_are_refused_with_place_and_remedy(tmp_path, case):
    text, parts = BAD_CSV[case]
    path = written(tmp_path, text)
    with pytest.raises(sb.InvalidInputError, match=says(*parts)):
        prices(path)
    assert path.read_text() == text


def test_other_files_are_refused(tmp_path):
    with pytest.raises(sb.InvalidInputError, match=says("there is no file", "none.csv")):
        prices(tmp_path / "none.csv")
    with pytest.raises(sb.InvalidInputError, match="is a folder"):
        prices(tmp_path)
    with pytest.raises(
        sb.InvalidInputError, match=says("must be a CSV file (.csv", "a Parquet file (.parquet", "spreadsheet")
    ):
        prices(written(tmp_path, CSV, "table.doc"))
    with pytest.raises(sb.InvalidInputError, match="is not a spreadsheet, or is damaged"):
        prices(written(tmp_path, CSV, "table.xlsx"))
    with pytest.raises(sb.InvalidInputError, match="is not a Parquet file, or is damaged"):
        prices(written(tmp_path, CSV, "table.parquet"))
    path = tmp_path / "latin.csv"
    path.write_bytes("date,Größe\n2020-01-02,1\n".encode("latin-1"))
    with pytest.raises(sb.InvalidInputError, match=says("latin.csv", "is not in UTF-8")):
        prices(path)


BAD_TABLES = {
    "truth values": ({"A": [True, False, True]}, {}, ("column 'A', row 1 of 3: True is not a number",)),
    "text of numbers": ({"A": [1.0, "2.0", 3.0]}, {}, ("column 'A', row 2 of 3: '2.0' is text, not a number",)),
    "parquet text": (pa.table({"A": ["1.5", "2"]}), {}, ("column 'A', row 1 of 2: '1.5' is text, not a number",)),
    "dates": ({"A": A, "d": [datetime.date(2020, 1, 1)] * 4}, {}, ("column 'd', row 1", "is a date", "date='d'")),
    "lengths": ({"A": [1, 2], "B": [1]}, {}, ("columns must be of one length", "'A' of 2 values and 'B' of 1")),
    "number": ({"A": 7}, {}, ("column 'A' must be a list or an array", "7")),
    "no names": (np.ones((3, 2)), {}, ("array of 2 columns needs as many names=, got None",)),
    "one axis": (np.ones(3), {"names": ["A"]}, ("rows and columns, got one of shape (3,)",)),
    "ragged": ([[1, 2], [3]], {"names": ["A", "B"]}, ("rows of an array must be of one length",)),
    "names of a table": ({"A": A}, {"names": ["B"]}, ("names= is for arrays",)),
    "nothing": (None, {}, ("a CSV, Parquet or spreadsheet file, a pandas or polars frame", "got None")),
    "no columns": ({}, {}, ("no column of numbers",)),
    "levels": (pd.DataFrame({("A", "x"): A}), {}, ("the frame's columns have two levels", "pass field='A'")),
    "all constant": ({"A": [1, 2, 4, 8]}, {"constant": "drop"}, ("column 'A' does not vary: its return is 1",)),
    "kind": ({"A": A}, {"kind": "price"}, ("kind must be one of 'prices', 'returns', 'log-returns', got 'price'",)),
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
    with pytest.raises(sb.InvalidInputError, match=says(*parts)):
        prices(table, **options)


def test_constant_columns_can_be_dropped():
    grown = 1.01 ** np.arange(4)  # returns that differ in the last bits
    found = prices({"A": A, "cash": grown, "B": B}, constant="drop")
    assert found.names == ("A", "B")
    assert found.values == pytest.approx(np.array(WANTED), abs=1e-15)
    assert found.notes == ("dropped 'cash', which does not vary",)


def test_per_cent():
    percent = {"A": [2.0, -3.0, 1.0]}
    with pytest.raises(
        sb.InvalidInputError,
        match=says("column 'A', row 2 of 3: a return of -3 is a loss of more than 100%", "scale=0.01 (--percent)"),
    ):
        returns(percent)
    found = returns(percent, scale=0.01)
    assert found.values[:, 0] == pytest.approx([0.02, -0.03, 0.01])
    assert found.notes == ("multiplied returns by 0.01",)


def test_a_gain_of_more_than_everything_is_accepted_when_it_is_meant():
    doubled = {"A": [1.5, -0.5, 0.1]}
    with pytest.raises(
        sb.InvalidInputError, match=says("row 1 of 3: a return of 1.5 is a gain", "scale=1 (--scale 1)")
    ):
        returns(doubled)
    assert returns(doubled, scale=1).values[:, 0].tolist() == [1.5, -0.5, 0.1]
    with pytest.raises(sb.InvalidInputError, match=says("a return of -2 is a loss of more than 100%")):
        returns({"A": [1.5, -2.0, 0.1]}, scale=1)
    assert prices({"A": [1, 5, 4, 6]}).values[0, 0] == 4.0  # prices may do so


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


# --- numbers of a file are read at once, and looked at as text where something is wrong -------------------------------


def long_csv(change=None):
    x = 100 * np.exp(np.cumsum(np.random.default_rng(3).normal(0, 0.01, (3000, 2)), axis=0))
    days = np.datetime64("2010-01-01") + np.arange(3000)
    lines = [f"{day},{a!r},{b!r}" for day, (a, b) in zip(days, x.tolist(), strict=True)]
    if change is not None:
        lines[2900] = change(lines[2900])
    return "date,A,B\n" + "\n".join(lines) + "\n", x


def test_numbers_read_at_once_are_those_of_text(tmp_path):
    text, x = long_csv()
    found = prices(written(tmp_path, text), periods_per_year=365)
    assert np.array_equal(found.values, x[1:] / x[:-1] - 1)
    # where amounts may have a sign, all is read as text first
    slowly = prices(tmp_path / "table.csv", periods_per_year=365, currency="$")
    assert np.array_equal(found.values, slowly.values)
    assert np.array_equal(found.dates, slowly.dates)


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (lambda line: line.replace(",", ",x", 1), ("column 'A', line 2902 (2017-12-10)", "'x", "not a number")),
        (lambda line: line.rsplit(",", 1)[0] + ",", ("column 'B', line 2902 (2017-12-10) has no value",)),
        (lambda line: line.rsplit(",", 1)[0] + ",NA", ("column 'B', line 2902 (2017-12-10) has no value",)),
        (lambda line: line.rsplit(",", 1)[0] + ",inf", ("column 'B', line 2902 (2017-12-10)", "inf is not finite")),
        (lambda line: line + ",1", ("line 2902", "has 4 values, the header has 3 names")),
        (
            lambda line: line.replace("2017-12-10", "2017-02-30"),
            ("column 'date', line 2902", "'2017-02-30' is not a date"),
        ),
        (
            lambda line: line.replace("2017-12-10", "10.12.2017"),
            ("column 'date', line 2902", "'10.12.2017' is not a date"),
        ),
    ],
)
def test_what_is_wrong_far_down_is_named_with_its_line(change, parts, tmp_path):
    with pytest.raises(sb.InvalidInputError, match=says(*parts)):
        prices(written(tmp_path, long_csv(change)[0]), periods_per_year=365)
