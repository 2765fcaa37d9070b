"""Policies from text, such as ``SlidingWindowUCB:window=250,c=1``."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable
from typing import Any

from ..errors import InvalidInputError, unknown
from ..objectives import RSSR, Objective
from .base import Policy
from .custom import OPTIONS, PolicyFactory

_SEE = "sharpe-bandits policies lists all"


def policies_by_name(texts: Iterable[str], *, L: float, risk_free: float = 0.0) -> list[Policy]:
    """Policies by kind or by the name that the paper uses, with parameters after a colon.

    Parameters that a policy takes and the text does not set have these defaults: the given L and risk-free rate, RSSR
    signed, and RSSR as the objective. Policies that would share a name are distinguished by their parameters.
    """
    policies: list[Policy] = []
    for text in texts:
        kind, _, rest = text.partition(":")
        policy = _policy(kind.strip(), rest, L, risk_free)
        if policy.name in [other.name for other in policies] and rest:
            policy = dataclasses.replace(policy, name=f"{policy.name} ({rest})")
        policies.append(policy)
    return policies


def _policy(name: str, rest: str, L: float, risk_free: float) -> Any:
    built_in, own = _built_in(), _own()
    matches = [makers[key] for makers in (built_in, own) for key in makers if key.lower() == name.lower()]
    if not matches:
        raise unknown("policy", name, built_in | own, _SEE)
    if any(other is not matches[0] for other in matches):
        raise InvalidInputError(f"several policies are called {name!r}; give your own one another name")
    make = matches[0]
    names, needed = _parameters(make)
    of_objective = [key for key in _objective_parameters(rest) if "objective" in names and key not in names]
    values: dict[str, Any] = {}
    for part in filter(None, map(str.strip, rest.split(","))):
        key, sign, value = (word.strip() for word in part.partition("="))
        if not sign or not value:
            raise InvalidInputError(f"{name}:{rest} should be as in SlidingWindowUCB:window=250,c=1; {part!r} is not")
        if key not in names and key not in of_objective:
            raise unknown(f"parameter of {name}", key, names + of_objective)
        if key in values:
            raise InvalidInputError(f"{name}:{rest} gives {key} twice; give it once")
        values[key] = value if key == "objective" else _value(key, value)
    if "objective" in values:
        own = {key: values.pop(key) for key in list(values) if key in of_objective}
        usual = {"L": L, "risk_free": risk_free, "signed": True, "objective": RSSR(L, risk_free, signed=True)}
        values["objective"] = _objective(values["objective"], usual | own)
    filled: dict[str, Any] = {"L": L, "risk_free": risk_free, "signed": True}
    if "objective" in values:  # which has its own
        filled = {key: value for key, value in filled.items() if key in needed}
    if "objective" in needed:
        filled["objective"] = RSSR(L, risk_free, signed=True)
    arguments = {**{key: value for key, value in filled.items() if key in names}, **values}
    missing = [key for key in needed if key not in arguments]
    if missing:
        raise InvalidInputError(f"{name} needs {' and '.join(missing)}; give it as in {name}:{missing[0]}=0.1")
    return make(**arguments)


def _built_in() -> dict[str, Any]:
    """Classes of policies, by title and kind."""
    kinds: dict[str, Any] = {kind: cls for kind, cls in Policy.kinds.items() if kind != "CustomPolicy"}
    return {cls.title: cls for cls in kinds.values()} | kinds


def _own() -> dict[str, Any]:
    """Users' index policies, by the name of the function and by their own, which takes precedence."""
    factories = PolicyFactory.known.values()
    return {factory.function.__name__: factory for factory in factories} | {
        factory.name: factory for factory in factories
    }


def _parameters(make: Any) -> tuple[list[str], list[str]]:
    """The parameters of a policy, and those of them that must be given."""
    if isinstance(make, PolicyFactory):
        own = [p.name for p in make.parameters]
        return [*own, *OPTIONS], [p.name for p in make.parameters if p.default is p.empty]
    fields = dataclasses.fields(make)
    return [f.name for f in fields], [f.name for f in fields if f.default is f.default_factory is dataclasses.MISSING]


def _objective_parameters(rest: str) -> list[str]:
    """The parameters of the objective that a text names: aversion for ``objective=MeanRisk,aversion=0.5``."""
    name = re.search(r"(?:^|,)\s*objective\s*=\s*(\w+)", rest)
    return [f.name for f in dataclasses.fields(Objective.kinds[name[1]])] if name and name[1] in Objective.kinds else []


def _objective(name: str, values: dict[str, Any]) -> Objective:
    if name not in Objective.kinds:
        raise unknown("objective", name, Objective.kinds)
    cls: Any = Objective.kinds[name]
    return cls(**{f.name: values[f.name] for f in dataclasses.fields(cls) if f.name in values})


def _value(key: str, text: str) -> Any:
    if key == "name":
        return text
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
