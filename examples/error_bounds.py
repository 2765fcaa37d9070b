"""The paper's bound on the error "on the fly" beside the error: how often it holds, and what a wrong guess costs.

SHSR and SuRSR on four arms with rewards in [0, 1] and on the first four of the paper's ten; the bound is worked out
from each run's own estimates and a guess of the smallest gap. Run with: python examples/error_bounds.py [runs]
"""

import sys

import numpy as np

import sharpe_bandits as sb

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 100
GUESSES = (0.5, 1.0, 2.0)
PAPER = zip((3.80, 4.43, 5.09, 4.15), (2.7, 4.17, 6.01, 3.7), strict=True)
#: By name: arms, the interval that rewards lie in, and L.
BANDITS = {
    "in [0, 1], large gap": (sb.Bandit([sb.Uniform(0.4, 1.0)] + [sb.Uniform(0.0, 0.8)] * 3), (0.0, 1.0), 0.05),
    "in [0, 1], small gap": (sb.Bandit([sb.Uniform(0.05, 0.95)] + [sb.Uniform(0.0, 0.95)] * 3), (0.0, 1.0), 0.05),
    "the paper's, in [0.8, 9.4]": (sb.Bandit([sb.Uniform.from_moments(m, v) for m, v in PAPER]), (0.8, 9.4), 1.0),
}


def row(name: str, policy: sb.policies.Policy, budget: int) -> str:
    bandit, (lower, upper), L = BANDITS[name]
    objective = sb.RSSR(L)
    smallest = float(np.sort(objective.gaps(sb.objectives.Statistics(mean=bandit.means, variance=bandit.variances)))[1])
    error = sb.simulate(policy, bandit, horizon=budget, runs=10_000, seed=1, workers=1)[policy.name].error(objective)
    bounds = {(form, guess): [] for form in ("printed", "repaired") for guess in GUESSES}
    for run in range(RUNS):
        played = sb.trace(policy, bandit, horizon=budget, seed=2, run=run)
        phases = sb.theory.played_phases(policy, budget, bandit.K, played.choices, played.rewards)
        for form, guess in bounds:
            terms = sb.theory.path_error(phases, L, guess * smallest, form, lower=lower, upper=upper)
            bounds[form, guess].append(min(1.0, sum(terms)))
    words = [name, policy.name, f"{budget:,}", f"{smallest:.2f}", f"{error.mean:.4f} ± {error.se:.4f}"]
    for form in ("printed", "repaired"):
        words += [f"{np.mean(bounds[form, guess]):.2g}" for guess in GUESSES]
        words += [f"{np.mean(np.array(bounds[form, 1.0]) >= error.low):.0%}"]
    return "| " + " | ".join(words) + " |"


if __name__ == "__main__":
    guesses = " | ".join(f"×{guess:g}" for guess in GUESSES)
    print(
        f"| arms | policy | n | smallest gap | error | printed, guess {guesses} | holds | repaired {guesses} | holds |"
    )
    print("|---|---|--:|--:|--:" + "|--:" * 8 + "|")
    for name in BANDITS:
        for policy in (sb.SHSR(L=BANDITS[name][2]), sb.SuRSR(L=BANDITS[name][2])):
            for budget in (2_000, 20_000, 200_000):
                print(row(name, policy, budget), flush=True)
