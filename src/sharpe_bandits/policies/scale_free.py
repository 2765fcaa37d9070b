"""Policies without a scale: their choices stay the same when rewards are multiplied by c and L by c squared.

They work on the signed root of RSSR, h = (X - r) / sqrt(L + V), which orders arms as signed RSSR does. The error of its
estimate is, to first order, that of a mean of

    psi(x) = (x - X) / sqrt(D) - (X - r) ((x - X)^2 - V) / (2 D^(3/2)),   D = L + V,

so that W / s, W the variance of psi, is the variance of h after s pulls. W takes the third and fourth moment; after few
pulls these are drawn towards those of a normal distribution, as if PRIOR pulls of one had been seen. That W is itself
estimated is allowed for as in the normal case with unknown variance: a distance d has the divergence
(s - 2)/2 ln(1 + d^2/W), not s d^2/(2 W), to which it tends.

An arm that has paid the same every time (three pulls of a Bernoulli arm often do) has an estimated variance of 0 and
may yet pay something else: it is given the variance L, so that W is 1/2, and is played until that is refuted.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ..errors import InvalidInputError
from ..kernels.statistics import ROUNDING, ArmRecord
from ..kernels.streams import BESIDE_GAMMA, gamma, normal
from ..objectives import RSSR, Objective
from ..validation import finite, inside, not_negative, positive, whole
from .base import IndexPolicy

#: Weight of the normal shape in the moments, in pulls.
PRIOR = 10.0
#: W is at least this share of what it would be for a normal distribution.
FLOOR = 0.25
#: Windows are at most so long: a discount remembers longer for less.
LONGEST_WINDOW = 10**6
#: Exponents are cut here: e^_LARGEST is far beyond any ratio.
_LARGEST = 200.0


def root_rssr(arm: ArmRecord, t: int, L: float, risk_free: float) -> float:
    """h: the signed root of RSSR."""
    return (arm.mean - risk_free) / math.sqrt(L + arm.variance)


def paid_alike(arm: ArmRecord) -> bool:
    """Whether the arm has paid the same every time."""
    return arm.variance <= ROUNDING * arm.mean * arm.mean


def spread(arm: ArmRecord, L: float, risk_free: float) -> float:
    """W: the variance of one pull's influence on h, estimated and stabilised."""
    if paid_alike(arm):
        # It may yet pay something else, with a probability p of up to beta / s (then s pulls hide it with probability
        # exp(-beta)), and raise h from 0 to no more than sqrt(p / (1 - p)), whatever it pays: W = 1/2 covers that.
        return 0.5
    d = L + arm.variance
    v = arm.variance
    share = arm.pulls / (arm.pulls + PRIOR)
    third = share * arm.third
    fourth = share * arm.fourth + (1.0 - share) * 3.0 * v * v
    x = (arm.mean - risk_free) / d
    estimated = v / d - x * third / d + 0.25 * x * x * (fourth - v * v) / d
    shaped_normal = v / d + 0.5 * x * x * v * v / d
    return max(estimated, FLOOR * shaped_normal)


def upper_bound(arm: ArmRecord, t: int, L: float, risk_free: float, c: float, rest: float) -> float:
    if rest > 0.0 and t - arm.last > rest * max(1.0, 0.01 * math.sqrt(t)):
        return math.inf
    # The distance whose divergence is c ln N; epsilon^2 is 2 ln N / s.
    exponent = c * arm.epsilon * arm.epsilon * arm.pulls / (arm.pulls - 2.0)
    if exponent < 0.01:  # most rounds: the series is exact to 1e-12 and far cheaper
        grown = exponent * (1.0 + exponent * (0.5 + exponent * (1.0 / 6.0 + exponent / 24.0)))
    else:
        grown = math.expm1(min(exponent, _LARGEST))
    return root_rssr(arm, t, L, risk_free) + math.sqrt(spread(arm, L, risk_free) * grown)


