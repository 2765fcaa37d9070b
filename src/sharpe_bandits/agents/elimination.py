"""Agents of policies that play in phases."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.compiler import specialise
from ..errors import InvalidInput, UnreadableData
from ..kernels import elimination, formulas
from ..objectives import Mean
from ..policies.base import EliminationPolicy
from ..validation import whole
from .base import Agent


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
