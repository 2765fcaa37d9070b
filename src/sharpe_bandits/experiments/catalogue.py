"""The policies, arms and objectives that a description can name, with their parameters and citations."""

from __future__ import annotations

import dataclasses
import inspect
import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from typing import Any

from ..policies.base import PAPER

#: Kinds that can be created only in code, not in a description.
_NOT_DESCRIBED = {"CustomPolicy", "Scipy"}

#: LaTeX symbols of docstrings and how a terminal shows them; other words are Greek letters or functions.
_SIGNS = {"lceil": "⌈", "rceil": "⌉", "lfloor": "⌊", "rfloor": "⌋", "sim": "~"}
_PLAIN = (
    (r":(?:math|class):`([^`]*)`", r"\1"),
    (r"``", ""),
    (r"\\bar ([XV])", "\\1\u0304"),
    (r"\\overline\{\\log\}", "log\u0304"),
    (r"\\sqrt\{((?:[^{}]|\{[^{}]*\})*)\}", r"√(\1)"),
    (r"\\mathrm\{(\w+)\}", r"\1"),
    (r"\\sum_\{([^}]*)\}\^\{?(\w+)\}?", r"Σ_{\1..\2}"),
    (r"\\[,!;]", ""),
    (r"\^2", "²"),
)


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
        shared = ("name", "pilot_fraction", "pilot_pulls")
        return ", ".join(p.name + self._default(p) for p in self.parameters if p.name not in shared)

    def _default(self, parameter: inspect.Parameter) -> str:
        if parameter.default is parameter.empty:
            return ""
        for f in dataclasses.fields(self.make):
            if f.name == parameter.name and f.default_factory is not dataclasses.MISSING:
                return f" = {f.default_factory()!r}"
        return f" = {parameter.default!r}"


def kinds(base: Any) -> dict[str, Kind]:
    """The kinds of policies, arms or objectives, by name."""
    return {kind: _entry(kind, cls) for kind, cls in sorted(base.kinds.items()) if kind not in _NOT_DESCRIBED}


def without_markup(text: str) -> str:
    """The text of a docstring without markup."""
    for pattern, replacement in _PLAIN:
        text = re.sub(pattern, replacement, text)
    return re.sub(r"\\([A-Za-z]+)", lambda word: _SIGNS.get(word[1]) or _letter(word[1]), text)


def _letter(name: str) -> str:
    size = "CAPITAL" if name[0].isupper() else "SMALL"
    try:
        return unicodedata.lookup(f"GREEK {size} LETTER {name.upper()}")
    except KeyError:
        return name


@cache
def _entry(kind: str, cls: Any) -> Kind:
    parameters = tuple(p for p in inspect.signature(cls).parameters.values() if p.kind is not p.VAR_POSITIONAL)
    summary = without_markup(inspect.cleandoc(cls.__doc__ or "").split("\n\n")[0].replace("\n", " "))
    return Kind(kind, cls, parameters, summary, getattr(cls, "citation", "").replace(PAPER, "the paper"))
