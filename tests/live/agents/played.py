"""Policies and rewards that tests of agents share."""

import json

import numpy as np

import sharpe_bandits as sb
from tests.catalogue import greedy_sharpe

REWARDS = np.random.default_rng(30).gamma([[2.0], [3.0], [2.5], [2.2]], 0.6, size=(4, 200))


#: Policies of every flavour, deterministic and randomised, with phases and without.
POLICIES = [
    sb.UCBRSSR(L=0.8),
    sb.policies.MVTS(rho=1.5),
    sb.policies.EpsilonGreedy(sb.RSSR(L=0.8), epsilon=0.3),
    sb.policies.ModifiedGRAUCB(L=0.8, form="authors"),
    sb.policies.ModifiedMVTS(L=0.8, form="authors"),
    sb.policies.ScaleFreeNPTS(L=0.8),
    sb.ScaleFreeIMED(L=0.8),
    sb.SHSR(L=0.5),
    sb.SHSR(L=0.5, keep_samples=True),
    sb.policies.SuccessiveAcceptsRejects(sb.RSSR(L=0.5), m=2),
    sb.policies.VarianceAwareHalving(sb.RSSR(L=0.5), m=2),
    sb.SuRSR(L=0.5),
    sb.policies.UniformSampling(sb.RSSR(L=0.5)),
    greedy_sharpe(L=1.0),
]


def step(agent):
    arm = agent.ask()
    agent.tell(arm, REWARDS[arm, agent.pulls[arm]])
    return arm


def a_state(policy):
    agent = policy.agent(arms=3, horizon=30)
    for _ in range(9):
        step(agent)
    return json.loads(agent.to_json())
