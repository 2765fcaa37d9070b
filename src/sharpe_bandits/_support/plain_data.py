"""From plain data (what JSON can hold) back to the arm, bandit, objective or policy that it describes."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from ..errors import InvalidInputError, shown, unknown

#: Classes that plain data can name, by what they are. The description of a policy may hold that of an objective.
KINDS: dict[str, dict[str, Any]] = {"policy": {}, "bandit": {}, "arm": {}, "objective": {}}


class Kind:
    """A class that plain data can name, under ``what`` it is; its parameters are attributes."""

    what: ClassVar[str]
    kinds: ClassVar[dict[str, Any]]

    def __init_subclass__(cls, abstract: bool = False, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "what" in vars(cls):
            cls.kinds = KINDS[cls.what]
        elif not (abstract or cls.__name__.startswith("_")):
            cls.kinds[cls.__name__] = cls

    def to_dict(self) -> dict[str, Any]:
        """Plain data from which :func:`sharpe_bandits.from_dict` makes the same."""
        values = {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}
        return {self.what: type(self).__name__, **plain(values)}

    @classmethod
    def from_parameters(cls, data: dict[str, Any]) -> Any:
        """What plain data without its kind describes."""
        return cls(**data)


def from_plain(what: str, data: Any) -> Any:
    """The thing that ``data`` describes; ``data[what]`` names its kind."""
    if not isinstance(data, Mapping):
        raise InvalidInputError(
            f"a dict that describes the {what}, as to_dict() gives it, is needed, got {shown(data)}"
        )
    values, kinds = {name: _revived(value) for name, value in data.items()}, KINDS[what]
    kind = values.pop(what, None)
    if not isinstance(kind, str) or kind not in kinds:
        error = unknown(what, kind, kinds)
        raise type(error)(f"{error}; one of your own has to be defined, or its module imported, before it is read")
    try:
        return kinds[kind].from_parameters(values)
    except TypeError as error:  # too many, too few, or of a kind that cannot be compared
        raise InvalidInputError(f"these are not the parameters of {kind}: {error}") from None


def _revived(value: Any) -> Any:
    """The same with things in place of their descriptions."""
    if isinstance(value, dict):
        what = next((what for what in KINDS if isinstance(value.get(what), str)), None)
        return from_plain(what, value) if what else value
    return [_revived(item) for item in value] if isinstance(value, list) else value


def plain(data: Any) -> Any:
    """The same with arrays as lists, and what has a description as that."""
    if isinstance(data, Kind):
        return data.to_dict()
    if isinstance(data, dict):
        return {key: plain(value) for key, value in data.items()}
    if isinstance(data, (list, tuple, np.ndarray)):
        return [plain(value) for value in (data.tolist() if isinstance(data, np.ndarray) else data)]
    return data.item() if isinstance(data, np.generic) else data


def finite_or_none(data: Any) -> Any:
    """The same plain data, with None for numbers that JSON cannot represent."""
    if isinstance(data, dict):
        return {str(key): finite_or_none(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [finite_or_none(value) for value in data]
    if isinstance(data, float) and not math.isfinite(data):
        return None
    return data
