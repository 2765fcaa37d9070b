"""States of agents as JSON, with a checksum."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from ..._support.files import from_json
from ..._support.plain_data import from_plain, plain
from ...errors import SharpeBanditsError, UnreadableDataError, shown
from ...policies.base import Policy

if TYPE_CHECKING:
    from .base import Agent

#: A release that changes it reads states of this format, too.
FORMAT = 1
_KIND = "sharpe-bandits agent"


def checksum(content: dict[str, Any]) -> str:
    """A digest of JSON content, whatever its layout and whether whole numbers are written 6 or 6.0."""
    return hashlib.sha256(json.dumps(_canonical(content), sort_keys=True).encode()).hexdigest()


def _canonical(thing: Any) -> Any:
    if isinstance(thing, dict):
        return {key: _canonical(value) for key, value in thing.items()}
    if isinstance(thing, list):
        return [_canonical(value) for value in thing]
    return int(thing) if isinstance(thing, float) and thing.is_integer() else thing


def write(content: dict[str, Any]) -> str:
    """The content of a state as JSON, with its kind, its format and a checksum."""
    state = {"kind": _KIND, "format": FORMAT, **content}
    return json.dumps({**state, "checksum": checksum(state)}, allow_nan=False)


def read(text: str | bytes) -> dict[str, Any]:
    """The content of a state."""
    state = from_json(text, "the state of the agent")
    if not isinstance(state, dict) or state.get("kind") != _KIND:
        raise UnreadableDataError("this JSON is not the state of an agent of this library")
    if (version := state.get("format")) != FORMAT:
        raise UnreadableDataError(
            f"the state has format {shown(version)}, this version reads format {FORMAT}: if it was saved by a newer "
            "version of the library, upgrade this one to read it"
        )
    if state.pop("checksum", None) != checksum(state):
        raise UnreadableDataError("the state of the agent was changed after it was saved; take it from a copy")
    return state


def restored(text: str | bytes, policy: Policy | None) -> Agent:
    """The agent of a saved state; ``policy`` is the one that it follows, if available."""
    try:
        state = read(text)
        if policy is not None and plain(policy.to_dict()) != state["policy"]:
            raise UnreadableDataError(
                f"the agent follows {policy.name} as it was when the agent was made; its function, or a value that it "
                "reads, has changed since: restore it, or make a new agent"
            )
        agent = (policy or from_plain("policy", state["policy"])).agent(
            state["arms"], horizon=state["horizon"], seed=state["seed"], direction=state.get("direction", "max")
        )
        agent._restore(state)
    except UnreadableDataError:
        raise
    except SharpeBanditsError as error:
        raise UnreadableDataError(f"the state of the agent cannot be used: {error}") from error
    return agent
