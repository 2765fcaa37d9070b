"""The bandits that everyone is measured on, and how much of each work is done."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import sharpe_bandits as sb

#: Ten uniform arms of the paper (setting R3): means and variances.
MEANS = np.array([3.80, 4.43, 5.09, 4.15, 5.33, 3.69, 5.02, 3.38, 3.91, 3.51])
VARIANCES = np.array([2.7, 4.17, 6.01, 3.7, 6.99, 2.83, 6.21, 2.39, 3.64, 2.78])
L = 0.75
#: Ten Bernoulli arms for plain UCB1.
PROBABILITIES = np.linspace(0.05, 0.95, 10)
HORIZON = 10_000
BUDGET = 30_000
BUDGET_ARMS = 64
#: Regulariser of the halving work, small beside the variances.
HALVING_L = 0.02


def moments(arms: int, copies: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Means and variances of the uniform arms: the paper's ten, then others drawn from their ranges, always the same.

    With ``copies`` the ten repeat instead, which is harder: the best of several equal arms changes for ever.
    """
    if copies:
        return np.resize(MEANS, arms), np.resize(VARIANCES, arms)
    rng = np.random.default_rng(0)
    more = max(0, arms - MEANS.size)
    means = np.append(MEANS, rng.uniform(MEANS.min(), MEANS.max(), more))
    return means[:arms], np.append(VARIANCES, rng.uniform(VARIANCES.min(), VARIANCES.max(), more))[:arms]


def ends(arms: int, copies: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Low and high ends of the uniform arms."""
    mean, variance = moments(arms, copies)
    half = np.sqrt(3.0 * variance)
    return mean - half, mean + half


def uniform_arms(arms: int, copies: bool = False) -> sb.Bandit:
    """The same as a bandit of the library."""
    low, high = ends(arms, copies)
    return sb.Bandit([sb.Uniform(a, b) for a, b in zip(low, high, strict=True)])


def bernoulli_arms() -> sb.Bandit:
    """The arms of plain UCB1."""
    return sb.Bandit([sb.Bernoulli(p) for p in PROBABILITIES])


def regret(pulls: np.ndarray) -> np.ndarray:
    """Regret of each run of plain UCB1 from its final pulls (runs x arms)."""
    return np.asarray(pulls) @ (PROBABILITIES.max() - PROBABILITIES)


@dataclass(frozen=True)
class Sizes:
    """How much is done: rounds per run, repetitions, and rounds (of all runs together) per repetition of an engine."""

    horizon: int = HORIZON
    budget: int = BUDGET
    repetitions: int = 7
    #: Rounds per repetition for engines of about 10, 100, 1000 and 10,000 ns a round.
    fast: int = 8_000_000
    middling: int = 2_000_000
    slow: int = 200_000
    slowest: int = 20_000
    #: Seconds for each peer, two runs at least.
    peer_seconds: float = 15.0
    growth_arms: tuple[int, ...] = (2, 4, 8, 16, 32, 64, 128, 256, 512)
    #: Tables that tools are given, errors that are planned for, and how often each is done.
    tool_rows: tuple[int, ...] = (250, 2_500, 25_000)
    tool_columns: tuple[int, ...] = (5, 10, 20, 40)
    plan_errors: tuple[float, ...] = (0.05,)
    tool_repetitions: int = 3
    #: Policies whose first call is timed with nothing on disk, one of each kind of kernel.
    cold: tuple[str, ...] = ("UCBRSSR", "SlidingWindowUCB", "SHSR")
    memory: tuple[tuple[int, int], ...] = ((100, 10_000), (1_000, 10_000), (10_000, 10_000), (1_000, 100_000))

    def runs(self, rounds: int, horizon: int | None = None) -> int:
        """Runs that add up to so many rounds: one at least, a multiple of 16 where there are more."""
        count = rounds // (horizon or self.horizon)
        return max(1, count if count < 16 else count - count % 16)


FULL = Sizes()
QUICK = Sizes(fast=4_000_000, middling=1_000_000)
#: For the tests: everything runs, nothing is measured.
TINY = Sizes(
    horizon=400, budget=2_000, repetitions=1, fast=6_400, middling=6_400, slow=800, slowest=400, peer_seconds=0.1,
    growth_arms=(2, 4), memory=((32, 400),), tool_rows=(250,), tool_columns=(), plan_errors=(0.3,),
    tool_repetitions=1, cold=(),
)  # fmt: skip
