"""Tables of returns: frames, arrays, dictionaries and files with anything in them."""

from __future__ import annotations

import datetime
import gzip
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

import sharpe_bandits as sb

from .driver import Target, brief_errors
from .things import ODD_NUMBERS, ODD_TEXTS, damaged_bytes, pick

_FOLDER = Path(tempfile.gettempdir()) / f"sharpe-bandits-fuzz-{os.getpid()}"
_ODD_CELLS: tuple[Any, ...] = (
    *ODD_NUMBERS, *(t for t in ODD_TEXTS if len(t) < 1000), "2020-01-31", "2020-13-01", "01/02/2020", "1,5", "20200131",
    "²", "٣", "9" * 5000, "0001-01-01T00:00:00+14:00", datetime.date.max, datetime.datetime.min,
    datetime.datetime.min.replace(tzinfo=datetime.timezone(datetime.timedelta(hours=14))), np.datetime64("9999999-01"),
    np.datetime64("NaT"), pd.NA, pd.NaT, pd.Timestamp("2020-01-01", tz="Asia/Tokyo"), pd.Period("2020"),
    pd.Interval(0, 1), pd.Timedelta(1), [1], (1, 2), {"a": 1}, {1}, object(), type, len, float, slice(3), ...,
    np.array([]), np.ma.masked, pa.scalar(1.0), pd.Series([1]), "x" * 140_000,
)  # fmt: skip
#: Arrow, and pandas which keeps text in it, do not take everything.
_PANDAS_CELLS = tuple(cell for cell in _ODD_CELLS if not isinstance(cell, str) or cell.isprintable())
_ARROW_NAMES = ("A", "B", "C", *(text for text in ODD_TEXTS if text.isprintable()))


def _numbers(rng: np.random.Generator, rows: int) -> np.ndarray:
    return pick(rng, [rng.normal(0, 0.01, rows), 100 * np.exp(rng.normal(0, 0.01, rows).cumsum())])


def _dates(rng: np.random.Generator, rows: int) -> Any:
    start = pick(rng, [np.datetime64("2020-01-01"), np.datetime64("0001-01-01"), np.datetime64("9999-12-30")])
    days = start + np.arange(rows) * pick(rng, [1, 1, 1, 0, -1, 40])
    return pick(rng, [
        lambda: days,
        lambda: [str(day) for day in days],
        lambda: [f"{day}T10:00:00{pick(rng, ['Z', '-05:00', '+14:00', ''])}" for day in days],
        lambda: [str(day).replace("-", "") for day in days],
        lambda: days.astype("datetime64[s]"),
        lambda: days.astype("datetime64[M]"),
        lambda: days.astype(object).tolist(),
    ])()  # fmt: skip


def _column(rng: np.random.Generator, rows: int) -> Any:
    plain = _numbers(rng, rows)
    mixed = plain.tolist()
    for _ in range(int(rng.integers(1, 3))):
        if mixed:
            mixed[int(rng.integers(rows))] = pick(rng, _ODD_CELLS)
    return pick(rng, [
        lambda: plain, lambda: plain, lambda: plain, lambda: plain, lambda: mixed, lambda: mixed,
        lambda: _dates(rng, rows),
        lambda: [pick(rng, _ODD_CELLS)] * rows, lambda: plain.astype(">f8"), lambda: plain.astype(np.longdouble),
        lambda: plain.astype(np.float16), lambda: (plain * 100).astype(np.int8), lambda: plain.astype(complex),
        lambda: plain > 0, lambda: plain.astype("m8[s]"), lambda: plain.astype(str), lambda: plain.astype("S8"),
        lambda: np.ma.masked_array(plain, rng.random(rows) < 0.2), lambda: np.full(rows, 0.01),
        lambda: list(plain)[:-1],
        lambda: np.full((rows, 2), 1.0), lambda: "text", lambda: None, lambda: iter(plain),
        lambda: np.where(rng.random(rows) < 0.2, np.nan, plain), lambda: np.full(rows, 1e308), lambda: np.arange(rows),
    ])()  # fmt: skip


