"""The results of one policy over all runs, merged from chunks, and the metrics computed from them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from .._support.display import html_table
from .._support.validation import probability
from ..arms.environment import Environment
from ..errors import InvalidInputError
from ..objectives import Objective, Sharpe, Statistics, check_objective, gaps_of
from ..simulation.spec import Chunk, Spec
from . import metrics
from .metrics import Curve, Estimate

#: Metrics that policies are ranked by; less is better.
Metric = Literal["regret", "error", "stopping time"]
#: Metrics that policies are compared by: those, or one whose unit does not depend on the objective.
Compared = Metric | Literal["sub-optimal plays"]
Measured = tuple[str, Curve | Estimate]
#: A run is locked in at a share if the best arms got less than that share of the pulls in its last half.
LOCKED_IN = (0.01, 0.1, 0.5)
#: Default confidence level of intervals.
CONFIDENCE = 0.95


@dataclass(repr=False, eq=False)
class PolicyResult:
    """All runs of one policy. Objectives default to the policy's own.

    Attributes
    ----------
    name, policy : str and dict[str, Any]
        its name and its description as plain data
    objective : Objective | None
        the policy's own objective, if it has one
    checkpoints : numpy.ndarray
        rounds at which pulls are known
    batch : int
        runs per batch
    pulls : numpy.ndarray
        (batches, checkpoints, arms), summed over the runs of a batch
    halfway : numpy.ndarray | None
        (runs, arms) pulls after half of the rounds; None if unknown
    final : numpy.ndarray
        (runs, arms) pulls at the horizon
    recommended : numpy.ndarray
        (runs, m), in order of arm; m = 1 unless the policy identifies several
    reward_mean, reward_variance : numpy.ndarray
        (runs,) mean and variance of the sequence of rewards
    stopped : numpy.ndarray
        (runs,), whether the run is finished: False if it reached its maximum budget without stopping
    mean, variance : numpy.ndarray
        true moments of the arms: one row for all runs, or one per run, or one per segment between switches
    switches : tuple[int, ...], optional
        checkpoints after which the arms changed
    bandit, seed : Environment | None and int, optional
        what was played, for objectives that need more than mean and variance; None if the result was loaded
    true_values : dict[Objective, np.ndarray], optional
        true values of the arms under such objectives, where they are known
    """

    #: Metrics it can be ranked by; the first is the default.
    ranked_by: ClassVar[tuple[Metric, ...]] = ("regret", "error")

    name: str
    policy: dict[str, Any]
    objective: Objective | None
    checkpoints: np.ndarray
    batch: int
    pulls: np.ndarray
    halfway: np.ndarray | None
    final: np.ndarray
    recommended: np.ndarray
    reward_mean: np.ndarray
    reward_variance: np.ndarray
    stopped: np.ndarray
    mean: np.ndarray
    variance: np.ndarray
    switches: tuple[int, ...] = ()
    bandit: Environment | None = None
    seed: int = 0
    true_values: dict[Objective, np.ndarray] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<{self.name}: {self.runs} runs of {self.horizon} rounds>"

    def _repr_html_(self) -> str:
        measured = () if self.objective is None else self.measures(self.ranked_by[0], self.objective)
        columns = (f"{self.name}, {self.runs} runs", "mean", "s.e.", "low", "high")
        return html_table(columns, metrics.at_the_end(measured))

    @property
    def runs(self) -> int:
        """Number of runs."""
        return len(self.recommended)

    @property
    def horizon(self) -> int:
        """Maximum number of rounds per run."""
        return int(self.checkpoints[-1])

    @property
    def batch_sizes(self) -> np.ndarray:
        """Runs in each batch; the last may be smaller."""
        return np.diff(np.minimum(np.arange(len(self.pulls) + 1) * self.batch, self.runs))

    def objective_used(self, objective: Objective | None = None) -> Objective:
        """The given objective, or the policy's own; its signed form if an arm's true mean is below the risk-free rate,
        where a square would prefer losses.
        """
        if objective is not None:
            return check_objective(objective).unadjusted
        if self.objective is None:
            raise InvalidInputError(f"{self.name} has no objective; pass one, as in RSSR(L=0.5)")
        return self.objective.for_means(self.mean)

    def gaps(self, objective: Objective | None = None) -> np.ndarray:
        """The gap of each arm to the best.

        One row for all runs; one per run if arms vary; one per segment between switches if they change.
        """
        return gaps_of(self.values(objective))

    def values(self, objective: Objective | None = None) -> np.ndarray:
        """True values of the arms, in the rows of :meth:`gaps`."""
        judge = self.objective_used(objective)
        if not judge.has_feature:
            return np.asarray(judge.value(self), float)
        if judge not in self.true_values:
            if self.bandit is None:
                raise InvalidInputError(f"{judge!r} needs more of the arms than what was saved; simulate again")
            self.true_values[judge] = self.bandit.true_values(judge, self.seed, self.runs)
        return self.true_values[judge]

    def regret(self, objective: Objective | None = None, confidence: float = CONFIDENCE) -> Curve:
        """Regret over time: the sum over arms of gap times expected pulls, with the current gaps if arms change."""
        return self._curve(self.gaps(objective), confidence)

    def suboptimal_plays(self, objective: Objective | None = None, confidence: float = CONFIDENCE) -> Curve:
        """Expected plays of arms that are not best, over time."""
        return self._curve((self.gaps(objective) > 0).astype(float), confidence)

    def error(self, objective: Objective | None = None, confidence: float = CONFIDENCE) -> Estimate:
        """e_n: probability that the arm recommended at the end is not a best one (Wilson interval).

        For a policy that recommends m arms: that they are not m best ones. Arms that tie are interchangeable.

        Unfinished runs of a fixed-confidence policy are not counted. If there are many of them, the finished ones are
        not representative and may be wrong more often than delta, which refers to all runs.
        """
        wrong = self.wrong(objective)[self.stopped]
        if not len(wrong):
            return Estimate(math.nan, math.nan, 0.0, 1.0)
        return metrics.wilson(int(wrong.sum()), len(wrong), confidence)

    def simple_regret(self, objective: Objective | None = None, confidence: float = CONFIDENCE) -> Estimate:
        """Expected gap of the arm recommended at the end.

        For a policy that recommends m arms: the average value of the m best minus that of the recommended arms.
        """
        return metrics.sample_mean(self._shortfalls(objective).mean(axis=1), confidence)

    def achieved(self, objective: Objective | None = None, confidence: float = CONFIDENCE) -> Estimate:
        """Expected objective (such as Sharpe or RSSR) of the policy's own sequence of rewards."""
        values = self.objective_used(objective).value(Statistics(mean=self.reward_mean, variance=self.reward_variance))
        return metrics.sample_mean(values, confidence)

    def locked_in(
        self, objective: Objective | None = None, confidence: float = CONFIDENCE, share: float = 0.1
    ) -> Estimate:
        """Proportion of runs in which the best arms got less than ``share`` of the pulls in the last half (Wilson
        interval).
        """
        if self.halfway is None:
            raise InvalidInputError(f"{self.name} stops by itself: its runs have no half of a horizon")
        gaps = self.gaps(objective)
        if self.switches:
            gaps = gaps.min(axis=0, keepdims=True)  # an arm that is best for a while is not a wrong one
        late = self.final - self.halfway
        best = np.where(gaps > 0, 0, late).sum(axis=1)
        locked = best < probability("share", share) * late.sum(axis=1)
        return metrics.wilson(int(locked.sum()), self.runs, confidence)

    def wrong(self, objective: Objective | None = None) -> np.ndarray:
        """Per run, whether the recommended arms are not the best ones (arms that tie are interchangeable)."""
        return self._shortfalls(objective).max(axis=1) > 0

    def regret_per_batch(self, objective: Objective | None = None) -> np.ndarray:
        """(batches, checkpoints): regret, summed over the runs of a batch."""
        return self._weighted(self.gaps(objective))

    def regret_per_run(self, objective: Objective | None = None) -> np.ndarray:
        """Regret of every run at the horizon: the whole distribution."""
        if self.switches:
            if self.batch > 1:
                raise InvalidInputError("arms change; simulate at most 256 runs to have their regrets one by one")
            return self.regret_per_batch(objective)[:, -1]
        return (self.final * self.gaps(objective)).sum(axis=1)

    def totals(self, metric: Compared, objective: Objective | None = None) -> tuple[np.ndarray, np.ndarray]:
        """The metric summed over the runs of each batch, and the number of runs per batch."""
        if metric == "error":  # NaN for unfinished runs
            return np.where(self.stopped, self.wrong(objective), np.nan), np.ones(self.runs)
        if metric == "stopping time":
            return self.final.sum(axis=1).astype(float), np.ones(self.runs)
        if metric == "sub-optimal plays":
            return self._weighted((self.gaps(objective) > 0).astype(float))[:, -1], self.batch_sizes
        return self.regret_per_batch(objective)[:, -1], self.batch_sizes

    def measures(self, metric: Metric, objective: Objective | None, L: float | None = None) -> Iterator[Measured]:
        """All metrics of the policy for tables, by name, with curves if the policy is ranked by regret."""
        judge = self.objective_used(objective)
        if metric == "regret":
            yield "regret", self.regret(judge)
            yield "sub-optimal plays", self.suboptimal_plays(judge)
            for share in LOCKED_IN:
                yield f"runs locked in at {share:.0%}", self.locked_in(judge, share=share)
        yield "error", self.error(judge)
        yield "simple regret", self.simple_regret(judge)
        if not judge.has_feature:
            yield "achieved objective", self.achieved(judge)
        if L is not None:
            yield "achieved Sharpe ratio", self.achieved(Sharpe(L))

    def _curve(self, weights: np.ndarray, confidence: float) -> Curve:
        return metrics.batch_means(self._weighted(weights), self.batch_sizes, self.checkpoints, confidence)

    def _weighted(self, weights: np.ndarray) -> np.ndarray:
        """Pulls weighted by arm, per batch and checkpoint; ``weights`` has the rows of :meth:`gaps`."""
        if self.switches:
            rows = np.searchsorted(np.array(self.switches), self.checkpoints)
            return np.cumsum(np.einsum("bca,ca->bc", np.diff(self.pulls, axis=1, prepend=0), weights[rows]), axis=1)
        if len(weights) == 1:
            return self.pulls @ weights[0]
        return np.einsum("rca,ra->rc", self.pulls, weights)

    def _shortfalls(self, objective: Objective | None) -> np.ndarray:
        """(runs, m): the value of the j-th best arm minus that of the j-th best recommended arm, at the end."""
        gaps = self.gaps(objective)
        gaps = gaps[-1:] if self.switches else gaps
        rows = np.arange(self.runs) if len(gaps) > 1 else np.zeros(self.runs, int)
        m = self.recommended.shape[1]
        return np.sort(gaps[rows[:, None], self.recommended], axis=1) - np.sort(gaps, axis=1)[rows, :m]


