"""Which columns a table has: chosen in order, unnamed ones, names below a preamble."""

import numpy as np
import pandas as pd
import pytest

import sharpe_bandits as sb
from tests.messages import says
from tests.returns.reading import DATES, FUND_A, FUND_B, csv, expected, frame, prices, suggested


def test_columns_are_chosen_in_order():
    assert prices(frame(), columns=["B", "A"]).names == ("B", "A")
    with pytest.raises(
        sb.errors.UnknownNameError, match=says("no column is called 'b'", "did you mean 'B'?", "'A', 'B'")
    ):
        prices(frame(), columns=["b"])
    with pytest.raises(sb.errors.InvalidInputError, match=says("distinct", "['A', 'A']")):
        prices(frame(), columns=["A", "A"])
    with pytest.raises(sb.errors.InvalidInputError, match=says("columns must be a list of names, got 'A'")):
        prices(frame(), columns="A")
    with pytest.raises(sb.errors.InvalidInputError, match=says("column 'date' is used for dates")):
        prices(frame(), columns=["date", "A"])


def test_an_index_without_dates_is_left_out():
    found = prices(frame().set_index(pd.Index([7, 8, 9, 12])))
    assert found.dates is None
    assert found.notes == ("left out the index 'index', which is not the column of dates",)


@pytest.mark.parametrize(("form", "option"), [("%d/%m/%Y", "date_format='%d/%m/%Y'"), ("%Y%m%d", "date='index'")])
def test_an_index_of_dates_in_another_form_is_not_left_out(form, option):
    """As in a file, where the first column would be refused."""
    days = [f"{day.replace(day=day.day + 20):{form}}" for day in DATES]
    table = pd.DataFrame({"A": FUND_A, "B": FUND_B}, index=[int(day) if day.isdecimal() else day for day in days])
    assert option in suggested(table)
    found = prices(table, date="index", **({"date_format": form} if "format" in option else {}))
    assert str(found.dates[0])[:10] == "2020-01-23"
    assert prices(table, columns=["A"]).dates is None


def test_names_below_a_preamble(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    lines = [
        ["from the desk"],
        [],
        ["in", "USD"],
        ["date", "A", "B"],
        *map(list, zip(DATES, FUND_A, FUND_B, strict=True)),
    ]
    book = openpyxl.Workbook()
    for line in lines:
        book.active.append(line)
    path = tmp_path / "book.xlsx"
    book.save(path)
    for skipped in (0, 1, 2):
        said = suggested(path, skip_rows=skipped)
        assert "pass skip_rows=3 if the names are in row 4 of the sheet" in said
    np.testing.assert_allclose(prices(path, skip_rows=3).values, expected(), rtol=1e-12)
    text = [",".join(str(cell) for cell in [*line, "", "", ""][: max(3, len(line))]) for line in lines]
    path = csv(tmp_path, text)
    assert "pass skip_rows=3 if the names are in line 4" in suggested(path)
    assert "pass skip_rows=3 if the names are in the line above" in suggested(path, skip_rows=4)
    np.testing.assert_allclose(prices(path, skip_rows=3).values, expected(), rtol=1e-12)


def test_columns_that_are_not_chosen_need_no_names(tmp_path):
    """As a spreadsheet exports it: two empty columns to the right."""
    path = tmp_path / "export.csv"
    text = "date,A,B,,\n" + "".join(f"2020-01-0{d},0.0{d},-0.01,,\n" for d in range(1, 7))
    path.write_text(text.replace("-0.01,,", "-0.01,,7"), "utf-8")
    with pytest.raises(
        sb.errors.InvalidInputError, match="column 4 has no name; name it, or choose others with columns="
    ):
        sb.read_returns(path, kind="returns", periods_per_year=252, constant="drop")
    path.write_text(text, "utf-8")
    assert sb.read_returns(path, kind="returns", periods_per_year=252, constant="drop").names == ("A",)
    chosen = sb.read_returns(path, kind="returns", periods_per_year=252, columns=["A"])
    assert chosen.values[:, 0].tolist() == [0.01, 0.02, 0.03, 0.04, 0.05, 0.06]
    path.write_text(path.read_text("utf-8").replace("A,B,,", "A,A,,"), "utf-8")
    with pytest.raises(sb.errors.InvalidInputError, match="two columns are called 'A'; give one of them another name"):
        sb.read_returns(path, kind="returns", periods_per_year=252, columns=["A"])
