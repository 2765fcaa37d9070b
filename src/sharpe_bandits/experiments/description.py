"""Turns a description (the content of a TOML file) into cases: each a bandit, policies, an objective and a horizon."""

from __future__ import annotations

import inspect
import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist
from typing import Any

import numpy as np

from .._support.validation import is_number, whole
from ..arms import Bandit, RandomBandit, SwitchingBandit, Uniform
from ..arms.base import Arm
from ..arms.environment import Environment, as_arm
from ..arms.random_bandit import UniformArms
from ..errors import InvalidInputError, SharpeBanditsError, shown, unknown
from ..objectives import Objective
from ..policies.base import Policy
from ..simulation.api import LARGEST_HORIZON
from ..simulation.spec import Spec, prepare
from . import catalogue
from .expressions import evaluate

#: Keys and list indices from the top to an entry: ``("policies", 1, "kind")``.
Place = tuple[str | int, ...]
#: Keys that all cases of an experiment share, and all top-level keys.
_SHARED = ("title", "runs", "seed", "metric", "checkpoints", "sweep", "cases")
KEYS = (*_SHARED, "horizon", "arms", "clock", "switches", "objective", "policies", "let")
#: Parts that are labelled by their kinds where they are swept.
_BY_KIND = ("arms", "switches", "objective", "policies")
#: Parameters whose values are words, not expressions.
_WORDS = ("name", "form", "confidence", "sign", "undefined", "undefined_width", "first_term")
#: Maximum numbers of cases, and of arms that one table makes.
MOST_CASES, MOST_ARMS = 1_000, 10_000
#: Number of equally likely values of ``z``, a standard normal variable, in an Empirical arm.
NORMAL_VALUES = 1_000
_KINDS: dict[str, Any] = {"arm": Arm, "policy": Policy, "objective": Objective}


class DescriptionError(InvalidInputError):
    """A description that cannot be used; ``place`` says where, as in ("policies", 1, "kind")."""

    def __init__(self, message: str, *place: str | int) -> None:
        super().__init__(message)
        self.place = place


@contextmanager
def at(*place: str | int) -> Iterator[None]:
    """Errors raised here are at this place of the description, or at a place within it."""
    try:
        yield
    except (SharpeBanditsError, ValueError) as error:  # numpy refuses lists of a wrong length
        within = error.place if isinstance(error, DescriptionError) else ()
        raise DescriptionError(str(error), *place, *within) from None


@dataclass(frozen=True)
class Case:
    """One setting of an experiment: its variables, all names for expressions, and what to simulate."""

    variables: dict[str, Any]
    names: dict[str, Any]
    environment: Environment
    policies: tuple[Policy, ...]
    objective: Objective
    horizon: int

    @property
    def L(self) -> float | None:
        """The regulariser: the value of the name L, or that of the objective, if it has one."""
        L: Any = self.names.get("L", getattr(self.objective, "L", None))
        return float(L) if is_number(L) else None

    @property
    def label(self) -> str:
        """The variables as text: ``K = 5, L = 0.75``."""
        return ", ".join(f"{name} = {_short(value)}" for name, value in self.variables.items())


def cases(description: Mapping[str, Any]) -> list[Case]:
    """All cases of a description: the product of its sweep, or its list of cases.

    A case of the list may replace any part of the description; its other entries are variables.
    """
    check_keys("key", description, KEYS)
    table = [entry for _, entry in _tables(description.get("cases", [{}]), "cases")]
    sweep = description.get("sweep", {})
    if not isinstance(sweep, dict) or not all(isinstance(v, list) and v for v in sweep.values()):
        raise DescriptionError("sweep must be a table of non-empty lists, as in sweep = { L = [0.5, 5] }", "sweep")
    if len(table) * math.prod(map(len, sweep.values())) > MOST_CASES:
        raise DescriptionError(f"there are more than {MOST_CASES:,} cases; make several files", "sweep")
    for place, keys in (("sweep", sweep), *(("cases", case) for case in table)):
        if shared := [key for key in keys if key in _SHARED]:
            raise DescriptionError(f"{shared[0]} is the same for all cases; set it at the top of the file", place)
    for key in ("horizon", "arms", "objective", *(["policies"] if description.get("metric") != "coverage" else [])):
        if key not in description and key not in sweep and not all(key in case for case in table):
            raise DescriptionError(f"the description has no {key}; add it", key)
    by_label: dict[str, Case] = {}
    for number, case in enumerate(table):
        for values in itertools.product(*sweep.values()):
            swept = dict(zip(sweep, values, strict=True))
            labels = {key: _label(value, sweep[key]) for key, value in swept.items() if key in _BY_KIND}
            try:
                built = _case(description, {**case, **swept}, labels)
            except DescriptionError as error:
                if error.place[0] in sweep:
                    error.place = ("sweep", error.place[0])
                elif error.place[0] in case:
                    error.place = ("cases", number, *error.place)
                raise
            if built.label in by_label:
                raise DescriptionError(
                    f"two cases cannot be distinguished (both are {built.label!r}); give each its own variable, as in "
                    'cases = [{ set = "A", ... }, { set = "B", ... }]',
                    *(("cases", number) if number else ("sweep",)),
                )
            by_label[built.label] = built
    return list(by_label.values())


