"""Reads an experiment file; errors name the entry, such as ``policies[1].kind``."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path
from typing import Any

from .._support.names import check_name, printable, shorten
from .._support.validation import one_of
from ..errors import InvalidInputError
from .description import DescriptionError, at, cases, whole_number
from .panel import CHECKPOINTS, Job, Panel

_DEFAULTS = {"runs": 10_000, "seed": 1, "checkpoints": CHECKPOINTS, "metric": "regret"}


def read(path: str | os.PathLike[str], runs: int | None = None, seed: int | None = None) -> Job:
    """The job of a TOML file; ``runs`` and ``seed`` override those of the file."""
    file = Path(path)
    try:
        content = tomllib.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        raise InvalidInputError(f"there is no file {file}") from None
    except OSError as error:
        raise InvalidInputError(f"{file} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:  # also what is no text, and numbers with too many digits
        raise InvalidInputError(f"{file} is not TOML: {error}") from None
    try:
        return _experiment(content, name_of(file), runs, seed)
    except DescriptionError as error:
        keys = (f"[{part}]" if isinstance(part, int) else f".{shorten(printable(part), 60)}" for part in error.place)
        raise InvalidInputError(f"{file}, {''.join(keys).removeprefix('.')}: {error}") from None


def name_of(file: Path) -> str:
    """The name of an experiment; the stem of "...toml" is the folder above."""
    return file.stem if file.stem.strip(". ") else "experiment"


def _experiment(content: dict[str, Any], name: str, runs: int | None, seed: int | None) -> Job:
    of_file = tuple(cases(content))
    options = {key: value for key, value in (("runs", runs), ("seed", seed)) if value is not None}
    settings = {**_DEFAULTS, "title": name, **content, **options}
    for key, low, high in (("runs", 2, 10**12), ("seed", 0, 2**64 - 1), ("checkpoints", 1, 10_000)):
        settings[key] = whole_number(key, settings, {}, low, high)
    with at("metric"):
        metric = one_of("metric", settings["metric"], ("regret", "error"))
    with at("title"):
        title = check_name("title", settings["title"])
    compared = ", ".join(dict.fromkeys(policy.name for case in of_file for policy in case.policies))
    id = re.sub(r"[^\w.-]+", "-", name)  # used in the names of files and anchors
    panel = Panel(id, "", title, compared, "", metric, of_file, settings["checkpoints"])
    introduction = f"{compared}: {settings['runs']:,} runs, {len(of_file)} case(s)."
    description = {key: value for key, value in content.items() if key not in ("runs", "seed")}
    return Job(title, introduction, [panel], settings["runs"], settings["seed"], description)
