"""Live agents: ask which arm to play, tell what it paid. They run the functions that the simulation engine runs.

An agent's state is plain data with a version: the policy, the names of the arms and a few numbers per arm. Randomised
policies draw from streams that are functions of (seed, round, arm), so there is no generator to keep.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from .engine.compiler import specialise
from .engine.stopping import stopping_bindings
from .engine.work import check_custom, past_the_end, policy_bindings
from .errors import CampaignOver, InvalidInput, SharpeBanditsError, UnreadableData, unknown
from .kernels import elimination, fixed_confidence, formulas, index_play, round_by_round
from .kernels.statistics import FIRSTS, anchor_of, summary
from .objectives import Mean
from .policies.base import EVERYTHING, EliminationPolicy, IndexPolicy, Policy, StoppingPolicy, policy_from_dict
from .policies.custom import CustomPolicy
from .validation import is_number, real, whole

FORMAT = 3
_MOST_ARMS = 10**6
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
        return _mean_and_variance(self._pulls[i], self._anchor[i], self._sum1[i], self._sum2[i])

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
        text = json.dumps(state, allow_nan=False, default=lambda thing: thing.tolist())
        return json.dumps(
            {**state, "seal": _seal(json.loads(text))}, allow_nan=False, default=lambda thing: thing.tolist()
        )

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
        try:
            agent = new_agent(policy_from_dict(state["policy"]), state["arms"], state["horizon"], state["seed"])
            agent._restore(state)
            if state.pop("seal", None) != _seal(state):
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


class IndexAgent(Agent):
    """An agent of an index policy."""

    def __init__(self, policy: IndexPolicy, arms: list[str] | int, horizon: int | None, seed: int) -> None:
        super().__init__(policy, arms, horizon, seed)
        self._rule = policy
        k = len(self.arms)
        self._pilot = policy.pilot(horizon, k)
        self._out = np.zeros(k)
        self._arguments: tuple[Any, ...] | None = None
        self._room = 0
        if isinstance(policy, CustomPolicy):
            check_custom(policy, horizon or 1000, -math.inf if policy.factory.never_falls is None else 0.0)
        goal = policy.goal or Mean()
        bindings = policy_bindings(policy)
        self._decide = specialise(index_play.decide, {**bindings, formulas.value: goal.formula})
        # The first rewards of each arm, less its anchor: kept for policies that reweigh them.
        self._reweighs = bindings[formulas.keeps_draws] is formulas.yes
        self._firsts = np.zeros((k, FIRSTS if self._reweighs else 1))

    def _choose(self) -> int:
        least = int(np.argmin(self._pulls))
        if self._pulls[least] < self._pilot:
            return least
        try:
            choice = self._index_choice(np.maximum(self._last, self._pilot * len(self.arms)))
        except IndexError:
            raise past_the_end(self.policy) from None
        if choice < 0:
            i = -1 - choice
            mean, variance = self._estimate(i)
            raise InvalidInput(
                f"the index of {self.policy.name} is not a number for arm {self.arms[i]!r} (pulls {self._pulls[i]:g}, "
                f"mean {mean!r}, variance {variance!r}) after {self.t} rounds"
            )
        return int(choice)

    def _index_choice(self, last: np.ndarray) -> int:
        """What the formula says; below 0: it is not a number for an arm."""
        return self._decide(
            self.t, self.t, self._pulls, self._sum1, self._sum2, self._sum3, self._sum4, self._firsts, self._anchor,
            last, self._maximum, np.uint64(self.seed), 0, self._formula_arguments(), self._out,
        )  # fmt: skip

    def _formula_arguments(self) -> tuple[Any, ...]:
        if self._arguments is None or (self.horizon is None and self.t > self._room):
            self._room = max(1024, 2 * self.t)  # tables by pulls grow with the game
            self._arguments = self._rule.arguments(self.horizon or self._room)
        return self._arguments

    def _after(self, i: int, x: float, d: float) -> None:
        if self._reweighs and self._pulls[i] <= FIRSTS:
            self._firsts[i, int(self._pulls[i]) - 1] = d

    def _more(self) -> dict[str, Any]:
        kept = np.minimum(self._pulls, FIRSTS).astype(int)
        return (
            {"firsts": [row[:n].tolist() for row, n in zip(self._firsts, kept, strict=True)]} if self._reweighs else {}
        )

    def _restore(self, state: dict[str, Any]) -> None:
        super()._restore(state)
        if not self._reweighs:
            return
        if len(state["firsts"]) != len(self.arms):
            raise UnreadableData("the state of the agent is damaged: its first rewards do not fit its arms")
        for i, row in enumerate(state["firsts"]):
            values = np.array(row, float)
            if values.shape != (min(int(self._pulls[i]), FIRSTS),) or not np.isfinite(values).all():
                raise UnreadableData("the state of the agent is damaged: its first rewards do not fit its pulls")
            self._firsts[i, : values.size] = values

    def recommend(self) -> Any:
        """The arm that looks best by the policy's objective (the most played one if it has none)."""
        enough = [i for i in range(len(self.arms)) if self._pulls[i] >= 2]
        if not enough:
            raise InvalidInput("nothing can be recommended before an arm has two rewards; ask and tell first")
        return self.arms[self._best(enough)]


