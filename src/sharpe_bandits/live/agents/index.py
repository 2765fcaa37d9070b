"""Agents of index policies, including those that forget."""

from __future__ import annotations

import math
from collections.abc import Iterable
from contextlib import suppress
from functools import cached_property
from typing import Any

import numpy as np

from ...errors import InvalidInputError
from ...objectives import Mean
from ...play import choose, formulas
from ...play import state as arm_state
from ...play.choose import ROUNDING
from ...play.statistics import StatisticsLayout
from ...policies.base import NO_FORGETTING, IndexPolicy
from ...simulation.compiler import specialise
from ...simulation.families.index import (
    call_kernel,
    check_index,
    index_undefined,
    is_random,
    layout_of,
    policy_bindings,
    rule_of,
)
from .base import MAX_ROUNDS, Agent, moments_of, restore, saved

#: Number of draws that estimate choice probabilities: their standard errors are at most 0.031.
DRAWS = 256
#: Decisions, as a multiple of those of the pilot, after which an arm without enough rewards is handed out again, and
#: after which it is remarked upon, beyond those that may still be under way.
PATIENCE, REMARKABLE = 16, 4
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
        self._playing = rule_of(policy, horizon or MAX_ROUNDS)
        self._seed = np.uint64(self.seed)
        self._random = is_random(policy)
        #: Of each arm: the number of the decision that it was last handed out for, 0 if it is to be handed out at once;
        #: and how often it was handed out again because rewards seemed lost.
        self._handed = self._retries = np.zeros(0, np.int64)
        self._set_pilot()
        self._arguments: tuple[Any, ...] = ()
        self._room = -1
        check_index(policy, horizon or 1000)
        self._bindings = {
            **policy_bindings(policy),
            formulas.value: (policy.objective or Mean()).record_formula,
        }

    def _set_pilot(self) -> None:
        k = len(self.arms)
        self._pilot = self._rule.pilot(self.horizon, k)
        #: Whether all arms are known to have the rewards of their pilot, for good.
        self._piloted = False
        #: A tuple without names, which compiled code takes from Python much faster.
        self._decision_rule = (*self._playing[:3], self._pilot * k, 0.0 if self._random else 1.0)
        self._handed, self._retries = (np.pad(x, (0, k - len(x))) for x in (self._handed, self._retries))

    def _layout(self) -> StatisticsLayout:
        return layout_of(self._rule)

    # Kernels are compiled when first needed, so that inspecting an agent does not wait for the compiler.

    @cached_property
    def _ask(self) -> Any:
        return specialise(choose.ask, self._bindings)

    @cached_property
    def _count_choices(self) -> Any:
        return specialise(choose.count_choices, self._bindings)

    def _prepare(self) -> None:
        with self._lock, suppress(InvalidInputError):  # an index that is NaN is reported by ask
            self._evaluate(self._ask, 0)
            if self._random:
                self._evaluate(self._count_choices, DRAWS, np.zeros(len(self.arms)))

    def _choose(self) -> int:
        i = None if self._piloted else self._due_for_pilot()
        return self._evaluate(self._ask, 0) if i is None else i

    def _due_for_pilot(self) -> int | None:
        """The arm that is played next whatever its index: in its pilot, or because its rewards were lost; or None.

        An arm whose rewards were lost while it had none has no index, and would never be played again. It is handed
        out once more ``PATIENCE`` times the pilot after it was last handed out, and each time after twice as many
        decisions. This is not a rule of the game (``play.choose.least_served``): in simulations every reward comes in
        the end, and with long delays it would change their choices.
        """
        served = np.where(self._active, self._pulls + self._pending, math.inf)
        i = int(np.argmin(served))
        if served[i] < self._pilot:
            return i
        self._piloted = self._rule.forgetting == NO_FORGETTING and bool((self._pulls >= self._pilot).all())
        waited = (self.asked - self._handed - self._patience(self._retries)) * (self._handed > 0)
        waited[~self._without_index()] = -1
        i = int(np.argmax(waited))
        return i if waited[i] >= 0 else None

    def _without_index(self) -> np.ndarray:
        """Which arms have too few rewards for an index; none, while all have."""
        few = self._active & (self._state.sums.pulls < self._rule.least_pilot - ROUNDING)
        return few & ~few[self._active].all()

    def _patience(self, retries: Any) -> Any:
        """The number of decisions after which an arm is handed out again."""
        return PATIENCE * self._pilot * len(self.arms) << np.minimum(retries, 32)

    def _silent(self) -> list[tuple[Any, int]]:
        late = self.asked - self._handed - REMARKABLE * self._pilot * len(self.arms) - self._n_pending
        silent = np.flatnonzero(self._without_index() & (self._pending > 0) & (late > 0))
        return [(self.arms[i], int(self._pending[i])) for i in silent]

    def _begin(self, i: int) -> None:
        if self._handed[i] and self.asked - self._handed[i] >= self._patience(self._retries[i]):
            self._retries[i] += 1
        super()._begin(i)
        self._handed[i] = self.asked

    def _after(self, i: int, x: float, z: float) -> None:
        if self._retries[i]:  # it does pay: it gets what it still needs for an index
            self._handed[i], self._retries[i] = 0, self._without_index()[i]

    def _shares(self, first: int) -> np.ndarray:
        if not self._random or (not self._piloted and self._due_for_pilot() is not None):
            return super()._shares(first)
        shares = np.zeros(len(self.arms))
        self._evaluate(self._count_choices, DRAWS, shares)
        return shares / DRAWS

    def _evaluate(self, kernel: Any, draws: int, *counts: np.ndarray) -> int:
        """Call a compiled function for the current decision; ``draws``: the number of one, or how many."""
        t, pending = self.t, self._n_pending
        arguments = self._formula_arguments(t + pending)
        choice: int = call_kernel(
            self.policy, kernel, self._state.memory, self._decision_rule, t, pending, self.asked, self._seed, draws,
            arguments, *counts,
        )  # fmt: skip
        if choice < 0:
            i = -1 - choice
            known = moments_of(self._state, i)
            raise index_undefined(
                self.policy,
                f"arm {self.arms[i]!r} (pulls {self._pulls[i]:g}, mean {self._as_told(float(known.mean))!r}, variance "
                f"{float(known.variance)!r}) after {self.t} rounds",
            )
        return choice

    def _check_arms_may_change(self, count: int) -> None:
        if self.horizon is not None:
            self._rule.check_horizon(self.horizon, count)

    def _grow(self) -> None:
        super()._grow()
        self._set_pilot()

    def _formula_arguments(self, rounds: int) -> tuple[Any, ...]:
        if rounds > self._room:
            # Tables by pulls grow with the game; only a formula that needs the horizon gets the full one.
            self._room = max(1024, 2 * rounds)
            if self.horizon is not None:
                self._room = self.horizon if self._rule.needs_horizon else min(self._room, self.horizon)
            self._arguments = self._rule.arguments(self._room)
        return self._arguments

    def _content(self) -> dict[str, Any]:
        return {**super()._content(), "handed": self._handed.tolist(), "retries": self._retries.tolist()}

    def _restore(self, state: dict[str, Any]) -> None:
        super()._restore(state)
        self._handed[:], self._retries[:] = state["handed"], state["retries"]


