"""What one would write in plain Python: UCB1, UCB-RSSR and sequential halving, on lists and the standard library.

It shares nothing with the library, neither formulas nor random numbers, and so also serves as the twin that the
library's regret and probability of error are checked against.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence


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


def ucb_rssr(low: Sequence[float], high: Sequence[float], L: float, horizon: int, rng: random.Random) -> list[int]:
    """Pulls of each arm in one run of UCB-RSSR on uniform arms, two pulls each as a pilot."""
    arms = range(len(low))
    pulls, means, spreads = [0 for _ in arms], [0.0 for _ in arms], [0.0 for _ in arms]

    def index(i: int, twice_log: float) -> tuple[float, int]:
        variance = spreads[i] / (pulls[i] - 1)
        second = spreads[i] / pulls[i] + means[i] ** 2
        epsilon = math.sqrt(twice_log / pulls[i])
        d = L + variance
        if d <= 3.0 * epsilon:
            return math.inf, -pulls[i]
        return means[i] ** 2 / d + (variance + second + 2.0 * epsilon + L) * epsilon / (d * (d - 3.0 * epsilon)), 0

    for t in range(horizon):
        if t < 2 * len(pulls):
            choice = t % len(pulls)
        else:
            twice_log = 2.0 * math.log(t)
            choice = max(arms, key=lambda i: index(i, twice_log))
        reward = rng.uniform(low[choice], high[choice])
        pulls[choice] += 1
        step = reward - means[choice]
        means[choice] += step / pulls[choice]
        spreads[choice] += step * (reward - means[choice])
    return pulls


def halving(low: Sequence[float], high: Sequence[float], L: float, budget: int, rng: random.Random) -> int:
    """The arm that sequential halving on RSSR recommends in one run on uniform arms, each phase judged alone."""
    alive = list(range(len(low)))
    phases = math.ceil(math.log2(len(low)))
    for _ in range(phases):
        pulls = budget // (len(alive) * phases)
        values = {}
        for i in alive:
            rewards = [rng.uniform(low[i], high[i]) for _ in range(pulls)]
            mean = math.fsum(rewards) / pulls
            variance = math.fsum((x - mean) ** 2 for x in rewards) / (pulls - 1)
            values[i] = mean**2 / (L + variance)
        alive = sorted(alive, key=lambda i: -values[i])[: math.ceil(len(alive) / 2)]
    return alive[0]
