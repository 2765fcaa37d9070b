"""Tables as they come: CSV and Parquet files, pandas and polars frames, Arrow tables, dictionaries and arrays.

Nothing is judged here. Columns keep the types of their source, and every row knows how its owner counts it.
"""

from __future__ import annotations

import io
import json
import os
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InvalidInputError, SharpeBanditsError, shown

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
    try:
        found = _found(source, names, separator)
    except SharpeBanditsError:
        raise
    except Exception as error:  # of another library, or of an object of another's making
        raise InvalidInputError(f"the table cannot be read ({type(error).__name__}: {brief(error)})") from error
    lengths = {len(column) for column in found.columns}
    if len(lengths) > 1:
        first = len(found.columns[0])
        name, other = next((n, len(c)) for n, c in zip(found.names, found.columns, strict=True) if len(c) != first)
        raise InvalidInputError(
            f"columns must be of one length, got {shown(found.names[0])} of {first} values and {shown(name)} of {other}"
        )
    return found


def _found(source: Any, names: Sequence[str] | None, separator: str) -> Source:
    if isinstance(source, np.ndarray) or (isinstance(source, (list, tuple)) and names is not None):
        return _array(source, names)
    if names is not None:
        raise InvalidInputError("names= is for arrays; a table has names already, choose among them with columns=")
    if isinstance(source, (str, os.PathLike)):
        return _file(Path(source), separator)
    if isinstance(source, Mapping):
        return _dictionary(source)
    if _library(source) == "pandas":
        return _pandas(source)
    if _library(source) == "polars" and hasattr(source, "to_arrow"):
        return _arrow((source.to_frame() if hasattr(source, "to_frame") else source).to_arrow())
    return _other(source)


def brief(error: Exception) -> str:
    """What another library says was wrong, in a line."""
    text = " ".join(str(error).split())
    return text if len(text) <= 200 else f"{text[:200]}…"


def _library(thing: Any) -> str:
    return type(thing).__module__.partition(".")[0]


def plain_values(column: Any) -> list[Any]:
    """The values of a column as Python has them; as Arrow has them where Python has none, such as dates far away."""
    try:
        return column.to_pylist() if hasattr(column, "to_pylist") else column
    except Exception:
        return list(column)


def rows(number: int) -> Callable[[int], str]:
    """How the rows of a table without lines are counted: from 1."""
    return lambda row: f"row {row + 1} of {number}"


def _array(source: Any, names: Sequence[str] | None) -> Source:
    try:
        values = np.asarray(source)
        if np.ma.is_masked(source):
            values = values.astype(object)
            values[np.ma.getmaskarray(source)] = None
    except ValueError as error:
        raise InvalidInputError(f"the rows of an array must be of one length ({brief(error)})") from None
    if values.ndim != 2:
        raise InvalidInputError(f"an array must have rows and columns, got one of shape {values.shape}")
    if names is None or isinstance(names, str) or len(names) != values.shape[1]:
        raise InvalidInputError(f"an array of {values.shape[1]} columns needs as many names=, got {shown(names)}")
    return Source([str(name) for name in names], [_typed(c) for c in np.ascontiguousarray(values.T)], rows(len(values)))


def _typed(values: np.ndarray) -> Any:
    """An Arrow array where Arrow has the type, else a list."""
    import pyarrow as pa

    try:
        return pa.array(values) if values.dtype.kind in "iufM" else values.tolist()
    except pa.ArrowException:  # extended precision, months, bytes in another order
        return list(values)


def _dictionary(source: Mapping[Any, Any]) -> Source:
    import pyarrow as pa

    columns = []
    for name, column in source.items():
        if isinstance(column, str) or not hasattr(column, "__len__"):
            raise InvalidInputError(
                f"column {shown(str(name))} must be a list or an array of values, got {shown(column)}"
            )
        if isinstance(column, np.ndarray):
            columns.append(_typed(np.ma.filled(column.astype(object), None) if np.ma.is_masked(column) else column))
        elif isinstance(column, (pa.Array, pa.ChunkedArray)):
            columns.append(_whole(pa.chunked_array([column]) if isinstance(column, pa.Array) else column))
        else:
            columns.append(list(column))
    return Source([str(name) for name in source], columns, rows(len(columns[0]) if columns else 0))