def _label(value: Any, values: list[Any]) -> str:
    """A short label of a swept part: its kinds, or its number in the list if kinds are not unique."""
    parts = (part if isinstance(part, list) else [part] for part in values)
    labels = [" + ".join(dict.fromkeys(str(table.get("name", table.get("kind"))) for table in own)) for own in parts]
    label = labels[values.index(value)]
    return label if labels.count(label) == 1 else str(values.index(value) + 1)


def _case(description: Mapping[str, Any], variation: dict[str, Any], labels: dict[str, str]) -> Case:
    variables = {key: value for key, value in variation.items() if key not in KEYS}
    parts = {**description, **{key: value for key, value in variation.items() if key in KEYS}}
    horizon = whole_number("horizon", parts, variables, 2, LARGEST_HORIZON)
    names = {**variables, "n": horizon}
    with at("let"):
        if not isinstance(let := parts.get("let", {}), dict):
            raise InvalidInputError(f'let must be a table, as in let = {{ x = "n / 2" }}, got {shown(let)}')
        for name in let:
            names[name] = _number(name, let, names)
    environment = _build_environment(parts, names, horizon)
    names["K"] = environment.K
    policies: dict[str, Policy] = {}
    for place, entry in _tables(parts["policies"], "policies") if "policies" in parts else []:
        with at(*place):
            policy = _build("policy", entry, names)
            if policy.name in policies:
                raise InvalidInputError(f"two policies are called {policy.name!r}; give one of them another name")
            prepare(Spec(policy, environment, horizon, 2, 0, (horizon,)))  # so that errors are reported now
        policies[policy.name] = policy
    with at("objective"):
        objective = _build("objective", parts["objective"], names)
    for name, true in (("n", horizon), ("K", environment.K)):
        if variables.get(name, true) != true:
            message = f"{name} is {shown(variables[name])} here, but the horizon or the arms make it {true}"
            raise DescriptionError(message, name)
    if "horizon" in variation:
        variables["n"] = horizon
    return Case({**labels, **variables}, names, environment, tuple(policies.values()), objective, horizon)


def _tables(entries: Any, part: str) -> list[tuple[Place, dict[str, Any]]]:
    """The tables of a part, each with its place."""
    if isinstance(entries, dict):
        return [((part,), entries)]
    if not isinstance(entries, list) or not entries or not all(isinstance(e, dict) for e in entries):
        raise DescriptionError(f"{part} must be a list of tables, got {shown(entries)}", part)
    return [((part, number), entry) for number, entry in enumerate(entries)]


def _build_environment(parts: Mapping[str, Any], names: dict[str, Any], horizon: int) -> Environment:
    """The arms or, with switches, the initial arms and those that follow."""
    clock = parts.get("clock")
    environment = _environment(parts["arms"], names, clock)
    if "switches" not in parts:
        return environment
    bandits, after = [environment], []
    for place, entry in _tables(parts["switches"], "switches"):
        with at(*place):
            check_keys("key of a switch", entry, ("after", "arms"), "a switch", ("after", "arms"))
            after.append(whole_number("after", entry, names, 1, LARGEST_HORIZON))
            bandits.append(_environment(entry["arms"], names, clock))
    with at("switches"):
        switching = SwitchingBandit(bandits, after)
        switching.check_horizon(horizon)
    return switching


def _environment(entries: Any, names: dict[str, Any], clock: Any) -> Environment:
    tables = _tables(entries, "arms")
    if any(entry.get("random") for _, entry in tables):
        return _random(tables, names)
    arms: list[Any] = []
    for place, entry in tables:
        with at(*place):
            arms += _arms(entry, names, len(arms))
    with at("arms"):
        return Bandit(arms, clock=clock)


