"""Atomic writing of files, with checksums, and strict reading of JSON."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import os
import platform
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, NoReturn

from ..errors import InvalidInputError, UnreadableDataError

#: Maximum nesting depth of JSON.
MAX_DEPTH = 100

_numbers = itertools.count()
_HOST = hashlib.sha256(platform.node().encode()).hexdigest()[:8]  # processes of several may share a folder


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file atomically, and leave nothing behind if that fails.

    The temporary name is unique to this process and call, so that several may write the same file concurrently: the
    last complete one wins.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name[:100]}.{_HOST}-{os.getpid()}-{next(_numbers)}.new")
    try:
        temporary.write_bytes(content)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def packed(payload: bytes, magic: bytes) -> bytes:
    """What :func:`write_checked` writes: what it is, a checksum, and the payload."""
    return magic + hashlib.sha256(magic + payload).digest() + payload


def write_checked(path: Path, magic: bytes, payload: bytes) -> None:
    """Write a payload atomically, :func:`packed`."""
    write_atomically(path, packed(payload, magic))


def read_checked(path: Path, magic: bytes) -> bytes | None:
    """The payload that :func:`write_checked` wrote; None if the file is missing, damaged or something else."""
    if not os.path.isfile(path):  # not path.is_file(), which raises in a folder that is closed; a pipe would not end
        return None
    try:
        content = path.read_bytes()
    except FileNotFoundError:  # another process removed it meanwhile
        return None
    payload = content[len(magic) + 32 :]
    return payload if content == packed(payload, magic) else None


def write_all(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files to a folder by name, each atomically."""
    for name, content in files.items():
        write_atomically(folder / name, content)


def to_json(thing: Any, allow_nan: bool = True) -> bytes:
    """Plain data, including times and numpy numbers and arrays, as human-readable JSON."""
    return (json.dumps(thing, indent=1, ensure_ascii=False, default=_plain, allow_nan=allow_nan) + "\n").encode()


def _plain(thing: Any) -> Any:
    if hasattr(thing, "tolist"):
        return thing.tolist()
    if isinstance(thing, datetime):
        return thing.isoformat()
    raise InvalidInputError(f"{thing!r} cannot be written as JSON; use numbers, text, lists and tables of these")


def _keys_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) != len(pairs):
        raise ValueError("it has a duplicate key")
    return table


def from_json(content: bytes | str, what: str, constants: bool = False) -> Any:
    """Parse JSON. Raises :class:`UnreadableDataError`, which says ``what`` it is, if it is invalid or too deep, if a
    number is too large, or if it has NaN or Infinity, which are not in the standard, without ``constants``.
    """
    if not isinstance(content, (str, bytes)):
        raise UnreadableDataError(f"{what} must be text, got {type(content).__name__}")

    def number(text: str) -> float:
        value = float(text)
        if not math.isfinite(value):
            raise ValueError(f"{text[:40]} is out of range")
        return value

    def refuse(word: str) -> NoReturn:
        raise ValueError(f"{word} is not a number")

    try:
        text = content.decode() if isinstance(content, bytes) else content
        constant = float if constants else refuse
        data = json.loads(text, parse_float=number, parse_constant=constant, object_pairs_hook=_keys_once)
        _check_depth(data, MAX_DEPTH)
    except RecursionError:
        raise UnreadableDataError(f"{what} is nested more than {MAX_DEPTH} levels deep") from None
    except ValueError as error:
        raise UnreadableDataError(f"{what} is not JSON: {error}") from None
    return data


def _check_depth(data: Any, left: int) -> None:
    if isinstance(data, (dict, list)):
        if not left:
            raise RecursionError
        for inner in data.values() if isinstance(data, dict) else data:
            _check_depth(inner, left - 1)
