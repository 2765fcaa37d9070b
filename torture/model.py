"""Random sequences of operations by several actors, against a plain-Python model of what a campaign is.

``python -m torture.model 10000`` plays so many: nine in ten with three stores of one process, one in ten with three
processes. This is about what operations mean, not about disks (:mod:`torture.kills` is), so that files are kept in
memory where the system can. The tests play a few sequences in one process.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, ClassVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

import sharpe_bandits as sb

from .actors import Local, Remote

LEASE = 1000.0
#: A file system in memory, where there is one.
_MEMORY = "/dev/shm" if os.path.isdir("/dev/shm") else None
#: Sequences that are generated together.
_BLOCK = 500
POLICIES: list[tuple[sb.policies.Policy, dict[str, Any]]] = [
    (sb.ScaleFreeUCB(L=0.5), {}),
    (sb.policies.ThompsonSampling(variance=1.0), {"horizon": 40, "explore": 0.2}),
    (sb.SHSR(L=0.5), {"horizon": 24}),
    (sb.policies.LUCB(L=0.5, pilot_pulls=2), {}),
    (sb.policies.SlidingWindowUCB(L=0.5, window=400), {"default_reward": -1.0}),
]
KEYS = st.sampled_from(["k1", "k2", "k3", "k4"])
REWARDS = st.integers(-3, 3).map(float)
ACTORS = st.integers(0, 2)


class CampaignModel(RuleBasedStateMachine):
    """A campaign as plain data, and the real one beside it."""

    actors: ClassVar[list[Any]] = []

    @initialize(which=st.integers(0, len(POLICIES) - 1))
    def begin(self, which: int) -> None:
        policy, options = POLICIES[which]
        self.folder = tempfile.TemporaryDirectory(prefix="campaign-model-", dir=_MEMORY)
        self.path = str(Path(self.folder.name) / "campaigns.db")
        self.clock = 0.0
        self.started = time.time()
        self.default = options.get("default_reward")
        self.index, self.joins = policy.minimises_regret, policy.stops_itself
        self.active = ["a", "b", "c"]
        self.mode, self.resumes, self.share, self.fallback = "live", "live", 1.0, None
        self.suspended: list[str] = []
        self.decisions: list[dict[str, Any]] = []
        self.added = 0
        with sb.Store(self.path, synchronous="NORMAL") as store:
            store.campaign("c", policy=policy, arms=self.active, lease=LEASE, seed=3, **options)

    def act(self, actor: int, method: str, *arguments: Any, **options: Any) -> Any:
        return self.actors[actor].act(self.path, self.clock, method, *arguments, **options)

    def expire(self) -> None:
        for decision in self.decisions:
            if decision["state"] == "pending" and decision["until"] <= self.clock:
                decision["state"], decision["reward"] = "expired", self.default

    def handed_out(self, made: Any, among: Any = None) -> None:
        assert made.number == len(self.decisions) + 1
        assert made.arm in self.active
        if among is not None:
            assert made.arm in among
            assert 0 < made.probability <= 1
            assert made.by == self.decider(made)
            if made.by == "policy":
                assert made.arm not in self.suspended
        self.decisions.append(
            {
                "arm": made.arm, "key": made.key, "state": "pending", "reward": None, "until": self.clock + LEASE,
                "by": str(made.by),
            }
        )  # fmt: skip

    def decider(self, made: Any) -> str:
        """Who decides: "a" is control wherever it can be played."""
        if self.mode == "paused":
            assert made.arm == self.fallback
            return "fallback"
        if self.share < 1 and "a" in self.active and "a" not in self.suspended:
            assert made.by == "policy" or made.arm == "a"
            return str(made.by)
        return "policy"

    def refusal(self, among: Any) -> type | None:
        """The error that an ask gets by the rules, if any."""
        played = [arm for arm in self.active if arm in among and arm not in self.suspended]
        if self.mode == "paused":
            return None if self.fallback in played else sb.errors.CampaignPausedError
        return None if played else sb.errors.ConflictError

    @rule(actor=ACTORS, key=KEYS)
    def ask_with_key(self, actor: int, key: str) -> None:
        known = [n for n, d in enumerate(self.decisions) if d["key"] == key]
        made = self.act(actor, "ask", key=key)
        if known:
            assert made.number == known[0] + 1
            assert (made.arm, made.state, made.reward) == tuple(
                self.decisions[known[0]][name] for name in ("arm", "state", "reward")
            )
        elif isinstance(made, (sb.errors.WaitForRewardsError, sb.errors.CampaignOverError)):
            pass
        elif (refusal := self.refusal(self.active)) is not None:
            assert isinstance(made, refusal)
        else:
            self.expire()
            self.handed_out(made, self.active)

    @rule(actor=ACTORS, key=KEYS, places=st.sets(st.integers(0, 4), min_size=1))
    def ask_among(self, actor: int, key: str, places: set[int]) -> None:
        among = sorted({self.active[place % len(self.active)] for place in places})
        made = self.act(actor, "ask", among=among, tags={"key": key})
        if not self.index:
            assert isinstance(made, sb.errors.InvalidInputError)
        elif isinstance(made, sb.errors.CampaignOverError):
            pass
        elif (refusal := self.refusal(among)) is not None:
            assert isinstance(made, refusal)
        elif self.mode != "paused" and self.share < 1 and "a" not in among:
            assert made.by == "policy"
            share, self.share = self.share, 1.0
            self.expire()
            self.handed_out(made, among)
            self.share = share
        else:
            self.expire()
            self.handed_out(made, among)

    @rule(actor=ACTORS, share=st.sampled_from([0.3, 1.0]))
    def set_share(self, actor: int, share: float) -> None:
        error = self.act(actor, "set", share=share, control="a", why="tried", by="model")
        if (not self.index and share < 1 and self.mode != "paused") or "a" not in self.active:
            assert isinstance(error, sb.errors.InvalidInputError)
        else:
            assert error is None
            self.share, self.has_control = share, True

    @rule(actor=ACTORS, place=st.none() | st.integers(0, 4))
    def pause(self, actor: int, place: int | None) -> None:
        fallback = None if place is None else self.active[place % len(self.active)]
        error = self.act(actor, "pause", "model", fallback=fallback)
        if fallback is not None and not self.index:
            assert isinstance(error, sb.errors.InvalidInputError)
        else:
            assert error is None
            self.mode, self.fallback = "paused", fallback

    @rule(actor=ACTORS)
    def resume(self, actor: int) -> None:
        error = self.act(actor, "resume")
        if not self.index and self.share < 1 and self.mode == "paused":
            assert isinstance(error, sb.errors.InvalidInputError)
        else:
            assert error is None
            self.mode = "live"

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
        self.suspended = [other for other in self.suspended if other != arm]

    @rule(actor=ACTORS, place=st.integers(0, 4), key=KEYS, reward=REWARDS)
    def record(self, actor: int, place: int, key: str, reward: float) -> None:
        arm = self.active[place % len(self.active)]
        numbers = [n for n, d in enumerate(self.decisions) if d["key"] == key]
        made = self.act(actor, "record", arm, reward, key=key)
        if not self.index:
            assert isinstance(made, sb.errors.InvalidInputError)
        elif isinstance(made, sb.errors.CampaignOverError):
            pass
        elif numbers:
            decision = self.decisions[numbers[0]]
            if decision["arm"] != arm or decision["state"] == "cancelled" or decision["reward"] not in (None, reward):
                assert isinstance(made, sb.errors.ConflictError)
            else:
                decision["state"] = decision["state"] if decision["reward"] is not None else "rewarded"
                decision["reward"] = reward
                assert (made.number, made.reward) == (numbers[0] + 1, reward)
        else:
            self.expire()
            self.handed_out(made)
            self.decisions[-1] |= {"state": "rewarded", "reward": reward}

    @rule(actor=ACTORS, number=st.integers(1, 30), reward=REWARDS)
    def amend(self, actor: int, number: int, reward: float) -> None:
        error = self.act(actor, "amend", number, reward, "model")
        if number > len(self.decisions):
            assert isinstance(error, sb.errors.UnknownNameError)
        elif self.decisions[number - 1]["reward"] is None:
            assert isinstance(error, sb.errors.ConflictError)
        elif not isinstance(error, sb.errors.CampaignOverError):
            assert error is None
            self.decisions[number - 1]["reward"] = reward

    @rule(actor=ACTORS, count=st.integers(1, 5))
    def ask_many(self, actor: int, count: int) -> None:
        made = self.act(actor, "ask", count=count)
        if isinstance(made, (sb.errors.WaitForRewardsError, sb.errors.CampaignOverError)):
            return
        if (refusal := self.refusal(self.active)) is not None:
            assert isinstance(made, refusal)
            return
        self.expire()
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
        control = arm == "a" and getattr(self, "has_control", False)
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


def play(sequences: int, actors: list[Any], decorate: Any = lambda machine: machine, **more: Any) -> None:
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
        remote = [Remote() for _ in range(3)]
        try:
            play(block - block // 10, [Local() for _ in range(3)], database=None)
            play(block // 10, remote, database=None)
        finally:
            for one in remote:
                one.end()
        done += block
        print(f"{done:,} sequences, {time.monotonic() - began:.0f} s", flush=True)
    print("the campaign is what the model says, after every operation")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
