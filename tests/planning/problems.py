"""Problems that the tests of planning share."""

import math
from functools import lru_cache

import numpy as np

import sharpe_bandits as sb

EASY = sb.BestArmProblem.from_gap(4, 8.0, 6.0, objective="rssr")  # needs few rounds
A, B = [0.01, 0.03, 0.02, 0.06], [-0.01, 0.02, 0.0, 0.01]


def table(**columns):
    return sb.read_returns(columns, kind="returns", periods_per_year=4)


@lru_cache
def easy_plan():
    """What the easy problem needs."""
    return sb.plan(EASY, error=0.05, seed=7)


def exact(sharpes, rho, rows=2520, q=252, phi=0.0):
    """Two columns of 15% volatility whose own annualised Sharpe ratios and correlation are exactly these."""
    noise = np.random.default_rng(0).normal(size=(rows, 2))
    for row in range(1, rows):
        noise[row] += phi * noise[row - 1]
    noise -= noise.mean(axis=0)
    noise = noise @ np.linalg.inv(np.linalg.cholesky(noise.T @ noise / (rows - 1))).T
    x = noise @ np.linalg.cholesky([[1, rho], [rho, 1]]).T
    x = 0.15 / math.sqrt(q) * (x + np.array(sharpes) / math.sqrt(q))
    return sb.read_returns(x, names=["A", "B"], kind="returns", periods_per_year=q)