def _dictionary(rng: np.random.Generator, rows: int) -> dict[Any, Any]:
    names = [pick(rng, ["A", "B", "C", "D", "date", 1, None, 2.5, ("x", "y"), b"b", *ODD_TEXTS]) for _ in range(5)]
    found = {name: _column(rng, rows) for name in names[: int(rng.integers(0, 6))]}
    return {"date": _dates(rng, rows), **found} if rng.random() < 0.4 else found


def _pandas(rng: np.random.Generator, rows: int) -> Any:
    frame = pd.DataFrame({f"c{k}": pd.Series(pick(rng, [
        lambda: _numbers(rng, rows), lambda: _numbers(rng, rows), lambda: [pick(rng, _PANDAS_CELLS)] * rows,
        lambda: pd.array(rng.integers(0, 9, rows), "Int64"),
        lambda: pd.Categorical([str(n) for n in _numbers(rng, rows)]),
        lambda: pd.array([pd.NA] * rows, "Float64"), lambda: pd.period_range("1900", periods=rows, freq="M"),
        lambda: pd.interval_range(0, rows), lambda: pd.arrays.SparseArray(np.zeros(rows)),
        lambda: pd.array([str(n) for n in _numbers(rng, rows)], "string"), lambda: pd.timedelta_range(0, periods=rows),
        lambda: pd.date_range("2020", periods=rows, tz="US/Eastern"), lambda: pd.array([True] * rows, "boolean"),
        lambda: pd.Series(pa.array([[1]] * rows), dtype=pd.ArrowDtype(pa.list_(pa.int64()))),
    ])()) for k in range(int(rng.integers(0, 4)))})  # fmt: skip
    index = pick(rng, [None, None, "dates", "text", "several", "period", "duplicated", "named"])
    if index == "dates":
        frame.index = pd.date_range("2020", periods=len(frame), tz=pick(rng, [None, "Asia/Tokyo"]))
    elif index == "text":
        frame.index = pd.Index([pick(rng, _ARROW_NAMES) for _ in range(len(frame))])
    elif index == "several":
        frame.index = pd.MultiIndex.from_arrays([range(len(frame)), range(len(frame))])
    elif index == "period":
        frame.index = pd.period_range("2020", periods=len(frame), freq="D")
    elif index == "duplicated":
        frame.columns = ["c"] * frame.shape[1]
    elif index == "named":
        frame.columns = [pick(rng, [None, 1, np.nan, pd.NaT, ("a", 1), *_ARROW_NAMES]) for _ in range(frame.shape[1])]
    return pick(rng, [frame, frame, frame, frame.index, frame.T, frame.iloc[:0], *(c for _, c in frame.items())])


def _arrow(rng: np.random.Generator, rows: int) -> Any:
    values = _numbers(rng, rows)
    far = pa.array([2**62] * rows, pa.int64())
    arrays = [pick(rng, [
        lambda: pa.array(values), lambda: pa.array(values), lambda: pa.nulls(rows),
        lambda: pa.array([[v] for v in values]),
        lambda: pa.array([{"a": v} for v in values]), lambda: pa.array([str(v) for v in values]).dictionary_encode(),
        lambda: far.cast(pa.timestamp("s")), lambda: far.cast(pa.timestamp("ns", "Foo/Bar")),
        lambda: far.cast(pa.duration("us")),
        lambda: pa.array(np.arange(rows) + 2**30, pa.int32()).cast(pa.date32()),
        lambda: far.cast(pa.date64(), safe=False),
        lambda: pa.array([b"x"] * rows), lambda: pa.array([True] * rows),
        lambda: pa.array(range(rows), pa.decimal256(70, 3)),
        lambda: pa.array(values.astype(np.float16)), lambda: pa.RunEndEncodedArray.from_arrays([rows or 1], [1.5]),
        lambda: pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"0" * 16] * rows, pa.binary(16))),
        lambda: pa.array([(1, 2, 3)] * rows, pa.month_day_nano_interval()),
        lambda: pa.array(["x"] * rows, pa.string_view()),
        lambda: pa.array(range(rows), pa.time32("s")),
        lambda: pa.array([[("k", 1.0)]] * rows, pa.map_(pa.string(), pa.float64())),
    ])() for _ in range(int(rng.integers(0, 4)))]  # fmt: skip
    length = min(map(len, arrays), default=0)
    table = pa.table([array[:length] for array in arrays], [pick(rng, _ARROW_NAMES) for _ in arrays])
    noted = pick(rng, [None, b"", b"{", b"[1]", b"null", b'{"index_columns": 5}', b'{"index_columns": ["A"]}',
        b"[" * 10**5,
                       json.dumps({"index_columns": [{"kind": "range"}, None, "A", 3]}).encode(), b"\xff"])  # fmt: skip
    return table if noted is None else table.replace_schema_metadata({b"pandas": noted})


