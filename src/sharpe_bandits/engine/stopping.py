"""Runs of a policy that stops by itself, cut into chunks: pure functions of (search, range of runs)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..arms.bandit import Environment
from ..errors import InvalidInput
from ..kernels import fixed_confidence, formulas
from ..policies.base import StoppingPolicy
from .compiler import specialise
from .work import SOURCES

#: Runs per chunk, unless told otherwise: they differ in length, and many small chunks keep all workers busy to the end.
CHUNK = 16


@dataclass(frozen=True)
class Search:
    """What is to be identified, but for the range of runs; ``limit``: rounds after which a run is given up."""

    policy: StoppingPolicy
    environment: Environment
    limit: int
    seed: int
    source: str = "splitmix"

    @cached_property
    def kernel(self) -> Any:
        """What plays it, compiled."""
        return specialise(fixed_confidence.identify, stopping_bindings(self.policy))


@dataclass
class Found:
    """Results of a range of runs.

    Attributes
    ----------
    first : the first of them
    pulls : (runs, arms), pulls in the end
    recommended : (runs,), the arm that looks best in the end
    stopped : (runs,), whether the policy was sure of it
    choices, rewards : (runs, limit) where a trace was asked for, else (0, 0)
    """

    first: int
    pulls: np.ndarray
    recommended: np.ndarray
    stopped: np.ndarray
    choices: np.ndarray
    rewards: np.ndarray


def stopping_bindings(policy: StoppingPolicy) -> dict[Any, Any]:
    """What a kernel's placeholders stand for when it plays a policy that stops by itself."""
    return {formulas.estimate: policy.estimate, formulas.noise: policy.noise}


def run_search(search: Search, first: int, runs: int, trace: bool = False) -> Found:
    """Play runs ``first`` to ``first + runs - 1``."""
    environment, policy = search.environment, search.policy
    shape = (runs, search.limit) if trace else (0, 0)
    found = Found(
        first,
        np.zeros((runs, environment.K), np.int64),
        np.zeros(runs, np.int64),
        np.zeros(runs, np.bool_),
        np.full(shape, -1, np.int32),
        np.full(shape, np.nan),
    )
    status = np.zeros(4, np.int64)
    search.kernel(
        first, runs, search.limit, policy.pilot_pulls, environment.table(search.seed, first, runs),
        int(environment.varies), SOURCES[search.source], np.uint64(search.seed), policy.log_odds(environment.K),
        policy.arguments(), found.pulls, found.recommended, found.stopped, found.choices, found.rewards, status,
    )  # fmt: skip
    if status[0] == fixed_confidence.RAN_OUT:
        run, arm, pulls = (int(v) for v in status[1:])
        most = np.zeros(environment.K, np.int64)
        most[arm] = pulls
        environment.check_pulls(most, policy.name)
        raise InvalidInput(f"pull {pulls} of arm {arm} in run {run} paid something that is not a number")
    return found
