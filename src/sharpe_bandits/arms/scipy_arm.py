"""Any frozen distribution of scipy.stats as an arm."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InvalidInput
from ..kernels.rewards import DISCRETE, QUANTILE
from .base import Arm, Draws, Moments, integrated_moments, tabulate


@dataclass(frozen=True, repr=False)
class Scipy(Arm):
    """A frozen scipy.stats distribution, such as ``scipy.stats.lognorm(0.5)``."""

    frozen: Any

    def __post_init__(self) -> None:
        if not is_frozen(self.frozen):
            raise InvalidInput(f"a frozen scipy.stats distribution is needed, got {self.frozen!r}")
        mean, variance = (float(v) for v in self.frozen.stats("mv"))
        if not (math.isfinite(mean) and math.isfinite(variance)):
            raise InvalidInput(
                f"{self.label} has mean {mean} and variance {variance}; its Sharpe ratio is undefined: "
                "take a distribution with finite variance or truncate it"
            )

    def __repr__(self) -> str:
        return f"Scipy({self.label})"

    @property
    def label(self) -> str:
        """The distribution as one would type it."""
        words = [repr(a) for a in self.frozen.args] + [f"{k}={v!r}" for k, v in self.frozen.kwds.items()]
        return f"{self.frozen.dist.name}({', '.join(words)})"

    @property
    def _is_discrete(self) -> bool:
        return not hasattr(self.frozen.dist, "pdf")

    def _atoms(self) -> tuple[np.ndarray, np.ndarray]:
        """Values of a discrete distribution but for a tail of 1e-13 on each side, and their probabilities."""
        low, high = (float(v) for v in self.frozen.ppf([1e-13, 1.0 - 1e-13]))
        if high - low > 1e6:
            raise InvalidInput(f"{self.label} takes more than a million values; give an Empirical arm of its draws")
        values = np.arange(low, high + 1)
        weights = np.asarray(self.frozen.pmf(values), float)
        return values, weights / weights.sum()

    def moments(self) -> Moments:
        if self._is_discrete:
            values, weights = self._atoms()
            mean = float(values @ weights)
            return Moments(mean, *(float((values - mean) ** k @ weights) for k in (2, 3, 4)))
        exact = [float(v) for v in self.frozen.stats("mvsk")]
        mean, variance, skew, kurtosis = exact
        if all(map(math.isfinite, exact)):
            sd = math.sqrt(variance)
            return Moments(mean, variance, skew * sd**3, (kurtosis + 3.0) * sd**4)
        if math.isinf(skew) or math.isinf(kurtosis):
            return Moments(mean, variance, skew * variance**1.5, math.inf)
        cuts = self.frozen.ppf([0.0, 1e-12, 1e-6, 1e-3, 0.1, 0.5, 0.9, 0.999, 1 - 1e-6, 1 - 1e-12, 1.0])
        numerical = integrated_moments(lambda x: float(self.frozen.pdf(x)), np.unique(cuts))
        return Moments(mean, variance, numerical.third, numerical.fourth)

    @property
    def support(self) -> tuple[float, float]:
        low, high = self.frozen.support()
        return float(low), float(high)

    def draws(self) -> Draws:
        if self._is_discrete:
            values, weights = self._atoms()
            return Draws(DISCRETE, 0.0, 1.0, values.size, np.concatenate([values, np.cumsum(weights)]))
        pool = tabulate(self.frozen.ppf, self.frozen.isf)
        return Draws(QUANTILE, 0.0, 1.0, pool.size, pool)

    def to_dict(self) -> dict[str, Any]:
        return {
            "arm": "Scipy",
            "distribution": self.frozen.dist.name,
            "args": [float(a) for a in self.frozen.args],
            "kwds": {k: float(v) for k, v in self.frozen.kwds.items()},
        }


def is_frozen(thing: Any) -> bool:
    """Whether ``thing`` is a frozen scipy.stats distribution."""
    return all(hasattr(thing, name) for name in ("dist", "args", "kwds", "ppf", "stats"))
