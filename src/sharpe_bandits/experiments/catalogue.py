"""What a description can name: policies, arms and objectives, with their parameters and where they come from."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

from ..arms.base import Arm
from ..errors import unknown
from ..objectives import Objective
from ..policies.base import Policy

#: Kinds that are made by code, not by a description.
_NOT_DESCRIBED = {"CustomPolicy", "Scipy"}


@dataclass(frozen=True)
class Entry:
    """One kind that a description can name."""

    kind: str
    make: Any
    parameters: tuple[inspect.Parameter, ...]
    summary: str
    citation: str = ""

    def signature(self) -> str:
        """The parameters as one would write them."""
        return ", ".join(
            str(p).split(":")[0] + ("" if p.default is p.empty else f" = {p.default!r}") for p in self._own()
        )

    def _own(self) -> list[inspect.Parameter]:
        return [p for p in self.parameters if p.name not in ("name", "pilot_fraction", "pilot_pulls")]


def policies() -> dict[str, Entry]:
    """Policies by kind."""
    return _entries(Policy.kinds)


def arms() -> dict[str, Entry]:
    """Arms by kind; Uniform can also be given by mean and variance."""
    return _entries(Arm.kinds)


def objectives() -> dict[str, Entry]:
    """Objectives by kind."""
    return _entries(Objective.kinds)


def look_up(what: str, kind: Any, among: dict[str, Entry]) -> Entry:
    """The entry of a kind; an unknown one gets the nearest as a suggestion."""
    if kind not in among:
        raise unknown(what, kind, among)
    return among[kind]


def _entries(kinds: dict[str, Any]) -> dict[str, Entry]:
    found = {}
    for kind, cls in sorted(kinds.items()):
        if kind not in _NOT_DESCRIBED:
            parameters = tuple(inspect.signature(cls).parameters.values())
            summary = inspect.cleandoc(cls.__doc__ or "").split("\n\n")[0].replace("\n", " ")
            found[kind] = Entry(kind, cls, parameters, summary, getattr(cls, "citation", ""))
    return found
