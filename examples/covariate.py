"""What a benchmark that is seen in every round is worth: regret of SF-UCB adjusted for it, relative to plain SF-UCB.

Run with: python examples/covariate.py [runs] [rounds], and with names of cases behind it for these alone

Arms pay their own reward plus beta times a factor; R^2 is the share of the factor in the variance of an arm. Standard
errors are of paired runs. The last column has runs with less than half of the second half of rounds on the best arm.
"""

import sys

import numpy as np

import sharpe_bandits as sb
from sharpe_bandits.objectives import Adjusted

RUNS, ROUNDS = (int(sys.argv[k]) if len(sys.argv) > k else default for k, default in ((1, 1000), (2, 5000)))
GOAL = sb.RSSR(L=0.1, signed=True)
POLICIES = [sb.ScaleFreeUCB(objective=GOAL, name="plain"), sb.ScaleFreeUCB(objective=Adjusted(GOAL), name="adjusted")]
SHARPES = (0.11, 0.07, 0.05, 0.02, -0.01)


def normal(share, mean=0.0):
    return sb.Normal(mean, variance=max(share, 1e-9))


def strategies(explained, *, betas=1.0, kind=normal, factor=None, sharpes=SHARPES, bandit=sb.FactorBandit):
    """Arms of variance 1 if beta is 1, of which the factor explains a share."""
    return bandit([kind(1 - explained, h) for h in sharpes], factor=factor or kind(explained), betas=betas)


def student(share, mean=0.0):
    from scipy import stats

    return stats.t(5, loc=mean, scale=(share * 3 / 5) ** 0.5)


def exponential(share, mean=0.0):
    from scipy import stats

    return stats.expon(loc=mean - share**0.5, scale=share**0.5)


class Drifting(sb.FactorBandit):
    """Betas that move from half of their value to one and a half times it; every other one in reverse."""

    def combine(self, paths):
        path = np.linspace(0.5, 1.5, paths.shape[2])
        for i, beta in enumerate(self.betas):
            paths[:, i] += beta * (path if i % 2 else path[::-1]) * paths[:, self.K]


class Noisy(sb.FactorBandit):
    """What is seen is the factor of the round plus that of the next round, which is independent of the reward."""

    def combine(self, paths):
        super().combine(paths)
        paths[:, self.K] += np.roll(paths[:, self.K], -1, axis=1)


class Late(sb.FactorBandit):
    """What is seen is the factor of the round before."""

    def combine(self, paths):
        super().combine(paths)
        paths[:, self.K] = np.roll(paths[:, self.K], 1, axis=1)


class Trending(sb.FactorBandit):
    """What is seen is a random walk that has nothing to do with rewards."""

    def combine(self, paths):
        paths[:, self.K] = np.cumsum(paths[:, self.K], axis=1)


class Curved(sb.FactorBandit):
    """Rewards depend on the square of the factor."""

    def combine(self, paths):
        z = paths[:, self.K]
        paths[:, : self.K] += ((z**2 - self.factor.variance) / (2 * self.factor.variance) ** 0.5)[:, None]


CASES = {
    "R² 0": strategies(0.0),
    "R² 0.3": strategies(0.3),
    "R² 0.6": strategies(0.6),
    "R² 0.9": strategies(0.9),
    "R² 0.6, t5 tails": strategies(0.6, kind=student),
    "R² 0.6, exponential, Sharpe ratios 1.1 to 0.8": strategies(0.6, kind=exponential, sharpes=(1.1, 1.0, 0.9, 0.8)),
    "R² 0.6, factor with volatility clusters": strategies(0.6, factor=sb.arms.GARCH(0, 0.6, alpha=0.1, beta=0.88)),
    "R² 0.6, factor with autocorrelation 0.9": strategies(0.6, factor=sb.arms.AR1(0, 0.6, phi=0.9)),
    "R² 0.6, 20 arms": strategies(0.6, sharpes=np.linspace(0.12, -0.07, 20).tolist()),
    "betas 0.4 to 1.6": strategies(0.6, betas=[1.0, 0.4, 1.6, 0.7, 1.3]),
    "betas 1 and -1": strategies(0.6, betas=[1.0, -1.0, 1.0, -1.0, 1.0]),
    "betas drift from 0.5 to 1.5, or back": strategies(0.6, bandit=Drifting),
    "seen with as much noise": strategies(0.6, bandit=Noisy),
    "seen one round late": strategies(0.6, bandit=Late),
    "a random walk without any relation": strategies(0.5, betas=0.0, bandit=Trending),
    "rewards depend on its square": strategies(0.5, betas=0.0, bandit=Curved),
}


def main() -> None:
    print("| benchmark | plain | adjusted | ratio | runs under half on the best arm |\n|---|---:|---:|---:|---:|")
    for name, bandit in CASES.items():
        if sys.argv[3:] and name not in sys.argv[3:]:
            continue
        study = sb.simulate(POLICIES, bandit, horizon=ROUNDS, runs=RUNS, seed=71, progress=False, checkpoints=1)
        a, b = (study[policy.name].regret_per_batch(GOAL)[:, -1] for policy in POLICIES)
        ratio = b.mean() / a.mean()
        error = (b - ratio * a).std(ddof=1) / a.mean() / len(a) ** 0.5
        means = [f"{study[policy.name].regret(GOAL).final.mean:,.1f}" for policy in POLICIES]
        locked = [f"{study[policy.name].locked_in(GOAL, share=0.5).mean:.0%}" for policy in POLICIES]
        print(f"| {name} | {' | '.join(means)} | {ratio:.2f} ± {error:.2f} | {' → '.join(locked)} |", flush=True)


if __name__ == "__main__":
    main()
