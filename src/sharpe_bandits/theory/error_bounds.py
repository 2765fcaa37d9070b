r"""Bounds on the probability of error of SHVV, SHSR and SuRSR.

Outline of the repaired forms. Let :math:`g_i(q)` bound the probability that arm i's estimate, from q pulls, is at least
that of a best arm. After a phase of halving with :math:`|A|` remaining arms, h of which stay, the best arm is dropped
only if h others have estimates at least as large. Set aside the j others with the largest :math:`g_i`: at least h - j
of the rest must have such estimates, so by Markov's inequality the probability is at most

.. math:: \min_{0 \le j < h} \frac{1}{h - j} \sum_{r = j+1}^{|A|-1} g_{(r)}(q), \qquad g_{(1)} \ge g_{(2)} \ge \dots,

whichever arms remain, since the estimates of a fresh phase do not depend on that (the paper sets a quarter aside, which
needs K to be a power of two). If samples are kept they do, and the sum runs over all arms. The bounds of the phases add
up. After phase k of successive rejects the best arm is dropped only if its estimate is the smallest; one of any k other
arms still remains, so the sum of the k smallest :math:`g_i(t_k)` bounds that. Arms that tie for best count as best: the
event is then that the last of them is dropped.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from .._support.validation import finite, not_negative, one_of, positive, whole
from ..errors import BudgetTooSmallError
from ..objectives import RSSR, Variance
from ..policies.base import EliminationPolicy
from ..policies.elimination import SHSR, SHVV, SuRSR
from .bound import FORMS, Bound, Facts, Form, facts, probability
from .concentration import concentration

#: Thresholds between two arms' values that are tried; each of them gives a valid bound, and the best is used.
_THRESHOLDS = np.linspace(0, 1, 201)[1:-1]

#: From pulls per arm to the probabilities g, of shape (best arms, other arms).
Beaten = Callable[[int], np.ndarray]


def epsilon_of_gap(gap: float, D: float, second_moment: float) -> float:
    r"""The positive root epsilon of :math:`\frac{(D + \tilde X + 2\epsilon)\epsilon}{D (D - 3\epsilon)} = \Delta / 2`.

    .. math:: \epsilon(\Delta) = \frac{-A + \sqrt{A^2 + 4 \Delta D^2}}{4}, \qquad A = (3\Delta/2 + 1) D + \tilde X

    From the appendix on SHSR; the one on SuRSR omits the gap under the root. D is :math:`L + \sigma^2`, and the root is
    below D/3. It is computed as :math:`\Delta D^2 / (A + \sqrt{A^2 + 4 \Delta D^2})`, which is accurate for small gaps.
    """
    gap, D = not_negative("gap", gap), positive("D", D)
    a = (1.5 * gap + 1) * D + not_negative("second_moment", second_moment)
    return gap * D**2 / (a + math.sqrt(a**2 + 4 * gap * D**2))


def variance_order(bandit: Any, arm: int, pulls: int, form: Form = "repaired") -> Bound:
    r"""Lemma 2: a bound on the probability that an arm has a larger sample variance than the arm with the largest
    variance.

    .. math:: \text{printed: } \exp\Big(-\frac{(t-1)^2 \delta_i^2}{2 t}\Big), \qquad
        \text{repaired: } \exp\Big(-\frac{2 t \delta_i^2}{w_i^4 + w_1^4}\Big)

    after t pulls of each. The printed form assumes rewards in [0, 1], where the repaired one,
    :math:`\exp(-t \delta_i^2)`, is the smaller of the two; for a wider support the printed form is not a bound. If
    several arms have the largest variance, the one with the smallest bound is used. Arms are counted from 0.
    """
    pulls = whole("pulls", pulls, 2)
    one_of("form", form, FORMS)
    arms = facts(bandit)
    gap = Variance().gaps(arms)
    delta = float(gap[whole("arm", arm, 0, len(gap) - 1)])
    source = "Lemma 2"
    if form == "printed":
        value = math.exp(-((pulls - 1) ** 2) * delta**2 / (2 * pulls))
        return probability(value if delta else 1.0, form, source, applies=arms.unit)
    others = np.flatnonzero(gap)
    value = float(_variance_beaten(arms, gap)(pulls)[:, others == arm].min()) if delta else 1.0
    return probability(value, form, source, reason=arms.unbounded("lemma"), applies=arms.bounded)


def shvv_phase_error(bandit: Any, budget: int, phase: int, form: Form = "repaired") -> Bound:
    r"""Lemma 3: a bound on the probability that the arm with the largest variance is dropped in a phase of SHVV, with
    budget n.

    .. math:: \text{printed: } 3 \exp\Big(-\frac{(n - 4 i_k \log_2 K)^2\, \delta_{i_k}^2}{8\, n\, i_k \log_2 K}\Big),
        \qquad i_k = K / 2^{k+2}

    with k = 0 for the first phase (:math:`4 i_k` arms remain in phase k), for rewards in [0, 1]; as a rank,
    :math:`i_k` is :math:`\max(\lceil i_k \rceil, 2)`, since rank 1 has no gap. Repaired: the module's text.
    """
    budget = whole("budget", budget, 1)
    one_of("form", form, FORMS)
    arm = facts(bandit)
    gap = Variance().gaps(arm)
    k = len(gap)
    phase = whole("phase", phase, 0, math.ceil(math.log2(k)) - 1)
    source = "Lemma 3"
    if form == "printed":
        log, i = math.log2(k), k / 2 ** (phase + 2)
        delta = float(np.sort(gap)[max(math.ceil(i), 2) - 1])
        reason = "" if budget > 4 * i * log else f"it needs a budget above 4 i_k log2 K = {4 * i * log:g}"
        value = 3 * math.exp(-((budget - 4 * i * log) ** 2) * delta**2 / (8 * budget * i * log))
        return probability(value, form, source, reason=reason, applies=arm.unit and _power_of_two(k))
    beaten = _variance_beaten(arm, gap)
    return _repaired(SHVV(), arm, budget, form, source, lambda: _phase_errors(SHVV(), k, budget, beaten)[phase])


def path_error(
    phases: Sequence[PlayedPhase],
    L: float,
    gap: float,
    form: Literal["printed", "repaired"] = "printed",
    *,
    lower: float = 0.0,
    upper: float = 1.0,
    risk_free: float = 0.0,
) -> list[float]:
    r"""The paper's bound on the error of SHSR or SuRSR "on the fly": one term per phase played, from the phase's
    estimates and a guess of :math:`\Delta_2`, the smallest gap. The bound is the sum of the terms.

    .. math:: \text{printed: SHSR } 6\, e^{-2 t_k \epsilon_k^2}, \quad \text{SuRSR } 2\, e^{-2 t_k \epsilon_k^2}

    where :math:`\epsilon_k` is the smallest root :func:`epsilon_of_gap` of the gap over the arms of the phase, from
    their estimated variances and second moments. Repaired, with rewards in a known interval: :math:`\epsilon_k` is the
    root of the repaired width (:func:`width`) at half the gap; P, twice the bound of :func:`concentration` for it,
    bounds the probability that one arm is ahead of the best; the term is 3 P for a phase of halving and k P for phase k
    of rejects.

    In neither form is it a bound in the strict sense, since the root depends on the estimates whose errors it bounds.

    Rewards lie between ``lower`` and ``upper`` (repaired form). A larger guess of the gap makes the bound smaller.
    """
    gap, L = positive("gap", gap), positive("L", L)
    one_of("form", form, ("printed", "repaired"))
    low, high = finite("lower", lower) - risk_free, finite("upper", upper) - risk_free
    terms = []
    for number, played in enumerate(phases, start=1):
        d = L + np.asarray(played.variance, float)
        second = np.asarray(played.second_moment, float)
        if form == "printed":
            epsilon = min(epsilon_of_gap(gap, float(a), float(b)) for a, b in zip(d, second, strict=True))
            terms.append((6 if played.halves else 2) * math.exp(-2 * played.pulls * epsilon**2))
            continue
        room = np.maximum(gap / 2 - (d - L) / (played.pulls * d), 0.0)
        epsilon = float((room * d**2 / (d + second + L + room * d)).min())
        beaten = 1.0
        if epsilon > 0:
            beaten = min(1.0, 2 * concentration("rssr", epsilon, played.pulls, high, form, lower=low).value)
        terms.append(min(1.0, (3 if played.halves else number) * beaten))
    return terms


class PlayedPhase(NamedTuple):
    """A phase of SHSR or SuRSR that was played: see :func:`path_error`."""

    pulls: int  # per arm, all that its estimates use
    halves: bool  # whether it is one of halving
    variance: Any  # estimates of its arms
    second_moment: Any


def played_phases(policy: SHSR | SuRSR, budget: int, arms: int, choices: Any, rewards: Any) -> list[PlayedPhase]:
    """The input of :func:`path_error`, from the choices and rewards of a run (:func:`sharpe_bandits.trace`).

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> policy = sb.SHSR(L=0.1)
    >>> run = sb.trace(policy, [sb.Uniform(0, 1), sb.Uniform(0, 0.5)], horizon=100)
    >>> phases = sb.theory.played_phases(policy, 100, 2, run.choices, run.rewards)
    >>> [round(term, 3) for term in sb.theory.path_error(phases, L=0.1, gap=0.5)]
    [5.923]
    """
    choices, x = np.asarray(choices), np.asarray(rewards, float) - policy.risk_free
    played: list[PlayedPhase] = []
    size, start, upto = arms, 0, 0
    for pulls, stay in policy.phases(budget, arms):
        upto = upto + pulls if policy.keeps_samples else pulls
        first = 0 if policy.keeps_samples else start
        end = start + pulls * size
        seen = [x[first:end][choices[first:end] == i] for i in np.unique(choices[start:end])]
        variances, seconds = [float(v.var(ddof=1)) for v in seen], [float((v * v).mean()) for v in seen]
        played.append(PlayedPhase(upto, isinstance(policy, SHSR), variances, seconds))
        size, start = stay, end
    return played


def shvv_error(bandit: Any, budget: int, form: Form = "repaired", *, keep_samples: bool = False) -> Bound:
    r"""Theorem on the error of SHVV with budget n.

    .. math:: \text{printed: } 3 \log_2 K \exp\Big(-\frac{(n - K \log_2 K)^2}{8 n \log_2 K \, H_2}\Big), \qquad
        H_2 = \max_{i \ne 1} \frac{i}{\delta_i^2}

    for rewards in [0, 1], with arms in order of variance (the appendix; undefined up to :math:`n = K \log_2 K`).

    .. math:: \text{theorem: } 3 \log_2 K \exp\Big(-\frac{n - (\log_2 K)^2}{8 n \log_2 K \, u^4 H_2}\Big)

    is what the theorem itself states, with "at least". Its exponent is at most 1/256, so it is always above 1.

    Repaired: the module's text with :math:`g_i(q) = \exp(-2 q \delta_i^2 / (w_i^4 + w_1^4))`, by McDiarmid's inequality
    for :math:`\bar V_i - \bar V_1`, which one reward of arm i changes by at most :math:`w_i^2 / q`. For rewards in
    [0, u] this is :math:`\exp(-q \delta^2 / u^4)`. It holds for any K, with the phases as they are played.
    """
    budget = whole("budget", budget, 1)
    one_of("form", form, (*FORMS, "theorem"))
    arm = facts(bandit)
    gap = Variance().gaps(arm)
    source = "Theorem on the error of SHVV"
    k = len(gap)
    log = math.log2(k)
    with np.errstate(divide="ignore"):
        hardness = float(np.max(np.arange(2, k + 1) / np.sort(gap)[1:] ** 2))
    if form == "theorem":
        reach = float(arm.reach.max())
        value = 3 * log * math.exp(-(budget - log**2) / (8 * budget * log * reach**4 * hardness))
        return probability(value, form, source, applies=arm.bounded)
    if form == "printed":
        reason = "" if budget > k * log else f"it needs a budget above K log2 K = {k * log:g}"
        value = 3 * log * math.exp(-((budget - k * log) ** 2) / (8 * budget * log * hardness))
        return probability(value, form, source, reason=reason, applies=arm.unit and _power_of_two(k))
    policy, beaten = SHVV(keep_samples=keep_samples), _variance_beaten(arm, gap)
    return _repaired(policy, arm, budget, form, source, lambda: sum(_phase_errors(policy, k, budget, beaten)))


def shsr_error(
    bandit: Any, L: float, budget: int, form: Form = "repaired", *, keep_samples: bool = False, risk_free: float = 0.0
) -> Bound:
    r"""Theorem on the error of SHSR with budget n.

    .. math:: \text{printed: } 6 \sum_{k=1}^{\log_2 K} \exp\Big(-\frac{\epsilon_{i_k}^2}{i_k} \frac{n}{2 \log_2 K}\Big),
        \qquad i_k = K / 2^{k+2}

    for rewards in [0, 1]. Interpretation: in the exponent, :math:`i_k` is used as printed, a fraction in the last
    phases (1/4 in the very last); as a rank by RSSR it is :math:`\max(\lceil i_k \rceil, 2)`, since rank 1 has no gap;
    and :math:`\epsilon_{i_k}` is the smaller of the roots :func:`epsilon_of_gap` of that gap for that arm and for the
    best, with true moments. The sum starts one phase late: the phase with all K arms is :math:`k = 0`, the hardest, and
    :math:`k = \log_2 K` would have a single arm. For other K there are :math:`\lceil \log_2 K \rceil` terms.

    Repaired: the module's text with the following, where D is the true :math:`L + \sigma^2` and :math:`M` the largest
    absolute reward:

    .. math:: g_i(q) = \min_{\gamma_i^2 < c < \gamma_1^2}
        \exp\frac{-2q\,[D_i (c - \gamma_i^2) - \sigma_i^2/q]_+^2}{(2 M_i w_i + c w_i^2)^2} +
        \exp\frac{-2q\,[D_1 (\gamma_1^2 - c) + \sigma_1^2/q]^2}{(2 M_1 w_1 + c w_1^2)^2} .

    :math:`\bar\gamma_i^2 \ge c` is equivalent to :math:`\bar X^2 - c \bar V \ge cL`. McDiarmid's inequality applies:
    one reward changes the left side by at most :math:`(2 M w + c w^2)/q`, and its mean is :math:`\mu^2 + \sigma^2/q - c
    \sigma^2`. For rewards in [0, u] the denominator is :math:`(2 + c)^2 u^4`.

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> bandit = sb.Bandit([sb.Uniform(0, 1), sb.Uniform(0, 0.5)])
    >>> bound = sb.theory.shsr_error(bandit, L=0.1, budget=1_000_000)
    >>> bound.vacuous, bound.value < 0.05
    (False, True)
    """
    arm, L, budget = _arguments(bandit, L, budget, form, risk_free)
    source = "Theorem on the error of SHSR"
    gap = RSSR(L).gaps(arm)
    k = len(gap)
    if form != "printed":
        policy, beaten = SHSR(L, keep_samples=keep_samples), _rssr_beaten(arm, L)
        return _repaired(policy, arm, budget, form, source, lambda: sum(_phase_errors(policy, k, budget, beaten)))
    order = np.argsort(gap, kind="stable")
    log = math.log2(k)
    value = 0.0
    for phase in range(1, math.ceil(log) + 1):
        i = k / 2 ** (phase + 2)
        rank = order[max(math.ceil(i), 2) - 1]
        epsilon = min(_root(arm, L, float(gap[rank]), j) for j in (order[0], rank))
        value += 6 * math.exp(-(epsilon**2) / i * budget / (2 * log))
    return probability(value, form, source, applies=arm.unit and _power_of_two(k))


def sursr_error(bandit: Any, L: float, budget: int, form: Form = "repaired", *, risk_free: float = 0.0) -> Bound:
    r"""Theorem on the error of SuRSR with budget n.

    .. math:: \text{printed: } 2 \sum_{k=1}^{K-1} \exp(-2 t_k \epsilon^2(\Delta_2)), \qquad
        t_k = \Big\lceil \frac{1}{\ln K} \frac{n - K}{K + 1 - k} \Big\rceil

    for rewards in [0, 1], where :math:`\epsilon(\Delta_2)` is the smallest root :func:`epsilon_of_gap` of the smallest
    gap over all arms, with true moments. These :math:`t_k` overspend the budget (44% at K = 2). The sum lacks a factor
    k: one of the k worst arms remains in phase k, but it is not known which, so their probabilities add up.

    Repaired: the module's text with the :math:`t_k` that the policy plays
    (:math:`\overline{\log} K = 1/2 + \sum_{i=2}^K 1/i` for :math:`\ln K`) and :math:`g_i` of :func:`shsr_error`.
    """
    arm, L, budget = _arguments(bandit, L, budget, form, risk_free)
    source = "Theorem on the error of SuRSR"
    gap = RSSR(L).gaps(arm)
    k = len(gap)
    if form == "printed":
        smallest = float(np.sort(gap)[1])
        epsilon = min(_root(arm, L, smallest, i) for i in range(k))
        times = [math.ceil((budget - k) / (math.log(k) * (k + 1 - phase))) for phase in range(1, k)]
        value = 2 * sum(math.exp(-2 * max(t, 0) * epsilon**2) for t in times)
        return probability(value, form, source, applies=arm.unit)
    policy, beaten, ties = SuRSR(L), _rssr_beaten(arm, L), int((gap == 0).sum())

    def error() -> float:
        value, upto = 0.0, 0
        for phase, (pulls, _) in enumerate(policy.phases(budget, k), start=1):
            upto += pulls
            if phase >= ties and ties < k:
                value += min(1.0, float(np.sort(beaten(upto), axis=1)[:, : phase - ties + 1].sum()))
        return value

    return _repaired(policy, arm, budget, form, source, error)


def _arguments(bandit: Any, L: Any, budget: Any, form: Any, risk_free: Any) -> tuple[Facts, float, int]:
    one_of("form", form, FORMS)
    return facts(bandit, finite("risk_free", risk_free)), positive("L", L), whole("budget", budget, 1)


def _root(arm: Facts, L: float, gap: float, i: int) -> float:
    return epsilon_of_gap(gap, L + float(arm.variance[i]), float(arm.second[i]))


def _power_of_two(k: int) -> bool:
    return k & (k - 1) == 0


def _repaired(
    policy: EliminationPolicy, arm: Facts, budget: int, form: Form, source: str, error: Callable[[], float]
) -> Bound:
    """The repaired bound ``error`` of a policy, if it can play."""
    reason = arm.unbounded()
    if not reason:
        try:
            policy.check_horizon(budget, len(arm.mean))
        except BudgetTooSmallError as too_small:
            reason = str(too_small)
    return probability(math.nan if reason else error(), form, source, reason=reason, applies=arm.bounded)


def _variance_beaten(arm: Facts, gap: np.ndarray) -> Beaten:
    best, rest = np.flatnonzero(gap == 0), np.flatnonzero(gap)

    def beaten(pulls: int) -> np.ndarray:
        scale = arm.width[best, None] ** 4 + arm.width[None, rest] ** 4
        distance = arm.variance[best, None] - arm.variance[None, rest]
        with np.errstate(divide="ignore"):
            return np.exp(-2 * pulls * distance**2 / scale)

    return beaten


def _rssr_beaten(arm: Facts, L: float) -> Beaten:
    value = RSSR(L).value(arm)
    gap = RSSR(L).gaps(arm)
    best, rest = np.flatnonzero(gap == 0)[None, :, None], np.flatnonzero(gap)[None, None, :]
    c = value[rest] + _THRESHOLDS[:, None, None] * (value[best] - value[rest])

    def stray(i: np.ndarray, distance: np.ndarray, pulls: int) -> np.ndarray:
        """Bound on the probability that the squared mean minus c times the variance deviates this far to one side."""
        scale = 2 * arm.reach[i] * arm.width[i] + c * arm.width[i] ** 2
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(distance > 0, np.exp(-2 * pulls * (distance / scale) ** 2), 1.0)

    def beaten(pulls: int) -> np.ndarray:
        up = (L + arm.variance[rest]) * (c - value[rest]) - arm.variance[rest] / pulls
        down = (L + arm.variance[best]) * (value[best] - c) + arm.variance[best] / pulls
        return np.minimum(1.0, (stray(rest, up, pulls) + stray(best, down, pulls)).min(axis=0))

    return beaten


def _phase_errors(policy: SHVV | SHSR, alive: int, budget: int, beaten: Beaten) -> list[float]:
    """Bounds on the probability that the best arm is dropped in each phase."""
    values, upto = [], 0
    for pulls, stay in policy.phases(budget, alive):
        upto = upto + pulls if policy.keep_samples else pulls
        g = -np.sort(-beaten(upto), axis=1)
        if policy.keep_samples:
            values.append(min(1.0, sum(_outnumbered(row, stay) for row in g)))
        else:
            values.append(min(1.0, _outnumbered(g.max(axis=0)[: alive - 1], stay)))
        alive = stay
    return values


def _outnumbered(g: np.ndarray, stay: int) -> float:
    """Bound on the probability that at least ``stay`` of some events occur, given their probabilities g in decreasing
    order.
    """
    if len(g) < stay:
        return 0.0
    rest = np.cumsum(g[::-1])[::-1][:stay]
    return float((rest / (stay - np.arange(stay))).min())
