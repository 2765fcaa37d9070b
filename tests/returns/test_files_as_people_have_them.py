"""Files with decimal commas, per cent signs, preambles, other encodings and layouts: an option settles each doubt."""

import datetime
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest

import sharpe_bandits as sb

DATES = [datetime.date(2020, 1, d) for d in (2, 3, 6, 7, 8)]
A, B = [1000.0, 1010.5, 1005.25, 1020.0, 1015.0], [2.0, 2.1, 2.05, 2.2, 2.15]


def expected():
    return np.array([np.diff(A) / A[:-1], np.diff(B) / B[:-1]]).T


def read(source, **options):
    return sb.read_returns(source, **{"kind": "prices", "periods_per_year": 252, **options})


def csv(tmp_path, lines, encoding="utf-8"):
    path = tmp_path / "table.csv"
    path.write_bytes("\n".join(lines).encode(encoding) + b"\n")
    return path


def german(number):
    return f"{number:,.2f}".replace(",", " ").replace(".", ",").replace(" ", ".")


def suggested(source, **options):
    """The error's message."""
    with pytest.raises(sb.InvalidInputError) as error:
        read(source, **options)
    return str(error.value)


def test_decimal_commas_thousands_currency_and_dates_one_doubt_after_another(tmp_path):
    rows = [f"{d:%d.%m.%Y};{german(a)} €;{german(b)} €" for d, a, b in zip(DATES, A, B, strict=True)]
    path = csv(tmp_path, ["Datum;A;B", *rows], "cp1252")
    assert "Pass separator=';' (--separator ';')" in suggested(path, encoding="cp1252")
    options = {"separator": ";"}
    assert "pass encoding='cp1252' (--encoding cp1252)" in suggested(path, **options)
    options["encoding"] = "cp1252"
    assert "date='Datum' (--date) and date_format='%d.%m.%Y' (--date-format %d.%m.%Y)" in suggested(path, **options)
    options |= {"date": "Datum", "date_format": "%d.%m.%Y"}
    said = suggested(path, **options)
    assert "'1.000,00 €' is text" in said
    assert "currency='€' (--currency €) and decimal=',' (--decimal ,) and thousands='.' (--thousands .)" in said
    found = read(path, **options, currency="€", decimal=",", thousands=".")
    np.testing.assert_allclose(found.values, expected(), rtol=1e-12)
    assert found.dates[0] == np.datetime64("2020-01-03")


@pytest.mark.parametrize(
    ("text", "options", "value"),
    [
        ("1,5", {"decimal": ","}, 1.5),
        ("-0,5", {"decimal": ","}, -0.5),
        ("1.234,5", {"decimal": ",", "thousands": "."}, 1234.5),
        ("1,234,567.5", {"thousands": ","}, 1234567.5),
        ("1'234.5", {"thousands": "'"}, 1234.5),
        ("12\u00a0345,6", {"decimal": ",", "thousands": " "}, 12345.6),
        ("$12.5", {"currency": "$"}, 12.5),
        ("-$12.5", {"currency": "$"}, -12.5),
        ("12.5 USD", {"currency": "USD"}, 12.5),
        ("1,5e-3", {"decimal": ","}, 0.0015),
    ],
)
def test_numbers_as_people_write_them(text, options, value):
    column = [text, text.replace("5", "6"), text, text]
    kind = {"kind": "returns", "scale": 1e-9}
    found = read({"A": column}, **options, **kind).values[0, 0]
    assert found == pytest.approx(1e-9 * value, rel=1e-12)


@pytest.mark.parametrize("text", ["1.5", "1.234", "1,2,3", "12,34.5", "", ",", "%", "1 5"])
def test_what_is_not_written_as_was_said_is_refused(text):
    said = suggested({"A": ["1,5", "1,6", text or "x", "1,7"]}, kind="returns", decimal=",", scale=0.5)
    assert "row 3 of 4" in said
    assert "is not a number with decimal=','" in said


def test_a_number_that_may_be_either_is_not_guessed():
    said = suggested({"A": ["1,234", "1,235", "1,236", "1,240"]}, kind="prices")
    assert "thousands=',' (--thousands ,) if it is 1234, decimal=',' (--decimal ,) if it is 1.234" in said


