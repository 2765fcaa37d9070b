"""How often intervals for a Sharpe ratio hold the true one: bootstrap, autocorrelation-corrected, and independent; and
those for Lo's annualised ratio.

Normal AR(1) monthly returns of a true Sharpe ratio of 0.1, or another. Run with:
python examples/interval_coverage.py [samples [ratio]] (needs the extra "data").
"""

import sys

import numpy as np
from scipy.signal import lfilter

import sharpe_bandits as sb

SAMPLES = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
SHARPE = float(sys.argv[2]) if len(sys.argv) > 2 else 0.1


def sample(rho: float, rows: int, seed: int) -> sb.Returns:
    noise = np.random.default_rng(seed).normal(size=rows + 100)
    x = SHARPE + lfilter([np.sqrt(1 - rho**2)], [1, -rho], noise)[100:]
    return sb.read_returns(0.01 * x[:, None], names=["A"], kind="returns", periods_per_year=12)


def covered(rho: float, rows: int) -> np.ndarray:
    """Shares of samples whose intervals hold the true ratio, and Lo's."""
    hits, lag = [], np.arange(1, 12)
    lo = SHARPE * 12 / np.sqrt(12 + 2 * ((12 - lag) * rho**lag).sum())
    for seed in range(SAMPLES):
        found = sb.rank(sample(rho, rows, seed), replications=400, seed=seed)["A"]
        off = abs(found.sharpe - SHARPE)
        hits.append([
            found.sharpe_low < SHARPE < found.sharpe_high, off < 1.96 * found.se, off < 1.96 * found.se_iid,
            found.annual_sharpe_robust_low < lo < found.annual_sharpe_robust_high,
        ])  # fmt: skip
    return np.mean(hits, axis=0)


if __name__ == "__main__":
    print("| autocorrelation | rows | bootstrap | s.e. | s.e. iid | Lo's |\n|---:|---:|---:|---:|---:|---:|")
    worst = 1.0
    for rho in (0.0, 0.3):
        for rows in (120, 1000, 2500):
            shares = covered(rho, rows)
            worst = min(worst, shares.min())
            print(f"| {rho:g} | {rows:,} | {' | '.join(f'{share:.1%}' for share in shares)} |")
    print(f"\nStandard error: at most {np.sqrt(worst * (1 - worst) / SAMPLES):.1%}")