def _other(source: Any) -> Source:
    import pyarrow as pa

    if isinstance(source, pa.Table) or hasattr(source, "__arrow_c_stream__"):
        return _arrow(pa.table(source))
    if hasattr(source, "__dataframe__"):
        from pyarrow.interchange import from_dataframe

        return _arrow(from_dataframe(source))
    raise InvalidInputError(
        "returns are read from a CSV or Parquet file, a pandas or polars frame, an Arrow table, a dictionary of "
        f"columns or an array with names=, got {shown(source)}"
    )


def _arrow(table: Any) -> Source:
    names, columns, index = list(table.column_names), [_whole(column) for column in table.columns], None
    stored = [name for name in _kept_by_pandas(table) if isinstance(name, str) and name in names]
    if len(stored) == 1:  # pandas keeps the index of a frame as a column of the file
        index = names.index(stored[0])
    return Source(names, columns, rows(table.num_rows), index)


def _kept_by_pandas(table: Any) -> list[Any]:
    """What pandas noted of a frame's index; anybody may have written anything there."""
    try:
        noted = json.loads((table.schema.metadata or {}).get(b"pandas", b"{}"))
    except (ValueError, RecursionError):
        return []
    kept = noted.get("index_columns") if isinstance(noted, dict) else None
    return kept if isinstance(kept, list) else []


def _whole(column: Any) -> Any:
    """A column in one piece and of a plain type; a list of its values where there is none."""
    import pyarrow as pa

    whole = column.combine_chunks()
    if isinstance(whole, pa.ChunkedArray):  # of an empty column
        whole = pa.concat_arrays(whole.chunks) if whole.num_chunks else pa.array([], whole.type)
    if isinstance(whole.type, pa.BaseExtensionType):
        whole = whole.storage
    if pa.types.is_dictionary(whole.type):
        whole = whole.dictionary_decode()
    return plain_values(whole) if pa.types.is_nested(whole.type) or pa.types.is_run_end_encoded(whole.type) else whole


def _pandas(source: Any) -> Source:
    import pandas as pd

    frame = source.to_frame() if isinstance(source, pd.Series) else source
    if not isinstance(frame, pd.DataFrame):
        raise InvalidInputError(f"a pandas frame or series is needed, got {shown(source)}")
    if isinstance(frame.index, pd.MultiIndex) or isinstance(frame.columns, pd.MultiIndex):
        which = "index has" if isinstance(frame.index, pd.MultiIndex) else "columns have"
        raise InvalidInputError(
            f"the frame's {which} several levels; pass a frame with a row per date and a column per arm, such as one "
            "level of it"
        )
    names = [str(name) for name in frame.columns]
    kinds = set(frame.dtypes)
    if len(kinds) == 1 and isinstance(next(iter(kinds)), np.dtype) and next(iter(kinds)).kind in "iuf":
        # all at once: to ask a frame for a column takes its time
        columns = [_typed(column) for column in np.ascontiguousarray(frame.to_numpy().T)]
    else:
        columns = [_pandas_column(frame.iloc[:, position]) for position in range(frame.shape[1])]
    index = None
    if not isinstance(frame.index, pd.RangeIndex):
        label = frame.index.to_timestamp() if isinstance(frame.index, pd.PeriodIndex) else frame.index
        names.insert(0, "index" if label.name is None else str(label.name))
        columns.insert(0, _pandas_column(label.to_series()))
        index = 0
    return Source(names, columns, rows(len(frame)), index)


def _pandas_column(column: Any) -> Any:
    import pandas as pd
    import pyarrow as pa

    if isinstance(column.dtype, pd.PeriodDtype):  # Arrow would take a period for its number
        column = column.dt.to_timestamp()
    if column.dtype == object:
        return list(column)
    array = pa.array(column, from_pandas=True)
    return _whole(array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array]))


