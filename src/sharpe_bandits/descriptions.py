"""Policies, arms, bandits and objectives from plain data."""

from __future__ import annotations

from typing import Any

from . import arms as arms  # which define the kinds
from . import objectives as objectives
from . import policies as policies
from ._support.plain_data import KINDS, from_plain
from .errors import InvalidInputError, shown


def from_dict(data: dict[str, Any]) -> Any:
    """The policy, arm, bandit or objective whose ``to_dict`` gave this plain data.

    To that of a :class:`RandomBandit` add the function that draws its arms: ``from_dict({**data, "draw": function})``.

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> sb.from_dict(sb.UCBRSSR(L=0.5).to_dict())
    UCBRSSR(L=0.5)
    >>> sb.from_dict({"arm": "Uniform", "low": 0, "high": 1})
    Uniform(0, 1)
    """
    what = next((what for what in KINDS if isinstance(data, dict) and what in data), None)
    if what is None:
        raise InvalidInputError(
            f"a description needs one of the keys {', '.join(map(repr, KINDS))}, as to_dict() writes it; got "
            f"{shown(data)}"
        )
    return from_plain(what, data)
