"""Files and frames as people have them: read as intended, or refused with a remedy that reads them as intended.

Every remedy is taken from the message and followed, and the result is compared with the true returns.
"""

import gzip
import re
import shlex

import numpy as np
import pandas as pd
import pytest

import sharpe_bandits as sb
from sharpe_bandits.cli import program as cli
from tests.returns.reading import csv, returns, suggested

ROWS = 300
DAYS = pd.bdate_range("2008-01-02", periods=ROWS)
MONTHS = pd.date_range("1990-01-31", periods=ROWS, freq="ME")
TRUE = np.random.default_rng(1).normal(0.0005, 0.01, (ROWS, 2))
PRICES = 100 * np.cumprod(1 + TRUE, axis=0)
NAMES = ("SPY", "AGG")


def read(source, kind="prices", periods_per_year=252, **options):
    return sb.read_returns(source, kind=kind, periods_per_year=periods_per_year, **options)


def lines(dates, values=PRICES, separator=",", form="{:.10f}"):
    return [
        separator.join([date, *(form.format(v) for v in row)])
        for date, row in zip(dates, values, strict=False)
    ]  # fmt: skip


def saved(folder, *text, name="file.csv", encoding="utf-8"):
    path = folder / name
    path.write_text("\n".join(text) + "\n", encoding)
    return path


#: Options in a message, as Python: date='Date', scale=0.01, columns=['A', 'B'].
_OPTION = re.compile(r"\b(\w+)=((?:\[[^\]]*\])|(?:\([^)]*\))|(?:'[^']*')|(?:[\d.]+))")


def follow(source, **options):
    """Read a table, following every remedy that messages name first, until it is read."""
    for _ in range(4):
        try:
            return read(source, **options)
        except sb.errors.InvalidInputError as error:
            text = str(error)
            clause = re.split(r"[Pp]ass ", text)[-1].split("; ")[0]
            remedies = {key: eval(value) for key, value in _OPTION.findall(clause)}
            assert remedies, text
            assert any(options.get(key) != value for key, value in remedies.items()), text
            options |= remedies
    raise AssertionError(f"no remedy helps: {options}")


def right(returns, values=TRUE[1:], names=NAMES, atol=1e-8):
    assert returns.names == names
    assert returns.values.shape == values.shape
    np.testing.assert_allclose(returns.values, values, atol=atol)
    return returns


HEAD = "Date,SPY,AGG"
DATES = {
    "iso": [f"{d:%Y-%m-%d}" for d in DAYS],
    "day and time": [f"{d:%Y-%m-%d} 16:00:00" for d in DAYS],
    "digits and time": [f"{d:%Y%m%d} 16:00:00" for d in DAYS],
    "zone": [f"{d:%Y-%m-%d}T16:00:00+00:00" for d in DAYS],
    "day first": [f"{d:%d/%m/%Y}" for d in DAYS],
    "month first": [f"{d:%m/%d/%Y}" for d in DAYS],
    "month in words": [f"{d:%d-%b-%Y}" for d in DAYS],
    "US, in words": ['"' + f"{d:%b %d, %Y}" + '"' for d in DAYS],
    "German": [f"{d:%d.%m.%Y}" for d in DAYS],
}
SPARSE = {
    "quarters": (4, [f"{1930 + k // 4}Q{k % 4 + 1}" for k in range(ROWS)]),
    "quarters with a dash": (4, [f"{1930 + k // 4}-Q{k % 4 + 1}" for k in range(ROWS)]),
    "months": (12, [f"{d:%Y-%m}" for d in MONTHS]),
    "months in words": (12, [f"{d:%b-%y}" for d in MONTHS]),
    "months in long words": (12, [f"{d:%b %Y}" for d in MONTHS]),
}


@pytest.mark.parametrize("form", DATES)
def test_dates(form, tmp_path):
    returns = right(follow(saved(tmp_path, HEAD, *lines(DATES[form]))))
    assert returns.dates[0].astype("datetime64[D]") == np.datetime64(DAYS[1], "D")
    assert not returns.remarks


