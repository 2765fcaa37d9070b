"""The panels of the paper, described in ``panels.toml``."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from importlib import resources
from typing import Any, Literal, get_args

from ..errors import unknown
from ..experiments.description import KEYS, cases
from ..experiments.panel import CHECKPOINTS, Claim, Panel
from ..validation import one_of

#: The printed text, or what the authors' released code does.
Profile = Literal["paper", "authors"]
PROFILES: tuple[Profile, ...] = get_args(Profile)
_OWN_KEYS = ("compares", "note", "profiles", "claims", "max_runs", "long", "cites", *PROFILES)


@lru_cache(maxsize=1)
def descriptions() -> dict[str, dict[str, Any]]:
    """All descriptions by id, in the paper's order."""
    return tomllib.loads(resources.files(__package__).joinpath("panels.toml").read_text("utf-8"))


def panels(ids: list[str] | None = None, profile: Profile | None = None) -> list[Panel]:
    """Experiments of the paper, on which other policies can be played.

    Parameters
    ----------
    ids : list[str] | None, optional
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
    >>> rivals = [sb.UCB1(), *case.policies]
    >>> study = sb.simulate(rivals, case.environment, horizon=200, runs=4, seed=1)
    """
    chosen = list(descriptions()) if not ids else [_known(id) for id in ids]
    wanted = PROFILES if profile is None else (one_of("profile", profile, PROFILES),)
    found = []
    for id in dict.fromkeys(chosen):
        exists = descriptions()[id].get("profiles", PROFILES)
        found += [panel(id, name) for name in wanted if name in exists]
    return found


def _known(id: str) -> str:
    for name in descriptions():
        if name.lower() == id.lower():
            return name
    raise unknown("panel", id, descriptions())


def _of_profile(checks: list[str] | dict[str, list[str]], profile: Profile) -> tuple[str, ...]:
    return tuple(checks[profile] if isinstance(checks, dict) else checks)


@lru_cache(maxsize=64)
def panel(id: str, profile: Profile) -> Panel:
    """One panel under one profile."""
    raw = descriptions()[id]
    merged = {**raw, **raw.get(profile, {})}
    description = {key: value for key, value in merged.items() if key not in _OWN_KEYS}
    for key in description:
        if key not in KEYS:
            raise unknown(f"key of panel {id}", key, KEYS)
    claims = tuple(
        Claim(
            f"{id}.{number}",
            claim["says"],
            _of_profile(claim["checks"], profile),
            claim.get("why", ""),
            claim.get("metric"),
        )
        for number, claim in enumerate(raw.get("claims", []), 1)
        if profile in claim.get("profiles", PROFILES)
    )
    longer = {}
    if "long" in raw:
        longer = {**description, "horizon": raw["long"]["horizon"]}
        longer["policies"] = [policy for policy in merged["policies"] if policy["kind"] == raw["long"]["policy"]]
    return Panel(
        id,
        profile,
        raw["title"],
        raw["compares"],
        raw.get("note", ""),
        merged["metric"],
        tuple(cases(description)),
        merged.get("checkpoints", CHECKPOINTS),
        claims,
        raw.get("max_runs"),
        tuple(cases(longer)) if longer else (),
        raw.get("cites", ""),
    )
