"""A best-arm problem in the terms of finance: annualised Sharpe ratios and volatilities, rewards per period."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._support.names import repeats_counted
from .._support.validation import finite, not_negative, positive, real, whole
from ..arms.bandit import Bandit
from ..arms.base import Arm
from ..arms.discrete import numbers
from ..arms.normal import Normal
from ..errors import InvalidInputError, shown
from ..objectives import RSSR, Objective, Sharpe, Statistics, gaps_of, usual_regulariser
from ..policies.base import EliminationPolicy
from ..policies.elimination import SHSR, SequentialHalving, SuccessiveRejects, SuRSR, UniformSampling
from ..results.metrics import in_digits
from ..returns.resampling import LEAST_FOR_BLOCKS, block_length, check_block, resampled_rows
from ..returns.statistics import se_of_mean
from ..returns.table import table_of
from ..returns.yardstick import Criterion, CriterionName, check_aversion, criterion

_RATIO = "annualised Sharpe ratio"
#: Remark on problems all of whose Sharpe ratios are negative.
_LOSING = (
    "every Sharpe ratio is below 0, where it rewards volatility: of two arms with the same loss the riskier one counts "
    "as better. Do not choose by it; pass objective='mean-risk' instead"
)
#: Resamples of a table computed at a time.
_ABREAST = 100
#: Quantiles of normal rewards over which influence variances are averaged.
_QUANTILES = (np.arange(20_000) + 0.5) / 20_000


@dataclass(frozen=True, repr=False)
class BestArmProblem:
    """Arms, one of which is the best: by Sharpe ratio, RSSR, mean and risk, or any other objective.

    Created by :meth:`from_gap`, :meth:`from_sharpes` or :meth:`from_returns`.

    Attributes
    ----------
    bandit : Bandit
        the arms, named; a reward is the return of one period
    periods_per_year : float
        used to annualise Sharpe ratios and volatilities
    objective, shown : Objective and Criterion
        what "best" means; and what is shown of arms, and tolerance and expected loss are about
    rewards : str
        how rewards are drawn, as text for the headline of a plan
    tolerance : float, optional
        largest shortfall of the value shown at which an arm is still a right choice
    table, block : numpy.ndarray | None and float | None, optional
        (rows, columns) excess returns from which the arms were estimated, if any, and the mean length of the blocks of
        rows that are resampled when every arm is seen
    notes, remarks : tuple[str, ...], optional
        what was done to a table when it was read, and what is doubtful about it
    correlation : float, optional
        of every arm with a benchmark that is seen in every period, and that policies adjust their estimates for
    errors : numpy.ndarray | None, optional
        standard errors of the values shown, if arms were estimated
    asymptotic : tuple[numpy.ndarray, numpy.ndarray] | None, optional
        values of the arms and variances of their influence functions, if the objective needs more than two moments:
        estimates from n rewards are then drawn as normal, with that variance over n

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> problem = sb.BestArmProblem.from_sharpes([1.0, 0.7, 0.5], volatility=0.15, periods_per_year=252)
    >>> len(problem.bandit.arms)
    3
    >>> round(problem.bandit.arms[0].mean * 252, 10)
    0.15
    """

    bandit: Bandit
    periods_per_year: float
    objective: Objective
    rewards: str
    shown: Criterion
    tolerance: float = 0.0
    table: np.ndarray | None = None
    block: float | None = None
    notes: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    correlation: float = 0.0
    errors: np.ndarray | None = None
    asymptotic: tuple[np.ndarray, np.ndarray] | None = None

    def __post_init__(self) -> None:
        if len(self.best) == self.K:
            raise InvalidInputError(
                f"all {self.K} arms have the same {self.objective_name}, so there is no single best arm; "
                "give arms that differ"
            )
        if len(self.right) == self.K:
            raise InvalidInputError(
                f"all {self.K} arms are within tolerance={self.tolerance!r} of the best, so any choice is "
                "right; pass a smaller tolerance"
            )

    @classmethod
    def from_gap(cls, arms: int, best_sharpe: float, gap: float, **options: Any) -> BestArmProblem:
        """One arm with an annualised Sharpe ratio of ``best_sharpe``, the others with ``gap`` less; options are those
        of :meth:`from_sharpes`.
        """
        whole("arms", arms, 2, 100_000)
        best = finite("best_sharpe", best_sharpe)
        positive("gap", gap, "it is the difference in annualised Sharpe ratio between the best arm and the others")
        return cls.from_sharpes([best] + [best - gap] * (arms - 1), **options)

    @classmethod
    def from_sharpes(
        cls,
        sharpes: Iterable[float],
        *,
        volatility: float | Sequence[float] = 0.15,
        periods_per_year: float = 252.0,
        objective: CriterionName | Objective = "sharpe",
        L: float | None = None,
        tolerance: float = 0.0,
        correlation: float = 0.0,
    ) -> BestArmProblem:
        """Arms with these annualised Sharpe ratios and volatilities (one volatility for all, or one each).

        Rewards are normal with mean S·v/p and standard deviation v/√p; p is the number of periods per year. The best
        arm is that of the ``objective``, whatever it needs of the rewards. Any arm whose value (the annualised Sharpe
        ratio, unless arms are judged by another objective) is within ``tolerance`` of the best one's is a right choice.
        ``correlation`` is that of every arm with a benchmark, seen in every period, that policies adjust their
        estimates for (:class:`~sharpe_bandits.objectives.Adjusted`): it leaves 1 - correlation^2 of the variance.
        """
        if not 0 <= real(correlation) < 1:
            raise InvalidInputError(
                f"correlation is that of every arm with the benchmark, from 0 to below 1, got {shown(correlation)}"
            )
        ratios = numbers("sharpes", sharpes, 1)
        periods = positive("periods_per_year", periods_per_year, "252 for daily returns, 12 for monthly ones")
        volatilities = np.asarray(volatility, object)
        if volatilities.ndim and volatilities.shape != ratios.shape:
            raise InvalidInputError(
                f"there are {len(ratios)} arms and {volatilities.size} volatilities; give one, or one per arm"
            )
        each = np.broadcast_to(volatilities, ratios.shape).tolist()
        yearly = [positive(f"volatility of arm {k}", v) for k, v in enumerate(each, 1)]
        arms = [Normal(s * v / periods, variance=v * v / periods) for s, v in zip(ratios.tolist(), yearly, strict=True)]
        names = [f"arm {k}" for k in range(1, len(arms) + 1)]
        how = "normal rewards, independent over time and between arms"
        goal, measure = _judged(objective, arms, L, periods)
        if correlation:
            how = (
                f"normal rewards, independent over time, with a correlation of {real(correlation):g} with a benchmark "
                "that is seen in every period and adjusted for"
            )
            if goal.has_feature:
                raise InvalidInputError(
                    f"correlation={correlation!r} is for objectives of mean and variance, such as 'sharpe'; leave it "
                    f"out, or simulate {goal!r} on a FactorBandit"
                )
        remarks = (_LOSING,) if ratios.max() < 0 and goal.rewards_risk_of_losses else ()
        return cls(
            Bandit(arms, names), periods, goal, how, measure, not_negative("tolerance", tolerance), remarks=remarks,
            correlation=real(correlation), asymptotic=_asymptotic(goal, arms) if goal.has_feature else None,
        )  # fmt: skip

    @classmethod
    def from_returns(
        cls,
        source: Any,
        *,
        block: float | None = None,
        annual_risk_free: float = 0.0,
        objective: CriterionName | Objective | None = None,
        aversion: float = 1.0,
        L: float | None = None,
        tolerance: float = 0.0,
        **reading: Any,
    ) -> BestArmProblem:
        """Arms estimated from a table of returns or costs: a column is an arm.

        When every arm is seen in every period, rows of the table are resampled in blocks (the stationary bootstrap),
        the same ones for all arms: correlation between columns and over time is preserved. Policies that see one arm
        per period play on normal rewards with the moments of the columns, independent over time (or, for objectives
        that need more than two moments, on normal estimates with the columns' influence variances). Seen one at a time,
        columns cannot be compared row by row, so that their correlation hardly matters.

        Parameters
        ----------
        source : Any
            from :func:`read_returns`; or a file, frame or other table, with options of that function
        block : float | None, optional
            mean length of blocks in rows, 1 for rows one by one; by default chosen from the data, as in :func:`rank`,
            or 1 if there are too few rows
        annual_risk_free : float, optional
            annual rate, 0.02 for 2%, subtracted from every return
        objective : CriterionName | Objective | None, optional
            "sharpe", the default; "mean-risk", the default for costs; any other name that :func:`rank` knows; or any
            objective, such as ``Sortino(L=0)``, of returns above the hurdle
        aversion : float, optional
            mean that a unit of standard deviation is worth, for "mean-risk"
        L : float | None, optional
            regulariser
        tolerance : float, optional
            any arm whose value (see :meth:`from_sharpes`) is within this of the best one's is a right choice
        **reading : Any
            how a table is read; see :func:`read_returns`
        """
        returns = table_of(source, reading)
        costs = returns.costs
        by: CriterionName | Objective = ("mean-risk" if costs else "sharpe") if objective is None else objective
        periods = returns.periods_per_year
        rate = returns.rate(annual_risk_free)
        excess = returns.excess - rate
        columns = [column[~np.isnan(column)] for column in excess.T]
        for name, column in zip(returns.names, columns, strict=True):
            # rounding leaves a trace of variance in a column of equal numbers
            if len(column) < 2 or not column.std() > 1e-12 * np.abs(column).max():
                raise InvalidInputError(
                    f"column {name!r} does not vary in its {len(column)} rows, so that it has no Sharpe ratio; leave "
                    "it out"
                )
        rows = len(excess)
        enough = rows >= LEAST_FOR_BLOCKS and returns.complete
        block = check_block(block, rows) if block is not None else block_length(excess) if enough else 1.0
        arms = [Normal(float(column.mean()), variance=float(column.var(ddof=1))) for column in columns]
        goal, measure = _judged(by, arms, L, periods, aversion, costs)
        risky = goal.rewards_risk_of_losses
        if costs and risky:
            raise InvalidInputError(
                f"objective={by!r} rewards risk where every mean is below 0, as for costs; pass objective='mean-risk'"
            )
        dependence = "autocorrelation and correlation between arms" if block > 1 else "correlation between arms"
        form = f"in blocks of {block:.3g} on average" if block > 1 else "one by one"
        estimates = "estimates of each column's value" if goal.has_feature else "rewards"
        how = (
            f"if every arm is seen, the table's {rows:,} rows, resampled {form} and jointly for all arms, which "
            f"preserves {dependence}; if one is seen at a time, independent normal {estimates}"
        )
        rest: dict[str, Any] = {"table": excess, "block": block, "rewards": how, "notes": returns.notes}
        if not returns.complete:  # rows cannot be resampled
            estimated = "every arm has the mean and the standard deviation of its own rows"
            rest = {"rewards": "independent normal rewards", "notes": (*returns.notes, estimated)}
        remarks = (*(returns.losses(rate, "pass objective='mean-risk'") if risky else ()), *returns.remarks)
        errors = abs(measure.factor) * np.array([se_of_mean(measure.objective.influence(x)) for x in columns])
        return cls(
            Bandit(arms, returns.names), periods, goal, shown=measure, remarks=remarks,
            tolerance=not_negative("tolerance", tolerance), errors=errors,
            asymptotic=_asymptotic(goal, arms, columns) if goal.has_feature else None, **rest,
        )  # fmt: skip

    def __repr__(self) -> str:
        source = "" if self.table is None else f", estimated from {len(self.table):,} rows"
        return (
            f"<BestArmProblem: {self.K} arms, the best by {self.objective_name} {self.best_in_words}; "
            f"{self.periods_per_year:g} periods per year{source}>"
        )

    @property
    def K(self) -> int:
        """Number of arms."""
        return self.bandit.K

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the arms."""
        return self.bandit.names

    @property
    def sharpes(self) -> np.ndarray:
        """Annualised Sharpe ratios of the arms as simulated."""
        arms = self.bandit.arms
        return np.array([a.mean / math.sqrt(a.variance) for a in arms]) * math.sqrt(self.periods_per_year)

    @property
    def volatilities(self) -> np.ndarray:
        return np.sqrt([arm.variance * self.periods_per_year for arm in self.bandit.arms])

    def true_values(self, objective: Objective) -> np.ndarray:
        """Values of the arms: those of the table's columns if the objective needs more than two moments."""
        if self.asymptotic is not None and objective == self.objective:
            return self.asymptotic[0]
        return np.asarray(self.bandit.true_values(objective, 0, 1)[0])

    @property
    def values(self) -> np.ndarray:
        """What tolerance and expected loss are about: annualised Sharpe ratios, or values of another objective."""
        return self.shown.factor * self.true_values(self.shown.objective)

    @property
    def objective_name(self) -> str:
        if self.shown.name != _RATIO:
            return self.shown.name
        return "RSSR" if isinstance(self.objective, RSSR) else "Sharpe ratio"

    @property
    def best(self) -> tuple[int, ...]:
        """The best arm, by number; several if they tie."""
        return tuple(np.flatnonzero(gaps_of(self.true_values(self.objective)) == 0).tolist())

    @property
    def shortfalls(self) -> np.ndarray:
        """How much worse than the best arm each arm is, in :attr:`values`."""
        return np.asarray(np.abs(self.values[self.best[0]] - self.values))

    @property
    def right(self) -> tuple[int, ...]:
        """The arms that are a right choice: the best, and those within the tolerance."""
        near = np.flatnonzero(self.shortfalls <= self.tolerance + 1e-12) if self.tolerance else ()
        return tuple(sorted({*self.best, *map(int, near)}))

    @property
    def best_in_words(self) -> str:
        return self._called(self.best, f"{self.shown.name.removeprefix('annualised ')} ")

    def leaders(self, periods: int, runs: int, generator: np.random.Generator) -> np.ndarray:
        """The arm that looks best in each run, with every arm seen for this number of periods."""
        return np.asarray(self.estimates(periods, runs, generator).argmax(axis=1))

    def estimates(self, periods: int, runs: int, generator: np.random.Generator) -> np.ndarray:
        """Values (runs, arms) of the objective, estimated from the rewards of every arm over this number of periods."""
        if self.table is not None and self.block is not None:
            rows, parts = len(self.table), []
            for first in range(0, runs, _ABREAST):
                batch = range(first, min(first + _ABREAST, runs))
                samples = (resampled_rows(generator, rows, periods, self.block) for _ in batch)
                counts = np.array([np.bincount(path, minlength=rows) for path in samples], float)
                parts.append([self.objective.value_of_resamples(counts, column) for column in self.table.T])
            return np.concatenate(parts, axis=1).T
        shape, rho = (runs, self.K), self.correlation
        if self.asymptotic is not None:
            value, noise = self.asymptotic
            return np.asarray(value + np.sqrt(noise / periods) * generator.standard_normal(shape))
        if not rho:
            error, squares = generator.standard_normal(shape), generator.chisquare(periods - 1, shape)
        else:  # seen together, arms have the benchmark's error in common
            rest = math.sqrt(1 - rho * rho)
            error = rest * generator.standard_normal(shape) + rho * generator.standard_normal((runs, 1))
            common = np.sqrt(generator.chisquare(periods - 1, (runs, 1)))
            squares = (rest * generator.standard_normal(shape) + rho * common) ** 2
            if periods > 2:
                squares += rest * rest * generator.chisquare(periods - 2, shape)
        (mean,), (variance,) = self.bandit.truth(0, 1)
        statistics = Statistics(
            mean=mean + np.sqrt(variance / periods) * error, variance=variance * squares / (periods - 1)
        )
        return np.asarray(self.objective.value(statistics))

    def policies(self) -> list[EliminationPolicy]:
        """The default policies: halving, rejects and uniform sampling on the objective."""
        goal = self.objective
        if isinstance(goal, RSSR):
            return [SHSR(goal.L, signed=True), SuRSR(goal.L, signed=True), UniformSampling(goal)]
        return [SequentialHalving(goal), SuccessiveRejects(goal), UniformSampling(goal)]

    def conventions(self) -> list[str]:
        low, high = self.volatilities.min(), self.volatilities.max()
        stated = f"{self.volatilities[0]:.4g}" if np.allclose(low, high) else f"{low:.4g} to {high:.4g}"
        if self.shown.name == _RATIO and self.objective != Sharpe(0.0):
            formula = "m·|m| / (L + v)" if isinstance(self.objective, RSSR) else "m / (L + √v)"
            best = (
                f"Best is the arm with the largest {self.objective_name} {formula} of mean m and variance v per "
                f"period, L = {self.objective.arguments()[0]:.4g}. {self._order()}"
            )
        else:
            best = f"Best is the arm with the {'smallest' if self.shown.factor < 0 else 'largest'} {self.shown.name}."
        name = self.shown.name
        sentences = {
            f"{self.K} arms with {name} of {self._listed()}, annualised volatility {stated}, "
            f"{self.periods_per_year:g} periods per year. A reward is the return of one period.": True,
            best: True,
            f"Any arm whose {name} is within {self.tolerance:g} of the best one's is a right choice: "
            f"{len(self.right)} of the {self.K}.": self.tolerance,
            "These values are estimates from the table; the best of several tends to look better than it is.": (
                self.table is not None
            ),
            "Estimates from n rewards are drawn as normal, with the variance of the objective's influence function "
            "over n.": self.asymptotic is not None,
            "A round is one period, in which only the reward of the chosen arm is seen.": True,
            f"When the table was read: {'; '.join(self.notes)}.": self.notes,
        }
        return [sentence for sentence, holds in sentences.items() if holds]

    def _order(self) -> str:
        """Whether the best arm is another than that by plain Sharpe ratio, in a sentence."""
        top = np.flatnonzero(gaps_of(self.true_values(Sharpe(0.0))) == 0).tolist()
        if top == list(self.best):
            return "That is also the arm with the largest plain Sharpe ratio."
        return (
            f"That is {self._called(self.best)}, while {self._called(top)} has the largest plain Sharpe ratio: L "
            "penalises low-variance arms. Missing the former counts as an error; the objective 'sharpe', or a "
            "smaller L, makes the latter the best arm."
        )

    def _called(self, numbers: Iterable[int], what: str = "") -> str:
        values, errors = self.values, np.zeros(self.K) if self.errors is None else self.errors
        # an estimate has the digits that its standard error leaves
        pairs = zip(values, errors, strict=True)
        shown = [f"{v:{in_digits(e)}} ± {e:{in_digits(e)}}" if e else f"{v:.4g}" for v, e in pairs]
        return " and ".join(f"{self.names[k]} ({what}{shown[k]})" for k in numbers)

    def _listed(self) -> str:
        """The values, with repeats counted: ``1, 0.7 ×7``."""
        form = ".4g" if self.errors is None else in_digits(float(self.errors.min()))
        texts = repeats_counted(f"{v:{form}}" for v in self.values)
        return ", ".join(texts if len(texts) <= 12 else [*texts[:5], "…", *texts[-5:]])

    def to_dict(self) -> dict[str, Any]:
        return {
            "names": list(self.names),
            "sharpes": self.sharpes.tolist(),
            "values": self.values.tolist(),
            "value_name": self.shown.name,
            "volatilities": self.volatilities.tolist(),
            "periods_per_year": self.periods_per_year,
            "objective": self.objective.to_dict(),
            "rewards": self.rewards,
            "block": self.block,
            "tolerance": self.tolerance,
            "correlation": self.correlation,
            "right": [self.names[k] for k in self.right],
            "best": [self.names[k] for k in self.best],
        }


def _judged(
    by: CriterionName | Objective,
    arms: Sequence[Arm],
    L: float | None,
    periods: float,
    aversion: float = 1.0,
    costs: bool = False,
) -> tuple[Objective, Criterion]:
    if isinstance(by, Objective):
        return by, Criterion(repr(by), by)
    check_aversion(aversion, by)
    measure = criterion(by, usual_regulariser(min(arm.variance for arm in arms)) if L is None else positive("L", L),
                       aversion, periods, costs)  # fmt: skip
    if by == "sharpe" and L is not None:
        return Sharpe(L), measure
    return measure.objective, criterion("sharpe", 1.0, 1.0, periods) if by == "rssr" else measure


def _asymptotic(
    goal: Objective, arms: Sequence[Arm], columns: Sequence[np.ndarray] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Values of arms and the variances of their influence functions: of columns, or of normal rewards."""
    from scipy.special import ndtri

    if columns is None:
        values = [goal.true_value(arm) for arm in arms]
        columns = [arm.mean + math.sqrt(arm.variance) * ndtri(_QUANTILES) for arm in arms]
    else:
        values = [float(goal.value_of(column)) for column in columns]
    return np.array(values), np.array([goal.influence(column).var() for column in columns])