@pytest.mark.parametrize("form", SPARSE)
def test_dates_of_rare_rows(form, tmp_path):
    periods, dates = SPARSE[form]
    returns = right(follow(saved(tmp_path, HEAD, *lines(dates)), periods_per_year=periods))
    assert not returns.remarks


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_separators(separator, tmp_path):
    path = saved(tmp_path, HEAD.replace(",", separator), *lines(DATES["iso"], separator=separator), name="file.tsv")
    right(follow(path))


def test_decimal_commas(tmp_path):
    rows = [line.replace(".", ",") for line in lines(DATES["iso"], separator=";")]
    right(follow(saved(tmp_path, HEAD.replace(",", ";"), *rows), separator=";"))


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
def test_encodings(encoding, tmp_path):
    path = saved(tmp_path, "Date,Zürich,AGG", *lines(DATES["iso"]), encoding=encoding)
    right(follow(path), names=("Zürich", "AGG"))


@pytest.mark.parametrize("preamble", [["Fund report"], ["Fund report", "", "in USD,,"], ["a,b,c", "1,2,3"]])
def test_preambles(preamble, tmp_path):
    if preamble[-1] == "1,2,3":
        preamble = ["Report,of,funds"]
    right(follow(saved(tmp_path, *preamble, HEAD, *lines(DATES["iso"]))))


class TestFields:
    """Several numbers per asset."""

    VOLUMES = np.random.default_rng(2).integers(10**6, 10**7, (ROWS, 2))

    @pytest.fixture
    def frame(self):
        columns = pd.MultiIndex.from_product([["Close", "Volume"], NAMES], names=["Price", "Ticker"])
        return pd.DataFrame(np.hstack([PRICES, self.VOLUMES]), pd.Index(DAYS, name="Date"), columns)

    @pytest.mark.parametrize("swapped", [False, True])
    @pytest.mark.parametrize("form", ["frame", "csv", "parquet", "parquet without index"])
    def test_yfinance(self, frame, form, swapped, tmp_path):
        frame = frame.swaplevel(axis=1) if swapped else frame
        path = tmp_path / f"file.{form.split()[0]}"
        if form == "csv":
            frame.to_csv(path)
        elif form != "frame":
            (frame.reset_index() if "without" in form else frame).to_parquet(path)
        source = frame if form == "frame" else path
        right(read(source, field="Close"))
        with pytest.raises(sb.errors.UnknownNameError):
            read(source, field="Open")
        right(follow(source))

    def test_field_of_a_plain_parquet_file(self, tmp_path):
        pd.DataFrame(PRICES, DAYS, NAMES).to_parquet(tmp_path / "file.parquet")
        with pytest.raises(sb.errors.InvalidInputError, match="two levels"):
            read(tmp_path / "file.parquet", field="Close")

    def test_bloomberg(self, tmp_path):
        path = saved(tmp_path, ",SPY,AGG", "Date,PX_LAST,PX_LAST", *lines(DATES["iso"]))
        right(follow(path))

    def test_bloomberg_with_volumes(self, tmp_path):
        values = np.column_stack([PRICES[:, 0], self.VOLUMES[:, 0], PRICES[:, 1], self.VOLUMES[:, 1]])
        path = saved(
            tmp_path, ",SPY,,AGG,", "Date,PX_LAST,VOLUME,PX_LAST,VOLUME", *lines(DATES["iso"], values, form="{}")
        )
        right(follow(path), atol=1e-12)

    def test_bloomberg_in_a_spreadsheet(self, tmp_path):
        openpyxl = pytest.importorskip("openpyxl")
        book = openpyxl.Workbook()
        for line in ([None, *NAMES], ["Date", "PX_LAST", "PX_LAST"]):
            book.active.append(line)
        for day, row in zip(DAYS, PRICES.tolist(), strict=True):
            book.active.append([day.to_pydatetime(), *row])
        book.save(tmp_path / "file.xlsx")
        right(read(tmp_path / "file.xlsx", field="PX_LAST"))

    def test_an_asset_twice(self):
        frame = pd.DataFrame(PRICES, DAYS, ["Close", "Adj Close"])
        right(follow(frame), TRUE[1:, 1:], ("Adj Close",))
        right(follow(frame.set_axis(["SPY Close", "SPY Adj Close"], axis=1)), TRUE[1:, 1:], ("SPY Adj Close",))

    def test_every_asset_twice(self):
        names = ["SPY Adj Close", "AGG Adj Close"]
        frame = pd.DataFrame(PRICES, DAYS, names)
        frame[["SPY Close", "AGG Close"]] = 1.02 * PRICES
        right(follow(frame), names=tuple(names))

    def test_columns_of_text(self, tmp_path):
        rows = [f"{line},ok" for line in lines([f"{day:%Y-%m-%d},bull" for day in DAYS])]
        path = saved(tmp_path, "Date,Regime,SPY,AGG,Comment", *rows)
        with pytest.raises(sb.errors.InvalidInputError, match=r"'bull' .* columns=\['SPY', 'AGG'\]$"):
            read(path)
        right(read(path, columns=["SPY", "AGG"]))

    def test_settings_above_a_shorter_table(self, tmp_path):
        text = ["Start Date,2008-01-02,,,", "End Date,2009-12-31,,,", "", "Date,SPY,AGG"]
        right(follow(saved(tmp_path, *text, *lines(f"{day:%Y-%m-%d}" for day in DAYS))))

    def test_price_relatives_as_prices(self):
        frame = pd.DataFrame(1 + TRUE, DAYS, NAMES)
        (remark,) = read(frame).remarks
        assert "kind='price-relatives'" in remark
        right(read(frame, kind="price-relatives"), TRUE)
        assert not read(pd.DataFrame(PRICES / 100, DAYS, NAMES)).remarks

    def test_costs_in_basis_points(self):
        costs = 1e4 * TRUE
        with pytest.raises(sb.errors.InvalidInputError, match=r"basis points, scale=0.0001"):
            read(costs, kind="returns", names=NAMES, direction="min")
        right(read(costs, kind="returns", names=NAMES, direction="min", scale=0.0001), -TRUE)


