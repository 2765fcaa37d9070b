"""What a policy costs that maximises another objective than yours: four strategies that two moments hardly tell apart.

Run with: python examples/downside.py [runs] [rounds], and with "random" behind it for twelve bandits drawn at random, or
with "policies" for SF-UCB, SF-IMED and SF-TS

Regret of SF-UCB for each objective beside SF-UCB for the Sharpe ratio and round robin, all judged by that objective,
with standard errors.
"""

import sys

import numpy as np

import sharpe_bandits as sb
from sharpe_bandits.objectives import CVaR, LogGrowth, Omega

RUNS, ROUNDS = (int(sys.argv[k]) if len(sys.argv) > k else default for k, default in ((1, 1000), (2, 5000)))

#: Returns per round.
ARMS = {
    "sells crash insurance": sb.Empirical([0.6] * 92 + [-2.5] * 8),
    "index": sb.Normal(0.2, sd=0.8),
    "bonds": sb.Normal(0.06, sd=0.25),
    "buys crash insurance": sb.Empirical([-0.2] * 84 + [1.8] * 16),
}
BANDIT = sb.Bandit(list(ARMS.values()), list(ARMS))
SHARPE = sb.Sharpe(L=0.01)
OBJECTIVES = [SHARPE, sb.Sortino(L=0.01), Omega(L=0.01), CVaR(alpha=0.1), LogGrowth(fraction=0.35)]


def main() -> None:
    policies = [sb.ScaleFreeUCB(objective=objective, name=type(objective).__name__) for objective in OBJECTIVES]
    study = sb.simulate(
        [*policies, sb.policies.RoundRobin(name="round robin")],
        BANDIT,
        horizon=ROUNDS,
        runs=RUNS,
        seed=33,
        progress=False,
    )
    print("| judged by | best arm | SF-UCB for it | SF-UCB for Sharpe | round robin |")
    print("|---|---|---:|---:|---:|")
    for objective in OBJECTIVES:
        own = type(objective).__name__
        best = BANDIT.names[int(BANDIT.true_values(objective, 0, 1)[0].argmax())]
        finals = [study[name].regret(objective).final for name in (own, "Sharpe", "round robin")]
        print(f"| {own} | {best} |", " | ".join(f"{final.mean:,.1f} ± {final.se:.1f}" for final in finals), "|")


def drawn(seed: int) -> sb.Bandit:
    """Four arms with parameters drawn at random: two normal, two that pay one of two values."""
    rng = np.random.default_rng(seed)
    arms: list[sb.arms.Arm] = [sb.Normal(rng.uniform(0, 0.4), sd=rng.uniform(0.2, 1.2)) for _ in range(2)]
    for _ in range(2):
        rare, mean, size = rng.integers(3, 20), rng.uniform(0, 0.4), rng.uniform(-3, 3)
        arms.append(sb.Empirical([mean - size * rare / (100 - rare)] * (100 - rare) + [mean + size] * rare))
    return sb.Bandit(arms)


def on_random_bandits(bandits: int = 12) -> None:
    """Regret of SF-UCB for an objective over that of SF-UCB for the Sharpe ratio, bandit by bandit."""
    print("| judged by | same best arm | policy for it better | worse | undecided | median ratio of regrets |")
    print("|---|---:|---:|---:|---:|---:|")
    for objective in (sb.Sortino(L=0.01), Omega(L=0.01), CVaR(alpha=0.1)):
        better = worse = same = 0
        ratios = []
        for seed in range(100, 100 + bandits):
            bandit = drawn(seed)
            values = [bandit.true_values(each, 0, 1)[0].argmax() for each in (objective, SHARPE)]
            same += int(values[0] == values[1])
            policies = [sb.ScaleFreeUCB(objective=each, name=type(each).__name__) for each in (objective, SHARPE)]
            study = sb.simulate(policies, bandit, horizon=ROUNDS, runs=RUNS, seed=34, progress=False)
            difference = study.compare(policies[0].name, "Sharpe", objective).final
            better += difference.mean < -2 * difference.se
            worse += difference.mean > 2 * difference.se
            finals = [study[policy.name].regret(objective).final.mean for policy in policies]
            ratios.append(finals[0] / finals[1])
        name = type(objective).__name__
        rest = bandits - better - worse
        print(f"| {name} | {same} | {better} | {worse} | {rest} | {np.median(ratios):.2f} |", flush=True)


def by_policy() -> None:
    """Regret of each scale-free policy, given the objective that judges it."""
    kinds = (sb.ScaleFreeUCB, sb.ScaleFreeIMED, sb.ScaleFreeTS)
    print("| judged by |", " | ".join(kind.title for kind in kinds), "| round robin |\n|---|---:|---:|---:|---:|")
    for objective in OBJECTIVES:
        policies = [*(kind(objective=objective) for kind in kinds), sb.policies.RoundRobin(name="round robin")]
        study = sb.simulate(policies, BANDIT, horizon=ROUNDS, runs=RUNS, seed=35, progress=False)
        finals = [study[policy.name].regret(objective).final for policy in policies]
        numbers = " | ".join(f"{final.mean:,.1f} ± {final.se:.1f}" for final in finals)
        print(f"| {type(objective).__name__} | {numbers} |", flush=True)


if __name__ == "__main__":
    by_policy() if "policies" in sys.argv else on_random_bandits() if "random" in sys.argv else main()
