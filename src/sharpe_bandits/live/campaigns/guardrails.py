r"""Guardrails: limits that are watched after every reward, and what happens when one is broken.

A "mean" is broken once its time-uniform interval lies beyond the limit (see
:mod:`sharpe_bandits.confidence_sequences`). A "rate", the mean of a metric between 0 and 1, is broken once

.. math:: \frac{\int_{p_0}^1 p^k (1-p)^{n-k} \, b (1-p)^{b-1} dp / (1-p_0)^b}{p_0^k (1-p_0)^{n-k}} \ge \frac1\alpha,
          \qquad b = \max(1, 1/(2 p_0)),

where k is the sum of the n values and :math:`p_0` the limit: a supermartingale for every mean up to the limit, so that
this holds for any n, however often it is looked at (Ville's inequality; Robbins 1970). All guardrails of a campaign
share alpha = 0.05. "daily_loss" and "drawdown" are limits on sums that were lost, and not estimates: they are broken
when the sum exceeds the limit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, get_args

from ..._support.names import check_name
from ..._support.validation import finite, inside, is_number, one_of, positive, whole
from ...confidence_sequences import intervals
from ...errors import InvalidInputError, shown, unknown
from ...objectives import Mean, Statistics
from .records import REWARD as REWARD

Kind = Literal["mean", "rate", "daily_loss", "drawdown"]
Action = Literal["suspend", "pause", "control"]
#: Probability that any guardrail of a campaign with nothing wrong is ever broken.
ALPHA = 0.05
#: Key of the sums of the campaign as a whole, beside the numbers of arms.
_ALL = -1
#: A tally: number, mean, and sums of the second to fourth powers of deviations from the mean; then the sum of weights,
#: and that of weighted values.
Tally = list[float]


def new_tally() -> Tally:
    """A tally of nothing."""
    return [0.0] * 7


def add(tally: Tally, x: float, weight: float = 1.0) -> None:
    """Count one more value (Pebay 2008)."""
    n = tally[0] + 1.0
    d = x - tally[1]
    step = d / n
    square = d * step * (n - 1.0)
    tally[4] += square * step * step * (n * n - 3.0 * n + 3.0) + 6.0 * step * step * tally[2] - 4.0 * step * tally[3]
    tally[3] += square * step * (n - 2.0) - 3.0 * step * tally[2]
    tally[2] += square
    tally[1] += step
    tally[0] = n
    tally[5] += weight
    tally[6] += weight * x


def moments(tally: Tally, sign: float = 1.0) -> Statistics:
    """Moments of the values, times ``sign``."""
    n, mean, second, third, fourth, *_ = tally
    return Statistics(n, sign * mean, second / max(n - 1.0, 1.0), sign * third / max(n, 1.0), fourth / max(n, 1.0))


@dataclass(frozen=True)
class Guardrail:
    """A limit, and what happens when it is broken.

    Attributes
    ----------
    kind
        "mean" of a metric; "rate": mean of a metric between 0 and 1; "daily_loss": sum of losses in a day (UTC);
        "drawdown": fall of the sum of rewards from its peak
    limit
        a mean reward must not be worse than it (below it, or above it if rewards are costs); anything else must not
        exceed it
    metric : the reward, or another metric told with it
    arm : an arm; "*": each arm; None: the campaign as a whole
    action : "suspend" the arm, "pause" the campaign, or fall back to "control"
    """

    kind: Kind
    limit: float
    metric: str = REWARD
    arm: Any = None
    action: Action = "pause"

    def __post_init__(self) -> None:
        one_of("kind of a guardrail", self.kind, get_args(Kind))
        one_of("action of a guardrail", self.action, get_args(Action))
        check_name("a metric", self.metric)
        if self.arm is not None:
            whole("arm", self.arm, 0) if is_number(self.arm) else check_name("the name of an arm", self.arm)
        if self.action == "suspend" and self.arm is None:
            raise InvalidInputError('a guardrail that suspends needs an arm: arm="A", or arm="*" for each')
        if self.kind == "rate":
            inside("the limit of a rate", self.limit)
            if self.metric == REWARD:
                raise InvalidInputError('a rate is that of another metric: metric="error", told with the reward')
        elif self.kind == "mean":
            finite("the limit of a mean", self.limit)
        else:
            positive(f"the limit of a {self.kind}", self.limit)
            if self.metric != REWARD:
                raise InvalidInputError(f"a {self.kind} is that of rewards; leave metric={shown(self.metric)} out")

    def __str__(self) -> str:
        return self.in_words(REWARD)

    def in_words(self, reward: str) -> str:
        """The limit in one line; rewards are called ``reward``."""
        metric = reward if self.metric == REWARD else self.metric
        what = {"daily_loss": "loss of a day", "drawdown": "drawdown"}.get(self.kind, f"{self.kind} of {metric}")
        where = {None: "", "*": " of each arm"}.get(self.arm, f" of {self.arm}")
        return f"{what}{where}, limit {self.limit:g}: {self.action}"


def check_guardrails(guardrails: Any) -> list[dict[str, Any]]:
    """Guardrails as plain data, from guardrails, mappings, or text such as "kind=mean,limit=-2,arm=A,action=suspend";
    several are separated by semicolons.
    """
    if isinstance(guardrails, str):
        guardrails = [_parsed(part) for part in guardrails.split(";") if part.strip()]
    if isinstance(guardrails, (Guardrail, Mapping)) or not isinstance(guardrails, Iterable):
        guardrails = [guardrails]
    return [asdict(one if isinstance(one, Guardrail) else _from_parts(one)) for one in guardrails]


def _from_parts(parts: Any) -> Guardrail:
    names, given = [one.name for one in fields(Guardrail)], parts if isinstance(parts, Mapping) else {}
    for name in given:
        if name not in names:
            raise unknown("part of a guardrail", name, names)
    if not {"kind", "limit"} <= given.keys():
        raise InvalidInputError(f"a guardrail needs a kind and a limit, got {shown(parts)}")
    return Guardrail(**{**parts, "limit": finite("the limit of a guardrail", parts["limit"])})


def _parsed(text: str) -> dict[str, Any]:
    parts = [part.partition("=") for part in text.split(",")]
    content: dict[str, Any] = {name.strip(): value.strip() for name, _, value in parts}
    try:
        return {**content, "limit": float(content["limit"])}
    except (KeyError, ValueError):
        remedy = "a guardrail needs a limit that is a number, as in kind=mean,limit=-2,arm=A,action=suspend"
        raise InvalidInputError(f"{remedy}; got {shown(text)}") from None


class Watch:
    """What a guardrail has seen. It is broken at most once per arm, until the arm or the campaign is resumed."""

    def __init__(self, guardrail: Guardrail) -> None:
        self.guardrail = guardrail
        #: Sums by number of the arm, and of the campaign; and those keys for which the guardrail is broken.
        self._sums: dict[int, list[float]] = {}
        self.broken: set[int] = set()

    def to_plain(self) -> dict[str, Any]:
        """Plain data."""
        return {"sums": sorted(map(list, self._sums.items())), "broken": sorted(self.broken)}

    @classmethod
    def from_plain(cls, guardrail: Guardrail, content: dict[str, Any]) -> Watch:
        """The watch that :meth:`to_plain` wrote."""
        watch = cls(guardrail)
        watch._sums, watch.broken = {int(key): sums for key, sums in content["sums"]}, set(content["broken"])
        return watch

    def reset(self, key: int | None = None) -> None:
        """Begin again: for an arm, or altogether."""
        for one in [key] if key is not None else list(self._sums):
            self._sums.pop(one, None)
            self.broken.discard(one)

    def observe(self, arms: list[Any], arm: int, at: float, values: Mapping[str, float], sign: float) -> None:
        """A reward of an arm, with other metrics, has come."""
        watched, x = self.guardrail.arm, values.get(self.guardrail.metric)
        if x is None or (watched not in (None, "*") and arms[arm] != watched):
            return
        key = _ALL if watched is None else arm
        if self.guardrail.kind in ("mean", "rate"):
            add(self._sums.setdefault(key, new_tally()), x)
        elif self.guardrail.kind == "daily_loss":
            sums, day = self._sums.setdefault(key, [0.0, 0.0]), at // 86_400
            sums[:] = [day, (sums[1] if sums[0] == day else 0.0) - sign * x]
        else:
            sums = self._sums.setdefault(key, [0.0, 0.0])  # the sum, and its peak
            sums[0] += sign * x
            sums[1] = max(sums)

    def breach(self, arm: int, arms: int, share: float, sign: float) -> tuple[int, str] | None:
        """Whether the guardrail is broken after a reward of an arm: for which key, and in words.

        ``share`` is the part of alpha that the guardrail has.
        """
        key = _ALL if self.guardrail.arm is None else arm
        if key not in self._sums or key in self.broken:
            return None
        is_broken, _, seen = self._seen(key, arms, share, sign)
        return (key, seen) if is_broken else None

    def in_words(self, arms: list[Any], share: float, sign: float) -> str:
        """The guardrail, and what it has seen where it is closest to its limit."""
        words = self.guardrail.in_words("cost" if sign < 0 else REWARD)
        if not self._sums:
            return words
        seen = {key: self._seen(key, len(arms), share, sign) for key in self._sums}
        key = max(seen, key=lambda one: seen[one][1])
        return f"{words} (now{f', closest {arms[key]}:' if self.guardrail.arm == '*' else ''} {seen[key][2]})"

    def _seen(self, key: int, arms: int, share: float, sign: float) -> tuple[bool, float, str]:
        """Whether a limit is broken, how far beyond it one is (negative: how far away), and what was seen."""
        guardrail, sums = self.guardrail, self._sums[key]
        alpha = share * ALPHA / (arms if guardrail.arm == "*" else 1)
        if guardrail.kind == "rate":
            excess = log_evidence(sums[0], sums[0] * sums[1], guardrail.limit) + math.log(alpha)
            return excess >= 0, excess, f"{sums[1]:.4g} in {sums[0]:.0f} values"
        if guardrail.kind == "mean":
            seen, low, high = f"{sums[1]:.4g} in {sums[0]:.0f} values", -math.inf, math.inf
            if sums[0] >= 2:
                interval = intervals(moments(sums), Mean(), alpha=alpha)
                low, high = float(interval.low), float(interval.high)
            excess = low - guardrail.limit if guardrail.metric != REWARD or sign < 0 else guardrail.limit - high
            is_finite = math.isfinite(low) and math.isfinite(high)
            return excess > 0, excess, seen + (f", interval {low:.4g} to {high:.4g}" if is_finite else "; too early")
        loss = sums[1] if guardrail.kind == "daily_loss" else sums[1] - sums[0]
        return loss > guardrail.limit, loss - guardrail.limit, f"{loss:.4g}"


def log_evidence(n: float, k: float, limit: float) -> float:
    """Logarithm of the evidence that the mean of n values between 0 and 1, whose sum is k, exceeds the limit."""
    from scipy.special import betainc, betaln

    b = max(1.0, 0.5 / limit)
    rest = n - k + b
    tail = float(betainc(rest, k + 1.0, 1.0 - limit))
    if tail == 0.0:  # far below the limit
        return -math.inf
    mixture = math.log(b) - b * math.log1p(-limit) + float(betaln(k + 1.0, rest)) + math.log(tail)
    return mixture - k * math.log(limit) - (n - k) * math.log1p(-limit)
