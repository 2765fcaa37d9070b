"""Tables in every supported form: CSV, Parquet and spreadsheet files, frames, Arrow tables, dictionaries and arrays.

Nothing is validated here. Columns keep the types of their source, and rows are named as they are counted there.
"""

from __future__ import annotations

import codecs
import csv
import datetime
import io
import itertools
import os
import re
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from .._support.validation import whole
from ..errors import InvalidInputError, SharpeBanditsError, listed, require, shown, unknown

#: Text that stands for a missing value in a CSV file.
MISSING_WORDS = (
    "", "NA", "N/A", "n/a", "na", "NaN", "nan", "NAN", "-NaN", "-nan", "NULL", "Null", "null", "None", "none", "<NA>",
    "#N/A", "#N/A N/A", "#NA", "NaT", ".", "-", "--", "–", "—", "#DIV/0!", "#VALUE!", "#REF!", "#NUM!", "#NAME?",
)  # fmt: skip
#: Number of lines of a file that are examined to find where its table begins.
_BEGINNING = 100
#: A number of a text file that is neither digits only, which may be a date, nor in need of options.
_FRACTION = re.compile(r"-?\d*\.\d+([eE][-+]?\d+)?")
#: Usual names of the field of prices in a table with several fields per asset, the most likely first.
FIELDS = ("Adj Close", "Close", "PX_LAST", "PX_CLOSE", "close")
#: Accountants write negative numbers so.
_IN_PARENTHESES = r"^\(([$€£¥]?\s?\d[\d.,' ]*\s?%?)\)$"
_CSV = (".csv", ".txt", ".tsv", ".gz", ".bz2", ".zst")
_PARQUET = (".parquet", ".pq")
_SPREADSHEET = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")


@dataclass(frozen=True)
class Layout:
    """How a table is laid out, as far as that cannot be inferred: options of :func:`read_returns`.

    ``plain_numbers``: whether numbers of a text file are written as Python writes them.
    """

    separator: str = ","
    encoding: str = "utf-8"
    skip_rows: int = 0
    sheet: str | None = None
    field: str | None = None
    pivot: Sequence[str] | None = None
    plain_numbers: bool = True

    def __post_init__(self) -> None:
        sign = self.separator
        if not (isinstance(sign, str) and len(sign) == 1 and sign.isascii() and sign not in '\r\n"\0'):
            raise InvalidInputError(f"separator must be a single character, such as ';', got {shown(sign)}")
        try:
            "".encode(self.encoding)
        except (LookupError, TypeError, ValueError):
            raise InvalidInputError(
                f"there is no encoding {shown(self.encoding)}; common ones are 'latin-1', 'cp1252' and 'utf-16'"
            ) from None
        whole("skip_rows", self.skip_rows, 0)
        pair = self.pivot
        if pair is not None and not (isinstance(pair, (list, tuple)) and list(map(type, pair)) == [str, str]):
            raise InvalidInputError(
                f"pivot must be two columns, of names and of numbers, as in ('ticker', 'close'), got {shown(pair)}"
            )


@dataclass(frozen=True)
class Source:
    """A table as found.

    Columns are Arrow arrays, or lists if values have several types. ``place`` names a row counted from 0: ``"line 2"``.
    ``index`` is the position of a frame's index among the columns, ``text`` says whether columns hold the text of a
    file, ``skipped`` is the number of rows above the header, None if rows cannot be skipped.
    """

    names: list[str]
    columns: list[Any]
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
        raise InvalidInputError(f"the table cannot be read ({type(error).__name__}: {brief(error)})") from error
    table = _without_leftovers(table)
    lengths = {len(column) for column in table.columns}
    if len(lengths) > 1:
        first = len(table.columns[0])
        name, other = next((n, len(c)) for n, c in zip(table.names, table.columns, strict=True) if len(c) != first)
        raise InvalidInputError(
            f"columns must have the same length, got {shown(table.names[0])} with {first} values and {shown(name)} "
            f"with {other}"
        )
    return table


