"""U-UCB of Cassel et al., specialised to the Sharpe ratio."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from ..kernels.statistics import ArmRecord
from ..objectives import RSSR, Objective
from ..validation import finite, positive
from .base import IndexPolicy


def sharpe(arm: ArmRecord, epsilon0: float, risk_free: float) -> float:
    return (arm.mean - risk_free) / math.sqrt(epsilon0 + arm.variance)


def index(arm: ArmRecord, t: int, epsilon0: float, risk_free: float, root_scale: float, width: float) -> float:
    # x = g ln N / (nu s) is epsilon^2 g / (2 nu), so its root is epsilon times a constant.
    root = root_scale * arm.epsilon
    return sharpe(arm, epsilon0, risk_free) + width * max(root, root * root)


def index_other_q(
    arm: ArmRecord, t: int, epsilon0: float, risk_free: float, root_scale: float, width: float, q: float
) -> float:
    root = root_scale * arm.epsilon
    return sharpe(arm, epsilon0, risk_free) + width * max(root, root**q)


@dataclass(frozen=True)
class UUCB(IndexPolicy):
    r"""U-UCB on the Sharpe ratio.

    .. math:: \frac{\bar X - r}{\sqrt{\epsilon_0 + \bar V}} + 2b\,\max\{x^{1/2}, x^{q/2}\},
        \qquad x = \frac{g \ln N}{\nu s},\ b = 4\max\{1/\epsilon_0,\ 2\epsilon_0^{-3/2}(|r| + 1)\}

    The sign under the root is plus (with the minus printed in the paper, the index is undefined at its own settings).

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> sb.UUCB(epsilon0=0.5).agent(arms=["A", "B", "C"]).ask()
    'A'
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

    def check(self) -> None:
        self._set(epsilon0=positive("epsilon0", self.epsilon0), risk_free=finite("risk_free", self.risk_free))
        self._set(g=positive("g", self.g), nu=positive("nu", self.nu), q=positive("q", self.q))

    @property
    def b(self) -> float:
        """The constant b of the confidence width."""
        return 4.0 * max(1.0 / self.epsilon0, 2.0 * self.epsilon0**-1.5 * (abs(self.risk_free) + 1.0))

    @property
    def goal(self) -> Objective:
        return RSSR(self.epsilon0, self.risk_free, signed=True)

    @property
    def formula(self) -> Callable[..., Any]:
        return index if self.q == 2.0 else index_other_q

    def argument(self, name: str, horizon: int) -> Any:
        if name == "root_scale":
            return math.sqrt(self.g / (2.0 * self.nu))
        if name == "width":
            return 2.0 * self.b
        return super().argument(name, horizon)

    # The index is nondecreasing in t, but its width exceeds most gaps for the whole horizon: arms are played almost in
    # turn, and the lazy kernel, which this would declare, is not faster.
