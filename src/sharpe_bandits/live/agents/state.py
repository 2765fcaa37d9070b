"""States of agents as JSON: written with a checksum, validated when read, and upgraded from older formats."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._support.checksums import checksum
from ..._support.files import from_json
from ..._support.fingerprints import source_text
from ..._support.plain_data import plain
from ...errors import SharpeBanditsError, UnreadableDataError, shown
from ...policies.base import Policy, policy_from_dict
from ...policies.custom import PolicyFactory

if TYPE_CHECKING:
    from .base import Agent

FORMAT = 5
_KIND = "sharpe-bandits agent"


def write(content: dict[str, Any]) -> str:
    """The content of a state as JSON, with its kind, its format and a checksum."""
    state = {"kind": _KIND, "format": FORMAT, **content}
    return json.dumps({**state, "checksum": checksum(state)}, allow_nan=False)


def read(text: str | bytes) -> dict[str, Any]:
    """The content of a state, in the current format."""
    state = from_json(text, "the state of the agent")
    if not isinstance(state, dict) or state.pop("kind", None) != _KIND:
        raise UnreadableDataError("this JSON is not the state of an agent of this library")
    version = state.get("format")
    if isinstance(version, int) and version > FORMAT:
        raise UnreadableDataError(
            f"the state has format {shown(version)}, this version reads up to {FORMAT}: it was saved by a newer "
            "version of the library; upgrade this one to read it"
        )
    if version != FORMAT and version not in _UPGRADES:
        oldest = min(_UPGRADES)
        raise UnreadableDataError(
            f"the state has format {shown(version)}, this version reads {oldest} to {FORMAT}; start a new agent"
        )
    saved_checksum = state.pop("seal" if version == 3 else "checksum", None)
    if saved_checksum != checksum({"kind": _KIND, **state}):
        raise UnreadableDataError("the state of the agent was changed after it was saved; take it from a copy")
    while (version := state.pop("format")) != FORMAT:
        state = {**_UPGRADES[version](state), "format": version + 1}
    return state


def damaged(why: str) -> UnreadableDataError:
    """The error for content that no agent could have saved."""
    return UnreadableDataError(f"the state of the agent is damaged: {why}; take it from a copy")


def restored(text: str | bytes, policy: Policy | None) -> Agent:
    """The agent of a saved state; ``policy`` is the one that it follows, if available."""
    try:
        state = read(text)
        if policy is not None and plain(policy.to_dict()) != state["policy"]:
            raise UnreadableDataError(
                f"the agent follows {policy.name} as it was when the agent was made; its function, or a value that it "
                "reads, has changed since: restore it, or make a new agent"
            )
        agent = (policy or policy_from_dict(state["policy"])).agent(
            state["arms"], horizon=state["horizon"], seed=state["seed"], direction=state.get("direction", "max")
        )
        with np.errstate(all="ignore"):
            agent._restore(state)
        # The state that was read must equal the one that would be saved, including the types of numbers.
        if checksum({**agent._content(), "policy": None}) != checksum({**state, "policy": None}):
            raise damaged("it has parts or numbers that no agent saves")
    except UnreadableDataError:
        raise
    except SharpeBanditsError as error:
        raise UnreadableDataError(f"the state of the agent cannot be used: {error}") from error
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, RecursionError) as error:
        raise damaged(f"{type(error).__name__}: {shown(str(error))}") from error
    return agent


def _from_3(state: dict[str, Any]) -> dict[str, Any]:
    """Format 4 renames a policy and a parameter, and has a digest of everything that a user's function reads."""
    policy = dict(state["policy"])
    factory = PolicyFactory.known.get(policy.get("defined_as"))  # type: ignore[arg-type]
    if factory and policy["fingerprint"] == sha256(source_text(factory.function.__code__).encode()).hexdigest()[:16]:
        policy["fingerprint"] = factory.fingerprint  # that of format 3 covers only the source of the function
    if policy.get("policy") == "UniformPlay":
        policy["policy"] = "RoundRobin"
    if "confidence" in policy:
        policy["undefined_width"] = {"optimistic": "infinite", "literal": "printed"}[policy.pop("confidence")]
    return {**state, "policy": policy}


def _from_4(state: dict[str, Any]) -> dict[str, Any]:
    """Format 5 has pending pulls and retired arms."""
    arms = state["arms"] if isinstance(state["arms"], int) else len(state["arms"])
    return {**state, "asked": state["t"], "pending": [0] * arms, "retired": []}


#: Functions that upgrade the content of a format to the next one.
_UPGRADES: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {3: _from_3, 4: _from_4}
