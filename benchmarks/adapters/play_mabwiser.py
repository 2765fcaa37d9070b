"""UCB1 by mabwiser: predict and partial_fit, one round at a time."""

import random

from common import measure
from mabwiser.mab import MAB, LearningPolicy


def play(means, horizon, runs, seed):
    rng = random.Random(seed)
    arms = list(range(len(means)))
    finished = []
    for run in range(runs):
        mab = MAB(arms, LearningPolicy.UCB1(alpha=1.0), seed=seed + run)
        mab.fit(arms, [float(rng.random() < means[arm]) for arm in arms])
        pulls = [1 for _ in arms]
        for _ in range(horizon - len(arms)):
            arm = mab.predict()
            mab.partial_fit([arm], [float(rng.random() < means[arm])])
            pulls[arm] += 1
        finished.append(pulls)
    return finished


measure("mabwiser", play)
