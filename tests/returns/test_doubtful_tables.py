"""Tables that look harmless: numbers that are not prices, values that are not there, files that are damaged."""

import gzip

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

import sharpe_bandits as sb
from sharpe_bandits import console
from sharpe_bandits.cli import main

PRICES = {"A": [100.0, 101.5, 99.0, 103.0, 104.0], "B": [50.0, 50.5, 51.5, 51.0, 52.0]}


@pytest.mark.parametrize(
    "first", [[20200102, 20200103, 20200106, 20200107, 20200108], [202001, 202002, 202003, 202004, 202005], range(5)]
)
def test_digits_in_the_first_column_are_no_prices(first, tmp_path):
    frame = pd.DataFrame({"when": first, **PRICES})
    path = tmp_path / "prices.csv"
    frame.to_csv(path, index=False)
    for source in (frame, path):
        with pytest.raises(sb.InvalidInputError, match=r"column 'when' seems to hold .*--columns"):
            sb.read_returns(source, kind="prices", periods_per_year=252)
    chosen = sb.read_returns(path, kind="prices", periods_per_year=252, columns=["A", "B"])
    assert chosen.names == ("A", "B")


def test_periods_are_dates():
    frame = pd.DataFrame({"month": pd.period_range("2020-01", periods=5, freq="M"), **PRICES})
    returns = sb.read_returns(frame, kind="prices", periods_per_year=12)
    assert returns.names == ("A", "B")
    assert str(returns.dates[0].astype("datetime64[D]")) == "2020-02-01"


