"""How often confidence sequences of objectives beyond two moments ever leave out the true value.

Run with: python examples/feature_coverage.py [paths]
"""

import sys

import numpy as np
import scipy.stats

import sharpe_bandits as sb

PATHS = int(sys.argv[1]) if len(sys.argv) > 1 else 300
LENGTH = 3_000
OBJECTIVES = {
    "Sortino(0)": sb.objectives.Sortino(0.0),
    "Omega(0)": sb.objectives.Omega(0.0),
    "CVaR(0.1)": sb.objectives.CVaR(0.1),
    "LogGrowth": sb.objectives.LogGrowth(),
}
#: Returns of a month or so: none is below -1, where wealth would be lost.
REWARDS = {
    "normal": scipy.stats.norm(0.01, 0.05),
    "Student's t, 5 degrees of freedom": scipy.stats.t(5, loc=0.01, scale=0.04),
    "exponential less its mean": scipy.stats.expon(-0.045, 0.05),
    "minus a lognormal, σ = 0.5": None,
}

if __name__ == "__main__":
    random = np.random.default_rng(12)
    print(f"| rewards | {' | '.join(OBJECTIVES)} |\n|---|" + "---:|" * len(OBJECTIVES))
    for name, law in REWARDS.items():
        q = (np.arange(200_000) + 0.5) / 200_000
        values = law.ppf(q) if law is not None else 0.06 - 0.05 * (scipy.stats.lognorm(0.5).ppf(q) - 0.2)
        cells = []
        for objective in OBJECTIVES.values():
            truth = float(objective.value(objective.statistics(values)))
            left = 0
            for _ in range(PATHS):
                x = random.choice(values, LENGTH)
                sequence = sb.confidence_sequence(x, objective)
                left += bool(((sequence.low > truth) | (sequence.high < truth)).any())
            cells.append(f"{100 * left / PATHS:.1f}%")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
