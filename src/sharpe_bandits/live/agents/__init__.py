"""Live agents: ask which arm to play, then tell its reward. They run the same functions as the simulation engine.

An agent's state is plain data with a version: the policy, the names of the arms and a few numbers per arm. Randomised
policies draw from streams that are functions of (seed, round, arm), so there is no generator state to save.
"""

from collections.abc import Callable

from .base import Agent as Agent
from .elimination import EliminationAgent
from .fixed_confidence import FixedConfidenceAgent
from .index import index_agent

#: Constructors of agents, by the policy's family. A new family is a line here.
AGENTS: dict[str, Callable[..., Agent]] = {
    "index": index_agent,
    "phases": EliminationAgent,
    "fixed confidence": FixedConfidenceAgent,
}