def test_an_empty_line_of_a_single_column_is_a_gap(tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("A\n0.01\n\n0.02\n-0.01\n0.03\n\n\n")
    with pytest.raises(sb.InvalidInputError, match="column 'A', line 3 has no value"):
        sb.read_returns(path, kind="returns", periods_per_year=12)
    filled = sb.read_returns(path, kind="returns", periods_per_year=12, missing="fill")
    assert filled.values[:, 0].tolist() == [0.01, 0.0, 0.02, -0.01, 0.03]


def test_masked_values_are_gaps():
    x = np.ma.masked_array([[0.1, 0.2], [0.2, 9.0], [0.3, 0.1], [0.1, 0.3]], mask=[[0, 0], [0, 1], [0, 0], [0, 0]])
    with pytest.raises(sb.InvalidInputError, match="column 'b', row 2 of 4 has no value"):
        sb.read_returns(x, names=["a", "b"], kind="returns", periods_per_year=12)


def test_returns_beyond_all_bounds_are_refused():
    prices = {"A": [1e-300, 1e300, 1.0, 2.0, 3.0], "B": PRICES["B"]}
    with pytest.raises(sb.InvalidInputError, match="column 'A', row 2 of 5: a return of inf is too large"):
        sb.read_returns(prices, kind="prices", periods_per_year=252)


def test_a_damaged_file_is_told(tmp_path, capsys):
    path = tmp_path / "returns.csv.gz"
    path.write_bytes(gzip.compress(np.random.default_rng(1).bytes(5000))[:1000])
    assert main(["rank", str(path), "--kind", "returns", "--periods-per-year", "12"]) == 2
    assert "is damaged" in capsys.readouterr().err


def test_a_file_where_the_folder_should_be(tmp_path, capsys):
    table, taken = tmp_path / "returns.csv", tmp_path / "taken"
    g = np.random.default_rng(1)
    pd.DataFrame(g.normal(0, 0.01, (40, 2)), columns=["A", "B"]).to_csv(table, index=False)
    taken.write_text("mine")
    asked = ["rank", str(table), "--kind", "returns", "--periods-per-year", "12", "--replications", "400"]
    assert main([*asked, "--out", str(taken), "--confidence", "0.995"]) == 3
    told = capsys.readouterr()
    assert "--out" in told.err
    assert "99.5% interval" in told.out
    assert taken.read_text() == "mine"


def test_a_problem_needs_returns():
    with pytest.raises(sb.InvalidInputError, match="must come from read_returns, got DataFrame"):
        sb.BestArmProblem.from_returns(pd.DataFrame(PRICES))


@pytest.mark.parametrize("width", [40, 60, 80, 160])
def test_nothing_is_cut_on_a_narrow_screen(width):
    heads = ["share of time in", *(f"a policy {k}" for k in range(9))]
    rows = [[f"momentum_12m_{side}", *(f"{k}7.{k}%" for k in range(9))] for side in ("long", "short")]
    screen = Console(width=width, color_system=None, force_terminal=False)
    with screen.capture() as captured:
        screen.print(console.results([(heads, rows)], "", {}))
    text = captured.get()
    assert "…" not in text
    assert all(cell in text for row in rows for cell in row[1:])
    assert max(map(len, text.splitlines())) <= width


@pytest.mark.parametrize(
    ("step", "per_year", "said"),
    [("W", 252, True), ("W", 52, False), ("D", 52, True), ("D", 365, False), ("M", 12, False), ("M", 4, True)],
)
def test_a_wrong_number_of_periods_is_remarked_on(step, per_year, said):
    days = {"W": 7, "D": 1, "M": 30.4}[step]
    start = np.datetime64("2015-01-01")
    dates = [str(start + np.timedelta64(round(k * days), "D")) for k in range(200)]
    table = {"date": dates, "A": np.random.default_rng(0).normal(0, 0.01, 200)}
    remarks = sb.read_returns(table, kind="returns", periods_per_year=per_year).remarks
    assert any(f"periods_per_year={per_year}, but" in remark for remark in remarks) == said


def test_a_hole_in_the_calendar_is_remarked_on():
    start = np.datetime64("2020-01-01")
    dates = [str(start + np.timedelta64(k + 150 * (k > 40), "D")) for k in range(100)]
    table = {"date": dates, "A": np.random.default_rng(0).normal(0, 0.01, 100)}
    (remark,) = sb.read_returns(table, kind="returns", periods_per_year=365).remarks
    assert remark.startswith("151 days lie between row 41 of 100 (2020-02-10) and row 42 of 100")


def test_options_that_do_nothing_are_refused():
    returns = sb.read_returns(np.random.default_rng(0).normal(0, 0.01, (50, 2)), names=["a", "b"], kind="returns",
                              periods_per_year=12)  # fmt: skip
    with pytest.raises(sb.InvalidInputError, match="budget=20 is for policies that explore"):
        sb.replay(returns, ["SF-UCB"], budget=20)
    with pytest.raises(sb.InvalidInputError, match="gives window twice"):
        sb.replay(returns, ["SlidingWindowUCB:window=30,window=20"])
    with pytest.raises(sb.InvalidInputError, match="10 resamples say too little"):
        sb.rank(returns, replications=10)
    with pytest.raises(sb.InvalidInputError, match="columns must be a list of names, got 7"):
        sb.read_returns({"a": [0.1, 0.2, 0.1]}, kind="returns", periods_per_year=12, columns=7)


def test_columns_that_are_not_chosen_need_no_names(tmp_path):
    """As a spreadsheet exports it: two empty columns to the right."""
    path = tmp_path / "export.csv"
    path.write_text("date,A,B,,\n" + "".join(f"2020-01-0{d},0.0{d},-0.01,,\n" for d in range(1, 7)), "utf-8")
    with pytest.raises(sb.InvalidInputError, match="column 4 has no name; name it, or choose others with columns="):
        sb.read_returns(path, kind="returns", periods_per_year=252, constant="drop")
    chosen = sb.read_returns(path, kind="returns", periods_per_year=252, columns=["A"])
    assert chosen.values[:, 0].tolist() == [0.01, 0.02, 0.03, 0.04, 0.05, 0.06]
    path.write_text(path.read_text("utf-8").replace("A,B,,", "A,A,,"), "utf-8")
    with pytest.raises(sb.InvalidInputError, match="two columns are called 'A'; give one of them another name"):
        sb.read_returns(path, kind="returns", periods_per_year=252, columns=["A"])


@pytest.mark.parametrize("text", ["2020-1-5", "2-Jan-20", "Jan 5, 2020", "05.01.2020", "2020-01-05 16:00 EST"])
def test_dates_in_other_forms_are_said_to_be_so(text):
    with pytest.raises(
        sb.InvalidInputError,
        match=r"if it is a date (write it as 2020-01-31|pass date='when' .--date. and date_format='%)",
    ):
        sb.read_returns({"when": [text] * 4, "A": [0.1, 0.2, 0.1, 0.3]}, kind="returns", periods_per_year=252)


@pytest.mark.parametrize("text", ["0,00425", "1,234.5", "1.5%", "$12", "(3.5)"])
def test_numbers_in_other_forms_are_said_to_be_so(tmp_path, text):
    path = tmp_path / "x.csv"
    path.write_text(f'A;B\n0.1;"{text}"\n0.2;0.1\n0.1;0.2\n', "utf-8")
    with pytest.raises(
        sb.InvalidInputError,
        match=r"column 'B', line 2: .* (write it with a point before its decimals|is text, not a plain number; pass )",
    ):
        sb.read_returns(path, kind="returns", periods_per_year=252, separator=";")
