"""Tables as they come: every source gives the same numbers; preambles, spreadsheets and two levels of names."""

import datetime
import gzip
from decimal import Decimal

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
    B,
    csv,
    expected,
    frame,
    prices,
    returns,
    suggested,
    written,
)


def to_parquet(folder, table):
    table.to_parquet(folder / "table.parquet")
    return folder / "table.parquet"


def to_gzip(folder):
    (folder / "table.csv.gz").write_bytes(gzip.compress(CSV.encode()))
    return folder / "table.csv.gz"


SOURCES = {
    "csv": lambda folder: written(folder, CSV),
    "csv as text path": lambda folder: str(written(folder, CSV)),
    "csv with a mark": lambda folder: written(folder, "\ufeff" + CSV),
    "csv with quotes and blank lines": lambda folder: written(
        folder, CSV.replace("date,A", '"date","A"').replace("50.0", '"50.0"').replace("\n", "\r\n\r\n")
    ),
    "compressed csv": to_gzip,
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


def test_arrays_and_series():
    found = returns(WANTED, names=["A", "B"])
    assert found.dates is None
    assert found.values.tolist() == WANTED
    assert returns(np.array(WANTED), names=["A", "B"]).values.tolist() == WANTED
    assert prices(frame()["A"]).values[:, 0] == pytest.approx([0.1, -0.1, 0.0], abs=1e-15)
    assert prices(pl.Series("A", A)).names == ("A",)


def test_other_files_are_refused(tmp_path):
    with pytest.raises(sb.errors.InvalidInputError, match=r"none\.csv' does not exist"):
        prices(tmp_path / "none.csv")
    with pytest.raises(sb.errors.InvalidInputError, match="is not an ordinary file"):
        prices(tmp_path)
    with pytest.raises(
        sb.errors.InvalidInputError, match=says("must be a CSV file (.csv", "a Parquet file (.parquet", "spreadsheet")
    ):
        prices(written(tmp_path, CSV, "table.doc"))
    with pytest.raises(sb.errors.InvalidInputError, match=r"table\.xlsx' cannot be read: .* rename it to \.csv"):
        prices(written(tmp_path, CSV, "table.xlsx"))
    with pytest.raises(sb.errors.InvalidInputError, match=r"table\.parquet' cannot be read"):
        prices(written(tmp_path, CSV, "table.parquet"))
    path = tmp_path / "latin.csv"
    path.write_bytes("date,Größe\n2020-01-02,1\n".encode("latin-1"))
    with pytest.raises(sb.errors.InvalidInputError, match=says("latin.csv", "is not in UTF-8")):
        prices(path)


def long_csv(change=None):
    x = 100 * np.exp(np.cumsum(np.random.default_rng(3).normal(0, 0.01, (3000, 2)), axis=0))
    days = np.datetime64("2010-01-01") + np.arange(3000)
    lines = [f"{day},{a!r},{b!r}" for day, (a, b) in zip(days, x.tolist(), strict=True)]
    if change is not None:
        lines[2900] = change(lines[2900])
    return "date,A,B\n" + "\n".join(lines) + "\n", x


def test_a_long_file(tmp_path):
    text, x = long_csv()
    found = prices(written(tmp_path, text), periods_per_year=365)
    assert np.array_equal(found.values, x[1:] / x[:-1] - 1)
    assert np.array_equal(prices(tmp_path / "table.csv", periods_per_year=365, currency="$").values, found.values)


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (lambda line: line.replace(",", ",x", 1), ("column 'A', line 2902 (2017-12-10)", "'x", "not a number")),
        (lambda line: line.rsplit(",", 1)[0] + ",", ("column 'B', line 2902 (2017-12-10) has no value",)),
        (lambda line: line.rsplit(",", 1)[0] + ",NA", ("column 'B', line 2902 (2017-12-10) has no value",)),
        (lambda line: line.rsplit(",", 1)[0] + ",inf", ("column 'B', line 2902 (2017-12-10)", "inf is not finite")),
        (lambda line: line + ",1", ("line 2902", "has 4 values, but the header has 3 names")),
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
    with pytest.raises(sb.errors.InvalidInputError, match=says(*parts)):
        prices(written(tmp_path, long_csv(change)[0]), periods_per_year=365)


def test_a_preamble(tmp_path):
    lines = [
        "Fund report",
        "made in Zürich",
        "date,A,B",
        *(f"{d},{a},{b}" for d, a, b in zip(DATES, FUND_A, FUND_B, strict=True)),
    ]
    path = csv(tmp_path, lines)
    assert "line 3" in suggested(path)
    assert "pass skip_rows=2" in suggested(path)
    np.testing.assert_allclose(prices(path, skip_rows=2).values, expected(), rtol=1e-12)
    path = csv(tmp_path, [*lines[:4], "2020-01-03,x,2", *lines[5:]])
    assert "column 'A', line 5 (2020-01-03)" in suggested(path, skip_rows=2)


def test_spreadsheets(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "prices"
    for line in (["from the desk"], ["date", "A", "B"], *zip(DATES, FUND_A, FUND_B, strict=True)):
        sheet.append(list(line))
    path = tmp_path / "book.xlsx"
    book.save(path)
    np.testing.assert_allclose(prices(path, skip_rows=1).values, expected(), rtol=1e-12)
    book.create_sheet("notes")
    book.save(path)
    assert "has 2 sheets: 'prices', 'notes'; pass sheet='prices'" in suggested(path, skip_rows=1)
    found = prices(path, skip_rows=1, sheet="prices")
    assert found.dates[-1] == np.datetime64("2020-01-08")
    with pytest.raises(sb.errors.UnknownNameError, match="did you mean 'prices'"):
        prices(path, sheet="price")
    sheet["B4"] = "x"
    book.save(path)
    assert "column 'A', row 4 of the sheet" in suggested(path, skip_rows=1, sheet="prices")


@pytest.mark.parametrize(
    ("preamble", "lines"),
    [
        ("Fund report\n\n", 2),
        ("\nReport\n\n\n", 4),
        ("Fund report\nSource: X, Y\n\n", 3),
        ("Fund report,,\n,,\n\n", 3),
        ("Fund report,,\nCurrency,USD,\n\n\n", 4),
        ('"Fund\nreport",,\n\n', 3),
        ("Fund report\n   \n", 2),
        ("Fund report\n,,\n\n", 3),
    ],
)
def test_a_preamble_with_empty_lines(preamble, lines, tmp_path):
    """The error names the value to pass, and with it the file is read."""
    rows = [f"{d},{a},{b}" for d, a, b in zip(DATES, FUND_A, FUND_B, strict=True)]
    path = csv(tmp_path, [f"{preamble}date,A,B", *rows])
    assert f"pass skip_rows={lines}" in suggested(path)
    np.testing.assert_allclose(prices(path, skip_rows=lines).values, expected(), rtol=1e-12)


def test_an_empty_line_of_a_single_column_is_a_gap(tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("A\n0.01\n\n0.02\n-0.01\n0.03\n\n\n")
    with pytest.raises(sb.errors.InvalidInputError, match="column 'A', line 3 has no value"):
        sb.read_returns(path, kind="returns", periods_per_year=12)
    filled = sb.read_returns(path, kind="returns", periods_per_year=12, missing="fill")
    assert filled.values[:, 0].tolist() == [0.01, 0.0, 0.02, -0.01, 0.03]


def test_a_mask_that_hides_nothing():
    whole = np.ma.masked_array(WANTED)
    for source, options in ((whole, {"names": ["a", "b"]}), ({"a": whole[:, 0], "b": whole[:, 1]}, {})):
        found = returns(source, **options)
        assert type(found.values) is np.ndarray
        assert found.values.tolist() == WANTED


def test_masked_values_are_gaps():
    x = np.ma.masked_array([[0.1, 0.2], [0.2, 9.0], [0.3, 0.1], [0.1, 0.3]], mask=[[0, 0], [0, 1], [0, 0], [0, 0]])
    with pytest.raises(sb.errors.InvalidInputError, match="column 'b', row 2 of 4 has no value"):
        sb.read_returns(x, names=["a", "b"], kind="returns", periods_per_year=12)


def test_a_lazy_frame_is_to_be_collected():
    with pytest.raises(sb.errors.InvalidInputError, match=r"collect\(\) it first"):
        sb.read_returns(pl.LazyFrame({"A": [0.01, 0.02]}), kind="returns", periods_per_year=252)


@pytest.mark.parametrize("missing", ["error", "keep", "drop", "fill"])
def test_a_column_without_values_is_left_out(missing):
    table = {"A": [0.01, -0.02, 0.03, 0.01], "empty": [None] * 4}
    with pytest.raises(sb.errors.InvalidInputError, match=r"'empty' has no values; leave it out with columns="):
        sb.read_returns(table, kind="returns", periods_per_year=252, missing=missing)
    assert sb.read_returns(table, kind="returns", periods_per_year=252, missing=missing, columns=["A"]).names == ("A",)
