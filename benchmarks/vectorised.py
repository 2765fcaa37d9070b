"""What one would write with NumPy: all runs at once, a Python loop over rounds."""

from __future__ import annotations

import numpy as np


def ucb1(probabilities: np.ndarray, horizon: int, runs: int, rng: np.random.Generator) -> np.ndarray:
    """Pulls (runs x arms) of UCB1 on Bernoulli arms."""
    arms = probabilities.size
    pulls, wins = np.zeros((runs, arms)), np.zeros((runs, arms))
    every = np.arange(runs)
    for t in range(horizon):
        choice = np.full(runs, t) if t < arms else (wins / pulls + np.sqrt(2.0 * np.log(t) / pulls)).argmax(axis=1)
        pulls[every, choice] += 1
        wins[every, choice] += rng.random(runs) < probabilities[choice]
    return pulls


def ucb_rssr(
    low: np.ndarray, high: np.ndarray, L: float, horizon: int, runs: int, rng: np.random.Generator
) -> np.ndarray:
    """Pulls (runs x arms) of UCB-RSSR on uniform arms, two pulls each as a pilot."""
    arms = low.size
    pulls, total, squares = np.zeros((runs, arms)), np.zeros((runs, arms)), np.zeros((runs, arms))
    every = np.arange(runs)
    for t in range(horizon):
        if t < 2 * arms:
            choice = np.full(runs, t % arms)
        else:
            mean, second = total / pulls, squares / pulls
            variance = (squares - total * mean) / (pulls - 1.0)
            epsilon = np.sqrt(2.0 * np.log(t) / pulls)
            d = L + variance
            room = d - 3.0 * epsilon
            index = mean * mean / d + (variance + second + 2.0 * epsilon + L) * epsilon / (d * room)
            # Infinite indices: the least played first.
            choice = np.where(room > 0.0, index, 1e100 / pulls).argmax(axis=1)
        reward = low[choice] + (high - low)[choice] * rng.random(runs)
        pulls[every, choice] += 1
        total[every, choice] += reward
        squares[every, choice] += reward * reward
    return pulls