def test_per_cent_signs():
    column = ["1.5%", "-2%", "0.5 %", "1%"]
    assert "pass scale=0.01 (--percent)" in suggested({"A": column}, kind="returns")
    np.testing.assert_allclose(
        read({"A": column}, kind="returns", scale=0.01).values[:, 0], [0.015, -0.02, 0.005, 0.01], rtol=1e-12
    )
    said = suggested({"A": ["1.5%", "0.02", "1%", "2%"]}, kind="returns", scale=0.01)
    assert "row 2 of 4" in said
    assert "other values of the column have a per cent sign" in said


def test_dates_that_may_be_either_are_not_guessed():
    days = ["01/02/2020", "02/02/2020", "03/02/2020", "04/02/2020"]
    said = suggested({"when": days, "A": [1, 2, 1.5, 3]}, date="when")
    assert "date_format='%d/%m/%Y' (--date-format %d/%m/%Y) if '01/02/2020' is 2020-02-01" in said
    assert "date_format='%m/%d/%Y' (--date-format %m/%d/%Y) if '01/02/2020' is 2020-01-02" in said
    found = read({"when": days, "A": [1, 2, 1.5, 3]}, date_format="%d/%m/%Y")
    assert str(found.dates[0])[:10] == "2020-02-02"
    said = suggested({"when": ["31/01/2020", *days], "A": [1, 2, 1.5, 3, 2]}, date_format="%m/%d/%Y")
    assert "'31/01/2020' is not a date of the form '%m/%d/%Y'; pass date_format='%d/%m/%Y'" in said


@pytest.mark.parametrize(
    ("form", "numbers"),
    [
        ("excel", [43832, 43833, 43836, 43837, 43838]),
        ("s", [1577923200, 1578009600, 1578268800, 1578355200, 1578441600]),
    ],
)
def test_dates_as_numbers(form, numbers):
    said = suggested({"t": numbers, "A": A, "B": B})
    assert f"date='t' (--date) and date_format={form!r} (--date-format {form})" in said
    found = read({"t": numbers, "A": A, "B": B}, date="t", date_format=form)
    assert [str(d)[:10] for d in found.dates] == [str(d) for d in DATES[1:]]
    np.testing.assert_allclose(found.values, expected(), rtol=1e-12)


def test_days_in_a_row_as_a_spreadsheet_counts_them():
    said = suggested({"t": [43832, 43833, 43834, 43835, 43836], "A": A, "B": B})
    assert "date='t' (--date) and date_format='excel' (--date-format excel) if it counts days" in said


def test_a_preamble(tmp_path):
    lines = [
        "Fund report",
        "made in Zürich",
        "date,A,B",
        *(f"{d},{a},{b}" for d, a, b in zip(DATES, A, B, strict=True)),
    ]
    path = csv(tmp_path, lines)
    assert "line 3" in suggested(path)
    assert "pass skip_rows=2 (--skip-rows 2)" in suggested(path)
    np.testing.assert_allclose(read(path, skip_rows=2).values, expected(), rtol=1e-12)
    path = csv(tmp_path, [*lines[:4], "2020-01-03,x,2", *lines[5:]])
    assert "column 'A', line 5 (2020-01-03)" in suggested(path, skip_rows=2)


