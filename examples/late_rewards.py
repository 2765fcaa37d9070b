"""What late rewards cost: regret with 1, 10, 100 and 1,000 pulls pending, for two ways to treat them.

"counted": pulls under way count in an arm's pulls and in the number of rounds, its moments stay. "ignored": an arm's
record is what was told; randomised policies draw anew for every decision all the same. The library counts them for
deterministic policies and ignores them for randomised ones.

On the first case of each of the paper's panels R1 to R6.

Run with: python examples/late_rewards.py [runs]
"""

import math
import sys
from unittest.mock import patch

import numpy as np

import sharpe_bandits as sb
from sharpe_bandits.paper.panels import panels
from sharpe_bandits.simulation.families import index

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 64
HORIZON, PENDING = 10_000, (10, 100, 1000)
CASES = [panel.cases[0] for panel in panels(["R1", "R2", "R3", "R4", "R5", "R6"], "paper")]
_feedback = index._feedback


def policies(L: float) -> list[sb.policies.Policy]:
    return [
        sb.ScaleFreeUCB(L=L),
        sb.ScaleFreeIMED(L=L),
        sb.UCBRSSR(L=L),
        sb.ScaleFreeTS(L=L),
        sb.policies.ScaleFreeNPTS(L=L),
    ]


def regrets(number: int, delay: int, counted: bool) -> list[sb.results.Estimate]:
    """Of one policy on all cases."""
    found = []
    with patch.object(index, "_feedback", lambda spec: _feedback(spec)._replace(counted=float(counted))):
        for case in CASES:
            L = case.names["L"]
            policy = policies(L)[number]
            study = sb.simulate(policy, case.environment, horizon=HORIZON, runs=RUNS, seed=1, delay=delay, workers=1)
            found.append(study[policy.name].regret(sb.RSSR(L, signed=True)).final)
    return found


def geometric_mean(found: list[sb.results.Estimate]) -> str:
    """With its standard error, to first order."""
    mean = math.exp(np.mean([math.log(r.mean) for r in found]))
    return f"{mean:.0f} ± {mean * math.sqrt(sum((r.se / r.mean) ** 2 for r in found)) / len(found):.0f}"


def main() -> None:
    print(f"R1-R6, first cases: geometric mean of regret, n = {HORIZON:,}, {RUNS} runs\n")
    print("| policy | pending pulls | none | " + " | ".join(f"{d:,}" for d in PENDING) + " |")
    print("|---|---|---:|" + "---:|" * len(PENDING))
    for number, policy in enumerate(policies(1.0)):
        plain = geometric_mean(regrets(number, 0, False))
        for counted in (True, False):
            cells = [geometric_mean(regrets(number, delay, counted)) for delay in PENDING]
            print(
                f"| {policy.name} | {'counted' if counted else 'ignored'} | {plain} | {' | '.join(cells)} |", flush=True
            )


if __name__ == "__main__":
    main()
