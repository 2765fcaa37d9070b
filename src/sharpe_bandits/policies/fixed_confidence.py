"""Best-arm identification with fixed confidence: play until the best arm is identified."""

from dataclasses import dataclass
from typing import ClassVar

from .._support.validation import finite, positive
from ..objectives import RSSR, Objective
from ..play.fixed_confidence import top_two
from ..play.statistics import ArmRecord
from .base import FixedConfidencePolicy
from .scale_free import estimate_of, has_zero_variance, influence_variance_of

#: After s pulls the relative error of a sample variance is about sqrt(kurtosis / s); W is inflated by this times its
#: square.
_DOUBT = 4.0


_SIGNED = RSSR(1.0, signed=True)
estimate, w_of = estimate_of(_SIGNED.root), influence_variance_of(_SIGNED.root)


def root(arm: ArmRecord, L: float, risk_free: float) -> float:
    return estimate(arm, (L, risk_free))


def noise(arm: ArmRecord, L: float, risk_free: float) -> float:
    w: float = w_of(arm, (L, risk_free), 0.5, 0.0)
    v = arm.variance
    if has_zero_variance(arm):
        return w
    return w * (1.0 + _DOUBT * (arm.fourth / v / v) / arm.pulls)


@dataclass(frozen=True)
class LUCB(FixedConfidencePolicy):
    r"""LUCB: plays the arm with the best :math:`h = (\bar X - r)/\sqrt{L + \bar V}` and its challenger in turn,
    until the confidence bound on their difference excludes 0.

    The challenger is the arm with the largest upper bound on its lead over the best,
    :math:`\hat h_i - \hat h_1 + \sqrt{2 \beta (w_1 + w_i)}`. The policy stops when that is below 0. With s pulls,
    m = 32, kurtosis :math:`\kappa` and the plug-in variance :math:`\hat W` of h's influence function, every arm has

    .. math:: w = (1 + m/s) (1 + 4\kappa/s) \hat W / s, \qquad
              \beta = \ln\frac{K-1}{\delta} + \frac{1}{2} \sum_{1, i} \ln(1 + s/m).

    Choices do not change when rewards are multiplied by c and L by c squared. Play it with
    :func:`sharpe_bandits.identify`, or live.

    If estimates were normal and W known, the answer would be wrong with probability at most delta. This holds
    asymptotically, where many pulls are needed; the factor with the kurtosis, for few pulls and skewed rewards, is
    empirical, not proved. Rewards that an arm has never paid cannot be allowed for without bounds on rewards: if losses
    of probability p matter, set ``pilot_pulls`` to ln(K/delta)/p.

    Parameters
    ----------
    L : float
        regulariser, in units of the variance of rewards
    risk_free : float, optional
        rate subtracted from every reward
    delta : float, optional
        accepted probability of a wrong answer
    pilot_pulls : int, optional
        pulls of every arm before arms are first judged

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> agent = sb.policies.LUCB(L=0.1, delta=0.05).agent(arms=["A", "B", "C"])
    >>> agent.ask(), agent.done
    ('A', False)
    """

    title: ClassVar[str] = "LUCB"
    citation: ClassVar[str] = (
        "Kalyanakrishnan, Tewari, Auer & Stone, PAC Subset Selection in Stochastic Multi-armed Bandits, 2012, with the "
        "mixture martingales of Kaufmann & Koolen, 2021, and the delta-method variance of the signed root of RSSR"
    )

    L: float
    risk_free: float = 0.0

    def check(self) -> None:
        remedy = "the regulariser keeps the ratio finite; take a tenth of the smallest variance if in doubt"
        self._set(L=positive("L", self.L, remedy), risk_free=finite("risk_free", self.risk_free))

    @property
    def goal(self) -> Objective:
        return RSSR(self.L, self.risk_free, signed=True)

    estimate = staticmethod(root)
    noise = staticmethod(noise)

    def arguments(self) -> tuple[float, ...]:
        return self.L, self.risk_free


@dataclass(frozen=True)
class TopTwo(LUCB):
    r"""TopTwo: like :class:`LUCB`, but tracks the optimal allocation of pulls.

    Estimates, their errors and the stopping rule are those of LUCB. One arm is played at a time: the best one or the
    rival i that is hardest to distinguish from it, with the smallest :math:`(\hat h_1 - \hat h_i)^2 / (w_1 + w_i)`. The
    best one is played while :math:`s_1^2/\hat W_1 < \sum_{i \ne 1} s_i^2/\hat W_i`; both sides are equal at the optimal
    allocation, which needs the fewest pulls. An arm with fewer than :math:`\sqrt t - K/2` pulls is played first.
    Parameters are those of LUCB.

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> agent = sb.TopTwo(L=0.1, delta=0.05).agent(arms=["A", "B", "C"])
    >>> agent.ask(), agent.done
    ('A', False)
    """

    title: ClassVar[str] = "TopTwo"
    citation: ClassVar[str] = (
        "Garivier & Kaufmann, Optimal Best Arm Identification with Fixed Confidence, 2016; balance of the best arm: "
        "Bandyopadhyay, Juneja & Agrawal, Optimal Top-Two Method for Best Arm Identification and Fluid Analysis, 2024; "
        "bounds as for LUCB"
    )
    turns = staticmethod(top_two)
