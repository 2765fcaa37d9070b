"""Numbers as people write them: decimal commas, thousands, currencies, per cent signs; nothing is guessed."""

import numpy as np
import pytest

from tests.returns.reading import DATES, FUND_A, FUND_B, csv, expected, prices, suggested


def german(number):
    return f"{number:,.2f}".replace(",", " ").replace(".", ",").replace(" ", ".")


def test_decimal_commas_thousands_currency_and_dates_one_doubt_after_another(tmp_path):
    rows = [f"{d:%d.%m.%Y};{german(a)} €;{german(b)} €" for d, a, b in zip(DATES, FUND_A, FUND_B, strict=True)]
    path = csv(tmp_path, ["Datum;A;B", *rows], "cp1252")
    assert "Pass separator=';'" in suggested(path, encoding="cp1252")
    options = {"separator": ";"}
    assert "pass encoding='cp1252'" in suggested(path, **options)
    options["encoding"] = "cp1252"
    assert "date='Datum' and date_format='%d.%m.%Y'" in suggested(path, **options)
    options |= {"date": "Datum", "date_format": "%d.%m.%Y"}
    said = suggested(path, **options)
    assert "'1.000,00 €' is text" in said
    assert "currency='€' and decimal=',' and thousands='.'" in said
    found = prices(path, **options, currency="€", decimal=",", thousands=".")
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
    found = prices({"A": column}, **options, **kind).values[0, 0]
    assert found == pytest.approx(1e-9 * value, rel=1e-12)


@pytest.mark.parametrize("text", ["1.5", "1.234", "1,2,3", "12,34.5", "", ",", "%", "1 5"])
def test_what_is_not_written_as_was_said_is_refused(text):
    said = suggested({"A": ["1,5", "1,6", text or "x", "1,7"]}, kind="returns", decimal=",", scale=0.5)
    assert "row 3 of 4" in said
    assert "is not a number with decimal=','" in said


def test_a_number_that_may_be_either_is_not_guessed():
    said = suggested({"A": ["1,234", "1,235", "1,236", "1,240"]}, kind="prices")
    assert "thousands=',' if it is 1234, decimal=',' if it is 1.234" in said


def test_per_cent_signs():
    column = ["1.5%", "-2%", "0.5 %", "1%"]
    assert "pass scale=0.01" in suggested({"A": column}, kind="returns")
    np.testing.assert_allclose(
        prices({"A": column}, kind="returns", scale=0.01).values[:, 0], [0.015, -0.02, 0.005, 0.01], rtol=1e-12
    )
    said = suggested({"A": ["1.5%", "0.02", "1%", "2%"]}, kind="returns", scale=0.01)
    assert "row 2 of 4" in said
    assert "'0.02' has no per cent sign, unlike other values of the column" in said


@pytest.mark.parametrize("scale", [None, 0.01])
def test_a_stray_per_cent_sign_is_the_mistake(scale):
    said = suggested({"A": ["0.5", "0.02", "1.5%", "0.2"]}, kind="returns", scale=scale)
    assert "row 3 of 4: '1.5%' has a per cent sign, unlike other values of the column; correct it" in said


@pytest.mark.parametrize("options", [{"decimal": ","}, {"scale": 0.01}])
@pytest.mark.parametrize("cell", ["e5", "E5", "-e-5"])
def test_an_exponent_alone_is_not_a_number(cell, options):
    said = suggested({"A": ["1", "2", cell, "3"]}, kind="returns", **options)
    assert f"column 'A', row 3 of 4: '{cell}' is not a number with decimal=" in said
