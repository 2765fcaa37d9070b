"""Dates of a table: which column holds them, in which form, and none that is guessed."""

import datetime

import pandas as pd
import pytest

import sharpe_bandits as sb
from tests.messages import says
from tests.returns.reading import DAYS, PRICES, A, prices, suggested


def test_the_column_of_dates_can_be_named(tmp_path):
    table = {"A": A, "when": ["20200102", "20200103", "20200106", "20200107"]}
    found = prices(table, date="when")
    assert found.names == ("A",)
    assert [str(d)[:10] for d in found.dates] == DAYS[1:]
    months = prices({"A": A, "when": [202001, 202002, 202003, 202004]}, date="when", periods_per_year=12)
    assert [str(d)[:10] for d in months.dates] == ["2020-02-01", "2020-03-01", "2020-04-01"]
    with pytest.raises(
        sb.errors.InvalidInputError, match=says("column 'when', row 1 of 4: '2020-01-02' is a date", "date='when'")
    ):
        prices({"A": A, "when": DAYS})
    with pytest.raises(sb.errors.UnknownNameError, match=says("no column is called 'wenn': did you mean 'when'?")):
        prices(table, date="wenn")


def test_months_and_periods():
    assert str(prices({"m": ["2020-01", "2020-02", "2020-03", "2020-04"], "A": A}).dates[0])[:10] == "2020-02-01"
    monthly = pd.DataFrame({"A": A}, index=pd.period_range("2020-01", periods=4, freq="M"))
    assert str(prices(monthly, periods_per_year=12).dates[-1])[:10] == "2020-04-01"


def test_dates_that_may_be_either_are_not_guessed():
    days = ["01/02/2020", "02/02/2020", "03/02/2020", "04/02/2020"]
    said = suggested({"when": days, "A": [1, 2, 1.5, 3]}, date="when")
    assert "date_format='%d/%m/%Y' if '01/02/2020' is 2020-02-01" in said
    assert "date_format='%m/%d/%Y' if '01/02/2020' is 2020-01-02" in said
    found = prices({"when": days, "A": [1, 2, 1.5, 3]}, date_format="%d/%m/%Y")
    assert str(found.dates[0])[:10] == "2020-02-02"
    said = suggested({"when": ["31/01/2020", *days], "A": [1, 2, 1.5, 3, 2]}, date_format="%m/%d/%Y")
    assert "'31/01/2020' is not a date in the format '%m/%d/%Y'; pass date_format='%d/%m/%Y'" in said


def test_periods_are_dates():
    frame = pd.DataFrame({"month": pd.period_range("2020-01", periods=5, freq="M"), **PRICES})
    returns = sb.read_returns(frame, kind="prices", periods_per_year=12)
    assert returns.names == ("A", "B")
    assert str(returns.dates[0].astype("datetime64[D]")) == "2020-02-01"


@pytest.mark.parametrize("text", ["2020-1-5", "2-Jan-20", "Jan 5, 2020", "05.01.2020", "2020-01-05 16:00 EST"])
def test_dates_in_other_forms_are_said_to_be_so(text):
    with pytest.raises(
        sb.errors.InvalidInputError,
        match=r"if it is a date, (write it as 2020-01-31|pass date='when' and date_format='%)",
    ):
        sb.read_returns({"when": [text] * 4, "A": [0.1, 0.2, 0.1, 0.3]}, kind="returns", periods_per_year=252)


def test_digits_are_dates_in_frames_and_spreadsheets_too(tmp_path):
    """Pandas and spreadsheets may hold whole numbers as floats."""
    digits = pd.DataFrame({"when": [int(day.replace("-", "")) for day in DAYS], "A": A})
    parts = pd.DataFrame(
        [[*map(int, day.split("-")), a] for day, a in zip(DAYS, A, strict=True)], columns=["y", "m", "d", "A"]
    )
    years = pd.DataFrame({"when": [2001, 2002, 2003, 2004], "A": A})
    for table in (digits, digits.astype({"when": float}), digits.set_index("when"), _book(tmp_path, digits)):
        assert [str(d)[:10] for d in prices(table, date="when").dates] == DAYS[1:]
    for table in (parts, _book(tmp_path, parts)):
        found = prices(table, date=["y", "m", "d"])
        assert found.names == ("A",)
        assert [str(d)[:10] for d in found.dates] == DAYS[1:]
    for table in (years, _book(tmp_path, years)):
        assert "pass date_format='%Y'" in suggested(table, date="when")
        assert str(prices(table, date="when", date_format="%Y", periods_per_year=1).dates[-1])[:10] == "2004-01-01"
    long = digits.assign(name="A")
    assert "column 'when' seems to hold dates; pass date='when'" in suggested(long, pivot=("name", "A"))


def test_formats_are_told_apart_by_a_date_in_which_they_differ():
    days = ["01/01/2020", "01/02/2020", "01/03/2020", "01/04/2020"]
    said = suggested({"when": days, "A": A}, date="when")
    assert "'%d/%m/%Y' if '01/02/2020' is 2020-02-01, or date_format='%m/%d/%Y' if '01/02/2020' is 2020-01-02" in said


def test_text_beside_dates_is_no_matter_of_a_format(tmp_path):
    """A spreadsheet that takes days for months leaves as text what it cannot read so."""
    first, *others = (datetime.date.fromisoformat(day) for day in DAYS)
    table = pd.DataFrame({"when": [first, *(f"{day:%d/%m/%Y}" for day in others)], "A": A})
    for source in (table, _book(tmp_path, table)):
        for options in ({}, {"date_format": "%d/%m/%Y"}):
            said = suggested(source, date="when", **options)
            assert "make all of them text, or all of them dates" in said
            assert "pass date_format=" not in said
    said = suggested(table.assign(when=[first, *others]), date="when", date_format="%d/%m/%Y")
    assert "it is a date already: leave out date_format=" in said


def _book(folder, table):
    pytest.importorskip("openpyxl")
    path = folder / "book.xlsx"
    table.to_excel(path, index=False)
    return path
