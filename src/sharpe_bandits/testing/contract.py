"""Building blocks of contracts: tests as methods, run by pytest or one after another."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from typing import Any

from ..descriptions import from_dict
from ..errors import SharpeBanditsError, shown


def require(condition: Any, message: str) -> None:
    """Raise AssertionError with the message unless the condition holds (even if assert statements are disabled)."""
    if not condition:
        raise AssertionError(message)


def refused(what: str, attempt: Callable[[], Any], error: type[SharpeBanditsError] = SharpeBanditsError) -> str:
    """The message of the error with which an attempt is rejected; AssertionError if it is not, or by another error."""
    try:
        attempt()
    except error as caught:
        return str(caught)
    except Exception as caught:
        raise AssertionError(
            f"{what} must be refused with a {error.__name__}, not with {type(caught).__name__}: {caught}"
        ) from caught
    raise AssertionError(f"{what} must be refused with a {error.__name__}")


def check_round_trips(thing: Any) -> None:
    """Require that a thing is the same after a round trip through JSON, pickling and copying."""
    again = from_dict(json.loads(json.dumps(thing.to_dict(), allow_nan=False)))
    require(again == thing and again.to_dict() == thing.to_dict(), f"{thing!r} came back from plain data as {again!r}")
    kind = type(thing)
    require("<locals>" not in kind.__qualname__, f"define {kind.__name__} outside of functions: workers must find it")
    for way, made in (("pickled", pickle.loads(pickle.dumps(thing))), ("copied", copy.deepcopy(thing))):
        require(made == thing and made.to_dict() == thing.to_dict(), f"{thing!r} is not the same when {way}: {made!r}")
        require(hash(made) == hash(thing), f"the hash of {thing!r} is not the same when it is {way}")


def run_all(contract: Any, thing: Any, kind: type = object) -> None:
    """Run every test of a contract for things of this kind, in order of definition."""
    made = f"; call it with its parameters, as in {thing.__name__}(...)" if isinstance(thing, type) else ""
    require(isinstance(thing, kind), f"an object of a subclass of {kind.__name__} is needed, got {shown(thing)}{made}")
    for cls in reversed(type(contract).__mro__):
        for name in vars(cls):
            if name.startswith("test_"):
                try:
                    getattr(contract, name)(thing)
                except AssertionError:
                    raise
                except Exception as error:
                    raise AssertionError(f"{name}: {type(error).__name__}: {error}") from error
