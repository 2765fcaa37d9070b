"""Thompson sampling by pybandits, which has no UCB1: predict and update, one round at a time."""

import random

from common import measure
from pybandits.smab import SmabBernoulli


def play(means, horizon, runs, seed):
    rng = random.Random(seed)
    finished = []
    for _ in range(runs):
        bandit = SmabBernoulli.cold_start(action_ids={str(i) for i in range(len(means))})
        pulls = [0 for _ in means]
        for _ in range(horizon):
            arm = bandit.predict(n_samples=1)[0][0]
            bandit.update(actions=[arm], rewards=[int(rng.random() < means[int(arm)])])
            pulls[int(arm)] += 1
        finished.append(pulls)
    return finished


measure("pybandits", play)