class TestDatesAndTimes:
    """Bars within a day, dates and times of day in two columns."""

    HOURS = tuple(f"{h}:30:00" for h in (10, 11, 12)) * 100
    SESSIONS = tuple(f"{d:%Y-%m-%d}" for d in np.repeat(DAYS[:100], 3))

    @pytest.fixture
    def path(self, tmp_path):
        rows = [f"{d},{t},{a:.10f},{b:.10f}" for d, t, (a, b) in zip(self.SESSIONS, self.HOURS, PRICES, strict=True)]
        return saved(tmp_path, "Date,Time,SPY,AGG", *rows)

    def test_no_bar_is_lost(self, path):
        assert str(right(follow(path, periods_per_year=756)).dates[1]).startswith("2008-01-02T12:30")
        right(follow(path, periods_per_year=756, columns=["SPY", "AGG"]))

    def test_as_a_frame(self, path):
        frame = pd.read_csv(path)
        frame["Date"] = pd.to_datetime(frame["Date"])
        right(read(frame, periods_per_year=756, date=["Date", "Time"]))

    def test_on_the_command_line(self, path, capsys):
        options = ["--kind", "prices", "--periods-per-year", "756", "--replications", "50"]
        assert cli.main(["rank", str(path), *options]) == 2
        remedy = re.search(r"pass (--date \S+ \S+)", capsys.readouterr().err)[1]
        assert cli.main(["rank", str(path), *options, *shlex.split(remedy)]) == 0
        assert "299 returns" in capsys.readouterr().out

    def test_wrong_columns(self, path):
        with pytest.raises(sb.errors.UnknownNameError, match="no column is called 'Hour'"):
            read(path, date=["Date", "Hour"])
        with pytest.raises(sb.errors.InvalidInputError, match="two columns of dates and times"):
            read(path, date=["Date", "Time", "SPY"])


