"""Everything the library raises on purpose: what was wrong, the value that was given, and what to do about it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class SharpeBanditsError(Exception):
    """Root of all errors of this library."""


class InvalidInput(SharpeBanditsError, ValueError):
    """A value that was given cannot be used."""


class BudgetTooSmall(InvalidInput):
    """The horizon or budget does not suffice; the message says how much is needed."""


class UnknownName(SharpeBanditsError, KeyError):
    """A name that does not exist; the message has the nearest ones."""

    def __str__(self) -> str:  # KeyError would show the repr of the message
        return str(self.args[0])


class CompilationFailed(SharpeBanditsError):
    """A user's function cannot be compiled; the message shows the line."""


class UnreadableData(SharpeBanditsError):
    """A saved state or study is corrupt, foreign, or of a newer version."""


class CampaignOver(SharpeBanditsError):
    """The budget of an agent is spent."""


def unknown(what: str, name: object, known: Iterable[object], see: str = "") -> UnknownName:
    """An :class:`UnknownName` that suggests the nearest known name, and lists all or says where to ``see`` them."""
    names = [str(k) for k in known]
    plain = {k.lower(): k for k in reversed(names)}
    near = difflib.get_close_matches(str(name).lower(), plain, n=1, cutoff=0.5)
    hint = f"did you mean {plain[near[0]]!r}? " if near else ""
    listed = see or f"there are {', '.join(map(repr, names)) or 'none'}"
    return UnknownName(f"no {what} is called {name!r}: {hint}{listed}")