def _without_leftovers(source: Source) -> Source:
    """Without columns of a file that have no name: empty ones, and a first one that counts the rows (pandas' index)."""
    if source.skipped is None or all(source.names):
        return source
    places = []
    for k, (name, column) in enumerate(zip(source.names, source.columns, strict=True)):
        cells = plain_values(column[:50])
        counts = [str(n) for n in range(len(cells))], [str(n + 1) for n in range(len(cells))]
        empty = all(cell in MISSING_WORDS or cell is None for cell in plain_values(column)) if not name else False
        if name or not (empty or (k == 0 and len(cells) > 1 and list(map(str, cells)) in counts)):
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
    )


def brief(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if len(text) <= 200 else f"{text[:200]}…"


def plain_values(column: Any) -> list[Any]:
    """The values of a column as Python objects, or as Arrow scalars if Python cannot represent one of them."""
    try:
        return column.to_pylist() if hasattr(column, "to_pylist") else column
    except Exception:
        return list(column)


def rows(number: int) -> Callable[[int], str]:
    """Names of the rows of a table that is not a text file, counted from 1."""
    return lambda row: f"row {row + 1} of {number}"


def _array(source: Any, names: Sequence[str] | None) -> Source:
    try:
        values = np.ma.asarray(source) if np.ma.isMaskedArray(source) else np.asarray(source)
    except ValueError as error:
        raise InvalidInputError(f"the rows of an array must have the same length ({brief(error)})") from None
    if values.ndim != 2:
        raise InvalidInputError(f"an array must have rows and columns, got shape {values.shape}")
    if names is None or isinstance(names, str) or len(names) != values.shape[1]:
        raise InvalidInputError(f"an array with {values.shape[1]} columns needs as many names=, got {shown(names)}")
    return _columns(zip(names, values.T, strict=True))


def _columns(columns: Iterable[tuple[Any, Any]]) -> Source:
    """Columns by name: Arrow or NumPy arrays, or lists."""
    import pyarrow as pa

    names, arrays = [], []
    for name, column in columns:
        if isinstance(column, str) or not hasattr(column, "__len__"):
            raise InvalidInputError(
                f"column {shown(str(name))} must be a list or an array of values, got {shown(column)}"
            )
        names.append(str(name))
        if isinstance(column, (pa.Array, pa.ChunkedArray)):
            arrays.append(_whole(column))
            continue
        try:
            numeric = isinstance(column, np.ndarray) and column.dtype.kind in "iufM" and not np.ma.is_masked(column)
            arrays.append(pa.array(column) if numeric else column.tolist())
        except (pa.ArrowException, AttributeError):  # extended precision, months, bytes in another order; a list
            arrays.append(list(column))
    return Source(names, arrays, rows(len(arrays[0]) if arrays else 0))


def _arrow(table: Any) -> Source:
    names, columns = list(table.column_names), [_whole(column) for column in table.columns]
    stored = [name for name in (table.schema.pandas_metadata or {}).get("index_columns", []) if name in names]
    # pandas keeps the index of a frame as a column of the file
    return Source(names, columns, rows(table.num_rows), names.index(stored[0]) if len(stored) == 1 else None)


def _whole(column: Any) -> Any:
    """A column in one chunk and of a plain type; a list of its values if there is no such type."""
    import pyarrow as pa

    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(whole, pa.ChunkedArray):  # of an empty column
        whole = pa.concat_arrays(whole.chunks) if whole.num_chunks else pa.array([], whole.type)
    if isinstance(whole.type, pa.BaseExtensionType):
        whole = whole.storage
    if pa.types.is_dictionary(whole.type):
        whole = whole.dictionary_decode()
    # Arrow has hardly any functions for views
    odd = pa.types.is_nested(whole.type) or pa.types.is_run_end_encoded(whole.type) or "_view" in str(whole.type)
    return plain_values(whole) if odd else whole


def _pandas(source: Any, field: str | None) -> Source:
    import pandas as pd

    frame = source.to_frame() if isinstance(source, pd.Series) else source
    if not isinstance(frame, pd.DataFrame):
        raise InvalidInputError(f"a pandas frame or series is needed, got {shown(source)}")
    if isinstance(frame.index, pd.MultiIndex):
        raise InvalidInputError(
            "the frame's index has several levels; pass frame.reset_index() with pivot=(names, numbers), or a frame "
            "with a row per date and a column per arm"
        )
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
        label = frame.index.to_timestamp() if isinstance(frame.index, pd.PeriodIndex) else frame.index
        names.insert(0, "index" if label.name is None else str(label.name))
        columns.insert(0, _pandas_column(label.to_series()))
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
            f" for the columns of that name"
        )
    level = next((k for k, names in enumerate(levels) if field in names), None)
    if level is None:
        raise unknown("field", field, levels[0] + levels[1])
    places = [k for k, label in enumerate(labels) if label[level] == field]
    return places, [labels[k][1 - level] for k in places]


