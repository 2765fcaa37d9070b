"""Tables in every supported form: CSV, Parquet and spreadsheet files, frames, Arrow tables, dictionaries and arrays.

Nothing is validated here. Values keep the types of their source, and rows are named as they are counted there.
"""

from __future__ import annotations

import codecs
import csv
import io
import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from .._support.names import shorten
from ..errors import InvalidInputError, SharpeBanditsError, listed, require, shown, unknown
from .notation import PLAIN, Notation

#: How dates in several time zones are handled.
TimeZones = Literal["error", "utc"]
#: Text that stands for a missing value in a CSV file.
MISSING_WORDS = {
    "", "NA", "N/A", "n/a", "na", "NaN", "nan", "NAN", "-NaN", "-nan", "NULL", "Null", "null", "None", "none", "<NA>",
    "#N/A", "#N/A N/A", "#NA", "NaT", ".", "-", "--", "–", "—", "#DIV/0!", "#VALUE!", "#REF!", "#NUM!", "#NAME?",
}  # fmt: skip
#: Usual names of the field of prices in a table with several fields per asset, the most likely first.
FIELDS = ("Adj Close", "Close", "PX_LAST", "PX_CLOSE", "close")
#: Accountants write negative numbers so.
_IN_PARENTHESES = re.compile(r"\(([$€£¥]?\s?\d[\d.,' ]*\s?%?)\)")
_CSV = (".csv", ".txt", ".tsv", ".gz", ".bz2", ".zst")
_PARQUET = (".parquet", ".pq")
_SPREADSHEET = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")


@dataclass(frozen=True)
class Layout:
    """How a table is laid out and written, as far as that cannot be inferred: options of :func:`read_returns`."""

    separator: str = ","
    encoding: str = "utf-8"
    skip_rows: int = 0
    sheet: str | None = None
    field: str | None = None
    date_format: str | None = None
    timezones: TimeZones = "error"
    written: Notation = PLAIN


@dataclass(frozen=True)
class Source:
    """A table as found.

    Columns are arrays of numbers or of dates without time zones, and of Python objects otherwise. ``place`` names a row
    counted from 0: ``"line 2"``. ``index`` is the position of a frame's index among the columns, ``text`` says whether
    columns hold the text of a file, ``skipped`` is the number of rows above the header, None if rows cannot be skipped.
    """

    names: list[str]
    columns: list[np.ndarray]
    place: Callable[[int], str]
    index: int | None = None
    text: bool = False
    skipped: int | None = None


def find(source: Any, names: Sequence[str] | None, layout: Layout) -> Source:
    """Read the table from any supported source."""
    try:
        table = _source_of(source, names, layout)
    except SharpeBanditsError:
        raise
    except Exception as error:  # from another library, or from a user-defined object
        what = shown(str(source)) if isinstance(source, (str, os.PathLike)) else "the table"
        reason = shorten(" ".join(str(error).split()), 200)
        raise InvalidInputError(f"{what} cannot be read ({type(error).__name__}: {reason})") from error
    return table if table.skipped is None else _without_leftovers(table)


def _without_leftovers(source: Source) -> Source:
    """Without columns of a file that have no name: empty ones, and a first one that counts the rows (pandas' index)."""
    places = []
    for k, (name, column) in enumerate(zip(source.names, source.columns, strict=True)):
        first = [str(cell) for cell in column[:50]]
        numbers = [str(number) for number in range(len(first) + 1)]
        counts = k == 0 and len(first) > 1 and first in (numbers[:-1], numbers[1:])
        if name or not (counts or all(cell is None for cell in column)):
            places.append(k)
    return replace(source, names=[source.names[k] for k in places], columns=[source.columns[k] for k in places])


