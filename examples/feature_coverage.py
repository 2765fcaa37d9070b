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
#: Returns of a month or so.
REWARDS = scipy.stats.norm(0.01, 0.05)

if __name__ == "__main__":
    random = np.random.default_rng(12)
    print(f"| rewards | {' | '.join(OBJECTIVES)} |\n|---|" + "---:|" * len(OBJECTIVES))
    values = REWARDS.ppf((np.arange(200_000) + 0.5) / 200_000)
    cells = []
    for objective in OBJECTIVES.values():
        truth = float(objective.value(objective.statistics(values)))
        left = 0
        for _ in range(PATHS):
            sequence = sb.confidence_sequence(random.choice(values, LENGTH), objective)
            left += bool(((sequence.low > truth) | (sequence.high < truth)).any())
        cells.append(f"{100 * left / PATHS:.1f}%")
    print(f"| normal | {' | '.join(cells)} |")
