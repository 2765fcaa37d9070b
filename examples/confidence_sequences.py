"""How often a confidence sequence ever leaves the truth out, and how often rewards are marked heavy-tailed.

Paths of 10,000 rewards of known distributions, looked at after every reward. Run with:
python examples/confidence_sequences.py [paths]
"""

import sys

import numpy as np
from scipy.signal import lfilter

import sharpe_bandits as sb

PATHS = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
LENGTH, ALPHA, AT_ONCE = 10_000, 0.05, 50


def garch(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Clustered volatility around a mean of 0.1, variance 1 in the long run."""
    z, variance = rng.normal(size=(shape[0] + 200, shape[1])), np.ones(shape[1])
    x = np.empty_like(z)
    for t, row in enumerate(z):
        x[t] = np.sqrt(variance) * row
        variance = 0.05 + 0.15 * x[t] ** 2 + 0.8 * variance
    return 0.1 + x[200:]


def autoregressive(rng: np.random.Generator, shape: tuple[int, int], phi: float) -> np.ndarray:
    noise = rng.normal(size=(shape[0] + 200, shape[1])) * np.sqrt(1 - phi**2)
    return 0.1 + lfilter([1.0], [1.0, -phi], noise, axis=0)[200:]


#: By name: what draws rewards, their mean and variance, and whether autocorrelation is allowed for.
REWARDS = {
    "normal, Sharpe ratio 0.1": (lambda g, s: g.normal(0.1, 1, s), 0.1, 1.0, False),
    "normal, Sharpe ratio 1": (lambda g, s: g.normal(1, 1, s), 1.0, 1.0, False),
    "uniform on [0, 1]": (lambda g, s: g.random(s), 0.5, 1 / 12, False),
    "Student's t, 5 degrees of freedom": (lambda g, s: 1 + g.standard_t(5, s), 1.0, 5 / 3, False),
    "exponential": (lambda g, s: g.exponential(size=s), 1.0, 1.0, False),
    "Bernoulli 0.5": (lambda g, s: 1.0 * (g.random(s) < 0.5), 0.5, 0.25, False),
    "Bernoulli 0.95": (lambda g, s: 1.0 * (g.random(s) < 0.95), 0.95, 0.0475, False),
    "Bernoulli 0.99": (lambda g, s: 1.0 * (g.random(s) < 0.99), 0.99, 0.0099, False),
    "lognormal, σ = 0.5": (
        lambda g, s: g.lognormal(0, 0.5, s), np.exp(0.125), (np.exp(0.25) - 1) * np.exp(0.25), False,
    ),
    "lognormal, σ = 1": (lambda g, s: g.lognormal(0, 1, s), np.exp(0.5), (np.e - 1) * np.e, False),
    "GARCH(1, 1)": (garch, 0.1, 1.0, False),
    "AR(1), φ = 0.5, not allowed for": (lambda g, s: autoregressive(g, s, 0.5), 0.1, 1.0, False),
    "AR(1), φ = 0.5": (lambda g, s: autoregressive(g, s, 0.5), 0.1, 1.0, True),
    "AR(1), φ = 0.9": (lambda g, s: autoregressive(g, s, 0.9), 0.1, 1.0, True),
}  # fmt: skip


def measure(name: str, paths: int) -> tuple[float, float, float, float]:
    """Shares of paths that ever leave the Sharpe ratio and RSSR out, that are marked, and the median start."""
    draw, mean, variance, autocorrelated = REWARDS[name]
    rng = np.random.default_rng(sorted(REWARDS).index(name))
    left, marked, starts = np.zeros(2), 0, []
    for _ in range(0, paths, AT_ONCE):
        x = draw(rng, (LENGTH, AT_ONCE))
        for k, objective in enumerate((None, sb.RSSR(variance / 10, signed=True))):
            truth = (
                mean / np.sqrt(variance)
                if objective is None
                else objective.value(sb.objectives.Statistics(mean=mean, variance=variance))
            )
            found = sb.confidence_sequence(x, objective, alpha=ALPHA, autocorrelated=autocorrelated)
            left[k] += ((found.low > truth) | (found.high < truth)).any(axis=0).sum()
        begun = np.isfinite(found.high)
        starts += np.where(begun.any(axis=0), begun.argmax(axis=0) + 1, LENGTH).tolist()
        marked += (found.heavy_tailed & begun).any(axis=0).sum()
    sharpe, rssr = left / paths
    return float(sharpe), float(rssr), marked / paths, float(np.median(starts))


if __name__ == "__main__":
    print("| rewards | Sharpe ratio left out | RSSR left out | marked heavy-tailed | first interval, median |")
    print("|---|---:|---:|---:|---:|")
    for name in REWARDS:
        sharpe, rssr, marked, start = measure(name, PATHS)
        print(f"| {name} | {sharpe:.1%} | {rssr:.1%} | {marked:.1%} | {start:.0f} |", flush=True)
    print(
        f"\n{PATHS:,} paths of {LENGTH:,} rewards; α = {ALPHA:g}; standard error at 5%: {np.sqrt(0.0475 / PATHS):.1%}"
    )
