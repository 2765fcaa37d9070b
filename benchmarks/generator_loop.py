"""What one would write with Numba for Thompson sampling: a loop that draws from numpy's generator."""

from __future__ import annotations

import math

import numba
import numpy as np


@numba.njit(nogil=True, error_model="numpy")
def modified_mvts(low, high, L, horizon, runs, generator):  # type: ignore[no-untyped-def]
    """Pulls (runs x arms) of Modified-MVTS on uniform arms, two pulls each as a pilot; updates as published."""
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
