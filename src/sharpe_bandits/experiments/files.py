"""Reads an experiment file; errors name the line."""

from __future__ import annotations

import os
import re
import stat
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import InvalidInputError
from ..names import check_name
from ..results import Metric
from ..validation import one_of, whole
from .cost import check_cost
from .description import KEYS, Case, DescriptionError, at, cases, misnamed
from .panel import CHECKPOINTS
from .toml_lines import Place, line_of

_RUN_KEYS = {"runs": 10_000, "seed": 1}
_METRICS: tuple[Metric, ...] = ("regret", "error")
#: Maximum numbers of bytes of a file, of nested levels of tables and lists, and of parts of a dotted key.
LARGEST, DEEPEST, LONGEST_KEY = 2**18, 12, 20
#: A key with more parts than that; the parser's time grows with the square of their number.
_LONG_KEY = re.compile(rf"""(?<![\w.-])(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){{{LONGEST_KEY},}}""", re.ASCII)


@dataclass(frozen=True)
class ExperimentFile:
    """A user's experiment: its title, metric, cases, runs and seed, and the description it came from."""

    title: str
    metric: Metric
    cases: list[Case]
    runs: int
    seed: int
    description: dict[str, Any]


def read(path: str | os.PathLike[str], runs: int | None = None, seed: int | None = None) -> ExperimentFile:
    """The experiment in a TOML file; ``runs`` and ``seed`` override those of the file."""
    file = Path(path)
    text = _text(file)
    if long := _LONG_KEY.search(text):
        line = text.count("\n", 0, long.start()) + 1
        raise InvalidInputError(f"{file}, line {line}: a key has at most {LONGEST_KEY} parts; leave the others out")
    try:
        content = tomllib.loads(text)
    except RecursionError:
        raise InvalidInputError(f"{file} has tables or lists nested too deeply; {DEEPEST} levels suffice") from None
    except ValueError as error:  # errors of the parser, and of numbers with too many digits
        raise InvalidInputError(f"{file} is not TOML: {error}") from None
    try:
        _check_depth(content)
        return _understood(content, file.stem, runs, seed)
    except DescriptionError as error:
        raise InvalidInputError(f"{file}, line {line_of(text, error.place)}: {error.message}") from None


def _text(file: Path) -> str:
    try:
        kind = file.stat()
        if not stat.S_ISREG(kind.st_mode):
            raise InvalidInputError(f"{file} is not a text file, but a folder, a device or a pipe")
        if kind.st_size > LARGEST:
            raise InvalidInputError(
                f"{file} has {kind.st_size:,} bytes; an experiment file has at most {LARGEST:,}: shorten its lists"
            )
        return file.read_text("utf-8")
    except InvalidInputError:
        raise
    except FileNotFoundError:
        raise InvalidInputError(f"there is no file {file}") from None
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"{file} is not a text file: {error}") from None
    except (OSError, ValueError) as error:
        raise InvalidInputError(f"{str(file)!r} cannot be read ({error})") from None


def _check_depth(content: dict[str, Any]) -> None:
    """Raise if tables and lists are nested deeper than any description needs."""
    level: list[tuple[Place, Any]] = [((), content)]
    for _ in range(DEEPEST):
        inner = ((place, thing.items() if isinstance(thing, dict) else enumerate(thing)) for place, thing in level)
        level = [((*place, k), v) for place, held in inner for k, v in held if isinstance(v, (dict, list))]
    if level:
        raise DescriptionError(f"tables and lists are nested too deeply; {DEEPEST} levels suffice", *level[0][0])


def _understood(content: dict[str, Any], name: str, runs: int | None, seed: int | None) -> ExperimentFile:
    for key in content:
        if key not in (*KEYS, *_RUN_KEYS):
            raise misnamed("key", key, (*KEYS, *_RUN_KEYS), key)
    settings = {key: content.pop(key, default) for key, default in _RUN_KEYS.items()}
    settings |= {key: value for key, value in (("runs", runs), ("seed", seed)) if value is not None}
    bounds: dict[str, tuple[int, int | None]] = {"runs": (2, None), "seed": (0, 2**64 - 1)}
    metric = content.get("metric", "regret")
    title = content.get("title", name)
    for key, value in settings.items():
        with at(key):
            whole(key, value, *bounds[key])
    with at("metric"):
        one_of("metric", metric, _METRICS)
    with at("title"):
        check_name("title", title)
    made = cases(content)
    check_cost(made, settings["runs"], content.get("checkpoints", CHECKPOINTS))
    return ExperimentFile(title, metric, made, settings["runs"], settings["seed"], content)
