"""GRA-UCB (Liu et al.) and the paper's Modified-GRA-UCB."""

from __future__ import annotations

import math
from dataclasses import field
from functools import lru_cache
from statistics import NormalDist
from typing import Annotated, Any, Literal

import numpy as np

from .._support.described import Inside, whole
from ..errors import InvalidInputError
from ..objectives.influence import Formula
from ..play.statistics import ArmRecord
from ..play.streams import log
from .base import PAPER, IndexPolicy, OnMeanVariance, OnRSSR
from .ucb_sharpe import variance_by

#: Maximum number of entries of a table of quantiles; those beyond it are computed.
MAX_TABLE = 2**20
_HALF_ROOT = math.sqrt(0.5)


def quantile(free: float, chi2: np.ndarray, z: float) -> float:
    """A chi-square quantile by degrees of freedom, from a table and, beyond its end, where it has eleven exact digits,
    by the Cornish-Fisher expansion about the normal quantile z.
    """
    if free >= chi2.size:
        sd = math.sqrt(2.0 * free)
        return free + z * sd + (z * z - 1.0) * 2.0 / 3.0 + z * (z * z - 7.0) / (9.0 * sd)
    return float(chi2[int(free)])


def modified_printed(arm: ArmRecord, t: int, L: float, chi2: np.ndarray, z: float) -> float:
    free = arm.pulls - 1.0
    top = arm.mean + _HALF_ROOT * arm.epsilon
    return top * top / math.sqrt(L + free * arm.variance * arm.variance / quantile(free, chi2, z))


def modified_authors(arm: ArmRecord, t: int, L: float, chi2: np.ndarray, z: float, ddof: float) -> float:
    free = arm.pulls - 1.0
    # Only the arm just played has its index updated: an arm's index uses the round of its last pull.
    width = math.sqrt(log(arm.last) / arm.pulls)
    return (arm.mean * arm.mean + width) / (L + free * variance_by(arm, ddof) / quantile(free, chi2, z))


@lru_cache(maxsize=8)
def chi2_table(alpha: float, size: int) -> np.ndarray:
    """The (1 - alpha) chi-square quantile by degrees of freedom, 0 to size."""
    from scipy.special import chdtri

    table = np.ones(size + 1)
    table[1:] = chdtri(np.arange(1, size + 1), alpha)
    return table


class _GRA(IndexPolicy):
    alpha: Inside = 0.05

    def argument(self, name: str, horizon: int) -> Any:
        if name == "chi2":
            return chi2_table(self.alpha, min(horizon, MAX_TABLE))
        return -NormalDist().inv_cdf(self.alpha) if name == "z" else super().argument(name, horizon)


class GRAUCB(_GRA, OnMeanVariance):
    r"""GRA-UCB on the mean-variance; the index is the negative of the printed one, which is minimised.

    .. math:: \rho\left(\bar X + \sqrt{\ln N / s}\right) - \frac{(s-1)\bar V}{\chi^2_{1-\alpha,\,s-1}}
    """

    title = "GRA-UCB"
    citation = f"Liu, Derakhshani, Lambotharan & van der Schaar, 2020; {PAPER}, eq. 2"

    @staticmethod
    def formula(arm: ArmRecord, t: int, rho: float, chi2: np.ndarray, z: float) -> float:
        free = arm.pulls - 1.0
        return rho * (arm.mean + _HALF_ROOT * arm.epsilon) - free * arm.variance / quantile(free, chi2, z)


class ModifiedGRAUCB(_GRA, OnRSSR):
    r"""Modified-GRA-UCB, the paper's benchmark on RSSR.

    ``form="printed"`` is eq. 3 as printed,

    .. math:: \frac{\left(\bar X + \sqrt{\ln N/s}\right)^2}{\sqrt{L + (s-1)\bar V^2 / \chi^2_{1-\alpha,\,s-1}}};

    ``form="authors"`` is the released code,
    :math:`(\bar X^2 + \sqrt{\ln N/s}) / (L + (s-1)\bar V/\chi^2_{1-\alpha,\,s-1})`, where only the arm just played has
    its index updated (all are updated at the end of the pilot). That code divides the variance by s: ``ddof=0``.
    """

    title = "Modified-GRA-UCB"
    citation = f"{PAPER}, eq. 3"

    form: Literal["printed", "authors"] = "printed"
    ddof: Annotated[int, whole(0, 1)] = field(default=1, kw_only=True)

    def check(self) -> None:
        if self.form == "printed" and self.ddof == 0:
            raise InvalidInputError('Modified-GRA-UCB has ddof=0 only with form="authors"; leave one of them out')

    @property
    def formula(self) -> Formula:
        return modified_printed if self.form == "printed" else modified_authors
