"""U-UCB of Cassel et al., specialised to the Sharpe ratio."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, get_args

from .._support.validation import in_reward_units, one_of, positive, whole
from ..errors import InvalidInputError
from ..objectives import RSSR, Objective
from ..play.statistics import ArmRecord
from .base import IndexPolicy
from .ucb_sharpe import biased_variance

#: The sign of the variance under the root.
Sign = Literal["plus", "minus"]
#: The index where epsilon0 - V is not above 0.
Undefined = Literal["infinite", "absolute", "barred"]


def sharpe(arm: ArmRecord, epsilon0: float, risk_free: float) -> float:
    return (arm.mean - risk_free) / math.sqrt(epsilon0 + arm.variance)


def bonus(arm: ArmRecord, root_scale: float, width: float, q: float) -> float:
    root = root_scale * arm.epsilon
    return width * max(root, root**q)


def index(arm: ArmRecord, t: int, epsilon0: float, risk_free: float, root_scale: float, width: float) -> float:
    # x = g ln N / (nu s) is epsilon^2 g / (2 nu), so its root is epsilon times a constant.
    root = root_scale * arm.epsilon
    return sharpe(arm, epsilon0, risk_free) + width * max(root, root * root)


def index_other_q(
    arm: ArmRecord, t: int, epsilon0: float, risk_free: float, root_scale: float, width: float, q: float
) -> float:
    return sharpe(arm, epsilon0, risk_free) + bonus(arm, root_scale, width, q)


def index_biased(
    arm: ArmRecord, t: int, epsilon0: float, risk_free: float, root_scale: float, width: float, q: float
) -> float:
    ratio = (arm.mean - risk_free) / math.sqrt(epsilon0 + biased_variance(arm))
    return ratio + bonus(arm, root_scale, width, q)


def index_minus(
    arm: ArmRecord,
    t: int,
    epsilon0: float,
    risk_free: float,
    root_scale: float,
    width: float,
    q: float,
    reflection: float,
    elsewhere: float,
) -> float:
    """With the variance subtracted; where the difference is not above 0, its absolute value (if ``reflection`` is 1)
    or the index ``elsewhere``.
    """
    room = epsilon0 - arm.variance
    if room < 0.0:
        room = -room * reflection
    if room <= 0.0:
        return elsewhere
    return (arm.mean - risk_free) / math.sqrt(room) + bonus(arm, root_scale, width, q)


@dataclass(frozen=True)
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
    sign : Sign, optional
        "plus" as above, or "minus", as the paper prints it: :math:`\sqrt{\epsilon_0 - \bar V}`
    undefined : Undefined, optional
        with "minus", the index where :math:`\bar V \ge \epsilon_0`: "infinite" (the least played such arm is
        played), from the "absolute" value of the difference, or minus infinity ("barred")
    ddof : int, optional
        1 for the unbiased variance, 0 for the one that divides by s, as in the released code (with "plus" only)
    """

    title: ClassVar[str] = "U-UCB"
    citation: ClassVar[str] = (
        "Cassel, Mannor & Zeevi, A General Framework for Bandit Problems Beyond Cumulative Objectives"
    )

    epsilon0: float
    risk_free: float = 0.0
    g: float = 2.5
    nu: float = 0.5
    q: float = 2.0
    sign: Sign = field(default="plus", kw_only=True)
    undefined: Undefined = field(default="infinite", kw_only=True)
    ddof: int = field(default=1, kw_only=True)

    def check(self) -> None:
        self._set(epsilon0=positive("epsilon0", self.epsilon0), risk_free=in_reward_units("risk_free", self.risk_free))
        self._set(g=positive("g", self.g), nu=positive("nu", self.nu), q=positive("q", self.q))
        one_of("sign", self.sign, get_args(Sign))
        one_of("undefined", self.undefined, get_args(Undefined))
        self._set(ddof=whole("ddof", self.ddof, 0, 1))
        if self.sign == "minus" and self.ddof == 0:
            raise InvalidInputError(
                'U-UCB has ddof=0 only with sign="plus", as the released code; leave one of them out'
            )

    @property
    def b(self) -> float:
        """The constant b of the confidence width."""
        return 4.0 * max(1.0 / self.epsilon0, 2.0 * self.epsilon0**-1.5 * (abs(self.risk_free) + 1.0))

    @property
    def objective(self) -> Objective:
        return RSSR(self.epsilon0, self.risk_free, signed=True)

    @property
    def formula(self) -> Callable[..., Any]:
        if self.sign == "minus":
            return index_minus
        if self.ddof == 0:
            return index_biased
        return index if self.q == 2.0 else index_other_q

    def argument(self, name: str, horizon: int) -> Any:
        if name == "root_scale":
            return math.sqrt(self.g / (2.0 * self.nu))
        if name == "width":
            return 2.0 * self.b
        if name == "reflection":
            return float(self.undefined == "absolute")
        if name == "elsewhere":
            return -math.inf if self.undefined == "barred" else math.inf
        return super().argument(name, horizon)

    # The index is nondecreasing in t, but its width exceeds most gaps for the whole horizon: arms are played almost in
    # turn, and the lazy kernel, which this would declare, is not faster.
