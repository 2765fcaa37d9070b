"""The rules around a campaign's policy: who decides, and within which limits. Each change is an event of the log."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

from ..._support.names import check_name
from ..._support.validation import is_number, one_of, probability, whole
from ...errors import InvalidInputError, shown, unknown
from .guardrails import check_guardrails
from .segments import check_free_choice
from .webhooks import check_webhook, warn_unless_allowed

if TYPE_CHECKING:
    from ..agents import Agent
    from .settings import Settings

#: "live": the policy decides its share; "shadow": others decide, and what the policy would do is logged beside it;
#: "paused": asks get the fallback arm, or a refusal.
Mode = Literal["live", "shadow", "paused"]


@dataclass(frozen=True)
class Rules:
    """The rules of a campaign at some time; plain data. :meth:`sharpe_bandits.Store.campaign` has what they mean.

    Arms that are ``suspended`` are not played for the time being; ``resumes`` is the mode that a pause returns to.
    """

    mode: Mode = "live"
    share: float = 1.0
    control: Any = None
    fallback: Any = None
    bounds: dict[str, list[float]] = field(default_factory=dict)
    suspended: list[Any] = field(default_factory=list)
    guardrails: list[dict[str, Any]] = field(default_factory=list)
    webhook: str | None = None
    resumes: Mode = "live"

    @classmethod
    def initial(cls, settings: Settings) -> Rules:
        """The rules that a campaign is created with."""
        names = CHECKS.keys() - {"suspended"}
        resumes: Mode = settings.mode if settings.mode != "paused" else "live"
        return cls(**{name: getattr(settings, name) for name in names}, resumes=resumes)

    @property
    def policy_share(self) -> float:
        """Probability with which the policy decides."""
        return self.share if self.mode == "live" else 0.0

    def check(self, agent: Agent, changed: Container[str]) -> None:
        """Raise if these rules do not fit together, or not the arms and the policy; ``changed``: names of those that
        are new. Bounds that no longer add up, since arms were retired, are no reason not to pause.
        """
        if self.webhook is not None and "webhook" in changed:
            warn_unless_allowed(self.webhook)
        for name, arm in (("control", self.control), ("fallback", self.fallback)):
            if arm is not None and agent._number_of(arm) not in agent.active:
                raise InvalidInputError(f"{name} must be an arm that is played, and {arm!r} is retired")
        if self.mode == "live" and self.share < 1 and self.control is None:
            raise InvalidInputError(f"share={self.share:g} needs a control arm; name it: control={agent.arms[0]!r}")
        names = list(map(str, agent.arms))
        for arm in self.bounds:
            if arm not in names:
                raise unknown("arm", arm, names)
        active = [str(agent.arms[i]) for i in agent.active]
        low, high = (sum(self.bounds.get(arm, [0.0, 1.0])[end] for arm in active) for end in (0, 1))
        if "bounds" in changed and (low > 1 + 1e-9 or high < 1 - 1e-9):
            raise InvalidInputError(f"shares add up to 1, lower bounds to {low:g}, upper to {high:g}; loosen bounds")
        for arm in self.suspended:
            agent._number_of(arm)
        if all(agent.arms[i] in self.suspended for i in agent.active):
            raise InvalidInputError("all arms would be suspended; pause the campaign instead")
        for guardrail in self.guardrails:
            if guardrail["arm"] not in (None, "*"):
                agent._number_of(guardrail["arm"])
            if guardrail["action"] == "control" and self.control is None:
                raise InvalidInputError("a guardrail that falls back to control needs a control arm; give control=")
        shares = (self.policy_share < 1 and self.mode != "paused") or self.bounds or self.suspended
        acts = any(guardrail["action"] != "pause" for guardrail in self.guardrails)
        if shares or acts or self.fallback is not None:
            aim = "share its decisions, or suspend arms; it can be paused (without fallback=), also by guardrails"
            check_free_choice(agent.policy, aim)


def arm_of(arms: list[Any], arm: Any) -> Any:
    """An arm as the campaign names it: where arms are numbers, text such as "2" is one."""
    if isinstance(arm, str) and arm.isascii() and arm.isdigit() and len(arm) < 16 and arm not in arms:
        return int(arm)
    return arm


def _arm(arm: Any) -> Any:
    return whole("the number of an arm", arm, 0) if is_number(arm) else check_name("the name of an arm", arm)


def _bounds(bounds: Any) -> dict[str, list[float]]:
    if isinstance(bounds, str):
        pairs = [part.rpartition("=") for part in bounds.split(",") if part.strip()]
        if not all(equals for _, equals, _ in pairs):
            raise InvalidInputError(f'bounds are like "A=0.05:0.5,B=:0.3", got {shown(bounds)}')
        bounds = {arm.strip(): tuple(ends.split(":")) for arm, _, ends in pairs}
    if not isinstance(bounds, Mapping):
        raise InvalidInputError(f'bounds are like {{"A": (0.05, 0.5)}}, got {shown(bounds)}')
    result = {}
    for arm, pair in bounds.items():
        try:
            ends = zip(pair, (0.0, 1.0), strict=True)
            low, high = (default if end is None or end == "" else float(end) for end, default in ends)
        except (TypeError, ValueError):
            low, high = 1.0, 0.0
        if not 0 <= low <= high <= 1:
            raise InvalidInputError(
                f"bounds are (low, high) with 0 <= low <= high <= 1, got {shown(pair)} of {shown(arm)}"
            )
        result[str(_arm(arm))] = [low, high]
    return result


def _arms(arms: Any) -> list[Any]:
    if isinstance(arms, str) or not hasattr(arms, "__iter__"):
        raise InvalidInputError(f"suspended is a list of arms, got {shown(arms)}")
    return [_arm(arm) for arm in arms]


#: The check of each rule that a user may set; it returns plain data.
CHECKS: dict[str, Any] = {
    "mode": lambda x: one_of("mode", x, get_args(Mode)),
    "share": lambda x: probability("share", x),
    "control": _arm,
    "fallback": _arm,
    "bounds": _bounds,
    "suspended": _arms,
    "guardrails": check_guardrails,
    "webhook": check_webhook,
}
#: Rules that None switches off.
OPTIONAL = ("control", "fallback", "webhook")


def checked_changes(changes: Mapping[str, Any]) -> dict[str, Any]:
    """New rules by name, checked, as plain data."""
    for name in changes:
        if name not in CHECKS:
            raise unknown("rule of a campaign", name, list(CHECKS))
    if not changes:
        raise InvalidInputError(f"name what to change, such as share=0.5; rules are {', '.join(CHECKS)}")
    return {
        name: None if value is None and name in OPTIONAL else CHECKS[name](value) for name, value in changes.items()
    }
