"""The known bounds for each policy."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ..arms.bandit import Bandit, as_environment
from ..policies.base import Policy, check_policy
from ..policies.elimination import SHSR, SHVV, SuRSR
from ..policies.ucb_sharpe import UCBRSSR, UCBSRLike
from ..policies.ucb_vv import UCBVV
from .bound import Bound, Form
from .error_bounds import shsr_error, shvv_error, sursr_error
from .regret_bounds import ucb_rssr_regret, ucb_sr_like_regret, ucb_vv_regret

_ORDER: tuple[Form, ...] = ("printed", "appendix", "corrected", "repaired", "theorem", "proved")
#: The forms of the bounds on each policy.
_FORMS: dict[type[Policy], tuple[Form, ...]] = {
    UCBVV: ("printed", "repaired"),
    UCBSRLike: ("printed", "appendix", "corrected", "proved"),
    UCBRSSR: ("printed", "appendix", "corrected", "proved"),
    SHVV: ("printed", "repaired", "theorem"),
    SHSR: ("printed", "repaired"),
    SuRSR: ("printed", "repaired"),
}


def _bound(policy: Any, bandit: Bandit, rounds: int, horizon: int, form: Form) -> Bound | None:
    """The bound on a policy in one of its forms; None if there is none for its parameters."""
    if isinstance(policy, UCBVV):
        return ucb_vv_regret(bandit, rounds, form, pilot=policy.pilot(horizon, bandit.K))
    if isinstance(policy, SHVV):
        return shvv_error(bandit, rounds, form, keep_samples=policy.keep_samples)
    if isinstance(policy, (SHSR, SuRSR)):
        if policy.signed and bandit.lowest < policy.risk_free:
            return None  # the bounds are about squares, which lose the sign
        if isinstance(policy, SuRSR):
            return sursr_error(bandit, policy.L, rounds, form, risk_free=policy.risk_free)
        keep, rate = policy.keep_samples, policy.risk_free
        return shsr_error(bandit, policy.L, rounds, form, keep_samples=keep, risk_free=rate)
    # Nothing is proved for the index as printed, which starves arms whose confidence term becomes negative, nor for
    # other readings of it.
    readings = {"undefined_width": "infinite", "ddof": 1, "first_term": "theorem"}
    provable = all(getattr(policy, name, value) == value for name, value in readings.items())
    if form == "proved" and not provable:
        return None
    pilot = policy.pilot(horizon, bandit.K)
    of_policy = ucb_rssr_regret if isinstance(policy, UCBRSSR) else ucb_sr_like_regret
    bound = of_policy(bandit, policy.L, rounds, form, pilot=pilot, risk_free=policy.risk_free)
    # The theorems assume a pilot fraction of 1/n, the shortest pilot. They do not cover longer ones.
    covered = pilot == policy.least_pilot or form == "proved"
    return bound if covered else replace(bound, applies=False)


def bounds_for(
    policy: Policy, bandit: Any, rounds: int, *, horizon: int | None = None, forms: Iterable[Form] = _ORDER
) -> list[Bound]:
    """All bounds, in every form or in some, for a policy on a bandit after a number of rounds (its horizon, or budget).

    The list is empty for a policy without bounds, and without independent rewards of known moments. ``rounds`` may be a
    time within a game of ``horizon`` rounds, on which some pilots depend.
    """
    environment = as_environment(bandit)
    exists = _FORMS.get(type(check_policy(policy)), ())
    if not exists or not isinstance(environment, Bandit) or policy.n_recommended > 1:
        return []
    if any(arm.serially_dependent for arm in environment.arms):
        return []  # everything is proved for independent rewards only
    whole_game = rounds if horizon is None else horizon
    bounds = (_bound(policy, environment, rounds, whole_game, form) for form in forms if form in exists)
    return [bound for bound in bounds if bound is not None]


def informative_budget(policy: Policy, bandit: Any, form: Form = "printed", *, most: int = 10**12) -> int | None:
    """The smallest budget from which a bound on the error of a policy is below 1; None if there is none up to ``most``.

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> bandit = sb.Bandit([sb.Uniform(0, 1), sb.Uniform(0, 0.5)])
    >>> sb.theory.informative_budget(sb.SHSR(L=0.1), bandit)
    3557
    """

    def vacuous(budget: int) -> bool:
        bounds = bounds_for(policy, bandit, budget, forms=[form])
        return not any(bound.kind == "probability" and not bound.vacuous for bound in bounds)

    low, high = 1, 2
    while vacuous(high):
        low, high = high, 2 * high
        if low > most:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if vacuous(middle) else (low, middle)
    return high if high <= most else None