def _source_of(source: Any, names: Sequence[str] | None, layout: Layout) -> Source:
    if isinstance(source, np.ndarray) or (isinstance(source, (list, tuple)) and names is not None):
        return _array(source, names)
    if names is not None:
        raise InvalidInputError("names= is for arrays; a table has names already, choose among them with columns=")
    if isinstance(source, (str, os.PathLike)):
        return _file(Path(source), layout)
    if isinstance(source, Mapping):
        return _columns(source.items())
    if type(source).__module__.partition(".")[0] == "pandas":
        return _pandas(source, layout.field)
    if hasattr(source, "__arrow_c_stream__"):  # an Arrow table, a frame of polars or of another library
        import pyarrow as pa

        frame = source if hasattr(source, "columns") else source.to_frame()
        return _arrow(frame.to_arrow() if hasattr(frame, "to_arrow") else pa.table(frame))
    raise InvalidInputError(
        "returns are read from a CSV, Parquet or spreadsheet file, a pandas or polars frame, an Arrow table, a "
        f"dictionary of columns or an array with names=, got {shown(source)}"
        f"{'; collect() it first' if hasattr(source, 'collect') else ''}"
    )


def objects(values: Collection[Any]) -> np.ndarray:
    """Values as an array of Python objects, lists among them too."""
    return np.fromiter(values, object, len(values))


def rows(number: int) -> Callable[[int], str]:
    """Names of the rows of a table that is not a text file, counted from 1."""
    return lambda row: f"row {row + 1} of {number}"


def _array(source: Any, names: Sequence[str] | None) -> Source:
    values = np.asanyarray(source)  # it may be masked
    if values.ndim != 2:
        raise InvalidInputError(f"an array must have rows and columns, got shape {values.shape}")
    if names is None or isinstance(names, str) or len(names) != values.shape[1]:
        raise InvalidInputError(f"an array with {values.shape[1]} columns needs as many names=, got {shown(names)}")
    return _columns(zip(names, values.T, strict=True))


def _columns(columns: Iterable[tuple[Any, Any]]) -> Source:
    """Columns by name: arrays or lists."""
    names, arrays = [], []
    for name, column in columns:
        if isinstance(column, str) or not hasattr(column, "__len__") or getattr(column, "ndim", 1) != 1:
            raise InvalidInputError(f"column {shown(str(name))} must be a list or a 1-d array, got {shown(column)}")
        names.append(str(name))
        numeric = isinstance(column, np.ndarray) and column.dtype.kind in "iufM" and not np.ma.is_masked(column)
        if hasattr(column, "to_pylist"):
            arrays.append(_arrow_column(column))
        else:
            arrays.append(
                np.asarray(column) if numeric else objects(column.tolist() if hasattr(column, "tolist") else column)
            )
        if len(column) != len(arrays[0]):
            raise InvalidInputError(
                f"columns must have the same length, got {shown(names[0])} with {len(arrays[0])} values and "
                f"{shown(names[-1])} with {len(column)}"
            )
    return Source(names, arrays, rows(len(arrays[0]) if arrays else 0))


def _arrow(table: Any) -> Source:
    names, columns = list(table.column_names), [_arrow_column(column) for column in table.columns]
    stored = [name for name in (table.schema.pandas_metadata or {}).get("index_columns", []) if name in names]
    # pandas keeps the index of a frame as a column of the file
    return Source(names, columns, rows(table.num_rows), names.index(stored[0]) if len(stored) == 1 else None)


def _arrow_column(column: Any) -> np.ndarray:
    from pyarrow import types

    kind = column.type
    dates = types.is_date(kind) or (types.is_timestamp(kind) and kind.tz is None)
    if dates or types.is_integer(kind) or types.is_floating(kind):
        return np.asarray(column.to_numpy(zero_copy_only=False))
    try:
        return objects(column.to_pylist())
    except (ValueError, OverflowError):  # a date beyond the calendar of Python; it is named when it is read
        return objects(list(column))


