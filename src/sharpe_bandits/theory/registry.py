"""The known bounds for each policy."""

from __future__ import annotations

from collections.abc import Callable, Iterable
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

#: Policy, bandit, rounds, horizon and form to a bound; None if there is none of this form.
BoundOf = Callable[[Any, Bandit, int, int, Form], Bound | None]
_ORDER: tuple[Form, ...] = ("printed", "appendix", "corrected", "repaired", "theorem", "proved")


def _ucb_vv(policy: Any, bandit: Bandit, rounds: int, horizon: int, form: Form) -> Bound | None:
    if form not in ("printed", "repaired"):
        return None
    return ucb_vv_regret(bandit, rounds, form, pilot=policy.pilot(horizon, bandit.K))


def _ucb_sharpe(function: Callable[..., Bound]) -> BoundOf:
    def bound(policy: Any, bandit: Bandit, rounds: int, horizon: int, form: Form) -> Bound | None:
        # Nothing is proved for the index as printed, which starves arms whose confidence term becomes negative, nor for
        # other readings of it.
        provable = replace(policy, undefined_width="infinite", **_defaults(policy)) == policy
        if form in ("theorem", "repaired") or (form == "proved" and not provable):
            return None
        pilot = policy.pilot(horizon, bandit.K)
        value = function(bandit, policy.L, rounds, form, pilot=pilot, risk_free=policy.risk_free)
        # The theorems assume a pilot fraction of 1/n, the shortest pilot. They do not cover longer ones.
        covered = pilot == policy.least_pilot or form == "proved"
        return value if covered else replace(value, applies=False)

    return bound


def _defaults(policy: Any) -> dict[str, Any]:
    """The readings of the text for which bounds are proved."""
    usual = {"ddof": 1, "first_term": "theorem"}
    return {name: value for name, value in usual.items() if hasattr(policy, name)}


def _shvv(policy: Any, bandit: Bandit, rounds: int, horizon: int, form: Form) -> Bound | None:
    if form not in ("printed", "repaired", "theorem"):
        return None
    return shvv_error(bandit, rounds, form, keep_samples=policy.keep_samples)


def _shsr(policy: Any, bandit: Bandit, rounds: int, horizon: int, form: Form) -> Bound | None:
    if form not in ("printed", "repaired") or (policy.signed and bandit.lowest < policy.risk_free):
        return None  # the bounds are about squares, which lose the sign
    settings = {"keep_samples": policy.keep_samples, "risk_free": policy.risk_free}
    return shsr_error(bandit, policy.L, rounds, form, **settings)


def _sursr(policy: Any, bandit: Bandit, rounds: int, horizon: int, form: Form) -> Bound | None:
    if form not in ("printed", "repaired") or (policy.signed and bandit.lowest < policy.risk_free):
        return None
    return sursr_error(bandit, policy.L, rounds, form, risk_free=policy.risk_free)


_BOUNDS: dict[type[Policy], BoundOf] = {
    UCBVV: _ucb_vv,
    UCBSRLike: _ucb_sharpe(ucb_sr_like_regret),
    UCBRSSR: _ucb_sharpe(ucb_rssr_regret),
    SHVV: _shvv,
    SHSR: _shsr,
    SuRSR: _sursr,
}


def bounds_for(
    policy: Policy, bandit: Any, rounds: int, *, horizon: int | None = None, forms: Iterable[Form] = _ORDER
) -> list[Bound]:
    """All bounds, in every form or in some, for a policy on a bandit after a number of rounds (its horizon, or budget).

    Parameters
    ----------
    policy : Policy
        any policy; without bounds, or without independent rewards of known moments, the list is empty
    bandit : Any
        a Bandit or a list of arms
    rounds : int
        the horizon, or the budget of a best-arm policy
    horizon : int | None, optional
        rounds of the whole game if ``rounds`` is a time within it; some pilots depend on it
    forms : Iterable[Form], optional
        the forms that are wanted
    """
    environment = as_environment(bandit)
    bound = _BOUNDS.get(type(check_policy(policy)))
    if bound is None or not isinstance(environment, Bandit) or policy.n_recommended > 1:
        return []
    if any(arm.serially_dependent for arm in environment.arms):
        return []  # everything is proved for independent rewards only
    bounds = (bound(policy, environment, rounds, rounds if horizon is None else horizon, form) for form in forms)
    return [one for one in bounds if one is not None]


def informative_budget(policy: Policy, bandit: Any, form: Form = "printed", *, most: int = 10**12) -> int | None:
    """The smallest budget from which a bound on the error of a policy is below 1; None if there is none up to ``most``.

    Parameters
    ----------
    policy : Policy
        SHVV, SHSR or SuRSR
    bandit : Any
        arms with known moments
    form : Form, optional
        form of the bound
    most : int, optional
        largest budget that is tried

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
