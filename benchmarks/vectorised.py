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