def _pandas(source: Any, field: str | None) -> Source:
    import pandas as pd

    frame = source if isinstance(source, pd.DataFrame) else source.to_frame()
    if isinstance(frame.index, pd.MultiIndex):
        raise InvalidInputError("the index has several levels; pass frame.reset_index() with pivot=(names, numbers)")
    names, places = list(map(str, frame.columns)), list(range(frame.shape[1]))
    if isinstance(frame.columns, pd.MultiIndex):
        labels = [tuple(map(str, label)) for label in frame.columns]
        dated = [k for k, label in enumerate(labels) if not any(label[1:])]  # ('Date', ''), an index that was reset
        places, names = _of_field([label for label in labels if any(label[1:])], field)
        others = [k for k in range(len(labels)) if k not in dated]
        places, names = [*dated, *(others[k] for k in places)], [*(labels[k][0] for k in dated), *names]
    elif field is not None:
        raise InvalidInputError(f"field={field!r} is for columns with two levels of names; choose with columns=")
    columns = [_pandas_column(frame.iloc[:, place]) for place in places]
    index = None
    if not isinstance(frame.index, pd.RangeIndex):
        names.insert(0, "index" if frame.index.name is None else str(frame.index.name))
        columns.insert(0, _pandas_column(frame.index.to_series()))
        index = 0
    return Source(names, columns, rows(len(frame)), index)


def _of_field(labels: Sequence[tuple[str, ...]], field: str | None) -> tuple[list[int], list[str]]:
    """Positions and names of the columns of one field, from their two labels: fields and assets, in either order."""
    if any(len(label) != 2 for label in labels):
        raise InvalidInputError(f"the columns have {max(map(len, labels))} levels; pass a table with at most two")
    levels = [list(dict.fromkeys(label[k] for label in labels if label[k])) for k in range(2)]
    if field is None:
        usual = next((n for usual in FIELDS for names in levels for n in names if n == usual), levels[0][0])
        raise InvalidInputError(
            f"the columns have two levels, {listed(levels[0][:6])} and {listed(levels[1][:6])}; pass field={usual!r}"
        )
    level = next((k for k, names in enumerate(levels) if field in names), None)
    if level is None:
        raise unknown("field", field, levels[0] + levels[1])
    places = [k for k, label in enumerate(labels) if label[level] == field]
    return places, [labels[k][1 - level] for k in places]


def _pandas_column(column: Any) -> np.ndarray:
    import pandas as pd

    if isinstance(column.dtype, pd.PeriodDtype):
        column = column.dt.to_timestamp()
    if column.dtype.kind in "iuf":
        return np.asarray(column.to_numpy(float, na_value=np.nan))
    return np.asarray(column.to_numpy()) if column.dtype.kind == "M" else objects(column)


def _file(path: Path, layout: Layout) -> Source:
    if not path.is_file():  # a device or a pipe may never end
        what = "is not an ordinary file; name a CSV, Parquet or spreadsheet file" if path.exists() else "does not exist"
        raise InvalidInputError(f"the file {shown(str(path))} {what}")
    with path.open("rb") as file:
        start = file.read(4)
    if not start:
        raise InvalidInputError(f"{str(path)!r} is empty")
    if start == b"PAR1" or path.suffix.lower() in _PARQUET:
        return _parquet(path, layout.field)
    if path.suffix.lower() in _SPREADSHEET:
        if start not in (b"PK\3\4", b"\xd0\xcf\x11\xe0"):  # how archives and old files of Excel begin
            raise InvalidInputError(
                f"{str(path)!r} cannot be read: it is no spreadsheet; if it is text, as some programs export, rename "
                "it to .csv, and if not, save it as .xlsx again"
            )
        return _by_field(_spreadsheet(path, layout), layout.field)
    if path.suffix.lower() not in _CSV:
        raise InvalidInputError(
            f"{str(path)!r} must be a CSV file ({', '.join(_CSV)}), a Parquet file ({', '.join(_PARQUET)}) or a "
            f"spreadsheet ({', '.join(_SPREADSHEET)})"
        )
    if layout.sheet is not None:
        raise InvalidInputError(f"sheet={layout.sheet!r} is for spreadsheets; {str(path)!r} is not one: leave it out")
    return _by_field(_csv(path, layout), layout.field)


