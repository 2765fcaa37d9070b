"""The policies of a replay: the default ones, or those given, if they can be played on recorded returns."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

from ..errors import BudgetTooSmallError, InvalidInputError
from ..objectives import RSSR, Objective
from ..policies.base import Policy, as_list, check_policy
from ..policies.by_name import policies_by_name
from ..simulation.spec import Feedback
from .playing import BEST, EQUAL, LEADER


def usual_policies(
    rounds: int,
    columns: int,
    L: float,
    risk_free_per_round: float = 0.0,
    feedback: Feedback = "bandit",
    aversion: float | None = None,
) -> list[Policy]:
    """SF-UCB, its sliding-window variant with a window of a quarter of the rounds, SF-TS, and UCB-RSSR as published.

    If ``aversion`` is given, these by mean less risk, without UCB-RSSR.

    The last is left out with full feedback: on returns its index is infinite for all columns, so that it plays them in
    turn or, if all have been observed equally often, always the first.
    """
    window = f"window={max(rounds // 4, 6 * columns)}"
    by = "" if aversion is None else f"objective=MeanRisk,aversion={aversion!r}"
    names = [f"ScaleFreeUCB:{by}", f"SlidingWindowUCB:{window},{by}", f"ScaleFreeTS:{by}"]
    names += ["UCBRSSR"] if feedback == "bandit" and aversion is None else []
    return policies_by_name([name.rstrip(":,") for name in names], L=L, risk_free=risk_free_per_round)


def chosen_policies(
    given: Any, rounds: int, columns: Sequence[str], L: float, rate: float, feedback: Feedback, aversion: float | None
) -> list[Policy]:
    if given is None:
        return usual_policies(rounds, len(columns), L, rate, feedback, aversion)
    players = as_list(given)
    named = iter(policies_by_name([p for p in players if isinstance(p, str)], L=L, risk_free=rate))
    policies = [next(named) if isinstance(p, str) else check_policy(p) for p in players]
    taken = {EQUAL, BEST, LEADER}
    for policy in policies:
        if policy.name in taken:
            raise InvalidInputError(f"two players are called {policy.name!r}; give the policy another name=")
        taken.add(policy.name)
        if policy.stops_itself:
            raise InvalidInputError(
                f"{policy.name} has fixed confidence: it stops only when it is sure, which recorded returns do "
                "not allow; play a policy that does not stop, or SHSR, which explores for a given number of rows"
            )
        if policy.n_recommended > 1:
            raise InvalidInputError(f"{policy.name} looks for {policy.n_recommended} columns, not for one; pass m=1")
        if aversion is not None and policy.objective is not None and policy.objective.rewards_risk_of_losses:
            raise InvalidInputError(
                f"{policy.name} goes by {policy.objective!r}, which rewards the risk of costs; pass another objective, "
                f"as in 'ScaleFreeUCB:objective=MeanRisk,aversion={aversion:g}'"
            )
        if aversion is None and _unsigned(policy):
            raise InvalidInputError(
                f"{policy.name} uses an unsigned RSSR, which rates steady losses as good; pass signed=True"
            )
    return policies


def _unsigned(policy: Policy) -> bool:
    """Whether a policy ignores the sign of RSSR although it could keep it, as UCB-RSSR could not."""
    parameters = {field.name for field in dataclasses.fields(policy)}
    objective = policy.objective if "objective" in parameters else None
    objective = objective.unadjusted if isinstance(objective, Objective) else None
    return getattr(policy, "signed", True) is False or (isinstance(objective, RSSR) and not objective.signed)


def past_their_pilot(policies: list[Policy], rows: int, columns: int) -> tuple[list[Policy], list[str]]:
    """The policies that have as many rows as columns left after their pilot phase, and remarks on those that have not,
    or that get there only late."""

    def plays(policy: Policy, horizon: int) -> bool:
        try:
            policy.check_horizon(horizon, columns)
        except BudgetTooSmallError:
            return False
        return True

    tested = [policy for policy in policies if policy.minimises_regret]
    never = [policy for policy in tested if not plays(policy, max(rows - columns, 0))]
    late = [policy for policy in tested if policy not in never and not plays(policy, rows // 2)]
    remedy = "give fewer columns with columns=, more rows, or more decisions with every="
    if len(never) == len(policies):
        raise InvalidInputError(
            f"{columns:,} columns are too many for {rows:,} observations: {_named(never)} would reach the end of the "
            f"table while still trying all of them; {remedy}"
        )
    remarks = []
    if never:
        takes = f"trying all {columns:,} columns often enough takes nearly all of the {rows:,} observations"
        remarks.append(f"left out {_named(never)}: {takes}; {remedy}")
    if late:
        takes = f"trying all {columns:,} columns often enough takes more than half of the {rows:,} observations"
        remarks.append(f"{_named(late)}: {takes}; {remedy}")
    return [policy for policy in policies if policy not in never], remarks


def _named(policies: Iterable[Policy]) -> str:
    return ", ".join(policy.name for policy in policies)
