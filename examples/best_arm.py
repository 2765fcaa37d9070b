"""The best arm with a fixed budget: error probabilities on the paper's problems and on random ones.

Run with: python examples/best_arm.py [runs]
"""

import sys

import numpy as np
import scipy.stats

import sharpe_bandits as sb
from sharpe_bandits.paper.panels import panels

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
KINDS = {
    "normal": lambda u: sb.Normal(u(0.2, 1), variance=u(0.3, 2) ** 2),
    "uniform": lambda u: sb.Uniform(*(np.array([-1, 1]) * u(0.3, 2) + u(2, 3))),
    "gamma": lambda u: sb.arms.Gamma(u(1, 4), u(0.3, 1)),
    "beta": lambda u: sb.Beta(u(0.5, 4), u(0.5, 4)),
    "Bernoulli": lambda u: sb.Bernoulli(u(0.2, 0.8)),
    "t5": lambda u: scipy.stats.t(5, loc=u(0.1, 0.6), scale=u(0.5, 1.5)),
    "lognormal": lambda u: scipy.stats.lognorm(u(0.3, 0.8), scale=u(0.5, 2)),
    "daily returns": lambda u: sb.Normal((sd := u(0.005, 0.02)) * u(-0.5, 2.5) / 252**0.5, variance=sd**2),
}


def problems(seed=2026, each=5):
    """Name, bandit, objective and budget."""
    for panel in panels(["B1", "B2", "B3", "B4", "B5", "B6"]):
        for case in panel.cases:
            yield f"{panel.id}, {panel.profile}", case.environment, sb.RSSR(case.names["L"]), case.horizon
    random = np.random.default_rng(seed)
    for number in range(each):
        for kind, draw in KINDS.items():
            bandit = sb.Bandit([draw(random.uniform) for _ in range(random.integers(4, 33))])
            objective = sb.RSSR(float(bandit.variances.min()) / 10, signed=True)
            root = np.sort(bandit.means / np.sqrt(objective.L + bandit.variances))[::-1]
            hardness = (1 / np.maximum(root[0] - root[1:], 0.02) ** 2).sum()
            yield f"{kind} {number + 1}", bandit, objective, int(np.clip(2 * hardness, 40 * bandit.K, 60_000))


if __name__ == "__main__":
    P = sb.policies
    total, better, worse = [], 0, 0
    for name, bandit, objective, budget in problems():
        policies = [
            P.OCBARejects(objective),
            P.SuccessiveRejects(objective),
            P.SequentialHalving(objective, keep_samples=True),
            P.VarianceAwareHalving(objective),
            P.UniformSampling(objective),
        ]
        study = sb.simulate(policies, bandit, horizon=budget, runs=RUNS, seed=2026, checkpoints=[budget])
        if not total:
            print(f"| problem | K | budget | {' | '.join(study.names)} | OCBA − successive rejects |")
            print("|---|--:|--:|" + "--:|" * (len(study.names) + 1))
        total.append([study[policy].error().mean for policy in study.names])
        apart = study.compare_errors("OCBA rejects", "Successive rejects")
        better, worse = better + (apart.mean < -2 * apart.se), worse + (apart.mean > 2 * apart.se)
        cells = " | ".join(f"{error:.3f}" for error in total[-1])
        print(f"| {name} | {bandit.K} | {budget:,} | {cells} | {apart.mean:+.3f} ± {apart.se:.3f} |", flush=True)
    print(f"| mean of {len(total)} | | | {' | '.join(f'{error:.3f}' for error in np.mean(total, axis=0))} | |")
    print(
        f"\nBy more than two standard errors, OCBA rejects is better on {better} and worse on {worse} of {len(total)}."
    )
