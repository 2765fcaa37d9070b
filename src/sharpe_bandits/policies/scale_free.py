"""Scale-free policies: their choices do not change when rewards are multiplied by c (and L by the power of c that fits
the objective).

They work on the root h of an objective and the variance W of its influence function (see
:mod:`sharpe_bandits.objectives.influence`): for signed RSSR, the default, h = (X - r) / sqrt(L + V). W depends on the
third and fourth moment; after few pulls these are shrunk towards those of a normal distribution, as if PRIOR pulls of
one had been seen. W is itself estimated, which is allowed for as in the normal case with unknown variance: a distance d
has the divergence (s - 2)/2 ln(1 + d^2/W) instead of its limit s d^2/(2 W).

An arm with zero sample variance (three pulls of a Bernoulli arm often have) may still pay something else. If the
objective has a regulariser, W for such an arm has an upper bound (1/2 for RSSR), which is used until its rewards vary.
Objectives without one (mean, variance, mean-variance) have no scale of their own: the arm gets the largest variance of
any arm, and IMED takes it to be one standard deviation behind the best.
"""

from __future__ import annotations

import math
from dataclasses import field
from functools import lru_cache
from typing import Annotated, Any, ClassVar

from .._support.described import InRewardUnits, Inside, Positive, whole
from ..errors import InvalidInputError
from ..objectives import RSSR, Objective, check_objective
from ..objectives.influence import Formula, influence_variance, named
from ..objectives.ratios import RatioRegulariser
from ..play.statistics import FEATURE, ROUNDING, ArmRecord, layout_for
from ..play.streams import expm1, log, log1p, root_growth
from .base import IndexPolicy, Policy

#: Weight, in pulls, of the normal distribution in the shrinkage of moments.
PRIOR = 10.0
#: W is at least this fraction of its value for a normal distribution.
FLOOR = 0.25
#: Maximum length of a window; for longer memories a discount is cheaper.
LONGEST_WINDOW = 10**6
#: Upper limit of exponents: e^_LARGEST is far beyond any ratio.
_LARGEST = 200.0
#: Upper limit of ratios, so that their logarithm is finite.
_LARGEST_RATIO = 1e300


def has_zero_variance(arm: ArmRecord) -> bool:
    """Whether the sample variance of the arm is zero, apart from rounding: it has always paid the same."""
    return arm.variance <= ROUNDING * arm.mean * arm.mean


def root_and_noise(objective: Objective) -> tuple[Formula, Formula]:
    """The root h of an objective and the variance W of its influence function, as functions of an arm's record."""
    if not objective.has_feature:
        return objective.record_root, influence_variance_of(objective.root)
    noise = influence_variance_by_feature(objective.root, objective.spread_if_normal, objective.needs_covariate)
    return objective.record_root, noise


@lru_cache
def influence_variance_of(root: Formula) -> Formula:
    """W, stabilised, for the objective of mean and variance with this root; for an arm with zero sample variance
    ``unseen`` or, if that is 0, W of the variance ``largest``.
    """

    def stable_influence_variance(arm: ArmRecord, objective: tuple[float, ...], unseen: float, largest: float) -> float:
        degenerate = has_zero_variance(arm)
        v = largest if degenerate else arm.variance
        _, by_mean, by_variance, scale = root(arm.mean, v, *objective)
        share = arm.pulls / (arm.pulls + PRIOR)
        third = share * arm.third
        fourth = share * arm.fourth + (1.0 - share) * 3.0 * v * v
        estimated = influence_variance(v, third, fourth, v, by_mean, by_variance, 1.0)
        if_normal = by_mean * by_mean * v + 2.0 * by_variance * by_variance * v * v
        stable = (if_normal if degenerate else max(estimated, FLOOR * if_normal)) / scale
        return unseen if degenerate and unseen > 0.0 else stable

    return named(stable_influence_variance, root)


