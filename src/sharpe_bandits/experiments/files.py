"""Reading an experiment file, with the line of whatever is wrong in it."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import InvalidInput
from ..validation import one_of, whole
from .description import KEYS, BadDescription, Case, cases, misnamed
from .toml_lines import line_of

_RUN_KEYS = {"runs": 10_000, "seed": 1}
_METRICS = ("regret", "error")


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
    try:
        return _understood(content, file.stem)
    except BadDescription as error:
        raise InvalidInput(f"{file}, line {line_of(text, error.place)}: {error.message}") from None


def _understood(content: dict[str, Any], name: str) -> ExperimentFile:
    for key in content:
        if key not in (*KEYS, *_RUN_KEYS):
            raise misnamed("key", key, (*KEYS, *_RUN_KEYS), key)
    settings = {key: content.pop(key, default) for key, default in _RUN_KEYS.items()}
    limits: dict[str, tuple[int, int | None]] = {"runs": (2, None), "seed": (0, 2**64 - 1)}
    for key, (least, most) in limits.items():
        try:
            whole(key, settings[key], least, most)
        except InvalidInput as error:
            raise BadDescription(str(error), key) from None
    metric = content.get("metric", "regret")
    try:
        one_of("metric", metric, _METRICS)
    except InvalidInput as error:
        raise BadDescription(str(error), "metric") from None
    title = content.get("title", name)
    if not isinstance(title, str):
        raise BadDescription(f"title must be text, got {title!r}", "title")
    return ExperimentFile(title, metric, cases(content), settings["runs"], settings["seed"], content)
