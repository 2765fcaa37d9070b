"""The contract of policies: they can be described, simulated, used live and saved, and reject invalid input."""

from __future__ import annotations

import copy
import json
import pickle
from bisect import bisect_left
from typing import Any

import numpy as np

from ..arms import Tape
from ..descriptions import from_dict
from ..errors import BudgetTooSmallError, CampaignOverError, UnreadableDataError, WaitForRewardsError
from ..live.agents import Agent
from ..objectives import Mean, Objective, gaps_of
from ..policies.base import Policy
from ..simulation.api import simulate, trace
from .contract import check_round_trips, refused, require, run_all

#: Rewards that every agent must reject.
BAD_REWARDS = (float("nan"), float("inf"), -float("inf"), None, "1", b"1", 1j, True, [1.0], np.ma.masked,
               np.datetime64("2020-01-01"), np.timedelta64(1, "D"), 10**400)  # fmt: skip


class PolicyContract:
    """Tests that any policy must pass. Subclass it and parametrise: ``@pytest.mark.parametrize("policy", [...])``.

    Attributes
    ----------
    arms, horizon, seed : int
        the game that is played, on recorded rewards; the horizon is longer if the policy needs it

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> from sharpe_bandits.testing import PolicyContract
    >>> class TestMyPolicy(PolicyContract):
    ...     arms = 5
    >>> TestMyPolicy().least(sb.SHSR(L=1.0))
    30
    """

    arms = 3
    horizon = 60
    seed = 5

    def rounds(self, policy: Policy) -> int:
        """Rounds of the game: enough for the policy."""
        return max(self.horizon, 2 * self.least(policy))

    def least(self, policy: Policy) -> int:
        """The smallest horizon that the policy accepts."""

        def accepted(horizon: int) -> bool:
            try:
                policy.check_horizon(horizon, self.arms)
            except BudgetTooSmallError:
                return False
            return True

        return bisect_left(range(2**40), True, lo=2, key=accepted)

    def tape(self, policy: Policy) -> Tape:
        """Continuous rewards above 0, so that choices depend on the index and not on ties."""
        shape = np.linspace(2.0, 3.0, self.arms)[:, None]
        return Tape(np.random.default_rng(17).gamma(shape, 0.5, size=(self.arms, self.rounds(policy))))

    def new_agent(self, policy: Policy) -> Agent:
        """A fresh agent."""
        return policy.agent(self.arms, horizon=self.rounds(policy), seed=self.seed)

    def step(self, agent: Agent, tape: Tape) -> Any:
        """Ask, tell the reward from the tape, and return the arm."""
        arm = agent.ask()
        agent.tell(arm, tape.rewards[arm, agent.pulls[arm]])
        return arm

    def test_it_says_what_it_is(self, policy: Policy) -> None:
        kind = type(policy)
        require(policy.name, f"{policy!r} has no name")
        for what in ("citation", "__doc__"):
            require(getattr(kind, what), f"{kind.__name__} needs a {what.strip('_')}")
        goal = policy.objective
        require(goal is None or isinstance(goal, Objective), f"the goal {goal!r} is not an objective")
        renamed = from_dict({**policy.to_dict(), "name": "another"})
        require(renamed.name == "another" and renamed != policy, f"{policy!r} cannot be renamed")

    def test_it_makes_round_trips(self, policy: Policy) -> None:
        check_round_trips(policy)

    def test_it_plays_within_its_budget_and_from_the_tape(self, policy: Policy) -> None:
        tape, rounds = self.tape(policy), self.rounds(policy)
        played = trace(policy, tape, horizon=rounds, seed=self.seed)
        pulls = np.bincount(played.choices, minlength=self.arms)
        require(len(played.choices) == len(played.rewards) == pulls.sum() <= rounds, f"{pulls} are not {rounds} rounds")
        require(pulls.min() >= 1, f"every arm must be played, not {pulls}")
        for arm in range(self.arms):
            paid = played.rewards[played.choices == arm]
            require((paid == tape.rewards[arm, : pulls[arm]]).all(), f"arm {arm} did not pay what the tape has")

    def test_a_live_agent_asks_what_the_engine_chose(self, policy: Policy) -> None:
        tape = self.tape(policy)
        played = trace(policy, tape, horizon=self.rounds(policy), seed=self.seed)
        agent = self.new_agent(policy)
        for t, choice in enumerate(played.choices.tolist()):
            require(not agent.done, f"the agent was done after {t} rounds, the engine after {len(played.choices)}")
            arm = agent.ask()
            require(arm == choice, f"the agent asked for arm {arm} in round {t + 1}, the engine played {choice}")
            agent.tell(arm, played.rewards[t])
        require(agent.done, f"the engine stopped after {len(played.choices)} rounds, the agent did not")
        best = agent.recommend()
        require(best == played.recommended, f"the agent recommends {best}, the engine {played.recommended}")

    def test_pending_pulls_are_allowed_for(self, policy: Policy) -> None:
        """Asked several times before it is told, an agent spreads the pilot over arms and stays within its budget."""
        tape, agent = self.tape(policy), self.new_agent(policy)
        first = [agent.ask() for _ in range(self.arms)]
        require(
            sorted(first) == list(range(self.arms)), f"asked {self.arms} times, it chose {first}, not each arm once"
        )
        open_pulls, rounds = first, self.rounds(policy)
        while not agent.done:
            try:
                open_pulls.append(agent.ask())
                if len(open_pulls) < 2 * self.arms:
                    continue
            except (WaitForRewardsError, CampaignOverError):
                require(open_pulls, "the agent waits for rewards of pulls that were never asked for")
            require(Agent.from_json(agent.to_json()).pending == agent.pending, "a saved agent forgot pending pulls")
            while open_pulls and not agent.done:
                arm = open_pulls.pop(0)
                agent.tell(arm, tape.rewards[arm, agent.pulls[arm]])
        require(agent.t <= rounds, f"{agent.t} rounds were played of {rounds}")
        require(agent.asked == agent.t + sum(agent.pending.values()), "decisions were lost")

    def test_the_same_seed_gives_the_same_choices(self, policy: Policy) -> None:
        """Also with the pilot fixed that it has for this horizon."""
        tape, rounds = self.tape(policy), self.rounds(policy)
        fixed = policy.with_fixed_pilot(rounds, self.arms)
        require(fixed.with_fixed_pilot(rounds, self.arms) == fixed, f"fixing the pilot of {fixed!r} again changes it")
        once, again, other = (trace(p, tape, horizon=rounds, seed=self.seed).choices for p in (policy, policy, fixed))
        require(np.array_equal(once, again), "the same seed led to other choices: an index must not keep its own state")
        require(np.array_equal(once, other), f"{fixed!r} makes other choices than {policy!r}")

    def test_too_small_a_horizon_is_refused(self, policy: Policy) -> None:
        tape, least = self.tape(policy), self.least(policy)
        require(len(trace(policy, tape, horizon=least).choices) <= least, f"more than {least} rounds were played")
        if least > 2:
            for attempt in (
                lambda: trace(policy, tape, horizon=least - 1),
                lambda: policy.agent(self.arms, horizon=least - 1),
            ):
                said = refused(f"a horizon of {least - 1}", attempt, BudgetTooSmallError)
                require(str(least) in said, f"the error must say that {least} rounds are needed, not {said!r}")

    def test_it_can_be_simulated_and_judged(self, policy: Policy) -> None:
        """In one chunk or many, runs are those of :func:`trace`; the regret is that of the traces."""
        if policy.stops_itself:
            return  # played by identify, which has no given horizon
        tape, rounds, runs = self.tape(policy), self.rounds(policy), 3
        objective = policy.objective or Mean()
        gaps = gaps_of(tape.true_values(objective, 0, 1))[0]
        totals = [
            gaps[trace(policy, tape, horizon=rounds, seed=self.seed, run=run).choices].sum() for run in range(runs)
        ]
        for chunk in (1, runs):
            study = simulate(policy, tape, horizon=rounds, runs=runs, seed=self.seed, workers=1, chunk=chunk)
            regret = study[policy.name].regret(objective).mean[-1]
            require(
                abs(regret - np.mean(totals)) <= 1e-12 * abs(np.mean(totals)) + 1e-300,
                f"the regret is {regret!r} in chunks of {chunk}, and {np.mean(totals)!r} by traces",
            )

    def test_a_saved_agent_continues_exactly(self, policy: Policy) -> None:
        tape, plain, moved = self.tape(policy), self.new_agent(policy), self.new_agent(policy)
        ways = (
            lambda agent: Agent.from_json(agent.to_json()),
            lambda agent: pickle.loads(pickle.dumps(agent)),
            copy.deepcopy,
        )
        while not plain.done:
            if plain.t % 7 == 0:
                before = moved.to_json()
                moved = ways[plain.t // 7 % 3](moved)
                require(moved.to_json() == before, "a state is not the same after it was saved and loaded")
            ours, theirs = self.step(plain, tape), self.step(moved, tape)
            require(ours == theirs, f"after {plain.t} rounds the agent that was saved asked for {theirs}, not {ours}")
        require(moved.done and moved.recommend() == plain.recommend(), "the agent that was saved ended differently")

    def test_bad_rewards_and_states_are_refused_and_change_nothing(self, policy: Policy) -> None:
        tape, agent = self.tape(policy), self.new_agent(policy)
        for _ in range(self.arms):
            self.step(agent, tape)
        before = agent.to_json()
        for reward in BAD_REWARDS:
            refused(f"the reward {reward!r}", lambda reward=reward: agent.tell(0, reward))  # type: ignore[misc]
        refused("an unknown arm", lambda: agent.tell("no such arm", 1.0))
        require(agent.to_json() == before, "rejected input changed the agent")
        state = json.loads(before)
        refused(
            "a state that was changed", lambda: Agent.from_json(json.dumps({**state, "t": 99})), UnreadableDataError
        )
        refused("a state that was cut", lambda: Agent.from_json(before[:-9]), UnreadableDataError)
        for arms in (1, 0, -1, 2.5, None, "ab", ["a", "a"]):
            refused(f"arms={arms!r}", lambda arms=arms: policy.agent(arms, horizon=self.rounds(policy)))  # type: ignore[misc]


def check_policy(policy: Policy) -> None:
    """Run all tests of :class:`PolicyContract` on a policy; an AssertionError says what is wrong.

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> from sharpe_bandits.testing import check_policy
    >>> check_policy(sb.policies.UCB1())
    """
    run_all(PolicyContract(), policy, Policy)
