r"""Bounds on the regret of UCB-VV, UCB-SR-like and UCB-RSSR.

Outline of the proved forms. Let :math:`\epsilon_N(s) = \sqrt{2 \ln N / s}`, m the pulls per arm in the pilot,
:math:`w_i` the length of arm i's support and :math:`f_i(\epsilon)` an upper bound on arm i's index when its statistics
are within their deviations of the true values. Arm i is played at round N + 1 only if (a) it has fewer than
:math:`z_i` pulls, or (b) its statistics after s >= :math:`z_i` pulls are outside their deviations, or (c) the index of
the best arm is below its true value. Let :math:`z_i` be the first s at which :math:`f_i(\epsilon_n(s))` is below the
best arm's value. Then

.. math:: E[s_i(n)] \le \max(m, z_i) + e_i + \sum_{N=Km}^{n-1} \min\Big\{1, (N - Km + 1) \sum_j N^{-q_j}\Big\} .

(b): arm i has each number of pulls s at most once when it is played, so no sum over rounds is needed; deviations of
probability 1/n for each of :math:`e_i` statistics add up to :math:`e_i`. (c): a union bound over the pulls of the best
arm, where :math:`q_j` are the exponents with which its statistics leave :math:`\epsilon_N(s)`. The exponents decrease
as supports grow (the policies do not scale epsilon by the support). With wide supports, (c) therefore covers all rounds
and the bound is vacuous: this reflects the policy's lack of optimism, not slack in the sum.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from .._support.validation import finite, one_of, positive, whole
from ..objectives import RSSR, SharpeLike, Variance
from .bound import FORMS, Bound, Facts, Form, bisected, facts, regret

#: The forms of the bounds on UCB-RSSR and UCB-SR-like.
_FORMS: tuple[Form, ...] = ("printed", "appendix", "corrected", "proved")
#: The constant for rounds in which estimates deviate, as printed.
_CHANCE = 1 + math.pi**2 / 3
#: Rounds that are summed one by one; beyond them an integral is used.
_EXACT_ROUNDS = 1_000_000


def ucb_vv_regret(bandit: Any, horizon: int, form: Form = "repaired", *, pilot: int = 2) -> Bound:
    r"""Theorem on the regret of UCB-VV (appendix A), stated for rewards in [0, 1].

    .. math:: \text{printed: } 8 \sum_i \frac{\ln n}{\delta_i} + \Big(1 + \frac{\pi^2}{3}\Big) \sum_i \delta_i

    Repaired (and proved), for any bounded support: the sum over arms of :math:`\delta_i` times the bound on
    :math:`E[s_i(n)]` in the module's text, with :math:`f_i(\epsilon) = \sigma_i^2 + (1 + w_i^2/2)\,\epsilon`, hence
    :math:`z_i = \lfloor 2 (1 + w_i^2/2)^2 \ln n / \delta_i^2 \rfloor + 1`, :math:`e_i = 1` and
    :math:`q = 4/w_*^4` (Lemma 1 with its fourth power). For w up to 1 it is below the printed bound.
    """
    horizon, pilot = whole("horizon", horizon, 1), whole("pilot", pilot, 2)
    one_of("form", form, FORMS)
    arm = facts(bandit)
    gap = Variance().gaps(arm)
    source = "Theorem on the regret of UCB-VV (appendix A)"
    trivial = horizon * float(gap.max())
    if form == "printed":
        worse = gap[gap > 0]
        value = float(np.sum(8 * math.log(horizon) / worse + _CHANCE * worse))
        return regret(value, trivial, form, source, reason=arm.unbounded(), applies=arm.unit)
    if not arm.bounded:
        return regret(math.nan, trivial, form, source, reason=arm.unbounded(), applies=False)
    with np.errstate(divide="ignore"):
        exponents = [(float(q),) for q in 4 / arm.width[gap == 0] ** 4]
    tail = _chance(tuple(exponents), horizon, pilot, len(gap))
    value = 0.0
    for i in np.flatnonzero(gap).tolist():
        enough = math.floor(2 * (1 + arm.width[i] ** 2 / 2) ** 2 * math.log(horizon) / gap[i] ** 2) + 1
        value += float(gap[i]) * (max(pilot, enough) + 1 + tail)
    return regret(value, trivial, form, source)


def ucb_rssr_regret(
    bandit: Any, L: float, horizon: int, form: Form = "proved", *, pilot: int = 2, risk_free: float = 0.0
) -> Bound:
    r"""Theorem on the regret of UCB-RSSR.

    .. math::
        \text{printed: } & \sum_i M_i + \Big(1 + \frac{\pi^2}{3}\Big) \sum_i \Delta_i, \quad
        M_i = \max\Big\{\frac{18 \ln n}{L^2}, \frac{8 \ln n}{\Delta_i (\mu_{i,4} + (\sigma_i^2 + L)^2)}\Big\} \\
        \text{corrected: } & \sum_i \Delta_i M_i + \Big(1 + \frac{\pi^2}{3}\Big) \sum_i \Delta_i

    Neither is proved: both use Jensen's inequality, and :math:`-A + \sqrt{A^2 + B} \le \sqrt B`, in the direction that
    makes the number of pulls too small; :math:`M_i` grows as :math:`1/\Delta_i` where any good policy needs
    :math:`1/\Delta_i^2` pulls. Both fail in simulation where the second moment is large beside :math:`L + \sigma^2`.

    Appendix: its own bound on pulls, before it is loosened to the printed one, times :math:`\Delta_i`,

    .. math:: \max\Big\{\Big\lceil\frac{18 \ln n}{L^2}\Big\rceil,
        \Big\lceil\frac{32 \ln n}{(-C_1 + \sqrt{C_3 + C_2})^2}\Big\rceil\Big\} + 1 + \frac{\pi^2}{3},

    with :math:`C_1 = E[A]`, :math:`C_2 = E[B]` and :math:`C_3 = E[A^2]` as the appendix bounds them; those on
    :math:`C_3` make the number of pulls smaller, not larger.

    Proved: the module's text with

    .. math:: f_i(\epsilon) = \frac{(|\mu_i| + w_i\epsilon/2)^2}{D_i} +
        \frac{(D_i + E X_i^2 + r_i \epsilon/2 + 2\epsilon)\,\epsilon}{D_i (D_i - 3\epsilon)}, \quad
        D_i = L + \sigma_i^2 - w_i^2 \epsilon / 2,

    :math:`r_i` the range of the squared reward; :math:`e_i = 3` (mean, second moment, variance; 4 if excess rewards
    can be negative); :math:`q = 1/(\mu_* w_*)^2` and :math:`4/w_*^4`. For the latter: while
    :math:`\mu^2 - \bar X^2 \le \epsilon` and :math:`\bar V - \sigma^2 \le \epsilon`,
    :math:`\gamma^2 - \bar\gamma^2 = [(\mu^2 - \bar X^2) \bar D + \bar X^2 (\bar V - \sigma^2)] / (D \bar D)` is at
    most :math:`\epsilon (\bar D + \bar X^2) / (\bar D (\bar D - \epsilon))`, which is less than the confidence term;
    and :math:`\mu^2 - \bar X^2 > \epsilon` implies :math:`|\bar X - \mu| > \epsilon / (2 |\mu|)` on one side, which
    Hoeffding's inequality bounds. It is for the policy with ``undefined_width="infinite"`` (see
    :class:`~sharpe_bandits.UCBRSSR`).
    """
    return _sharpe_regret("UCB-RSSR", RSSR(positive("L", L)), bandit, horizon, form, pilot, risk_free)


def ucb_sr_like_regret(
    bandit: Any, L: float, horizon: int, form: Form = "proved", *, pilot: int = 2, risk_free: float = 0.0
) -> Bound:
    r"""Theorem on the regret of UCB-SR-like: as :func:`ucb_rssr_regret` with the gaps of SR-like.

    The appendix form has the C of its own appendix, as they stand there: :math:`C_1` with :math:`\sigma^2 + \mu` for
    the expected mean, and :math:`C_3` with :math:`2 L c\,(\sigma^2 + \mu^2)` for :math:`2 L c\,\mu`.

    Proved, for excess rewards that are never negative: the module's text with

    .. math:: f_i(\epsilon) = \frac{m}{D_i} + \frac{(D_i + m + 2\epsilon)\,\epsilon}{D_i (D_i - 3\epsilon)}, \quad
        m = \mu_i + w_i \epsilon / 2, \quad D_i = L + \sigma_i^2 - w_i^2 \epsilon / 2,

    :math:`e_i = 2` and :math:`q = 4/w_*^2` and :math:`4/w_*^4`.
    """
    return _sharpe_regret("UCB-SR-like", SharpeLike(positive("L", L)), bandit, horizon, form, pilot, risk_free)


def _sharpe_regret(
    policy: str, objective: RSSR | SharpeLike, bandit: Any, horizon: Any, form: Form, pilot: Any, risk_free: Any
) -> Bound:
    one_of("form", form, _FORMS)
    arm, L = facts(bandit, finite("risk_free", risk_free)), objective.L
    horizon, pilot = whole("horizon", horizon, 1), whole("pilot", pilot, 2)
    source = f"Theorem on the regret of {policy}"
    gap, squares = objective.gaps(arm), isinstance(objective, RSSR)
    trivial, reason, positive_only = horizon * float(gap.max()), arm.unbounded(), bool((arm.low >= 0).all())
    if form != "proved":
        value = _appendix(arm, gap, squares, L, horizon) if form == "appendix" else _printed(arm, gap, L, horizon, form)
        # The theorems require a bounded support [l, u] with l > 0; no step of the proof excludes l = 0.
        return regret(value, trivial, form, source, reason=reason, applies=arm.bounded and positive_only)
    if not (reason or squares or positive_only):
        reason = f"excess rewards can be negative (down to {float(arm.low.min())!r}), where optimism is not proved"
    if reason:
        return regret(math.nan, trivial, form, source, reason=reason, applies=False)
    target, best = float(objective.value(arm).max()), gap == 0
    with np.errstate(divide="ignore"):
        from_mean = (1 / (arm.mean * arm.width) ** 2 if squares else 4 / arm.width**2)[best]
        from_variance = 4 / arm.width[best] ** 4
    exponents = [(float(a), float(b)) for a, b in zip(from_mean, from_variance, strict=True)]
    tail = _chance(tuple(exponents), horizon, pilot, len(gap))
    value = 0.0
    for i in np.flatnonzero(gap).tolist():
        statistics = (3 if arm.low[i] >= 0 else 4) if squares else 2
        value += float(gap[i]) * (max(pilot, _enough(arm, i, squares, L, target, horizon)) + statistics + tail)
    return regret(value, trivial, form, source)


def _enough(arm: Facts, i: int, squares: bool, L: float, target: float, horizon: int) -> float:
    """The first number of pulls s at which the index of arm i at radius sqrt(2 ln n / s) is below target."""
    mean, second, d = float(arm.mean[i]), float(arm.second[i]), L + float(arm.variance[i])
    a, b, c = float(arm.width[i]) / 2, float(arm.square_range[i]) / 2, float(arm.width[i]) ** 2 / 2

    def below(e: float) -> bool:
        """Whether it is if the mean is up by a e, the second moment by b e, and the variance down by c e."""
        low, high = d - c * e, (abs(mean) if squares else mean) + a * e
        first, moment = (high**2, second + b * e) if squares else (high, high)
        return first / low + (low + moment + 2 * e) * e / (low * (low - 3 * e)) < target

    radius = bisected(below, d / (c + 3))[0]  # up to there the index increases
    return math.floor(2 * math.log(horizon) / radius**2) + 1 if radius > 0 else math.inf


def _printed(arm: Facts, gap: np.ndarray, L: float, horizon: int, form: Form) -> float:
    worse = gap > 0
    delta = gap[worse]
    scale = arm.fourth[worse] + (arm.variance[worse] + L) ** 2
    plays = math.log(horizon) * np.maximum(18 / L**2, 8 / (delta * scale))
    return float(np.sum(plays if form == "printed" else delta * plays) + _CHANCE * np.sum(delta))


def _appendix(arm: Facts, gap: np.ndarray, squares: bool, L: float, horizon: int) -> float:
    worse = gap > 0
    delta, mean, v, m2, fourth = (x[worse] for x in (gap, arm.mean, arm.variance, arm.second, arm.fourth))
    c = 1.5 * delta + 1
    v_squared = fourth + v**2
    if squares:  # the estimate in A is the second moment
        raw = fourth + mean * (4 * arm.third[worse] + 6 * mean * v + mean**3)
        expected = m2
        squared = raw + m2**2
        product = v * m2 + np.sqrt(v_squared * (raw + m2 * (m2 + 1)))
    else:  # it is the mean
        expected = v + mean
        squared = m2
        product = v * mean + np.sqrt(fourth * v)
    c1 = c * (v + L) + expected
    c2 = 4 * delta * (v_squared + 2 * v * L + L**2)
    c3 = c**2 * v_squared + 2 * c * product + squared + 2 * L * c**2 * v + 2 * L * c * m2 + L**2 * c**2
    with np.errstate(divide="ignore"):
        pulls = np.ceil(32 * math.log(horizon) / (np.sqrt(c3 + c2) - c1) ** 2)
    plays = np.maximum(np.ceil(18 * math.log(horizon) / L**2), pulls)
    return float(np.sum(delta * (plays + _CHANCE)))


@lru_cache(maxsize=64)  # the same bound is drawn, judged, and asked whether it is vacuous
def _chance(exponents: tuple[tuple[float, ...], ...], horizon: int, pilot: int, arms: int) -> float:
    """Bound on the rounds in which the index of a best arm is below its value: the sum over N, minimised over best
    arms.
    """
    start = arms * pilot
    stop = min(horizon, start + _EXACT_ROUNDS)
    rounds = np.arange(start, stop, dtype=float)
    sums = []
    for exponent in exponents:
        total = sum((rounds**-q for q in exponent), np.zeros(rounds.size))
        value = float(np.minimum(1.0, (rounds - start + 1) * total).sum())
        if horizon > stop:
            value += min(float(horizon - stop), sum(_rest(q, stop, horizon) for q in exponent))
        sums.append(value)
    return min(sums)


def _rest(q: float, start: int, stop: int) -> float:
    """Upper bound on the sum of N^(1-q) over start <= N < stop."""
    if q <= 1:
        return math.inf
    if q == math.inf:
        return 0.0
    a, b = float(start - 1), float(stop - 1)
    return math.log(b / a) if q == 2 else (b ** (2 - q) - a ** (2 - q)) / (2 - q)
