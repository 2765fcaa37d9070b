"""Bounds, when they are vacuous, and the moments and supports they are computed from."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from ..arms.bandit import Bandit, as_environment
from ..arms.base import Arm
from ..errors import InvalidInputError
from ..results.metrics import Estimate

#: The forms of a bound.
#:
#: printed : as printed in the paper
#: appendix : (regret of UCB-RSSR and UCB-SR-like) the appendix's bound before it is loosened to the printed one
#: corrected : (regret of UCB-RSSR and UCB-SR-like) with its algebra corrected, which does not make it valid
#: theorem : (error of SHVV only) as its theorem states it, where the printed form is that of the appendix
#: repaired : with its errors corrected, and proved
#: proved : every step of its proof holds for the policy as this library plays it. The same as repaired, but for the
#:     regret of UCB-RSSR and UCB-SR-like, where correcting the errors does not save the printed argument
Form = Literal["printed", "appendix", "corrected", "theorem", "repaired", "proved"]
#: The verdict of a measurement on a bound or a claim.
Judgement = Literal["holds", "fails", "undecided"]
#: The forms of most bounds.
FORMS: tuple[Form, ...] = ("printed", "repaired", "proved")


@dataclass(frozen=True)
class Bound:
    """An upper bound on a probability or on a regret.

    It is ``vacuous`` if it is trivial (a probability of at least 1, a regret of at least n times the largest gap) or
    undefined, and then infinite; ``reason`` says why. It ``applies`` if the bandit satisfies the assumptions of the
    statement, such as rewards in [0, 1].
    """

    value: float
    vacuous: bool
    form: Form
    source: str
    reason: str = ""
    kind: Literal["probability", "regret"] = "probability"
    applies: bool = True

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        words = f"{self.kind} at most {self.value:.4g} ({self.form})"
        words += f", vacuous: {self.reason}" if self.vacuous else ""
        return words if self.applies else f"{words}; not for this bandit: an assumption does not hold"


def bisected(holds: Callable[[float], bool], high: float) -> tuple[float, float]:
    """Two neighbouring numbers from 0 to ``high`` between which ``holds`` turns from true to false."""
    low = 0.0
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if holds(middle):
            low = middle
        else:
            high = middle
    return low, high


def within(measured: Estimate, bound: float) -> Judgement:
    """Whether a measured mean is certainly within a bound, certainly not, or neither."""
    return "holds" if measured.high <= bound else "fails" if measured.low > bound else "undecided"


def probability(value: float, form: Form, source: str, *, reason: str = "", applies: bool = True) -> Bound:
    """A bound on a probability."""
    return _bound(value, 1.0, "no probability is above 1", form, source, reason, "probability", applies)


def regret(value: float, trivial: float, form: Form, source: str, *, reason: str = "", applies: bool = True) -> Bound:
    """A bound on a regret, which can never exceed ``trivial``."""
    above = f"no regret is above {trivial:.4g}, the horizon times the largest gap"
    return _bound(value, trivial, above, form, source, reason, "regret", applies)


def _bound(value: float, trivial: float, above: str, form: Form, source: str, reason: str, *rest: Any) -> Bound:
    if reason or math.isnan(value):
        return Bound(math.inf, True, form, source, reason or "the formula is not a number here", *rest)
    vacuous = bool(value >= trivial)
    return Bound(float(value), vacuous, form, source, above if vacuous else "", *rest)


class Facts(NamedTuple):
    """Moments and supports of arms, after subtracting the risk-free rate from every reward."""

    mean: np.ndarray
    variance: np.ndarray
    third: np.ndarray  # central moments
    fourth: np.ndarray
    second: np.ndarray  # raw moment
    low: np.ndarray
    high: np.ndarray
    width: np.ndarray
    reach: np.ndarray  # largest absolute value in the support
    square_range: np.ndarray  # length of the interval that the squared reward lies in

    @property
    def bounded(self) -> bool:
        """Whether all supports are bounded."""
        return bool(np.isfinite(self.width).all())

    def unbounded(self, what: str = "theorem") -> str:
        """Why a statement about bounded rewards is not about these; empty if it is."""
        return "" if self.bounded else f"rewards are unbounded, and the {what} is about bounded ones"

    @property
    def unit(self) -> bool:
        """Whether all rewards lie in [0, 1]."""
        return bool((self.low >= 0).all() and (self.high <= 1).all())


def independent(arms: Iterable[Arm]) -> None:
    """Raise if an arm is serially dependent: all theory here is about independent rewards."""
    for arm in arms:
        if arm.serially_dependent:
            raise InvalidInputError(
                f"the theory is about independent rewards, but those of {arm!r} depend on each other"
            )


def facts(bandit: Any, risk_free: float = 0.0) -> Facts:
    """The moments and supports of a bandit with known moments."""
    fixed = as_environment(bandit)
    if not isinstance(fixed, Bandit):
        raise InvalidInputError(f"bounds need a Bandit of arms with known moments, got {bandit!r}")
    independent(fixed.arms)
    mean, variance = fixed.means - risk_free, fixed.variances
    _, _, third, fourth = np.array([arm.checked_moments for arm in fixed.arms]).T
    low, high = (np.array([arm.support[end] for arm in fixed.arms]) - risk_free for end in (0, 1))
    reach = np.maximum(np.abs(low), np.abs(high))
    nearest = np.where((low <= 0) & (high >= 0), 0.0, np.minimum(np.abs(low), np.abs(high)))
    return Facts(mean, variance, third, fourth, variance + mean**2, low, high, high - low, reach, reach**2 - nearest**2)