class TestKinds:
    """Numbers that are neither prices nor returns."""

    def frame(self, values, names=NAMES, dates=DAYS):
        return pd.DataFrame(values, dates[: len(values)], names)

    @pytest.mark.parametrize("scale", [None, 1])
    def test_price_relatives(self, scale):
        """Sharpe ratios of 1,499 by following the remedy that there was once."""
        right(follow(self.frame(1 + TRUE), kind="returns", scale=scale), TRUE)

    def test_growth_of_one(self):
        right(follow(self.frame(PRICES / 100), kind="returns", scale=1.0))

    def test_cumulative_returns(self):
        values = self.frame(PRICES / 100 - 1)
        (first, *_) = read(values, kind="returns").remarks
        remedy = re.search(r"kind='([^']*)'", first)[1]
        right(read(values, kind=remedy))
        right(read(100 * values, kind=remedy, scale=0.01))

    def test_percent_points_of_a_bond_fund(self):
        values = np.random.default_rng(3).normal(0.3, 0.18, (ROWS, 2))
        table = self.frame(values, dates=MONTHS)
        (remark,) = read(table, kind="returns", periods_per_year=12).remarks
        assert "scale=0.01" in remark
        right(read(table, kind="returns", periods_per_year=12, scale=0.01), values / 100)
        assert not read(table, kind="returns", periods_per_year=12, scale=0.01).remarks
        assert not read(table, kind="returns", periods_per_year=12, scale=1).remarks

    def test_profits_and_losses(self):
        money = self.frame(2e6 * TRUE)
        with pytest.raises(sb.errors.InvalidInputError, match="kind='pnl'"):
            read(money, kind="returns")
        with pytest.raises(sb.errors.InvalidInputError, match=r"pass capital=, the money"):
            read(money, kind="pnl")
        right(read(money, kind="pnl", capital=2e6), TRUE)
        with pytest.raises(sb.errors.InvalidInputError, match="pass a larger capital="):
            read(money, kind="pnl", capital=1000)
        with pytest.raises(sb.errors.InvalidInputError, match="capital=5 is for kind='pnl'"):
            read(money, kind="returns", capital=5)

    @pytest.mark.parametrize("kind", ["returns", "log-returns"])
    def test_ordinary_returns_raise_no_remark(self, kind):
        assert not read(self.frame(TRUE), kind=kind).remarks
        assert not read(self.frame(5 * TRUE, dates=MONTHS), kind=kind, periods_per_year=12).remarks


class TestCells:
    """Single cells and rows that are wrong."""

    def test_one_cell_is_wrong(self):
        values = TRUE.copy()
        values[50, 0] = 0.69  # instead of 0.0069
        for source, kind in ((values, "returns"), (100 * np.cumprod(1 + values, axis=0), "prices")):
            (remark,) = read(pd.DataFrame(source, DAYS, NAMES), kind=kind).remarks
            assert "'SPY', row 51" in remark
            assert "+69.0%" in remark
        values[50, 0] = 0.0069
        assert not read(pd.DataFrame(values, DAYS, NAMES), kind="returns").remarks

    @pytest.mark.parametrize("ratio", [4, 1.5])
    def test_splits_in_monthly_prices(self, ratio):
        hits = 0
        for seed in range(20):
            values = 100 * np.cumprod(1 + np.random.default_rng(seed).normal(0.008, 0.05, (240, 2)), axis=0)
            table = pd.DataFrame(values, MONTHS[:240], NAMES)
            assert not read(table, periods_per_year=12).remarks
            table.iloc[100:, 0] /= ratio
            remarks = read(table, periods_per_year=12).remarks
            hits += any("split" in text and "row 101" in text for text in remarks)
            table.iloc[:100, 0] /= ratio  # the remedy, adjusted prices
            assert not read(table, periods_per_year=12).remarks
        assert hits >= 17

    def test_rows_that_stand_still_in_the_middle(self):
        values = PRICES.copy()
        values[100:220, 0] = values[100, 0]
        (remark,) = read(pd.DataFrame(values, DAYS, NAMES)).remarks
        assert "'SPY' does not change in 119 rows" in remark
        shorter = read(pd.DataFrame(values[220:], DAYS[220:], NAMES))
        assert not shorter.remarks
        assert not read(pd.DataFrame(values, DAYS, NAMES), columns=["AGG"]).remarks