def imed(arm: ArmRecord, t: int, L: float, risk_free: float) -> float:
    behind = arm.lead - root_rssr(arm, t, L, risk_free)
    square = behind * behind
    # The leader itself is not behind; written so that an arm without any spread does not divide 0 by 0.
    ratio = square / spread(arm, L, risk_free) if square > 0.0 else 0.0
    return -(0.5 * (arm.pulls - 2.0) * math.log1p(ratio) + math.log(arm.pulls))


def posterior(arm: ArmRecord, t: int, L: float, risk_free: float) -> float:
    # Jeffreys' prior: tau ~ Gamma((s - 1)/2, rate (s - 1) V / 2), theta ~ N(X, 1 / (s tau)).
    half = 0.5 * (arm.pulls - 1.0)
    # L for an arm that has paid the same every time, else nothing; no branch, which the fast gamma sampler asks for.
    seen = arm.variance + L / (1.0 + 1e15 * (arm.variance / L))
    variance = half * seen / gamma(arm.key, half)
    theta = arm.mean + normal(arm.key, BESIDE_GAMMA) * math.sqrt(variance / arm.pulls)
    return (theta - risk_free) / math.sqrt(L + variance)


def reweighted(arm: ArmRecord, t: int, L: float, risk_free: float) -> float:
    if paid_alike(arm):  # weights change nothing
        return root_rssr(arm, t, L, risk_free) + normal(arm.key, 0) * math.sqrt(0.5 / arm.pulls)
    return (arm.drawn_mean - risk_free) / math.sqrt(L + arm.drawn_variance)


@dataclass(frozen=True)
class _ScaleFree(IndexPolicy):
    least_pilot: ClassVar[int] = 3

    L: float
    risk_free: float = 0.0

    def check(self) -> None:
        self._set(L=positive("L", self.L), risk_free=finite("risk_free", self.risk_free))

    @property
    def goal(self) -> Objective:
        return RSSR(self.L, self.risk_free, signed=True)


@dataclass(frozen=True)
class ScaleFreeUCB(_ScaleFree):
    r"""SF-UCB: an upper bound of the signed root of RSSR, as wide as that estimate is uncertain.

    .. math:: \hat h + \sqrt{\hat W\,\left(e^{2 c \ln N/(s-2)} - 1\right)},

    which tends to :math:`\hat h + \sqrt{2 c \ln N\, \hat W / s}` with many pulls.

    Parameters
    ----------
    L : regulariser, in units of the variance of rewards
    risk_free : rate subtracted from every reward
    c : width of the confidence term; smaller explores less and locks in more often (1 is classical)
    rest : if above 0, no arm rests longer: it is played again after so many rounds (from t = 10,000 on, after
        rest sqrt(t) / 100), whatever its index. That takes K / rest of the rounds
    """

    title: ClassVar[str] = "SF-UCB"
    citation: ClassVar[str] = "delta-method width on the signed root of RSSR; this library"

    c: float = 0.5
    rest: float = 0.0

    def check(self) -> None:
        super().check()
        self._set(c=positive("c", self.c), rest=not_negative("rest", self.rest))

    @property
    def formula(self) -> Callable[..., Any]:
        return upper_bound


@dataclass(frozen=True)
class _Forgetting(ScaleFreeUCB):
    """Checks that both forms share: enough is remembered to tell arms apart."""

    def _check_memory(self, rounds: float, arms: int, remedy: str) -> None:
        needed = 2 * self.least_pilot * arms
        if rounds < needed:
            raise InvalidInputError(
                f"{self.name} remembers {rounds:g} rounds, too few for {arms} arms, which need {needed}; {remedy}"
            )


@dataclass(frozen=True)
class SlidingWindowUCB(_Forgetting):
    r"""SW-SF-UCB: SF-UCB on the rewards of the last rounds alone, for arms that drift or switch.

    In its formula pulls are those within the window, and N is at most its length.

    Parameters
    ----------
    L, risk_free, c : as for :class:`ScaleFreeUCB`
    window : how many rounds are remembered, at most a million; about as long as arms stay the same, or a little less
    """

    title: ClassVar[str] = "SW-SF-UCB"
    citation: ClassVar[str] = "Garivier & Moulines, On UCB policies for switching bandit problems, 2011, on SF-UCB"

    window: int = field(default=1000, kw_only=True)

    def check(self) -> None:
        super().check()
        self._set(window=whole("window", self.window, 2 * self.least_pilot, LONGEST_WINDOW))

    @property
    def memory(self) -> tuple[int, float]:
        return self.window, 1.0

    def check_horizon(self, horizon: int, arms: int) -> None:
        self._check_memory(self.window, arms, "lengthen the window")
        super().check_horizon(horizon, arms)


