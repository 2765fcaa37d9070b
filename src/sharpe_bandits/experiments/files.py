"""Reading an experiment file, with the line of whatever is wrong in it."""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import InvalidInput, unknown
from ..validation import whole
from .description import KEYS, BadDescription, Case, cases

_RUN_KEYS = {"runs": 10_000, "seed": 1}


@dataclass(frozen=True)
class ExperimentFile:
    """A user's experiment: its title, metric, cases, runs and seed, and the description it came from."""

    title: str
    metric: str
    cases: list[Case]
    runs: int
    seed: int
    description: dict[str, Any]


def read(path: str | os.PathLike[str]) -> ExperimentFile:
    """The experiment in a TOML file."""
    file = Path(path)
    try:
        text = file.read_text("utf-8")
    except FileNotFoundError:
        raise InvalidInput(f"there is no file {file}") from None
    except (UnicodeDecodeError, IsADirectoryError) as error:
        raise InvalidInput(f"{file} is not a text file: {error}") from None
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"{file} is not TOML: {error}") from None
    for key in content:
        if key not in (*KEYS, *_RUN_KEYS):
            line = line_of(text, key)
            raise InvalidInput(f"{file}, line {line}: {unknown('key', key, (*KEYS, *_RUN_KEYS))}")
    settings = {key: content.pop(key, default) for key, default in _RUN_KEYS.items()}
    try:
        found = cases(content)
        runs, seed = whole("runs", settings["runs"], 2), whole("seed", settings["seed"], 0, 2**64 - 1)
    except BadDescription as error:
        raise InvalidInput(f"{file}, line {line_of(text, *error.place)}: {error.message}") from None
    title = str(content.get("title", file.stem))
    return ExperimentFile(title, content.get("metric", "regret"), found, runs, seed, content)


def line_of(text: str, part: str, number: int | None = None, key: str | None = None) -> int:
    """The line where a part (its ``number``-th entry, the given key in it) stands; 1 if it is nowhere.

    Entries are told apart by their ``kind``, both in ``[[policies]]`` form and in inline tables.
    """
    lines = text.splitlines()
    inside = False
    entry = -1
    start = None
    for at, line in enumerate(lines, 1):
        code = line.split("#", 1)[0]
        header = re.match(r"\s*\[{1,2}\s*([\w.-]+)\s*\]{1,2}", code)
        if header:
            inside = header.group(1).split(".")[0] == part
            if inside and number is not None and code.strip().startswith("[["):
                entry += 1
        elif re.match(rf"\s*{re.escape(part)}\s*=", code):
            inside = True
        elif inside and re.match(r"[A-Za-z_]\w*\s*=", code) and not _in_table(lines, at, part):
            inside = False
        if not inside:
            continue
        start = start or at
        if number is None:
            if key is None or re.search(rf"\b{re.escape(key)}\b\s*=", code):
                return at
            continue
        tables = f"[[{part}]]" in text.replace(" ", "")
        for found in re.finditer(r"\b([\w-]+)\s*=", code.replace(f"{part} =", "", 1) if not tables else code):
            if found.group(1) == "kind" and not tables:
                entry += 1
            if entry == number and (key is None or found.group(1) == key):
                return at
    return start or 1


def _in_table(lines: list[str], at: int, part: str) -> bool:
    """Whether line ``at`` stands under a ``[part]`` or ``[[part]]`` header."""
    for line in reversed(lines[: at - 1]):
        header = re.match(r"\s*\[{1,2}\s*([\w.-]+)\s*\]{1,2}\s*(#.*)?$", line)
        if header:
            return header.group(1).split(".")[0] == part
    return False
