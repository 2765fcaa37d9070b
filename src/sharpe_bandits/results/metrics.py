"""Estimates with confidence intervals: Student intervals for means of batches of runs, Wilson intervals for
proportions.

Up to 256 runs, every batch is a single run.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._support.display import html_table
from .._support.validation import inside


@dataclass(frozen=True, repr=False)
class Estimate:
    """A mean with its standard error and confidence interval.

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> estimate = sb.results.Estimate(mean=585.8, se=7.087, low=571.8, high=599.7)
    >>> print(estimate)
    585.8 ± 7.1 [571.8, 599.7]
    """

    mean: float
    se: float
    low: float
    high: float

    @classmethod
    def normal(cls, mean: float, se: float) -> Estimate:
        """The estimate with its 95% interval if errors are normal."""
        half = normal_half_width(0.95) * se
        return cls(mean, se, mean - half, mean + half)

    def __repr__(self) -> str:
        return f"<Estimate {self}>"

    def __str__(self) -> str:
        return format(self)

    def __format__(self, spec: str) -> str:
        spec = spec or in_digits(self.se)
        return f"{self.mean:{spec}} ± {self.se:{spec}} [{self.low:{spec}}, {self.high:{spec}}]"

    def __float__(self) -> float:
        return float(self.mean)

    def _repr_html_(self) -> str:
        return html_table(("mean", "s.e.", "low", "high"), [[*vars(self).values()]])


def in_digits(se: float) -> str:
    """The format with two digits of a standard error, or four digits where there is none."""
    if not 1e-8 < se < np.inf:
        return ".4g"
    return f".{max(0, 1 - int(np.floor(np.log10(se))))}f"


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

    def _repr_html_(self) -> str:
        places = np.unique(np.linspace(0, len(self.t) - 1, 6).round().astype(int))
        rows = [(int(self.t[k]), self.mean[k], self.se[k], self.low[k], self.high[k]) for k in places]
        return html_table(("t", "mean", "s.e.", "low", "high"), rows)

    @property
    def final(self) -> Estimate:
        """The value at the horizon."""
        return Estimate(float(self.mean[-1]), float(self.se[-1]), float(self.low[-1]), float(self.high[-1]))

    def __len__(self) -> int:
        return len(self.t)


def at_the_end(measured: Iterable[tuple[str, Curve | Estimate]]) -> list[list[Any]]:
    """Rows of a table: names, and the values at the horizon with standard errors and intervals."""
    ends = ((name, value.final if isinstance(value, Curve) else value) for name, value in measured)
    return [[name, *vars(end).values()] for name, end in ends]


def student(confidence: float, freedom: float) -> float:
    """Half-width of a Student interval in standard errors; infinite without degrees of freedom."""
    from scipy.special import stdtrit

    inside("confidence", confidence)
    return float(stdtrit(freedom, 0.5 + confidence / 2)) if freedom > 0 else np.inf


def normal_half_width(confidence: float) -> float:
    """Half-width of a normal interval in standard errors."""
    from scipy.special import ndtri

    return float(ndtri(0.5 + inside("confidence", confidence) / 2))


def batch_means(totals: np.ndarray, sizes: np.ndarray, t: np.ndarray, confidence: float) -> Curve:
    """Mean per run with standard errors, from totals per batch (rows) at times ``t`` (columns)."""
    runs = sizes.sum()
    mean = totals.sum(axis=0) / runs
    batches = len(sizes)
    if batches > 1:
        squares = ((totals - sizes[:, None] * mean) ** 2).sum(axis=0) / runs**2
        se = np.sqrt(squares * batches / (batches - 1))
        se = np.where(se <= 1e-13 * np.abs(mean), 0.0, se)  # rounding error: all runs are equal
    else:
        se = np.full(mean.shape, np.nan)
    half = np.where(se == 0, 0.0, student(confidence, batches - 1) * se)
    return Curve(t, mean, se, mean - half, mean + half)


def sample_mean(values: np.ndarray, confidence: float) -> Estimate:
    """Mean of one value per run, with its standard error."""
    return mean_of(np.asarray(values, float), np.ones(len(values)), confidence)


def mean_of(totals: np.ndarray, sizes: np.ndarray, confidence: float) -> Estimate:
    """Mean per run with its standard error, from one total per batch."""
    return batch_means(totals[:, None], sizes, np.zeros(1), confidence).final


def wilson(count: int, runs: int, confidence: float) -> Estimate:
    """A proportion with its Wilson interval."""
    z = normal_half_width(confidence)
    p = count / runs
    centre = (p + z * z / (2 * runs)) / (1 + z * z / runs)
    half = z / (1 + z * z / runs) * np.sqrt(p * (1 - p) / runs + z * z / (4 * runs**2))
    low = 0.0 if count == 0 else float(centre - half)
    high = 1.0 if count == runs else float(centre + half)
    return Estimate(p, float(np.sqrt(p * (1 - p) / runs)), low, high)
