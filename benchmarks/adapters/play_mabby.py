"""UCB1 by mabby, through its Simulation."""

import math

import mabby
from common import measure
from mabby.strategies import UCB1Strategy


def play(means, horizon, runs, seed):
    bandit = mabby.Bandit([mabby.BernoulliArm(p=p) for p in means], seed=seed)
    finished = []
    for run in range(runs):
        simulation = mabby.Simulation(bandit=bandit, strategies=[UCB1Strategy(alpha=math.sqrt(2.0))], seed=seed + run)
        simulation.run(trials=1, steps=horizon)
        finished.append(next(iter(simulation.agents)).Ns)
    return finished


measure("mabby", play)
