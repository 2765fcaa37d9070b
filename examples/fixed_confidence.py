"""LUCB on bandits of several kinds: when it stops, and how often it is wrong, against delta.

Run with: python examples/fixed_confidence.py [runs] [fresh]

With "fresh" only kinds of arm that had no part in the choice of the rule are played.
"""

import sys
from typing import Any

import numpy as np
import scipy.stats

import sharpe_bandits as sb

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
DELTAS = (0.2, 0.05, 0.01)

#: Name -> regulariser and arms.
BANDITS = {
    "uniform: U[0.5, 13.5], U[3, 13.5]": (1.0, [sb.Uniform(0.5, 13.5), sb.Uniform(3, 13.5)]),
    "five uniform arms, the best one's variance 1.8": (
        0.75,
        [
            sb.Uniform(mean - (3 * variance) ** 0.5, mean + (3 * variance) ** 0.5)
            for mean, variance in ((3.80, 1.8), (4.43, 4.17), (5.09, 6.01), (4.15, 3.7), (5.33, 6.99))
        ],
    ),
    "truncated normal: N(5, 4), N(4, 6.25) on [1, 7]": (
        0.5,
        [sb.arms.TruncatedNormal(5, 4, 1, 7), sb.arms.TruncatedNormal(4, 6.25, 1, 7)],
    ),
    "truncated gamma (R7 A)": (0.5, [sb.arms.TruncatedGamma(2, 2, 1, 10), sb.arms.TruncatedGamma(2, 3, 1, 10)]),
    "Bernoulli: 0.6, 0.5, 0.4": (0.1, [sb.Bernoulli(0.6), sb.Bernoulli(0.5), sb.Bernoulli(0.4)]),
    "lognormal, σ = 0.5, 0.8": (0.5, [scipy.stats.lognorm(0.5), scipy.stats.lognorm(0.8)]),
    "lognormal, σ = 1, 1.3": (0.5, [scipy.stats.lognorm(1.0), scipy.stats.lognorm(1.3)]),
}
#: Two arms alike: half of all stops would be wrong if one of them were better by a hair.
ALIKE = {
    "normal": (0.5, sb.Normal(1, variance=1)),
    "uniform": (1.0, sb.Uniform(0.5, 13.5)),
    "Bernoulli 0.95": (0.1, sb.Bernoulli(0.95)),
    "exponential": (0.1, scipy.stats.expon()),
    "lognormal, σ = 1": (0.5, scipy.stats.lognorm(1.0)),
    "lognormal, σ = 1.3": (0.5, scipy.stats.lognorm(1.3)),
    "Student's t, 3 degrees of freedom": (0.5, scipy.stats.t(3, loc=0.3)),
    "2 minus an exponential": (0.1, sb.Empirical(2.0 - scipy.stats.expon.ppf((np.arange(1_000) + 0.5) / 1_000))),
    "about 1, a loss of 2 in 5% of pulls": (0.1, sb.Empirical([*np.linspace(0.5, 1.5, 950), *[-2.0] * 50])),
    "about 1, a loss of 5 in 1% of pulls": (0.1, sb.Empirical([*np.linspace(0.9, 1.1, 990), *[-5.0] * 10])),
}
CORE = scipy.stats.norm.ppf((np.arange(500) + 0.5) / 500)


def mirrored(distribution: Any) -> sb.Empirical:
    """3 minus a reward, as 5,000 equally likely values."""
    return sb.Empirical(3.0 - distribution.ppf((np.arange(5_000) + 0.5) / 5_000))


