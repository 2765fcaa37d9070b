"""From numbers to returns: time zones, order, duplicates, gaps, per cent, unequal histories."""

import datetime
from typing import ClassVar
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest

import sharpe_bandits as sb
from tests.messages import says
from tests.returns.reading import (
    CSV,
    DATES,
    DAYS,
    FUND_A,
    FUND_B,
    PRICES,
    WANTED,
    A,
    B,
    expected,
    frame,
    prices,
    returns,
    suggested,
    written,
)


def test_time_zones(tmp_path):
    closes = pd.DatetimeIndex(DAYS, tz="Asia/Tokyo") + pd.Timedelta(hours=6)
    found = prices(frame().set_index(closes))
    assert str(found.dates[0])[:16] == "2020-01-02T21:00"
    assert list(found.days.astype("datetime64[D]").astype(str)) == DAYS[1:]
    assert found.notes[0].startswith("converted dates from Asia/Tokyo to UTC")
    mixed = CSV.replace(DAYS[0], f"{DAYS[0]}T16:00-05:00").replace(DAYS[1], f"{DAYS[1]}T16:00-04:00")
    path = written(tmp_path, mixed)
    said = "column 'date' are in several time zones: line 2 has UTC-05:00, line 3 has UTC-04:00; pass timezones='utc'"
    with pytest.raises(sb.errors.InvalidInputError, match=says(said)):
        prices(path)
    found = prices(path, timezones="utc")
    assert str(found.dates[0])[:16] == "2020-01-03T20:00"
    assert str(found.dates[1])[:16] == "2020-01-06T00:00"
    assert [str(day)[:10] for day in found.days] == DAYS[1:]
    assert found.notes == ("converted dates from UTC-05:00, UTC-04:00, no time zone to UTC",)


def test_midnights_of_a_time_zone_remain_calendar_dates(tmp_path):
    naive = frame().set_index(pd.DatetimeIndex(DAYS))
    for zone in ("Asia/Tokyo", "America/New_York", "+09:00"):
        found = prices(naive.tz_localize(zone), risk_free_series=pd.DataFrame({"RF": 0.0001}, naive.index))
        np.testing.assert_array_equal(found.dates, prices(naive).dates)
        assert found.hurdle is not None
    summer = CSV
    for day, offset in zip(DAYS, ("+01:00", "+02:00", "+02:00", "+02:00"), strict=False):
        summer = summer.replace(day, f"{day}T00:00:00{offset}")
    np.testing.assert_array_equal(prices(written(tmp_path, summer)).dates, prices(naive).dates)


def test_time_zones_of_objects():
    zones = [ZoneInfo("Europe/Paris"), ZoneInfo("Asia/Tokyo")] * 2
    index = pd.Index([datetime.datetime(2020, 1, 2 + k, 12, tzinfo=z) for k, z in enumerate(zones)], dtype=object)
    with pytest.raises(sb.errors.InvalidInputError, match=says("row 1 of 4 has Europe/Paris", "Asia/Tokyo")):
        prices(frame().set_index(index))
    assert str(prices(frame().set_index(index), timezones="utc").dates[0])[:16] == "2020-01-03T03:00"


def test_order():
    shuffled = frame().iloc[[0, 2, 1, 3]]
    remedy = "pass unsorted='sort'"
    with pytest.raises(
        sb.errors.InvalidInputError, match=says("row 3 of 4 (2020-01-03) comes after row 2 of 4 (2020-01-06)", remedy)
    ):
        prices(shuffled)
    found = prices(shuffled, unsorted="sort")
    assert found.values == pytest.approx(np.array(WANTED), abs=1e-15)
    assert found.notes == ("sorted by date (row 3 of 4 (2020-01-03) came after row 2 of 4 (2020-01-06))",)
    with pytest.raises(sb.errors.InvalidInputError, match=says("the newest come first", remedy)):
        prices(frame().iloc[::-1])


def test_duplicates():
    doubled = pd.concat([frame(), pd.DataFrame({"A": [1.0], "B": [2.0]}, index=[pd.Timestamp(DAYS[-1])])])
    with pytest.raises(
        sb.errors.InvalidInputError,
        match=says("row 4 of 5 (2020-01-07) and row 5 of 5", "1 row too many in all", "duplicates='first'", "'last'"),
    ):
        prices(doubled)
    first, last = (prices(doubled, duplicates=which) for which in ("first", "last"))
    assert first.values == pytest.approx(np.array(WANTED), abs=1e-15)
    assert last.values[-1] == pytest.approx([1 / 99 - 1, 2 / 60 - 1])
    assert last.notes == ("kept the last row of each date: 1 row dropped",)


def test_rows_without_a_date(tmp_path):
    path = written(tmp_path, CSV.replace(DAYS[1], ""))
    with pytest.raises(sb.errors.InvalidInputError, match=says("line 3 has no date (1 row in all)", "missing='drop'")):
        prices(path, missing="fill")
    with pytest.raises(
        sb.errors.InvalidInputError, match=says("2 returns, but at least 3", "dropped 1 row without a date")
    ):
        prices(path, missing="drop")


