"""UCB1 by PyMAB, through its Experiment (compiled core)."""

import numpy as np
from common import measure
from pymab import BanditEnvironment, BernoulliReward, Experiment, ExperimentConfig
from pymab.policies import UCBPolicy


def play(means, horizon, runs, seed):
    experiment = Experiment(
        environment=BanditEnvironment(means=np.array(means), reward_model=BernoulliReward()),
        policies={"UCB1": UCBPolicy(n_arms=len(means), c=2.0)},
        config=ExperimentConfig(horizon=horizon, n_replicates=runs, seed=seed),
    )
    actions = experiment.run().actions
    return [np.bincount(actions[run].ravel(), minlength=len(means)) for run in range(runs)]


measure("pymab", play, runs_at_a_time=10)