class ForgetfulAgent(IndexAgent):
    """An agent of an index policy that forgets: with a window, or with a discount."""

    def __init__(self, policy: IndexPolicy, arms: int | Iterable[str], horizon: int | None, seed: int) -> None:
        super().__init__(policy, arms, horizon, seed)
        self._check_arms_may_change(len(self.arms))
        layout = self._layout()
        self._all = arm_state.new_state(len(self.arms), layout.cells, 0)
        self._tell_compiled = specialise(arm_state.tell, layout.bindings)

    def _prepare(self) -> None:
        super()._prepare()
        with self._lock:
            memory = tuple(array.copy() for array in self._state.memory)
            self._tell_compiled(memory, 0, 0.0, math.nan, 0, *self._playing, self._objective_arguments)

    def _check_arms_may_change(self, count: int) -> None:
        self._rule.check_horizon(self.horizon or self._pilot * count, count)
        window = self._playing.window
        if window * count > _MAX_ROOM:
            raise InvalidInputError(
                f"a window of {window} rounds of {count} arms is {window * count} rewards, and an agent stores at most "
                f"{_MAX_ROOM}; shorten the window or use DiscountedUCB"
            )

    def _record(self, i: int, x: float, z: float) -> None:
        super()._record(i, x, z)
        self._make_room(min(self.t + 1, self._playing.window))
        self._tell_compiled(self._state.memory, i, x, z, self.t, *self._playing, self._objective_arguments)

    def _make_room(self, rounds: int) -> None:
        """Let the window of the state, which has a row per round, hold this many; it grows while the game is short."""
        length, k = self._state.window.shape
        if rounds > length:
            more = np.full((min(self._playing.window, max(rounds, 2 * length, 64)) - length, k), np.nan)
            self._state = self._state._replace(window=np.concatenate([self._state.window, more]))

    def _content(self) -> dict[str, Any]:
        window = self._state.window
        ring = [[int(place), int(i), float(window[place, i])] for place, i in np.argwhere(~np.isnan(window))]
        return {**super()._content(), "memory": saved(self._state), "ring": ring}

    def _restore(self, state: dict[str, Any]) -> None:
        super()._restore(state)
        restore(self._state, state["memory"])
        self._make_room(min(self.t, self._playing.window))
        for place, i, d in state["ring"]:
            self._state.window[place, i] = d
