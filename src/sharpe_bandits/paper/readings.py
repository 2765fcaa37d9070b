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
    """One way to read a passage that the text leaves open, where the panels follow another.

    Attributes
    ----------
    id, name : str
        its key, and what tables and pages call it
    condition : str
        a clause that says what is read how, to follow "if"
    panels, profiles : list[str] and list[Profile]
        where it is played
    claims : list[str], optional
        ids of the claims that it concerns; by default all of the panel
    policies : dict[str, dict[str, Any]], optional
        parameters that policies have under it, by kind
    added : list[dict[str, Any]], optional
        policies that are played besides
    replaced : dict[str, dict[str, Any]], optional
        parts of descriptions that differ under it, by panels (``"B1 B2"``)
    checks : list[tuple[str, str]], optional
        replacements in the comparisons of claims: pattern and text
    metric : Any, optional
        what claims compare under it
    theory : bool, optional
        whether bounds and growth are judged under it, too
    """

    id: str
    name: str
    condition: str
    panels: list[str]
    profiles: list[Profile]
    claims: list[str] = field(default_factory=list)
    policies: dict[str, dict[str, Any]] = field(default_factory=dict)
    added: list[dict[str, Any]] = field(default_factory=list)
    replaced: dict[str, dict[str, Any]] = field(default_factory=dict)
    checks: list[tuple[str, str]] = field(default_factory=list)
    metric: Any = None
    theory: bool = False

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
