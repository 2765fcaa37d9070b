"""Power and false discovery rates of a test of one Sharpe ratio, from moments [1].

The null hypothesis is that the true Sharpe ratio is at most ``null``, the alternative that it is ``alternative``; both
are per period, as is every Sharpe ratio here. Variances are evaluated at the hypothesis, not at the estimate as in the
probabilistic Sharpe ratio of :mod:`.statistics` [2]: for a null hypothesis of 0 skewness and kurtosis then do not
matter, and the minimum track record is shorter (by 63% in the example of [1]).

References
----------
.. [1] M. López de Prado, A. Lipton and V. Zoonekynd (2026). How to use the Sharpe ratio.
.. [2] D. H. Bailey and M. López de Prado (2012). The Sharpe ratio efficient frontier. Journal of Risk 15(2).

Examples
--------
>>> from sharpe_bandits.returns.sharpe_tests import SharpeTest
>>> test = SharpeTest(rows=24, skewness=-2.448, kurtosis=10.164, autocorrelation=0.2)
>>> round(test.minimum_track_record(0.036 / 0.079), 2)
19.54
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from .._support.validation import finite, inside, positive, whole


@dataclass(frozen=True)
class SharpeTest:
    """A one-sided test of a Sharpe ratio of AR(1) returns with these moments.

    Attributes
    ----------
    rows : int
        number of returns
    null, alternative : float, optional
        Sharpe ratio per period under the null hypothesis and under the alternative
    skewness, kurtosis, autocorrelation : float, optional
        of returns; kurtosis 3 is normal
    level : float, optional
        probability of rejecting a true null hypothesis
    """

    rows: int
    null: float = 0.0
    alternative: float = 0.5
    skewness: float = 0.0
    kurtosis: float = 3.0
    autocorrelation: float = 0.0
    level: float = 0.05

    def __post_init__(self) -> None:
        whole("rows", self.rows, 2)
        inside("level", self.level)
        inside("(1 + autocorrelation)/2", (1 + finite("autocorrelation", self.autocorrelation)) / 2)
        positive("alternative - null", self.alternative - self.null)

    def variance(self, sharpe: float) -> float:
        """Variance of the estimate if the true Sharpe ratio is this."""
        rho = self.autocorrelation
        first, second = rho / (1 - rho), rho**2 / (1 - rho**2)
        return (
            1 + 2 * first
            - (1 + first + second) * self.skewness * sharpe
            + (1 + 2 * second) * (self.kurtosis - 1) / 4 * sharpe**2
        ) / self.rows  # fmt: skip

    def probabilistic_sharpe(self, sharpe: float) -> float:
        """Confidence that the true Sharpe ratio exceeds that of the null hypothesis, given this estimate."""
        return self._below(sharpe, self.null)

    def minimum_track_record(self, sharpe: float) -> float:
        """Number of returns needed to reject the null hypothesis if this is the estimate."""
        from scipy.special import ndtri

        distance = positive("sharpe - null", sharpe - self.null)
        return float(self.rows * self.variance(self.null) * (ndtri(1 - self.level) / distance) ** 2)

    @property
    def critical_sharpe(self) -> float:
        """The estimate above which the null hypothesis is rejected."""
        from scipy.special import ndtri

        return float(self.null + ndtri(1 - self.level) * math.sqrt(self.variance(self.null)))

    @property
    def power(self) -> float:
        """Probability of rejecting the null hypothesis if the alternative is true."""
        return 1 - self._below(self.critical_sharpe, self.alternative)

    def planned_fdr(self, prior: float) -> float:
        """Probability that a rejected null hypothesis is true (pFDR); ``prior`` is that of the alternative."""
        odds = inside("prior", prior) / (1 - prior)
        return 1 / (1 + odds * self.power / self.level)

    def observed_fdr(self, sharpe: float, prior: float) -> float:
        """Probability of the null hypothesis given an estimate of at least this (oFDR)."""
        odds = inside("prior", prior) / (1 - prior)
        null, alternative = (1 - self._below(sharpe, true) for true in (self.null, self.alternative))
        return null / (null + alternative * odds)

    def critical_sharpe_for_fdr(self, fdr: float, prior: float) -> float:
        """The estimate above which a strategy has no skill with probability ``fdr``, our reading of SFDR.

        Of strategies with an estimate above it, this share has none; infinite if no estimate is large enough.
        """
        from scipy.optimize import brentq

        inside("fdr", fdr)
        low, high = (self.null - 10 * math.sqrt(self.variance(self.null)), self.alternative)
        while self.observed_fdr(high, prior) > fdr:
            high += math.sqrt(self.variance(self.null))
            if self._below(high, self.null) == 1:
                return math.inf
        if self.observed_fdr(low, prior) < fdr:
            return -math.inf
        return float(brentq(lambda sharpe: self.observed_fdr(sharpe, prior) - fdr, low, high, xtol=1e-12))

    def _below(self, sharpe: float, true: float) -> float:
        """Probability of an estimate below ``sharpe`` if ``true`` is the true Sharpe ratio."""
        from scipy.special import ndtr

        return float(ndtr((finite("sharpe", sharpe) - true) / math.sqrt(self.variance(true))))