class StoppingResult(PolicyResult):
    """All runs of a fixed-confidence policy, each until it stopped or reached its maximum budget.

    Its only checkpoint is that budget and stands for the end of each run, whenever that was: :meth:`regret` is the
    regret until then.
    """

    ranked_by: ClassVar[tuple[Metric, ...]] = ("stopping time", "error", "regret")

    def __repr__(self) -> str:
        return f"<{self.name}: {int(self.stopped.sum())} of {self.runs} runs stopped on their own>"

    @property
    def rounds(self) -> np.ndarray:
        """(runs,): rounds played: the stopping time, or the maximum budget."""
        return self.final.sum(axis=1)

    def stopping_time(self, confidence: float = CONFIDENCE) -> Estimate:
        """Mean number of rounds. Unfinished runs count with the maximum budget, which makes it a lower bound."""
        return metrics.sample_mean(self.rounds, confidence)

    def unfinished(self, confidence: float = CONFIDENCE) -> Estimate:
        """Proportion of runs that reached the maximum budget without stopping (Wilson interval)."""
        return metrics.wilson(int((~self.stopped).sum()), self.runs, confidence)

    def quantiles(self, levels: Iterable[float] = (0.1, 0.5, 0.9)) -> tuple[float, ...]:
        """Quantiles of the stopping time; infinite where too many runs are unfinished to know them."""
        times = np.sort(np.where(self.stopped, self.rounds, math.inf))
        places = [math.ceil(probability("level", level) * len(times)) - 1 for level in levels]
        return tuple(float(times[max(0, place)]) for place in places)

    @property
    def epsilon(self) -> float:
        """How far the root of an arm's value may be below the best one's for a good answer, as the policy was told."""
        return float(self.policy.get("epsilon", 0.0))

    def wrong(self, objective: Objective | None = None) -> np.ndarray:
        """Per run, whether the recommended arm is neither a best one nor, by the policy's own objective, within
        ``epsilon`` of it in the root of the objective (for RSSR the Sharpe ratio; for others their value).
        """
        strictly = super().wrong(objective)
        judge = self.objective_used(objective)
        if self.epsilon == 0 or self.objective is None or not np.array_equal(self.gaps(judge), self.gaps()):
            return strictly
        roots = self.values(judge) if judge.has_feature else judge.root(self.mean, self.variance, *judge.arguments())[0]
        rows = np.arange(self.runs) % len(roots)
        return strictly & (roots[rows, self.recommended[:, 0]] < roots.max(axis=1)[rows] - self.epsilon)

    def measures(self, metric: Metric, objective: Objective | None, L: float | None = None) -> Iterator[Measured]:
        """All metrics of the policy for tables, by name."""
        judge = self.objective_used(objective)
        yield "stopping time", self.stopping_time()
        yield "unfinished runs", self.unfinished()
        yield "regret", self.regret(judge)
        yield from super().measures("error", judge)