def _pandas_column(column: Any) -> Any:
    import pandas as pd
    import pyarrow as pa

    if isinstance(column.dtype, pd.PeriodDtype):  # Arrow would convert a period to its ordinal number
        column = column.dt.to_timestamp()
    if column.dtype == object:
        return list(column)
    return _whole(pa.array(column, from_pandas=True))


def _file(path: Path, layout: Layout) -> Source:
    try:
        kind = path.stat().st_mode
        if stat.S_ISDIR(kind):
            raise InvalidInputError(f"{str(path)!r} is a folder; name a CSV, Parquet or spreadsheet file")
        if not stat.S_ISREG(kind):  # a device or a pipe may never end
            raise InvalidInputError(f"{str(path)!r} is not an ordinary file; save its content to one")
        with path.open("rb") as file:
            start = file.read(4)
    except (FileNotFoundError, NotADirectoryError):
        raise InvalidInputError(f"there is no file {shown(str(path))}") from None
    except OSError as error:
        raise InvalidInputError(f"{shown(str(path))} cannot be read ({error.strerror or error})") from None
    if not start:
        raise InvalidInputError(f"{str(path)!r} is empty")
    if start == b"PAR1" or path.suffix.lower() in _PARQUET:
        return _parquet(path, layout.field)
    if path.suffix.lower() in _SPREADSHEET:
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
    firsts = [plain_values(column[:2]) for column in source.columns]
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
    from python_calamine import CalamineError, CalamineWorkbook

    try:
        book = CalamineWorkbook.from_path(str(path))
        sheets = book.sheet_names
        if layout.sheet is None and len(sheets) > 1:
            raise InvalidInputError(
                f"{str(path)!r} has {len(sheets)} sheets: {listed(sheets)}; pass sheet={sheets[0]!r} for "
                "the intended one"
            )
        if layout.sheet is not None and layout.sheet not in sheets:
            raise unknown("sheet", layout.sheet, sheets)
        lines = book.get_sheet_by_name(layout.sheet or sheets[0]).to_python(skip_empty_area=False)
    except (CalamineError, OSError) as error:
        raise InvalidInputError(f"{str(path)!r} is not a spreadsheet, or is damaged ({brief(error)})") from None
    cells = [[None if cell == "" else cell for cell in line] for line in lines]
    cells = cells[layout.skip_rows :]
    while cells and not any(cell is not None for cell in cells[-1]):
        cells.pop()
    if not cells:
        raise InvalidInputError(f"{str(path)!r} has nothing after its first {layout.skip_rows} rows")
    width = max(k + 1 for line in cells for k, cell in enumerate(line) if cell is not None)
    names = ["" if cell is None else str(cell).strip() for cell in cells[0][:width]]
    columns = [[line[k] for line in cells[1:]] for k in range(width)]
    return Source(
        names, columns, lambda row: f"row {row + 2 + layout.skip_rows} of the sheet", skipped=layout.skip_rows
    )


