"""Everything the library raises on purpose: what was wrong, the value that was given, and what to do about it."""

from __future__ import annotations

import difflib
import reprlib
from collections.abc import Iterable
from importlib.util import find_spec
from typing import Any

#: Names that an error lists, and names that are looked through for one that is near, at most.
_LISTED, _COMPARED = 60, 5000
_brief = reprlib.Repr()
_brief.maxlist = _brief.maxtuple = _brief.maxdict = _brief.maxset = _brief.maxfrozenset = _brief.maxdeque = 12
_brief.maxlevel, _brief.maxstring, _brief.maxlong, _brief.maxother = 4, 420, 420, 420


class SharpeBanditsError(Exception):
    """Root of all errors of this library."""


class InvalidInputError(SharpeBanditsError, ValueError):
    """A value that was given cannot be used."""


class BudgetTooSmallError(InvalidInputError):
    """The horizon or budget does not suffice; the message says how much is needed."""


class UnknownNameError(SharpeBanditsError, KeyError):
    """A name that does not exist; the message has the nearest ones."""

    def __str__(self) -> str:  # KeyError would show the repr of the message
        return str(self.args[0])


class CompilationError(SharpeBanditsError):
    """A user's function cannot be compiled; the message shows the line."""


class UnreadableDataError(SharpeBanditsError):
    """A saved state or study is corrupt, foreign, or of a newer version."""


class MissingLibraryError(SharpeBanditsError, ImportError):
    """A library that is needed for this alone is not installed; the message says how to get it."""


class ExecutorError(SharpeBanditsError):
    """Workers that chunks were sent to are gone, or are not what they should be."""


class CampaignOverError(SharpeBanditsError):
    """The budget of an agent is spent."""


class WaitForRewardsError(SharpeBanditsError):
    """A policy can only wait for rewards of pulls under way: ``arms`` has how many of which, ``count`` their sum."""

    def __init__(self, message: str, arms: dict[Any, int]) -> None:
        super().__init__(message)
        self.arms, self.count = arms, sum(arms.values())

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.args[0], self.arms)


class ConflictError(SharpeBanditsError):
    """What is asked for contradicts what is recorded; nothing was changed."""


class StoreError(SharpeBanditsError):
    """A store of campaigns cannot be used now; the message has the remedy."""


class RewardWarning(UserWarning):
    """A policy has met rewards that it cannot handle; the message has the remedy."""


def shown(value: Any) -> str:
    """``value`` as an error shows it: its repr, shortened where it is long, whatever the value does when asked."""
    try:
        return _brief.repr(value)
    except Exception:  # the repr of an object of another's making; whole numbers of thousands of digits have none
        return f"<{type(value).__name__}>"


def listed(names: Iterable[object], none: str = "none") -> str:
    """Names as an error lists them: not all of a million."""
    known = list(names)
    more = f", … ({len(known):,} in all)" if len(known) > _LISTED else ""
    return ", ".join(map(shown, known[:_LISTED])) + more or none


def unknown(what: str, name: object, known: Iterable[object], see: str = "") -> UnknownNameError:
    """An :class:`UnknownNameError`: suggests the nearest known name and lists all, or says where to ``see`` them."""
    names = [str(k) for k in known]
    wanted = str(name).lower() if isinstance(name, (str, int)) else shown(name)
    plain = {k.lower()[:100]: k for k in reversed(names[:_COMPARED])}
    near = difflib.get_close_matches(wanted[:100], plain, n=1, cutoff=0.5)
    hint = f"did you mean {plain[near[0]]!r}? " if near else ""
    return UnknownNameError(f"no {what} is called {shown(name)}: {hint}{see or f'there are {listed(names)}'}")


def require(library: str, what: str, extra: str = "") -> None:
    """Raise :class:`MissingLibraryError` if ``library``, which ``what`` needs and ``extra`` brings, is missing."""
    if find_spec(library) is None:
        wanted = f"'sharpe-bandits[{extra}]'" if extra else library
        raise MissingLibraryError(
            f"{what} needs {library}, which is not installed; install it with: pip install {wanted}"
        )
