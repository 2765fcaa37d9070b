"""Twenty S&P 500 stocks, 1990 to 2022: ranked, replayed with and without seeing all of them, and planned ahead.

Run with: python examples/real_returns.py [folder]     (needs the extra "examples": the prices are inside skfolio)

With a folder, the pages and figures of the ranking and of the replay are written there.
"""

import sys
import textwrap
from pathlib import Path

from skfolio.datasets import load_sp500_dataset

import sharpe_bandits as sb
from sharpe_bandits.returns.replay import Replay

WIDTH = 120
#: Orders of the stocks in which a policy is replayed.
RUNS = 100


def show(title: str, replay: Replay) -> None:
    heads = f"{'annualised Sharpe':>19}{'90% of runs':>15}{'vs equal weight':>17}"
    print(f"\n{title}\n\n{'':18}{heads}{'total':>10}{'drawdown':>10}{'turnover':>10}")
    for p in replay.players:
        sharpe = f"{p.annual_sharpe:.2f} ± {p.annual_se:.2f}"
        band = "{:.2f} to {:.2f}".format(*p.band["annual_sharpe"]) if p.band else ""
        versus = f"{p.annual_difference:+.2f} ± {p.annual_difference_se:.2f}" if p.annual_difference_se else ""
        rest = f"{p.total:>10,.0%}{p.drawdown:>10.0%}{p.annual_turnover:>10.1f}"
        print(f"{p.name:18}{sharpe:>19}{band:>15}{versus:>17}{rest}")


def main(folder: str | None = None) -> None:
    returns = sb.read_returns(load_sp500_dataset(), kind="prices", periods_per_year=252)
    print(f"{returns.span} of {len(returns.names)} stocks; {returns.convention}")
    for remark in returns.remarks:
        print(textwrap.fill(f"Check: {remark}.", WIDTH, break_on_hyphens=False))
    print()

    ranking = sb.rank(returns)
    for column in ranking.columns[:3]:
        interval = f"[{column.annual_sharpe_low:.2f}, {column.annual_sharpe_high:.2f}]"
        first = f"first in {column.best:.0%} of resamples"
        print(f"{column.name:6} Sharpe {column.annual_sharpe:.2f} {interval} annualised, {first}")
    print(textwrap.fill(ranking.conclusion, WIDTH, break_on_hyphens=False))

    replay = sb.replay(returns, runs=RUNS)
    show("Policies that see what they hold (and three benchmarks)", replay)
    seeing = sb.replay(returns, feedback="full", runs=RUNS)
    show("The same policies, seeing all stocks every day", seeing)
    print(f"\nTurnover is annualised: 1 is one switch. {RUNS} runs, with the stocks in another order each.")
    print(textwrap.fill(replay.conclusion, WIDTH, break_on_hyphens=False) + "\n")

    # Were these the true Sharpe ratios: how often would as much time point to a wrong stock?
    plan = sb.plan(sb.BestArmProblem.from_returns(returns), budget=[len(returns)], runs=1000)
    for point in plan.asked:
        wrong = f"{point.error.mean:.0%} ± {point.error.se:.0%}"
        print(f"{point.policy:30} names a wrong stock in {wrong} of the runs of {point.budget:,} days")

    if folder is not None:
        ranking.report(Path(folder) / "rank")
        replay.report(Path(folder) / "replay")


if __name__ == "__main__":
    main(*sys.argv[1:2])
