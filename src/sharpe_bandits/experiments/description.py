"""From a description (the content of a TOML file) to cases: a bandit, policies, an objective and a horizon each."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arms import Bandit, RandomBandit, Uniform, UniformArms
from ..arms.bandit import Environment, as_arm
from ..errors import InvalidInput, SharpeBanditsError, unknown
from ..objectives import Objective
from ..policies.base import Policy
from ..validation import whole
from . import catalogue
from .expressions import evaluate

#: What a description may hold at its top.
KEYS = ("title", "metric", "horizon", "arms", "objective", "policies", "sweep", "cases", "let", "checkpoints")
_METRICS = ("regret", "error", "coverage")
_PARTS = {"arms": catalogue.arms, "policies": catalogue.policies, "objective": catalogue.objectives}


class BadDescription(InvalidInput):
    """A description that cannot be used; ``place`` says where: (part, number, key)."""

    def __init__(self, message: str, part: str, number: int | None = None, key: str | None = None) -> None:
        super().__init__(message)
        self.message, self.place = message, (part, number, key)


@dataclass(frozen=True)
class Case:
    """One setting of an experiment: what distinguishes it, all that its expressions may name, and what to simulate."""

    variables: dict[str, Any]
    names: dict[str, Any]
    environment: Environment
    policies: tuple[Policy, ...]
    objective: Objective
    horizon: int

    @property
    def label(self) -> str:
        """The variables in words: ``K = 5, L = 0.75``."""
        return ", ".join(f"{name} = {_short(value)}" for name, value in self.variables.items())


def cases(description: Mapping[str, Any]) -> list[Case]:
    """All cases of a description: the product of its sweep, or its list of cases.

    A case of the list may replace any part of the description; its other entries are variables.
    """
    for key in description:
        if key not in KEYS:
            raise _misnamed("key", key, KEYS, key)
    if description.get("metric", "regret") not in _METRICS:
        raise BadDescription(f"metric must be one of {_METRICS}, got {description['metric']!r}", "metric")
    needed = ["horizon", "arms", "objective", *(["policies"] if description.get("metric") != "coverage" else [])]
    for key in needed:
        if key not in description and not all(key in c for c in description.get("cases", [{}])):
            raise BadDescription(f"the description has no {key}; add it", key)
    return [_case(dict(description), variables) for variables in _variations(description)]


def _variations(description: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    listed = description.get("cases", [{}])
    sweep = description.get("sweep", {})
    if not isinstance(sweep, dict) or not all(isinstance(v, list) and v for v in sweep.values()):
        raise BadDescription("sweep must be a table of non-empty lists, as in sweep = { L = [0.5, 5] }", "sweep")
    for case in listed:
        for values in itertools.product(*sweep.values()):
            yield {**case, **dict(zip(sweep, values, strict=True))}


def _case(description: dict[str, Any], variation: dict[str, Any]) -> Case:
    variables = {}
    for key, value in variation.items():
        if key in KEYS:
            description[key] = value
        else:
            variables[key] = value
    names = dict(variables)
    horizon = whole("horizon", _number(description["horizon"], names, "horizon"), 2)
    names["n"] = horizon
    for name, expression in description.get("let", {}).items():
        names[name] = _number(expression, names, "let", key=name)
    environment = _environment(description["arms"], names)
    names["K"] = environment.K
    entries = _listed(description, "policies") if "policies" in description else []
    policies = tuple(_build("policies", entry, number, names) for number, entry in enumerate(entries))
    objective = _build("objective", description["objective"], None, names)
    if "horizon" in variation:
        variables["n"] = horizon
    return Case(variables, names, environment, policies, objective, horizon)


def _listed(description: Mapping[str, Any], part: str) -> list[Any]:
    entries = description[part]
    if isinstance(entries, dict):
        entries = [entries]
    if not isinstance(entries, list) or not entries or not all(isinstance(e, dict) for e in entries):
        raise BadDescription(f"{part} must be a list of tables with a kind each, got {entries!r}", part)
    return entries


def _environment(entries: Any, names: dict[str, Any]) -> Environment:
    listed = _listed({"arms": entries}, "arms")
    if any(entry.get("random") for entry in listed):
        return _random(listed, names)
    arms: list[Any] = []
    for number, entry in enumerate(listed):
        rest = dict(entry)
        columns = {key: value for key, value in rest.items() if isinstance(value, list) and key != "values"}
        longest = min((len(column) for column in columns.values()), default=1)
        repeat = whole("repeat", _number(rest.pop("repeat", longest), names, "arms", number, "repeat"), 1)
        if columns and repeat > longest:
            raise BadDescription(f"{repeat} arms are asked for, but a list has only {longest} values", "arms", number)
        for j in range(repeat):
            row = {key: column[j] for key, column in columns.items()}
            arms.append(_build("arms", {**rest, **row}, number, {**names, "i": len(arms) + 1}))
    try:
        return Bandit(arms)
    except InvalidInput as error:
        raise BadDescription(str(error), "arms") from None


def _random(listed: list[Any], names: dict[str, Any]) -> RandomBandit:
    """Uniform arms drawn anew in every run; u1 and u2 are uniform on [0, 1], independent for every arm and run."""
    if len(listed) != 1 or listed[0].get("kind") != "Uniform":
        raise BadDescription("random arms are given by one entry of kind Uniform with low and high", "arms", 0)
    entry = listed[0]
    for key in entry:
        if key not in ("kind", "random", "repeat", "low", "high"):
            raise _misnamed("parameter of random Uniform arms", key, ("low", "high", "repeat"), "arms", 0, key)
    count = whole("repeat", _number(entry.get("repeat", 1), names, "arms", 0, "repeat"), 2)

    def draw(generator: np.random.Generator) -> UniformArms:
        u1, u2 = generator.random((2, count))
        scope = {**names, "u1": u1, "u2": u2}
        low, high = (np.broadcast_to(evaluate(entry[end], scope), (count,)) for end in ("low", "high"))
        return UniformArms(low, high)

    draw(np.random.default_rng(0))  # what is wrong with it is reported now
    text = f"Uniform({entry['low']}, {entry['high']})"
    used = [f"{name} = {value!r}" for name, value in names.items() if re.search(rf"\b{name}\b", text)]
    return RandomBandit(count, draw, name=", ".join([text, *used]))


def _build(part: str, entry: Mapping[str, Any], number: int | None, names: Mapping[str, Any]) -> Any:
    """A policy, arm or objective from its table."""
    if not isinstance(entry, Mapping):
        raise BadDescription(f"{part} must be a table with a kind, got {entry!r}", part, number)
    values = dict(entry)
    kind = values.pop("kind", None)
    singular = {"policies": "policy", "arms": "arm", "objective": "objective"}[part]
    known = _PARTS[part]()
    if kind not in known:
        raise _misnamed(f"{singular}", kind, known, part, number, "kind")
    if kind == "Uniform" and "mean" in values:
        make: Any = Uniform.from_moments
        allowed = ["mean", "variance"]
    else:
        make = known[kind].make
        allowed = [p.name for p in known[kind].parameters]
    arguments = {}
    for key, value in values.items():
        if key not in allowed:
            raise _misnamed(f"parameter of {kind}", key, allowed, part, number, key)
        if key == "objective":
            arguments[key] = _build("objective", value, None, names)
        elif isinstance(value, str) and not _is_word(kind, key):
            arguments[key] = _number(value, names, part, number, key)
        else:
            arguments[key] = value
    try:
        made = make(**arguments)
        return as_arm(made) if part == "arms" else made
    except (SharpeBanditsError, TypeError) as error:
        raise BadDescription(f"{kind}: {error}", part, number) from None


def _is_word(kind: str, key: str) -> bool:
    """Whether a parameter takes a word, not an expression."""
    return key in ("name", "form", "confidence")


def _number(value: Any, names: Mapping[str, Any], part: str, number: int | None = None, key: str | None = None) -> Any:
    try:
        return evaluate(value, names)
    except SharpeBanditsError as error:
        raise BadDescription(str(error), part, number, key) from None


def _misnamed(
    what: str, name: Any, known: Any, part: str, number: int | None = None, key: str | None = None
) -> Exception:
    return BadDescription(str(unknown(what, name, known)), part, number, key)


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
