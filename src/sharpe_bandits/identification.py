"""What best-arm identification with fixed confidence found: when it stopped, and how often it was wrong."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from . import metrics
from .errors import InvalidInput
from .metrics import Estimate
from .objectives import Objective, check_objective
from .policies.base import StoppingPolicy
from .validation import probability


class Identification:
    """Runs of a policy that stops by itself, made by :func:`sharpe_bandits.identify`.

    Attributes
    ----------
    policy : the policy
    settings : bandit, runs, seed and limit
    pulls : (runs, arms), pulls of every arm
    rounds : (runs,), rounds played: the stopping time, or the limit
    stopped : (runs,), whether the policy stopped by itself
    recommended : (runs,), the arm that looked best in the end
    """

    def __init__(
        self,
        policy: StoppingPolicy,
        pulls: np.ndarray,
        recommended: np.ndarray,
        stopped: np.ndarray,
        truth: tuple[np.ndarray, np.ndarray],
        settings: dict[str, Any],
    ) -> None:
        self.policy, self.settings = policy, settings
        self.pulls, self.recommended, self.stopped = pulls, recommended, stopped
        self.rounds = pulls.sum(axis=1)
        self._truth = truth

    def __repr__(self) -> str:
        return f"<{self.policy.name}: {int(self.stopped.sum())} of {len(self.stopped)} runs stopped by themselves>"

    @property
    def stopping_time(self) -> Estimate:
        """Mean number of rounds, with its 95% interval. Runs that were given up count with the limit: a lower bound."""
        return metrics.sample_mean(self.rounds, 0.95)

    @property
    def unfinished(self) -> Estimate:
        """Share of runs that were given up at the limit, with its 95% Wilson interval."""
        return metrics.wilson(int((~self.stopped).sum()), len(self.stopped), 0.95)

    def quantiles(self, levels: Iterable[float] = (0.1, 0.5, 0.9)) -> tuple[float, ...]:
        """Quantiles of the stopping time; infinite where so many runs were given up that it is not known."""
        times = np.sort(np.where(self.stopped, self.rounds, math.inf))
        places = [math.ceil(probability("level", level) * len(times)) - 1 for level in levels]
        return tuple(float(times[max(0, place)]) for place in places)

    def error(self, objective: Objective | None = None, confidence: float = 0.95) -> Estimate:
        """Probability that a run that stopped named an arm that is not a best one (Wilson interval).

        Runs that were given up are not counted: see :attr:`unfinished`. Where there are many of them, those that
        stopped are a choice of odd ones, and may be wrong more often than delta, which is a share of all runs.
        The objective defaults to the policy's own.
        """
        chosen = self.policy.goal if objective is None else check_objective(objective)
        if chosen is None:
            raise InvalidInput(f"{self.policy.name} names no objective; pass one, as in RSSR(L=0.5)")
        runs = int(self.stopped.sum())
        if runs == 0:
            return Estimate(math.nan, math.nan, 0.0, 1.0)
        gaps = np.broadcast_to(chosen.gaps(*self._truth), self.pulls.shape)
        wrong = np.take_along_axis(gaps, self.recommended[:, None], axis=1)[:, 0] > 0
        return metrics.wilson(int((wrong & self.stopped).sum()), runs, confidence)