def _by_field(source: Source, field: str | None) -> Source:
    """The columns of one field of a file with two header lines, fields and assets in either order.

    yfinance writes fields above assets, and a third line that names the dates; Bloomberg writes assets above fields,
    with empty cells after an asset that has several.
    """
    if field is None:
        return source
    firsts = [column[:2].tolist() for column in source.columns]
    lines = 2 if all(len(pair) > 1 and pair[1] in (None, "") for pair in firsts[1:]) else 1
    above: list[str] = []
    for name in source.names:
        above.append(name or (above[-1] if above else ""))
    labels = [(above[k], str(firsts[k][0] or "") if firsts[k] else "") for k in range(1, len(above))]
    places, names = _of_field(labels, field)
    columns = [source.columns[k][lines:] for k in (0, *(place + 1 for place in places))]
    first = source.names[0] or str(firsts[0][0] or "")
    return Source([first, *names], columns, lambda row: source.place(row + lines), source.index, source.text)


def _spreadsheet(path: Path, layout: Layout) -> Source:
    """A sheet, with the types of its cells."""
    require("python_calamine", "reading a spreadsheet", "data")
    from python_calamine import CalamineWorkbook

    book = CalamineWorkbook.from_path(str(path))
    sheets = book.sheet_names
    if layout.sheet is None and len(sheets) > 1:
        raise InvalidInputError(f"{str(path)!r} has {len(sheets)} sheets: {listed(sheets)}; pass sheet={sheets[0]!r}")
    if layout.sheet is not None and layout.sheet not in sheets:
        raise unknown("sheet", layout.sheet, sheets)
    lines = book.get_sheet_by_name(layout.sheet or sheets[0]).to_python(skip_empty_area=False)
    cells = [[None if cell == "" else cell for cell in line] for line in lines[layout.skip_rows :]]
    while cells and not any(cell is not None for cell in cells[-1]):
        cells.pop()
    if not cells:
        raise InvalidInputError(f"{str(path)!r} has nothing after its first {layout.skip_rows} rows")
    width = max(k + 1 for line in cells for k, cell in enumerate(line) if cell is not None)
    names = ["" if cell is None else str(cell).strip() for cell in cells[0][:width]]
    columns = [objects([line[k] for line in cells[1:]]) for k in range(width)]
    return Source(
        names, columns, lambda row: f"row {row + 2 + layout.skip_rows} of the sheet", skipped=layout.skip_rows
    )


def _parquet(path: Path, field: str | None) -> Source:
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    if any(name.startswith("('") for name in table.column_names):  # two levels of names, as pandas stores them
        require("pandas", "a table with two levels of names")
        return _pandas(table.to_pandas(), field)
    if field is not None:
        raise InvalidInputError(f"field={field!r} is for columns with two levels of names; choose with columns=")
    return _arrow(table)


def _csv(path: Path, layout: Layout) -> Source:
    records = _records(path, layout)
    header = next((k for k, (_, cells) in enumerate(records) if cells), None)
    if header is None:
        raise InvalidInputError(f"{str(path)!r} has no lines")
    names, body = [name.strip() for name in records[header][1]], records[header + 1 :]
    if len(names) == 1:  # an empty line is then a missing value, unless it is at the end
        _check_separator(path, layout, names[0], next((cells for _, cells in body if cells), []))
        while body and not any(map(_cleaned, body[-1][1])):
            body.pop()
        body = [(line, cells or [""]) for line, cells in body]
    body = [(line, cells) for line, cells in body if cells]
    for line, cells in body:
        if len(cells) != len(names):
            start = [record for record in records[header:] if record[1]][:100]
            raise InvalidInputError(
                f"line {line} of {str(path)!r} has {len(cells)} value{'s' * (len(cells) > 1)}, but the header has "
                f"{len(names)} name{'s' * (len(names) > 1)}; {_ragged(start, layout, cells, len(names))}"
            )
    columns = [objects([_cleaned(cells[k]) for _, cells in body]) for k in range(len(names))]
    return Source(names, columns, lambda row: f"line {body[row][0]}", text=True, skipped=layout.skip_rows)