def _parquet(path: Path, field: str | None) -> Source:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
    except (pa.ArrowException, OSError, MemoryError) as error:
        raise InvalidInputError(f"{str(path)!r} is not a Parquet file, or is damaged ({brief(error)})") from None
    if any(name.startswith("('") for name in table.column_names):  # two levels of names, as pandas stores them
        require("pandas", "a table with two levels of names")
        return _pandas(table.to_pandas(), field)
    if field is not None:
        raise InvalidInputError(f"field={field!r} is for columns with two levels of names; choose with columns=")
    return _arrow(table)


def joined_dates(source: Source, date: Sequence[str]) -> Source:
    """The table with columns of dates and times of day, or of year, month and day, joined under the first name."""
    for name in date:
        if name not in source.names:
            raise unknown("column", name, source.names)
    parts = [plain_values(source.columns[source.names.index(name)]) for name in date]
    if len(date) in (2, 3) and all(str(cell).isdecimal() for part in parts for cell in part[:50]):
        joined: list[Any] = ["-".join(f"{int(n):02}" for n in row) for row in zip(*parts, strict=True)]
    elif len(date) != 2 or len(set(date)) != 2:
        raise InvalidInputError(
            "date must be a column, two columns of dates and times of day, or those of year, month and day, got "
            f"{shown(date)}"
        )
    else:
        day = [d.date() if isinstance(d, datetime.datetime) else d for d in parts[0]]
        joined = [None if d is None or t is None else f"{d} {t}" for d, t in zip(day, parts[1], strict=True)]
    places = [k for k, name in enumerate(source.names) if name not in date[1:]]
    columns = [joined if source.names[k] == date[0] else source.columns[k] for k in places]
    index = None if source.index is None or source.names[source.index] in date[1:] else places.index(source.index)
    return replace(source, names=[source.names[k] for k in places], columns=columns, index=index)


def _csv(path: Path, layout: Layout) -> Source:
    """Every column as text, unless its first value has a fraction: other types could fail further down."""
    import pyarrow as pa
    from pyarrow import csv as arrow

    records = ((line, cells) for line, cells in _records(path, layout) if cells)
    line, header = next(records, (0, []))
    names, first = [name.strip() for name in header], next(records, (0, []))[1]
    if not names:
        raise InvalidInputError(f"{str(path)!r} has no lines")
    alone = len(names) == 1  # an empty line is then a missing value
    if alone:
        _check_separator(path, layout, names[0], first)
    unique, text = [f"f{k}" for k in range(len(names))], dict.fromkeys(range(len(names)), pa.large_string())
    numeric = {k: pa.float64() for k, cell in enumerate(first[: len(names)]) if _FRACTION.fullmatch(cell)}
    if not layout.plain_numbers or layout.field is not None or layout.pivot is not None:
        numeric = {}
    # a line must fit into a block; lines of data are rarely many times as long as the header
    skip, size = line + "".join(header).count("\n"), max(2**20, 64 * sum(map(len, header)))
    reading = arrow.ReadOptions(column_names=unique, skip_rows=skip, encoding=layout.encoding, block_size=size)
    parsing = arrow.ParseOptions(delimiter=layout.separator, newlines_in_values=True, ignore_empty_lines=not alone)
    for types in (text | numeric, text):  # text is needed to name what is not a number
        converting = arrow.ConvertOptions(
            column_types={f"f{k}": kind for k, kind in types.items()}, null_values=MISSING_WORDS
        )
        try:
            table = arrow.read_csv(path, reading, parsing, converting).combine_chunks()
            break
        except (ValueError, OSError) as error:  # from Arrow, or from the decoder
            problem = brief(error)
    else:
        for line, cells in _records(path, layout):
            if cells and len(cells) != len(names):
                raise InvalidInputError(
                    f"line {line} of {str(path)!r} has {len(cells)} value{'s' * (len(cells) > 1)}, but the header has "
                    f"{len(names)} name{'s' * (len(names) > 1)}{_ragged(path, layout, cells, len(names))}"
                )
        raise InvalidInputError(f"{str(path)!r} cannot be read as CSV ({problem})")

    def place(row: int) -> str:
        lines = (number for number, cells in _records(path, layout) if number > line and (cells or alone))
        return f"line {next(itertools.islice(lines, row, None))}"

    columns = [_trimmed(_whole(column)) for column in table.columns]
    if alone:  # empty lines at the end of the file are not missing values
        held = len(columns[0])
        while held and not columns[0][held - 1].is_valid:
            held -= 1
        columns = [columns[0][:held]]
    return Source(names, columns, place, text=True, skipped=layout.skip_rows)


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


