"""From plain data (what JSON can hold) back to the arm, bandit, objective or policy that it describes.

Every such thing has ``to_dict``, whose result names its kind, and a class method ``from_parameters`` that takes what
``to_dict`` gives beside the kind.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import InvalidInputError, shown, unknown


def from_plain(what: str, kinds: Mapping[str, Any], data: Any, **more: Any) -> Any:
    """The thing that ``data`` describes; ``data[what]`` names its kind.

    Parameters
    ----------
    what : str
        "arm", "bandit", "objective" or "policy"
    kinds : Mapping[str, Any]
        classes by name
    data : Any
        what ``to_dict`` gave
    **more : Any
        parameters that plain data cannot hold
    """
    if not isinstance(data, Mapping):
        raise InvalidInputError(
            f"a dict that describes the {what}, as to_dict() gives it, is needed, got {shown(data)}"
        )
    values = {**data, **more}
    kind = values.pop(what, None)
    if not isinstance(kind, str) or kind not in kinds:
        error = unknown(what, kind, kinds)
        raise type(error)(f"{error}; one of your own has to be defined, or its module imported, before it is read")
    try:
        return kinds[kind].from_parameters(values)
    except TypeError as error:  # too many, too few, or of a kind that cannot be compared
        raise InvalidInputError(f"these are not the parameters of {kind}: {error}") from None


def plain(data: Any) -> Any:
    """The same with arrays as lists."""
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
