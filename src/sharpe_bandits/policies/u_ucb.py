"""U-UCB of Cassel et al., specialised to the Sharpe ratio."""

from __future__ import annotations

import math
from dataclasses import field
from typing import Annotated, Any, Literal

from .._support.described import InRewardUnits, Positive, whole
from ..objectives import RSSR, Objective
from ..objectives.influence import Formula
from ..play.statistics import ArmRecord
from .base import IndexPolicy
from .ucb_sharpe import variance_by


def usual(arm: ArmRecord, t: int, epsilon0: float, risk_free: float, root_scale: float, width: float) -> float:
    # x = g ln N / (nu s) is epsilon^2 g / (2 nu), so its root is epsilon times a constant.
    root = root_scale * arm.epsilon
    return (arm.mean - risk_free) / math.sqrt(epsilon0 + arm.variance) + width * max(root, root * root)


def other(
    arm: ArmRecord,
    t: int,
    epsilon0: float,
    risk_free: float,
    root_scale: float,
    width: float,
    q: float,
    ddof: float,
    minus: float,
    reflection: float,
    elsewhere: float,
) -> float:
    """With any exponent, and a variance of any ``ddof`` that may be subtracted."""
    variance = variance_by(arm, ddof)
    room = epsilon0 - variance if minus > 0.0 else epsilon0 + variance
    if room < 0.0:
        room = -room * reflection
    if room <= 0.0:
        return elsewhere
    root = root_scale * arm.epsilon
    return (arm.mean - risk_free) / math.sqrt(room) + width * max(root, root**q)


class UUCB(IndexPolicy):
    r"""U-UCB on the Sharpe ratio.

    .. math:: \frac{\bar X - r}{\sqrt{\epsilon_0 + \bar V}} + 2b\,\max\{x^{1/2}, x^{q/2}\},
        \qquad x = \frac{g \ln N}{\nu s},\ b = 4\max\{1/\epsilon_0,\ 2\epsilon_0^{-3/2}(|r| + 1)\}

    Parameters
    ----------
    epsilon0 : float
        regulariser
    risk_free : float, optional
        rate subtracted from every reward
    g, nu, q : float, optional
        constants of the confidence term; by default those of the authors' port
    sign : str, optional
        "plus" as above, or "minus", as the paper prints it: :math:`\sqrt{\epsilon_0 - \bar V}`
    undefined : str, optional
        with "minus", the index where :math:`\bar V \ge \epsilon_0`: "infinite" (the least played such arm is
        played), from the "absolute" value of the difference, or minus infinity ("barred")
    ddof : int, optional
        1 for the unbiased variance, 0 for the one that divides by s, as in the released code
    """

    title = "U-UCB"
    citation = "Cassel, Mannor & Zeevi, A General Framework for Bandit Problems Beyond Cumulative Objectives"

    epsilon0: Positive
    risk_free: InRewardUnits = 0.0
    g: Positive = 2.5
    nu: Positive = 0.5
    q: Positive = 2.0
    sign: Literal["plus", "minus"] = field(default="plus", kw_only=True)
    undefined: Literal["infinite", "absolute", "barred"] = field(default="infinite", kw_only=True)
    ddof: Annotated[int, whole(0, 1)] = field(default=1, kw_only=True)

    @property
    def b(self) -> float:
        """The constant b of the confidence width."""
        return 4.0 * max(1.0 / self.epsilon0, 2.0 * self.epsilon0**-1.5 * (abs(self.risk_free) + 1.0))

    @property
    def objective(self) -> Objective:
        return RSSR(self.epsilon0, self.risk_free, signed=True)

    @property
    def formula(self) -> Formula:
        return usual if self.sign == "plus" and self.ddof and self.q == 2.0 else other

    def argument(self, name: str, horizon: int) -> Any:
        special = {
            "root_scale": math.sqrt(self.g / (2.0 * self.nu)),
            "width": 2.0 * self.b,
            "minus": float(self.sign == "minus"),
            "reflection": float(self.undefined == "absolute"),
            "elsewhere": -math.inf if self.undefined == "barred" else math.inf,
        }
        return special[name] if name in special else super().argument(name, horizon)