def _arms(entry: dict[str, Any], names: dict[str, Any], before: int) -> Iterator[Any]:
    """The arms of a table, which are numbered after those of the tables ``before``."""
    rest = {key: value for key, value in entry.items() if key not in ("random", "repeat")}
    columns = {key: value for key, value in rest.items() if isinstance(value, list) and key != "values"}
    lengths = {len(column) for column in columns.values()} or {1}
    if len(lengths) > 1:
        counts = ", ".join(f"{key} {len(column)}" for key, column in columns.items())
        raise InvalidInputError(f"the lists of these arms differ in length ({counts}); give one value per arm")
    repeat = whole_number("repeat", {"repeat": max(lengths), **entry}, names, 1, MOST_ARMS)
    if columns and repeat > max(lengths):
        raise InvalidInputError(f"repeat asks for {repeat} arms, but a list has only {max(lengths)} values")
    draws = {"z": _normal_quantiles()} if rest.get("kind") == "Empirical" else {}
    for j in range(repeat):
        row = {key: column[j] for key, column in columns.items()}
        yield _build("arm", {**rest, **row}, {**names, **draws, "i": before + j + 1})


@cache
def _normal_quantiles() -> np.ndarray:
    """Equally likely values of a standard normal variable: values of Empirical arms are functions of them."""
    return np.array([NormalDist().inv_cdf((j + 0.5) / NORMAL_VALUES) for j in range(NORMAL_VALUES)])


def _random(tables: list[tuple[Place, dict[str, Any]]], names: dict[str, Any]) -> RandomBandit:
    """New random Uniform arms in every run; u1 and u2 are uniform on [0, 1], independent for every arm and run."""
    place, entry = tables[0]

    def draw(generator: np.random.Generator) -> UniformArms:
        scope = {**names, **dict(zip(("u1", "u2"), generator.random((2, count)), strict=True))}
        return UniformArms(*(np.broadcast_to(_number(end, entry, scope), count) for end in ("low", "high")))

    with at(*place):
        if len(tables) != 1 or entry.get("kind") != "Uniform":
            raise InvalidInputError("random arms are given by one entry of kind Uniform with low and high")
        known = ("kind", "random", "low", "high", "repeat")
        check_keys("parameter of random Uniform arms", entry, known, "Uniform", ("low", "high"))
        count = whole_number("repeat", {"repeat": 1, **entry}, names, 2, MOST_ARMS)
        draw(np.random.default_rng(0))  # so that errors are reported now
    text = " ".join(f"Uniform({entry['low']}, {entry['high']})".split())
    words = set(re.findall(r"\w+", text))
    used = [f"{name} = {shown(value)}" for name, value in names.items() if name in words]
    return RandomBandit(count, draw, name=", ".join([text, *used]))


def _build(part: str, entry: Any, names: Mapping[str, Any]) -> Any:
    """A policy, arm or objective from its table."""
    kinds = catalogue.kinds(_KINDS[part])
    if not isinstance(entry, Mapping) or "kind" not in entry:
        raise InvalidInputError(f"{part} must be a table with a kind ({', '.join(kinds)}), got {shown(entry)}")
    values = dict(entry)
    kind = values.pop("kind")
    if not isinstance(kind, str) or kind not in kinds:
        with at("kind"):
            raise unknown(part, kind, kinds)
    make, known = kinds[kind], catalogue.parameters(kinds[kind])
    if kind == "Uniform" and "mean" in values:
        make, known = Uniform.from_moments, dict.fromkeys(("mean", "variance"), inspect.Parameter.empty)
    needed = [key for key, default in known.items() if default is inspect.Parameter.empty]
    check_keys(f"parameter of {kind}", values, known, kind, needed)
    arguments = {}
    for key, value in values.items():
        with at(key):
            if key == "objective":
                arguments[key] = _build("objective", value, names)
            else:
                arguments[key] = value if key in _WORDS else evaluate(value, names)
    try:
        item = make(**arguments)
        return as_arm(item) if part == "arm" else item
    except (SharpeBanditsError, TypeError) as error:
        first = str(error).split(" ")[0]  # most errors start with the parameter
        raise DescriptionError(f"{kind}: {error}", *([first] if first in values else [])) from None


def check_keys(
    what: str, table: Mapping[str, Any], known: Iterable[str], kind: str = "", required: Iterable[str] = ()
) -> None:
    """Raise for the first key of a table that is unknown, with the nearest known one, or for those that are missing."""
    for key in table:
        if key not in known:
            with at(key):
                raise unknown(what, key, known)
    missing = [key for key in required if key not in table]
    if missing:
        raise InvalidInputError(f"{kind} needs {' and '.join(missing)}; add it")


def _number(key: str, table: Mapping[str, Any], names: Mapping[str, Any]) -> Any:
    with at(key):
        return evaluate(table[key], names)


def whole_number(key: str, table: Mapping[str, Any], names: Mapping[str, Any], low: int, high: int) -> int:
    """A whole number of a table, or the value of its expression."""
    with at(key):
        return whole(key, evaluate(table[key], names), low, high)


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else value if isinstance(value, str) else shown(value)
