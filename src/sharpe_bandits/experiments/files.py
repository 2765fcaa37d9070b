"""Reads an experiment file; errors name the entry, such as ``policies[1].kind``."""

from __future__ import annotations

import os
import stat
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._support.names import check_name, printable, shorten
from .._support.validation import one_of, whole
from ..errors import InvalidInputError
from ..results.policy_result import Metric
from .description import KEYS, Case, DescriptionError, Place, at, cases, unknown_key

_RUN_KEYS = {"runs": 10_000, "seed": 1}
_METRICS: tuple[Metric, ...] = ("regret", "error")


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
    try:
        content = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also numbers with too many digits
        raise InvalidInputError(f"{file} is not TOML: {error}") from None
    try:
        return _experiment(content, file.stem, runs, seed)
    except DescriptionError as error:
        raise InvalidInputError(f"{file}, {_in_words(error.place)}: {error.message}") from None


def _in_words(place: Place) -> str:
    """The place of an entry as it is written in code: ``policies[1].kind``."""
    keys = (f"[{part}]" if isinstance(part, int) else f".{shorten(printable(part), 60)}" for part in place)
    return "".join(keys).removeprefix(".")


def _text(file: Path) -> str:
    try:
        if not stat.S_ISREG(file.stat().st_mode):
            raise InvalidInputError(f"{file} is not a text file, but a folder, a device or a pipe")
        return file.read_text("utf-8")
    except InvalidInputError:
        raise
    except FileNotFoundError:
        raise InvalidInputError(f"there is no file {file}") from None
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"{file} is not a text file: {error}") from None
    except (OSError, ValueError) as error:
        raise InvalidInputError(f"{str(file)!r} cannot be read ({error})") from None


def _experiment(content: dict[str, Any], name: str, runs: int | None, seed: int | None) -> ExperimentFile:
    for key in content:
        if key not in (*KEYS, *_RUN_KEYS):
            raise unknown_key("key", key, (*KEYS, *_RUN_KEYS), key)
    settings = {key: content.pop(key, default) for key, default in _RUN_KEYS.items()}
    settings |= {key: value for key, value in (("runs", runs), ("seed", seed)) if value is not None}
    bounds: dict[str, tuple[int, int]] = {"runs": (2, 10**12), "seed": (0, 2**64 - 1)}
    metric = content.get("metric", "regret")
    title = content.get("title", name)
    for key, value in settings.items():
        with at(key):
            whole(key, value, *bounds[key])
    with at("metric"):
        one_of("metric", metric, _METRICS)
    with at("title"):
        check_name("title", title)
    return ExperimentFile(title, metric, cases(content), settings["runs"], settings["seed"], content)