#: Kinds of arm that were not looked at when the rule was chosen: L, the better arm, and one a little worse.
FRESH = {
    "mixture: 0.7 N(1.2, 0.25) + 0.3 N(-0.5, 1)": (0.1, *(
        sb.Empirical(np.concatenate([np.tile(1.2 + shift + 0.5 * CORE, 7), np.tile(shift - 0.5 + CORE, 3)]))
        for shift in (0.0, -0.1)
    )),
    "triangular on [0, 2], mode 1.8": (0.05, scipy.stats.triang(0.9, 0, 2), scipy.stats.triang(0.8, 0, 2)),
    "Laplace, mean 0.6": (0.2, scipy.stats.laplace(0.6), scipy.stats.laplace(0.5)),
    "logistic, mean 1": (0.3, scipy.stats.logistic(1.0), scipy.stats.logistic(0.85)),
    "Poisson, mean 2": (0.2, scipy.stats.poisson(2.0), scipy.stats.poisson(1.8)),
    "Poisson, mean 0.2": (0.02, scipy.stats.poisson(0.2), scipy.stats.poisson(0.15)),
    "geometric, p = 0.3": (0.5, scipy.stats.geom(0.3), scipy.stats.geom(0.2)),
    "skewed normal, shape 8": (0.1, scipy.stats.skewnorm(8), scipy.stats.skewnorm(8, -0.06)),
    "skewed normal, shape -8": (0.1, scipy.stats.skewnorm(-8, 1.5), scipy.stats.skewnorm(-8, 1.44)),
    "beta (0.5, 0.5)": (0.05, sb.Beta(0.5, 0.5), sb.Beta(0.5, 0.55)),
    "gamma, shape 0.5": (0.2, sb.arms.Gamma(0.5, 1.0), sb.arms.Gamma(0.45, 1.0)),
    "lognormal, σ = 0.5": (0.1, scipy.stats.lognorm(0.5), scipy.stats.lognorm(0.53)),
    "3 minus a lognormal, σ = 0.5": (0.1, mirrored(scipy.stats.lognorm(0.5)), mirrored(scipy.stats.lognorm(0.53))),
    "Weibull, shape 0.7": (0.5, scipy.stats.weibull_min(0.7), scipy.stats.weibull_min(0.67)),
    "Student's t, 4 degrees of freedom": (0.3, scipy.stats.t(4, 0.5), scipy.stats.t(4, 0.4)),
    "a prize of 5 in 3% of pulls": (0.02, sb.Empirical([*np.linspace(0.0, 0.2, 970), *[5.0] * 30]),
                                    sb.Empirical([*np.linspace(0.0, 0.2, 974), *[5.0] * 26])),
}  # fmt: skip

#: An arm that loses 5 once in fifty times and else pays about 1, and one that pays about 0.8 with less to fear.
CRASH = [sb.Empirical([*np.linspace(0.9, 1.1, 98), -5.0, -5.0]), sb.Empirical(np.linspace(0.3, 1.3, 100))]


def known_kinds() -> None:
    print("| bandit | gap in h | δ | rounds, mean | 10%, 50%, 90% | wrong, 95% interval |\n|---|---|---|---|---|---|")
    for name, (L, arms) in BANDITS.items():
        bandit = sb.Bandit(arms)
        roots = np.sort(bandit.means / np.sqrt(L + bandit.variances))
        for delta in DELTAS:
            found = sb.identify(sb.policies.LUCB(L=L, delta=delta), bandit, runs=RUNS, seed=1)["LUCB"]
            assert found.unfinished().mean == 0
            quantiles = ", ".join(f"{q:.0f}" for q in found.quantiles())
            time, error = found.stopping_time(), found.error()
            print(
                f"| {name} | {roots[-1] - roots[-2]:.2f} | {delta} | {time.mean:.0f} ± {time.se:.0f} | {quantiles} | "
                f"{error.mean:.4f} [{error.low:.4f}, {error.high:.4f}] |"
            )
            name = ""


def alike() -> None:
    print("\n| two arms alike | " + " | ".join(f"δ = {delta}" for delta in DELTAS) + " |\n|---|---|---|---|")
    for name, (L, arm) in ALIKE.items():
        cells = []
        for delta in DELTAS:
            found = sb.identify(
                sb.policies.LUCB(L=L, delta=delta), sb.Bandit([arm, arm]), runs=RUNS, seed=1, max_budget=10_000
            )
            share = found["LUCB"].stopped.mean() / 2
            cells.append(f"{share:.4f}")
        print(f"| {name} | {' | '.join(cells)} |")