def _check_separator(path: Path, layout: Layout, name: str, following: list[str]) -> None:
    """Raise if the only column of a file seems to be several."""
    other = next((sign for sign in ";\t|," if sign != layout.separator and sign in name), None)
    words = name.split()
    if other is not None:
        how = f"by {other!r}? Pass separator={other!r}"
    elif len(words) > 1 and len(" ".join(following).split()) == len(words):
        how = f"by spaces? {'Replace runs of spaces by commas' if '  ' in name else f'Pass separator={chr(32)!r}'}"
    else:
        return
    raise InvalidInputError(f"the only column of {str(path)!r} is called {shown(name)}; is it separated {how}")


def _ragged(start: list[tuple[int, list[str]]], layout: Layout, cells: list[str], width: int) -> str:
    """The remedy for a line with another number of values than the header, given the first lines with their numbers."""
    sign = next((sign for sign in ";\t|" if sign != layout.separator and sign in "".join(cells)), None)
    if sign is not None:
        return f"is it separated by {sign!r}? Pass separator={sign!r}"
    most, _ = Counter(len(values) for _, values in start).most_common(1)[0]
    wide = [(line, values) for line, values in start if len(values) == most]
    # if possible, a line without empty values after the first
    begin = next((line for line, values in wide if all(value.strip() for value in values[1:])), wide[0][0]) - 1
    if begin != layout.skip_rows and (len(cells) > width or begin > 1):  # a shorter line 2 rather lacks a value
        return f"if the table begins in line {begin + 1}, pass skip_rows={begin}"
    return "delete it if it is not part of the table"


def _cleaned(cell: str) -> str | None:
    """Text without blanks around it; None if it stands for a missing value."""
    text = cell.strip().replace("\u2212", "-")  # the sign of typesetters
    if text in MISSING_WORDS:
        return None
    return _IN_PARENTHESES.sub(r"-\1", text) if text[0] == "(" else text


def _records(path: Path, layout: Layout) -> list[tuple[int, list[str]]]:
    """Records of a CSV file, each with the number of its first line; those of empty lines are empty."""
    import pyarrow as pa

    sign = layout.separator
    if not isinstance(sign, str) or len(sign) != 1 or sign in '\r\n"\0':
        raise InvalidInputError(f"separator must be a single character, such as ';', got {shown(sign)}")
    content = pa.input_stream(str(path)).read()  # decompressed
    marked = codecs.lookup(layout.encoding).name == "utf-8"  # a byte order mark is not part of the first name
    try:
        file = io.StringIO(content.decode("utf-8-sig" if marked else layout.encoding), newline="")
    except UnicodeDecodeError as error:
        line = content[: error.start].decode(layout.encoding, "ignore").count("\n") + 1
        marked_16 = content[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
        raise InvalidInputError(
            f"{str(path)!r} is not in {layout.encoding.upper()} ({error.reason}, line {line}); pass "
            f"encoding={'utf-16' if marked_16 else 'cp1252'!r} if that is its encoding, or save it in UTF-8"
        ) from None
    for _ in range(layout.skip_rows):
        file.readline()
    reader, line, records = csv.reader(file, delimiter=sign), 1 + layout.skip_rows, []
    try:
        for cells in reader:
            records.append((line, cells))
            line = layout.skip_rows + reader.line_num + 1
    except csv.Error as error:
        raise InvalidInputError(f"{str(path)!r}, about line {line}: {error}; correct it") from None
    return records
