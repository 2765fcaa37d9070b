"""The settings of a campaign: one definition for the store, the HTTP API, its client, the command line and the form.

A new setting is a field of :class:`Settings` with a default, and its type in :class:`Options`. Campaigns that were
created before it existed have the default.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, asdict, dataclass, field, fields
from datetime import timedelta
from typing import Any, TypedDict, get_args

from ..._support.files import from_json
from ..._support.plain_data import plain
from ..._support.validation import finite, is_number, one_of, probability, real, whole
from ...errors import ConflictError, InvalidInputError, UnreadableDataError, shown, unknown
from ...policies.base import Direction, Policy, check_policy
from ...policies.by_name import policies_by_name
from ..agents.base import check_arms
from .guardrails import Guardrail
from .rules import CHECKS, Mode
from .segments import Pooling, check_free_choice, check_segments

_UNITS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800}
_LENGTH = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(?:(second|minute|hour|day|week)s?)?\s*")
#: Longest lease, in seconds.
_LONGEST = 100 * 366 * 86_400


def lease_seconds(lease: Any) -> float:
    """A lease in seconds, given as "1 day", as a number of seconds, or as a timedelta."""
    length = math.nan
    if isinstance(lease, str) and (match := _LENGTH.fullmatch(lease)):
        length = float(match[1]) * _UNITS[match[2] or "second"]
    elif isinstance(lease, timedelta):
        length = lease.total_seconds()
    elif is_number(lease):
        length = real(lease)
    if not 0 < length <= _LONGEST:
        raise InvalidInputError(f'a lease is a length of time of up to 100 years, such as "1 day", got {shown(lease)}')
    return length


def _setting(default: Any, check: Callable[[Any], Any], help: str, kind: type = str, example: str = "") -> Any:
    """A setting: the type of its text on the command line and in forms, what it is, and what a form shows."""
    if isinstance(default, (int, float)):
        kind, example = type(default), f"{default:g}"
    metadata = {"kind": kind, "check": check, "help": help, "example": default if type(default) is str else example}
    if isinstance(default, (dict, list)):
        return field(default_factory=type(default), metadata=metadata)
    return field(default=default, metadata=metadata)


class Options(TypedDict, total=False):
    """Settings as users give them; those left out, or None, have their defaults."""

    horizon: int | None
    seed: int | None
    lease: str | float | timedelta | None
    default_reward: float | None
    explore: float | None
    direction: Direction | None
    mode: Mode | None
    share: float | None
    control: Any
    fallback: Any
    bounds: Mapping[str, tuple[float, float]] | str | None
    guardrails: Sequence[Guardrail | Mapping[str, Any]] | str | None
    webhook: str | None
    segments: Pooling | None


@dataclass(frozen=True)
class Settings:
    """The settings that a campaign is created with, as plain data; a policy by its ``to_dict()``, a lease in seconds.

    ``choices_revision`` is that of the policy's choices in the release that created the campaign.
    """

    policy: dict[str, Any]
    arms: list[str] | int
    horizon: int | None = _setting(
        None, lambda x: whole("horizon", x, 2), "number of rounds, if the policy needs it or the campaign ends", int
    )
    seed: int = _setting(0, lambda x: whole("seed", x, 0, 2**64 - 1), "seed of the policy's own randomness (0)")
    lease: float | None = _setting(
        None, lease_seconds, 'how long a decision waits for its reward: "1 day", or seconds (no limit)', str, "1 day"
    )
    default_reward: float | None = _setting(
        None, lambda x: finite("default_reward", x) + 0.0, "reward of decisions whose lease runs out (none)", float
    )
    explore: float = _setting(
        0.0, lambda x: probability("explore", x),
        "probability of playing a random arm, so that other policies can be evaluated from the log (0)",
    )  # fmt: skip
    direction: Direction = _setting(  # noqa: RUF009 (a field)
        "max", lambda x: one_of("direction", x, get_args(Direction)), "min if rewards are costs (max)"
    )
    mode: Mode = _setting(  # noqa: RUF009
        "live", CHECKS["mode"], "shadow: others decide, and the policy is logged beside them; or paused (live)"
    )
    share: float = _setting(
        1.0, CHECKS["share"], "probability with which the policy decides; the rest goes to the control arm (1)"
    )
    control: Any = _setting(None, CHECKS["control"], "control arm, which the policy is compared with (none)")  # noqa: RUF009
    fallback: Any = _setting(  # noqa: RUF009
        None, CHECKS["fallback"], "arm to play while the campaign is paused (none: asks are refused)"
    )
    bounds: dict[str, list[float]] = _setting(  # noqa: RUF009
        {}, CHECKS["bounds"], "least and largest shares in the policy's decisions: A=0.05:0.5, B=:0.3 (none)"
    )
    guardrails: list[dict[str, Any]] = _setting(  # noqa: RUF009
        [], CHECKS["guardrails"], "limits that are watched: kind=mean, limit=-2, arm=A, action=suspend; ... (none)"
    )
    webhook: str | None = _setting(
        None, CHECKS["webhook"], "https address that hears of guardrails and changes of the mode (none)"
    )
    segments: Pooling = _setting(  # noqa: RUF009
        "none",
        lambda x: one_of("segments", x, get_args(Pooling)),
        "what segments learn from: none (all rewards), separate (their own), pooled (their own, and others as far as "
        "these are alike) (none)",
    )
    choices_revision: int = 1

    @classmethod
    def create(cls, policy: Policy, arms: list[str] | int, **options: Any) -> Settings:
        """Settings from checked options, if they fit together."""
        settings = cls(plain(policy.to_dict()), arms, choices_revision=policy.choices_revision, **options)
        if settings.default_reward is not None and settings.lease is None:
            raise InvalidInputError("default_reward is the reward of an expired decision; give a lease, too")
        if settings.default_reward is not None and policy.objective is not None and policy.objective.needs_covariate:
            raise InvalidInputError(
                f"a default_reward has no covariate, which {policy.objective!r} needs; leave it out"
            )
        if settings.explore:
            check_free_choice(policy, "explore; leave explore out")
        check_segments(settings.segments, policy)
        return settings

    def to_json(self) -> str:
        """The form in which a store keeps them."""
        try:
            return json.dumps(asdict(self), allow_nan=False)
        except ValueError:
            raise InvalidInputError("a parameter of the policy is not finite, and cannot be saved in a store") from None

    @classmethod
    def from_json(cls, text: str) -> Settings:
        """Settings from a store. Those that an older release did not know have their defaults."""
        content = from_json(text, "the description of the campaign")
        try:
            if newer := sorted(content.keys() - {one.name for one in fields(cls)}):
                raise UnreadableDataError(
                    f"the setting {shown(newer[0])} is of a newer release; upgrade sharpe-bandits"
                )
            return cls(**content)
        except (AttributeError, TypeError) as error:
            raise UnreadableDataError(f"the description of the campaign is damaged: {error}") from None

    def check_same(self, name: str, arms_now: Callable[[], list[Any]], options: dict[str, Any]) -> None:
        """Raise if options differ from the settings of the campaign with this name; its arms now are fine."""
        for key, value in options.items():
            expected = getattr(self, key)
            new = plain(value.to_dict()) if key == "policy" else value
            if new != expected and not (key == "arms" and new == arms_now()):
                raise ConflictError(
                    f"the campaign {name!r} was created with {key}={shown(expected)}, not {shown(new)}; open it "
                    f"without {key}=, or give a new campaign another name"
                )


def optional_settings() -> dict[str, Field[Any]]:
    """The settings with defaults, by name; the metadata of each has its type, check, description and an example."""
    return {one.name: one for one in fields(Settings) if one.metadata}


def checked(policy: Policy | None, arms: Any, options: Options) -> dict[str, Any]:
    """The settings that are not None, checked and in the form in which they are kept (a policy as it is)."""
    optional = optional_settings()
    values: dict[str, Any] = {}
    if policy is not None:
        values["policy"] = check_policy(policy)
    if arms is not None:
        values["arms"] = check_arms(arms)
    for name, value in options.items():
        if name not in optional:
            raise unknown("setting of a campaign", name, list(optional))
        if value is not None:
            values[name] = optional[name].metadata["check"](value)
    return values


def policy_from_text(text: str, L: float | None, risk_free: float = 0.0) -> Policy:
    """The policy that a text such as "SF-UCB:c=0.5" names; with the regulariser ``L`` if the text has none."""
    (policy,) = policies_by_name([text], L=1.0 if L is None else L, risk_free=risk_free)
    if (
        L is None
        and "L=" not in text
        and any(getattr(one, "L", None) is not None for one in (policy, policy.objective))
    ):
        raise InvalidInputError("give L (--L), in the unit of the variance of a reward: 1e-5 for daily returns of 1%")
    return policy
