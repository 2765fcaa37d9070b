"""Twenty S&P 500 stocks, 1990 to 2022: ranked, replayed with and without seeing all of them, and planned ahead.

Run with: python examples/real_returns.py [folder]     (needs the extra "examples": the prices are inside skfolio)

With a folder, the pages and figures of the ranking and of the replay are written there.
"""

import sys
import textwrap
from pathlib import Path

import numpy as np
from skfolio.datasets import load_sp500_dataset

import sharpe_bandits as sb
from sharpe_bandits.returns import statistics
from sharpe_bandits.returns.replay import Player

WIDTH = 120


def show(title: str, replay: sb.Replay) -> None:
    heads = f"{'Sharpe a year':>16}{'less equal weight':>20}{'total':>12}{'drawdown':>10}{'turnover':>10}"
    print(f"\n{title}\n\n{'':20}{heads}")
    for p in replay.players:
        sharpe = f"{p.annual_sharpe:.2f} ± {p.annual_se_hac:.2f}"
        less = f"{p.annual_difference:+.2f} ± {p.annual_difference_se:.2f}" if p.annual_difference_se else ""
        print(f"{p.name:20}{sharpe:>16}{less:>20}{p.total:>12,.0%}{p.drawdown:>10.0%}{p.annual_turnover:>10.1f}")


def earned(player: Player) -> np.ndarray:
    """Returns row by row, from wealth."""
    wealth = np.append(1.0, player.wealth)
    return wealth[1:] / wealth[:-1] - 1


def main(folder: str | None = None) -> None:
    returns = sb.read_returns(load_sp500_dataset(), kind="prices", periods_per_year=252)
    print(f"{returns.span} of {len(returns.names)} stocks; {returns.convention}\n")

    ranking = sb.rank(returns)
    for column in ranking.columns[:3]:
        interval = f"[{column.annual_sharpe_low:.2f}, {column.annual_sharpe_high:.2f}]"
        first = f"first in {column.best:.0%} of resamples"
        print(f"{column.name:6} Sharpe {column.annual_sharpe:.2f} {interval} a year, {first}")
    print(textwrap.fill(ranking.summary, WIDTH, break_on_hyphens=False))

    replay = sb.replay(returns)
    show("Policies that see what they hold (and three benchmarks)", replay)
    seeing = sb.replay(returns, feedback="full")
    show("The same policies, seeing all stocks every day", seeing)
    print("\nTurnover is a year: 1 is one switch. Standard errors allow for autocorrelation.")
    for name in ("SF-UCB", "SW-SF-UCB"):
        gain, se = statistics.sharpe_difference(earned(seeing[name]), earned(replay[name]))
        gain, se = (statistics.annualised(value, 252) for value in (gain, se))
        print(f"Seeing all stocks adds {gain:+.2f} ± {se:.2f} a year to the Sharpe ratio of {name}.")
    print(textwrap.fill(replay.summary, WIDTH, break_on_hyphens=False) + "\n")

    # Were these the true Sharpe ratios: how often would the same time with one stock a day point to a wrong one?
    plan = sb.plan(sb.BestArmProblem.from_returns(returns), budget=[len(returns)], runs=1000)
    for point in plan.asked:
        wrong = f"{point.error.mean:.1%} ± {point.error.se:.1%}"
        print(f"{point.policy:17} names a wrong stock in {wrong} of the runs of {point.budget:,} days")
    for point in plan.seen_at_once:
        print(f"{'All stocks seen':17} names a wrong stock in {point.error.mean:.1%} ± {point.error.se:.1%} of them")

    if folder is not None:
        ranking.save(Path(folder) / "rank")
        replay.save(Path(folder) / "replay")


if __name__ == "__main__":
    main(*sys.argv[1:2])
