"""The state derived from a campaign's log: an agent and a few counts. It changes only by applying events."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import asdict, replace
from typing import Any, NamedTuple

import numpy as np

from ..._support.files import from_json
from ...errors import CampaignOverError, CampaignPausedError, ConflictError, UnreadableDataError
from ...objectives.accumulator import FeatureAccumulator
from ...play.allocation import ALLOCATION, NOTHING, pour, sample, start_with
from ...play.streams import fold, stream_key, uniform
from ...policies.base import Policy
from ..agents import Agent
from ..agents.base import moments_of
from .guardrails import REWARD, Guardrail, Tally, Watch, add, new_tally
from .records import Decider, Event, EventKind, plain_details
from .rules import Rules
from .segments import Segments
from .settings import Settings
from .storage import Records

#: Format of a snapshot. Increased whenever replaying the same log gives a state with different content.
SNAPSHOT_FORMAT = 2
#: A snapshot is due each time the log has grown by this many events, or by one event per this many bytes of the
#: snapshot if that is more: this costs little per event, and opening the campaign has few events to apply.
_SNAPSHOT_EVENTS, _SNAPSHOT_BYTES = 256, 50


class Draw(NamedTuple):
    """An arm for the next decision: its number, the probability with which it was chosen, and who chose it.

    ``choice`` is the arm that the policy chose, which is another one where the policy did not decide.
    """

    arm: int
    probability: float
    by: Decider
    choice: int | None


class State:
    """The agent of a campaign, its rules and what reports need, after a number of events of the log."""

    #: What is saved as it is.
    _PLAIN = (
        "seq", "decisions", "expired", "cancelled", "unused", "lead_began", "control_until", "compared", "agreed",
        "notified", "revision", "tallies", "metrics", "choices_of_others",
    )  # fmt: skip

    def __init__(self, settings: Settings, policy: Policy) -> None:
        def agent(seed: int) -> Agent:
            return policy.agent(settings.arms, horizon=settings.horizon, seed=seed, direction=settings.direction)

        self.settings, self.policy = settings, policy
        self.agent, self.rules = agent(settings.seed), Rules.initial(settings)
        self.segments = Segments(settings.segments, settings.seed, agent)
        #: Number of the last event.
        self.seq = 0
        #: Decisions made; those whose lease ran out and that have no reward so far; cancelled; rewards that the policy
        #: did not use, because another pull had replaced theirs.
        self.decisions, self.expired, self.cancelled, self.unused = 0, 0, 0, 0
        #: Time since which the agent has found the leading arm probably best, and of the last reward of control.
        self.lead_began: float | None = None
        self.control_until: float | None = None
        #: Decisions of others, and those in which the policy would have chosen the same arm.
        self.compared, self.agreed = 0, 0
        #: Number of the last event that the webhook has heard of.
        self.notified = 0
        #: Revision of the policy's choices.
        self.revision = settings.choices_revision
        #: Rewards where policy and control took turns at random ("policy", "control"); of decisions of others
        #: ("others"), estimates of what the policy would have earned there, and differences (see :mod:`.comparison`).
        self.tallies: dict[str, Tally] = {}
        #: The objective's feature of the rewards of policy and control, if it has one.
        self.features: dict[str, FeatureAccumulator] = {}
        #: Decisions of others by number of the arm, as text; other metrics, by name and the same.
        self.choices_of_others: dict[str, int] = {}
        self.metrics: dict[str, dict[str, Tally]] = {}
        self.watches = [Watch(Guardrail(**one)) for one in self.rules.guardrails]
        #: Length of the last snapshot, and whether one is due because replaying the log would take long.
        self._snapshot_size, self._snapshot_due = 0, False

    @property
    def sign(self) -> float:
        """The factor that makes rewards, which are maximised, of the numbers told."""
        return -1.0 if self.agent.direction == "min" else 1.0

    @classmethod
    def load(cls, records: Records, seq: int, settings: Settings, policy: Policy, state: State | None = None) -> State:
        """The state after event number ``seq``: an earlier ``state`` and the log, or the snapshot and the log.

        ``state`` is changed, and must not be used again if this fails.
        """
        if state is None or state.seq > seq or seq - state.seq > _SNAPSHOT_EVENTS:
            snapshot_seq, text = records.snapshot()
            if state is None or state.seq > seq or snapshot_seq > state.seq:
                state = cls.from_json(text, settings, policy)
            state._snapshot_size = len(text)
        for event in records.events(state.seq, seq) if state.seq < seq else ():
            if event.kind == EventKind.AMENDED:  # whoever amends writes a snapshot, perhaps of an older format
                snapshot = cls.from_json(records.snapshot()[1], settings, policy)
                if snapshot.seq >= event.seq:
                    return cls.load(records, seq, settings, policy, snapshot)
                return cls.replayed(lambda: records.events(0, seq), settings, policy)
            state.apply(event)
        return state

    @classmethod
    def replayed(
        cls,
        events: Callable[[], Iterable[Event]],
        settings: Settings,
        policy: Policy,
        amended: Mapping[int, float] | None = None,
    ) -> State:
        """The state after all events, as if amended rewards, and those ``amended`` now, had always been right."""
        state = cls(settings, policy)
        for event in with_amendments(events, amended):
            state.apply(event)
        state._snapshot_due = True  # the one that is stored is to be replaced
        return state

    def apply(self, event: Event) -> None:
        """Apply the next event."""
        if event.seq != self.seq + 1:
            raise UnreadableDataError(f"event {self.seq + 1} is missing from the log; restore the store from a copy")
        kind, agent, arm = event.kind, self.agent, -1 if event.arm is None else event.arm
        leading = agent._leading
        details = plain_details(event.details)
        agents, segment = [agent], details.get("segment")
        if segment is not None and self.segments.pooling != "none":
            agents.append(self.segments.agent(segment, agent))
        if kind == EventKind.ASKED:
            for one in agents:
                one._begin(arm)
            self.decisions += 1
            self._compare(arm, details)
        elif event.reward is not None:
            if kind == EventKind.SEEN:
                for one in agents:
                    one._begin(arm)
            else:
                self._count(event, details)
            pending, z = kind != EventKind.REWARDED_LATE, details.get("covariate")
            used = [one._apply_rewarded(arm, event.reward, pending, z) for one in agents]
            self.unused += kind != EventKind.SEEN and not used[0]
        elif kind in (EventKind.EXPIRED, EventKind.CANCELLED):
            for one in agents:
                one._end(arm)
        elif kind == EventKind.ARM_ADDED:
            for one in (agent, *self.segments.agents.values()):
                one.add_arm(str(event.name))
        elif kind == EventKind.ARM_RETIRED:
            for one in (agent, *self.segments.agents.values()):
                one.retire_arm(agent.arms[arm])
        elif details:
            self._apply_rule(kind, event, details)
        self.expired += (kind == EventKind.EXPIRED) - (kind in (EventKind.REWARDED_LATE, EventKind.CANCELLED_LATE))
        self.cancelled += kind in (EventKind.CANCELLED, EventKind.CANCELLED_LATE)
        self.seq = event.seq
        if agent._leading != leading:
            self.lead_began = None if agent._leading is None else event.at

    def _apply_rule(self, kind: int, event: Event, details: dict[str, Any]) -> None:
        if kind == EventKind.CHANGED:
            before, self.rules = self.rules, replace(self.rules, **details["set"])
            if self.rules.guardrails != before.guardrails:
                known = {watch.guardrail: watch for watch in self.watches}
                rails = [Guardrail(**one) for one in self.rules.guardrails]
                self.watches = [known.get(rail) or Watch(rail) for rail in rails]
            for watch in self.watches:  # what is resumed is watched anew
                for arm in before.suspended:
                    if arm not in self.rules.suspended:
                        watch.reset(self.agent._number_of(arm))
                if self.rules.policy_share > before.policy_share:
                    watch.reset()
        elif kind == EventKind.GUARDRAIL:
            self.watches[details["guardrail"]].broken.add(details["key"])
        elif kind == EventKind.NOTIFIED:
            self.notified = details["event"]
        elif kind == EventKind.CHOICES_REVISED:
            self.revision = details["to"]

    def _compare(self, arm: int, details: dict[str, Any]) -> None:
        if details.get("choice") is not None and "share" not in details:
            self.compared += 1
            self.agreed += details["choice"] == arm
        if details.get("by") == Decider.EXTERNAL:
            self.choices_of_others[str(arm)] = self.choices_of_others.get(str(arm), 0) + 1

    def _count(self, event: Event, details: dict[str, Any]) -> None:
        """Count a reward, which the agent does not know yet, and what was measured with it."""
        assert event.reward is not None
        assert event.arm is not None
        x, weight = event.reward, details.get("weight", 1.0)
        if "tally" in details:
            self._tally(details["tally"], x, weight)
            self.control_until = event.at if details["tally"] == Decider.CONTROL else self.control_until
            goal = self.agent.objective
            if goal is not None and goal.has_feature:
                z = self.sign * details.get("covariate", math.nan)
                self.features.setdefault(details["tally"], FeatureAccumulator(goal)).add(self.sign * x, z)
        if "choice" in details:
            estimate = self._shadow_estimate(event.arm, x, details)
            for name, value in (("others", x), ("shadow", estimate), ("difference", estimate - x)):
                self._tally(name, value, weight)
        metrics = details.get("metrics", {})
        for name, value in metrics.items():
            add(self.metrics.setdefault(name, {}).setdefault(str(event.arm), new_tally()), value, weight)
        for watch in self.watches:
            watch.observe(self.agent.arms, event.arm, event.at, {REWARD: x, **metrics}, self.sign)

    def _tally(self, name: str, x: float, weight: float) -> None:
        add(self.tallies.setdefault(name, new_tally()), x, weight)

    def _shadow_estimate(self, arm: int, x: float, details: dict[str, Any]) -> float:
        """What the policy would have earned in a decision of others: doubly robust, without bias if the propensity is
        right; without one, it is the share of the arm in decisions of others.
        """
        choice, others = details["choice"], self.tallies.get("others", new_tally())[1]
        means = [float(moments_of(self.agent._all, i).mean) for i in (choice, arm)]
        means = [others if math.isnan(mean) else self.agent._as_told(mean) for mean in means]
        if choice != arm:
            return means[0]
        share = self.choices_of_others.get(str(arm), 1) / max(sum(self.choices_of_others.values()), 1)
        return means[0] + (x - means[1]) / (details.get("propensity") or share)

    def guardrails(self) -> list[str]:
        """The guardrails in words, with what they have seen."""
        return [watch.in_words(self.agent.arms, 1 / len(self.watches), self.sign) for watch in self.watches]

    def breaches(self, arm: int) -> list[tuple[int, int, str]]:
        """Guardrails that are broken after a reward of an arm: their numbers, keys, and what was seen."""
        return [
            (place, *breach)
            for place, watch in enumerate(self.watches)
            if (breach := watch.breach(arm, len(self.agent.arms), 1 / len(self.watches), self.sign))
        ]

    def available(self, among: Iterable[int] | None = None, without: Iterable[int] = ()) -> list[int]:
        """Numbers of the arms that can be played now."""
        suspended = {self.agent._number_of(arm) for arm in self.rules.suspended} | set(without)
        allowed = None if among is None else set(among)
        return [i for i in self.agent.active if i not in suspended and (allowed is None or i in allowed)]

    def chooser(self, segment: str | None) -> Agent:
        """The agent that chooses: that of the campaign, or that of a segment."""
        if segment is None or self.segments.pooling == "none":
            return self.agent
        if self.agent.horizon is not None:
            self.agent._next()  # raises if the budget is spent
        return self.segments.chooser(segment, self.agent)

    def draw(self, segment: str | None = None, among: Iterable[int] | None = None, without: Iterable[int] = ()) -> Draw:
        """The arm of the next decision in a segment, among these and without those."""
        rules, allowed = self.rules, self.available(among, without)
        if rules.mode == "paused":
            if rules.fallback is None or (fallback := self.agent._number_of(rules.fallback)) not in allowed:
                raise CampaignPausedError("the campaign is paused; ask again after it is resumed")
            return Draw(fallback, 1.0, Decider.FALLBACK, None)
        if not allowed:
            raise ConflictError("none of these arms is played now; resume a suspended arm, or ask among others")
        control = None if rules.control is None else self.agent._number_of(rules.control)
        share = 1.0 if control not in allowed else rules.policy_share
        if rules.mode == "shadow" and share:
            raise ConflictError("others decide in shadow mode, which record(arm=...) logs; name a control arm for asks")
        choice, shares = self.policy_choice(self.chooser(segment), allowed)
        decides = share == 1 or self._uniform(2) < share
        arm = choice if decides or control is None else control
        probability = share * float(shares[arm]) + (1.0 - share) * (arm == control)
        return Draw(arm, probability, Decider.POLICY if decides else Decider.CONTROL, choice)

    def preference(self, segment: str | None) -> int | None:
        """The arm that the policy would choose now; None if it would choose none."""
        allowed = self.available()
        try:
            return self.policy_choice(self.chooser(segment), allowed)[0] if allowed else None
        except CampaignOverError:
            return None

    def _uniform(self, place: int) -> float:
        """A uniform number of the next decision (see :data:`~sharpe_bandits.play.allocation.ALLOCATION`)."""
        with np.errstate(over="ignore"):  # the streams count modulo 2^64
            key = fold(stream_key(np.uint64(self.agent.seed), ALLOCATION, np.uint64(0)), self.decisions)
            return float(uniform(key, place))

    def policy_choice(self, agent: Agent, allowed: list[int]) -> tuple[int, np.ndarray]:
        """The arm that the policy chooses, with exploration and bounds, and the probability of each."""
        explore = self.settings.explore
        if self.rules.bounds:
            pairs = [self.rules.bounds.get(str(arm), (0.0, 1.0)) for arm in self.agent.arms]
            shares = bounded_shares(agent, explore, allowed, *np.array(pairs, float).T)
            return sample(shares, self._uniform(3)), shares
        with agent._only(allowed) if len(allowed) < len(agent.active) else nullcontext():
            choice = agent._next()
            shares = agent._shares(choice)
        if explore:
            if self._uniform(0) < explore:
                choice = allowed[min(int(self._uniform(1) * len(allowed)), len(allowed) - 1)]
            shares = (1.0 - explore) * shares
            shares[allowed] += explore / len(allowed)
        return choice, shares

    def due_snapshot(self, before: int) -> str | None:
        """The state as JSON, if a snapshot is due after the log has grown from event number ``before``."""
        due = max(_SNAPSHOT_EVENTS, self._snapshot_size // _SNAPSHOT_BYTES)
        if self.seq // due == before // due and not self._snapshot_due:
            return None
        text = self.to_json()
        self._snapshot_size, self._snapshot_due = len(text), False
        return text

    def to_json(self) -> str:
        """The whole state as JSON."""
        content = {
            "format": SNAPSHOT_FORMAT,
            **{name: getattr(self, name) for name in self._PLAIN},
            "rules": asdict(self.rules),
            "features": {name: one.to_plain() for name, one in self.features.items()},
            "segments": {name: agent.to_json() for name, agent in self.segments.agents.items()},
            "watches": [watch.to_plain() for watch in self.watches],
            "agent": self.agent.to_json(),
        }
        return json.dumps(content)

    @classmethod
    def from_json(cls, text: str, settings: Settings, policy: Policy) -> State:
        """The state from :meth:`to_json`. For an older format it is the initial state, and the log must be replayed."""
        content, state = from_json(text, "the snapshot of the campaign"), cls(settings, policy)
        if _is_older(content):
            return state
        if content["format"] > SNAPSHOT_FORMAT:
            raise UnreadableDataError("the snapshot of the campaign was written by a newer release: upgrade this one")
        try:
            state.agent, state.rules = Agent.from_json(content["agent"]), Rules(**content["rules"])
            for segment, text in content["segments"].items():
                state.segments.agents[segment] = Agent.from_json(text)
            for name, one in content["features"].items():
                state.features[name] = FeatureAccumulator(state.agent.objective).restore(one)  # type: ignore[arg-type]
            for name in cls._PLAIN:
                setattr(state, name, content[name])
            pairs = zip(state.rules.guardrails, content["watches"], strict=True)
            state.watches = [Watch.from_plain(Guardrail(**rail), one) for rail, one in pairs]
        except KeyError as error:
            raise UnreadableDataError(f"the snapshot of the campaign is damaged: {error}") from None
        return state

    def agrees_with(self, text: str) -> bool:
        """Whether a snapshot is this state. One of an older format is ignored: the log is replayed instead."""
        return text == self.to_json() or _is_older(from_json(text, "the snapshot of the campaign"))


def bounded_shares(agent: Agent, explore: float, allowed: list[int], low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Probabilities of arms within bounds. What an arm cannot take goes to the policy's choice among the others; if
    none can take it, to its first choice.
    """
    shares, open_arms = np.zeros(len(agent.arms)), list(allowed)
    mask = np.zeros(len(agent.arms), bool)
    mask[allowed] = True
    rest, first = start_with(low, mask, shares), None
    while rest > NOTHING and open_arms:
        with agent._only(open_arms):
            wish = agent._shares(agent._next())
        if explore:
            wish = (1.0 - explore) * wish
            wish[open_arms] += explore / len(open_arms)
        first = wish if first is None else first
        rest = pour(rest, wish, high, shares)
        open_arms = [i for i in open_arms if shares[i] < high[i] - NOTHING]
    if rest > NOTHING and first is not None:
        shares += rest * first
    return shares / shares.sum()


def with_amendments(events: Callable[[], Iterable[Event]], more: Mapping[int, float] | None = None) -> Iterator[Event]:
    """Events with rewards as they were amended later, and with ``more`` of that kind, by decision."""
    amended: dict[Any, float] = {
        event.number: plain_details(event.details)["new"] for event in events() if event.kind == EventKind.AMENDED
    } | dict(more or {})
    for event in events():
        reward = None if event.reward is None else amended.get(event.number, event.reward)
        yield event._replace(reward=reward)


def _is_older(snapshot: Any) -> bool:
    try:
        return bool(snapshot.get("format", 1) < SNAPSHOT_FORMAT)
    except (AttributeError, TypeError) as error:
        raise UnreadableDataError(f"the snapshot of the campaign is damaged: {error}") from None
