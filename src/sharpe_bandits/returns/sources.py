"""Tables as they come: CSV and Parquet files, pandas and polars frames, Arrow tables, dictionaries and arrays.

Nothing is judged here. Columns keep the types of their source, and every row knows how its owner counts it.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InvalidInput

#: What stands for a missing value in a CSV file, besides nothing at all.
MISSING_WORDS = (
    "", "NA", "N/A", "n/a", "na", "NaN", "nan", "NAN", "-NaN", "-nan", "NULL", "Null", "null", "None", "none", "<NA>",
    "#N/A", "#N/A N/A", "#NA", "NaT", ".",
)  # fmt: skip
_CSV = (".csv", ".txt", ".tsv", ".gz", ".bz2", ".zst")
_PARQUET = (".parquet", ".pq")


@dataclass(frozen=True)
class Source:
    """A table as it was found.

    Attributes
    ----------
    names : of the columns
    columns : an Arrow array each, or a list where a column holds things of several types
    place : words for a row, counted from 0 here: ``"line 2"``
    index : which column is the index of a frame, if one is
    text : whether columns hold the text of a file, numbers included
    """

    names: list[str]
    columns: list[Any]
    place: Callable[[int], str]
    index: int | None = None
    text: bool = False


def find(source: Any, names: Sequence[str] | None, separator: str) -> Source:
    """The table behind whatever was given."""
    if isinstance(source, (str, os.PathLike)):
        found = _file(Path(source), separator)
    elif isinstance(source, Mapping):
        found = _dictionary(source)
    elif isinstance(source, np.ndarray) or (isinstance(source, (list, tuple)) and names is not None):
        return _checked(_array(source, names))
    elif _library(source) == "pandas":
        found = _pandas(source)
    elif _library(source) == "polars" and hasattr(source, "to_arrow"):
        found = _arrow((source.to_frame() if hasattr(source, "to_frame") else source).to_arrow())
    else:
        found = _other(source)
    if names is not None:
        raise InvalidInput("names= is for arrays; a table has names already, choose among them with columns=")
    return _checked(found)


def _checked(source: Source) -> Source:
    lengths = [len(column) for column in source.columns]
    if len(set(lengths)) > 1:
        raise InvalidInput(f"columns must be of one length, got {dict(zip(source.names, lengths, strict=True))}")
    return source


def _library(thing: Any) -> str:
    return type(thing).__module__.partition(".")[0]


def rows(number: int) -> Callable[[int], str]:
    """How the rows of a table without lines are counted: from 1."""
    return lambda row: f"row {row + 1} of {number}"


def _array(source: Any, names: Sequence[str] | None) -> Source:
    import pyarrow as pa

    try:
        values = np.asarray(source)
        if np.ma.is_masked(source):
            values = values.astype(object)
            values[np.ma.getmaskarray(source)] = None
    except ValueError as error:
        raise InvalidInput(f"the rows of an array must be of one length ({error})") from None
    if values.ndim != 2:
        raise InvalidInput(f"an array must have rows and columns, got one of shape {values.shape}")
    if names is None or isinstance(names, str) or len(names) != values.shape[1]:
        raise InvalidInput(f"an array of {values.shape[1]} columns needs as many names=, got {names!r}")
    plain = values.dtype.kind in "iuf"
    columns = [pa.array(column) if plain else column.tolist() for column in np.ascontiguousarray(values.T)]
    return Source([str(name) for name in names], columns, rows(len(values)))


def _dictionary(source: Mapping[Any, Any]) -> Source:
    import pyarrow as pa

    columns = []
    for name, column in source.items():
        if isinstance(column, str) or not hasattr(column, "__len__"):
            raise InvalidInput(f"column {str(name)!r} must be a list or an array of values, got {column!r}")
        values = np.asarray(column) if isinstance(column, np.ndarray) else list(column)
        columns.append(pa.array(values) if isinstance(values, np.ndarray) and values.dtype.kind in "iufM" else values)
    return Source([str(name) for name in source], columns, rows(len(columns[0]) if columns else 0))


def _other(source: Any) -> Source:
    import pyarrow as pa

    if isinstance(source, pa.Table) or hasattr(source, "__arrow_c_stream__"):
        return _arrow(pa.table(source))
    if hasattr(source, "__dataframe__"):
        from pyarrow.interchange import from_dataframe

        return _arrow(from_dataframe(source))
    raise InvalidInput(
        "returns are read from a CSV or Parquet file, a pandas or polars frame, an Arrow table, a dictionary of "
        f"columns or an array with names=, got {_brief(source)}"
    )


def _arrow(table: Any) -> Source:
    names, columns, index = list(table.column_names), [_whole(column) for column in table.columns], None
    kept = (table.schema.pandas_metadata or {}).get("index_columns", [])
    stored = [name for name in kept if isinstance(name, str) and name in names]
    if len(stored) == 1:  # pandas keeps the index of a frame as a column of the file
        index = names.index(stored[0])
    return Source(names, columns, rows(table.num_rows), index)


def _whole(column: Any) -> Any:
    import pyarrow as pa

    whole = column.combine_chunks()
    if isinstance(whole, pa.ChunkedArray):  # of an empty column
        whole = pa.concat_arrays(whole.chunks) if whole.num_chunks else pa.array([], whole.type)
    return whole.dictionary_decode() if pa.types.is_dictionary(whole.type) else whole


def _pandas(source: Any) -> Source:
    import pandas as pd
    import pyarrow as pa

    frame = source.to_frame() if isinstance(source, pd.Series) else source
    if not isinstance(frame, pd.DataFrame):
        raise InvalidInput(f"a pandas frame or series is needed, got {_brief(source)}")
    if isinstance(frame.index, pd.MultiIndex) or isinstance(frame.columns, pd.MultiIndex):
        which = "index has" if isinstance(frame.index, pd.MultiIndex) else "columns have"
        raise InvalidInput(
            f"the frame's {which} several levels; pass a frame with a row per date and a column per arm, such as one "
            "level of it"
        )
    names = [str(name) for name in frame.columns]
    series = [frame.iloc[:, position] for position in range(frame.shape[1])]
    index = None
    if not isinstance(frame.index, pd.RangeIndex):
        label = frame.index.to_timestamp() if isinstance(frame.index, pd.PeriodIndex) else frame.index
        names.insert(0, "index" if label.name is None else str(label.name))
        series.insert(0, label.to_series())
        index = 0
    columns = []
    for column in series:
        if isinstance(column.dtype, pd.PeriodDtype):  # Arrow would take a period for its number
            column = column.dt.to_timestamp()
        mixed = column.dtype == object
        columns.append(list(column) if mixed else _whole(pa.chunked_array([_flat(pa.array(column, from_pandas=True))])))
    return Source(names, columns, rows(len(frame)), index)


def _flat(array: Any) -> Any:
    import pyarrow as pa

    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def _file(path: Path, separator: str) -> Source:
    try:
        with path.open("rb") as file:
            start = file.read(4)
    except FileNotFoundError:
        raise InvalidInput(f"there is no file {str(path)!r}") from None
    except IsADirectoryError:
        raise InvalidInput(f"{str(path)!r} is a folder; name a CSV or Parquet file") from None
    if not start:
        raise InvalidInput(f"{str(path)!r} is empty")
    if start == b"PAR1" or path.suffix.lower() in _PARQUET:
        return _parquet(path)
    if path.suffix.lower() not in _CSV:
        raise InvalidInput(
            f"{str(path)!r} must be a CSV file ({', '.join(_CSV)}) or a Parquet file ({', '.join(_PARQUET)})"
        )
    return _csv(path, separator)


def _parquet(path: Path) -> Source:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return _arrow(pq.read_table(path))
    except (pa.ArrowInvalid, OSError) as error:
        raise InvalidInput(f"{str(path)!r} is no Parquet file, or a damaged one ({error})") from None


def _csv(path: Path, separator: str) -> Source:
    """Every column as text: types guessed from a file's beginning would fail on what stands further down."""
    import pyarrow as pa
    from pyarrow import csv

    if not isinstance(separator, str) or len(separator) != 1:
        raise InvalidInput(f"separator must be a single character, got {separator!r}")
    records = _records(path, separator)
    header = next(records, None)
    if header is None:
        raise InvalidInput(f"{str(path)!r} has no lines")
    names = [name.strip() for name in header[1]]
    other = next((sign for sign in ";\t|," if sign != separator and sign in "".join(names)), None)
    if len(names) == 1 and other is not None:
        raise InvalidInput(
            f"the only column of {str(path)!r} is called {names[0]!r}; is it separated by {other!r}? "
            f"Pass separator={other!r} (--separator {'tab' if other == chr(9) else repr(other)})"
        )
    plain = [f"f{position}" for position in range(len(names))]  # names as given may not be different ones
    try:
        table = csv.read_csv(
            path,
            csv.ReadOptions(column_names=plain, skip_rows=header[0] + "".join(header[1]).count("\n")),
            # in a file of one column an empty line is a value that is missing
            csv.ParseOptions(delimiter=separator, newlines_in_values=True, ignore_empty_lines=len(names) > 1),
            csv.ConvertOptions(column_types=dict.fromkeys(plain, pa.string()), strings_can_be_null=False),
        )
    except (pa.ArrowInvalid, OSError) as error:
        for line, cells in records:
            if len(cells) != len(names):
                raise InvalidInput(
                    f"line {line} of {str(path)!r} has {len(cells)} values, the header has {len(names)} names"
                ) from None
        raise InvalidInput(f"{str(path)!r} cannot be read as CSV ({error})") from None

    def place(row: int) -> str:
        lines = (line for line, cells in _records(path, separator, empty=len(names) == 1) if line >= header[0])
        for number, line in enumerate(lines, -1):
            if number == row:
                return f"line {line}"
        return f"row {row + 1}"

    columns = [_trimmed(_whole(column)) for column in table.columns]
    if len(names) == 1:  # but not at the end of the file
        held = len(columns[0])
        while held and not columns[0][held - 1].is_valid:
            held -= 1
        columns = [columns[0][:held]]
    return Source(names, columns, place, text=True)


def _trimmed(column: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    trimmed = pc.utf8_trim_whitespace(column)
    absent = pc.is_in(trimmed, value_set=pa.array(MISSING_WORDS))
    return pc.if_else(absent, pa.scalar(None, pa.string()), trimmed)


def _records(path: Path, separator: str, empty: bool = False) -> Any:
    """Lines of a CSV file that hold something, each with its number: of the first line where a value spans several.

    With ``empty`` the others are among them.
    """
    import csv

    import pyarrow as pa

    with io.TextIOWrapper(pa.input_stream(str(path)), "utf-8-sig", newline="") as file:
        reader = csv.reader(file, delimiter=separator)
        line = 1
        try:
            for cells in reader:
                if cells or empty:
                    yield line, cells
                line = reader.line_num + 1
        except UnicodeDecodeError as error:
            raise InvalidInput(
                f"{str(path)!r} is not in UTF-8 ({error.reason}, about line {line}); save it so"
            ) from None
        except OSError as error:  # of a file that is compressed
            raise InvalidInput(f"{str(path)!r} is damaged, or not compressed as its name says ({error})") from None


def _brief(thing: Any) -> str:
    text = repr(thing)
    return text if len(text) <= 60 else f"{text[:50]}…"