def _file(path: Path, separator: str) -> Source:
    try:
        kind = path.stat().st_mode
        if stat.S_ISDIR(kind):
            raise InvalidInputError(f"{str(path)!r} is a folder; name a CSV or Parquet file")
        if not stat.S_ISREG(kind):  # a device or a pipe may never come to an end
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
        return _parquet(path)
    if path.suffix.lower() not in _CSV:
        raise InvalidInputError(
            f"{str(path)!r} must be a CSV file ({', '.join(_CSV)}) or a Parquet file ({', '.join(_PARQUET)})"
        )
    return _csv(path, separator)


def _parquet(path: Path) -> Source:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return _arrow(pq.read_table(path))
    except (pa.ArrowException, OSError, MemoryError) as error:
        raise InvalidInputError(f"{str(path)!r} is no Parquet file, or a damaged one ({brief(error)})") from None


def _csv(path: Path, separator: str) -> Source:
    """Every column as text: types guessed from a file's beginning would fail on what stands further down."""
    import pyarrow as pa
    from pyarrow import csv

    if not (isinstance(separator, str) and len(separator) == 1 and separator.isascii() and separator not in '\r\n"\0'):
        raise InvalidInputError(f"separator must be a single character, such as ';', got {shown(separator)}")
    records = _records(path, separator)
    header = next(records, None)
    if header is None:
        raise InvalidInputError(f"{str(path)!r} has no lines")
    names = [name.strip() for name in header[1]]
    other = next((sign for sign in ";\t|," if sign != separator and sign in "".join(names)), None)
    if len(names) == 1 and other is not None:
        raise InvalidInputError(
            f"the only column of {str(path)!r} is called {shown(names[0])}; is it separated by {other!r}? "
            f"Pass separator={other!r} (--separator {'tab' if other == chr(9) else repr(other)})"
        )
    plain = [f"f{position}" for position in range(len(names))]  # names as given may not be different ones
    try:
        table = csv.read_csv(
            path,
            csv.ReadOptions(
                column_names=plain,
                skip_rows=header[0] + "".join(header[1]).count("\n"),
                # a line must fit into a block; one of data is seldom many times as long as the header
                block_size=max(2**20, 64 * sum(map(len, header[1]))),
            ),
            # in a file of one column an empty line is a value that is missing
            csv.ParseOptions(delimiter=separator, newlines_in_values=True, ignore_empty_lines=len(names) > 1),
            csv.ConvertOptions(column_types=dict.fromkeys(plain, pa.large_string()), strings_can_be_null=False),
        )
    except (pa.ArrowInvalid, OSError) as error:
        for line, cells in records:
            if len(cells) != len(names):
                raise InvalidInputError(
                    f"line {line} of {str(path)!r} has {len(cells)} values, the header has {len(names)} names"
                ) from None
        raise InvalidInputError(f"{str(path)!r} cannot be read as CSV ({brief(error)})") from None

    def place(row: int) -> str:
        lines = (line for line, cells in _records(path, separator, empty=len(names) == 1) if line >= header[0])
        for number, line in enumerate(lines, -1):
            if number == row:
                return f"line {line}"
        return f"row {row + 1}"

    columns = _trimmed(table)
    if len(names) == 1:  # but not at the end of the file
        held = len(columns[0])
        while held and not columns[0][held - 1].is_valid:
            held -= 1
        columns = [columns[0][:held]]
    return Source(names, columns, place, text=True)


def _trimmed(table: Any) -> list[Any]:
    """The columns of a table of text without blanks around values, and without words for values that are missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    pieces = [piece for column in table.columns for piece in column.chunks]
    trimmed = pc.utf8_trim_whitespace(pa.concat_arrays(pieces) if pieces else pa.array([], pa.large_string()))
    absent = pc.is_in(trimmed, value_set=pa.array(MISSING_WORDS, pa.large_string()))
    cells = pc.if_else(absent, pa.scalar(None, pa.large_string()), trimmed)
    return [cells.slice(place * table.num_rows, table.num_rows) for place in range(table.num_columns)]


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
            raise InvalidInputError(
                f"{str(path)!r} is not in UTF-8 ({error.reason}, about line {line}); save it so"
            ) from None
        except csv.Error as error:
            raise InvalidInputError(f"{str(path)!r}, about line {line}: {error}; correct it") from None
        except OSError as error:  # of a file that is compressed
            raise InvalidInputError(f"{str(path)!r} is damaged, or not compressed as its name says ({error})") from None
