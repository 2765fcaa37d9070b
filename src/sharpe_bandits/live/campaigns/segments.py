r"""Segments: every segment has its own record of each arm, and may borrow from the others.

In a campaign with ``segments="pooled"`` the mean reward of arm a in segment s is modelled as

.. math:: \mu_{sa} = m_a + b_s + \delta_{sa}, \qquad \delta_{sa} \sim N(0, \rho \, \sigma_a^2),

with :math:`\sigma_a^2` the variance of a reward within a segment. An effect :math:`b_s` that a segment has on all arms
does not hinder pooling; :math:`\rho` says how differently arms rank in different segments. It is estimated by the
method of moments (DerSimonian & Laird 1986) from the residuals of the additive fit. What the other segments tell of an
arm is then worth

.. math:: n_0 = \frac1{\rho + V}, \qquad \frac1V = \sum_{j \ne s} \frac1{\rho + 1/n_{ja}}

rewards of its own, rounded: all of them if rho is 0, none if it is large. These join the arm's own record, which the
policy then sees as any other: the mean of the joint record is the empirical Bayes estimate of :math:`\mu_{sa}`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import Literal, NamedTuple

import numpy as np

from ...errors import ConflictError, InvalidInputError
from ...play.state import Sums
from ...policies.base import NO_FORGETTING, IndexPolicy, Policy
from ...simulation.families.index import layout_of
from ..agents import Agent

#: "none": segments are stored, and all share one record; "separate": each learns from its own rewards only; "pooled":
#: each borrows from the others as far as the data show that arms are alike in all of them.
Pooling = Literal["none", "separate", "pooled"]
#: Maximum number of segments with records of their own.
MAX_SEGMENTS = 1000


class Borrowed(NamedTuple):
    """What the other segments tell of each arm in one segment: rewards that it is worth, their moments, and the effects
    of all segments, this one first.
    """

    rewards: np.ndarray
    mean: np.ndarray
    central: tuple[np.ndarray, np.ndarray, np.ndarray]
    effects: np.ndarray
    rho: float


def check_free_choice(policy: Policy, aim: str) -> None:
    """Raise unless a policy can choose any arm at any time; ``aim`` says what cannot be done otherwise."""
    if not policy.minimises_regret:
        raise InvalidInputError(f"{policy.name} decides how often each arm is played, and cannot {aim}")


def check_segments(pooling: Pooling, policy: Policy) -> None:
    """Raise if a policy cannot have segments."""
    if pooling == "none":
        return
    check_free_choice(policy, "do so by segment; start a campaign per segment")
    pools = isinstance(policy, IndexPolicy) and policy.forgetting == NO_FORGETTING
    if pooling == "pooled" and not (pools and layout_of(policy).kept <= {"maximum"}):  # type: ignore[arg-type]
        raise InvalidInputError(f"what {policy.name} keeps of rewards cannot be pooled; give segments='separate'")


class Segments:
    """The records of all segments: an agent each, made by ``make(seed)``."""

    def __init__(self, pooling: Pooling, seed: int, make: Callable[[int], Agent]) -> None:
        self.pooling, self._seed, self._make = pooling, seed, make
        self.agents: dict[str, Agent] = {}
        self._joint: Agent | None = None

    def agent(self, segment: str, whole: Agent) -> Agent:
        """The agent of a segment, new if there is none; ``whole`` is that of the campaign."""
        if segment not in self.agents:
            if len(self.agents) >= MAX_SEGMENTS:
                raise ConflictError(
                    f"a campaign has at most {MAX_SEGMENTS:,} segments; use tags for what has more values"
                )
            self.agents[segment] = self._new(segment, whole)
        return self.agents[segment]

    def _new(self, segment: str, whole: Agent) -> Agent:
        digest = hashlib.sha256(f"{self._seed}/{segment}".encode()).digest()
        agent = self._make(int.from_bytes(digest[:8], "big"))
        for arm in whole.arms[len(agent.arms) :]:
            agent.add_arm(arm)
        for arm in whole.retired:
            agent.retire_arm(arm)
        return agent

    def chooser(self, segment: str, whole: Agent) -> Agent:
        """The agent that chooses in a segment; it must not be changed."""
        own = self.agents.get(segment) or self._new(segment, whole)
        if self.pooling == "separate":
            return own
        others = [agent for name, agent in self.agents.items() if name != segment]
        return self._with_borrowed(own, others) if others else own

    def borrowed(self, segment: str) -> Borrowed | None:
        """What a segment borrows from the others; None if there is nothing."""
        others = [agent._state.sums for name, agent in self.agents.items() if name != segment]
        return borrow(self.agents[segment]._state.sums, others) if others and self.pooling == "pooled" else None

    def _with_borrowed(self, own: Agent, others: list[Agent]) -> Agent:
        """An agent that knows what a segment knows, and what it borrows from others."""
        joint = self._joint
        if joint is None or len(joint.arms) != len(own.arms):
            joint = self._joint = self._make(0)
            for arm in own.arms[len(joint.arms) :]:
                joint.add_arm(arm)
        block = borrow(own._state.sums, [agent._state.sums for agent in others])
        state, known = joint._state, own._state
        for column, total in zip(state.sums, joined(known.sums, block), strict=True):
            column[:] = total
        if state.kept.shape[1]:  # the largest reward, if the policy reads it
            shifts = block.effects[0] - block.effects[:, None]
            largest = [np.where(agent._pulls > 0, agent._state.kept[:, 0, 0], -np.inf) for agent in (own, *others)]
            best = np.max(np.array(largest) + shifts, axis=0)
            state.kept[:, 0, 0] = np.where(np.isfinite(best), best, 0.0)
        pulls = sum(agent._state.sums.pulls for agent in others)
        waiting = sum(agent._state.pending for agent in others)
        part = np.divide(block.rewards, pulls, out=np.zeros(len(own.arms)), where=pulls > 0)
        state.pending[:] = known.pending + np.rint(part * waiting)
        state.active[:] = known.active
        joint.t, joint._n_pending = int(state.sums.pulls.sum()), int(state.pending.sum())
        state.last[:] = joint.t
        joint.seed, joint.asked = own.seed, own.asked
        joint._piloted, joint._handed, joint._retries = False, own._handed, own._retries  # type: ignore[attr-defined]
        return joint


def joined(own: Sums, block: Borrowed) -> Sums:
    """The sums of a segment and of what it borrows, about the segment's anchors."""
    n, anchor = block.rewards, np.where(own.pulls > 0, own.anchor, block.mean)
    d = block.mean - anchor
    second, third, fourth = block.central
    sums = (
        n,
        n * d,
        n * (second + d * d),
        n * (third + d * (3.0 * second + d * d)),
        n * (fourth + d * (4.0 * third + d * (6.0 * second + d * d))),
    )
    columns = [a + b for a, b in zip(own[:5], sums, strict=True)]
    return Sums(*columns, anchor)  # type: ignore[call-arg]