class ForgetfulAgent(IndexAgent):
    """An agent of an index policy that forgets: with a window, or with a discount."""

    def __init__(self, policy: IndexPolicy, arms: list[str] | int, horizon: int | None, seed: int) -> None:
        super().__init__(policy, arms, horizon, seed)
        k = len(self.arms)
        policy.check_horizon(horizon or self._pilot * k, k)
        self._window, self._discount = policy.memory
        self._memory = np.zeros((round_by_round.ROWS, k))
        #: What the remembered sums are about; it follows arms that drift.
        self._base = np.zeros(k)
        #: Rewards less their bases by round (modulo the window) and arm; not a number where none was seen.
        self._ring = np.full((max(self._window, 1), k), np.nan)
        self._choice = specialise(round_by_round.choose, policy_bindings(policy))
        self._forget = specialise(round_by_round.forget, {})

    def _index_choice(self, last: np.ndarray) -> int:
        return self._choice(
            self.t, self._memory, self._rule.least_pilot, self._window, self._discount, self._firsts, self._base,
            last, self._maximum, np.uint64(self.seed), 0, self._formula_arguments(), self._out,
        )  # fmt: skip

    def _after(self, i: int, x: float, d: float) -> None:
        super()._after(i, x, d)
        self._forget(self._memory, self._ring, self._base, self.t - 1, self._window, self._discount)
        if self._pulls[i] == 1:
            self._base[i] = self._anchor[i]
        round_by_round.add(self._memory, i, x - self._base[i], 1.0)
        if self._window:
            self._ring[(self.t - 1) % self._window, i] = x - self._base[i]

    def _estimate(self, i: int) -> tuple[float, float]:
        weight, sum1, sum2 = self._memory[: round_by_round.SUM3, i]
        return _mean_and_variance(weight, self._base[i], sum1, sum2)

    def recommend(self) -> Any:
        """The arm that looks best by the policy's objective, from what is remembered."""
        enough = [i for i in range(len(self.arms)) if self._memory[round_by_round.WEIGHT, i] > 1]
        if not enough:
            raise InvalidInput("nothing can be recommended before an arm has two rewards; ask and tell first")
        return self.arms[self._best(enough)]

    def _more(self) -> dict[str, Any]:
        seen = np.argwhere(~np.isnan(self._ring))
        ring = [[int(slot), int(i), float(self._ring[slot, i])] for slot, i in seen]
        return {**super()._more(), "memory": self._memory.tolist(), "base": self._base.tolist(), "ring": ring}

    def _restore(self, state: dict[str, Any]) -> None:
        super()._restore(state)
        memory, base = np.array(state["memory"], float), np.array(state["base"], float)
        fits = memory.shape == self._memory.shape and base.shape == self._base.shape
        if not (fits and np.isfinite(memory).all() and np.isfinite(base).all()):
            raise UnreadableData("the state of the agent is damaged: what it remembers does not fit its arms")
        remembered = min(self.t, self._window)
        if len(state["ring"]) != remembered:
            raise UnreadableData(f"the state of the agent is damaged: it must hold the last {remembered} rewards")
        self._memory, self._base = memory, base
        for slot, i, d in state["ring"]:
            self._ring[whole("slot", slot, 0, self._window - 1), whole("arm", i, 0, len(self.arms) - 1)] = d


