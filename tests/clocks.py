"""A table that is played through in time order, and a bandit that switches: what tests of clocks share."""

import numpy as np

import sharpe_bandits as sb

TABLE = np.random.default_rng(7).normal(0.2, 1.0, (300, 4)) * np.array([1.0, 0.6, 1.5, 0.9])
SWITCHING = sb.SwitchingBandit(
    [
        [sb.Normal(1, variance=1), sb.Normal(0, variance=1)],
        [sb.Normal(0, variance=1), sb.Normal(1, variance=1)],
        [sb.Normal(0, variance=2), sb.Normal(-1, variance=1)],
    ],
    after=[200, 500],
)
