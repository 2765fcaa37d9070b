"""Tables that nobody should pass, and that somebody will: an error of ours, at once, which names the place."""

import datetime
import os
import time
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from fuzz.things import Hostile, Liar

import sharpe_bandits as sb

RETURNS = {"A": [0.01, 0.02, -0.01, 0.03], "B": [0.02, -0.02, 0.01, 0.0]}


def read(source, **options):
    return sb.read_returns(source, **{"kind": "returns", "periods_per_year": 252, **options})


@pytest.mark.parametrize(
    "odd",
    [
        10**400, Decimal("sNaN"), Hostile(), Liar(1.0), np.timedelta64(1, "s"), datetime.timedelta(1), 1j, b"1", [1.0],
        {}, np.array([1.0, 2.0]), True, np.bool_(True), object(), "x" * 200_000, pd.Interval(0, 1),
    ],
    ids=lambda odd: type(odd).__name__,
)  # fmt: skip
def test_a_thing_that_is_not_a_number_is_named_with_its_place(odd):
    with pytest.raises(sb.errors.InvalidInputError, match=r"column 'B', row 3 of 4: .*number") as caught:
        read({**RETURNS, "B": [0.02, -0.02, odd, 0.0]})
    assert len(str(caught.value)) < 1000


def test_numbers_of_other_kinds_are_numbers():
    others = [Decimal("0.02"), np.float16(-0.25), np.longdouble(0.5), np.int8(0)]
    assert read({**RETURNS, "B": others}).values[:, 1].tolist() == [0.02, -0.25, 0.5, 0.0]
    for kind in (">f8", np.longdouble, np.float32):
        column = np.array([0.25, -0.5, 0.125, 0.0]).astype(kind)
        assert read({**RETURNS, "B": column}).values[:, 1].tolist() == [0.25, -0.5, 0.125, 0.0]
        assert read(np.column_stack([column, column * 2]), names=["a", "b"]).values[:, 0].tolist() == column.tolist()


def test_columns_of_arrow_in_a_dictionary():
    table = {name: pa.array(column) for name, column in RETURNS.items()}
    np.testing.assert_array_equal(read(table).values, read(RETURNS).values)


@pytest.mark.parametrize(
    "dates",
    [
        pa.array([2**60] * 4).cast(pa.timestamp("s")),
        pa.array([2**30] * 4, pa.int32()).cast(pa.date32()),
        pa.array([-(2**62)] * 4).cast(pa.timestamp("ms", "UTC")),
        [np.datetime64("20000-01-01"), *["2020-01-01"] * 3],
        ["0001-01-01T00:00:00+14:00", *["2020-01-01"] * 3],
    ],
    ids=["seconds", "days", "zoned", "numpy", "before the year 1 in UTC"],
)
def test_dates_beyond_the_calendar(dates):
    table = pa.table({"when": dates, **RETURNS}) if isinstance(dates, pa.Array) else {"when": dates, **RETURNS}
    with pytest.raises(sb.errors.InvalidInputError, match=r"column 'when', row 1 of 4: .*years 1 to 9999"):
        read(table, date="when")


def test_dates_far_away_but_in_the_calendar_are_read():
    days = pa.array([datetime.date(1, 1, 1), datetime.date(1500, 1, 1), datetime.date(2020, 1, 1), datetime.date.max])
    returns = read(pa.table({"when": days, **RETURNS}))
    assert [str(date)[:10] for date in returns.dates] == ["0001-01-01", "1500-01-01", "2020-01-01", "9999-12-31"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2020-01-01,0.1,0.2\n2020-01-02,0.2,0.1\n",
         "first line seems to hold data, .* '2020-01-01', '0.1', '0.2'; add a header"),
        ("0.1,0.2\n0.2,0.1\n", "first line seems to hold data, .*columns= "),
        ("A,B\n0.1,0.2\n0.3," + "x" * 140_000 + "\n", "about line 3: field larger than field limit"),
        ("A" * 140_000 + ",B\n0.1,0.2\n", "about line 1: field larger than field limit"),
        ("\0,\0\n0.1,0.2\n0.2,0.1\n0.3,0.1\n", "two columns are called|must be printable"),
        ("A,B\n0.1,\0\n", "column 'B', line 2: '.x00' is text, not a number"),
    ],
    ids=["dates", "numbers", "field", "name", "NUL names", "NUL cell"],
)  # fmt: skip
def test_odd_csv_files(text, message, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(sb.errors.InvalidInputError, match=message):
        read(path)


def test_names_that_look_like_data_can_be_chosen(tmp_path):
    path = tmp_path / "codes.csv"
    path.write_text("600519,000001\n0.1,0.2\n0.2,0.1\n0.3,0.1\n")
    assert read(path, columns=["600519", "000001"]).names == ("600519", "000001")


def test_what_is_no_ordinary_file(tmp_path):
    pipe, zero = tmp_path / "pipe.csv", tmp_path / "zero.csv"
    os.mkfifo(pipe)
    zero.symlink_to("/dev/zero")
    for path in (pipe, zero):
        with pytest.raises(sb.errors.InvalidInputError, match="is not an ordinary file"):
            read(path)
    with pytest.raises(sb.errors.InvalidInputError, match=r"does not exist|cannot be read"):
        read("a\0b.csv")
    with pytest.raises(sb.errors.InvalidInputError, match="cannot be read"):
        read("a" * 5000 + ".csv")


@pytest.mark.parametrize("separator", ["", "ab", "\n", '"', "\0", None, 5])
def test_odd_separators(separator, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("A,B\n0.1,0.2\n")
    with pytest.raises(sb.errors.InvalidInputError, match="separator must be a single character"):
        read(path, separator=separator)


def test_many_columns_take_seconds_and_are_not_all_listed(tmp_path):
    names = [f"column {k}" for k in range(8_000)]
    values = np.random.default_rng(1).normal(0, 0.01, (5, len(names)))
    frame = pd.DataFrame(values, columns=names)
    frame.to_csv(tmp_path / "wide.csv", index=False)
    started = time.process_time()
    for source in (frame, pa.Table.from_pandas(frame), dict(zip(names, values.T, strict=True)), tmp_path / "wide.csv"):
        assert read(source, columns=names[::-1]).names == tuple(reversed(names))
    assert (
        time.process_time() - started < 15
    )  # 20,000 took 190 s where time grew with the square of the number, 30 s for 8,000
    with pytest.raises(sb.errors.UnknownNameError, match=r"'column 0', .*… \(8,000 in all\)") as caught:
        read(frame, columns=["none"])
    assert len(str(caught.value)) < 2000


def test_numbers_of_thousands_of_digits():
    huge = 10**5000
    with pytest.raises(sb.errors.InvalidInputError, match="decimal must be one of"):
        read(RETURNS, decimal=huge)
    with pytest.raises(sb.errors.InvalidInputError, match="column 'B', row 1 of 4: 'x' is text, not a number"):
        read({**RETURNS, "B": ["x", huge, 0.1, 0.2]})
    with pytest.raises(sb.errors.InvalidInputError, match=r"column 'A', row 1 of 4: .* is not a number"):
        read({"date": [huge] * 4, "name": ["A", "B"] * 2, "B": [huge, 0.1, 0.1, 0.2]}, pivot=("name", "B"))
