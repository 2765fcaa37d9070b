"""The tables of docs/learn/which-policy.md: the same few policies in five situations, and ways to find the best arm.

Run with: python examples/which_policy.py [runs]
"""

import math
import sys
import warnings

import sharpe_bandits as sb

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 256
HORIZON = 10_000
DAILY = [(s / math.sqrt(252) * sd, sd**2) for s, sd in ((2.5, 0.01), (1.5, 0.006), (0.5, 0.012), (-1.0, 0.01))]

SITUATIONS = {
    "unit scale, all means positive": ([sb.Uniform(1.5, 7.5), sb.Uniform(1.6, 7.8), sb.Uniform(0.5, 6.5)], 0.5),
    "daily returns": ([sb.Normal(mean, variance=variance) for mean, variance in DAILY], 1e-5),
    "arms that lose": ([sb.Normal(0.1, variance=1), sb.Normal(-0.3, variance=1), sb.Normal(-0.6, variance=1)], 0.1),
    "autocorrelated (AR(1), 0.7)": ([sb.arms.AR1(0.5, 1, 0.7), sb.arms.AR1(0.2, 1, 0.7), sb.arms.AR1(0.0, 1, 0.7)], 0.1),
    "arms that switch twice": (
        sb.SwitchingBandit(
            [
                [sb.Normal(mean, variance=1) for mean in means]
                for means in ((1, 0.6, 0.6), (0.6, 1, 0.6), (0.6, 0.6, 1))
            ],
            after=[3_333, 6_666],
        ),
        0.1,
    ),
}  # fmt: skip


def figure(x: float) -> str:
    """Three digits at most."""
    return f"{x:,.0f}" if x >= 100 else f"{x:.2g}" if x < 10 else f"{x:.1f}"


def for_regret() -> None:
    """Regret by signed RSSR, and runs that settled on a wrong arm."""
    names = None
    for situation, (bandit, L) in SITUATIONS.items():
        policies = [
            sb.policies.UCB1(),
            sb.UCBRSSR(L=L),
            sb.ScaleFreeUCB(L=L),
            sb.ScaleFreeTS(L=L),
            sb.policies.SlidingWindowUCB(L=L, window=1_000),
        ]
        study = sb.simulate(policies, bandit, horizon=HORIZON, runs=RUNS, seed=1)
        objective = sb.RSSR(L=L, signed=True)
        if names is None:
            names = study.names
            print(f"Regret after {HORIZON:,} rounds ({RUNS} runs), and runs locked in at 10%\n")
            print(f"| situation | {' | '.join(names)} |")
            print("|---|" + "---:|" * len(names))
        cells = []
        for name in names:
            regret = study[name].regret(objective).final
            locked = study[name].locked_in(objective, share=0.1).mean
            cells.append(f"{figure(regret.mean)} ± {figure(regret.se)} ({100 * locked:.0f}%)")
        print(f"| {situation} | {' | '.join(cells)} |", flush=True)


def for_the_best_arm() -> None:
    """Probability of recommending a wrong arm with a fixed budget."""
    L = 0.02
    bandit = sb.Bandit([sb.Uniform(0, 0.56)] + [sb.Uniform(0, 0.5)] * 15)
    objective = sb.RSSR(L=L)
    policies = [
        sb.SHSR(L=L),
        sb.SHSR(L=L, keep_samples=True, name="SHSR, samples kept"),
        sb.SuRSR(L=L),
        sb.policies.VarianceAwareHalving(objective),
        sb.policies.UniformSampling(objective),
    ]
    budgets = (5_000, 10_000, 20_000)
    studies = [sb.simulate(policies, bandit, horizon=budget, runs=10 * RUNS, seed=1) for budget in budgets]
    print(f"\nProbability of error, 16 arms ({10 * RUNS:,} runs)\n")
    print(f"| policy | {' | '.join(f'n = {budget:,}' for budget in budgets)} |")
    print("|---|" + "---:|" * len(budgets))
    for name in studies[0].names:
        errors = [study[name].error(objective) for study in studies]
        print(f"| {name} | {' | '.join(f'{error.mean:.3f} ± {error.se:.3f}' for error in errors)} |", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore", sb.errors.RewardWarning)  # some policies are shown where they fail
    for_regret()
    for_the_best_arm()