class EliminationAgent(Agent):
    """An agent of a policy that plays in phases."""

    def __init__(self, policy: EliminationPolicy, arms: list[str] | int, horizon: int, seed: int) -> None:
        super().__init__(policy, arms, horizon, seed)
        self._rule = policy
        k = len(self.arms)
        self._phases = policy.phases(horizon, k)
        self._phase = 0
        self._alive = list(range(k))  # arms that are played: neither accepted nor dropped
        self._taken = np.zeros(k, bool)
        # What the current estimates rest on: this phase's rewards, or all of them.
        self._count, self._now1, self._now2 = np.zeros(k), np.zeros(k), np.zeros(k)
        self._due = np.full(k, self._phases[0][0])
        goal = policy.goal or Mean()
        self._goal_arguments = goal.arguments()
        self._decide = specialise(elimination.end_phase, {formulas.value: goal.formula})
        self._share = specialise(elimination.share, {formulas.value: goal.formula}) if policy.by_spread else None

    @property
    def done(self) -> bool:
        """Whether all phases are played."""
        return self._phase >= len(self._phases)

    @property
    def alive(self) -> list[Any]:
        """The arms still in the running: those accepted, and those that are played."""
        return [self.arms[i] for i in sorted({*self._alive, *self._accepted})]

    @property
    def accepted(self) -> list[Any]:
        """The arms that are sure to be recommended."""
        return [self.arms[i] for i in self._accepted]

    @property
    def _accepted(self) -> list[int]:
        return [int(i) for i in np.flatnonzero(self._taken)]

    @property
    def _wanted(self) -> int:
        return self._rule.sought - int(self._taken.sum())

    def _choose(self) -> int:
        return max(self._alive, key=lambda i: (self._due[i], -i))

    def _check_due(self, i: int) -> None:
        if self._due[i] <= 0:
            state = "has all its pulls of this phase" if i in self._alive else "was dropped"
            if self._taken[i]:
                state = "is accepted already"
            raise InvalidInput(f"arm {self.arms[i]!r} {state}; ask() says {self.ask()!r}; nothing was recorded")

    def _after(self, i: int, x: float, d: float) -> None:
        self._count[i] += 1
        self._now1[i] += d
        self._now2[i] += d * d
        self._due[i] -= 1
        while not self.done and not any(self._due[j] > 0 for j in self._alive):
            self._end_phase()

    def _end_phase(self) -> None:
        alive = np.array(self._alive, np.int64)
        keep = self._phases[self._phase][1]
        looked = keep == len(alive)
        self._decide(
            alive, len(alive), keep, self._rule.accepts, self._wanted, self._taken, self._count, self._now1, self._now2,
            self._anchor, self._goal_arguments,
        )  # fmt: skip
        self._phase += 1
        self._due[:] = 0
        self._alive = [] if self.done else [int(i) for i in alive[:keep]]
        if self.done:
            return
        pulls = self._phases[self._phase][0]
        self._due[self._alive] = pulls
        if looked and self._share is not None:
            quota = np.zeros(keep, np.int64)
            self._share(
                alive, keep, pulls * keep, self._pulls, self._sum1, self._sum2, self._sum3, self._sum4, self._anchor,
                self._goal_arguments, quota,
            )  # fmt: skip
            self._due[self._alive] = quota
        if not self._rule.keeps_samples:
            self._count[:], self._now1[:], self._now2[:] = 0.0, 0.0, 0.0

    def recommend(self) -> Any:
        """The last arm standing; before the end, the arm alive that looks best so far.

        A policy that looks for the m > 1 best arms gives a list of m arms, in order of arm.
        """
        chosen = self._accepted
        among = [i for i in self._alive if self._pulls[i] >= 2]
        if len(among) < self._wanted:
            enough = "an arm has" if self._rule.sought == 1 else f"{self._rule.sought} arms have"
            raise InvalidInput(f"nothing can be recommended before {enough} two rewards; ask and tell first")
        for _ in range(self._wanted):
            best = self._best(among)
            among.remove(best)
            chosen.append(best)
        listed = [self.arms[i] for i in sorted(chosen)]
        return listed if self._rule.sought > 1 else listed[0]

    def _more(self) -> dict[str, Any]:
        return {
            "phase": self._phase,
            "alive": self._alive,
            "accepted": self._accepted,
            "due": self._due.tolist(),
            "current": {"count": self._count.tolist(), "sum1": self._now1.tolist(), "sum2": self._now2.tolist()},
        }

    def _restore(self, state: dict[str, Any]) -> None:
        super()._restore(state)
        k = len(self.arms)
        self._phase = whole("phase", state["phase"], 0, len(self._phases))
        self._alive = [whole("arm", i, 0, k - 1) for i in state["alive"]]
        accepted = [whole("arm", i, 0, k - 1) for i in state["accepted"]]
        self._taken[accepted] = True
        self._due = np.array([whole("due", v, 0) for v in state["due"]])
        current = state["current"]
        self._count, self._now1, self._now2 = (np.array(current[c], float) for c in ("count", "sum1", "sum2"))
        shapes = {a.shape for a in (self._due, self._count, self._now1, self._now2)}
        sizes = [k, *(stay for _, stay in self._phases)]  # arms that are played in a phase
        expected = 0 if self.done else sizes[self._phase]
        # All that was played or is due belongs to the phases up to this one; the arms that are played have equal shares
        # of it, unless pulls are shared out by spread; the others are owed nothing.
        begun = self._phases[: self._phase + 1]
        owed = sum(pulls * size for (pulls, _), size in zip(begun, sizes, strict=False))
        share = sum(pulls for pulls, _ in begun)
        if (
            shapes != {(k,)}
            or self._alive != sorted(set(self._alive))
            or accepted != sorted(set(accepted))
            or set(accepted) & set(self._alive)
            or (accepted and not self.done and not self._rule.accepts)
            or len(self._alive) != expected
            or not (self._wanted == 0 if self.done else 0 < self._wanted < expected)
            or not np.isfinite([self._count, self._now1, self._now2]).all()
            or self.t + self._due.sum() != owed
            or (not self._rule.by_spread and ((self._pulls + self._due)[self._alive] != share).any())
            or self._due.sum() != self._due[self._alive].sum()
            or self.done != (self._due.sum() == 0)
        ):
            raise UnreadableData("the state of the agent is damaged: its phase does not fit its arms")


