"""Agents of index policies, those that forget included."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..engine.compiler import specialise
from ..engine.work import check_custom, past_the_end, policy_bindings
from ..errors import InvalidInput, UnreadableData
from ..kernels import formulas, index_play, round_by_round
from ..kernels.statistics import FIRSTS
from ..objectives import Mean
from ..policies.base import IndexPolicy
from ..policies.custom import CustomPolicy
from ..validation import whole
from .base import Agent, mean_and_variance


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
        return mean_and_variance(weight, self._base[i], sum1, sum2)

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