def _polars(rng: np.random.Generator, rows: int) -> Any:
    values = _numbers(rng, rows)
    return pl.DataFrame([pick(rng, [
        lambda: pl.Series("A", values), lambda: pl.Series("B", values),
        lambda: pl.Series("d", [datetime.date(2020, 1, 1)] * rows),
        lambda: pl.Series("l", [[1.0]] * rows), lambda: pl.Series("s", [{"x": 1}] * rows),
        lambda: pl.Series("t", ["x"] * rows),
        lambda: pl.Series("c", [str(v) for v in values], dtype=pl.Categorical), lambda: pl.Series("n", [None] * rows),
        lambda: pl.Series("u", [datetime.timedelta(1)] * rows), lambda: pl.Series("b", [True] * rows),
        lambda: pl.Series("e", ["x"] * rows, dtype=pl.Enum(["x"])),
        lambda: pl.Series("i", [2**100] * rows, dtype=pl.Int128),
        lambda: pl.Series("o", [object()] * rows, dtype=pl.Object), lambda: pl.Series("m", [datetime.time(1)] * rows),
    ])()] if rng.random() < 0.5 else {k: pl.Series(values) for k in "AB"})  # fmt: skip


def _csv(rng: np.random.Generator, rows: int) -> bytes:
    names = [
        pick(rng, ["A", "B", "C", "date", "", "1.5", "2020-01-01", *ODD_TEXTS]) for _ in range(int(rng.integers(1, 5)))
    ]
    days = _dates(rng, rows)
    cells = [[str(day), *(f"{v:.6g}" for v in _numbers(rng, len(names) - 1))] for day in list(days)]
    if cells and rng.random() < 0.5:
        row = pick(rng, cells)
        odd = pick(rng, _ODD_CELLS)
        row[int(rng.integers(len(row)))] = odd if isinstance(odd, str) else '"a\nb"'
    lines = [*([] if rng.random() < 0.15 else [names]), *cells]
    mark = pick(rng, [",", ",", ",", ";", "\t"])
    text = pick(rng, ["\n", "\n", "\r\n", "\r"]).join(mark.join(line) for line in lines)
    content = text.encode(pick(rng, ["utf-8", "utf-8", "utf-8-sig", "utf-16", "latin-1"]), "replace")
    return damaged_bytes(rng, content) if rng.random() < 0.3 else content


def _file(rng: np.random.Generator, rows: int) -> Path:
    _FOLDER.mkdir(exist_ok=True)
    kind = pick(rng, ["csv", "csv", "csv", "gz", "parquet", "odd"])
    path = (
        _FOLDER
        / f"table.{pick(rng, ['csv', 'parquet', 'txt', 'CSV', 'gz', 'zst', 'bz2', 'x']) if kind == 'odd' else kind}"
    )
    if kind == "parquet":
        table = pick(rng, [pa.table({"A": _numbers(rng, rows), "B": _numbers(rng, rows)}), _arrow(rng, rows)])
        try:
            pq.write_table(table, path)
        except (pa.ArrowException, UnicodeError):
            pq.write_table(pa.table({"A": _numbers(rng, rows)}), path)
        content = path.read_bytes()
        path.write_bytes(damaged_bytes(rng, content) if rng.random() < 0.6 else content)
        return path
    content = _csv(rng, rows)
    if kind == "gz":
        content = gzip.compress(content, 1)
        content = damaged_bytes(rng, content) if rng.random() < 0.5 else content
    path.write_bytes(content)
    return path


