"""Any frozen distribution of scipy.stats as an arm."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .._support.validation import finite
from ..errors import InvalidInputError, shown, unknown
from ..play.rewards import DISCRETE, QUANTILE
from .base import Arm, Draws, Moments, integrated_moments, tabulate


class Scipy(Arm):
    """A frozen scipy.stats distribution, such as ``scipy.stats.lognorm(0.5)``.

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> import scipy.stats
    >>> bandit = sb.Bandit([scipy.stats.lognorm(0.5), sb.Uniform(0, 2)])
    >>> type(bandit.arms[0]).__name__, round(bandit.arms[0].mean, 4)
    ('Scipy', 1.1331)
    """

    frozen: Any

    def check(self) -> None:
        if not is_frozen(self.frozen):
            raise InvalidInputError(f"a frozen scipy.stats distribution is needed, got {shown(self.frozen)}")
        with self._computing(), np.errstate(all="ignore"):
            mean, variance = (float(v) for v in self.frozen.stats("mv"))
        if not (math.isfinite(mean) and math.isfinite(variance)):
            raise InvalidInputError(
                f"{self.label} has mean {mean} and variance {variance}; take one with finite variance or truncate it"
            )

    def __repr__(self) -> str:
        return f"Scipy({self.label})"

    @property
    def label(self) -> str:
        """The distribution as it would be typed in code."""
        words = [shown(a) for a in self.frozen.args] + [f"{k}={shown(v)}" for k, v in self.frozen.kwds.items()]
        return f"{self.frozen.dist.name}({', '.join(words)})"

    @contextmanager
    def _computing(self) -> Iterator[None]:
        """Turn failures of scipy or of third-party distributions into an :class:`InvalidInputError`."""
        try:
            yield
        except InvalidInputError:
            raise
        except Exception as error:
            raise InvalidInputError(
                f"scipy cannot compute {self.label} ({type(error).__name__}: {error}); correct its parameters, or use "
                "an Empirical arm of its draws"
            ) from error

    def _atoms(self) -> tuple[np.ndarray, np.ndarray]:
        """Values of a discrete distribution, except a tail of 1e-13 on each side, and their probabilities."""
        low, high = 0.0, math.inf
        if self.frozen.std() <= 1e6:  # beyond it scipy may take hours to find quantiles
            low, high = (float(v) for v in self.frozen.ppf([1e-13, 1.0 - 1e-13]))
        if not high - low <= 1e6:
            raise InvalidInputError(f"{self.label} takes more than a million values; use an Empirical arm of its draws")
        values = np.arange(low, high + 1)
        weights = np.asarray(self.frozen.pmf(values), float)
        if abs(weights.sum() - 1.0) > 1e-9:
            raise InvalidInputError(
                f"{self.label} takes values other than {low:g}, {low + 1:g}, ...: these have only {weights.sum():.6g} "
                "of its probability; use an Empirical arm of its draws"
            )
        return values, weights / weights.sum()

    def moments(self) -> Moments:
        with self._computing(), np.errstate(all="ignore"):  # scipy's densities may overflow on their way to 0
            mean, variance, skew, kurtosis = (float(v) for v in self.frozen.stats("mvsk"))
            moments = Moments(mean, variance, skew * variance**1.5, (kurtosis + 3.0) * variance**2)
            if math.isinf(skew) or math.isinf(kurtosis):
                return moments
            if not hasattr(self.frozen.dist, "pdf"):  # it is discrete
                return moments if all(map(math.isfinite, moments)) else _weighted(*self._atoms())
            # Where scipy has no closed form it integrates, only to about 1e-8: a quick sum shows whether it did.
            summed = self._summed(mean)
            if np.allclose(_standardised(moments, moments), _standardised(summed, moments), rtol=1e-10, atol=1e-10):
                return moments
            cuts = self.frozen.ppf([0.0, 1e-12, 1e-6, 1e-3, 0.1, 0.5, 0.9]), self.frozen.isf([1e-3, 1e-6, 1e-12, 0.0])
            points = np.unique(np.concatenate(cuts))
            try:
                return integrated_moments(lambda x: float(self.frozen.pdf(x)), points, normalised=True)
            except InvalidInputError:  # a density that is infinite at an end, or narrow for its distance from 0
                return moments

    def _summed(self, mean: float) -> Moments:
        """Moments about ``mean`` by Gauss-Legendre quadrature between quantiles: fast, and exact to rounding if the
        density is smooth.
        """
        tail = 2.0 ** -np.concatenate([np.arange(1.0, 16.0), np.arange(16.0, 54.0, 4.0)])
        ends = np.unique(np.concatenate([self.frozen.ppf(tail), self.frozen.isf(tail)]))
        nodes, weights = np.polynomial.legendre.leggauss(24)
        half = np.diff(ends)[:, None] / 2
        x = (ends[:-1, None] + half * (1.0 + nodes)).ravel()
        return _weighted(x, (half * weights).ravel() * self.frozen.pdf(x), mean)

    @property
    def support(self) -> tuple[float, float]:
        low, high = self.frozen.support()
        return float(low), float(high)

    def draws(self) -> Draws:
        with self._computing():
            if not hasattr(self.frozen.dist, "pdf"):
                values, weights = self._atoms()
                return Draws(DISCRETE, 0.0, 1.0, values.size, np.concatenate([values, np.cumsum(weights)]))
            pool = tabulate(self.frozen.ppf, self.frozen.isf)
            return Draws(QUANTILE, 0.0, 1.0, pool.size, pool)

    def to_dict(self) -> dict[str, Any]:
        import scipy.stats

        words = {
            "arm": "Scipy",
            "distribution": self.frozen.dist.name,
            "args": [float(a) for a in self.frozen.args],
            "kwds": {k: float(v) for k, v in self.frozen.kwds.items()},
        }
        if type(getattr(scipy.stats, self.frozen.dist.name, None)) is not type(self.frozen.dist):  # a user's own
            words["quantiles"] = np.asarray(self.frozen.ppf(np.arange(1, 32) / 32), float).tolist()
        return words

    @classmethod
    def from_parameters(cls, data: dict[str, Any]) -> Scipy:
        import scipy.stats

        name, args, kwds = (data.pop(key, None) for key in ("distribution", "args", "kwds"))
        if "quantiles" in data:
            raise InvalidInputError(
                f"{name!r} is a distribution of your own: make its arm by code, as in Scipy(law(...))"
            )
        if data or not (isinstance(args, list) and isinstance(kwds, dict)):
            raise InvalidInputError("a Scipy arm is described by distribution, args (a list) and kwds (a dict)")
        law = getattr(scipy.stats, name, None) if isinstance(name, str) else None
        if not isinstance(law, (scipy.stats.rv_continuous, scipy.stats.rv_discrete)):
            raise unknown("distribution of scipy.stats", name, dir(scipy.stats), "see the documentation of scipy.stats")
        return cls(law(*(finite("args", a) for a in args), **{k: finite(k, v) for k, v in kwds.items()}))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scipy) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(self.frozen.dist.name)


def _weighted(values: np.ndarray, weights: np.ndarray, centre: float | None = None) -> Moments:
    """Moments of weighted values from sums about a centre near their mean; None: about that."""
    centre = float(values @ weights) if centre is None else centre
    z = values - centre
    shift, *sums = (float(z**k @ weights) for k in (1, 2, 3, 4))
    return Moments(centre + shift, *sums)


def _standardised(moments: Moments, by: Moments) -> np.ndarray:
    """Moments standardised by the mean and standard deviation of ``by``."""
    sd = math.sqrt(by.variance)
    return np.array([(moments.mean - by.mean) / sd, *(moments[k] / sd ** (k + 1) for k in (1, 2, 3))])


def is_frozen(thing: Any) -> bool:
    """Whether ``thing`` is a frozen scipy.stats distribution."""
    return all(hasattr(thing, name) for name in ("dist", "args", "kwds", "ppf", "stats"))
