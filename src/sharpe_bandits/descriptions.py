"""Policies, arms, bandits and objectives from plain data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .arms.base import arm_from_dict
from .arms.environment import bandit_from_dict
from .errors import InvalidInputError, shown
from .objectives import objective_from_dict
from .policies.base import policy_from_dict

#: In this order: the description of a policy may hold that of an objective.
_READERS: dict[str, Callable[..., Any]] = {
    "policy": policy_from_dict,
    "bandit": bandit_from_dict,
    "arm": arm_from_dict,
    "objective": objective_from_dict,
}


def from_dict(data: dict[str, Any], *, draw: Callable[..., Any] | None = None) -> Any:
    """The policy, arm, bandit or objective whose ``to_dict`` gave this plain data.

    Parameters
    ----------
    data : dict[str, Any]
        the result of ``to_dict``
    draw : Callable[..., Any] | None, optional
        the function that draws the arms of a :class:`RandomBandit`, which is not plain data

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> sb.from_dict(sb.UCBRSSR(L=0.5).to_dict())
    UCBRSSR(L=0.5)
    >>> sb.from_dict({"arm": "Uniform", "low": 0, "high": 1})
    Uniform(0, 1)
    """
    kind = next((kind for kind in _READERS if isinstance(data, dict) and kind in data), None)
    if kind is None:
        raise InvalidInputError(
            f"a description needs one of the keys {', '.join(map(repr, _READERS))}, as to_dict() writes it; got "
            f"{shown(data)}"
        )
    if draw is None:
        return _READERS[kind](data)
    if kind != "bandit":
        raise InvalidInputError(f"draw= is for the description of a RandomBandit, not of a {kind}")
    return bandit_from_dict(data, draw=draw)
