"""Live agents: ask which arm to play, tell what it paid. They run the functions that the simulation engine runs.

An agent's state is plain data with a version: the policy, the names of the arms and a few numbers per arm. Randomised
policies draw from streams that are functions of (seed, round, arm), so there is no generator to keep.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import InvalidInput
from ..policies.base import EVERYTHING, EliminationPolicy, IndexPolicy, Policy, StoppingPolicy
from ..validation import is_number, whole
from .base import FORMAT as FORMAT
from .base import Agent as Agent
from .elimination import EliminationAgent
from .index import ForgetfulAgent, IndexAgent
from .stopping import StoppingAgent

_MOST_ARMS = 10**6


def new_agent(policy: Policy, arms: int | Iterable[str], horizon: int | None, seed: int) -> Agent:
    """A fresh agent; everything that could fail later is checked here."""
    listed = _check_arms(arms)
    count = listed if isinstance(listed, int) else len(listed)
    seed = whole("seed", seed, 0, 2**64 - 1)
    if horizon is not None:
        horizon = whole("horizon", horizon, 2)
        policy.check_horizon(horizon, count)
    if isinstance(policy, EliminationPolicy):
        if horizon is None:
            raise InvalidInput(
                f"{policy.name} needs a budget; pass horizon=... ({policy.least_budget(count)} at least)"
            )
        return EliminationAgent(policy, listed, horizon, seed)
    if isinstance(policy, IndexPolicy):
        if policy.needs_horizon and horizon is None:
            raise InvalidInput(f"{policy.name} needs to know the number of rounds; pass horizon=...")
        flavour = IndexAgent if policy.memory == EVERYTHING else ForgetfulAgent
        return flavour(policy, listed, horizon, seed)
    if isinstance(policy, StoppingPolicy):
        return StoppingAgent(policy, listed, horizon, seed)
    raise InvalidInput(f"no agent follows {policy!r}")


def _check_arms(arms: int | Iterable[str]) -> list[str] | int:
    if is_number(arms):
        return whole("arms", whole("arms", arms, 2), 2, _MOST_ARMS)
    if isinstance(arms, (str, bytes)) or not isinstance(arms, Iterable):
        raise InvalidInput(f"arms must be a list of names or a number of arms, got {arms!r}")
    names = list(arms)
    if not all(isinstance(name, str) for name in names):
        raise InvalidInput(f"names of arms must be text, got {names!r}; pass a number for arms 0, 1, ...")
    if len(names) < 2 or len(set(names)) != len(names):
        raise InvalidInput(f"arms must be at least 2 different names, got {names!r}")
    return names
