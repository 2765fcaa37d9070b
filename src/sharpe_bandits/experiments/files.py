"""Reads an experiment file; errors name the entry, such as ``policies[1].kind``."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._support.names import check_name, printable, shorten
from .._support.validation import one_of, whole
from ..errors import InvalidInputError
from ..results.policy_result import Metric
from .description import KEYS, Case, DescriptionError, at, cases, check_keys

#: Keys that only files have, with their defaults.
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
    try:
        content = tomllib.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        raise InvalidInputError(f"there is no file {file}") from None
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"{file} is not a text file: {error}") from None
    except OSError as error:
        raise InvalidInputError(f"{file} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:  # also numbers with too many digits
        raise InvalidInputError(f"{file} is not TOML: {error}") from None
    try:
        return _experiment(content, file.stem, runs, seed)
    except DescriptionError as error:
        keys = (f"[{part}]" if isinstance(part, int) else f".{shorten(printable(part), 60)}" for part in error.place)
        raise InvalidInputError(f"{file}, {''.join(keys).removeprefix('.')}: {error}") from None


def _experiment(content: dict[str, Any], name: str, runs: int | None, seed: int | None) -> ExperimentFile:
    check_keys("key", content, (*KEYS, *_RUN_KEYS))
    settings = {key: content.pop(key, default) for key, default in _RUN_KEYS.items()}
    runs = settings["runs"] if runs is None else runs
    seed = settings["seed"] if seed is None else seed
    metric = content.get("metric", "regret")
    title = content.get("title", name)
    with at("runs"):
        whole("runs", runs, 2, 10**12)
    with at("seed"):
        whole("seed", seed, 0, 2**64 - 1)
    with at("metric"):
        one_of("metric", metric, _METRICS)
    with at("title"):
        check_name("title", title)
    return ExperimentFile(title, metric, cases(content), runs, seed, content)
