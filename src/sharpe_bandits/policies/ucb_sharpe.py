"""UCB-SR-like and UCB-RSSR, the paper's policies for the Sharpe family.

Both indices are printed as a sum of two fractions; here they are a single fraction, which saves a division.
"""

from __future__ import annotations

import math
from dataclasses import field
from typing import Annotated, Any, Literal

from .._support.described import InRewardUnits, Regulariser, whole
from ..objectives import RSSR, Objective, SharpeLike
from ..play.statistics import ArmRecord
from .base import MIN_PULLS_FOR_WARNING, PAPER, IndexPolicy

#: Horizon assumed for a game without one, to check whether it will ever be long enough.
LONG_LIFE = 10**6


def variance_by(arm: ArmRecord, ddof: float) -> float:
    """The unbiased variance; with ``ddof`` 0 the one that divides by s."""
    return arm.variance if ddof > 0.0 else arm.variance * (arm.pulls - 1.0) / arm.pulls


class _UCBSharpe(IndexPolicy):
    L: Regulariser
    risk_free: InRewardUnits = 0.0
    undefined_width: Literal["infinite", "printed"] = "infinite"

    def argument(self, name: str, horizon: int) -> Any:
        return float(self.undefined_width == "printed") if name == "printed" else super().argument(name, horizon)

    def reward_warning(self, arms: list[tuple[Any, float, float, float]], horizon: int | None) -> str | None:
        d = self.L + max(variance for _, _, _, variance in arms)
        end = LONG_LIFE if horizon is None else horizon
        needed = 18.0 * math.log(end) / d**2  # pulls s for which d > 3 sqrt(2 ln N / s)
        if needed * len(arms) <= end or any(pulls < MIN_PULLS_FOR_WARNING for _, pulls, _, _ in arms):
            return super().reward_warning(arms, horizon)
        fate = "arms are played in rotation" if self.undefined_width == "infinite" else "choices are meaningless"
        return (
            f"{self.name} needs at least {needed:.1g} pulls of every arm before its confidence width is defined on "
            f"rewards of this scale (L plus the largest variance is {d:.2g}); until then {fate}. Use "
            "ScaleFreeUCB(L=...), which works at any scale"
        )


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
    undefined_width : str, optional
        the index where D <= 3 epsilon: "infinite" (the least played such arm is played) or as "printed", with a
        negative width that starves the arm
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

    title = "UCB-RSSR"
    citation = f"{PAPER}, Algorithm UCB-RSSR and the equation above it"

    ddof: Annotated[int, whole(0, 1)] = field(default=1, kw_only=True)

    @property
    def objective(self) -> Objective:
        return RSSR(self.L, self.risk_free)

    @staticmethod
    def formula(arm: ArmRecord, t: int, L: float, risk_free: float, ddof: float, printed: float) -> float:
        e, d = arm.epsilon, L + variance_by(arm, ddof)
        if printed == 0.0 and d <= 3.0 * e:
            return math.inf
        room = d - 3.0 * e
        excess = arm.mean - risk_free
        square = arm.second_moment - risk_free * (2.0 * arm.mean - risk_free)
        return (excess * excess * room + (d + square + 2.0 * e) * e) / (d * room)


class UCBSRLike(_UCBSharpe):
    r"""UCB-SR-like, with the first term X̄ / D of the theorem (the equation prints X̄/V̄).

    .. math:: \frac{\bar X}{D} + \frac{(\bar V + \bar X + 2\epsilon + L)\,\epsilon}{D\,(D - 3\epsilon)}

    Parameters
    ----------
    L, risk_free, undefined_width : float and float and str, optional
        as for :class:`UCBRSSR`
    first_term : str, optional
        "theorem" as above, or "equation": :math:`\bar X / \bar V`, infinite while the variance is 0
    """

    title = "UCB-SR-like"
    citation = f"{PAPER}, Algorithm UCB-SR-like and the equation above it"

    first_term: Literal["theorem", "equation"] = field(default="theorem", kw_only=True)

    @property
    def objective(self) -> Objective:
        return SharpeLike(self.L, self.risk_free)

    @staticmethod
    def formula(arm: ArmRecord, t: int, L: float, risk_free: float, equation: float, printed: float) -> float:
        e, d = arm.epsilon, L + arm.variance
        if (equation > 0.0 and arm.variance <= 0.0) or (printed == 0.0 and d <= 3.0 * e):
            return math.inf
        room = d - 3.0 * e
        excess = arm.mean - risk_free
        index = (excess * room + (d + excess + 2.0 * e) * e) / (d * room)
        if equation > 0.0:  # the first term is divided by V instead of D
            index += excess / arm.variance - excess / d
        return index

    def argument(self, name: str, horizon: int) -> Any:
        return float(self.first_term == "equation") if name == "equation" else super().argument(name, horizon)
