"""LUCB on bandits of several kinds: when it stops, and how often it is wrong, against delta.

Run with: python examples/fixed_confidence.py [runs]
"""

import sys

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
#: An arm that loses 5 once in fifty times and else pays about 1, and one that pays about 0.8 with less to fear.
CRASH = [
    sb.Empirical([*np.linspace(0.9, 1.1, 98), -5.0, -5.0]),
    sb.Empirical(np.linspace(0.3, 1.3, 100)),
]

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

print("\n| a loss of 5 in 2% of pulls | rounds, mean | wrong, 95% interval |\n|---|---|---|")
for pulls in (32, 100, 185, 300):
    found = sb.identify(sb.policies.LUCB(L=0.1, pilot_pulls=pulls), sb.Bandit(CRASH), runs=RUNS, seed=1)["LUCB"]
    time, error = found.stopping_time(), found.error()
    print(
        f"| pilot_pulls={pulls} | {time.mean:.0f} ± {time.se:.0f} | "
        f"{error.mean:.4f} [{error.low:.4f}, {error.high:.4f}] |"
    )
