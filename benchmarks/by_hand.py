"""What one would write without the library: in plain Python, with NumPy, and with Numba."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import numba
import numpy as np


def ucb1(probabilities: Sequence[float], horizon: int, rng: random.Random) -> list[int]:
    """Pulls of each arm in one run of UCB1 on Bernoulli arms."""
    arms = range(len(probabilities))
    pulls, wins = [0 for _ in arms], [0.0 for _ in arms]
    for t in range(horizon):
        if t < len(pulls):
            choice = t
        else:
            twice_log = 2.0 * math.log(t)
            choice = max(arms, key=lambda i: wins[i] / pulls[i] + math.sqrt(twice_log / pulls[i]))
        pulls[choice] += 1
        wins[choice] += rng.random() < probabilities[choice]
    return pulls


def ucb1_vectorised(probabilities: np.ndarray, horizon: int, runs: int, rng: np.random.Generator) -> np.ndarray:
    """Pulls (runs x arms) of UCB1 on Bernoulli arms, with NumPy: all runs at once."""
    arms = probabilities.size
    pulls, wins = np.zeros((runs, arms)), np.zeros((runs, arms))
    every = np.arange(runs)
    for t in range(horizon):
        choice = np.full(runs, t) if t < arms else (wins / pulls + np.sqrt(2.0 * np.log(t) / pulls)).argmax(axis=1)
        pulls[every, choice] += 1
        wins[every, choice] += rng.random(runs) < probabilities[choice]
    return pulls


@numba.njit(nogil=True, error_model="numpy")
def modified_mvts(low, high, L, horizon, runs, generator):  # type: ignore[no-untyped-def]
    """Pulls (runs x arms) of Modified-MVTS on uniform arms, two pulls each as a pilot, with Numba over NumPy's generator."""
    arms = low.size
    final = np.zeros((runs, arms))
    for r in range(runs):
        pulls, mean = np.zeros(arms), np.zeros(arms)
        shape, rate = np.full(arms, 0.5), np.full(arms, 0.5)
        for t in range(horizon):
            choice = t % arms
            if t >= 2 * arms:
                top = -np.inf
                for i in range(arms):
                    tau = generator.standard_gamma(shape[i]) / rate[i]
                    theta = mean[i] + generator.standard_normal() / math.sqrt(pulls[i])
                    index = theta * theta / (L + math.sqrt(1.0 / tau))
                    if index > top:
                        top = index
                        choice = i
            reward = low[choice] + (high[choice] - low[choice]) * generator.random()
            s = pulls[choice]
            shape[choice] += 0.5
            rate[choice] += 0.5 * s / (s + 1.0) * (reward - mean[choice]) ** 2
            mean[choice] = (s * mean[choice] + reward) / (s + 1.0)
            pulls[choice] = s + 1.0
        final[r] = pulls
    return final
