"""Numbers with their uncertainty: regret, sub-optimal plays, probability of error, simple regret, achieved ratio.

Means over runs have standard errors from batches of runs (a batch is a single run up to 256 runs) and Student
intervals; proportions have Wilson intervals.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .objectives import Objective
from .results import Outcome
from .validation import inside


@dataclass(frozen=True)
class Estimate:
    """A mean with its standard error and confidence interval."""

    mean: float
    se: float
    low: float
    high: float

    def __str__(self) -> str:
        return format(self, ".4g")

    def __format__(self, spec: str) -> str:
        spec = spec or ".4g"
        return f"{self.mean:{spec}} ± {self.se:{spec}} [{self.low:{spec}}, {self.high:{spec}}]"


@dataclass(frozen=True, repr=False)
class Curve:
    """A mean over time with its standard errors and confidence intervals; ``t`` counts rounds."""

    t: np.ndarray
    mean: np.ndarray
    se: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def __repr__(self) -> str:
        return f"<Curve of {len(self.t)} points from t = {self.t[0]} to {self.t[-1]}, where it is {self.final}>"

    @property
    def final(self) -> Estimate:
        """The value at the horizon."""
        return Estimate(float(self.mean[-1]), float(self.se[-1]), float(self.low[-1]), float(self.high[-1]))

    def __len__(self) -> int:
        return len(self.t)


def student(confidence: float, freedom: int) -> float:
    """Half width of a Student interval in standard errors; infinite with nothing to estimate the error from."""
    from scipy.special import stdtrit

    inside("confidence", confidence)
    return float(stdtrit(freedom, 0.5 + confidence / 2)) if freedom > 0 else np.inf


def normal_half_width(confidence: float) -> float:
    """Half width of a normal interval in standard errors."""
    from scipy.special import ndtri

    return float(ndtri(0.5 + inside("confidence", confidence) / 2))


def batch_means(totals: np.ndarray, sizes: np.ndarray, t: np.ndarray, confidence: float) -> Curve:
    """Mean per run, with errors, of totals per batch (rows) at times ``t`` (columns)."""
    runs = sizes.sum()
    mean = totals.sum(axis=0) / runs
    batches = len(sizes)
    if batches > 1:
        squares = ((totals - sizes[:, None] * mean) ** 2).sum(axis=0) / runs**2
        se = np.sqrt(squares * batches / (batches - 1))
        se = np.where(se <= 1e-13 * np.abs(mean), 0.0, se)  # rounding: all runs are alike
    else:
        se = np.full(mean.shape, np.nan)
    half = np.where(se == 0, 0.0, student(confidence, batches - 1) * se)
    return Curve(t, mean, se, mean - half, mean + half)


def sample_mean(values: np.ndarray, confidence: float) -> Estimate:
    """Mean of one value per run, with errors."""
    curve = batch_means(np.asarray(values, float)[:, None], np.ones(len(values)), np.zeros(1), confidence)
    return curve.final


def wilson(count: int, runs: int, confidence: float) -> Estimate:
    """A proportion with its Wilson interval."""
    z = normal_half_width(confidence)
    p = count / runs
    centre = (p + z * z / (2 * runs)) / (1 + z * z / runs)
    half = z / (1 + z * z / runs) * np.sqrt(p * (1 - p) / runs + z * z / (4 * runs**2))
    low = 0.0 if count == 0 else float(centre - half)
    high = 1.0 if count == runs else float(centre + half)
    return Estimate(p, float(np.sqrt(p * (1 - p) / runs)), low, high)


def weighted_pulls(outcome: Outcome, weights: np.ndarray) -> np.ndarray:
    """Pulls weighted by arm, per batch and checkpoint.

    ``weights`` has one row for all runs, a row per run, or, where arms change, a row per stretch between switches.
    """
    if outcome.switches:
        rows = np.searchsorted(np.array(outcome.switches), outcome.checkpoints)
        return np.cumsum(np.einsum("bca,ca->bc", np.diff(outcome.pulls, axis=1, prepend=0), weights[rows]), axis=1)
    if len(weights) == 1:
        return outcome.pulls @ weights[0]
    return np.einsum("rca,ra->rc", outcome.pulls, weights)


def regret(outcome: Outcome, gaps: np.ndarray, confidence: float) -> Curve:
    """R(t): the sum over arms of gap times expected pulls."""
    return batch_means(weighted_pulls(outcome, gaps), outcome.batch_sizes, outcome.checkpoints, confidence)


def suboptimal_plays(outcome: Outcome, gaps: np.ndarray, confidence: float) -> Curve:
    """Expected number of plays of arms that are not best."""
    return regret(outcome, (gaps > 0).astype(float), confidence)


def regret_difference(a: Outcome, b: Outcome, gaps: np.ndarray, confidence: float) -> Curve:
    """Regret of ``a`` minus regret of ``b``, paired: both saw the same rewards."""
    totals = weighted_pulls(a, gaps) - weighted_pulls(b, gaps)
    return batch_means(totals, a.batch_sizes, a.checkpoints, confidence)


def wrong(outcome: Outcome, gaps: np.ndarray) -> np.ndarray:
    """Per run, whether the recommended arms are not the best ones (arms that tie may stand for each other)."""
    return _shortfalls(outcome, gaps).max(axis=1) > 0


def recommended_gap(outcome: Outcome, gaps: np.ndarray) -> np.ndarray:
    """Per run, how far the recommended arms fall short of the best ones, on average."""
    return _shortfalls(outcome, gaps).mean(axis=1)


def _shortfalls(outcome: Outcome, gaps: np.ndarray) -> np.ndarray:
    """(runs, m): how far the j-th best of the arms recommended falls short of the j-th best of all, in the end."""
    gaps = gaps[-1:] if outcome.switches else gaps
    rows = np.arange(outcome.runs) if len(gaps) > 1 else np.zeros(outcome.runs, int)
    m = outcome.recommended.shape[1]
    return np.sort(gaps[rows[:, None], outcome.recommended], axis=1) - np.sort(gaps, axis=1)[rows, :m]


def error(outcome: Outcome, gaps: np.ndarray, confidence: float) -> Estimate:
    """e_n: the probability that the recommended arm is not a best one, or that the set of m is not one of m best."""
    return wilson(int(wrong(outcome, gaps).sum()), outcome.runs, confidence)


def simple_regret(outcome: Outcome, gaps: np.ndarray, confidence: float) -> Estimate:
    """Expected gap of the recommended arm; of m, how far their average falls short of that of the m best."""
    return sample_mean(recommended_gap(outcome, gaps), confidence)


def locked_in(outcome: Outcome, gaps: np.ndarray, confidence: float, share: float = 0.8) -> Estimate:
    """Proportion of runs in which more than ``share`` of all rounds went to one and the same sub-optimal arm."""
    if outcome.switches:
        gaps = gaps.min(axis=0, keepdims=True)  # an arm that is best for a while is not a wrong one
    plays = np.where(gaps > 0, outcome.final, 0)
    return wilson(int((plays.max(axis=1) > share * outcome.checkpoints[-1]).sum()), outcome.runs, confidence)


def achieved(outcome: Outcome, objective: Objective, confidence: float) -> Estimate:
    """Expected objective of the policy's own sequence of rewards over the whole horizon."""
    return sample_mean(objective.value(outcome.reward_mean, outcome.reward_variance), confidence)
