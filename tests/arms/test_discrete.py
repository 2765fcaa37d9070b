"""Observed values: many of them take little time."""

import time

import numpy as np

import sharpe_bandits as sb


def test_a_million_values():
    values = np.random.default_rng(0).normal(size=10**6)
    started = time.process_time()
    arm = sb.Empirical(values)
    bandit = sb.Bandit([arm, sb.arms.Constant(1.0)])
    assert bandit.table(0, range(1)).pool.size == 10**6 + 1
    assert arm.to_dict()["values"] == arm.values
    assert (arm.mean, arm.variance) == (values.mean(), np.mean((values - values.mean()) ** 2))
    assert time.process_time() - started < 1.5
