"""Random sequences of operations by several actors, against a plain-Python model of what a campaign is.

``python -m torture.model 10000`` plays so many, with three stores. This is about what operations mean, not about disks
and processes (:mod:`torture.kills` is), so that files are kept in memory where the system can. The tests play a few.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

import sharpe_bandits as sb
from sharpe_bandits.live.campaigns.requests import Notified

from .actors import Local

LEASE = 1000.0
#: A file system in memory, where there is one.
_MEMORY = "/dev/shm" if os.path.isdir("/dev/shm") else None
#: Sequences that are generated together.
_BLOCK = 500
#: Guardrails: the fall of the sum of all rewards pauses the campaign, that of an arm suspends it.
RAILS = [
    {"kind": "drawdown", "limit": 3.0, "action": "pause"},
    {"kind": "drawdown", "limit": 2.0, "arm": "*", "action": "suspend"},
]
POLICIES: list[tuple[sb.policies.Policy, dict[str, Any]]] = [
    (sb.ScaleFreeUCB(L=0.5), {"guardrails": RAILS}),
    (sb.policies.ThompsonSampling(variance=1.0), {"horizon": 40, "explore": 0.2}),
    (sb.SHSR(L=0.5), {"horizon": 24}),
    (sb.policies.LUCB(L=0.5, pilot_pulls=2), {}),
    (sb.policies.SlidingWindowUCB(L=0.5, window=400), {"default_reward": -1.0}),
    (sb.ScaleFreeUCB(L=0.5), {"segments": "pooled", "default_reward": -1.0, "guardrails": RAILS}),
    (sb.ScaleFreeTS(L=0.5), {"segments": "separate", "direction": "min"}),
]
SEGMENTS = st.sampled_from([None, "large", "small"])
KEYS = st.sampled_from(["k1", "k2", "k3", "k4"])
REWARDS = st.integers(-3, 3).map(float)
ACTORS = st.integers(0, 2)


class CampaignModel(RuleBasedStateMachine):
    """A campaign as plain data, and the real one beside it."""

    actors: ClassVar[list[Local]] = []

    @initialize(which=st.integers(0, len(POLICIES) - 1), opening=st.lists(REWARDS, min_size=4, max_size=12))
    def begin(self, which: int, opening: list[float]) -> None:
        policy, options = POLICIES[which]
        self.folder = tempfile.TemporaryDirectory(prefix="campaign-model-", dir=_MEMORY)
        self.path = str(Path(self.folder.name) / "campaigns.db")
        self.clock = 0.0
        self.started = time.time()
        self.default = options.get("default_reward")
        self.index, self.joins = policy.minimises_regret, policy.stops_itself
        self.active = ["a", "b", "c"]
        self.mode, self.resumes, self.share, self.fallback, self.control = "live", "live", 1.0, None, None
        self.sign = -1.0 if options.get("direction") == "min" else 1.0
        self.budget, self.segmented = "horizon" in options, "segments" in options
        self.bounds: dict[str, tuple[float, float]] = {}
        self.rails: list[dict[str, Any]] = options.get("guardrails", [])
        #: What guardrails go by, in order: ("reward", decision), ("reset", arm or None), ("begin",); and, by number of
        #: the guardrail, those for which it is broken (None: the campaign).
        self.watched: list[tuple[Any, ...]] = []
        self.broken: list[set[str | None]] = [set(), set()]
        #: Rewards seen of arms that were not played: arm and segment.
        self.seen: list[tuple[str, str | None]] = []
        #: Messages that the webhook has not had; None: there is no webhook.
        self.messages: int | None = None
        self.held_back = 0
        self.suspended: list[str] = []
        self.decisions: list[dict[str, Any]] = []
        self.added = 0
        with sb.Store(self.path, synchronous="NORMAL") as store:
            store.campaign("c", policy=policy, arms=self.active, lease=LEASE, seed=3, **options)
        self.play_rounds(0, "large", opening)

    def act(self, actor: int, method: str, *arguments: Any, **options: Any) -> Any:
        for one in self.actors:
            if one.asked_late:  # by then, whatever was overdue has expired
                one.asked_late = False
                self.expire()
        return self.actors[actor].act(self.path, self.clock, method, *arguments, **options)

    def expire(self) -> None:
        for number, decision in enumerate(self.decisions, 1):
            if decision["state"] == "pending" and decision["until"] <= self.clock:
                decision["state"], decision["reward"] = "expired", self.default
                if self.default is not None:
                    self.rewarded(number)

    def rewarded(self, number: int) -> None:
        """A reward has come: guardrails are watched."""
        self.watched.append(("reward", number))
        self.watch(self.decisions[number - 1]["arm"])

    def watch(self, arm: str) -> None:
        """What guardrails do after a reward of an arm, or its correction."""
        breaches = [place for place in range(len(self.rails)) if self.is_breached(place, arm)]
        for place in breaches:
            self.broken[place].add(arm if place else None)
            self.told_webhook()
            others = [one for one in self.active if one != arm and one not in self.suspended]
            if place and arm in self.suspended:
                continue
            if place and others:
                self.suspended.append(arm)
            elif self.mode != "paused":
                self.change_mode("paused")

    def is_breached(self, place: int, arm: str) -> bool:
        key = arm if place else None
        if key in self.broken[place]:
            return False
        total = peak = 0.0
        counted = False
        for kind, *what in self.watched:
            if kind == "begin" or (kind == "reset" and what[0] in (None, key)):
                total, peak, counted = 0.0, 0.0, False
            elif kind == "reward":
                decision = self.decisions[what[0] - 1]
                if key in (None, decision["arm"]):
                    total, counted = total + self.sign * decision["reward"], True
                    peak = max(peak, total)
        return counted and peak - total > self.rails[place]["limit"]

    def change_mode(self, mode: str) -> None:
        """Change the mode; what decides more than before is watched anew."""
        if mode != self.mode:
            if mode == "paused":
                self.resumes = self.mode
            more = mode == "live" and self.share > 0
            self.mode = mode
            self.told_webhook()
            if more:
                self.reset(None)

    def reset(self, key: str | None) -> None:
        self.watched.append(("reset", key))
        for broken in self.broken:
            broken.clear() if key is None else broken.discard(key)

    def told_webhook(self) -> None:
        self.held_back += 1

    def handed_out(self, made: Any, among: Any = None, segment: str | None = None) -> None:
        assert made.number == len(self.decisions) + 1
        assert made.arm in self.active
        if among is not None:
            assert made.arm in among
            assert 0 < made.probability <= 1
            assert made.by == self.decider(made)
            if made.by == "policy":
                assert made.arm not in self.suspended
                self.check_bounds(made, [arm for arm in self.active if arm in among and arm not in self.suspended])
        self.decisions.append(
            {
                "arm": made.arm, "key": made.key, "state": "pending", "reward": None, "until": self.clock + LEASE,
                "by": str(made.by), "segment": segment,
            }
        )  # fmt: skip

    def check_bounds(self, made: Any, played: list[str]) -> None:
        """Shares keep to bounds, where all arms can be played and the policy decides alone."""
        if self.bounds and self.share == 1 and sorted(played) == sorted(self.active):
            low, high = self.bounds.get(made.arm, (0.0, 1.0))
            if sum(self.bounds.get(arm, (0.0, 1.0))[1] for arm in played) >= 1:
                assert low - 1e-9 <= made.probability <= high + 1e-9

    def decider(self, made: Any) -> str:
        """Who decides: "a" is control wherever it can be played."""
        if self.mode == "paused":
            assert made.arm == self.fallback
            return "fallback"
        if self.mode == "shadow":
            assert made.arm == "a"
            return "control"
        if self.share < 1 and "a" in self.active and "a" not in self.suspended:
            assert made.by == "policy" or made.arm == "a"
            return str(made.by)
        return "policy"

    def refusal(self, among: Any) -> type | None:
        """The error that an ask gets by the rules, if any."""
        played = [arm for arm in self.active if arm in among and arm not in self.suspended]
        if self.mode == "paused":
            return None if self.fallback in played else sb.errors.CampaignPausedError
        if self.mode == "shadow" and not (self.control and "a" in played):
            return sb.errors.ConflictError
        return None if played else sb.errors.ConflictError

    @rule(actor=ACTORS, key=KEYS, segment=SEGMENTS)
    def ask_with_key(self, actor: int, key: str, segment: str | None) -> None:
        known = [n for n, d in enumerate(self.decisions) if d["key"] == key]
        self.expire()
        made = self.act(actor, "ask", key=key, segment=segment)
        if known and self.decisions[known[0]]["state"] == "cancelled":
            assert isinstance(made, sb.errors.ConflictError)
        elif known:
            assert made.number == known[0] + 1
            assert (made.arm, made.state, made.reward) == tuple(
                self.decisions[known[0]][name] for name in ("arm", "state", "reward")
            )
        elif isinstance(made, (sb.errors.WaitForRewardsError, sb.errors.CampaignOverError)):
            pass
        elif (refusal := self.refusal(self.active)) is not None:
            assert isinstance(made, refusal)
        else:
            self.handed_out(made, self.active, segment)

    @rule(actor=ACTORS, segment=SEGMENTS, rewards=st.lists(REWARDS, min_size=3, max_size=8))
    def play_rounds(self, actor: int, segment: str | None, rewards: list[float]) -> None:
        """Ask and tell, several times."""
        for reward in rewards:
            before = len(self.decisions)
            self.ask_with_key(actor, f"played {before}", segment)
            if len(self.decisions) > before:
                self.tell(actor, [(before + 1, reward)])

    @rule(actor=ACTORS, key=KEYS, places=st.sets(st.integers(0, 4), min_size=1))
    def ask_among(self, actor: int, key: str, places: set[int]) -> None:
        among = sorted({self.active[place % len(self.active)] for place in places})
        self.expire()
        made = self.act(actor, "ask", among=among, tags={"key": key})
        if not self.index:
            assert isinstance(made, sb.errors.InvalidInputError)
        elif isinstance(made, sb.errors.CampaignOverError):
            pass
        elif (refusal := self.refusal(among)) is not None:
            assert isinstance(made, refusal)
        elif self.mode == "live" and self.share < 1 and "a" not in among:
            assert made.by == "policy"
            share, self.share = self.share, 1.0
            self.handed_out(made, among)
            self.share = share
        else:
            self.handed_out(made, among)

    @rule(actor=ACTORS, share=st.sampled_from([0.3, 1.0]))
    def set_share(self, actor: int, share: float) -> None:
        error = self.act(actor, "set", share=share, control="a", why="tried", by="model")
        if (not self.index and share < 1 and self.mode != "paused") or "a" not in self.active:
            assert isinstance(error, sb.errors.InvalidInputError)
        else:
            assert error is None
            more = self.mode == "live" and share > self.share
            self.share, self.control = share, "a"
            if more:
                self.reset(None)

    @rule(actor=ACTORS)
    def set_shadow(self, actor: int) -> None:
        error = self.act(actor, "set", mode="shadow", why="tried")
        if not self.index:
            assert isinstance(error, sb.errors.InvalidInputError)
        else:
            assert error is None
            self.change_mode("shadow")

    @rule(actor=ACTORS, bounds=st.sampled_from([{}, {"b": (0.0, 0.4)}, {"b": (0.2, 0.5), "c": (0.1, 1.0)}]))
    def set_bounds(self, actor: int, bounds: dict[str, tuple[float, float]]) -> None:
        error = self.act(actor, "set", bounds=bounds)
        high = sum(bounds.get(arm, (0.0, 1.0))[1] for arm in self.active)
        if ((bounds and not self.index) or high < 1) and bounds != self.bounds:  # else nothing changes
            assert isinstance(error, sb.errors.InvalidInputError)
        else:
            assert error is None
            self.bounds = bounds

    @rule(actor=ACTORS, watched=st.booleans())
    def set_guardrails(self, actor: int, watched: bool) -> None:
        error = self.act(actor, "set", guardrails=RAILS if watched else [])
        if watched and not self.index:
            assert isinstance(error, sb.errors.InvalidInputError)
        else:
            assert error is None
            if watched != bool(self.rails):
                self.rails = RAILS if watched else []
                self.watched.append(("begin",))
                self.broken = [set(), set()]

    @rule(actor=ACTORS, told=st.booleans())
    def webhook(self, actor: int, told: bool) -> None:
        """What a webhook should hear of, and that it has heard of it."""
        if self.messages is None:
            assert self.act(actor, "set", webhook="https://alerts.example.com/campaigns") is None
            self.messages = 0
        waiting = self.act(actor, "_undelivered")
        assert len(waiting) == self.held_back
        if told and waiting:
            assert self.act(actor, "commit", [Notified(waiting[0].seq)]) == [None]
            self.held_back -= 1

    @rule(actor=ACTORS, place=st.none() | st.integers(0, 4))
    def pause(self, actor: int, place: int | None) -> None:
        fallback = None if place is None else self.active[place % len(self.active)]
        error = self.act(actor, "pause", "model", fallback=fallback)
        if fallback is not None and not self.index:
            assert isinstance(error, sb.errors.InvalidInputError)
        else:
            assert error is None
            self.fallback = fallback
            self.change_mode("paused")

    @rule(actor=ACTORS)
    def resume(self, actor: int) -> None:
        error = self.act(actor, "resume")
        if not self.index and self.share < 1 and self.mode == "paused":
            assert isinstance(error, sb.errors.InvalidInputError)
        else:
            assert error is None
            if self.mode == "paused":
                self.change_mode(self.resumes)

    @rule(actor=ACTORS, place=st.integers(0, 4))
    def suspend(self, actor: int, place: int) -> None:
        arm = self.active[place % len(self.active)]
        error = self.act(actor, "suspend", arm, "model")
        last = all(other in self.suspended or other == arm for other in self.active)
        if arm in self.suspended:
            assert error is None
        elif not self.index or last:
            assert isinstance(error, sb.errors.InvalidInputError)
        else:
            assert error is None
            self.suspended.append(arm)

    @rule(actor=ACTORS, place=st.integers(0, 4))
    def resume_arm(self, actor: int, place: int) -> None:
        arm = self.active[place % len(self.active)]
        assert self.act(actor, "resume", arm) is None
        if arm in self.suspended:
            self.suspended = [other for other in self.suspended if other != arm]
            self.reset(arm)

    @rule(actor=ACTORS, place=st.integers(0, 4), key=KEYS, reward=REWARDS)
    def record(self, actor: int, place: int, key: str, reward: float) -> None:
        arm = self.active[place % len(self.active)]
        numbers = [n for n, d in enumerate(self.decisions) if d["key"] == key]
        if not numbers:
            self.expire()
        segment = "large" if place % 2 else None
        made = self.act(actor, "record", arm, reward, key=key, segment=segment, propensity=0.5 if place else None)
        if not self.index:
            assert isinstance(made, sb.errors.InvalidInputError)
        elif isinstance(made, sb.errors.CampaignOverError):
            pass
        elif numbers:
            decision = self.decisions[numbers[0]]
            if decision["arm"] != arm or decision["state"] == "cancelled" or decision["reward"] not in (None, reward):
                assert isinstance(made, sb.errors.ConflictError)
            else:
                assert (made.number, made.reward) == (numbers[0] + 1, reward)
                if decision["reward"] is None:
                    decision["state"], decision["reward"] = "rewarded", reward
                    self.rewarded(numbers[0] + 1)
        else:
            self.handed_out(made, segment=segment)
            self.decisions[-1] |= {"state": "rewarded", "reward": reward}
            self.rewarded(len(self.decisions))

    @rule(actor=ACTORS, number=st.integers(1, 30), reward=REWARDS)
    def amend(self, actor: int, number: int, reward: float) -> None:
        error = self.act(actor, "amend", number, reward, "model")
        if number > len(self.decisions):
            assert isinstance(error, sb.errors.UnknownNameError)
        elif self.decisions[number - 1]["reward"] is None:
            assert isinstance(error, sb.errors.ConflictError)
        elif not isinstance(error, sb.errors.CampaignOverError):
            assert error is None
            if self.decisions[number - 1]["reward"] != reward:
                self.decisions[number - 1]["reward"] = reward
                self.watch(self.decisions[number - 1]["arm"])

    @rule(actor=ACTORS, number=st.integers(1, 10), place=st.integers(0, 4), reward=REWARDS)
    def tell_seen(self, actor: int, number: int, place: int, reward: float) -> None:
        arm = self.active[place % len(self.active)]
        error = self.act(actor, "tell", number, reward, seen={arm: -reward})
        if number > len(self.decisions):
            assert isinstance(error, sb.errors.UnknownNameError)
            return
        decision = self.decisions[number - 1]
        if decision["reward"] == reward:
            assert error is None
        elif decision["reward"] is not None or decision["state"] == "cancelled":
            assert isinstance(error, sb.errors.ConflictError)
        elif arm == decision["arm"] or self.budget or not self.index:
            assert isinstance(error, sb.errors.InvalidInputError)
        else:
            assert error is None
            decision["state"], decision["reward"] = "rewarded", reward
            self.seen.append((arm, decision["segment"]))
            self.rewarded(number)

    @rule(actor=ACTORS, count=st.integers(1, 5))
    def ask_many(self, actor: int, count: int) -> None:
        self.expire()
        made = self.act(actor, "ask", count=count)
        if isinstance(made, (sb.errors.WaitForRewardsError, sb.errors.CampaignOverError)):
            return
        if (refusal := self.refusal(self.active)) is not None:
            assert isinstance(made, refusal)
            return
        assert 1 <= len(made) <= count
        for decision in made:
            self.handed_out(decision, self.active)

    @rule(actor=ACTORS, pairs=st.lists(st.tuples(st.integers(1, 30), REWARDS), min_size=1, max_size=4))
    def tell(self, actor: int, pairs: list[tuple[int, float]]) -> None:
        expected = []
        for number, reward in pairs:
            if number > len(self.decisions):
                expected.append(sb.errors.UnknownNameError)
                continue
            decision = self.decisions[number - 1]
            if decision["reward"] is not None:
                expected.append(type(None) if decision["reward"] == reward else sb.errors.ConflictError)
            elif decision["state"] == "cancelled":
                expected.append(sb.errors.ConflictError)
            else:
                decision["state"], decision["reward"] = "rewarded", reward
                self.rewarded(number)
                expected.append(type(None))
        found = self.act(actor, "tell_many", pairs, strict=False)
        assert [type(error) for error in found] == expected

    @rule(actor=ACTORS, number=st.integers(1, 30))
    def cancel(self, actor: int, number: int) -> None:
        found = self.act(actor, "cancel", number)
        if number > len(self.decisions):
            assert isinstance(found, sb.errors.UnknownNameError)
        elif self.decisions[number - 1]["reward"] is not None:
            assert isinstance(found, sb.errors.ConflictError)
        else:
            assert found is None
            self.decisions[number - 1]["state"] = "cancelled"

    @rule(actor=ACTORS)
    def add_arm(self, actor: int) -> None:
        found = self.act(actor, "add_arm", f"new {self.added}")
        if self.index or (self.joins and found is None):
            assert found is None
            self.active = [*self.active, f"new {self.added}"]
            self.added += 1
        else:
            assert isinstance(found, sb.errors.InvalidInputError)

    @rule(actor=ACTORS, place=st.integers(0, 9))
    def retire_arm(self, actor: int, place: int) -> None:
        arm = self.active[place % len(self.active)]
        found = self.act(actor, "retire_arm", arm)
        others = [other for other in self.active if other != arm and other not in self.suspended]
        control = arm == self.control
        if control or (self.fallback == arm) or (len(self.active) > 1 and not others):
            assert isinstance(found, sb.errors.ConflictError)
        elif self.index and len(self.active) > 1:
            assert found is None
            self.active = [other for other in self.active if other != arm]
        else:
            assert isinstance(found, sb.errors.InvalidInputError)

    @rule(seconds=st.sampled_from([10.0, 400.0, 2000.0]))
    def wait(self, seconds: float) -> None:
        self.clock += seconds

    @rule(actor=ACTORS, reward=st.sampled_from([float("nan"), float("inf"), "x", None]))
    def tell_nonsense(self, actor: int, reward: Any) -> None:
        assert isinstance(self.act(actor, "tell", 1, reward), sb.errors.InvalidInputError)

    @invariant()
    def counts_agree(self) -> None:
        if not hasattr(self, "path"):
            return
        status = self.act(len(self.decisions) % 3, "status")
        states = [
            "expired" if d["state"] == "pending" and d["until"] <= self.clock else d["state"] for d in self.decisions
        ]
        assert status.decisions == len(states)
        assert (status.pending, status.cancelled) == (states.count("pending"), states.count("cancelled"))
        assert (status.rewards, status.expired) == (states.count("rewarded"), states.count("expired"))
        assert (status.rules["mode"], status.rules["suspended"]) == (self.mode, self.suspended)
        assert status.broken_guardrails == sum(map(len, self.broken))
        if self.index and not self.budget:
            rewards = [(d["arm"], d["segment"]) for d in self.decisions if d["reward"] is not None] + self.seen
            assert {arm.arm: arm.pulls for arm in status.arms} == {
                arm.arm: sum(one == arm.arm for one, _ in rewards) for arm in status.arms
            }
            for segment in status.segments:
                pulls = [rewards.count((arm.arm, segment.segment)) for arm in status.arms]
                assert segment.pulls == pulls
            named = {d["segment"] for d in self.decisions} - {None} if self.segmented else set()
            assert {segment.segment for segment in status.segments} == named

    def teardown(self) -> None:
        if not hasattr(self, "path"):
            return
        try:
            found = self.act(0, "verify", choices=True)
            assert found.ok, str(found)
            rows = self.act(1, "history").to_pylist()
            names = ("arm", "key", "state", "reward", "by")
            assert [tuple(row[n] for n in names) for row in rows] == [
                tuple(decision[n] for n in names) for decision in self.decisions
            ]
        finally:
            for actor in self.actors:
                actor.close()
            self.folder.cleanup()


def play(sequences: int, actors: Sequence[Local], decorate: Any = lambda machine: machine, **more: Any) -> None:
    """Play so many random sequences."""
    machine = decorate(type("Played", (CampaignModel,), {"actors": actors}))
    checks = list(HealthCheck)
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=sequences, stateful_step_count=25, deadline=None, suppress_health_check=checks, **more
        ),
    )


def main(count: int) -> None:
    """Play so many sequences, and say how far it is."""
    began = time.monotonic()
    done = 0
    while done < count:
        block = min(_BLOCK, count - done)
        play(block, [Local() for _ in range(3)], database=None)
        done += block
        print(f"{done:,} sequences, {time.monotonic() - began:.0f} s", flush=True)
    print("the campaign is what the model says, after every operation")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
