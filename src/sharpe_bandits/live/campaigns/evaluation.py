r"""Off-policy evaluation: what another policy would have earned, from a campaign's log.

At every decision the other policy sees what the campaign knew at that time, and says with which probability it would
have chosen each arm; round robin, which does not look at rewards, chooses all with the same. With the weight w, the
probability of the arm under the other policy divided by that under the campaign, and m(a) a model of the arms'
moments so far,

.. math:: y_k = \sum_a \pi(a) m_k(a) + w (x^k - m_k(A))

estimates the k-th moment of the other policy's rewards without bias, if the recorded probabilities are right (doubly
robust; inverse propensity if m = 0). The errors are martingales, which gives the intervals. The objective is that of
the mean and variance so estimated, with its error by the delta method; the self-normalised form uses the moments
weighted by w / mean(w). If an objective has a feature of a reward, its mean takes the place of the second moment.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..._support.display import in_words
from ...confidence_sequences import TUNING
from ...errors import InvalidInputError
from ...objectives import Objective, Statistics
from ...policies.base import Policy
from ...results.metrics import Estimate, normal_half_width
from ..agents import Agent
from .records import Decider, Evaluation, EventKind, plain_details
from .settings import Settings
from .state import State, with_amendments
from .storage import Records, Storage

#: Smallest effective number of rounds for an estimate.
_LEAST = 10.0


def evaluate(storage: Storage, campaign: int, settings: Settings, policy: Policy) -> Evaluation:
    """Estimate what another policy would have earned in a campaign."""
    if not policy.minimises_regret:
        raise InvalidInputError(f"{policy.name} is a best-arm policy; only policies for regret can be evaluated")
    state = State(settings, policy)
    #: By decision: its weight, and the model's moments for the policy and for the arm.
    weights: dict[int, tuple[float, ...]] = {}
    rounds: list[tuple[float, ...]] = []

    def work(records: Records) -> None:
        rows = iter(records.history(1, None))
        for event in with_amendments(lambda: records.events(0, records.head().events)):
            if event.kind == EventKind.ASKED:
                row = next(rows)
                details = plain_details(row.details)
                # Without exploration, only decisions of others tell of arms that the campaign's policy did not choose.
                others = details.get("by") in (Decider.EXTERNAL, Decider.HISTORY)
                if row.probability is not None and (settings.explore or (others and row.probability < 1)):
                    agent = state.chooser(details.get("segment"))
                    weights[event.number or 0] = _weight(policy, agent, event.arm or 0, row.probability)
            elif event.reward is not None and event.kind != EventKind.EXPIRED and event.number in weights:
                rounds.append((event.reward, *weights.pop(event.number or 0)))
            state.apply(event)

    storage.read(campaign, work)
    if not settings.explore and not rounds:
        raise InvalidInputError(
            "this log cannot evaluate another policy: it has explore=0, so other arms had no chance; create a "
            "campaign with explore=0.05, for example, or record decisions of others with their propensity"
        )
    if len(rounds) < 2:
        raise InvalidInputError(f"{len(rounds)} rewards are too few to evaluate another policy; wait for more")
    reward, w, predicted, predicted_second, model, model_second = np.array(rounds).T
    effective = float(w.sum() ** 2 / (w**2).sum()) if w.any() else 0.0
    if effective < _LEAST:
        raise InvalidInputError(
            f"this log cannot be used to evaluate {policy.name}: it would have chosen other arms, and the effective "
            f"number of rounds is {effective:.1f}; let the campaign run longer, or explore more"
        )
    mean = predicted + w * (reward - model)
    values: dict[str, Any] = {}
    goal = state.agent.objective
    if goal is not None and (goal.feature is not None or not goal.has_feature):
        sign = -1.0 if settings.direction == "min" else 1.0
        ones = np.ones(len(reward))
        seconds = reward**2 if goal.feature is None else goal.features(sign * reward)
        value, anytime = objective_value(goal, sign * mean, predicted_second + w * (seconds - model_second), ones)
        values = {
            "objective": in_words(goal.to_dict()),
            "value": value,
            "value_anytime": anytime,
            "self_normalised": objective_value(goal, sign * w * reward, w * seconds, w)[0],
            "earned_value": objective_value(goal, sign * reward, seconds, ones)[0],
        }
    return Evaluation(
        policy.name,
        len(rounds),
        state.decisions - len(rounds),
        _estimate(reward),
        _estimate(w * reward),
        _estimate(mean),
        effective,
        settings.direction,
        **values,
    )


def objective_value(
    goal: Objective, first: np.ndarray, second: np.ndarray, weights: np.ndarray
) -> tuple[Estimate | None, tuple[float, float] | None]:
    """The objective of a mean and a variance that are averages, with a fixed-time and a time-uniform 95% interval.

    ``first`` and ``second`` average to the moments about 0 (``second`` to the mean of the feature, if the objective has
    one) times the average weight. None if the variance is not positive.
    """
    n, w = len(first), float(weights.mean())
    a, b = float(first.mean()) / w, float(second.mean()) / w
    variance = b - a * a
    if not (variance > 0 or goal.has_feature):
        return None, None
    statistics = Statistics(float(n), a, variance, 0.0, 0.0, b, 0.0, 0.0)
    root = float(goal.estimate(statistics)[0])
    by_mean, by_second = (float(slope) for slope in goal.gradient(statistics))
    if not goal.has_feature:  # the variance depends on the mean
        by_mean -= 2 * a * by_second
    influence = (by_mean * (first - a * weights) + by_second * (second - b * weights)) / w
    error = float(np.std(influence, ddof=1)) / math.sqrt(n)
    if not math.isfinite(root + error):
        return None, None
    half, factor = normal_half_width(0.95) * error, 2 * (n + TUNING) / n * math.log(math.sqrt(1 + n / TUNING) / 0.05)
    anytime = math.sqrt(factor) * error
    low, high, lowest, highest = (
        float(goal.from_root(end)) for end in (root - half, root + half, root - anytime, root + anytime)
    )
    value_error = abs(float(goal.slope_from_root(root))) * error
    return Estimate(float(goal.value(statistics)), value_error, low, high), (lowest, highest)


def _weight(policy: Policy, agent: Agent, arm: int, probability: float) -> tuple[float, ...]:
    """The weight of a decision, and the moments that the model predicts for the policy and for the arm."""
    if policy.ignores_rewards:
        own = np.zeros(len(agent.arms))
        own[agent.active] = 1.0 / len(agent.active)
    else:
        own = agent._shares(agent._next())
    pairs = np.array(list(agent.estimates().values()))
    means, variances = np.where(np.isfinite(pairs), pairs, 0.0).T
    seconds = variances + means**2
    if agent.objective is not None and agent.objective.feature is not None:
        features = np.array([float(one.feature) for one in agent.statistics().values()])
        seconds = np.where(np.isfinite(features), features, 0.0)
    return tuple(map(float, (own[arm] / probability, own @ means, own @ seconds, means[arm], seconds[arm])))


def _estimate(values: Any) -> Estimate:
    return Estimate.normal(float(np.mean(values)), float(np.std(values, ddof=1)) / math.sqrt(len(values)))
