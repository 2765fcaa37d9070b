"""Agents of policies that play in phases."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ...errors import CampaignOverError, InvalidInputError, WaitForRewardsError, listed
from ...play import elimination
from ...play import state as arm_state
from ...policies.base import EliminationPolicy
from ...simulation.compiler import specialise
from ...simulation.families.phases import phase_formulas, shared_wrongly
from .base import Agent, restore, saved


class EliminationAgent(Agent):
    """An agent of a policy that plays in phases."""

    def __init__(self, policy: EliminationPolicy, arms: int | Iterable[str], horizon: int | None, seed: int) -> None:
        super().__init__(policy, arms, horizon, seed)
        self._rule = policy
        k = len(self.arms)
        if self.horizon is None:
            least = policy.least_budget(k)
            raise InvalidInputError(f"{policy.name} needs a budget; pass horizon=... ({least} at least)")
        self._phases = policy.schedule(self.horizon, k)
        self._phase = 0
        self._alive = list(range(k))  # arms that are played: neither accepted nor dropped
        self._taken = np.zeros(k, bool)
        #: What current estimates are computed from: this phase's rewards, or all.
        self._now = self._state if policy.keeps_samples else arm_state.new_state(k, self._state.kept.shape[1], 0)
        self._due = np.full(k, self._phases[0][0])
        self._formulas = phase_formulas(policy)
        self._share, self._decide = specialise(elimination.share_pulls, {}), specialise(elimination.decide, {})

    @property
    def done(self) -> bool:
        return self._phase >= len(self._phases)

    @property
    def alive(self) -> list[Any]:
        """The remaining arms: those accepted, and those still played."""
        with self._lock:
            return [self.arms[i] for i in sorted({*self._alive, *self._accepted})]

    @property
    def accepted(self) -> list[Any]:
        """The accepted arms, which are certain to be recommended."""
        with self._lock:
            return [self.arms[i] for i in self._accepted]

    @property
    def _accepted(self) -> list[int]:
        return np.flatnonzero(self._taken).tolist()

    def _next(self) -> int:
        if self.done:
            raise CampaignOverError(f"{self._why_over()}; see recommend()")
        i = self._choose()
        if self._due[i] <= self._pending[i]:
            arms = {self.arms[j]: int(self._due[j]) for j in self._alive if self._due[j] > 0}
            raise WaitForRewardsError(
                f"{self.policy.name} handed out all pulls of phase {self._phase + 1} of {len(self._phases)} and "
                f"waits for {sum(arms.values())} rewards of {listed(arms)}; tell or cancel them",
                arms,
            )
        return i

    def _choose(self) -> int:
        left = self._due - self._pending
        i = int(left.argmax())  # ties go to the lowest arm
        return i if left[i] > 0 else self._alive[0]  # arms that were dropped have none left

    def _refusal(self, i: int) -> str | None:
        if self.done or self._due[i] > 0:
            return super()._refusal(i)
        state = "has all its pulls of this phase" if i in self._alive else "was dropped"
        if self._taken[i]:
            state = "is accepted already"
        return f"arm {self.arms[i]!r} {state}; ask() says {self.arms[self._choose()]!r}"

    def _after(self, i: int, x: float, z: float) -> None:
        if self._now is not self._state:
            sums = self._now.sums
            sums.anchor[i] = self._state.sums.anchor[i]
            d = x - float(sums.anchor[i])
            update = self._observing[1]
            update(self._now.kept, i, sums.pulls[i] + 1.0, x, d, z, self._objective_arguments)
            arm_state.add(sums, i, d, 1.0)
        self._due[i] -= 1
        while not self.done and not self._due.any():
            self._end_phase()

    def _prepare(self) -> None:
        fresh = EliminationAgent(self._rule, len(self.arms), self.horizon, 0)
        for column, numbers in zip(fresh._now.sums, self._example_sums(), strict=True):
            column[:] = numbers
        fresh._end_phase()

    def _end_phase(self) -> None:
        alive = np.array(self._alive, np.int64)
        keep = self._phases[self._phase][1]
        kept_all = keep == len(alive)
        sums, kept = self._now.sums, self._now.kept
        wanted = self._rule.n_recommended - len(self._accepted)
        self._decide(self._formulas, sums, kept, alive, len(alive), keep, wanted, self._taken)
        self._phase += 1
        self._due[:] = 0
        self._alive = [] if self.done else [int(i) for i in alive[:keep]]
        if self.done:
            return
        quota = np.zeros(keep, np.int64)
        pulls = self._phases[self._phase][0]
        if not self._share(self._formulas, sums, kept, alive, keep, pulls, kept_all, quota):
            raise shared_wrongly(self._rule, self._phase, pulls * keep, int(quota.sum()))
        self._due[self._alive] = quota
        if self._now is not self._state:
            arm_state.reset(self._now)

    def _recommend(self) -> Any:
        accepted, wanted = self._accepted, self._rule.n_recommended
        among = [i for i in self._alive if self._pulls[i] >= 2]
        if len(accepted) + len(among) < wanted:
            enough = "an arm has" if wanted == 1 else f"{wanted} arms have"
            raise InvalidInputError(f"nothing can be recommended before {enough} two rewards; ask and tell first")
        while len(accepted) < wanted:
            accepted.append(self._best(among))
            among.remove(accepted[-1])
        names = [self.arms[i] for i in sorted(accepted)]
        return names if wanted > 1 else names[0]

    def _content(self) -> dict[str, Any]:
        return {
            **super()._content(),
            "phase": self._phase,
            "alive": self._alive,
            "accepted": self._accepted,
            "due": self._due.tolist(),
            **({} if self._now is self._state else {"current": saved(self._now)}),
        }

    def _restore(self, state: dict[str, Any]) -> None:
        super()._restore(state)
        self._phase, self._alive = state["phase"], state["alive"]
        self._taken[state["accepted"]] = True
        self._due[:] = state["due"]
        if self._now is not self._state:
            restore(self._now, state["current"])