@lru_cache
def influence_variance_by_feature(root: Formula, if_normal: Formula, is_shrunk: bool) -> Formula:
    """:func:`influence_variance_of` for an objective of the mean of a feature."""
    prior, floor = (0.0, 0.0) if is_shrunk else (PRIOR, FLOOR)

    def stable_influence_variance(arm: ArmRecord, objective: tuple[float, ...], unseen: float, largest: float) -> float:
        degenerate = has_zero_variance(arm)
        v = largest if degenerate else arm.variance
        _, by_mean, by_feature, scale = root(arm.mean, arm.feature, *objective)
        covariance, spread = if_normal(arm.mean, v, *objective)
        normal = influence_variance(v, covariance, spread, 0.0, by_mean, by_feature, 1.0)
        share = 0.0 if degenerate else arm.pulls / (arm.pulls + prior)
        covariance = share * arm.feature_covariance + (1.0 - share) * covariance
        spread = share * (arm.feature_square - arm.feature * arm.feature) + (1.0 - share) * spread
        estimated = influence_variance(v, covariance, spread, 0.0, by_mean, by_feature, 1.0)
        stable = max(estimated, floor * normal) / scale
        return unseen if degenerate and unseen > 0.0 else stable

    return named(stable_influence_variance, root, if_normal)


def largest_variance(arm: ArmRecord, t: int, *arguments: Any) -> float:
    """The score of these policies: the index reads the largest variance of any arm as ``arm.lead``."""
    return arm.variance


def all_pulls(arm: ArmRecord) -> float:
    """The number of pulls."""
    return arm.pulls


def effective_pulls(arm: ArmRecord) -> float:
    """The effective sample size: as many independent rewards would estimate the mean equally well; at least 3.

    The sample autocorrelation r of s rewards is biased downwards by about (1 + 3r)/s (Kendall, 1954), which is
    corrected.
    """
    s = arm.pulls
    if s <= 3.0:
        return 3.0
    r = (s * arm.autocovariance / arm.variance + 1.0) / (s - 3.0) if arm.variance > 0.0 else 0.0
    r = min(max(r, 0.0), 0.99)
    return max(3.0, s * (1.0 - r) / (1.0 + r))


@lru_cache
def upper_bound_of(estimate: Formula, w_of: Formula, counted: Formula) -> Formula:
    """The index of SF-UCB for the objective with this root and noise; ``counted``: how pulls are counted."""

    def upper_bound(arm: ArmRecord, t: int, objective: tuple[float, ...], unseen: float, c: float) -> float:
        # The distance whose divergence is c ln N; epsilon^2 is 2 ln N / s.
        exponent = c * arm.epsilon * arm.epsilon * arm.pulls / (counted(arm) - 2.0)
        grown = expm1(min(exponent, _LARGEST))
        return estimate(arm, *objective) + math.sqrt(w_of(arm, objective, unseen, arm.lead) * grown)

    return named(upper_bound, estimate, counted)


@lru_cache
def imed_of(estimate: Formula, w_of: Formula) -> tuple[Formula, Formula]:
    """The index of SF-IMED and its score for the objective with this root and noise."""

    def imed(arm: ArmRecord, t: int, objective: tuple[float, ...], unseen: float) -> float:
        behind = arm.lead - estimate(arm, *objective)
        square = behind * behind
        # The leader itself is not behind; this form avoids 0 / 0 for an arm with W = 0.
        ratio = square / w_of(arm, objective, unseen, arm.variance) if square > 0.0 else 0.0
        if unseen == 0.0 and square > 0.0 and has_zero_variance(arm):
            ratio = 1.0
        return -(0.5 * (arm.pulls - 2.0) * log1p(min(ratio, _LARGEST_RATIO)) + log(arm.pulls))

    def score(arm: ArmRecord, t: int, objective: tuple[float, ...], unseen: float) -> float:
        return estimate(arm, *objective)

    return named(imed, estimate), named(score, estimate)


@lru_cache
def sampled_of(estimate: Formula, w_of: Formula) -> Formula:
    """The index of SF-TS for the objective with this root and noise."""

    def sampled(arm: ArmRecord, t: int, objective: tuple[float, ...], unseen: float, optimistic: float) -> float:
        z = arm.standard_normal
        # The distance whose divergence is z^2 / 2: sqrt(W (e^x - 1)) with x = z^2 / (s - 2).
        per_degree = 1.0 / (arm.pulls - 2.0)
        standard_error = math.sqrt(w_of(arm, objective, unseen, arm.lead) * per_degree)
        away = z * standard_error * root_growth(min(z * z * per_degree, _LARGEST))
        return estimate(arm, *objective) + (max(away, 0.0) if optimistic > 0.0 else away)

    return named(sampled, estimate)


