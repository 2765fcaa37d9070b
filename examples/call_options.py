"""A hundred call options: which one's payoff varies most?

The case study of "Variance-Optimal Arm Selection" (arXiv 2505.11985) plays UCB-VV and SHVV on call options of 100 stocks
that follow geometric Brownian motion. Its abstract gives no parameters; these are ours: one month, at the money, drift
5%, volatilities from 10% to 60% a year. Rewards are payoffs as a share of the price, and the same in percent.

Run with: python examples/call_options.py [runs]
"""

import sys

import numpy as np
from scipy.stats import norm

import sharpe_bandits as sb

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 40
STOCKS, HORIZON, MONTH, DRIFT = 100, 10_000, 1 / 12, 0.05
VARIANCE = sb.objectives.Variance()
Z = norm.ppf((np.arange(1_000) + 0.5) / 1_000)


def option(volatility: float, unit: float) -> sb.Empirical:
    """The payoff of a call, at a thousand quantiles of the stock's price."""
    growth = np.exp((DRIFT - volatility**2 / 2) * MONTH + volatility * MONTH**0.5 * Z)
    return sb.Empirical(unit * np.maximum(growth - 1.0, 0.0))


if __name__ == "__main__":
    P = sb.policies
    to_earn = [
        P.UCBVV(),
        P.EpsilonGreedy(VARIANCE, epsilon=0.1),
        sb.ScaleFreeUCB(objective=VARIANCE),
        sb.ScaleFreeTS(objective=VARIANCE),
    ]
    to_know = [P.SHVV(), P.OCBARejects(VARIANCE), P.UniformSampling(VARIANCE)]
    print("| policy | payoff as a share: regret of equal play, % | wrong arm | payoff in percent: regret | wrong arm |")
    print("|---|---:|---:|---:|---:|")
    words = {policy.name: [policy.name] for policy in (*to_earn, *to_know)}
    for unit in (1.0, 100.0):
        bandit = sb.Bandit([option(volatility, unit) for volatility in np.linspace(0.6, 0.1, STOCKS)])
        study = sb.simulate([*to_earn, *to_know], bandit, horizon=HORIZON, runs=RUNS, seed=5, workers=1)
        equal = HORIZON * (bandit.variances.max() - bandit.variances.mean())
        for policy in (*to_earn, *to_know):
            result = study[policy.name]
            regret = result.regret(VARIANCE).final
            shown = f"{100 * regret.mean / equal:.0f} ± {100 * regret.se / equal:.0f}" if policy in to_earn else "–"
            words[policy.name] += [shown, f"{result.error(VARIANCE).mean:.2f}"]
    print("\n".join(f"| {' | '.join(cells)} |" for cells in words.values()))
