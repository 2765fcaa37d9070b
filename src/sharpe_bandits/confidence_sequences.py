r"""Confidence sequences: time-uniform (anytime-valid) intervals for the objective of an arm.

An ordinary 95% interval is valid at a time chosen in advance. If you check it every day and act when it excludes a
value, you will sooner or later act on chance. A confidence sequence excludes the true value *at any time* with
probability at most alpha, to the extent that the estimate of the root of the objective (see
:mod:`sharpe_bandits.objectives`) is normal with variance W / n: by the normal mixture martingale [1],

.. math:: \hat h \pm \sqrt{2 \hat W \frac{n + m}{n^2} \ln\frac{\sqrt{1 + n/m}}{\alpha}}, \qquad m = 300.

It is asymptotic, since W is estimated [2]. It starts once n is at least 32 and at least 8 times the estimated kurtosis;
before that, and as long as an arm has always paid the same, the interval is the whole real line. That of CVaR, which
depends on a share alpha of the rewards, starts after 16/alpha. ``docs/evidence/intervals.md`` has the measured
coverage, and the cases where it falls short: rewards with an estimated kurtosis above 20 are marked heavy-tailed.

References
----------
.. [1] H. Robbins (1970). Statistical methods related to the law of the iterated logarithm. Annals of Math.
       Statistics 41.
.. [2] I. Waudby-Smith, D. Arbour, R. Sinha, E. H. Kennedy and A. Ramdas (2024). Time-uniform central limit theory and
       asymptotic confidence sequences. Annals of Statistics 52(6).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ._support.validation import finite, inside, whole
from .errors import InvalidInputError
from .objectives import Objective, Sharpe, Statistics, check_objective
from .play.statistics import ROUNDING

#: As a multiple of the standard error, intervals are narrowest after about this many rewards.
TUNING = 300.0
#: The same for comparisons with the leader and for evidence against a hurdle.
EARLY = 32.0
#: Rewards needed for the first interval: at least START, and at least PER_KURTOSIS times the kurtosis.
START, PER_KURTOSIS = 32, 8.0
#: Rewards with a larger estimated kurtosis are marked heavy-tailed.
HEAVY = 20.0
#: Upper limit of autocorrelations.
_LARGEST = 0.99


@dataclass(frozen=True, repr=False)
class ConfidenceSequence:
    """Intervals for an objective that hold simultaneously with probability 1 - alpha, as arrays of one shape.

    Attributes
    ----------
    pulls : numpy.ndarray
        number of rewards behind each interval
    estimate, low, high : numpy.ndarray
        estimate and bounds of the objective; the bounds are minus and plus infinity (for squares 0 and infinity) where
        it is too early
    heavy_tailed : numpy.ndarray
        whether the kurtosis of the rewards is so large that the nominal coverage is not reached
    alpha : float
        nominal probability that the true value is ever excluded
    """

    pulls: np.ndarray
    estimate: np.ndarray
    low: np.ndarray
    high: np.ndarray
    heavy_tailed: np.ndarray
    alpha: float

    def __repr__(self) -> str:
        return f"<confidence sequence of level {1 - self.alpha:g}: {self.estimate.size} intervals>"


class Interval(NamedTuple):
    """One interval of a confidence sequence (see :class:`ConfidenceSequence`)."""

    estimate: float
    low: float
    high: float
    heavy_tailed: bool


@dataclass(frozen=True)
class Leader:
    """The arm with the largest estimate, and its lead over its closest rival.

    Attributes
    ----------
    arm : Any
        its number; agents and campaigns use its name
    rival : Any
        the arm that may be ahead of it, or comes closest to it; None if there is no other arm
    lead, low : float | None
        estimated difference of the two in the root of the objective, and its lower confidence bound; None if it is too
        early
    probably_best : bool
        whether it is ahead of all others, by a time-uniform test with error probability alpha
    heavy_tailed : bool
        whether the kurtosis of the two arms' rewards is so large that the nominal error probability is not reached
    alpha : float
        that probability
    since : Any
        since when it has been probably best without interruption: a round, or a date; None if it is not, or if this was
        not tracked
    """

    arm: Any
    rival: Any
    lead: float | None
    low: float | None
    probably_best: bool
    heavy_tailed: bool
    alpha: float
    since: Any = None


def confidence_sequence(
    rewards: Any,
    objective: Objective | None = None,
    *,
    alpha: float = 0.05,
    arms: int = 1,
    autocorrelated: bool = False,
) -> ConfidenceSequence:
    """Time-uniform confidence intervals for the objective of an arm, after each of its rewards.

    Parameters
    ----------
    rewards : Any
        rewards of one arm in order, or a column per arm
    objective : Objective | None, optional
        by default the Sharpe ratio without a regulariser
    alpha : float, optional
        probability that the true value is ever excluded
    arms : int, optional
        number of arms whose intervals hold simultaneously (alpha is divided among them)
    autocorrelated : bool, optional
        allow for autocorrelation: W is multiplied by (1 + r)/(1 - r) if r > 0, where r is the estimated autocorrelation
        at lag 1

    Examples
    --------
    >>> import numpy as np
    >>> import sharpe_bandits as sb
    >>> rewards = np.random.default_rng(1).normal(0.1, 1.0, 5_000)
    >>> sequence = sb.confidence_sequence(rewards, sb.Sharpe(L=0.01), alpha=0.05)
    >>> bool(((sequence.low < 0.1) & (0.1 < sequence.high))[100:].all())
    True
    """
    x = np.asarray(rewards, float)
    if x.ndim not in (1, 2) or not x.size:
        raise InvalidInputError(f"rewards must be a series, or a column per arm, got shape {x.shape}")
    if not np.isfinite(x).all():
        raise InvalidInputError("rewards must be finite numbers; drop missing values")
    target = _or_sharpe(objective)
    inflation = _autocorrelation_so_far(x) if autocorrelated else 1.0
    return intervals(target.statistics_so_far(x), target, alpha=alpha, arms=arms, inflation=inflation)


def _or_sharpe(objective: Objective | None) -> Objective:
    return Sharpe(0.0) if objective is None else check_objective(objective)


def intervals(
    statistics: Statistics,
    objective: Objective | None = None,
    *,
    alpha: float = 0.05,
    arms: int = 1,
    inflation: Any = 1.0,
) -> ConfidenceSequence:
    """The intervals of :func:`confidence_sequence` from statistics, for callers that keep sums instead of rewards.

    ``inflation`` is the factor by which W is multiplied for dependence. An arm's interval depends only on its own
    statistics.
    """
    share = inside("alpha", alpha) / whole("arms", arms, 1)
    target = _or_sharpe(objective)
    estimate, w, n, ready, heavy = _estimates(statistics, target, inflation)
    half = np.sqrt(2 * w * (n + TUNING) / n**2 * np.log(np.sqrt(1 + n / TUNING) / share))
    half = np.where(ready, half, np.inf)
    centre = np.where(np.isnan(estimate), 0.0, estimate)
    low, high = centre - half, centre + half
    estimate, low, high = (np.asarray(target.from_root(root), float) for root in (estimate, low, high))
    return ConfidenceSequence(np.asarray(statistics.pulls), estimate, low, high, heavy, float(alpha))


def difference(
    statistics: Statistics, objective: Objective | None = None, *, alpha: float = 0.05
) -> tuple[float, float]:
    """Difference of two arms in the root of the objective, and the half-width of its time-uniform interval; infinite
    while it is too early. ``statistics`` are arrays of two; see :func:`leader` for the bound.
    """
    estimate, w, n, ready, _ = _estimates(statistics, _or_sharpe(objective))
    beta = -math.log(inside("alpha", alpha)) + float(0.5 * np.log1p(n / TUNING).sum())
    half = math.sqrt(2 * beta * float(((1 + TUNING / n) * w / n).sum())) if ready.all() else math.inf
    return float(estimate[0] - estimate[1]), half


def leader(
    statistics: Statistics, objective: Objective | None = None, *, alpha: float = 0.05, among: Any = True
) -> Leader:
    r"""The arm with the best estimate, and whether it is probably the best of all; ``statistics``: arrays over arms.

    For the leader (1) and a rival (2), let :math:`w = (1 + m/n) \hat W/n` with m = 32, and let z be the error of an
    estimate divided by :math:`\sqrt w`. Then :math:`e^{z_1^2/2}\, 2\Phi(-z_2)\, e^{z_2^2/2}` divided by
    :math:`\prod\sqrt{1 + n/m}` is a product of two mixture martingales, in whatever order the arms are played. The
    second is one-sided, since only a rival that is underestimated matters. It ever exceeds :math:`(K-1)/\alpha` with
    probability at most :math:`\alpha/(K-1)`, which bounds the error of the difference. There is no bound while it is
    too early for either arm. ``among``: which arms are compared, at least one; alpha is divided among all arms.
    """
    estimate, w, n, ready, heavy = _estimates(statistics, _or_sharpe(objective))
    if n.ndim != 1 or n.size < 2:
        raise InvalidInputError(f"statistics of at least two arms are needed, got arrays of shape {n.shape}")
    compared = np.flatnonzero(np.broadcast_to(np.asarray(among, bool), n.shape))
    best = int(compared[np.argmax(np.where(np.isnan(estimate), -np.inf, estimate)[compared])])
    rivals, lead = compared[compared != best], estimate[best] - estimate
    noise, mixed = (1 + EARLY / n) * w / n, 0.5 * np.log1p(n / EARLY)
    beta = math.log((n.size - 1) / inside("alpha", alpha)) + mixed[best] + mixed
    if not rivals.size:
        return Leader(best, None, None, None, True, bool(heavy[best]), float(alpha))
    with np.errstate(invalid="ignore"):
        both = noise[best] + noise
        width = _one_sided(beta, np.sqrt(noise[best] / both)) * np.sqrt(both)
        low = np.where(ready & ready[best], lead - width, -np.inf)
    # Among rivals without a bound, the one with the best estimate.
    rival = int(rivals[np.lexsort((np.nan_to_num(lead[rivals], nan=np.inf), low[rivals]))[0]])
    ahead, least = (float(x) if math.isfinite(x) else None for x in (lead[rival], low[rival]))
    heavier = bool(heavy[best] | heavy[rival])
    return Leader(best, rival, ahead, least, bool(low[rival] > 0), heavier, float(alpha))


def _one_sided(beta: np.ndarray, share: np.ndarray) -> np.ndarray:
    r"""The smallest q for which errors :math:`z_1 = r q + \sqrt{1 - r^2}\,t` of the leader and
    :math:`z = \sqrt{1 - r^2}\,q - r t` of the rival have :math:`(q^2 + t^2)/2 + \ln 2\Phi(z) \ge \beta` for every
    t; r is ``share``, the leader's share of the standard error of the difference.
    """
    from scipy.special import log_ndtr

    rest, q = np.sqrt(1 - share * share), np.sqrt(2 * beta)
    for _ in range(2):  # above and below the solution in turn, ever closer
        before, t = q, np.zeros_like(q)
        for _ in range(4):  # Newton's method for the minimum over t
            z = rest * q - share * t
            mills = np.exp(-0.5 * z * z - 0.5 * math.log(2 * math.pi) - log_ndtr(z))
            t = t - (t - share * mills) / (1 - share * share * mills * (z + mills))
        lost = 0.5 * t * t + log_ndtr(rest * q - share * t)
        q = np.sqrt(2 * np.maximum(beta - math.log(2) - lost, 0.0))
    return np.maximum(q, before)


@dataclass(frozen=True)
class Evidence:
    """Evidence that some arm beats the hurdle, valid at any time.

    Attributes
    ----------
    e_value : float
        if no arm beats the hurdle, it ever reaches 1/alpha with probability at most alpha
    arm : Any
        the arm with the most evidence; agents use its name
    """

    e_value: float
    arm: Any

    @property
    def p_value(self) -> float:
        """A p-value that is valid however often it is looked at."""
        return min(1.0, 1.0 / self.e_value) if self.e_value > 0 else 1.0


def evidence_above(statistics: Statistics, objective: Objective | None = None, *, hurdle: float = 0.0) -> Evidence:
    r"""Evidence against the global null hypothesis that no arm's objective is above a hurdle: does any arm beat it?

    The e-value is the average over arms of the one-sided mixture martingales
    :math:`2\Phi(z) e^{z^2/2}/\sqrt{1 + n/m}`, where :math:`z = (\hat h - \mathrm{hurdle})/\sqrt{(1 + m/n)\hat W/n}` and
    m = 32; an arm for which it is too early counts as 1.

    Parameters
    ----------
    statistics : Statistics
        arrays over arms
    objective : Objective | None, optional
        by default the Sharpe ratio without a regulariser
    hurdle : float, optional
        in units of the root of the objective; 0 is a mean equal to the risk-free rate, for ratios

    Examples
    --------
    >>> import numpy as np
    >>> import sharpe_bandits as sb
    >>> from sharpe_bandits.confidence_sequences import evidence_above
    >>> rewards = np.random.default_rng(1).normal([0.1, 0.0], 1.0, (2_000, 2))
    >>> evidence = evidence_above(sb.Sharpe(L=0).statistics(rewards))
    >>> evidence.arm, evidence.p_value < 0.01
    (0, True)
    """
    from scipy.special import log_ndtr

    estimate, w, n, ready, _ = _estimates(statistics, _or_sharpe(objective))
    with np.errstate(all="ignore"):
        z = (estimate - finite("hurdle", hurdle)) / np.sqrt((1 + EARLY / n) * w / n)
        logs = math.log(2) + log_ndtr(z) + 0.5 * z * z - 0.5 * np.log1p(n / EARLY)
    logs = np.where(ready & np.isfinite(logs), logs, 0.0)
    return Evidence(float(np.exp(np.minimum(logs, 700.0)).mean()), int(np.argmax(logs)))


class Lateness(NamedTuple):
    """Whether late rewards differ from prompt ones: the standardised rank correlation of reward and delay, pooled over
    arms, and whether it is significant (at 0.1%). If so, statements about arms whose rewards are pending are wrong.
    """

    z: float
    differs: bool


def lateness(arms: Any, rewards: Any, delays: Any) -> Lateness:
    """Whether rewards depend on how late they come, arm by arm: a rank test that is pooled over arms.

    Rewards that are worse the later they come make an arm look too good as long as they are pending: bounds that ignore
    this fail (docs/evidence/intervals.md). Every argument has one entry per reward, in any order.

    Examples
    --------
    >>> from sharpe_bandits.confidence_sequences import lateness
    >>> lateness(["A"] * 40, list(range(40)), [9] * 20 + [0] * 20).differs
    True
    """
    from scipy.stats import rankdata

    names, x, d = np.asarray(arms), np.asarray(rewards, float), np.asarray(delays, float)
    if not x.shape == d.shape == names.shape or x.ndim != 1 or not np.isfinite(x).all() or not np.isfinite(d).all():
        raise InvalidInputError("arms, rewards and delays must be finite and have one entry per reward")
    total, spread = 0.0, 0.0
    for arm in np.unique(names):
        of_arm = names == arm
        a, b = rankdata(x[of_arm]), rankdata(d[of_arm])
        a, b = a - a.mean(), b - b.mean()
        if len(a) > 2:
            total += float(a @ b)
            spread += float(a @ a) * float(b @ b) / (len(a) - 1)  # of permutations
    z = total / math.sqrt(spread) if spread > 0 else 0.0
    return Lateness(z, abs(z) > 3.29)


def _autocorrelation_so_far(x: np.ndarray) -> np.ndarray:
    """The inflation factor of W for autocorrelation, from the rewards up to and including each: the number of dependent
    rewards that estimate a mean as well as one independent reward, (1 + r)/(1 - r).
    """
    n = np.arange(1.0, len(x) + 1).reshape(-1, *[1] * (x.ndim - 1))
    d = x - x.mean(axis=0)
    a, b = (np.cumsum(d**k, axis=0) / n for k in (1, 2))
    constant = np.maximum.accumulate(x, axis=0) == np.minimum.accumulate(x, axis=0)
    biased = np.where(constant, 0.0, np.maximum(b - a * a, 0.0))
    products = np.zeros_like(d)
    products[1:] = np.cumsum(d[1:] * d[:-1], axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        r = np.clip(np.where(biased > 0, (products / n - a * a) / biased, 0.0), 0.0, _LARGEST)
    return np.asarray((1 + r) / (1 - r))


def _estimates(
    statistics: Statistics, objective: Objective, inflation: Any = 1.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Root of the objective, W, pulls (at least 1), whether intervals have started, and whether tails are heavy."""
    sums = Statistics(*(np.asarray(values, float) for values in statistics))
    pulls, variance = sums.pulls, sums.variance
    with np.errstate(all="ignore"):
        varies = (pulls > 1) & (variance > ROUNDING * sums.mean * sums.mean)
        kurtosis = np.where(varies, sums.fourth / (variance * variance), np.inf)
        estimate, w = objective.estimate(sums)
        least = max(START, objective.least_rewards)
        ready = varies & (pulls >= np.maximum(least, PER_KURTOSIS * kurtosis) * inflation)
        estimate = np.where((pulls > 1) & np.isfinite(estimate), estimate, np.nan)
    w = np.where(ready, w * inflation, np.inf)
    return np.asarray(estimate, float), w, np.maximum(pulls, 1.0), ready, varies & (kurtosis > HEAVY)