def test_gaps_in_prices():
    given = {"A": [100, 110, None, 99, 99], "B": [50, 55, 50, 60, float("nan")]}
    with pytest.raises(
        sb.errors.InvalidInputError,
        match=says("column 'A', row 3 of 5 has no value (2 values missing in 2 rows and 2 columns: 'A'",
                   "lacks 1, 1 of them as the only column; 'B'",
                       "missing='keep'", "missing='drop'",
                   "missing='fill' to use the last known price"),
    ):  # fmt: skip
        prices(given)
    filled = prices(given, missing="fill")
    assert filled.values == pytest.approx(np.array([[0.1, 0.1], [0, -1 / 11], [-0.1, 0.2], [0, 0]]))
    assert filled.notes == ("filled 2 missing prices with the last known price",)
    given["A"].append(100)
    given["B"].append(66)
    dropped = prices(given, missing="drop")
    assert dropped.values == pytest.approx(np.array([[0.1, 0.1], [-0.1, 60 / 55 - 1], [100 / 99 - 1, 0.1]]))
    assert dropped.notes == (
        "dropped 2 of 6 rows: 2 values missing ('A' lacks 1, 1 of them as the only column; "
        "'B' lacks 1, 1 of them as the only column)",
    )


def test_a_gap_at_the_beginning_cannot_be_filled():
    with pytest.raises(
        sb.errors.InvalidInputError,
        match=says("column 'B', row 1 of 4 has no earlier price", "'drop'"),
    ):
        prices({"A": A, "B": [None, *B[1:]]}, missing="fill")


def test_constant_columns_can_be_dropped():
    grown = 1.01 ** np.arange(4)  # returns that differ in the last bits
    found = prices({"A": A, "cash": grown, "B": B}, constant="drop")
    assert found.names == ("A", "B")
    assert found.values == pytest.approx(np.array(WANTED), abs=1e-15)
    assert found.notes == ("dropped 'cash', which does not vary",)


def test_per_cent():
    percent = {"A": [2.0, -3.0, 1.0]}
    with pytest.raises(
        sb.errors.InvalidInputError,
        match=says("column 'A', row 2 of 3: a return of -3 is a loss of more than 100%", "scale=0.01"),
    ):
        returns(percent)
    found = returns(percent, scale=0.01)
    assert found.values[:, 0] == pytest.approx([0.02, -0.03, 0.01])
    assert found.notes == ("multiplied returns by 0.01",)


def test_a_large_cost_is_shown_as_given():
    with pytest.raises(
        sb.errors.InvalidInputError,
        match=says("row 2 of 3: a cost of 6.5 is a loss of more than 100%; if costs are in per cent", "scale=0.0001"),
    ):
        returns({"A": [0.2, 6.5, 1.0]}, direction="min")


def test_a_gain_of_more_than_everything_is_accepted_when_it_is_meant():
    doubled = {"A": [1.5, -0.5, 0.1]}
    with pytest.raises(sb.errors.InvalidInputError, match=says("row 1 of 3: a return of 1.5 is a gain", "scale=1")):
        returns(doubled)
    assert returns(doubled, scale=1).values[:, 0].tolist() == [1.5, -0.5, 0.1]
    with pytest.raises(sb.errors.InvalidInputError, match=says("a return of -2 is a loss of more than 100%")):
        returns({"A": [1.5, -2.0, 0.1]}, scale=1)
    assert prices({"A": [1, 5, 4, 6]}).values[0, 0] == 4.0  # prices may do so


def test_logarithmic_returns():
    found = prices({"A": np.diff(np.log(FUND_A)), "B": np.diff(np.log(FUND_B))}, kind="log-returns")
    np.testing.assert_allclose(found.values, expected(), rtol=1e-12)
    assert "converted logarithmic returns to simple ones" in found.notes


def own(found, name):
    """The returns of one column, in the rows where it has one."""
    values = found.values[:, found.names.index(name)]
    return values[~np.isnan(values)]


class TestUnequalHistories:
    """Every column on its own history."""

    table: ClassVar = {"date": DATES, "A": FUND_A, "B": [None, 2.1, None, 2.2, None], "C": [3, 3.1, 3.2, None, None]}

    def test_prices(self):
        said = suggested(self.table)
        assert "'B' lacks 3" in said
        assert "missing='keep'" in said
        more = {"date": [datetime.date(2020, 1, d) for d in (9, 10, 13)]}
        long = {key: [*column, *more.get(key, [4.0, 5.0, 4.5])] for key, column in self.table.items()}
        found = prices(long, missing="keep")
        assert found.counts.tolist() == [7, 4, 5]
        assert not found.complete
        np.testing.assert_allclose(own(found, "B"), [2.2 / 2.1 - 1, 4 / 2.2 - 1, 0.25, -0.1])
        np.testing.assert_allclose(own(found, "C"), [3.1 / 3 - 1, 3.2 / 3.1 - 1, 4 / 3.2 - 1, 0.25, -0.1])
        assert "3 returns span a gap in prices" in " ".join(found.notes)

    def test_a_column_of_too_few_returns_is_named(self):
        assert "column 'B' has 1 return, but at least 3 are needed" in suggested(self.table, missing="keep")

    def test_dropping_says_what_it_cost(self):
        found = prices({**self.table, "B": [None, *FUND_B[1:]], "C": FUND_B}, missing="drop")
        assert found.notes == ("dropped 1 of 5 rows: 1 value missing ('B' lacks 1, 1 of them as the only column)",)


def test_returns_beyond_all_bounds_are_refused():
    prices = {"A": [1e-300, 1e300, 1.0, 2.0, 3.0], "B": PRICES["B"]}
    with pytest.raises(sb.errors.InvalidInputError, match="column 'A', row 2 of 5: a return of inf is too large"):
        sb.read_returns(prices, kind="prices", periods_per_year=252)
