"""How much of what SF-UCB earns is luck: the same policy on the same stocks, with the columns in other orders.

SF-UCB draws no random numbers, and tries columns in the order of the table first. Run with:
python examples/column_orders.py [orders]     (needs the extra "examples": the prices are inside skfolio)
"""

import sys

import numpy as np
from skfolio.datasets import load_sp500_dataset

import sharpe_bandits as sb
from sharpe_bandits.returns import statistics


def annual_sharpe(returns: sb.Returns, order: np.ndarray, policy: sb.policies.Policy) -> float:
    """The annualised Sharpe ratio of a policy that plays through the rows, columns in this order."""
    rewards = returns.values.T[order]
    tape = sb.Tape(rewards, clock="rounds")
    held = sb.trace(policy, tape, horizon=len(returns)).choices
    earned = rewards[held, np.arange(len(returns))]
    return float(statistics.annualised(statistics.sharpe(earned), returns.periods_per_year))


def main(orders: int = 30) -> None:
    returns = sb.read_returns(load_sp500_dataset(), kind="prices", periods_per_year=252)
    known_then, known_afterwards = sb.replay(returns, "SF-UCB", runs=2).L, sb.rank(returns, replications=40).L
    columns = len(returns.names)
    print("| L | orders | smallest | 10% | median | 90% | largest | as in the file | orders that do worse |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for name, L in (("by the first rows", known_then), ("by all rows", known_afterwards)):
        policy, generator = sb.ScaleFreeUCB(L=L), np.random.default_rng(0)
        own = annual_sharpe(returns, np.arange(columns), policy)
        others = [annual_sharpe(returns, generator.permutation(columns), policy) for _ in range(orders)]
        quantiles = " | ".join(f"{value:.2f}" for value in np.quantile(others, [0, 0.1, 0.5, 0.9, 1]))
        print(f"| {name} | {orders} | {quantiles} | {own:.2f} | {np.mean(np.array(others) < own):.0%} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
