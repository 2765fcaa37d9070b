"""Studies: policies simulated on the same rewards, and the questions one asks of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from . import metrics, results
from .errors import InvalidInput, unknown
from .metrics import Curve, Estimate
from .objectives import Objective, check_objective
from .results import Outcome, Record


class PolicyResult:
    """What one policy did. Objectives default to the policy's own."""

    def __init__(self, outcome: Outcome, record: Record) -> None:
        self.outcome, self._record = outcome, record

    def __repr__(self) -> str:
        return f"<{self.outcome.name}: {self.outcome.runs} runs of {self.outcome.checkpoints[-1]} rounds>"

    def _objective(self, objective: Objective | None) -> Objective:
        chosen = self.outcome.goal if objective is None else check_objective(objective)
        if chosen is None:
            raise InvalidInput(f"{self.outcome.name} names no objective; pass one, as in RSSR(L=0.5)")
        return chosen

    def gaps(self, objective: Objective | None = None) -> np.ndarray:
        """How far each arm falls short of the best.

        One row for all runs; a row per run if arms vary; a row per stretch between switches if they change.
        """
        return self._objective(objective).gaps(self._record.mean, self._record.variance)

    def regret(self, objective: Objective | None = None, confidence: float = 0.95) -> Curve:
        """Regret over time: the sum over arms of gap times expected pulls, at the gaps of the time if arms change."""
        return metrics.regret(self.outcome, self.gaps(objective), confidence)

    def suboptimal_plays(self, objective: Objective | None = None, confidence: float = 0.95) -> Curve:
        """Expected plays of arms that are not best, over time."""
        return metrics.suboptimal_plays(self.outcome, self.gaps(objective), confidence)

    def error(self, objective: Objective | None = None, confidence: float = 0.95) -> Estimate:
        """e_n: probability that the arm recommended in the end is not a best one (Wilson interval).

        For a policy that recommends m arms: that they are not m best ones. Arms that tie may stand for each other.
        """
        return metrics.error(self.outcome, self.gaps(objective), confidence)

    def simple_regret(self, objective: Objective | None = None, confidence: float = 0.95) -> Estimate:
        """Expected gap of the arm recommended in the end.

        For a policy that recommends m arms: by how much their average value falls short of that of the m best.
        """
        return metrics.simple_regret(self.outcome, self.gaps(objective), confidence)

    def achieved(self, objective: Objective | None = None, confidence: float = 0.95) -> Estimate:
        """Expected objective (such as Sharpe or RSSR) of the policy's own sequence of rewards."""
        return metrics.achieved(self.outcome, self._objective(objective), confidence)

    def regret_per_run(self, objective: Objective | None = None) -> np.ndarray:
        """Regret at the horizon of every run: the whole distribution."""
        if self.outcome.switches:
            if self.outcome.batch > 1:
                raise InvalidInput(
                    f"arms change, and the {self.outcome.runs} runs were kept in batches of {self.outcome.batch}; "
                    "simulate at most 256 runs to tell them apart"
                )
            return metrics.weighted_pulls(self.outcome, self.gaps(objective))[:, -1]
        return (self.outcome.final * self.gaps(objective)).sum(axis=1)


class Study:
    """Policies simulated on the same rewards; index it by name to get a :class:`PolicyResult`."""

    def __init__(self, record: Record) -> None:
        self.record = record

    def __repr__(self) -> str:
        return f"<Study of {', '.join(self.names)}>"

    @property
    def names(self) -> list[str]:
        """Names of the policies."""
        return list(self.record.outcomes)

    @property
    def settings(self) -> dict[str, Any]:
        """What was simulated: bandit, horizon, runs, seed."""
        return self.record.settings

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, name: str) -> PolicyResult:
        if name not in self.record.outcomes:
            raise unknown("policy in this study", name, self.names)
        return PolicyResult(self.record.outcomes[name], self.record)

    def compare(self, a: str, b: str, objective: Objective | None = None, confidence: float = 0.95) -> Curve:
        """Regret of ``a`` minus regret of ``b`` over time, paired since both saw the same rewards.

        Below zero: ``a`` has less regret. The objective defaults to that of ``a``.
        """
        first, second = self[a], self[b]
        return metrics.regret_difference(first.outcome, second.outcome, first.gaps(objective), confidence)

    def compare_errors(self, a: str, b: str, objective: Objective | None = None, confidence: float = 0.95) -> Estimate:
        """Probability of error of ``a`` minus that of ``b``, paired."""
        first, second = self[a], self[b]
        gaps = first.gaps(objective)
        difference = metrics.wrong(first.outcome, gaps).astype(float) - metrics.wrong(second.outcome, gaps)
        return metrics.sample_mean(difference, confidence)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the study to a folder: Parquet files and a JSON manifest (settings, seed, versions, checksums)."""
        results.save(self.record, folder)


def load(folder: str | os.PathLike[str]) -> Study:
    """The study that :meth:`Study.save` wrote to a folder."""
    if not isinstance(folder, (str, os.PathLike)):
        raise InvalidInput(f"a folder is needed, got {folder!r}")
    return Study(results.load(folder))
