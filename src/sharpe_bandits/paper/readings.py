"""Other readings of the paper's text, described in ``readings.toml``."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from typing import Any, Literal, get_args

#: The printed text, or what the authors' released code does.
Profile = Literal["paper", "authors"]
PROFILES: tuple[Profile, ...] = get_args(Profile)


@dataclass(frozen=True)
class Reading:
    """One way to read a passage that the text leaves open, where the panels follow another."""

    id: str
    name: str  # what tables and pages call it
    condition: str  # a clause that says what is read how, to follow "if"
    panels: list[str]  # where it is played
    profiles: list[Profile]
    claims: list[str] = field(default_factory=list)  # ids of the claims that it concerns; all of the panel by default
    policies: dict[str, dict[str, Any]] = field(default_factory=dict)  # parameters under it, by kind of policy
    added: list[dict[str, Any]] = field(default_factory=list)  # policies that are played besides
    replaced: dict[str, dict[str, Any]] = field(default_factory=dict)  # parts of descriptions, by panels ("B1 B2")
    checks: list[tuple[str, str]] = field(default_factory=list)  # replacements in comparisons: pattern and text
    metric: Any = None  # what claims compare under it
    theory: bool = False  # whether bounds and growth are judged under it, too

    def description(self, panel: str, base: dict[str, Any]) -> dict[str, Any]:
        """The description of a panel, with what differs under this reading."""
        for panels, parts in self.replaced.items():
            if panel in panels.split():
                return {**base, **parts}
        return base


@lru_cache(maxsize=1)
def readings() -> dict[str, Reading]:
    """All readings that are played, by name."""
    text = resources.files(__package__).joinpath("readings.toml").read_text("utf-8")
    return {id: Reading(id=id, **raw) for id, raw in tomllib.loads(text).items()}