MORE = {
    "percent strings": (
        [HEAD, *(f"{d},{100 * a:.8f}%,{100 * b:.8f}%" for d, (a, b) in zip(DATES["iso"], TRUE, strict=True))],
        "returns",
    ),
    "dollars and thousands": (
        ["Date;SPY;AGG", *(f"{d};${1000 * a:,.6f};${1000 * b:,.6f}" for d, (a, b) in zip(DATES["iso"], PRICES, strict=True))],
        "prices",
    ),
    "newest first": ([HEAD, *lines(DATES["iso"])[::-1]], "prices"),
    "dates twice": ([HEAD, *lines(DATES["iso"])[:1], *lines(DATES["iso"])], "prices"),
    "a blank line at the end": ([HEAD, *lines(DATES["iso"]), ""], "prices"),
    "spreadsheet serial numbers": (
        [HEAD, *lines([str((d - pd.Timestamp("1899-12-30")).days) for d in DAYS])],
        "prices",
    ),
    "seconds since 1970": ([HEAD, *lines([str(int(d.timestamp())) for d in DAYS])], "prices"),
    "digits": ([HEAD, *lines([f"{d:%Y%m%d}" for d in DAYS])], "prices"),
    "long format": (
        [
            "Date,ticker,close",
            *(f"{d},{n},{v:.10f}" for d, row in zip(DATES["iso"], PRICES, strict=True) for n, v in zip(NAMES, row, strict=True)),
        ],
        "prices",
    ),
    "quoted numbers": (
        [HEAD, *(",".join(f'"{cell}"' for cell in line.split(",")) for line in lines(DATES["iso"]))],
        "prices",
    ),
    "spaces around cells": ([HEAD, *(line.replace(",", " , ") for line in lines(DATES["iso"]))], "prices"),
    "Windows line ends": ([f"{HEAD}\r", *(f"{line}\r" for line in lines(DATES["iso"]))], "prices"),
    "a line of units": ([HEAD, "yyyy-mm-dd,USD,USD", *lines(DATES["iso"])], "prices"),
    "row numbers of pandas": ([",Date,SPY,AGG", *(f"{k},{line}" for k, line in enumerate(lines(DATES["iso"])))], "prices"),
    "a comma after every line": ([f"{HEAD},", *(f"{line}," for line in lines(DATES["iso"]))], "prices"),
    "months without zeros": ([HEAD, *lines([f"{d.month}/{d.day}/{d.year}" for d in DAYS])], "prices"),
    "weekdays": ([HEAD, *lines([f"{d:%a %d %b %Y}" for d in DAYS])], "prices"),
    "US dates with times": ([HEAD, *lines([f"{d:%m/%d/%Y} 4:00 PM" for d in DAYS])], "prices"),
    "UTC written as Z": ([HEAD, *lines([f"{d:%Y-%m-%dT00:00:00Z}" for d in DAYS])], "prices"),
    "milliseconds since 1970": ([HEAD, *lines([str(int(1000 * d.timestamp())) for d in DAYS])], "prices"),
    "summer time": (
        [HEAD, *lines([(d + pd.Timedelta(hours=16)).tz_localize("America/New_York").isoformat() for d in DAYS])],
        "prices",
    ),
    "year, month, day": (
        ["Year,Month,Day,SPY,AGG", *lines([f"{d.year},{d.month},{d.day}" for d in DAYS])],
        "prices",
    ),
    "digits without a head": ([",SPY,AGG", *lines([f"{d:%Y%m%d}" for d in DAYS], TRUE)], "returns"),
    "losses in parentheses": (
        [HEAD, *(re.sub(r",-([\d.]+)", r",(\1)", line) for line in lines(DATES["iso"], TRUE))],
        "returns",
    ),
    "per cent in parentheses": (
        [HEAD, *(re.sub(r",-([\d.]+%)", r",(\1)", line) for line in lines(DATES["iso"], 100 * TRUE, form="{:.8f}%"))],
        "returns",
    ),
    "a German export": (
        ["Datum;SPY;AGG", *(f"{d};{a:.10f};{b:.10f}".replace(".", ",", 4).replace(",", ".", 2) for d, (a, b) in zip(DATES["German"], PRICES, strict=True))],
        "prices",
    ),
    "sep= of a spreadsheet": (["sep=;", HEAD.replace(",", ";"), *lines(DATES["iso"], separator=";")], "prices"),
    "a title with a comma": (["Prices, adjusted", HEAD, *lines(DATES["iso"])], "prices"),
    "long format with volumes": (
        [
            "date,symbol,close,volume",
            *(f"{d},{n},{v:.10f},1{k}00" for k, (d, row) in enumerate(zip(DATES["iso"], PRICES, strict=True)) for n, v in zip(NAMES, row, strict=True)),
        ],
        "prices",
    ),
    "Stooq": (
        [
            "<TICKER>,<PER>,<DATE>,<CLOSE>",
            *(f"{n},D,{d:%Y%m%d},{v:.10f}" for n, column in zip(NAMES, PRICES.T, strict=True) for d, v in zip(DAYS, column, strict=True)),
        ],
        "prices",
    ),
    "an exchange's candles": (
        [
            "open_time,symbol,close",
            *(f"{int(1000 * d.timestamp())},{n},{v:.10f}" for d, row in zip(DAYS, PRICES, strict=True) for n, v in zip(NAMES, row, strict=True)),
        ],
        "prices",
    ),
    "the minus sign of typesetters": ([HEAD, *(line.replace(",-", ",\u2212") for line in lines(DATES["iso"], TRUE))], "returns"),
    "separated by spaces": ([HEAD.replace(",", " "), *lines(DATES["iso"], separator=" ")], "prices"),
    "comments above": (["# prices", "# of the desk", HEAD, *lines(DATES["iso"])], "prices"),
    "long format, an asset after the other": (
        [
            "symbol,date,return",
            *(f"{n},{d},{v:.10f}" for n, column in zip(NAMES, TRUE.T, strict=True) for d, v in zip(DATES["iso"], column, strict=True)),
        ],
        "returns",
    ),
}  # fmt: skip


