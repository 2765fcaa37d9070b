"""The policies, arms and objectives that a description can name, with their parameters and citations."""

from __future__ import annotations

import dataclasses
import inspect
import re
from functools import cache
from typing import Any

from ..policies.base import PAPER

#: Kinds that can be created only in code, not in a description.
_NOT_DESCRIBED = {"CustomPolicy", "Scipy"}


def kinds(base: Any) -> dict[str, Any]:
    """The classes of policies, arms or objectives, by name."""
    return {kind: cls for kind, cls in sorted(base.kinds.items()) if kind not in _NOT_DESCRIBED}


@cache
def parameters(kind: Any) -> dict[str, Any]:
    """The parameters of a kind, with their defaults."""
    made = {f.name: f.default_factory() for f in dataclasses.fields(kind) if callable(f.default_factory)}
    own = inspect.signature(kind).parameters.values()
    return {p.name: made.get(p.name, p.default) for p in own if p.kind is not p.VAR_POSITIONAL}


def signature(kind: Any) -> str:
    """The parameters as they are written; those that all policies share are left out."""
    own = {k: v for k, v in parameters(kind).items() if k not in ("name", "pilot_fraction", "pilot_pulls")}
    return ", ".join(
        name if default is inspect.Parameter.empty else f"{name} = {default!r}" for name, default in own.items()
    )


def summary(kind: Any) -> str:
    """The first sentence of its documentation, without markup."""
    first = " ".join((kind.__doc__ or "").split("\n\n")[0].split())
    return re.sub(r":class:`([^`]*)`|``", r"\1", first)


def citation(kind: Any) -> str:
    """Where it comes from."""
    return str(getattr(kind, "citation", "").replace(PAPER, "the paper"))
