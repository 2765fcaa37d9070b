"""Agents of fixed-confidence policies."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..._support.call_tree import mentions
from ...play import fixed_confidence
from ...play.state import Sums
from ...play.statistics import StatisticsLayout, layout_for
from ...policies.base import FixedConfidencePolicy
from ...simulation.compiler import specialise
from ...simulation.families.fixed_confidence import fixed_confidence_bindings
from .base import Agent


class FixedConfidenceAgent(Agent):
    """An agent of a fixed-confidence policy: after the pilot it asks for the best arm and its challenger in turn, until
    it stops.
    """

    def __init__(
        self, policy: FixedConfidencePolicy, arms: int | Iterable[str], horizon: int | None, seed: int
    ) -> None:
        self._rule = policy
        super().__init__(policy, arms, horizon, seed)
        #: Arms still to be played before arms are judged again; empty in the pilot, and once the best arm is certain.
        self._pair: list[int] = []
        self._decide = specialise(fixed_confidence.decide, fixed_confidence_bindings(policy))

    def _layout(self) -> StatisticsLayout:
        return layout_for(mentions(self._rule.estimate) | mentions(self._rule.noise), self._rule.objective)

    @property
    def _in_pilot(self) -> bool:
        return bool(self._pulls.min() < self._rule.pilot_pulls)

    @property
    def sure(self) -> bool:
        """Whether the recommended arm is the best with confidence 1 - delta."""
        with self._lock:
            return not self._in_pilot and not self._pair

    @property
    def done(self) -> bool:
        return self.sure or super().done

    def _why_over(self) -> str:
        return "this agent is sure of the best arm" if self.sure else super()._why_over()

    def _choose(self) -> int:
        if self._in_pilot:
            return int(np.argmin(self._pulls + self._pending))
        # Further pulls of the due arms also help to judge: the bounds hold however arms are played.
        return min(self._pair, key=lambda i: self._pending[i])

    def _prepare(self) -> None:
        with self._lock:
            self._judge(self._example_sums())

    def _judge(self, sums: Sums) -> tuple[int, list[int]]:
        """The best arm, and the arms to play before judging again; none if it is certain."""
        rule, turn = self._rule, np.zeros(2, np.int64)
        odds = rule.log_odds(len(self.arms))
        best, sure, steps = self._decide(sums, self._state.kept, rule.arguments(), odds, rule.epsilon, turn)
        return int(best), [] if sure else turn[: int(steps)].tolist()

    def _check_arms_may_change(self, count: int) -> None:
        # An arm may join, even if the agent was sure: it goes on until it is sure again, with bounds for more arms.
        if count <= len(self.arms):
            super()._check_arms_may_change(count)
        if self.horizon is not None:
            self._rule.check_horizon(self.horizon, count)

    def _after(self, i: int, x: float, z: float) -> None:
        if i in self._pair:
            self._pair.remove(i)
        if not self._in_pilot and (not self._pair or self.t == self.horizon):
            self._pair = self._judge(self._state.sums)[1]

    def _recommend(self) -> Any:
        if not self._in_pilot:
            return self.arms[self._judge(self._state.sums)[0]]
        return super()._recommend()

    def _content(self) -> dict[str, Any]:
        return {**super()._content(), "pair": self._pair}

    def _restore(self, state: dict[str, Any]) -> None:
        super()._restore(state)
        self._pair = state["pair"]
