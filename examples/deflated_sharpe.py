"""How often the best of many strategies without skill passes for a good one: plain, deflated as published, and here.

Normal returns of mean 0, all pairs of strategies with the same correlation; some are tried, the best of them are kept,
and the best of these is judged. Run with: python examples/deflated_sharpe.py [samples]
"""

import sys

import numpy as np

from sharpe_bandits.returns import statistics

#: Strategies tried, those kept of them, correlation, rows.
CASES = [
    (2, 2, 0.0, 1000), (2, 2, 0.8, 1000), (5, 5, 0.0, 120), (20, 20, 0.0, 1000), (20, 20, 0.5, 1000),
    (20, 20, 0.99, 1000), (100, 5, 0.0, 1000), (100, 5, 0.5, 1000), (100, 5, 0.9, 1000), (100, 1, 0.0, 1000),
    (1000, 5, 0.0, 1000),
]  # fmt: skip
#: A strategy passes if the confidence that its Sharpe ratio is above 0 exceeds this.
PASSES = 0.95


def kept(generator: np.random.Generator, tried: int, given: int, correlation: float, rows: int) -> np.ndarray:
    """Returns (rows, columns) of the best strategies of those tried."""
    x = np.sqrt(1 - correlation) * generator.standard_normal((rows, tried), np.float32)
    x += np.sqrt(correlation) * generator.standard_normal((rows, 1), np.float32)
    best = np.argsort(-x.mean(axis=0) / x.std(axis=0))[:given]
    return x[:, best].astype(float)


def passed(case: tuple[int, int, float, int], samples: int) -> np.ndarray:
    """Shares of samples in which the best passes: plain, deflated as published, deflated here; and effective trials."""
    tried, given, correlation, _ = case
    found = []
    for sample in range(samples):
        x = kept(np.random.default_rng((sample, tried, given, round(100 * correlation))), *case)
        sharpe, se = statistics.sharpe(x), statistics.sharpe_se_iid(x)
        chosen = statistics.selection(x, tried)
        levels = [
            statistics.probabilistic_sharpe(sharpe, se).max(),
            statistics.probabilistic_sharpe(sharpe, se, statistics.expected_maximum(tried, chosen.given)).max(),
            statistics.probabilistic_sharpe(sharpe, se, statistics.expected_maximum(tried, chosen.variance)).max(),
        ]
        found.append([*(level > PASSES for level in levels), chosen.effective])
    return np.mean(found, axis=0)


def passed_if_autocorrelated(rows: int, samples: int) -> np.ndarray:
    """Shares of samples in which the best 5 of 100 pass (AR 0.5): DSR iid, DSR robust, and DSR, one or the other."""
    found = []
    for sample in range(samples):
        noise = np.random.default_rng((sample, rows)).standard_normal((rows + 100, 100))
        for row in range(1, len(noise)):
            noise[row] += 0.5 * noise[row - 1]
        x = noise[100:]
        x = x[:, np.argsort(-statistics.sharpe(x))[:5]]
        variance = statistics.selection(x, 100).variance
        iid, robust = statistics.sharpe_se_iid(x), statistics.sharpe_se_hac(x)
        shown = np.where(statistics.autocorrelation_p(x) <= statistics.TEST_LEVEL, robust, iid)
        levels = (
            statistics.probabilistic_sharpe(statistics.sharpe(x), se, statistics.expected_maximum(100, variance))
            for se in (iid, robust, shown)
        )
        found.append([level.max() > PASSES for level in levels])
    return np.mean(found, axis=0)


def main(samples: int = 1000) -> None:
    print("| tried | given | correlation | rows | effective trials | PSR | DSR, variance of those given | DSR |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|")
    for case in CASES:
        tried, given, correlation, rows = case
        *shares, effective = passed(case, samples)
        words = " | ".join(f"{share:.1%}" for share in shares)
        print(f"| {tried:,} | {given} | {correlation:g} | {rows:,} | {effective:,.4g} | {words} |", flush=True)
    for rows in (60, 120):
        shares = passed_if_autocorrelated(rows, samples)
        words = ", ".join(f"{name} {share:.1%}" for name, share in zip(("iid", "robust", "DSR"), shares, strict=True))
        print(f"\nAR 0.5, {rows} rows, 5 of 100: {words}", flush=True)
    print(f"\nStandard error of a share of 5%: {np.sqrt(0.05 * 0.95 / samples):.1%}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
