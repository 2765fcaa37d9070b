"""Policies that people expect for the best arm with a fixed budget, beside those that are made for it.

UCB-V, UCB-Tuned and KL-UCB play for the largest mean; TopTwo plays as if it would stop, and never does. All of them
recommend the arm with the best estimate of the objective. Problems: B1 to B6 as printed (B5 is B4 here), with 16 arms, and
eight random ones with at most 10,000 rounds.

With "three" only the best three are played, with paired differences (the same rewards), on 32 random problems more; TopTwo
then has a pilot of at most a quarter of the budget. Run with: python examples/best_arm_baselines.py [runs] [three]
"""

import sys

import numpy as np

import sharpe_bandits as sb
from best_arm import problems

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 200
P = sb.policies


def towards(kind, objective):
    """A policy that recommends by an objective that it does not play for."""
    return type(kind.__name__, (kind,), {"objective": property(lambda self: objective)})()


def every(seed=2027, each=1):
    for name, bandit, objective, budget in problems(seed=seed, each=each):
        if (bandit.K == 16 and name.endswith("paper") and "B5" not in name) or name.endswith("1"):
            yield name, bandit, objective, min(budget, 10_000)


def three():
    """Errors of OCBA rejects, and by how much those of SuRSR and TopTwo are larger."""
    print("| problem | K | budget | OCBA rejects | SuRSR − OCBA | TopTwo − OCBA |\n|---|--:|--:|--:|--:|--:|")
    known = list(every())
    fresh = [problem for problem in problems(seed=2031, each=4) if problem[0][-1].isdigit()]
    for title, chosen in (("those of the table", known), ("fresh ones", fresh)):
        means, errors = [], []
        for name, bandit, objective, budget in chosen:
            budget = min(budget, 10_000)
            if bandit.pregenerated:
                continue
            pair = [P.OCBARejects(objective), P.SuccessiveRejects(objective, name="SuRSR")]
            study = sb.simulate(pair, bandit, horizon=budget, runs=RUNS, seed=12, checkpoints=[budget])
            pilot = max(2, min(32, budget // (4 * bandit.K)))
            patient = sb.TopTwo(objective=objective, delta=1e-300, pilot_pulls=pilot)
            runs = sb.identify(patient, bandit, runs=RUNS, seed=12, max_budget=budget)["TopTwo"]
            wrong = [*(study[policy].wrong(objective) for policy in study.names), runs.wrong(objective)]
            apart = [other.astype(float) - wrong[0] for other in wrong[1:]]
            means.append([wrong[0].mean(), *(d.mean() for d in apart)])
            errors.append([d.std(ddof=1) / np.sqrt(RUNS) for d in apart])
            cells = " | ".join(f"{m:+.3f} ± {e:.3f}" for m, e in zip(means[-1][1:], errors[-1], strict=True))
            print(f"| {name} | {bandit.K} | {budget:,} | {means[-1][0]:.3f} | {cells} |", flush=True)
        mean, error, z = np.mean(means, axis=0), np.sqrt(np.sum(np.square(errors), axis=0)) / len(errors), []
        for k in (0, 1):
            ratio = np.array(means)[:, k + 1] / np.maximum(np.array(errors)[:, k], 1e-9)
            z.append(f"worse on {(ratio > 2).sum()}, better on {(ratio < -2).sum()}")
        cells = " | ".join(f"{m:+.4f} ± {e:.4f}; {w}" for m, e, w in zip(mean[1:], error, z, strict=True))
        print(f"| mean of {len(means)}, {title} | | | {mean[0]:.3f} | {cells} |", flush=True)


def baselines():
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


if __name__ == "__main__":
    three() if "three" in sys.argv else baselines()
