"""The exceptions of this library. A message says what was wrong, which value was given, and what to do about it.

``SharpeBanditsError``         all of them:
  ``InvalidInputError``        a value cannot be used (also a ValueError)
    ``BudgetTooSmallError``    too few rounds
  ``UnknownNameError``         a name does not exist (also a KeyError)
  ``CompilationError``         a user's function cannot be compiled
  ``UnreadableDataError``      a saved state or study is damaged, foreign or newer
  ``MissingLibraryError``      an extra is not installed (also an ImportError)
  ``ExecutorError``            workers are lost or differ
  ``CampaignOverError``, ``CampaignPausedError``, ``WaitForRewardsError``: there is nothing to play, or not yet
  ``ConflictError``            a request contradicts what is recorded
  ``StoreError``               a store of campaigns cannot be used
``RewardWarning``              rewards that a policy cannot handle
"""

from __future__ import annotations

import difflib
import reprlib
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from typing import Any

#: Maximum number of names that an error lists, and of names searched for a similar one.
_LISTED, _COMPARED = 60, 5000
_brief = reprlib.Repr()
_brief.maxlist = _brief.maxtuple = _brief.maxdict = _brief.maxset = _brief.maxfrozenset = _brief.maxdeque = 12
_brief.maxlevel, _brief.maxstring, _brief.maxlong, _brief.maxother = 4, 420, 420, 420

__all__ = [
    "BudgetTooSmallError", "CampaignOverError", "CampaignPausedError", "CompilationError", "ConflictError",
    "ExecutorError", "InvalidInputError", "MissingLibraryError", "RewardWarning", "SharpeBanditsError", "StoreError",
    "UnknownNameError", "UnreadableDataError", "WaitForRewardsError",
]  # fmt: skip


class SharpeBanditsError(Exception):
    """Root of all errors of this library."""


class InvalidInputError(SharpeBanditsError, ValueError):
    """A given value cannot be used."""


class BudgetTooSmallError(InvalidInputError):
    """The horizon or budget is too small; the message says how much is needed."""


class UnknownNameError(SharpeBanditsError, KeyError):
    """A name does not exist; the message suggests the most similar one."""

    def __str__(self) -> str:  # KeyError would show the repr of the message
        return str(self.args[0])


class CompilationError(SharpeBanditsError):
    """A user's function cannot be compiled; the message shows the line."""


class UnreadableDataError(SharpeBanditsError):
    """A saved state or study is corrupt, foreign, or of a newer version."""


class MissingLibraryError(SharpeBanditsError, ImportError):
    """An optional library is not installed; the message says how to install it."""


class ExecutorError(SharpeBanditsError):
    """Workers are lost, crash repeatedly, or run other versions than this process."""


class CampaignOverError(SharpeBanditsError):
    """The budget of an agent is spent."""


class CampaignPausedError(SharpeBanditsError):
    """The campaign is paused and has no fallback arm."""


class WaitForRewardsError(SharpeBanditsError):
    """A policy can only wait for rewards of pending pulls: ``arms`` has their number per arm, ``count`` their sum."""

    def __init__(self, message: str, arms: dict[Any, int]) -> None:
        super().__init__(message)
        self.arms, self.count = arms, sum(arms.values())

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.args[0], self.arms)


class ConflictError(SharpeBanditsError):
    """A request contradicts what is recorded; nothing was changed."""


class StoreError(SharpeBanditsError):
    """A store of campaigns cannot be used; the message has the remedy."""


class RewardWarning(UserWarning):
    """A policy has seen rewards that it cannot handle; the message has the remedy."""


def shown(value: Any) -> str:
    """``value`` as shown in an error: its repr, shortened if long; its type if the repr fails."""
    try:
        return _brief.repr(value)
    except Exception:  # the repr of a third-party object; integers with thousands of digits have none
        return f"<{type(value).__name__}>"


def listed(names: Iterable[object], none: str = "none") -> str:
    """Names as listed in an error: not all of a million."""
    every = list(names)
    more = f", … ({len(every):,} in all)" if len(every) > _LISTED else ""
    return ", ".join(map(shown, every[:_LISTED])) + more or none


def meant(name: object, known: Sequence[str]) -> str:
    """``: did you mean 'mean'?`` if a known name is near this one; otherwise nothing."""
    word = name.lower() if isinstance(name, str) else shown(name)
    by_lower_case = {k.lower()[:100]: k for k in reversed(known[:_COMPARED])}
    near = difflib.get_close_matches(word[:100], by_lower_case, n=1, cutoff=0.5)
    return f": did you mean {by_lower_case[near[0]]!r}?" if near else ""


def unknown(what: str, name: object, known: Iterable[object], see: str = "") -> UnknownNameError:
    """An :class:`UnknownNameError`: suggests the nearest known name and lists all, or says where to ``see`` them."""
    names = [str(k) for k in known]
    hint = meant(name, names) or ":"
    return UnknownNameError(f"no {what} is called {shown(name)}{hint} {see or f'there are {listed(names)}'}")


def require(library: str, what: str, extra: str = "") -> None:
    """Raise :class:`MissingLibraryError` if ``library``, which ``what`` needs and ``extra`` installs, is missing."""
    if find_spec(library) is None:
        package = f"'sharpe-bandits[{extra}]'" if extra else library
        raise MissingLibraryError(
            f"for {what} you need {library}, which is not installed; install it with: pip install {package}"
        )
