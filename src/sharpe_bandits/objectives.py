"""Objectives: the value of an arm, as a function of its mean and variance or of more that is kept of its rewards.

The same formula computes an arm's true value from its moments and its estimated value from its record. The engine
compiles it, so it uses only arithmetic and numpy functions of numbers.

``Sharpe``: mean over standard deviation; ``RSSR``: the paper's squared and regularised form; ``SharpeLike``: mean over
variance; ``Sortino``: mean over downside deviation; ``MeanVariance``: mean less variance; ``MeanRisk``: mean less
standard deviation, for costs; ``IsraelsenSharpe``: no reward for risk below the hurdle; ``Mean``; ``Variance``;
``Objective``: the base class.

The uncertainty of an estimated value follows from its gradient. Every objective defines a *root*, an increasing
function of its value (the value itself, except for RSSR, where it is the signed root), and the root's gradient f_m, f_v
in mean and variance. The influence of a reward x on the estimate is

    psi(x) = f_m (x - mean) + f_v ((x - mean)^2 - variance).

To first order, the variance of the estimate after s independent rewards is therefore W / s, where W is the variance of
psi: f_m^2 v + 2 f_m f_v m_3 + f_v^2 (m_4 - v^2).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from ._support.plain_data import from_plain
from ._support.validation import finite, not_negative, positive
from .errors import InvalidInputError, shown

__all__ = [
    "RSSR", "IsraelsenSharpe", "Mean", "MeanRisk", "MeanVariance", "Objective", "Sharpe", "SharpeLike", "Sortino",
    "Variance",
]  # fmt: skip

#: Values closer than this, relative to the largest, are ties.
TIE = 1e-12
#: Standard deviations count as at least this where a gradient divides by them, so that it is finite.
_SMALLEST = 1e-100


def _rssr(mean: Any, variance: Any, L: float, risk_free: float) -> Any:
    excess = mean - risk_free
    return excess * excess / (L + variance)


def _signed_rssr(mean: Any, variance: Any, L: float, risk_free: float) -> Any:
    excess = mean - risk_free
    return excess * np.abs(excess) / (L + variance)


def _sharpe(mean: Any, variance: Any, L: float, risk_free: float) -> Any:
    return (mean - risk_free) / (L + np.sqrt(variance))


def _sharpe_like(mean: Any, variance: Any, L: float, risk_free: float) -> Any:
    return (mean - risk_free) / (L + variance)


def _variance(mean: Any, variance: Any) -> Any:
    return variance + 0.0


def _mean(mean: Any, variance: Any) -> Any:
    return mean + 0.0


def _mean_variance(mean: Any, variance: Any, rho: float) -> Any:
    return rho * mean - variance


def _mean_risk(mean: Any, variance: Any, aversion: float) -> Any:
    return mean - aversion * np.sqrt(variance)


def _israelsen(mean: Any, variance: Any, L: float, risk_free: float) -> Any:
    excess, d = mean - risk_free, L + np.sqrt(variance)
    return excess / d + (excess < 0.0) * (excess * d - excess / d)


def _root_rssr(mean: Any, variance: Any, L: float, risk_free: float) -> Any:
    excess, d = mean - risk_free, L + variance
    return np.abs(excess) / np.sqrt(d), np.sign(excess), -0.5 * np.abs(excess) / d, d


def _root_signed_rssr(mean: Any, variance: Any, L: float, risk_free: float) -> Any:
    excess, d = mean - risk_free, L + variance
    return excess / np.sqrt(d), 1.0, -0.5 * (excess / d), d


def _root_sharpe(mean: Any, variance: Any, L: float, risk_free: float) -> Any:
    excess, sd = mean - risk_free, np.sqrt(variance)
    d = L + sd
    return excess / d, 1.0, -0.5 * excess / (d * sd), d * d


def _root_sharpe_like(mean: Any, variance: Any, L: float, risk_free: float) -> Any:
    excess, d = mean - risk_free, L + variance
    return excess / d, 1.0, -excess / d, d * d


def _root_variance(mean: Any, variance: Any) -> Any:
    return variance + 0.0, 0.0, 1.0, 1.0


def _root_mean(mean: Any, variance: Any) -> Any:
    return mean + 0.0, 1.0, 0.0, 1.0


def _root_mean_variance(mean: Any, variance: Any, rho: float) -> Any:
    return rho * mean - variance, rho, -1.0, 1.0


def _root_mean_risk(mean: Any, variance: Any, aversion: float) -> Any:
    sd = np.sqrt(variance)
    return mean - aversion * sd, 1.0, -0.5 * aversion / np.maximum(sd, _SMALLEST), 1.0


def _root_israelsen(mean: Any, variance: Any, L: float, risk_free: float) -> Any:
    excess, sd = mean - risk_free, np.sqrt(variance)
    d, half, below = L + sd, 0.5 * excess / np.maximum(sd, _SMALLEST), (excess < 0.0) * 1.0
    by_mean, by_variance = 1.0 / d, -half / (d * d)
    value = excess / d + below * (excess * d - excess / d)
    return value, by_mean + below * (d - by_mean), by_variance + below * (half - by_variance), 1.0


def influence_variance(variance: Any, third: Any, fourth: Any, by_mean: Any, by_variance: Any, scale: Any) -> Any:
    """W: the variance of a root's influence function, from moments and the root's gradient times sqrt(scale)."""
    linear = by_mean * (by_mean * variance + 2.0 * by_variance * third)
    return (linear + by_variance * by_variance * (fourth - variance * variance)) / scale


def gaps_of(values: Any) -> np.ndarray:
    """The gap of each value (last axis) to the largest; exactly 0 for the best and those that tie with it.

    Others that tie also have equal gaps.
    """
    value = np.asarray(values, float)
    best = value.max(axis=-1, keepdims=True)
    gap = best - value
    tie = TIE * np.abs(value).max(axis=-1, keepdims=True)
    if (np.diff(np.sort(gap, axis=-1), axis=-1) > tie).all():
        return gap  # no arms tie, as in most cases; what follows takes several times as long
    order = np.argsort(gap, axis=-1)
    ranked = np.take_along_axis(gap, order, axis=-1)
    # Within a run of ties, all arms get the gap of the first; the best has 0.
    steps = np.diff(ranked, axis=-1, prepend=-np.inf) > tie
    first = np.maximum.accumulate(np.where(steps, np.arange(gap.shape[-1]), 0), axis=-1)
    np.put_along_axis(gap, order, np.take_along_axis(ranked, first, axis=-1), axis=-1)
    return gap


@lru_cache
def _of_record(formula: Callable[..., Any]) -> Callable[..., Any]:
    def value_of_record(arm: Any, *goal: float) -> Any:
        return formula(arm.mean, arm.variance, *goal)

    value_of_record.__name__ = value_of_record.__qualname__ = f"value_of_record{formula.__name__}"
    return value_of_record


@dataclass(frozen=True, repr=False)
class Objective:
    """A value of arms; larger is better. Subclasses define a formula of (mean, variance, own parameters).

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> objective = sb.Sharpe(L=0.01)
    >>> isinstance(objective, sb.objectives.Objective), round(float(objective.value(0.1, 0.03)), 4)
    (True, 0.5458)
    """

    kinds: ClassVar[dict[str, type[Objective]]] = {}
    #: Whether mean and variance of an arm determine its value.
    two_moments: ClassVar[bool] = True

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        Objective.kinds[cls.__name__] = cls

    def __repr__(self) -> str:
        changed = (f for f in dataclasses.fields(self) if getattr(self, f.name) != f.default)
        return f"{type(self).__name__}({', '.join(f'{f.name}={getattr(self, f.name)!r}' for f in changed)})"

    @property
    def formula(self) -> Callable[..., Any]:
        """The function of mean, variance and :meth:`arguments` that returns the value."""
        raise AssertionError(f"{type(self).__name__} does not define a formula")

    @property
    def root(self) -> Callable[..., Any]:
        """The function of mean, variance and :meth:`arguments` that returns the root of the value, its derivatives with
        respect to mean and variance, both times sqrt(scale), and scale."""
        raise AssertionError(f"{type(self).__name__} does not define a root")

    @property
    def record_formula(self) -> Callable[..., Any]:
        """The value as a function of an arm's record and :meth:`arguments`. What it reads of the record is kept by
        every kernel and agent.
        """
        return _of_record(self.formula)

    #: The root, as a function of an arm's record and the tuple of :meth:`arguments`, and the variance of its influence
    #: function, with two more arguments (see :mod:`sharpe_bandits.policies.scale_free`); None: from :attr:`root`.
    record_root: ClassVar[Callable[..., Any] | None] = None
    record_noise: ClassVar[Callable[..., Any] | None] = None

    def from_root(self, root: Any) -> Any:
        """The value with this root."""
        return root

    @property
    def unseen_influence_variance(self) -> float | None:
        """Upper bound on W for an arm with zero sample variance; None if there is no finite bound.

        With probability about exp(-b), an event of probability b/s does not occur in s pulls. Whatever the arm pays in
        that event, it cannot raise a regularised ratio from 0 beyond sqrt(2 b W / s).
        """
        return None

    def arguments(self) -> tuple[float, ...]:
        """The arguments of the formula after mean and variance."""
        names = self.formula.__code__.co_varnames[2 : self.formula.__code__.co_argcount]
        return tuple(float(getattr(self, name)) for name in names)

    def true_value(self, arm: Any) -> float:
        """The value of an arm, from its distribution."""
        return float(self.value(arm.mean, arm.variance))

    def value(self, mean: Any, variance: Any) -> Any:
        """Value of arms with these means and variances (numbers or arrays)."""
        if not self.two_moments:
            raise InvalidInputError(
                f"{self!r} needs more than mean and variance; true_value(arm) is its value for an arm, and an agent's "
                "values() are its estimates"
            )
        return self.formula(np.asarray(mean, float), np.asarray(variance, float), *self.arguments())

    def for_means(self, mean: Any) -> Objective:
        """The objective by which arms with these true means are judged: itself, unless it would prefer losses."""
        return self

    @property
    def rewards_losses(self) -> bool:
        """Whether a losing arm has a larger value than one that earns exactly the risk-free rate."""
        if not self.two_moments:
            return False
        rate = self.hurdle
        return bool(self.value(rate - 1.0, 1.0) > self.value(rate, 1.0))

    @property
    def hurdle(self) -> float:
        """The mean above which an arm is worth its risk: the risk-free rate or target, 0 if there is none."""
        return float(getattr(self, "risk_free", getattr(self, "target", 0.0)))

    @property
    def rewards_risk_of_losses(self) -> bool:
        """Whether risk lowers the value of arms above the hurdle and raises that of arms below it, as in a ratio."""
        if not self.two_moments:
            return False
        above, below = self.hurdle + 1.0, self.hurdle - 1.0
        return bool(self.value(above, 2.0) < self.value(above, 1.0) and self.value(below, 2.0) > self.value(below, 1.0))

    def gaps(self, mean: Any, variance: Any) -> np.ndarray:
        """The gap of each arm (last axis) to the best: see :func:`gaps_of`."""
        return gaps_of(self.value(mean, variance))

    def to_dict(self) -> dict[str, Any]:
        """Plain data from which :func:`objective_from_dict` makes the same objective."""
        return {"objective": type(self).__name__, **dataclasses.asdict(self)}

    @classmethod
    def from_parameters(cls, data: dict[str, Any]) -> Objective:
        """The objective described by plain data without its kind."""
        return cls(**data)


@dataclass(frozen=True, repr=False)
class _SharpeFamily(Objective):
    L: float
    risk_free: float = 0.0

    def __post_init__(self) -> None:
        remedy = "the regulariser keeps the ratio finite; take a tenth of the smallest variance if in doubt"
        object.__setattr__(self, "L", positive("L", self.L, remedy))
        object.__setattr__(self, "risk_free", finite("risk_free", self.risk_free))


def usual_regulariser(variances: Any) -> float:
    """The default L for RSSR: a tenth of the smallest variance."""
    return float(np.min(variances)) / 10


@dataclass(frozen=True, repr=False)
class RSSR(_SharpeFamily):
    r"""Regularised squared Sharpe ratio, :math:`\gamma^2 = (\mu - r)^2 / (L + \sigma^2)`; the paper's main objective.

    With ``signed=True`` the square keeps the sign of :math:`\mu - r`, so that a losing arm is not mistaken for a good
    one: use it if means can be below the risk-free rate.

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> objective = sb.RSSR(L=0.5)
    >>> float(objective.value(mean=-2.0, variance=1.5))
    2.0
    >>> float(sb.RSSR(L=0.5, signed=True).value(mean=-2.0, variance=1.5))
    -2.0
    """

    signed: bool = False

    def for_means(self, mean: Any) -> Objective:
        losing = not self.signed and bool((np.asarray(mean) < self.risk_free).any())
        return dataclasses.replace(self, signed=True) if losing else self

    @property
    def formula(self) -> Callable[..., Any]:
        return _signed_rssr if self.signed else _rssr

    @property
    def root(self) -> Callable[..., Any]:
        return _root_signed_rssr if self.signed else _root_rssr

    def from_root(self, root: Any) -> Any:
        kept = root if self.signed else np.maximum(root, 0.0)  # an unsigned root is never below 0
        return kept * np.abs(kept)

    @property
    def unseen_influence_variance(self) -> float | None:
        return 0.5


@dataclass(frozen=True, repr=False)
class Sharpe(_SharpeFamily):
    r"""Sharpe ratio with a regulariser, :math:`\gamma = (\mu - r) / (L + \sigma)` (paper, eq. 1).

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> round(float(sb.Sharpe(L=0.0001, risk_free=0.02).value(mean=0.08, variance=0.04)), 4)
    0.2999
    """

    def __post_init__(self) -> None:
        object.__setattr__(self, "L", not_negative("L", self.L))
        object.__setattr__(self, "risk_free", finite("risk_free", self.risk_free))

    formula = staticmethod(_sharpe)
    root = staticmethod(_root_sharpe)

    @property
    def unseen_influence_variance(self) -> float | None:
        return 0.5


@dataclass(frozen=True, repr=False)
class IsraelsenSharpe(_SharpeFamily):
    r"""Israelsen's modified Sharpe ratio (2005): :math:`(\mu - r)/(L + \sigma)` for means above the risk-free rate, and
    :math:`(\mu - r)(L + \sigma)` for means below it, so that risk never raises it.

    It is no default: below the rate it has another unit than above it, so that policies depend on the unit of rewards,
    and a large certain loss can beat a small risky one. :class:`MeanRisk` has neither problem.

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> sb.objectives.IsraelsenSharpe(L=1.0).value([2.0, -2.0, -2.0], [9.0, 9.0, 16.0]).tolist()
    [0.5, -8.0, -10.0]
    """

    formula = staticmethod(_israelsen)
    root = staticmethod(_root_israelsen)


@dataclass(frozen=True, repr=False)
class SharpeLike(_SharpeFamily):
    r"""The paper's SR-like ratio, :math:`\beta = (\mu - r) / (L + \sigma^2)` (section 2).

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> float(sb.objectives.SharpeLike(L=0.5).value(mean=2.0, variance=1.5))
    1.0
    """

    formula = staticmethod(_sharpe_like)
    root = staticmethod(_root_sharpe_like)

    @property
    def unseen_influence_variance(self) -> float | None:
        return 0.125 / self.L


@dataclass(frozen=True, repr=False)
class Variance(Objective):
    r"""Variance, :math:`\sigma^2`: the most volatile arm is best (paper, section 3).

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> sb.Variance().gaps([0.5, 0.2], [1.0, 0.25]).tolist()
    [0.0, 0.75]
    """

    formula = staticmethod(_variance)
    root = staticmethod(_root_variance)


@dataclass(frozen=True, repr=False)
class MeanVariance(Objective):
    r"""Mean-variance, :math:`\rho\mu - \sigma^2`, which GRA-UCB and MVTS optimise; ``rho`` is the risk tolerance.

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> float(sb.MeanVariance(rho=2.0).value(0.5, 0.25))
    0.75
    """

    rho: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "rho", not_negative("rho", self.rho))

    formula = staticmethod(_mean_variance)
    root = staticmethod(_root_mean_variance)


@dataclass(frozen=True, repr=False)
class MeanRisk(Objective):
    r"""Mean less risk, :math:`\mu - a\sigma`, in the unit of rewards; ``aversion`` is :math:`a`, the mean that one unit
    of standard deviation is worth.

    Unlike a ratio, it never rewards risk: use it where means may all be negative, as those of costs are.

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> float(sb.MeanRisk(aversion=0.5).value(mean=-4.0, variance=81.0))
    -8.5
    """

    aversion: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "aversion", not_negative("aversion", self.aversion))

    formula = staticmethod(_mean_risk)
    root = staticmethod(_root_mean_risk)


@dataclass(frozen=True, repr=False)
class Mean(Objective):
    r"""Mean, :math:`\mu`, the objective of classical bandits.

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> sb.Mean().gaps([0.5, 0.2], [1.0, 0.1]).tolist()
    [0.0, 0.3]
    """

    formula = staticmethod(_mean)
    root = staticmethod(_root_mean)


def _sortino(arm: Any, L: float, target: float) -> Any:
    return (arm.mean - target) / np.sqrt(L + arm.shortfall2)


def _sortino_root(arm: Any, goal: tuple[float, ...]) -> Any:
    return _sortino(arm, *goal)


def _sortino_noise(arm: Any, goal: tuple[float, ...], unseen: float, largest: float) -> Any:
    """W, the variance of (x - mean)/D - (mean - target)/(2 D^3) ((target - x)_+^2 - E (target - x)_+^2)."""
    L, target = goal
    d, excess = L + arm.shortfall2, arm.mean - target
    variance = max(arm.variance, largest) if arm.variance == 0.0 else arm.variance
    covariance = -excess * arm.shortfall2 - arm.shortfall3  # of x and the squared shortfall
    slope = 0.5 * excess / d
    squares = slope * slope * (arm.shortfall4 - arm.shortfall2 * arm.shortfall2)
    return max(variance - 2.0 * slope * covariance + squares, 0.25 * variance) / d


@dataclass(frozen=True, repr=False)
class Sortino(Objective):
    r"""Sortino ratio with a regulariser, :math:`(\mu - \tau)/\sqrt{L + E[(\tau - X)_+^2]}`: only shortfalls below the
    target :math:`\tau` count as risk.

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> arm = sb.Uniform(-1, 3)  # mean 1; E (0 - X)_+^2 = 1/12
    >>> round(sb.Sortino(L=0.01).true_value(arm), 4)
    3.2733
    """

    L: float
    target: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "L", not_negative("L", self.L))
        object.__setattr__(self, "target", finite("target", self.target))

    two_moments: ClassVar[bool] = False
    record_formula = staticmethod(_sortino)
    record_root = staticmethod(_sortino_root)
    record_noise = staticmethod(_sortino_noise)

    rewards_risk_of_losses: ClassVar[bool] = True

    def arguments(self) -> tuple[float, ...]:
        return self.L, self.target

    def true_value(self, arm: Any) -> float:
        from .arms.expectation import expected

        squares = expected(arm, lambda x: np.maximum(self.target - x, 0.0) ** 2, self.target)
        return float((arm.mean - self.target) / np.sqrt(self.L + squares))

    def of_sample(self, rewards: Any) -> float:
        """The ratio of a sample of rewards."""
        x = np.asarray(rewards, float)
        return float((x.mean() - self.target) / np.sqrt(self.L + np.mean(np.maximum(self.target - x, 0.0) ** 2)))


del Objective.kinds["_SharpeFamily"]


def check_objective(objective: Any) -> Objective:
    """``objective``, if it is an objective."""
    if not isinstance(objective, Objective):
        raise InvalidInputError(f"an objective such as RSSR(L=0.5) is needed, got {shown(objective)}")
    return objective


def objective_from_dict(data: dict[str, Any]) -> Objective:
    """The objective described by plain data (see :meth:`Objective.to_dict`).

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> sb.from_dict({"objective": "RSSR", "L": 0.5})
    RSSR(L=0.5)
    """
    return from_plain("objective", Objective.kinds, data)
