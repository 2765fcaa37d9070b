"""Which policy to use on returns, and what it costs to see only what one holds: twenty stocks, histories drawn again.

Run with: python examples/price_of_a_bandit.py [runs]     (needs the extra "examples": the prices are inside skfolio)

Every run is ten years of days: blocks of the last ten recorded years, drawn again, so that Sharpe ratios are known. A
switch costs 0.1%. Standard errors are over runs.
"""

import sys
from typing import Any

from skfolio.datasets import load_sp500_dataset

import sharpe_bandits as sb

ROWS = 2520
POLICIES = ["SF-UCB", "ScaleFreeIMED", "ScaleFreeTS", "SlidingWindowUCB:window={window}", "UCB-RSSR", "RoundRobin"]


def main(runs: int = 40) -> None:
    returns = sb.read_returns(load_sp500_dataset().iloc[-ROWS - 1 :], kind="prices", periods_per_year=252)
    heads = f"{'decisions':>10}{'one seen':>14}{'all seen':>14}{'price':>15}{'turnover':>9}{'vs equal weight':>16}"
    print(f"{'':18}{heads}")
    for words, every, options in (
        ("daily", 1, {}),
        ("monthly", 21, {}),
        ("monthly*", 21, {"cost_aware": True, "top": 5}),
    ):
        window = max(ROWS // every // 4, 120)
        names = [name.format(window=window) for name in POLICIES]
        common = {"every": every, "cost": 0.001, "paths": "blocks", "runs": runs, "seed": 1, **options}
        one = sb.replay(returns, names, **common)
        full = sb.replay(returns, names[:4], feedback="full", **common)
        for player in one.players:
            seen = f"{player.annual_sharpe:.2f} ± {error(player, 'annual_sharpe'):.2f}"
            also = price = ""
            if player.name in {p.name for p in full.policies}:
                other = full[player.name]
                also = f"{other.annual_sharpe:.2f} ± {error(other, 'annual_sharpe'):.2f}"
                se = (error(player, "annual_sharpe") ** 2 + error(other, "annual_sharpe") ** 2) ** 0.5
                price = f"{other.annual_sharpe - player.annual_sharpe:+.2f} ± {se:.2f}"
            versus = f"{player.annual_difference:+.2f} ± {error(player, 'annual_difference'):.2f}"
            versus = versus if player.name != "equal weight" else ""
            numbers = f"{seen:>14}{also:>14}{price:>15}{player.annual_turnover:>9.1f}{versus:>16}"
            print(f"{player.name:18}{words:>10}{numbers}".rstrip(), flush=True)
        print()
    print("* the five best columns in equal parts, policies allowing for the cost of a switch")


def error(player: Any, key: str) -> float:
    """Standard error over runs."""
    return player.sd_over_runs[key] / player.runs**0.5


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
