"""The policies, arms and objectives that a description can name, with their parameters and citations."""

from __future__ import annotations

import dataclasses
import inspect
import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from ..policies.base import PAPER

#: Kinds that can be created only in code, not in a description.
_NOT_DESCRIBED = {"CustomPolicy", "Scipy"}


@dataclass(frozen=True)
class Kind:
    """One kind that a description can name."""

    kind: str
    make: Any
    parameters: tuple[inspect.Parameter, ...]
    summary: str
    citation: str = ""

    def signature(self) -> str:
        """The parameters as they are written; those that all policies share are left out."""
        made = {f.name: f.default_factory() for f in dataclasses.fields(self.make) if callable(f.default_factory)}
        shared = ("name", "pilot_fraction", "pilot_pulls")
        defaults = {p.name: made.get(p.name, p.default) for p in self.parameters if p.name not in shared}
        words = (
            name if value is inspect.Parameter.empty else f"{name} = {value!r}" for name, value in defaults.items()
        )
        return ", ".join(words)


def kinds(base: Any) -> dict[str, Kind]:
    """The kinds of policies, arms or objectives, by name."""
    return {kind: _entry(kind, cls) for kind, cls in sorted(base.kinds.items()) if kind not in _NOT_DESCRIBED}


@cache
def _entry(kind: str, cls: Any) -> Kind:
    parameters = tuple(p for p in inspect.signature(cls).parameters.values() if p.kind is not p.VAR_POSITIONAL)
    first = " ".join((cls.__doc__ or "").split("\n\n")[0].split())
    summary = re.sub(r":class:`([^`]*)`|``", r"\1", first)  # without markup
    return Kind(kind, cls, parameters, summary, getattr(cls, "citation", "").replace(PAPER, "the paper"))
