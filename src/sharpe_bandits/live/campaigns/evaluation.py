"""Off-policy evaluation: what another policy would have earned, from a campaign's log.

At every decision the other policy sees what the campaign knew at that time, and says with which probability it would
have chosen each arm. Each reward is weighted by the probability of the arm under the other policy divided by that under
the campaign (inverse propensity). The doubly robust estimate adds the prediction of a reward model, the arms' means so
far, and weights only the residuals of that model. Both are unbiased if the recorded probabilities are right, and their
errors are martingales, which gives the intervals.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...errors import InvalidInputError
from ...policies.base import Policy
from ...results.metrics import Estimate, normal_half_width
from ..agents import Agent
from .records import Evaluation, EventKind
from .settings import Settings
from .state import State
from .storage import Records, Storage

#: Smallest effective number of rounds for an estimate.
_LEAST = 10.0


def evaluate(storage: Storage, campaign: int, settings: Settings, policy: Policy) -> Evaluation:
    """Estimate what another policy would have earned in a campaign."""
    if not settings.explore:
        raise InvalidInputError(
            "this log cannot be used to evaluate another policy: the campaign has explore=0, so arms that its policy "
            "did not choose had no chance of being played; create a campaign with explore=0.05, for example"
        )
    if not policy.minimises_regret:
        raise InvalidInputError(f"{policy.name} is a best-arm policy; only policies for regret can be evaluated")
    state = State.initial(settings, policy)
    #: By decision: its weight, the model's prediction for the policy, and that for the arm.
    weights: dict[int, tuple[float, float, float]] = {}
    rounds: list[tuple[float, float, float, float]] = []

    def work(records: Records) -> None:
        made = iter(records.history(1, None))
        for event in records.events(0, records.head().events):
            if event.kind == EventKind.ASKED:
                probability = next(made).probability
                if probability is not None:  # else somebody else decided, and did not say
                    weights[event.number or 0] = _weight(state.agent, event.arm or 0, probability)
            elif event.reward is not None and event.kind != EventKind.EXPIRED and event.number in weights:
                rounds.append((event.reward, *weights.pop(event.number or 0)))
            state.apply(event)

    storage.read(campaign, work)
    if len(rounds) < 2:
        raise InvalidInputError(f"{len(rounds)} rewards are too few to evaluate another policy; wait for more")
    reward, w, predicted, model = np.array(rounds).T
    effective = float(w.sum() ** 2 / (w**2).sum()) if w.any() else 0.0
    if effective < _LEAST:
        raise InvalidInputError(
            f"this log cannot be used to evaluate {policy.name}: it would have chosen other arms, and the effective "
            f"number of rounds is {effective:.1f}; let the campaign run longer, or explore more"
        )
    return Evaluation(
        policy.name,
        len(rounds),
        state.decisions - len(rounds),
        _estimate(reward),
        _estimate(w * reward),
        _estimate(predicted + w * (reward - model)),
        effective,
        settings.direction,
    )


def _weight(agent: Agent, arm: int, probability: float) -> tuple[float, float, float]:
    shares = agent._probabilities(agent._next_arm())
    means = np.array([mean if math.isfinite(mean) else 0.0 for mean, _ in agent.estimates().values()])
    return float(shares[arm]) / probability, float(shares @ means), float(means[arm])


def _estimate(values: Any) -> Estimate:
    """A mean with its 95% interval."""
    mean, error = float(np.mean(values)), float(np.std(values, ddof=1)) / math.sqrt(len(values))
    half = normal_half_width(0.95) * error
    return Estimate(mean, error, mean - half, mean + half)