@pytest.mark.parametrize("form", MORE)
def test_more_files(form, tmp_path):
    text, kind = MORE[form]
    returns = follow(saved(tmp_path, *text), kind=kind)
    right(returns, TRUE if kind == "returns" else TRUE[1:])


def test_one_asset_of_yahoo(tmp_path):
    """Following the remedy about volumes once ranked open, high and low as if they were strategies."""
    rows = [f"{d},{a},{1.01 * a},{0.99 * a},{a},{b:.10f},1000" for d, (a, b) in zip(DATES["iso"], PRICES, strict=True)]
    path = saved(tmp_path, "Date,Open,High,Low,Close,Adj Close,Volume", *rows)
    right(follow(path), TRUE[1:, 1:], ("Adj Close",))


def test_profits_of_a_broker(tmp_path):
    money = [[f'"(${-v:,.2f})"' if v < 0 else f'"${v:,.2f}"' for v in row] for row in 1e6 * TRUE]
    path = saved(tmp_path, HEAD, *(",".join([d, *row]) for d, row in zip(DATES["iso"], money, strict=True)))
    right(follow(path, kind="pnl", capital=1e6), TRUE)


LEFTOVERS = ["Source: desk,,", "Source: desk", "Total,1.5,2.5", HEAD]


@pytest.mark.parametrize("line", LEFTOVERS)
def test_lines_that_are_no_rows(line, tmp_path):
    """The remedy is to delete them; the message names the line."""
    text = [HEAD, *lines(DATES["iso"])]
    with pytest.raises(sb.errors.InvalidInputError, match=r"line 102.*delete"):
        read(saved(tmp_path, *text[:101], line, *text[101:]))
    right(read(saved(tmp_path, *text)))


def test_a_total_below_dates_in_another_format(tmp_path):
    """The format is named all the same, and then the line."""
    path = saved(tmp_path, HEAD, *lines(DATES["German"]), "Total,1.5,2.5")
    with pytest.raises(sb.errors.InvalidInputError, match=r"date_format='%d.%m.%Y'"):
        read(path)
    with pytest.raises(sb.errors.InvalidInputError, match=r"line 302: 'Total' .*delete"):
        read(path, date_format="%d.%m.%Y")
    right(read(saved(tmp_path, HEAD, *lines(DATES["German"])), date_format="%d.%m.%Y"))


