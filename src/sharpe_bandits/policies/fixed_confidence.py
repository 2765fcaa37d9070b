"""Best-arm identification with fixed confidence: play until the best arm is identified."""

import math
from functools import lru_cache

from ..errors import InvalidInputError
from ..objectives.influence import Formula, named
from ..play.fixed_confidence import top_two
from ..play.statistics import ArmRecord
from .base import FixedConfidencePolicy
from .scale_free import OnObjective, has_zero_variance, root_and_noise

#: After s pulls the relative error of a sample variance is about sqrt(kurtosis / s); W is inflated by this times its
#: square.
_DOUBT = 4.0


@lru_cache
def estimate_and_noise(root: Formula, w_of: Formula) -> tuple[Formula, Formula]:
    """The estimate of an arm by the root of an objective, and its W, inflated while there are few pulls.

    W is infinite for an arm that has always paid the same if the objective has no bound for it.
    """

    def estimate(arm: ArmRecord, objective: tuple[float, ...], unseen: float) -> float:
        h: float = root(arm, *objective)
        return h

    def noise(arm: ArmRecord, objective: tuple[float, ...], unseen: float) -> float:
        if has_zero_variance(arm):
            return unseen if unseen > 0.0 else math.inf
        w: float = w_of(arm, objective, unseen, 0.0)
        v = arm.variance
        return w * (1.0 + _DOUBT * (arm.fourth / v / v) / arm.pulls)

    return named(estimate, root), named(noise, root)


class LUCB(OnObjective, FixedConfidencePolicy):
    r"""LUCB: plays the arm with the best root h of the objective and its challenger in turn, until the confidence bound
    on their difference excludes 0. By default that is signed RSSR: h = (X̄ - r)/√(L + V̄).

    With s pulls, m = 32, kurtosis :math:`\kappa` and the plug-in variance :math:`\hat W` of h's influence function,
    every arm has the squared error :math:`w = (1 + m/s) (1 + 4\kappa/s) \hat W / s`. The policy stops when every arm
    has at least :math:`12 \kappa` pulls and, for every rival i, all values of the two arms for which i leads by more
    than epsilon have, with the errors :math:`z = (\hat h_1 - h_1)/\sqrt{w_1}` and
    :math:`(h_i - \hat h_i)/\sqrt{w_i}`,

    .. math:: \sum_{1, i} \frac{z^2}{2} + \ln(0.2 + 1.6\,\Phi(z)) \ge
              \beta = \ln\frac{K-1}{\delta} + \frac{1}{2} \sum_{1, i} \ln(1 + s/m).

    The challenger is the rival with the largest :math:`\hat h_i - \hat h_1 + \sqrt{2 \beta (w_1 + w_i)}`.
    An arm with fewer than :math:`12 \kappa` pulls is played, with the best one, when all else is certain.

    Choices do not change when rewards are multiplied by c and L by c squared. If estimates were normal and W known, the
    answer would be wrong with probability at most delta. This holds asymptotically, where many pulls are needed; what
    depends on the kurtosis, for few pulls and skewed rewards, is empirical, not proved. Rewards that an arm has never
    paid cannot be allowed for without bounds on rewards: if losses of probability p matter, set ``pilot_pulls`` to
    ln(K/delta)/p; with CVaR or Sortino and delta below 0.05, to 320.

    Parameters
    ----------
    L, risk_free, objective : float | None and float and Objective | None, optional
        as for :class:`sharpe_bandits.ScaleFreeUCB`; if the objective has no regulariser, a run does not end while an
        arm has always paid the same
    delta : float, optional
        accepted probability of a wrong answer
    epsilon : float, optional
        an arm whose h is within epsilon of the best one's is good enough, and no error in results; in units of h, the
        root of the objective: for RSSR of the Sharpe ratio, not of its square, for other objectives of their value
    pilot_pulls : int, optional
        pulls of every arm before arms are first judged
    """

    citation = (
        "Kalyanakrishnan, Tewari, Auer & Stone, PAC Subset Selection in Stochastic Multi-armed Bandits, 2012, with the "
        "mixture martingales of Kaufmann & Koolen, 2021, and the delta-method variance of the signed root of RSSR"
    )

    choices_revision = 2

    def check(self) -> None:
        super().check()
        if self.objective.needs_covariate:
            raise InvalidInputError(
                f"{self.title} bounds its error for estimates from rewards alone, not for {self.objective!r}; use an "
                "objective without a covariate, or a fixed budget, as in SuccessiveRejects(objective=...)"
            )

    @property
    def estimate(self) -> Formula:
        return estimate_and_noise(*root_and_noise(self.objective))[0]

    @property
    def noise(self) -> Formula:
        return estimate_and_noise(*root_and_noise(self.objective))[1]


class TopTwo(LUCB):
    r"""TopTwo: like :class:`LUCB`, but tracks the optimal allocation of pulls.

    Estimates, their errors and the stopping rule are those of LUCB. One arm is played at a time: the best one or the
    rival i that is hardest to distinguish from it, with the smallest :math:`(\hat h_1 - \hat h_i)^2 / (w_1 + w_i)`. The
    best one is played while :math:`s_1^2/\hat W_1 < \sum_{i \ne 1} s_i^2/\hat W_i`; both sides are equal at the optimal
    allocation, which needs the fewest pulls. An arm with fewer than :math:`\sqrt t - K/2` pulls is played first.
    Parameters are those of LUCB; ``epsilon`` is in units of h, for RSSR of the Sharpe ratio.
    """

    citation = (
        "Garivier & Kaufmann, Optimal Best Arm Identification with Fixed Confidence, 2016; balance of the best arm: "
        "Bandyopadhyay, Juneja & Agrawal, Optimal Top-Two Method for Best Arm Identification and Fluid Analysis, 2024; "
        "bounds as for LUCB"
    )
    turns = staticmethod(top_two)
