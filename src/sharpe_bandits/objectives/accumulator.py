"""Statistics of an objective's feature, reward by reward."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .._support.call_tree import substituted
from ..play import formulas
from ..play.statistics import FEATURE_STATISTIC

if TYPE_CHECKING:
    from .base import Objective


class FeatureAccumulator:
    """Keeps of an arm's rewards what agents keep for the feature of an objective."""

    def __init__(self, objective: Objective) -> None:
        statistic = objective.statistic or FEATURE_STATISTIC
        assert statistic.update is not None
        bindings = {formulas.feature: objective.feature or formulas.no_feature}
        self._update, self._values = substituted(statistic.update, bindings), statistic.values
        self._arguments = objective.arguments()
        self._kept = np.zeros((1, statistic.cells, 1))
        self._count, self._anchor, self._total = 0, 0.0, 0.0

    def add(self, reward: float, covariate: float = math.nan) -> tuple[float, float, float]:
        """Mean and mean square of the feature, and its covariance with the reward, after one more reward."""
        if not self._count:
            self._anchor = reward
        self._count += 1
        d = reward - self._anchor
        self._total += d
        self._update(self._kept, 0, 0, 0, float(self._count), reward, d, covariate, self._arguments)
        return self.known

    @property
    def known(self) -> tuple[float, float, float]:
        """The same of the rewards so far."""
        n = float(self._count)
        moments = (n, self._anchor, self._anchor + self._total / n, math.nan, math.nan, math.nan)
        of_feature: tuple[float, float, float] = self._values(self._kept, 0, 0, 0, *moments, 0)
        return of_feature

    def to_plain(self) -> list[Any]:
        """Plain data, for :meth:`restore`."""
        return [self._count, self._anchor, self._total, self._kept[0, :, 0].tolist()]

    def restore(self, content: list[Any]) -> FeatureAccumulator:
        """Take over what :meth:`to_plain` wrote."""
        self._count, self._anchor, self._total = int(content[0]), float(content[1]), float(content[2])
        self._kept[0, :, 0] = content[3]
        return self
