"""Save states of agents of all kinds, with what they go on to do: ``python -m tests.data.agents.make``.

Run once for each format of states, by the first release that has it; the files stay as they are from then on. They
are read by tests/live/agents/test_state.py.
"""

import json
import re
from pathlib import Path

import numpy as np

import sharpe_bandits as sb
from sharpe_bandits.live.agents.state import FORMAT
from tests.catalogue import EVERY_POLICY

REWARDS = np.random.default_rng(30).gamma([[2.0], [3.0], [2.5], [2.2]], 0.6, size=(4, 200)).round(6)


def play(name, agent, rounds):
    """Ask and tell for some rounds; gives the arms asked for. Agents of a million have rewards about it."""
    asked = []
    while len(asked) < rounds and not agent.done:
        arm = agent.ask()
        reward = REWARDS[agent.arms.index(arm) % 4, agent.pulls[arm] % 200] + (1e6 if "million" in name else 0.0)
        agent.tell(arm, float(reward))
        asked.append(arm)
    return asked


def follow(name, agent):
    """What an agent does next, for 25 rounds."""
    asked = play(name, agent, 25)
    try:
        recommended = agent.recommend()
    except sb.errors.InvalidInputError:
        recommended = None
    return {"asked": asked, "done": agent.done, "recommended": recommended}


def agents():
    """Name of the file, a fresh agent, and for how many rounds it is played before it is saved."""
    for policy in EVERY_POLICY:
        yield policy.name, policy.agent(arms=3, horizon=200, seed=7), 75
    yield "LUCB", sb.policies.LUCB(L=0.5).agent(arms=["a", "b", "c"], seed=3), 110
    yield "TopTwo", sb.TopTwo(L=0.5).agent(arms=["a", "b", "c"], seed=3), 110
    yield "LUCB sure", sb.policies.LUCB(L=0.5, pilot_pulls=8).agent(arms=2, seed=3), 10_000
    yield "LUCB pilot", sb.policies.LUCB(L=0.5).agent(arms=2, seed=3), 10
    yield "fresh UCB-RSSR", sb.UCBRSSR(L=0.8).agent(arms=["momentum", "carry"]), 0
    yield "million UCB-RSSR", sb.UCBRSSR(L=0.8).agent(arms=4, seed=2**64 - 1), 120
    yield "window wrapped", sb.policies.SlidingWindowUCB(L=0.8, window=40).agent(arms=4, seed=1), 333
    yield "discount long", sb.policies.DiscountedUCB(L=0.8, discount=0.98).agent(arms=4, seed=1), 333
    yield "dirichlet long", sb.policies.ScaleFreeNPTS(L=0.8).agent(arms=2, seed=5), 180
    yield "SAR m 2 late", sb.policies.SuccessiveAcceptsRejects(sb.RSSR(L=0.5), m=2).agent(arms=6, horizon=150), 120
    yield "variance aware late", sb.policies.VarianceAwareHalving(sb.RSSR(L=0.5), m=2).agent(arms=8, horizon=400), 300
    yield "SHSR second phase", sb.SHSR(L=0.5).agent(arms=["a", "b", "c", "d"], horizon=120), 75
    yield "SHSR over", sb.SHSR(L=0.5).agent(arms=4, horizon=80), 1000
    yield "UCB1 over", sb.policies.UCB1().agent(arms=2, horizon=30), 1000


if __name__ == "__main__":
    folder = Path(__file__).parent / f"format-{FORMAT}"
    folder.mkdir(exist_ok=True)
    for name, agent, rounds in agents():
        play(name, agent, rounds)
        state = json.loads(agent.to_json())
        stem = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
        (folder / f"{stem}.json").write_text(json.dumps({"state": state, "then": follow(name, agent)}) + "\n")
