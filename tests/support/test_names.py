"""Names are checked where they come in, and escaped for each medium that shows them."""

import csv
import io

import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits._support.display import Table
from sharpe_bandits._support.names import LONGEST, check_name, csv_cell, plain_text, printable, shorten
from sharpe_bandits.errors import InvalidInputError
from tests.hostile import NAMES, REFUSED


@pytest.mark.parametrize("name", NAMES)
def test_any_text_in_one_line_is_a_name(name):
    assert check_name("it", name) == name
    assert sb.policies.UCB1(name=name).name == name
    assert sb.Bandit([sb.Bernoulli(0.1), sb.Bernoulli(0.2)], [name, "b"]).names == (name, "b")
    assert sb.policies.UCB1().agent([name, "b"]).arms == [name, "b"]


@pytest.mark.parametrize("name", REFUSED)
def test_names_that_cannot_be_shown_are_refused(name):
    arms = [sb.Bernoulli(0.1), sb.Bernoulli(0.2)]
    makers = [
        lambda: sb.policies.UCB1(name=name),
        lambda: sb.Bandit(arms, [name, "b"]),
        lambda: sb.policies.UCB1().agent([name, "b"]),
    ]
    if len(str(name)) <= LONGEST:  # a random bandit is often called by the formula of its arms, of any length
        makers.append(lambda: sb.RandomBandit(2, lambda generator: arms, name=name))
    for make in makers:
        with pytest.raises(InvalidInputError, match="name of a") as caught:
            make()
        told = str(caught.value)
        assert told.isprintable()  # the message can be shown
        assert len(told) < 300


def test_the_error_says_where_and_what_to_do():
    with pytest.raises(InvalidInputError) as caught:
        check_name("the name of a policy", "ab\x07c")
    assert str(caught.value) == (
        "the name of a policy must be printable text in one line, got 'ab\\x07c' with '\\x07' at position 3; leave "
        "that character out"
    )
    with pytest.raises(InvalidInputError, match=r"must be text, got 3"):
        sb.policies.UCB1(name=3)


def test_columns_of_real_data_may_be_long_but_not_unprintable():
    x = np.random.default_rng(0).normal(0, 0.01, (30, 2))
    long = "x" * 1000
    assert sb.read_returns(x, kind="returns", periods_per_year=12, names=[long, "$b"]).names == (long, "$b")
    assert sb.read_returns(x, kind="returns", periods_per_year=12, names=["two\nlines", "b"]).names == (
        "two\nlines",
        "b",
    )
    with pytest.raises(InvalidInputError, match="name of a column must be printable"):
        sb.read_returns(x, kind="returns", periods_per_year=12, names=["a\x00", "b"])


def test_cells_of_a_spreadsheet_are_never_formulas():
    for text in ("=1+1", "+1", "-1", "@x", "\tx", "\rx", "＝1"):
        assert csv_cell(text) == f"'{text}"
    for value in ("a=1", "", "1-2", "'=1", -1.5, 0, None, float("nan"), np.float64(-2)):
        assert csv_cell(value) is value


def test_tables_as_csv_keep_numbers_and_disarm_names():
    table = [{"=head": name, "value": -1.5 - k} for k, name in enumerate(NAMES)]
    rows = list(csv.DictReader(io.StringIO(Table.of(table).to_csv().decode())))
    assert [float(row["value"]) for row in rows] == [-1.5 - k for k in range(len(NAMES))]
    for row, name in zip(rows, NAMES, strict=True):
        assert row["'=head"].removeprefix("'") == name
        assert row["'=head"][0] not in "=+-@\t\r"


def test_text_for_matplotlib_has_no_formula():
    from matplotlib.cbook import is_math_text

    for name in NAMES:
        assert not is_math_text(plain_text(name))
        assert plain_text(name).replace(r"\$", "$") == name


def test_unprintable_signs_are_replaced_where_they_are_not_refused():
    assert printable("a\nb\x00c\u202ed") == "a b\ufffdc\ufffdd"
    assert shorten("abcdef", 6) == "abcdef"
    assert shorten("abcdefg", 6) == "abcde…"
