"""Turns a description (the content of a TOML file) into cases: each a bandit, policies, an objective and a horizon."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._support.names import check_name
from .._support.validation import is_number, whole
from ..arms import Bandit, RandomBandit, SwitchingBandit, Uniform
from ..arms.environment import Environment, as_arm
from ..arms.random_bandit import UniformFormula
from ..errors import InvalidInputError, SharpeBanditsError, shown, unknown
from ..objectives import Objective
from ..policies.base import Policy
from ..simulation.api import LARGEST_HORIZON
from ..simulation.spec import Spec, prepare
from . import catalogue
from .expressions import evaluate

#: Keys and list indices from the top to an entry: ``("policies", 1, "kind")``.
Place = tuple[str | int, ...]
#: Top-level keys of a description.
KEYS = (
    "title", "metric", "horizon", "arms", "clock", "switches", "objective", "policies", "sweep", "cases", "let",
    "checkpoints",
)  # fmt: skip
_METRICS = ("regret", "error", "coverage")
#: Parts that are swept by content, and labelled by their kinds.
_BY_KIND = ("arms", "clock", "switches", "objective", "policies")
#: Parameters whose values are words, not expressions.
_WORDS = ("name", "form", "confidence", "sign", "undefined", "undefined_width", "first_term")
#: Keys that all cases of an experiment share.
_SHARED = ("title", "metric", "checkpoints", "sweep", "cases", "runs", "seed")
#: Maximum numbers of cases of an experiment, and of arms of a case: more are mistakes in a sweep or in repeat.
MOST_CASES, MOST_ARMS = 1000, 10_000
#: Maximum number of checkpoints of a curve.
MOST_CHECKPOINTS = 10_000
_PARTS = {"arms": catalogue.arms, "policies": catalogue.policies, "objective": catalogue.objectives}


class DescriptionError(InvalidInputError):
    """A description that cannot be used; ``place`` says where, as in ("policies", 1, "kind")."""

    def __init__(self, message: str, *place: str | int) -> None:
        super().__init__(message)
        self.message, self.place = message, place


@contextmanager
def at(*place: str | int) -> Iterator[None]:
    """Attach a place in the description to errors raised here, unless they already have one."""
    try:
        yield
    except DescriptionError:
        raise
    except SharpeBanditsError as error:
        raise DescriptionError(str(error), *place) from None


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
        named = self.names.get("L", getattr(self.objective, "L", None))
        return None if named is None else float(named)

    @property
    def label(self) -> str:
        """The variables as text: ``K = 5, L = 0.75``."""
        return ", ".join(f"{name} = {_short(value)}" for name, value in self.variables.items())


def cases(description: Mapping[str, Any]) -> list[Case]:
    """All cases of a description: the product of its sweep, or its list of cases.

    A case of the list may replace any part of the description; its other entries are variables.
    """
    for key in description:
        if key not in KEYS:
            raise unknown_key("key", key, KEYS, key)
    if description.get("metric", "regret") not in _METRICS:
        raise DescriptionError(f"metric must be one of {_METRICS}, got {shown(description['metric'])}", "metric")
    table = description.get("cases", [{}])
    if not isinstance(table, list) or not table or not all(isinstance(case, dict) for case in table):
        raise DescriptionError(f"cases must be a list of tables, got {shown(table)}", "cases")
    sweep = description.get("sweep", {})
    if not isinstance(sweep, dict) or not all(isinstance(v, list) and v for v in sweep.values()):
        raise DescriptionError("sweep must be a table of non-empty lists, as in sweep = { L = [0.5, 5] }", "sweep")
    if (number := len(table) * math.prod(map(len, sweep.values()))) > MOST_CASES:
        raise DescriptionError(
            f"there are {number if number < 10**9 else 'more than 10^9'} cases, at most {MOST_CASES:,} are allowed; "
            "shorten the lists of sweep, or make several files",
            "sweep" if sweep else "cases",
        )
    for place, varied in (("sweep", sweep), *(("cases", case) for case in table)):
        for key in varied:
            if key in _SHARED:
                raise DescriptionError(f"{key} is the same for all cases; set it at the top, or make two files", place)
            with at(place):
                check_name("the name of a variable", key)
    needed = ["horizon", "arms", "objective", *(["policies"] if description.get("metric") != "coverage" else [])]
    for key in needed:
        if key not in description and key not in sweep and not all(key in case for case in table):
            raise DescriptionError(f"the description has no {key}; add it", key)
    with at("checkpoints"):
        whole("checkpoints", description.get("checkpoints", 1), 1, MOST_CHECKPOINTS)
    by_label: dict[str, Case] = {}
    for number, case in enumerate(table):
        for values in itertools.product(*sweep.values()):
            swept = dict(zip(sweep, values, strict=True))
            labels = {key: _label(value, sweep[key]) for key, value in swept.items() if key in _BY_KIND}
            try:
                built = _case(dict(description), {**case, **swept}, labels)
            except DescriptionError as error:
                part = error.place[0]
                if part in swept:
                    error.place = ("sweep", part)
                elif part in case:
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
    labels = [_kinds(v) for v in values]
    label = labels[values.index(value)]
    return label if labels.count(label) == 1 else str(values.index(value) + 1)


def _kinds(part: Any) -> str:
    tables = part if isinstance(part, list) else [part]
    return " + ".join(
        dict.fromkeys(str(t.get("name", t.get("kind"))) if isinstance(t, dict) else str(t) for t in tables)
    )


def _case(description: dict[str, Any], variation: dict[str, Any], labels: dict[str, str]) -> Case:
    variables: dict[str, Any] = {}
    for key, value in variation.items():
        if key in KEYS:
            description[key] = value
        else:
            variables[key] = value
    names = dict(variables)
    horizon = _whole("horizon", description["horizon"], names, (2, LARGEST_HORIZON), "horizon")
    names["n"] = horizon
    if not isinstance(description.get("let", {}), dict):
        raise DescriptionError(
            f'let must be a table, as in let = {{ x = "n / 2" }}, got {shown(description["let"])}', "let"
        )
    for name, expression in description.get("let", {}).items():
        names[name] = _number(expression, names, "let", name)
    if not (is_number(names.get("L", 1)) and names.get("L", 1) > 0):
        where = ("let", "L") if "L" in description.get("let", {}) else ("L",)
        raise DescriptionError(
            f"L is the name of the regulariser, a number above 0, but it is {shown(names['L'])}", *where
        )
    environment = _build_environment(description, names, horizon)
    names["K"] = environment.K
    policies: dict[str, Policy] = {}
    for place, entry in _listed(description["policies"], "policies") if "policies" in description else []:
        policy = _build("policies", entry, place, names)
        if policy.name in policies:
            raise DescriptionError(f"two policies are called {policy.name!r}; give one of them another name", *place)
        try:
            prepare(Spec(policy, environment, horizon, 2, 0, (horizon,)))  # so that errors are reported now
        except InvalidInputError as error:
            raise DescriptionError(str(error), *place) from None
        policies[policy.name] = policy
    objective = _build("objective", description["objective"], ("objective",), names)
    for name, true, what in (("n", horizon, "horizon"), ("K", environment.K, "number of arms")):
        if variables.get(name, true) != true:
            raise DescriptionError(
                f"{name} is {shown(variables[name])} here, but the {what} is {true}; {name} is the name of that "
                f'number: use it in its definition, as in {"horizon" if name == "n" else "repeat"} = "{name}"',
                name,
            )
    if "horizon" in variation:
        variables["n"] = horizon
    variables = {**labels, **variables}
    return Case(variables, names, environment, tuple(policies.values()), objective, horizon)


def _listed(entries: Any, part: str) -> list[tuple[Place, dict[str, Any]]]:
    """The tables of a part, each with its place."""
    if isinstance(entries, dict):
        return [((part,), entries)]
    if not isinstance(entries, list) or not entries or not all(isinstance(e, dict) for e in entries):
        raise DescriptionError(f"{part} must be a list of tables with a kind each, got {shown(entries)}", part)
    return [((part, number), entry) for number, entry in enumerate(entries)]


def _build_environment(description: dict[str, Any], names: dict[str, Any], horizon: int) -> Environment:
    """The arms or, with switches, the initial arms and those that follow."""
    clock = description.get("clock")
    environment = _environment(description["arms"], names, clock)
    if "switches" not in description:
        return environment
    switches = description["switches"]
    if not isinstance(switches, list) or not switches or not all(isinstance(entry, dict) for entry in switches):
        raise DescriptionError(
            f"switches must be a list of tables with after and arms, got {shown(switches)}", "switches"
        )
    entries = _listed(switches, "switches")
    if not isinstance(environment, Bandit):
        raise DescriptionError("random arms cannot switch; leave random or switches out", "switches")
    parts, after = [environment], []
    for place, entry in entries:
        for key in entry:
            if key not in ("after", "arms"):
                raise unknown_key("key of a switch", key, ("after", "arms"), *place, key)
        _complete("a switch", ("after", "arms"), entry, place)
        after.append(_whole("after", entry["after"], names, (1, LARGEST_HORIZON), *place, "after"))
        try:
            part = _environment(entry["arms"], names, clock)
        except DescriptionError as error:
            error.place = (*place, *error.place)
            raise
        if not isinstance(part, Bandit):
            raise DescriptionError("random arms cannot switch; leave random out", *place, "arms")
        parts.append(part)
    with at("switches"):
        switching = SwitchingBandit(parts, after)
        switching.check_horizon(horizon)
    return switching


def _environment(entries: Any, names: dict[str, Any], clock: Any) -> Environment:
    tables = _listed(entries, "arms")
    if any(entry.get("random") for _, entry in tables):
        return _random(tables, names)
    arms: list[Any] = []
    for place, entry in tables:
        rest = {key: value for key, value in entry.items() if key != "random"}
        columns = {key: value for key, value in rest.items() if isinstance(value, list) and key != "values"}
        lengths = {len(column) for column in columns.values()} or {1}
        if len(lengths) > 1:
            counts = ", ".join(f"{key} {len(column)}" for key, column in columns.items())
            raise DescriptionError(
                f"the lists of these arms differ in length ({counts}); give one value per arm", *place
            )
        repeat = _whole("repeat", rest.pop("repeat", *lengths), names, (1, MOST_ARMS), *place, "repeat")
        if columns and repeat > max(lengths):
            raise DescriptionError(f"repeat asks for {repeat} arms, but a list has only {max(lengths)} values", *place)
        if len(arms) + repeat > MOST_ARMS:
            raise DescriptionError(f"a bandit has at most {MOST_ARMS:,} arms here; leave some out", *place)
        for j in range(repeat):
            row = {key: column[j] for key, column in columns.items()}
            arms.append(_build("arms", {**rest, **row}, place, {**names, "i": len(arms) + 1}))
    try:
        return Bandit(arms, clock=clock)
    except InvalidInputError as error:
        raise DescriptionError(str(error), "clock" if str(error).startswith("clock") else "arms") from None


def _random(tables: list[tuple[Place, dict[str, Any]]], names: dict[str, Any]) -> RandomBandit:
    """New random Uniform arms in every run; u1 and u2 are uniform on [0, 1], independent for every arm and run."""
    place, entry = tables[0]
    if len(tables) != 1 or entry.get("kind") != "Uniform":
        raise DescriptionError("random arms are given by one entry of kind Uniform with low and high", *place)
    for key in entry:
        if key not in ("kind", "random", "repeat", "low", "high"):
            raise unknown_key("parameter of random Uniform arms", key, ("low", "high", "repeat"), *place, key)
    _complete("Uniform", ("low", "high"), entry, place)
    count = _whole("repeat", entry.get("repeat", 1), names, (2, MOST_ARMS), *place, "repeat")

    def ends(u1: np.ndarray, u2: np.ndarray) -> tuple[Any, Any]:
        scope = {**names, "u1": u1, "u2": u2}
        low, high = (np.broadcast_to(_number(entry[end], scope, *place, end), u1.shape) for end in ("low", "high"))
        return low, high

    draw = UniformFormula(count, ends)
    try:
        draw(np.random.default_rng(0))  # so that errors are reported now
    except DescriptionError:
        raise
    except (InvalidInputError, ValueError, TypeError) as error:  # values that are not numbers, or too many
        raise DescriptionError(f"low and high must be a number or an expression each: {error}", *place) from None
    text = f"Uniform({entry['low']}, {entry['high']})"
    words = set(re.findall(r"\w+", text))
    used = [f"{name} = {shown(value)}" for name, value in names.items() if name in words]
    # an expression on several lines becomes a name on one line
    return RandomBandit(count, draw, name=re.sub(r"[\r\n]+", " ", ", ".join([text, *used])))


def _build(part: str, entry: Any, place: Place, names: Mapping[str, Any]) -> Any:
    """A policy, arm or objective from its table."""
    if not isinstance(entry, Mapping):
        raise DescriptionError(f"{part} must be a table with a kind, got {shown(entry)}", *place)
    values = dict(entry)
    kinds = _PARTS[part]()
    singular = {"policies": "policy", "arms": "arm", "objective": "objective"}[part]
    if "kind" not in values:
        raise DescriptionError(f"this {singular} has no kind; there are {', '.join(kinds)}", *place)
    kind = values.pop("kind")
    if not isinstance(kind, str) or kind not in kinds:
        raise unknown_key(singular, kind, kinds, *place, "kind")
    make: Any = kinds[kind].make
    allowed = {p.name: p.default is p.empty for p in kinds[kind].parameters}
    if kind == "Uniform" and "mean" in values:
        make, allowed = Uniform.from_moments, {"mean": True, "variance": True}
    arguments = {}
    for key, value in values.items():
        if key not in allowed:
            raise unknown_key(f"parameter of {kind}", key, allowed, *place, key)
        if key == "objective":
            arguments[key] = _build("objective", value, (*place, key), names)
        elif isinstance(value, str) and key not in _WORDS:
            arguments[key] = _number(value, names, *place, key)
        else:
            arguments[key] = value
    _complete(kind, [key for key, required in allowed.items() if required], values, place)
    try:
        item = make(**arguments)
        return as_arm(item) if part == "arms" else item
    except (SharpeBanditsError, TypeError) as error:
        first = str(error).split(" ")[0]  # most errors start with the parameter
        raise DescriptionError(f"{kind}: {error}", *place, *([first] if first in values else [])) from None


def _complete(kind: str, required: Iterable[str], given: Mapping[str, Any], place: Place) -> None:
    missing = [key for key in required if key not in given]
    if missing:
        raise DescriptionError(f"{kind} needs {' and '.join(missing)}; add it", *place)


def _number(value: Any, names: Mapping[str, Any], *place: str | int) -> Any:
    with at(*place):
        return evaluate(value, names)


def _whole(name: str, value: Any, names: Mapping[str, Any], bounds: tuple[int, int], *place: str | int) -> int:
    with at(*place):
        return whole(name, evaluate(value, names), *bounds)


def unknown_key(what: str, name: Any, known: Iterable[str], *place: str | int) -> DescriptionError:
    """The error for an unknown name, with the nearest known one."""
    return DescriptionError(str(unknown(what, name, known)), *place)


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else value if isinstance(value, str) else shown(value)