def merge(spec: Spec, chunks: Iterable[Chunk], truth: tuple[np.ndarray, np.ndarray]) -> PolicyResult:
    """The result of chunks that cover all runs of a spec, in any order; ``truth``: true means and variances."""
    ordered = sorted(chunks, key=lambda chunk: int(chunk.numbers[0]))
    numbers = np.concatenate([chunk.numbers for chunk in ordered])
    assert np.array_equal(numbers, np.arange(spec.runs)), "the chunks do not cover the runs"
    per_run = ("halfway", "final", "recommended", "reward_mean", "reward_variance", "stopped")
    arrays: dict[str, Any] = {name: np.concatenate([getattr(chunk, name) for chunk in ordered]) for name in per_run}
    arrays |= {"mean": truth[0], "variance": truth[1], "bandit": spec.environment, "seed": spec.seed}
    policy = spec.policy
    if not spec.checkpoints:
        arrays["halfway"] = None
        end, pulls = np.array([spec.horizon], np.int64), arrays["final"][:, None, :].astype(np.int64)
        return StoppingResult(policy.name, policy.to_dict(), policy.objective, end, 1, pulls, **arrays)
    pulls = np.zeros((-(-spec.runs // spec.batch), len(spec.checkpoints), spec.environment.K), np.int64)
    for chunk in ordered:
        pulls[chunk.batches] += chunk.pulls
    times = np.array(spec.checkpoints, np.int64)
    arrays["switches"] = spec.environment.switches
    return PolicyResult(policy.name, policy.to_dict(), policy.objective, times, spec.batch, pulls, **arrays)
