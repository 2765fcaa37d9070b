"""UCB-SR-like and UCB-RSSR, the paper's policies for the Sharpe family.

Both indices are printed as a sum of two fractions; here they are a single fraction, which saves a division. The
confidence width is undefined where D <= 3 epsilon: by default the index is then infinite; as printed, the width becomes
negative and the arm is starved.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, get_args

from .._support.validation import in_reward_units, one_of, regulariser, whole
from ..objectives import RSSR, Objective, SharpeLike
from ..play.statistics import ArmRecord
from .base import MIN_PULLS_FOR_WARNING, PAPER, IndexPolicy

#: Horizon assumed for a game without one, to check whether it will ever be long enough.
LONG_LIFE = 10**6
#: The index where the confidence width is undefined.
UndefinedWidth = Literal["infinite", "printed"]
#: The first term of UCB-SR-like: with D, as in its theorem, or with V, as in the equation.
FirstTerm = Literal["theorem", "equation"]


def biased_variance(arm: ArmRecord) -> float:
    """The variance that divides by s."""
    return arm.variance * (arm.pulls - 1.0) / arm.pulls


def rssr(arm: ArmRecord, d: float, risk_free: float) -> float:
    """The index as printed, for the denominator D."""
    e = arm.epsilon
    room = d - 3.0 * e
    excess = arm.mean - risk_free
    square = arm.second_moment - risk_free * (2.0 * arm.mean - risk_free)
    return (excess * excess * room + (d + square + 2.0 * e) * e) / (d * room)


def rssr_printed(arm: ArmRecord, t: int, L: float, risk_free: float) -> float:
    return rssr(arm, L + arm.variance, risk_free)


def rssr_biased_printed(arm: ArmRecord, t: int, L: float, risk_free: float) -> float:
    return rssr(arm, L + biased_variance(arm), risk_free)


def rssr_biased_infinite(arm: ArmRecord, t: int, L: float, risk_free: float) -> float:
    d = L + biased_variance(arm)
    return rssr(arm, d, risk_free) if d > 3.0 * arm.epsilon else math.inf


def rssr_infinite(arm: ArmRecord, t: int, L: float, risk_free: float) -> float:
    defined = L + arm.variance > 3.0 * arm.epsilon
    return rssr_printed(arm, t, L, risk_free) if defined else math.inf


def sr_like_printed(arm: ArmRecord, t: int, L: float, risk_free: float) -> float:
    e = arm.epsilon
    d = L + arm.variance
    room = d - 3.0 * e
    excess = arm.mean - risk_free
    return (excess * room + (d + excess + 2.0 * e) * e) / (d * room)


def sr_like_infinite(arm: ArmRecord, t: int, L: float, risk_free: float) -> float:
    defined = L + arm.variance > 3.0 * arm.epsilon
    return sr_like_printed(arm, t, L, risk_free) if defined else math.inf


def first_term_printed(arm: ArmRecord, L: float, risk_free: float) -> float:
    """What the equation adds to the index by dividing its first term by V instead of D."""
    excess = arm.mean - risk_free
    return excess / arm.variance - excess / (L + arm.variance)


def sr_like_equation_printed(arm: ArmRecord, t: int, L: float, risk_free: float) -> float:
    if arm.variance <= 0.0:
        return math.inf
    return sr_like_printed(arm, t, L, risk_free) + first_term_printed(arm, L, risk_free)


def sr_like_equation_infinite(arm: ArmRecord, t: int, L: float, risk_free: float) -> float:
    if arm.variance <= 0.0 or L + arm.variance <= 3.0 * arm.epsilon:
        return math.inf
    return sr_like_printed(arm, t, L, risk_free) + first_term_printed(arm, L, risk_free)


@dataclass(frozen=True)
class _UCBSharpe(IndexPolicy):
    L: float
    risk_free: float = 0.0
    undefined_width: UndefinedWidth = "infinite"

    def check(self) -> None:
        self._set(L=regulariser("L", self.L), risk_free=in_reward_units("risk_free", self.risk_free))
        one_of("undefined_width", self.undefined_width, get_args(UndefinedWidth))

    def reward_warning(self, arms: list[tuple[Any, float, float, float]], horizon: int | None) -> str | None:
        if any(pulls < MIN_PULLS_FOR_WARNING for _, pulls, _, _ in arms):
            return super().reward_warning(arms, horizon)
        d = self.L + max(variance for _, _, _, variance in arms)
        end = LONG_LIFE if horizon is None else horizon
        needed = 18.0 * math.log(end) / d**2  # pulls s for which d > 3 sqrt(2 ln N / s)
        if needed * len(arms) <= end:
            return super().reward_warning(arms, horizon)
        fate = "arms are played in rotation" if self.undefined_width == "infinite" else "choices are meaningless"
        return (
            f"{self.name} needs at least {needed:.1g} pulls of every arm before its confidence width is defined on "
            f"rewards of this scale (L plus the largest variance is {d:.2g}); until then {fate}. Use "
            "ScaleFreeUCB(L=...), which works at any scale"
        )


@dataclass(frozen=True)
class UCBRSSR(_UCBSharpe):
    r"""UCB-RSSR, the paper's main policy.

    .. math:: \frac{\bar X^2}{D} + \frac{(\bar V + \tilde X + 2\epsilon + L)\,\epsilon}{D\,(D - 3\epsilon)},
        \qquad D = L + \bar V,\ \epsilon = \sqrt{2 \ln N / s}

    The square loses the sign: if means can be below the risk-free rate, it may lock in to losing arms (see
    docs/evidence/scale-free.md); :class:`~sharpe_bandits.ScaleFreeUCB` keeps the sign.

    Parameters
    ----------
    L : float
        regulariser
    risk_free : float, optional
        rate subtracted from every reward
    undefined_width : UndefinedWidth, optional
        the index where D <= 3 epsilon: "infinite" (the least played such arm is played) or as "printed"
    ddof : int, optional
        1 for the unbiased variance, 0 for the one that divides by s, as in the released code

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> bandit = sb.Bandit([sb.Uniform(1.5, 7.5), sb.Uniform(1.6, 7.8)])
    >>> study = sb.simulate(sb.UCBRSSR(L=0.5), bandit, horizon=1_000, runs=100, seed=1)
    >>> print(study["UCB-RSSR"].regret().final)
    89.0 ± 6.8 [75.5, 102.4]
    """

    title: ClassVar[str] = "UCB-RSSR"
    citation: ClassVar[str] = f"{PAPER}, Algorithm UCB-RSSR and the equation above it"

    ddof: int = field(default=1, kw_only=True)

    def check(self) -> None:
        super().check()
        self._set(ddof=whole("ddof", self.ddof, 0, 1))

    @property
    def objective(self) -> Objective:
        return RSSR(self.L, self.risk_free)

    @property
    def formula(self) -> Callable[..., Any]:
        if self.ddof == 0:
            return rssr_biased_infinite if self.undefined_width == "infinite" else rssr_biased_printed
        return rssr_infinite if self.undefined_width == "infinite" else rssr_printed

    def nondecreasing(self, lowest: float) -> bool:
        return self.undefined_width == "infinite"


@dataclass(frozen=True)
class UCBSRLike(_UCBSharpe):
    r"""UCB-SR-like, with the first term :math:`\bar X / D` of the theorem (the equation prints :math:`\bar X/\bar V`).

    .. math:: \frac{\bar X}{D} + \frac{(\bar V + \bar X + 2\epsilon + L)\,\epsilon}{D\,(D - 3\epsilon)}

    Parameters
    ----------
    L, risk_free, undefined_width : float and float and UndefinedWidth, optional
        as for :class:`UCBRSSR`
    first_term : FirstTerm, optional
        "theorem" as above, or "equation": :math:`\bar X / \bar V`, infinite while the variance is 0
    """

    title: ClassVar[str] = "UCB-SR-like"
    citation: ClassVar[str] = f"{PAPER}, Algorithm UCB-SR-like and the equation above it"

    first_term: FirstTerm = field(default="theorem", kw_only=True)

    def check(self) -> None:
        super().check()
        one_of("first_term", self.first_term, get_args(FirstTerm))

    @property
    def objective(self) -> Objective:
        return SharpeLike(self.L, self.risk_free)

    @property
    def formula(self) -> Callable[..., Any]:
        if self.first_term == "equation":
            return sr_like_equation_infinite if self.undefined_width == "infinite" else sr_like_equation_printed
        return sr_like_infinite if self.undefined_width == "infinite" else sr_like_printed

    def nondecreasing(self, lowest: float) -> bool:
        # The width grows with epsilon only while D + mean >= 0.
        return self.undefined_width == "infinite" and lowest >= self.risk_free
