"""What every agent does: take rewards in, keep sums, be saved as JSON and come back."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from ..errors import CampaignOver, InvalidInput, SharpeBanditsError, UnreadableData, unknown
from ..kernels.statistics import anchor_of, summary
from ..policies.base import Policy, policy_from_dict
from ..seals import seal
from ..validation import real, whole

FORMAT = 3
_KIND = "sharpe-bandits agent"
#: What is kept of each arm, besides its name.
_COLUMNS = ("pulls", "sum1", "sum2", "sum3", "sum4", "anchor", "last", "maximum")


class Agent:
    """An agent that follows a policy. Made by ``policy.agent(...)`` or :meth:`from_json`."""

    def __init__(self, policy: Policy, arms: list[str] | int, horizon: int | None, seed: int) -> None:
        self.policy = policy
        self.horizon = horizon
        self.seed = seed
        self._named = isinstance(arms, list)
        self.arms: list[Any] = arms if isinstance(arms, list) else list(range(arms))
        self._place = {arm: i for i, arm in enumerate(self.arms)}
        #: Rounds played.
        self.t = 0
        k = len(self.arms)
        self._pulls, self._sum1, self._sum2 = np.zeros(k), np.zeros(k), np.zeros(k)
        self._sum3, self._sum4 = np.zeros(k), np.zeros(k)
        self._anchor, self._last, self._maximum = np.zeros(k), np.zeros(k), np.full(k, -math.inf)

    def __repr__(self) -> str:
        return f"<agent of {self.policy.name}: {len(self.arms)} arms, {self.t} rounds played>"

    @property
    def done(self) -> bool:
        """Whether the budget is spent (never, for an agent without a horizon)."""
        return self.horizon is not None and self.t >= self.horizon

    @property
    def pulls(self) -> dict[Any, int]:
        """How often each arm was played."""
        return {arm: int(self._pulls[i]) for i, arm in enumerate(self.arms)}

    def estimates(self) -> dict[Any, tuple[float, float]]:
        """Mean and unbiased variance of each arm's rewards (not a number where there are too few)."""
        return {arm: self._estimate(i) for i, arm in enumerate(self.arms)}

    def _estimate(self, i: int) -> tuple[float, float]:
        return mean_and_variance(self._pulls[i], self._anchor[i], self._sum1[i], self._sum2[i])

    def ask(self) -> Any:
        """The arm to play now. Asking again before telling gives the same arm."""
        if self.done:
            raise CampaignOver(f"{self._why_over()}; see recommend()")
        return self.arms[self._choose()]

    def tell(self, arm: Any, reward: float) -> None:
        """Take in the reward of a round in which ``arm`` was played. A bad reward leaves the agent as it was."""
        i = self._index(arm)
        x = real(reward)
        if not math.isfinite(x):
            raise InvalidInput(
                f"a reward must be a finite number, got {reward!r} for arm {arm!r}; nothing was recorded"
            )
        if self.done:
            raise CampaignOver(f"{self._why_over()}; nothing was recorded")
        self._check_due(i)
        anchor = float(anchor_of(x) if self._pulls[i] == 0 else self._anchor[i])
        d = x - anchor
        square = max(x * x, d * d)
        if not math.isfinite(float(self._sum4[i]) + square * square):
            raise InvalidInput(
                f"with the reward {reward!r} the moments of arm {arm!r} are beyond the largest number; scale all "
                "rewards down; nothing was recorded"
            )
        self._anchor[i] = anchor
        self.t += 1
        self._pulls[i] += 1
        self._sum1[i] += d
        self._sum2[i] += d * d
        self._sum3[i] += d * d * d
        self._sum4[i] += d * d * d * d
        self._last[i] = self.t
        self._maximum[i] = max(self._maximum[i], x)
        self._after(i, x, d)

    def recommend(self) -> Any:
        """The arm that looks best by the policy's objective."""
        raise AssertionError("an agent without a flavour")

    def _choose(self) -> int:
        raise AssertionError("an agent without a flavour")

    def _why_over(self) -> str:
        return f"the {self.horizon} rounds of this agent are played"

    def _check_due(self, i: int) -> None:
        """Raise if a reward of this arm has no place now."""

    def _after(self, i: int, x: float, d: float) -> None:
        """Take note that arm i paid ``x``, which is ``d`` above its anchor."""

    def _index(self, arm: Any) -> int:
        try:
            return self._place[arm]
        except (KeyError, TypeError):
            raise unknown("arm", arm, self.arms) from None

    def _best(self, among: list[int]) -> int:
        goal = self.policy.goal
        if goal is None:
            return int(max(among, key=lambda i: (self._pulls[i], -i)))
        return max(among, key=lambda i: (float(goal.value(*self._estimate(i))), -i))

    def to_json(self) -> str:
        """The whole state as JSON; :meth:`from_json` continues exactly."""
        state = {
            "kind": _KIND,
            "format": FORMAT,
            "policy": self.policy.to_dict(),
            "arms": self.arms if self._named else len(self.arms),
            "horizon": self.horizon,
            "seed": self.seed,
            "t": self.t,
            "record": {c: [_json_number(v) for v in getattr(self, f"_{c}")] for c in _COLUMNS},
            **self._more(),
        }
        plain = json.loads(json.dumps(state, allow_nan=False, default=lambda thing: thing.tolist()))
        return json.dumps({**plain, "seal": seal(plain)})

    @staticmethod
    def from_json(text: str | bytes) -> Agent:
        """The agent whose state :meth:`to_json` gave; it continues exactly where that one stood."""
        try:
            state = json.loads(text)
        except (ValueError, TypeError) as error:
            raise UnreadableData(f"this is not the JSON state of an agent: {error}") from None
        if not isinstance(state, dict) or state.get("kind") != _KIND:
            raise UnreadableData("this JSON is not the state of an agent of this library")
        if state.get("format") != FORMAT:
            raise UnreadableData(f"the state has format {state.get('format')!r}, this version reads {FORMAT}")
        from . import new_agent

        try:
            agent = new_agent(policy_from_dict(state["policy"]), state["arms"], state["horizon"], state["seed"])
            agent._restore(state)
            if state.pop("seal", None) != seal(state):
                raise UnreadableData("the state of the agent was changed after it was saved; take it from a copy")
        except UnreadableData:
            raise
        except SharpeBanditsError as error:
            raise UnreadableData(f"the state of the agent cannot be used: {error}") from error
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            raise UnreadableData(f"the state of the agent is damaged: {type(error).__name__}: {error}") from error
        return agent

    def _more(self) -> dict[str, Any]:
        """What a flavour keeps besides."""
        return {}

    def _restore(self, state: dict[str, Any]) -> None:
        k = len(self.arms)
        record = state["record"]
        for column in _COLUMNS:
            values = np.array([-math.inf if v is None else v for v in record[column]], float)
            finite = np.isfinite(values) | (column == "maximum")
            if values.shape != (k,) or not finite.all():
                raise UnreadableData(f"the state of the agent is damaged: {column} must be {k} numbers")
            setattr(self, f"_{column}", values)
        self.t = whole("t", state["t"], 0)
        played = self._pulls.sum()
        if (self._pulls < 0).any() or (self._pulls != np.floor(self._pulls)).any() or played != self.t:
            raise UnreadableData(
                f"the state of the agent is damaged: its arms have {played:g} pulls in {self.t} rounds"
            )
        if self.horizon is not None and self.t > self.horizon:
            raise UnreadableData(f"the state of the agent is damaged: {self.t} rounds played of {self.horizon}")
        if (self._sum2 < 0).any():
            raise UnreadableData("the state of the agent is damaged: a sum of squares is negative")


def mean_and_variance(pulls: float, anchor: float, sum1: float, sum2: float) -> tuple[float, float]:
    """From sums about an anchor; not a number where there are too few pulls."""
    if pulls == 0:
        return math.nan, math.nan
    less = 1.0 / (pulls - 1.0) if pulls > 1 else math.nan
    mean, variance, _ = summary(anchor, sum1, sum2, 1.0 / pulls, less)
    return float(mean), float(variance) if pulls > 1 else math.nan


def _json_number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