@dataclass(frozen=True)
class DiscountedUCB(_Forgetting):
    r"""D-SF-UCB: SF-UCB on rewards that weigh less the older they are, for arms that drift or switch.

    A reward of k rounds ago has the weight :math:`\gamma^k`; weights take the place of pulls, and their sum that of N.

    Parameters
    ----------
    L, risk_free, c : as for :class:`ScaleFreeUCB`
    discount : gamma, between 0 and 1; about 1 / (1 - discount) rounds are remembered
    """

    title: ClassVar[str] = "D-SF-UCB"
    citation: ClassVar[str] = "Garivier & Moulines, On UCB policies for switching bandit problems, 2011, on SF-UCB"

    discount: float = field(default=0.999, kw_only=True)

    def check(self) -> None:
        super().check()
        self._set(discount=inside("discount", self.discount))

    @property
    def memory(self) -> tuple[int, float]:
        return 0, self.discount

    def check_horizon(self, horizon: int, arms: int) -> None:
        self._check_memory(1 / (1 - self.discount), arms, "raise the discount")
        super().check_horizon(horizon, arms)


@dataclass(frozen=True)
class ScaleFreeIMED(_ScaleFree):
    r"""SF-IMED: plays the arm for which being the best is least refuted, with nothing to tune.

    Minimises :math:`\frac{s_i-2}{2}\ln(1 + (\hat h_{\max} - \hat h_i)^2 / \hat W_i) + \ln s_i`.

    Parameters are those of :class:`ScaleFreeUCB` but for c: it has nothing to tune.
    """

    title: ClassVar[str] = "SF-IMED"
    citation: ClassVar[str] = (
        "Honda & Takemura, IMED, 2015, with the delta-method divergence of the signed root of RSSR"
    )

    @property
    def formula(self) -> Callable[..., Any]:
        return imed

    @property
    def score(self) -> Callable[..., Any]:
        return root_rssr


@dataclass(frozen=True)
class ScaleFreeTS(_ScaleFree):
    r"""SF-TS: Thompson sampling of the signed root of RSSR, from the normal-gamma posterior of Jeffreys' prior.

    Argmax of :math:`(\theta - r) / \sqrt{L + 1/\tau}` with :math:`\tau \sim \Gamma((s-1)/2, (s-1)\bar V/2)` and
    :math:`\theta \sim N(\bar X, 1/(s\tau))`.

    Parameters are those of :class:`ScaleFreeUCB` but for c.
    """

    title: ClassVar[str] = "SF-TS"
    citation: ClassVar[str] = "normal-gamma Thompson sampling (Honda & Takemura, 2014) on the signed root of RSSR"

    @property
    def formula(self) -> Callable[..., Any]:
        return posterior


@dataclass(frozen=True)
class ScaleFreeDirichlet(_ScaleFree):
    r"""SF-NPTS: non-parametric Thompson sampling of the signed root of RSSR.

    Each round every arm's rewards are given weights from the flat Dirichlet distribution, and the arm with the largest
    reweighted ratio is played. Exact up to 64 pulls of an arm; beyond, the normal limit of the reweighted moments.
    Parameters are those of :class:`ScaleFreeUCB` but for c.
    """

    title: ClassVar[str] = "SF-NPTS"
    citation: ClassVar[str] = "Riou & Honda, Bandit Algorithms Based on Thompson Sampling for Bounded Rewards, 2020"
    least_pilot: ClassVar[int] = 8  # reweighted means stay within what was seen: a few rewards must show the range

    @property
    def formula(self) -> Callable[..., Any]:
        return reweighted
