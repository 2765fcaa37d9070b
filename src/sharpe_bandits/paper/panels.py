"""The panels of the paper (``panels.toml``), the statements that they test, and other readings of its text."""

from __future__ import annotations

import itertools
import re
import tomllib
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from typing import Any, Literal, get_args

from .._support.validation import one_of
from ..errors import unknown
from ..experiments.description import Case, cases
from ..experiments.panel import CHECKPOINTS, Claim, Panel

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


#: The reading that the panels follow.
_AS_PRINTED = Reading("", "", "", [], [], theory=True)
_OWN_KEYS = ("compares", "note", "profiles", "claims", "max_runs", "long", "beyond", *PROFILES)


def descriptions() -> dict[str, dict[str, Any]]:
    """All descriptions by id, in the paper's order."""
    return _toml("panels.toml")


def statements() -> dict[str, dict[str, Any]]:
    """All statements that are judged, by name."""
    return _toml("statements.toml")


@cache
def readings() -> dict[str, Reading]:
    """All readings that are played, by name."""
    return {id: Reading(id=id, **raw) for id, raw in _toml("readings.toml").items()}


@cache
def _toml(file: str) -> dict[str, dict[str, Any]]:
    return tomllib.loads(resources.files(__package__).joinpath(file).read_text("utf-8"))


def panels(ids: list[str] | None = None, profile: Profile | None = None) -> list[Panel]:
    """Experiments of the paper, on which other policies can be played.

    Parameters
    ----------
    ids : list[str] | str | None, optional
        such as ["R1", "B3"]; all by default
    profile : Profile | None, optional
        "paper" (the printed text) or "authors" (the released code); both by default

    Returns
    -------
    list[Panel]
        each with its ``cases``, and these with ``environment``, ``policies``, ``objective``, ``horizon`` and ``L``

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> (panel,) = sb.panels(["R1"], profile="paper")
    >>> case = panel.cases[0]
    >>> panel.title, case.label, case.horizon, [policy.name for policy in case.policies]
    ('Two uniform arms, gap below 0.1', 'L = 1', 10000, ['UCB-RSSR', 'U-UCB'])
    >>> rivals = [sb.policies.UCB1(), *case.policies]
    >>> study = sb.simulate(rivals, case.environment, horizon=200, runs=4, seed=1)
    """
    names = [ids] if isinstance(ids, str) else ids or list(descriptions())
    by_name = {id.lower(): id for id in descriptions()}
    for name in names:
        if name.lower() not in by_name:
            raise unknown("panel", name, descriptions())
    profiles = PROFILES if profile is None else (one_of("profile", profile, PROFILES),)
    pairs = itertools.product(dict.fromkeys(by_name[name.lower()] for name in names), profiles)
    return [panel(id, profile) for id, profile in pairs if profile in descriptions()[id].get("profiles", PROFILES)]


def sources(panel: Panel) -> set[str]:
    """Whose claims a panel tests: "experiments" or "theory" of the paper, "others", "ours"."""
    return {statements().get(claim.statement, {}).get("source", "") for claim in panel.claims}


@cache
def panel(id: str, profile: Profile) -> Panel:
    """One panel under one profile, with its other readings."""
    others = [reading for reading in readings().values() if id in reading.panels and profile in reading.profiles]
    return replace(_panel(id, profile, _AS_PRINTED), readings=tuple(_panel(id, profile, other) for other in others))


def _panel(id: str, profile: Profile, reading: Reading) -> Panel:
    """One panel under one profile and one reading, with the claims that it is played for."""
    raw = descriptions()[id]
    merged = {**raw, **raw.get(profile, {})}
    description = {key: value for key, value in merged.items() if key not in _OWN_KEYS}
    for panels, parts in reading.replaced.items():
        description |= parts if id in panels.split() else {}
    if "policies" in description:
        policies = [{**p, **reading.policies.get(p["kind"], {})} for p in description["policies"]]
        description["policies"] = policies + reading.added
    long_cases: list[Case] = []
    if "long" in raw and reading.theory:  # with a longer horizon and one policy
        policies = [p for p in description["policies"] if p["kind"] == raw["long"]["policy"]]
        long_cases = cases({**description, "horizon": raw["long"]["horizon"], "policies": policies})
    numbered = {f"{id}.{n}": claim for n, claim in enumerate(raw.get("claims", []), 1)}
    claims = {name: claim for name, claim in numbered.items() if profile in claim.get("profiles", PROFILES)}
    own = {name: claim for name, claim in claims.items() if claim.get("reading", "") == reading.id}
    judged = own or {name: claim for name, claim in claims.items() if "reading" not in claim}
    return Panel(
        id, profile, raw["title"], raw["compares"], raw.get("note", ""), merged["metric"], tuple(cases(description)),
        merged.get("checkpoints", CHECKPOINTS),
        tuple(_claim(name, judged[name], profile, reading) for name in judged if name in (reading.claims or judged)),
        raw.get("max_runs"), tuple(long_cases), raw.get("beyond", False),
        reading=reading.name, condition=reading.condition,
    )  # fmt: skip


def _claim(id: str, raw: dict[str, Any], profile: Profile, reading: Reading) -> Claim:
    merged = {**statements()[raw["statement"]], **raw}
    checks, metric = merged["checks"], reading.metric or merged.get("metric")
    checks = tuple(checks[profile] if isinstance(checks, dict) else checks)
    for pattern, replacement in reading.checks:
        checks = tuple(re.sub(pattern, replacement, check) for check in checks)
    return Claim(id, merged.get("says", merged["text"]), checks, merged.get("why", ""), metric, raw["statement"])
