"""Policies from text, such as ``SlidingWindowUCB:window=250,c=1``."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterable
from typing import Any

from ..errors import InvalidInputError, unknown
from ..objectives import RSSR, Objective
from .base import Policy
from .custom import PolicyFactory


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
    make = _maker(name)
    parameters = inspect.signature(make).parameters
    needed = [p.name for p in parameters.values() if p.default is p.empty]
    usual = {"L": L, "risk_free": risk_free, "signed": True, "objective": RSSR(L, risk_free, signed=True)}
    values: dict[str, Any] = {}
    for part in filter(None, map(str.strip, rest.split(","))):
        key, sign, value = (word.strip() for word in part.partition("="))
        if not sign or not value:
            raise InvalidInputError(f"{name}:{rest} should be as in SlidingWindowUCB:window=250,c=1; {part!r} is not")
        if key in values:
            raise InvalidInputError(f"{name}:{rest} gives {key} twice; give it once")
        values[key] = value if key in ("name", "objective") else _value(value)
    of_objective: Iterable[str] = ()
    if "objective" in values and "objective" in parameters:
        kind = Objective.kinds.get(values["objective"])
        if kind is None:
            raise unknown("objective", values["objective"], Objective.kinds)
        of_objective = inspect.signature(kind).parameters
        own = usual | {key: values.pop(key) for key in list(values) if key in of_objective and key not in parameters}
        values["objective"] = kind(**{key: own[key] for key in of_objective if key in own})
    for key in values:
        if key not in parameters:
            raise unknown(f"parameter of {name}", key, [*parameters, *of_objective])
    without = ["objective"] if "objective" not in values else usual  # an objective that is given has its own L
    arguments = {k: v for k, v in usual.items() if k in parameters and (k in needed or k not in without)} | values
    if missing := [key for key in needed if key not in arguments]:
        raise InvalidInputError(f"{name} needs {' and '.join(missing)}; give it as in {name}:{missing[0]}=0.1")
    return make(**arguments)


def _maker(name: str) -> Any:
    """The class of a policy, by title or kind, or a user's index policy, by its function's name or its own."""
    kinds: dict[str, Any] = {kind: cls for kind, cls in Policy.kinds.items() if kind != "CustomPolicy"}
    built_in = {cls.title: cls for cls in kinds.values()} | kinds
    factories = PolicyFactory.known.values()
    own = {factory.function.__name__: factory for factory in factories} | {f.name: f for f in factories}
    matches = [makers[key] for makers in (built_in, own) for key in makers if key.lower() == name.lower()]
    if not matches:
        raise unknown("policy", name, built_in | own, "sharpe-bandits policies lists all")
    if any(other is not matches[0] for other in matches):
        raise InvalidInputError(f"several policies are called {name!r}; give your own one another name")
    return matches[0]


def _value(text: str) -> Any:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
