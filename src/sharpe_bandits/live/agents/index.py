"""Agents of index policies, including those that forget."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cached_property
from typing import Any

import numpy as np

from ..._support.call_tree import substituted
from ..._support.validation import whole
from ...errors import InvalidInputError
from ...objectives import Mean
from ...play import choose, formulas
from ...play import state as arm_state
from ...play.choose import Decision
from ...play.statistics import StatisticsLayout, layout_for
from ...policies.base import NO_FORGETTING, IndexPolicy
from ...simulation.compiler import specialise
from ...simulation.families.index import (
    IndexFamily,
    call_kernel,
    check_index,
    layout_of,
    policy_bindings,
)
from .base import Agent
from .record import mean_and_variance
from .state import damaged

#: Number of draws that estimate choice probabilities: their standard errors are at most 0.031.
DRAWS = 256
#: Decisions, as a multiple of those of the pilot, after which an arm without enough rewards is handed out again.
PATIENCE = 16
#: Maximum number of rewards that an agent with a window stores (window times arms).
_MAX_ROOM = 5 * 10**7


def index_agent(policy: IndexPolicy, arms: int | Iterable[str], horizon: int | None, seed: int) -> Agent:
    """The agent of an index policy, whether it forgets or not."""
    kind = IndexAgent if policy.forgetting == NO_FORGETTING else ForgetfulAgent
    return kind(policy, arms, horizon, seed)


class IndexAgent(Agent):
    """An agent of an index policy."""

    def __init__(self, policy: IndexPolicy, arms: int | Iterable[str], horizon: int | None, seed: int) -> None:
        self._rule = policy
        super().__init__(policy, arms, horizon, seed)
        if policy.needs_horizon and horizon is None:
            raise InvalidInputError(f"{policy.name} needs to know the number of rounds; pass horizon=...")
        k = len(self.arms)
        self._pilot = policy.pilot(self.horizon, k)
        #: Whether all arms are known to have the rewards of their pilot.
        self._piloted = False
        self._arguments: tuple[Any, ...] | None = None
        self._room = 0
        check_index(policy, horizon or 1000, 0.0)
        self._bindings = {
            **policy_bindings(policy, horizon),
            formulas.value: (policy.objective or Mean()).record_formula,
        }
        self._random = IndexFamily().is_random(policy)

    def _layout(self) -> StatisticsLayout:
        return layout_of(self._rule)

    # Kernels are compiled when first needed, so that inspecting an agent does not wait for the compiler.

    @cached_property
    def _chosen(self) -> Any:
        return specialise(choose.choose, self._bindings)

    @cached_property
    def _counted(self) -> Any:
        return specialise(choose.count_choices, self._bindings)

    def prepare(self) -> None:
        with self._lock, suppress(InvalidInputError):  # an index that is NaN is reported by ask
            self._evaluate(self._choice)
            if self._random:
                self._evaluate(self._count_into(np.zeros(len(self.arms))))

    def _choice(self, decision: Decision) -> int:
        seed, arguments = np.uint64(self.seed), self._formula_arguments()
        return int(call_kernel(self.policy, self._chosen, self._state, decision, seed, 0, arguments))

    def _count_into(self, shares: np.ndarray) -> Callable[[Decision], int]:
        seed, arguments = np.uint64(self.seed), self._formula_arguments()
        return lambda decision: call_kernel(
            self.policy, self._counted, DRAWS, self._state, decision, seed, arguments, shares
        )

    def _choose(self) -> int:
        i = self._due_for_pilot()
        return self._evaluate(self._choice) if i is None else i

    def _due_for_pilot(self) -> int | None:
        """The arm that the pilot plays next; None once every arm was handed out often enough.

        An arm whose first rewards were lost has no index, and would never be played again. It is handed out once more
        when ``PATIENCE`` times the pilot has passed, and each time after twice as many decisions. This is not a rule of
        the game (``play.choose.least_served``): in simulations every reward comes in the end, and with long delays it
        would change their choices.
        """
        if self._piloted:
            return None
        served = np.where(self._active, self._pulls + self._pending, math.inf)
        i = int(np.argmin(served))
        if served[i] < self._pilot:
            return i
        self._piloted = bool((self._pulls >= self._pilot).all())
        without_index = self._active & (self._pulls < self._rule.least_pilot)
        if without_index.any() and not without_index[self._active].all():
            i = int(np.argmin(np.where(without_index, served, math.inf)))
            doubled = min(served[i] - self._pilot, 60.0)
            if self.t + self._n_pending >= PATIENCE * len(self.arms) * self._pilot * 2.0**doubled:
                return i
        return None

    def _shares(self, first: int) -> np.ndarray:
        if not self._random or self._due_for_pilot() is not None:
            return super()._shares(first)
        shares = np.zeros(len(self.arms))
        self._evaluate(self._count_into(shares))
        return shares / DRAWS

    def _evaluate(self, choose: Callable[[Decision], int]) -> int:
        """Call a compiled function for the current decision."""
        t, pilot = self.t + self._n_pending, self._pilot * len(self.arms)
        counted = 0.0 if self._random else 1.0
        decision = Decision(t, self._rounds(), self._rule.least_pilot, pilot, counted, self.asked)
        choice = choose(decision)
        if choice < 0:
            i = -1 - choice
            mean, variance = self._estimate(i)
            raise InvalidInputError(
                f"the index of {self.policy.name} is not a number for arm {self.arms[i]!r} (pulls {self._pulls[i]:g}, "
                f"mean {self.as_told(mean)!r}, variance {variance!r}) after {self.t} rounds"
            )
        return choice

    def _rounds(self) -> float:
        """The number of rounds for the confidence radius."""
        return float(self.t + self._n_pending)

    def _check_arms_may_change(self, count: int) -> None:
        if self.horizon is not None:
            self._rule.check_horizon(self.horizon, count)

    def _grow(self) -> None:
        super()._grow()
        k = len(self.arms)
        self._pilot, self._piloted = self._rule.pilot(self.horizon, k), False

    def _formula_arguments(self) -> tuple[Any, ...]:
        rounds = self.t + self._n_pending
        if self._arguments is None or rounds > self._room:
            # Tables by pulls grow with the game; only a formula that needs the horizon gets the full one.
            self._room = max(1024, 2 * rounds)
            if self.horizon is not None:
                self._room = self.horizon if self._rule.needs_horizon else min(self._room, self.horizon)
            self._arguments = self._rule.arguments(self._room)
        return self._arguments

    def _recommend(self) -> Any:
        return self.arms[self._best([i for i in range(len(self.arms)) if self._pulls[i] >= 2])]


class ForgetfulAgent(IndexAgent):
    """An agent of an index policy that forgets: with a window, or with a discount."""

    def __init__(self, policy: IndexPolicy, arms: int | Iterable[str], horizon: int | None, seed: int) -> None:
        super().__init__(policy, arms, horizon, seed)
        k = len(self.arms)
        policy.check_horizon(self.horizon or self._pilot * k, k)
        self._window, self._discount = policy.forgetting
        if self._window * k > _MAX_ROOM:
            raise _too_wide(self._window, k)
        self._all = arm_state.new_state(k, 0, 0)
        self._observe_all = substituted(arm_state.observe, layout_for(()).bindings)
        # The window of the state has a row for every round remembered; it grows as long as the game is short.
        self._forget = specialise(arm_state.forget, {})
        self._rounds_remembered = specialise(arm_state.rounds_remembered, {})

    def prepare(self) -> None:
        super().prepare()
        with self._lock:
            sums = arm_state.Sums(*(column.copy() for column in self._state.sums))
            window = np.full((max(self._window, 1), len(self.arms)), np.nan)
            self._forget(sums, window, 0, self._window, self._discount)

    def _rounds(self) -> float:
        pending = float(self._n_pending)
        rounds = self._rounds_remembered(self._state.sums, pending, self.t, self._window, self._discount)
        return float(rounds)

    def _check_arms_may_change(self, count: int) -> None:
        self._rule.check_horizon(self.horizon or self._pilot * count, count)
        if self._window * count > _MAX_ROOM:
            raise _too_wide(self._window, count)

    def _record(self, i: int, x: float, z: float) -> None:
        self._make_room(self.t % self._window + 1 if self._window else 1)
        self._forget(self._state.sums, self._state.window, self.t, self._window, self._discount)
        self._observe(self._state, i, x, z, self.t, self._window, self._objective_arguments)
        self._observe_all(self._all, i, x, z, self.t, 0, ())

    def _make_room(self, rounds: int) -> None:
        """Let the window of the state hold this many rounds."""
        length, k = self._state.window.shape
        if rounds > length:
            more = np.full((min(self._window, max(rounds, 2 * length, 64)) - length, k), np.nan)
            self._state = self._state._replace(window=np.concatenate([self._state.window, more]))

    def _estimate(self, i: int) -> tuple[float, float]:
        sums = self._state.sums
        return mean_and_variance(sums.pulls[i], sums.anchor[i], sums.sum1[i], sums.sum2[i])

    def _recommend(self) -> Any:
        return self.arms[self._best([i for i in range(len(self.arms)) if self._state.sums.pulls[i] > 1])]

    def _more(self) -> dict[str, Any]:
        sums, window = self._state.sums, self._state.window
        ring = [[int(place), int(i), float(window[place, i])] for place, i in np.argwhere(~np.isnan(window))]
        memory = [column.tolist() for column in sums[:5]]
        return {**super()._more(), "memory": memory, "base": sums.anchor.tolist(), "ring": ring}

    def _restore(self, state: dict[str, Any]) -> None:
        super()._restore(state)
        for column, values in zip(self._state.sums, [*state["memory"], state["base"]], strict=True):
            column[:] = values
        self._state.seen[:], self._state.last[:] = self._all.seen, self._all.last
        remembered = min(self.t, self._window)
        if len(state["ring"]) != remembered:
            raise damaged(f"it must hold the last {remembered} rewards")
        self._make_room(remembered)
        for place, i, d in state["ring"]:
            self._state.window[whole("slot", place, 0, remembered - 1), whole("arm", i, 0, len(self.arms) - 1)] = d


def _too_wide(window: int, arms: int) -> InvalidInputError:
    return InvalidInputError(
        f"a window of {window} rounds of {arms} arms is {window * arms} rewards, and an agent stores at most "
        f"{_MAX_ROOM}; shorten the window or use DiscountedUCB"
    )
