"""Segments that share what they learn: one record for all, one per segment, or partial pooling.

``python examples/segments.py 12`` prints the regret of each over so many bandits per row. Eight segments of five arms;
an arm's mean is that of the arm (standard deviation 0.3), plus an effect of the segment on all arms (0.5), plus a
deviation of the arm in the segment, whose standard deviation is the first column. Rewards have a standard deviation of 1.
"""

import sys

import numpy as np

import sharpe_bandits as sb
from sharpe_bandits.live.campaigns.segments import Segments

SEGMENTS, ARMS, ROUNDS = 8, 5, 3000
POLICY = sb.ScaleFreeUCB(objective=sb.objectives.Mean())
DEVIATIONS = (0.0, 0.1, 0.2, 0.4, 0.8)


def agent(seed):
    return POLICY.agent(ARMS, seed=seed)


def run(pooling, means, seed):
    """Regret against the best arm of each segment, and the deviation that pooling has estimated."""
    generator, whole, segments = np.random.default_rng(seed), agent(0), Segments(pooling, 0, agent)
    regret = 0.0
    for place in generator.integers(SEGMENTS, size=ROUNDS):
        name = f"segment {place}"
        learner = whole if pooling == "none" else segments.agent(name, whole)
        arm = (whole if pooling == "none" else segments.chooser(name, whole))._next()
        learner.tell(arm, generator.normal(means[place, arm], 1.0))
        regret += means[place].max() - means[place, arm]
    return regret, np.sqrt(segments.borrowed("segment 0").rho) if pooling == "pooled" else np.nan


def main(bandits):
    print("| deviation | one record for all | a record per segment | pooled | deviation estimated |")
    print("|---:|---:|---:|---:|---:|")
    for deviation in DEVIATIONS:
        results = {pooling: [] for pooling in ("none", "separate", "pooled")}
        for seed in range(bandits):
            generator = np.random.default_rng([seed, 1])
            means = generator.normal(0, 0.3, ARMS) + generator.normal(0, 0.5, (SEGMENTS, 1))
            means = means + generator.normal(0, deviation, (SEGMENTS, ARMS))
            for pooling, rows in results.items():
                rows.append(run(pooling, means, seed))
        cells = []
        for rows in results.values():
            regrets = [regret for regret, _ in rows]
            cells.append(f"{np.mean(regrets):.0f} ± {np.std(regrets, ddof=1) / np.sqrt(bandits):.0f}")
        estimated = np.mean([rho for _, rho in results["pooled"]])
        print(f"| {deviation} | {' | '.join(cells)} | {estimated:.2f} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2)
