"""The known bounds for each policy."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from ..arms.bandit import Bandit, as_environment
from ..policies.base import IndexPolicy, Policy, check_policy
from ..policies.elimination import SHSR, SHVV, SuRSR
from ..policies.ucb_sharpe import UCBRSSR, UCBSRLike
from ..policies.ucb_vv import UCBVV
from .bound import Bound, Form
from .error_bounds import shsr_error, shvv_error, sursr_error
from .regret_bounds import ucb_rssr_regret, ucb_sr_like_regret, ucb_vv_regret

_ORDER: tuple[Form, ...] = ("printed", "appendix", "corrected", "repaired", "theorem", "proved")
_OF_RATIO: tuple[Form, ...] = ("printed", "appendix", "corrected", "proved")
#: The bound on each policy, its forms, and the parameters of the policy that it depends on besides L and the pilot.
_BOUNDS: dict[type[Policy], tuple[Callable[..., Bound], tuple[Form, ...], tuple[str, ...]]] = {
    UCBVV: (ucb_vv_regret, ("printed", "repaired"), ()),
    UCBSRLike: (ucb_sr_like_regret, _OF_RATIO, ("risk_free",)),
    UCBRSSR: (ucb_rssr_regret, _OF_RATIO, ("risk_free",)),
    SHVV: (shvv_error, ("printed", "repaired", "theorem"), ("keep_samples",)),
    SHSR: (shsr_error, ("printed", "repaired"), ("keep_samples", "risk_free")),
    SuRSR: (sursr_error, ("printed", "repaired"), ("risk_free",)),
}
#: Nothing is proved for the index as printed, which starves arms whose confidence term becomes negative, nor for other
#: readings of it.
_PROVABLE = {"undefined_width": "infinite", "ddof": 1, "first_term": "theorem"}


def _bound(policy: Any, bandit: Bandit, rounds: int, horizon: int, form: Form) -> Bound | None:
    """The bound on a policy in one of its forms; None if there is none for its parameters."""
    function, forms, names = _BOUNDS[type(policy)]
    if getattr(policy, "signed", False) and min(arm.support[0] for arm in bandit.arms) < policy.risk_free:
        return None  # the bounds are about squares, which lose the sign
    if form == "proved" and any(getattr(policy, name, value) != value for name, value in _PROVABLE.items()):
        return None
    options = {name: getattr(policy, name) for name in names}
    if isinstance(policy, IndexPolicy):
        options["pilot"] = policy.pilot(horizon, bandit.K)
    bound = function(bandit, *([policy.L] if hasattr(policy, "L") else []), rounds, form, **options)
    # The theorems on ratios assume a pilot fraction of 1/n, the shortest pilot. They do not cover longer ones.
    covered = forms != _OF_RATIO or form == "proved" or options["pilot"] == policy.least_pilot
    return bound if covered else replace(bound, applies=False)


def bounds_for(
    policy: Policy, bandit: Any, rounds: int, *, horizon: int | None = None, forms: Iterable[Form] = _ORDER
) -> list[Bound]:
    """All bounds, in every form or in some, for a policy on a bandit after a number of rounds (its horizon, or budget).

    The list is empty for a policy without bounds, and without independent rewards of known moments. ``rounds`` may be a
    time within a game of ``horizon`` rounds, on which some pilots depend.
    """
    environment = as_environment(bandit)
    _, exists, _ = _BOUNDS.get(type(check_policy(policy)), (None, (), ()))
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

    def informs(budget: int) -> bool:
        bounds = bounds_for(policy, bandit, budget, forms=[form])
        return any(bound.kind == "probability" and not bound.vacuous for bound in bounds)

    high = 2
    while not informs(high):
        high *= 2
        if high > 2 * most:
            return None
    budget = high // 2 + 1 + bisect_left(range(high // 2 + 1, high), True, key=informs)
    return budget if budget <= most else None