class OnObjective(Policy, abstract=True):
    """A policy for any objective: signed RSSR if L is given."""

    L: RatioRegulariser | None = None
    risk_free: InRewardUnits = 0.0
    objective: Objective = field(default=None, kw_only=True)  # type: ignore[assignment]  # made of L

    def check(self) -> None:
        kind, L, risk_free, objective = type(self).__name__, self.L, self.risk_free, self.objective
        if L is not None and (objective is None or hasattr(objective, "made_of_L")):  # the policy may be a copy
            objective = RSSR(L, risk_free, signed=True)
            object.__setattr__(objective, "made_of_L", True)
            self._set(objective=objective)
            return
        if objective is None:
            raise InvalidInputError(
                f"L must be a finite number above 0, got None; {kind} needs the regulariser L of RSSR, or another "
                f"objective: {kind}(L=0.1) or {kind}(objective=sb.Sharpe(L=0.1))"
            )
        if getattr(check_objective(objective).unadjusted, "L", 1.0) == 0.0:
            raise InvalidInputError(
                f"{self.title} needs L above 0, got {objective!r}: the ratio of an arm whose rewards have not varied "
                f"yet would be infinite; take {objective.usual_L} if in doubt"
            )
        if L is not None or risk_free != 0.0:
            raise InvalidInputError(
                f"{self.title} takes L and risk_free from its objective, {objective!r}; leave out L={L!r} and "
                f"risk_free={risk_free!r}, or the objective"
            )

    def parameter(self, name: str) -> Any:
        """A parameter as it was given: no objective, if the policy made its own of L."""
        return None if name == "objective" and self.L is not None else super().parameter(name)


class AnyObjective(OnObjective, IndexPolicy, abstract=True):
    """An index policy for any objective."""

    least_pilot = 3

    @property
    def score(self) -> Formula | None:
        return largest_variance

    def argument(self, name: str, horizon: int) -> Any:
        unseen = self.objective.unseen_influence_variance or 0.0
        return unseen if name == "unseen" else super().argument(name, horizon)


class ScaleFreeUCB(AnyObjective):
    r"""SF-UCB: an upper confidence bound on the root of the objective (by default signed RSSR).

    .. math:: \hat h + \sqrt{\hat W\,\left(e^{2 c \ln N/(s-2)} - 1\right)},

    which tends to :math:`\hat h + \sqrt{2 c \ln N\, \hat W / s}` with many pulls.

    Parameters
    ----------
    L, risk_free : float | None and float, optional
        parameters of signed RSSR: its regulariser, in units of the variance of rewards, and the rate that is subtracted
        from every reward
    objective : Objective | None, optional
        any objective, instead of L and risk_free
    c : float, optional
        scale of the confidence term; a smaller one explores less and locks in more often (1 is classical)
    dependent : bool, optional
        count pulls as s (1 - r)/(1 + r) if r > 0, where r is the autocorrelation of an arm's rewards from pull to pull,
        corrected for its small-sample bias. For autocorrelated arms that advance only when they are played
        (``clock="pulls"``). Not for arms that advance in every round: there it makes things worse
    """

    title = "SF-UCB"
    citation = "delta-method width on the signed root of RSSR; this library"

    c: Positive = 0.5
    dependent: bool = False

    @property
    def formula(self) -> Formula:
        return upper_bound_of(*root_and_noise(self.objective), effective_pulls if self.dependent else all_pulls)


