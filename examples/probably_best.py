"""How often "probably best" and "some arm beats the hurdle" are wrong under adaptive play, and how soon they are right.

Run with: python examples/probably_best.py [runs] [rounds]
"""

import sys

import numpy as np
import scipy.stats

import sharpe_bandits as sb
from sharpe_bandits.confidence_sequences import evidence_above, lateness, leader
from sharpe_bandits.objectives import Statistics

RUNS, HORIZON = (int(sys.argv[k]) if len(sys.argv) > k else default for k, default in ((1, 1_000), (2, 8_192)))
OBJECTIVE = sb.RSSR(0.1, signed=True)
CHECKS = np.unique(np.round(np.geomspace(64, HORIZON, 40) / 32).astype(int) * 32)
#: Bandits in which the first arm is the best, and bandits without a best arm, where every claim is false.
CLEAR = {
    "normal 0.8, 0.3": sb.Bandit([sb.Normal(0.8, variance=1), sb.Normal(0.3, variance=1)]),
    "normal 0.5, 0.2, 0.2": sb.Bandit([sb.Normal(mean, variance=1) for mean in (0.5, 0.2, 0.2)]),
    "exponential, means 0.7, 0.2": sb.Bandit([scipy.stats.expon(-0.3), scipy.stats.expon(-0.8)]),
}
ALIKE = {
    "two normal arms alike": sb.Bandit([sb.Normal(0.3, variance=1)] * 2),
    "five normal arms alike": sb.Bandit([sb.Normal(0.3, variance=1)] * 5),
    "two exponential arms alike": sb.Bandit([scipy.stats.expon(-0.5)] * 2),
    "two t5 arms alike": sb.Bandit([scipy.stats.t(5, loc=0.3)] * 2),
}
PLAY = {
    "SF-UCB": (sb.ScaleFreeUCB(L=0.1), {}),
    "SF-UCB, 100 pending": (sb.ScaleFreeUCB(L=0.1), {"delay": 100}),
    "equal play": (sb.policies.RoundRobin(OBJECTIVE), {}),
    "10% exploration": (sb.policies.EpsilonGreedy(OBJECTIVE, epsilon=0.1), {}),
}


def checks(choices, rewards, arms):
    """Statistics of all arms at every check."""
    played = choices[:, None] == np.arange(arms)
    n = np.cumsum(played, axis=0)[CHECKS - 1]
    x = rewards[:, None] * played
    a, b, c, d = (np.cumsum(x**k, axis=0)[CHECKS - 1] / np.maximum(n, 1) for k in (1, 2, 3, 4))
    variance = np.maximum(b - a * a, 0)
    third, fourth = c - a * (3 * b - 2 * a * a), d - a * (4 * c - a * (6 * b - 3 * a * a))
    for row in range(len(CHECKS)):
        yield Statistics(n[row], a[row], variance[row] * n[row] / np.maximum(n[row] - 1, 1), third[row], fourth[row])


def first_claims(bandit, policy, options):
    """Per run: the check of the first claim and the arm claimed, or None."""
    claims = []
    for run in range(RUNS):
        played = sb.trace(policy, bandit, horizon=HORIZON, seed=7, run=run, **options)
        claim = None
        for t, statistics in zip(CHECKS, checks(played.choices, played.rewards, bandit.K), strict=True):
            best = leader(statistics, OBJECTIVE)
            if best.probably_best:
                claim = int(t), best.arm
                break
        claims.append(claim)
    return claims


print(f"Rounds until the best arm is called probably best, {RUNS:,} runs of {HORIZON:,} rounds, alpha = 5%\n")
print("| bandit | play | median round | wrong |\n|---|---|--:|--:|")
for name, bandit in CLEAR.items():
    for play, (policy, options) in PLAY.items():
        claims = first_claims(bandit, policy, options)
        first = np.median([HORIZON if claim is None else claim[0] for claim in claims])
        wrong = np.mean([claim is not None and claim[1] != 0 for claim in claims])
        print(f"| {name} | {play} | {first:,.0f} | {100 * wrong:.1f}% |", flush=True)

print("\nRuns with a false claim, where no arm is better than all others\n")
print(f"| bandit | {' | '.join(PLAY)} |\n|---|" + "--:|" * len(PLAY))
for name, bandit in ALIKE.items():
    shares = [np.mean([claim is not None for claim in first_claims(bandit, *play)]) for play in PLAY.values()]
    print(f"| {name} | {' | '.join(f'{100 * share:.1f}%' for share in shares)} |", flush=True)

print("\nRuns in which some arm is ever said to beat the hurdle 0 (p < 5%), if none does\n")
print(f"| arms of mean 0 | {' | '.join(PLAY)} |\n|---|" + "--:|" * len(PLAY))
NULL = {"two normal": sb.Bandit([sb.Normal(0, variance=1)] * 2), "five t5": sb.Bandit([scipy.stats.t(5)] * 5)}
for name, bandit in NULL.items():
    shares = []
    for policy, options in PLAY.values():
        wrong = 0
        for run in range(RUNS):
            played = sb.trace(policy, bandit, horizon=HORIZON, seed=8, run=run, **options)
            every = checks(played.choices, played.rewards, bandit.K)
            wrong += any(evidence_above(statistics, OBJECTIVE).p_value < 0.05 for statistics in every)
        shares.append(f"{100 * wrong / RUNS:.1f}%")
    print(f"| {name} | {' | '.join(shares)} |", flush=True)

print("\nLate rewards: how often a dependence of rewards on their delay is noticed\n")
print("| 400 rewards of two arms | noticed |\n|---|--:|")
random = np.random.default_rng(9)
for name, dependence in {"delays independent of rewards": 0.0, "below-average rewards come later": 1.0}.items():
    noticed = 0
    for _ in range(RUNS):
        arms, x = random.integers(2, size=400), random.normal(size=400)
        delays = random.exponential(size=400) + dependence * (x < 0)
        noticed += lateness(arms, x + arms, delays).differs
    print(f"| {name} | {100 * noticed / RUNS:.1f}% |")