def borrow(own: Sums, others: Iterable[Sums]) -> Borrowed:
    """What other segments tell of each arm in a segment."""
    rows = [own, *others]
    n, s1, s2, s3, s4, anchor = (np.stack(column) for column in zip(*rows, strict=True))
    with np.errstate(divide="ignore", invalid="ignore"):
        a, b, c, d = (np.where(n > 0, s / n, 0.0) for s in (s1, s2, s3, s4))
        mean = anchor + a
        second = np.maximum(b - a * a, 0.0)
        third = c - a * (3.0 * b - 2.0 * a * a)
        fourth = d - a * (4.0 * c - a * (6.0 * b - 3.0 * a * a))
        freedom = np.maximum(n - 1.0, 0.0).sum(axis=0)
        variance = np.where(freedom > 0, (n * second).sum(axis=0) / freedom, 0.0)
        by_segment, rho = heterogeneity(n, mean, variance)
        precision = np.where(n[1:] > 0, 1.0 / (rho + 1.0 / n[1:]), 0.0)
        total = precision.sum(axis=0)
        worth = np.where(total > 0, 1.0 / (rho + 1.0 / total), 0.0)
        share = precision / total
        centre = np.where(total > 0, (share * (mean[1:] - by_segment[1:, None])).sum(axis=0) + by_segment[0], 0.0)
        moments = [np.where(total > 0, (share * moment[1:]).sum(axis=0), 0.0) for moment in (second, third, fourth)]
    return Borrowed(np.rint(worth), centre, (moments[0], moments[1], moments[2]), by_segment, rho)


def heterogeneity(n: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, float]:
    """The effect of each segment on all arms, and rho; ``n`` and ``mean`` by segment and arm, ``variance`` by arm."""
    weight = np.where(variance > 0, n / np.where(variance > 0, variance, 1.0), 0.0)
    by_arm, by_segment = weight.sum(axis=0), weight.sum(axis=1)
    one_over = np.divide(1.0, by_segment, out=np.zeros(len(n)), where=by_segment > 0)
    # Weighted least squares, with the effects of segments eliminated from the normal equations.
    part, x = weight * one_over[:, None], weight * mean
    inverse = np.linalg.pinv(np.diag(by_arm) - weight.T @ part, hermitian=True)
    arm = inverse @ (x.sum(axis=0) - part.T @ x.sum(axis=1))
    segment = one_over * x.sum(axis=1) - part @ arm
    residual = np.where(weight > 0, mean - arm - segment[:, None], 0.0)
    solved = part @ inverse
    leverage = weight * ((one_over + (solved * part).sum(axis=1))[:, None] - 2.0 * solved + np.diag(inverse))
    segment -= (by_segment > 0) * (by_segment @ segment) / max(by_segment.sum(), 1e-300)
    freedom = (weight > 0).sum() - leverage.sum()
    expected = (n * (weight > 0) * (1.0 - leverage)).sum()
    if freedom < 0.5 or not expected > 0:
        return segment, 0.0
    excess = float((weight * residual**2).sum() - freedom)
    return segment, max(excess, 0.0) / float(expected)
