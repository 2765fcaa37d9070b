"""The known bounds for each policy."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from ..arms.bandit import Bandit, as_environment
from ..policies.base import Policy, check_policy
from ..policies.elimination import SHSR, SHVV, SuRSR
from ..policies.ucb_sharpe import UCBRSSR, UCBSRLike
from ..policies.ucb_vv import UCBVV
from .bound import Bound, Form
from .error_bounds import shsr_error, shvv_error, sursr_error
from .regret_bounds import ucb_rssr_regret, ucb_sr_like_regret, ucb_vv_regret


def _ucb_vv(policy: Any, bandit: Bandit, rounds: int, horizon: int) -> list[Bound]:
    pilot = policy.pilot(horizon, bandit.K)
    return [ucb_vv_regret(bandit, rounds, form, pilot=pilot) for form in ("printed", "repaired")]


def _ucb_sharpe(function: Callable[..., Bound]) -> Callable[[Any, Bandit, int, int], list[Bound]]:
    def bounds(policy: Any, bandit: Bandit, rounds: int, horizon: int) -> list[Bound]:
        # Nothing is proved for the index as printed, which starves arms whose confidence term becomes negative.
        forms = ["printed", "appendix", "repaired"]
        if policy.undefined_width == "infinite":
            forms.append("proved")
        pilot = policy.pilot(horizon, bandit.K)
        found = [function(bandit, policy.L, rounds, form, pilot=pilot, risk_free=policy.risk_free) for form in forms]
        # The theorems assume a pilot fraction of 1/n, the shortest pilot. They do not cover longer ones.
        shortest = pilot == policy.least_pilot
        return [b if shortest or b.form == "proved" else dataclasses.replace(b, applies=False) for b in found]

    return bounds


def _shvv(policy: Any, bandit: Bandit, rounds: int, horizon: int) -> list[Bound]:
    forms: tuple[Form, ...] = ("printed", "repaired", "theorem")
    return [shvv_error(bandit, rounds, form, keep_samples=policy.keep_samples) for form in forms]


def _shsr(policy: Any, bandit: Bandit, rounds: int, horizon: int) -> list[Bound]:
    if policy.signed and bandit.lowest < policy.risk_free:
        return []  # the bounds are about squares, which lose the sign
    settings = {"keep_samples": policy.keep_samples, "risk_free": policy.risk_free}
    return [shsr_error(bandit, policy.L, rounds, form, **settings) for form in ("printed", "repaired")]


def _sursr(policy: Any, bandit: Bandit, rounds: int, horizon: int) -> list[Bound]:
    if policy.signed and bandit.lowest < policy.risk_free:
        return []
    return [sursr_error(bandit, policy.L, rounds, form, risk_free=policy.risk_free) for form in ("printed", "repaired")]


_BOUNDS: dict[type[Policy], Callable[[Any, Bandit, int, int], list[Bound]]] = {
    UCBVV: _ucb_vv,
    UCBSRLike: _ucb_sharpe(ucb_sr_like_regret),
    UCBRSSR: _ucb_sharpe(ucb_rssr_regret),
    SHVV: _shvv,
    SHSR: _shsr,
    SuRSR: _sursr,
}


def bounds_for(policy: Policy, bandit: Any, rounds: int, *, horizon: int | None = None) -> list[Bound]:
    """All bounds, in every form, for a policy on a bandit after a number of rounds (its horizon, or its budget).

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

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> bandit = sb.Bandit([sb.Uniform(1.5, 7.5), sb.Uniform(1.6, 7.8)])
    >>> [bound.kind for bound in sb.theory.bounds_for(sb.UCBRSSR(L=0.5), bandit, 10_000)]
    ['regret', 'regret', 'regret', 'regret']
    """
    environment = as_environment(bandit)
    bounds = _BOUNDS.get(type(check_policy(policy)))
    if bounds is None or not isinstance(environment, Bandit) or policy.n_recommended > 1:
        return []
    if any(arm.serially_dependent for arm in environment.arms):
        return []  # everything is proved for independent rewards only
    return bounds(policy, environment, rounds, rounds if horizon is None else horizon)


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
        bounds = [b for b in bounds_for(policy, bandit, budget) if b.form == form and b.kind == "probability"]
        return not bounds or bounds[0].vacuous

    low, high = 1, 2
    while vacuous(high):
        low, high = high, 2 * high
        if low > most:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if vacuous(middle) else (low, middle)
    return high if high <= most else None