def _ragged(path: Path, layout: Layout, cells: list[str], width: int) -> str:
    """The remedy for a line with another number of values than the header."""
    sign = next((sign for sign in ";\t|" if sign != layout.separator and sign in "".join(cells)), None)
    if sign is not None:
        return f"; is it separated by {sign!r}? Pass separator={sign!r}"
    begin = _first_of_most(path, layout) - 1
    if begin != layout.skip_rows and (len(cells) > width or begin > 1):  # a shorter line 2 rather lacks a value
        return f"; if the table begins in line {begin + 1}, pass skip_rows={begin}"
    return "; delete it if it is not part of the table"


def _first_of_most(path: Path, layout: Layout) -> int:
    """The first line with the most common number of values; if possible, one without empty values after the first."""
    start = list(itertools.islice(((line, cells) for line, cells in _records(path, layout) if cells), _BEGINNING))
    width, _ = Counter(len(cells) for _, cells in start).most_common(1)[0]
    wide = [(line, cells) for line, cells in start if len(cells) == width]
    return next((line for line, cells in wide if all(cell.strip() for cell in cells[1:])), wide[0][0])


def _trimmed(column: Any) -> Any:
    """Text without blanks around it; null if it stands for a missing value."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_large_string(column.type):
        return column
    cells = pc.utf8_trim_whitespace(pc.replace_substring(column, "\u2212", "-"))  # the sign of typesetters
    cells = pc.replace_substring_regex(cells, _IN_PARENTHESES, r"-\1")
    missing = pc.is_in(cells, value_set=pa.array(MISSING_WORDS, pa.large_string()))
    return pc.if_else(missing, pa.scalar(None, pa.large_string()), cells)


def _records(path: Path, layout: Layout) -> Iterator[tuple[int, list[str]]]:
    """Records of a CSV file, each with the number of its first line; those of empty lines are empty."""
    import pyarrow as pa

    marked = codecs.lookup(layout.encoding).name == "utf-8"  # a byte order mark is not part of the first name
    with io.TextIOWrapper(pa.input_stream(str(path)), "utf-8-sig" if marked else layout.encoding, newline="") as file:
        line = 1 + layout.skip_rows
        try:
            for _ in range(layout.skip_rows):
                file.readline()
            reader = csv.reader(file, delimiter=layout.separator)
            for cells in reader:
                yield line, cells
                line = layout.skip_rows + reader.line_num + 1
        except UnicodeDecodeError as error:
            before = pa.input_stream(str(path)).read().partition(error.object)[0] + error.object[: error.start]
            line = before.decode(layout.encoding, "ignore").count("\n") + 1
            marked_16 = path.read_bytes()[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
            raise InvalidInputError(
                f"{str(path)!r} is not in {layout.encoding.upper()} ({error.reason}, line {line}); pass "
                f"encoding={'utf-16' if marked_16 else 'cp1252'!r} if that is its encoding, or save it in UTF-8"
            ) from None
        except csv.Error as error:
            raise InvalidInputError(f"{str(path)!r}, about line {line}: {error}; correct it") from None
        except OSError as error:  # from a compressed file
            raise InvalidInputError(f"{str(path)!r} is damaged, or not compressed as its name says ({error})") from None
