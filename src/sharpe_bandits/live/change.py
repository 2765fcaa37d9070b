"""A detector of changes, on top of any policy: start the policy anew when an arm no longer pays as it did.

>>> import sharpe_bandits as sb
>>> from sharpe_bandits.live.change import ChangeDetector
>>> detector = ChangeDetector()
>>> rewards = [0.1, 0.3, 0.2, 0.4] * 50 + [1.1, 1.3, 1.2, 1.4] * 50
>>> [detector.add("A", reward) for reward in rewards].index(True)
218
"""

from __future__ import annotations

import math
from collections.abc import Hashable

from .._support.validation import inside

#: Rewards on either side of a change: at least LEAST, and at least PER_KURTOSIS times the kurtosis.
LEAST, PER_KURTOSIS = 16, 8.0


class ChangeDetector:
    r"""Compares the last rewards of an arm with its earlier ones: has their mean or their variance changed?

    After n rewards of an arm, the last 16, 32, 64, ... are compared with the others, if both are at least eight times
    the kurtosis. The alarm is raised if the distance of the means, or of the variances, squared and in standard errors,
    exceeds :math:`2 \ln(6 n \sqrt n/\alpha)`, the threshold of generalised likelihood ratio tests [1]_ for two tests: a
    false alarm within the life of an arm has a probability below about alpha, if rewards are independent.

    Start the policy anew at an alarm, as in detection-augmented bandits [2]_. Only arms that are played can be seen to
    change: an arm that becomes better while it is not played is missed without some exploration.

    Parameters
    ----------
    alpha : accepted probability of a false alarm, per arm

    References
    ----------
    .. [1] L. Besson, E. Kaufmann, O.-A. Maillard and J. Seznec (2022). Efficient change-point detection for tackling
           piecewise-stationary bandits. Journal of Machine Learning Research 23.
    .. [2] Y.-F. Huang, A. Gerogiannis, S. Bose and V. V. Veeravalli (2025). Detection augmented bandit procedures for
           piecewise stationary MABs: a modular approach. arXiv 2501.01291.
    """

    def __init__(self, alpha: float = 0.05) -> None:
        self.alpha = inside("alpha", alpha)
        self._sums: dict[Hashable, list[tuple[float, float, float, float]]] = {}
        self._first: dict[Hashable, float] = {}

    def add(self, arm: Hashable, reward: float) -> bool:
        """Add a reward; returns whether the arm has changed. Everything is then forgotten, of all arms."""
        sums = self._sums.setdefault(arm, [(0.0, 0.0, 0.0, 0.0)])
        d = reward - self._first.setdefault(arm, reward)
        a, b, c, e = sums[-1]
        sums.append((a + d, b + d * d, c + d * d * d, e + d * d * d * d))
        if changed := self._changed(sums):
            self._sums.clear()
            self._first.clear()
        return changed

    def _changed(self, sums: list[tuple[float, float, float, float]]) -> bool:
        n, total = len(sums) - 1, sums[-1]
        if n < 2 * LEAST:
            return False
        _, variance, kurtosis = _moments(total, sums[0], n)
        threshold = 2.0 * math.log(6.0 * n * math.sqrt(n) / self.alpha)
        last = LEAST
        while last <= n - LEAST and variance > 0.0:
            if min(last, n - last) >= PER_KURTOSIS * kurtosis:
                before, after = _moments(sums[-1 - last], sums[0], n - last), _moments(total, sums[-1 - last], last)
                size = 1.0 / (n - last) + 1.0 / last
                mean, spread = after[0] - before[0], after[1] - before[1]
                if mean * mean > threshold * variance * size:
                    return True
                if spread * spread > threshold * variance * variance * (kurtosis - 1.0) * size:
                    return True
            last *= 2
        return False


def _moments(upto: tuple[float, ...], since: tuple[float, ...], n: int) -> tuple[float, float, float]:
    """Mean (less the first reward), variance and kurtosis (at least that of normal rewards) between two sums."""
    a, b, c, d = ((x - y) / n for x, y in zip(upto, since, strict=True))
    variance = max(b - a * a, 0.0)
    if variance <= 1e-12 * b:
        return a, 0.0, 3.0
    fourth = d - a * (4.0 * c - a * (6.0 * b - 3.0 * a * a))
    return a, variance * n / (n - 1), max(fourth / (variance * variance), 3.0)
