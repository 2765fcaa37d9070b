"""Policies that people expect for the best arm with a fixed budget, beside those that are made for it.

UCB-V, UCB-Tuned and KL-UCB play for the largest mean; TopTwo plays as if it would stop, and never does. All of them
recommend the arm with the best estimate of the objective. Problems: B1 to B6 as printed (B5 is B4 here), with 16 arms, and
eight random ones with at most 10,000 rounds. Run with: python examples/best_arm_baselines.py [runs]
"""

import sys

import numpy as np

import sharpe_bandits as sb
from best_arm import problems

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 200
P = sb.policies


def towards(kind, objective):
    """A policy that recommends by an objective that it does not play for."""
    return type(kind.__name__, (kind,), {"goal": property(lambda self: objective)})()


def every():
    for name, bandit, objective, budget in problems(seed=2027, each=1):
        if (bandit.K == 16 and name.endswith("paper") and "B5" not in name) or name.endswith("1"):
            yield name, bandit, objective, min(budget, 10_000)


if __name__ == "__main__":
    rows = []
    for name, bandit, objective, budget in every():
        policies = [
            P.OCBARejects(objective),
            P.SuccessiveRejects(objective, name="SuRSR"),
            P.SequentialHalving(objective, name="SHSR"),
            *(towards(kind, objective) for kind in (P.UCBV, P.UCBTuned, P.KLUCB)),
        ]
        study = sb.simulate(policies, bandit, horizon=budget, runs=RUNS, seed=11, checkpoints=[budget], workers=1)
        errors = {policy: study[policy].error(objective).mean for policy in study.names}
        errors["TopTwo"] = float("nan")
        if not bandit.pregenerated:  # arms that differ from run to run cannot be identified
            patient = sb.TopTwo(objective=objective, delta=1e-300)
            runs = sb.identify(patient, bandit, runs=RUNS, seed=11, max_budget=budget, workers=1)
            errors["TopTwo"] = float(runs["TopTwo"].wrong(objective).mean())
        if not rows:
            print(f"| problem | K | budget | {' | '.join(errors)} |\n|---|--:|--:|" + "--:|" * len(errors))
        rows.append(list(errors.values()))
        print(f"| {name} | {bandit.K} | {budget:,} | {' | '.join(f'{e:.3f}' for e in rows[-1])} |", flush=True)
    print(f"| mean of {len(rows)} | | | {' | '.join(f'{e:.3f}' for e in np.nanmean(rows, axis=0))} |")
