"""How much of what SF-UCB earns is luck: the same policy on the same stocks, with the columns in other orders.

SF-UCB draws no random numbers, and tries columns in the order of the table first. Run with:
python examples/column_orders.py [orders]     (needs the extra "examples": the prices are inside skfolio)
"""

import sys

import numpy as np
from skfolio.datasets import load_sp500_dataset

import sharpe_bandits as sb
from sharpe_bandits.returns import statistics


def annual_sharpe(returns: sb.Returns, order: np.ndarray, policy: sb.Policy) -> float:
    """The annualised Sharpe ratio of a policy that plays through the rows, columns in this order."""
    rewards = returns.values.T[order]
    tape = sb.Tape(rewards, clock="rounds")
    held = sb.trace(policy, tape, horizon=len(returns)).choices
    earned = rewards[held, np.arange(len(returns))]
    return float(statistics.annualised(statistics.sharpe(earned), returns.periods_per_year))


def main(orders: int = 30) -> None:
    returns = sb.read_returns(load_sp500_dataset(), kind="prices", periods_per_year=252)
    policy = sb.ScaleFreeUCB(L=sb.replay(returns, "SF-UCB", runs=2).L)
    generator, columns = np.random.default_rng(0), len(returns.names)
    own = annual_sharpe(returns, np.arange(columns), policy)
    others = [annual_sharpe(returns, generator.permutation(columns), policy) for _ in range(orders)]
    low, high, below = min(others), max(others), np.mean(np.array(others) < own)
    print("| orders of the columns | smallest | median | largest | as in the file | orders that do worse |")
    print("|---:|---:|---:|---:|---:|---:|")
    print(f"| {orders} | {low:.2f} | {np.median(others):.2f} | {high:.2f} | {own:.2f} | {below:.0%} |")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