def _odd_source(rng: np.random.Generator) -> Any:
    return pick(rng, [*ODD_NUMBERS, *ODD_TEXTS, "/dev/zero", "/dev/null", "/", "/proc/self/mem",
        Path("/dev/zero"), pd, sb, [],
                      [[1, 2], [3]], np.zeros((3, 0)), np.zeros((0, 3)), np.zeros((2, 2, 2)), np.array([[None,
                          1]], object)])  # fmt: skip


def _make(rng: np.random.Generator) -> tuple[Any, dict[str, Any]]:
    rows = int(pick(rng, [0, 1, 2, 3, 5, 8, 12]))
    sources = [_dictionary, _dictionary, _pandas, _pandas, _arrow, _polars, _file, _file, _file, _file]
    source = _odd_source(rng) if rng.random() < 0.05 else pick(rng, sources)(rng, rows)
    options: dict[str, Any] = {
        "kind": pick(rng, ["prices", "returns", "log-returns"]),
        "periods_per_year": pick(rng, [252, 12, 1e300]),
    }
    if rng.random() < 0.1:
        source = np.column_stack([_numbers(rng, rows), _numbers(rng, rows)])
        options["names"] = pick(rng, [["a", "b"], ["a"], ["a", "a"], ["", "b"], [1, 2], None, "ab", 5, [None, "\0"]])
    for option, values in {
        "date": ["date", "A", 5, "none"], "columns": [["A"], ["A", "B"], "A", [], [1], ["A", "A"], iter("AB"), 5],
        "scale": [0.01, 1, 1e308, "x"], "missing": ["drop", "fill", "keep"], "duplicates": ["first", "last"],
        "unsorted": ["sort"],
        "timezones": ["utc"], "constant": ["drop"], "separator": [";", "\t", "", "ab", "\n", '"', "é", None],
        "encoding": ["latin-1", "utf-16", "none", "", 5, "rot13", "base64"], "skip_rows": [1, 2, 100, -1, None],
        "sheet": ["A", 5], "field": ["A", "Close", "", 5], "pivot": [("A", "B"), ("A",), "AB", 5, ("A", 5), ("x", "y")],
        "date_format": ["%d/%m/%Y", "%Y-%m-%d", "excel", "ns", "%", "%!", 5, ""], "decimal": [",", "", None, ";"],
        "thousands": [",", ".", " ", "'", None, "x"], "currency": ["€", "USD", "1", "(", "\\", None],
        "risk_free_series": ["B", "none", {"date": ["2020-01-01"], "RF": [0.1]}, 5], "benchmark": ["B", "none", 5],
        "risk_free_quote": ["annual", "annual-percent", 5],
    }.items():  # fmt: skip
        if rng.random() < 0.2:
            options[option] = pick(rng, values)
    if rng.random() < 0.03:
        options[pick(rng, list(options))] = pick(rng, ODD_NUMBERS)
    return source, options


def _check(case: tuple[Any, dict[str, Any]]) -> None:
    source, options = case
    with brief_errors():
        returns = sb.read_returns(source, **options)
    kept = options.get("missing") == "keep"
    assert (np.isfinite(returns.values) | (kept & np.isnan(returns.values))).all()
    assert np.isfinite(returns.excess[~np.isnan(returns.values)]).all()
    assert returns.values.shape == (len(returns), len(returns.names))
    assert len(set(returns.names)) == len(returns.names)
    repr(returns)


def target() -> Target:
    """The target of this file."""
    return Target("tables", _make, _check)
