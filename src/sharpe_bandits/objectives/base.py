"""The base class of objectives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np

from .._support.described import Described
from ..errors import InvalidInputError, shown
from .accumulator import FeatureAccumulator
from .influence import (
    Formula,
    feature_of,
    influence_variance,
    influence_variance_of_record,
    numeric_root,
    root_of_record,
    spread_if_normal,
    value_of_record,
    variance_of,
)
from .statistics import Statistics, moments_of, moments_so_far

if TYPE_CHECKING:
    from ..play.statistics import Statistic

#: Values closer than this, relative to the largest, are ties.
TIE = 1e-12


def gaps_of(values: Any) -> np.ndarray:
    """The gap of each value (last axis) to the largest; exactly 0 for the best and those that tie with it.

    Others that tie also have equal gaps.
    """
    value = np.asarray(values, float)
    best = value.max(axis=-1, keepdims=True)
    gap = best - value
    tie = TIE * np.abs(value).max(axis=-1, keepdims=True)
    order = np.argsort(gap, axis=-1)
    ranked = np.take_along_axis(gap, order, axis=-1)
    # Within a run of ties, all arms get the gap of the first; the best has 0.
    steps = np.diff(ranked, axis=-1, prepend=-np.inf) > tie
    first = np.maximum.accumulate(np.where(steps, np.arange(gap.shape[-1]), 0), axis=-1)
    np.put_along_axis(gap, order, np.take_along_axis(ranked, first, axis=-1), axis=-1)
    return gap


def unit_slope(root: Any) -> Any:
    """The derivative of a root that is the value."""
    return 1.0


class Objective(Described, abstract=True):
    """A value of arms; larger is better.

    A subclass is a frozen dataclass of parameters with a :attr:`formula`, a plain function of the mean of rewards,
    their variance, and the parameters by name. An objective that needs more has a :attr:`feature`, a plain function of
    a reward and the same parameters: its formula takes the mean of the feature instead of the variance. That is all:
    simulations, agents and campaigns keep what it needs. Kernels compile these functions, so they use arithmetic and
    functions of ``math`` and ``numpy``.
    """

    what: ClassVar[str] = "objective"
    kinds: ClassVar[dict[str, type[Objective]]]
    #: ``feature(x, *arguments)``: the feature of a reward whose mean the formula takes; None: it takes the variance.
    feature: ClassVar[Formula | None] = None

    #: A value of its regulariser, if it has one, for those in doubt.
    usual_L: ClassVar[str] = "a tenth of the smallest variance"
    #: Whether estimates need a covariate, which is seen in every round (see :mod:`sharpe_bandits.play.covariate`). The
    #: statistics of its feature are then shrunk towards those of normal rewards already.
    needs_covariate: ClassVar[bool] = False

    # What a subclass defines.

    @property
    def formula(self) -> Formula:
        """The value as a function of the mean, the variance or the mean of the feature, and :meth:`arguments`."""
        raise AssertionError(f"{type(self).__name__} does not define a formula")

    @property
    def root(self) -> Formula:
        """The function of the formula's arguments that returns the root of the value, its derivatives with respect to
        the first two, both times sqrt(scale), and scale (see :mod:`sharpe_bandits.objectives.influence`); by default
        the value and numerical derivatives.
        """
        return numeric_root(self.formula)

    def from_root(self, root: Any) -> Any:
        """The value with this root."""
        return root

    #: The derivative of :meth:`from_root`, a plain function.
    slope_from_root: ClassVar[Formula] = staticmethod(unit_slope)

    @property
    def kinks(self) -> tuple[float, ...]:
        """Rewards at which the feature is not smooth; by default the hurdle."""
        return (self.hurdle,)

    @property
    def hurdle(self) -> float:
        """The mean above which an arm is worth its risk: the risk-free rate or target, 0 if there is none."""
        return float(getattr(self, "risk_free", 0.0))

    @property
    def unseen_influence_variance(self) -> float | None:
        """Upper bound on W for an arm with zero sample variance; None if there is no finite bound.

        With probability about exp(-b), an event of probability b/s does not occur in s pulls. Whatever the arm pays in
        that event, it cannot raise a regularised ratio from 0 beyond sqrt(2 b W / s).
        """
        return None

    @property
    def least_rewards(self) -> float:
        """Rewards of an arm that a confidence sequence needs before it starts, besides the general minimum."""
        return 0.0

    def arguments(self) -> tuple[float, ...]:
        """The arguments of the feature after the reward or, without one, of the formula after the first two."""
        code, first = (self.feature.__code__, 1) if self.feature else (self.formula.__code__, 2)
        return tuple(map(self.number, code.co_varnames[first : code.co_argcount]))

    def for_means(self, mean: Any) -> Objective:
        """The objective by which arms with these true means are judged: itself, unless it would prefer losses."""
        return self

    @property
    def unadjusted(self) -> Objective:
        """The objective whose value it estimates with the help of a covariate; itself, if there is none."""
        return self

    @property
    def of_differences(self) -> Objective | None:
        """The objective of rewards less the covariate that it is; None: it is one of rewards."""
        return None

    # What kernels and agents use.

    @property
    def has_feature(self) -> bool:
        """Whether it needs more of an arm's rewards than mean and variance."""
        return self.feature is not None or self.statistic is not None

    @property
    def second(self) -> Formula:
        """What formulas take of an arm's record beside the mean."""
        return feature_of if self.has_feature else variance_of

    @property
    def record_formula(self) -> Formula:
        """The value as a function of an arm's record and :meth:`arguments`."""
        return value_of_record(self.formula, self.second)

    @property
    def record_noise(self) -> Formula:
        """The variance of the value's influence function, as a function of an arm's record and :meth:`arguments`."""
        return influence_variance_of_record(self.root, self.slope_from_root, self.has_feature)

    @property
    def record_root(self) -> Formula:
        """The root of the value, as a function of an arm's record and :meth:`arguments`."""
        return root_of_record(self.root, self.second)

    @property
    def record_root_noise(self) -> Formula:
        """The variance of the root's influence function, as a function of an arm's record and :meth:`arguments`."""
        return influence_variance_of_record(self.root, unit_slope, self.has_feature)

    @property
    def statistic(self) -> Statistic | None:
        """How the statistics of its feature are kept, if not as sums over rewards."""
        return None

    @property
    def spread_if_normal(self) -> Formula:
        """Covariance of feature and reward and variance of the feature, as a function of the mean and variance of
        normal rewards and :meth:`arguments`.
        """
        assert self.feature is not None
        return spread_if_normal(self.feature)

    # Values and their uncertainty.

    def value(self, statistics: Any) -> Any:
        """Value of arms with these :class:`Statistics`, or anything with the same attributes."""
        value = self.formula(*self._inputs(statistics), *self.arguments())
        if value is None:
            raise InvalidInputError(f"the formula of {type(self).__name__} must return a number, got None")
        return value

    def _inputs(self, statistics: Any) -> tuple[Any, Any]:
        name = "feature" if self.has_feature else "variance"
        try:
            mean, second = np.asarray(statistics.mean, float), np.asarray(getattr(statistics, name), float)
            if self.has_feature and second.ndim == 0 and np.isnan(second) and np.isfinite(mean).any():
                raise AttributeError("the feature is not known")
            return mean, second
        except AttributeError:
            raise InvalidInputError(
                f"{self!r} is a function of mean and {name}, and {shown(statistics)} does not have both; "
                "value_of(rewards) is its value for rewards, true_value(arm) for an arm"
            ) from None

    def estimate(self, statistics: Any) -> tuple[Any, Any]:
        """The root of the value, and W, the variance of its influence function."""
        mean, second = self._inputs(statistics)
        root, by_mean, by_second, scale = self.root(mean, second, *self.arguments())
        if self.has_feature:
            covariance, square = statistics.feature_covariance, statistics.feature_square
        else:
            covariance, square = statistics.third, statistics.fourth
        w = influence_variance(statistics.variance, covariance, square, second, by_mean, by_second, scale)
        return root, np.maximum(w, 0.0)

    def gradient(self, statistics: Any) -> tuple[Any, Any]:
        """Derivatives of the root with respect to the mean, and the variance or the mean of the feature."""
        _, by_mean, by_second, scale = self.root(*self._inputs(statistics), *self.arguments())
        return by_mean / np.sqrt(scale), by_second / np.sqrt(scale)

    def standard_error(self, statistics: Any) -> Any:
        """Standard error of the value, estimated from independent rewards with these statistics; that of CVaR is on the
        safe side.
        """
        with np.errstate(all="ignore"):
            root, w = self.estimate(statistics)
            return np.abs(self.slope_from_root(root)) * np.sqrt(w / statistics.pulls)

    def gaps(self, statistics: Any) -> np.ndarray:
        """The gap of each arm (last axis) to the best: see :func:`gaps_of`."""
        return gaps_of(self.value(statistics))

    def true_value(self, arm: Any) -> float:
        """The value of an arm, from its distribution."""
        if self.feature is None:
            return float(self.value(arm))
        from ..arms.expectation import expected

        feature, arguments = self.feature, self.arguments()
        mean_of_feature = expected(arm, lambda x: feature(x, *arguments), self.kinks)
        return float(self.value(Statistics(mean=arm.mean, feature=mean_of_feature)))

    # Of rewards.

    def features(self, rewards: Any) -> np.ndarray:
        """The feature of every reward of a sample (a column per arm)."""
        assert self.feature is not None
        return np.asarray(self.feature(np.asarray(rewards, float), *self.arguments()))

    def statistics(self, rewards: Any) -> Statistics:
        """Statistics of a sample of rewards; a column per arm, if there are several."""
        x = np.asarray(rewards, float)
        moments = moments_of(x)
        if not self.has_feature:
            return moments
        y = self.features(x)
        covariance = ((x - moments.mean) * y).mean(axis=0)
        return moments._replace(
            feature=y.mean(axis=0), feature_square=(y * y).mean(axis=0), feature_covariance=covariance
        )

    def statistics_so_far(self, rewards: Any) -> Statistics:
        """Statistics of the rewards up to and including each."""
        x = np.asarray(rewards, float)
        moments = moments_so_far(x)
        if not self.has_feature:
            return moments
        if self.statistic is not None:
            accumulators = [FeatureAccumulator(self) for _ in range(x[0].size)]
            rows = [
                [a.add(v) for a, v in zip(accumulators, row, strict=True)] for row in x.reshape(len(x), -1).tolist()
            ]
            return Statistics(*moments[:5], *np.moveaxis(np.array(rows), 2, 0).reshape(3, *x.shape))
        y, centre = self.features(x), x.mean(axis=0)
        n = np.arange(1.0, len(x) + 1).reshape(-1, *[1] * (x.ndim - 1))
        mean, square, product = (np.cumsum(column, axis=0) / n for column in (y, y * y, (x - centre) * y))
        covariance = product - (moments.mean - centre) * mean
        return moments._replace(feature=mean, feature_square=square, feature_covariance=covariance)

    def value_of(self, rewards: Any) -> Any:
        """Value of a sample of rewards; a column per arm, if there are several."""
        return self.value(self.statistics(rewards))

    def value_of_resamples(self, counts: np.ndarray, rewards: np.ndarray) -> Any:
        """Values of resamples of a sample of rewards; a row of ``counts`` says how often each reward occurs in one."""
        n, centre = counts.sum(axis=1), rewards.mean()
        mean = counts @ (rewards - centre) / n
        if self.has_feature:
            second = counts @ self.features(rewards) / n
        else:
            second = (counts @ (rewards - centre) ** 2 / n - mean**2) * n / (n - 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.formula(mean + centre, second, *self.arguments())

    def influence(self, rewards: Any) -> np.ndarray:
        """The influence of every reward on the value of the sample, to first order. Its mean is 0, and its variance
        divided by the number of rewards is that of the value, if rewards are independent.
        """
        x = np.asarray(rewards, float)
        statistics = self.statistics(x)
        d = x - statistics.mean
        y = self.features(x) if self.has_feature else d * d
        by_mean, by_second = self.gradient(statistics)
        slope = self.slope_from_root(self.root(*self._inputs(statistics), *self.arguments())[0])
        return np.asarray(slope * (by_mean * d + by_second * (y - y.mean(axis=0))))

    # Warnings.

    @property
    def rewards_losses(self) -> bool:
        """Whether a losing arm has a larger value than one that earns exactly the hurdle."""
        if self.has_feature:
            return False
        losing, even = self.value(Statistics(mean=[self.hurdle - 1.0, self.hurdle], variance=[1.0, 1.0]))
        return bool(losing > even)

    @property
    def rewards_risk_of_losses(self) -> bool:
        """Whether risk lowers the value of arms above the hurdle and raises that of arms below it, as in a ratio."""
        if self.has_feature:
            return False
        above, below = self.hurdle + 1.0, self.hurdle - 1.0
        values = self.value(Statistics(mean=[above, above, below, below], variance=[1.0, 2.0, 1.0, 2.0]))
        return bool(values[1] < values[0] and values[3] > values[2])


def check_objective(objective: Any) -> Objective:
    """``objective``, if it is an objective."""
    if not isinstance(objective, Objective):
        raise InvalidInputError(f"an objective such as RSSR(L=0.5) is needed, got {shown(objective)}")
    return objective


#: The type of a parameter that is an objective.
ObjectiveParameter = Annotated[Objective, lambda name, value: check_objective(value)]
