"""Objectives that use a covariate: see :mod:`sharpe_bandits.play.covariate` for their estimates."""

from __future__ import annotations

from functools import lru_cache
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np

from .._support.described import RegulariserOrZero
from ..errors import InvalidInputError, shown
from ..play.covariate import CALLS, RELATIVE, adjusted_statistic
from ..play.statistics import Statistic
from .base import Objective, ObjectiveParameter, unit_slope
from .influence import Formula, feature_mean, feature_root, influence_variance, named
from .ratios import Sharpe


def estimated_square(mean: Any, h: Any, *arguments: float) -> Any:
    return h * np.abs(h)


@lru_cache
def spread_of_root(root: Formula) -> Formula:
    """The variance of the root's influence for normal rewards, in the form of ``spread_if_normal``."""

    def spread(mean: float, variance: float, *arguments: float) -> tuple[float, float]:
        _, by_mean, by_variance, scale = root(mean, variance, *arguments)
        return 0.0, influence_variance(variance, 0.0, 3.0 * variance * variance, variance, by_mean, by_variance, scale)

    return named(spread, root)


class _WithCovariate(Objective):
    """Common parts of objectives that read a covariate."""

    needs_covariate = True
    root = staticmethod(feature_root)

    def features(self, rewards: Any) -> np.ndarray:
        raise InvalidInputError(
            f"{self!r} is estimated from rewards and covariates together: by agents and campaigns that are told both, "
            "by simulate on a FactorBandit, and by replay with a benchmark"
        )


class Adjusted(_WithCovariate):
    r"""An objective of mean and variance, estimated with the help of a covariate that is seen in every round, such as
    the return of the market (regression adjustment, or control variates).

    The value of an arm is that of ``objective``; only its estimate is sharper, the more so the larger the share of the
    rewards' variance that the covariate explains. Agents are told the covariate with every reward, as in
    ``agent.tell(arm, reward, covariate=market)``. See :mod:`sharpe_bandits.play.covariate` for the estimate.

    Statements that hold at any time (``intervals``, ``leader``) use rewards alone.

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> objective = sb.objectives.Adjusted(sb.RSSR(L=1e-5, signed=True))
    >>> agent = sb.ScaleFreeUCB(objective=objective).agent(arms=["value", "carry"])
    >>> agent.tell(agent.ask(), 0.012, covariate=0.01)
    """

    objective: ObjectiveParameter

    def check(self) -> None:
        base = self.objective
        if base.has_feature or len(base.arguments()) >= len(CALLS):
            raise InvalidInputError(
                f"Adjusted takes an objective of mean and variance, as in Adjusted(RSSR(L=0.1, signed=True)), got "
                f"{shown(base)}"
            )

    def arguments(self) -> tuple[float, ...]:
        return self.objective.arguments()

    @property
    def formula(self) -> Formula:
        return feature_mean if self.objective.slope_from_root is unit_slope else estimated_square

    @property
    def statistic(self) -> Statistic:
        statistic: Statistic = adjusted_statistic(self.objective.root, len(self.arguments()))
        return statistic

    @property
    def spread_if_normal(self) -> Formula:
        return spread_of_root(self.objective.root)

    # In all else it is the objective that it estimates.
    unadjusted: ClassVar = property(attrgetter("objective"))
    usual_L: ClassVar = property(attrgetter("objective.usual_L"))
    hurdle: ClassVar = property(attrgetter("objective.hurdle"))
    from_root: ClassVar = property(attrgetter("objective.from_root"))
    slope_from_root: ClassVar = property(attrgetter("objective.slope_from_root"))
    unseen_influence_variance: ClassVar = property(attrgetter("objective.unseen_influence_variance"))
    for_means: ClassVar = property(attrgetter("objective.for_means"))
    true_value: ClassVar = property(attrgetter("objective.true_value"))
    rewards_losses: ClassVar = property(attrgetter("objective.rewards_losses"))
    rewards_risk_of_losses: ClassVar = property(attrgetter("objective.rewards_risk_of_losses"))

    def to_dict(self) -> dict[str, Any]:
        return {"objective": "Adjusted", "of": self.objective.to_dict()}

    @classmethod
    def from_parameters(cls, data: dict[str, Any]) -> Objective:
        return cls(**{"objective" if name == "of" else name: value for name, value in data.items()})


class InformationRatio(_WithCovariate):
    """Information ratio with a regulariser: mean over standard deviation of what an arm pays beyond the covariate of
    the round, E[X - Z]/(L + sd(X - Z)), where the covariate is the return of a benchmark.

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> arms = [sb.Normal(0.02, sd=0.1), sb.Normal(0.04, sd=0.4)]
    >>> bandit = sb.FactorBandit(arms, factor=sb.Normal(0.05, sd=1.0), betas=1.0)
    >>> bandit.true_values(sb.objectives.InformationRatio(L=0.0), 0, 1).round(3)
    array([[0.2, 0.1]])
    """

    L: RegulariserOrZero = 0.0

    usual_L = Sharpe.usual_L
    unseen_influence_variance = 0.5
    formula = staticmethod(feature_mean)

    def arguments(self) -> tuple[float, ...]:
        return (self.L,)

    @property
    def statistic(self) -> Statistic:
        return RELATIVE

    @property
    def spread_if_normal(self) -> Formula:
        return spread_of_root(information_root)

    @property
    def of_differences(self) -> Objective:
        return Sharpe(self.L)

    def true_value(self, arm: Any) -> float:
        raise InvalidInputError(
            f"{self!r} is the value of an arm beside a covariate; FactorBandit(...).true_values({self!r}, 0, 1) has it"
        )


sharpe_root = Sharpe.root


def information_root(mean: Any, variance: Any, L: float) -> Any:
    return sharpe_root(mean, variance, L, 0.0)
