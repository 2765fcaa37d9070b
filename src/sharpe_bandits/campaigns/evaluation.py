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
import sqlalchemy as sa

from ..agents import Agent
from ..errors import InvalidInputError
from ..metrics import Estimate
from ..policies.base import Policy
from . import ledger as log
from .answers import Evaluation
from .database import Database
from .ledger import Event, Ledger, Settings
from .schema import decisions, events

#: Smallest effective number of rounds for an estimate.
_LEAST = 10.0


def evaluate(database: Database, campaign: int, settings: Settings, policy: Policy) -> Evaluation:
    """Estimate what another policy would have earned in a campaign."""
    if not settings.explore:
        raise InvalidInputError(
            "this log cannot be used to evaluate another policy: the campaign has explore=0, so arms that its policy "
            "did not choose had no chance of being played; create a campaign with explore=0.05, for example"
        )
    if not policy.minimises_regret:
        raise InvalidInputError(f"{policy.name} is a best-arm policy; only policies for regret can be evaluated")
    ledger = Ledger.fresh(settings, policy)
    weight: dict[
        int, tuple[float, float, float]
    ] = {}  # by decision: its weight, the model's prediction, and its prediction for the arm
    found: list[tuple[float, float, float, float]] = []
    chosen = (
        sa.select(*(events.c[name] for name in Event._fields), decisions.c.probability)
        .outerjoin(decisions, sa.and_(decisions.c.campaign == events.c.campaign, decisions.c.number == events.c.number))
        .where(events.c.campaign == campaign)
        .order_by(events.c.seq)
    )

    def work(connection: sa.Connection) -> None:
        for *values, probability in connection.execution_options(yield_per=5000).execute(chosen):
            event = Event(*values)
            if event.kind == log.ASKED:
                weight[event.number or 0] = _weight(ledger.agent, event.arm or 0, probability)
            elif event.reward is not None and event.kind != log.EXPIRED:
                found.append((event.reward, *weight.pop(event.number or 0)))
            ledger.apply(event)

    database.read(work)
    if len(found) < 2:
        raise InvalidInputError(f"{len(found)} rewards are too few to evaluate another policy; wait for more")
    reward, w, predicted, model = np.array(found).T
    effective = float(w.sum() ** 2 / (w**2).sum()) if w.any() else 0.0
    if effective < _LEAST:
        raise InvalidInputError(
            f"this log cannot be used to evaluate {policy.name}: it would have chosen other arms, and the effective "
            f"number of rounds is {effective:.1f}; let the campaign run longer, or explore more"
        )
    return Evaluation(
        policy.name,
        len(found),
        ledger.decisions - len(found),
        _estimate(reward),
        _estimate(w * reward),
        _estimate(predicted + w * (reward - model)),
        effective,
    )


def _weight(agent: Agent, arm: int, probability: float) -> tuple[float, float, float]:
    shares = agent.shares(agent.next_arm())
    means = np.array([mean if math.isfinite(mean) else 0.0 for mean, _ in agent.estimates().values()])
    return float(shares[arm]) / probability, float(shares @ means), float(means[arm])


def _estimate(values: Any) -> Estimate:
    """A mean with its 95% interval."""
    mean, error = float(np.mean(values)), float(np.std(values, ddof=1)) / math.sqrt(len(values))
    return Estimate(mean, error, mean - 1.959964 * error, mean + 1.959964 * error)