def test_spreadsheets(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "prices"
    for line in (["from the desk"], ["date", "A", "B"], *zip(DATES, A, B, strict=True)):
        sheet.append(list(line))
    path = tmp_path / "book.xlsx"
    book.save(path)
    np.testing.assert_allclose(read(path, skip_rows=1).values, expected(), rtol=1e-12)
    book.create_sheet("notes")
    book.save(path)
    assert "has 2 sheets: 'prices', 'notes'; pass sheet='prices' (--sheet)" in suggested(path, skip_rows=1)
    found = read(path, skip_rows=1, sheet="prices")
    assert found.dates[-1] == np.datetime64("2020-01-08")
    with pytest.raises(sb.UnknownNameError, match="did you mean 'prices'"):
        read(path, sheet="price")
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
    rows = [f"{d},{a},{b}" for d, a, b in zip(DATES, A, B, strict=True)]
    path = csv(tmp_path, [f"{preamble}date,A,B", *rows])
    assert f"pass skip_rows={lines} (--skip-rows {lines})" in suggested(path)
    np.testing.assert_allclose(read(path, skip_rows=lines).values, expected(), rtol=1e-12)


def test_a_comma_at_the_end_of_every_line(tmp_path):
    path = csv(tmp_path, ["date,A,B,", *(f"{d},{a},{b}," for d, a, b in zip(DATES, A, B, strict=True))])
    said = suggested(path)
    assert said == "column 4 has no name; name it, or choose others with columns=['A', 'B'] (--columns A B)"
    np.testing.assert_allclose(read(path, columns=["A", "B"]).values, expected(), rtol=1e-12)


def test_names_below_a_preamble(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    lines = [["from the desk"], [], ["in", "USD"], ["date", "A", "B"], *map(list, zip(DATES, A, B, strict=True))]
    book = openpyxl.Workbook()
    for line in lines:
        book.active.append(line)
    path = tmp_path / "book.xlsx"
    book.save(path)
    for skipped in (0, 1, 2):
        said = suggested(path, skip_rows=skipped)
        assert "pass skip_rows=3 (--skip-rows 3) if the names are in row 4 of the sheet" in said
    np.testing.assert_allclose(read(path, skip_rows=3).values, expected(), rtol=1e-12)
    text = [",".join(str(cell) for cell in [*line, "", "", ""][: max(3, len(line))]) for line in lines]
    path = csv(tmp_path, text)
    assert "pass skip_rows=3 (--skip-rows 3) if the names are in line 4" in suggested(path)
    assert "pass skip_rows=3 (--skip-rows 3) if the names are in the line above" in suggested(path, skip_rows=4)
    np.testing.assert_allclose(read(path, skip_rows=3).values, expected(), rtol=1e-12)


def test_long_tables(tmp_path):
    rows = [f"{d},{name},{p}" for d, a, b in zip(DATES, A, B, strict=True) for name, p in (("A", a), ("B", b))]
    path = csv(tmp_path, ["date,ticker,close", *rows])
    assert "pass pivot=('ticker', 'close') (--pivot 'ticker' 'close')" in suggested(path)
    found = read(path, pivot=("ticker", "close"))
    assert found.names == ("A", "B")
    np.testing.assert_allclose(found.values, expected(), rtol=1e-12)
    said = suggested(csv(tmp_path, ["date,ticker,close", *rows, rows[0]]), pivot=("ticker", "close"))
    assert "line 2 and line 12 have the same date and ticker, 'A'" in said
    lacking = csv(tmp_path, ["date,ticker,close", *rows[2:]])
    assert read(lacking, pivot=("ticker", "close")).values.shape == (3, 2)
    frame = pd.DataFrame(
        {"date": np.repeat(pd.to_datetime(DATES), 2), "ticker": ["A", "B"] * 5, "close": np.ravel([A, B], "F")}
    )
    np.testing.assert_allclose(read(frame, pivot=("ticker", "close")).values, expected(), rtol=1e-12)


def test_yfinance_frames_and_their_files(tmp_path):
    columns = pd.MultiIndex.from_product([["Close", "Volume"], ["A", "B"]], names=["Price", "Ticker"])
    frame = pd.DataFrame(np.column_stack([A, B, B, A]), index=pd.DatetimeIndex(DATES, name="Date"), columns=columns)
    assert "pass field='Close'" in suggested(frame)
    np.testing.assert_allclose(read(frame, field="Close").values, expected(), rtol=1e-12)
    swapped = frame.swaplevel(axis=1)
    np.testing.assert_allclose(read(swapped, field="Close").values, expected(), rtol=1e-12)
    path = tmp_path / "yf.csv"
    frame.to_csv(path)
    assert "pass field='Close' (--field 'Close')" in suggested(path)
    found = read(path, field="Close")
    assert found.names == ("A", "B")
    np.testing.assert_allclose(found.values, expected(), rtol=1e-12)
    with pytest.raises(sb.UnknownNameError, match="no field is called 'Open'"):
        read(path, field="Open")


def test_logarithmic_returns():
    found = read({"A": np.diff(np.log(A)), "B": np.diff(np.log(B))}, kind="log-returns")
    np.testing.assert_allclose(found.values, expected(), rtol=1e-12)
    assert "made simple returns of logarithmic ones" in found.notes


class TestSeries:
    """Risk-free rates and benchmarks as series."""

    rates = (0.0001, 0.0002, 0.0001, 0.0003, 0.0002)

    def test_a_column_of_rates_is_taken_off_row_by_row(self):
        table = {"date": DATES, "A": A, "B": B, "RF": self.rates}
        found = read(table, risk_free_series="RF")
        assert found.names == ("A", "B")
        np.testing.assert_allclose(found.excess, expected() - np.array(self.rates)[1:, None], rtol=1e-12)
        percent = {**table, "RF": [100 * r for r in self.rates]}
        again = read(percent, risk_free_series="RF", risk_free_quote="per-period-percent")
        np.testing.assert_allclose(again.excess, found.excess, rtol=1e-12)
        yearly = {**table, "RF": [(1 + r) ** 252 - 1 for r in self.rates]}
        np.testing.assert_allclose(
            read(yearly, risk_free_series="RF", risk_free_quote="annual").excess, found.excess, rtol=1e-9
        )
        assert "would be up to" in suggested(yearly, risk_free_series="RF", risk_free_quote="per-period")

    def test_a_benchmark_is_a_price_like_the_others(self):
        table = {"date": DATES, "A": A, "B": B}
        found = read({**table, "C": A}, benchmark="C")
        assert found.names == ("A", "B")
        np.testing.assert_allclose(found.excess[:, 0], 0, atol=1e-15)
        np.testing.assert_allclose(found.excess[:, 1], expected()[:, 1] - expected()[:, 0], rtol=1e-12)
        other = read(table, benchmark={"day": DATES[::-1], "index": A[::-1]})
        np.testing.assert_array_equal(other.excess, found.excess)

    def test_another_table_is_joined_by_date(self, tmp_path):
        table = {"date": DATES, "A": A, "B": B}
        path = csv(tmp_path, ["date,RF", *(f"{d},{r}" for d, r in zip(DATES, self.rates, strict=True))])
        np.testing.assert_allclose(
            read(table, risk_free_series=str(path)).excess, expected() - np.array(self.rates)[1:, None], rtol=1e-12
        )
        path = csv(tmp_path, ["date,RF", f"{DATES[0]},0.0001", f"{DATES[3]},0.0002"])
        said = suggested(table, risk_free_series=path)
        assert "has no value for row 2 of 5 (2020-01-03) (3 rows without one); pass missing='fill'" in said
        found = read(table, risk_free_series=path, missing="fill")
        np.testing.assert_allclose(found.hurdle.values, [0.0001, 0.0001, 0.0002, 0.0002])

    def test_one_hurdle_only(self):
        table = {"date": DATES, "A": A, "B": B, "RF": self.rates}
        assert "not both" in suggested(table, risk_free_series="RF", benchmark="A")
        found = read(table, risk_free_series="RF")
        with pytest.raises(sb.InvalidInputError, match="leave risk_free="):
            sb.rank(found, risk_free=0.02, block=1)


class TestUnequalHistories:
    """Every column on its own history."""

    table: ClassVar = {"date": DATES, "A": A, "B": [None, 2.1, None, 2.2, None], "C": [3, 3.1, 3.2, None, None]}

    def test_prices(self):
        said = suggested(self.table)
        assert "'B' lacks 3" in said
        assert "missing='keep' (--missing keep)" in said
        more = {"date": [datetime.date(2020, 1, d) for d in (9, 10, 13)]}
        long = {key: [*column, *more.get(key, [4.0, 5.0, 4.5])] for key, column in self.table.items()}
        found = read(long, missing="keep")
        assert found.counts.tolist() == [7, 4, 5]
        assert not found.complete
        np.testing.assert_allclose(found.own("B"), [2.2 / 2.1 - 1, 4 / 2.2 - 1, 0.25, -0.1])
        np.testing.assert_allclose(found.own(2), [3.1 / 3 - 1, 3.2 / 3.1 - 1, 4 / 3.2 - 1, 0.25, -0.1])
        assert "3 returns span a gap in prices" in " ".join(found.notes)
        assert len(found.common()) == 3

    def test_a_column_of_too_few_returns_is_named(self):
        assert "column 'B' has 1 return, and at least 3 are needed" in suggested(self.table, missing="keep")

    def test_dropping_says_what_it_cost(self):
        found = read({**self.table, "B": [None, *B[1:]], "C": B}, missing="drop")
        assert found.notes == ("dropped 1 of 5 rows: 1 value missing ('B' lacks 1, 1 of them alone)",)
