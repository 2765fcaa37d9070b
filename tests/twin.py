"""A plain-Python twin of the library: the formulas of the paper, on lists of rewards, with two-pass statistics.

Nothing here calls a formula of the library. Only the random draws of randomised policies are taken from its documented
streams (keys made of seed, run, arm and round), since no twin could guess those; their distributions are tested apart.
"""

import math

import numpy as np

from sharpe_bandits.play import streams


class Record:
    """Rewards of one arm. Sums are exactly rounded (fsum), so that equal records have equal statistics."""

    def __init__(self, rewards=()):
        self.rewards = [float(x) for x in rewards]

    @property
    def s(self):
        return len(self.rewards)

    @property
    def mean(self):
        return math.fsum(self.rewards) / self.s

    @property
    def variance(self):
        mean = self.mean
        return math.fsum((x - mean) ** 2 for x in self.rewards) / (self.s - 1) if self.s > 1 else 0.0

    @property
    def second(self):
        return math.fsum(x * x for x in self.rewards) / self.s


class Draws:
    """The random numbers of one arm in one round, and those of the round."""

    def __init__(self, seed, run, arm, arms, played):
        with np.errstate(over="ignore"):  # the streams are sums and products modulo 2**64
            policy = streams.stream_key(np.uint64(seed), streams.POLICY, run)
            self.key = streams.fold(streams.fold(policy, arm), played)
            self.round_key = streams.fold(policy, arms + played)

    def uniform(self):
        with np.errstate(over="ignore"):
            return float(streams.uniform(self.key, 0))

    def uniform_of_round(self):
        with np.errstate(over="ignore"):
            return float(streams.uniform(self.round_key, 0))

    def normal(self, which=0):
        with np.errstate(over="ignore"):
            return float(streams.normal(self.key, which))

    def gamma(self, shape):
        with np.errstate(over="ignore"):
            return float(streams.gamma(self.key, shape))


def leader(indices, pulls):
    """Largest index; among infinite ones the least pulled; then the lowest arm."""
    top = max(indices)
    tied = [i for i, v in enumerate(indices) if v == top]
    return min(tied, key=lambda i: (pulls[i], i)) if top == math.inf else tied[0]


def play(index, tape, horizon, pilot, seed=0, run=0, refresh_all=True):
    """Choices and records of an index policy: ``index(record, N, draws)`` after ``pilot`` pulls of every arm.

    With ``refresh_all=False`` only the arm just played has its index computed anew.
    """
    arms = len(tape)
    records = [Record() for _ in range(arms)]
    choices = []

    def pull(arm):
        records[arm].rewards.append(float(tape[arm][records[arm].s]))
        choices.append(arm)

    def value(arm):
        played = len(choices)
        return index(records[arm], played, Draws(seed, run, arm, arms, played))

    for _ in range(pilot):
        for arm in range(arms):
            pull(arm)
    indices = [value(arm) for arm in range(arms)]
    while len(choices) < horizon:
        arm = leader(indices, [r.s for r in records])
        pull(arm)
        if refresh_all:
            indices = [value(i) for i in range(arms)]
        else:
            indices[arm] = value(arm)
    return choices, records


def best(objective, records, among=None):
    """The arm whose estimated objective is largest, the lowest of those that tie."""
    among = range(len(records)) if among is None else among
    return min(among, key=lambda i: (-objective(records[i].mean, records[i].variance), i))


def halving(objective, tape, budget, keep_samples, m=1):
    """Choices and recommended arm, or m arms, of sequential halving (docs/evidence/reading-the-paper.md)."""
    arms = len(tape)
    phases = math.ceil(math.log2(arms / m))
    alive = list(range(arms))
    history = [[] for _ in range(arms)]
    choices = []
    for _ in range(phases):
        quota = budget // (len(alive) * phases)
        current = [list(h) if keep_samples else [] for h in history]
        for _ in range(quota):
            for arm in alive:
                x = tape[arm][len(history[arm])]
                history[arm].append(x)
                current[arm].append(x)
                choices.append(arm)
        records = {arm: Record(current[arm]) for arm in alive}
        ranked = sorted(alive, key=lambda i: (-objective(records[i].mean, records[i].variance), i))
        alive = sorted(ranked[: max(m, math.ceil(len(alive) / 2))])
    return choices, alive if m > 1 else alive[0]


def rejects(objective, tape, budget):
    """Choices and recommended arm of successive rejects (docs/evidence/reading-the-paper.md)."""
    arms = len(tape)
    log_bar = 0.5 + sum(1 / i for i in range(2, arms + 1))
    alive = list(range(arms))
    history = [[] for _ in range(arms)]
    choices = []
    for k in range(1, arms):
        upto = math.ceil((budget - arms) / (log_bar * (arms + 1 - k)))
        while len(history[alive[0]]) < upto:
            for arm in alive:
                history[arm].append(tape[arm][len(history[arm])])
                choices.append(arm)
        records = {arm: Record(history[arm]) for arm in alive}
        worst = max(alive, key=lambda i: (-objective(records[i].mean, records[i].variance), i))
        alive.remove(worst)
    return choices, alive[0]


def uniform_sampling(objective, tape, budget):
    """Choices and recommended arm of uniform sampling (docs/evidence/reading-the-paper.md)."""
    arms = len(tape)
    choices = [arm for _ in range(budget // arms) for arm in range(arms)]
    records = [Record(row[: budget // arms]) for row in tape]
    return choices, best(objective, records)
