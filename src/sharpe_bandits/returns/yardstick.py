"""What columns are judged by: criteria of rankings and plans, and the yardstick of comparisons and replays.

A Sharpe ratio rewards risk where every mean is below 0, as it is for minus the costs. There the mean less a multiple of
the standard deviation is used, which for costs is the mean cost plus that multiple. Comparisons and replays go by one
of these two.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np

from .._support.validation import not_negative, one_of
from ..errors import InvalidInputError
from ..objectives import RSSR, CVaR, IsraelsenSharpe, LogGrowth, MeanRisk, Objective, Omega, Sharpe, Sortino
from . import statistics

if TYPE_CHECKING:
    from .table import Returns

#: Costs are shown in basis points.
BASIS_POINTS = 1e4
#: Names of criteria of rankings and plans; any other objective is given as an object.
CriterionName = Literal["sharpe", "rssr", "mean-risk", "sortino", "omega", "cvar", "log-growth", "israelsen"]
#: Share of the worst returns that the expected shortfall averages.
TAIL = 0.05
#: What columns are compared by.
JudgedBy = Literal["sharpe", "mean-risk"]


@dataclass(frozen=True)
class Yardstick:
    """A value of returns, larger is better, and how it is shown: their Sharpe ratio, or with an ``aversion`` their mean
    less so many standard deviations. ``costs``: returns are minus the costs, which are shown; ``active``: they are
    those above a benchmark, whose Sharpe ratio is called information ratio.
    """

    rate: float = 0.0
    aversion: float | None = None
    periods_per_year: float = 1.0
    costs: bool = False
    active: bool = False

    @classmethod
    def of(cls, returns: Returns, rate: float, by: JudgedBy | None, aversion: float) -> Yardstick:
        """The yardstick for a table: mean and risk for costs, otherwise the Sharpe ratio unless ``by`` says so."""
        costs = returns.costs
        by = one_of("by", ("mean-risk" if costs else "sharpe") if by is None else by, ("sharpe", "mean-risk"))
        if costs and by == "sharpe":
            raise InvalidInputError(
                "by='sharpe' rewards risk where every mean is below 0, as for costs; pass by='mean-risk'"
            )
        risk = check_aversion(aversion, by)
        return cls(rate, risk if by == "mean-risk" else None, returns.periods_per_year, costs, returns.active)

    @property
    def factor(self) -> float:
        """What values are multiplied by when they are shown: annualised ratios, and costs in basis points."""
        if self.aversion is None:
            return math.sqrt(self.periods_per_year)
        return -BASIS_POINTS if self.costs else 1.0

    @property
    def name(self) -> str:
        """The value in words, as it is shown."""
        if self.aversion is None:
            return f"annualised {'information' if self.active else 'Sharpe'} ratio"
        if not self.aversion:
            return "mean cost (bp)" if self.costs else "mean"
        return f"mean cost + {self.aversion:g} s.d. (bp)" if self.costs else f"mean - {self.aversion:g} s.d."

    def value(self, mean: Any, variance: Any) -> Any:
        deviation = np.sqrt(variance)
        excess = mean - self.rate
        return excess / deviation if self.aversion is None else excess - self.aversion * deviation

    def of_columns(self, x: np.ndarray) -> Any:
        """The value of every column, over the rows in which it has a return."""
        return statistics.by_column(lambda own: self.value(own.mean(axis=0), own.var(axis=0, ddof=1)), x)

    def gradient(self, mean: Any, variance: Any, value: Any) -> tuple[Any, Any]:
        deviation = np.sqrt(variance)
        if self.aversion is None:
            return 1 / deviation, -value / (2 * variance)
        return np.ones_like(deviation), -self.aversion / (2 * deviation)

    def influence(self, x: np.ndarray) -> np.ndarray:
        mean, variance = x.mean(axis=0), x.var(axis=0)
        by_mean, by_variance = self.gradient(mean, variance, self.value(mean, x.var(axis=0, ddof=1)))
        return np.asarray(by_mean * (x - mean) + by_variance * ((x - mean) ** 2 - variance))

    def se(self, x: np.ndarray, lags: int | None = None) -> float:
        """Standard error of the value of a series, which allows for autocorrelation."""
        return statistics.se_of_mean(self.influence(x), lags)

    def difference(self, x: np.ndarray, y: np.ndarray, lags: int | None = None) -> tuple[float, float]:
        """Value of ``x`` minus that of ``y``, series of the same rows, and the standard error of the difference."""
        difference = float(self.of_columns(x) - self.of_columns(y))
        return difference, statistics.se_of_mean(self.influence(x) - self.influence(y), lags)


class Criterion(NamedTuple):
    """What columns or arms are judged by: an objective; and its name and factor as it is shown, the factor below 0 if
    less is better.
    """

    name: str
    objective: Objective
    factor: float = 1.0


def check_aversion(aversion: Any, by: str) -> float:
    """``aversion``, if it is valid, and not given to a criterion that has none."""
    if aversion != 1 and by != "mean-risk":
        raise InvalidInputError(
            f"aversion={aversion!r} is for 'mean-risk', by which costs are judged, not for {by!r}; leave it out"
        )
    return not_negative("aversion", aversion)


def criterion(name: str, L: float, aversion: float, periods_per_year: float, costs: bool = False) -> Criterion:
    """The criterion of this name; ``L`` is the regulariser of RSSR."""
    yardstick, q = Yardstick(0.0, float(aversion), periods_per_year, costs), periods_per_year
    tail = f"expected shortfall of the worst {TAIL:.0%}{' (bp)' * costs}"
    return {
        "sharpe": Criterion("annualised Sharpe ratio", Sharpe(L=0.0), math.sqrt(q)),
        "rssr": Criterion("RSSR", RSSR(L, signed=True)),
        "mean-risk": Criterion(yardstick.name, MeanRisk(aversion), yardstick.factor),
        "sortino": Criterion("annualised Sortino ratio", Sortino(L=0.0), math.sqrt(q)),
        "omega": Criterion("Omega", Omega(L=0.0)),
        "cvar": Criterion(tail, CVaR(TAIL), -BASIS_POINTS if costs else -1.0),
        "log-growth": Criterion("annualised logarithmic growth", LogGrowth(), q),
        "israelsen": Criterion("Israelsen's modified Sharpe ratio", IsraelsenSharpe(L=0.0)),
    }[one_of("objective", name, get_args(CriterionName))]
