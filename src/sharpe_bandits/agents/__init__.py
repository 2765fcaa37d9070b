"""Live agents: ask which arm to play, tell what it paid. They run the functions that the simulation engine runs.

An agent's state is plain data with a version: the policy, the names of the arms and a few numbers per arm. Randomised
policies draw from streams that are functions of (seed, round, arm), so there is no generator to keep.
"""

from collections.abc import Callable

from .base import Agent as Agent
from .elimination import EliminationAgent
from .fixed_confidence import FixedConfidenceAgent
from .index import index_agent

#: What makes the agent of a policy, by the policy's family. A new family is a line here.
AGENTS: dict[str, Callable[..., Agent]] = {
    "index": index_agent,
    "phases": EliminationAgent,
    "fixed confidence": FixedConfidenceAgent,
}
