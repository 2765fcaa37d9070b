"""The base class of arms: a reward distribution with known moments, and how a kernel draws from it."""

from __future__ import annotations

import dataclasses
import math
import warnings
from collections.abc import Callable
from functools import cache, cached_property, lru_cache
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .._support.described import Described
from .._support.validation import LARGEST_REWARD, LARGEST_SQUARE, is_supported_reward
from ..errors import InvalidInputError
from ..play.rewards import CELLS, OCTAVES


class Moments(NamedTuple):
    """Mean, variance, third and fourth central moment of a reward."""

    mean: float
    variance: float
    third: float
    fourth: float


class Draws(NamedTuple):
    """How a kernel draws an arm's rewards (see :mod:`sharpe_bandits.play.rewards`)."""

    kind: int
    loc: float = 0.0
    scale: float = 0.0
    size: int = 0
    pool: tuple[float, ...] | np.ndarray = ()


class Arm(Described, abstract=True):
    """A reward distribution. Subclasses define :meth:`moments`, :meth:`draws` and, unless rewards can be any number,
    :meth:`support`.
    """

    what: ClassVar[str] = "arm"
    kinds: ClassVar[dict[str, type[Arm]]]
    #: Whether a reward depends on earlier ones.
    serially_dependent: ClassVar[bool] = False

    @cached_property
    def checked_moments(self) -> Moments:
        """The :meth:`moments`; an error if rewards are beyond the supported magnitude."""
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                moments = Moments(*map(float, self.moments()))
        except ArithmeticError:  # Python's powers raise where products are infinite
            moments = Moments(math.nan, math.nan, math.nan, math.nan)
        if not (is_supported_reward(moments.mean) and moments.variance <= LARGEST_SQUARE):
            raise InvalidInputError(
                f"{self!r} has rewards beyond {LARGEST_REWARD:g}, the largest supported; divide all rewards by a power "
                "of ten, and L by its square"
            )
        return moments

    # Not properties: parameters of an arm may have these names.

    @cached_property
    def mean(self) -> float:
        """Mean of a reward."""
        return self.checked_moments.mean

    @cached_property
    def variance(self) -> float:
        """Variance of a reward."""
        return self.checked_moments.variance

    def moments(self) -> Moments:
        """Mean, variance, third and fourth central moment, exact or by quadrature to 1e-9."""
        raise AssertionError(f"{type(self).__name__} does not define moments")

    @property
    def support(self) -> tuple[float, float]:
        """The smallest interval that holds every reward, from ``low`` to ``high`` if the arm has these, which are
        infinite otherwise.
        """
        return getattr(self, "low", -math.inf), getattr(self, "high", math.inf)

    def draws(self) -> Draws:
        """How a kernel draws a reward."""
        raise AssertionError(f"{type(self).__name__} does not define draws")

    def __repr__(self) -> str:
        words = dict(self.to_dict())
        return f"{words.pop('arm')}({', '.join(f'{value:.12g}' for value in words.values())})"

    def __getstate__(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}


def integrated_moments(density: Callable[[float], float], points: np.ndarray, normalised: bool = False) -> Moments:
    """Moments of a density by adaptive quadrature between successive ``points`` (its support, split where it bends).

    A ``normalised`` density must integrate to 1.
    """
    from scipy.integrate import quad

    density = cache(density)  # the five integrals use mostly the same nodes

    def integral(function: Callable[[float], float], small: float) -> float:
        # An integral with cancellation cannot be accurate relative to itself: absolute errors below ``small`` are also
        # accepted. The full output suppresses warnings; tests check the moments of all arms to 1e-9.
        return float(
            sum(
                quad(lambda x: function(x) * density(x), a, b, epsabs=small, epsrel=1e-12, limit=50, full_output=1)[0]
                for a, b in pairwise(points)
            )
        )

    mass = integral(lambda x: 1.0, 0.0)
    if not mass > 0:
        raise InvalidInputError("the density is 0 at every quadrature node; the interval lies too far out: widen it")
    if normalised and abs(mass - 1) > 1e-6:
        raise InvalidInputError(f"the density integrates to {mass} instead of 1, too inaccurate for moments")
    middle = float(np.median(points[np.isfinite(points)]))
    mean = middle + integral(lambda x: x - middle, 0.0) / mass
    variance = integral(lambda x: (x - mean) ** 2, 0.0) / mass
    third = integral(lambda x: (x - mean) ** 3, 1e-13 * mass * variance**1.5) / mass
    fourth = integral(lambda x: (x - mean) ** 4, 0.0) / mass
    return Moments(mean, variance, third, fourth)


@lru_cache(maxsize=256)
def quantile_table(distribution: str, arguments: tuple[float, ...]) -> np.ndarray:
    """The quantile function of a scipy distribution as a table for the kernels (see :func:`tabulate`)."""
    import scipy.stats

    frozen = getattr(scipy.stats, distribution)(*arguments)
    return tabulate(frozen.ppf, frozen.isf)


def tabulate(lower: Callable[[Any], Any], upper: Callable[[Any], Any]) -> np.ndarray:
    """A quantile function as piecewise cubics.

    The distance of u to the nearer end of (0, 1) is divided into octaves and these into equal cells, so that tails are
    as accurate as the middle; each cell has the cubic through four of its points.
    """
    octave = np.arange(OCTAVES)[:, None, None]
    cell = np.arange(CELLS)[None, :, None]
    inner = np.array([0.0, 1.0, 2.0, 3.0])[None, None, :] / 3.0
    v = 2.0 ** (-2.0 - octave) * (1.0 + (cell + inner) / CELLS)
    table = np.empty((2, OCTAVES, CELLS, 4))
    for side, quantile in enumerate((lower, upper)):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of intermediate results in scipy; the quantiles are checked below
                y = np.asarray(quantile(v.ravel()), float).reshape(v.shape)
        except OverflowError:  # scipy, with parameters next to 0
            y = np.array(np.inf)
        if not np.isfinite(y).all():
            raise InvalidInputError(
                "the quantile function of this distribution is not finite inside (0, 1); "
                "use an Empirical arm of its draws"
            )
        y0, y1, y2, y3 = (y[..., k] for k in range(4))
        table[side, ..., 0] = y0
        table[side, ..., 1] = (-11 * y0 + 18 * y1 - 9 * y2 + 2 * y3) / 2
        table[side, ..., 2] = (18 * y0 - 45 * y1 + 36 * y2 - 9 * y3) / 2
        table[side, ..., 3] = (-9 * y0 + 27 * y1 - 27 * y2 + 9 * y3) / 2
    return table.ravel()
