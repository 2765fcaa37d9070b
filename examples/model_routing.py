"""Requests among three models: quality, price and latency in one reward, and what an aversion to risk changes.

Run with: python examples/model_routing.py
"""

import numpy as np

import sharpe_bandits as sb

# A log of 2,000 requests per model, made up: score of the answer from 0 to 1, price in cents, seconds.
generator = np.random.default_rng(1)
LOG = {
    "large": (generator.beta(9, 2, 2_000), 1.2, generator.lognormal(0.3, 0.5, 2_000)),
    "small": (generator.beta(6, 2.2, 2_000), 0.1, generator.lognormal(-1.0, 0.3, 2_000)),
    "spot": (generator.beta(9, 2.2, 2_000), 0.3, generator.lognormal(-0.8, 1.5, 2_000)),
}


def value(score, cents, seconds):
    """What an answer is worth: a cent costs 0.02 of quality, a second 0.05."""
    return score - 0.02 * cents - 0.05 * seconds


rewards = {model: value(*log) for model, log in LOG.items()}
print("model   mean   standard deviation")
for model, values in rewards.items():
    print(f"{model:6} {values.mean():5.3f}   {values.std():5.3f}")

arms = [sb.Empirical(values) for values in rewards.values()]
for words, objective in {
    "mean": sb.Mean(),
    "mean - 0.5 s.d.": sb.MeanRisk(aversion=0.5),
    "Sharpe ratio": sb.Sharpe(L=0.01),
}.items():
    study = sb.simulate(sb.ScaleFreeUCB(objective=objective), arms, horizon=20_000, runs=50, seed=1)
    shares = study["SF-UCB"].final.mean(axis=0) / 20_000
    print(f"by {words:16}" + ", ".join(f"{model} {share:.0%}" for model, share in zip(rewards, shares, strict=True)))
