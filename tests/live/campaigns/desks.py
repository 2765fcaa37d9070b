"""The campaign that tests of campaigns play, and what it pays."""

import numpy as np

import sharpe_bandits as sb

ARMS = ["momentum", "carry", "value"]
POLICY = sb.ScaleFreeUCB(L=1e-4)
REWARDS = np.random.default_rng(5).normal([0.001, 0.0, -0.001], 0.01, (4000, 3))


def make(store, **more):
    return store.campaign("desks", **{"policy": POLICY, "arms": ARMS, "lease": "1 day", "seed": 1, **more})


def pay(decision):
    return float(REWARDS[decision.number % 4000, ARMS.index(decision.arm)])


def opened(path):
    return sb.Store(path).campaign("c", policy=POLICY, arms=["a", "b"])
