"""Agents of policies that play in phases."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np

from ..._support.call_tree import substituted
from ...errors import CampaignOverError, InvalidInputError, WaitForRewardsError, listed
from ...objectives import RSSR
from ...play import elimination, formulas
from ...play import state as arm_state
from ...play.statistics import summary
from ...policies.base import EliminationPolicy
from ...simulation.compiler import specialise
from ...simulation.families.phases import phase_formulas
from .base import Agent

#: Maximum number of arms for which an agent keeps the data of its error bound.
MAX_BOUNDED = 64


class EliminationAgent(Agent):
    """An agent of a policy that plays in phases."""

    def __init__(self, policy: EliminationPolicy, arms: int | Iterable[str], horizon: int | None, seed: int) -> None:
        super().__init__(policy, arms, horizon, seed)
        self._rule = policy
        k = len(self.arms)
        if self.horizon is None:
            raise InvalidInputError(
                f"{policy.name} needs a budget; pass horizon=... ({policy.least_budget(k)} at least)"
            )
        self._phases = policy.phases(self.horizon, k)
        self._phase = 0
        self._alive = list(range(k))  # arms that are played: neither accepted nor dropped
        self._taken = np.zeros(k, bool)
        #: What current estimates are computed from: this phase's rewards, or all.
        self._now = self._state if policy.keeps_samples else arm_state.new_state(k, self._state.kept.shape[1], 0)
        self._due = np.full(k, self._phases[0][0])
        #: For every phase played: pulls per arm, variances and second moments of its arms.
        bounded = isinstance(policy.objective, RSSR) and k <= MAX_BOUNDED and policy.n_recommended == 1
        plain = policy.share is elimination.share_equally and policy.decide_on is elimination.drop_worst
        self._played: list[Any] | None = [] if bounded and plain else None
        self._update = substituted(formulas.update_statistics, self._layout().bindings)
        self._formulas = phase_formulas(policy)
        self._share, self._decide = specialise(elimination.share_pulls, {}), specialise(elimination.decide, {})
        self._room = np.zeros((2, k)), np.zeros((2, k), np.int64)

    def error_bound(
        self, *, gap: float, form: Literal["printed", "repaired"] = "printed", lower: float = 0.0, upper: float = 1.0
    ) -> list[float]:
        """The paper's bound on the probability of error "on the fly": one term per phase played; their sum is the
        bound.

        It is computed from a guess of the smallest gap in RSSR and the estimates of each phase: see
        :func:`sharpe_bandits.theory.path_error` for its validity. It is for policies that identify the one arm with the
        best RSSR, among at most 64 arms.

        Parameters
        ----------
        gap : float
            guess of the smallest gap; a larger guess makes the bound smaller
        form : Literal['printed', 'repaired'], optional
            as printed in the paper, or with its errors corrected
        lower, upper : float, optional
            rewards lie between them (repaired form)
        """
        from ...theory import PlayedPhase, path_error

        with self._lock:
            played = self._played
            if played is None:
                raise InvalidInputError(
                    f"{self.policy.name} has no bound on the fly: that takes a policy that identifies the one arm of "
                    f"best RSSR and plays all arms equally, and at most {MAX_BOUNDED} arms"
                )
            phases = [PlayedPhase(n, self._rule.halves, v, m) for n, v, m in played]
        objective = self.policy.objective
        assert isinstance(objective, RSSR)
        return path_error(phases, objective.L, gap, form, lower=lower, upper=upper, risk_free=objective.risk_free)

    def _note_phase(self, alive: np.ndarray) -> None:
        """Keep the data of the finished phase for :meth:`error_bound`."""
        if self._played is None:
            return
        assert isinstance(self.policy.objective, RSSR)
        rate = self.policy.objective.risk_free
        rows = []
        for i in alive:
            n, sum1, sum2, _, _, anchor = (column[i] for column in self._now.sums)
            mean, variance, second = summary(anchor, sum1, sum2, 1 / n, 1 / (n - 1))
            rows.append((float(variance), float(second - rate * (2 * mean - rate))))
        variances, seconds = zip(*rows, strict=True)
        self._played.append([int(self._now.sums.pulls[alive[0]]), list(variances), list(seconds)])

    @property
    def _over(self) -> bool:
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
        return [int(i) for i in np.flatnonzero(self._taken)]

    @property
    def _wanted(self) -> int:
        return self._rule.n_recommended - int(self._taken.sum())

    def _next(self) -> int:
        if self._over:
            raise CampaignOverError(f"{self._why_over()}; see recommend()")
        i = self._choose()
        if self._due[i] <= self._pending[i]:
            arms = {self.arms[j]: int(self._due[j]) for j in self._alive if self._due[j] > 0}
            missing = f"{sum(arms.values())} rewards of {listed(arms)}"
            raise WaitForRewardsError(
                f"{self.policy.name} has handed out all pulls of phase {self._phase + 1} of {len(self._phases)} and "
                f"waits for {missing}; tell them, or cancel what will not be played",
                arms,
            )
        return i

    def _choose(self) -> int:
        left = self._due - self._pending
        i = int(left.argmax())  # ties go to the lowest arm
        return i if left[i] > 0 else self._alive[0]  # arms that were dropped have none left

    def _takes(self, i: int) -> bool:
        return not self._over and bool(self._due[i] > 0)

    def _check_due(self, i: int) -> None:
        if self._due[i] <= 0:
            state = "has all its pulls of this phase" if i in self._alive else "was dropped"
            if self._taken[i]:
                state = "is accepted already"
            raise InvalidInputError(
                f"arm {self.arms[i]!r} {state}; ask() says {self.arms[self._choose()]!r}; nothing was recorded"
            )

    def _after(self, i: int, x: float, z: float) -> None:
        if self._now is not self._state:
            sums = self._now.sums
            sums.anchor[i] = self._state.sums.anchor[i]
            d = x - float(sums.anchor[i])
            self._update(self._now.kept, i, 0, 0, sums.pulls[i] + 1.0, x, d, z, self._objective_arguments)
            arm_state.add(sums, i, d, 1.0)
        self._due[i] -= 1
        while not self._over and not self._due.any():
            self._end_phase()

    def _prepare(self) -> None:
        with self._lock:
            sums, kept, alive = self._example_sums(), self._now.kept, np.arange(len(self.arms))
            pulls, keep = self._phases[0][:2]
            wanted, taken = self._rule.n_recommended, self._taken.copy()
            self._decide(self._formulas, sums, kept, alive, len(alive), keep, wanted, taken, *self._room)
            quota = np.zeros(keep, np.int64)
            self._share(self._formulas, sums, kept, alive, keep, pulls, keep == len(alive), quota)

    def _end_phase(self) -> None:
        alive = np.array(self._alive, np.int64)
        keep = self._phases[self._phase][1]
        self._note_phase(alive)
        kept_all = keep == len(alive)
        sums, kept = self._now.sums, self._now.kept
        self._decide(self._formulas, sums, kept, alive, len(alive), keep, self._wanted, self._taken, *self._room)
        self._phase += 1
        self._due[:] = 0
        self._alive = [] if self._over else [int(i) for i in alive[:keep]]
        if self._over:
            return
        quota = np.zeros(keep, np.int64)
        pulls = self._phases[self._phase][0]
        self._share(self._formulas, self._state.sums, kept, alive, keep, pulls, kept_all, quota)
        self._due[self._alive] = quota
        if self._now is not self._state:
            arm_state.reset(self._now)

    def _recommend(self) -> Any:
        accepted = self._accepted
        among = [i for i in self._alive if self._pulls[i] >= 2]
        if len(among) < self._wanted:
            enough = "an arm has" if self._rule.n_recommended == 1 else f"{self._rule.n_recommended} arms have"
            raise InvalidInputError(f"nothing can be recommended before {enough} two rewards; ask and tell first")
        for _ in range(self._wanted):
            best = self._best(among)
            among.remove(best)
            accepted.append(best)
        names = [self.arms[i] for i in sorted(accepted)]
        return names if self._rule.n_recommended > 1 else names[0]

    def _more(self) -> dict[str, Any]:
        sums, kept = self._now.sums, self._now.kept
        current = {"count": sums.pulls.tolist(), "sum1": sums.sum1.tolist(), "sum2": sums.sum2.tolist()}
        if kept.size and self._now is not self._state:
            current["kept"] = kept[:, :, 0].tolist()
        return {
            **super()._more(),
            **({} if self._played is None else {"played": self._played}),
            "phase": self._phase,
            "alive": self._alive,
            "accepted": self._accepted,
            "due": self._due.tolist(),
            "current": current,
        }

    def _restore(self, state: dict[str, Any]) -> None:
        super()._restore(state)
        self._phase, self._alive = state["phase"], state["alive"]
        self._taken[state["accepted"]] = True
        self._due[:] = state["due"]
        if self._now is not self._state:
            current, sums = state["current"], self._now.sums
            sums.pulls[:], sums.sum1[:], sums.sum2[:] = (current[name] for name in ("count", "sum1", "sum2"))
            sums.anchor[:] = self._state.sums.anchor
            if self._now.kept.size:
                self._now.kept[:, :, 0] = current["kept"]
        self._played = state.get("played")