class StoppingAgent(Agent):
    """An agent that stops by itself: after the pilot it asks for the best arm and its challenger in turn."""

    def __init__(self, policy: StoppingPolicy, arms: list[str] | int, horizon: int | None, seed: int) -> None:
        super().__init__(policy, arms, horizon, seed)
        self._rule = policy
        #: Arms still to be played before the next judgement; empty in the pilot, and once it is sure.
        self._pair: list[int] = []
        self._decide = specialise(fixed_confidence.decide, stopping_bindings(policy))

    @property
    def _in_pilot(self) -> bool:
        return bool(self._pulls.min() < self._rule.pilot_pulls)

    @property
    def sure(self) -> bool:
        """Whether the arm recommended is best, but for an error of probability delta."""
        return not self._in_pilot and not self._pair

    @property
    def done(self) -> bool:
        """Whether the agent is sure, or its rounds are played."""
        return self.sure or super().done

    def _why_over(self) -> str:
        return "this agent is sure of the best arm" if self.sure else super()._why_over()

    def _choose(self) -> int:
        return int(np.argmin(self._pulls)) if self._in_pilot else self._pair[0]

    def _judge(self) -> tuple[int, int, float]:
        best, challenger, ahead = self._decide(
            self._pulls, self._sum1, self._sum2, self._sum3, self._sum4, self._anchor, self._rule.arguments(),
            self._rule.log_odds(len(self.arms)),
        )  # fmt: skip
        return int(best), int(challenger), float(ahead)

    def _after(self, i: int, x: float, d: float) -> None:
        if i in self._pair:
            self._pair.remove(i)
        if not self._in_pilot and (not self._pair or self.t == self.horizon):
            best, challenger, ahead = self._judge()
            self._pair = [] if ahead < 0 else [best, challenger]

    def recommend(self) -> Any:
        """The arm that looks best by the policy's objective."""
        if not self._in_pilot:
            return self.arms[self._judge()[0]]
        enough = [i for i in range(len(self.arms)) if self._pulls[i] >= 2]
        if not enough:
            raise InvalidInput("nothing can be recommended before an arm has two rewards; ask and tell first")
        return self.arms[self._best(enough)]

    def _more(self) -> dict[str, Any]:
        return {"pair": self._pair}

    def _restore(self, state: dict[str, Any]) -> None:
        super()._restore(state)
        self._pair = [whole("arm", i, 0, len(self.arms) - 1) for i in state["pair"]]
        fits = len(set(self._pair)) == len(self._pair) <= (0 if self._in_pilot else 2)
        if not fits or (self.sure and not self._judge()[2] < 0):
            raise UnreadableData("the state of the agent is damaged: the arms to be played do not fit its record")