def test_fields_below_a_title_in_a_spreadsheet(tmp_path):
    """Names of assets above names of fields: the first remedy leads to the fields, the next one to both lines."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for line in (["Monitor"], [], [None, "SPY", None, "AGG", None], ["Date", *["PX_LAST", "VOLUME"] * 2]):
        book.active.append(line)
    for day, (a, b) in zip(DAYS, PRICES.tolist(), strict=True):
        book.active.append([day.to_pydatetime(), a, 1000, b, 2000])
    book.save(tmp_path / "file.xlsx")
    right(follow(tmp_path / "file.xlsx"))


@pytest.mark.parametrize("cell", ["-", "--", "#DIV/0!", "#N/A"])
def test_cells_that_stand_for_nothing(cell, tmp_path):
    text = lines(DATES["iso"])
    text[50] = f"{text[50].rpartition(',')[0]},{cell}"
    path = saved(tmp_path, HEAD, *text)
    with pytest.raises(sb.errors.InvalidInputError, match=r"'AGG', line 52 .* has no value .*missing='drop'"):
        read(path)
    expected = PRICES[np.arange(ROWS) != 50]
    right(read(path, missing="drop"), expected[1:] / expected[:-1] - 1)


def test_a_row_per_asset(tmp_path):
    frame = pd.DataFrame(PRICES, DATES["iso"], NAMES)
    with pytest.raises(sb.errors.InvalidInputError, match=r"row per asset; transpose it \(frame.T\)"):
        read(frame.T)
    right(read(frame.T.T))


def test_numbers_as_text_in_a_frame():
    right(read(pd.DataFrame(PRICES, DAYS, NAMES).map("{:.10f}".format)))


def test_first_row_of_returns_is_empty():
    changes = pd.DataFrame(PRICES, DAYS, NAMES).pct_change()
    with pytest.raises(sb.errors.InvalidInputError, match=r"row 1 of 300 \(2008-01-02\) has no values.*missing='drop'"):
        read(changes, kind="returns")
    right(follow(changes, kind="returns"))


LINES = ["date,A,B,C", *(f"2020-01-{d:02},0.01{d},-0.02{d},0.03{d}" for d in range(1, 32))]


def with_cell(line, column, cell):
    cells = LINES[line - 1].split(",")
    cells[column] = cell
    return [*LINES[: line - 1], ",".join(cells), *LINES[line:]]


@pytest.mark.parametrize(
    ("line", "column", "cell", "others"),
    [
        (21, 2, "pending", ["A", "C"]),
        (2, 2, "pending", ["A", "C"]),
        (26, 2, "2020-01-05", ["A", "C"]),
        (26, 2, "05/01/2020", ["A", "C"]),
        (2, 0, "inf", ["A", "B", "C"]),
        (2, 0, "1e400", ["A", "B", "C"]),
    ],
)
def test_the_columns_of_the_remedy_can_be_read(tmp_path, line, column, cell, others):
    path = csv(tmp_path, with_cell(line, column, cell))
    said = suggested(path, kind="returns")
    assert said.endswith(f"or select other columns with columns={others}")
    assert ("date=" in said) == (column == 0)
    assert returns(path, columns=others).names == tuple(others)


def test_a_single_column_has_no_others(tmp_path):
    path = csv(tmp_path, with_cell(21, 2, "pending"))
    assert suggested(path, kind="returns", columns=["B"]).endswith("correct it")


@pytest.mark.parametrize("copies", [1, 1000], ids=["short", "long"])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
@pytest.mark.parametrize("name", ["table.csv", "table.csv.gz"])
def test_the_line_of_a_bad_byte(tmp_path, name, encoding, copies):
    lines = [LINES[0], *LINES[1:] * copies]
    lines[-2] += "é"
    content, path = "\n".join(lines).encode("cp1252"), tmp_path / name
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    assert f"line {len(lines) - 1})" in suggested(path, encoding=encoding)


@pytest.mark.parametrize("encoding", ["foo", "base64", None])
def test_unknown_encodings(tmp_path, encoding):
    assert "cannot be read (" in suggested(csv(tmp_path, LINES), encoding=encoding)