class _Forgetting(ScaleFreeUCB):
    """Common checks: enough is remembered to distinguish arms."""

    #: What to do if too little is.
    remedy: ClassVar[str]

    def check(self) -> None:
        super().check()
        if self.dependent:
            raise InvalidInputError(
                f"{self.title} forgets rewards, but not their autocorrelation; leave dependent=False"
            )
        # Rewards must be taken out again of what the objective keeps of them.
        layout = layout_for(FEATURE, self.objective)
        if self.objective.has_feature and not layout.can_forget(*self.forgetting):
            longest = layout.longest_window
            shorter = f"use SlidingWindowUCB with a window of at most {longest:g} rounds, or " if longest else ""
            raise InvalidInputError(
                f"{self.title} cannot forget what {self.objective!r} keeps of rewards; {shorter}use ScaleFreeUCB, and "
                "start its agent anew when a ChangeDetector sees a change (sharpe_bandits.live.change)"
            )

    def check_horizon(self, horizon: int, arms: int) -> None:
        window, discount = self.forgetting
        rounds, needed = window or 1 / (1 - discount), 2 * self.least_pilot * arms
        if rounds < needed:
            raise InvalidInputError(
                f"{self.name} remembers {rounds:g} rounds, too few for {arms} arms, which need {needed}; {self.remedy}"
            )
        super().check_horizon(horizon, arms)


class SlidingWindowUCB(_Forgetting):
    r"""SW-SF-UCB: SF-UCB on a sliding window of rewards, for arms that drift or switch.

    In its formula, pulls are those within the window, and N is at most its length. Parameters are those of
    :class:`ScaleFreeUCB`, and

    Parameters
    ----------
    window : int, optional
        number of rounds remembered, at most a million (256 for CVaR); about as long as arms stay the same, or a little
        less
    """

    title = "SW-SF-UCB"
    citation = "Garivier & Moulines, On UCB policies for switching bandit problems, 2011, on SF-UCB"

    remedy = "lengthen the window"

    window: Annotated[int, whole(6, LONGEST_WINDOW)] = field(default=1000, kw_only=True)

    @property
    def forgetting(self) -> tuple[int, float]:
        return self.window, 1.0


class DiscountedUCB(_Forgetting):
    r"""D-SF-UCB: SF-UCB on discounted rewards, for arms that drift or switch.

    A reward from k rounds ago has weight :math:`\gamma^k`; total weights replace pulls, and their sum over arms
    replaces N. Not for CVaR, which keeps rewards: take a window. Parameters are those of :class:`ScaleFreeUCB`, and

    Parameters
    ----------
    discount : float, optional
        gamma, between 0 and 1; about 1 / (1 - discount) rounds are remembered
    """

    title = "D-SF-UCB"
    citation = "Garivier & Moulines, On UCB policies for switching bandit problems, 2011, on SF-UCB"

    remedy = "raise the discount"

    discount: Inside = field(default=0.999, kw_only=True)

    @property
    def forgetting(self) -> tuple[int, float]:
        return 0, self.discount


class ScaleFreeIMED(AnyObjective):
    r"""SF-IMED: plays the arm with the least evidence against being the best.

    Minimises :math:`\frac{s_i-2}{2}\ln(1 + (\hat h_{\max} - \hat h_i)^2 / \hat W_i) + \ln s_i`.

    Parameters are those of :class:`ScaleFreeUCB` except c: there is nothing to tune.
    """

    title = "SF-IMED"
    citation = "Honda & Takemura, IMED, 2015, with the delta-method divergence of the signed root of RSSR"

    @property
    def formula(self) -> Formula:
        return imed_of(*root_and_noise(self.objective))[0]

    @property
    def score(self) -> Formula:
        return imed_of(*root_and_noise(self.objective))[1]


class ScaleFreeTS(AnyObjective):
    r"""SF-TS: Thompson sampling on the root of the objective (by default signed RSSR).

    Plays the argmax of :math:`\hat h + \mathrm{sign}(z)\sqrt{\hat W (e^{z^2/(s-2)} - 1)}`, where z is standard normal.
    Unlike a normal-gamma posterior, this allows for skewness.

    Parameters are those of :class:`ScaleFreeUCB` except c, and

    Parameters
    ----------
    optimistic : bool, optional
        use :math:`\hat h` itself if z is below 0: less regret, somewhat more runs that lock in
    """

    title = "SF-TS"
    citation = (
        "delta-method posterior of the root of the objective, this library; optimistic form: May, Korda, Lee & Leslie, "
        "Optimistic Bayesian sampling in contextual-bandit problems, 2012"
    )

    optimistic: bool = False

    @property
    def formula(self) -> Formula:
        return sampled_of(*root_and_noise(self.objective))