def new_agent(policy: Policy, arms: int | Iterable[str], horizon: int | None, seed: int) -> Agent:
    """A fresh agent; everything that could fail later is checked here."""
    listed = _check_arms(arms)
    count = listed if isinstance(listed, int) else len(listed)
    seed = whole("seed", seed, 0, 2**64 - 1)
    if horizon is not None:
        horizon = whole("horizon", horizon, 2)
        policy.check_horizon(horizon, count)
    if isinstance(policy, EliminationPolicy):
        if horizon is None:
            raise InvalidInput(
                f"{policy.name} needs a budget; pass horizon=... ({policy.least_budget(count)} at least)"
            )
        return EliminationAgent(policy, listed, horizon, seed)
    if isinstance(policy, IndexPolicy):
        if policy.needs_horizon and horizon is None:
            raise InvalidInput(f"{policy.name} needs to know the number of rounds; pass horizon=...")
        flavour = IndexAgent if policy.memory == EVERYTHING else ForgetfulAgent
        return flavour(policy, listed, horizon, seed)
    if isinstance(policy, StoppingPolicy):
        return StoppingAgent(policy, listed, horizon, seed)
    raise InvalidInput(f"no agent follows {policy!r}")


def _check_arms(arms: int | Iterable[str]) -> list[str] | int:
    if is_number(arms):
        return whole("arms", whole("arms", arms, 2), 2, _MOST_ARMS)
    if isinstance(arms, (str, bytes)) or not isinstance(arms, Iterable):
        raise InvalidInput(f"arms must be a list of names or a number of arms, got {arms!r}")
    names = list(arms)
    if not all(isinstance(name, str) for name in names):
        raise InvalidInput(f"names of arms must be text, got {names!r}; pass a number for arms 0, 1, ...")
    if len(names) < 2 or len(set(names)) != len(names):
        raise InvalidInput(f"arms must be at least 2 different names, got {names!r}")
    return names


def _mean_and_variance(pulls: float, anchor: float, sum1: float, sum2: float) -> tuple[float, float]:
    """From sums about an anchor; not a number where there are too few pulls."""
    if pulls == 0:
        return math.nan, math.nan
    less = 1.0 / (pulls - 1.0) if pulls > 1 else math.nan
    mean, variance, _ = summary(anchor, sum1, sum2, 1.0 / pulls, less)
    return float(mean), float(variance) if pulls > 1 else math.nan


def _seal(state: dict[str, Any]) -> str:
    """A digest of a state's content, whatever its layout and whether whole numbers are written 6 or 6.0."""
    return hashlib.sha256(json.dumps(_canonical(state), sort_keys=True).encode()).hexdigest()


def _canonical(thing: Any) -> Any:
    if isinstance(thing, dict):
        return {key: _canonical(value) for key, value in thing.items()}
    if isinstance(thing, list):
        return [_canonical(value) for value in thing]
    return int(thing) if isinstance(thing, float) and thing.is_integer() else thing


def _json_number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
