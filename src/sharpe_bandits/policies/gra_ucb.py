"""GRA-UCB (Liu et al.) and the paper's Modified-GRA-UCB."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from ..kernels.statistics import Arm
from ..objectives import RSSR, MeanVariance, Objective
from ..validation import inside, not_negative, one_of, positive
from .base import PAPER, IndexPolicy

_HALF_ROOT = math.sqrt(0.5)


def gra(arm: Arm, t: int, rho: float, chi2: np.ndarray) -> float:
    free = arm.pulls - 1.0
    return rho * (arm.mean + _HALF_ROOT * arm.epsilon) - free * arm.variance / chi2[int(free)]


def modified_printed(arm: Arm, t: int, L: float, chi2: np.ndarray) -> float:
    free = arm.pulls - 1.0
    top = arm.mean + _HALF_ROOT * arm.epsilon
    return top * top / math.sqrt(L + free * arm.variance * arm.variance / chi2[int(free)])


def modified_authors(arm: Arm, t: int, L: float, chi2: np.ndarray) -> float:
    free = arm.pulls - 1.0
    # Only the arm just played has its index refreshed: the clock of an arm stops at its last pull.
    width = math.sqrt(math.log(arm.last) / arm.pulls)
    return (arm.mean * arm.mean + width) / (L + free * arm.variance / chi2[int(free)])


@lru_cache(maxsize=8)
def chi2_table(alpha: float, size: int) -> np.ndarray:
    """The (1 - alpha) quantile of chi-square by degrees of freedom, 0 to size."""
    from scipy.special import chdtri

    table = np.ones(size + 1)
    table[1:] = chdtri(np.arange(1, size + 1), alpha)
    return table


@dataclass(frozen=True)
class _GRA(IndexPolicy):
    def argument(self, name: str, horizon: int) -> Any:
        if name == "chi2":
            return chi2_table(self.alpha, horizon)  # type: ignore[attr-defined]
        return super().argument(name, horizon)


@dataclass(frozen=True)
class GRAUCB(_GRA):
    r"""GRA-UCB on the mean-variance; the index is the negative of the printed one, which is minimised.

    .. math:: \rho\left(\bar X + \sqrt{\ln N / s}\right) - \frac{(s-1)\bar V}{\chi^2_{1-\alpha,\,s-1}}
    """

    title: ClassVar[str] = "GRA-UCB"
    citation: ClassVar[str] = f"Liu, Derakhshani, Lambotharan & van der Schaar, 2020; {PAPER}, eq. 2"

    rho: float = 1.0
    alpha: float = 0.05

    def check(self) -> None:
        self._set(rho=not_negative("rho", self.rho), alpha=inside("alpha", self.alpha))

    @property
    def goal(self) -> Objective:
        return MeanVariance(self.rho)

    @property
    def formula(self) -> Callable[..., Any]:
        return gra

    def never_falls(self, lowest: float) -> bool:
        return True


@dataclass(frozen=True)
class ModifiedGRAUCB(_GRA):
    r"""Modified-GRA-UCB, the paper's benchmark on RSSR.

    ``form="printed"`` is eq. 3 as it stands,

    .. math:: \frac{\left(\bar X + \sqrt{\ln N/s}\right)^2}{\sqrt{L + (s-1)\bar V^2 / \chi^2_{1-\alpha,\,s-1}}};

    ``form="authors"`` is the released code,
    :math:`(\bar X^2 + \sqrt{\ln N/s}) / (L + (s-1)\bar V/\chi^2_{1-\alpha,\,s-1})`, where only the arm just played has
    its index refreshed (all are refreshed at the end of the pilot).
    """

    title: ClassVar[str] = "Modified-GRA-UCB"
    citation: ClassVar[str] = f"{PAPER}, eq. 3"

    L: float
    alpha: float = 0.05
    form: str = "printed"

    def check(self) -> None:
        self._set(L=positive("L", self.L), alpha=inside("alpha", self.alpha))
        one_of("form", self.form, ("printed", "authors"))

    @property
    def goal(self) -> Objective:
        return RSSR(self.L)

    @property
    def formula(self) -> Callable[..., Any]:
        return modified_printed if self.form == "printed" else modified_authors

    def never_falls(self, lowest: float) -> bool:
        return self.form == "authors" or lowest >= 0
