"""Twenty S&P 500 stocks, 1990 to 2022: ranked, replayed with and without seeing all of them, and planned ahead.

Run with: python examples/real_returns.py [folder]     (needs the extra "examples": the prices are inside skfolio)

With a folder, the pages and figures of the ranking and of the replay are written there.
"""

import sys
from pathlib import Path

from skfolio.datasets import load_sp500_dataset

import sharpe_bandits as sb


def show(title: str, replay: sb.Replay) -> None:
    print(f"\n{title}\n\n{'':20}{'Sharpe a year':>16}{'less equal weight':>20}{'total':>12}{'drawdown':>10}{'turnover':>10}")
    for p in replay.players:
        sharpe = f"{p.annual_sharpe:.2f} ± {p.annual_se_hac:.2f}"
        less = f"{p.annual_difference:+.2f} ± {p.annual_difference_se:.2f}" if p.annual_difference_se else ""
        print(f"{p.name:20}{sharpe:>16}{less:>20}{p.total:>12,.0%}{p.drawdown:>10.0%}{p.annual_turnover:>10.1f}")


def main(folder: str | None = None) -> None:
    returns = sb.read_returns(load_sp500_dataset(), kind="prices", periods_per_year=252)
    print(f"{returns.span} of {len(returns.names)} stocks; {returns.convention}\n")

    ranking = sb.rank(returns)
    for column in ranking.columns[:3]:
        interval = f"[{column.annual_sharpe_low:.2f}, {column.annual_sharpe_high:.2f}]"
        print(f"{column.name:6} Sharpe {column.annual_sharpe:.2f} {interval} a year, first in {column.best:.0%} of resamples")
    print(ranking.summary)

    replay = sb.replay(returns)
    show("Policies that see what they hold (and three benchmarks)", replay)
    show("The same policies, seeing all stocks every day", sb.replay(returns, feedback="full"))
    print("\nTurnover is a year: 1 is one switch. Standard errors allow for autocorrelation.")
    print(replay.summary)

    # Were these the true Sharpe ratios, how often would so many days, one stock a day, point to another than the best?
    problem = sb.BestArmProblem.from_returns(returns)
    for point in sb.plan(problem, budget=[len(returns)], runs=1000).asked:
        print(f"{point.policy:18} names the wrong stock after {point.budget:,} days in {point.error.mean:.0%} of 1,000 runs")

    if folder is not None:
        ranking.save(Path(folder) / "rank")
        replay.save(Path(folder) / "replay")


if __name__ == "__main__":
    main(*sys.argv[1:2])