def unseen_losses() -> None:
    print("\n| a loss of 5 in 2% of pulls | rounds, mean | wrong, 95% interval |\n|---|---|---|")
    for pulls in (32, 100, 185, 300):
        found = sb.identify(sb.policies.LUCB(L=0.1, pilot_pulls=pulls), sb.Bandit(CRASH), runs=RUNS, seed=1)["LUCB"]
        time, error = found.stopping_time(), found.error()
        print(
            f"| pilot_pulls={pulls} | {time.mean:.0f} ± {time.se:.0f} | "
            f"{error.mean:.4f} [{error.low:.4f}, {error.high:.4f}] |"
        )


def wilson(wrong: int, of: int) -> str:
    low, high = scipy.stats.binomtest(wrong, of).proportion_ci(method="wilson")
    return f"{wrong / of:.4f} [{low:.4f}, {high:.4f}]"


def fresh_kinds() -> None:
    """Two arms alike, where half of the stops count as wrong, and two that differ a little."""
    print("| rewards | alike, δ = 0.2 | alike, δ = 0.05 | alike, δ = 0.01 | gap in h | wrong at δ = 0.05 | stopped |")
    print("|---|---|---|---|---:|---|---:|")
    for name, (L, better, worse) in FRESH.items():
        cells = []
        for delta in DELTAS:
            policy, pair = sb.policies.LUCB(L=L, delta=delta), sb.Bandit([better, better])
            stopped = sb.identify(policy, pair, runs=RUNS, seed=77, max_budget=4_000)["LUCB"].stopped.sum()
            cells.append(wilson(int(stopped) // 2, RUNS))
        pair = sb.Bandit([better, worse])
        h = pair.means / np.sqrt(L + pair.variances)
        found = sb.identify(sb.policies.LUCB(L=L), pair, runs=RUNS, seed=78, max_budget=4_000)["LUCB"]
        wrong = int((found.stopped & (found.recommended[:, 0] != int(np.argmax(h)))).sum())
        cells += [f"{abs(h[0] - h[1]):.3f}", wilson(wrong, RUNS), f"{found.stopped.mean():.0%}"]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


#: Objectives beyond two moments, and arms alike on which they depend on rare rewards.
FEATURES = {
    "Sortino": sb.Sortino(0.1),
    "Omega": sb.objectives.Omega(0.1),
    "LogGrowth": sb.objectives.LogGrowth(0.1),
    "CVaR 0.3": sb.objectives.CVaR(0.3),
    "CVaR 0.1": sb.objectives.CVaR(0.1),
    "CVaR 0.05": sb.objectives.CVaR(0.05),
}
TAILS = {
    "normal, mean 0.1": sb.Normal(0.1, sd=1.0),
    "Student's t, 5 degrees of freedom": scipy.stats.t(5),
    "2 minus an exponential": ALIKE["2 minus an exponential"][1],
    "normal, a loss of about 2.1 in a twelfth": sb.Empirical(
        np.concatenate([np.tile(0.4 + 0.3 * CORE, 11), -2.1 + 0.3 * CORE])
    ),
}


def features() -> None:
    print(f"\n| two arms alike, δ = 0.05 | {' | '.join(FEATURES)} |\n|---|" + "---|" * len(FEATURES))
    for name, arm in TAILS.items():
        cells = []
        for objective in FEATURES.values():
            policy = sb.policies.LUCB(objective=objective)
            found = sb.identify(policy, sb.Bandit([arm, arm]), runs=RUNS, seed=79, max_budget=2_000)
            cells.append(wilson(int(found["LUCB"].stopped.sum()) // 2, RUNS))
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
    print("\n| 2 minus an exponential, alike | pilot_pulls | δ = 0.05 | δ = 0.01 |\n|---|---:|---|---|")
    pair = sb.Bandit([TAILS["2 minus an exponential"]] * 2)
    for name in ("Sortino", "CVaR 0.1", "CVaR 0.05"):
        for pilot in (32, 100, 320):
            cells = []
            for delta in (0.05, 0.01):
                policy = sb.policies.LUCB(objective=FEATURES[name], delta=delta, pilot_pulls=pilot)
                found = sb.identify(policy, pair, runs=RUNS, seed=80, max_budget=2_000)
                cells.append(wilson(int(found["LUCB"].stopped.sum()) // 2, RUNS))
            print(f"| {name} | {pilot} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    for part in [fresh_kinds, features] if "fresh" in sys.argv else [known_kinds, alike, unseen_losses]:
        part()
