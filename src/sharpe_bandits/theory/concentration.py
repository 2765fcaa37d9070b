r"""Concentration inequalities: how far the sample variance, SR-like and RSSR deviate from their true values.

Throughout, :math:`\bar X`, :math:`\tilde X`, :math:`\bar V` are the mean, second moment and unbiased variance of n
rewards in [l, u], w = u - l, and :math:`D = L + \bar V`.
"""

from __future__ import annotations

import math
from typing import Any, Literal, get_args

import numpy as np

from .._support.validation import inside, one_of, positive, whole
from ..errors import InvalidInputError
from .bound import FORMS, Bound, Form, bisected, probability

#: Statistics with a concentration inequality.
Statistic = Literal["variance", "sr_like", "rssr"]
STATISTICS: tuple[Statistic, ...] = get_args(Statistic)
#: Source of each inequality.
_SOURCES: dict[Statistic, str] = {
    "variance": "Lemma 1, concentration of the sample variance",
    "sr_like": "Theorem on SR-like, concentration of the estimate",
    "rssr": "Theorem on RSSR, concentration of the estimate",
}


def concentration(
    statistic: Statistic, epsilon: float, pulls: int, upper: float, form: Form = "repaired", *, lower: float = 0.0
) -> Bound:
    r"""A bound on the probability that an estimate from n rewards in [lower, upper] deviates by more than
    :func:`width`, which for the variance is epsilon.

    .. math::
        \text{printed: } & 2 e^{-2 n \epsilon^2 / u^2} \\
        \text{variance (Lemma 1), repaired: } & 2 e^{-2 n \epsilon^2 / w^4} \\
        \text{SR-like, repaired: } & 2 e^{-2 n \epsilon^2 / w^2} + 2 e^{-2 n \epsilon^2 / w^4} \\
        \text{RSSR, repaired: } & 2 e^{-2 n \epsilon^2 / r^2} + 2 e^{-2 n \epsilon^2 / w^4}

    Changing one reward moves :math:`\bar V` by at most :math:`w^2 / n` (it moves n - 1 of the squared differences in
    :math:`\frac{1}{n(n-1)} \sum_{i<j} (X_i - X_j)^2` by at most :math:`w^2` each), which McDiarmid's inequality
    squares; the lemma squares :math:`u/n`. Up to u = 1 the printed form is valid and the weaker of the two. The
    theorems need mean (or second moment) and variance to be within epsilon of their true values: two events, hence a
    union bound (the printed proof counts one), with Hoeffding's inequality for the former and the repaired Lemma 1 for
    the variance. r is the length of the interval that squared rewards lie in: for rewards in [0, u] both r and
    :math:`w^2` are :math:`u^2`, and the repaired form is :math:`4 e^{-2 n \epsilon^2 / u^4}`.

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> for statistic in sb.theory.STATISTICS:
    ...     print(statistic, round(sb.theory.concentration(statistic, 0.2, pulls=100, upper=1.0).value, 6))
    variance 0.000671
    sr_like 0.001342
    rssr 0.001342
    """
    source = _SOURCES[one_of("statistic", statistic, STATISTICS)]
    low, high = float(lower), float(upper)
    if not low <= high:
        raise InvalidInputError(f"lower must not exceed upper, got lower={lower!r} and upper={upper!r}")
    epsilon, pulls = positive("epsilon", epsilon), whole("pulls", pulls, 2)
    w = high - low
    if one_of("form", form, FORMS) == "printed":
        scales = [high]
        reason = "" if 0 < high < math.inf else f"it is stated for rewards in [0, u], and u is {high!r}"
    else:
        nearest = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
        squares = max(abs(low), abs(high)) ** 2 - nearest**2
        scales = {"variance": [w * w], "sr_like": [w, w * w], "rssr": [squares, w * w]}[statistic]
        reason = "" if math.isfinite(w) else f"rewards are unbounded: they lie in [{low!r}, {high!r}]"
    value = math.nan if reason else sum(2 * _tail(pulls, epsilon, scale) for scale in scales)
    return probability(value, form, source, reason=reason)


def radius(
    statistic: Statistic, level: float, pulls: int, upper: float, form: Form = "repaired", *, lower: float = 0.0
) -> float:
    """The epsilon for which :func:`concentration` guarantees the probability ``level``."""
    inside("level", level)

    def promises_less(epsilon: float) -> bool:
        return concentration(statistic, epsilon, pulls, upper, form, lower=lower).value > level

    high = 1.0
    while promises_less(high):
        high *= 2
        if high > 1e150:
            raise InvalidInputError(f"no epsilon gives {level!r} for rewards in [{lower!r}, {upper!r}]")
    return bisected(promises_less, high)[1]


def width(
    statistic: Statistic,
    epsilon: float,
    variance: Any,
    moment: Any,
    L: float | None = None,
    form: Form = "repaired",
    *,
    pulls: float = math.inf,
) -> Any:
    r"""How far an estimate may deviate while mean (or second moment) and variance are within epsilon of their true
    values.

    .. math::
        \text{printed: } & \frac{(\bar V + m + 2\epsilon + L)\,\epsilon}{D\,(D - 3\epsilon)} \\
        \text{SR-like, repaired: } & \frac{(\bar V + |\bar X| + L)\,\epsilon}{D\,(D - \epsilon)} \\
        \text{RSSR, repaired: } & \frac{(\bar V + \tilde X + 2L)\,\epsilon}{D\,(D - \epsilon)} + \frac{\bar V}{n D}

    where m is the mean (SR-like) or the second moment (RSSR); for the variance the width is epsilon itself. Derivation
    for RSSR: :math:`\bar X^2 = \tilde X - \bar V + \bar V/n` (the printed proof omits the last term) implies
    :math:`\bar\gamma^2 + 1 = (\tilde X + L)/D + \bar V/(nD)`, and with d the true D
    :math:`|(\tilde X + L)/D - (E X^2 + L)/d| \le \epsilon\,(\tilde X + L + D)/(D d)`, where :math:`d \ge D - \epsilon`.
    To first order in epsilon the printed width is smaller by :math:`L \epsilon / D^2`, which is too narrow. For SR-like
    it is wide enough.

    ``variance`` and ``moment`` are those of the sample, numbers or arrays. Without ``pulls`` the last term of RSSR is
    omitted. The width is infinite where it is undefined: D at most 3 epsilon as printed, at most epsilon repaired.
    """
    one_of("statistic", statistic, STATISTICS)
    one_of("form", form, FORMS)
    epsilon = positive("epsilon", epsilon)
    v, m = np.asarray(variance, float), np.asarray(moment, float)
    if statistic == "variance":
        return np.full(v.shape, epsilon)[()]
    if L is None:
        raise InvalidInputError(f"the width of {statistic!r} needs the regulariser L")
    L = positive("L", L)
    d = L + v
    if form == "printed":
        room = d - 3 * epsilon
        top = (d + m + 2 * epsilon) * epsilon
        extra: Any = 0.0
    else:
        room = d - epsilon
        top = (d + np.abs(m)) * epsilon if statistic == "sr_like" else (d + m + L) * epsilon
        extra = v / (pulls * d) if statistic == "rssr" else 0.0
    defined = room > 0
    return np.where(defined, top / (d * np.where(defined, room, 1.0)) + extra, math.inf)[()]


def _tail(pulls: int, epsilon: float, scale: float) -> float:
    """exp(-2 n epsilon^2 / scale^2), or 0 for constant rewards."""
    return 0.0 if scale == 0 else math.exp(-2 * pulls * (epsilon / scale) ** 2)
